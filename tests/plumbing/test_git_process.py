"""Git answers the same, and runs nothing, whatever the configuration of a repository says."""

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing import git_process
from patchmgr.plumbing.git_process import clean_environment, user_environment
from patchmgr.plumbing.programs import TemporaryCheckout
from patchmgr.plumbing.stores import create_store
from tests.conftest import Repository
from tests.tables import table


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return a repository with two commits, and with a program that a setting may name."""
    made = Repository(tmp_path / "repository")
    made.commit({"ä.txt": "one\r\n"}, "one")
    made.commit({"ä.txt": "two\r\n"}, "two")
    program = made.root / "hooks/reference-transaction"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {made.root}/ran\n")
    program.chmod(0o755)
    (made.root / "list").write_text("* text\n*\n")  # attributes, or what is ignored
    return made


def ask(repository: Repository, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    """Run git in the work tree; a file with a carriage return is its input."""
    at, data = repository.root, b"x\r\n"
    printed = git_process.output(arguments, git_dir=at / ".git", cwd=at, data=data, env=env)
    return git_process.text(printed)


HASHED = ("hash-object", "--path=x", "--stdin")


@table(
    ("setting", "value", "arguments"),
    [
        pytest.param("core.hooksPath", "/hooks", ("update-ref", "refs/heads/new", "HEAD")),
        pytest.param("core.fsmonitor", "/hooks/reference-transaction", ("ls-files", "--others")),
        pytest.param("core.attributesFile", "/list", ("check-attr", "text", "x")),
        pytest.param("core.excludesFile", "/list", ("ls-files", "--others", "--exclude-standard")),
        pytest.param("core.quotePath", "true", ("ls-files",)),
        pytest.param("core.autocrlf", "input", HASHED),
        pytest.param("core.safecrlf", "true", ("-c", "core.autocrlf=input", *HASHED, "-w")),
    ],
)
def test_a_setting_changes_no_answer(
    repository: Repository, setting: str, value: str, arguments: tuple[str, ...]
) -> None:
    before = ask(repository, *arguments)
    whole = f"{repository.root}{value}" if value.startswith("/") else value
    repository.git("config", setting, whole)
    assert ask(repository, *arguments) == before
    assert not (repository.root / "ran").exists()
    repository.git("config", "--unset", setting)


def test_names_are_printed_as_they_are(repository: Repository) -> None:
    assert ask(repository, "ls-files") == "ä.txt\n"


def test_history_is_what_the_commits_say(repository: Repository) -> None:
    head = repository.head()
    repository.git("replace", head, "HEAD~1")
    (repository.root / ".git/info").mkdir(exist_ok=True)
    (repository.root / ".git/info/grafts").write_text(f"{head}\n")
    assert ask(repository, "rev-list", "--count", "HEAD") == "2\n"


def test_a_question_does_not_write_the_index(repository: Repository) -> None:
    index = repository.root / ".git/index"
    os.utime(repository.root / "ä.txt", (1, 1))
    before = index.read_bytes()
    ask(repository, "status", "--porcelain")
    assert index.read_bytes() == before


@table("environment", {"none": clean_environment, "user": user_environment, "network": None})
def test_no_program_is_a_transport(
    repository: Repository, environment: Callable[[], dict[str, str]] | None
) -> None:
    repository.git("config", "protocol.ext.allow", "always")
    env = environment() if environment else clean_environment(for_network=True)
    with pytest.raises(PatchmgrError, match="transport 'ext' not allowed"):
        ask(repository, "ls-remote", f"ext::touch {repository.root}/ran", env=env)
    assert not (repository.root / "ran").exists()


def test_only_a_call_for_the_network_reaches_another_repository(repository: Repository) -> None:
    with pytest.raises(PatchmgrError, match="transport 'file' not allowed"):
        ask(repository, "ls-remote", ".")
    assert "HEAD" in ask(repository, "ls-remote", ".", env=clean_environment(for_network=True))


def test_a_command_line_that_is_too_long_is_an_error(repository: Repository) -> None:
    with pytest.raises(PatchmgrError, match="git log: Argument list too long"):
        git_process.ask(repository.root / ".git", "log", "--", *["a" * 1000] * 3000)


def test_a_git_with_other_defaults_makes_the_same_repositories(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By default, git 3 makes repositories with SHA-256 ids, which cannot borrow our objects."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/git"
    git = shutil.which("git")
    program.write_text(
        f'#!/bin/sh\nGIT_DEFAULT_HASH=${{GIT_DEFAULT_HASH:-sha256}} exec {git} "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    store = create_store(tmp_path / "store.git")
    assert git_process.ask(store, "rev-parse", "--show-object-format") == "sha1\n"
    with TemporaryCheckout(repository.root / ".git") as checkout:
        checkout.check_out(repository.head())
        assert (checkout.root / "ä.txt").read_bytes() == b"two\r\n"
