"""Change a series' patches, its series file and its checkout, all in one step."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.engines.series.comparison import patch_sameness
from patchmgr.engines.series.fold import step_patch
from patchmgr.engines.series.layers import (
    Collision,
    Ground,
    Layer,
    State,
    fold_states,
    is_exact,
    lay_all,
    layers_of,
    sharers,
)
from patchmgr.errors import PatchmgrError
from patchmgr.formats.header_edits import with_diff
from patchmgr.formats.mailbox import canonical_header
from patchmgr.formats.patch_files import parse_listed, parse_patch
from patchmgr.formats.series_files import without_strip, write_series
from patchmgr.formats.shown import shown, typed
from patchmgr.model.comparison import Sameness
from patchmgr.model.patch import Patch, own_author
from patchmgr.model.series import SeriesFile
from patchmgr.model.snapshot import REGULAR
from patchmgr.plumbing.applied import PushedPatch, Record, content_of
from patchmgr.plumbing.checkout import CheckoutEdit, CheckoutStep, serve
from patchmgr.plumbing.checkout_changes import (
    FileShift,
    as_content,
    found_file,
    plan_shift,
    refuse_same_names,
)
from patchmgr.plumbing.diffs import commit_diffs
from patchmgr.plumbing.scratch_repository import Draft, write_commits
from patchmgr.services.checkouts import remember_target, series_digest
from patchmgr.services.open_series import OpenSeries, check_pin, diff_digest
from patchmgr.workspace import Change


class Revision(Struct, frozen=True):
    """A planned change to a series and its checkout."""

    pushed: tuple[str, ...]  # patches that will be pushed
    state: State  # the state after the last of `pushed`
    # new patch files, by name (None: deleted)
    raws: Mapping[str, bytes | None] = field(default_factory=dict)
    file: SeriesFile | None = None  # the new series file; None: unchanged
    kept: frozenset[str] = frozenset()  # files that have their new content in the checkout already
    forced: str | None = None  # a pushed patch with hunks that did not apply
    # the files with these hunks, by path
    rejects: Mapping[str, bytes] = field(default_factory=dict)
    settles: bool = False  # the top patch is no longer forced
    discards: bool = False  # edits to the files that change are discarded
    prepares: bool = False  # record the checkout even if no patch is pushed
    # further files of the workspace
    others: Mapping[str, bytes | None] = field(default_factory=dict)


def make(opened: OpenSeries, revision: Revision) -> None:
    """Make a revision, completely or not at all; a dry run stops before the last step."""
    if opened.forced in revision.pushed and not revision.settles:
        revision = replace(revision, forced=opened.forced)
    folder = f"series/{opened.name}"
    files = {f"{folder}/{name}": raw for name, raw in revision.raws.items()}
    file = _series_file(opened, revision)
    if file != opened.file:
        files[f"{folder}/series"] = write_series(file)
    change = Change({**files, **revision.others})
    if opened.checkout is not None and _is_for_checkout(opened, revision):
        change.steps.append(_step(opened, revision, change))
    if opened.session.is_dry_run or not (change.files or change.steps):
        return
    if opened.checkout is not None and change.steps:
        serve(opened.checkout, opened.session.workspace.root)
        clone = opened.checkout.clone
        remember_target(opened.session.workspace, clone.root, clone.private)
    opened.session.workspace.make(change)
    _name_stacked(opened, revision)


def _name_stacked(opened: OpenSeries, revision: Revision) -> None:
    """Tell the user to check the series based on this one if a revision changes a patch's diff."""
    old = [opened.by_name[name].diff for name in revision.raws if name in opened.by_name]
    new = [raw for raw in revision.raws.values() if raw is not None and b"\ndiff --git " in raw]
    if len(old) == len(new) and all(any(raw.endswith(diff) for raw in new) for diff in old):
        return
    for name in opened.session.workspace.lock().above(opened.name):
        opened.session.say(
            f"{name} is based on {opened.name}. To see whether its patches still apply:"
            f" patchmgr check {name}"
        )


def _series_file(opened: OpenSeries, revision: Revision) -> SeriesFile:
    """Return the series file, without the -pN of each patch that has a new diff."""
    file = revision.file or opened.file
    known = {name: opened.by_name[name].diff for name in revision.raws if name in opened.by_name}
    changed = {
        name
        for name, diff in known.items()
        if (raw := revision.raws[name]) is not None and not raw.endswith(diff)
    }
    return without_strip(file, changed)


