"""The series of this repository in the real wheels that they are for."""

import os
import shutil
import subprocess
import venv
from pathlib import Path
from typing import Any

import pytest

from benchmarks.installs import travel
from tests.commands.conftest import invoke
from tests.commands.scenes import picture

pytestmark = [
    pytest.mark.index,
    pytest.mark.skipif(
        not os.environ.get("PATCHMGR_INDEX"), reason="PATCHMGR_INDEX=1 lets it download wheels"
    ),
]
REPOSITORY = Path(__file__).parents[2]
_SETTINGS = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "HOME", "XDG_"))}
_CASES = [
    pytest.param("flashinfer", "flashinfer-python", ("0.6.12", "0.6.13"), id="flashinfer"),
    pytest.param("deepgemm", "sgl-deep-gemm", ("0.2.5", "0.2.5"), id="deepgemm"),
    pytest.param("vllm-glm47", "vllm", ("0.16.0", "0.16.0"), id="vllm"),
]


def pip(python: Path, *arguments: str) -> None:
    """Run pip with the settings of the one who runs the tests."""
    line = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    subprocess.run(line, check=True, env={**os.environ, **_SETTINGS})


def install(root: Path, package: str, version: str) -> Path:
    """Install a wheel without its dependencies in a fresh environment or an older one."""
    python = root / "bin/python"
    if not root.exists():
        venv.create(root, with_pip=True)
    pip(python, "install", "--no-deps", "--no-compile", f"{package}=={version}")
    return python


def packages(root: Path) -> Any:
    """Return all that the package has, without what Python compiled of pip meanwhile."""
    (site,) = root.glob("lib/python*/site-packages")
    found = picture(site, without=("__pycache__", "pip", "setuptools", "pkg_resources"))
    return {path: file for path, file in found.items() if not path.endswith("/RECORD")}


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of this repository's workspace; the index is the one of the user."""
    for name, value in _SETTINGS.items():
        monkeypatch.setenv(name, value)
    root = tmp_path / "workspace"
    root.mkdir()
    shutil.copy(REPOSITORY / "upstream.lock", root)
    shutil.copytree(REPOSITORY / "series", root / "series")
    return root


@pytest.mark.parametrize(("series", "package", "versions"), _CASES)
def test_a_series_is_applied_verified_upgraded_and_taken_out(
    workspace: Path, series: str, package: str, versions: tuple[str, str]
) -> None:
    def run(command: str, code: int = 0) -> Any:
        line = ("-C", workspace, command, series, "--python", str(python), "--json")
        answer = invoke(*line)
        assert answer.code == code, answer.out + answer.err
        return answer.json

    root = workspace.parent / "venv"
    python = install(root, package, versions[0])
    fresh = packages(root)
    paths = run("apply")["paths"]
    (site,) = root.glob("lib/python*/site-packages")
    for path in paths:
        if path.endswith(".py"):
            compile((site / path).read_bytes(), path, "exec")
    assert run("verify")["state"] == "patched"
    assert run("apply")["changed"] is False
    run("unapply")
    assert packages(root) == fresh
    run("apply")
    pip(python, "install", "--no-deps", "--no-compile", "--force-reinstall",
        f"{package}=={versions[1]}")  # fmt: skip
    fresh = {p: f for p, f in packages(root).items() if not p.startswith(".patchmgr")}
    assert run("verify", code=4)["state"] == "replaced"
    verdicts = [patch["verdict"] for patch in run("apply")["patches"]]
    assert set(verdicts) == {"unchanged"}
    assert run("verify")["state"] == "patched"
    run("unapply")
    assert packages(root) == fresh


@pytest.mark.usefixtures("workspace")
@pytest.mark.parametrize("package", ["requests", "pyyaml", "six"])
def test_edits_of_an_sdist_go_into_its_wheel_and_out_again(package: str) -> None:
    row, is_as_wished = travel(package, has_deps=True)
    assert is_as_wished, row
