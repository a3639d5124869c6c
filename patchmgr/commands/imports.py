"""`import`: patches from mailboxes, diffs, quilt directories and git ranges; all or nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from patchmgr.commands.outlook import End, Outlook
from patchmgr.commands.session import Session, move_store_refs, require_pin
from patchmgr.engines.fold import Overlay, step_patch
from patchmgr.engines.needs import check_promise, missing_on
from patchmgr.errors import PatchmgrError
from patchmgr.formats.mailbox import slug, split_mbox
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.series_files import parse_series, renamed, write_series
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
    """A patch in a source: its bytes, what to call it in an error, and a wished file name.

    `wish` is None where the subject gives the name; `line` is the patch's line in a series file.
    """

    raw: bytes
    label: str
    wish: str | None = None
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
            found += _read_range(session, *git)
        if not any(isinstance(item, Found) for item in found):
            raise PatchmgrError("usage", "there is no patch in what was named")
        lines, patches = _named(found, set(present.names()))
        new = SeriesFile((*_ended(present.lines), *lines))
        _check_fold(session, series, new, [*workspace.patches(series), *patches])
        if not is_dry_run:
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


def _read_range(session: Session, repository: Path, commits: str) -> list[Found | SeriesLine]:
    box, number = range_patches(repository, commits)
    mails = [raw for raw in split_mbox(box) if raw.strip()]
    if len(mails) < number:
        left_out = number - len(mails)
        session.say(f"Left out of {commits}: {left_out} that are merges or change nothing.")
    return [Found(raw, f"patch {n} of {commits}") for n, raw in enumerate(mails, 1)]


def _read_source(source: Path) -> Iterator[Found | SeriesLine]:
    if source.is_dir():
        yield from _read_folder(source)
        return
    mails = split_mbox(_read_file(source))
    if len(mails) == 1 and source.suffix in (".patch", ".diff"):
        yield Found(mails[0], source.name, _NUMBER.sub("", source.name))
        return
    for number, mail in enumerate(mails, 1):
        yield Found(mail, source.name if len(mails) == 1 else f"{source.name} mail {number}")


def _read_folder(folder: Path) -> Iterator[Found | SeriesLine]:
    """Read a quilt directory as its series file says, comments too, else every patch by name."""
    order = folder / "series"
    if order.is_file():
        for line in _ended(parse_series(_read_file(order)).lines):
            name = line.name
            yield line if name is None else Found(_read_file(folder / name), name, name, line)
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
    found: Sequence[Found | SeriesLine], taken: Collection[str]
) -> tuple[tuple[SeriesLine, ...], tuple[Patch, ...]]:
    """Return the lines for the series file, and the patches under names that are free."""
    names = set(taken) | {"series", "series.toml"}
    lines: list[SeriesLine] = []
    patches: list[Patch] = []
    for item in found:
        if isinstance(item, SeriesLine):
            lines.append(item)
            continue
        strip = item.line.strip if item.line else 1
        draft = parse_patch(item.raw, name=item.label, strip=strip)
        if not draft.files and item.line is None:
            raise PatchmgrError("bad-patch", f"{item.label} has no diff in it")
        name = _free_name(item.wish or f"{slug(draft.subject)}.patch", names)
        names.add(name)
        lines.append(_line(item, name))
        patches.append(parse_patch(item.raw, name=name, strip=strip))
    return tuple(lines), tuple(patches)


def _line(item: Found, name: str) -> SeriesLine:
    """Return the line of a series file for a patch; what stood behind another name stays."""
    if item.line is None or item.line.name is None:
        raw = f"{name}\n".encode("utf-8", "surrogateescape")
        return parse_series(raw).lines[0]
    return renamed(SeriesFile((item.line,)), item.line.name, name).lines[0]


def _free_name(wish: str, taken: Collection[str]) -> str:
    folder, slash, last = wish.rpartition("/")
    stem, dot, suffix = last.rpartition(".")
    if not dot or f".{suffix}" not in _SUFFIXES:
        stem, suffix = last, "patch"
    stem = folder + slash + (re.sub(r"[\s#]+", "-", stem).lstrip("-") or "patch")
    name, number = f"{stem}.{suffix}", 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}.{suffix}"
    return name


def _check_fold(session: Session, series: str, order: SeriesFile, patches: Sequence[Patch]) -> None:
    """Apply the patches on the pin, in memory; raise where one does not apply.

    One that guards keep out unless a symbol is selected must apply with one of the symbols.
    """
    record = session.workspace.series_record(series)
    side = session.side_of(record)
    base = require_pin(side, record.pin)
    lines = {line.name: line for line in order.lines}
    symbols = sorted({guard.symbol for line in order.lines for guard in line.guards})
    known = set(session.workspace.series_file(series).names())
    with Workbench([side.store]) as bench, Outlook(session) as outlook:
        tree = bench.tree(base.commit)
        if isinstance(side, GitUpstream):
            entries = [tree.entry(path) for patch in patches for path in patch.paths()]
            side.try_fetch_objects({e.blob for e in entries if e is not None})
        pin = End(base, tree)
        views = outlook.views(record.upstream, side, bench, patches=patches, base=pin)
        missing = missing_on(patches, views.base, views.states) if views is not None else {}
        for name in missing.keys() - known:
            session.say(f"{name} is in the series, but not carried on its pin: {missing[name]}")
        unproven = {patch.name for patch in patches} - (missing.keys() & known)
        faults: list[PatchmgrError] = []
        for selected in (frozenset[str](), *(frozenset({symbol}) for symbol in symbols)):
            let_in = [p for p in patches if lines[p.name].refusal(selected) is None]
            let_in = [p for p in let_in if p.name not in missing or p.name not in known]
            overlay = Overlay(tree)
            try:
                for patch in let_in:
                    if patch.name in missing:
                        step_patch(Overlay(overlay), patch, bench)
                    else:
                        step_patch(overlay, patch, bench)
                        if views is not None and patch.name not in known:
                            check_promise(patch, overlay, views)
                    unproven.discard(patch.name)
            except PatchmgrError as fault:
                faults.append(fault)
                if not selected:
                    raise
        if unproven and faults:
            raise faults[0]


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
