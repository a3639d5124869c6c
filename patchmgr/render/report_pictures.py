"""Pictures of a report as inline SVG, each with a title and a text that says the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from msgspec import Struct

from patchmgr.model.footprint import Area, Build, FileFootprint, Footprint, Kind
from patchmgr.model.gating import Reach
from patchmgr.model.review import Review
from patchmgr.render.clean import clean, counted, reliability_text


class Box(Struct, frozen=True):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float


def squarified(sizes: Sequence[float], box: Box) -> tuple[Box, ...]:
    """Return a rectangle a size, in their order; together they fill the box.

    Sizes are positive, the largest first.
    """
    total = sum(sizes)
    if not sizes or total <= 0:
        return tuple(Box(box.x, box.y, 0, 0) for _ in sizes)
    scale = box.width * box.height / total
    return tuple(_rows([size * scale for size in sizes], box))


def _rows(areas: list[float], box: Box) -> Iterator[Box]:
    at = 0
    while at < len(areas):
        side = max(min(box.width, box.height), 1e-9)
        end = at + 1
        while end < len(areas) and _worst(areas[at : end + 1], side) <= _worst(areas[at:end], side):
            end += 1
        row = areas[at:end]
        thickness = sum(row) / side
        yield from _row(row, box, thickness)
        if box.width >= box.height:
            box = Box(box.x + thickness, box.y, max(box.width - thickness, 0), box.height)
        else:
            box = Box(box.x, box.y + thickness, box.width, max(box.height - thickness, 0))
        at = end


def _row(row: Sequence[float], box: Box, thickness: float) -> Iterator[Box]:
    offset = 0.0
    for area in row:
        length = area / max(thickness, 1e-9)
        if box.width >= box.height:
            yield Box(box.x, box.y + offset, thickness, length)
        else:
            yield Box(box.x + offset, box.y, length, thickness)
        offset += length


def _worst(row: Sequence[float], side: float) -> float:
    total = sum(row)
    return max(side**2 * max(row) / total**2, total**2 / (side**2 * max(min(row), 1e-9)))


WIDTH, HEIGHT = 1200.0, 560.0
_HEADING = 17.0
_MOST_COLUMNS = 80
# Light enough for dark text on each of them, in both schemes.
_LOOKS: Mapping[str, str] = {
    "new file": "#a9dca3",
    "edit of upstream's file": "#9cc9f5",
    "needs a rebuild": "#f7c68b",
    "test": "#d5d9df",
    "third party": "#d8c0a8",
    "deleted, renamed or mode": "#cbb7ec",
}
_REACHES: Mapping[Reach, str] = {
    Reach.SHARED: "#f2a6a6",
    Reach.GATED: "#f7e08b",
    Reach.ADDED: "#9cc9f5",
    Reach.INERT: "#a9dca3",
}
_STEPS = (("1 to 9", 1), ("10 to 49", 10), ("50 to 199", 50), ("200 to 999", 200), ("more", 1000))
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
    """Return a treemap of the touched files within their subsystems: areas are changed lines."""
    files = [f for f in footprint.files if f.added + f.removed]
    if not files:
        return ""
    review = footprint.review
    parts = dict(review.part_of_files) if review is not None else {}
    groups: dict[str, list[FileFootprint]] = {}
    for file in sorted(files, key=lambda f: (-f.added - f.removed, f.path)):
        groups.setdefault(parts.get(file.path, ""), []).append(file)
    order = sorted(groups.items(), key=lambda item: (-_lines(item[1]), item[0]))
    boxes = squarified([_lines(group) for _, group in order], Box(0, 0, WIDTH, HEIGHT))
    shapes = [
        shape
        for (name, group), box in zip(order, boxes, strict=True)
        for shape in _part(clean(name), group, box)
    ]
    looks = [look for look in _LOOKS if any(_look(file) == look for file in files)]
    keys = "".join(_key(_LOOKS[look], look) for look in looks)
    within = "files within their subsystems" if review is not None else "files"
    caption = f"<b>Where the changes are</b> Touched {within}; areas are changed lines. {keys}"
    return _figure(own + "t", caption, "Treemap of the touched files", shapes, (WIDTH, HEIGHT))


def _lines(files: Sequence[FileFootprint]) -> int:
    return sum(f.added + f.removed for f in files)


def _look(file: FileFootprint) -> str:
    if file.area is Area.THIRD_PARTY:
        return "third party"
    if file.area is Area.TESTS:
        return "test"
    if file.build is Build.REBUILD:
        return "needs a rebuild"
    if file.kind is Kind.NEW:
        return "new file"
    return "edit of upstream's file" if file.kind is Kind.EDITED else "deleted, renamed or mode"


def _part(name: str, files: Sequence[FileFootprint], box: Box) -> Iterator[str]:
    """Yield one subsystem: its name on top where there is room, and its files."""
    inner = box
    if name and box.height > 3 * _HEADING and box.width > 60:
        inner = Box(box.x, box.y + _HEADING, box.width, box.height - _HEADING)
        shown = _fitting(f"{name} {_lines(files)}", box.width)
        yield f'<text class="head" x="{box.x + 4:.1f}" y="{box.y + 13:.1f}">{escape(shown)}</text>'
    for file, own in zip(files, squarified([_lines([f]) for f in files], inner), strict=True):
        told = f"{clean(file.path)}: +{file.added} -{file.removed}, {file.language}, {_look(file)}"
        yield f"<g><title>{escape(told)}</title>{_rect(own, _LOOKS[_look(file)])}"
        yield f"{_label(file, own)}</g>"
    yield (
        f'<rect class="frame" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" stroke-width="1.5"/>'
    )


def _rect(box: Box, colour: str) -> str:
    return (
        f'<rect class="edge" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" fill="{colour}" stroke-width=".6"/>'
    )


def _label(file: FileFootprint, box: Box) -> str:
    shown = _fitting(clean(file.path.rpartition("/")[2]), box.width)
    if box.height < 17 or len(shown) < 4:
        return ""
    lines = [f'<text class="on" x="{box.x + 4:.1f}" y="{box.y + 13:.1f}">{escape(shown)}</text>']
    counts = f"+{file.added} -{file.removed}"
    if box.height > 34 and _fitting(counts, box.width) == counts:
        lines.append(f'<text class="on" x="{box.x + 4:.1f}" y="{box.y + 28:.1f}">{counts}</text>')
    return "".join(lines)


def _fitting(text: str, width: float) -> str:
    room = int((width - 8) / 7.2)
    return text if len(text) <= room else f"{text[: max(room - 1, 0)]}…"


def reach_bar(review: Review, own: str) -> str:
    """Return how many changed sites reach whom, as one bar."""
    total = len(review.sites)
    if not total:
        return ""
    shapes, x = [], 0.0
    for reach, colour in _REACHES.items():
        width = WIDTH * review.count(reach) / total
        told = f"{reach.value}: {counted(review.count(reach), 'site')}"
        shapes.append(f"<g><title>{escape(told)}</title>{_rect(Box(x, 0, width, 30), colour)}</g>")
        x += width
    keys = "".join(
        _key(colour, f"{review.count(reach)} {reach.value}") for reach, colour in _REACHES.items()
    )
    caption = f"<b>Whom the changes of upstream's code reach</b> {keys}"
    return _figure(own + "r", caption, "Changed sites by reach", shapes, (WIDTH, 30), kind="bar")


def heat_map(review: Review, own: str) -> str:
    """Return a map of patches by subsystems: the stronger the colour, the more lines."""
    parts = [part.name for part in review.parts]
    patches = review.parts_of_patches[:_MOST_COLUMNS]
    if not parts or not patches:
        return ""
    left, cell, top = 290.0, min(28.0, 900.0 / len(patches)), 22
    shapes = []
    for row, part in enumerate(parts):
        y = top + row * 18
        if row % 2 == 0:
            shapes.append(f'<rect class="band" x="0" y="{y}" width="{WIDTH:.0f}" height="18"/>')
        shapes.append(f'<text x="4" y="{y + 13}">{escape(_fitting(clean(part), left))}</text>')
        for column, (name, found) in enumerate(patches):
            lines = dict(found).get(part, 0)
            if lines:
                told = f"{column + 1} {clean(name)} in {clean(part)}: {counted(lines, 'line')}"
                shapes.append(
                    f'<g><title>{escape(told)}</title><rect class="h{_depth(lines)}" '
                    f'x="{left + column * cell:.1f}" y="{y + 1}" width="{cell - 1:.1f}" '
                    f'height="16"/></g>'
                )
    for column in range(0, len(patches), 5):
        x = left + column * cell
        shapes.append(f'<text class="quiet" x="{x:.1f}" y="14">{column + 1}</text>')
    more = len(review.parts_of_patches) - len(patches)
    keys = "".join(_key(f"var(--h{n})", word) for n, (word, _) in enumerate(_STEPS, 1))
    caption = "<b>Which patch changes which subsystem</b> Columns are patches, by number; "
    caption += f"colours are changed lines. {keys}"
    caption += f" {counted(more, 'patch')} more are left out." if more else ""
    height = top + len(parts) * 18 + 4
    title = "Heat map of patches by subsystem"
    return _figure(own + "h", caption, title, shapes, (WIDTH, height))


def _depth(lines: int) -> int:
    return sum(lines >= least for _, least in _STEPS)


def timeline(review: Review, own: str) -> str:
    """Return what became of each patch at each rebase on record: letters, and colours."""
    names = list(dict.fromkeys(name for m in review.moments for name, _ in m.verdicts))
    left, top = 400, 42
    cell = min(160.0, (WIDTH - left) / len(review.moments))
    shapes = []
    for column, moment in enumerate(review.moments):
        x = left + column * cell
        mark = " (dry)" if moment.is_dry_run else ""
        ref = _fitting(f"{clean(moment.ref)[:14]}{mark}", cell)
        shapes.append(f'<text class="head" x="{x:.1f}" y="15">{escape(ref)}</text>')
        shapes.append(f'<text class="quiet" x="{x:.1f}" y="32">+{moment.commits}</text>')
        known = dict(moment.reliability)
        for name, verdict in moment.verdicts:
            colour, letter = _VERDICTS.get(verdict, ("#d0d4da", "?"))
            y = top + names.index(name) * 17
            sure = "; ".join(map(reliability_text, known.get(name, ())))
            told = f"{clean(name)} on {clean(moment.ref)}: {verdict}{sure and f' ({sure})'}"
            shapes.append(
                f"<g><title>{escape(told)}</title>{_rect(Box(x, y, cell - 4, 15), colour)}"
                f'<text class="on" x="{x + 5:.1f}" y="{y + 12}">{letter}</text></g>'
            )
    for row, name in enumerate(names):
        shown = f"{row + 1} {clean(name).removesuffix('.patch')}"
        y = top + row * 17 + 12
        shapes.append(f'<text x="4" y="{y}">{escape(_fitting(shown, left - 10))}</text>')
    keys = "".join(_key(colour, f"{letter} {word}") for word, (colour, letter) in _VERDICTS.items())
    caption = "<b>Need over time</b> What became of each patch at each rebase on record, "
    caption += f"and after how many upstream steps. {keys}"
    height = top + len(names) * 17 + 6
    return _figure(own + "n", caption, "Timeline of need", shapes, (WIDTH, height))


def _key(colour: str, word: str) -> str:
    key = f'<span class="key" style="background:{colour}"></span>'
    return f'<span class="pair">{key} {escape(word)}</span> '


def _figure(
    own: str,
    caption: str,
    title: str,
    shapes: Sequence[str],
    size: tuple[float, float],
    *,
    kind: str = "wide",
) -> str:
    """Return a figure; its picture is named for those who do not see it."""
    width, height = f"{size[0]:.0f}", f"{size[1]:.0f}"
    return (
        f'<figure><figcaption id="{own}c">{caption}</figcaption>'
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(title)}">'
        f'<svg class="{kind}" role="img" aria-labelledby="{own}l {own}c" '
        f'viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">'
        f'<title id="{own}l">{escape(title)}</title>{"".join(shapes)}</svg></div></figure>'
    )
