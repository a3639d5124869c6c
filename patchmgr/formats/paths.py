"""Checks of paths from sources that are not trusted.

The rules are those of git's verify_path, is_hfs_dotgit and is_ntfs_dotgit, and a few more. A path
that passes stays inside any directory to which it is joined, on any system.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import quote_from_bytes, unquote_to_bytes

from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.snapshot import SYMLINK

_PLAIN = " /!#$&'()*+,:;=@[]{}^~"  # not encoded, and neither are letters and digits


def written_path(path: str) -> str:
    """Percent-encode a path: bytes except letters, digits and some punctuation become `%XX`."""
    return quote_from_bytes(encode_path(path), safe=_PLAIN)


def read_path(written: str) -> str:
    """Return the path that `written_path` encoded."""
    return decode_path(unquote_to_bytes(written))


MAX_PATH = 4096
MAX_NAME = 255  # the most bytes that file systems allow in one component

# The code points that HFS+ ignores in file names: git's utf8.c, next_hfs_char.
_HFS_IGNORED = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)
_RESERVED = {".git": "git~1", ".patchmgr": "patchm~1"}
_GITMODULES_SHORT = re.compile(r"gitmod~[1-4]|gi7eba~[1-9]")


def decode_path(raw: bytes) -> str:
    """Return the path as text; bytes that are not UTF-8 become surrogate escapes."""
    return raw.decode("utf-8", "surrogateescape")


def encode_path(path: str) -> bytes:
    """Return the bytes from which `decode_path` made this path."""
    return path.encode("utf-8", "surrogateescape")


def parents_of(path: str) -> Iterator[str]:
    """Yield the folders that contain a path, outermost first."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def folders_around(path: str) -> list[str]:
    """Return the parent folders of a path, each with a final slash; innermost first, "" last."""
    return [*(f"{folder}/" for folder in reversed([*parents_of(path)])), ""]


def check_path(text: str, *, what: str) -> str:
    """Return a path if it is safe; otherwise raise an "unsafe-path" error about `what`."""
    reason = refusal(text)
    if reason is not None:
        named = f"{what} {shown(text)}" if text else what
        raise PatchmgrError("unsafe-path", f"{named} {reason}")
    return text


def check_link(path: str, mode: str | None, *, what: str) -> None:
    """Raise an "unsafe-path" error if the path is a symbolic link named `.gitmodules`."""
    if mode == SYMLINK and any(_is_gitmodules(part) for part in re.split(r"[/\\]", path)):
        raise PatchmgrError("unsafe-path", f"{what} {shown(path)} must not be a symbolic link")


@lru_cache(maxsize=4096)
def refusal(text: str) -> str | None:
    """Return why the path is not safe, or None if it is."""
    return _whole_refusal(text) or _part_refusal(text)


def _whole_refusal(text: str) -> str | None:
    if not text:
        return "is empty"
    try:
        size = len(encode_path(text))
    except UnicodeEncodeError:
        return "has a code point that no file name can hold"
    if size > MAX_PATH:
        return f"is longer than {MAX_PATH} bytes"
    if any(char < " " or "\x7f" <= char <= "\x9f" for char in text):
        return "has a control character"
    if text[0] in "/\\" or text[1:2] == ":":  # any character before a colon may be a drive
        return "is absolute"
    return "begins with a dash" if text[0] == "-" else None


def _part_refusal(text: str) -> str | None:
    parts = text.split("/")
    if "" in parts:
        return "has an empty component"
    if "." in parts:
        return "has a . component"
    if any(len(encode_path(part)) > MAX_NAME for part in parts):
        return f"has a component longer than {MAX_NAME} bytes"
    for part in re.split(r"[/\\]", text):
        if part == "..":
            return "has a .. component"
        if (name := _reserved_name(part)) is not None:
            return f"contains the reserved name {name}"
    return None


def is_below_git(parts: Iterable[str]) -> bool:
    """Return whether some file system would treat one of the path components as `.git`."""
    return any(_reserved_name(part) == ".git" for part in parts)


def _reserved_name(part: str) -> str | None:
    """Return the reserved directory that some file system takes the component for, or None."""
    on_hfs, on_ntfs = _undisguised(part)
    for name, short in _RESERVED.items():
        if name in (on_hfs, on_ntfs) or short == on_ntfs:
            return name
    return None


def _is_gitmodules(part: str) -> bool:
    on_hfs, on_ntfs = _undisguised(part)
    return ".gitmodules" in (on_hfs, on_ntfs) or bool(_GITMODULES_SHORT.fullmatch(on_ntfs))


def _undisguised(part: str) -> tuple[str, str]:
    """Return the names that a component of a path has on HFS+ and on NTFS."""
    on_hfs = part.translate(_HFS_IGNORED).lower()
    return on_hfs, part.partition(":")[0].rstrip(" .").lower()
