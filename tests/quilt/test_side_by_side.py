"""The same work done with quilt and with patchmgr: files and series are the same after it."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.commands.conftest import invoke
from tests.conftest import Repository

Edits = Mapping[str, str | None]
Step = tuple[Edits, str, str]  # a person's edits, then quilt's command, then patchmgr's

pytestmark = pytest.mark.skipif(shutil.which("quilt") is None, reason="needs quilt")


def text(**changed: str) -> str:
    """Return thirty lines, some of them with other words."""
    return "".join(f"{changed.get(f'l{n}', f'line {n}')}\n" for n in range(30))


FILES = {"a": text(), "sub/b": text(), "gone": "gone\n"}
DIFF = "--- x/a\n+++ y/a\n@@ -19,4 +19,4 @@\n line 18\n line 19\n-line 20\n+folded\n line 21\n"


class Sides:
    """A plain folder with quilt, and a checkout with patchmgr, that hold the same files."""

    def __init__(self, place: Path) -> None:
        upstream = Repository(place / "upstream")
        base = upstream.commit(FILES)
        self.plain, self.clone, self.space = (place / name for name in ("plain", "clone", "space"))
        upstream.git("clone", "--quiet", "--template=", ".", str(self.clone))
        shutil.copytree(self.clone, self.plain, ignore=shutil.ignore_patterns(".git"))
        (self.plain / "patches").mkdir()
        self.more = place / "more"
        self.more.write_text(DIFF)
        invoke("init", self.space)
        at = ("--git", str(upstream.root), "--reference", str(upstream.root))
        for words in (
            ("upstream", "add", "up", *at),
            ("series", "new", "s", "--upstream", "up", "--base", base),
            ("goto", "0", "--series", "s", "--to", str(self.clone)),
        ):
            self.patchmgr(*words)

    def quilt(self, *words: str) -> tuple[bool, str]:
        """Run quilt, and return whether it did its work, and what it printed."""
        line = ["quilt", "--quiltrc", "-", *words]
        done = subprocess.run(
            line, cwd=self.plain, input=DIFF, capture_output=True, text=True, check=False
        )
        return done.returncode == 0, done.stdout

    def patchmgr(self, *words: str) -> tuple[bool, str]:
        """Run patchmgr, and return whether it did its work, and what it printed."""
        answer = invoke("-C", self.space, *words)
        return answer.code == 0, answer.out

    def edit(self, edits: Edits) -> None:
        """Write and delete files on both sides; quilt is told before."""
        for path, content in edits.items():
            self.quilt("add", path)
            for root in (self.plain, self.clone):
                place = root / path
                if content is None:
                    place.unlink()
                else:
                    place.parent.mkdir(exist_ok=True)
                    place.write_text(content)

    def take(self, step: Step) -> bool:
        """Take a step on both sides, and return whether both did it."""
        edits, quilt, ours = step
        self.edit(edits)
        words = ours.replace("MORE", str(self.more)).split()
        where = () if words[0] == "import" else ("--to", str(self.clone))
        done, _ = self.quilt(*quilt.replace("MORE", str(self.more)).split())
        found, _ = self.patchmgr(*words, *where)
        assert done == found, step
        return done

    def look(self) -> tuple[object, object]:
        """Return what both sides have: files, series, pushed patches, and the files of the top."""
        applied = self._names("applied")
        plain = (
            _files(self.plain),
            self.quilt("series")[1].split(),
            self.quilt("applied")[1].split(),
            self.quilt("files")[1].split() if applied else [],
        )
        lines = (self.space / "series/s/series").read_text().splitlines()
        files = self._names("files") if applied else []
        order = [line.split()[0].removesuffix(".patch") for line in lines]
        return plain, (_files(self.clone), order, applied, files)

    def _names(self, verb: str) -> list[str]:
        rows = self.patchmgr(verb, "--to", str(self.clone))[1].splitlines()
        return [row.split()[-1].removesuffix(".patch") for row in rows]


def _files(root: Path) -> dict[str, str]:
    paths = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    own = {".git", ".pc", "patches"}
    return {str(path): (root / path).read_text() for path in paths if path.parts[0] not in own}


ONE, TWO = text(l3="one"), text(l3="one", l25="two")
MAKE: list[Step] = [
    ({}, "new one", "new one"),
    ({"a": ONE}, "refresh", "refresh"),
    ({}, "new two", "new two"),
    ({"a": TWO, "n": "new\n", "gone": None}, "refresh", "refresh a n gone"),
]
WALKS: Mapping[str, Sequence[tuple[Step, bool]]] = {
    "in and out": [(({}, "pop", "pop"), True), (({}, "pop", "pop"), True),
        (({}, "pop", "pop"), False), (({}, "push", "push"), True),
        (({}, "push -a", "push -a"), True), (({}, "push", "push"), False),
        (({}, "pop -a", "pop -a"), True), (({}, "push two", "push two"), True)],
    "in the middle": [(({}, "pop", "pop"), True), (({}, "new middle", "new middle"), True),
        (({"sub/b": text(l1="middle")}, "refresh", "refresh"), True),
        (({}, "push -a", "push -a"), True), (({}, "new one", "new one"), False)],
    "a lower patch": [(({}, "new three", "new three"), True),
        (({"sub/b": text(l1="three")}, "refresh", "refresh"), True),
        (({}, "pop two", "pop two"), True),
        (({"a": text(l3="one", l25="two", l7="more")}, "refresh", "refresh"), True),
        (({}, "push -a", "push -a"), True)],
    "names": [(({}, "rename -P one uno", "rename one uno"), True),
        (({}, "rename -P uno two", "rename uno two"), False),
        (({}, "delete -r two", "drop two"), True),
        (({}, "delete -r nobody", "drop nobody"), False)],
    "diffs of others": [
        (({}, "fold", "fold --diff -"), True),
        (({}, "refresh", "top"), True),  # quilt takes a fold into the patch by a refresh
        (({}, "pop -a", "pop -a"), True),
        (({}, "push -a", "push -a"), True),
    ],
    "a patch of others": [(({}, "import MORE", "import MORE --series s"), True),
        (({}, "push", "push"), True), (({}, "pop", "pop"), True)],
    "a file in the way": [(({}, "pop -a", "pop -a"), True),
        (({"a": text(l3="other")}, "push", "push"), False)],
}  # fmt: skip


@pytest.mark.parametrize("walk", WALKS.values(), ids=list(WALKS))
def test_files_and_series_are_as_with_quilt(
    walk: Sequence[tuple[Step, bool]],
    hermetic: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sides = Sides(tmp_path)
    for step, is_done in [*((step, True) for step in MAKE), *walk]:
        with sides.more.open() as given:
            monkeypatch.setattr("sys.stdin", given)
            assert sides.take(step) is is_done, step
        plain, ours = sides.look()
        assert ours == plain, step
