"""Patches from the upstream itself: a commit of it, or one of its pull requests."""

from __future__ import annotations

import re

from patchmgr.engines.series.linear import Changes
from patchmgr.errors import PatchmgrError
from patchmgr.formats.header_edits import with_fields, with_origin
from patchmgr.formats.shown import shown
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.fast_import import Draft, write_commits
from patchmgr.plumbing.forks import (
    commit_dates,
    own_range,
    parents_of,
    range_mails,
    told_by,
    tree_changes,
)
from patchmgr.plumbing.git_process import text
from patchmgr.plumbing.git_upstream import GitUpstream
from patchmgr.plumbing.history import commit_of_pull, is_ancestor
from patchmgr.plumbing.workbench import Workbench
from patchmgr.services.patch_sources import SourcePatch
from patchmgr.services.session import Session

_PULL = re.compile(
    r"(?:#?|(?P<repository>https?://[^\s/]+/\S+?)/(?:-/)?(?:pull|merge_requests)/)(?P<number>[0-9]{1,9})"
)


def read_commit(session: Session, record: SeriesRecord, name: str) -> SourcePatch:
    """Return a commit of the series' upstream as a patch: a backport, once the pin lacks it.

    Raises PatchmgrError "usage" for a merge, "unknown-ref" where upstream has no such commit.
    """
    side = git_side(session, record)
    return _of_commit(side, side.resolve(name).commit)


def read_pull(session: Session, record: SeriesRecord, given: str) -> SourcePatch:
    """Return a pull request of the series' upstream, open or merged, as one patch.

    `given` is its number or its address. One that was squashed is the commit that upstream has.
    Raises PatchmgrError "usage" for the address of another repository, "unknown-ref" where
    upstream has no such pull request.
    """
    side = git_side(session, record)
    match = _PULL.fullmatch(given.strip())
    if match is None:
        raise PatchmgrError("usage", f"{shown(given)} is no number or address of a pull request")
    home = (side.url.removesuffix(".git").rstrip("/")) if side.url.startswith("http") else None
    if match["repository"] is not None and match["repository"] != home:
        raise PatchmgrError("usage", f"{shown(given)} is of another repository than {side.url}")
    number = int(match["number"])
    tip = side.fetch()
    landed = commit_of_pull(side.store, record.pin.commit, tip, number)
    if landed is not None:
        return _of_commit(side, landed[0])
    head = side.pull(number)
    known = commit_of_pull(side.store, head, record.pin.commit, number)
    if known is not None or is_ancestor(side.store, head, record.pin.commit):
        which = f": {known[0][:12]}" if known is not None else ""
        raise PatchmgrError("usage", f"the pin has the pull request {number} already{which}")
    base, commits = own_range(side.store, head, tip)
    if not commits:
        raise PatchmgrError("usage", f"the pull request {number} has no commit of its own")
    where = f"#{number}" if home is None else f"{home}/pull/{number}"
    fields = {"Origin": f"other, {head}", "Forwarded": where}
    label = f"pull request {number}"
    changes = _changes(side, base, head)
    first = told_by(side.reader, commits[0])
    subject, _, body = text(first.message).partition("\n")
    if len(commits) > 1:
        body = "".join(f"* {told_by(side.reader, each).subject}\n" for each in commits)
    message = f"{subject} (#{number})\n\n{body.strip()}".strip() + "\n"
    with Workbench([side.store]) as bench:
        after = {path: entry for path, (_, entry) in changes.items()}
        draft = Draft(first.author, message.encode("utf-8", "surrogateescape"), after)
        (made,) = write_commits(bench, base, [draft])
        mails = range_mails(bench.git_dir, "-1", made)
    if not mails:
        raise PatchmgrError("usage", f"the pull request {number} changes nothing")
    return SourcePatch(with_fields(mails[0], fields), label)


def git_side(session: Session, record: SeriesRecord) -> GitUpstream:
    """Return the git side of a series' upstream; raise PatchmgrError "usage" without one."""
    upstream = session.workspace.upstream(record.upstream)
    if upstream.git is None:
        hint = f"give it one: patchmgr upstream add {upstream.name} --git URL"
        raise PatchmgrError("usage", f"the upstream {upstream.name} has no git", (hint,))
    side = session.side(upstream, tracks="git")
    assert isinstance(side, GitUpstream)
    return side


def _of_commit(side: GitUpstream, commit: str) -> SourcePatch:
    before = parents_of(side.store, commit)
    if len(before) != 1:
        what = "a merge" if before else "the first commit"
        raise PatchmgrError("usage", f"{commit[:12]} is {what}, and no change of its own")
    _changes(side, before[0], commit)
    mails = range_mails(side.store, "-1", commit)
    if not mails:
        raise PatchmgrError("usage", f"{commit[:12]} changes nothing")
    mail = with_origin(mails[0], commit_dates(side.store, commit))
    raw = with_fields(mail, {"Origin": f"backport, {commit}"})
    return SourcePatch(raw, f"commit {commit[:12]}", commit=commit)


def _changes(side: GitUpstream, base: str, head: str) -> Changes:
    """Return what is between two commits; its contents are in the store."""
    trees = side.reader.tree_of(base), side.reader.tree_of(head)
    (changes,) = tree_changes(side.store, [trees])
    side.try_fetch_objects({e.blob for pair in changes.values() for e in pair if e is not None})
    return changes
