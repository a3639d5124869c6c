"""Commands of this program in processes of their own, as a person would type them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from patchmgr.errors import EXIT_CONFLICTS, EXIT_DONE, EXIT_FINDINGS

_GOOD = (EXIT_DONE, EXIT_CONFLICTS, EXIT_FINDINGS)


def answer_of(root: Path, words: Sequence[str], data: bytes = b"") -> tuple[bool, str]:
    """Run a command in a workspace; return whether it answered, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "patchmgr", "-C", str(root), *words],
        input=data,
        capture_output=True,
        check=False,
    )
    printed = done.stdout or done.stderr
    return done.returncode in _GOOD, printed.decode("utf-8", "replace")
