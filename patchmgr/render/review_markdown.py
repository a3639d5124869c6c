"""What a reviewer asks for as Markdown: blocks for the report on a series."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from patchmgr.model.gating import ChangedSite, Reach
from patchmgr.model.review import Hotspot, Review, Risk
from patchmgr.render.clean import counted
from patchmgr.render.markdown_text import code, code_cell, text

REACH_WORDS = {
    Reach.SHARED: "runs for everybody",
    Reach.GATED: "behind a gate, but not provably without effect elsewhere",
    Reach.ADDED: "new names and symbols: they run where they are called",
    Reach.INERT: "provably nothing for those whom the gate keeps out",
}
MOST_IN_CHART = 10


class Rows(Struct, frozen=True):
    """A table that may be cut: a title in front, columns, rows, and what a row is."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    what: str
    summary: str = ""
    share: float = 0.3


def parts_table(review: Review) -> Rows:
    """Return the subsystems, tests apart."""
    rows = tuple(
        f"| {text(p.name)} | {p.files} | {p.added} | {p.removed} | {p.test_files} "
        f"| +{p.test_added} -{p.test_removed} | {', '.join(p.languages)} "
        f"| {'rebuild' if p.rebuilt else 'Python only' if p.languages == ('Python',) else ''} |"
        for p in review.parts
    )
    columns = ("Subsystem", "Files", "Added", "Removed", "Tests", "Of these", "Languages", "Needs")
    return Rows(f"### Subsystems (by {review.parts_by})", columns, rows, "subsystems")


def chart(review: Review) -> str:
    """Return a Mermaid chart of the changed lines by subsystem, empty where it says nothing."""
    shown = [part for part in review.parts if part.added + part.removed][:MOST_IN_CHART]
    if len(shown) < 2:
        return ""
    lines = [f'  "{_plain(part.name)}" : {part.added + part.removed}' for part in shown]
    return "\n".join(["```mermaid", "pie showData", "  title Changed lines", *lines, "```"])


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() or c in " ./_-" else " " for c in name)[:60] or "?"


def reach_list(review: Review) -> str:
    """Return how many changed sites there are of each reach."""
    lines = ["### Gates: what the changes of upstream's code stand behind", ""]
    lines += [
        f"- **{reach.value}** ({words}): {counted(review.count(reach), 'site')}"
        for reach, words in REACH_WORDS.items()
    ]
    return "\n".join(lines)


def site_tables(review: Review) -> Iterator[Rows]:
    """Yield a table a reach, shared sites first."""
    columns = ("Where", "Symbol", "Change", "Gates", "Patches")
    for reach, share in zip(REACH_WORDS, (0.35, 0.3, 0.2, 0.3), strict=True):
        sites = [site for site in review.sites if site.reach is reach]
        rows = tuple(_site(site) for site in sites)
        summary = f"{counted(len(rows), 'site')} {reach.value}: {REACH_WORDS[reach]}"
        yield Rows("", columns, rows, "sites", summary, share)


def _site(site: ChangedSite) -> str:
    lines = f"{site.line}" if site.line == site.last else f"{site.line}-{site.last}"
    gone = " removed" if site.is_removal else ""
    gates = "<br>".join(f"{gate.kind} {code_cell(gate.text)}" for gate in site.gates[:3])
    symbol = code_cell(site.symbol) if site.symbol else ""
    patches = " ".join(code_cell(name) for name in site.patches[:3])
    where = f"{code_cell(site.path)} {lines}{gone}"
    return f"| {where} | {symbol} | {code_cell(site.text[:80])} | {gates} | {patches} |"


def steps(review: Review) -> str:
    """Return in how many steps of upstream the hotspots are counted."""
    return counted(review.window or 0, review.step)


def hotspot_table(review: Review) -> Rows:
    """Return the touched symbols that upstream changed lately."""
    hot = [hotspot for hotspot in review.hotspots if hotspot.commits or hotspot.file_commits]
    title = "### Hotspots"
    if review.window is not None:
        title += f": the last {steps(review)}"
    columns = ("Symbol", "File", "Changed the symbol", "Changed the file", "Patches")
    return Rows(title, columns, tuple(_hotspot(h) for h in hot), "symbols", share=0.25)


def _hotspot(hotspot: Hotspot) -> str:
    symbol = code_cell(hotspot.symbol) if hotspot.symbol else "outside of symbols"
    patches = " ".join(code_cell(name) for name in hotspot.patches[:3])
    more = f" and {len(hotspot.patches) - 3} more" if len(hotspot.patches) > 3 else ""
    counts = f"{hotspot.commits} | {hotspot.file_commits}"
    return f"| {symbol} | {code_cell(hotspot.path)} | {counts} | {patches}{more} |"


def risk_list(risks: Sequence[Risk]) -> tuple[str, ...]:
    """Return a line a risk."""
    return tuple(
        f"{risk.kind.value}: {code(risk.what)} in {code(risk.path)}"
        if risk.what not in ("new", "edited", "deleted", "renamed", "mode")
        else f"{risk.kind.value}: {code(risk.path)} ({risk.what})"
        for risk in risks
    )
