"""Reports as one HTML page that needs nothing from elsewhere: tables, and pictures of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from patchmgr.model.footprint import Footprint, Tally
from patchmgr.model.gating import ChangedSite, Reach
from patchmgr.model.review import Review
from patchmgr.render.clean import clean, counted
from patchmgr.render.report_pictures import heat_map, timeline, treemap
from patchmgr.render.report_words import TITLES, groups
from patchmgr.render.review_markdown import REACH_WORDS

_STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--line:#c9ced6;--soft:#f3f5f8;
--link:#0b57b7}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaed;--paper:#15181c;--line:#454b54;
--soft:#1f242b;--link:#8ab8ff}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem;max-width:76rem;color:var(--ink);background:var(--paper);
font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.6rem}h2{font-size:1.3rem;margin-top:2.5rem}h3{font-size:1.1rem}
code{font-family:ui-monospace,monospace;font-size:.9em;overflow-wrap:anywhere}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:6px;margin:.75rem 0}
table{border-collapse:collapse;width:100%}
caption{text-align:left;padding:.5rem .75rem;font-weight:600}
th,td{text-align:left;padding:.3rem .75rem;border-top:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
thead th{background:var(--soft)}
svg{max-width:100%;height:auto;display:block}
svg text{font:12px system-ui,sans-serif;fill:#10151b}
svg.plain text{fill:var(--ink)}
figure{margin:1rem 0}figcaption{color:var(--ink);margin-bottom:.5rem}
summary{cursor:pointer;padding:.4rem 0;color:var(--link)}
a{color:var(--link)}:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-100rem}.skip:focus{position:static}
.pair{white-space:nowrap}
.key{display:inline-block;width:1em;height:1em;border:1px solid #333;vertical-align:-.1em}
"""


def report_html(footprints: Sequence[Footprint]) -> str:
    """Return one page with a section a series."""
    names = ", ".join(clean(f.series) for f in footprints)
    title = f"Change footprint of {names}" if names else "Change footprint"
    body = "\n".join(_section(number, f) for number, f in enumerate(footprints))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#main">To the report</a>\n<main id="main">\n'
        f"<h1>{escape(title)}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _section(number: int, footprint: Footprint) -> str:
    own = f"s{number}"
    total = footprint.total
    parts = [
        f'<section aria-labelledby="{own}">',
        f'<h2 id="{own}">{_code(footprint.series)}</h2>',
        f"<p>{counted(len(footprint.patches), 'patch')} on {_code(footprint.pin.ref)} "
        f"({_code(footprint.pin.commit)}): {counted(total.files, 'file')}, "
        f"{total.added} lines added, {total.removed} removed.</p>",
    ]
    if footprint.files:
        parts.append(treemap(footprint, own))
    parts += [_tallies(title, tallies) for title, tallies in groups(footprint) if tallies]
    if footprint.languages:
        parts.append(_tallies("by language", footprint.languages))
    if footprint.review is not None:
        parts += _review(footprint.review, own)
    parts += [_patches(footprint), "</section>"]
    return "\n".join(parts)


def _code(text: str) -> str:
    return f"<code>{escape(clean(text))}</code>"


def _table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; columns that begin with `#` hold numbers, cells are HTML."""
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
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _tallies(title: str, tallies: Sequence[Tally]) -> str:
    rows = [
        [escape(clean(TITLES.get(t.name, t.name))), str(t.files), str(t.added), str(t.removed)]
        for t in tallies
    ]
    return _table(title[:1].upper() + title[1:], ("", "#Files", "#Added", "#Removed"), rows)


def _review(review: Review, own: str) -> Iterator[str]:
    rows = [
        [
            escape(clean(p.name)),
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
    yield _table(f"Subsystems, by {review.parts_by}", columns, rows)
    yield heat_map(review, own)
    if review.moments:
        yield timeline(review, own)
    yield "<h3>Gates</h3>"
    for reach, words in REACH_WORDS.items():
        sites = [site for site in review.sites if site.reach is reach]
        if sites:
            yield _sites(reach, words, sites)
    yield from _dangers(review)


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
        title = f"Hotspots: the last {counted(review.window or 0, 'upstream commit')}"
        table = _table(title, ("Symbol", "File", "#Changed the symbol", "#Changed the file"), rows)
        yield f"<h3>Hotspots</h3><details><summary>{escape(title)}</summary>{table}</details>"
    if review.risks:
        risks = [[r.kind.value, _code(r.path), _code(r.what)] for r in review.risks]
        yield f"<h3>Risks</h3>{_table('Risks', ('Kind', 'File', 'What'), risks)}"


def _patches(footprint: Footprint) -> str:
    rows = [
        [
            str(number),
            f"{escape(clean(p.subject))}<br>{_code(p.name)}",
            str(len(p.files)),
            str(p.added),
            str(p.removed),
        ]
        for number, p in enumerate(footprint.patches, 1)
    ]
    table = _table("Patches", ("#No", "Patch", "#Files", "#Added", "#Removed"), rows)
    summary = counted(len(rows), "patch")
    return f"<h3>Patches</h3><details><summary>{summary}</summary>{table}</details>"
