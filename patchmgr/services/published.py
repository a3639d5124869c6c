"""Branches that were built from series, their tags, and the saved results of checks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from patchmgr import __version__
from patchmgr.engines.series.comparison import OwnCommit
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.check import Checked
from patchmgr.model.notes import GateLine
from patchmgr.model.outcome import PatchOutcome
from patchmgr.model.patch import COMMITTER_EMAIL
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.clones import find_git_dir
from patchmgr.plumbing.diffs import commit_diffs
from patchmgr.plumbing.objects import ObjectReader
from patchmgr.plumbing.scratch_repository import Scratch
from patchmgr.render.escape import counted
from patchmgr.services.checkouts import series_digest
from patchmgr.services.session import Session
from patchmgr.workspace import PRIVATE, Workspace

if TYPE_CHECKING:
    from patchmgr.services.series import LoadedSeries

_FILE = f"{PRIVATE}/published.json"


_MOST_PUBLISHED = 200


class Published(Struct, frozen=True):
    """A branch that was built from a series, in `repository`."""

    series: str
    repository: str
    branch: str
    tag: str | None  # the tag on its head
    fallback: str | None  # the tag that keeps its previous head
    head: str
    base: str

    @property
    def git_dir(self) -> Path:
        """Return the git directory of the repository that contains the branch."""
        place = Path(self.repository)
        return place if (place / "HEAD").is_file() else place / ".git"


def remember_published(workspace: Workspace, published: Published) -> None:
    """Save a branch as the newest published branch; ignore a failed write."""
    rest = [known for known in read_published(workspace) if known != published]
    with suppress(OSError):
        workspace.keep(_FILE, (published, *rest)[:_MOST_PUBLISHED])


def read_published(workspace: Workspace) -> tuple[Published, ...]:
    """Return the published branches, newest first; there are none if the file cannot be read."""
    return workspace.kept(_FILE, tuple[Published, ...]) or ()


NOW = "the series as it is"


_TRAILER = re.compile(rb"^(Patchmgr-[A-Za-z]+): (.*)$", re.M)


_MOST = 10_000


class NamedState(Struct, frozen=True):
    """A state of a series that a branch, tag or commit id names."""

    name: str
    git_dir: Path
    head: str
    commits: tuple[OwnCommit, ...]  # up to and including `head`


def find_state(
    session: Session, loaded: LoadedSeries, name: str, *, repository: Path | None
) -> NamedState:
    """Return the state of a series that a tag, branch or commit id names.

    The name is looked up in `repository` (by default the store), then where the series was
    published under it. Raises PatchmgrError "unknown-ref" if no repository has the name.
    """
    places = [loaded.upstream.store] if repository is None else [find_git_dir(repository)]
    for one in read_published(session.workspace):
        if one.series == loaded.record.name and name in (one.tag, one.fallback, one.branch):
            places.append(one.git_dir)
    others = (name,) if re.fullmatch(r"[0-9a-f]{7,40}", name) else ()
    for place, reader, head in commits_named(session, places, name, *others):
        ids, _ = own_commits(reader, head, published_base(session, head))
        return NamedState(name, place, head, read_commits(place, reader, ids))
    message = f"there is no tag or branch {shown(name)}"
    hints = ("to make a tag: patchmgr branch --tag TAG", "to look in another clone: --repo DIR")
    raise PatchmgrError("unknown-ref", message, *hints)


def commits_named(
    session: Session, places: Iterable[Path], name: str, *others: str
) -> Iterator[tuple[Path, ObjectReader, str]]:
    """Yield (repository, reader, commit) for each repository that has a tag or branch `name`.

    `others` are further names of the commit, such as its id.
    """
    if name.startswith("-") or any(c in name for c in " ~^:?*[\\\n"):
        return
    for place in dict.fromkeys(places):
        if place.exists():
            refs = (f"refs/tags/{name}", f"refs/heads/{name}")
            names = (*(session.workspace.ref_at(place, ref) for ref in refs), *others)
            with ObjectReader(place) as reader:
                head = next(filter(None, map(reader.commit, names)), None)
                if head is not None:
                    yield place, reader, head


def published_base(session: Session, head: str) -> str | None:
    """Return the base of a head if this workspace published the head, or else None."""
    return next((one.base for one in read_published(session.workspace) if one.head == head), None)


def is_own_commit(content: bytes) -> bool:
    """Return whether the content of a commit object names patchmgr as the committer."""
    return f"\ncommitter patchmgr <{COMMITTER_EMAIL}> ".encode() in content.split(b"\n\n", 1)[0]


def own_commits(
    reader: ObjectReader, head: str, base: str | None = None
) -> tuple[tuple[str, ...], str]:
    """Return the ids of patchmgr's commits up to a head (or of all since `base`), and their base.

    The oldest comes first.
    """
    found: list[str] = []
    at = head
    while len(found) < _MOST:
        commit = reader.find(at)
        top = commit.content.split(b"\n\n", 1)[0] if commit is not None else b""
        parents = re.findall(rb"^parent ([0-9a-f]{40})$", top, re.M)
        # patchmgr also makes the commits of releases, which have no parents.
        is_end = at == base if base is not None else not is_own_commit(top)
        if is_end or not parents:
            return tuple(reversed(found)), at
        found.append(at)
        at = parents[0].decode()
    return tuple(reversed(found)), head


def read_commits(git_dir: Path, reader: ObjectReader, ids: Sequence[str]) -> tuple[OwnCommit, ...]:
    """Return the commits with the given ids, each with its message and diff."""
    # Not in the repository, whose configuration and attributes (and those in the current folder)
    # would change the diffs.
    with Scratch.outside(git_dir) as scratch:
        diffs = commit_diffs(scratch.git_dir, list(ids))
    found = []
    for name in ids:
        commit = reader.find(name)
        assert commit is not None
        found.append(OwnCommit(name, commit.content.partition(b"\n\n")[2], diffs[name]))
    return tuple(found)


def trailers_of(text: bytes) -> dict[str, str]:
    """Return the values of patchmgr's trailers in a tag's message, keyed by trailer name."""
    return {
        key.decode(): value.decode("utf-8", "replace").strip()
        for key, value in _TRAILER.findall(text)
    }


SERIES, VERSION, BASE, REF, DIGEST = (
    f"Patchmgr-{key}" for key in ("Series", "Version", "Base", "Ref", "Digest")
)


def tag_message(
    session: Session, loaded: LoadedSeries, outcomes: Sequence[PatchOutcome], digest: str
) -> bytes:
    """Return the message of a tag on the branch of a series; `digest` is that of the series."""
    record, pin = loaded.record, loaded.record.pin
    carried = [outcome for outcome in outcomes if outcome.is_carried]
    lines = [f"{record.name} on {shown(pin.ref)}: {len(carried)} patches", ""]
    # not in commits: their ids must be the same with every version of patchmgr
    lines += _verdicts(loaded)
    lines += _gates(session, record.name, digest)
    if session.selected:
        lines.append(f"Selected: {', '.join(sorted(map(shown, session.selected)))}")
    left = [outcome for outcome in outcomes if not outcome.is_carried]
    lines += [f"Left out: {shown(o.name)} ({shown(o.reason or '')})" for o in left]
    lines += [
        "",
        f"{SERIES}: {record.name}",
        f"{VERSION}: {__version__}",
        f"{BASE}: {pin.commit}",
        f"{REF}: {shown(pin.ref)}",
        f"{DIGEST}: {digest}",
    ]
    return ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")


def _verdicts(loaded: LoadedSeries) -> list[str]:
    """Return lines with the verdicts of the last rebase, as upstream.lock records them."""
    rows = loaded.record.result.get("patches", ())
    base = loaded.record.result.get("base")
    if not rows or not isinstance(base, dict):
        return ["Verdicts: none, because the series has not been rebased yet"]
    counts = Counter(str(row["verdict"]) for row in rows)
    words = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))
    lines = [f"Verdicts of the rebase from {shown(str(base.get('ref', '')))}: {words}"]
    return lines + [
        f"  {row['verdict']}: {shown(str(row['name']))}"
        for row in rows
        if row["verdict"] != "unchanged"
    ]


def _gates(session: Session, series: str, digest: str) -> list[str]:
    kept = last_checked(session.workspace, series)
    if kept is None or kept.digest != digest:
        return ["Gates: not run on this state"]
    lines = ["Gates:"]
    for gate in kept.gates:
        problems = f" ({counted(gate.problems, 'problem')})" if gate.problems else ""
        lines.append(f"  {gate.standing}: {shown(gate.name)}{problems}")
    return lines


FOLDER = f"{PRIVATE}/checks"


class KeptCheck(Struct, frozen=True):
    """A saved check of a series; `digest` is the digest of the series when it was checked."""

    digest: str
    head: str | None
    gates: tuple[GateLine, ...]


def keep_checked(workspace: Workspace, checked: Checked, digest: str) -> None:
    """Save the results of a check; skipped gates keep earlier results for the same series.

    `digest` is the digest of the series that was checked.
    """
    before = last_checked(workspace, checked.series)
    rows = {
        gate.name: GateLine(gate.name, gate.standing.value, len(gate.problems), gate.note)
        for gate in checked.gates
    }
    if before is not None and before.digest == digest:
        for row in before.gates:
            if row.name in rows and rows[row.name].standing == "skipped":
                rows[row.name] = row
    kept = KeptCheck(digest, checked.head, tuple(rows.values()))
    with suppress(OSError):
        workspace.keep(f"{FOLDER}/{checked.series}.json", kept)


def last_checked(workspace: Workspace, series: str) -> KeptCheck | None:
    """Return the saved check of a series, or None if none can be read."""
    return workspace.kept(f"{FOLDER}/{series}.json", KeptCheck)


def current_gates(session: Session, record: SeriesRecord) -> tuple[GateLine, ...]:
    """Return the gates of the last check, or () if the series has changed since that check."""
    kept = last_checked(session.workspace, record.name)
    if kept is None or kept.digest != series_digest(session, record, ()):
        return ()
    return kept.gates
