"""Runs the commands of docs/tutorial.md and writes what they print below them.

    python docs/make_tutorial.py [--check]

In a block that is marked `console`, a line that begins with `$ ` is a command, and the lines
behind it that begin with `> ` continue it; all else is output. The commands run in one shell in
an empty folder, with an empty cache, and need a package index. A command may fail only where the
next one is `echo $?`. With `--check` nothing is written, and the exit code is 1 where the page is
not what the commands print now.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).with_name("tutorial.md")
SHOWN = "/home/you"
_BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
_DAILY = re.compile(r"\d+ releases? behind \S+|\d{4}-\d\d-\d\d \d\d:\d\d")
_MARK = "---- end of output:"
_ENDS = re.compile(rf"^{_MARK} (\d+)\n", re.MULTILINE)


def main() -> None:
    """Rewrite the page, or compare it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args()
    before = PAGE.read_text()
    after = rewritten(before)
    if not options.check:
        PAGE.write_text(after)
    elif _DAILY.sub("", before) != _DAILY.sub("", after):
        sys.exit("docs/tutorial.md is not what its commands print now")


def rewritten(page: str) -> str:
    """Return the page with the present output of every command."""
    blocks = [list(_commands(found)) for found in _BLOCK.findall(page)]
    outputs = iter(run([command for block in blocks for command in block]))
    texts = iter(
        "".join(f"$ {command.replace(chr(10), chr(10) + '> ')}\n{next(outputs)}" for command in b)
        for b in blocks
    )
    return _BLOCK.sub(lambda _: next(texts), page)


def _commands(block: str) -> Iterator[str]:
    lines: list[str] = []
    for line in block.splitlines():
        if lines and line.startswith("> "):
            lines.append(line[2:])
            continue
        if lines:
            yield "\n".join(lines)
        lines = [line[2:]] if line.startswith("$ ") else []
    if lines:
        yield "\n".join(lines)


def run(commands: list[str]) -> list[str]:
    """Run the commands one after the other in one shell; return what each printed."""
    script = "".join(
        f'{command}\n__code=$?; echo "{_MARK} $__code"; (exit $__code)\n' for command in commands
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        home = place / "you"
        home.mkdir()
        (place / "script").write_text(script)
        done = subprocess.run(
            ["bash", "--norc", str(place / "script")],
            cwd=home,
            env=_environment(place),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        printed = done.stdout.decode().replace(str(home), SHOWN)
    outputs, codes = _ENDS.split(printed)[:-1:2], _ENDS.findall(printed)
    if len(outputs) != len(commands):
        sys.exit(f"a command ended the shell:\n{printed[-2000:]}")
    for number, command in enumerate(commands):
        if codes[number] != "0" and commands[number + 1 :][:1] != ["echo $?"]:
            sys.exit(f"{command}: exit {codes[number]}\n{outputs[number]}")
    return outputs


def _environment(place: Path) -> dict[str, str]:
    """Return the environment with this Python's patchmgr, an empty cache, and fixed names."""
    (place / "gitconfig").write_text("[user]\n\tname = You\n\temail = you@example.org\n")
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "PATCHMGR_"))
    }
    return environment | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(place / "cache"),
        "GIT_CONFIG_GLOBAL": str(place / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": "2026-11-20T12:00:00+0000",
        "GIT_COMMITTER_DATE": "2026-11-20T12:00:00+0000",
        "GIT_PAGER": "cat",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "100",
    }


if __name__ == "__main__":
    main()
