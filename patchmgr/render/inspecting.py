"""The results of `diff`, `why`, `status --of` and `status --build-env`, as text and JSON data."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from patchmgr.model.comparison import ComparedPatch, ComparedSeries, Sameness
from patchmgr.render.escape import clean, counted, tallied
from patchmgr.render.machine import fields, keys
from patchmgr.render.rebase import painted, painted_line
from patchmgr.render.view import View

if TYPE_CHECKING:
    from patchmgr.commands.status import BuildEnvironment, CommitOrigin
    from patchmgr.commands.why import LineOrigin

_COLORS = {Sameness.CHANGED: "33", Sameness.ADDED: "32", Sameness.DROPPED: "31"}


def compared_text(found: ComparedSeries, view: View, *, shows_lines: bool) -> Iterator[str]:
    """Yield the result of `diff`: one line per changed patch, or its diff if `shows_lines`."""
    heading = f"{clean(found.series)}: {_state(found.start)} to {_state(found.end)}"
    summary = comparison_sums(found.patches)
    if view.is_line:
        yield f"{heading}: {summary}"
        return
    yield heading
    yield from comparison_lines(found.patches, view, shows_lines=shows_lines)
    yield summary
    files = f"{counted(len(found.identical), 'file')} byte-identical"
    yield f"{files}, {len(found.different)} not"
    yield from (f"  differs  {clean(path)}" for path in found.different)
    yield from (f"  held     {clean(place)} {digest}" for place, digest in found.claims)


def comparison_sums(patches: Sequence[ComparedPatch]) -> str:
    """Return the numbers of identical, changed, added and dropped patches as a phrase."""
    words = tallied((patch.sameness for patch in patches), Sameness)
    return f"{counted(len(patches), 'patch')}: {words or 'none'}"


def comparison_lines(
    patches: Sequence[ComparedPatch], view: View, *, shows_lines: bool
) -> Iterator[str]:
    """Yield one line per changed patch; `shows_lines` adds the lines that differ."""
    for patch in patches:
        if not view.is_all and not patch.is_other:
            continue
        word = painted(
            patch.sameness.value.ljust(14), _COLORS.get(patch.sameness, "2"), color=view.color
        )
        yield f"  {word}  {clean(patch.subject)}"
        diff = [clean(line, keep="\t") for line in patch.diff] if shows_lines else []
        yield from (f"      {painted_line(line, color=view.color)}" for line in diff)


def _state(state: tuple[str, str]) -> str:
    name, head = state
    return f"{clean(name)} ({head[:12]})"


def compared_value(found: ComparedSeries) -> dict[str, Any]:
    """Return the result of `diff` as JSON data."""
    return fields(
        found,
        *("series", "identical", "different"),
        start={"name": found.start[0], "head": found.start[1]},
        end={"name": found.end[0], "head": found.end[1]},
        patches=[keys(patch) for patch in found.patches],
        claims=[{"place": place, "digest": digest} for place, digest in found.claims],
    )


def origin_text(origin: LineOrigin) -> Iterator[str]:
    """Yield the result of `why`: a line of a file, and the patch that it comes from, if any."""
    symbol = f" in {clean(origin.symbol)}" if origin.symbol else ""
    yield f"{clean(origin.path)}:{origin.line}{symbol}"
    yield f"    {clean(origin.text)}"
    if origin.patch is None:
        yield "upstream's own line"
        return
    yield f"{clean(origin.patch)}  {clean(origin.subject)}"
    if origin.reason:
        yield f"  {clean(origin.reason)}"


def commit_text(found: CommitOrigin) -> Iterator[str]:
    """Yield the result of `status --of`: the series and the state that a commit was built from."""
    yield f"commit {found.commit}"
    if not found.patches:
        yield "not a commit of a series"
        return
    where = f"{clean(found.ref)} ({found.base})" if found.ref else found.base
    name = f"series {clean(found.series)}" if found.series else "unknown series"
    yield f"{name} on {where}"
    if found.is_current:
        yield "the head of the current branch of the series"
    elif found.position is not None:
        yield f"the current branch of the series, up to patch {found.position}"
    else:
        yield "not in the current branch of the series"
    if found.version is not None:
        yield f"built by patchmgr {clean(found.version)}, digest {clean(found.digest or '')}"
    yield from (f"tag {clean(tag)}" for tag in found.tags)
    yield counted(len(found.patches), "patch")
    yield from (f"  {clean(subject)}" for subject in found.patches)


def build_text(told: BuildEnvironment) -> Iterator[str]:
    """Yield the result of `status --build-env`: lines `NAME=VALUE`, quoted for a shell."""
    yield from (f"{name}={shlex.quote(text)}" for name, text in told.variables.items())


def commit_value(found: CommitOrigin) -> dict[str, Any]:
    """Return the result of `status --of` as JSON data."""
    names = ("commit", "series", "position", "patches", "tags", "version", "digest")
    base = {"ref": found.ref, "commit": found.base}
    return fields(found, *names, base=base, current=found.is_current)
