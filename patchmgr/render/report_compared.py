"""What `report --compare` answers: as text, as Markdown, in plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from patchmgr.model.comparison import ComparedPatch
from patchmgr.model.footprint import ComparedFootprint, Footprint, Touched
from patchmgr.render.clean import clean, counted
from patchmgr.render.machine import fields, keys, pin_value
from patchmgr.render.markdown_text import code, fenced, text
from patchmgr.render.publishing import comparison_lines, comparison_sums
from patchmgr.render.report_markdown import LIMIT, Page
from patchmgr.render.view import View

_COUNTS = ("files", "added", "removed")


def compared_text(found: ComparedFootprint, base: str, view: View) -> str:
    """Return how a series has changed, with the lines in which patches differ."""
    lines = [f"{clean(found.series)}: {comparison_sums(found.patches)}, since {clean(base)}"]
    if not view.is_line:
        lines += [f"  {when:<6}  {clean(told)}" for when, told in _sizes(found)]
        lines += comparison_lines(found.patches, view, shows_lines=True)
        for word, places in _places(found):
            lines += [f"  {word:<17}  {clean(_place(one))}" for one in places]
    return _lines(lines) + "\n"


def compared_markdown(found: ComparedFootprint, base: str, *, limit: int = LIMIT) -> str:
    """Return the same for a pull request; entries that do not fit are counted."""
    page = Page(limit)
    page.add(f"## {code(found.series)} since {code(base)}")
    page.add(f"{comparison_sums(found.patches)}.")
    page.add(_lines([f"- {when}: {text(told)}" for when, told in _sizes(found)]))
    other = [one for one in found.patches if one.is_other]
    page.bullets(
        "Patches:", [f"{one.sameness.value}: {text(one.subject)}" for one in other], what="patches"
    )
    for word, places in _places(found):
        rows = [code(path) + (f": {code(name)}" if name else "") for path, name in places]
        page.bullets(f"{word.capitalize()}:", rows, what="places")
    fits = [page.fitting(_differing(one)) for one in other if one.diff]
    if not all(fits):
        left_out = counted(fits.count(False), "patch")
        page.add(f"What differs in {left_out} is left out here: no room.")
    return page.whole()


def _differing(patch: ComparedPatch) -> str:
    diff = f"<details>\n<summary>diff</summary>\n\n{fenced(_lines(patch.diff))}\n</details>"
    return f"What differs in {text(patch.subject)}:\n\n{diff}"


def compared_value(found: ComparedFootprint) -> dict[str, Any]:
    """Return the comparison of one series in plain values."""
    return {
        "name": found.series,
        "before": _size(found.before),
        "after": _size(found.after),
        "patches": [keys(patch) for patch in found.patches],
        "touched": [_value(one) for one in found.touched],
        "left": [_value(one) for one in found.left],
    }


def _lines(lines: Sequence[str]) -> str:
    return "\n".join(lines)


def _size(footprint: Footprint | None) -> dict[str, Any] | None:
    if footprint is None:
        return None
    total = fields(footprint.total, *_COUNTS, "binaries")
    return {"base": pin_value(footprint.pin), "patches": len(footprint.patches), "total": total}


def _value(place: Touched) -> dict[str, Any]:
    return {"path": place[0], "symbol": place[1]}


def _sizes(found: ComparedFootprint) -> Iterator[tuple[str, str]]:
    for when, one in (("before", found.before), ("now", found.after)):
        if one is None:
            yield when, "there is no such series"
            continue
        size = f"{counted(len(one.patches), 'patch')}, {counted(one.total.files, 'file')}"
        lines = f"+{one.total.added} -{one.total.removed}"
        named = f"{one.pin.ref} " if one.pin.ref != one.pin.commit else ""
        yield when, f"{size} {lines} on {named}{one.pin.commit[:12]}"


def _places(found: ComparedFootprint) -> Iterator[tuple[str, Sequence[Touched]]]:
    yield "newly touched", found.touched
    yield "no longer touched", found.left


def _place(place: Touched) -> str:
    return ": ".join(filter(None, place))
