"""`drop`, `move`, `fold`, `split`: patches go, change places, become one, or two."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.commands.rebase import rebase
from patchmgr.engines.series.fold import FileStep, step_patch
from patchmgr.engines.series.layers import Layer, State
from patchmgr.engines.series.picking import beside, file_name, pick, together
from patchmgr.engines.series.placement import take_in
from patchmgr.errors import PatchmgrError
from patchmgr.formats.header_edits import new_header, with_text
from patchmgr.formats.patch_files import parse_listed, parse_patch
from patchmgr.formats.paths import check_path
from patchmgr.formats.series_files import (
    reordered,
    with_appended,
    with_ended_lines,
    without,
    write_series,
)
from patchmgr.formats.shown import shown
from patchmgr.model.outcome import Verdict
from patchmgr.model.patch import FilePatch, Patch
from patchmgr.model.series import SeriesFile, SeriesLine
from patchmgr.model.snapshot import Entry
from patchmgr.plumbing.outputs import read_named
from patchmgr.services.authoring import Asked, Desk, desk_of
from patchmgr.services.carrying import Wishes
from patchmgr.services.edits import is_in
from patchmgr.services.revising import (
    Chain,
    Revision,
    chain_of,
    make,
    pushed_chain,
    restacked,
    revision_of,
)
from patchmgr.services.session import Session, nobody
from patchmgr.store import Change

_KEYS = {"order": "patches", "gone": "dropped", "is_dry_run": "dry_run"}


class Arranged(Struct, frozen=True, rename=_KEYS):
    """What became of a series: its order, its pushed patches, and the rewritten ones."""

    series: str
    order: tuple[str, ...]
    pushed: tuple[str, ...]
    rewritten: tuple[str, ...]
    gone: tuple[str, ...] = ()
    is_dry_run: bool = False


def _arranged(desk: Desk, revision: Revision, asked: Asked) -> Arranged:
    make(desk, revision, is_dry_run=asked.is_dry_run)
    gone = tuple(name for name, raw in revision.raws.items() if raw is None)
    new = tuple(name for name, raw in revision.raws.items() if raw is not None)
    order = (revision.file or desk.file).names()
    return Arranged(desk.name, order, revision.pushed, new, gone, asked.is_dry_run)


def drop(session: Session, given: Sequence[str], asked: Asked) -> Arranged:
    """Take patches out of the series; refuse where another one depends on one of them."""
    with desk_of(session, asked) as desk:
        names = {desk.pick(each) for each in given}
        file = without(desk.file, names)
        if names <= set(desk.hidden):
            gone = dict.fromkeys(sorted(names))
            return _arranged(desk, Revision(desk.names, desk.state, gone, file), asked)
        chain = chain_of(desk)
        layers = [layer for layer in chain.layers if layer.name not in names]
        states = restacked(desk, chain, layers, same_end=False)
        pushed = [name for name in desk.names if name not in names]
        patches = desk.series([layer.name for layer in layers])
        revision = revision_of(desk, patches, states, file=file, pushed=pushed)
        return _arranged(desk, revision, asked)


def move(
    session: Session, given: str, asked: Asked, *, before: str | None, after: str | None
) -> Arranged:
    """Put a patch before or behind another one, if the series makes the same files then."""
    if (before is None) == (after is None):
        raise PatchmgrError("usage", "say where: --before PATCH or --after PATCH")
    with desk_of(session, asked) as desk:
        order = desk.file.names()
        name, other = desk.pick(given), desk.pick(str(before or after))
        if name == other:
            raise PatchmgrError("usage", f"{shown(name)} cannot be moved beside itself")
        order = beside(order, name, other=other, is_behind=after is not None)
        file = reordered(desk.file, order)
        chain = chain_of(desk)
        visible = [each for each in order if each not in desk.hidden]
        for each in {name, other} - set(desk.hidden):
            chain.position(each)
        visible = [each for each in visible if each in chain.names]
        by_name = {layer.name: layer for layer in chain.layers}
        states = restacked(desk, chain, [by_name[n] for n in visible], same_end=True)
        pushed = _pushed_after(desk, visible, name)
        revision = revision_of(desk, desk.series(visible), states, file=file, pushed=pushed)
        return _arranged(desk, revision, asked)


def _pushed_after(desk: Desk, order: Sequence[str], name: str) -> tuple[str, ...]:
    """Return what is pushed once a patch has moved: it goes with those around it."""
    others = [each for each in desk.names if each != name]
    if name not in order:
        return desk.names
    at = order.index(name)
    is_pushed = at < len(others) or (at == len(others) and name in desk.names)
    return tuple(order[: len(others) + is_pushed])


def fold(session: Session, given: Sequence[str], asked: Asked, *, into: str | None) -> Arranged:
    """Make patches a part of another one, the top unless it is named."""
    with desk_of(session, asked) as desk:
        target = _target(desk, into)
        others = [desk.pick(each) for each in dict.fromkeys(given)]
        if not others or target in others:
            raise PatchmgrError("usage", f"name other patches to fold into {shown(target)}")
        desk.refuse_hidden(target, *others)
        chain = chain_of(desk)
        for each in (target, *others):
            chain.position(each)
        gathered = together(chain.names, target, others)
        by_name = {layer.name: layer for layer in chain.layers}
        states = restacked(desk, chain, [by_name[n] for n in gathered], same_end=True)
        header = desk.patches[target]
        for name in [each for each in gathered if each in others]:
            header = _with_text(desk, header, name)
        revision = _folded(desk, gathered, target, others, header.raw, states)
        return _arranged(desk, revision, asked)


def _target(desk: Desk, into: str | None) -> str:
    if into is not None:
        return desk.pick(into)
    if desk.top is None:
        message = "no patch is pushed; name the one to fold into with --into PATCH"
        raise PatchmgrError("no-patch", message)
    return desk.top


def _with_text(desk: Desk, patch: Patch, other: str) -> Patch:
    header = with_text(patch, desk.patches[other], nobody=nobody(desk.side, desk.record.pin))
    line = next(line for line in desk.file.lines if line.name == patch.name)
    return parse_listed(header + patch.diff, line)


def _folded(
    desk: Desk,
    gathered: Sequence[str],
    target: str,
    others: Sequence[str],
    raw: bytes,
    states: Sequence[State],
) -> Revision:
    """Return the revision in which the gathered patches are one."""
    first = min(gathered.index(name) for name in (target, *others))
    last = max(gathered.index(name) for name in (target, *others))
    order = [name for name in gathered if name not in others]
    kept = [*states[: first + 1], *states[last + 1 :]]
    folded = parse_listed(raw, _line(desk, target))
    patches = [folded if name == target else desk.patches[name] for name in order]
    pushed = [name for name in desk.names if name not in others]
    if target not in desk.names:
        pushed = _up_to(order, pushed)
    file = without(desk.file, others)
    return revision_of(desk, patches, kept, file=file, pushed=pushed, fresh=(target,))


def _line(desk: Desk, name: str) -> SeriesLine:
    return next(line for line in desk.file.lines if line.name == name)


def _up_to(order: Sequence[str], pushed: Sequence[str]) -> list[str]:
    """Return the pushed patches that are still the first ones."""
    count = 0
    while count < len(order) and order[count] in pushed:
        count += 1
    return list(order[:count])


def fold_diff(
    session: Session, source: Path, asked: Asked, *, into: str | None, strip: int, cwd: Path
) -> Arranged:
    """Make a diff a part of a patch, the top unless it is named; its header is left out.

    As with `git apply`, its paths are those below the current folder of the checkout, and `-` is
    standard input.
    """
    raw = sys.stdin.buffer.read() if str(source) == "-" else read_named(source)
    with desk_of(session, asked) as desk:
        target = _target(desk, into)
        desk.refuse_hidden(target)
        chain = pushed_chain(desk) if target in desk.names else chain_of(desk)
        diff = _below(desk, cwd, parse_patch(raw, name="the diff", strip=strip))
        if not diff.files:
            raise PatchmgrError("bad-patch", "there is no diff in what was given")
        at = chain.position(target)
        side = desk.ground.overlay(chain.states[at + 1])
        step_patch(side, diff, desk.bench)
        layer = desk.ground.between(target, chain.states[at], side.changes())
        layers: list[Layer] = [*chain.layers[:at], layer, *chain.layers[at + 1 :]]
        states = restacked(desk, chain, layers, same_end=False)
        revision = revision_of(
            desk, desk.series(chain.names), states,
            file=desk.file, pushed=desk.names, fresh=(target,),
        )  # fmt: skip
        return _arranged(desk, revision, asked)


def _below(desk: Desk, cwd: Path, diff: Patch) -> Patch:
    """Return a diff whose paths are below a folder, if that is one of the checkout's."""
    root = desk.checkout.root if desk.checkout is not None else cwd
    folder = cwd.relative_to(root).as_posix() if cwd.is_relative_to(root) else "."
    if folder == ".":
        return diff
    return replace(diff, files=tuple(_moved(change, folder) for change in diff.files))


