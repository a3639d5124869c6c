"""The report on a series as Markdown, for the description of a pull request on GitHub."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from patchmgr.model.footprint import (
    Area,
    Build,
    ChangedSite,
    FileFootprint,
    Footprint,
    Hotspot,
    Kind,
    PatchFile,
    PatchFootprint,
    Review,
    Risk,
    Subsystem,
    Tally,
)
from patchmgr.render.escape import counted, cut_off, first_few
from patchmgr.render.markdown_text import LIMIT, Page, code, code_cell, text
from patchmgr.render.report_words import (
    FOLDER_RULE,
    OUTSIDE,
    REACH_WORDS,
    TITLES,
    TouchedSymbol,
    groups,
    only_file,
    sites_by_path,
    steps,
    touched_symbols,
)

MOST_SYMBOLS = 6
MOST_SITES = 40
MOST_EDITS = 12


def report_markdown(footprint: Footprint, *, limit: int = LIMIT) -> str:
    """Return the report on one series as Markdown of at most `limit` characters."""
    page = Page(limit)
    page.add(_head(footprint))
    if footprint.files:
        _add_groups(page, footprint)
        _add_rebuilds(page, footprint)
    _add_passing(page, footprint)
    if footprint.review is not None:
        _add_review(page, footprint.review)
    _add_patches(page, footprint)
    _add_new_files(page, footprint)
    _add_edits(page, footprint)
    _add_words(page, footprint)
    return page.whole()


def _head(footprint: Footprint) -> str:
    total = footprint.total
    title = f"## Change footprint of {code(footprint.series)}"
    pin = footprint.pin
    named = f" of {code(pin.ref)}" if pin.ref != pin.commit else ""
    base = f"Commit {code(pin.commit)}{named} is the base."
    patches = counted(len(footprint.patches), "patch")
    verb = "changes" if len(footprint.patches) == 1 else "change"
    net = f"{patches} {verb} {counted(total.files, 'file')}: {_lines(total.added, total.removed)}."
    sentences = [base, net]
    if (footprint.patch_added, footprint.patch_removed) != (total.added, total.removed):
        by_patch = _lines(footprint.patch_added, footprint.patch_removed)
        sentences.append(f"Counted patch by patch: {by_patch}.")
    if footprint.skipped:
        names = ", ".join(f"{code(name)} ({text(reason)})" for name, reason in footprint.skipped)
        sentences.append(f"Skipped: {names}.")
    if total.binaries:
        verb = "is" if total.binaries == 1 else "are"
        sentences.append(
            f"{counted(total.binaries, 'file')} {verb} binary and not counted by lines."
        )
    return f"{title}\n\n{' '.join(sentences)}"


def _add_groups(page: Page, footprint: Footprint) -> None:
    page.table(["", "Files", "Added", "Removed"], _group_rows(footprint), what="groups")
    page.add("### Languages")
    columns = ["Language", "Files", "Added", "Removed", "The only file"]
    page.table(columns, _language_rows(footprint), what="languages")
    page.add(f"### Folders\n\n{FOLDER_RULE}")
    names = [tally.name for tally in footprint.folders]
    titles = [name if name == Area.THIRD_PARTY.value else code_cell(name) for name in names]
    rows = map(_row, titles, footprint.folders)
    page.table(["Folder", "Files", "Added", "Removed"], rows, what="folders")


def _lines(added: int, removed: int) -> str:
    return f"{counted(added, 'line')} added, {removed} removed"


def _row(title: str, tally: Tally) -> tuple[object, ...]:
    return title, tally.files, tally.added, tally.removed


def _group_rows(footprint: Footprint) -> Iterator[Sequence[object]]:
    yield _row("**all**", footprint.total)
    for title, tallies in groups(footprint):
        yield f"*{title}*", "", "", ""
        yield from (_row(TITLES[tally.name], tally) for tally in tallies)


def _language_rows(footprint: Footprint) -> Iterator[Sequence[object]]:
    for tally in footprint.languages:
        only = only_file(footprint, tally.name)
        yield *_row(tally.name, tally), code_cell(only.path) if only else ""


def _add_rebuilds(page: Page, footprint: Footprint) -> None:
    rebuilds = [file for file in footprint.files if file.build is Build.REBUILD]
    if not rebuilds:
        page.add("### Rebuild\n\nNo file needs a rebuild.")
    verb = "needs" if len(rebuilds) == 1 else "need"
    title = f"### Rebuild\n\n{counted(len(rebuilds), 'file')} {verb} a rebuild."
    rows = [f"{code(f.path)} {f.language} {_change(f)}" for f in rebuilds]
    page.bullets(title, rows, what="files")


def _change(file: FileFootprint) -> str:
    return "binary" if file.is_binary else f"+{file.added} -{file.removed}"


def _add_passing(page: Page, footprint: Footprint) -> None:
    number = len(footprint.passing)
    verb = "ends" if number == 1 else "end"
    title = f"{counted(number, 'path')} that patches touch {verb} up as in the base."
    page.bullets(title, [code(path) for path in footprint.passing], what="paths")


def _add_review(page: Page, review: Review) -> None:
    columns = ["Subsystem", "Files", "Added", "Removed", "Tests", "Of these", "Languages", "Needs"]
    title = f"### Subsystems (by {review.parts_by})"
    page.table(columns, map(_part_row, review.parts), what="subsystems", title=title, share=0.3)
    if chart(review):
        page.add(chart(review))
    if review.sites:
        lines = ["### Gates that guard the changes to upstream's code", ""]
        lines += [
            f"- **{reach.value}** ({words}): {counted(review.count(reach), 'site')}"
            for reach, words in REACH_WORDS.items()
        ]
        page.add("\n".join(lines))
    columns = ["Where", "Symbol", "Change", "Gates", "Patches"]
    for reach, share in zip(REACH_WORDS, (0.35, 0.3, 0.2, 0.3), strict=True):
        sites = [_changed_site(site) for site in review.sites if site.reach is reach]
        summary = f"{counted(len(sites), 'site')} {reach.value}: {REACH_WORDS[reach]}"
        page.table(columns, sites, what="sites", summary=summary, share=share)
    hot = [_hotspot(spot) for spot in review.hotspots if spot.commits or spot.file_commits]
    title = "### Hotspots" + (f": the last {steps(review)}" if review.window is not None else "")
    columns = ["Symbol", "File", "Changed the symbol", "Changed the file", "Patches"]
    page.table(columns, hot, what="symbols", title=title, share=0.25)
    page.bullets("### Risks", [*map(_risk, review.risks)], what="risks")


def _add_patches(page: Page, footprint: Footprint) -> None:
    columns = ["#", "Patch", "Files", "Added", "Removed", "Languages", "Upstream symbols"]
    rows = [_patch_row(number, p) for number, p in enumerate(footprint.patches, start=1)]
    page.table(columns, rows, what="patches", summary=counted(len(rows), "patch"))


def _add_words(page: Page, footprint: Footprint) -> None:
    """Add a table of the edits that each patch makes to each upstream file."""
    rows = [_words_row(p, file) for p in footprint.patches for file in p.files if file.edits]
    summary = "What the patches do, edit by edit"
    page.table(["Patch", "File", "Edits"], rows, what="rows", summary=summary)


def _words_row(patch: PatchFootprint, file: PatchFile) -> Sequence[object]:
    edits = cut_off([*map(text, file.edits)], MOST_EDITS, "{}")
    return code_cell(patch.name), code_cell(file.path), "<br>".join(edits)


def _patch_row(number: int, patch: PatchFootprint) -> Sequence[object]:
    symbols = first_few([*map(code_cell, touched_symbols(patch))], MOST_SYMBOLS, " ")
    title = f"{text(patch.subject)}<br>{code_cell(patch.name)}"
    counts = (len(patch.files), patch.added, patch.removed)
    return number, title, *counts, ", ".join(patch.languages), symbols


def _add_new_files(page: Page, footprint: Footprint) -> None:
    rows = [
        (code_cell(file.path), file.language, "binary" if file.is_binary else file.added)
        for file in footprint.files
        if file.kind is Kind.NEW
    ]
    summary = counted(len(rows), "new file")
    page.table(["File", "Language", "Added"], rows, what="files", summary=summary)


def _add_edits(page: Page, footprint: Footprint) -> None:
    sites = sites_by_path(footprint)
    edits = [file for file in footprint.files if file.kind is not Kind.NEW]
    rows = [_edit_row(file, sites.get(file.path, ())) for file in edits]
    columns = ["File", "Added", "Removed", "Symbols, with the numbers of their patches"]
    summary = f"{counted(len(rows), 'edit')} to upstream's files"
    page.table(columns, rows, what="files", summary=summary, share=1.0)


def _edit_row(file: FileFootprint, sites: Sequence[TouchedSymbol]) -> Sequence[object]:
    shown = cut_off([_site(site) for site in sites], MOST_SITES, "{}")
    moved = f" from {code_cell(file.renamed_from)}" if file.renamed_from is not None else ""
    kind = "" if file.kind is Kind.EDITED else f" ({file.kind.value})"
    counts = ("binary", "") if file.is_binary else (file.added, file.removed)
    return f"{code_cell(file.path)}{moved}{kind}", *counts, ", ".join(shown)


def _site(site: TouchedSymbol) -> str:
    name = OUTSIDE if site.symbol is None else code_cell(site.symbol)
    numbers = ", ".join(str(number) for number in site.patches)
    return f"{name} ({numbers})" if site.is_upstream else f"{name} (new in {numbers})"


MOST_IN_CHART = 10


def _part_row(part: Subsystem) -> Sequence[object]:
    is_python = part.languages == ("Python",)
    needs = "rebuild" if part.rebuilt else "Python only" if is_python else ""
    tests = f"+{part.tests.added} -{part.tests.removed}"
    counts = _row(text(part.total.name), part.total)
    return *counts, part.tests.files, tests, ", ".join(part.languages), needs


def chart(review: Review) -> str:
    """Return a Mermaid chart of changed lines by subsystem, or "" for fewer than two subsystems."""
    parts = [part.total for part in review.parts]
    shown = [part for part in parts if part.added + part.removed][:MOST_IN_CHART]
    if len(shown) < 2:
        return ""
    lines = [f'  "{_plain(part.name)}" : {part.added + part.removed}' for part in shown]
    return "\n".join(["```mermaid", "pie showData", "  title Changed lines", *lines, "```"])


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() or c in " ./_-" else " " for c in name)[:60] or "?"


def _changed_site(site: ChangedSite) -> Sequence[object]:
    lines = f"{site.line}" if site.line == site.last else f"{site.line}-{site.last}"
    gone = " removed" if site.is_removal else ""
    gates = "<br>".join(f"{gate.kind} {code_cell(gate.text)}" for gate in site.gates[:3])
    symbol = code_cell(site.symbol) if site.symbol else ""
    patches = " ".join(code_cell(name) for name in site.patches[:3])
    where = f"{code_cell(site.path)} {lines}{gone}"
    return where, symbol, code_cell(site.text[:80]), gates, patches


def _hotspot(hotspot: Hotspot) -> Sequence[object]:
    symbol = code_cell(hotspot.symbol) if hotspot.symbol else "outside of symbols"
    patches = first_few([*map(code_cell, hotspot.patches)], 3, " ")
    counts = (hotspot.commits, hotspot.file_commits)
    return symbol, code_cell(hotspot.path), *counts, patches


def _risk(risk: Risk) -> str:
    if risk.what in ("new", "edited", "deleted", "renamed", "mode"):
        return f"{risk.kind.value}: {code(risk.path)} ({risk.what})"
    return f"{risk.kind.value}: {code(risk.what)} in {code(risk.path)}"
