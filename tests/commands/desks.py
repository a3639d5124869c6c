"""A desk to test authoring commands at: a workspace, a checkout, and a person's hands."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.commands.conftest import Answer, checked
from tests.commands.scenes import PARTS, Picture, Stage, picture
from tests.conftest import Repository, once


@dataclass(frozen=True)
class Hands:
    """The checkout that a person works in, and the series that they keep."""

    stage: Stage
    checkout: Repository
    name: str

    @property
    def root(self) -> Path:
        """Return the folder of the checkout."""
        return self.checkout.root

    @property
    def folder(self) -> Path:
        """Return the folder of the series."""
        return self.stage.root / "series" / self.name

    def run(self, *arguments: str | Path, code: int = 0) -> Answer:
        """Run a command in the checkout, and check its exit code."""
        return checked("-C", self.stage.root, *arguments, code=code, at=self.root)

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        """Write files in the checkout; None deletes one."""
        for path, content in files.items():
            place = self.root / path
            if content is None:
                place.unlink()
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)

    def patch(self, name: str, files: Mapping[str, str | bytes | None], *options: str) -> None:
        """Make a patch of files."""
        self.run("new", name, *options)
        self.write(files)
        self.run("refresh", *files)

    def order(self) -> list[str]:
        """Return the patches as the series file has them."""
        lines = (self.folder / "series").read_text().splitlines()
        return [line.split(" ")[0] for line in lines if line and not line.startswith("#")]

    def applied(self) -> list[str]:
        """Return the pushed patches."""
        return [row["name"] for row in self.run("applied", "--json").json["patches"]]

    def text(self, path: str) -> str:
        """Return a file of the checkout."""
        return (self.root / path).read_text()

    def raw(self, name: str) -> bytes:
        """Return a patch file."""
        return (self.folder / name).read_bytes()

    def look(self) -> tuple[Picture, Picture]:
        """Return all that a person can see: of the workspace, and of the checkout."""
        files = {p: f for p, f in picture(self.stage.root).items() if f[0] != "folder"}
        return files, picture(self.root)


def made(
    stage: Stage, key: str, patches: Mapping[str, Mapping[str, str | None]], *, first: str = ""
) -> Hands:
    """Return a desk with pushed patches that is made once in a session, and copied in each test.

    `first` is the message of the first patch.
    """

    def begin() -> None:
        desk, words = hands(stage, name="w"), ("-m", first) if first else ()
        for name, files in patches.items():
            desk.patch(name, files, *words)
            words = ()
        shutil.rmtree(stage.root / ".patchmgr/log")  # every test begins with an empty one

    once(key, stage.folder, PARTS, begin)
    return Hands(stage, Repository(stage.folder / "checkout", is_there=True), "w")


def hands(stage: Stage, *, name: str = "s") -> Hands:
    """Return a desk at the series of the stage, or at a new one without patches."""
    if name == "s":
        return Hands(stage, stage.clone(), name)

    def make() -> None:
        stage.run("series", "new", name, "--upstream", "up", "--base", stage.base)
        Hands(stage, stage.clone(), name).run("goto", "0", "--series", name)

    once(f"hands {name}", stage.folder, PARTS, make)
    return Hands(stage, Repository(stage.folder / "checkout", is_there=True), name)
