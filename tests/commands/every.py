"""A row for every command: how it is called in a workspace where it has something to do.

What must hold of all commands is tested over this table: `test_every.py` says that no command is
missing, so a new one joins what is asked of the others.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import typer.main
from typer.core import TyperGroup

from patchmgr import cli
from tests.commands.conftest import Answer, invoke
from tests.commands.scenes import PARTS, Stage, plant, text
from tests.conftest import Repository, copy_folder, once


@dataclass(frozen=True)
class Row:
    """A command line; `{names}` in it are those of `Place.names`.

    `state` is what was done before, `code` how it ends; `writes` says that something is changed.
    """

    line: str
    state: str = "plain"
    code: int = 0
    writes: bool = False


@dataclass(frozen=True)
class Place:
    """A stage with a checkout of the pin and a folder for what is written elsewhere."""

    stage: Stage
    checkout: Repository

    @property
    def out(self) -> Path:
        """Return the folder for what is written elsewhere."""
        return self.stage.folder / "out"

    def words(self, line: str) -> list[str]:
        """Return a line of the table with its names filled in."""
        stage = self.stage
        names = {
            "root": stage.root,
            "checkout": self.checkout.root,
            "out": self.out,
            "upstream": stage.upstream.root,
            "remote": stage.folder / "remote.git",
            "base": stage.base,
            "later": stage.upstream.tip("refs/heads/later"),
            "collides": stage.upstream.tip("refs/heads/collides"),
            "fork": stage.fork,
        }
        if "{other}" in line:
            names["other"] = _other(stage).root
        if "{conflict}" in line:
            names["conflict"] = next((stage.root / "conflicts").glob("*/meta.toml")).parent.name
        return [word.format_map(names) for word in line.split()]

    def run(self, row: Row) -> Answer:
        """Run a row."""
        return invoke("-C", self.stage.root, *self.words(row.line))


def _other(stage: Stage) -> Repository:
    """Return a clone with one more patch on a branch, and a merge whose conflict was solved."""
    if (stage.folder / "other").exists():
        return Repository(stage.folder / "other", is_there=True)
    clone = stage.clone("other", stage.fork, "more")
    plant(clone, {"more.txt": "more\n"}, "fork: three")
    clone.git("checkout", "--quiet", "-b", "merged", stage.fork)
    clone.git("merge", "--quiet", "origin/collides", good=(1,))
    plant(clone, {"pkg/a.py": text(l30="both\n")}, "merged")
    return clone


def _plain(place: Place) -> None:
    pass


def _applied(place: Place) -> None:
    place.stage.run("apply", "s", "--to", place.checkout.root)


def _committed(place: Place) -> None:
    place.stage.run("apply", "s", "--to", place.checkout.root, "--commit")


def _exchanged(place: Place) -> None:
    _committed(place)
    patch = place.stage.root / "series/s/fork-one.patch"
    patch.write_bytes(patch.read_bytes().replace(b"+ours", b"+other"))


def _all_pushed(place: Place) -> None:
    place.stage.run("push", "--all", "--to", place.checkout.root)


def _pushed(place: Place) -> None:
    place.stage.run("push", "--to", place.checkout.root)


def _edited(place: Place) -> None:
    _pushed(place)
    file = place.checkout.root / "pkg/a.py"
    file.write_text(file.read_text().replace("ours\n", "ours\nand more\n"))
    (place.checkout.root / "stray").write_text("mine\n")


def _ignoring(place: Place) -> None:
    (place.out / "fresh").mkdir()
    (place.out / "fresh/.gitignore").write_text("mine")


def _collided(place: Place) -> None:
    place.stage.run("rebase", "s", "--onto", *place.words("{collides}"), code=3)


def _accepted(place: Place) -> None:
    _collided(place)
    place.stage.run(*place.words("conflicts accept {conflict} theirs"))


def _renamed(place: Place) -> None:
    place.stage.run("rename", "fork-two.patch", "again.patch")


def _undone(place: Place) -> None:
    _renamed(place)
    place.stage.run("undo")


def _tagged(place: Place) -> None:
    place.stage.run(*place.words("branch s --repo {checkout} --tag one"))


def _shared(place: Place) -> None:
    workspace = Repository(place.stage.root)
    workspace.git("add", "--all")
    workspace.git("commit", "--quiet", "-m", "patches")
    workspace.git("clone", "--quiet", "--bare", ".", *place.words("{remote}"))


def _driven(place: Place) -> None:
    place.stage.run(*place.words("merge-driver install --git {checkout}"))


STATES: Mapping[str, Callable[[Place], None]] = {
    "plain": _plain, "applied": _applied, "committed": _committed, "exchanged": _exchanged,
    "pushed": _pushed, "all pushed": _all_pushed, "edited": _edited, "ignoring": _ignoring,
    "collided": _collided, "accepted": _accepted, "renamed": _renamed, "undone": _undone,
    "tagged": _tagged, "driven": _driven, "shared": _shared,
}  # fmt: skip

ROWS = (
    Row("init {out}/fresh", writes=True),
    Row("upstream list"),
    Row("upstream add two --git {upstream} --reference {upstream}", writes=True),
    Row("upstream fetch", writes=True),
    Row("series list"),
    Row("series show s"),
    Row("series graph s"),
    Row("series new t --upstream up --base {base}", writes=True),
    Row("series guard fork-two.patch +sym", writes=True),
    Row("import --git {other} {fork}..more --series s", writes=True),
    Row("export s --as mbox --out {out}/s.mbox", writes=True),
    Row("plan s --onto {collides}", code=3),
    Row("forecast s"),
    Row("sync s --push {remote} --onto {later}", "shared", writes=True),
    Row("rebase s --onto {later}", writes=True),
    Row("rebase s --onto {collides}", code=3, writes=True),
    Row("rebase --continue", "accepted", writes=True),
    Row("rebase --abort", "collided", writes=True),
    Row("decide fork-one.patch needed", "collided", writes=True),
    Row("audit s"),
    Row("audit --trees {base} {fork} --repo {upstream}"),
    Row("apply s --to {checkout}", writes=True),
    Row("apply s --to {checkout} --commit", writes=True),
    Row("verify s --to {checkout}", "applied"),
    Row("unapply s --to {checkout}", "applied", writes=True),
    Row("branch s --repo {checkout}", writes=True),
    Row("report s"),
    Row("check s", code=4),
    Row("notes s --from {base} --to {later}"),
    Row("diff s --from one --repo {checkout}", "tagged"),
    Row("why pkg/a.py:31 --series s"),
    Row("status"),
    Row("doctor"),
    Row("help conflicts"),
    Row("new more --to {checkout}", writes=True),
    Row("push --to {checkout}", writes=True),
    Row("push --all --to {checkout}", writes=True),
    Row("pop --to {checkout}", "pushed", writes=True),
    Row("goto fork-two --to {checkout}", "pushed", writes=True),
    Row("refresh --to {checkout}", "edited", writes=True),
    Row("refresh --auto --to {checkout}", "edited", writes=True),
    Row("applied --to {checkout}", "pushed"),
    Row("unapplied --to {checkout}", "pushed"),
    Row("top --to {checkout}", "pushed"),
    Row("next --to {checkout}", "pushed"),
    Row("prev --to {checkout}", "pushed", code=1),
    Row("files --to {checkout}", "edited"),
    Row("changes --to {checkout}", "edited"),
    Row("show fork-one"),
    Row("edit fork-one --subject words", writes=True),
    Row("rename fork-two.patch again.patch", writes=True),
    Row("drop fork-two", writes=True),
    Row("move fork-two --before 1", writes=True),
    Row("fold fork-two --into fork-one", writes=True),
    Row("split fork-one half --file new", writes=True),
    Row("log", "renamed"),
    Row("undo", "renamed", writes=True),
    Row("redo", "undone", writes=True),
    Row("conflicts list", "collided"),
    Row("conflicts show {conflict}", "collided"),
    Row("conflicts resolve {conflict} {checkout}/pkg/b.py", "collided", writes=True),
    Row("conflicts accept {conflict} theirs", "collided", writes=True),
    Row("conflicts propose {conflict} --delete", "collided", code=4),
    Row("conflicts forget {conflict}", "accepted", writes=True),
    Row("conflicts learn merged --git {other}", writes=True),
    Row("conflicts pull {other}", writes=True),
    Row("conflicts push {other} --branch shared", "accepted", writes=True),
    Row("merge-driver install --git {checkout}", writes=True),
    Row("merge-driver uninstall --git {checkout}", "driven", writes=True),
    Row("merge-file {checkout}/pkg/a.py {checkout}/pkg/b.py {checkout}/plain.sh --path a.py"),
)  # fmt: skip

# Why a command has no row here; each has tests of its own.
ELSEWHERE = {
    "overlay": "works on an installed package: test_overlays.py",
    "wheel": "works on a wheel: test_wheels.py",
    "mergetool": "opens a tool of the user's: test_mergetool.py",
    "resolve": "asks at the terminal: test_resolve.py",
    "mcp": "serves a client until it goes: test_mcp.py",
    "merge-driver run": "is run by git: test_merge_file.py",
}


def command_names() -> Iterator[str]:
    """Yield the name of every command that the program has."""
    root = typer.main.get_command(cli.app)
    assert isinstance(root, TyperGroup)
    for name, command in root.commands.items():
        if isinstance(command, TyperGroup):
            yield from (f"{name} {inner}" for inner in command.commands)
        else:
            yield name


def make_place(stage: Stage, state: str) -> Place:
    """Return a place in a state."""

    def make() -> None:
        place = Place(stage, stage.clone())
        place.out.mkdir()
        STATES[state](place)

    once(f"place {state}", stage.folder, PARTS, make)
    return Place(stage, Repository(stage.folder / "checkout", is_there=True))


def restorer(*places: Path) -> Callable[[], None]:
    """Return a function that makes folders that there are again what they are now."""
    kept = {place: place.with_name(f".{place.name}-kept") for place in places if place.exists()}
    for place, copy in kept.items():
        copy_folder(place, copy)

    def restore() -> None:
        for place, copy in kept.items():
            shutil.rmtree(place)
            copy_folder(copy, place)

    return restore
