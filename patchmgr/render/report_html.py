"""Reports as one self-contained HTML page (`templates/report.html`) with tables and charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape
from msgspec import Struct

from patchmgr.model.footprint import (
    Area,
    Build,
    FileFootprint,
    Footprint,
    Kind,
    Reach,
    Review,
    RiskKind,
)
from patchmgr.model.work_order import WorkOrder
from patchmgr.render.escape import clean, counted, cut, reliability_text
from patchmgr.render.report_words import REACH_WORDS, TITLES, groups, steps
from patchmgr.render.work_order import OrderCode, OrderLine, sections


class Box(Struct, frozen=True):
    """A rectangle: its top left corner, width and height."""

    x: float
    y: float
    width: float
    height: float


class Label(Struct, frozen=True):
    """A label in a chart: its text, the start of its baseline, and its class in the style sheet."""

    x: float
    y: float
    text: str
    look: str = "on"


class Shape(Struct, frozen=True):
    """A part of a chart: a rectangle with text on it, or text alone."""

    labels: tuple[Label, ...] = ()
    box: Box | None = None
    fill: str = ""
    title: str = ""  # what a browser shows while the pointer is on the shape
    look: str = "edge"


class Chart(Struct, frozen=True):
    """A drawing with a caption, and a legend for its colors."""

    title: str
    caption: str
    about: str
    keys: Sequence[tuple[str, str]]  # (color, meaning)
    shapes: Sequence[Shape]
    height: float
    kind: str = "wide"
    note: str = ""


def squarified(sizes: Sequence[float], box: Box) -> tuple[Box, ...]:
    """Return rectangles that fill the box, with areas proportional to the sizes.

    The sizes must be positive and in descending order.
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
        offset = 0.0
        for area in row:
            length = area / max(thickness, 1e-9)
            if box.width >= box.height:
                yield Box(box.x, box.y + offset, thickness, length)
            else:
                yield Box(box.x + offset, box.y, length, thickness)
            offset += length
        if box.width >= box.height:
            box = Box(box.x + thickness, box.y, max(box.width - thickness, 0), box.height)
        else:
            box = Box(box.x, box.y + thickness, box.width, max(box.height - thickness, 0))
        at = end


def _worst(row: Sequence[float], side: float) -> float:
    total = sum(row)
    return max(side**2 * max(row) / total**2, total**2 / (side**2 * max(min(row), 1e-9)))


