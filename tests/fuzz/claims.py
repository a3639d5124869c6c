"""What must hold of anything that a parser lets in, written apart from the code it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from patchmgr.errors import PatchmgrError

T = TypeVar("T")

_IGNORED_BY_HFS = {*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF}
_RESERVED = (".git", ".patchmgr", "git~1", "patchm~1")


def let_in(read: Callable[[], T]) -> T | None:
    """Return what a reader makes of its input, None where it refuses it in a line of text."""
    try:
        return read()
    except PatchmgrError as fault:
        refused = fault
    assert refused.message, "a refusal says something"
    assert refused.message.isprintable(), "a refusal is one clean line"
    return None


def is_inside(path: str) -> bool:
    """Say whether a path stays in the folder that it is joined to, on any file system."""
    is_drive = path[:1].isascii() and path[:1].isalpha() and path[1:2] == ":"
    if path[:1] in ("", "/", "\\", "-") or is_drive:
        return False
    if any(ord(char) < 32 or 127 <= ord(char) < 160 for char in path):
        return False
    parts = path.split("/")
    names = path.replace("\\", "/").split("/")
    return not {"", ".", ".."} & set(parts) and not any(_leads_away(name) for name in names)


def _leads_away(name: str) -> bool:
    seen = "".join(char for char in name if ord(char) not in _IGNORED_BY_HFS).lower()
    return name == ".." or seen in _RESERVED or seen.split(":")[0].rstrip(" .") in _RESERVED


def all_inside(paths: Iterable[str]) -> None:
    """Assert that every path stays inside."""
    for path in paths:
        assert is_inside(path), f"{path!a} was let in"
