"""Patches that an earlier conflict blocks, and the causes that they get from it."""

import random

from patchmgr.engines.cause.commits import explain, explained_paths
from patchmgr.engines.rebase.blocking import pass_on_causes, resolved_both_ways
from patchmgr.engines.series.placement import split_lines
from patchmgr.model.outcome import FileConflict
from patchmgr.model.patch import FilePatch, Patch
from tests.engines.ports import PlainMerge
from tests.engines.series import (
    File,
    Files,
    Run,
    Told,
    binary,
    deleted,
    difference,
    edited,
    entry_of,
    executable,
    moved,
    patch_of,
    patches_of,
    shown,
    text,
)
from tests.long import LONG
from tests.tables import table

BASE = text("a b c d e f g h i j k l")
EARLY = text("a B c d e f g h i j k l")
LATE = text("a B c d e f g h i j K l")
OTHER = text("a X c d e f g h i j k l")
ONE, TWO, NEW, MORE = text("1"), text("2"), text("new"), text("more")


def causes(base: Files, story: list[tuple[str, dict[str, bytes]]], *patches: Patch) -> list[str]:
    """Return `verdict: causes` of each patch."""
    onto = dict(base)
    for _, changes in story:
        onto |= changes
    run = Run(base, onto)
    result = run.rebase(*patches)
    told = Told(run.blobs, story)
    paths = explained_paths(result.judged)
    start = {path: entry_of(run.blobs, base[path]) for path in paths if path in base}
    judged = explain(result.judged, told, start, blobs=run.blobs, text=PlainMerge())
    judged, _ = pass_on_causes(judged)
    return [
        f"{one.outcome.verdict.value}: {' '.join(c.subject for c in one.outcome.cause)}".strip()
        for one in judged
    ]


FURTHER = text("a B c d e f g h i j KK l")
CAUSES = {
    "of-what-blocks-it": (
        {"f": BASE, "x": ONE}, [("1", {"x": NEW}), ("2", {"f": OTHER})],
        patches_of(edited("f", BASE, EARLY), edited("x", ONE, TWO), edited("f", EARLY, LATE),
                   edited("f", LATE, BASE), (edited("f", BASE, EARLY), edited("x", TWO, MORE))),
        ["conflict: 2", "conflict: 1", "unchanged:", "blocked: 2", "blocked: 2 1"]),
    "of-two-conflicts-in-a-file-the-one-in-the-way": (
        {"f": BASE}, [("1", {"f": OTHER}), ("2", {"f": text("a X c d e f g h i j X l")})],
        patches_of(edited("f", BASE, EARLY), edited("f", EARLY, LATE), edited("f", LATE, FURTHER),
                   edited("f", FURTHER, BASE)),
        ["conflict: 1", "conflict: 2", "blocked: 2", "blocked: 1 2"]),
    "of-what-blocked-what-blocks-it": (
        {"f": BASE, "x": ONE}, [("1", {"f": OTHER})],
        patches_of(edited("f", BASE, EARLY), moved("f", "g", EARLY, BASE), edited("g", BASE, LATE)),
        ["conflict: 1", "blocked: 1", "blocked: 1"]),
    "of-the-file-in-the-way-only": (
        {"f": BASE, "x": ONE, "y": ONE}, [("1", {"x": NEW}), ("2", {"f": OTHER})],
        patches_of((edited("f", BASE, EARLY), edited("x", ONE, TWO), edited("y", ONE, TWO)),
                   edited("x", TWO, MORE), edited("y", TWO, MORE)),
        ["conflict: 2 1", "blocked: 1", "unchanged:"]),
}  # fmt: skip


@table(("base", "story", "patches", "told"), CAUSES)
def test_a_blocked_patch_has_the_cause(
    base: Files, story: list[tuple[str, dict[str, bytes]]], patches: list[Patch], told: list[str]
) -> None:
    assert causes(base, story, *patches) == told