def _moved(change: FilePatch, folder: str) -> FilePatch:
    old, new = (
        None if path is None else check_path(f"{folder}/{path}", what="The path")
        for path in (change.old_path, change.new_path)
    )
    return replace(change, old_path=old, new_path=new)


class Crossed(Struct, frozen=True, rename={"is_dry_run": "dry_run"}):
    """A patch that has another series now."""

    patch: str
    source: str
    target: str
    is_dry_run: bool


def cross(
    session: Session, given: str, *, series: str | None, into: str, is_dry_run: bool
) -> Crossed:
    """Make the first patch of a series the last one of the series below, or the other way.

    So no diff changes, and the stack makes the same files. Raises PatchmgrError "usage" where
    the two do not stand on each other, or where other patches are between.
    """
    with session.writing():
        workspace = session.workspace
        source = series or _beside(session, into)
        is_down = _is_down(session, source, into)
        file, other = workspace.series_file(source), workspace.series_file(into)
        name = pick(given, file.names(), series=source)
        _check_ends(name, source, file, is_down=is_down)
        if name in other.names():
            raise PatchmgrError(
                "usage",
                f"{into} has a patch {shown(name)} already",
                (f"patchmgr rename {name} NAME --series {source}",),
            )
        line = with_ended_lines(SeriesFile(tuple(x for x in file.lines if x.name == name))).lines
        lines = with_ended_lines(other).lines
        folder = f"series/{source}/{name}"
        change = Change(
            {
                f"series/{source}/series": write_series(without(file, {name})),
                f"series/{into}/series": write_series(
                    SeriesFile((*lines, *line) if is_down else (*line, *lines))
                ),
                f"series/{into}/{name}": workspace.read(folder),
                folder: None,
            }
        )
        workspace.make(change, is_dry_run=is_dry_run)
    return Crossed(name, source, into, is_dry_run)


