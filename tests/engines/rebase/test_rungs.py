"""The rungs after the text merge."""

from msgspec.structs import replace

from patchmgr.engines.conflicts.ids import region_id
from patchmgr.engines.conflicts.memory import Resolutions
from patchmgr.engines.merge.candidate import Resolved
from patchmgr.engines.rebase.ladder import (
    CARRIED_TEXT,
    CONFLICT,
    FORMATTED,
    STRUCTURAL,
    Answer,
    Collided,
    Merged,
    Sides,
)
from patchmgr.engines.rebase.rungs import (
    GUESSED,
    RECORDED,
    Solved,
    Unsolved,
    climb_on,
    has_last_newline,
    solve_text,
)
from patchmgr.engines.rebase.work import Mergers, Structure, Tools
from patchmgr.engines.structure.sides import Texts
from patchmgr.model.merge import Conflicted
from patchmgr.model.outcome import How, Reliability, Suggestion
from patchmgr.model.patch import Hunk
from patchmgr.model.snapshot import REGULAR, Entry
from tests.engines.conflicts.test_memory import KNOWN, Known
from tests.engines.ports import Binary, MemoryBlobs, PlainMerge
from tests.engines.rebase.test_formatting import BASE, FORK, NEW, Fake, tight
from tests.engines.series import NOBODY, hunks_between
from tests.tables import table

# The first region is on record, the second one is merged by what imports are.
GAP = "".join(f"\nvalue_{n} = {n}\n" for n in range(6)) + "\n"
SIDES = [
    f"h\n{one}\n{GAP}import a\n{two}import z\n"
    for one, two in (("b", ""), ("o", "import b\n"), ("t", "import c\n"))
]
IMPORTS = Reliability("replay", 9, 10)
SOLVED = f"h\nboth\n{GAP}import a\nimport b\nimport c\nimport z\n"


def united(texts: Texts, path: str, marked: bytes) -> Resolved | None:
    """Merge a file by structure whose first region is no longer in conflict."""
    is_left = texts.upstream.startswith("h\nboth\n")
    return Resolved(SOLVED, (IMPORTS,)) if is_left else None


def collision(
    *texts: bytes, answers: tuple[Answer, ...] = (CONFLICT,), hunks: tuple[Hunk, ...] = ()
) -> tuple[MemoryBlobs, Sides, Collided]:
    """Return the blobs, the sides (by default SIDES) and the conflict of their text merge."""
    blobs, (base, ours, theirs) = MemoryBlobs(), texts or [side.encode() for side in SIDES]
    entries = [Entry(REGULAR, blobs.add(side)) for side in (base, ours, theirs)]
    merge = PlainMerge().merge(base, ours, theirs)
    assert isinstance(merge, Conflicted)
    sides = Sides(entries[0], entries[1], entries[2], path="a.py", hunks=hunks)
    return blobs, sides, Collided("why", merge.marked, answers, (base, ours, theirs))


def tools_of(
    blobs: MemoryBlobs, recall: Resolutions | None = None, structure: Structure | None = None
) -> Tools:
    text = PlainMerge()
    return Tools(blobs, lambda *_: None, NOBODY, text=text, recall=recall, structure=structure)


def test_recorded_and_structural_resolutions_make_one_merge() -> None:
    blobs, sides, collided = collision()
    left = climb_on(sides, collided, tools_of(blobs, KNOWN), RECORDED)
    assert isinstance(left, Collided)
    found = climb_on(sides, left, tools_of(blobs, structure=united), GUESSED)
    assert isinstance(found, Merged)
    assert found.reliability == (IMPORTS,)
    assert found.answers == (STRUCTURAL,)
    assert found.entry is not None
    assert blobs.read(found.entry.blob).decode() == SOLVED


def test_the_sides_agree_where_a_resolution_was_replayed() -> None:
    blobs, sides, collided = collision()
    seen: list[Texts] = []

    def look(texts: Texts, path: str, marked: bytes) -> Resolved | None:
        seen.append(texts)
        return None

    tools = tools_of(blobs, KNOWN, look)
    left = climb_on(sides, collided, tools, RECORDED)
    assert isinstance(left, Collided)
    climb_on(sides, left, tools, GUESSED)
    assert all(side.startswith("h\nboth\n") for side in seen[0].sides())


def test_a_merge_that_equals_upstream_is_left_to_a_person() -> None:
    blobs, sides, collided = collision()

    def yields(texts: Texts, path: str, marked: bytes) -> Resolved | None:
        return Resolved(texts.upstream, (IMPORTS,))

    assert climb_on(sides, collided, tools_of(blobs, structure=yields), GUESSED) == collided


def test_an_edit_is_not_dropped_next_to_one_that_git_merged() -> None:
    gap = b"".join(b"v%d = %d\n" % (n, n) for n in range(8))
    texts = (b"a = 1\n" + gap + b"b = 1\n", b"a = 2\n" + gap + b"b = 1\n",
             b"a = 3\n" + gap + b"b = 3\n")  # fmt: skip
    blobs, sides, collided = collision(*texts, answers=(CONFLICT, CARRIED_TEXT))

    def drops(texts: Texts, path: str, marked: bytes) -> Resolved | None:
        return Resolved("a = 2\n" + gap.decode() + "b = 3\n", (IMPORTS,))

    assert climb_on(sides, collided, tools_of(blobs, structure=drops), GUESSED) == collided