def numbered(**changed: str) -> bytes:
    """Return twenty lines, some with other words."""
    return b"".join(
        f"{changed.get(f'l{n}', f'{n}')}\n".encode()
        for n in range(20)
        if changed.get(f"l{n}") != "-"
    )


FIRST = numbered(l5="patch")
LEFT = "p1 left these lines of f in conflict"


@table(
    ("later", "reason"),
    {
        "the-same-line": (edited("f", FIRST, numbered(l5="two")), LEFT),
        "takes-it-back": (edited("f", FIRST, numbered()), LEFT),
        "as-upstream-has-it": (edited("f", FIRST, numbered(l5="upstream")), LEFT),
        "the-next-line": (edited("f", FIRST, numbered(l5="patch", l6="x")), LEFT),
        "in-its-context": (edited("f", FIRST, numbered(l5="patch", l8="x")), LEFT),
        "without-context": (edited("f", FIRST, numbered(l5="patch", l8="x"), context=0), LEFT),
        "behind-context": (edited("f", FIRST, numbered(l5="patch", l9="x")), None),
        "before-context": (edited("f", FIRST, numbered(l5="patch", l1="x")), None),
        "far-away": (edited("f", FIRST, numbered(l5="patch", l19="-")), None),
        "in-one-of-two-places": (edited("f", FIRST, numbered(l5="two", l15="x")), LEFT),
        "moves-it": (moved("f", "g", FIRST, FIRST), None),
        "and-edits": (moved("f", "g", FIRST, numbered(l5="patch", l15="x")), None),
        "moves-and-meets-it": (moved("f", "g", FIRST, numbered()), LEFT),
        "copies-it": (moved("f", "g", FIRST, FIRST, is_copy=True), None),
        "deletes-it": (deleted("f", FIRST), LEFT),
        "its-mode": (edited("f", FIRST, executable(FIRST)), None),
    },
)
def test_lines_in_conflict_block_later_patches(later: FilePatch, reason: str | None) -> None:
    run = Run({"f": numbered()}, {"f": numbered(l5="upstream")})
    result = run.rebase(patch_of("p1", edited("f", numbered(), FIRST)), patch_of("p2", later))
    verdicts = ["conflict", "unchanged" if reason is None else "blocked"]
    assert (result.verdicts, result.outcomes[1].reason) == (verdicts, reason)


FUNCTIONS = b"""\
import os

LIMIT = 1


def one():
    a = 1
    b = 2
    c = 3
    d = 4
    e = 5
    f = 6
    return a


class Some:
    size = 1

    def two(self):
        return 1

    def three(self):
        a = 1
        b = 2
        c = 3
        d = 4
        return a
"""


def changed(*pairs: tuple[bytes, bytes], of: bytes = FUNCTIONS) -> bytes:
    for old, new in pairs:
        assert of.count(old) == 1
        of = of.replace(old, new)
    return of


UPSTREAM = changed((b"    f = 6\n", b"    f = 60\n"), (b"    size = 1\n", b"    size = 10\n"))
ONE_LINE = (b"    f = 6\n", b"    f = 7\n")
SIZE = (b"    size = 1\n", b"    size = 2\n")
HELPER = (SIZE[0], b"    size = 2\n    big_size = 3\n")


