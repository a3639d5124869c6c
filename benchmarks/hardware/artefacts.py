"""Make what `run` needs on the other machine: wheels and files of branches, by patchmgr itself.

    python -m benchmarks.hardware.artefacts

It fills build/hardware: patched wheels of FlashInfer and DeepGEMM, the files of vLLM branches that
are compiled, upstream's text of what the series change there, and the packages that FlashInfer
imports and that come with no torch. Needs a package index. The first pins are those of this
folder's workspace, the newest state is that of docs/history.
"""

from __future__ import annotations

import hashlib
import io
import json
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
HISTORY = ROOT / "docs" / "history"
OUT = ROOT / "build" / "hardware"
WORK = ROOT / "build" / "hardware-work"
WHEELS = (
    (ROOT, "flashinfer", "flashinfer-python==0.6.12"),
    (ROOT, "flashinfer", "flashinfer-python==0.6.13"),
    (HISTORY, "flashinfer", "flashinfer-python==0.6.14"),
    (ROOT, "deepgemm", "sgl-deep-gemm==0.2.5"),
)
DEPENDENCIES = ("apache-tvm-ffi==0.1.11",)
PLATFORM = ("--python-version", "3.12", "--only-binary", ":all:")
PLATFORMS = ("manylinux2014_x86_64", "manylinux_2_28_x86_64")
BRANCHES = {"0.23.0": ROOT, "0.33.0": HISTORY}
SWA = "vllm/v1/attention/backends/mla/sparse_swa.py"
UTILS = "vllm/model_executor/layers/quantization/utils"
FILES = (
    *("csrc/core", "csrc/moe/marlin_moe_wna16", "csrc/moe/torch_bindings.cpp"),
    *("csrc/quantization/marlin", "csrc/torch_utils.h", "vllm/scalar_type.py", SWA),
    *(f"{UTILS}/{name}" for name in ("quant_utils.py", "marlin_utils.py", "marlin_utils_test.py")),
)
"""What marlin.py and swa_clamp.py read of a branch; what a release lacks of it is left out."""

_commands: list[str] = []


def main() -> None:
    """Make everything anew."""
    for folder in (OUT, WORK):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    for workspace, series, requirement in WHEELS:
        _wheel(workspace, series, requirement)
    for requirement in DEPENDENCIES:
        _download(requirement, OUT / "deps")
    heads = {release: _branch(workspace, release) for release, workspace in BRANCHES.items()}
    _as_text()
    files = sorted(path for path in OUT.rglob("*") if path.is_file())
    found = {
        "commands": _commands,
        "heads": heads,
        "sha256": {
            str(path.relative_to(OUT)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in files
        },
    }
    (OUT / "artefacts.json").write_text(json.dumps(found, indent=1))


def _run(*words: str | Path) -> str:
    """Run a command, and note it as a person would type it."""
    typed = shlex.join(str(word) for word in words)
    _commands.append(typed.replace(f"{sys.executable} -m ", "").replace(f"{ROOT}/", ""))
    print(_commands[-1], file=sys.stderr, flush=True)
    return subprocess.check_output([str(word) for word in words], cwd=ROOT, text=True)


def _patchmgr(workspace: Path, *words: str | Path) -> str:
    return _run(sys.executable, "-m", "patchmgr", "-C", workspace, *words)


def _download(requirement: str, folder: Path) -> Path:
    platforms = [word for platform in PLATFORMS for word in ("--platform", platform)]
    _run(
        *(sys.executable, "-m", "pip", "download", "-q", "--no-deps", *PLATFORM, *platforms),
        *("--dest", folder, requirement),
    )
    return max(folder.glob("*.whl"), key=lambda path: path.stat().st_mtime)


def _wheel(workspace: Path, series: str, requirement: str) -> None:
    """Patch a wheel, and keep upstream's text of what differs."""
    wheel = _download(requirement, WORK / requirement)
    _patchmgr(workspace, "wheel", series, "--from", wheel, "--out", OUT)
    release = wheel.name.split("-")[1]
    (patched,) = OUT.glob(f"{wheel.name.split('-')[0]}-{release}+*.whl")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(patched) as new:
        for name in old.namelist():
            if ".dist-info/" not in name and old.read(name) != new.read(name):
                target = OUT / "upstream" / patched.name.split("+")[0] / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(old.read(name))


def _branch(workspace: Path, release: str) -> str:
    clone = WORK / f"vllm-{release}.git"
    subprocess.run(("git", "init", "-q", "--bare", clone), check=True)
    _patchmgr(workspace, "branch", "vllm", "--repo", clone, "--name", "patched")
    git = ("git", "-C", str(clone))
    head, *_, base = subprocess.check_output((*git, "rev-list", "patched"), text=True).split()
    changed = subprocess.check_output((*git, "diff", "--name-only", base, head), text=True).split()
    for side, commit in (("branch", head), ("upstream", base)):
        list_files = (*git, "ls-tree", "-r", "--name-only", commit, *FILES, *changed)
        listed = subprocess.check_output(list_files, text=True).split()
        packed = subprocess.check_output((*git, "archive", commit, *listed))
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(OUT / f"vllm-{release}" / side, filter="data")
    return head


def _as_text() -> None:
    """Merge swa-clamp onto the newest release from the first one, as git's text merge does."""
    first, last = (OUT / f"vllm-{release}" for release in BRANCHES)
    sides = (last / "upstream" / SWA, first / "upstream" / SWA, first / "branch" / SWA)
    target = last / "as-text" / SWA
    target.parent.mkdir(parents=True)
    target.write_text(_run("git", "merge-file", "-p", *sides))


if __name__ == "__main__":
    main()
