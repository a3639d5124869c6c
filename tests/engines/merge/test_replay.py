"""The changes of theirs are replayed on ours, with one answer or with several candidates.

A case of `replay.txt` is a path, a region and, unless several candidates remain, the answer.
"""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines.merge.candidate import Candidate
from patchmgr.engines.merge.replay import Replay
from patchmgr.engines.merge.resolve import candidates_of
from patchmgr.engines.merge.tree import leaf, tree
from patchmgr.engines.structure.sides import Texts
from tests.cases import sections
from tests.engines.merge.marked import marked
from tests.tables import table

CASE = re.compile(
    r"(.+)\n<{7} ours\n((?:.*\n)*?)\|{7} base\n((?:.*\n)*?)"
    r"={7}\n((?:.*\n)*?)>{7} theirs\n((?:.*\n)*)"
)


def _read(text: str) -> tuple[str, str, str, str, str]:
    """Return path, base, ours, theirs and, if it has one, the answer of each case."""
    found = CASE.fullmatch(text)
    assert found
    path, ours, base, theirs, expected = found.groups()
    return path, base, ours, theirs, expected


CASES = {k: _read(text) for k, text in sections(Path(__file__).with_name("replay.txt")).items()}
ONE_ANSWER = {title: case for title, case in CASES.items() if case[-1]}
OPEN = {title: case[:-1] for title, case in CASES.items() if not case[-1]}


def _candidates(path: str, base: str, ours: str, theirs: str) -> tuple[Candidate, ...]:
    sides = marked(base, ours, theirs)
    found = candidates_of(Texts(*sides[:3]), path, sides[3])
    assert found is not None
    assert len(found.regions) == 1
    return found.regions[0]


@table(("path", "base", "ours", "theirs", "expected"), ONE_ANSWER)
def test_changes_apart_merge(path: str, base: str, ours: str, theirs: str, expected: str) -> None:
    first = _candidates(path, base, ours, theirs)[0]
    assert (first.text, first.rule) == (expected, "replay")
    assert first.features["open how"] == "none"


@table(("path", "base", "ours", "theirs"), OPEN)
def test_two_changes_have_several_merges(path: str, base: str, ours: str, theirs: str) -> None:
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


def test_an_imported_name_that_both_sides_replace_becomes_two_names() -> None:
    sides = (f"from m import (\n    a,\n    {name},\n)\n" for name in "bcd")
    found = {one.text: one.asks for one in _candidates("a.py", *sides)}
    assert found["from m import (\n    a,\n    c,\n    d,\n)\n"] == ""


def test_modules_are_imported_before_names_of_modules() -> None:
    names, module = "from a import x\n", "import b\n"
    candidates = _candidates("a.py", "", f"import a\n{names}", f"import a\n{module}")
    assert candidates[0].text == f"import a\n{module}{names}"


def test_the_main_guard_of_a_script_stays_last() -> None:
    main = 'if __name__ == "__main__":\n    run()\n'
    texts = [c.text for c in _candidates("a.py", "", main, "def f():\n    pass\n\n\n")]
    assert texts[0].endswith(main)


def test_an_insertion_that_is_part_of_the_other_is_kept_once() -> None:
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


def test_two_sections_without_a_blank_line_at_the_end_get_one_between_them() -> None:
    ours, theirs = "Head\n====\n\nText.\n", "Other\n=====\n\nMore.\n"
    candidates = _candidates("a.rst", "", ours, theirs)
    texts = [candidate.text for candidate in candidates[:2]]
    assert texts == [f"{theirs}\n{ours}", f"{ours}\n{theirs}"]


def test_the_brackets_of_templates_are_separate_tokens() -> None:
    sides = "a<b<c>> x;\n", "a<b<d>> x;\n", "e<b<c>> x;\n"
    assert _candidates("a.cc", *sides)[0].text == "e<b<d>> x;\n"


