"""The rungs above the text merge: what was solved before, upstream's format, the structure."""

from __future__ import annotations

from msgspec.structs import replace

from patchmgr.engines.conflicts.memory import Replayed, Resolutions
from patchmgr.engines.rebase.ladder import (
    ABSORBED_SYNTAX,
    CONFLICT,
    DECIDED,
    FORMATTED,
    SOLVED,
    STRUCTURAL,
    Answer,
    Collided,
    Merged,
    Sides,
)
from patchmgr.engines.rebase.resolve import Structure, Three, Unsolved, solve_marked
from patchmgr.engines.structure.guards_text import compiles
from patchmgr.model.outcome import How, Reliability
from patchmgr.model.ports import Blobs, Formatter, TextMerge
from patchmgr.model.snapshot import Entry

_ANSWERS: dict[How, Answer] = {
    How.RECORDED: SOLVED,
    How.FORMAT: FORMATTED,
    How.STRUCTURAL: STRUCTURAL,
}


def further(
    sides: Sides,
    collided: Collided,
    path: str,
    *,
    blobs: Blobs,
    text: TextMerge,
    recall: Resolutions | None,
    formatter: Formatter | None = None,
    structure: Structure | None = None,
) -> tuple[Merged | Collided, tuple[Reliability, ...]]:
    """Solve a collision of texts, and say how sure a structural merge is.

    A solution that is upstream's own text stays a conflict: no merge says that a patch is not
    needed. Only of imports it does: upstream has the same names, written in another way. What is
    solved in part has fewer regions left.
    """
    if collided.marked is None or collided.texts is None:
        return collided, ()
    three = Three(*collided.texts, path)
    solved = solve_marked(
        collided.marked, three, text=text, recall=recall, formatter=formatter, structure=structure
    )
    if isinstance(solved, Unsolved):
        if solved.marked is None or not solved.used:
            return replace(collided, suggestions=solved.suggestions), ()
        # What is known is alike on all sides from here on: the next rung sees what is left.
        left = Replayed(solved.marked, solved.used, is_clean=False).sides()
        suggested = replace(collided, suggestions=solved.suggestions)
        return replace(suggested, marked=solved.marked, texts=left), ()
    assert sides.base is not None
    assert sides.ours is not None
    assert sides.theirs is not None
    is_recorded = solved.how is How.RECORDED
    if is_recorded and _breaks(three, solved.content):
        return collided, ()
    mode = sides.theirs.mode if sides.ours.mode == sides.base.mode else sides.ours.mode
    if solved.content == three.upstream:
        if is_recorded:
            return Merged(sides.ours, (DECIDED,) * len(collided.answers)), ()
        if _is_imported(three) and mode == sides.ours.mode:
            return Merged(sides.ours, _answered(collided, ABSORBED_SYNTAX)), ()
        return collided, ()
    entry = Entry(mode, blobs.add(solved.content))
    return Merged(entry, _answered(collided, _ANSWERS[solved.how])), solved.reliability


def _is_imported(three: Three) -> bool:
    """Say whether the patch only imports names that upstream imports, too."""
    from patchmgr.engines.structure.python_imports import has_imports_of

    if not three.path.endswith((".py", ".pyi")):
        return False
    base, ours, theirs = (
        side.decode("utf-8", "surrogateescape") for side in (three.base, three.upstream, three.fork)
    )
    return has_imports_of(base, ours, theirs)


def _answered(collided: Collided, answer: Answer) -> tuple[Answer, ...]:
    """Return the answers with another one for what was in conflict."""
    return tuple(answer if a == CONFLICT else a for a in collided.answers)


def _breaks(three: Three, content: bytes) -> bool:
    """Say whether a Python file does not parse any more that both sides parse."""
    if not three.path.endswith((".py", ".pyi")):
        return False
    sides = (three.upstream, three.fork)
    return not _compiles(content) and all(_compiles(side) for side in sides)


def _compiles(content: bytes) -> bool:
    return compiles(content.decode("utf-8", "surrogateescape"))
