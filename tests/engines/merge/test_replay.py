"""What theirs changed is replayed on ours: tables of what has one answer, and what stays open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines.merge.candidate import Candidate
from patchmgr.engines.merge.replay import Replay
from patchmgr.engines.merge.resolve import candidates_of
from patchmgr.engines.merge.tree import leaf, tree
from patchmgr.engines.structure.sides import Texts
from tests.engines.merge.marked import marked
from tests.tables import table

ONE_ANSWER = {
    "edits of two statements": (
        "a.py",
        "a = 1\nb = 1\n",
        "a = 2\nb = 1\n",
        "a = 1\nb = 2\n",
        "a = 2\nb = 2\n",
    ),
    "an argument and another one": (
        "a.py",
        "f(a, b=1)\n",
        "f(a, b=2)\n",
        "f(c, b=1)\n",
        "f(c, b=2)\n",
    ),
    "one side only reformats": (
        "a.py",
        "f(a, b)\n",
        "f(\n    a,\n    b,\n)\n",
        "f(a, c)\n",
        "f(\n    a,\n    c,\n)\n",
    ),
    "names of one import": (
        "a.py",
        "from m import b\n",
        "from m import a, b\n",
        "from m import (\n    b,\n    c,\n)\n",
        "from m import (\n    a,\n    b,\n    c,\n)\n",
    ),
    "each side removes what the other one keeps": (
        "a.py",
        "from m import a, b\nx\n",
        "from m import a\nx\n",
        "from m import b\nx\n",
        "x\n",
    ),
    "imports are the names of each module": (
        "a.py",
        "from left import a\nfrom right import b, c\n",
        "from left import a, d\nfrom stock import e\n",
        "from right import b, f\n",
        "from right import f\nfrom left import d\nfrom stock import e\n",
    ),
    "an import that one side moves and the other removes": (
        "a.py",
        "from m import a\nfrom n import b\n",
        "from m import a\n",
        "from t.m import a\nfrom t.n import b\n",
        "from t.m import a\n",
    ),
    "an import that one side removes and the other moves": (
        "a.py",
        "from m import a\nfrom n import b\n",
        "from t.m import a\nfrom t.n import b\n",
        "from m import a\n",
        "from t.m import a\n",
    ),
    "imports with a name on each line": (
        "a.py",
        "from m import b\n",
        "from m import a\nfrom m import b\nfrom m import c\n",
        "from m import b\nfrom m import c\nfrom m import d\n",
        "from m import a\nfrom m import b\nfrom m import c\nfrom m import d\n",
    ),
    "words of two lines of a comment": (
        "a.py",
        "# one two three\n# four five six\na = 1\n",
        "# one two three ten\n# four five six\na = 1\n",
        "# one two three\n# four five six ten\na = 1\n",
        "# one two three ten\n# four five six ten\na = 1\n",
    ),
    "a name that both import, one of them elsewhere in the list": (
        "a.py",
        "from m import (a, b,\n    c, d)\n",
        "from m import (a, x,\n    c, y, b, d)\n",
        "from m import (a, b,\n    c, d, x, y, z)\n",
        "from m import (a,\n    c, b, d, x, y, z)\n",
    ),
    "a wrapped list stays as it is wrapped": (
        "a.py",
        "from m import (a, b,\n    c)\n",
        "from m import (a, b,\n    c, d)\n",
        "from m import (a, B,\n    c)\n",
        "from m import (a, B,\n    c, d)\n",
    ),
    "lines of a docstring": (
        "a.py",
        '"""One.\n\nTwo words.\n"""\n',
        '"""One!\n\nTwo words.\n"""\n',
        '"""One.\n\nTwo other words.\n"""\n',
        '"""One!\n\nTwo other words.\n"""\n',
    ),
    "a comment and the statement under it": (
        "a.py",
        "# one\na = 1\n",
        "# two\na = 1\n",
        "# one\na = 2\n",
        "# two\na = 2\n",
    ),
    "a decorator that both sides add": (
        "a.py",
        "def f(a):\n    a\n",
        "@g\ndef f(a):\n    a\n",
        "@g\ndef f(a, b):\n    b\n",
        "@g\ndef f(a, b):\n    b\n",
    ),
    "elements of an enumeration in c": (
        "a.h",
        "enum X { A, B };\n",
        "enum X { A, C, B };\n",
        "enum X { A, B, D };\n",
        "enum X { A, C, B, D };\n",
    ),
    "one side only wraps c anew": (
        "a.cu",
        "f(a, b);\n",
        "f(a,\n  b);\n",
        "f(a, c);\n",
        "f(a,\n  c);\n",
    ),
    "keys of yaml": (
        "a.yaml",
        "a: 1\nb: 1\n",
        "a: 2\nb: 1\n",
        "a: 1\nb: 2\n",
        "a: 2\nb: 2\n",
    ),
    "members of json": (
        "a.json",
        '{"a": 1, "b": 1}\n',
        '{"a": 2, "b": 1}\n',
        '{"a": 1, "b": 2}\n',
        '{"a": 2, "b": 2}\n',
    ),
}

OPEN = {
    "two values for one": ("a.py", "a = 1\n", "a = 2\n", "a = 3\n"),
    "two statements at one place": ("a.py", "", "a = 1\n", "b = 2\n"),
    "two functions at one place": ("a.py", "", "def f(): pass\n", "def g(): pass\n"),
    "two functions of one name": ("a.py", "", "def f(): a\n", "def f(): b\n"),
    "a deletion against a change": ("a.py", "a = f(1)\n", "", "a = f(2)\n"),
    "two arguments at one place": ("a.py", "f(a)\n", "f(a, b=1)\n", "f(a, c=1)\n"),
    "a list in place of the list that loses an item": (
        "a.py",
        "a = [1, 2]\n",
        "b = [2, 3]\n",
        "a = [1]\n",
    ),
    "two lines of text at one place": ("a.md", "", "one\n", "two\n"),
    "two statements of c at one place": ("a.cc", "", "f();\n", "g();\n"),
}


def _candidates(path: str, base: str, ours: str, theirs: str) -> tuple[Candidate, ...]:
    sides = marked(base, ours, theirs)
    found = candidates_of(Texts(*sides[:3]), path, sides[3])
    assert found is not None
    assert len(found.regions) == 1
    return found.regions[0]


@table(("path", "base", "ours", "theirs", "expected"), ONE_ANSWER)
def test_what_the_sides_do_in_different_places_has_one_answer(
    path: str, base: str, ours: str, theirs: str, expected: str
) -> None:
    first = _candidates(path, base, ours, theirs)[0]
    assert (first.text, first.rule) == (expected, "replay")
    assert first.features["open how"] == "none"


@table(("path", "base", "ours", "theirs"), OPEN)
def test_what_both_sides_do_in_one_place_is_open(
    path: str, base: str, ours: str, theirs: str
) -> None:
    candidates = _candidates(path, base, ours, theirs)
    assert candidates[0].features["open how"] != "none"
    assert {ours, theirs} <= {candidate.text for candidate in candidates}


@table("name", [name for name in OPEN if name.startswith("two") and not OPEN[name][1]])
def test_two_insertions_are_offered_in_each_order(name: str) -> None:
    path, base, ours, theirs = OPEN[name]
    texts = {candidate.text for candidate in _candidates(path, base, ours, theirs)}
    assert {ours + theirs, theirs + ours} <= texts


def test_sorted_insertions_have_one_order() -> None:
    sides = "x = [\n    1,\n    9,\n]\n", "x = [\n    1,\n    7,\n    9,\n]\n"
    candidates = _candidates("a.py", *sides, "x = [\n    1,\n    5,\n    9,\n]\n")
    assert candidates[0].text == "x = [\n    1,\n    5,\n    7,\n    9,\n]\n"
    assert candidates[0].features["open how"] == "insert sorted"


def test_a_name_of_an_import_that_both_sides_replace_becomes_two() -> None:
    sides = (f"from m import (\n    a,\n    {name},\n)\n" for name in "bcd")
    found = {one.text: one.asks for one in _candidates("a.py", *sides)}
    assert found["from m import (\n    a,\n    c,\n    d,\n)\n"] == ""


def test_modules_are_imported_before_names_of_modules() -> None:
    names, module = "from a import x\n", "import b\n"
    candidates = _candidates("a.py", "", f"import a\n{names}", f"import a\n{module}")
    assert candidates[0].text == f"import a\n{module}{names}"


def test_what_runs_a_script_stays_last() -> None:
    main = 'if __name__ == "__main__":\n    run()\n'
    texts = [c.text for c in _candidates("a.py", "", main, "def f():\n    pass\n\n\n")]
    assert texts[0].endswith(main)


def test_an_insertion_that_is_part_of_the_other_one_is_there_once() -> None:
    candidates = _candidates("a.py", "", "a = 1\nb = 2\n", "a = 1\n")
    assert candidates[0].text == "a = 1\nb = 2\n"
    assert candidates[0].features["open how"] == "none"


@table(
    ("path", "ours", "theirs"),
    [
        ("a.py", "def f():\n    pass\n\n\n", "def g():\n    pass\n\n\n"),
        ("a.cc", "int f() {\n  a();\n}\n\n", "int g() {\n  b();\n}\n\n"),
    ],
)
def test_two_functions_keep_the_blank_lines_between_them(path: str, ours: str, theirs: str) -> None:
    candidates = _candidates(path, "", ours, theirs)
    assert [candidate.text for candidate in candidates[:2]] == [theirs + ours, ours + theirs]


def test_the_brackets_of_templates_are_signs_of_their_own() -> None:
    sides = "a<b<c>> x;\n", "a<b<d>> x;\n", "e<b<c>> x;\n"
    assert _candidates("a.cc", *sides)[0].text == "e<b<d>> x;\n"


@table(
    ("path", "base", "ours", "theirs", "asks"),
    [
        pytest.param("a.py", "f(a, b)\n", "f(a, b, c)\n", "f(a)\n", "order", id="places shift"),
        pytest.param("a.py", "f(a)\n", "f(a, b)\n", "f(a, c)\n", "order", id="one place for two"),
        pytest.param("a.py", "x = a + b\n", "x = a - b\n", "x = a + c\n", "one expression",
                     id="two words of one expression"),
        pytest.param("a.py", 'x = "a/b/"\n', 'x = "a/b"\n', 'x = "c/d/"\n', "undone",
                     id="one side takes a word away, the other has it in another text"),
        pytest.param("a.cc", "a; f(a.b);\n", "a; f(b);\n", "a; f(a.c(a.b));\n", "slides",
                     id="more inserted behind what goes, or before it"),
        pytest.param("a.cc", "a; f(a.b);\n", "a; f(b);\n", "a; f(a.b(d));\n", "",
                     id="more inserted behind what goes"),
        pytest.param("a.py", "f(a=1)\n", "f(a=1, b=2)\n", "f(a=1, c=3)\n", "", id="named"),
        pytest.param("a.py", "f({T.a: 1, T.c: 1})\n", "f({T.a: 1, T.b: 1, T.c: 1})\n",
                     "f({T.a: 2, T.c: 1})\n", "", id="an item between items like it"),
        pytest.param("a.py", "f(a=1)\n", "f(c=3, a=1)\n", "f(b, a=1)\n", "",
                     id="one by place, one named"),
        pytest.param("a.py", "def f(a): pass\n", "def f(a, *, c=3): pass\n",
                     "def f(a, b): pass\n", "", id="a parameter by place, and one by name only"),
        pytest.param("a.py", "__all__ = ['a']\n", "__all__ = ['a', 'c']\n",
                     "__all__ = ['a', 'b']\n", "", id="names to export"),
        pytest.param("a.cc", "", "return a;\n", "b();\n", "", id="before what leaves"),
        pytest.param("a.cc", "", "b();\n", "return a;\n", "not reached", id="behind what leaves"),
        pytest.param("a.py", "", "a(b)\n", "c(d)\n", "", id="two things"),
        pytest.param("a.py", "", "a(b)\n", "c(b)\n", "effects", id="two things done to one"),
        pytest.param("a.py", "", "x = a(b)\n", "y = c(b)\n", "", id="two things read from one"),
        pytest.param("a.py", "", "x = a(b)\n", "x.c(d)\n", "effects", id="made and used"),
        pytest.param("a.cc", "", "c = 1;\n", "d(c);\n", "uses", id="a name of the other side"),
        pytest.param("a.cc", "", "#endif\n#if B\n", "b();\n", "order", id="another branch"),
        pytest.param("a.cc", "", "case 1:\n  a();\n", "case 2:\n  b();\n", "not reached",
                     id="falls through"),
        pytest.param("a.cc", "", "case 1:\n", "case 2:\n", "", id="two labels of one branch"),
        pytest.param(".gitignore", "", "!/a/\n", "/b/\n", "order", id="an exception"),
        pytest.param("a.sh", "", "a x\n", "b x\n", "order", id="commands"),
        pytest.param("a.json", "[0, 9]\n", "[0, 1, 9]\n", "[0, 2, 9]\n", "order", id="JSON"),
        pytest.param("a.yml", "", "a: 1\n", "b: 2\n", "", id="keys"),
        pytest.param("r.txt", "", "a-b==1\n", "A_b>=2\n", "same key", id="one package"),
    ],
)  # fmt: skip
def test_places_that_ask(path: str, base: str, ours: str, theirs: str, asks: str) -> None:
    assert _candidates(path, base, ours, theirs)[0].asks == asks


def test_a_decorator_is_no_operator() -> None:
    sides = marked("b(a)\n\n", "b(a)\n\n@c\n", "", before="a = 1\n", after="def f():\n    pass\n")
    found = candidates_of(Texts(*sides[:3]), "a.py", sides[3])
    assert found is not None
    asks = {one.text: one.asks for one in found.regions[0]}
    assert asks["@c\n"] == ""


@table(("path", "end"), [("a.cc", ";\n"), ("a.py", "\n")])
def test_changes_that_meet_where_a_statement_ends_are_no_expression(path: str, end: str) -> None:
    old, new = f"a(b - 1){end}", f"c(d){end}"
    assert {c.text: c.asks for c in _candidates(path, old, "", old + new)}[new] == ""


def test_one_side_alone_never_stands_for_what_it_does_not_say() -> None:
    texts = "a(x)\n", "a(x)\nt = b(x)\nt.clamp(0)\n", "t = c(x)\na(x)\nt = b(x)\nlarge = d(t)\n"
    alone = [c for c in _candidates("a.py", *texts) if c.text in texts[1:]]
    assert alone
    assert all(c.asks for c in alone)


_Edit = tuple[int, int, list[str]]
_TOKENS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=7)
_EDITS = st.tuples(
    st.integers(0, 7), st.integers(0, 2), st.lists(st.sampled_from("abcde"), max_size=3)
)


@given(_TOKENS, _EDITS, _EDITS)
def test_tokens_read_from_the_end_become_the_same_or_a_person_is_asked(
    base: list[str], ours: _Edit, theirs: _Edit
) -> None:
    """What could slide stands as far behind as it can; read from the end, as far before."""
    three = [base, *([*base[:at], *new, *base[at + gone :]] for at, gone, new in (ours, theirs))]
    merged, is_asked = _of_tokens(three)
    back, is_asked_back = _of_tokens([side[::-1] for side in three])
    assert is_asked or is_asked_back or merged == back[::-1]


def _of_tokens(sides: list[list[str]]) -> tuple[list[str], bool]:
    replay = Replay(is_theirs=True)
    nodes = [tree("code", [leaf("word", word, lead=" ") for word in side]) for side in sides]
    merged = replay.node(*nodes).said.split()
    return merged, bool(replay.places or replay.asks)
