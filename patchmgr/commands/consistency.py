"""`check --workspace`: is the workspace consistent in itself, without asking any upstream?"""

from __future__ import annotations

from pathlib import Path

from patchmgr.commands.check import text_gates
from patchmgr.commands.session import Session
from patchmgr.commands.settings import read_settings
from patchmgr.errors import PatchmgrError
from patchmgr.formats.patch_files import parse_listed
from patchmgr.formats.predicates import read_conditions
from patchmgr.model.check import Checked, Problem, gate_of
from patchmgr.model.patch import Patch
from patchmgr.model.settings import SeriesSettings


def check_workspace(session: Session) -> tuple[Checked, ...]:
    """Look at every file of the workspace that people edit, a result a series."""
    lock = session.workspace.lock()
    return tuple(_check(session, name) for name in sorted(lock.series))


def _check(session: Session, name: str) -> Checked:
    problems: list[Problem] = []
    settings = SeriesSettings()
    names: tuple[str, ...] = ()
    try:
        settings = read_settings(session.workspace, name)
        names = session.workspace.series_file(name).names()
    except PatchmgrError as fault:
        problems.append(Problem("workspace", fault.message))
    patches = [p for p in (_read(session, name, n, problems) for n in names) if p is not None]
    problems += _strays(session.workspace.root / "series" / name, set(names))
    for group, members in settings.groups.items():
        for member in members:
            if member not in names and f"{member}.patch" not in names:
                sentence = f"the group {group} names {member}, which is no patch"
                problems.append(Problem("workspace", sentence))
    gate = gate_of("workspace", len(names), tuple(problems))
    read = tuple(patch.name for patch in patches)
    return Checked(name, None, read, (gate, *text_gates(patches, settings)))


def _read(session: Session, series: str, name: str, problems: list[Problem]) -> Patch | None:
    lines = {line.name: line for line in session.workspace.series_file(series).lines}
    try:
        raw = session.workspace.read(f"series/{series}/{name}")
        patch = parse_listed(raw, lines[name])
        read_conditions(patch)
    except PatchmgrError as fault:
        problems.append(Problem("workspace", fault.message, name))
        return None
    return patch


def _strays(folder: Path, known: set[str]) -> list[Problem]:
    """Return the patch files that the series file does not name; comments name none."""
    if not folder.is_dir():
        return []
    found = sorted(path for path in folder.rglob("*.patch") if path.is_file())
    names = [path.relative_to(folder).as_posix() for path in found]
    said = (folder / "series").read_text(errors="replace") if (folder / "series").exists() else ""
    return [
        Problem("workspace", "the series file does not name it", name)
        for name in names
        if name not in known and name not in said
    ]
