"""The one hermetic fixture: a home, a cache and a git that know nothing of the user."""

import functools
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from hypothesis import HealthCheck, settings

from tests.long import LONG, examples

# A loaded machine is no fault of the program: time is for benchmarks.
settings.register_profile(
    "patient",
    deadline=None,
    derandomize=not LONG,  # a fault that is known and rare must not fail a run now and then
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=examples(120),
)
settings.load_profile("patient")

MIRRORS = "PATCHMGR_MIRRORS"


_MEMORY = Path("/dev/shm")
_ENOUGH = 2 * 1024 * 1024 * 1024
_own_folder = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Let all that is temporary lie in memory, where the machine has room: tests write much."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs behind a shell ignores it
    # What one process compiled serves the next: a command of its own, and collecting the tests,
    # take half the time.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    found = os.statvfs(_MEMORY) if os.access(_MEMORY, os.W_OK) else None
    is_worker = hasattr(config, "workerinput")  # it has the folder of who started it
    if is_worker or found is None or found.f_bavail * found.f_frsize < _ENOUGH:
        return
    config.stash[_own_folder] = Path(tempfile.mkdtemp(prefix="patchmgr-tests-", dir=_MEMORY))
    os.environ["TMPDIR"] = tempfile.tempdir = str(config.stash[_own_folder])


