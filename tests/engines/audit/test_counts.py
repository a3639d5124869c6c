"""A number that both sides raise alike is told where each of them adds as many entries."""

from __future__ import annotations

from patchmgr.engines.audit.counts import check_counts
from tests.engines.audit.audited import found
from tests.tables import table

LINES = "".join(f"    {{{n}, name{n}}},\n" for n in range(9))
TABLE = f"#define SIZE 9\n\n\nstruct entry entries[] = {{\n{LINES}}};\n"


def _with(entry: str, after: int, size: int = 10) -> str:
    line = f"    {{{after}, name{after}}},\n"
    return TABLE.replace("SIZE 9", f"SIZE {size}").replace(line, line + entry)


MINE = _with("    {20, mine},\n", 1)
TOLD = ["both sides raise this number from 9 to 10, and each of them also adds 1 other line"]
TWO = _with("    {20, mine},\n    {21, more},\n", 1, 11)


@table(
    ("mine", "upstream", "said"),
    {
        "an-entry-each": (MINE, _with("    {30, theirs},\n", 6), TOLD),
        "two-entries-each": (
            TWO, _with("    {30, theirs},\n    {31, other},\n", 6, 11),
            [
                "both sides raise this number from 9 to 11, and each of them also adds 2 other "
                "lines"
            ],
        ),
        "the-same-entry": (MINE.replace("name0", "name"), MINE.replace("name8", "name"), []),
        "another-number-of-entries": (MINE, _with("    {30, theirs},\n    {31, b},\n", 6), []),
        "a-number-that-falls": (
            MINE.replace("SIZE 10", "SIZE 8"), _with("    {30, theirs},\n", 6, 8), [],
        ),
        "other-text-beside-it": (
            MINE.replace("SIZE 10", "MOST 10"), _with("    {30, b},\n", 6).replace("SIZE", "MOST"),
            [],
        ),
    },
)  # fmt: skip
def test_a_size_that_both_sides_raise_for_their_own_entry(
    mine: str, upstream: str, said: list[str]
) -> None:
    findings = found([check_counts], *({"t.c": x.encode()} for x in (TABLE, mine, upstream)))
    assert [finding.text for finding in findings] == said
