"""What a person can decide about a conflict, and which earlier decisions still hold.

A decision is about the change that a patch makes, and about the upstream text where it applies. The
decision holds as long as upstream has that text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from patchmgr.engines.rebase.conflicts import shown_content
from patchmgr.engines.rebase.ladder import CONFLICT
from patchmgr.engines.rebase.work import FileResult, NewSide
from patchmgr.engines.series.placement import occurrences, split_lines
from patchmgr.engines.text.differences import Block, changed_blocks, runs_of
from patchmgr.engines.text.distinctive import is_distinctive, normal_lines
from patchmgr.model.audit import AuditFinding
from patchmgr.model.decision import Basis, Decision, Passage
from patchmgr.model.outcome import PatchOutcome
from patchmgr.model.patch import Hunk, Patch
from patchmgr.model.ports import Blobs

NEIGHBORS = 3  # lines included on each side of a text that is not distinctive
DIGITS = 32  # hexadecimal digits of a digest


def basis_of(
    patch: Patch, results: Sequence[FileResult], homes: Mapping[str, str], blobs: Blobs
) -> Basis | None:
    """Return the change and the upstream text that a decision about a patch would refer to.

    Returns None if no file is in conflict. `homes` maps old to new paths of upstream's files.
    """
    found = {p for result in results for p in _passages(result, homes, blobs)}
    return Basis(change_digest(patch), tuple(sorted(found))) if found else None


def _passages(result: FileResult, homes: Mapping[str, str], blobs: Blobs) -> Iterator[Passage]:
    """Yield references to the upstream text that each hunk in conflict would change."""
    conflict, change = result.conflict, result.step.change
    if conflict is None:
        return
    is_elsewhere = conflict.new_path != homes.get(change.path, change.path)
    path = conflict.new_path if is_elsewhere else change.path
    base, ours = shown_content(result.step.base, blobs), conflict.ours
    if base is None or ours is None or conflict.marked is None:
        yield whole_file(path, ours)
        return
    blocks = changed_blocks(split_lines(base), split_lines(ours))
    likely = {one.hunk: one.resemblance.upstream for one in result.proposals}
    pairs = zip(change.hunks, result.step.positions, strict=True)
    for number, (hunk, position) in enumerate(pairs):
        if number in likely:
            yield passage(path, ours, split_lines(likely[number]))
        elif result.answers[number] == CONFLICT:
            yield passage_of_place(path, ours, blocks, hunk, position)


def standing_decision(
    decisions: Sequence[Decision], patch: Patch, side: NewSide, blobs: Blobs
) -> Decision | None:
    """Return the decision about a patch if upstream still has the text it refers to, or None."""
    change = change_digest(patch) if decisions else ""
    for decision in decisions:
        if decision.change == change and all(
            is_there(shown_content(side.files.entry(side.home(p.path)), blobs), p)
            for p in decision.passages
        ):
            return decision
    return None


def with_decision(outcome: PatchOutcome, decision: Decision) -> PatchOutcome:
    """Return the outcome of a patch, with a person's decision as the reason."""
    why = f" by {decision.by}" if decision.by else ""
    return replace(
        outcome,
        reason=f"a person decided: {decision.ruling.value}{why}",
        # kept, so that the decision can be changed
        basis=outcome.basis or Basis(decision.change, decision.passages),
    )


def change_digest(patch: Patch) -> str:
    """Return a digest of the changes of a patch, without header, context and line numbers."""
    digest = hashlib.sha256()
    for change in patch.files:
        words = (change.old_path, change.new_path, change.old_mode, change.new_mode)
        _feed(digest, repr(words).encode("utf-8", "surrogateescape"))
        for hunk in change.hunks:
            _feed(digest, b"".join(line for line in hunk.lines if line[:1] != b" "))
        if change.binary is not None:
            _feed(digest, change.binary.payload)
    return digest.hexdigest()[:DIGITS]


def _feed(digest: hashlib._Hash, part: bytes) -> None:
    digest.update(b"%d:" % len(part) + part)


def passage(path: str, content: bytes, lines: Sequence[bytes]) -> Passage:
    """Return a reference to lines of a file or, if they are blank, to the whole file."""
    bare = _bare(b"".join(lines))
    if not bare:
        return whole_file(path, content)
    text = _bare(content)
    times = sum(1 for _ in occurrences(text, bare, 0, len(text) - len(bare)))
    return Passage(path, len(bare), _digest(bare), times)


def whole_file(path: str, content: bytes | None) -> Passage:
    """Return a reference to a whole file: path and digest. Without a file, the digest is empty."""
    if content is None:
        return Passage(path, 0, "")
    return Passage(path, 0, hashlib.sha256(content).hexdigest()[:DIGITS])


def is_there(content: bytes | None, wanted: Passage) -> bool:
    """Return whether a file still has a passage, at least as often as when it was recorded."""
    if not wanted.lines or content is None:
        return whole_file(wanted.path, content) == wanted
    return _times(content, wanted.lines, wanted.digest) >= wanted.times


def _times(content: bytes, lines: int, digest: str) -> int:
    bare = _bare(content)
    starts = range(len(bare) - lines + 1)
    return sum(_digest(bare[at : at + lines]) == digest for at in starts)


def _bare(content: bytes) -> list[bytes]:
    return [line for line in normal_lines(content) if line]


def _digest(lines: Sequence[bytes]) -> str:
    return hashlib.sha256(b"\n".join(lines)).hexdigest()[:DIGITS]


def passage_of_place(
    path: str, content: bytes, blocks: Sequence[Block], hunk: Hunk, position: int
) -> Passage:
    """Return a reference to the upstream lines that a hunk would change.

    If these are not distinctive, it includes lines around them. `blocks` are the ranges of lines
    that upstream changed.
    """
    runs, ours = tuple(runs_of(hunk, position)), split_lines(content)
    touched = [b for b in blocks if any(run.gap(b) == 0 for run in runs)]
    last = next((b for b in reversed(blocks) if b.old_start < position), Block(0, 0, 0, 0))
    at = last.new_start if position < last.old_end else position + last.new_end - last.old_end
    start = min((b.new_start for b in touched), default=at)
    end = max((b.new_end for b in touched), default=at)
    lines = ours[start:end]
    if not any(is_distinctive(line) for line in normal_lines(b"".join(lines))):
        before = [line for line in ours[:start] if line.strip()]
        after = [line for line in ours[end:] if line.strip()]
        lines = [*before[-NEIGHBORS:], *lines, *after[:NEIGHBORS]]
    return passage(path, content, lines)


def identified(finding: AuditFinding, patch: Patch, accepted: Mapping[str, str]) -> AuditFinding:
    """Return an audit finding with an id, which a person can use to accept the finding.

    The id depends on the patch's change and on the finding's text, but not on the line number.
    """
    words = (change_digest(patch), finding.kind, finding.path, finding.symbol or "", finding.text)
    told = "\0".join(words).encode("utf-8", "surrogateescape")
    digest = hashlib.sha256(told).hexdigest()[:12]
    return replace(finding, id=digest, accepted=accepted.get(digest))
