"""What `apply`, `verify` and `branch` did, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any

from patchmgr.model.outcome import Verdict
from patchmgr.render.clean import clean, counted
from patchmgr.render.machine import document, fields, patch_value
from patchmgr.render.recorded import replayed_text, replayed_value
from patchmgr.render.terminal import listed
from patchmgr.render.view import View

if TYPE_CHECKING:
    from patchmgr.commands.apply import Application
    from patchmgr.commands.branch import Built
    from patchmgr.commands.targets import Verification


def application_text(done: Application, *, is_dry_run: bool, view: View) -> str:
    """Return a line a patch, then what was written."""
    where = clean(str(done.target))
    if not done.is_new:
        return f"{done.series} is in {where} already: {counted(len(done.paths), 'file')}.\n"
    said = list(_applied(done, where, is_dry_run=is_dry_run))
    if view.is_line:
        return f"{said[0]}\n"
    return "\n".join((*listed(done.patches, view), *said)) + "\n" + replayed_text(done.replayed)


def _applied(done: Application, where: str, *, is_dry_run: bool) -> Iterator[str]:
    if done.has_conflicts:
        yield f"{done.series} does not apply to {where} without conflict; nothing was written."
    elif is_dry_run:
        yield f"Would change {counted(len(done.paths), 'file')} in {where}"
    else:
        carried = sum(patch.is_carried for patch in done.patches)
        files = counted(len(done.paths), "file")
        yield f"Applied {carried} of {len(done.patches)} patches to {files} in {where}"
        if done.head is not None:
            yield f"head {done.head}"
        absorbed = sum(patch.verdict is Verdict.ABSORBED for patch in done.patches)
        if absorbed:
            yield f"The checkout has {counted(absorbed, 'patch')} already."


def application_document(done: Application, *, is_dry_run: bool) -> str:
    """Return what `apply` did as JSON."""
    return document(
        "apply",
        dry_run=is_dry_run,
        target=str(done.target),
        applied=not (done.has_conflicts or is_dry_run),
        changed=done.is_new,
        patches=[patch_value(*pair) for pair in zip(done.patches, done.commits, strict=True)],
        replayed=[replayed_value(one) for one in done.replayed],
        **fields(done, "series", "head", "paths"),
    )


def verification_text(found: Verification, view: View) -> str:
    """Return a line a file that is not as applied, and a verdict."""
    where = clean(str(found.target))
    if not found.is_applied:
        return f"{found.series} is not applied in {where}\n"
    edited = sum(standing.value != "patched" for _, standing in found.files)
    said = []
    if found.pushed is not None:
        said.append(f"of {found.series}, {counted(found.pushed, 'patch')} in {where}")
    elif not found.is_current:
        said.append(f"{found.series} has changed since it was applied in {where}")
    if found.is_sound:
        said.append(f"{found.series} is in {where}: {counted(len(found.files), 'file')}.")
    elif edited:
        said.append(f"{counted(edited, 'file')} of {found.series} not as applied in {where}")
    if view.is_line:
        return f"{said[-1]}\n"
    return "\n".join((*files_lines(found.files, view), *said)) + "\n"


def files_lines(files: Iterable[tuple[str, Enum]], view: View) -> Iterator[str]:
    """Yield a line a file that is not as applied; all of them where all is wanted."""
    for path, standing in files:
        if view.is_all or standing.value != "patched":
            yield f"  {standing.value}  {clean(path)}"


def file_value(file: tuple[str, Enum]) -> dict[str, Any]:
    """Return how a file stands in plain values."""
    return {"path": file[0], "state": file[1].value}


def built_text(built: Built) -> str:
    """Return where the branch is."""
    verb = "Would build" if built.is_dry_run else "Built"
    where = clean(str(built.repository))
    tag = f", tag {clean(built.tag)}" if built.tag else ""
    what = f"{clean(built.branch)}{tag} with {counted(built.commits, 'commit')}"
    old = f"the old head is tagged {clean(built.fallback)}\n" if built.fallback else ""
    pushed = "would be pushed" if built.is_dry_run else "pushed"
    to = f"{pushed} to {clean(built.remote)}\n" if built.remote else ""
    return f"{verb} {what} in {where}\nhead {built.head}\n{old}{to}"
