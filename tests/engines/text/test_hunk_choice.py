"""Hunks that a person chooses from, with the keys of `git add --patch`."""

from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.hunk_choice import Offer, choose, mode_words, offers_of, with_taken
from patchmgr.model.snapshot import EXECUTABLE, REGULAR, SYMLINK, Entry
from tests.tables import table

OLD = b"".join(b"%d\n" % n for n in range(30))


def changed(*lines: int) -> bytes:
    new = split_lines(OLD)
    for line in lines:
        new[line] = b"new %d\n" % line
    return b"".join(new)


def taken(offers: list[Offer], keys: str) -> list[Offer]:
    """Return the hunks that the keys choose; the last key ends the input."""
    left = iter(f"{keys}q")
    return choose(offers, lambda offer, number, total, known: next(left))


@table(
    ("lines", "keys", "result"),
    {
        "yes-and-no": ((2, 12, 22), "yny", (2, 22)),
        "all-of-the-file": ((2, 12, 22), "na", (12, 22)),
        "none-of-the-rest-of-the-file": ((2, 12, 22), "yd", (2,)),
        "quit-keeps-what-was-taken": ((2, 12, 22), "yq", (2,)),
        "end-of-input-is-quit": ((2, 12, 22), "", ()),
        "near-changes-are-one-hunk": ((2, 6, 22), "y", (2, 6)),
        "split": ((2, 6, 22), "snyn", (6,)),
        "six-lines-between-are-one": ((2, 9), "yn", (2, 9)),
        "seven-lines-between-are-two": ((2, 10), "yn", (2,)),
    },
)
def test_keys_take_hunks(lines: tuple[int, ...], keys: str, result: tuple[int, ...]) -> None:
    offers = offers_of("f", OLD, changed(*lines))
    blocks = [block for offer in taken(offers, keys) for block in offer.blocks]
    assert with_taken(offers[0].old, offers[0].new, blocks) == changed(*result)


def test_taking_a_whole_file_does_not_decide_about_the_next() -> None:
    offers = [*offers_of("f", OLD, changed(2, 22)), *offers_of("g", OLD, changed(2))]
    assert [offer.path for offer in taken(offers, "a")] == ["f", "f"]
    assert [offer.path for offer in taken(offers, "dy")] == ["g"]


@table(
    ("old", "new", "words", "lines"),
    {
        "comes": (None, b"a\n", "new file", [b"new file\n", b"@@ -1,0 +1,1 @@\n", b"+a\n"]),
        "goes": (b"a\n", None, "deleted file", [b"deleted file\n", b"@@ -1,1 +1,0 @@\n", b"-a\n"]),
        "is-empty": (None, b"", "new file", [b"new file\n"]),
        "binary": (b"\0", b"\0a", "binary file", [b"binary file\n"]),
    },
)
def test_taken_whole(old: bytes | None, new: bytes | None, words: str, lines: list[bytes]) -> None:
    (offer,) = offers_of("f", old, new)
    assert (offer.whole, list(offer.lines()), offer.parts()) == (words, lines, (offer,))


def test_a_hunk_is_shown_as_a_diff_has_it() -> None:
    first, second = offers_of("f", OLD, changed(0, 20))
    head, *body = second.lines()
    assert head == b"@@ -18,7 +18,7 @@\n"
    assert body[3:5] == [b"-20\n", b"+new 20\n"]
    assert next(first.lines()) == b"@@ -1,4 +1,4 @@\n"


@table(
    ("before", "after", "words"),
    {
        "plain": (REGULAR, REGULAR, ""),
        "mode": (REGULAR, EXECUTABLE, "mode 100644 to 100755"),
        "link": (SYMLINK, SYMLINK, "not a plain file"),
        "comes": (None, REGULAR, ""),
    },
)
def test_a_change_of_mode_is_described(before: str | None, after: str | None, words: str) -> None:
    entries = [None if mode is None else Entry(mode, "0" * 40) for mode in (before, after)]
    assert mode_words(*entries) == words
