"""What must hold of anything that a parser lets in, written apart from the code it is about."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from patchmgr.errors import PatchmgrError

T = TypeVar("T")

_IGNORED_BY_HFS = {*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF}
_OF_GIT = (".git", "git~1")
_OURS = (".patchmgr", "patchm~1")


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
    if path[:1] == "-" or any(ord(char) < 32 or 127 <= ord(char) < 160 for char in path):
        return False
    return stays_below(path) and not any(_is_taken_for(name, _OURS) for name in _names(path))


def stays_below(path: str) -> bool:
    """Say the same of a path in an archive, where odd names and ours are no harm."""
    is_drive = path[:1].isascii() and path[:1].isalpha() and path[1:2] == ":"
    if path[:1] in ("", "/", "\\") or is_drive:
        return False
    away = any(name == ".." or _is_taken_for(name, _OF_GIT) for name in _names(path))
    return not away and not {"", ".", ".."} & set(path.split("/"))


def _names(path: str) -> list[str]:
    return path.replace("\\", "/").split("/")


def _is_taken_for(name: str, folders: tuple[str, ...]) -> bool:
    seen = "".join(char for char in name if ord(char) not in _IGNORED_BY_HFS).lower()
    return seen in folders or seen.split(":")[0].rstrip(" .") in folders


def all_inside(paths: Iterable[str]) -> None:
    """Assert that every path stays inside."""
    for path in paths:
        assert is_inside(path), f"{path!a} was let in"
