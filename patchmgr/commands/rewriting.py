"""New diffs of patches whose states changed; a patch that still says the same keeps its bytes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from patchmgr.commands.desk import Desk
from patchmgr.commands.session import nobody
from patchmgr.engines.layers import State, is_exact
from patchmgr.engines.self_comparison import patch_sameness
from patchmgr.formats.header_edits import with_diff
from patchmgr.formats.mailbox import canonical_header
from patchmgr.formats.patch_files import parse_patch
from patchmgr.model.comparison import Sameness
from patchmgr.model.patch import COMMITTER_EMAIL, COMMITTER_NAME, Author, Patch
from patchmgr.plumbing.diffs import commit_diffs
from patchmgr.plumbing.fast_import import Draft, write_commits

_NOBODY = Author(COMMITTER_NAME, COMMITTER_EMAIL, "0 +0000")


def rewritten(
    desk: Desk,
    patches: Sequence[Patch],
    states: Sequence[State],
    *,
    fresh: Collection[str] = (),
    anew: Collection[str] = (),
) -> dict[str, bytes]:
    """Return the new files of the patches that do not lead from state to state as they are.

    Those of `fresh` are compared with what git makes of their states: positions count, too.
    Those of `anew` among them have git's diff even if it says the same.
    """
    ground = desk.ground
    stale = [
        number
        for number, patch in enumerate(patches)
        if patch.name in fresh or not is_exact(ground, patch, states[number], states[number + 1])
    ]
    if not stale:
        return {}
    diffs = diffs_of(desk, states[: stale[-1] + 2])
    found: dict[str, bytes] = {}
    for number in stale:
        patch = patches[number]
        raw = with_diff(patch, diffs[number])
        if not raw.strip():  # an empty file would be no patch any more
            raw = canonical_header(
                patch, author=patch.author_or(nobody(desk.side, desk.record.pin))
            )
        new = parse_patch(raw, name=patch.name)
        is_other = patch_sameness(patch, new) is not Sameness.IDENTICAL
        if is_other or (patch.name in anew and raw != patch.raw):
            found[patch.name] = raw
    return found


def diffs_of(desk: Desk, states: Sequence[State]) -> list[bytes]:
    """Return the diff from each state to the next."""
    ground = desk.ground
    pairs = zip(({}, *states), states, strict=False)
    layers = [ground.between("", old, new) for old, new in pairs]
    drafts = [
        Draft(_NOBODY, b"state\n", {path: after for path, (_, after) in layer.files.items()})
        for layer in layers
    ]
    commits = write_commits(desk.bench, desk.floor, drafts)
    found = commit_diffs(desk.bench.git_dir, list(commits[1:]))
    return [found[commit] for commit in commits[1:]]


def with_raws(patches: Sequence[Patch], raws: Mapping[str, bytes]) -> tuple[Patch, ...]:
    """Return the patches as their new files say; what strips directories now strips one."""
    return tuple(
        parse_patch(raws[p.name], name=p.name) if p.name in raws else replace(p) for p in patches
    )
