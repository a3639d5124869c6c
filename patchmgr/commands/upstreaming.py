"""`status --upstreaming`: the upstream status and the next step of each patch."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.conflicts.header_references import named_in
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.formats.upstream_status import backported, standing_of
from patchmgr.model.outcome import PatchOutcome, Verdict
from patchmgr.model.patch import Patch
from patchmgr.model.upstream_status import Stance
from patchmgr.plumbing.pull_requests import pull_state
from patchmgr.services.carry import CarryOptions
from patchmgr.services.load import Parents, rebase_run
from patchmgr.services.series import load_series, whole_stacks
from patchmgr.services.session import Session
from patchmgr.services.upstreaming import first_releases

_DATE = re.compile(r"\b(\d{4}-\d{2}-\d{2})\b")


class Upstreamed(Struct, frozen=True):
    """The upstream status of a patch, according to its header and a rebase onto upstream's tip."""

    series: str
    patch: str
    stance: Stance
    detail: str
    since: str | None  # YYYY-MM-DD, from the header, or else the author date
    # of a rebase onto the tip as of the last fetch; None if that is not possible
    verdict: Verdict | None
    commit: str | None  # the upstream commit that has the patch, or that its header names
    release: str | None = None  # the first one with that commit
    pull: int | None = None  # the pull request's number
    state: str | None = None  # what gh says about the pull request; None if not asked
    next: str = ""


def upstreaming(session: Session, *, asks: bool) -> tuple[Upstreamed, ...]:
    """Return the upstream status of each patch; with `asks`, ask gh about pull requests."""
    found = []
    for stack in whole_stacks(session, ()):
        on_tip = _on_tip(session, stack)
        for name in stack:
            record, patches = session.workspace.series_record(name), session.workspace.patches(name)
            git = session.workspace.upstream(record.upstream).git
            rows = [_row(name, each, on_tip.get((name, each.name)), git) for each in patches]
            landed = first_releases(session, record, [row.commit for row in rows])
            for row in rows:
                commit = next((c for c in landed if c.startswith(row.commit or "-")), row.commit)
                row = replace(row, commit=commit, release=landed.get(commit or ""))
                if asks and git is not None and row.pull is not None:
                    row = replace(row, state=pull_state(git, row.pull))
                found.append(replace(row, next=next_step(row)))
    return tuple(found)


def _on_tip(session: Session, stack: Sequence[str]) -> Mapping[tuple[str, str], PatchOutcome]:
    """Rebase a stack onto the tracked state as last fetched; return outcomes by (series, patch).

    If the rebase fails, the reason is printed, and the result is empty.
    """
    try:
        loaded = [load_series(session, name) for name in stack]
        upstream = loaded[0].upstream
        tip = upstream.distance(loaded[0].record.pin)[0]
        if tip is None:
            message = "it has not been fetched; run: patchmgr upstream fetch"
            raise PatchmgrError("unknown-ref", message)
        target, parents = upstream.resolve(tip), Parents()
        options = CarryOptions(audits_conflicts=False)
        with rebase_run(session, upstream.store, options) as run:
            outcomes = [run.carry_onto(one, target, parents) for one in loaded]
    except PatchmgrError as fault:
        session.say(f"{', '.join(stack)} cannot be tried on upstream's tip: {fault.message}")
        return {}
    return {(one.name, patch.name): patch for one in outcomes for patch in one.patches}


def _row(series: str, patch: Patch, outcome: PatchOutcome | None, git: str | None) -> Upstreamed:
    """Return the status of a patch, as far as it is known without upstream's repository and gh."""
    standing = standing_of(patch)
    evidence = () if outcome is None else outcome.evidence
    pulls = (*(one.pull for one in evidence[-1:]), *(one.pull for one in named_in(patch, git)))
    return Upstreamed(
        series,
        patch.name,
        standing.stance,
        standing.detail,
        _since(patch, standing.detail),
        None if outcome is None else outcome.verdict,
        evidence[-1].commit if evidence else backported(patch),
        pull=next(filter(None, pulls), None),
    )


def _since(patch: Patch, detail: str) -> str | None:
    """Return the date of a status: from its `detail`, else Last-Update, else the author date."""
    for text in (detail, patch.says("Last-Update") or ""):
        match = _DATE.search(text)
        if match is not None:
            return match[1]
    if patch.author is None or not patch.author.date:
        return None
    seconds = int(patch.author.date.split(" ")[0])
    return datetime.fromtimestamp(seconds, timezone.utc).date().isoformat()


def next_step(row: Upstreamed) -> str:
    """Return the next step for a patch, or "" if there is nothing to do."""
    rebase, name = f"patchmgr rebase {row.series} --onto", shown(row.patch)
    edit, first = (
        f"patchmgr edit {name} --series {row.series} --field",
        row.release or "no release yet",
    )
    if row.verdict in (Verdict.ABSORBED, Verdict.PARTIAL):
        part = " in part" if row.verdict is Verdict.PARTIAL else ""
        where = f" in {row.commit[:12]} ({first})" if row.commit is not None else ""
        return f"landed{part}{where}; to drop it: {rebase} {row.release or 'upstream/main'}"
    if row.state == "CLOSED":
        return f'closed without being merged; to say why: {edit} "Upstream-Status=Denied [REASON]"'
    if row.state == "MERGED":
        fetch = "to look again: patchmgr upstream fetch; then"
        return f"merged, but not found on upstream's tip; {fetch} {rebase} REF"
    if row.verdict in (Verdict.CONFLICT, Verdict.BLOCKED):
        return f"in conflict on upstream's tip; to see it: {rebase} upstream/main --dry-run"
    if row.stance is Stance.BACKPORT:
        named = (
            f"backport of {row.commit[:12]} ({first})"
            if row.commit
            else "the header names no commit"
        )
        if row.verdict is None:
            return f"{named}; to compare it with upstream: patchmgr upstream fetch"
        rest = f"to see more: {rebase} upstream/main --dry-run"
        return f"{named}, but upstream's tip lacks its effect; {rest}"
    if row.stance is Stance.SUBMITTED:
        return "wait for upstream" + (
            "" if row.state else "; to see whether it is closed: patchmgr status --upstreaming --gh"
        )
    if row.stance is Stance.PENDING:
        sent = f"patchmgr branch {row.series} --only {name} --repo CLONE --push REMOTE"
        return f"send it: {sent}; then {edit} Forwarded=URL"
    return ""
