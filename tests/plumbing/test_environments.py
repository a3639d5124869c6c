"""Environments and what is installed in them."""

import os
import sys
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.formats.wheel_records import normalized_name
from patchmgr.plumbing.environments import (
    Environment,
    ask_environment,
    find_distribution,
    other_owners,
    site_environment,
)

VERSION = f"python{sys.version_info[0]}.{sys.version_info[1]}"
REAL = os.path.realpath(sys.executable)


def virtual(root: Path, settings: str = "") -> Path:
    (root / "bin").mkdir(parents=True)
    (root / "bin/python").symlink_to(REAL)
    (root / "pyvenv.cfg").write_text(f"home = {os.path.dirname(REAL)}\n{settings}")
    return root / "lib" / VERSION / "site-packages"


def info(site: Path, folder: str, record: str = "", metadata: str = "Version: 1\n\n") -> Path:
    place = site / folder
    place.mkdir(parents=True)
    (place / "RECORD").write_text(record)
    (place / "METADATA").write_text(metadata)
    return place


@pytest.mark.parametrize("form", ["interpreter", "folder", "name"])
def test_its_folder_is_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    site = virtual(tmp_path / "venv")
    monkeypatch.setenv("PATH", str(tmp_path / "venv/bin"))
    names = {
        "interpreter": str(tmp_path / "venv/bin/python"),
        "folder": str(tmp_path / "venv"),
        "name": "python",
    }
    found = ask_environment(names[form])
    assert found.sites[0] == site
    assert all(path.is_relative_to(tmp_path) for path in found.sites)
    assert found.owner is None


def test_an_environment_may_look_into_the_system_s(tmp_path: Path) -> None:
    site = virtual(tmp_path / "venv", "include-system-site-packages = true\n")
    found = ask_environment(str(tmp_path / "venv"))
    assert found.sites[0] == site
    assert found.managed == {path for path in found.sites if not path.is_relative_to(tmp_path)}
    assert found.managed


def test_an_interpreter_without_an_environment_has_the_user_s_packages(tmp_path: Path) -> None:
    found = ask_environment(REAL)
    home = Path(os.environ["HOME"])
    assert any(path.is_relative_to(home) for path in found.sites)
    assert len(found.sites) > 1


@pytest.mark.parametrize("content", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\necho no\n", ""])
def test_what_is_no_interpreter_is_said(tmp_path: Path, content: str) -> None:
    program = tmp_path / "program"
    if content:
        program.write_text(content)
        program.chmod(0o755)
    with pytest.raises(PatchmgrError, match="interpreter"):
        ask_environment(str(program))


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("two_words-1.dist-info", "two-words"),
        ("Two.Words-1.dist-info", "two_words"),
        ("two_words-1.dist-info", "TWO-words"),
    ],
)
def test_a_name_may_be_written_in_several_ways(tmp_path: Path, folder: str, name: str) -> None:
    info(tmp_path, folder, "two_words/a.py,sha256=x,1\n")
    info(tmp_path, "two-1.dist-info")
    found = find_distribution(site_environment(tmp_path), name)
    assert (found.name, found.version, found.info) == ("two-words", "1", folder)
    assert found.record == {"two_words/a.py": "sha256=x"}
    assert normalized_name(name) == "two-words"


def test_the_first_folder_counts_and_one_that_is_gone_does_not(tmp_path: Path) -> None:
    info(tmp_path / "one", "demo-1.dist-info")
    info(tmp_path / "two", "demo-2.dist-info")
    places = (tmp_path / "none", tmp_path / "two", tmp_path / "one")
    assert find_distribution(Environment(places), "demo").site == tmp_path / "two"


def test_a_version_without_metadata_is_the_folder_s(tmp_path: Path) -> None:
    info(tmp_path, "demo-1.5.dist-info", metadata="Name: demo\n\nVersion: none\n")
    assert find_distribution(site_environment(tmp_path), "demo").version == "1.5"


def test_a_pth_file_of_a_package_that_is_no_path_is_none_of_ours(tmp_path: Path) -> None:
    info(tmp_path, "demo-1.dist-info", "demo.pth,,\nlost.pth,,\n")
    (tmp_path / "demo.pth").write_text("import demo\n")
    find_distribution(site_environment(tmp_path), "demo")


def test_who_else_lists_a_file_is_found(tmp_path: Path) -> None:
    info(tmp_path, "demo-1.dist-info", "pkg/a.py,,\npkg/b.py,,\n")
    info(tmp_path, "other-2.dist-info", "x/pkg/a.py,,\npkg/b.py,,\n")
    (tmp_path / "odd-3.dist-info/RECORD").mkdir(parents=True)
    found = find_distribution(site_environment(tmp_path), "demo")
    assert other_owners(found, ["pkg/a.py", "pkg/b.py"]) == {"pkg/b.py": "other-2"}
