import pytest

from patchmgr.engines.structure.guards import suspect, suspicions
from patchmgr.engines.structure.guards_flow import facts_of
from patchmgr.engines.structure.sides import Texts
from tests.tables import table

BASE = "import os\n\n\ndef open_shop(door):\n    return os.path.join(door, 'shop')\n"


def at_end(text: str) -> str:
    return BASE + text


@table(
    ("base", "upstream", "fork", "merged", "told"),
    [
        pytest.param(
            BASE,
            at_end("\n\ndef sell(): ...\n"),
            at_end("\n\ndef sell(): ...\n"),
            at_end("\n\ndef sell(): ...\n\n\ndef sell(): ...\n"),
            "`sell` is there once more than on either side.",
            id="definition twice",
        ),
        pytest.param(
            "x = {'a': 1}\n",
            "x = {'a': 1, 'b': 2}\n",
            "x = {'b': 3, 'a': 1}\n",
            "x = {'b': 3, 'a': 1, 'b': 2}\n",
            "`b` is defined twice here, but not on either side.",
            id="key twice",
        ),
        pytest.param(
            "x()\n",
            "import re\nre.x()\n",
            "re.x()\nimport re\n",
            "import re\nimport re\nre.x()\n",
            "`re` is defined twice here, but not on either side.",
            id="import twice",
        ),
        pytest.param(
            BASE,
            BASE.replace("import os\n", "").replace("os.path.join(door, 'shop')", "door"),
            at_end("\n\nhome = os.getcwd()\n"),
            "def open_shop(door):\n    return door\n\n\nhome = os.getcwd()\n",
            "`os` is used, but nothing defines it any more.",
            id="name without its import",
        ),
        pytest.param(
            "shop.old(1)\n",
            "shop.new(1)\n",
            "shop.old(1)\nshop.old(2)\n",
            "shop.new(1)\nshop.old(2)\n",
            "`old` is used, but upstream removed its last use.",
            id="attribute that upstream renamed",
        ),
    ],
)
def test_what_a_merge_breaks_is_told(
    base: str, upstream: str, fork: str, merged: str, told: str
) -> None:
    assert told in suspect(Texts(base, upstream, fork), merged, "a.py")


@table(
    ("base", "upstream", "fork", "merged"),
    [
        pytest.param(BASE, BASE, BASE, BASE, id="nothing changed"),
        pytest.param("a()\n", "a()\nb()\n", "c()\na()\n", "c()\na()\nb()\n", id="both add"),
        pytest.param("a()\nb()\n", "b()\n", "a()\n", "", id="both remove"),
        pytest.param("f(a)\n", "f(b)\n", "f(a, c=1)\n", "f(b, c=1)\n", id="one statement edited"),
        pytest.param(
            "a(1)\n", "b(1)\n", "a(1)\na = 2\nc(a)\n", "b(1)\na = 2\nc(a)\n", id="name bound anew"
        ),
        pytest.param("a(\n", "b(\n", "c(\n", "d(\n", id="sides do not parse either"),
        pytest.param(
            "from x import *\n", "from x import *\na()\n", "from x import *\nb()\n",
            "from x import *\nb()\na()\n", id="names may come from anywhere",
        ),
        pytest.param(
            "from .a import b\nb()\n", "from .a import b, c\nb(c)\n", "from ..a import b\nb()\n",
            "from ..a import b, c\nb(c)\n", id="module renamed",
        ),
    ],
)  # fmt: skip
def test_of_a_sound_merge_nothing_is_told(base: str, upstream: str, fork: str, merged: str) -> None:
    assert suspicions(base, upstream, fork, merged) == ()


def test_suspicions_are_sentences() -> None:
    upstream = BASE.replace("import os\n", "").replace("os.path.join(door, 'shop')", "door")
    merged = "def open_shop(door):\n    return door\n\n\nhome = os.getcwd()\n"
    found = suspect(Texts(BASE, upstream, at_end("\n\nhome = os.getcwd()\n")), merged, "a.py")
    assert found == ("`os` is used, but nothing defines it any more.",)


def test_a_local_variable_that_both_sides_bring_in_is_suspicious() -> None:
    base = "def f(a):\n    b(a)\n    c(a)\n"
    upstream = base.replace("    b(a)\n", "    scale = 1\n    b(a)\n    print(scale)\n")
    fork = base.replace("    c(a)\n", "    scale = 2\n    c(a)\n    print(scale, 3)\n")
    merged = upstream.replace("    c(a)\n", "    scale = 2\n    c(a)\n    print(scale, 3)\n")
    assert suspicions(base, upstream, fork, merged) == ("Both sides assign to a new `scale`.",)


def test_an_attribute_that_is_set_is_a_name_that_is_bound() -> None:
    facts = facts_of("self.size = 1\nfor x in y: pass\n")
    assert facts is not None
    assert set(facts.bound) == {"size", "x"}
