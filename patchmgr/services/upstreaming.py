"""Find the upstream commits that patch headers name, and later commits that refer to them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from patchmgr.engines.series.follow_ups import follow_ups, indexed, landed, names_of, searched
from patchmgr.model.outcome import SeriesOutcome
from patchmgr.model.patch import Patch
from patchmgr.model.upstream import Pin, SeriesRecord
from patchmgr.model.upstream_status import FollowUp
from patchmgr.plumbing.git_upstream import TAGS, GitUpstream, first_release
from patchmgr.plumbing.history import messages_with
from patchmgr.services.decisions import read_decisions
from patchmgr.services.patch_sources import git_upstream_of
from patchmgr.services.session import Session

_PULL = re.compile(r"\s*\(#\d+\)")


def first_releases(
    session: Session, record: SeriesRecord, names: Iterable[str | None]
) -> Mapping[str, str | None]:
    """Map the full id of each named commit to the first release that contains it, or to None."""
    wanted = [*filter(None, names)]
    if not wanted or session.workspace.upstream(record.upstream).git is None:
        return {}
    upstream = git_upstream_of(session, record)
    commits = filter(None, map(upstream.reader.commit, wanted))
    return {commit: first_release(upstream.store, commit) for commit in commits}


def pinned_commit(
    session: Session, record: SeriesRecord, pin: Pin
) -> tuple[GitUpstream, str] | None:
    """Return the git repository of a series' upstream, and the commit there to which a pin refers.

    Returns None without a git repository, or without a tag there for a pinned release.
    """
    if session.workspace.upstream(record.upstream).git is None:
        return None
    upstream, names = git_upstream_of(session, record), [pin.commit]
    if pin.archive is not None:
        version = session.upstream_of(record).version_of(pin)
        names = [f"{TAGS}v{version}", f"{TAGS}{version}"]
    commit = next((found for name in names if (found := upstream.reader.commit(name))), None)
    return None if commit is None else (upstream, commit)


def find_follow_ups(
    session: Session, record: SeriesRecord, patches: Sequence[Patch], *onto: Pin
) -> tuple[FollowUp, ...]:
    """Return the upstream commits after the pin, up to the tip and `onto`, that refer to a patch.

    Such a commit and the patch's header mention the same commit or pull request. Commits that a
    person marked as known are left out.
    """
    url = session.workspace.upstream(record.upstream).git
    words = searched(name for patch in patches for name in names_of(patch, url))
    found = pinned_commit(session, record, record.pin) if words else None
    if found is None:
        return ()
    upstream, base = found
    ends = [one[1] for pin in onto if (one := pinned_commit(session, record, pin)) is not None]
    tips = [*filter(None, (upstream.tip(),)), *ends]
    messages = messages_with(upstream.store, base, tips, words) if tips else ()
    decided = read_decisions(session.workspace)
    known = {(d.patch, d.commit) for d in decided if d.series == record.name}
    told = follow_ups(patches, messages, url)
    return tuple(one for one in told if (one.patch, one.commit) not in known)


def with_follow_ups(
    session: Session, record: SeriesRecord, patches: Sequence[Patch], outcome: SeriesOutcome
) -> SeriesOutcome:
    """Return an outcome with warnings about new upstream commits that concern its patches."""
    staying = {one.name for one in outcome.patches if one.is_carried or one.is_left}
    kept = [patch for patch in patches if patch.name in staying]
    told = defaultdict[str, list[str]](list)
    for one in find_follow_ups(session, record, kept, outcome.onto):
        told[one.patch].append(f"{one.sentence()}  (see: patchmgr status)")
    carried = {one.name for one in outcome.patches if one.is_carried}
    kept = [patch for patch in kept if patch.name in carried]
    for patch, warning in _landed(session, record, kept, outcome.onto):
        told[patch].append(warning)
    return replace(
        outcome,
        patches=tuple(replace(p, warnings=(*p.warnings, *told[p.name])) for p in outcome.patches),
    )


def _landed(
    session: Session, record: SeriesRecord, patches: Sequence[Patch], onto: Pin
) -> Iterator[tuple[str, str]]:
    """Yield (patch, warning) for each patch whose header names a commit that is new in `onto`."""
    url = session.workspace.upstream(record.upstream).git
    named = [patch for patch in patches if names_of(patch, url)]
    ends = [pinned_commit(session, record, pin) for pin in ((record.pin, onto) if named else ())]
    if not named or None in ends:
        return
    (upstream, base), (_, target) = filter(None, ends)
    subjects = messages_with(upstream.store, base, (target,), (), form="%s")
    # GitHub leaves the numbers of pull requests out of the subjects of reverts
    commits, titles = indexed(subjects), [_PULL.sub("", subject) for _, subject in subjects]
    for patch in named:
        found = landed(patch, commits, url)
        if found is None:
            continue
        where, revert = f"{found[0][:12]} {found[1]}", f'Revert "{_PULL.sub("", found[1])}"'
        if not any(revert in title for title in titles):
            where = f"this patch comes from {where}, which upstream now has"
            yield patch.name, f"{where}; is the rest of the patch still needed?"
