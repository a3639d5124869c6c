"""A person's resolution as a tree entry."""

import pytest

from patchmgr.engines.rebase.conflicts import shown_content, solved_entry
from patchmgr.engines.rebase.ladder import Sides
from patchmgr.errors import PatchmgrError
from tests.engines.ports import MemoryBlobs
from tests.engines.series import File, entry_of, executable, link, submodule
from tests.tables import table

ONE, TWO, NEW = b"one\n", b"two\n", b"new\n"
COMMIT_3 = b"Subproject commit %s\n" % (b"3" * 40)


def _solve(content: bytes, *sides: File | None) -> tuple[MemoryBlobs, object]:
    blobs = MemoryBlobs()
    base, ours, theirs = (None if s is None else entry_of(blobs, s) for s in sides)
    return blobs, solved_entry(content, Sides(base, ours, theirs), "f", blobs)


@table(
    ("content", "base", "ours", "theirs", "solved"),
    {
        "file": (NEW, b"", ONE, TWO, NEW),
        "emptied-file": (b"", b"", ONE, TWO, b""),
        "mode-of-upstream": (NEW, b"", executable(ONE), TWO, executable(NEW)),
        "mode-of-the-patch": (NEW, b"", ONE, executable(TWO), executable(NEW)),
        "mode-taken-back": (NEW, executable(b""), ONE, executable(TWO), NEW),
        "mode-kept": (NEW, executable(b""), executable(ONE), executable(TWO), executable(NEW)),
        "both-added": (NEW, None, ONE, TWO, NEW),
        "both-added-one-runs": (NEW, None, executable(ONE), TWO, executable(NEW)),
        "deleted": (NEW, executable(b""), None, executable(TWO), executable(NEW)),
        "deleted-by-the-patch": (NEW, ONE, executable(TWO), None, executable(NEW)),
        "file-against-a-link": (NEW, ONE, link(b"to"), TWO, NEW),
        "the-link-against-a-file": (b"to", ONE, link(b"to"), TWO, link(b"to")),
        "the-link-with-a-line-feed": (b"to\n", ONE, link(b"to"), TWO, link(b"to")),
        "the-link-of-the-patch": (b"to\n", ONE, TWO, link(b"to"), link(b"to")),
        "link": (NEW, link(b"a"), link(b"b"), link(b"c"), link(b"new")),
        "link-as-the-patch": (b"c", link(b"a"), link(b"b"), link(b"c"), link(b"c")),
        "link-not-submodule": (NEW, None, link(b"b"), submodule("1"), link(b"new")),
        "submodule": (COMMIT_3, submodule("1"), submodule("2"), submodule("4"), submodule("3")),
        "or-link": (COMMIT_3.strip(), None, submodule("2"), link(b"b"), submodule("3")),
        "ours": (COMMIT_3, submodule("1"), submodule("3"), submodule("4"), submodule("3")),
    },
)  # fmt: skip
def test_a_resolution_is_a_file_a_link_or_a_submodule(
    content: bytes, base: File | None, ours: File | None, theirs: File | None, solved: File
) -> None:
    blobs, found = _solve(content, base, ours, theirs)
    assert found == entry_of(blobs, solved)


@table(
    ("content", "side", "reason"),
    {
        "link-to-nothing": (b"", link(b"a"), "must be the path it points to"),
        "link-of-two-lines": (b"a\nb\n", link(b"a"), "must be the path it points to"),
        "link-with-nul": (b"a\0b", link(b"a"), "must be the path it points to"),
        "submodule-as-text": (NEW, submodule("1"), "a submodule must name one commit"),
        "two-commits": (COMMIT_3 * 2, submodule("1"), "a submodule must name one commit"),
    },
)
def test_content_that_cannot_be_a_link_is_refused(content: bytes, side: File, reason: str) -> None:
    with pytest.raises(PatchmgrError, match=reason) as caught:
        _solve(content, side, side, side)
    assert caught.value.kind == "bad-resolution"
    assert caught.value.hints


@table(
    ("side", "content"),
    {
        "nothing": (None, None),
        "file": (ONE, ONE),
        "link": (link(b"to"), b"to"),
        "submodule": (submodule("3"), COMMIT_3),
    },
)
def test_a_side_is_shown_as_in_a_diff(side: File | None, content: bytes | None) -> None:
    blobs = MemoryBlobs()
    assert shown_content(None if side is None else entry_of(blobs, side), blobs) == content
