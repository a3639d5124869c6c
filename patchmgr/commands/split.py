"""`split`: move part of a patch into a new patch."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.commands.rebase import rebase
from patchmgr.engines.series.fold import FileStep, step_patch
from patchmgr.engines.series.layers import State
from patchmgr.engines.series.picking import file_name
from patchmgr.engines.series.placement import take_in
from patchmgr.engines.text.hunk_choice import Chooser, Offer, choices, mode_words, offers_of
from patchmgr.errors import UsageError
from patchmgr.formats.header_edits import HeaderEdit, edited_header, new_header
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.series_files import with_appended, with_guards
from patchmgr.formats.shown import shown
from patchmgr.model.outcome import Verdict
from patchmgr.model.patch import Patch
from patchmgr.model.snapshot import Entry
from patchmgr.services.carry import CarryOptions
from patchmgr.services.open_series import CheckoutOptions, OpenSeries, is_in, opened_series
from patchmgr.services.revising import Chain, Revised, chain_of, revise
from patchmgr.services.session import Session
from patchmgr.workspace import Foreseen

_HUNKS = re.compile(r"(.+):(\d+(?:,\d+)*)")


class PatchPart(Struct, frozen=True):
    """The part of a patch to split off, and the subject and message of the new patch."""

    files: tuple[str, ...] = ()  # whole files
    hunks: tuple[str, ...] = ()  # as `PATH:N,N`, from 1
    # (path, first line on the new side) of hunks that a rebase found to be absorbed
    absorbed: frozenset[tuple[str, int]] = frozenset()
    subject: str = ""
    message: str = ""
    choose: Chooser | None = None  # asks the user which hunks to split off


def split(
    session: Session, given: str, new: str, options: CheckoutOptions, part: PatchPart
) -> Revised:
    """Move part of a patch into a new patch after it; the series' result does not change."""
    with opened_series(session, options) as opened:
        name, added = opened.pick(given), file_name(new)
        opened.refuse_hidden(name)
        line = opened.file.line(name)
        file = with_guards(with_appended(opened.file, added, after=name), added, line.guards)
        session.workspace.require_free(opened.name, added)
        chain = chain_of(opened)
        at = chain.position(name)
        middle = _middle(opened, chain, opened.by_name[name], part)
        states = (*chain.states[: at + 1], middle, *chain.states[at + 1 :])
        whole = opened.by_name[name]
        author = whole.author_or(opened.author)
        header = new_header(part.subject or f"{whole.subject} (split)", part.message, author)
        patches = list(opened.series(chain.names))
        split_off = parse_patch(header, name=added)
        if whole.conditions:
            fields = HeaderEdit(fields=tuple(whole.conditions.items()))
            header = edited_header(split_off, fields, nobody=author)
            split_off = parse_patch(header, name=added)
        if line.off:
            groups = shown(", ".join(line.off))
            session.say(f"{shown(added)} is in no group yet. {shown(name)} is in {groups}.")
        patches.insert(at + 1, split_off)
        names = list(opened.names)
        if name in names:
            names.insert(at + 1, added)
        return revise(opened, patches, states, file=file, pushed=names, fresh=(name, added))


def with_absorbed(
    session: Session, given: str, options: CheckoutOptions, part: PatchPart, ref: str
) -> PatchPart:
    """Return `part` with the hunks that upstream has at `ref`; raise "usage" if there are none."""
    with opened_series(session, options, only_reads=True) as opened:
        name, patch, selected = opened.name, opened.pick(given), opened.selected
        opened.refuse_hidden(patch)
    tried = replace(session, workspace=Foreseen(session.workspace, {}))
    found = rebase(tried, [name], onto=ref, options=CarryOptions(selected))
    own = next(series for series in found.series if series.name == name)
    outcome = next(o for o in own.patches if o.name == patch)
    landed = [hunk for hunk in outcome.hunks if hunk.verdict is Verdict.ABSORBED]
    if not landed:
        raise UsageError(f"upstream at {shown(ref)} contains no hunk of {shown(patch)}")
    return replace(part, absorbed=frozenset((hunk.path, hunk.line) for hunk in landed))


