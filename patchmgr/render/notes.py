"""The note on a sync, as Markdown for the description of a pull request, and as JSON data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import to_builtins

from patchmgr.model.notes import Arrival, Dropped, ResolvedFile, SyncNote
from patchmgr.model.upstream import Pin
from patchmgr.render.escape import counted, measured_text, reliability_text
from patchmgr.render.machine import pin_document
from patchmgr.render.markdown_text import LIMIT, Page, code, table, text


def note_value(note: SyncNote) -> dict[str, Any]:
    """Return the note on a sync of one series as JSON data."""
    value = to_builtins(note)
    tags = {name: value.pop(name) for name in ("preview", "fallback")}
    for key in ("identical", "changed"):
        value[key] = [{"path": path, "language": language} for path, language in value[key]]
    return {**value, "tags": tags, "base": pin_document(note.base), "onto": pin_document(note.onto)}


_SHORT = 12
_FEW = 8


def note_markdown(note: SyncNote, *, limit: int = LIMIT) -> str:
    """Return the note on a sync as Markdown of at most `limit` characters."""
    tail = (_gates(note), _tags(note))
    page = Page(limit - sum(len(block) + 2 for block in tail))
    page.add(_head(note), _verdicts(note))
    landed = [one for one in note.dropped if one.by]
    others = [one for one in note.dropped if not one.by]
    for title, what, rows, is_foldable in (
        ("Conflicts, and how each was resolved", "conflicts", map(_solved, note.solved), False),
        ("Dropped, because upstream has the change", "patches", map(_dropped, landed), False),
        ("Dropped, and no upstream commit is known", "patches", map(_dropped, others), False),
        ("Warnings", "warnings", map(text, note.warnings), False),
        ("Upstream commits to the touched files", "lines", _brought(note), True),
        ("Byte-identical files", "lines", _identical(note), True),
    ):
        lines = list(rows)
        summary = counted(len(lines), "line") if is_foldable and len(lines) > _FEW else ""
        page.bullets(f"### {title}", lines, what=what, summary=summary, share=1.0)
    page.add(*tail)
    return page.whole()


def _head(note: SyncNote) -> str:
    verb = "What a sync would do to" if note.is_dry_run else "Sync of"
    came = f"{counted(note.upstream_commits, f'upstream {note.unit}')} came in"
    if note.commits_back:
        back = f"{counted(note.commits_back, f'upstream {note.unit}')} are no longer included"
        came = f"{came}, {back}" if note.upstream_commits else back
    lines = [
        f"## {verb} {code(note.series)}",
        "",
        f"{came}: from {_state(note.base)} to {_state(note.onto)}",
    ]
    if note.head is not None:
        lines += ["", f"Head {code(note.head)}"]
    if not note.is_complete:
        lines.append("")
        lines.append(
            "This workspace has no detailed record of that rebase, so the note does not say what "
            "was in conflict or which files stayed identical."
        )
    return "\n".join(lines)


def _state(pin: Pin) -> str:
    return code(pin.commit) if pin.ref == pin.commit else f"{code(pin.ref)} ({code(pin.commit)})"


def _verdicts(note: SyncNote) -> str:
    counts = Counter(patch.verdict for patch in note.patches)
    order = ("unchanged", "modified", "partial", "absorbed", "conflict", "blocked", "skipped")
    words = [f"{counts[word]} {word}" for word in order if counts[word]]
    line = f"{counted(len(note.patches), 'patch')}{': ' if words else ''}{', '.join(words)}."
    lists = [
        f"- {word}: {', '.join(code(p.name) for p in note.patches if p.verdict == word)}"
        for word in ("modified", "partial", "conflict", "blocked", "skipped")
        if counts[word]
    ]
    lists += [
        f"- {code(p.name)} may be dropped when: {text(p.drop_when)}"
        for p in note.patches
        if p.verdict == "conflict" and p.drop_when is not None
    ]
    return "\n".join([line, "", *lists]) if lists else line


def _solved(one: ResolvedFile) -> str:
    where = code(one.path)
    if one.new_path != one.path:
        where += f" → {code(one.new_path)}"
    symbols = f" in {' '.join(code(symbol) for symbol in one.symbols[:6])}" if one.symbols else ""
    by = f"; collided with {_arrivals(one.collided)}" if one.collided else ""
    told = f" ({measured_text(one.reliability)})" if one.reliability else ""
    edits = [*one.edits[:_FEW], *(["…"] if len(one.edits) > _FEW else [])]
    does = f"; the patch: {'; '.join(map(text, edits))}" if edits else ""
    return f"{where}{symbols} ({code(one.patch)}): **{text(one.solution)}**{told}{by}{does}"


def _dropped(one: Dropped) -> str:
    what = "" if one.is_whole else " (in part)"
    known = {found.rule: reliability_text(found) for found in one.reliability}
    between = "; " if known else ", "
    how = f" ({between.join(known.get(how, how) for how in one.how)})" if one.how else ""
    by = f": {_arrivals(one.by)}" if one.by else ""
    subject = f" {text(one.subject)}" if one.subject else ""
    return f"{code(one.patch)}{what}{subject}{how}{by}"


def _arrivals(arrivals: Sequence[Arrival]) -> str:
    return ", ".join(_arrival(arrival) for arrival in arrivals[:4])


def _arrival(arrival: Arrival) -> str:
    pull = f"#{arrival.pull} " if arrival.pull is not None else ""
    return f"{pull}{text(arrival.title)} ({code(arrival.commit[:_SHORT])})"


def _brought(note: SyncNote) -> Iterator[str]:
    for group in note.brought:
        yield f"**{text(group.subsystem)}**: {counted(len(group.arrivals), note.unit)}"
        yield from (f"  - {_arrival(arrival)}" for arrival in group.arrivals)


def _identical(note: SyncNote) -> Iterator[str]:
    """Yield the byte-identical files in each language; CUDA, HIP, C++ and C come first."""
    by_language: dict[str, list[str]] = {}
    for path, spoken in note.identical:
        by_language.setdefault(spoken, []).append(path)
    kernels = ("CUDA", "HIP", "C++", "C++ header", "C")
    for spoken in sorted(by_language, key=lambda s: (s not in kernels, s)):
        paths = by_language[spoken]
        yield f"{spoken}, {counted(len(paths), 'file')}: {' '.join(code(path) for path in paths)}"


def _gates(note: SyncNote) -> str:
    if not note.gates:
        if note.is_dry_run:
            return ""
        return f"### Gates\n\nNo check of this state is recorded. Run: {code('patchmgr check')}"
    rows = [(text(g.name), g.standing, g.problems, text(g.note)) for g in note.gates]
    return "\n".join(["### Gates", "", *table(["Gate", "Standing", "Problems", "Note"], rows)])


def _tags(note: SyncNote) -> str:
    lines = []
    if note.preview is not None and note.head is not None:
        lines.append(f"- Preview tag {code(note.preview)} at {code(note.head)}")
    if note.fallback is not None:
        lines.append(f"- Fallback tag {code(note.fallback)} at the old head")
    elif note.old_head is not None:
        lines.append(f"- The old head is {code(note.old_head)}")
    return "\n".join(["### Tags", "", *lines]) if lines else ""
