"""What `apply` and `verify` did with an installed package, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from patchmgr.model.outcome import Verdict
from patchmgr.render.clean import clean, counted

if TYPE_CHECKING:
    from patchmgr.commands.installed import InstalledState
    from patchmgr.commands.installs import PackageApplication
    from patchmgr.plumbing.environments import Distribution

_SAID = {
    "pristine": "is not applied to {what}",
    "patched": "is in {what}: {files}.",
    "outdated": "has changed since it was applied to {what}",
    "partly": "is in {what} only in part",
    "replaced": "was applied to {what}, which was installed again since",
    "edited": "and {what}: somebody else edited the package",
}


def package_text(done: PackageApplication, *, is_dry_run: bool, colour: bool) -> str:
    """Return a line a patch, then what was written."""
    from patchmgr.render.recorded import replayed_text
    from patchmgr.render.terminal import patch_lines

    what = _what(done.distribution)
    if done.outcome is None:
        return f"{done.series} is in {what} already: {counted(len(done.paths), 'file')}.\n"
    lines = [line for patch in done.outcome.patches for line in patch_lines(patch, colour)]
    for patch_name, path in done.unreachable:
        named = f"  ({clean(patch_name)})" if patch_name else ""
        lines.append(f"  out of reach here: {clean(path)}{named}")
    lines += [f"  note: {clean(note)}" for note in done.notes]
    if done.has_conflicts:
        lines.append(
            f"{done.series} does not go onto {what} without conflict; nothing was written."
        )
    else:
        lines += _written(done, what, is_dry_run=is_dry_run)
    return "\n".join(lines) + "\n" + replayed_text(done.replayed)


def _written(done: PackageApplication, what: str, *, is_dry_run: bool) -> list[str]:
    assert done.outcome is not None
    patches = done.outcome.patches
    carried = sum(patch.is_carried for patch in patches)
    verb = "Would apply" if is_dry_run else "Applied"
    files = counted(len(done.paths), "file")
    lines = [f"{verb} {carried} of {len(patches)} patches to {files} of {what}"]
    merged = [clean(p.name) for p in patches if p.verdict in (Verdict.MODIFIED, Verdict.PARTIAL)]
    if merged:
        lines.append(f"Merged, look at them: {', '.join(merged)}")
    absorbed = done.outcome.count(Verdict.ABSORBED)
    if absorbed:
        release = f"{done.distribution.name} {clean(done.distribution.version)}"
        lines.append(f"{release} has {counted(absorbed, 'patch')} already.")
    return lines


def _what(distribution: Distribution) -> str:
    return f"{distribution.name} {clean(distribution.version)} in {clean(str(distribution.site))}"


def package_document(done: PackageApplication, *, is_dry_run: bool) -> str:
    """Return what `apply` did as JSON."""
    from patchmgr.render.machine import document, patch_value
    from patchmgr.render.recorded import replayed_value

    patches = done.outcome.patches if done.outcome is not None else ()
    return document(
        "apply",
        dry_run=is_dry_run,
        series=done.series,
        target=str(done.distribution.site),
        **distribution_value(done.distribution),
        applied=not (done.has_conflicts or is_dry_run),
        changed=done.is_new,
        head=None,
        paths=list(done.paths),
        patches=[patch_value(patch, None) for patch in patches],
        out_of_reach=[{"patch": name or None, "path": path} for name, path in done.unreachable],
        notes=list(done.notes),
        replayed=[replayed_value(one) for one in done.replayed],
    )


def distribution_value(distribution: Distribution) -> dict[str, Any]:
    """Return which package it is."""
    return {"distribution": {"name": distribution.name, "version": distribution.version}}


def state_text(found: InstalledState) -> str:
    """Return a line a file that is not as applied, and a verdict."""
    what = _what(found.distribution)
    lines = []
    if found.state not in ("patched", "pristine"):
        lines = [f"  {state.value}  {clean(path)}" for path, state in found.files]
    said = _SAID[found.state].format(what=what, files=counted(len(found.files), "file"))
    lines.append(f"{found.series} {said}")
    return "\n".join(lines) + "\n"


def state_document(found: InstalledState) -> str:
    """Return what `verify` found as JSON."""
    from patchmgr.render.machine import document

    return document(
        "verify",
        series=found.series,
        target=str(found.distribution.site),
        **distribution_value(found.distribution),
        state=found.state,
        applied=found.is_applied,
        applied_to=found.applied_to,
        current=found.is_current,
        sound=found.is_sound,
        files=[{"path": path, "state": state.value} for path, state in found.files],
    )
