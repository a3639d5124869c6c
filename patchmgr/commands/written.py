"""The commits of a carried series: git writes them while what was carried is looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from patchmgr.commands.carrying import Carried
from patchmgr.model.outcome import PatchOutcome
from patchmgr.plumbing.ahead import Ahead
from patchmgr.plumbing.closing import Closing
from patchmgr.plumbing.diffs import commit_diffs
from patchmgr.plumbing.fast_import import Draft, commits_writer
from patchmgr.plumbing.workbench import Workbench


class Written(Struct, frozen=True):
    """The commits of a series, one a patch, None for one that has none.

    `top` is what a series above stands on, and `tree` its files: the `head` of all commits, which
    is None where a conflict is left. `diffs` are by commit those of patches to be written anew.
    """

    top: str
    tree: str
    head: str | None
    commits: tuple[str | None, ...]
    diffs: Mapping[str, bytes]


class Writing(Closing):
    """Writes the commits of one series into a bench, on a parent."""

    def __init__(self, bench: Workbench, parent: str, *, wants_diffs: bool) -> None:
        self._bench = bench
        self._parent = parent
        self._wants_diffs = wants_diffs
        self._outcomes: tuple[PatchOutcome, ...] = ()
        self._has_conflicts = False
        self._ahead: Ahead[tuple[tuple[str, ...], Mapping[str, bytes]]] | None = None

    def start(self, carried: Carried) -> None:
        """Start to write the commits; one with all of them where a conflict is left."""
        self._outcomes, self._has_conflicts = carried.outcomes, carried.has_conflicts
        drafts = carried.drafts()
        if self._has_conflicts:
            drafts = (Draft(self._outcomes[0].author, b"carried\n", carried.changes),)
        write = commits_writer(self._bench, self._parent, drafts)
        place = self._bench.git_dir
        anew = [not o.reuses_diff for o in self._outcomes if o.is_carried]
        is_wanted = self._wants_diffs and not self._has_conflicts
        self._ahead = Ahead(lambda: _write(write, place, anew if is_wanted else ()))

    def written(self) -> Written:
        """Wait for the commits."""
        assert self._ahead is not None
        commits, diffs = self._ahead.result()
        top = commits[-1] if commits else self._parent
        tree = self._bench.reader.tree_of(top)
        if self._has_conflicts:
            return Written(top, tree, None, (None,) * len(self._outcomes), diffs)
        rest = iter(commits)
        ids = tuple(next(rest) if o.is_carried else None for o in self._outcomes)
        return Written(top, tree, top, ids, diffs)

    def close(self) -> None:
        """Let git come to its end."""
        if self._ahead is not None:
            self._ahead.close()


def _write(
    write: Callable[[], tuple[str, ...]], place: Path, anew: Sequence[bool]
) -> tuple[tuple[str, ...], Mapping[str, bytes]]:
    commits = write()
    wanted = [commit for commit, is_new in zip(commits, anew, strict=False) if is_new]
    half = len(wanted) // 2
    with Ahead(lambda: commit_diffs(place, wanted[:half], scratch=place)) as others:
        diffs = commit_diffs(place, wanted[half:], scratch=place)
        return commits, {**others.result(), **diffs}
