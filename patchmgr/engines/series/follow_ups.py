"""Find upstream commits that claim to fix, revert or restore what a patch of the series does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from patchmgr.engines.cause.pulls import pull_number
from patchmgr.engines.conflicts.header_references import named_in
from patchmgr.formats.header_edits import IMPORTED_FROM
from patchmgr.formats.late_patterns import late_pattern
from patchmgr.formats.upstream_status import standing_of
from patchmgr.model.patch import Patch
from patchmgr.model.upstream_status import FollowUp, Stance

SHORT = 7  # least number of hexadecimal digits that name a commit
_TOLD = late_pattern(
    r"""^[ \t*-]*\(?(?:(?P<fixes>fix(?:e[sd])?)|(?P<reverts>(?:this[ ])?reverts)
    |(?P<brings>cherry[ -]picked[ ]from)):?[ \t]+(?:(?:commit|PR|pull[ ]request):?[ \t]+)?
    (?:https?://\S+?/(?P<home>[\w.-]+/[\w.-]+)/(?:-/)?(?:commit|pull|merge_requests)/)?
    (?:(?P<commit>[0-9a-f]{7,40})\b|(?:(?P<owner>[\w.-]+/[\w.-]+)?[#!]|(?<=/))(?P<pull>\d{1,9})\b)
    """,
    re.MULTILINE | re.IGNORECASE | re.VERBOSE,
)
_REVERT = late_pattern(r'(?:\[[^\]]*\]\s*)?Revert "(?P<title>.*)"', re.IGNORECASE)
_PICKED = late_pattern(rb"^\(cherry picked from commit ([0-9a-f]{7,40})", re.MULTILINE)


def names_of(patch: Patch, repository: str | None) -> frozenset[str]:
    """Return the upstream commits and pull requests that a patch comes from, as ids and `#N`."""
    named = tuple(named_in(patch, repository))
    found = {one.commit for one in named} | {f"#{one.pull}" for one in named if one.pull}
    found |= {match.decode() for match in _PICKED.findall(patch.message)}
    found.add(patch.says(IMPORTED_FROM))
    pull = pull_number(patch.subject)
    if pull is not None and standing_of(patch).stance is Stance.BACKPORT:
        found.add(f"#{pull}")
    return frozenset(name for name in found if name is not None)


Commits = Mapping[str, tuple[str, str]]
"""The id and subject of each commit, keyed by the first digits of the id and by pull request."""


def indexed(commits: Iterable[tuple[str, str]]) -> Commits:
    """Map the first digits of each commit's id, and its pull request (`#N`), to (id, subject)."""
    found = dict[str, tuple[str, str]]()
    for commit, subject in commits:
        found[commit[:SHORT]] = found[f"#{pull_number(subject)}"] = commit, subject
    return found


def landed(patch: Patch, commits: Commits, repository: str | None) -> tuple[str, str] | None:
    """Return the id and subject of the commit in `commits` that a patch comes from, or None."""
    for name in sorted(names_of(patch, repository)):
        commit, subject = commits.get(name if name[0] == "#" else name[:SHORT], ("", ""))
        if commit and (name[0] == "#" or commit.startswith(name)):
            return commit, subject
    return None


def searched(names: Iterable[str]) -> tuple[str, ...]:
    """Return words by which to search for commit messages that refer to one of `names`.

    Each such message contains one of the words. `names` are commit ids and pull requests (`#N`).
    """
    words = {name if name[0] == "#" else name[:SHORT] for name in names}
    return tuple(sorted(words | {f"pull/{name[1:]}" for name in names if name[0] == "#"}))


def follow_ups(
    patches: Sequence[Patch], messages: Sequence[tuple[str, str]], repository: str | None
) -> Iterator[FollowUp]:
    """Yield commits outside the series that fix, revert or restore what a patch backports."""
    known = {patch.name: names_of(patch, repository) for patch in patches}
    carried = {name for names in known.values() for name in names}
    for commit, message in messages:
        subject = message.partition("\n")[0].strip()
        if any(is_same(commit, name) for name in carried):
            continue
        told = dict.fromkeys(_told(subject, message, repository or ""))
        for patch, names in known.items():
            for kind, of in told:
                if any(is_same(of, name) for name in names):
                    yield FollowUp(patch, kind, of[:12], commit, subject)
                    break


def reverted(subject: str, message: str) -> tuple[str, ...]:
    """Return the commits and pull requests (`#N`) that a commit reverts, as its message says."""
    return tuple(name for kind, name in _told(subject, message, "") if kind == "reverts")


def _told(subject: str, message: str, repository: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, name) for each commit or pull request that a message refers to.

    The kind is `fixes`, `reverts` or, for a cherry-pick, `brings`.
    """
    title = _REVERT.match(subject)
    pull = None if title is None else pull_number(title["title"])
    if pull is not None:
        yield "reverts", f"#{pull}"
    for match in _TOLD.finditer(message):
        home = match["home"] or match["owner"] or ""
        if home.lower() not in repository.lower():
            continue  # the name refers to another repository
        kind = next(name for name in ("fixes", "reverts", "brings") if match[name])
        yield kind, match["commit"] or f"#{match['pull']}"


def is_same(one: str, other: str) -> bool:
    """Return whether two names, each a commit id or `#N`, may stand for the same commit."""
    if "#" in (one[0], other[0]):
        return one == other
    return one.startswith(other) or other.startswith(one)
