"""Whether upstream imports what a patch imports."""

from __future__ import annotations

import pytest

from patchmgr.engines.structure.imports import has_imports_of
from tests.tables import table

OLD = "from core import clear\nfrom env import *\n\nrun()\n"
MORE = OLD.replace("clear", "clear, flags")
APART = "from core import build as build\nfrom core import clear as clear\n{}\nrun(1)\n"


@table(
    ("upstream", "fork", "has"),
    [
        pytest.param(APART.format("from core import flags as flags\n"), MORE, True, id="apart"),
        pytest.param(APART.format(""), MORE, False, id="not there"),
        pytest.param(APART.format("from shop import flags\n"), MORE, False, id="from elsewhere"),
        pytest.param(APART.format("from core import flags as f\n"), MORE, False, id="as another"),
        pytest.param(MORE, MORE.replace("run()", "run(2)"), False, id="more than imports"),
        pytest.param(MORE, MORE.replace("env import *", "env import a"), False, id="one of two"),
        pytest.param(
            MORE, MORE.replace("flags\n", "flags  # keep\n"), False, id="a comment that is missing"
        ),
        pytest.param("run(\n", MORE, False, id="does not parse"),
        pytest.param(MORE, OLD.replace("from env import *\n", ""), False, id="removed"),
        pytest.param(MORE + "# end\n", MORE + "# end\n", False, id="a comment at the end"),
        pytest.param(MORE + "del flags\n", MORE, False, id="deleted again"),
        pytest.param(MORE + "from shop import flags\n", MORE, False, id="bound again"),
        pytest.param(
            MORE.replace("\n\n", "\nimport os\n\n"),
            OLD.replace("\n\n", "\nimport os\n\n"),
            False,
            id="a module more, which does something",
        ),
        pytest.param(MORE, MORE.replace("flags\n", "flags; go()\n"), False, id="semicolon"),
        pytest.param(MORE + "a" + ".b" * 3000 + " = 1\n", MORE, False, id="too deep to read"),
        pytest.param(MORE + "a" + ".b" * 1200 + " = 1\n", MORE, True, id="deep"),
        pytest.param(
            MORE.replace("flags", "flags as flags"), MORE, True, id="for others to import"
        ),
        pytest.param(
            MORE,
            MORE.replace("clear, flags", "clear as clear, flags"),
            False,
            id="no more for others",
        ),
    ],
)
def test_upstream_has_the_imports_of_a_fork(upstream: str, fork: str, has: bool) -> None:
    assert has_imports_of(OLD, upstream, fork) is has
