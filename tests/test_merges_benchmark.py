"""What `benchmarks.merges` collects, and how it labels candidates."""

from pathlib import Path

import pytest

from benchmarks.merge_cases import Case, Corpus, MergeCommit, language_of, relabelled, takes_in
from benchmarks.merge_labels import Code, Frame, Sides, file_code, region_code
from tests.tables import table


@table(
    ("subject", "is_upstream_second"),
    [
        ("Merge branch 'master' into topic", True),
        ("Merge remote-tracking branch 'upstream/main' into topic", True),
        ("Merge branch 'devel' of github.com:a/b into topic", True),
        ("Merge branch '1.x'", True),
        ("Merge tag 'v2.0.1' into patched", True),
        ("Merge 9dc50a5a07 into merged_master (Bitcoin PR bitcoin/bitcoin#27005)", True),
        ("Merge branch 'bitcoin' into auxpow", True),
        ("Merge pull request #12 from somebody/master", False),
        ("Merge branch 'ab/topic' into next", False),
        ("Merge branch 'main-window'", False),
        ("merged by hand", False),
    ],
)
def test_the_subject_of_a_merge_names_upstream(subject: str, is_upstream_second: bool) -> None:
    assert takes_in(subject) is is_upstream_second


@table(
    ("path", "language"),
    [("a/b.py", "python"), ("a.cuh", "c++"), ("docs/a.rst", "other"), ("a.png", None)],
)
def test_a_path_tells_the_language(path: str, language: str | None) -> None:
    assert language_of(path) == language


def test_markers_have_the_labels_of_the_program() -> None:
    ours, theirs = "a" * 40, "b" * 40
    marked = f"x\n<<<<<<< {ours}\n1\n||||||| abc1234\n=======\n2\n>>>>>>> {theirs}:old\r\ny\n"
    shown = relabelled(marked.encode(), MergeCommit("c" * 40, ours, theirs, 0))
    assert shown == b"x\n<<<<<<< ours\n1\n||||||| base\n=======\n2\n>>>>>>> theirs\r\ny\n"


def test_a_case_is_read_as_it_was_kept(tmp_path: Path) -> None:
    texts = ("base", "ours\r\n", "theirs é", "person", "marked")
    case = Case("id", "a/b", "c.py", "python", 7, "d" * 40, *texts, has_base=False, regions=2)
    corpus = Corpus(tmp_path / "corpus.db")
    corpus.add(case)
    corpus.commit()
    assert list(Corpus(tmp_path / "corpus.db").cases("a/b")) == [case]
    assert corpus.repositories() == {"a/b": 1}


FRAME = Frame(["a\nb\n", "c\n", "d"])


@table(
    ("text", "regions"),
    {
        "regions alone": ("a\nb\n1\nc\n2\nd", ("1\n", "2\n")),
        "both empty": ("a\nb\nc\nd", ("", "")),
        "a clean line beside was edited": ("a\nx\n1\nc\n2\nd", ("x\n1\n", "2\n")),
        "nothing is left of the frame": ("x\n1\ny\n", ("x\n1\ny\n", "x\n1\ny\n")),
    },
)
def test_what_a_text_has_in_the_place_of_regions(text: str, regions: tuple[str, ...]) -> None:
    assert FRAME.regions(text) == regions


def test_a_region_begins_at_a_lines_start() -> None:
    with pytest.raises(ValueError, match="line's start"):
        Frame(["a = (", ")\n"])


SIDES = Sides("f(a)\n", "f(a, b)\n", "f(a, c)\n")


@table(
    ("person", "text", "is_python", "code"),
    [
        ("f(a, b)\n", "f( a, b )\n", False, Code.EQUAL),
        ("f(a, b)\n", "f(\n    a,\n    b,\n)\n", True, Code.EQUAL),
        ("f(a, k=1, m=2)\n", "f(a, m=2, k=1)\n", True, Code.EQUAL),
        ("f(a, k=1, m=2)\n", "f(a, m=2, k=1)\n", False, Code.PERMUTED),
        ("import a\nimport b\n", "import b\nimport a\n", True, Code.EQUAL),
        ("import a\nimport b\n", "import b\nimport a\n", False, Code.PERMUTED),
        ("def f(): pass\ndef g(): pass\n", "def g(): pass\ndef f(): pass\n", True, Code.EQUAL),
        ("x = {1: 2, 3: 4}\n", "x = {3: 4, 1: 2}\n", True, Code.EQUAL),
        ("x = {1, 2}\n", "x = {2, 1}\n", True, Code.EQUAL),
        ("__all__ = ['a', 'b']\n", '__all__ = ["b", "a"]\n', True, Code.EQUAL),
        ("x = ['a', 'b']\n", "x = ['b', 'a']\n", True, Code.PERMUTED),
        ("f(a)\ng(b)\n", "g(b)\nf(a)\n", True, Code.PERMUTED),
        ("    f(a)\n", "f(a)\n", True, Code.PERMUTED),
        ("f(a, b)\n", "f(a, b, c)\n", True, Code.SIDE),
        ("f(a, b)\n", "f(a, c)\n", True, Code.DIFFERENT),
        ("f(a, b, d)\n", "f(a, b, c)\n", True, Code.DIFFERENT),
    ],
)
def test_candidate_and_persons_text(person: str, text: str, is_python: bool, code: Code) -> None:
    assert region_code(SIDES, person, text, is_python=is_python) is code


OUTER = Frame(["x = 1\n", "y = 2\n"])
WHOLE = Sides(*(f"x = 1\n{side}y = 2\n" for side in (SIDES.base, SIDES.ours, SIDES.theirs)))


@table(
    ("expected", "merged", "code"),
    [
        ("x = 1\nf(a, b)\ny = 2\n", "x = 1\nf(a, b)\ny = 2\n", Code.EXACT),
        ("x = 1\nf(a, b)\ny = 2\n", "x = 1\nf(a,  b)\ny = 2\n", Code.WHITE_SPACE),
        ("x = 1\nf(a, 'b')\ny = 2\n", 'x = 1\nf(a, "b")\ny = 2\n', Code.TREE),
        ("x = 1\nf(a, k=b, l=c)\ny = 2\n", "x = 1\nf(a, l=c, k=b)\ny = 2\n", Code.ORDER),
        ("x = 1\nf(a, b)\ny = 2\nz = 3\n", "x = 1\nf(a, c)\ny = 2\n", Code.DIFFERENT),
        ("z = 3\nx = 1\nf(a, b)\ny = 2\n", "x = 1\nf(a, b)\ny = 2\n", Code.REGIONS),
        ("x = 1\nf(a, b)\ny = 2\n", "x = 1\nf(a, b, c)\ny = 2\n", Code.SIDE),
        ("x = 1\nf(a, b)\ny = 2\n", "x = 1\nf(a, b\ny = 2\n", Code.BROKEN),
    ],
)
def test_how_a_merged_file_relates_to_the_persons(expected: str, merged: str, code: Code) -> None:
    assert file_code(OUTER, WHOLE, expected, merged, is_python=True) is code
