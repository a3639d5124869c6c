"""Reports as one HTML page that needs nothing from elsewhere: tables, and pictures of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from patchmgr.model.footprint import Footprint, Tally
from patchmgr.model.gating import ChangedSite, Reach
from patchmgr.model.review import Review, RiskKind
from patchmgr.render.clean import clean, counted
from patchmgr.render.report_pictures import heat_map, reach_bar, timeline, treemap
from patchmgr.render.report_words import REACH_WORDS, TITLES, groups, steps

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
.pair{white-space:nowrap;margin-right:.6rem}
.key{display:inline-block;width:1em;height:1em;border:1px solid #555;vertical-align:-.1em}
@media (max-width:40rem){body{padding:1rem}th,td{padding:.3rem .4rem}h1{font-size:1.4rem}}
@media print{:root{color-scheme:light}body{max-width:none;padding:0;font-size:10pt}
.scroll{overflow:visible;border:0}table{table-layout:fixed}td{overflow-wrap:anywhere}
svg{min-width:0}figure,tr,.facts{break-inside:avoid}
.skip{display:none}summary{color:inherit}
details::details-content{content-visibility:visible;block-size:auto}}
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


def _facts(footprint: Footprint) -> str:
    """Return the numbers that one asks for first."""
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
        f'<div class="scroll" tabindex="0" role="group" aria-label="{label}">'
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _tallies(title: str, heading: str, tallies: Sequence[Tally]) -> str:
    rows = [
        [escape(clean(TITLES.get(t.name, t.name))), str(t.files), str(t.added), str(t.removed)]
        for t in tallies
    ]
    columns = (heading[:1].upper() + heading[1:], "#Files", "#Added", "#Removed")
    return _table(title[:1].upper() + title[1:], columns, rows)


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
            f"{escape(clean(p.subject))}<br>{_code(p.name)}",
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
        [_code(patch.name), _code(file.path), "<br>".join(map(_escaped, file.edits))]
        for patch in footprint.patches
        for file in patch.files
        if file.edits
    ]
    if not told:
        return page
    table = _table("What the patches do, in words", ("Patch", "File", "Edits"), told)
    return f"{page}<details><summary>What they do, in words</summary>{table}</details>"


def _escaped(text: str) -> str:
    return escape(clean(text))
