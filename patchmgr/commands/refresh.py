"""`refresh`: put the edits in a checkout into a patch."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from patchmgr.engines.series.comparison import patch_sameness
from patchmgr.engines.series.layers import (
    Collision,
    Layer,
    State,
    is_out,
    lay,
    lay_all,
    layers_of,
    sharers,
)
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.differences import Block, changed_blocks
from patchmgr.engines.text.hunk_choice import Chooser, Offer, choices, mode_words, offers_of
from patchmgr.engines.text.origins import origins
from patchmgr.errors import PatchmgrError
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.shown import shown
from patchmgr.model.comparison import Sameness
from patchmgr.model.snapshot import FILE_MODES, Entry
from patchmgr.plumbing.checkout_changes import found_file
from patchmgr.services.open_series import (
    CheckoutOptions,
    OpenSeries,
    edited_files,
    opened_series,
    paths_of,
    untracked_files,
)
from patchmgr.services.revising import (
    Revision,
    make,
    name_stopped,
    refuse_forced,
    rewritten,
)
from patchmgr.services.session import Session


class Changed(Struct, frozen=True):
    """A patch whose diff changed; `change` says whether more changed than line numbers."""

    name: str
    change: Sameness


class Refreshed(Struct, frozen=True, rename={"is_rewritten": "rewritten"}):
    """The result of `refresh`."""

    series: str
    patch: str
    change: Sameness  # how much the patch changed
    paths: tuple[str, ...]  # files whose edits went into the patch
    others: tuple[Changed, ...]  # later patches in which line numbers or context changed
    untracked: tuple[str, ...]  # edited files that were left out because git does not track them
    is_rewritten: bool  # the patch file was written, perhaps with the same change
    stopped: str | None = None  # the first unpushed patch that applied before and does not now


class RefreshOptions(Struct, frozen=True):
    """Which patch to refresh (by default the top), and how."""

    patch: str | None = None
    allows_empty: bool = False
    rewrites: bool = False  # write the diff as git does, even if the change stays the same
    choose: Chooser | None = None  # asks the user which hunks to take


def refresh(
    session: Session, given: Sequence[str], options: CheckoutOptions, how: RefreshOptions
) -> Refreshed:
    """Put the edits in a checkout (by default all) into a pushed patch (by default the top).

    Raises PatchmgrError "overlap" if a later pushed patch changes the same lines, and "empty" if
    the patch would become empty.
    """
    with opened_series(session, options) as opened:
        opened.need_checkout()
        if not opened.names:
            hint = "make a patch with: patchmgr new NAME, or push a patch"
            raise PatchmgrError("no-patch", f"no patch of {opened.name} is pushed", hint)
        name = opened.names[-1] if how.patch is None else opened.pick(how.patch)
        opened.position(name)
        _refuse_rejects(opened, name)
        named = paths_of(opened, given)
        edits = edited_files(opened, named)
        if how.choose is not None:
            edits = _chosen(opened, edits, how.choose)
            named = tuple(edits)  # the user has seen the edits of each
        state = {**opened.state, **edits}
        _refuse_put_back(opened, name, {**edited_files(opened, is_told=True), **edits}, named)
        edit = opened.ground.between(name, opened.state, state)
        states = _states_with(opened, opened.states, edit)
        _refuse_empty(opened, name, states, allows_empty=how.allows_empty)
        anew = (name,) if how.rewrites else ()
        changed, stopped = _refreshed(opened, states, fresh=(name,), anew=anew, kept=edits)
        others = tuple(one for one in changed.values() if one.name != name)
        own = changed.get(name, Changed(name, Sameness.IDENTICAL))
        return Refreshed(
            opened.name, name, own.change, tuple(edits), others, untracked_files(opened, edits),
            name in changed, stopped,
        )  # fmt: skip


def _refreshed(
    opened: OpenSeries,
    states: Sequence[State],
    *,
    fresh: Collection[str],
    anew: Collection[str] = (),
    kept: Collection[str],
) -> tuple[dict[str, Changed], str | None]:
    """Rewrite the pushed patches for new states, which contain the edits of the files in `kept`.

    Returns the patches that were written, by name, and the first patch that no longer applies.
    """
    raws = rewritten(opened, opened.series(opened.names), states, fresh=fresh, anew=anew)
    make(opened, Revision(opened.names, states[-1], raws, kept=frozenset(kept), settles=True))
    changed = {
        name: Changed(name, patch_sameness(opened.by_name[name], parse_patch(raw, name=name)))
        for name, raw in raws.items()
    }
    return changed, name_stopped(opened, states[-1])


def _chosen(opened: OpenSeries, edits: State, choose: Chooser) -> dict[str, Entry | None]:
    """Return the edited files, keyed by path, with only the hunks that the user chose."""
    ground, offers = opened.ground, list[Offer]()
    ends = {path: (ground.entry(opened.state, path), after) for path, after in edits.items()}
    for path, (before, after) in ends.items():
        whole = mode_words(before, after)
        texts = (None if end is None else ground.content(end) for end in (before, after))
        offers += offers_of(path, *texts, whole=whole)
    found: dict[str, Entry | None] = {}
    for path, choice in choices(offers, choose).items():
        after = edits[path]
        if after is not None and not choice.is_whole:
            after = Entry(after.mode, opened.scratch.add(choice.taken))
        found[path] = after
    return found


class LeftEdit(Struct, frozen=True):
    """An edit that was not put into any patch, and the reason."""

    path: str
    line: int | None  # from 1; None if the reason concerns the whole file
    reason: str


class Distributed(Struct, frozen=True):
    """The result of `refresh --auto`."""

    series: str
    patches: tuple[Changed, ...]  # patches into which edits went
    others: tuple[Changed, ...]  # patches in which only line numbers or context changed
    left: tuple[LeftEdit, ...]  # edits that were put into no patch
    untracked: tuple[str, ...]  # as in `Refreshed`; so is `stopped`
    stopped: str | None = None


def distribute(session: Session, given: Sequence[str], options: CheckoutOptions) -> Distributed:
    """Put each edit into the pushed patch that wrote the edited lines, as `git absorb` does.

    Edits to lines that several patches or no patch wrote stay in the checkout. Raises PatchmgrError
    "empty" if a patch would become empty.
    """
    with opened_series(session, options) as opened:
        opened.need_checkout()
        _refuse_rejects(opened, "")
        edits = edited_files(opened, paths_of(opened, given))
        owned, left = _owned(opened, edits)
        states, taken = opened.states, dict[str, Layer]()
        for name in filter(owned.__contains__, opened.names):
            edit = opened.ground.between(name, opened.state, {**opened.state, **owned[name]})
            try:
                states = _states_with(opened, states, edit)
            except PatchmgrError as fault:
                left += [LeftEdit(path, None, fault.message) for path in edit.files]
                continue
            taken[name] = edit
            _refuse_empty(opened, name, states, allows_empty=False)
        kept = {path for edit in taken.values() for path in edit.files}
        changed, stopped = _refreshed(opened, states, fresh=tuple(taken), kept=kept)
        return Distributed(
            opened.name,
            tuple(one for name, one in changed.items() if name in taken),
            tuple(one for name, one in changed.items() if name not in taken),
            tuple(left),
            untracked_files(opened, edits),
            stopped,
        )


def _owned(
    opened: OpenSeries, edits: State
) -> tuple[dict[str, dict[str, Entry | None]], list[LeftEdit]]:
    """Return the edited files by the patch that wrote the edited lines, and all other edits."""
    owned: dict[str, dict[str, Entry | None]] = {}
    left: list[LeftEdit] = []
    for path, after in edits.items():
        before = opened.ground.entry(opened.state, path)
        reason = _whole(opened, path, before, after)
        if reason is not None:
            left.append(LeftEdit(path, None, reason))
            continue
        assert before is not None and after is not None
        old, new = (split_lines(opened.ground.content(entry)) for entry in (before, after))
        writers = _writers(opened, path)
        blocks: dict[str, list[Block]] = {}
        for block in changed_blocks(old, new):
            names = set(writers[max(0, block.old_start - 1) : block.old_start + 1])
            if block.old_end > block.old_start:
                names = set(writers[block.old_start : block.old_end])
            (name, *others) = sorted(names, key=lambda each: each or "")
            if name is None or others:
                reason = "lines of several patches" if len(names - {None}) > 1 else _UPSTREAMS
                left.append(LeftEdit(path, block.new_start + 1, reason))
            else:
                blocks.setdefault(name, []).append(block)
        for name, own in blocks.items():
            lines = list(old)
            for block in reversed(own):
                lines[block.old_start : block.old_end] = new[block.new_start : block.new_end]
            entry = Entry(before.mode, opened.scratch.add(b"".join(lines)))
            owned.setdefault(name, {})[path] = entry
    return owned, left


_UPSTREAMS = "upstream's lines"


def _whole(opened: OpenSeries, path: str, before: Entry | None, after: Entry | None) -> str | None:
    """Return why the edit to a file cannot be divided by lines, or None if it can."""
    if before is None or after is None:
        return "a new file" if before is None else "a deleted file"
    if before.mode != after.mode or before.mode not in FILE_MODES:
        return "a changed mode"
    if any(b"\0" in opened.ground.content(entry) for entry in (before, after)):
        return "a binary file"
    changes = (change for name in opened.names for change in opened.by_name[name].files)
    is_moved = any(c.new_path == path and (c.is_rename or c.is_copy) for c in changes)
    return "a file that a patch moved here" if is_moved else None


def _writers(opened: OpenSeries, path: str) -> tuple[str | None, ...]:
    """Return, for each line of a file, the pushed patch that wrote it, or None for upstream."""
    ground = opened.ground
    versions: list[tuple[str | None, bytes]] = [(None, ground.content(ground.entry({}, path)))]
    for name, state in zip(opened.names, opened.states[1:], strict=True):
        content = ground.content(ground.entry(state, path))
        if content != versions[-1][1]:
            versions.append((name, content))
    return origins(versions)


def _refuse_rejects(opened: OpenSeries, name: str) -> None:
    checkout = opened.need_checkout()
    if opened.forced not in (None, name):
        refuse_forced(opened)
    left = [path for path in opened.rejects if found_file(checkout, path) is not None]
    if left:
        raise PatchmgrError(
            "rejects",
            f"{opened.top} has hunks that do not apply: {', '.join(left)}",
            "apply them by hand and delete the .rej files, then run the command again",
        )


def _states_with(opened: OpenSeries, states: Sequence[State], edit: Layer) -> tuple[State, ...]:
    """Return the states of the pushed patches after an edit is moved into its patch.

    Raises PatchmgrError "overlap" if a later patch changes the same lines.
    """
    at = opened.names.index(edit.name) + 1
    ground = opened.ground
    end = lay(ground, edit, states[-1])
    if isinstance(end, Collision):
        raise _overlap(edit.name, end.path, (opened.names[-1],))
    if at == len(opened.names):
        return (*states[:-1], end)
    later = layers_of(ground, opened.names[at:], states[at:])
    found = lay(ground, edit, states[at])
    if isinstance(found, Collision):
        raise _overlap(edit.name, found.path, sharers(later, found.path, but=edit.name))
    above = lay_all(ground, later, found)
    if isinstance(above, Collision):
        raise _overlap(edit.name, above.path, (above.name,))
    if not ground.is_same(above[-1], end):
        paths = ground.between("", above[-1], end).files
        raise _overlap(edit.name, next(iter(paths)), tuple(layer.name for layer in later))
    return (*states[:at], *above)


def _overlap(name: str, path: str, others: Sequence[str]) -> PatchmgrError:
    who = ", ".join(others)
    be = "is" if len(others) == 1 else "are"
    message = f"the edit to {shown(path)} changes lines of {who}, which {be} above {name}"
    hints = [
        f"to put the edit into {each}: patchmgr refresh --patch {each}" for each in others[-1:]
    ]
    return PatchmgrError(
        "overlap", message, *hints, f"to make {name} the top patch: patchmgr goto {name}"
    )


def _refuse_put_back(opened: OpenSeries, name: str, edits: State, named: Sequence[str]) -> None:
    """Raise PatchmgrError "put-back" if an edited file lacks another patch's change.

    A person may have restored the file with git by mistake. Files in `named` are not checked.
    """
    ground, state = opened.ground, {**opened.state, **edits}
    paths = edits.keys() - set(named)
    for layer in layers_of(ground, opened.names, opened.states):
        for path in sorted(paths & layer.files.keys()) if layer.name != name else ():
            alone = Layer(layer.name, {path: layer.files[path]})
            if is_out(ground, alone, state) and not is_out(ground, alone, opened.state):
                where = f"{shown(path)} in {opened.need_checkout().root}"
                message = f"{where} lacks the change of {shown(layer.name)}"
                hints = (
                    "restore the change: patchmgr pop --all --force, then patchmgr push --all",
                    f"or let {shown(name)} remove it: "
                    f"patchmgr refresh --patch {shown(name)} {shown(path)}",
                )
                raise PatchmgrError("put-back", message, *hints)


def _refuse_empty(
    opened: OpenSeries, name: str, states: Sequence[State], *, allows_empty: bool
) -> None:
    at = opened.names.index(name)
    is_empty = opened.ground.is_same(states[at], states[at + 1])
    if is_empty and opened.by_name[name].files and not allows_empty:
        raise PatchmgrError(
            "empty",
            f"{name} would become empty",
            f"drop it: patchmgr drop {name}",
            "or keep it: patchmgr refresh --allow-empty",
        )
