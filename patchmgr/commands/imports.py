"""`import`: patches from mailboxes, diffs, quilt directories and git ranges; all or nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from patchmgr.commands.session import Session, move_store_refs, require_pin
from patchmgr.engines.fold import Overlay, step_patch
from patchmgr.errors import PatchmgrError
from patchmgr.formats.mailbox import slug, split_mbox
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.series_files import parse_series, write_series
from patchmgr.model.patch import Patch
from patchmgr.model.series import SeriesFile, SeriesLine
from patchmgr.plumbing.git_upstream import GitUpstream
from patchmgr.plumbing.ranges import range_patches
from patchmgr.plumbing.workbench import Workbench
from patchmgr.store import Change

_NUMBER = re.compile(r"^\d{4,}-")
_SUFFIXES = (".patch", ".diff", ".eml", ".mbox", ".mbx")
LARGEST_PATCH = 1 << 30


@dataclass(frozen=True, slots=True)
class Found:
    """A patch in a source: its bytes, a wished file name (None: by subject), its series line."""

    raw: bytes
    wish: str | None
    line: SeriesLine | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    """A patch that came in, and the risky paths it touches: files that run by being there."""

    patch: Patch
    risks: tuple[str, ...]


def import_patches(
    session: Session,
    sources: Sequence[Path],
    *,
    series: str,
    git: tuple[Path, str] | None,
    is_dry_run: bool,
) -> tuple[Imported, ...]:
    """Append patches to a series; each must apply on the pin after those before it."""
    if not sources and git is None:
        raise PatchmgrError("usage", "name a file, a folder, or --git REPO A..B")
    with session.writing():
        workspace = session.workspace
        workspace.series_record(series)
        present = workspace.series_file(series)
        found = [f for source in sources for f in _read_source(source)]
        if git is not None:
            found += [Found(raw, None) for raw in split_mbox(range_patches(*git)) if raw.strip()]
        if not found:
            raise PatchmgrError("usage", "there is no patch in what was named")
        lines, patches = _named(found, set(present.names()))
        _check_fold(session, series, [*workspace.patches(series), *patches])
        if not is_dry_run:
            new = SeriesFile((*_ended(present.lines), *lines))
            change = Change({f"series/{series}/{p.name}": p.raw for p in patches})
            change.files[f"series/{series}/series"] = write_series(new)
            workspace.make(change, move_store_refs)
    return tuple(Imported(patch, risks_of(patch)) for patch in patches)


def _ended(lines: Sequence[SeriesLine]) -> tuple[SeriesLine, ...]:
    """Return the lines with a line feed after the last one."""
    if not lines or lines[-1].raw.endswith(b"\n"):
        return tuple(lines)
    last = lines[-1]
    ended = SeriesLine(last.raw + b"\n", last.name, last.strip, last.guards)
    return (*lines[:-1], ended)


def _read_source(source: Path) -> Iterator[Found]:
    if source.is_dir():
        yield from _read_folder(source)
        return
    raw = _read_file(source)
    mails = split_mbox(raw)
    keeps_name = len(mails) == 1 and source.suffix in (".patch", ".diff")
    for mail in mails:
        yield Found(mail, _NUMBER.sub("", source.name) if keeps_name else None)


def _read_folder(folder: Path) -> Iterator[Found]:
    """Read a quilt directory in the order of its series file, else every patch by name."""
    order = folder / "series"
    if order.is_file():
        for line in parse_series(_read_file(order)).lines:
            if line.name is not None:
                yield Found(_read_file(folder / line.name), line.name, line)
        return
    for path in sorted(folder.iterdir()):
        if path.suffix in _SUFFIXES and path.is_file():
            yield from _read_source(path)


def _read_file(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST_PATCH:
            raise PatchmgrError("bad-patch", f"{path} is larger than {LARGEST_PATCH} bytes")
        return path.read_bytes()
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise PatchmgrError("usage", f"{path} cannot be read: {reason}") from fault


def _named(
    found: Sequence[Found], taken: Collection[str]
) -> tuple[tuple[SeriesLine, ...], tuple[Patch, ...]]:
    names = set(taken) | {"series", "series.toml"}
    lines: list[SeriesLine] = []
    patches: list[Patch] = []
    for item in found:
        strip = item.line.strip if item.line else 1
        draft = parse_patch(item.raw, name=item.wish or "patch", strip=strip)
        name = _free_name(item.wish or f"{slug(draft.subject)}.patch", names)
        names.add(name)
        patch = parse_patch(item.raw, name=name, strip=strip)
        kept = item.line is not None and item.line.name == name
        raw = item.line.raw if kept and item.line else _line(name, strip)
        raw = raw if raw.endswith(b"\n") else raw + b"\n"
        parsed = parse_series(raw).lines
        lines += parsed
        patches.append(patch)
    return tuple(lines), tuple(patches)


def _line(name: str, strip: int) -> bytes:
    return (name if strip == 1 else f"{name} -p{strip}").encode("utf-8", "surrogateescape") + b"\n"


def _free_name(wish: str, taken: Collection[str]) -> str:
    stem, dot, suffix = wish.rpartition(".")
    if not dot or f".{suffix}" not in _SUFFIXES:
        stem, suffix = wish, "patch"
    stem = re.sub(r"[\s#]+", "-", stem)
    name, number = f"{stem}.{suffix}", 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}.{suffix}"
    return name


def _check_fold(session: Session, series: str, patches: Sequence[Patch]) -> None:
    """Apply all patches on the pin, in memory; raise where one does not apply."""
    record = session.workspace.series_record(series)
    side = session.side_of(record)
    base = require_pin(side, record.pin)
    with Workbench([side.store]) as bench:
        tree = bench.tree(base.commit)
        if isinstance(side, GitUpstream):
            entries = [tree.entry(path) for patch in patches for path in patch.paths()]
            side.try_fetch_objects({e.blob for e in entries if e is not None})
        overlay = Overlay(tree)
        for patch in patches:
            step_patch(overlay, patch, bench)


_RUNS_BY_BEING_THERE = frozenset(
    {"sitecustomize.py", "usercustomize.py", "conftest.py", "setup.py", ".gitmodules",
     ".gitattributes", "pyproject.toml", "setup.cfg", "Makefile"}
)  # fmt: skip


def risks_of(patch: Patch) -> tuple[str, ...]:
    """Return the touched paths that run by being there, and binary contents."""
    return tuple(
        change.path
        for change in patch.files
        if change.path.rsplit("/", 1)[-1] in _RUNS_BY_BEING_THERE
        or change.path.endswith(".pth")
        or change.binary is not None
    )
