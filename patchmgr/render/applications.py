"""What `apply`, `verify` and `branch` did, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from patchmgr.model.outcome import Verdict
from patchmgr.render.clean import clean, counted
from patchmgr.render.machine import document, patch_value
from patchmgr.render.recorded import replayed_text, replayed_value
from patchmgr.render.terminal import patch_lines

if TYPE_CHECKING:
    from patchmgr.commands.apply import Application
    from patchmgr.commands.branch import Built
    from patchmgr.commands.targets import Verification


def application_text(done: Application, *, is_dry_run: bool, colour: bool) -> str:
    """Return a line a patch, then what was written."""
    where = clean(str(done.target))
    if not done.is_new:
        return f"{done.series} is in {where} already: {counted(len(done.paths), 'file')}.\n"
    lines = [line for patch in done.patches for line in patch_lines(patch, colour)]
    if done.has_conflicts:
        lines.append(
            f"{done.series} does not apply to {where} without conflict; nothing was written."
        )
    elif is_dry_run:
        lines.append(f"Would change {counted(len(done.paths), 'file')} in {where}")
    else:
        carried = sum(patch.is_carried for patch in done.patches)
        lines.append(
            f"Applied {carried} of {len(done.patches)} patches "
            f"to {counted(len(done.paths), 'file')} in {where}"
        )
        if done.head is not None:
            lines.append(f"head {done.head}")
        absorbed = sum(patch.verdict is Verdict.ABSORBED for patch in done.patches)
        if absorbed:
            lines.append(f"The checkout has {counted(absorbed, 'patch')} already.")
    return "\n".join(lines) + "\n" + replayed_text(done.replayed)


def application_document(done: Application, *, is_dry_run: bool) -> str:
    """Return what `apply` did as JSON."""
    return document(
        "apply",
        dry_run=is_dry_run,
        series=done.series,
        target=str(done.target),
        applied=not (done.has_conflicts or is_dry_run),
        changed=done.is_new,
        head=done.head,
        paths=list(done.paths),
        patches=[patch_value(*pair) for pair in zip(done.patches, done.commits, strict=True)],
        replayed=[replayed_value(one) for one in done.replayed],
    )


def verification_text(found: Verification) -> str:
    """Return a line a file that is not as applied, and a verdict."""
    where = clean(str(found.target))
    if not found.is_applied:
        return f"{found.series} is not applied in {where}\n"
    lines = [f"  {s.value}  {clean(path)}" for path, s in found.files if s.value != "patched"]
    if found.pushed is not None:
        lines.append(f"of {found.series}, {counted(found.pushed, 'patch')} in {where}")
    elif not found.is_current:
        lines.append(f"{found.series} has changed since it was applied in {where}")
    if found.is_sound:
        lines.append(f"{found.series} is in {where}: {counted(len(found.files), 'file')}.")
    return "\n".join(lines) + "\n"


def verification_document(found: Verification) -> str:
    """Return what `verify` found as JSON."""
    return document(
        "verify",
        series=found.series,
        target=str(found.target),
        applied=found.is_applied,
        current=found.is_current,
        sound=found.is_sound,
        pushed=found.pushed,
        files=[{"path": path, "state": standing.value} for path, standing in found.files],
    )


def built_text(built: Built, *, is_dry_run: bool) -> str:
    """Return where the branch is."""
    verb = "Would build" if is_dry_run else "Built"
    where = clean(str(built.repository))
    tag = f", tag {clean(built.tag)}" if built.tag else ""
    what = f"{clean(built.branch)}{tag} with {counted(built.commits, 'commit')}"
    old = f"the old head is tagged {clean(built.fallback)}\n" if built.fallback else ""
    pushed = "would be pushed" if is_dry_run else "pushed"
    to = f"{pushed} to {clean(built.remote)}\n" if built.remote else ""
    return f"{verb} {what} in {where}\nhead {built.head}\n{old}{to}"


def built_document(built: Built, *, is_dry_run: bool) -> str:
    """Return the branch as JSON."""
    return document(
        "branch",
        dry_run=is_dry_run,
        series=built.series,
        repository=str(built.repository),
        branch=built.branch,
        tag=built.tag,
        head=built.head,
        base=built.base,
        commits=built.commits,
        fallback=built.fallback,
        remote=built.remote,
    )
