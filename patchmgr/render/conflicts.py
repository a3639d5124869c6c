"""Show conflicts with git's markers, and the results of `conflicts pull` and `conflicts push`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from patchmgr.model.outcome import (
    FileConflict,
    PatchOutcome,
    SeriesOutcome,
    UpstreamCommit,
    Verdict,
)
from patchmgr.render.escape import clean, counted, cut_off, reliability_text
from patchmgr.render.view import View

if TYPE_CHECKING:
    from patchmgr.commands.sharing import Pulled, SharedConflicts
    from patchmgr.model.recorded_conflict import Source

CONTEXT = 3
MOST_SUGGESTIONS = 3  # per region
MOST_LINES = 12  # per suggestion


def marked_text(outcome: SeriesOutcome, patch: PatchOutcome, conflict: FileConflict) -> bytes:
    """Return a file in conflict with git's markers; each label says where the side comes from.

    The label of ours names the upstream commit that wrote the lines, which may be a later one than
    the commit that first broke the patch.
    """
    base = _raw(f"{outcome.base.ref} ({outcome.base.commit[:12]})")
    theirs = _raw(f"{outcome.name}/{patch.name}: {patch.subject}")
    marked = conflict.marked
    if marked is None:
        marked = _whole_file(conflict)
    labels = {b"||||||| base": base, b">>>>>>> theirs": theirs}
    shown = iter(conflict.shown)
    lines = marked.split(b"\n")
    for number, line in enumerate(lines):
        bare = line.rstrip(b"\r")
        if bare == b"<<<<<<< ours":
            label = _raw(f"{outcome.onto.ref} ({_upstream(outcome, next(shown, None))})")
            lines[number] = bare[:8] + label + line[len(bare) :]
        elif bare in labels:
            lines[number] = bare[:8] + labels[bare] + line[len(bare) :]
    return b"\n".join(lines)


def _upstream(outcome: SeriesOutcome, shown: UpstreamCommit | None) -> str:
    """Return the commit that wrote the displayed lines, or the new pin if the commit is unknown."""
    if shown is None:
        return outcome.onto.commit[:12]
    pull = "" if shown.pull is None else f", #{shown.pull}"
    return f"{shown.commit[:12]} {clean(shown.title)}{pull}"


def _whole_file(conflict: FileConflict) -> bytes:
    def side(content: bytes | None) -> bytes:
        if content is None:
            return b""
        return content if content.endswith(b"\n") or not content else content + b"\n"

    return b"".join(
        (
            b"<<<<<<< ours\n", side(conflict.ours), b"||||||| base\n", side(conflict.base),
            b"=======\n", side(conflict.theirs), b">>>>>>> theirs\n",
        )
    )  # fmt: skip


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _suggestions(conflict: FileConflict) -> Iterator[str]:
    """Yield the candidates for each region and their reliability, the likeliest first."""
    for number, region in enumerate(conflict.suggestions, 1):
        for place, one in enumerate(region[:MOST_SUGGESTIONS], 1):
            sure = reliability_text(one.reliability)
            yield f"@@ region {number}, candidate {place}: {sure} @@"
            lines = one.text.decode("utf-8", "surrogateescape").splitlines()
            shown = cut_off(lines, MOST_LINES, "… {}", "line")
            yield from (clean(line, keep="\t") for line in shown)


def conflicts_text(outcome: SeriesOutcome) -> Iterator[str]:
    """Yield the regions in conflict, with a few lines around each, and each file's candidates."""
    for patch in outcome.patches:
        if patch.verdict is Verdict.ABSORBED:
            yield from _wordings(patch)
        for conflict in patch.conflicts if patch.verdict is Verdict.CONFLICT else ():
            yield f"--- {clean(patch.name)}  {clean(conflict.new_path)}"
            if conflict.marked is None:
                yield f"    {conflict.reason}"
                continue
            lines = marked_text(outcome, patch, conflict).split(b"\n")
            for start, end in _regions(lines):
                yield f"@@ line {start + 1} @@"
                for line in lines[start:end]:
                    yield clean(line.decode("utf-8", "surrogateescape"), keep="\t")
            yield from _suggestions(conflict)


def _wordings(patch: PatchOutcome) -> Iterator[str]:
    for wording in patch.superseded:
        yield f"--- {clean(patch.name)}  {clean(wording.path)}  (superseded)"
        for sign, text in (("upstream", wording.upstream), ("patch", wording.patch)):
            yield f"@@ {sign} @@" if text else f"@@ {sign}: no such lines @@"
            lines = text.decode("utf-8", "surrogateescape").splitlines()
            yield from (clean(line, keep="\t") for line in lines)


def _regions(lines: list[bytes]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) for each range of lines to show: regions and the lines around them."""
    begin: int | None = None
    end = 0
    for number, line in enumerate(lines):
        if line.startswith(b"<<<<<<< "):
            if begin is not None and number - CONTEXT > end:
                yield begin, end
                begin = None
            begin = max(0, number - CONTEXT) if begin is None else begin
        elif line.startswith(b">>>>>>> "):
            end = min(len(lines), number + 1 + CONTEXT)
    if begin is not None:
        yield begin, end


def sources_text(sources: Sequence[Source]) -> Iterator[str]:
    """Yield one line for each source of pulled resolutions."""
    yield from (f"pulled from {clean(s.place)} at {s.commit[:12]}" for s in sources)


def pulled_text(pulled: Pulled, view: View) -> Iterator[str]:
    """Yield the result of `conflicts pull`: which resolutions were taken, and which were not."""
    would = view.verb("Would pull", "Pulled")
    told = [f"{len(pulled.new)} new"] + [f"{len(pulled.gone)} gone"] * bool(pulled.gone)
    count = counted(len(pulled.taken), "resolution")
    yield f"{would} {count} ({', '.join(told)}) from {clean(pulled.source)}"
    yield from _others(pulled.known, pulled.otherwise, "here")
    yield from (f"  not taken: {one.id}  {clean(one.reason)}" for one in pulled.refused)
    if pulled.taken and pulled.trusted_by:
        series = clean(", ".join(pulled.trusted_by))
        yield f"They count as your own for {series}, because the source is trusted."
    elif pulled.taken:
        yield "They are proposals: each is shown with its conflict, for you to accept."


def pushed_text(pushed: SharedConflicts, view: View) -> Iterator[str]:
    """Yield the result of `conflicts push`: what was pushed, and what differs on the remote."""
    would = view.verb("Would push", "Pushed")
    count = counted(len(pushed.pushed), "resolution")
    as_what = "" if pushed.commit is None else f" as {pushed.commit[:12]}"
    yield f"{would} {count} to {clean(pushed.remote)} {clean(pushed.branch)}{as_what}"
    yield from _others(pushed.known, pushed.otherwise, "there")


def _others(known: Sequence[str], otherwise: Sequence[str], where: str) -> list[str]:
    lines = [f"  already resolved in the same way {where}: {len(known)}"] if known else []
    return lines + [f"  resolved differently {where}, not replaced: {name}" for name in otherwise]
