"""Resolutions of other workspaces as text: those pulled and those pushed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from patchmgr.render.clean import clean, counted

if TYPE_CHECKING:
    from patchmgr.commands.sharing import Pulled, Pushed
    from patchmgr.model.recorded import Source


def sources_text(sources: Sequence[Source]) -> str:
    """Return one line for each source that was pulled."""
    return "".join(f"pulled from {clean(s.place)} at {s.commit[:12]}\n" for s in sources)


def pulled_text(pulled: Pulled) -> str:
    """Return what a source has, what was not taken from it, and how the rest is used."""
    would = "Would pull" if pulled.is_dry_run else "Pulled"
    told = [f"{len(pulled.new)} new"] + [f"{len(pulled.gone)} gone"] * bool(pulled.gone)
    lines = [
        f"{would} {counted(len(pulled.taken), 'resolution')} ({', '.join(told)})"
        f" from {clean(pulled.source)}"
    ]
    lines += _others(pulled.known, pulled.otherwise, "here", "which stays")
    lines += [f"  not taken: {one.id}  {clean(one.reason)}" for one in pulled.refused]
    if pulled.taken and pulled.trusted_by:
        lines.append(f"They count as your own for {clean(', '.join(pulled.trusted_by))}.")
    elif pulled.taken:
        lines.append("They are proposals: a conflict shows them, and you accept what is right.")
    return "".join(f"{line}\n" for line in lines)


def pushed_text(pushed: Pushed) -> str:
    """Return what a remote has after a push."""
    would = "Would push" if pushed.is_dry_run else "Pushed"
    count = counted(len(pushed.pushed), "resolution")
    as_what = "" if pushed.commit is None else f" as {pushed.commit[:12]}"
    lines = [f"{would} {count} to {clean(pushed.remote)} {clean(pushed.branch)}{as_what}"]
    lines += _others(pushed.known, pushed.otherwise, "there", "which stays")
    return "".join(f"{line}\n" for line in lines)


def _others(known: Sequence[str], otherwise: Sequence[str], where: str, what: str) -> list[str]:
    lines = [f"  resolved {where} in the same way: {len(known)}"] if known else []
    return lines + [f"  resolved {where} in another way, {what}: {name}" for name in otherwise]
