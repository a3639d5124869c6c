"""Read and write a folder of `conflicts/`: one conflict, and what became of it.

A folder may have come with a clone of somebody's workspace: nothing in it is believed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import tomli_w

from patchmgr.errors import PatchmgrError
from patchmgr.formats import toml_text
from patchmgr.formats.paths import check_path
from patchmgr.formats.shown import shown
from patchmgr.formats.written_paths import read_path, written_path
from patchmgr.model.recorded import Kind, Origin, Recorded, Resolution

CONFLICTS = "conflicts"
META = "meta.toml"
RESOLUTION = "resolution"
SIDES = ("base", "ours", "theirs")
FILES = (META, *SIDES, RESOLUTION)
FORMAT = 1
MAX_META = 256 * 1024
MAX_SIDE = 16 * 1024 * 1024
MAX_PARTS = 4096

_ID = re.compile(r"[0-9a-f]{12}")
_KEYS = {"format", "kind", "parts", "path", "seen", "origin", "source", "deleted"}


def is_conflict_id(name: str) -> bool:
    """Say whether a name is one that a conflict's folder can have."""
    return _ID.fullmatch(name) is not None


def size_limit(name: str) -> int:
    """Return how many bytes a file of a folder may have."""
    return MAX_META if name == META else MAX_SIDE


def write_recorded(recorded: Recorded) -> dict[str, bytes | None]:
    """Return the files of a conflict's folder by name; None for those that it must not have."""
    files: dict[str, bytes | None] = {META: _meta(recorded)}
    sides = (recorded.base, recorded.ours, recorded.theirs)
    files.update(zip(SIDES, sides, strict=True))
    files[RESOLUTION] = recorded.resolution.content if recorded.resolution is not None else None
    parse_recorded(recorded.id, {name: raw for name, raw in files.items() if raw is not None})
    return files


def _meta(recorded: Recorded) -> bytes:
    solved = recorded.resolution
    values: dict[str, Any] = {
        "format": FORMAT,
        "kind": recorded.kind.value,
        "parts": list(recorded.parts) or None,
        "path": written_path(recorded.path) or None,
        "seen": written_path(recorded.seen) or None,
        "origin": None if solved is None else solved.origin.value,
        "source": None if solved is None else written_path(solved.source) or None,
        "deleted": True if solved is not None and solved.content is None else None,
    }
    return tomli_w.dumps({key: values[key] for key in sorted(values) if values[key]}).encode()


def parse_recorded(name: str, files: Mapping[str, bytes]) -> Recorded:
    """Read a folder's files; raise PatchmgrError "bad-conflict" and say what is wrong.

    That the id is the one of the sides is not known here.
    """
    if not is_conflict_id(name):
        raise fault(name, "has a name that is no id of a conflict")
    for file, raw in files.items():
        if len(raw) > size_limit(file):
            raise fault(name, f"{file} is larger than {size_limit(file)} bytes")
    values = _Values(name, files.get(META, b""))
    kind = Kind(values.one_of("kind", [k.value for k in Kind]))
    recorded = Recorded(
        name,
        kind,
        base=files.get("base"),
        ours=files.get("ours"),
        theirs=files.get("theirs"),
        parts=values.ids("parts"),
        path=values.path("path"),
        seen=values.words("seen"),
        resolution=_resolution(values, files),
    )
    reason = _shape_fault(recorded)
    if reason is not None:
        raise fault(name, reason)
    return recorded


def _resolution(values: _Values, files: Mapping[str, bytes]) -> Resolution | None:
    content, is_deleted = files.get(RESOLUTION), values.flag("deleted")
    if content is None and not is_deleted:
        return None
    if content is not None and is_deleted:
        raise values.fault("is both resolved and deleted")
    origin = Origin(values.one_of("origin", [o.value for o in Origin]))
    return Resolution(content, origin, values.words("source"))


def _shape_fault(recorded: Recorded) -> str | None:
    """Return why the files cannot be those of a conflict of this kind."""
    sides = (recorded.base, recorded.ours, recorded.theirs)
    solved = recorded.resolution
    if recorded.kind is Kind.GROUP:
        has_more = any(side is not None for side in sides) or solved is not None
        return "has sides, and parts" if has_more or not recorded.parts else None
    if recorded.parts:
        return "has parts, and is one conflict"
    if recorded.kind is Kind.FILE:
        return "has no side" if sides == (None, None, None) else None
    if None in sides:
        return "lacks a side"
    return None if solved is None or solved.content is not None else "is a region, and deleted"


class _Values:
    """The keys of a meta.toml, each taken out with its type checked."""

    def __init__(self, name: str, raw: bytes) -> None:
        self._name = name
        try:
            self._table = toml_text.loads(raw.decode())
        except (ValueError, RecursionError) as problem:
            has_markers = b"\n<<<<<<< " in b"\n" + raw
            hints = ("resolve the merge conflict in it",) if has_markers else ()
            raise fault(name, f"{META} is not TOML: {shown(str(problem))}", hints) from None
        number = self._table.get("format")
        if number != FORMAT or type(number) is not int:
            raise fault(name, f"has format {shown(str(number))}, and this patchmgr reads {FORMAT}")
        unknown = sorted(set(self._table) - _KEYS)
        if unknown:
            raise fault(name, f"{META}: {shown(unknown[0])} is unknown")

    def fault(self, problem: str) -> PatchmgrError:
        """Return the error for this folder."""
        return fault(self._name, problem)

    def words(self, key: str) -> str:
        """Return a printable text, empty where there is none."""
        value = self._table.get(key, "")
        if not isinstance(value, str) or not value.isprintable():
            raise fault(self._name, f"{META}: {key} must be a printable text")
        return read_path(value)

    def path(self, key: str) -> str:
        """Return a path that is safe, empty where there is none."""
        value = self.words(key)
        return check_path(value, what=f"{CONFLICTS}/{self._name}: {key}") if value else ""

    def one_of(self, key: str, known: list[str]) -> str:
        """Return one of the known words."""
        value = self._table.get(key)
        if not isinstance(value, str) or value not in known:
            raise fault(self._name, f"{META}: {key} must be {', '.join(known)}")
        return value

    def flag(self, key: str) -> bool:
        """Return true or false, false where there is neither."""
        value = self._table.get(key, False)
        if not isinstance(value, bool):
            raise fault(self._name, f"{META}: {key} must be true or false")
        return value

    def ids(self, key: str) -> tuple[str, ...]:
        """Return the ids of other conflicts."""
        value = self._table.get(key, [])
        is_list = isinstance(value, list) and len(value) <= MAX_PARTS
        if not is_list or not all(isinstance(v, str) and is_conflict_id(v) for v in value):
            raise fault(self._name, f"{META}: {key} must be ids of conflicts")
        return tuple(value)


def fault(name: str, problem: str, hints: tuple[str, ...] = ()) -> PatchmgrError:
    """Return the error for a folder of conflicts/ that is not as it should be."""
    forget = (f"patchmgr conflicts forget {name}",) if is_conflict_id(name) else ()
    return PatchmgrError("bad-conflict", f"{CONFLICTS}/{shown(name)} {problem}", (*hints, *forget))
