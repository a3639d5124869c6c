"""The results of `apply`, `verify`, `overlay`, `wheel` and `branch`, as text and JSON data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any

from patchmgr.model.outcome import Verdict
from patchmgr.render.escape import clean, counted
from patchmgr.render.machine import fields, patch_document
from patchmgr.render.rebase import listed
from patchmgr.render.recorded_conflicts import replayed_text, replayed_value
from patchmgr.render.view import View

if TYPE_CHECKING:
    from patchmgr.commands.apply import Application
    from patchmgr.commands.branch import Built
    from patchmgr.commands.overlay import Overlaid
    from patchmgr.commands.wheel import PatchedWheel
    from patchmgr.services.checkouts import Verification
    from patchmgr.services.installed import InstalledState
    from patchmgr.services.packages import PackageResult


def application_text(done: Application, view: View, copies: str = "") -> Iterator[str]:
    """Yield the result of `apply`: the patches that changed, then what was written.

    `copies` is printed before the number of files, for example "copies of ".
    """
    package = done.distribution
    what = clean(str(done.target)) if package is None else _package_words(done)
    if not done.is_new:
        preposition = "in" if package is None else "to"
        files = counted(len(done.paths), "file")
        yield f"{done.series} is already applied {preposition} {what} ({files})."
        return
    said = [f"{done.series} does not apply cleanly to {what}; nothing was written."]
    if not done.has_conflicts:
        said = list(_written(done, copies, what, view))
    if view.is_line:
        yield said[0]
        return
    yield from listed(done.patches, view)
    yield from () if done.carried is None else _beyond_lines(done.carried)
    yield from said
    yield from replayed_text(done.replayed)


def _written(done: Application, copies: str, what: str, view: View) -> Iterator[str]:
    patches, package = done.patches, done.distribution
    carried = sum(patch.is_carried for patch in patches)
    verb = view.verb("Would apply", "Applied")
    where = f"{copies}{counted(len(done.paths), 'file')} {'in' if package is None else 'of'} {what}"
    yield f"{verb} {carried} of {len(patches)} patches to {where}"
    if done.head is not None and not view.is_dry_run:
        yield f"head {done.head}"
    merged = [clean(p.name) for p in patches if p.verdict in (Verdict.MODIFIED, Verdict.PARTIAL)]
    if merged:
        yield f"Merged; please review: {', '.join(merged)}"
    absorbed = sum(patch.verdict is Verdict.ABSORBED for patch in patches)
    if absorbed:
        known = "The checkout" if package is None else f"{package.name} {clean(package.version)}"
        yield f"{known} already has {counted(absorbed, 'patch')}."


def _beyond_lines(carried: PackageResult) -> Iterator[str]:
    """Yield the paths that patches change but the package does not contain, then the notes."""
    for name, path in carried.unreachable:
        named = f"  ({clean(name)})" if name else ""
        yield f"  not in the package: {clean(path)}{named}"
    yield from (f"  note: {clean(note)}" for note in carried.notes)


def application_value(done: Application, view: View) -> dict[str, Any]:
    """Return the result of `apply` as JSON data."""
    package = done.distribution
    return {
        "applied": not (done.has_conflicts or view.is_dry_run),
        "changed": done.is_new,
        **({} if package is None else {**_package(done), **_beyond_value(done.carried)}),
        "patches": [patch_document(*pair) for pair in zip(done.patches, done.commits, strict=True)],
        "replayed": [replayed_value(one) for one in done.replayed],
        **fields(done, "series", "target", "head", "paths"),
    }


def verification_text(found: Verification, view: View) -> Iterator[str]:
    """Yield the result of `verify` for a checkout: files that differ, then what is applied."""
    where = clean(str(found.target))
    if not found.is_applied:
        yield f"{found.series} is not applied in {where}"
        return
    edited = sum(standing.value != "patched" for _, standing in found.files)
    said = []
    if found.pushed is not None:
        said.append(f"{counted(found.pushed, 'patch')} of {found.series} pushed in {where}")
    elif not found.is_current:
        said.append(f"{found.series} has changed since it was applied in {where}")
    if found.is_sound:
        said.append(f"{found.series} is applied in {where} ({counted(len(found.files), 'file')}).")
    elif edited:
        verb = "differs" if edited == 1 else "differ"
        files = f"{counted(edited, 'file')} of {found.series}"
        said.append(f"{files} {verb} from what was applied in {where}")
    if view.is_line:
        yield said[-1]
        return
    yield from files_lines(found.files, view)
    yield from said


def files_lines(files: Iterable[tuple[str, Enum]], view: View) -> Iterator[str]:
    """Yield a line for each file that is not patched, or for every file if the view shows all."""
    for path, standing in files:
        if view.is_all or standing.value != "patched":
            yield f"  {standing.value}  {clean(path)}"


def file_value(file: tuple[str, Enum]) -> dict[str, Any]:
    """Return the path and the state of a file as JSON data."""
    return {"path": file[0], "state": file[1].value}


def built_text(built: Built, view: View) -> Iterator[str]:
    """Yield the result of `branch`: the branch, its repository, and where it was pushed."""
    verb = view.verb("Would build", "Built")
    where = clean(str(built.repository))
    tag = f", tag {clean(built.tag)}" if built.tag else ""
    what = f"{clean(built.branch)}{tag} with {counted(built.commits, 'commit')}"
    yield f"{verb} {what} in {where}"
    yield f"head {built.head}"
    if built.fallback:
        yield f"the old head is tagged {clean(built.fallback)}"
    if built.remote:
        pushed = view.verb("would be pushed", "pushed")
        yield f"{pushed} to {clean(built.remote)}"


_SAID = {
    "pristine": "is not applied to {what}",
    "patched": "is applied to {what} ({files}).",
    "outdated": "has changed since it was applied to {what}",
    "partly": "is only partly applied to {what}",
    "replaced": "was applied to {what}, which has been reinstalled since",
    "edited": "does not match {what}: somebody else edited the files marked `edited`",
}


def _package_words(found: Application | InstalledState) -> str:
    distribution = found.distribution
    assert distribution is not None
    return f"{distribution.name} {clean(distribution.version)} in {clean(str(distribution.site))}"


def _beyond_value(carried: PackageResult | None) -> dict[str, Any]:
    unreachable, notes = ((), ()) if carried is None else (carried.unreachable, carried.notes)
    beyond = [{"patch": name or None, "path": path} for name, path in unreachable]
    return {"out_of_reach": beyond, "notes": notes}


def _package(found: Application | InstalledState) -> dict[str, Any]:
    distribution = found.distribution
    assert distribution is not None
    return {"distribution": {"name": distribution.name, "version": distribution.version}}


def state_text(found: InstalledState, view: View) -> Iterator[str]:
    """Yield the result of `verify` for a package: files that differ, then what is applied."""
    what = _package_words(found)
    is_told = found.state not in ("patched", "pristine") or view.is_all
    yield from files_lines(found.files, view) if is_told and not view.is_line else ()
    said = _SAID[found.state].format(what=what, files=counted(len(found.files), "file"))
    if found.state == "replaced" and found.applied_to != found.distribution.version:
        name = found.distribution.name
        said = (
            f"was applied to {name} {clean(found.applied_to or '')}, but the package is now {what}"
        )
    yield f"{found.series} {said}"


def state_value(found: InstalledState) -> dict[str, Any]:
    """Return the result of `verify` for a package as JSON data."""
    return {
        "target": str(found.distribution.site),
        "applied": found.is_applied,
        "current": found.is_current,
        "sound": found.is_sound,
        "files": [*map(file_value, found.files)],
        **fields(found, "series", "state", "applied_to"),
        **_package(found),
    }


def overlay_text(made: Overlaid, view: View) -> Iterator[str]:
    """Yield the result of `overlay`: changed patches, what was written, and how to use it."""
    done = made.application
    yield from application_text(done, view, "copies of ")
    if view.is_line:
        return
    yield from (f"  not possible in an overlay: {clean(path)}" for path in made.left)
    if not view.is_dry_run and not done.has_conflicts:
        yield f"Use it with: PYTHONPATH={clean(str(made.place))}"


def wheel_text(made: PatchedWheel, view: View) -> Iterator[str]:
    """Yield the result of `wheel`: the patches that changed, then the path of the wheel."""
    if not view.is_line:
        yield from listed(made.carried.outcome.patches, view)
        yield from _beyond_lines(made.carried)
    if made.place is None:
        yield f"{made.series} does not apply to {clean(made.source.name)}; nothing was written."
        return
    verb = view.verb("Would write", "Wrote")
    files = counted(len(made.paths), "file")
    yield f"{verb} {clean(str(made.place))} with {files} changed"


def wheel_value(made: PatchedWheel) -> dict[str, Any]:
    """Return the result of `wheel` as JSON data."""
    names = ("series", "version", "paths", "source")
    patches = [patch_document(patch, None) for patch in made.carried.outcome.patches]
    beyond = _beyond_value(made.carried)
    return fields(made, *names, wheel=made.place, patches=patches, **beyond)
