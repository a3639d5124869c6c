"""A cache on the user's disk for answers that are slow to compute."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from patchmgr import __version__
from patchmgr.formats.json_text import parse_json
from patchmgr.model.ports import AnswerCache
from patchmgr.plumbing.stores import cache_folder

T = TypeVar("T")

_DAY = 24 * 60 * 60
_UNUSED = 30 * _DAY
_MOST_BYTES = 256 << 20
_SWEPT = "swept"
_PARTS = ("patchmgr", "pyflakes")  # packages; the first one with its subfolders


class Answers:
    """A cache of JSON values, separate for each version of patchmgr and of Python.

    Answers that have not been used for a month are deleted, and so are the least recently used ones
    when the cache exceeds its size limit.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = cache_folder() / "answers" if folder is None else folder
        self._program: bytes | None = None

    def get(self, question: Iterable[str | bytes]) -> list[Any] | None:
        """Return a list with the cached answer as its only item, or None if no answer is cached."""
        path = self._path(question)
        try:
            found = parse_json(path.read_bytes())
            os.utime(path)
        except (OSError, ValueError):
            return None
        return found if isinstance(found, list) and len(found) == 1 else None

    def put(self, question: Iterable[str | bytes], answer: Any) -> None:
        """Cache the answer to a question."""
        path = self._path(question)
        beside = path.with_name(f"{path.name}.{os.getpid()}")
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps([answer]))
            beside.replace(path)
            self._sweep()

    def _path(self, question: Iterable[str | bytes]) -> Path:
        if self._program is None:
            self._program = "\n".join(_program()).encode("utf-8", "surrogateescape")
        digest = hashlib.sha256(self._program)
        for part in question:
            raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            digest.update(b"%d " % len(raw) + raw)
        name = digest.hexdigest()
        return self._folder / name[:2] / name[2:]

    def _sweep(self) -> None:
        """Once a day, delete old answers and, if the cache is too large, those used longest ago."""
        mark, now = self._folder / _SWEPT, time.time()
        if mark.exists() and now - mark.stat().st_mtime < _DAY:
            return
        mark.touch()
        found = [(path, path.stat()) for path in self._folder.glob("??/*")]
        size = 0
        for path, facts in sorted(found, key=lambda each: -each[1].st_mtime):
            size += facts.st_size
            if now - facts.st_mtime > _UNUSED or size > _MOST_BYTES:
                path.unlink()


def value_bytes(value: object) -> bytes:
    """Return bytes that stand for a value in a question; different values give different bytes."""
    written = BytesIO()
    pickler = pickle.Pickler(written)
    pickler.fast = True  # writes equal values alike, whether or not they are the same object
    pickler.dump(value)
    return written.getvalue()


def _program() -> Iterator[str]:
    """Yield what an answer depends on besides its question: versions, and patchmgr's own files."""
    yield f"{__version__} {sys.version}"
    for name in _PARTS:
        spec = find_spec(name)
        root = "" if spec is None or spec.origin is None else os.path.dirname(spec.origin)
        for folder, below, files in os.walk(root):
            below[:] = sorted(below) if name == _PARTS[0] else ()
            for file in sorted(name for name in files if name.endswith(".py")):
                with suppress(FileNotFoundError):  # a temporary file of an editor, already deleted
                    facts = os.stat(os.path.join(folder, file))
                    yield f"{folder}/{file} {facts.st_size} {facts.st_mtime_ns}"


def files_below(folder: Path) -> Iterator[str]:
    """Yield the path, size and time of each file below a folder; these show when a file changes."""
    for path in sorted(folder.rglob("*")):
        with suppress(OSError):
            facts = path.lstat()
            yield f"{path} {facts.st_size} {facts.st_mtime_ns}"


def recalled(kept: AnswerCache, question: Sequence[str | bytes], kind: type[T]) -> T | None:
    """Return the cached answer to a question, or None if no answer of the type `kind` is cached."""
    known = kept.get(question)
    with suppress(msgspec.ValidationError):  # this program did not write the answer
        return None if known is None else msgspec.convert(known[0], kind, str_keys=True)
    return None


def answered(
    kept: AnswerCache,
    question: Sequence[str | bytes],
    kind: type[T],
    find: Callable[[], T],
    is_kept: Callable[[], bool] = lambda: True,
) -> T:
    """Return the cached answer, or else the result of `find`; cache it if `is_kept()` is true."""
    known = recalled(kept, question, kind)
    if known is not None:
        return known
    found = find()
    if is_kept():
        kept.put(question, msgspec.to_builtins(found, str_keys=True))
    return found
