"""`decide`: record a person's decision about a patch in conflict, for later rebases."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.cause.pulls import pull_number
from patchmgr.engines.conflicts.decisions import change_digest
from patchmgr.engines.series.picking import SUFFIX, matching, pick, unknown_patch
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.decisions import DECISIONS, write_decisions
from patchmgr.formats.shown import shown
from patchmgr.model.decision import Decision, Ruling
from patchmgr.plumbing.history import commit_of_pull
from patchmgr.services.decisions import Undecided, read_decisions, read_undecided
from patchmgr.services.session import Session, subject_of
from patchmgr.services.upstreaming import find_follow_ups
from patchmgr.workspace import Change, Workspace

_PULL = re.compile(r"#?([0-9]{1,9})|.*/pull/([0-9]{1,9})(?:[/?#].*)?")
_COMMIT = re.compile(r"(?:.*/commit/)?([0-9a-f]{7,40})")


class Decided(Struct, frozen=True):
    """The result of `decide`: the decisions that were added, and those that were removed."""

    added: tuple[Decision, ...]
    removed: tuple[Decision, ...] = ()


def decide(session: Session, patch: str, ruling: Ruling, *, series: str | None, by: str) -> Decided:
    """Record a person's decision about a patch that the last rebase left undecided.

    The decision replaces an older one. Raises PatchmgrError "no-finding" if nothing is undecided.
    """
    with session.writing():
        named, patch = _named_patch(session.workspace, patch, series)
        if by and not by.isprintable():
            raise UsageError("--by must be one line of plain text")
        before = read_decisions(session.workspace)
        # a follow-up (a later upstream commit) that `by` names is not reported again
        known_of = _about_follow_up(session, named, patch, by) if ruling is Ruling.NEEDED else None
        if known_of is not None:
            _write(session, [*before, known_of])
            return Decided((known_of,))
        found = _found(session.workspace, named, patch)
        changes = {item.change for item in found}
        gone = [d for d in before if d.series == named and d.change in changes and d.passages]
        known = {d.passages: d for d in gone}
        items = [_with_commit(item, known.get(item.passages)) for item in found]
        added = tuple(_decision(session, item, ruling, by) for item in items)
        anew = {decision.passages for decision in added}
        removed = tuple(d for d in gone if d.ruling is not ruling or d.passages in anew)
        kept = [d for d in before if d not in removed]
        _write(session, [*kept, *added])
        return Decided(added, tuple(d for d in removed if d not in added))


def forget(session: Session, patch: str, *, series: str | None) -> Decided:
    """Remove all decisions about a patch; raise PatchmgrError "no-finding" if there are none."""
    with session.writing():
        before = read_decisions(session.workspace)
        named, patch = _named_patch(session.workspace, patch, series, decided=before)
        gone = [d for d in before if (d.series, d.patch) == (named, patch)]
        if not gone:
            hint = "patchmgr decide --list"
            raise PatchmgrError("no-finding", f"there is no decision about {patch}", hint)
        _write(session, [d for d in before if d not in gone])
        return Decided((), tuple(gone))


def _write(session: Session, decisions: Sequence[Decision]) -> None:
    content = write_decisions(decisions) if decisions else None
    session.workspace.make(Change({DECISIONS: content}))


def _named_patch(
    workspace: Workspace, given: str, series: str | None, decided: Sequence[Decision] = ()
) -> tuple[str, str]:
    """Return the series and the full name of a patch in a series or in `decided`."""
    known = {series: workspace.series_record(series)} if series else workspace.lock().series
    names = {name: list(workspace.series_file(name).names()) for name in sorted(known)}
    for decision in decided:
        if series in (None, decision.series):
            names.setdefault(decision.series, []).append(decision.patch)
    if len(names) == 1:
        ((only, each),) = names.items()
        return only, pick(given, tuple(dict.fromkeys(each)), series=only)
    found = [(s, n) for s in names for n in dict.fromkeys(matching(given, names[s], series=s))]
    exact = [(s, n) for s, n in found if given in (n, n.removesuffix(SUFFIX), f"{s}/{n}")]
    chosen = exact or found
    if len(chosen) == 1:
        return chosen[0]
    if chosen:
        having = list(dict.fromkeys(s for s, _ in chosen))
        hint = f"name the series: --series {having[0]}"
        message = f"more than one series has a patch {shown(given)}: {', '.join(having)}"
        raise UsageError(message, hint)
    every = [name for each in names.values() for name in each]
    raise unknown_patch(f"no series has a patch {shown(given)}", given, every)


def _found(workspace: Workspace, series: str, patch: str) -> tuple[Undecided, ...]:
    """Return the records of a patch that the last rebase left undecided."""
    every = read_undecided(workspace)
    found = {i.passages: i for i in every if (i.series, i.patch) == (series, patch)}
    if found:
        return tuple(found.values())
    hint = f"patchmgr rebase {series} --onto REF --dry-run"
    raise PatchmgrError(
        "no-finding", f"the last rebase of {series} left nothing to decide about {patch}", hint
    )


def _about_follow_up(session: Session, series: str, patch: str, by: str) -> Decision | None:
    """Return a decision on the later upstream commit that `by` names, or None if it names none."""
    patches, (number, commit) = session.workspace.patches(series), _read(by)
    for one in find_follow_ups(session, session.workspace.series_record(series), patches):
        is_named = commit is not None and one.commit.startswith(commit)
        is_named = is_named or (number is not None and pull_number(one.subject) == number)
        if is_named and one.patch == patch:
            change = change_digest(next(each for each in patches if each.name == patch))
            return Decision(
                series, patch, Ruling.NEEDED, change, (), by=by, commit=one.commit,
                subject=shown(one.subject), pull=pull_number(one.subject),
            )  # fmt: skip
    return None


def _read(by: str) -> tuple[int | None, str | None]:
    """Read `by` as a pull request and as a commit id; a short number may be either."""
    pull, commit = _PULL.fullmatch(by), _COMMIT.fullmatch(by)
    number = None if pull is None else int(pull[1] or pull[2])
    return number, None if commit is None else commit[1]


def _with_commit(item: Undecided, before: Decision | None) -> Undecided:
    """Return the item; if it has no upstream commit, add that of the earlier decision."""
    if item.commit is not None or before is None:
        return item
    return replace(item, commit=before.commit, subject=before.subject)


def _decision(session: Session, item: Undecided, ruling: Ruling, by: str) -> Decision:
    """Return a decision that cites the commit named by `by`, or else the one in `item`."""
    number, name = _read(by)
    commit, subject = item.commit, item.subject
    if number is not None:
        commit, subject = _of_pull(session, item, number)
    elif name is not None:
        commit, subject = _of_commit(session, item, name)
    pull = pull_number(subject) if number is None else number
    return Decision(
        item.series, item.patch, ruling, item.change, item.passages, by=by, commit=commit,
        subject=shown(subject), pull=pull,
    )  # fmt: skip


def _of_pull(session: Session, item: Undecided, number: int) -> tuple[str | None, str]:
    """Return the upstream commit of a pull request, and its subject."""
    record = session.workspace.series_record(item.series)
    upstream = session.upstream_of(record)
    # releases only: the commit and subject are those that the rebase found
    if not upstream.has_history:
        return item.commit, item.subject
    found = commit_of_pull(upstream.store, record.pin.commit, item.onto, number)
    if found is None:
        raise UsageError(
            f"no commit from {record.pin.ref} to {item.onto[:12]} mentions pull request {number}",
            "name the upstream commit, or give the reason as a text: --by TEXT",
        )
    return found


def _of_commit(session: Session, item: Undecided, name: str) -> tuple[str | None, str]:
    """Return the full id of an upstream commit, and its subject."""
    upstream = session.upstream_of(session.workspace.series_record(item.series))
    commit = upstream.reader.commit(name)
    if commit is None:
        raise PatchmgrError(
            "unknown-ref",
            f"upstream has no commit {name}",
            "name another commit, or give the reason as a text: --by TEXT",
        )
    return commit, subject_of(upstream.reader, commit)
