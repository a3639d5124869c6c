"""Install patchmgr as the merge driver of a repository, in its configuration and attributes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import UsageError
from patchmgr.plumbing import git_process
from patchmgr.plumbing.clones import find_git_dir
from patchmgr.plumbing.outputs import write_output

SECTION = "merge.patchmgr"
_BEGIN = b"# patchmgr merge-driver: begin"
_END = b"# patchmgr merge-driver: end"


class DriverSettings(Struct, frozen=True):
    """A repository's merge driver: its git configuration and lines in info/attributes, if any."""

    git_dir: Path
    settings: tuple[tuple[str, str], ...] = ()
    lines: tuple[str, ...] = ()


def installed(repository: Path) -> DriverSettings:
    """Return the merge-driver settings of the repository."""
    git_dir = find_git_dir(repository)
    _, printed = git_process.run(
        [*_config(git_dir), "--null", "--get-regexp", r"^merge\.patchmgr\."], good=(0, 1)
    )
    rows = git_process.text(printed).split("\0")[:-1]
    settings = tuple((name, value) for name, _, value in (row.partition("\n") for row in rows))
    _, block, _ = _split(_attributes(git_dir))
    lines = tuple(git_process.text(line) for line in block.splitlines()[1:-1])
    return DriverSettings(git_dir, settings, lines)


def install(found: DriverSettings, wanted: DriverSettings) -> None:
    """Install, change or remove the merge driver of a repository."""
    before, _, after = _split(_attributes(found.git_dir))
    # Attributes never name a driver that is not configured: they are removed before the
    # configuration, and added after it.
    if not wanted.lines:
        _write_attributes(found.git_dir, before + after)
    if dict(wanted.settings) != dict(found.settings):
        if found.settings:
            git_process.run([*_config(found.git_dir), "--remove-section", SECTION], good=(0, 128))
        for name, value in wanted.settings:
            git_process.output([*_config(found.git_dir), name, value])
    if wanted.lines:
        gap = b"\n" if before and not before.endswith(b"\n") else b""
        block = b"".join(
            line + b"\n" for line in (_BEGIN, *map(git_process.raw, wanted.lines), _END)
        )
        _write_attributes(found.git_dir, before + gap + block + after)


def _config(git_dir: Path) -> list[str]:
    return ["config", "--file", str(git_dir / "config")]


def _attributes(git_dir: Path) -> bytes:
    try:
        return (git_dir / "info" / "attributes").read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise UsageError(f"{git_dir}/info/attributes: {reason}") from fault


def _write_attributes(git_dir: Path, content: bytes) -> None:
    if content == _attributes(git_dir):
        return
    path = git_dir / "info" / "attributes"
    if not content:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(exist_ok=True)
    write_output(path, content)


def _split(content: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the lines before patchmgr's block, the block, and the lines after the block."""
    lines: Sequence[bytes] = content.splitlines(keepends=True)
    bare = [line.rstrip(b"\r\n") for line in lines]
    if _BEGIN not in bare or _END not in bare[bare.index(_BEGIN) :]:
        return content, b"", b""
    start = bare.index(_BEGIN)
    end = bare.index(_END, start) + 1
    return b"".join(lines[:start]), b"".join(lines[start:end]), b"".join(lines[end:])
