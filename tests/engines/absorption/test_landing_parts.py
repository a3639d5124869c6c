"""What of a patch upstream has, in the cases where one line or one commit more decides."""

from patchmgr.engines.absorption.verdict import Event
from tests.engines.absorption.test_landing import (
    BASE,
    BOTH,
    COPIED,
    FIRST,
    FOUR,
    LATE,
    MUCH,
    OTHERWISE,
    RELEASE,
    REPLACED,
    a,
    on_a,
    tale,
)
from tests.engines.tales import Changes, Tale, swap
from tests.tables import table

PIECES = [f"piece_{number:02}" for number in range(15)]
THIRD = swap(BOTH, ("stay_12", "stay_12 ours_5th ours_6th"))
MUTE_20 = ("stay_20", "stay_20 }")
COMMON = swap(BASE, ("stay_20", "stay_20 stay_03"))
MUTE = swap(FIRST, MUTE_20)
OTHER_TWO = BOTH.replace(b"ours_two", b"theirs_two")
BESIDE = ("stay_10", "ours_10")
TEN = swap(BASE, BESIDE)
BACK = swap(BASE, ("stay_20", "stay_20 later_one later_two"))


def inserted(*words: str) -> bytes:
    return swap(BASE, ("stay_05", " ".join(["stay_05", *words])))


BEFORE = swap(BASE, ("stay_20", "if_eof_and_hup hup_event stay_20"))
MOVED = [
    swap(BASE, ("stay_20", "if_read and_eof_and_hup hup_event stay_20")),
    swap(BASE, ("stay_20", "if_read if_eof if_hup hup_event stay_20")),
    swap(BASE, ("stay_08", "if_eof_and_hup hup_event stay_08")),
]


def script(*body: str) -> bytes:
    """Return a test script whose last line has no end."""
    kept = "".join(f"keep_{number}\n" for number in range(8))
    return f"{kept}}} {{}} {{skip}}\n\n{chr(10).join(body)}".encode()


HEAD = "test {config rewrite alias} {"
TAIL = ["    restart_server 0 true", "", "        assert {entries 100}", "    }", "} {} {skip}"]
SET = "        r config set entries 100"
TESTED = script(HEAD, "    start {20 20} {", "        assert {entries 20}", SET, "", *TAIL)
TESTED_TWICE = script(
    HEAD, "    start {20 21} {", "        assert {entries 21}", SET, "", *TAIL[:-1],
    "    # the order", "    start {21 20} {", SET, "", *TAIL,
)  # fmt: skip