def test_a_reformatted_hunk_next_to_a_conflict_does_not_count_as_merged_text() -> None:
    theirs = b"x=4\n" + FORK
    hunks = hunks_between(BASE, theirs, context=1)
    answers = CARRIED_TEXT, CONFLICT
    blobs, sides, collided = collision(BASE, NEW, theirs, answers=answers, hunks=hunks)
    tools = replace(tools_of(blobs), formatter=Fake(tight))
    found = climb_on(sides, collided, tools, GUESSED)
    assert isinstance(found, Merged)
    assert found.answers == (FORMATTED, FORMATTED)


def test_suggestions_for_a_region_are_kept() -> None:
    blobs, sides, collided = collision()
    suggestions = ((Suggestion(b"both\n", IMPORTS),),)

    def asks(texts: Texts, path: str, marked: bytes) -> Resolved | None:
        return Resolved(None, suggestions=suggestions)

    found = climb_on(sides, collided, tools_of(blobs, structure=asks), GUESSED)
    assert isinstance(found, Collided)
    assert found.suggestions == suggestions


@table(("path", "is_replayed"), {"python": ("a.py", False), "text": ("a.txt", True)})
def test_a_resolution_that_breaks_the_file_is_not_replayed(path: str, is_replayed: bool) -> None:
    texts = (b"b\n", b"o\n", b"t\n")
    blobs, sides, collided = collision(*texts)
    tools = tools_of(blobs, Known({texts: b"(\n"}))
    found = climb_on(replace(sides, path=path), collided, tools, RECORDED)
    assert isinstance(found, Merged) is is_replayed


ALONE_BASE, OURS, THEIRS = b"h\nb\nz\n", b"h\no\nz\n", b"h\nt\nz\n"
NAME = region_id(b"b\n", b"o\n", b"t\n")


def solve(
    base: bytes, upstream: bytes, fork: bytes, recall: Resolutions | None, *, ours: bool = True
) -> Solved | Unsolved:
    mergers = Mergers(text=PlainMerge(), recall=recall)
    return solve_text(base, upstream, fork, "f", mergers=mergers, is_upstream_ours=ours)


def test_a_clean_merge_has_gits_bytes_and_needs_no_recorded_resolution() -> None:
    asked = KNOWN.asked
    found = solve(ALONE_BASE, b"x\n" + ALONE_BASE, THEIRS, KNOWN)
    assert found == Solved(b"x\n" + THEIRS, How.TEXT)
    assert KNOWN.asked == asked


@table("ours", [True, False])
def test_a_recorded_resolution_is_replayed_and_named(ours: bool) -> None:
    recorded = Solved(b"h\nboth\nz\n", How.RECORDED, (NAME,))
    assert solve(ALONE_BASE, OURS, THEIRS, KNOWN, ours=ours) == recorded


@table("ours", [True, False])
def test_an_unresolved_conflict_has_markers_in_the_callers_order(ours: bool) -> None:
    found = solve(ALONE_BASE, OURS, b"h\nT\nz\n", KNOWN, ours=ours)
    assert isinstance(found, Unsolved)
    assert found.marked is not None
    first, second = (b"o\n", b"T\n") if ours else (b"T\n", b"o\n")
    assert b"<<<<<<< ours\n" + first in found.marked
    assert second + b">>>>>>> theirs\n" in found.marked


def test_without_recorded_resolutions_nothing_is_replayed() -> None:
    found = solve(ALONE_BASE, OURS, THEIRS, None)
    assert isinstance(found, Unsolved)
    assert found.used == ()


@table("ours", [True, False])
def test_a_replayed_resolution_is_part_of_the_remaining_conflict(ours: bool) -> None:
    more = b"1\n2\n3\n"
    sides = [ALONE_BASE + more + b"B\n", OURS + more + b"O\n", THEIRS + more + b"T\n"]
    found = solve(sides[0], sides[1], sides[2], KNOWN, ours=ours)
    assert isinstance(found, Unsolved)
    assert found.used == (NAME,)
    assert found.marked is not None
    assert found.marked.startswith(b"h\nboth\nz\n" + more + b"<<<<<<< ours\n")


def test_an_lfs_pointer_is_not_merged_by_structure() -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:%b\nsize %b\n"
    sides = [pointer % pair for pair in ((b"a", b"1"), (b"b", b"1"), (b"a", b"2"))]
    mergers = Mergers(text=PlainMerge(), structure=lambda *_: Resolved("merged\n"))
    found = solve_text(sides[0], sides[1], sides[2], "f", mergers=mergers)
    assert isinstance(found, Unsolved)


def test_binaries_are_left_in_conflict() -> None:
    found = solve_text(b"", b"\0", b"\1", "f", mergers=Mergers(text=Binary(), recall=KNOWN))
    assert found == Unsolved(None)


@table(
    ("base", "ours", "theirs", "expected"),
    [
        (b"a\n", b"a\n", b"a\n", True), (b"a\n", b"a", b"a\n", False),
        (b"a\n", b"a\n", b"a", False),
        (b"a", b"a\n", b"a", True), (b"a", b"a", b"a\n", True), (b"", b"a", b"a", False),
        (b"", b"a\n", b"a", False),
    ],
)  # fmt: skip
def test_last_line_feeds_merge(base: bytes, ours: bytes, theirs: bytes, expected: bool) -> None:
    assert has_last_newline(base, ours, theirs) is expected
