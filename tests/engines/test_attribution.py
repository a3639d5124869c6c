"""What of a landed patch another one accounts for, a remark left out, a part taken back."""

from __future__ import annotations

import pytest

from patchmgr.model.patch import Patch
from tests.engines.tales import Changes, swap
from tests.engines.test_absorb import BASE, FIRST, a, on_a, tale
from tests.engines.test_absorb_parts import PIECES, inserted

VERSION = b"1.0\n"
MANY = inserted(*PIECES)
CODE = "value_of(first,second),"
REMARKED = swap(
    BASE, ("stay_20", f"stay_20 {CODE}#why"), ("stay_28", f"stay_28 {CODE} other_code(),")
)


def version(number: str) -> bytes:
    return number.encode() + b"\n"


def bumped(*upstream: str) -> list[str]:
    """Return the verdicts on three bumps, the second beside work, after upstream's own bumps."""
    first: Changes = {"b": FIRST, "v": version("1.1rc1")}
    rc: list[Changes | Patch] = [first, {"a": MANY, "v": version("1.1rc2")}, {"v": version("1.1")}]
    steps = [("Work", {"a": MANY}), *((f"Bump {n}", {"v": version(n)}) for n in upstream)]
    return tale(rc, *steps, base={"a": BASE, "b": BASE, "v": VERSION}).verdicts()


def test_what_another_patch_brought_is_no_later_wording_of_a_hunk() -> None:
    assert bumped("1.1") == ["-", "landed c0 history hunks 0", "landed c1 exact"]


def test_what_upstream_wrote_itself_may_be_a_later_wording_of_a_hunk_that_was_replaced() -> None:
    assert bumped("1.1", "1.2")[1] == "landed c0 history"


def test_a_chain_of_bumps_is_in_with_the_last_one_only_if_its_first_is() -> None:
    chain: list[Changes | Patch] = [
        {"v": version(n)} for n in ("1.1rc1", "1.1rc2", "1.1rc3", "1.1")
    ]
    told = tale(chain, ("Bump", {"v": version("1.1")}), base={"v": VERSION})
    assert told.verdicts() == ["-", "-", "-", "landed c0 exact"]


SECOND = inserted(*PIECES[:4], *(f"later_{n}" for n in range(30)))
WHOLE = swap(SECOND, ("stay_25", "stay_25 other_1 other_2"))


@pytest.mark.parametrize(
    ("landed", "verdicts"),
    [
        pytest.param(WHOLE, ["landed c0 exact", "landed c0 exact"], id="whole"),
        pytest.param(SECOND, ["landed c0 exact", "landed c0 history hunks 0"], id="but-for-a-hunk"),
    ],
)
def test_a_patch_that_a_later_one_replaced_is_in_with_it(
    landed: bytes, verdicts: list[str]
) -> None:
    base = {"Z": BASE, "a": BASE}
    ours: list[Changes | Patch] = [{"Z": FIRST, "a": MANY}, {"a": WHOLE}]
    told = tale(ours, ("Work", {"Z": FIRST, "a": landed}), base=base)
    assert told.verdicts() == verdicts


@pytest.mark.parametrize(
    ("late", "verdicts"),
    [
        pytest.param("", ["-", "landed c0 exact", "landed c0 exact"], id="in-whole"),
        pytest.param("late_9", ["-", "-", "landed c0 history hunks 0"], id="in-part"),
    ],
)
def test_a_patch_that_one_in_part_replaced_is_not_in_where_it_undoes_one_that_is_not_in(
    late: str, verdicts: list[str]
) -> None:
    """Found in a fork: a request had the second and most of the third patch, not the first."""
    first = swap(BASE, ("stay_20", "first_1 first_2"))
    other = ("stay_20", "other_1")
    landed = swap(inserted(*(f"late_{n}" for n in range(8))), other)
    third = swap(landed, ("stay_28", f"stay_28 {late}"))
    ours: list[Changes | Patch] = [
        {"a": first, "b": FIRST},
        {"a": swap(inserted(*PIECES), other)},
        {"a": third},
    ]
    told = tale(ours, ("Work", {"a": landed}), base={"a": BASE, "b": BASE})
    assert told.verdicts() == verdicts