def _beside(session: Session, into: str) -> str:
    """Return the one series that stands on another, or that it stands on."""
    record = session.workspace.series_record(into)
    every = session.workspace.lock().series.values()
    beside = [upper.name for upper in every if upper.on == into]
    beside += [record.on] if record.on is not None else []
    if len(beside) != 1:
        hint = f"series next to {into}: {', '.join(beside) or 'none'}"
        raise PatchmgrError("usage", "say with --series which series has the patch", (hint,))
    return beside[0]


def _is_down(session: Session, source: str, into: str) -> bool:
    """Say whether a patch goes to the series below; refuse series that are not next."""
    if session.workspace.series_record(source).on == into:
        return True
    if session.workspace.series_record(into).on == source:
        return False
    raise PatchmgrError("usage", f"neither of {source} and {into} stands on the other")


def _check_ends(name: str, source: str, file: SeriesFile, *, is_down: bool) -> None:
    names = file.names()
    end = names[0] if is_down else names[-1]
    if name != end:
        way = "before" if is_down else "after"
        option = "--before" if is_down else "--after"
        raise PatchmgrError(
            "usage",
            f"{shown(end)} is {way} {shown(name)} in {source}",
            (f"first: patchmgr move {name} {option} {end} --series {source}",),
        )


_HUNKS = re.compile(r"(.+):(\d+(?:,\d+)*)")


class Part(Struct, frozen=True):
    """The part of a patch that is meant: whole files, and hunks (from 1) of others.

    `absorbed` are hunks by path and first line of their new side, as a rebase judged them.
    `subject` and `message` are those of its own patch.
    """

    files: tuple[str, ...] = ()
    hunks: tuple[str, ...] = ()
    absorbed: frozenset[tuple[str, int]] = frozenset()
    subject: str = ""
    message: str = ""