def by_releases(theirs: int, count: int = 20) -> Tale:
    """Return lines that came with five releases, the last ones in other words."""
    pieces = [f"piece_{number:02}" for number in range(count)]
    words = [*pieces[: count - theirs], *(f"other_{number}" for number in range(theirs))]
    steps: list[tuple[str, Changes]] = []
    for release in range(1, 6):
        beside = (f"release_{n}_{line}" for n in range(release) for line in range(count))
        more = ("stay_28", " ".join(["stay_28", *beside]))
        content = swap(inserted(*words[: count // 5 * release]), more)
        steps.append(("Release", {"a": content}))
    return tale(a(inserted(*pieces)), *steps)


@table(
    ("theirs", "verdict"),
    {
        "all": (0, "landed c4 exact"),
        "all-but-one-line": (1, "-"),
        "nine-in-ten": (2, "-"),
        "most": (8, "-"),
    },
)
def test_what_came_in_pieces_is_there_if_hardly_a_line_differs(theirs: int, verdict: str) -> None:
    assert by_releases(theirs).verdicts() == [verdict]


@table(("count", "verdict"), {"of-ten": (10, "-"), "of-twenty": (20, "landed c0 history")})
def test_one_line_in_other_words_that_comes_with_much_else(count: int, verdict: str) -> None:
    pieces = [f"piece_{number:02}" for number in range(count)]
    release = " ".join(f"release_{number}x" for number in range(2 * count))
    came = swap(inserted(*pieces[1:], "piece_other"), ("stay_28", f"stay_28 {release}"))
    assert tale(a(inserted(*pieces)), *on_a(came, subject="Release")).verdicts() == [verdict]


def test_what_the_landing_brings_to_the_file_of_another_patch_does_not_matter() -> None:
    tested = swap(BASE, ("stay_05", "stay_05 test_mine"))
    release = swap(BASE, ("stay_28", f"stay_28 {RELEASE}"))
    told = tale(
        [{"a": inserted(*PIECES[:6])}, {"tests": tested}],
        ("Land it", {"a": inserted(*PIECES[:5], "piece_other"), "tests": release}),
        base={"a": BASE, "tests": BASE},
    )
    assert told.verdicts() == ["landed c0 history", "-"]


def test_a_large_patch_is_judged_as_a_small_one() -> None:
    large = inserted(*(f"piece_{number}" for number in range(300)))
    assert tale(a(large), *on_a(large)).verdicts() == ["landed c0 exact"]
    assert by_releases(0, 300).verdicts() == ["landed c4 exact"]


LIST = "names=[" + ",".join(f'"name_{n}"' for n in range(8)) + "]"
LISTED = swap(BASE, ("stay_05", f"stay_05 {LIST}"))


def spread(content: bytes, name: str) -> bytes:
    members = " ".join(f'"name_{n}",' for n in range(8))
    return swap(content, (LIST, f'names=[ {members} "{name}", ]'))


def test_the_same_layout_is_not_the_same_member() -> None:
    told = Tale(
        {"a": LISTED},
        [{"a": spread(swap(LISTED, ("stay_20", f"stay_20 {' '.join(PIECES)}")), "ours_9th")}],
        [("Work", {"a": spread(LISTED, "theirs_9th")})],
    )
    assert told.verdicts() == ["-"]


ADDED = swap(FOUR, ("stay_20", "stay_20 ours_late"))
LAST = ("stay_28", "stay_28 ours_last ours_end")
ADDED_MORE = swap(ADDED, LAST)


@table(
    ("told", "verdicts"),
    {
        "a-third-of-a-squash-reverted": (
            tale(a(FIRST, BOTH, THIRD), *on_a(THIRD), ("Revert one", {"a": BOTH})),
            ["landed c0 exact", "landed c0 exact", "reverted c0 by c1"]),
        "a-hunk-reverted-by-a-commit-that-says-so": (
            tale(a(ADDED), *on_a(ADDED), ("Revert the late part", {"a": FOUR})),
            ["evolved c0 by c1 history hunks 0"]),
        "a-hunk-cleaned-up": (tale(a(ADDED), *on_a(ADDED, FOUR)), ["evolved c0 by c1 history"]),
        "a-hunk-gone-before-another-one-is-reverted": (
            tale(a(ADDED_MORE), *on_a(ADDED_MORE, swap(FOUR, LAST)),
                 ("Revert the last part", {"a": FOUR})),
            ["evolved c0 by c2 history hunks 0,1"]),
        "lines-that-say-nothing-are-not-reverted-alone": (
            tale(a(FIRST, MUTE, swap(MUTE, BESIDE)), *on_a(swap(MUTE, BESIDE)),
                 ("Revert one", {"a": swap(FIRST, BESIDE)})),
            ["landed c0 exact", "gone c0 by c1 history", "landed c0 exact"]),
        "the-first-landing-with-enough-of-it": (
            tale(a(inserted(*PIECES[:10])),
                 *on_a(inserted(*PIECES[:6], "o_1", "o_2", "o_3", "o_4"), inserted(*PIECES[:10]))),
            ["landed c0 history"]),
        "a-deletion-of-which-a-part-landed": (
            tale(a(swap(inserted(*PIECES), *((f"stay_{n}", "") for n in (20, 22, 23)))),
                 *on_a(swap(inserted(*PIECES), ("stay_22", "")))),
            ["landed c0 exact hunks 0"]),
        "two-of-three-lines-are-too-few": (
            tale(a(inserted("ours_1", "ours_2", "ours_3")),
                 *on_a(inserted("ours_1", "ours_2", "x"))),
            ["-"]),
        "other-words-in-the-second-patch": (
            tale(a(TEN, swap(MUCH, COPIED, BESIDE)), *on_a(swap(MUCH, OTHERWISE, BESIDE))),
            ["landed c0 exact", "landed c0 history"]),
        "other-white-space-in-the-second-patch": (
            tale(a(FIRST, BOTH), *on_a(BOTH.replace(b"ours_late", b"\tours_late"))),
            ["landed c0 exact", "landed c0 whitespace"]),
        "a-line-that-the-second-patch-brings-back": (tale(a(LATE, BACK), *on_a(BACK)),
            ["landed c0 range"] * 2),
        "a-range-in-another-file": (
            tale([{"b": FIRST}, {"b": REPLACED}, {"a": LATE}], ("All", {"a": LATE, "b": REPLACED}),
                 base={"a": BASE, "b": BASE}),
            ["landed c0 range", "landed c0 range", "landed c0 exact"]),
        "a-commit-of-its-own-reverted": (
            tale(a(FOUR, swap(FOUR, MUTE_20)), *on_a(FOUR, swap(FOUR, MUTE_20), FOUR)),
            ["landed c0 exact", "reverted c1 by c2"]),
        "three-of-five-lines-in-pieces": (
            tale(
                a(swap(inserted(*PIECES[:5]), ("stay_20", " ".join(["stay_20", *PIECES[5:15]])))),
                *on_a(
                    *(inserted(*PIECES[:n]) for n in (1, 2)), inserted(*PIECES[:3], "x_4", "x_5")
                ),
            ),
            ["-"],
        ),
        "a-line-changed-and-changed-back": (tale(a(BOTH), *on_a(BOTH, OTHER_TWO, BOTH)),
            ["landed c0 exact"]),
        "changed-after-it-landed-again": (tale(a(BOTH), *on_a(BOTH, BASE, BOTH, OTHER_TWO)),
            ["evolved c2 by c3 history"]),
        "changed-after-a-landing-that-took-lines-away": (
            tale(
                a(inserted(*PIECES[:10])),
                *on_a(
                    inserted(*PIECES[8:10]),
                    inserted(*PIECES[:8], "x_1", "x_2"),
                    inserted(*PIECES[:7], "other", "x_1", "x_2"),
                ),
            ),
            ["evolved c1 by c2 history"],
        ),
        "changed-by-two-alike": (
            tale(a(BOTH), *on_a(BOTH, OTHER_TWO, OTHER_TWO.replace(b"ours_one", b"theirs_one"))),
            ["evolved c0 by c1 history"]),
        "a-deleted-file-that-the-landing-keeps-in-other-words": (
            tale([{"a": inserted(*PIECES), "b": None}],
                 ("All but the deletion", {"a": inserted(*PIECES), "b": b"kept for now\n"}),
                 base={"a": BASE, "b": b"old\n"}),
            ["landed c0 history"]),
        "a-deleted-file-that-the-landing-does-not-touch": (
            tale([{"a": inserted(*PIECES), "b": None}],
                 ("All but the deletion", {"a": inserted(*PIECES)}),
                 base={"a": BASE, "b": b"old\n"}),
            ["landed c0 exact hunks 0"]),
        "a-binary-that-the-landing-has-otherwise": (
            tale([{"a": inserted(*PIECES), "b": b"\0mine"}],
                 ("All", {"a": inserted(*PIECES), "b": b"\0reviewed"}),
                 base={"a": BASE, "b": b"\0old"}),
            ["landed c0 history"]),
        "a-series-that-moves-a-line-landed-in-one": (
            tale(a(*MOVED), *on_a(MOVED[-1]), base={"a": BEFORE}), ["landed c0 range"] * 3),
        "and-was-taken-back": (tale(a(*MOVED), *on_a(MOVED[-1], BEFORE), base={"a": BEFORE}),
            ["-"] * 3),
        "new-lines-that-a-later-patch-writes-again": (
            tale(a(TESTED, TESTED_TWICE), *on_a(TESTED_TWICE), base={"a": script()}),
            ["landed c0 range"] * 2),
        "a-line-that-stands-elsewhere-and-went-again": (
            tale(a(COMMON), *on_a(COMMON, swap(COMMON, BESIDE), TEN)), ["reverted c0 by c2"]),
    },
)  # fmt: skip
def test_a_series_is_judged_by_all_its_landings(told: Tale, verdicts: list[str]) -> None:
    assert told.verdicts() == verdicts


def test_nothing_of_a_reverted_patch_is_there() -> None:
    found = tale(a(BOTH), *on_a(BOTH, BASE)).absorbed()[0]
    assert (found.event, found.hunks, found.is_whole) == (Event.REVERTED, frozenset(), False)


def test_a_hunk_that_upstream_does_without_is_told_by_what_it_adds() -> None:
    use = ("stay_25", "stay_25 ours_1st(ours_2nd)")
    ours = swap(inserted(*PIECES, "ours_1st", "ours_2nd"), use)
    told = tale(a(ours), *on_a(inserted(*PIECES, "theirs_1st", "theirs_2nd")))
    assert told.verdicts() == ["landed c0 history"]
    without = told.absorbed()[0].wordings[-1]
    assert (without.path, without.upstream, without.patch) == ("a", b"", b"ours_1st(ours_2nd)\n")


@table(
    ("line", "is_whole"),
    {
        "names-of-what-landed": ("piece_00(ours_1st)", True),
        "a-name-of-its-own": ("piece_00(guard_it)", False),
        "a-number-of-its-own": ("piece_00(8)", False),
        "a-deletion": ("", False),
        "a-comment": ("#for_whoever_reads_it", True),
        "a-long-string": ('""" for_whoever_reads_it """', True),
    },
)
def test_a_hunk_that_a_landing_lacks_goes_if_it_names_no_more(line: str, is_whole: bool) -> None:
    ours = swap(inserted(*PIECES, "ours_1st"), ("stay_25", f"stay_25 {line}" if line else ""))
    landed = inserted(*PIECES, "theirs_1st")
    told = Tale({"a.py": BASE}, [{"a.py": ours}], [("Work", {"a.py": landed})])
    assert told.absorbed()[0].is_whole is is_whole


def test_lines_that_a_patch_only_indents_did_not_land_with_it() -> None:
    lines = ["plan_batch(scale)", "check_tokens(owner)", "keep_query(16)"]
    plain, wrapped = ("".join(f"{head}    {x}\n" for x in lines) for head in ("", "    "))
    frame = "def run(query):\n    start(query)\n{}    stop(query)\n"
    states = ("", plain, f"    if query:\n{wrapped}")
    base, first, second = (frame.format(x).encode() for x in states)
    landed = frame.format(f"    note(query)\n{plain}").encode()
    told = Tale({"a.py": base}, [{"a.py": first}, {"a.py": second}], [("Work", {"a.py": landed})])
    assert told.verdicts()[1] == "-"


def test_white_space_in_a_file_that_the_landing_left_alone_did_not_land() -> None:
    blank = BASE.replace(b"stay_20\n", b"stay_20 \n")
    told = tale([{"a": FOUR, "b": BASE}], *on_a(FOUR), base={"a": BASE, "b": blank})
    (found,) = told.absorbed().values()
    assert found.hunks == {0}
    assert not found.is_whole


def test_what_was_in_other_words_before_the_landing_did_not_land() -> None:
    mine, other = (swap(BASE, ("stay_20", f"version_{n}")) for n in (2, 9))
    upstream = ("Release", {"b": other}), *on_a(FOUR)
    told = tale([{"a": FOUR, "b": mine}], *upstream, base={"a": BASE, "b": BASE})
    (found,) = told.absorbed().values()
    assert found.hunks == {0}
    assert not found.is_whole


def test_a_place_that_upstream_deleted_as_a_whole_did_not_land() -> None:
    lines = [f"stay_{n}" for n in range(10, 16)]
    ours = swap(BASE, (lines[0], "ours_one ours_two"), *((x, "") for x in lines[1:]))
    edited = swap(BASE, (lines[2], "theirs_one"))
    gone = swap(edited, *((x, "") for x in ("stay_09", *lines[:2], *lines[3:], "stay_16")))
    assert tale(a(ours), *on_a(edited, gone)).verdicts() == ["-"]


def test_what_is_still_there_has_not_come_back() -> None:
    more = ("stay_20", "stay_20 more_1st more_2nd more_3rd more_4th")
    guards = (f"stay_10 guard_one guard_two guard_{x}" for x in ("old", "new"))
    old, new = (swap(BASE, ("stay_10", lines)) for lines in guards)
    told = tale(a(swap(BASE, more), swap(new, more)), *on_a(new, swap(BASE, more)), base={"a": old})
    assert told.verdicts() == ["landed c1 exact", "-"]
