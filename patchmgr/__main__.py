"""The entry point of the program, also as `python -m patchmgr`."""

from __future__ import annotations

import signal
import sys

from patchmgr.errors import EXIT_INTERRUPTED


def main() -> None:
    """Run the command line; Ctrl-C ends it without a traceback, even while modules are loaded."""
    # A parent that ignores SIGCHLD would hide the exit codes of git: each one would be 0.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        from patchmgr.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted. Nothing was left half done.\n")
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
