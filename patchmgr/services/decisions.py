"""Find the patches and findings that a person has to decide on, and read past decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import astuple, replace

from patchmgr.engines.series.picking import matching_ids
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.decisions import (
    ACCEPTED,
    DECISIONS,
    parse_accepted,
    parse_decisions,
    write_accepted,
    write_decisions,
)
from patchmgr.formats.shown import shown
from patchmgr.model.audit import Accepted, AuditFinding
from patchmgr.model.decision import Decision, Passage, Ruling
from patchmgr.model.outcome import SeriesOutcome
from patchmgr.plumbing.durable import is_read_only, unwritable
from patchmgr.services.session import Session
from patchmgr.services.work_area import read_in_progress
from patchmgr.workspace import PRIVATE, Change, Workspace

T = TypeVar("T", Decision, Accepted)
Saved = TypeVar("Saved", "Undecided", "OpenFinding")

RULINGS = {ruling.value: ruling for ruling in Ruling}
"""The rulings, keyed by their names on the command line."""


def read_decisions(workspace: Workspace) -> tuple[Decision, ...]:
    """Return the decisions recorded in a workspace, if there are any."""
    raw = workspace.find(DECISIONS)
    return () if raw is None else parse_decisions(raw)


def renamed_files(
    workspace: Workspace, old: tuple[str, str], new: tuple[str, str]
) -> dict[str, bytes | None]:
    """Return the files of decisions and accepted findings that change if a patch is renamed.

    `old` and `new` are (series, patch).
    """

    def renamed(one: T) -> T:
        is_about = (one.series, one.patch) == old
        return replace(one, series=new[0], patch=new[1]) if is_about else one

    decisions, accepted = read_decisions(workspace), read_accepted(workspace)
    found = dict[str, bytes | None]()
    if decisions != (after := tuple(map(renamed, decisions))):
        found[DECISIONS] = write_decisions(after)
    if accepted != (now := tuple(map(renamed, accepted))):
        found[ACCEPTED] = write_accepted(now)
    return found


def decisions_on(workspace: Workspace, series: str) -> tuple[Decision, ...]:
    """Return the decisions about a series' patches that refer to passages of upstream's text."""
    return tuple(d for d in read_decisions(workspace) if d.series == series and d.passages)


_FILE = f"{PRIVATE}/findings.json"


class Undecided(Struct, frozen=True, rename={"rows": "passages"}):
    """A patch that a rebase left in conflict or undecided."""

    series: str
    patch: str
    onto: str  # the target of the rebase
    change: str  # identifies the patch's change
    rows: tuple[tuple[str, int, str, int], ...]  # passages of upstream's text
    commit: str | None  # the upstream commit that seems to contain the patch or to conflict with it
    subject: str  # of the commit

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Return the passages of upstream's text to which a decision on the patch has to refer."""
        return tuple(Passage(*row) for row in self.rows)


def save_undecided(workspace: Workspace, outcomes: Sequence[SeriesOutcome]) -> None:
    """Save the patches that a rebase left undecided; replace those saved for the same series."""
    _keep(workspace, _FILE, read_undecided(workspace), outcomes, _undecided)


def _keep(
    workspace: Workspace,
    path: str,
    before: Sequence[Saved],
    outcomes: Sequence[SeriesOutcome],
    rows: Callable[[SeriesOutcome], Iterator[Saved]],
) -> None:
    """Save the rows of each outcome; keep only those rows in `before` that are of other series.

    An outcome is left out if a rebase of its series onto another state is in progress.
    """
    in_progress = read_in_progress(workspace)
    states = {} if in_progress is None else dict(in_progress.states)
    own = [one for one in outcomes if states.get(one.name, one.onto.commit) == one.onto.commit]
    again = {outcome.name for outcome in own}
    found = [one for one in before if one.series not in again]
    found += chain.from_iterable(map(rows, own))
    if not found and not (workspace.root / path).exists():
        return
    try:
        workspace.keep(path, found)
    except OSError as fault:
        if not is_read_only(workspace.root, fault):  # a read-only workspace allows dry runs
            raise unwritable(path, fault) from fault


def _undecided(outcome: SeriesOutcome) -> Iterator[Undecided]:
    for patch in outcome.patches:
        if patch.basis is None:
            continue
        known = [(likely.commit, likely.subject) for likely in patch.likely]
        found = (*patch.evidence, *patch.cause)
        known += [(one.commit, one.subject) for one in found]
        commit, subject = known[0] if known else (None, "")
        change, rows = patch.basis.change, tuple(map(astuple, patch.basis.passages))
        yield Undecided(
            outcome.name, patch.name, outcome.onto.commit, change, rows, commit, subject
        )


def read_undecided(workspace: Workspace) -> tuple[Undecided, ...]:
    """Return the saved undecided patches; there are none if the file cannot be read."""
    return workspace.kept(_FILE, tuple[Undecided, ...]) or ()


def decided_now(workspace: Workspace) -> Mapping[tuple[str, str], Ruling]:
    """Return the rulings on what the last rebase left undecided, by series and patch.

    A decision counts until the patch, or a passage of upstream's text that it refers to, changes.
    """
    known = {(d.series, d.patch, d.change, d.passages): d.ruling for d in read_decisions(workspace)}
    found = ((i.series, i.patch, i.change, i.passages) for i in read_undecided(workspace))
    return {row[:2]: known[row] for row in found if row in known}


