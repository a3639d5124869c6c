"""What the command line says while it works: messages and bars on stderr."""

from __future__ import annotations

import os
import sys
import time

from patchmgr import render


class StderrProgress:
    """Shows a bar on a terminal; elsewhere one line for each piece of work that has a size."""

    def __init__(self, *, shows_bar: bool) -> None:
        self._shows_bar = shows_bar
        self._label = ""
        self._total: int | None = None
        self._count = 0
        self._drawn = 0.0

    def start(self, label: str, total: int | None) -> None:
        """Begin a piece of work of `total` units, None where that is not known."""
        self._label, self._total, self._count, self._drawn = label, total, 0, 0.0
        if not self._shows_bar and total is not None and total > _LARGE:
            say_cleaned(f"{label} ({total / 1e6:.1f} MB)")

    def advance(self, amount: int) -> None:
        """Count units that are done."""
        self._count += amount
        now = time.monotonic()
        if self._shows_bar and now - self._drawn > 0.05:
            self._drawn = now
            sys.stderr.write(f"\r\x1b[K{self._bar()}")
            sys.stderr.flush()

    def _bar(self) -> str:
        if not self._total:
            return f"{self._label} {self._count or ''}"
        done = min(1.0, self._count / self._total)
        width = 24
        filled = int(done * width)
        return f"{self._label} [{'#' * filled}{'.' * (width - filled)}] {done:4.0%}"

    def done(self) -> None:
        """End the piece of work."""
        if self._shows_bar:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


_LARGE = 1_000_000


def say_cleaned(message: str) -> None:
    """Print one line to stderr, as a terminal may have it."""
    sys.stderr.write(f"{render.clean.clean(message)}\n")


def stderr_progress() -> StderrProgress:
    """Return the progress of this run: a bar only where stderr is a terminal."""
    return StderrProgress(shows_bar=sys.stderr.isatty() and os.environ.get("TERM") != "dumb")


def wants_colour() -> bool:
    """Say whether stdout takes colour: a terminal that is not dumb, and no NO_COLOR."""
    is_wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return is_wanted and sys.stdout.isatty()