def _is_for_checkout(opened: OpenSeries, revision: Revision) -> bool:
    """Return whether a revision changes files of the checkout, or the record of pushed patches."""
    applied = opened.applied
    is_new = applied is None or applied.pushed is None or applied.series != opened.name
    was, now = opened.names, revision.pushed
    if is_new and not was and not now:
        return revision.prepares
    changed = {name for name in revision.raws if name in now or name in was}
    return bool(was != now or changed or revision.rejects or opened.rejects or revision.kept)


def _step(opened: OpenSeries, revision: Revision, change: Change) -> CheckoutStep:
    checkout = opened.need_checkout()
    check_pin(opened, revision.state)
    paths = {**opened.state, **revision.state}
    leaving = {path for path in paths if opened.ground.entry(revision.state, path) is None}
    there = paths.keys() - leaving
    refuse_same_names(checkout.root, there, leaving, opened.scratch.tree(opened.head))
    moves = [_move(opened, revision, path) for path in paths]
    moves += _reject_moves(opened, revision)
    record = _record(opened, revision, change.files)
    exchange = plan_shift(checkout, opened.applied, moves, record, head=opened.head)
    return CheckoutStep(checkout, exchange, tuple(_edits(opened, revision)))


def _edits(opened: OpenSeries, revision: Revision) -> Iterator[CheckoutEdit]:
    """Yield the edits that a refresh records or a forced pop discards, and old reject files."""
    ground, paths = opened.ground, set(revision.kept)
    if revision.discards:
        paths |= ground.between("", opened.state, revision.state).files.keys()
    checkout = opened.need_checkout()
    found = {path: found_file(checkout, path) for path in sorted(paths)}
    before = {path: opened.content(path, opened.state) for path in found}
    now = checkout.clone.conversion.as_git(found, lambda: before, opened.applied)
    written = checkout.clone.conversion.to_work_tree(before)
    for path, file in found.items():
        if now[path] != before[path]:
            yield CheckoutEdit(path, written[path], file)
    for path in opened.rejects if revision.forced is None else ():
        yield CheckoutEdit(path, None, found_file(opened.need_checkout(), path))


def _move(opened: OpenSeries, revision: Revision, path: str) -> FileShift:
    below, old, new = (opened.content(path, state) for state in ({}, opened.state, revision.state))
    is_kept, is_given_up = path in revision.kept, revision.discards
    return FileShift(path, below, old, new, is_kept=is_kept, is_given_up=is_given_up)


def _reject_moves(opened: OpenSeries, revision: Revision) -> list[FileShift]:
    """Return the moves that write new reject files and delete obsolete ones."""
    moves = [
        FileShift(path, None, None, content_of(REGULAR, raw), is_apart=True)
        for path, raw in revision.rejects.items()
    ]
    for path in opened.rejects:
        found = found_file(opened.need_checkout(), path)
        if found is not None and path not in revision.rejects and revision.forced is None:
            moves.append(FileShift(path, None, as_content(found), None, is_apart=True))
    return moves


def _record(opened: OpenSeries, revision: Revision, files: Mapping[str, bytes | None]) -> Record:
    session = opened.session
    left = opened.rejects if revision.forced is not None else ()
    rejects = tuple(revision.rejects) or left
    patches = [_patch(opened, revision, name) for name in revision.pushed]
    pushed = tuple(
        PushedPatch(patch.name, diff_digest(patch), patch.name == revision.forced)
        for patch in patches
    )
    lines = (revision.file or opened.file).lines
    let_in = (line.name for line in lines if line.name and line.refusal(opened.selected) is None)
    whole = tuple(name for name in let_in if name not in opened.hidden)
    is_whole = revision.forced is None and revision.pushed == whole
    digest = (
        series_digest(session, opened.record, opened.selected, changes=files) if is_whole else ""
    )
    return Record(
        opened.name, digest, tuple(sorted(opened.selected)), opened.head, None, (),
        workspace=str(session.workspace.root), pushed=pushed, rejects=rejects,
    )  # fmt: skip


def _patch(opened: OpenSeries, revision: Revision, name: str) -> Patch:
    raw = revision.raws.get(name)
    if raw is None:
        return opened.by_name[name]
    return parse_listed(raw, _series_file(opened, revision).line(name))


