"""Which patch a person means, and what the place of each in a series is."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown

SUFFIX = ".patch"


def pick(given: str, names: Sequence[str]) -> str:
    """Return the patch of a name, of a number in the series (from 1), or of the start of a name.

    Raises PatchmgrError "unknown-patch" with the nearest names.
    """
    for exact in (given, given + SUFFIX):
        if exact in names:
            return exact
    if given.isascii() and given.isdigit():
        return _numbered(int(given), names)
    found = [name for name in names if given and name.startswith(given)]
    if len(found) == 1:
        return found[0]
    if found:
        hint = f"it may be: {', '.join(found[:5])}"
        raise PatchmgrError("unknown-patch", f"{shown(given)} is the start of several", (hint,))
    close = get_close_matches(given, names, n=3, cutoff=0.4)
    hint = f"nearest names: {', '.join(close)}" if close else "patchmgr series show lists them"
    raise PatchmgrError("unknown-patch", f"there is no patch {shown(given)}", (hint,))


def _numbered(number: int, names: Sequence[str]) -> str:
    if 1 <= number <= len(names):
        return names[number - 1]
    message = f"there is no patch number {number}: the series has {len(names)}"
    raise PatchmgrError("unknown-patch", message, ("patchmgr series show lists them",))


def file_name(given: str) -> str:
    """Return the file name of a new patch: with `.patch` where it has no suffix of its own."""
    return given if given.endswith((SUFFIX, ".diff")) else given + SUFFIX


def beside(names: Sequence[str], name: str, *, other: str, is_behind: bool) -> tuple[str, ...]:
    """Return the order with one patch put before or behind another one."""
    rest = [each for each in names if each != name]
    at = rest.index(other) + is_behind
    return (*rest[:at], name, *rest[at:])


def together(names: Sequence[str], name: str, others: Sequence[str]) -> tuple[str, ...]:
    """Return the order with patches gathered at the place of one; among them, order stays."""
    members = [each for each in names if each == name or each in others]
    rest = [each for each in names if each == name or each not in others]
    at = rest.index(name)
    return (*rest[:at], *members, *rest[at + 1 :])
