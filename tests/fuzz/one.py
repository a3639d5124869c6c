"""One process of the long job: `python -m tests.fuzz.one TARGET INPUTS DIR`."""

import hashlib
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

atheris: Any = import_module("atheris")  # has no types, and is not needed by the tests

with atheris.instrument_imports(include=["patchmgr"]):
    from tests.fuzz.seeds import seeds
    from tests.fuzz.targets import TARGETS

_MOST_MEMORY = 1024  # megabytes
_LONGEST = 20  # seconds an input may take


class _Finder:
    """A target that writes down what it finds, once a place, and goes on."""

    def __init__(self, name: str, place: Path, inputs: int) -> None:
        self._check = TARGETS[name].check
        self._place = place
        self._inputs = inputs
        self._count = 0

    def __call__(self, raw: bytes) -> None:
        self._count += 1
        if self._count & 1023 == 1 or self._count == self._inputs:
            (self._place / "inputs").write_text(str(self._count))
        try:
            self._check(raw)
        except Exception as fault:
            self._keep(raw, fault)

    def _keep(self, raw: bytes, fault: Exception) -> None:
        frames = traceback.extract_tb(fault.__traceback__)[-2:]
        where = [type(fault).__name__, *(f"{f.filename}:{f.lineno}" for f in frames)]
        name = hashlib.sha256(" ".join(where).encode()).hexdigest()[:12]
        told = self._place / "findings" / f"{name}.txt"
        if not told.exists():
            told.with_suffix(".bin").write_bytes(raw)
            told.write_text("".join(traceback.format_exception(fault)))


def fuzz(name: str, keep: Path, inputs: int) -> None:
    """Fuzz one target with atheris; this process ends with it."""
    place = keep / name
    for folder in ("corpus", "findings"):
        (place / folder).mkdir(parents=True, exist_ok=True)
    for raw in seeds(name):
        (place / "corpus" / hashlib.sha256(raw).hexdigest()[:16]).write_bytes(raw)
    finder = _Finder(name, place, inputs)
    limits = [f"-rss_limit_mb={_MOST_MEMORY}", f"-timeout={_LONGEST}"]
    limits += [f"-max_len={TARGETS[name].longest}", f"-runs={inputs}", "-print_final_stats=1"]
    line = ["fuzz", *limits, f"-artifact_prefix={place}/findings/", str(place / "corpus")]
    atheris.Setup(line, finder)
    atheris.Fuzz()


if __name__ == "__main__":
    fuzz(sys.argv[1], Path(sys.argv[3]), int(sys.argv[2]))
