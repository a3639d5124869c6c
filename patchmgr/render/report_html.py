"""Reports as one self-contained HTML page with tables and charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby

from msgspec import Struct

from patchmgr.model.footprint import Area, Build, FileFootprint, Footprint, Kind, Tally
from patchmgr.model.review import ChangedSite, Reach, Review, RiskKind
from patchmgr.model.work_order import WorkOrder
from patchmgr.render.clean import clean, counted, reliability_text
from patchmgr.render.report_words import REACH_WORDS, TITLES, groups, steps
from patchmgr.render.work_order import html_text, order_html


class Box(Struct, frozen=True):
    """A rectangle: its top left corner, width and height."""

    x: float
    y: float
    width: float
    height: float


def squarified(sizes: Sequence[float], box: Box) -> tuple[Box, ...]:
    """Return one rectangle per size, in the order of `sizes`, with proportional areas.

    Together they fill the box. The sizes must be positive and in descending order.
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
    """Return a treemap of the touched files by subsystem, with areas proportional to changed lines.

    `own` is a prefix for element ids, unique on the page.
    """
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
    """Yield one subsystem: its name at the top if there is room, and its files."""
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
    """Return a bar chart of how many changed sites have each value of `Reach`.

    `own` is a prefix for element ids, unique on the page.
    """
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
    """Return a heat map of patches and subsystems; a stronger colour means more changed lines.

    `own` is a prefix for element ids, unique on the page.
    """
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
    """Return a chart of the verdict on each patch in each recorded rebase.

    `own` is a prefix for element ids, unique on the page.
    """
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
    width, height = f"{size[0]:.0f}", f"{size[1]:.0f}"
    return (
        f'<figure><figcaption id="{own}c">{caption}</figcaption>'
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(title)}">'
        f'<svg class="{kind}" role="img" aria-labelledby="{own}l {own}c" '
        f'viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">'
        f'<title id="{own}l">{escape(title)}</title>{"".join(shapes)}</svg></div></figure>'
    )


STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--line:#c9ced6;--soft:#f3f5f8;
--quiet:#545b66;--link:#0b57b7;--h1:#d6e6fa;--h2:#a5c8f2;--h3:#6aa3e4;--h4:#2f77cc;--h5:#0c3f86}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaed;--paper:#15181c;--line:#454b54;
--soft:#1f242b;--quiet:#aeb5bf;--link:#8ab8ff;--h1:#1d3350;--h2:#26538a;--h3:#3a7cc7;--h4:#78b1f2;
--h5:#cfe4ff}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem;max-width:80rem;color:var(--ink);background:var(--paper);
font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.7rem;margin:.5rem 0}h2{font-size:1.35rem;margin:2.5rem 0 .5rem}
h3{font-size:1.15rem;margin:2rem 0 .5rem}
code{font-family:ui-monospace,monospace;font-size:.9em;overflow-wrap:anywhere}
.facts{display:flex;flex-wrap:wrap;gap:.75rem;padding:0;margin:1rem 0;list-style:none}
.facts li{flex:1 1 8rem;padding:.6rem .9rem;border:1px solid var(--line);border-radius:8px;
background:var(--soft)}
.facts b{display:block;font-size:1.5rem;line-height:1.2;font-variant-numeric:tabular-nums}
.tables{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:0 1rem}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:8px;margin:.75rem 0}
table{border-collapse:collapse;width:100%}
caption{text-align:left;padding:.5rem .75rem;font-weight:600}
th,td{text-align:left;padding:.3rem .75rem;border-top:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
thead th{background:var(--soft)}
svg{display:block;width:100%;height:auto;min-width:44rem;background:var(--paper)}
svg.bar{min-width:0}
svg text{font:12px system-ui,sans-serif;fill:var(--ink)}
svg .on{fill:#10151b}svg .head{font-weight:600}svg .quiet{fill:var(--quiet)}
svg .band{fill:var(--soft)}svg .frame{fill:none;stroke:var(--ink)}svg .edge{stroke:#333}
svg .h1{fill:var(--h1)}svg .h2{fill:var(--h2)}svg .h3{fill:var(--h3)}svg .h4{fill:var(--h4)}
svg .h5{fill:var(--h5)}
figure{margin:1rem 0}figcaption{margin-bottom:.5rem}
figcaption b{display:block}
summary{cursor:pointer;padding:.4rem 0;color:var(--link)}
a{color:var(--link)}:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-100rem}.skip:focus{position:static}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:0 1rem}
.sides figure{min-width:0}li,h3,h4,summary,figcaption{overflow-wrap:anywhere}
pre{margin:0;padding:.5rem;max-height:30rem;overflow:auto}
mark{color:inherit;background:var(--h1)}
.pair{white-space:nowrap;margin-right:.6rem}
.key{display:inline-block;width:1em;height:1em;border:1px solid #555;vertical-align:-.1em}
@media (max-width:40rem){body{padding:1rem}th,td{padding:.3rem .4rem}h1{font-size:1.4rem}}
@media print{:root{color-scheme:light}body{max-width:none;padding:0;font-size:10pt}
.scroll{overflow:visible;border:0}table{table-layout:fixed}td{overflow-wrap:anywhere}
svg{min-width:0}figure,tr,.facts{break-inside:avoid}
pre{max-height:none;white-space:pre-wrap;overflow-wrap:anywhere}
.skip{display:none}summary{color:inherit}
details::details-content{content-visibility:visible;block-size:auto}}
"""


def report_html(footprints: Sequence[Footprint], orders: Sequence[WorkOrder] = ()) -> str:
    """Return one HTML page with a section per series, and one for the open work orders."""
    names = ", ".join(clean(f.series) for f in footprints)
    title = f"Change footprint of {names}" if names else "Change footprint"
    body = "\n".join(_section(number, f) for number, f in enumerate(footprints))
    body += "\n".join(_orders(orders))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#main">To the report</a>\n<main id="main">\n'
        f"<h1>{escape(title)}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _section(number: int, footprint: Footprint) -> str:
    own = f"s{number}"
    pin = footprint.pin
    ref = f"{_code(pin.ref)}, " if pin.ref != pin.commit else ""
    parts = [
        f'<section aria-labelledby="{own}">',
        f'<h2 id="{own}">Series {_code(footprint.series)}</h2>',
        f"<p>On {ref}commit {_code(pin.commit)}.</p>",
        _facts(footprint),
    ]
    if footprint.files:
        parts.append(treemap(footprint, own))
    if footprint.review is not None:
        parts += _review(footprint.review, own)
    tables = [
        _tallies(title, heading, tallies)
        for title, heading, tallies in _groups(footprint)
        if tallies
    ]
    if tables:
        parts += ['<h3>Numbers</h3><div class="tables">', *tables, "</div>"]
    parts += [_patches(footprint), "</section>"]
    return "\n".join(parts)


def _orders(orders: Sequence[WorkOrder]) -> Iterator[str]:
    if orders:
        yield '<section aria-labelledby="waiting"><h2 id="waiting">What waits for a person</h2>'
        yield "<p>Marked: lines that the base lacks, and in the base those that a side lacks.</p>"
    for (series, patch), of_patch in groupby(orders, lambda one: (one.series, one.patch)):
        yield f"<h3>{_code(f'{series}/{patch}')}</h3>"
        yield from map(order_html, of_patch)
    if orders:
        yield "</section>"


def _facts(footprint: Footprint) -> str:
    total, review = footprint.total, footprint.review
    facts = [
        (len(footprint.patches), counted(len(footprint.patches), "patch").partition(" ")[2]),
        (total.files, counted(total.files, "file").partition(" ")[2]),
        (total.added, "lines added"),
        (total.removed, "lines removed"),
        *((t.files, TITLES[t.name]) for t in footprint.kinds if t.files),
    ]
    if footprint.skipped:
        facts.append((len(footprint.skipped), "skipped"))
    if review is not None and review.sites:
        facts.append((review.count(Reach.SHARED), "changed sites that run for everybody"))
    rows = "".join(f"<li><b>{number}</b> {escape(word)}</li>" for number, word in facts)
    return f'<ul class="facts">{rows}</ul>'


def _groups(footprint: Footprint) -> Iterator[tuple[str, str, Sequence[Tally]]]:
    for title, tallies in groups(footprint):
        yield title, title.rpartition(" ")[2], tallies
    yield "by language", "language", footprint.languages


def _code(text: str) -> str:
    return f"<code>{html_text(text)}</code>"


def _table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; columns that begin with `#` contain numbers, and cells are HTML."""
    numeric = [column.startswith("#") for column in columns]
    marks = [' class="n"' if is_number else "" for is_number in numeric]
    head = "".join(
        f'<th scope="col"{mark}>{escape(column.lstrip("#"))}</th>'
        for column, mark in zip(columns, marks, strict=True)
    )
    body = "\n".join(
        "<tr>"
        + "".join(f"<td{mark}>{cell}</td>" for cell, mark in zip(row, marks, strict=True))
        + "</tr>"
        for row in rows
    )
    label = escape(caption, quote=True)
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{label}">'
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _tallies(title: str, heading: str, tallies: Sequence[Tally]) -> str:
    rows = [
        [html_text(TITLES.get(t.name, t.name)), str(t.files), str(t.added), str(t.removed)]
        for t in tallies
    ]
    columns = (heading[:1].upper() + heading[1:], "#Files", "#Added", "#Removed")
    return _table(title[:1].upper() + title[1:], columns, rows)


def _review(review: Review, own: str) -> Iterator[str]:
    rows = [
        [
            html_text(p.name),
            str(p.files),
            str(p.added),
            str(p.removed),
            str(p.test_files),
            escape(", ".join(p.languages)),
            "rebuild" if p.rebuilt else "",
        ]
        for p in review.parts
    ]
    columns = ("Subsystem", "#Files", "#Added", "#Removed", "#Tests", "Languages", "Needs")
    yield heat_map(review, own)
    if review.moments:
        yield timeline(review, own)
    yield reach_bar(review, own)
    if review.sites:
        yield "<h3>Gates</h3>"
    for reach, words in REACH_WORDS.items():
        sites = [site for site in review.sites if site.reach is reach]
        if sites:
            yield _sites(reach, words, sites)
    yield from _dangers(review)
    table = _table(f"Subsystems, by {review.parts_by}", columns, rows)
    summary = counted(len(rows), "subsystem")
    yield f"<h3>Subsystems</h3><details><summary>{summary}</summary>{table}</details>"


def _sites(reach: Reach, words: str, sites: Sequence[ChangedSite]) -> str:
    rows = [
        [
            f"{_code(site.path)} {site.line}{' (removed)' if site.is_removal else ''}",
            _code(site.symbol) if site.symbol else "",
            _code(site.text[:120]),
            "<br>".join(f"{gate.kind} {_code(gate.text)}" for gate in site.gates),
        ]
        for site in sites
    ]
    title = f"{counted(len(rows), 'site')} {reach.value}: {words}"
    table = _table(title, ("Where", "Symbol", "Change", "Gates"), rows)
    is_open = " open" if reach is Reach.SHARED and len(rows) <= 40 else ""
    return f"<details{is_open}><summary>{escape(title)}</summary>{table}</details>"


def _dangers(review: Review) -> Iterator[str]:
    hot = [h for h in review.hotspots if h.commits or h.file_commits]
    if hot:
        rows = [
            [
                _code(h.symbol) if h.symbol else "outside of symbols",
                _code(h.path),
                str(h.commits),
                str(h.file_commits),
            ]
            for h in hot
        ]
        title = f"Hotspots: the last {steps(review)}"
        table = _table(title, ("Symbol", "File", "#Changed the symbol", "#Changed the file"), rows)
        yield f"<h3>Hotspots</h3><details><summary>{escape(title)}</summary>{table}</details>"
    if review.risks:
        yield "<h3>Risks</h3>"
    for kind in RiskKind:
        risks = [[_code(r.what), _code(r.path)] for r in review.risks if r.kind is kind]
        if risks:
            table = _table(kind.value[:1].upper() + kind.value[1:], ("What", "File"), risks)
            yield f"<details><summary>{len(risks)}: {kind.value}</summary>{table}</details>"


def _patches(footprint: Footprint) -> str:
    rows = [
        [
            str(number),
            f"{html_text(p.subject)}<br>{_code(p.name)}",
            str(len(p.files)),
            str(p.added),
            str(p.removed),
        ]
        for number, p in enumerate(footprint.patches, 1)
    ]
    table = _table("Patches", ("#No", "Patch", "#Files", "#Added", "#Removed"), rows)
    summary = counted(len(rows), "patch")
    page = f"<h3>Patches</h3><details><summary>{summary}</summary>{table}</details>"
    told = [
        [_code(patch.name), _code(file.path), "<br>".join(map(html_text, file.edits))]
        for patch in footprint.patches
        for file in patch.files
        if file.edits
    ]
    if not told:
        return page
    table = _table("What the patches do, in words", ("Patch", "File", "Edits"), told)
    return f"{page}<details><summary>What they do, in words</summary>{table}</details>"
