"""Pictures of a report as inline SVG, each with a title and a text that says the same."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from patchmgr.model.footprint import Footprint
from patchmgr.model.review import Review
from patchmgr.render.clean import clean, counted
from patchmgr.render.treemap import Box, squarified

WIDTH, HEIGHT = 1200.0, 520.0
_MOST_COLUMNS = 60
# Light enough for dark text on each of them.
_PALETTE = ("#9cc9f5", "#f7c68b", "#a9dca3", "#f2a6a6", "#cbb7ec", "#d8c0a8", "#f4bfe0", "#c5c9cf",
            "#dfe08a", "#9fdce3")  # fmt: skip
_VERDICTS = {
    "unchanged": ("#a9dca3", "u"),
    "modified": ("#f7e08b", "m"),
    "partial": ("#f7c68b", "p"),
    "absorbed": ("#9cc9f5", "a"),
    "conflict": ("#f28b82", "c"),
    "blocked": ("#d9a6c8", "b"),
    "skipped": ("#d0d4da", "s"),
}


def treemap(footprint: Footprint, own: str) -> str:
    """Return a treemap of the touched files: areas are changed lines, colours languages."""
    files = sorted(footprint.files, key=lambda f: (-(f.added + f.removed), f.path))
    files = [f for f in files if f.added + f.removed]
    if not files:
        return ""
    languages = [tally.name for tally in footprint.languages]
    boxes = squarified([f.added + f.removed for f in files], Box(0, 0, WIDTH, HEIGHT))
    shapes = []
    for file, box in zip(files, boxes, strict=True):
        colour = _colour(languages, file.language)
        told = f"{clean(file.path)}: +{file.added} -{file.removed}, {file.language}"
        shapes.append(
            f'<g><title>{escape(told)}</title><rect x="{box.x:.1f}" y="{box.y:.1f}" '
            f'width="{box.width:.1f}" height="{box.height:.1f}" fill="{colour}" stroke="#333" '
            f'stroke-width="1"/>{_label(file.path, box)}</g>'
        )
    keys = "".join(
        f'<span class="pair"><span class="key" style="background:{_colour(languages, name)}">'
        f"</span> {escape(name)}</span> "
        for name in languages
    )
    caption = f"Touched files: areas are numbers of changed lines, colours languages. {keys}"
    return _figure(own + "t", caption, "Treemap of the touched files", shapes, WIDTH, HEIGHT)


def _label(path: str, box: Box) -> str:
    name = clean(path.rpartition("/")[2])
    room = int((box.width - 8) / 7)
    if box.height < 18 or room < 4:
        return ""
    shown = name if len(name) <= room else f"{name[: room - 1]}…"
    return f'<text x="{box.x + 4:.1f}" y="{box.y + 14:.1f}">{escape(shown)}</text>'


def _colour(names: Sequence[str], name: str) -> str:
    return _PALETTE[names.index(name) % len(_PALETTE)] if name in names else "#c5c9cf"


def heat_map(review: Review, own: str) -> str:
    """Return a map of patches by subsystems: the darker, the more lines."""
    parts = [part.name for part in review.parts]
    patches = review.parts_of_patches[:_MOST_COLUMNS]
    if not parts or not patches:
        return ""
    left, cell, top = 300, 15, 40
    most = max((lines for _, row in patches for _, lines in row), default=1)
    shapes = []
    for row, part in enumerate(parts):
        y = top + row * (cell + 5)
        shapes.append(f'<text x="0" y="{y + 12}">{escape(clean(part)[:42])}</text>')
        for column, (name, lines) in enumerate(patches):
            found = dict(lines).get(part, 0)
            if found:
                x = left + column * cell
                depth = 0.2 + 0.8 * (found / most) ** 0.35
                told = f"{clean(name)} in {clean(part)}: {counted(found, 'line')}"
                shapes.append(
                    f'<g><title>{escape(told)}</title><rect x="{x}" y="{y}" width="{cell - 1}" '
                    f'height="{cell}" fill="#0b57b7" fill-opacity="{depth:.2f}"/></g>'
                )
    for column in range(0, len(patches), 5):
        x = left + column * cell
        shapes.append(f'<text x="{x}" y="{top - 8}">{column + 1}</text>')
    more = len(review.parts_of_patches) - len(patches)
    caption = "Patches (columns, by number) by subsystem (rows): the darker, the more lines."
    caption += f" {counted(more, 'patch')} more are left out." if more else ""
    width, height = left + len(patches) * cell + 20, top + len(parts) * (cell + 5) + 10
    return _figure(own + "h", caption, "Heat map of patches by subsystem", shapes, width, height)


def timeline(review: Review, own: str) -> str:
    """Return what became of each patch at each rebase on record: letters, and colours."""
    names = list(dict.fromkeys(name for m in review.moments for name, _ in m.verdicts))
    left, cell, top = 330, 110, 46
    shapes = []
    for column, moment in enumerate(review.moments):
        x = left + column * cell
        mark = " (dry)" if moment.is_dry_run else ""
        shapes.append(f'<text x="{x}" y="16">{escape(clean(moment.ref)[:12])}{mark}</text>')
        shapes.append(f'<text x="{x}" y="34">+{moment.commits}</text>')
        verdicts = dict(moment.verdicts)
        for row, name in enumerate(names):
            verdict = verdicts.get(name)
            if verdict is None:
                continue
            colour, letter = _VERDICTS.get(verdict, ("#d0d4da", "?"))
            y = top + row * 18
            told = f"{clean(name)} on {clean(moment.ref)}: {verdict}"
            shapes.append(
                f'<g><title>{escape(told)}</title><rect x="{x}" y="{y}" width="{cell - 6}" '
                f'height="16" fill="{colour}" stroke="#555"/><text x="{x + 4}" y="{y + 12}" '
                f'style="fill:#10151b">{letter}</text></g>'
            )
    for row, name in enumerate(names):
        shown = clean(name).removesuffix(".patch")[:46]
        shapes.append(f'<text x="0" y="{top + row * 18 + 12}">{escape(shown)}</text>')
    keys = "".join(
        f'<span class="key" style="background:{colour}"></span> {letter} {word} '
        for word, (colour, letter) in _VERDICTS.items()
    )
    caption = f"Need over time: what became of each patch at each rebase on record. {keys}"
    width, height = left + len(review.moments) * cell + 20, top + len(names) * 18 + 10
    return _figure(own + "n", caption, "Timeline of need", shapes, width, height)


def _figure(
    own: str, caption: str, title: str, shapes: Sequence[str], width: float, height: float
) -> str:
    """Return a figure; its picture is named for those who do not see it."""
    kind = ' class="plain"' if not own.endswith("t") else ""
    size = f"{width:.0f}", f"{height:.0f}"
    return (
        f'<figure><figcaption id="{own}c">{caption}</figcaption>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(title)}">'
        f'<svg{kind} role="img" aria-labelledby="{own}l {own}c" viewBox="0 0 {size[0]} {size[1]}" '
        f'width="{size[0]}" height="{size[1]}" xmlns="http://www.w3.org/2000/svg">'
        f'<title id="{own}l">{escape(title)}</title>{"".join(shapes)}</svg></div></figure>'
    )