@pytest.mark.parametrize(
    ("path", "word", "verdict"),
    [
        pytest.param("a.py", CODE, "landed c0 history", id="no-remark"),
        pytest.param("a.py", f"{CODE}#type:ignore", "landed c0 history hunks 0", id="for-a-tool"),
        pytest.param("a.txt", CODE, "landed c0 history hunks 0", id="no-code"),
        pytest.param("a.py", "other_code(),", "landed c0 history hunks 0", id="other-code"),
    ],
)
def test_a_landing_may_leave_out_what_a_patch_does_to_a_remark(
    path: str, word: str, verdict: str
) -> None:
    """Found in a request that landed after more review, but for one remark that it removed.

    The line without its remark stands elsewhere in the file, too.
    """
    base = swap(REMARKED, ("stay_29", f"stay_29 {word}"))
    many = ("stay_05", " ".join(["stay_05", *PIECES]))
    remark = f"{CODE}#why"
    landed = swap(base, many, ("stay_18", "stay_18 beside_it"))
    ours = swap(landed, (remark, word))
    told = tale([{path: ours}], ("Work", {path: landed}), base={path: base})
    assert told.verdicts() == [verdict]


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        pytest.param("ours_3", "evolved c0 by c1 history", id="landed-to-the-letter"),
        pytest.param("theirs", "evolved c0 by c1 history hunks 0", id="landed-in-other-words"),
    ],
)
def test_a_hunk_taken_back_of_what_landed_in_other_words_is_not_in(word: str, verdict: str) -> None:
    end = ("stay_25", "stay_25 late_1 late_2 late_3")
    ours = swap(inserted(*PIECES, "ours_1", "ours_2", "ours_3"), end)
    words = [
        w if word == "ours_3" else w.replace("ours", word) for w in ("ours_1", "ours_2", "ours_3")
    ]
    landed = swap(inserted(*PIECES, *words), end)
    told = tale(a(ours), *on_a(landed, inserted(*PIECES, *words)))
    assert told.verdicts() == [verdict]


CALL = "".join(f"step_{n:02}\n" for n in range(40)).encode()
HELPERS = "helper_one helper_two helper_three"


def long(words: str, *more: tuple[str, str]) -> bytes:
    """Return a long text with pieces, and with other words behind them."""
    pieces = " ".join(["step_05", *(f"piece_{n:02}" for n in range(20)), words])
    return swap(CALL, ("step_05", pieces), *more)


HERE = ("step_20", f"step_20 {HELPERS}")
THERE = ("step_35", f"step_35 {HELPERS}")
OURS, THEIRS = "ours_0 ours_1 ours_2", "theirs_0 theirs_1 theirs_2"


@pytest.mark.parametrize(
    ("after", "verdict"),
    [
        pytest.param({"a": long(THEIRS, THERE)}, "evolved c0 history", id="in-the-file"),
        pytest.param(
            {"a": long(THEIRS), "b": swap(BASE, ("stay_20", f"stay_20 {HELPERS}"))},
            "evolved c0 by c1 history",
            id="to-another-file-of-the-series",
        ),
        pytest.param({"a": long(THEIRS)}, "evolved c0 by c1 history hunks 0,2", id="taken-back"),
    ],
)
def test_what_upstream_moved_is_not_taken_back(after: Changes, verdict: str) -> None:
    """Found by a reader: the moved lines were carried, and stood twice in the result."""
    ours: Changes = {"a": long(OURS, HERE), "b": FIRST}
    told = tale(
        [ours],
        ("Land", {"a": long(THEIRS, HERE), "b": FIRST}),
        ("Move", {"b": FIRST, **after}),
        base={"a": CALL, "b": BASE},
    )
    assert told.verdicts() == [verdict]


def test_what_is_back_is_taken_back_though_its_new_line_stands_elsewhere() -> None:
    """Found by a reader: a hunk that takes lines away counted as moved."""
    back = ("stay_20", "old_one old_two old_three")
    base = swap(CALL.replace(b"step_", b"stay_"), back)

    def text(words: str, *more: tuple[str, str]) -> bytes:
        lines = " ".join(["stay_05", *(f"piece_{n:02}" for n in range(20)), words])
        return swap(base, ("stay_05", lines), *more)

    short = [("old_one", "common_line"), ("old_two", ""), ("old_three", "")]
    told = tale(
        [{"a": text(OURS, *short)}],
        ("Land", {"a": text(THEIRS, *short)}),
        ("Back", {"a": text(THEIRS, ("stay_30", "stay_30 common_line"))}),
        base={"a": base},
    )
    assert told.verdicts() == ["evolved c0 by c1 history hunks 0"]


def config(words: str, *more: tuple[str, str]) -> bytes:
    return swap(BASE, ("stay_05", f"stay_05 {words}"), *more)


