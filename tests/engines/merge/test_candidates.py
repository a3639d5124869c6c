"""Candidates for the regions of a file in conflict."""

from patchmgr.engines.merge.resolve import candidates_of, choose
from patchmgr.engines.structure.sides import LARGEST, Texts
from tests.engines.merge.marked import marked
from tests.tables import table

BEFORE, AFTER = "import os\n\n\ndef f(a):\n", "    return b\n"


def test_the_pieces_with_a_candidate_for_each_region_give_the_file() -> None:
    sides = marked("    b = 1\n", "    b = 2\n", "    b = 3\n", before=BEFORE, after=AFTER)
    found = candidates_of(Texts(*sides[:3]), "a.py", sides[3])
    assert found is not None
    texts = {found.joined((candidate.text,)) for candidate in found.regions[0]}
    assert set(sides[1:3]) <= texts


def test_all_candidates_of_a_region_have_different_texts() -> None:
    for ours, theirs in (
        ("    b = 2\n", "    c = 3\n"),
        ("\n\nport = 1\n", "\n\nclass A:\n    b = 2\n"),
    ):
        sides = marked("", ours, theirs, before=BEFORE, after=AFTER)
        found = candidates_of(Texts(*sides[:3]), "a.py", sides[3])
        assert found is not None
        texts = [one.candidate.text for one in choose(found)[0].ranked]
        assert len(set(texts)) == len(texts)


@table(
    ("head", "tail", "both"),
    [
        ("\n\n", "", "\n\nb = 1\n\n\na = 1\n"),
        ("", "\n", "b = 1\n\na = 1\n\n"),
        ("", "", "b = 1\na = 1\n"),
    ],
)
def test_two_insertions_keep_an_empty_line_between_them(head: str, tail: str, both: str) -> None:
    base, ours, theirs = (
        f"x\n{one}z\n" for one in ("", f"{head}a = 1\n{tail}", f"{head}b = 1\n{tail}")
    )
    text = "<<<<<<< ours\na = 1\n||||||| base\n=======\nb = 1\n>>>>>>> theirs\n"
    found = candidates_of(Texts(base, ours, theirs), "CHANGES", f"x\n{head}{text}{tail}z\n")
    assert found is not None
    texts = {found.joined((one.text,)) for one in found.regions[0] if "b = 1" in one.text}
    assert f"x\n{both}z\n" in texts
    assert not any((head or tail) and "b = 1\na = 1\n" in one for one in texts)


@table(
    ("path", "bound", "other", "after"),
    [
        ("a.py", "@ddt.ddt\n", "class A:\n    b = 1\n\n\n", "class B:\n    c = 1\n"),
        ("a.rst", ".. _order:\n\n", "Some text.\n\n", "Order\n-----\n"),
    ],
)
def test_an_annotation_or_label_stays_before_its_line(
    path: str, bound: str, other: str, after: str
) -> None:
    sides = marked("", bound, other, before="x = 1\n\n\n", after=after)
    found = candidates_of(Texts(*sides[:3]), path, sides[3])
    assert found is not None
    assert not any(one.text == bound + other for one in found.regions[0] if not one.asks)


def test_each_candidate_has_the_same_features() -> None:
    sides = marked("", "    b = 2\n", "    c = 3\n", before=BEFORE, after=AFTER)
    found = candidates_of(Texts(*sides[:3]), "a.py", sides[3])
    assert found is not None
    names = [set(candidate.features) for candidate in found.regions[0]]
    assert all(each == names[0] for each in names)


def test_a_text_that_is_too_large_has_no_candidates() -> None:
    assert candidates_of(Texts("", "a" * (LARGEST + 1), ""), "a.py", "") is None


def test_markers_that_cannot_be_read_give_no_candidates() -> None:
    assert candidates_of(Texts("a\n", "b\n", "c\n"), "a.py", "<<<<<<< ours\nb\n") is None


@table("ending", ["\n", "\r\n"])
def test_line_endings_stay_as_they_are(ending: str) -> None:
    texts = ["a = 1\nb = 1\n", "a = 2\nb = 1\n", "a = 1\nb = 2\n", "a = 2\nb = 2\n"]
    base, ours, theirs, expected = (text.replace("\n", ending) for text in texts)
    sides = marked(base, ours, theirs)
    found = candidates_of(Texts(*sides[:3]), "a.py", sides[3])
    assert found is not None
    assert found.regions[0][0].text == expected


@table("ending", ["\n", "\r\n"])
def test_two_insertions_have_the_line_endings_of_the_file(ending: str) -> None:
    ours, theirs = f"f();{ending}", f"g();{ending}"
    sides = marked("", ours, theirs, before=f"a();{ending}", after=f"b();{ending}")
    found = candidates_of(Texts(*sides[:3]), "a.cc", sides[3])
    assert found is not None
    assert found.regions[0][0].text == theirs + ours


@table("path", ["a.py", "a.json"])
def test_brackets_that_nest_too_deep_leave_only_the_sides_as_candidates(path: str) -> None:
    base, ours, theirs = ("[" * 1000 + text + "]" * 1000 + "\n" for text in "123")
    sides = marked(base, ours, theirs)
    found = candidates_of(Texts(*sides[:3]), path, sides[3])
    assert found is not None
    assert {ours, theirs} <= {candidate.text for candidate in found.regions[0]}


@table("sign", ["<<<<<<< ours", "||||||| base", ">>>>>>>"])
def test_a_side_with_conflict_markers_of_its_own_has_no_candidates(sign: str) -> None:
    sides = marked("a\n", "b\n", "c\n", before=f"{sign}\n")
    assert candidates_of(Texts(*sides[:3]), "a.txt", sides[3]) is None