def pytest_collection_finish() -> None:
    """Let no collection of garbage look at thousands of tests again: a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove what is left in memory."""
    if _own_folder in config.stash:
        shutil.rmtree(config.stash[_own_folder], ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def hermetic_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Point HOME, caches, editor, time zone and git at an empty place that stays empty."""
    with pytest.MonkeyPatch.context() as patched:
        home = make_hermetic(tmp_path_factory.mktemp("session") / "home", patched)
        yield home
        assert not list(home.iterdir()), "a test that writes there needs the fixture `hermetic`"


@pytest.fixture
def hermetic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point HOME and the folders below it at a place of the test's own; return it."""
    home = tmp_path / "home"
    home.mkdir()
    for name, place in _homes(home).items():
        monkeypatch.setenv(name, place)
    return home


@pytest.fixture(scope="session")
def _folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tests")


@pytest.fixture
def tmp_path(_folders: Path) -> Iterator[Path]:
    """Return the folder of one test; it has the same path in each, so `once` can copy states."""
    folder = _folders / "test"
    folder.mkdir()
    yield folder
    with tempfile.TemporaryDirectory(dir=_folders) as trash:
        folder.rename(Path(trash, "test"))


_states: dict[str, tuple[tempfile.TemporaryDirectory[str], Any]] = {}
Made = TypeVar("Made")


def once(key: str, folder: Path, names: Collection[str], make: Callable[[], Made]) -> Made:
    """Make folders in the one of a test, and return what was made.

    Each test after it gets copies of the folders, and the same answer.
    """
    if key not in _states:
        made = make()
        _states[key] = tempfile.TemporaryDirectory(prefix="patchmgr-state-"), made
        for name in filter(lambda name: (folder / name).exists(), names):
            copy_folder(folder / name, Path(_states[key][0].name, name))
        return made
    state, known = _states[key]
    for kept in Path(state.name).iterdir():
        shutil.rmtree(folder / kept.name, ignore_errors=True)
        copy_folder(kept, folder / kept.name)
    return cast("Made", known)


def copy_folder(source: str | Path, target: str | Path) -> None:
    """Copy a folder with links and permission bits: a fifth of the time of `shutil.copytree`."""
    os.mkdir(target, os.stat(source).st_mode)
    with os.scandir(source) as entries:
        for entry in entries:
            place = f"{target}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                copy_folder(entry.path, place)
            elif entry.is_symlink():
                os.symlink(os.readlink(entry.path), place)
            else:
                with open(entry.path, "rb") as old, open(place, "xb", buffering=0) as new:
                    new.write(old.read())
                    os.fchmod(new.fileno(), entry.stat().st_mode)


def _homes(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
    }


def make_hermetic(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point HOME, caches, editor, time zone and git at an empty place; return it."""
    home.mkdir()
    for name in list(os.environ):
        if name.startswith(("GIT_", "PATCHMGR_", "PIP_", "UV_")) and name != MIRRORS:
            monkeypatch.delenv(name)
    fixed = {
        **_homes(home),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A. Author",
        "GIT_AUTHOR_EMAIL": "author@example.org",
        "GIT_AUTHOR_DATE": "@1700000000 +0000",
        "GIT_COMMITTER_NAME": "C. Committer",
        "GIT_COMMITTER_EMAIL": "committer@example.org",
        "GIT_COMMITTER_DATE": "@1700000000 +0000",
        "GIT_EDITOR": "false",
        "GIT_TEST_FSYNC": "0",
        "TZ": "UTC",
        "LC_ALL": "C",
        "COLUMNS": "100",
    }
    for name, value in fixed.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # no test cuts the power
    return home


@functools.cache
def _empty_repository() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="patchmgr-empty-")
    line = ["git", "init", "--quiet", "--initial-branch=main", "--template=", folder.name]
    subprocess.run(line, check=True)
    with open(Path(folder.name, ".git", "config"), "a") as config:
        # Less for git to do after each commit and each fast-import.
        config.write("[maintenance]\n\tauto = false\n[fastimport]\n\tunpackLimit = 0\n")
    return folder


class Repository:
    """A git repository that a test builds, by the real git."""

    def __init__(self, root: Path, *, is_there: bool = False) -> None:
        self.root = root
        if not is_there and not (root / ".git").exists():
            root.mkdir(parents=True, exist_ok=True)
            copy_folder(Path(_empty_repository().name, ".git"), root / ".git")

    def git(self, *arguments: str, data: bytes = b"", good: tuple[int, ...] = (0,)) -> str:
        """Run git here and return its output, stripped."""
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, input=data, capture_output=True, check=False
        )
        assert done.returncode in good, done.stderr.decode(errors="replace")
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def commit(
        self, files: Mapping[str, bytes | str | None], message: str = "change", author: str = ""
    ) -> str:
        """Write (None: delete) files, commit all, and return the commit."""
        for path, content in files.items():
            target = self.root / path
            if content is None:
                target.unlink()
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "--all", "--force")
        extra = [f"--author={author}"] if author else []
        self.git("commit", "--quiet", "--allow-empty", "--no-verify", "-m", message, *extra)
        return self.head()

    @contextmanager
    def at(self, *where: str) -> Iterator[None]:
        """Check out a commit or a branch (`-b NAME`: a new one), and main again at the end."""
        self.git("checkout", "--quiet", *where)
        yield
        self.git("checkout", "--quiet", "main")

    def head(self) -> str:
        """Return the commit that is checked out."""
        return self.tip("HEAD")

    def tip(self, name: str) -> str:
        """Return the commit of HEAD or of a ref, by its full name."""
        place = self.root / ".git" / name
        if not place.is_file():  # there is no `.git`, or git has packed its refs
            return self.git("rev-parse", name)
        said = place.read_text().strip()  # to ask git takes longer than many a test
        return self.tip(said.removeprefix("ref: ")) if said.startswith("ref: ") else said

    def tree(self, name: str = "HEAD") -> str:
        """Return the tree of a commit."""
        return self.git("rev-parse", f"{name}^{{tree}}")

    def patches(self, revisions: str) -> bytes:
        """Return a range as git format-patch writes it for us."""
        done = subprocess.run(
            ["git", "format-patch", "--stdout", "--keep-subject", "--no-stat", "--no-signature",
             "--zero-commit", "--full-index", "--binary", "-M", revisions],
            cwd=self.root, capture_output=True, check=True,
        )  # fmt: skip
        return done.stdout


Make = Callable[[str], Repository]


@pytest.fixture
def make_repository(tmp_path: Path) -> Make:
    """Return a maker of repositories below the test's folder."""
    return lambda name: Repository(tmp_path / name)


@pytest.fixture
def mirrors() -> Path:
    """Return the folder of public histories, or skip, saying so."""
    place = os.environ.get(MIRRORS)
    if not place:
        pytest.skip(f"{MIRRORS} names no folder with public git histories")
    return Path(place)
