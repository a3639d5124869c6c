"""A file in conflict is resolved where that is sure, and comes with what it could become."""

from __future__ import annotations

from patchmgr.engines.merge.resolve import resolve
from patchmgr.engines.structure.sides import Texts
from tests.tables import table

BASE = "import a\nimport z\n"
OURS = "import a\nimport b\nimport z\n"
THEIRS = "import a\nimport c\nimport z\n"
UNITED = "import a\nimport b\nimport c\nimport z\n"
MARKED = (
    "import a\n<<<<<<< ours\nimport b\n||||||| base\n=======\nimport c\n>>>>>>> theirs\nimport z\n"
)
NEVER = 1.01  # more than every candidate is right


def test_what_is_not_sure_comes_with_what_it_could_become_the_likeliest_first() -> None:
    found = resolve(Texts(BASE, OURS, THEIRS), "a.py", MARKED.encode(), NEVER)
    assert found is not None
    assert (found.text, found.reliability) == (None, ())
    (region,) = found.suggestions
    texts = [one.text for one in region]
    assert len(texts) == len({*texts})
    assert b"import b\nimport c\n" in texts[:3]
    assert {b"import b\n", b"import c\n"} <= {*texts}


def test_what_is_sure_says_how_often_such_a_merge_was_right() -> None:
    found = resolve(Texts(BASE, OURS, THEIRS), "a.py", MARKED.encode(), 0.5)
    assert found is not None
    assert found.text == UNITED
    (known,) = found.reliability
    assert known.right is not None
    assert known.of is not None
    assert 0 < known.right <= known.of


@table("least", [0.5, NEVER])
def test_line_ends_are_kept(least: float) -> None:
    texts = Texts(*(text.replace("\n", "\r\n") for text in (BASE, OURS, THEIRS)))
    found = resolve(texts, "a.py", MARKED.replace("\n", "\r\n").encode(), least)
    assert found is not None
    made = [found.text.encode()] if found.text else [one.text for one in found.suggestions[0]]
    assert made
    assert all(text.count(b"\n") == text.count(b"\r\n") for text in made)


def test_a_last_line_without_an_end_keeps_none() -> None:
    sides = ["from a import b", "from a import b, c", "from a import b, d"]
    shown = "<<<<<<< ours\n{1}\n||||||| base\n{0}\n=======\n{2}\n>>>>>>> theirs\n".format(*sides)
    found = resolve(Texts(*sides), "a.py", shown.encode(), 0.0)
    assert found is not None
    assert found.text == "from a import b, c, d"


def test_a_line_that_looks_like_a_marker_is_left_to_a_person() -> None:
    title = "Title!!\n=======\n"
    texts = Texts(f"{title}a\n", f"{title}b\n", f"{title}c\n")
    marked = f"<<<<<<< ours\n{title}b\n||||||| base\n{title}a\n=======\n{title}c\n>>>>>>> theirs\n"
    assert resolve(texts, "a.rst", marked.encode(), 0.0) is None


def test_what_the_rules_leave_is_taken_where_it_reaches_the_line() -> None:
    sides = ["sell(kind, price, 1)\n", "sell(-1, price, 1)\n", "sell(kind, price / size, 1)\n"]
    shown = "<<<<<<< ours\n{1}||||||| base\n{0}=======\n{2}>>>>>>> theirs\n".format(*sides)
    asked = [resolve(Texts(*sides), "a.py", shown.encode(), least) for least in (None, 0.8, NEVER)]
    assert [one and one.text for one in asked] == [*["sell(-1, price / size, 1)\n"] * 2, None]
