"""Find the upstream commits, pull requests and releases that the header of a patch names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from patchmgr.engines.rebase.rebase import Judged
from patchmgr.formats.late_patterns import late_pattern
from patchmgr.model.outcome import Likely, PatchOutcome, Reliability, Verdict
from patchmgr.model.patch import Patch
from patchmgr.model.ports import Named

NAMED_CONFIDENCE = 0.5  # for a commit that only the header names, without a comparison of texts
_PULL_URL = late_pattern(
    r"https?://[^\s/]+/([^\s/]+/[^\s/]+)/(?:-/)?(?:pull|merge_requests)/([0-9]{1,9})\b"
)
_PULL = late_pattern(r"(?<![\w/#&])#([0-9]{1,9})\b")
_COMMIT = late_pattern(r"(?<![\w./-])[0-9a-f]{12,40}(?![\w-])")
_RELEASE = late_pattern(r"(?<![\w.])v?([0-9]+(?:\.[0-9]+)+[\w.]*):\s+(?=\S*(?:/pull/|#)[0-9])")
_OWNER = late_pattern(r"[:/]([^:/\s]+/[^:/\s]+?)(?:\.git)?/?$")
# The fields that can say that upstream has the patch, the most explicit first. Some fields say so
# only if their value matches a pattern. Fields that name a bug do not tell which commit fixed it.
_ALWAYS = None
_FIELDS = {
    "applied-upstream": _ALWAYS,
    "upstream-status": late_pattern(r"\s*(?:backport|accepted|submitted|pending)\b", re.IGNORECASE),
    "git-commit": _ALWAYS,
    "patch-mainline": _ALWAYS,
    "origin": late_pattern(r"\s*(?:upstream|backport)\b", re.IGNORECASE),
    "drop-when": _ALWAYS,
    "forwarded": _ALWAYS,
}
_REFERENCE = rf"(?:{_PULL_URL.pattern}|{_PULL.pattern}|{_COMMIT.pattern})"
# `it is there upstream (0.24.0: #7, in other words)` and `#7 is merged` say that #7 has the patch.
# Any other text, such as `Words. #7 only moves the two sites`, is only a remark about #7.
_ANSWER = late_pattern(rf"\((?:[^():#]*:\s+)?{_REFERENCE}\s*(?:,[^().;]*)?\)\s*\.?\s*\Z")
_LANDED = late_pattern(
    rf"\s*(?:upstream\s+(?:has|takes|merges)\s+)?{_REFERENCE}"
    r"(?:\s+(?:is|was|has been|lands?|landed)\b(?:\s+(?:in|merged|released|there|upstream))*)?"
    r"\s*\.?\s*\Z"
)


Find = Callable[[Named], "tuple[str, str] | None"]
"""A function that returns the id and subject of a named commit, or None if it is not new."""


def named_in(patch: Patch, repository: str | None) -> Iterator[Named]:
    """Yield the commits, pull requests and releases that contain a patch, as its header says."""
    fields = {name.lower(): (name, value) for name, value in patch.fields.items()}
    # A local path does not tell the owner of the repository.
    is_forge = repository is not None and not repository.startswith(("file:", "/", "."))
    owner = _OWNER.search(repository) if repository is not None and is_forge else None
    for key, words in _FIELDS.items():
        name, value = fields.get(key, ("", ""))
        if words is not None and words.match(value) is None:
            continue
        if key == "drop-when" and not (_LANDED.match(value) or _ANSWER.search(value)):
            continue
        for match in _RELEASE.finditer(value):
            yield Named(name, release=match[1])
        for match in _PULL_URL.finditer(value):
            if owner is None or owner[1].lower() == match[1].lower():
                yield Named(name, pull=int(match[2]))
        rest = _PULL_URL.sub(" ", value)
        for match in _PULL.finditer(rest):
            yield Named(name, pull=int(match[1]))
        for match in _COMMIT.finditer(rest):
            yield Named(name, commit=match[0])


NAMED = Reliability("header")
"""The reliability of proposals from headers, which has not been measured."""


def with_named(
    judged: Sequence[Judged], patches: Sequence[Patch], find: Find, repository: str | None
) -> tuple[Judged, ...]:
    """Propose to drop each patch in conflict whose header names a commit that is new upstream."""
    return tuple(
        replace(one, outcome=_with_named(one.outcome, patch, find, repository))
        for one, patch in zip(judged, patches, strict=True)
    )


def _with_named(
    outcome: PatchOutcome, patch: Patch, find: Find, repository: str | None
) -> PatchOutcome:
    if outcome.verdict is not Verdict.CONFLICT:
        return outcome
    likely = {one.commit: one for one in outcome.likely}
    for named in named_in(patch, repository):
        found = find(named)
        if found is None:
            continue
        commit, subject = found
        paths = tuple(dict.fromkeys(conflict.new_path for conflict in outcome.conflicts))
        new = Likely(commit, subject, named.pull, NAMED_CONFIDENCE, paths, None, NAMED)
        known = likely.get(commit, new)
        likely[commit] = replace(known, named_by=known.named_by or named.field)
    if not any(one.named_by for one in likely.values()):
        return outcome
    conflicts = tuple(replace(c, proposal=c.proposal or "absorbed") for c in outcome.conflicts)
    return replace(outcome, likely=tuple(likely.values()), conflicts=conflicts)
