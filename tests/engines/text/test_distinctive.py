"""Texts without most of the lines that they share."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines.text.distinctive import differing

LINES = [b"line %d of a long text, with some words in it\n" % number for number in range(300)]
numbers = st.lists(st.integers(0, 299), max_size=8)


def _counted(text: bytes) -> Counter[bytes]:
    return Counter(text.split(b"\n"))


@given(numbers, numbers, st.lists(st.binary(max_size=3), max_size=3), st.booleans())
def test_the_remaining_lines_differ_as_the_texts_do(
    gone: list[int], again: list[int], added: list[bytes], is_ended: bool
) -> None:
    new = [line for number, line in enumerate(LINES) if number not in gone]
    for at, number in enumerate(again):
        new.insert(number, LINES[number] if at % 2 else b"".join(added))
    old, new_text = b"".join(LINES), b"".join(new)
    new_text = new_text if is_ended else new_text.removesuffix(b"\n")
    whole, left = (
        [_counted(one) for one in pair] for pair in ((old, new_text), differing(old, new_text))
    )
    for counts in (*whole, *left):
        del counts[b""]
    assert left[0] - left[1] == whole[0] - whole[1]
    assert left[1] - left[0] == whole[1] - whole[0]


def test_equal_lines_between_two_changes_are_left_out() -> None:
    new = [*LINES[:20], b"new\n", *LINES[21:280], b"last\n", *LINES[281:]]
    old, now = differing(b"".join(LINES), b"".join(new))
    assert b"new\n" in now and b"last\n" in now
    assert len(old.splitlines()) < 50
