"""Make what an authoring command decided: patch files, series file and checkout in one step."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.commands.desk import Desk, check_pin, diff_digest
from patchmgr.commands.targets import remember_target, series_digest
from patchmgr.engines.layers import State
from patchmgr.formats.patch_files import parse_listed
from patchmgr.formats.series_files import without_strip, write_series
from patchmgr.model.ids import blob_id
from patchmgr.model.patch import Patch
from patchmgr.model.series import SeriesFile
from patchmgr.model.snapshot import REGULAR, Entry
from patchmgr.plumbing.applied import Content, PushedPatch, Record
from patchmgr.plumbing.checkout import CheckoutStep, Edit, serve
from patchmgr.plumbing.exchanges import Move, as_content, found_file, plan_shift, refuse_same_names
from patchmgr.store import Change


class Revision(Struct, frozen=True):
    """What is to be: patch files by name (None: gone), the series file, the pushed patches.

    `state` is what these make of the pin. The checkout has the paths of `kept` as they are to
    be. `forced` names a pushed patch with hunks that had no place, and `rejects` are the files
    that hold these; one that was forced stays so unless the revision `settles` it. `discards`
    gives up edits of files that change, `prepares` notes the checkout without any patch in it,
    and `others` are further files of the workspace.
    """

    pushed: tuple[str, ...]
    state: State
    raws: Mapping[str, bytes | None] = field(default_factory=dict)
    file: SeriesFile | None = None
    kept: frozenset[str] = frozenset()
    forced: str | None = None
    rejects: Mapping[str, bytes] = field(default_factory=dict)
    settles: bool = False
    discards: bool = False
    prepares: bool = False
    others: Mapping[str, bytes | None] = field(default_factory=dict)


def make(desk: Desk, revision: Revision, *, is_dry_run: bool) -> None:
    """Make a revision, all of it or none; a dry run stops before the last step."""
    if desk.forced in revision.pushed and not revision.settles:
        revision = replace(revision, forced=desk.forced)
    change = Change(_files(desk, revision))
    if desk.checkout is not None and _is_for_checkout(desk, revision):
        change.steps.append(_step(desk, revision, change))
    if is_dry_run or not (change.files or change.steps):
        return
    if desk.checkout is not None and change.steps:
        serve(desk.checkout, desk.session.workspace.root)
        clone = desk.checkout.clone
        remember_target(desk.session.workspace, clone.root, clone.private)
    desk.session.workspace.make(change)


def _files(desk: Desk, revision: Revision) -> dict[str, bytes | None]:
    folder = f"series/{desk.name}"
    files = {f"{folder}/{name}": raw for name, raw in revision.raws.items()}
    file = _series_file(desk, revision)
    if file != desk.file:
        files[f"{folder}/series"] = write_series(file)
    return {**files, **revision.others}


def _series_file(desk: Desk, revision: Revision) -> SeriesFile:
    """Return the series file; a patch with a new diff has paths as git writes them."""
    file = revision.file or desk.file
    known = {name: desk.patches[name].diff for name in revision.raws if name in desk.patches}
    changed = {
        name
        for name, diff in known.items()
        if (raw := revision.raws[name]) is not None and not raw.endswith(diff)
    }
    return without_strip(file, changed)


def _is_for_checkout(desk: Desk, revision: Revision) -> bool:
    """Say whether the record of the checkout, or a file of it, changes."""
    applied = desk.applied
    is_new = applied is None or applied.pushed is None or applied.series != desk.name
    was, now = desk.names, revision.pushed
    if is_new and not was and not now:
        return revision.prepares
    changed = {name for name in revision.raws if name in now or name in was}
    return bool(was != now or changed or revision.rejects or desk.rejects or revision.kept)


def _step(desk: Desk, revision: Revision, change: Change) -> CheckoutStep:
    checkout = desk.need_checkout()
    check_pin(desk, revision.state)
    paths = {**desk.state, **revision.state}
    leaving = {path for path in paths if desk.ground.entry(revision.state, path) is None}
    there = paths.keys() - leaving
    refuse_same_names(checkout.root, there, leaving, desk.bench.tree(desk.head))
    moves = [_move(desk, revision, path) for path in paths]
    moves += _reject_moves(desk, revision)
    record = _record(desk, revision, change.files)
    exchange = plan_shift(checkout, desk.applied, moves, record, head=desk.head)
    return CheckoutStep(checkout, exchange, tuple(_edits(desk, revision, leaving)))


def _edits(desk: Desk, revision: Revision, leaving: Collection[str]) -> Iterator[Edit]:
    """Yield what a person made of the files that a refresh takes in, or a forced pop gives up.

    So too of rejects that mean nothing any more: most often they are deleted.
    """
    ground, paths = desk.ground, set(revision.kept)
    if revision.discards:
        paths |= ground.between("", desk.state, revision.state).files.keys()
    checkout = desk.need_checkout()
    found = {path: found_file(checkout, path, leaving) for path in sorted(paths)}
    before = {path: desk.content(path, desk.state) for path in found}
    now = checkout.clone.conversion.as_git(found, lambda: before, desk.applied)
    written = checkout.clone.conversion.to_work_tree(before)
    for path, file in found.items():
        if now[path] != before[path]:
            yield Edit(path, written[path], file)
    for path in desk.rejects if revision.forced is None else ():
        yield Edit(path, None, found_file(desk.need_checkout(), path))


def _move(desk: Desk, revision: Revision, path: str) -> Move:
    below, old, new = (desk.content(path, state) for state in ({}, desk.state, revision.state))
    is_kept, is_given_up = path in revision.kept, revision.discards
    return Move(path, below, old, new, is_kept=is_kept, is_given_up=is_given_up)


def _reject_moves(desk: Desk, revision: Revision) -> list[Move]:
    """Return what becomes of rejects: new ones come, those of a patch that leaves go with it."""
    moves = [
        Move(path, None, None, Content(Entry(REGULAR, blob_id(raw)), raw), is_apart=True)
        for path, raw in revision.rejects.items()
    ]
    for path in desk.rejects:
        found = found_file(desk.need_checkout(), path)
        if found is not None and path not in revision.rejects and revision.forced is None:
            moves.append(Move(path, None, as_content(found), None, is_apart=True))
    return moves


def _record(desk: Desk, revision: Revision, files: Mapping[str, bytes | None]) -> Record:
    session = desk.session
    left = desk.rejects if revision.forced is not None else ()
    rejects = tuple(revision.rejects) or left
    patches = [_patch(desk, revision, name) for name in revision.pushed]
    pushed = tuple(
        PushedPatch(patch.name, diff_digest(patch), patch.name == revision.forced)
        for patch in patches
    )
    lines = (revision.file or desk.file).lines
    let_in = (line.name for line in lines if line.name and line.refusal(desk.selected) is None)
    whole = tuple(name for name in let_in if name not in desk.hidden)
    is_whole = revision.forced is None and revision.pushed == whole
    digest = series_digest(session, desk.record, desk.selected, changes=files) if is_whole else ""
    return Record(
        desk.name, digest, tuple(sorted(desk.selected)), desk.head, None, (),
        workspace=str(session.workspace.root), pushed=pushed, rejects=rejects,
    )  # fmt: skip


def _patch(desk: Desk, revision: Revision, name: str) -> Patch:
    raw = revision.raws.get(name)
    if raw is None:
        return desk.patches[name]
    lines = {line.name: line for line in _series_file(desk, revision).lines}
    return parse_listed(raw, lines[name])