FAR = ("stay_28", "stay_28 far_off")
ALIGN, BOUNDS = "check_align", "check_bounds"


@pytest.mark.parametrize(
    "upstream",
    [
        [{"a": MANY}, {"v": config(ALIGN)}],
        [{"a": MANY}, {"v": config(ALIGN)}, {"v": config(ALIGN, FAR)}],
        [{"a": MANY, "v": swap(BASE, FAR)}, {"v": config(ALIGN, FAR)}],
    ],
    ids=["at-once", "one-more-commit", "a-landing-that-touched-the-file"],
)
def test_what_another_patch_wrote_at_its_place_is_no_wording_of_a_hunk(
    upstream: list[Changes],
) -> None:
    """Found by a reader: `check_bounds` was lost once one more commit touched the file."""
    ours: list[Changes | Patch] = [
        {"a": MANY, "v": config(BOUNDS)},
        {"v": config(f"{BOUNDS} {ALIGN}")},
    ]
    told = tale(ours, *(("Work", step) for step in upstream), base={"a": BASE, "v": BASE})
    assert told.verdicts()[0] == "landed c0 history hunks 0"


@pytest.mark.parametrize("after", [config("new_call"), swap(BASE, ("stay_06", ""))])
def test_a_hunk_that_never_landed_is_not_in_once_upstream_changes_the_line_beside_it(
    after: bytes,
) -> None:
    ours: Changes = {"a": MANY, "v": config("old_call check_bounds")}
    steps = ("Work", {"a": MANY}), ("Rework", {"v": after})
    told = tale([ours], *steps, base={"a": BASE, "v": config("old_call")})
    assert told.verdicts() == ["landed c0 history hunks 0"]


@pytest.mark.parametrize(
    ("words", "there", "verdict"),
    [
        pytest.param("stay_20 new_1 new_2 new_3", "", "landed c0 history hunks 0", id="only-adds"),
        pytest.param("stay_20 new_1 new_2", "", "landed c0 history", id="says-little"),
        pytest.param("new_1 new_2 new_3", "", "landed c0 history", id="changes-a-line"),
        pytest.param("stay_20 new_1 new_2", "other", "landed c0 history", id="other-words"),
    ],
)
def test_a_landing_that_took_the_place_of_a_hunk_away(words: str, there: str, verdict: str) -> None:
    """Found in a request that moved the functions beside which a patch puts new ones."""
    many = ("stay_03", " ".join(["stay_03", *(f"piece_{n:03}" for n in range(200))]))
    gone = [(f"stay_{n}", "") for n in range(15, 26) if n != 20]
    ours = swap(BASE, many, ("stay_20", words))
    landed = swap(BASE, many, ("stay_20", there), *gone)
    told = tale([{"a": ours}], ("Work", {"a": landed}), base={"a": BASE})
    assert told.verdicts() == [verdict]


FIRST_WORDS = " ".join(f"word_{n}_of_a" for n in range(12))


def test_a_patch_on_words_of_another_one_is_reverted_alone() -> None:
    """Found by a reader: the second patch was dropped, though its commit was reverted."""
    one, other = (config(w) for w in (FIRST_WORDS, FIRST_WORDS.replace("of_a", "of_b")))
    steps = [("Land A", one), ("Land B", other), ('Revert "Land B"', one)]
    told = tale([{"a": one}, {"a": other}], *((s, {"a": t}) for s, t in steps), base={"a": BASE})
    assert told.verdicts()[1] == "reverted c1 by c2"


def test_what_gives_back_what_a_carried_patch_takes_away_is_carried_too() -> None:
    """Found by a reader: the first patch was carried, the second was not, and the code was gone."""
    gone = swap(BASE, ("stay_10", "beside_1 beside_2"))
    told = tale([{"a": gone}, {"a": BASE}], ("Work", {"a": BASE + b"late\n"}), base={"a": BASE})
    assert all(found.undoes for number, found in told.absorbed().items() if number)


def test_two_patches_take_lines_away_one_after_the_other() -> None:
    late = swap(BASE, ("stay_20", "late_1 late_2 late_3"))
    last = swap(BASE, ("stay_25", "last_1 last_2"))
    told = tale(
        [{"a": FIRST, "b": FIRST}, {"a": late}, {"a": last}],
        *on_a(late, last),
        base={"a": BASE, "b": BASE},
    )
    undoes = {number: found.undoes for number, found in told.absorbed().items()}
    assert undoes == {1: {0: {"p0"}}, 2: {0: {"p1"}}}
