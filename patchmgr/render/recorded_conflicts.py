"""Recorded conflicts, decisions, and merges of single files, as text and as JSON data."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from patchmgr.model.decision import Decision
from patchmgr.model.documents import RebaseDocument
from patchmgr.model.outcome import How
from patchmgr.model.recorded_conflict import Recorded, RecordKind, ReplayedResolution
from patchmgr.render.escape import clean, counted, cut_off, reliability_text
from patchmgr.render.machine import candidates, fields, keys, series_document
from patchmgr.render.rebase import content_lines, header_lines
from patchmgr.render.view import View

if TYPE_CHECKING:
    from patchmgr.commands.conflicts import Listed, ShownConflict, SideEdits
    from patchmgr.commands.merge_driver import DriverChange
    from patchmgr.commands.merge_file import MergedFile
    from patchmgr.commands.mergetool import ToolResult
    from patchmgr.commands.rebase import RebaseResult
    from patchmgr.commands.resolver import Asked
    from patchmgr.model.audit import Accepted
    from patchmgr.model.patch import Patch
    from patchmgr.services.decisions import ListedFinding
    from patchmgr.services.learning import Learned


LONGEST = 400  # lines to show of a side or a diff
_MORE = ("... {}", "line")
_MOST_EDITS = 12  # edits to list for a side


def state_of(recorded: Recorded) -> str:
    """Return "open", "solved" or "deleted" for a conflict, and "parts" for a group of regions."""
    if recorded.kind is RecordKind.GROUP:
        return "parts"
    if recorded.resolution is None:
        return "open"
    return "deleted" if recorded.resolution.content is None else "solved"


def conflicts_text(
    listed: Sequence[Listed], findings: Sequence[ListedFinding], view: View
) -> Iterator[str]:
    """Yield one line per recorded conflict, then one line per finding."""
    for line in (*map(_line, listed), *map(_finding_line, findings)):
        yield from view.folded(line, "")
    if not listed and not findings:
        yield "No conflict is recorded."


def _finding_line(finding: ListedFinding) -> str:
    state = "open" if finding.because is None else "accepted"
    why = "" if finding.because is None else f"  because: {clean(finding.because)}"
    place = f"seen in {clean(finding.series)}/{clean(finding.patch)}"
    return f"{finding.id}  {state:<7}  {clean(finding.text)}  {place}{why}"


def accepted_text(accepted: Sequence[Accepted], view: View) -> Iterator[str]:
    """Yield one line per accepted finding."""
    word = view.verb("Would accept", "Accepted")
    for one in accepted:
        yield f"{word}: {one.id}  {clean(one.text)}  because: {clean(one.because)}"


def _line(listed: Listed) -> str:
    recorded = listed.recorded
    if recorded is None:
        return f"{listed.id}  broken   {clean(listed.fault)}"
    return f"{listed.id}  {state_of(recorded):<7}  {_about(recorded)}"


def _about(recorded: Recorded) -> str:
    words = [clean(recorded.path)]
    if recorded.seen:
        words.append(f"seen in {clean(recorded.seen)}")
    if recorded.kind is RecordKind.GROUP:
        words.append(", ".join(recorded.parts))
    if recorded.resolution is not None:
        source = f" {clean(recorded.resolution.source)}" if recorded.resolution.source else ""
        words.append(f"by {recorded.resolution.origin.value}{source}")
    return "  ".join(word for word in words if word)


def conflict_text(found: ShownConflict) -> Iterator[str]:
    """Yield why the patches exist, then the conflict and each of its parts, with git's markers."""
    for patch in found.patches:
        yield from _asking(patch)
    for number, told in enumerate(zip_longest(found.recorded, found.edits)):
        yield from [""] * bool(number)
        yield from _lines(*told)


def _asking(patch: Patch) -> Iterator[str]:
    yield f"{clean(patch.name)}  {clean(patch.subject)}"
    yield from (f"  {line}" for line in header_lines(patch.description, patch.says("Drop-When")))


def _lines(recorded: Recorded, edits: SideEdits | None) -> Iterator[str]:
    yield f"{recorded.id}  {state_of(recorded)}  {_about(recorded)}"
    if recorded.kind is RecordKind.GROUP:
        return
    if edits is not None:
        yield from _edit_lines("ours", edits.ours)
        yield from _edit_lines("theirs", edits.theirs)
    yield "<<<<<<< ours"
    yield from _side(recorded.ours)
    yield "||||||| base"
    yield from _side(recorded.base)
    yield "======="
    yield from _side(recorded.theirs)
    yield ">>>>>>> theirs"
    if recorded.resolution is not None:
        yield from resolution_lines(recorded)


def _edit_lines(side: str, edits: Sequence[str]) -> Iterator[str]:
    for edit in cut_off(edits, _MOST_EDITS, "{}", "edit"):
        yield f"  {side}: {clean(edit)}"


