"""What the proofs share: the card, unpacked wheels, timed commands, an answer as JSON."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any


def answer(proof: Callable[[Path], Mapping[str, Any]]) -> None:
    """Run a proof on the folder that the command line names, and print what it found as JSON."""
    why_not = missing()
    found = {"skipped": why_not} if why_not else dict(proof(Path(sys.argv[1]).resolve()))
    print(json.dumps(found))


def missing() -> str:
    """Return what this machine lacks for a proof; empty where it has everything."""
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed"
    import torch

    if not torch.cuda.is_available():
        return "there is no CUDA device"
    return "" if shutil.which("nvcc") else "nvcc is not on PATH"


def facts() -> dict[str, str]:
    """Return the versions that figures depend on."""
    found = {"python": platform.python_version()}
    for module in ("torch", "triton", "numpy", "ninja"):
        if importlib.util.find_spec(module):
            found[module] = str(__import__(module).__version__)
    for name, command in (
        ("nvcc", ("nvcc", "--version")),
        ("g++", ("g++", "--version")),
        ("card", ("nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv")),
    ):
        if shutil.which(command[0]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            found[name] = done.stdout.strip()
    return found


def with_pip_headers() -> dict[str, str]:
    """Return the environment for a compiler that finds what the toolkit lacks, as curand.h."""
    import torch

    return os.environ | {"CPATH": str(Path(torch.__file__).parents[1] / "nvidia/cu13/include")}


def run(
    command: Sequence[str | Path],
    timeout: float,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> dict[str, Any]:
    """Run a command; return its exit code (-1: stopped at the time limit), seconds and output."""
    words = [str(word) for word in command]
    start = time.monotonic()
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=timeout, env=env, cwd=cwd
        )
        code, out, errors = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        code, out = -1, (error.stdout or b"").decode(errors="replace")
        errors = (error.stderr or b"").decode(errors="replace") + f"stopped after {timeout:.0f} s"
    seconds = round(time.monotonic() - start, 1)
    return {
        "command": " ".join(words),
        "code": code,
        "seconds": seconds,
        "out": out,
        "errors": errors[-4000:],
    }


def unpack(wheel: Path, folder: Path) -> int:
    """Unpack a wheel, hold each file to the sha256 of its RECORD, and return how many there are."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    (record,) = folder.glob("*.dist-info/RECORD")
    rows = [row for row in csv.reader(record.read_text().splitlines()) if row[1]]
    for name, digest, _ in rows:
        data = hashlib.sha256((folder / name).read_bytes()).digest()
        if digest != "sha256=" + base64.urlsafe_b64encode(data).rstrip(b"=").decode():
            raise SystemExit(f"{wheel.name}: {name} is not what RECORD says")
    return len(rows)


def overlay(folder: Path, files: Path) -> list[str]:
    """Copy files over those of a folder, and return their paths."""
    paths = [path.relative_to(files) for path in sorted(files.rglob("*")) if path.is_file()]
    for path in paths:
        shutil.copyfile(files / path, folder / path)
    return [str(path) for path in paths]


def last_json(text: str) -> Any:
    """Return the last document of an output, which is a line; None where there is none."""
    lines = [line for line in text.splitlines() if line.startswith("{") and line.endswith("}")]
    return json.loads(lines[-1]) if lines else None
