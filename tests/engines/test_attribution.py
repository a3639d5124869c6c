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


def test_what_upstream_wrote_itself_may_be_a_later_wording_of_a_hunk() -> None:
    assert bumped("1.1", "1.2")[1] == "landed c0 history"


def test_a_chain_of_bumps_is_in_with_the_last_one_only_if_its_first_is() -> None:
    chain: list[Changes | Patch] = [
        {"v": version(n)} for n in ("1.1rc1", "1.1rc2", "1.1rc3", "1.1")
    ]
    told = tale(chain, ("Bump", {"v": version("1.1")}), base={"v": VERSION})
    assert told.verdicts() == ["-", "-", "-", "landed c0 exact"]


def test_a_patch_mostly_replaced_is_in_only_with_what_replaced_it() -> None:
    base = {"Z": BASE, "a": BASE}
    second = inserted(*PIECES[:4], *(f"later_{n}" for n in range(30)))
    whole = swap(second, ("stay_25", "stay_25 other_1 other_2"))
    ours: list[Changes | Patch] = [{"Z": FIRST, "a": MANY}, {"a": whole}]
    told = tale(ours, ("Work", {"Z": FIRST, "a": whole}), base=base)
    assert told.verdicts() == ["landed c0 exact", "landed c0 exact"]
    half = tale(ours, ("Work", {"Z": FIRST, "a": second}), base=base)
    assert half.verdicts() == ["-", "landed c0 history hunks 0"]


@pytest.mark.parametrize(
    ("path", "word", "verdict"),
    [
        pytest.param("a.py", CODE, "landed c0 history", id="no-remark"),
        pytest.param("a.cu", CODE, "landed c0 history hunks 0", id="no-mark"),
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
    many = ("stay_05", " ".join(["stay_05", *PIECES]))
    remark = f"{CODE}#why"
    landed = swap(REMARKED, many, ("stay_18", "stay_18 beside_it"))
    ours = swap(landed, (remark, word))
    told = tale([{path: ours}], ("Work", {path: landed}), base={path: REMARKED})
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