@table(
    ("path", "base", "ours", "theirs", "asks"),
    {
        "places shift": ("a.py", "f(a, b)\n", "f(a, b, c)\n", "f(a)\n", "order"),
        "one place for two": ("a.py", "f(a)\n", "f(a, b)\n", "f(a, c)\n", "order"),
        "two words of one expression": ("a.py", "x = a + b\n", "x = a - b\n", "x = a + c\n",
            "one expression"),
        "another sign before the same number": ("a.py", "x = y[0]\n", "x = y[1]\n",
            "x = y[-1]\n", "one expression"),
        "one side takes a word away, the other has it in another text": ("a.py", 'x = "a/b/"\n',
            'x = "a/b"\n', 'x = "c/d/"\n', "loses"),
        "more inserted behind what goes, or before it": ("a.cc", "a; f(a.b);\n", "a; f(b);\n",
            "a; f(a.c(a.b));\n", "one expression"),
        "a name before a dot that goes": ("a.cc", "f(.y);\n", "f(y);\n", "f(x.y);\n",
            "one expression"),
        "another object where one goes": ("a.cc", "x.y();\n", "y();\n", "z.x.y();\n",
            "one expression"),
        "more inserted behind what goes": ("a.cc", "a; f(a.b);\n", "a; f(b);\n", "a; f(a.b(d));\n",
            ""),
        "named": ("a.py", "f(a=1)\n", "f(a=1, b=2)\n", "f(a=1, c=3)\n", ""),
        "an item between items like it": ("a.py", "f({T.a: 1, T.c: 1})\n",
            "f({T.a: 1, T.b: 1, T.c: 1})\n", "f({T.a: 2, T.c: 1})\n", ""),
        "one by place, one named": ("a.py", "f(a=1)\n", "f(c=3, a=1)\n", "f(b, a=1)\n", ""),
        "a parameter by place, and one by name only": ("a.py", "def f(a): pass\n",
            "def f(a, *, c=3): pass\n", "def f(a, b): pass\n", ""),
        "names to export": ("a.py", "__all__ = ['a']\n", "__all__ = ['a', 'c']\n",
            "__all__ = ['a', 'b']\n", ""),
        "before what leaves": ("a.cc", "", "return a;\n", "b();\n", ""),
        "behind what leaves": ("a.cc", "", "b();\n", "return a;\n", "not reached"),
        "two things": ("a.py", "", "a(b)\n", "c(d)\n", ""),
        "two things done to one": ("a.py", "", "a(b)\n", "c(b)\n", "effects"),
        "two things read from one": ("a.py", "", "x = a(b)\n", "y = c(b)\n", ""),
        "made and used": ("a.py", "", "x = a(b)\n", "x.c(d)\n", "effects"),
        "a name of the other side": ("a.cc", "", "c = 1;\n", "d(c);\n", "uses"),
        "set by both": ("a.cc", "", "a += b();\n", "if (c) {\n  a = d(a);\n}\n", "effects"),
        "compared by both": ("a.cc", "", "if (a == b)\n  c();\n", "while (b == a)\n  d();\n", ""),
        "done by both": ("a.cc", "", "if (b)\n  a(b);\n", "if (c) {\n  a(b);\n}\n", "doubled"),
        "left by both": ("a.cc", "", "if (b) {\n  throw d(e);\n}\n",
            "while (c) {\n  f();\n  throw d(e);\n}\n", ""),
        "in two functions": ("a.cc", "", "void b() {\n  a(c);\n}\n", "void d() {\n  a(c);\n}\n",
            ""),
        "one name, two values": ("a.py", "f(a)\n", "f(a, b=1)\n", "f(a, b=2)\n", "same key"),
        "another branch": ("a.cc", "", "#endif\n#if B\n", "b();\n", "order"),
        "a condition of what follows": ("a.cc", "", "#if B\n", "b();\n", ""),
        "before a condition": ("a.cc", "", "b();\n", "#if B\n", "order"),
        "another branch behind a block": ("a.cc", "", "#if B\nc();\n#endif\n#else\n", "b();\n",
            "order"),
        "a block under a condition": ("a.cc", "", "#if B\nc();\n#else\nd();\n#endif\n", "b();\n",
            ""),
        "falls through": ("a.cc", "", "case 1:\n  a();\n", "case 2:\n  b();\n", "not reached"),
        "two labels of one branch": ("a.cc", "", "case 1:\n", "case 2:\n", ""),
        "one condition for two": ("a.go", "", "if b := f(); b > 0 {\n\tc()\n}\n",
            "if b := f(); b > 0 {\n\td()\n}\n", "doubled"),
        "two conditions": ("a.go", "", "if b := f(); b > 0 {\n\tc()\n}\n",
            "if e := g(); e != h {\n\td()\n}\n", ""),
        "an exception": (".gitignore", "", "!/a/\n", "/b/\n", "order"),
        "commands": ("a.sh", "", "a x\n", "b x\n", "order"),
        "JSON": ("a.json", "[0, 9]\n", "[0, 1, 9]\n", "[0, 2, 9]\n", "order"),
        "keys": ("a.yml", "", "a: 1\n", "b: 2\n", ""),
        "one alternative of each side": ("a.json", '["^2"]\n', '["^2 || ^3"]\n', '["^3"]\n',
            "stammers"),
        "one package": ("r.txt", "", "a-b==1\n", "A_b>=2\n", "same key"),
    },
)  # fmt: skip
def test_uncertain_merges_ask(path: str, base: str, ours: str, theirs: str, asks: str) -> None:
    assert _candidates(path, base, ours, theirs)[0].asks == asks