def rewritten(
    opened: OpenSeries,
    patches: Sequence[Patch],
    states: Sequence[State],
    *,
    fresh: Collection[str] = (),
    anew: Collection[str] = (),
) -> dict[str, bytes]:
    """Return new patch files, by patch name, for the patches whose diff must be rewritten.

    The diff of patch n turns state n into state n + 1. A patch whose diff does that already is
    rewritten only if it is in `fresh` and git would write other changes, or if it is in `fresh` and
    `anew` and git would write any byte differently.
    """
    ground = opened.ground
    stale = [
        number
        for number, patch in enumerate(patches)
        if patch.name in fresh or not is_exact(ground, patch, states[number], states[number + 1])
    ]
    if not stale:
        return {}
    diffs = diffs_of(opened, states[: stale[-1] + 2])
    found: dict[str, bytes] = {}
    for number in stale:
        patch = patches[number]
        raw = with_diff(patch, diffs[number])
        if not raw.strip():  # an empty file would not be a patch
            raw = canonical_header(patch, author=patch.author_or(opened.author))
        new = parse_patch(raw, name=patch.name)
        is_other = patch_sameness(patch, new) is not Sameness.IDENTICAL
        if is_other or (patch.name in anew and raw != patch.raw):
            found[patch.name] = raw
    return found


def diffs_of(opened: OpenSeries, states: Sequence[State]) -> list[bytes]:
    """Return the diff between each state and the next."""
    ground = opened.ground
    pairs = zip(({}, *states), states, strict=False)
    layers = [ground.between("", old, new) for old, new in pairs]
    drafts = [
        Draft(own_author(), b"state\n", {path: after for path, (_, after) in layer.files.items()})
        for layer in layers
    ]
    commits = write_commits(opened.scratch, opened.parent, drafts)
    found = commit_diffs(opened.scratch.git_dir, list(commits[1:]))
    return [found[commit] for commit in commits[1:]]


class Chain(Struct, frozen=True):
    """Patches in series order, with their changes: all except hidden ones, or only pushed ones."""

    names: tuple[str, ...]
    states: tuple[State, ...]  # before the first patch and after each
    layers: tuple[Layer, ...]
    # why the next patch, which is not in the chain, does not apply
    fault: PatchmgrError | None = None

    def position(self, name: str) -> int:
        """Return the index of a patch; raise the chain's `fault` if the chain lacks the patch."""
        if self.fault is not None and name not in self.names:
            raise self.fault
        return self.names.index(name)


def chain_of(opened: OpenSeries) -> Chain:
    """Return the chain of all patches in a series, except hidden ones.

    Raises PatchmgrError "rejects" if the top patch was pushed by force.
    """
    # the state after a forced patch is not known yet
    refuse_forced(opened)
    names, states = list(opened.names), list(opened.states)
    fault: PatchmgrError | None = None
    for name in opened.unpushed():
        try:
            states.append(fold_states(opened.ground, opened.series([name]), states[-1])[1])
        except PatchmgrError as found:
            fault = found
            break
        names.append(name)
    return Chain(tuple(names), tuple(states), layers_of(opened.ground, names, states), fault)


def name_stopped(opened: OpenSeries, state: State) -> str | None:
    """Return the first patch that no longer applies, now that the files are as in `state`, if any.

    Also tells the user.
    """
    left = opened.unpushed()
    end, fault = _reach(opened, left, state)
    if fault is not None and _reach(opened, left[: end + 1], opened.state)[1] is None:
        opened.session.say(f"From now on, {fault.message}")
        where = f"--series {opened.name} --to {typed(opened.need_checkout().root)}"
        opened.session.say(f"To correct it: patchmgr push {typed(left[end])} --force {where}")
        return left[end]
    return None


def _reach(
    opened: OpenSeries, names: Sequence[str], state: State
) -> tuple[int, PatchmgrError | None]:
    """Return how many of the patches apply in a row, and the error of the next one."""
    side = opened.ground.overlay(state)
    for number, name in enumerate(names):
        try:
            step_patch(side, opened.by_name[name], opened.scratch)
        except PatchmgrError as fault:
            return number, fault
    return len(names), None


def pushed_chain(opened: OpenSeries) -> Chain:
    """Return the chain of the pushed patches, the only ones that a refresh may change."""
    refuse_forced(opened)
    return Chain(opened.names, opened.states, layers_of(opened.ground, opened.names, opened.states))


def refuse_forced(opened: OpenSeries) -> None:
    """Raise PatchmgrError "rejects" if the top patch has hunks that do not apply yet."""
    if opened.forced is not None:
        raise PatchmgrError(
            "rejects",
            f"some hunks of {opened.top} do not apply yet",
            f"apply the hunks by hand, delete {', '.join(opened.rejects)}, then: patchmgr refresh",
            "or pop it: patchmgr pop --force",
        )


