"""A patch's status upstream, read from header fields of DEP-3, Yocto and SUSE."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from patchmgr.errors import PatchmgrError
from patchmgr.formats.late_patterns import late_pattern
from patchmgr.formats.shown import shown
from patchmgr.model.patch import Patch
from patchmgr.model.upstream_status import Stance, UpstreamStanding

STATUS = "Upstream-Status"
MAINLINE = "Patch-mainline"
_COMMIT = late_pattern(r"(?<![\w./-])[0-9a-f]{7,40}(?![\w-])")
_VERSION = r"v?\d+(?:\.\d+)+\S*"
_STATUS = late_pattern(r"(?P<word>[A-Za-z-]+)\s*[\[(,:-]?\s*(?P<detail>.*?)[\])]?", re.DOTALL)
_STRICT = late_pattern(rf"(?P<word>{'|'.join(s.value for s in Stance)})(?: \[(?P<detail>.+)\])?")
_OLD_WORDS = {"accepted": Stance.BACKPORT}  # Yocto's word until 2023
# The words, and what follows them: scripts/git_sort and suse_git/header.py of kernel-source.
_MAINLINE = (
    (late_pattern(rf"(?P<detail>{_VERSION}(?: or .+\(next release\))?)"), Stance.BACKPORT),
    (late_pattern(r"(?P<detail>Queued\b.*)"), Stance.BACKPORT),
    (late_pattern(r"Submitted,?\s+(?P<detail>.+)"), Stance.SUBMITTED),
    (late_pattern(r"(?:Not yet|No),?\s+(?P<detail>.+)"), Stance.PENDING),
    (late_pattern(r"(?P<detail>Depends on\s+.+)"), Stance.PENDING),
    (late_pattern(r"Never,?\s+(?P<detail>.+)"), Stance.INAPPROPRIATE),
)
_YES = late_pattern(r"yes\b[,;\s]*", re.IGNORECASE)


def standing_of(patch: Patch) -> UpstreamStanding:
    """Return the status of a patch upstream; a patch without a status is pending, as in DEP-3."""
    # The first field that states a status wins, so "applied" comes before "sent".
    for field, read in _FIELDS.items():
        text = patch.says(field)
        found = read(text) if text is not None else None
        if found is not None:
            name = next(n for n in patch.fields if n.lower() == field.lower())
            return UpstreamStanding(*found, name)
    return UpstreamStanding()


_Found = tuple[Stance, str]


def _applied(text: str) -> _Found:
    return Stance.BACKPORT, text


def _mainline(text: str) -> _Found | None:
    for words, stance in _MAINLINE:
        match = words.fullmatch(text)
        if match is not None:
            return stance, match["detail"]
    return None


def _status(text: str) -> _Found | None:
    match = _STATUS.fullmatch(text)
    if match is None:
        return None
    words = {**{s.value.lower(): s for s in Stance}, **_OLD_WORDS}
    stance = words.get(match["word"].lower().rstrip("-"))
    return None if stance is None else (stance, match["detail"].strip())


def _origin(text: str) -> _Found | None:
    word, _, rest = text.partition(",")
    return (Stance.BACKPORT, rest.strip()) if word.lower() in ("upstream", "backport") else None


def _forwarded(text: str) -> _Found:
    word = text.lower()
    if word in ("no", "not-needed"):
        return (Stance.PENDING if word == "no" else Stance.INAPPROPRIATE), ""
    return Stance.SUBMITTED, _YES.sub("", text, count=1)


_FIELDS = {
    "Applied-Upstream": _applied,
    "Git-commit": _applied,
    MAINLINE: _mainline,
    STATUS: _status,
    "Origin": _origin,
    "Forwarded": _forwarded,
}


def backported(patch: Patch) -> str | None:
    """Return the id (perhaps abbreviated) of the commit that a patch backports, or None."""
    found = standing_of(patch)
    is_upstreams = found.stance is Stance.BACKPORT
    match = _COMMIT.search(patch.says("Git-commit") or found.detail) if is_upstreams else None
    return None if match is None else match[0]


def stance_problems(patch: Patch, field: str) -> Iterator[str]:
    """Yield the reasons why tools would reject the patch's status field."""
    text = patch.says(field)
    if text is not None:
        yield from _status_problems(text) if field == STATUS else _mainline_problems(patch, text)


