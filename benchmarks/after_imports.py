"""Runs patchmgr in a process that has imported what the command needs, and tells what it took.

    python after_imports.py FILE ARGUMENT...

FILE keeps the names of the modules that were loaded in the end: they are imported first where it
is there. The last line of output has the seconds of wall time and of processor time, children
included.
"""

from __future__ import annotations

import importlib
import sys
import time
from contextlib import suppress
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage


def main() -> None:
    """Import, and run the command between two looks at the clocks."""
    listed = Path(sys.argv[1])
    for name in listed.read_text().split() if listed.exists() else ():
        with suppress(ImportError):
            importlib.import_module(name)
    from patchmgr import cli

    sys.argv = ["patchmgr", *sys.argv[2:]]
    start, before = time.perf_counter(), _processor()
    try:
        cli.main()
    finally:
        print(time.perf_counter() - start, _processor() - before, file=sys.stderr)
        listed.write_text("\n".join(sorted(set(sys.modules) - {"__main__"})))


def _processor() -> float:
    both = (getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


if __name__ == "__main__":
    main()
