"""Long output goes through the pager that git takes, and never through one of a repository."""

import sys
from pathlib import Path

import pytest

from patchmgr.plumbing.programs import page, pager_command
from tests.conftest import Repository


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a git configuration of a user without any pager."""
    file = tmp_path / "gitconfig"
    file.write_text("")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(file))
    for name in ("GIT_PAGER", "PAGER", "LESS"):
        monkeypatch.delenv(name, raising=False)
    return file


@pytest.mark.parametrize(
    ("variables", "core", "pager"),
    [
        pytest.param({"GIT_PAGER": "one", "PAGER": "two"}, "three", "one", id="GIT_PAGER"),
        pytest.param({"PAGER": "two"}, "three", "three", id="core.pager"),
        pytest.param({"PAGER": "two"}, None, "two", id="PAGER"),
        pytest.param({"GIT_PAGER": ""}, "three", "cat", id="none"),
    ],
)
def test_the_pager_is_the_one_that_git_takes(
    settings: Path,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    core: str | None,
    pager: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    if core is not None:
        settings.write_text(f"[core]\n\tpager = {core}\n")
    assert pager_command() == pager


def test_a_repository_names_no_pager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Repository(tmp_path / "repository")
    repository.git("config", "core.pager", "hostile")
    monkeypatch.chdir(repository.root)
    monkeypatch.setenv("PAGER", "mine")
    assert pager_command() == "mine"


def test_a_text_is_paged_as_git_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_PAGER", f"(echo $LESS; cat) > {tmp_path}/shown")
    page(b"text\n")
    assert (tmp_path / "shown").read_bytes() == b"FRX\ntext\n"


@pytest.mark.parametrize("pager", ["cat", "", "no-such-program-of-anybody"])
def test_without_a_pager_the_text_is_printed(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], pager: str
) -> None:
    monkeypatch.setenv("GIT_PAGER", pager)
    page(b"text\n")
    assert capfdbinary.readouterr().out == b"text\n"


def test_a_pager_that_ends_early_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_PAGER", f"{sys.executable} -c pass")
    page(b"text\n" * 100_000)
