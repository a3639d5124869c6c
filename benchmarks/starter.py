"""Runs one command and prints its exit code, seconds, processor seconds and largest process in kB.

    python starter.py LOG COMMAND...

A small process of its own does this, for Linux counts the memory of the process that starts
another one as that one's, up to its most.
"""

from __future__ import annotations

import os
import sys
import time


def main() -> None:
    """Run the command to its end; what it prints goes into the log."""
    log, *command = sys.argv[1:]
    writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    files = (
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, log, writing, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    )
    start = time.perf_counter()
    process = os.posix_spawnp(command[0], command, os.environ, file_actions=files)
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - start
    code = os.waitstatus_to_exitcode(status)
    print(code, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


if __name__ == "__main__":
    main()
