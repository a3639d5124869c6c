"""Repeat a rebase in progress, as `--continue` would, in a temporary repository."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.model.outcome import FileConflict, PatchOutcome, SeriesOutcome
from patchmgr.model.upstream import Resolved
from patchmgr.plumbing.scratch_repository import Scratch
from patchmgr.services.carry import CarryOptions
from patchmgr.services.load import Parents, rebase_run
from patchmgr.services.rebase_checkout import edits_of
from patchmgr.services.series import LoadedSeries, load_series
from patchmgr.services.session import Fetching, Session
from patchmgr.services.work_area import InProgress, Place, resolved_files, solved_on

SKIPPED = "left out by rebase --skip"


def options_to_continue(session: Session, in_progress: InProgress) -> CarryOptions:
    """Return the options for continuing a rebase: resolved files, skipped patches, and more."""
    left_out: dict[str, dict[str, str]] = {}
    for series, patch in in_progress.skipped:
        left_out.setdefault(series, {})[patch] = SKIPPED
    return CarryOptions(
        selected=frozenset(in_progress.selected),
        solved=resolved_files(session.workspace, in_progress),
        solved_on=solved_on(session.workspace, in_progress),
        wants_detail=session.wants_detail,
        left_out=left_out,
        confidence=in_progress.confidence,
        edits=edits_of(in_progress),
    )


class RepeatedRebase(Struct, frozen=True):
    """The outcome of a series in a repeated rebase."""

    session: Session
    loaded: LoadedSeries
    target: Resolved
    scratch: Scratch  # its temporary repository
    outcome: SeriesOutcome
    top: str  # a commit with all changes that merged cleanly

    @property
    def contents(self) -> Fetching:
        """Return a reader of file contents, which fetches those that a partial clone lacks."""
        return Fetching(self.loaded.upstream, self.scratch.read)

    def patch(self, name: str) -> PatchOutcome:
        """Return the outcome of a patch; raise PatchmgrError if the series no longer has it."""
        for one in self.outcome.patches:
            if one.name == name:
                return one
        message = f"the rebase in progress needs {name}, which is no longer in the series"
        raise PatchmgrError("broken-workspace", message, "to abandon it: patchmgr rebase --abort")

    def conflict(self, place: Place) -> FileConflict | None:
        """Return the remaining conflict in a file, or None if there is none."""
        name, path = place
        return next((one for one in self.patch(name).conflicts if one.path == path), None)


@contextmanager
def repeated_rebase(
    session: Session,
    in_progress: InProgress,
    series: str,
    place: Place | None = None,
    solution: tuple[bytes | None] | None = None,
) -> Iterator[RepeatedRebase]:
    """Repeat the rebase in progress for a series, and for all series below it.

    `solution` replaces the resolution of `place`: `(content,)`, `(None,)` to delete the file, or
    None to leave it in conflict.
    """
    options = options_to_continue(session, in_progress)
    solved = {name: dict(files) for name, files in options.solved.items()}
    if place is not None:
        solved.setdefault(series, {}).pop(place, None)
        if solution is not None:
            solved[series][place] = solution[0]
    options = replace(options, solved=solved, wants_detail=True)
    loaded, parents = load_series(session, series), Parents()
    target = in_progress.target(series, loaded.upstream)
    with rebase_run(session, loaded.upstream.store, options) as run:
        outcome = run.carry_onto(loaded, target, parents)
        yield RepeatedRebase(session, loaded, target, run.scratch, outcome, parents[series].commit)
