"""`drop`, `move`, `fold`: patches go, change places, become one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.commands.chain import chain_of, pushed_chain, restacked, revision_of
from patchmgr.commands.desk import Asked, Desk
from patchmgr.commands.opening import desk_of
from patchmgr.commands.revising import Revision, make
from patchmgr.commands.session import Session, nobody
from patchmgr.engines.fold import step_patch
from patchmgr.engines.layers import Layer, State
from patchmgr.engines.picking import beside, together
from patchmgr.errors import PatchmgrError
from patchmgr.formats.header_edits import with_text
from patchmgr.formats.patch_files import parse_listed, parse_patch
from patchmgr.formats.paths import check_path
from patchmgr.formats.series_files import reordered, without
from patchmgr.formats.shown import shown
from patchmgr.model.patch import FilePatch, Patch
from patchmgr.model.series import SeriesLine

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
        raws: dict[str, bytes | None] = dict.fromkeys(sorted(names))
        file = without(desk.file, names)
        if names <= set(desk.hidden):
            return _arranged(desk, Revision(desk.names, desk.state, raws, file), asked)
        chain = chain_of(desk)
        layers = [layer for layer in chain.layers if layer.name not in names]
        states = restacked(desk, chain, layers, same_end=False)
        pushed = [name for name in desk.names if name not in names]
        patches = desk.series([layer.name for layer in layers])
        revision = revision_of(desk, patches, states, file=file, pushed=pushed, raws=raws)
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
    raws: dict[str, bytes | None] = dict.fromkeys(others)
    file = without(desk.file, others)
    return revision_of(desk, patches, kept, file=file, pushed=pushed, raws=raws, fresh=(target,))


def _line(desk: Desk, name: str) -> SeriesLine:
    return next(line for line in desk.file.lines if line.name == name)


def _up_to(order: Sequence[str], pushed: Sequence[str]) -> list[str]:
    """Return the pushed patches that are still the first ones."""
    count = 0
    while count < len(order) and order[count] in pushed:
        count += 1
    return list(order[:count])


def fold_diff(
    session: Session, raw: bytes, asked: Asked, *, into: str | None, strip: int, cwd: Path
) -> Arranged:
    """Make a diff a part of a patch, the top unless it is named; its header is left out.

    As with `git apply`, its paths are those below the current folder of the checkout.
    """
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


def read_diff(source: Path) -> bytes:
    """Return the bytes of a diff file."""
    try:
        return source.read_bytes()
    except OSError as fault:
        problem = f"{source} cannot be read: {fault.strerror}"
        raise PatchmgrError("usage", problem) from fault