@table(
    ("first", "then", "reason"),
    {
        "the-same-function": (ONE_LINE, (b"def one():\n    a = 1\n", b"def one():\n    a = 9\n"),
            "p1 left one of m.py in conflict"),
        "another": (ONE_LINE, (b"        return 1\n", b"        return 2\n"), None),
        "another-of-the-class": (SIZE, (b"        return a\n", b"        return b\n"), None),
        "outside-of-functions": (SIZE, (b"LIMIT = 1\n", b"LIMIT = 2\n"), None),
        "a-name-it-brings": (HELPER, (b"        return a\n", b"        return big_size\n"),
            "p1 left m.py in conflict, where it defines big_size"),
        "a-remark": (HELPER, (b"        return a\n", b"        return a  # big_size\n"), None),
        "a-name-of-old": (HELPER, (b"        return a\n", b"        return LIMIT\n"), None),
    },
)  # fmt: skip
def test_a_patch_that_touches_the_function_in_conflict_is_blocked(
    first: tuple[bytes, bytes], then: tuple[bytes, bytes], reason: str | None
) -> None:
    one = changed(first)
    two = changed(then, of=one)
    patches = [patch_of("p1", edited("m.py", FUNCTIONS, one))]
    patches.append(patch_of("p2", edited("m.py", one, two)))
    result = Run({"m.py": FUNCTIONS}, {"m.py": UPSTREAM}).rebase(*patches)
    assert result.outcomes[1].reason == reason
    assert result.verdicts[0] == "conflict"
    assert (result.verdicts[1] == "blocked") is (reason is not None)


@table(
    ("after", "onto"),
    {
        "a-deleted-file": (EARLY, {}),
        "with-a-mode": (executable(EARLY), {"f": OTHER}),
        "without-a-last-line-feed": (b"a\nB\nc", {"f": OTHER}),
    },
)
def test_a_conflict_without_clear_regions_blocks_the_whole_file(after: File, onto: Files) -> None:
    patches = patches_of(edited("f", BASE, after), deleted("f", after))
    result = Run({"f": BASE}, onto).rebase(*patches)
    assert result.verdicts == ["conflict", "blocked"]
    assert result.outcomes[1].reason == "p1 left f in conflict"


def test_a_binary_conflict_blocks_the_file() -> None:
    patches = patches_of(binary("f", b"\0", b"\0\1"), binary("f", b"\0\1", b"\0\1\2"))
    result = Run({"f": b"\0"}, {"f": b"\0\3"}).rebase(*patches)
    assert result.verdicts == ["conflict", "blocked"]


def test_a_blocked_patch_blocks_the_patches_on_top_of_it() -> None:
    far = numbered(l5="two", l15="x")
    patches = patches_of(
        edited("f", numbered(), FIRST),
        edited("f", FIRST, far),
        edited("f", far, numbered(l5="two", l15="y")),
        edited("f", numbered(l5="two", l15="y"), numbered(l5="two", l15="y", l0="z")),
    )
    result = Run({"f": numbered()}, {"f": numbered(l5="upstream")}).rebase(*patches)
    assert result.verdicts == ["conflict", "blocked", "blocked", "unchanged"]
    assert result.files == {"f": numbered(l5="upstream", l0="z")}


@table(
    ("later", "verdict"),
    {
        "the-same-line": (numbered(l5="two"), "blocked"),
        "far-away": (numbered(l5="patch", l15="x"), "modified"),
    },
)
def test_a_conflict_in_a_file_that_moved_blocks_its_lines(later: bytes, verdict: str) -> None:
    patches = patches_of(edited("f", numbered(), FIRST), edited("f", FIRST, later))
    run = Run({"f": numbered()}, {"h": numbered(l5="upstream")})
    assert run.rebase(*patches, renames={"f": "h"}).verdicts == ["conflict", verdict]


def test_a_patch_that_is_blocked_in_one_file_is_carried_on_in_the_others() -> None:
    patches = patches_of(
        edited("f", numbered(), FIRST),
        (edited("f", FIRST, numbered()), edited("x", ONE, TWO)),
        edited("x", TWO, MORE),
    )
    run = Run({"f": numbered(), "x": ONE}, {"f": numbered(l5="upstream"), "x": ONE})
    result = run.rebase(*patches)
    assert result.verdicts == ["conflict", "blocked", "unchanged"]
    assert result.files["x"] == MORE


FAR = numbered(l5="patch", l15="x")


