"""Merge one file as the ladder does: text, what was solved before, by format, by structure."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from patchmgr.engines.audit.syntax import new_fault
from patchmgr.engines.audit.usage import outdated_uses
from patchmgr.engines.conflicts.memory import Replayed, Resolutions, replay
from patchmgr.engines.merge.candidate import Resolved
from patchmgr.engines.rebase.formatting import merge_formatted
from patchmgr.engines.structure.guards_lines import growths, outdated_lines
from patchmgr.engines.structure.sides import Texts
from patchmgr.model.merge import Clean
from patchmgr.model.outcome import How, Reliability, Suggestion
from patchmgr.model.ports import Formatter, TextMerge

Suspect = Callable[[Texts, str, str], tuple[str, ...]]
"""Return what is suspicious in the merge of three texts of the file at a path."""
Structure = Callable[[Texts, str, bytes], "Resolved | None"]
"""Merge three texts by the structure of the file at a path, given the marked text, or not."""


class Solved(Struct, frozen=True):
    """The merged text and the rung that answered.

    `used` are the ids of the resolutions in it, `reliability` says how sure a structural merge
    is, and `warnings` what is suspicious in it: one line each.
    """

    content: bytes
    how: How
    used: tuple[str, ...] = ()
    reliability: tuple[Reliability, ...] = ()
    warnings: tuple[str, ...] = ()


class Unsolved(Struct, frozen=True):
    """What is left for a person: the text with markers where it is, None for binaries.

    `used` are the ids of the resolutions that are in it already, `suggestions` what each region
    could become, the likeliest first.
    """

    marked: bytes | None
    used: tuple[str, ...] = ()
    suggestions: tuple[tuple[Suggestion, ...], ...] = ()


class Three(Struct, frozen=True):
    """The three texts of the file at a path that a text merge left in conflict.

    `is_upstream_ours` says which side the markers of that merge call `ours`.
    """

    base: bytes
    upstream: bytes
    fork: bytes
    path: str
    is_upstream_ours: bool = True

    def left(self, replayed: Replayed) -> Texts:
        """Return the sides for a structural merge: alike where something was replayed."""
        sides = (self.base, self.upstream, self.fork)
        if replayed.used:
            base, ours, theirs = replayed.sides()
            sides = (base, ours, theirs) if self.is_upstream_ours else (base, theirs, ours)
        return Texts(*(side.decode("utf-8", "surrogateescape") for side in sides))


def solve_text(
    base: bytes,
    upstream: bytes,
    fork: bytes,
    path: str,
    *,
    text: TextMerge,
    recall: Resolutions | None,
    structure: Structure | None = None,
    formatter: Formatter | None = None,
    suspect: Suspect | None = None,
    is_upstream_ours: bool = True,
) -> Solved | Unsolved:
    """Merge three texts of the file at a path.

    What git merges cleanly has git's bytes. Markers name the upstream's side `ours`, or
    `theirs` where `is_upstream_ours` is false.
    """
    sides = (upstream, fork) if is_upstream_ours else (fork, upstream)
    merge = text.merge(base, *sides)
    if isinstance(merge, Clean):
        warnings = _warnings((base, upstream, fork), merge.content, path, suspect)
        return Solved(merge.content, How.TEXT, warnings=warnings)
    if merge.marked is None:
        return Unsolved(None)
    three = Three(base, upstream, fork, path, is_upstream_ours=is_upstream_ours)
    return solve_marked(
        merge.marked, three, text=text, recall=recall, formatter=formatter, structure=structure
    )


def _warnings(
    sides: tuple[bytes, bytes, bytes], merged: bytes, path: str, suspect: Suspect | None
) -> tuple[str, ...]:
    if suspect is None or len({*sides, merged}) < 4 or any(b"\0" in side for side in sides):
        return ()
    base, upstream, fork, text = (t.decode("utf-8", "surrogateescape") for t in (*sides, merged))
    texts = Texts(base, upstream, fork)
    fault = new_fault(path, sides[1:], merged)
    if fault is not None:
        return (f"both sides parse, and their merge does not: line {fault.line}, {fault.what}.",)
    counted = growths(texts, text)
    outdated = (*outdated_lines(texts, counted), *outdated_uses(texts, text, counted))
    return (*suspect(texts, text, path), *outdated)


def solve_marked(
    marked: bytes,
    three: Three,
    *,
    text: TextMerge,
    recall: Resolutions | None,
    formatter: Formatter | None,
    structure: Structure | None,
) -> Solved | Unsolved:
    """Solve what a text merge left in conflict: by what is recorded, by format, by structure."""
    replayed = Replayed(marked, (), is_clean=False)
    if recall is not None:
        ends = has_last_newline(three.base, three.upstream, three.fork)
        replayed = replay(marked, recall, ends_with_newline=ends)
    if replayed.is_clean:
        return Solved(replayed.marked, How.RECORDED, replayed.used)
    left = three.left(replayed)
    if formatter is not None:
        sides = _encoded(left)
        content = merge_formatted(*sides, path=three.path, formatter=formatter, text=text)
        if content is not None:
            return Solved(content, How.FORMAT, replayed.used)
    if structure is None:
        return Unsolved(replayed.marked, replayed.used)
    found = structure(left, three.path, _upstream_first(replayed.marked, three, left, text))
    if found is None or found.text is None:
        suggestions = () if found is None else found.suggestions
        return Unsolved(replayed.marked, replayed.used, suggestions)
    content = found.text.encode("utf-8", "surrogateescape")
    how = How.FORMAT if found.is_layout else How.STRUCTURAL
    return Solved(content, how, replayed.used, found.reliability)


def _encoded(texts: Texts) -> tuple[bytes, bytes, bytes]:
    base, upstream, fork = (s.encode("utf-8", "surrogateescape") for s in texts.sides())
    return base, upstream, fork


def _upstream_first(marked: bytes, three: Three, left: Texts, text: TextMerge) -> bytes:
    """Return the marked text with upstream's side first, as a structural merge wants it."""
    if three.is_upstream_ours:
        return marked
    merge = text.merge(*_encoded(left))
    return marked if isinstance(merge, Clean) or merge.marked is None else merge.marked


def has_last_newline(base: bytes, ours: bytes, theirs: bytes) -> bool:
    """Say whether a merge of the three ends with a line feed: as the side that changed it."""
    in_base, in_ours, in_theirs = (not t or t.endswith(b"\n") for t in (base, ours, theirs))
    return in_theirs if in_ours == in_base else in_ours
