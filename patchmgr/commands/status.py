"""`status`: where every series stands."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from patchmgr.commands.conflicts import is_resolved
from patchmgr.commands.installed import known_packages
from patchmgr.errors import PatchmgrError
from patchmgr.model.decision import Ruling
from patchmgr.model.upstream import Pin, SeriesRecord
from patchmgr.services.decisions import read_decisions
from patchmgr.services.memory import Memory
from patchmgr.services.session import Session
from patchmgr.services.targets import Verification, known_applications
from patchmgr.services.work_area import is_refused, is_unsolved, read_unfinished


class Distance(Struct, frozen=True):
    """How far the pin is behind what is tracked, as of the last fetch.

    `count` is None where the pin or the tip is not in the store; the unit is "commits" or
    "releases".
    """

    tip: str | None
    count: int | None
    unit: str


class SeriesStatus(Struct, frozen=True):
    """One series: its pin, the number of patches, and its distance to upstream."""

    name: str
    upstream: str
    pin: Pin
    patches: int
    distance: Distance


class Status(Struct, frozen=True):
    """The whole workspace; `unfinished` names what a rebase with conflicts left is about.

    `applied` says what is in the checkouts where this workspace has applied something. Of the files
    that the rebase left in conflict, `resolved` are settled for when it goes on.
    """

    root: Path
    series: tuple[SeriesStatus, ...]
    applied: tuple[Verification, ...]
    unfinished: str | None
    waiting: tuple[str, ...]
    resolved: tuple[str, ...] = ()


def status(session: Session) -> Status:
    """Return where every series stands; asks no upstream."""
    lock = session.workspace.lock()
    rows = []
    for name, record in sorted(lock.series.items()):
        rows.append(
            SeriesStatus(
                name,
                record.upstream,
                record.pin,
                len(session.workspace.series_file(name).names()),
                _distance(session, record),
            )
        )
    unfinished = read_unfinished(session.workspace)
    applied = (*known_applications(session), *known_packages(session))
    if unfinished is None:
        return Status(session.workspace.root, tuple(rows), applied, None, ())
    about = f"{', '.join(unfinished.series)} onto {unfinished.onto}"
    waiting: list[str] = []
    resolved: list[str] = []
    memory, decided = Memory(session.workspace), read_decisions(session.workspace)
    absorbed = {(d.series, d.patch) for d in decided if d.ruling is Ruling.ABSORBED}
    for item in unfinished.waiting:
        is_answered = is_resolved(memory, item.conflict) or (item.series, item.patch) in absorbed
        is_left = is_unsolved(session.workspace, item) and not is_answered
        kind = waiting if is_left or is_refused(session.workspace, item) else resolved
        kind.append(f"{item.series}/{item.patch}: {item.path}")
    root = session.workspace.root
    return Status(root, tuple(rows), applied, about, tuple(waiting), tuple(resolved))


def _distance(session: Session, record: SeriesRecord) -> Distance:
    """Return how far a pin is behind; nothing is known where git is not there to say."""
    try:
        side = session.side_of(record)
        return Distance(*side.distance(record.pin), f"{side.step}s")
    except PatchmgrError as fault:
        if fault.kind != "git":
            raise
        return Distance(None, None, "releases" if record.pin.archive else "commits")
