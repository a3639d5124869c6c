"""Read and write the folder of one conflict in `conflicts/`, with its resolution.

The folder may come from somebody else's workspace, so its content is not trusted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, to_builtins

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import check_path, read_path, written_path
from patchmgr.formats.shown import shown
from patchmgr.formats.toml_text import TomlFile
from patchmgr.model.operation import Commit
from patchmgr.model.recorded_conflict import Origin, Recorded, RecordKind, Resolution, Source

CONFLICTS = "conflicts"
PULLED = f"{CONFLICTS}/pulled"
SOURCE = "source.toml"
META = "meta.toml"
RESOLUTION = "resolution"
FILES = (META, "base", "ours", "theirs", RESOLUTION)
FORMAT: Final = 1
MAX_META = 256 * 1024
MAX_SIDE = 16 * 1024 * 1024
MAX_PARTS = 4096

_ID = re.compile(r"[0-9a-f]{12}")
_KIND = "bad-conflict"
_Part = Annotated[str, Meta(pattern=r"^[0-9a-f]{12}\Z")]


class _Meta(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    format: Literal[1]
    kind: RecordKind
    parts: Annotated[tuple[_Part, ...], Meta(max_length=MAX_PARTS)] = ()
    path: str = ""
    seen: str = ""
    origin: Origin | None = None
    source: str = ""
    deleted: bool = False
    proposed_by: str = ""
    accepted_by: str = ""
    because: str = ""
    rests_on: Annotated[tuple[Commit, ...], Meta(max_length=MAX_PARTS)] = ()


class _Source(Struct, frozen=True, forbid_unknown_fields=True):
    format: Literal[1]
    place: str
    commit: Commit


def write_source(source: Source) -> bytes:
    """Return the file source.toml, which records where pulled resolutions come from."""
    told = _Source(FORMAT, written_path(source.place), source.commit)
    return TomlFile(_KIND, SOURCE, MAX_META).write(to_builtins(told, order="sorted"))


def parse_source(name: str, raw: bytes) -> Source:
    """Parse the source.toml in the folder `name`; raise a "bad-conflict" error if malformed."""
    told = TomlFile(_KIND, f"{PULLED}/{shown(name)}/{SOURCE}", MAX_META).read(raw, _Source)
    return Source(name, read_path(told.place), told.commit)


def is_conflict_id(name: str) -> bool:
    """Return whether a name, such as that of a folder, has the form of a conflict's id."""
    return _ID.fullmatch(name) is not None


def size_limit(name: str) -> int:
    """Return the largest allowed size, in bytes, of the file `name` in a conflict's folder."""
    return MAX_META if name == META else MAX_SIDE


def write_recorded(recorded: Recorded) -> dict[str, bytes | None]:
    """Return the files of a conflict's folder by name; None means that there is no such file."""
    solved = recorded.resolution
    meta = _Meta(
        FORMAT,
        recorded.kind,
        parts=recorded.parts,
        path=written_path(recorded.path),
        seen=written_path(recorded.seen),
        origin=None if solved is None else solved.origin,
        source="" if solved is None else written_path(solved.source),
        deleted=solved is not None and solved.content is None,
        proposed_by="" if solved is None else solved.proposed_by,
        accepted_by="" if solved is None else solved.accepted_by,
        because="" if solved is None else solved.because,
        rests_on=() if solved is None else solved.rests_on,
    )
    files: dict[str, bytes | None] = {
        META: _meta_file(recorded.id).write(to_builtins(meta, order="sorted")),
        "base": recorded.base,
        "ours": recorded.ours,
        "theirs": recorded.theirs,
        RESOLUTION: None if solved is None else solved.content,
    }
    parse_recorded(recorded.id, {name: raw for name, raw in files.items() if raw is not None})
    return files


def parse_recorded(name: str, files: Mapping[str, bytes]) -> Recorded:
    """Parse the files of the folder `name`; raise a "bad-conflict" error if malformed."""
    if not is_conflict_id(name):
        raise fault(name, "has a name that is not the id of a conflict")
    for file, raw in files.items():
        if len(raw) > size_limit(file):
            raise fault(name, f"{file} is larger than {size_limit(file)} bytes")
    try:
        meta = _meta_file(name).read(files.get(META, b""), _Meta)
    except PatchmgrError as bad:
        raise PatchmgrError(_KIND, bad.message, *bad.hints, *_forget(name)) from bad
    path = read_path(meta.path)
    recorded = Recorded(
        name,
        meta.kind,
        base=files.get("base"),
        ours=files.get("ours"),
        theirs=files.get("theirs"),
        parts=meta.parts,
        path=check_path(path, what=f"{CONFLICTS}/{name}: path") if path else "",
        seen=read_path(meta.seen),
        resolution=_resolution(name, meta, files.get(RESOLUTION)),
    )
    reason = _shape_fault(recorded)
    if reason is not None:
        raise fault(name, reason)
    return recorded


def _meta_file(name: str) -> TomlFile:
    return TomlFile(_KIND, f"{CONFLICTS}/{name}/{META}", MAX_META)


def _resolution(name: str, meta: _Meta, content: bytes | None) -> Resolution | None:
    if content is None and not meta.deleted:
        return None
    if content is not None and meta.deleted:
        raise fault(name, "is both resolved and deleted")
    if meta.origin is None:
        raise fault(name, f"{META}: origin is missing")
    source = read_path(meta.source)
    by = (meta.proposed_by, meta.accepted_by, meta.because)
    return Resolution(content, meta.origin, source, *by, meta.rests_on)


def _shape_fault(recorded: Recorded) -> str | None:
    """Return why the files do not fit the kind of the conflict, or None if they do."""
    sides = (recorded.base, recorded.ours, recorded.theirs)
    solved = recorded.resolution
    if recorded.kind is RecordKind.GROUP:
        has_more = any(side is not None for side in sides) or solved is not None
        return (
            "is a group, so it must have parts and no sides"
            if has_more or not recorded.parts
            else None
        )
    if recorded.parts:
        return "is not a group, so it must not have parts"
    if recorded.kind is RecordKind.FILE:
        return "has none of base, ours and theirs" if sides == (None, None, None) else None
    if None in sides:
        return "lacks one of base, ours and theirs"
    return (
        None
        if solved is None or solved.content is not None
        else "is a region, which cannot be resolved by deleting a file"
    )


def fault(name: str, problem: str, *hints: str) -> PatchmgrError:
    """Return the "bad-conflict" error for a malformed folder of `conflicts/`."""
    return PatchmgrError(_KIND, f"{CONFLICTS}/{shown(name)} {problem}", *hints, *_forget(name))


def _forget(name: str) -> tuple[str, ...]:
    return (f"patchmgr conflicts forget {name}",) if is_conflict_id(name) else ()
