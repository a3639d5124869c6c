"""What every command of the shim starts from: where the series stands, and who says what."""

from __future__ import annotations

import getopt
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from patchmgr.formats.patch_files import parse_listed
from patchmgr.formats.series_files import parse_series
from patchmgr.model.patch import Patch
from patchmgr.model.series import SeriesLine
from tests.quilt.folders import Folders
from tests.quilt.values import Answer


class Stop(Exception):
    """The end of a command before its time: what it says, and its exit code."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.text, self.code = text, code


class Options:
    """The options of a command by their names, and the other words."""

    def __init__(self, words: Sequence[str], short: str, long: Sequence[str] = ()) -> None:
        try:
            found, self.rest = getopt.gnu_getopt(list(words), short, list(long))
        except getopt.GetoptError as fault:
            raise Stop(str(fault)) from fault
        self.given = dict(found)

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def refuse(self, *names: str) -> None:
        """End where one of these is given: patchmgr does not do that."""
        for name in names:
            if name in self.given:
                raise Stop(f"patchmgr has nothing for {name}")


def _is_of_another_order(message: str) -> bool:
    return "another order" in message or "below a pushed patch" in message


class Project:
    """A project of quilt's, as patchmgr sees it."""

    def __init__(self, folders: Folders) -> None:
        self.folders = folders
        self.notes = folders.notes
        self.pushed: list[str] = []
        self.left: list[str] = []

    def look(self, *, only_pushed: bool = False) -> None:
        """Ask where the series stands."""
        self.pushed = self._listed("applied")
        self.left = [] if only_pushed else self._listed("unapplied")

    def _listed(self, verb: str) -> list[str]:
        answer = self.folders.desk(verb)
        if answer.kind == "changed-patch" and _is_of_another_order(answer.message):
            raise Stop(
                "The series file no longer matches the applied patches. Please run 'quilt pop -a'."
            )
        rows = self.must(answer).json["patches"]
        return [row["name"] for row in rows]

    @property
    def top(self) -> str | None:
        """Return the top patch."""
        return self.pushed[-1] if self.pushed else None

    def need_top(self) -> str:
        """Return the top patch; end where there is none."""
        if self.top is None:
            raise Stop("No patches applied")
        return self.top

    def shown(self, name: str) -> str:
        """Return the name of a patch as quilt shows it."""
        return self.folders.prefix + self.folders.outside(name)

    def say(self, text: str) -> None:
        """Print a line."""
        os.write(1, text.encode("utf-8", "surrogateescape") + b"\n")

    def write(self, raw: bytes) -> None:
        """Print bytes."""
        sys.stdout.flush()
        os.write(1, raw)

    def find(self, given: str) -> str:
        """Return the patch that a person means; end where there is none."""
        name = os.path.normpath(given.removeprefix(self.folders.prefix))
        everything = [*self.pushed, *self.left]
        for each in (name, self.folders.inside(name), f"{name}.diff"):
            if each in everything:
                return each
        raise Stop(f"Patch {given} is not in series")

    def find_pushed(self, given: str | None) -> str:
        """Return a pushed patch, the top if none is given."""
        if given is None:
            return self.need_top()
        name = self.find(given)
        if name not in self.pushed:
            raise Stop(f"Patch {self.shown(name)} is not applied")
        return name

    def path(self, given: str) -> str:
        """Return a path as seen from the top of the project."""
        return os.path.relpath(self.folders.cwd / given, self.folders.root)

    def must(self, answer: Answer) -> Answer:
        """Return an answer; end where patchmgr refused."""
        if answer.code:
            self.fail(answer)
        return answer

    def fail(self, answer: Answer) -> NoReturn:
        """End with what patchmgr said."""
        raise Stop(f"patchmgr: {answer.message or answer.error}", answer.code)

    def files(self, name: str) -> dict[str, str]:
        """Return the files of a patch with a sign each, in the patch's order."""
        answer = self.must(self.folders.desk("files", name))
        return {row["path"]: row["sign"] for row in answer.json["files"]}

    def paths(self, name: str) -> list[str]:
        """Return the paths that a patch file names, in its order."""
        paths: list[str] = self.must(self.folders.desk("show", name)).json["paths"]
        return paths

    def patch(self, name: str) -> Patch:
        """Return a patch file, as patchmgr reads it."""
        return parse_listed((self.folders.folder / name).read_bytes(), self.line(name))

    def line(self, name: str) -> SeriesLine:
        """Return the line of a patch in the series file."""
        series = parse_series((self.folders.folder / "series").read_bytes())
        return next(line for line in series.lines if line.name == name)

    def watch(self, name: str) -> None:
        """Remember the files of a pushed patch."""
        self.notes.files[name] = self.paths(name)

    def forget(self, name: str) -> None:
        """Forget the files of a patch that is not pushed any more."""
        self.notes.files.pop(name, None)
        self.notes.added.pop(name, None)

    def known(self, paths: Sequence[str]) -> list[str]:
        """Return the paths that are there, or were before the patches, or in one of them."""
        made = {path for each in self.notes.files.values() for path in each}
        return [p for p in paths if p in made or self._is_there(p)]

    def _is_there(self, path: str) -> bool:
        if (self.folders.root / path).exists():
            return True
        return bool(self.folders.git("ls-tree", "HEAD", "--", path))
