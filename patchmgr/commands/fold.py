"""`fold`: fold patches, or a diff, into another patch."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from msgspec.structs import replace

from patchmgr.engines.series.fold import step_patch
from patchmgr.engines.series.layers import State
from patchmgr.engines.series.picking import together
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.header_edits import with_text
from patchmgr.formats.patch_files import parse_listed, parse_patch
from patchmgr.formats.paths import check_path
from patchmgr.formats.series_files import without
from patchmgr.formats.shown import shown
from patchmgr.model.patch import FilePatch, Patch
from patchmgr.plumbing.outputs import read_named
from patchmgr.services.open_series import CheckoutOptions, OpenSeries, opened_series
from patchmgr.services.revising import Revised, chain_of, pushed_chain, restacked, revise
from patchmgr.services.session import Session


def fold(
    session: Session, given: Sequence[str], options: CheckoutOptions, *, into: str | None
) -> Revised:
    """Fold patches into another patch, by default the top, and delete the folded patches."""
    with opened_series(session, options) as opened:
        target = opened.pick_or_top(into)
        others = [opened.pick(each) for each in dict.fromkeys(given)]
        if not others or target in others:
            raise UsageError(f"name other patches to fold into {shown(target)}")
        opened.refuse_hidden(target, *others)
        _refuse_other_conditions(opened, target, others)
        chain = chain_of(opened)
        for each in (target, *others):
            chain.position(each)
        gathered = together(chain.names, target, others)
        states = restacked(opened, chain, gathered, same_end=True)
        header, writer = opened.by_name[target], opened.author
        for name in [each for each in gathered if each in others]:
            text = with_text(header, opened.by_name[name], nobody=writer)
            header = parse_listed(text + header.diff, opened.file.line(header.name))
        return _fold(opened, gathered, others, header, states)


def _refuse_other_conditions(opened: OpenSeries, target: str, others: Sequence[str]) -> None:
    """Raise a "usage" error if the patches have different guards, groups or conditions."""
    wanted = _conditions(opened, target)
    for name in others:
        if _conditions(opened, name) != wanted:
            raise UsageError(
                f"{shown(name)} and {shown(target)} have different guards, groups or conditions",
                f"make them match first, with patchmgr series guard or patchmgr edit {name}",
            )


def _conditions(opened: OpenSeries, name: str) -> object:
    line, conditions = opened.file.line(name), opened.by_name[name].conditions
    texts = {field.lower(): text for field, text in conditions.items()}
    return set(map(str, line.guards)), set(line.off), texts


def _fold(
    opened: OpenSeries,
    gathered: Sequence[str],
    others: Sequence[str],
    folded: Patch,
    states: Sequence[State],
) -> Revised:
    """Combine the other patches into the patch `folded`, which already has its new header."""
    target = folded.name
    places = [gathered.index(name) for name in (target, *others)]
    order = [name for name in gathered if name not in others]
    kept = [*states[: min(places) + 1], *states[max(places) + 1 :]]
    patches = [folded if name == target else opened.by_name[name] for name in order]
    pushed = [name for name in opened.names if name not in others]
    if target not in opened.names:
        pushed = list(takewhile(set(pushed).__contains__, order))  # no unpushed patch is below
    file = without(opened.file, others)
    return revise(opened, patches, kept, file=file, pushed=pushed, fresh=(target,))


def fold_diff(
    session: Session, source: Path, options: CheckoutOptions, *, into: str | None, strip: int
) -> Revised:
    """Fold a diff (`-` is standard input) into a patch, by default the top.

    If the current folder is in the checkout, paths in the diff are relative to it, as for `git
    apply`.
    """
    raw = sys.stdin.buffer.read() if str(source) == "-" else read_named(source)
    with opened_series(session, options) as opened:
        target = opened.pick_or_top(into)
        opened.refuse_hidden(target)
        chain = pushed_chain(opened) if target in opened.names else chain_of(opened)
        diff = _below(opened, parse_patch(raw, name="the diff", strip=strip))
        if not diff.files:
            raise PatchmgrError(
                "bad-patch",
                f"{'standard input' if str(source) == '-' else source} contains no diff",
            )
        at = chain.position(target)
        side = opened.ground.overlay(chain.states[at + 1])
        step_patch(side, diff, opened.scratch)
        layer = opened.ground.between(target, chain.states[at], side.changes())
        states = restacked(opened, chain, chain.names, same_end=False, changed=layer)
        patches, pushed = opened.series(chain.names), opened.names
        return revise(opened, patches, states, file=opened.file, pushed=pushed, fresh=(target,))


def _below(opened: OpenSeries, diff: Patch) -> Patch:
    """Return a diff whose paths are relative to the checkout's root, not to the current folder."""
    cwd = opened.options.cwd
    root = opened.checkout.root if opened.checkout is not None else cwd
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