def _side(content: bytes | None) -> Iterator[str]:
    if content is None:
        yield "(there is no such file)"
    elif b"\0" in content:
        yield f"({len(content)} bytes, binary)"
    else:
        yield from cut_off(content_lines(content), LONGEST, *_MORE)


def resolution_lines(recorded: Recorded) -> Iterator[str]:
    """Yield a conflict's resolution: the name of the side that it equals, or a diff from ours."""
    assert recorded.resolution is not None
    content, ours = recorded.resolution.content, recorded.ours
    if content is None:
        yield "resolution: the file is deleted"
    elif content == ours:
        yield "resolution: same as ours"
    elif content == recorded.theirs:
        yield "resolution: same as theirs"
    elif b"\0" in content + (ours or b""):
        yield f"resolution: {len(content)} bytes, binary"
    else:
        before, after = content_lines(ours or b""), content_lines(content)
        diff = difflib.unified_diff(before, after, "ours", "resolution", lineterm="")
        yield from cut_off(list(diff), LONGEST, *_MORE)


def solved_text(solved: Sequence[Recorded], view: View) -> Iterator[str]:
    """Yield each newly recorded resolution, described as in `resolution_lines`."""
    word = view.verb("Would record", "Recorded")
    for one in solved:
        yield f"{word}: {one.id}  {_about(one)}"
        yield from (f"  {line}" for line in resolution_lines(one))


def replayed_text(replayed: Sequence[ReplayedResolution]) -> Iterator[str]:
    """Yield the resolutions that a rebase replayed, each with the patches that used it."""
    for one in replayed:
        yield f"  recorded  {one.recorded.id}  {_about(one.recorded)}"
        yield from (f"    in {clean(place)}" for place in one.places)
        yield from (f"    {line}" for line in resolution_lines(one.recorded))


def after_memory(result: RebaseResult) -> Iterator[str]:
    """Yield the patches that a rebase left out, the number of new resolutions, and notes."""
    for series, patch in result.skipped:
        name = clean(patch)
        would = "Will be left out" if result.has_conflicts or result.is_dry_run else "Left out"
        told = "its file stays, and its line in the series file becomes a comment"
        yield f"{would}: {clean(series)}/{name}; {told}."
    number = len([one for one in result.learned if one.resolution is not None])
    if number:
        would = "Would record" if result.is_dry_run else "Recorded"
        yield f"{would} {counted(number, 'resolution')} in conflicts/."
    yield from (clean(note) for note in result.notes)


def forgotten_text(names: Sequence[str], view: View) -> Iterator[str]:
    """Yield one line per forgotten conflict."""
    word = view.verb("Would forget", "Forgot")
    yield from (f"{word}: {name}" for name in names)


def learned_text(learned: Learned, view: View) -> Iterator[str]:
    """Yield the result of `conflicts learn`: what was learned from each file, and totals."""
    for file in learned.files:
        word = "learned" if file.learned else "nothing learned"
        yield f"{file.commit[:12]}  {clean(file.path)}  {word} {len(file.learned) or ''}".rstrip()
        yield from (f"  {clean(reason)}" for reason in file.missed)
    number = len({one.id for file in learned.files for one in file.learned})
    would = view.verb("Would learn", "Learned")
    about = f"{counted(learned.merges, 'merge')}, {counted(len(learned.files), 'file')} in conflict"
    yield f"{would} {counted(number, 'resolution')} ({about})."


def rebase_document(result: RebaseResult, asked: Sequence[Asked]) -> RebaseDocument:
    """Return the document of a rebase; `asked` has the answers of the `--resolver` program."""
    return RebaseDocument(
        result.is_dry_run,
        tuple(map(series_document, result.series)),
        None if result.checkout is None else str(result.checkout),
        tuple(map(replayed_value, result.replayed)),
        tuple(map(recorded_value, result.learned)),
        tuple(map(keys, asked)),
    )


def replayed_value(recalled: ReplayedResolution) -> dict[str, Any]:
    """Return a replayed resolution, and the patches that used it, as JSON data."""
    return {**recorded_value(recalled.recorded), "patches": recalled.places}


def listed_value(one: Listed) -> dict[str, Any]:
    """Return a recorded conflict as JSON data, or the reason why it cannot be read."""
    if one.recorded is None:
        return {"id": one.id, "state": "broken", "fault": one.fault}
    return recorded_value(one.recorded)


def conflict_value(found: ShownConflict) -> dict[str, Any]:
    """Return a conflict and its parts as JSON data."""
    conflict, *parts = (
        {**whole_value(one), "edits": edits}
        for one, edits in zip(found.recorded, found.edits, strict=True)
    )
    waiting = [
        {"name": p.name, "description": p.description, "drop_when": p.says("Drop-When")}
        for p in found.patches
    ]
    return {"conflict": conflict, "parts": parts, "patches": waiting}


def learned_value(learned: Learned) -> list[dict[str, Any]]:
    """Return the result of `conflicts learn` as JSON data, file by file."""
    return [
        fields(file, "commit", "path", "missed", learned=[one.id for one in file.learned])
        for file in learned.files
    ]


