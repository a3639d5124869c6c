"""Series on an archive or a folder, of which nothing is known but what it holds now."""

import io
import os
import shutil
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.commands.conftest import Answer, invoke
from tests.commands.scenes import one_line, text
from tests.conftest import Repository
from tests.long import LONG
from tests.tables import table

BASE = {"sdk/a.py": text(), "sdk/b.py": text(), "run.sh": "true\n"}
TAKEN = {**BASE, "sdk/a.py": text(l2="theirs\n\n", l30="ours\n")}


def as_tar(place: Path, files: dict[str, str], top: str = "sdk-1/") -> None:
    with tarfile.open(place, "w") as archive:
        for path, content in files.items():
            member = tarfile.TarInfo(f"{top}{path}")
            member.size, member.mtime = len(content.encode()), 1_600_000_000
            archive.addfile(member, io.BytesIO(content.encode()))


def as_folder(place: Path, files: dict[str, str]) -> None:
    shutil.rmtree(place, ignore_errors=True)
    for path, content in {**files, ".git/config": "no file of the project\n"}.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(content)


Form = Callable[[Path, dict[str, str]], None]
FLAT = partial(as_tar, top="")
FORMS: list[tuple[str, Form]] = [("sdk.tar", as_tar), ("flat.tar", FLAT), ("folder", as_folder)]


@pytest.fixture
def run(hermetic: Path, tmp_path: Path) -> Callable[..., Answer]:
    """Return what runs a command in an empty workspace and checks its exit code."""
    root = tmp_path / "workspace"
    assert invoke("init", root).code == 0

    def checked(*arguments: str | Path, code: int = 0) -> Answer:
        answer = invoke("-C", root, *arguments)
        assert answer.code == code, answer.out + answer.err
        return answer

    return checked


def begin(run: Callable[..., Answer], place: Path, folder: Path) -> None:
    """Make a series of two patches on what is there."""
    run("upstream", "add", "sdk", "--archive", place)
    run("series", "new", "s", "--upstream", "sdk", "--base", "upstream/main")
    fork = Repository(folder / "fork")
    fork.commit(BASE, "base")
    fork.commit({"sdk/a.py": text(l30="ours\n")}, "fix a")
    fork.commit({"sdk/b.py": text(l7="ours\n")}, "fix b")
    (folder / "box").write_bytes(fork.patches("HEAD~2..HEAD"))
    run("import", folder / "box", "--series", "s")


@pytest.mark.parametrize(("name", "form"), FORMS if LONG else FORMS[::2])
def test_a_series_goes_to_what_is_there_now(
    run: Callable[..., Answer], tmp_path: Path, name: str, form: Form
) -> None:
    place = tmp_path / name
    form(place, BASE)
    begin(run, place, tmp_path)
    pin = run("series", "show", "s", "--json").json["series"]["base"]
    assert (pin["archive"], pin["ref"]) == (name, f"snapshot-{pin['sha256'][:12]}")
    form(place, TAKEN)
    assert "up to date" in run("status").out
    run("upstream", "fetch")
    assert "1 release behind snapshot-" in run("status").out
    found = run("rebase", "s", "--onto", "upstream/main", "--json").json["series"][0]
    assert [patch["verdict"] for patch in found["patches"]] == ["absorbed", "unchanged"]
    assert found["patches"][0]["evidence"][0]["subject"] == f"sdk {found['onto']['ref']}"
    back = run("rebase", "s", "--onto", pin["ref"], "--json").json["series"][0]
    assert back["onto"]["ref"] == pin["ref"]


@pytest.mark.parametrize(("name", "form"), FORMS if LONG else FORMS[1:2])
def test_the_pin_is_brought_again_or_refused(
    run: Callable[..., Answer], tmp_path: Path, name: str, form: Form
) -> None:
    place, cache = tmp_path / name, tmp_path / "home" / "cache"
    form(place, BASE)
    begin(run, place, tmp_path)
    head = run("branch", "s", "--json").json["head"]
    shutil.rmtree(cache)
    form(place, BASE)
    assert run("branch", "s", "--json").json["head"] == head
    shutil.rmtree(cache)
    form(place, TAKEN)
    refused = one_line(run("branch", "s", code=1))
    assert f"{name} is not what upstream.lock pins (sha256 " in refused


@table(
    ("line", "code", "said"),
    [
        (("--archive", "/nowhere"), 2, "there is no archive or folder at /nowhere"),
        (("--archive", "ftp://a/b.tar"), 2, "there is no archive or folder at ftp://a/b.tar"),
        (("--archive", "https://a/b/"), 2, "https://a/b/ is not the URL of a file"),
        (("--archive", ".", "--package", "x"), 2, "--archive cannot be used with --git, --package"),
        (("--archive", ".", "--track", "git"), 2, "--archive cannot be used with --git, --package"),
        (("--archive", ".", "--reference", "."), 2, "--reference needs --git URL"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_is_no_place_is_refused(
    run: Callable[..., Answer], line: tuple[str, ...], code: int, said: str
) -> None:
    assert said in run("upstream", "add", "sdk", *line, code=code).err


def test_what_cannot_be_read_is_named(run: Callable[..., Answer], tmp_path: Path) -> None:
    as_folder(tmp_path / "folder", BASE)
    os.mkfifo(tmp_path / "folder" / "pipe")
    (tmp_path / "junk.tar").write_text("junk\n")
    as_tar(tmp_path / "evil.tar", {"../out.py": "x\n"})
    for name, said in {
        "folder": "pipe cannot be imported: it must be a regular file, a folder or a symbolic link",
        "junk.tar": "junk.tar cannot be unpacked",
        "evil.tar": "leads out of the archive",
    }.items():
        run("upstream", "add", name, "--archive", tmp_path / name)
        assert said in one_line(run("upstream", "fetch", name, code=1))
    (tmp_path / "junk.tar").unlink()
    assert "cannot be read: No such file" in one_line(run("upstream", "fetch", "junk.tar", code=1))


def test_a_folder_that_cannot_be_listed_is_named(
    run: Callable[..., Answer], tmp_path: Path
) -> None:
    """Its files must not just be missing. Root can list any folder, but not at so long a path."""
    as_folder(tmp_path / "sdk", BASE)
    at = os.open(tmp_path / "sdk", os.O_RDONLY)
    for _ in range(17):
        os.mkdir("d" * 250, dir_fd=at)
        above, at = at, os.open("d" * 250, os.O_RDONLY, dir_fd=at)
        os.close(above)
    os.close(at)
    run("upstream", "add", "sdk", "--archive", tmp_path / "sdk")
    said = one_line(run("upstream", "fetch", "sdk", code=1))
    assert said.endswith("cannot be imported: File name too long")


def test_an_unknown_state_names_the_known_ones(run: Callable[..., Answer], tmp_path: Path) -> None:
    as_folder(tmp_path / "folder", BASE)
    begin(run, tmp_path / "folder", tmp_path)
    pin = run("series", "show", "s", "--json").json["series"]["base"]["ref"]
    refused = run("rebase", "s", "--onto", "v1", code=2)
    assert "sdk has no state v1" in refused.err
    assert "known states: snapshot-" in refused.err
    line = ("rebase", "s", "--onto", f"{pin}..upstream/main", "--every", "2", "--dry-run")
    refused = run(*line, code=2)
    assert "an archive has none" in refused.err