def restacked(
    opened: OpenSeries,
    chain: Chain,
    order: Sequence[str],
    *,
    same_end: bool,
    changed: Layer | None = None,
) -> tuple[State, ...]:
    """Apply patches of a chain in the given order, and return the state before them and after each.

    `changed` replaces the change of one patch. Raises PatchmgrError "depends" if a patch comes
    before one that it needs, or if, with `same_end`, the last state differs; "empty" if a patch
    becomes empty.
    """
    by_name = {layer.name: layer for layer in (*chain.layers, *filter(None, [changed]))}
    layers = [by_name[name] for name in order]
    found = lay_all(opened.ground, layers, {})
    if isinstance(found, Collision):
        raise _depends(opened.ground, chain, layers, found)
    if same_end and not opened.ground.is_same(found[-1], chain.states[-1]):
        path = next(iter(opened.ground.between("", found[-1], chain.states[-1]).files))
        message = f"in that order, the patches would leave {shown(path)} with different content"
        raise PatchmgrError("depends", message, "nothing was changed")
    _refuse_emptied(opened.ground, layers, found)
    return found


def _refuse_emptied(ground: Ground, layers: Sequence[Layer], states: Sequence[State]) -> None:
    """Raise PatchmgrError "empty" if a patch that has changes would no longer change anything."""
    for layer, (old, new) in zip(layers, pairwise(states), strict=True):
        if layer.files and ground.is_same(old, new):
            message = f"{layer.name} would become empty"
            hints = (f"remove the patch first: patchmgr drop {layer.name}", "nothing was changed")
            raise PatchmgrError("empty", message, *hints)


def _depends(
    ground: Ground, chain: Chain, layers: Sequence[Layer], collision: Collision
) -> PatchmgrError:
    """Return an error that names the patches on which the colliding patch depends."""
    name, at = collision.name, chain.position(collision.name)
    order = [layer.name for layer in layers]
    sharing = sharers(chain.layers, collision.path, but=name)
    below = {each: chain.position(each) < at for each in sharing}
    moved = [
        each
        for each in sharing
        if below[each] != (each in order and order.index(each) < order.index(name))
    ]
    needed = [each for each in moved if below[each] and _is_needed(ground, chain, each, name)]
    others = ", ".join(needed or moved or sharing) or "the pin"
    message = f"{name} depends on {others}: {shown(collision.path)}: {collision.reason}"
    return PatchmgrError("depends", message, "nothing was changed")


def _is_needed(ground: Ground, chain: Chain, lower: str, upper: str) -> bool:
    """Return whether the patch `upper` does not apply without the patch `lower`."""
    layers = chain.layers[: chain.position(upper) + 1]
    found = lay_all(ground, [layer for layer in layers if layer.name != lower], {})
    return isinstance(found, Collision)


def revise(
    opened: OpenSeries,
    patches: Sequence[Patch],
    states: Sequence[State],
    *,
    file: SeriesFile,
    pushed: Sequence[str],
    fresh: Sequence[str] = (),
) -> Revised:
    """Replace the patches of a series, and return what changed.

    `pushed` names the first patches, which are pushed afterwards; `states` has the state before the
    first patch and after each. Patches that `file` does not list are deleted.
    """
    gone = sorted(set(opened.file.names()) - set(file.names()))
    files: dict[str, bytes | None] = dict.fromkeys(gone)
    files.update(rewritten(opened, patches, states, fresh=fresh))
    assert tuple(patch.name for patch in patches[: len(pushed)]) == tuple(pushed)
    return revised(opened, Revision(tuple(pushed), states[len(pushed)], files, file))


class Revised(Struct, frozen=True):
    """The result of a revision; each field lists names of patches."""

    series: str
    patches: tuple[str, ...]  # the new order of the series
    pushed: tuple[str, ...]
    rewritten: tuple[str, ...]
    dropped: tuple[str, ...] = ()


def revised(opened: OpenSeries, revision: Revision) -> Revised:
    """Make a revision, and return its result."""
    make(opened, revision)
    gone = tuple(name for name, raw in revision.raws.items() if raw is None)
    new = tuple(name for name, raw in revision.raws.items() if raw is not None)
    order = (revision.file or opened.file).names()
    return Revised(opened.name, order, revision.pushed, new, gone)