@table(
    ("first", "second", "onto", "verdict", "left"),
    {
        "what-merges-clean-stays": (FAR, numbered(l5="patch", l15="y"), numbered(l5="upstream"),
            "unchanged", numbered(l5="upstream", l15="y")),
        "another-conflict-is-one-of-its-own": (FIRST, FAR, numbered(l5="upstream", l15="up"),
            "conflict", numbered(l5="upstream", l15="up")),
    },
)  # fmt: skip
def test_in_a_conflict(first: bytes, second: bytes, onto: bytes, verdict: str, left: bytes) -> None:
    patches = patches_of(edited("f", numbered(), first), edited("f", first, second))
    result = Run({"f": numbered()}, {"f": onto}).rebase(*patches)
    assert result.verdicts == ["conflict", verdict]
    assert result.files == {"f": left}


def test_a_patch_that_was_not_tried_has_no_cause() -> None:
    patches = patches_of(edited("f", BASE, EARLY), edited("x", ONE, TWO))
    run = Run({"f": BASE, "x": ONE}, {"f": OTHER, "x": ONE})
    judged = run.rebase(*patches, stops=True).judged
    assert [one.outcome.cause for one in pass_on_causes(judged)[0]] == [(), ()]


RANDOM_SIZE = 40


def edited_at_random(chance: random.Random, content: bytes, word: str) -> bytes:
    """Return a text with one or two places changed, grown or shrunk."""
    lines = split_lines(content)
    for number in range(chance.choice([1, 1, 2])):
        at = chance.randrange(len(lines))
        new = [f"{word} {number} {n}\n".encode() for n in range(chance.choice([0, 1, 1, 2]))]
        lines[at : at + chance.choice([0, 1, 1, 2])] = new
    return b"".join(lines)


def tale(seed: int) -> tuple[Files, Files, list[Patch]]:
    """Return base, target and a series on one file."""
    chance = random.Random(seed)
    base = b"".join(b"line %d\n" % number for number in range(RANDOM_SIZE))
    onto, state, patches = base, base, list[Patch]()
    for number in range(3):
        onto = edited_at_random(chance, onto, f"upstream {number}")
    for number in range(chance.choice([3, 4, 5])):
        after = edited_at_random(chance, state, f"patch {number}")
        if after != state:
            patches.append(difference(f"p{number}", {"f": state}, {"f": after}))
        state = after
    return {"f": base}, {"f": onto}, patches


def resolved(conflict: FileConflict, way: str) -> bytes:
    """Return a resolution such as a person might write."""
    both = resolved_both_ways(conflict)
    assert both is not None
    return both[way == "theirs"]


def edit(
    run: Run, patches: list[Patch], number: int, solved: dict[tuple[str, str], bytes | None],
    on: dict[tuple[str, str], bytes],
) -> list[tuple[bytes, ...]]:  # fmt: skip
    """Return what a patch changes after the rebase, with the lines around it."""
    ends = [run.rebase(*patches[:n], solved=solved, solved_on=on) for n in (number, number + 1)]
    before, after = (end.files for end in ends)
    changes = difference("d", before, after).files
    return [hunk.lines for change in changes for hunk in change.hunks]


@table("way", ["ours", "theirs"])
def test_patches_carried_past_a_conflict_stay_alike_once_resolved(way: str) -> None:
    compared = 0
    for seed in range(400 if LONG else 20):
        base, onto, patches = tale(seed)
        run = Run(base, onto)
        first = run.rebase(*patches)
        solved: dict[tuple[str, str], bytes | None] = {}
        on: dict[tuple[str, str], bytes] = {}
        for outcome in first.outcomes:
            for conflict in outcome.conflicts:
                solved[outcome.name, "f"] = resolved(conflict, way)
                on[outcome.name, "f"] = shown(conflict.ours or b"")
        second = run.rebase(*patches, solved=solved, solved_on=on)
        for number, outcome in enumerate(first.outcomes):
            if solved and outcome.is_carried and outcome.hunks:
                again = second.outcomes[number]
                assert again.verdict == outcome.verdict, seed
                alone = edit(run, patches, number, {}, {})
                assert edit(run, patches, number, solved, on) == alone, seed
                compared += 1
    assert compared > 20