@table(
    ("path", "code", "head", "orders"),
    [
        ("a.php", "b = 1;\n\n", "/** a */\n", 1),
        ("a.php", "b = 1;\n", "/** a */\n", 2),
        ("A.java", "int b() {\n}\n\n", "@A\n", 1),
        ("A.java", "@B\n", "@A\n", 2),
        ("a.txt", "  a\n", "  b\nc\n", 1),
        ("a.txt", "  a\nd\n", "  b\nc\n", 2),
    ],
)
def test_an_insertion_that_belongs_to_the_next_line_comes_last(
    path: str, code: str, head: str, orders: int
) -> None:
    found = _candidates(path, "", head, code)
    texts = {one.text for one in found if one.rule.startswith("replay")}
    assert len(texts) == orders
    assert f"{code}{head}" in texts


def test_a_decorator_is_no_operator() -> None:
    sides = marked("b(a)\n\n", "b(a)\n\n@c\n", "", before="a = 1\n", after="def f():\n    pass\n")
    found = candidates_of(Texts(*sides[:3]), "a.py", sides[3])
    assert found is not None
    asks = {one.text: one.asks for one in found.regions[0]}
    assert asks["@c\n"] == ""


@table(("path", "end"), [("a.cc", ";\n"), ("a.py", "\n")])
def test_changes_at_the_end_of_a_statement_are_not_one_expression(path: str, end: str) -> None:
    old, new = f"a(b - 1){end}", f"c(d){end}"
    assert {c.text: c.asks for c in _candidates(path, old, "", old + new)}[new] == ""


def test_one_side_alone_is_never_taken_if_it_lacks_the_other_sides_change() -> None:
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
def test_reversed_tokens_merge_alike_or_ask(base: list[str], ours: _Edit, theirs: _Edit) -> None:
    """An edit that can slide is as late as it can be; in reversed tokens, as early as it can be."""
    three = [base, *([*base[:at], *new, *base[at + gone :]] for at, gone, new in (ours, theirs))]
    merged, is_asked = _of_tokens(three)
    back, is_asked_back = _of_tokens([side[::-1] for side in three])
    assert is_asked or is_asked_back or merged == back[::-1]


def _of_tokens(sides: list[list[str]]) -> tuple[list[str], bool]:
    replay = Replay(is_theirs=True)
    nodes = [tree("code", [leaf("word", word, lead=" ") for word in side]) for side in sides]
    merged = replay.node(*nodes).normalized.split()
    return merged, bool(replay.places or replay.asks)
