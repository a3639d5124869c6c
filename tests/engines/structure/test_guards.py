import pytest

from patchmgr.engines.structure.guards import broken_rules, suspect, suspicions
from patchmgr.engines.structure.guards_text import facts_of, unused_imports
from patchmgr.engines.structure.sides import Texts
from tests.tables import table

BASE = "import os\n\n\ndef open_shop(door):\n    return os.path.join(door, 'shop')\n"


def at_end(text: str) -> str:
    return BASE + text


@table(
    ("base", "upstream", "fork", "merged", "rule"),
    [
        pytest.param("a()\n", "b()\n", "c()\n", "b(\n", "syntax", id="does not parse"),
        pytest.param(
            "def f(a): ...\n",
            "def f(a, b): ...\n",
            "def f(a, c): ...\n",
            "def f(a, b, b): ...\n",
            "syntax",
            id="argument twice",
        ),
        pytest.param(
            BASE,
            at_end("\n\ndef sell(): ...\n"),
            at_end("\n\ndef sell(): ...\n"),
            at_end("\n\ndef sell(): ...\n\n\ndef sell(): ...\n"),
            "doubled definition",
            id="definition twice",
        ),
        pytest.param(
            "x = {'a': 1}\n",
            "x = {'a': 1, 'b': 2}\n",
            "x = {'b': 3, 'a': 1}\n",
            "x = {'b': 3, 'a': 1, 'b': 2}\n",
            "doubled key",
            id="key twice",
        ),
        pytest.param(
            BASE,
            BASE.replace("import os\n", "").replace("os.path.join(door, 'shop')", "door"),
            at_end("\n\nhome = os.getcwd()\n"),
            "def open_shop(door):\n    return door\n\n\nhome = os.getcwd()\n",
            "undefined name",
            id="name without its import",
        ),
        pytest.param(
            "shop.old(1)\n",
            "shop.new(1)\n",
            "shop.old(1)\nshop.old(2)\n",
            "shop.new(1)\nshop.old(2)\n",
            "wiped name",
            id="attribute that upstream renamed",
        ),
        pytest.param(
            "def sell(item):\n    return item\n\n\nsell(1)\n",
            "def sell(item, count):\n    return item\n\n\nsell(1, 2)\n",
            "def sell(item):\n    return item\n\n\nsell(1)\nsell(3)\n",
            "def sell(item, count):\n    return item\n\n\nsell(1, 2)\nsell(3)\n",
            "misfit call",
            id="call without a new parameter",
        ),
        pytest.param(
            "a()\nb()\n", "a()\nb()\nc(1)\n", "z()\na()\nb()\n", "z()\na()\nb()\n",
            "lost statement", id="statement lost",
        ),
        pytest.param(
            BASE, at_end("\n\ndef sell(): ...\n"), BASE, BASE, "lost definition", id="def lost"
        ),
        pytest.param(
            "x()\n", "import re\nx()\n", "x()\n", "x()\n", "lost import", id="import lost"
        ),
        pytest.param(
            "one(1, 2)\ntwo()\n", "two()\none(1, 2)\n", "one(1, 3)\ntwo()\n",
            "one(1, 3)\ntwo()\none(1, 2)\n", "returned statement", id="moved and changed",
        ),
    ],
)  # fmt: skip
def test_a_broken_merge_names_the_rule(
    base: str, upstream: str, fork: str, merged: str, rule: str
) -> None:
    assert rule in broken_rules(base, upstream, fork, merged)


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
def test_a_sound_merge_breaks_no_rule(base: str, upstream: str, fork: str, merged: str) -> None:
    assert broken_rules(base, upstream, fork, merged) == ()
    assert suspicions(base, upstream, fork, merged) == ()


def test_suspicions_are_sentences() -> None:
    upstream = BASE.replace("import os\n", "").replace("os.path.join(door, 'shop')", "door")
    merged = "def open_shop(door):\n    return door\n\n\nhome = os.getcwd()\n"
    found = suspect(Texts(BASE, upstream, at_end("\n\nhome = os.getcwd()\n")), merged, "a.py")
    assert found == ("`os` is used, but nothing defines it any more.",)


def test_an_import_that_nothing_uses_any_more_is_suspicious_but_not_broken() -> None:
    texts = (
        "import re\nre.a()\nre.b()\n",
        "import re\nre.b()\n",
        "import re\nre.a()\n",
        "import re\n",
    )
    assert suspicions(*texts) == ("`re` is imported, but nothing uses it any more.",)
    assert broken_rules(*texts) == ()


def test_an_import_that_is_there_twice_is_broken() -> None:
    texts = ("x()\n", "import re\nre.x()\n", "re.x()\nimport re\n")
    merged = "import re\nre.x()\nimport re\n"
    assert suspicions(*texts, merged) == ("`re` is imported once more than on either side.",)
    assert broken_rules(*texts, merged) == ("doubled import",)


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


@table(
    ("text", "names"),
    [
        pytest.param("import a, b.c\nfrom d import e as f, g\na.x\n__all__ = ['g']\n", {"b", "f"},
                     id="some"),
        pytest.param("import (\n", set(), id="does not parse"),
    ],
)  # fmt: skip
def test_imports_that_nothing_uses(text: str, names: set[str]) -> None:
    assert unused_imports(text) == names


def test_code_that_is_there_again_is_shown_as_it_is_written() -> None:
    base, upstream = 'call("x",  1)\nb = 2\n', "b = 2\n"
    fork = merged = base + "c = 3\n"
    said = suspicions(base, upstream, fork, merged)
    assert 'Code that one side removed is there again: call("x",  1)' in said
