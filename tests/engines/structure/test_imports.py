"""Upstream's imports compared with those that a patch adds."""

from patchmgr.engines.structure.imports import has_imports_of
from tests.tables import table

OLD = "from core import clear\nfrom env import *\n\nrun()\n"
MORE = OLD.replace("clear", "clear, flags")
APART = "from core import build as build\nfrom core import clear as clear\n{}\nrun(1)\n"


@table(
    ("upstream", "fork", "has"),
    {
        "apart": (APART.format("from core import flags as flags\n"), MORE, True),
        "not there": (APART.format(""), MORE, False),
        "from elsewhere": (APART.format("from shop import flags\n"), MORE, False),
        "as another": (APART.format("from core import flags as f\n"), MORE, False),
        "more than imports": (MORE, MORE.replace("run()", "run(2)"), False),
        "one of two": (MORE, MORE.replace("env import *", "env import a"), False),
        "a comment that is missing": (MORE, MORE.replace("flags\n", "flags  # keep\n"), False),
        "does not parse": ("run(\n", MORE, False),
        "removed": (MORE, OLD.replace("from env import *\n", ""), False),
        "a comment at the end": (MORE + "# end\n", MORE + "# end\n", False),
        "deleted again": (MORE + "del flags\n", MORE, False),
        "bound again": (MORE + "from shop import flags\n", MORE, False),
        "a module more, which does something": (
            MORE.replace("\n\n", "\nimport os\n\n"),
            OLD.replace("\n\n", "\nimport os\n\n"),
            False,
        ),
        "semicolon": (MORE, MORE.replace("flags\n", "flags; go()\n"), False),
        "too deep to read": (MORE + "a" + ".b" * 3000 + " = 1\n", MORE, False),
        "deep": (MORE + "a" + ".b" * 1200 + " = 1\n", MORE, True),
        "for others to import": (MORE.replace("flags", "flags as flags"), MORE, True),
        "no more for others": (MORE, MORE.replace("clear, flags", "clear as clear, flags"), False),
    },
)
def test_upstream_has_the_imports_that_a_patch_adds(upstream: str, fork: str, has: bool) -> None:
    assert has_imports_of(OLD, upstream, fork) is has