WIDTH, HEIGHT = 1200.0, 560.0
_HEADING = 17.0
_MOST_COLUMNS = 80
# All of these are light enough for dark text, in the light and the dark color scheme.
_LOOKS: Mapping[str, str] = {
    "new file": "#a9dca3",
    "edit to upstream's file": "#9cc9f5",
    "needs a rebuild": "#f7c68b",
    "test": "#d5d9df",
    "third party": "#d8c0a8",
    "deletion, rename or mode change": "#cbb7ec",
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


def treemap(footprint: Footprint) -> Chart | None:
    """Return a treemap of the changed files by subsystem; areas show numbers of changed lines."""
    files = [f for f in footprint.files if f.added + f.removed]
    if not files:
        return None
    review = footprint.review
    parts = dict(review.part_of_files) if review is not None else {}
    groups: dict[str, list[FileFootprint]] = {}
    for file in sorted(files, key=lambda f: (-f.added - f.removed, f.path)):
        groups.setdefault(parts.get(file.path, ""), []).append(file)
    order = sorted(groups.items(), key=lambda item: (-_lines(item[1]), item[0]))
    boxes = squarified([_lines(group) for _, group in order], Box(0, 0, WIDTH, HEIGHT))
    return Chart(
        "Treemap of the changed files",
        "Where the changes are",
        f"Touched files{' within their subsystems' if review else ''}; areas are changed lines.",
        [(_LOOKS[look], look) for look in _LOOKS if look in set(map(_look, files))],
        [
            shape
            for (name, group), box in zip(order, boxes, strict=True)
            for shape in _part(name, group, box)
        ],
        HEIGHT,
    )


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
    return (
        "edit to upstream's file" if file.kind is Kind.EDITED else "deletion, rename or mode change"
    )


def _part(name: str, files: Sequence[FileFootprint], box: Box) -> Iterator[Shape]:
    """Yield the shapes of one subsystem: its name, if there is room for it, and its files."""
    inner = box
    if name and box.height > 3 * _HEADING and box.width > 60:
        inner = Box(box.x, box.y + _HEADING, box.width, box.height - _HEADING)
        shown = _fitting(f"{clean(name)} {_lines(files)}", box.width)
        yield Shape((Label(box.x + 4, box.y + 13, shown, "head"),))
    for file, own in zip(files, squarified([_lines([f]) for f in files], inner), strict=True):
        told = f"{file.path}: +{file.added} -{file.removed}, {file.language}, {_look(file)}"
        yield Shape(tuple(_labels(file, own)), own, _LOOKS[_look(file)], told)
    yield Shape(box=box, look="frame")


def _labels(file: FileFootprint, box: Box) -> Iterator[Label]:
    shown = _fitting(clean(file.path.rpartition("/")[2]), box.width)
    if box.height < 17 or len(shown) < 4:
        return
    yield Label(box.x + 4, box.y + 13, shown)
    counts = f"+{file.added} -{file.removed}"
    if box.height > 34 and _fitting(counts, box.width) == counts:
        yield Label(box.x + 4, box.y + 28, counts)


def _fitting(text: str, width: float) -> str:
    return cut(text, int((width - 8) / 7.2))


def reach_bar(review: Review) -> Chart | None:
    """Return a bar chart with the number of changed sites for each reach."""
    if not review.sites:
        return None
    shapes, x = [], 0.0
    for reach, color in _REACHES.items():
        width = WIDTH * review.count(reach) / len(review.sites)
        told = f"{reach.value}: {counted(review.count(reach), 'site')}"
        shapes.append(Shape(box=Box(x, 0, width, 30), fill=color, title=told))
        x += width
    keys = [(color, f"{review.count(reach)} {reach.value}") for reach, color in _REACHES.items()]
    caption = "Who is affected by the changes to upstream's code"
    return Chart("Changed sites by reach", caption, "", keys, shapes, 30, "bar")


def heat_map(review: Review) -> Chart | None:
    """Return a heat map of patches by subsystem; a stronger color means more changed lines."""
    parts = [part.total.name for part in review.parts]
    patches = review.parts_of_patches[:_MOST_COLUMNS]
    if not parts or not patches:
        return None
    left, cell, top = 290.0, min(28.0, 900.0 / len(patches)), 22
    shapes = []
    for row, part in enumerate(parts):
        y = top + row * 18
        if row % 2 == 0:
            shapes.append(Shape(box=Box(0, y, WIDTH, 18), look="band"))
        shapes.append(Shape((Label(4, y + 13, _fitting(clean(part), left), ""),)))
        for column, (name, found) in enumerate(patches):
            lines = dict(found).get(part, 0)
            if lines:
                box = Box(left + column * cell, y + 1, cell - 1, 16)
                told = f"{column + 1} {name} in {part}: {counted(lines, 'line')}"
                shapes.append(Shape(box=box, title=told, look=f"h{_depth(lines)}"))
    shapes += [
        Shape((Label(left + column * cell, 14, str(column + 1), "quiet"),))
        for column in range(0, len(patches), 5)
    ]
    more = len(review.parts_of_patches) - len(patches)
    return Chart(
        "Heat map of patches by subsystem",
        "Which patch changes which subsystem",
        "Columns are patches, by number; colors are changed lines.",
        [(f"var(--h{number})", word) for number, (word, _) in enumerate(_STEPS, 1)],
        shapes,
        top + len(parts) * 18 + 4,
        note=f"Left out: {counted(more, 'more patch')}." if more else "",
    )


def _depth(lines: int) -> int:
    return sum(lines >= least for _, least in _STEPS)


def timeline(review: Review) -> Chart | None:
    """Return a chart of the verdict on each patch in each recorded rebase."""
    if not review.moments:
        return None
    names = list(dict.fromkeys(name for m in review.moments for name in m.verdicts))
    left, top = 400, 42
    cell = min(160.0, (WIDTH - left) / len(review.moments))
    shapes = []
    for column, moment in enumerate(review.moments):
        x = left + column * cell
        ref = f"{clean(moment.ref)[:14]}{' (dry)' if moment.is_dry_run else ''}"
        commits = Label(x, 32, f"+{moment.commits}", "quiet")
        shapes.append(Shape((Label(x, 15, _fitting(ref, cell), "head"), commits)))
        for name, verdict in moment.verdicts.items():
            color, letter = _VERDICTS.get(verdict, ("#d0d4da", "?"))
            y = top + names.index(name) * 17
            sure = "; ".join(map(reliability_text, moment.reliability.get(name, ())))
            told = f"{name} on {moment.ref}: {verdict}{sure and f' ({sure})'}"
            box = Box(x, y, cell - 4, 15)
            shapes.append(Shape((Label(x + 5, y + 12, letter),), box, color, told))
    for row, name in enumerate(names):
        shown = _fitting(f"{row + 1} {clean(name).removesuffix('.patch')}", left - 10)
        shapes.append(Shape((Label(4, top + row * 17 + 12, shown, ""),)))
    return Chart(
        "Timeline of verdicts",
        "Verdicts over time",
        "The verdict on each patch in each recorded rebase. "
        "+N means that the rebase took in N upstream commits (or releases).",
        [(color, f"{letter} {word}") for word, (color, letter) in _VERDICTS.items()],
        shapes,
        top + len(names) * 17 + 6,
    )


def report_html(footprints: Sequence[Footprint], orders: Sequence[WorkOrder] = ()) -> str:
    """Return an HTML page with a section for each series, and a section for open work orders."""
    names = ", ".join(f.series for f in footprints)
    page = _page().render(
        title=f"Change footprint of {names}" if names else "Change footprint",
        sections=list(map(_section, footprints)),
        orders=[
            (key, [list(sections(one)) for one in of_patch])
            for key, of_patch in groupby(orders, lambda one: (one.series, one.patch))
        ],
    )
    return page.lstrip() + "\n"  # the macros leave empty lines before the page


def _page() -> Template:
    """Return the template of the page, which escapes all values that are not marked as safe."""
    page = Environment(
        loader=PackageLoader("patchmgr.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: (
            clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value
        ),
    )
    page.filters |= {
        "counted": counted,
        "steps": steps,
        "tabbed": lambda text: escape(clean(text, keep="\t")),
    }
    page.globals |= {
        "width": f"{WIDTH:.0f}",
        "reach_words": REACH_WORDS,
        "risk_kinds": tuple(RiskKind),
        "titles": TITLES,
        "rows": rows,
    }
    return page.get_template("report.html")


def _section(footprint: Footprint) -> Mapping[str, Any]:
    review = footprint.review
    charts = [treemap(footprint)]
    if review is not None:
        charts += [heat_map(review), timeline(review), reach_bar(review)]
    by = [(title, title.rpartition(" ")[2], tallies) for title, tallies in groups(footprint)]
    return {
        "footprint": footprint,
        "facts": list(_facts(footprint)),
        "charts": list(filter(None, charts)),
        "tallies": [
            one for one in (*by, ("by language", "language", footprint.languages)) if one[2]
        ],
        "hot": [h for h in review.hotspots if h.commits or h.file_commits] if review else [],
    }


def _facts(footprint: Footprint) -> Iterator[tuple[int, str]]:
    total, review = footprint.total, footprint.review
    for number, noun in ((len(footprint.patches), "patch"), (total.files, "file")):
        yield number, counted(number, noun).partition(" ")[2]
    yield total.added, "lines added"
    yield total.removed, "lines removed"
    yield from ((t.files, TITLES[t.name]) for t in footprint.kinds if t.files)
    if footprint.skipped:
        yield len(footprint.skipped), "skipped"
    if review is not None and review.sites:
        yield review.count(Reach.SHARED), "changed sites that run for everybody"


class TextColumn(Struct, frozen=True):
    """One text of a work order, displayed as a column beside the others."""

    title: str
    # (line, is_shared): a shared line of base is in ours and theirs, any other shared line in base
    lines: tuple[tuple[str, bool], ...]


def rows(
    title: str, blocks: Sequence[OrderLine | OrderCode]
) -> Iterator[tuple[bool, list[OrderLine | TextColumn]]]:
    """Yield (is_row, blocks); the blocks of a row are displayed side by side."""
    # a region is one row; elsewhere, consecutive texts are
    texts = {one.title: set(_lines_of(one)) for one in blocks if isinstance(one, OrderCode)}
    with_base = [texts["base"]] if "base" in texts else []
    with_others = [texts[name] for name in ("ours", "theirs") if name in texts]

    def shown(one: OrderLine | OrderCode) -> OrderLine | TextColumn:
        if isinstance(one, OrderLine):
            return one
        others = with_others if one.title == "base" else with_base
        lines = _lines_of(one)
        return TextColumn(
            one.title, tuple((line, all(line in o for o in others)) for line in lines)
        )

    is_region = title.startswith("Region ")
    for in_row, run in groupby(blocks, lambda one: is_region or isinstance(one, OrderCode)):
        yield in_row, list(map(shown, run))


def _lines_of(code: OrderCode) -> Sequence[str]:
    return code.text.removesuffix("\n").split("\n")
