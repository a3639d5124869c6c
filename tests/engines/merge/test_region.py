"""Conflict markers are read as git writes them, and regions are widened to whole statements."""

from patchmgr.engines.merge.languages import language_of
from patchmgr.engines.merge.region import Region, grown, pieces_of, slid, widened
from tests.engines.merge.marked import marked
from tests.tables import table


def _only(text: str, base: str, path: str) -> Region:
    pieces = pieces_of(text)
    assert pieces is not None
    found = [
        p for p in widened(slid(grown(pieces, base)), language_of(path)) if isinstance(p, Region)
    ]
    assert len(found) == 1
    return found[0]


def test_the_pieces_are_the_clean_lines_and_the_regions() -> None:
    *_, text = marked("b\n", "o\n", "t\n", before="1\n", after="2\n")
    assert pieces_of(text) == (("1\n",), Region(("b\n",), ("o\n",), ("t\n",)), ("2\n",))


@table(
    "text",
    {
        "without base": "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n",
        "without end": "<<<<<<< ours\na\n||||||| base\n",
    },
)
def test_a_text_with_unmatched_markers_has_no_pieces(text: str) -> None:
    assert pieces_of(text) is None


def test_a_line_of_equal_signs_outside_a_region_is_no_marker() -> None:
    assert pieces_of("Title\n=======\ntext\n") == (("Title\n", "=======\n", "text\n"),)


def test_a_region_within_a_call_is_widened_to_the_statement() -> None:
    base, _, _, text = marked("  a=1,\n", "  a=2,\n", "  a=3,\n", before="x\nf(\n", after=")\ny\n")
    region = _only(text, base, "a.py")
    assert region.ours == ("f(\n", "  a=2,\n", ")\n")
    assert (region.before, region.after) == (1, 1)


@table(
    ("before", "line", "after", "lines"),
    {
        "it begins in one": ("x\nimport n, \\\n", "    {}\n", "y\n", (1, 0)),
        "it ends in one": ("x\n", "import {}, \\\n", "    n, \\\n    m\ny = \\\n    1\n", (0, 2)),
    },
)
def test_a_region_is_widened_to_the_lines_that_backslashes_join(
    before: str, line: str, after: str, lines: tuple[int, int]
) -> None:
    base, _, _, text = marked(*map(line.format, "abc"), before=before, after=after)
    region = _only(text, base, "a.py")
    assert (region.before, region.after) == lines


def test_a_region_of_whole_statements_stays_as_it_is() -> None:
    base, _, _, text = marked("a = 1\n", "a = 2\n", "a = 3\n", before="x\n", after="y\n")
    assert (_only(text, base, "a.py").before, _only(text, base, "a.py").after) == (0, 0)


def test_two_regions_of_one_statement_become_one() -> None:
    region = "<<<<<<< ours\n{}\n||||||| base\n{}\n=======\n{}\n>>>>>>> theirs\n"
    text = f"f(\n{region.format('a,', 'b,', 'c,')}  m,\n{region.format('x,', 'y,', 'z,')})\n"
    found = _only(text, "f(\nb,\n  m,\ny,\n)\n", "a.py")
    assert found.theirs == ("f(\n", "c,\n", "  m,\n", "z,\n", ")\n")


def test_lines_that_zdiff3_left_out_are_put_back_into_the_region() -> None:
    _, _, _, text = marked("", "def f():\n", "def g():\n", after="    return 1\n\nend\n")
    region = _only(text, "end\n", "a.py")
    assert region.ours == ("def f():\n", "    return 1\n", "\n")
    assert region.tail == ("    return 1\n", "\n")
    _, _, _, text = marked("", "f()\n", "g()\n", before="end\nb()\n")
    region = _only(text, "end\n", "a.py")
    assert region.theirs == ("b()\n", "g()\n")
    assert region.head == ("b()\n",)


@table(
    ("before", "ours", "theirs", "after", "slid_ours"),
    {
        "functions": ("f\n", "}\n\nb() {\n", "}\n\nc() {\n", "}\n", "\nb() {\n}\n"),
        "a-statement-too": ("f\n", "x\n}\nb() {\n", "x\n}\nc() {\n", "x\n}\n", "b() {\nx\n}\n"),
        "elements": ("f\n", "</a>\n<a>\n", "</a>\n<b/>\n<a>\n", "</a>\n</x>\n", "<a>\n</a>\n"),
        "a-return": (
            "f\n",
            "\n  r\n\n@s\ndef b\n  x\n",
            "\n  r\n\n@s\ndef c\n",
            "\n  r\n",
            "\n@s\ndef b\n  x\n\n  r\n",
        ),
        "another-line-after": ("f\n", "}\nb() {\n", "}\nc() {\n", ")\n", "}\nb() {\n"),
        "no-end-of-a-block": ("f\n", "x\ny\n", "x\nz\n", "x\n", "x\ny\n"),
        "nothing-else": ("f\n", "}\n", "}\nc() {\n", "}\n", "}\n"),
        "comments": ("\n// a\n", "b\n\n// a\n", "c\n\n// a\n", "d\n", "// a\nb\n\n"),
        "a-comment-of-one": ("\n// a\n", "b\n\n// a\n", "c\n", "d\n", "b\n\n// a\n"),
        "no-empty-line-before": ("f\n// a\n", "b\n// a\n", "c\n// a\n", "d\n", "b\n// a\n"),
    },
)
def test_regions_slide(before: str, ours: str, theirs: str, after: str, slid_ours: str) -> None:
    *_, text = marked("", ours, theirs, before=before, after=after)
    pieces = pieces_of(text)
    assert pieces is not None
    found = slid(pieces)
    region = found[1]
    assert isinstance(region, Region)
    assert "".join(region.ours) == slid_ours
    for side, lines in ((ours, region.ours), (theirs, region.theirs)):
        assert "".join((*found[0], *lines, *found[2])) == before + side + after  # type: ignore[misc]