def _middle(opened: OpenSeries, chain: Chain, patch: Patch, part: PatchPart) -> State:
    """Return the state after the patch, without the part that is split off."""
    at = chain.position(patch.name)
    old, new = chain.states[at], chain.states[at + 1]
    steps = step_patch(opened.ground.overlay(old), patch, opened.scratch)
    middle = dict(new)
    if part.choose is not None:
        middle |= _left_of(opened, steps, old, part.choose)
    taken = _taken(patch, steps, part)
    for number, step in enumerate(steps):
        chosen = taken.get(number, frozenset())
        count = max(1, len(step.change.hunks))
        if len(chosen) == count:
            for path in {step.change.old_path, step.change.new_path} - {None}:
                assert path is not None
                middle[path] = opened.ground.entry(old, path)
        elif chosen:
            middle[step.change.path] = _without(opened, step, chosen)
    for end, what in ((old, "all"), (new, "none")):
        if opened.ground.is_same(middle, end):
            raise UsageError(f"nothing to split: {what} of {shown(patch.name)} was chosen")
    return middle


def _left_of(
    opened: OpenSeries, steps: Sequence[FileStep], old: State, choose: Chooser
) -> dict[str, Entry | None]:
    """Return the files, keyed by path, without the hunks that the user splits off."""
    offers = [offer for step in steps for offer in _offers(opened, step)]
    by_path = {step.change.path: step for step in steps}
    found: dict[str, Entry | None] = {}
    for path, choice in choices(offers, choose).items():
        step = by_path[path]
        if choice.is_whole or step.theirs is None:
            paths = filter(None, (step.change.old_path, step.change.new_path))
            found |= {each: opened.ground.entry(old, each) for each in paths}
        else:
            found[path] = Entry(step.theirs.mode, opened.scratch.add(choice.left))
    return found


def _offers(opened: OpenSeries, step: FileStep) -> list[Offer]:
    change = step.change
    moved = "copied" if change.is_copy else "moved" if change.is_rename else ""
    whole = f"{moved} from {shown(str(change.old_path))}" if moved else ""
    whole = whole or mode_words(step.base, step.theirs)
    contents = [None if e is None else opened.ground.content(e) for e in (step.base, step.theirs)]
    return offers_of(change.path, *contents, whole=whole)


def _without(opened: OpenSeries, step: FileStep, chosen: Collection[int]) -> Entry:
    """Return a file with every hunk applied except the chosen ones."""
    change = step.change
    if step.base is None or step.theirs is None or change.is_rename or change.is_copy:
        why = "is added, moved, copied or deleted, so its hunks cannot be chosen"
        hint = f"choose the whole file: --file {change.path}"
        raise UsageError(f"{shown(change.path)} {why}", hint)
    rest = set(range(len(change.hunks))) - set(chosen)
    content = opened.scratch.read(step.base.blob)
    content, _, _ = take_in(content, change.hunks, step.positions, rest)
    return Entry(step.theirs.mode, opened.scratch.add(content))


def _taken(
    patch: Patch, steps: Sequence[FileStep], part: PatchPart
) -> Mapping[int, frozenset[int]]:
    """Return the hunks to split off (counted from 0), by the index of the file in the patch."""
    taken: dict[int, frozenset[int]] = {}
    counts = [max(1, len(step.change.hunks)) for step in steps]
    for path in part.files:
        for number in _numbers(patch, path):
            taken[number] = frozenset(range(counts[number]))
    for given in part.hunks:
        match = _HUNKS.fullmatch(given)
        if match is None:
            raise UsageError(f"{shown(given)} is not written as PATH:N or PATH:N,N")
        for number in _numbers(patch, match[1]):
            chosen = frozenset(int(n) - 1 for n in match[2].split(","))
            if not chosen <= set(range(counts[number])):
                message = f"{shown(match[1])} has hunks 1 to {counts[number]} in {patch.name}"
                raise UsageError(message)
            taken[number] = taken.get(number, frozenset()) | chosen
    for number, step in enumerate(steps):
        lines = [hunk.new_start for hunk in step.change.hunks] or [0]
        landed = {n for n, line in enumerate(lines) if (step.change.path, line) in part.absorbed}
        if landed:
            taken[number] = taken.get(number, frozenset()) | landed
    return taken


def _numbers(patch: Patch, path: str) -> list[int]:
    found = [
        number
        for number, change in enumerate(patch.files)
        if any(
            each is not None and is_in(each, (path,)) for each in (change.old_path, change.new_path)
        )
    ]
    if not found:
        hint = f"files of the patch: {', '.join(patch.paths())}"
        raise UsageError(f"{shown(patch.name)} does not touch {shown(path)}", hint)
    return found