def split(session: Session, given: str, new: str, asked: Asked, part: Part) -> Arranged:
    """Take a part of a patch into a new one behind it; the series makes the same files."""
    with desk_of(session, asked) as desk:
        name, added = desk.pick(given), file_name(new)
        desk.refuse_hidden(name)
        file = with_appended(desk.file, added, after=name)
        chain = chain_of(desk)
        at = chain.position(name)
        middle = _middle(desk, chain, desk.patches[name], part)
        states = (*chain.states[: at + 1], middle, *chain.states[at + 1 :])
        patch = _part_patch(desk, desk.patches[name], added, part)
        patches = list(desk.series(chain.names))
        patches.insert(at + 1, patch)
        names = list(desk.names)
        if name in names:
            names.insert(at + 1, added)
        revision = revision_of(desk, patches, states, file=file, pushed=names, fresh=(name, added))
        make(desk, revision, is_dry_run=asked.is_dry_run)
        order, new_raws = file.names(), tuple(revision.raws)
        return Arranged(desk.name, order, revision.pushed, new_raws, is_dry_run=asked.is_dry_run)


def with_absorbed(session: Session, given: str, asked: Asked, part: Part, ref: str) -> Part:
    """Return a part with the hunks of a patch that a rebase onto a state would find there."""
    with desk_of(session, asked, only_reads=True) as desk:
        name, patch = desk.name, desk.pick(given)
    found = rebase(session, [name], onto=ref, wishes=Wishes(), is_dry_run=True)
    outcome = next(o for o in found.series[0].patches if o.name == patch)
    landed = [hunk for hunk in outcome.hunks if hunk.verdict is Verdict.ABSORBED]
    if not landed:
        message = f"upstream has no hunk of {shown(patch)} at {shown(ref)}"
        raise PatchmgrError("usage", message)
    return replace(part, absorbed=frozenset((hunk.path, hunk.line) for hunk in landed))


def _part_patch(desk: Desk, patch: Patch, name: str, part: Part) -> Patch:
    author = patch.author_or(nobody(desk.side, desk.record.pin))
    header = new_header(part.subject or f"{patch.subject} (split)", part.message, author)
    return parse_patch(header, name=name)


def _middle(desk: Desk, chain: Chain, patch: Patch, part: Part) -> State:
    """Return the state with the patch but for the part."""
    at = chain.position(patch.name)
    old, new = chain.states[at], chain.states[at + 1]
    steps = step_patch(desk.ground.overlay(old), patch, desk.bench)
    middle = dict(new)
    taken = _taken(patch, steps, part)
    for number, step in enumerate(steps):
        chosen = taken.get(number, frozenset())
        count = max(1, len(step.change.hunks))
        if len(chosen) == count:
            for path in {step.change.old_path, step.change.new_path} - {None}:
                assert path is not None
                middle[path] = desk.ground.entry(old, path)
        elif chosen:
            middle[step.change.path] = _without(desk, step, chosen)
    for end, what in ((old, "whole of"), (new, "none of")):
        if desk.ground.is_same(middle, end):
            raise PatchmgrError(
                "usage", f"that is the {what} {shown(patch.name)}: nothing to split"
            )
    return middle


def _without(desk: Desk, step: FileStep, chosen: Collection[int]) -> Entry:
    """Return a file with the hunks of its change that were not chosen."""
    change = step.change
    if step.base is None or step.theirs is None or change.is_rename or change.is_copy:
        message = f"{shown(change.path)} is made, moved or deleted: it can be split as a file only"
        raise PatchmgrError("usage", message, (f"--file {change.path}",))
    rest = set(range(len(change.hunks))) - set(chosen)
    content = desk.bench.read(step.base.blob)
    content, _, _ = take_in(content, change.hunks, step.positions, rest)
    return Entry(step.theirs.mode, desk.bench.add(content))


def _taken(patch: Patch, steps: Sequence[FileStep], part: Part) -> Mapping[int, frozenset[int]]:
    """Return the hunks (from 0) that are meant, by the number of their file in the patch."""
    taken: dict[int, frozenset[int]] = {}
    counts = [max(1, len(step.change.hunks)) for step in steps]
    for path in part.files:
        for number in _numbers(patch, path):
            taken[number] = frozenset(range(counts[number]))
    for given in part.hunks:
        match = _HUNKS.fullmatch(given)
        if match is None:
            raise PatchmgrError("usage", f"{shown(given)} is not written as PATH:N or PATH:N,N")
        for number in _numbers(patch, match[1]):
            chosen = frozenset(int(n) - 1 for n in match[2].split(","))
            if not chosen <= set(range(counts[number])):
                message = f"{shown(match[1])} has hunks 1 to {counts[number]} in {patch.name}"
                raise PatchmgrError("usage", message)
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
        hint = f"files of it: {', '.join(patch.paths())}"
        raise PatchmgrError("usage", f"{shown(patch.name)} does not touch {shown(path)}", (hint,))
    return found
