"""`status`: the state of every series, variables for a build, and the origin of a commit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from packaging.version import InvalidVersion, Version

from patchmgr import services
from patchmgr.commands.conflicts import is_resolved
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.decision import Ruling
from patchmgr.model.sync import LastSync
from patchmgr.model.upstream import Pin, SeriesRecord
from patchmgr.model.upstream_status import FollowUp
from patchmgr.plumbing.clones import find_git_dir, private_git_dir
from patchmgr.plumbing.git_upstream import tags_of
from patchmgr.plumbing.objects import ObjectReader
from patchmgr.services.checkouts import Verification, known_applications
from patchmgr.services.decisions import decided_now
from patchmgr.services.installed import known_packages
from patchmgr.services.memory import Memory
from patchmgr.services.patch_repository import last_syncs
from patchmgr.services.published import (
    DIGEST,
    REF,
    SERIES,
    VERSION,
    commits_named,
    own_commits,
    published_base,
    read_published,
    trailers_of,
)
from patchmgr.services.session import Session, subject_of
from patchmgr.services.upstreaming import find_follow_ups
from patchmgr.services.work_area import is_refused, is_unresolved, read_in_progress


class SeriesStatus(Struct, frozen=True):
    """The pin of a series, its distance to upstream, and what needs attention."""

    name: str
    upstream: str
    pin: Pin
    patches: int  # how many
    tip: str | None  # the commit of the tracked state, as of the last fetch
    behind: int | None  # how far the pin is; None if the pin or the tip is not in the store
    unit: str  # "commits" or "releases"
    follow_ups: tuple[FollowUp, ...] = ()  # later upstream commits that need a decision
    last_sync: LastSync | None = None  # None if its badge was not fetched


class Status(Struct, frozen=True):
    """The status of all series of a workspace, and of the rebase in progress."""

    root: Path
    series: tuple[SeriesStatus, ...]
    applied: tuple[Verification, ...]  # known checkouts and packages to which series are applied
    in_progress: str | None  # describes the rebase in progress
    waiting: tuple[str, ...]  # files of that rebase that are still in conflict
    resolved: tuple[str, ...] = ()  # the other files of that rebase


def status(session: Session, now: int) -> Status:
    """Return the status at `now` (seconds since 1970), without accessing the network."""
    lock = session.workspace.lock()
    syncs: Mapping[str, LastSync] = {}
    with suppress(PatchmgrError):  # git is missing, or refuses to read the repository
        syncs = last_syncs(session.workspace.root, now)
    rows = tuple(
        SeriesStatus(
            name,
            record.upstream,
            record.pin,
            len(session.workspace.series_file(name).names()),
            *_distance(session, record),
            find_follow_ups(session, record, session.workspace.patches(name)),
            syncs.get(name),
        )
        for name, record in sorted(lock.series.items())
    )
    root, in_progress = session.workspace.root, read_in_progress(session.workspace)
    applied = (*known_applications(session), *known_packages(session))
    if in_progress is None:
        return Status(root, rows, applied, None, ())
    about = f"{', '.join(in_progress.series)} onto {in_progress.onto}"
    if in_progress.checkout:
        about += f", shown in {in_progress.checkout},"
    waiting: list[str] = []
    resolved: list[str] = []
    memory, decided = Memory(session.workspace), decided_now(session.workspace)
    for item in in_progress.waiting:
        ruling = decided.get((item.series, item.patch))
        is_answered = is_resolved(memory, item.conflict) or ruling is Ruling.ABSORBED
        is_left = is_unresolved(session.workspace, item) and not is_answered
        kind = waiting if is_left or is_refused(session.workspace, item) else resolved
        kind.append(f"{item.series}/{item.patch}: {item.path}")
    return Status(root, rows, applied, about, tuple(waiting), tuple(resolved))


def _distance(session: Session, record: SeriesRecord) -> tuple[str | None, int | None, str]:
    """Return (tip, how far the pin is behind, unit); the first two are None if git fails."""
    try:
        upstream = session.upstream_of(record)
        return *upstream.distance(record.pin), f"{upstream.step}s"
    except PatchmgrError as fault:
        if fault.kind != "git":
            raise
        return None, None, "releases" if record.pin.archive else "commits"


class BuildEnvironment(Struct, frozen=True):
    """Environment variables for a build, and a note on each one that is left out."""

    variables: Mapping[str, str]
    notes: tuple[str, ...]


PLACEHOLDERS = ("commit", "head", "version", "sha256", "src_dir")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def build_environment(session: Session) -> BuildEnvironment:
    """Return the environment variables that the series set for a build; fetch missing objects.

    Each series sets those of `[build-env]` in its series.toml, and one (such as DEEPGEMM_SRC_DIR)
    for each of `PLACEHOLDERS` with a known value. Raises PatchmgrError "bad-settings" for an
    unknown placeholder, or for a variable that two series set.
    """
    variables: dict[str, str] = {}
    notes: list[str] = []
    for name, record in sorted(session.workspace.lock().series.items()):
        known = _values_of(session, record)
        prefix = re.sub(r"^(?=\d)|\W", "_", name.upper(), flags=re.ASCII)
        asked = {f"{prefix}_{place.upper()}": f"{{{place}}}" for place in known}
        asked.update(session.workspace.settings(name).build_env)
        for variable, text in asked.items():
            pieces = _PLACEHOLDER.split(text)
            named = pieces[1::2]
            wrong = [place for place in named if place not in PLACEHOLDERS]
            if wrong or variable in variables:
                fault = (
                    f"has the unknown placeholder {{{shown(wrong[0])}}}"
                    if wrong
                    else "is set by two series"
                )
                message = f"series/{name}: the variable {variable} {fault}"
                hint = f"placeholders of [build-env] in series.toml: {', '.join(PLACEHOLDERS)}"
                raise PatchmgrError("bad-settings", message, hint)
            unknown = [place for place in named if place not in known]
            if unknown:
                notes.append(f"{variable} is left out: {_WITHOUT[unknown[0]].format(name)}")
            else:
                pieces[1::2] = [known[place] for place in named]
                variables[variable] = "".join(pieces)
    return BuildEnvironment(variables, tuple(notes))


_WITHOUT = {
    "commit": "{} is pinned to a release",
    "version": "{} is not pinned to a release or to a release tag",
    "sha256": "{} is pinned to a commit",
    "src_dir": "{} is not completely applied in exactly one checkout",
}


def _values_of(session: Session, record: SeriesRecord) -> dict[str, str]:
    """Return the values of the placeholders that are known for a series."""
    pin = record.pin
    with services.load.series_at_pin(session, record.name) as at_pin:
        known = {"head": (pin.commit, *at_pin.commits())[-1]}
    known |= {"commit": pin.commit} if pin.sha256 is None else {"sha256": pin.sha256}
    with suppress(InvalidVersion):
        if "." in pin.ref:  # a short commit id can be all digits
            known["version"] = str(Version(pin.ref))
    applied = [one for one in known_applications(session) if one.series == record.name]
    if len(applied) == 1 and applied[0].is_sound and applied[0].pushed is None:
        known["src_dir"] = str(applied[0].target)
    return {place: known[place] for place in PLACEHOLDERS if place in known}


class CommitOrigin(Struct, frozen=True):
    """The series, patches and upstream state that a commit was built from."""

    commit: str
    series: str | None  # None if it is not known
    base: str
    ref: str | None
    is_current: bool  # the commit is the head of the series' current branch
    position: int | None  # the commit's number in the current branch, if it is there
    patches: tuple[str, ...]  # subjects of the branch's commits up to this one
    tags: tuple[str, ...]
    version: str | None  # from a tag on the commit; so is `digest`
    digest: str | None


def describe_commit(session: Session, name: str, *, repository: Path | None) -> CommitOrigin:
    """Return the origin of a commit, branch or tag; raise "unknown-ref" if it is missing."""
    lock = session.workspace.lock()
    records = [record for _, record in sorted(lock.series.items())]
    places = []
    if repository is not None:  # HEAD is that of the work tree
        places = [private_git_dir(repository), find_git_dir(repository)]
    places += [session.upstream_of(record).store for record in records]
    places += [one.git_dir for one in read_published(session.workspace)]
    for place, reader, head in commits_named(session, places, name, name):
        return _described(session, records, place, reader, head)
    hint = "name the clone that contains it with --repo DIR"
    raise PatchmgrError("unknown-ref", f"there is no commit {shown(name)}", hint)


def _described(
    session: Session, records: list[SeriesRecord], place: Path, reader: ObjectReader, head: str
) -> CommitOrigin:
    ids, base = own_commits(reader, head, published_base(session, head))
    prefix = session.workspace.ref_at(place, "refs/tags/")
    tags = tuple(tags_of(place, prefix, head))
    told: dict[str, str] = {}
    for tag in tags:
        found = reader.find(f"{prefix}{tag}")
        if found is not None and found.kind == "tag":
            told = told or trailers_of(found.content)
    subjects = tuple(subject_of(reader, commit) for commit in ids)
    series, position, is_current = told.get(SERIES), None, False
    for record in records:
        if record.pin.commit == base and ids:
            branch = _branch(session, record)
            if head in branch:
                series, position = record.name, branch.index(head) + 1
                is_current = position == len(branch)
                break
            if series is None and set(branch) & set(ids):
                series = record.name
    refs = {record.pin.commit: record.pin.ref for record in records}
    return CommitOrigin(
        commit=head,
        series=series,
        base=base,
        ref=told.get(REF) or refs.get(base),
        is_current=is_current,
        position=position,
        patches=subjects,
        tags=tags,
        version=told.get(VERSION),
        digest=told.get(DIGEST),
    )


def _branch(session: Session, record: SeriesRecord) -> tuple[str, ...]:
    """Return the commits of the series as it is now, or none if it does not apply."""
    try:
        with services.load.series_at_pin(session, record.name, must_apply=False) as at_pin:
            return at_pin.commits()
    except PatchmgrError:
        return ()
