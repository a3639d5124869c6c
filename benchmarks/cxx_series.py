"""A series of C++ patches on large files: those that ollama keeps, over a move of llama.cpp."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from benchmarks.clones import Clone, make_clone, output
from benchmarks.patch_folders import FOLDERS, Move, series_of
from benchmarks.stand_in import StandIn
from benchmarks.timing import Tool

FOLDER = FOLDERS[0]
NEEDED = (FOLDER.repository, FOLDER.upstream)
MOVES = {
    410: ("llama.cpp-ef00199fb", "llama.cpp-ef00199fb"),
    1393: ("llama.cpp-1a19df1f3", "llama.cpp-4987f13d3"),
}
"""By the number of upstream commits: the move whose patches these are, and the one to go to."""
_NO_MODELS = ("/*", "!/models/")  # what a mirror may lack is large, and no patch touches it


class CxxSeries:
    """The patches of one move, as a workspace and as mails for `git am`."""

    def __init__(self, stand_in: StandIn, mirrors: Path, commits: int) -> None:
        self._place, self._environment = stand_in.place / f"cxx-{commits}", stand_in.environment
        self._program = stand_in.program
        moves = {move.name: move for move in FOLDER.moves(mirrors)}
        start, end = (moves[name] for name in MOVES[commits])
        self._move: Move = replace(start, target=end.target)
        count = len(self._move.patches)
        self.title = f"{count} patches of C++, {commits:,} upstream commits further"

    def dry_run(self) -> Tool:
        """Return the dry run, with nothing kept from a run before."""
        self._place.mkdir(parents=True)
        root = series_of(self._move, self._place, self._environment)
        command = (*self._program, "rebase", "s", "--onto", self._move.target, "--dry-run")
        answers = Path(self._environment["XDG_CACHE_HOME"]) / "patchmgr" / "answers"

        def restore() -> None:
            output(["rm", "-rf", str(answers)], root, self._environment)

        name = "`patchmgr rebase --dry-run`"
        return Tool(name, command, root, self._environment, restore, good=(0, 3))

    def git_am(self) -> Tool:
        """Return `git am -3`, where a patch that fails is skipped."""
        assert self._move.mirror is not None
        clone: Clone = make_clone(
            self._move.mirror, self._place / "am" / "clone", self._move.target, _NO_MODELS,
            self._environment,
        )  # fmt: skip
        clone.keep()
        each = "for mail in ../../patches/*.patch; do git am -q3 $mail || git am --skip -q; done"
        command = ("sh", "-c", each)
        return Tool("`git am -3`", command, clone.root, self._environment, clone.restore)