_OPEN = f"{PRIVATE}/audit.json"


class OpenFinding(Struct, frozen=True):
    """An audit finding that stopped the last rebase of a series."""

    series: str
    patch: str
    finding: AuditFinding


def read_accepted(workspace: Workspace) -> tuple[Accepted, ...]:
    """Return the findings accepted in a workspace, if there are any."""
    raw = workspace.find(ACCEPTED)
    return () if raw is None else parse_accepted(raw)


def reasons_to_accept(workspace: Workspace) -> Mapping[str, str]:
    """Map the id of each accepted finding to the reason for accepting it."""
    return {one.id: one.because for one in read_accepted(workspace)}


def keep_open_findings(workspace: Workspace, outcomes: Sequence[SeriesOutcome]) -> None:
    """Save the findings that stopped a rebase; replace those saved for the same series."""
    _keep(workspace, _OPEN, open_findings(workspace), outcomes, _stopping)


def _stopping(outcome: SeriesOutcome) -> Iterator[OpenFinding]:
    """Yield the open findings, with their texts escaped to valid UTF-8, which JSON requires."""
    for patch in outcome.patches:
        for one in patch.open_findings:
            finding = replace(one, path=shown(one.path), text=shown(one.text))
            yield OpenFinding(outcome.name, shown(patch.name), finding)


def open_findings(workspace: Workspace) -> tuple[OpenFinding, ...]:
    """Return the findings that stopped the last rebases; none if the file cannot be read."""
    return workspace.kept(_OPEN, tuple[OpenFinding, ...]) or ()


def accept_finding(session: Session, name: str, *, because: str) -> tuple[Accepted, ...]:
    """Accept the finding that stopped a rebase and whose id starts with `name`.

    Raises PatchmgrError "unknown-conflict" if no rebase stopped at such a finding, "not-accepted"
    if it cannot be accepted, and "usage" if the reason is not one line of plain text.
    """
    because = reason_in(because, f"patchmgr conflicts accept {name} --because TEXT")
    with session.writing():
        every = {one.finding.id: one for one in open_findings(session.workspace)}
        found = every[match_id(name, every, "is not the id of a finding of the rebase in progress")]
        if not found.finding.can_be_accepted:
            hint = "correct the patch or its Ensures field, then run patchmgr rebase --continue"
            message = f"{shown(found.patch)} {found.finding.text}: this finding cannot be accepted"
            raise PatchmgrError("not-accepted", message, hint)
        new = Accepted(found.finding.id, found.series, found.patch, found.finding.text, because)
        raw = write_accepted((*read_accepted(session.workspace), new))
        session.workspace.make(Change({ACCEPTED: raw}))
        return (new,)


def reason_in(because: str, *hints: str) -> str:
    """Return the reason in --because; raise PatchmgrError "usage" unless it is one line of text."""
    if not because.strip() or not because.isprintable():
        raise UsageError("--because must be one line of plain text", *hints)
    return because.strip()


class ListedFinding(Struct, frozen=True):
    """A finding in the output of `conflicts list`; `because` is the reason if it was accepted."""

    id: str
    series: str
    patch: str
    text: str
    because: str | None = None


def list_findings(workspace: Workspace, beginning: str = "") -> tuple[ListedFinding, ...]:
    """Return the open and accepted findings whose id starts with `beginning`, sorted by id."""
    found = {
        one.finding.id: ListedFinding(one.finding.id, one.series, one.patch, one.finding.sentence())
        for one in open_findings(workspace)
    }
    for one in read_accepted(workspace):
        found[one.id] = ListedFinding(one.id, one.series, one.patch, one.text, one.because)
    return tuple(found[name] for name in sorted(found) if name.startswith(beginning))


def is_finding(workspace: Workspace, name: str) -> bool:
    """Return whether the id of an open or accepted finding starts with `name`.

    Raises PatchmgrError "unknown-conflict" if the id of a conflict starts with `name`, too.
    """
    ids = {one.finding.id for one in open_findings(workspace)}
    ids |= {one.id for one in read_accepted(workspace)}
    found, others = matching_ids(name, sorted(ids)), matching_ids(name, workspace.conflicts())
    if found and others:
        raise several_ids(name, (*found, *others))
    return bool(found)


def several_ids(name: str, found: Sequence[str]) -> PatchmgrError:
    """Return an error that says that several ids start with `name`."""
    message = f"{shown(name)} is ambiguous; {len(found)} ids start with it: {', '.join(found[:5])}"
    return PatchmgrError("unknown-conflict", message, "patchmgr conflicts list")


def match_id(name: str, ids: Iterable[str], problem: str) -> str:
    """Return the only id that starts with `name`; raise "unknown-conflict" for none or several."""
    found = matching_ids(name, ids)
    if len(found) > 1:
        raise several_ids(name, found)
    if not found:
        hint = "patchmgr conflicts list"
        raise PatchmgrError("unknown-conflict", f"{shown(name)} {problem}", hint)
    return found[0]


def forget_finding(session: Session, name: str) -> tuple[str, ...]:
    """Revoke the acceptance of the finding whose id starts with `name`, and return the id."""
    with session.writing():
        known = read_accepted(session.workspace)
        gone = match_id(name, (one.id for one in known), "is not accepted")
        raw = write_accepted(one for one in known if one.id != gone)
        session.workspace.make(Change({ACCEPTED: raw}))
        return (gone,)
