"""List what a series' branch or a patched wheel is made of, for a bill of materials."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from patchmgr.formats.upstream_status import standing_of
from patchmgr.model.bill_of_materials import Issue, Materials, PatchUsed
from patchmgr.model.outcome import PatchOutcome
from patchmgr.model.patch import Patch
from patchmgr.model.upstream import SeriesRecord
from patchmgr.model.upstream_status import Stance
from patchmgr.services.checkouts import series_digest
from patchmgr.services.load import series_at_pin
from patchmgr.services.session import Session, default_author

_CVE = re.compile(r"\bCVE-\d{4}-\d{4,}\b")
_URL = re.compile(r"https?://[^\s<>\"'`)\],;]+")


def series_materials(session: Session, name: str) -> Materials:
    """Return the materials of a series' branch: the pinned upstream state, and the patches."""
    with series_at_pin(session, name) as at_pin:
        carried = [one for one in at_pin.carried.outcomes if one.is_carried]
        commits = at_pin.commits()[len(at_pin.below) :]
    ids = {one.name: commit for one, commit in zip(carried, commits, strict=True)}
    loaded, record, pin = at_pin.loaded, at_pin.loaded.record, at_pin.loaded.record.pin
    base = loaded.upstream.version_of(pin) or pin.ref
    own = f"{base}+patchmgr.{series_digest(session, record, session.selected)[:10]}"
    used = patches_used(carried, loaded.patches, ids)
    return materials_of(session, record, base, own, sha256=pin.sha256, used=used)


def materials_of(
    session: Session,
    record: SeriesRecord,
    base: str,
    version: str,
    *,
    sha256: str | None,
    used: tuple[PatchUsed, ...],
) -> Materials:
    """Return the materials of a component (a branch or a wheel) that was built from a series.

    `base` is the upstream version, and `version` the component's own.
    """
    pin, dates = record.pin, [default_author(session.upstream_of(record), record.pin).date]
    dates += [one.author.date for one in used]
    commit = pin.commit if pin.archive is None else None
    time = max(int(date.split(" ")[0]) for date in dates)
    upstream = session.workspace.upstream(record.upstream)
    return Materials(record.name, version, base, upstream, commit, sha256, used, time)


def patches_used(
    carried: Sequence[PatchOutcome], patches: Sequence[Patch], commits: Mapping[str, str] = {}
) -> tuple[PatchUsed, ...]:
    """Return an entry for each applied patch; `commits` maps the names of patches to commit ids."""
    by_name = {patch.name: patch for patch in patches}

    def used(one: PatchOutcome) -> PatchUsed:
        patch = by_name[one.name]
        is_backport = standing_of(patch).stance is Stance.BACKPORT
        issues = tuple(dict.fromkeys(issues_of(patch)))
        return PatchUsed(patch, one.author, is_backport, issues, commits.get(one.name))

    return tuple(map(used, carried))


def issues_of(patch: Patch) -> Iterator[Issue]:
    """Yield the issues that a header names: the values of `Bug` fields, and CVEs."""
    for name, value in {**patch.fields, "Subject": patch.subject}.items():
        key = name.lower()
        if key in ("cve", "references", "subject") or key.startswith("bug"):
            yield from (Issue(found, is_vulnerability=True) for found in _CVE.findall(value))
        for line in value.splitlines() if key == "bug" or key.startswith("bug-") else ():
            url = _URL.search(line)
            yield Issue(line.strip(), None if url is None else url[0])