def recorded_value(recorded: Recorded) -> dict[str, Any]:
    """Return a conflict as JSON data, without the contents of its sides and resolution."""
    solved = recorded.resolution
    return fields(
        recorded,
        "id",
        "kind",
        "parts",
        state=state_of(recorded),
        path=recorded.path or None,
        seen=recorded.seen or None,
        origin=None if solved is None else solved.origin.value,
        source=None if solved is None else solved.source or None,
    )


def whole_value(recorded: Recorded) -> dict[str, Any]:
    """Return a conflict as JSON data, with the contents of its sides and resolution."""
    solved = recorded.made
    sides = fields(recorded, "base", "ours", "theirs", resolution=solved)
    texts = {
        name: None if content is None else content.decode("utf-8", "surrogateescape")
        for name, content in sides.items()
    }
    return {**recorded_value(recorded), **texts}


def decisions_text(decisions: Sequence[Decision]) -> Iterator[str]:
    """Yield the result of `decide --list`: one line per decision."""
    yield from (_decision_line(decision) for decision in decisions)
    if not decisions:
        yield "No decisions are recorded."


def decided_text(
    added: Sequence[Decision], removed: Sequence[Decision], view: View
) -> Iterator[str]:
    """Yield the result of `decide`: the new decisions, and the removed decisions."""
    would = view.verb("Would record", "Recorded")
    yield from (f"{would}: {_decision_line(decision)}" for decision in added)
    would = view.verb("Would forget", "Forgot")
    yield from (f"{would}: {_decision_line(decision)}" for decision in removed)


def _decision_line(decision: Decision) -> str:
    told = [f"{clean(decision.series)}/{clean(decision.patch)}  {decision.ruling.value}"]
    if decision.by:
        told.append(f"by {clean(decision.by)}")
    if decision.commit is not None:
        told.append(f"in {decision.commit[:12]} {clean(decision.subject)}".rstrip())
    return "  ".join(told)


def decided_value(added: Sequence[Decision], removed: Sequence[Decision]) -> dict[str, Any]:
    """Return added and removed decisions as JSON data."""
    return {
        "decisions": [*map(_decision_value, added)],
        "forgotten": [*map(_decision_value, removed)],
    }


def _decision_value(decision: Decision) -> dict[str, Any]:
    return fields(
        decision,
        "series",
        "patch",
        "commit",
        "pull",
        verdict=decision.ruling,
        by=decision.by or None,
        subject=decision.subject or None,
        paths=sorted({passage.path for passage in decision.passages}),
    )


def merged_lines(merged: MergedFile) -> Iterator[str]:
    """Yield how a file was merged: recorded resolutions, rules, warnings, and conflicts."""
    path = clean(merged.path)
    if merged.used:
        yield f"{path}: recorded: {', '.join(merged.used)}"
    if merged.how is How.FORMAT:
        yield f"{path}: format"
    elif merged.reliability:
        yield f"{path}: structural: {clean('; '.join(map(reliability_text, merged.reliability)))}"
    for warning in merged.warnings:
        yield f"warning: {path}: {clean(warning)}"
    if merged.how is None:
        what = "a binary conflict; ours is kept" if merged.is_binary else "conflicts are left"
        yield f"{path}: {what}"
    yield from (f"{path}: {clean(note)}" for note in merged.notes)


def merged_value(merged: MergedFile) -> dict[str, Any]:
    """Return the result of `merge-file` as JSON data."""
    return fields(
        merged,
        *("path", "how", "warnings", "reliability"),
        solved=merged.how is not None,
        recorded=merged.used,
        rules=[known.rule for known in merged.reliability],
        candidates=candidates(merged.suggestions),
    )


def installation_text(driver: DriverChange, view: View) -> Iterator[str]:
    """Yield what was changed in a clone to install or remove the merge driver."""
    where = clean(str(driver.git_dir))
    if not driver.is_new:
        state = "is already" if driver.settings else "is not"
        yield f"The merge driver {state} installed in {where}."
        return
    if not driver.settings:
        yield f"{view.verb('Would remove', 'Removed')} the merge driver from {where}"
        return
    word = view.verb("Would write", "Wrote")
    yield f"{word} to {where}/config"
    yield from (f"  {name} = {clean(value)}" for name, value in driver.settings)
    yield f"{word} to {where}/info/attributes"
    yield from (f"  {line}" for line in driver.lines)


def tool_lines(result: ToolResult, view: View) -> Iterator[str]:
    """Yield one line per file that `mergetool` opened, then what the user should do next."""
    if view.is_dry_run:
        yield from (f"Would open {clean(name)}" for name in (*result.solved, *result.left))
        return
    yield from (f"Resolved: {clean(name)}" for name in result.solved)
    yield from (f"Not resolved: {clean(name)}" for name in result.left)
    if not result.left:
        yield "Now run: patchmgr rebase --continue"