def _mainline_problems(patch: Patch, text: str) -> Iterator[str]:
    found = _mainline(text)
    if found is None:
        yield (
            f"{MAINLINE} is {shown(text)}, but it must be a version or Queued; or one of Submitted,"
            " Not yet and Never, followed by a comma and a reason"
        )
        return
    needed = {"Git-commit"} if found[0] is Stance.BACKPORT else set()
    if found[1].startswith("Queued"):
        needed.add("Git-repo")
    said = {name for name in ("Git-commit", "Git-repo") if patch.says(name) is not None}
    yield from (
        f"{MAINLINE} is {shown(text)}, but {name} is missing" for name in sorted(needed - said)
    )
    yield from (
        f"{MAINLINE} is {shown(text)}, so {name} must not be given"
        for name in sorted(said - needed)
    )


def _status_problems(text: str) -> Iterator[str]:
    match = _STRICT.fullmatch(text)
    if match is None:
        kinds = ", ".join(s.value for s in Stance)
        yield f"{STATUS} is {shown(text)}, but it must be one of {kinds}, with any details in [ ]"
        return
    stance, detail = Stance(match["word"]), match["detail"] or ""
    if stance in _REASONS and _REASONS[stance][0].search(detail) is None:
        yield f"{STATUS} is {stance.value} without {_REASONS[stance][1]}"


_REASONS = {
    Stance.INAPPROPRIATE: (late_pattern(r"\S"), "a reason in [ ]"),
    Stance.BACKPORT: (late_pattern(r"\S"), "a commit or a version in [ ]"),
    Stance.INACTIVE: (late_pattern(r"last ?(?:commit|release)"), "[lastcommit: … lastrelease: …]"),
}


def yocto_status(patch: Patch) -> str:
    """Return a valid value for the patch's `Upstream-Status`: its own value, if that is valid.

    Raises PatchmgrError "not-exportable" if the value is unknown and no other field has the status.
    """
    status = patch.says(STATUS)
    if status is not None and _STRICT.fullmatch(status):
        return status
    found = standing_of(patch)
    if found.field is None and status is not None:
        raise _unknown(patch, STATUS, status)
    return f"{found.stance.value} [{found.detail}]" if found.detail else found.stance.value


def suse_fields(
    patch: Patch, repository: str, landed: Mapping[str, str | None]
) -> Mapping[str, str]:
    """Return new values for SUSE's header fields ("" removes one), or {} if they are valid.

    `landed` maps an upstream commit to the first release that contains it, or to None. Raises
    PatchmgrError "not-exportable" for an unknown status, or a commit not in `landed`.
    """
    text = patch.says(MAINLINE)
    if text is not None and not any(stance_problems(patch, MAINLINE)):
        return {}
    found = standing_of(patch)
    if found.field is None and text is not None:
        raise _unknown(patch, MAINLINE, text)
    if found.stance is Stance.BACKPORT:
        named = backported(patch)
        commit = next((c for c in landed if named is not None and c.startswith(named)), None)
        if commit is None:
            name = shown(patch.name)
            what = f"{named[:12]}, which was not fetched from upstream" if named else "no commit"
            message = f"patch {name} is in upstream, but its {found.field} names {what}"
            hint = f'patchmgr edit {name} --field "Git-commit=COMMIT", or patchmgr upstream fetch'
            raise PatchmgrError("not-exportable", message, hint)
        release = landed[commit]
        if release is not None:
            return {MAINLINE: release, "Git-commit": commit, "Git-repo": ""}
        queued = "Queued in subsystem maintainer repository"
        return {MAINLINE: queued, "Git-commit": commit, "Git-repo": repository}
    words, default = _SUSE_WORDS[found.stance]
    return {MAINLINE: f"{words}, {found.detail or default}", "Git-commit": "", "Git-repo": ""}


_SUSE_WORDS = {
    Stance.PENDING: ("Not yet", "not sent upstream"),
    Stance.SUBMITTED: ("Submitted", "the header does not say where"),
    Stance.DENIED: ("Never", "rejected upstream"),
    Stance.INACTIVE: ("Never", "nobody maintains upstream"),
    Stance.INAPPROPRIATE: ("Never", "not for upstream"),
}


def _unknown(patch: Patch, field: str, text: str) -> PatchmgrError:
    name = shown(patch.name)
    hint = f'patchmgr edit {name} --field "{field}=Pending"'
    if field == MAINLINE:
        hint = f'patchmgr edit {name} --field "{field}=Not yet, REASON"'
    message = f"patch {name} has {field}: {shown(text)}, which is not a valid status"
    return PatchmgrError("not-exportable", message, hint)
