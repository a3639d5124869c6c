"""Whether a merge that is clean as text is worth a look."""

from __future__ import annotations

import pytest

from patchmgr.engines.structure.guards_words import is_worth_a_look
from patchmgr.engines.structure.sides import Texts

BASE = "import os\n\n\ndef run(plant):\n    plant.start()\n    plant.stop()\n"


@pytest.mark.parametrize(
    ("upstream", "fork", "merged", "expected"),
    [
        pytest.param(
            BASE + "upstream_one = 1\n", "fork_one = 2\n" + BASE,
            "fork_one = 2\n" + BASE + "upstream_one = 1\n", False, id="nothing-in-common",
        ),
        pytest.param(
            BASE.replace("import os\n", ""), BASE + "os.sep\n",
            (BASE + "os.sep\n").replace("import os\n", ""), True, id="a-word-that-a-side-wiped-out",
        ),
        pytest.param(
            "new = 1\n" + BASE, BASE + "new = 2\n", "new = 1\n" + BASE + "new = 2\n", True,
            id="a-new-word-of-both",
        ),
        pytest.param(
            BASE.replace("run(plant)", "run(plant, level)"), BASE + "run(1)\n",
            BASE.replace("run(plant)", "run(plant, level)") + "run(1)\n", True,
            id="called-otherwise",
        ),
        pytest.param(
            BASE.replace("    plant.stop()\n", ""), BASE.replace("    plant.start()\n", "")
            + "    plant.stop()\n", BASE, True, id="a-line-is-back",
        ),
    ],
)  # fmt: skip
def test_what_may_be_wrong_is_worth_a_look(
    upstream: str, fork: str, merged: str, expected: bool
) -> None:
    assert is_worth_a_look(Texts(BASE, upstream, fork), merged) is expected
    assert is_worth_a_look(Texts(BASE, fork, upstream), merged) is expected
