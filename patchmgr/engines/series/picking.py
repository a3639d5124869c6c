"""Find the patch that a name refers to, and compute new orders of patches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown

SUFFIX = ".patch"
FEWEST = 4  # least number of digits of an id


def pick(given: str, names: Sequence[str], *, series: str, what: str = "patch") -> str:
    """Return the patch that a word refers to, by the rules of `matching`.

    Raises PatchmgrError "unknown-patch", with similar names as a hint, unless exactly one matches.
    """
    found = matching(given, names, series=series)
    if len(found) == 1:
        return found[0]
    if found:
        hint = f"possible names: {', '.join(found[:5])}"
        raise PatchmgrError(
            "unknown-patch", f"{shown(given)} is ambiguous: several names start with it", hint
        )
    message = f"there is no {what} {shown(given)}"
    if _is_number(given):
        message = f"there is no patch number {given}: the series has {len(names)}"
    raise unknown_patch(message, given, names)


def unknown_patch(message: str, given: str, names: Sequence[str]) -> PatchmgrError:
    """Return the error for a word that names no patch. The hint lists the most similar names."""
    close = get_close_matches(given, names, n=3, cutoff=0.4)
    hint = "to see the patches: patchmgr series show"
    if close:
        hint = f"nearest names: {', '.join(close)}"
    return PatchmgrError("unknown-patch", message, hint)


def matching(given: str, names: Sequence[str], *, series: str) -> tuple[str, ...]:
    """Return the names of all patches that a word may refer to.

    The word is the name of a patch (perhaps with a path, or without `.patch`), its number (from 1),
    or the start of names.
    """
    start = given.removeprefix("series/").removeprefix(f"{series}/")
    for exact in (given, given + SUFFIX, start, start + SUFFIX):
        if exact in names:
            return (exact,)
    if _is_number(given):
        return tuple(names[int(given) - 1 : int(given)])
    return tuple(name for name in names if start and name.startswith((given, start)))


def _is_number(given: str) -> bool:
    return given.isascii() and given.isdigit() and given[0] != "0"


def matching_ids(given: str, ids: Iterable[str]) -> tuple[str, ...]:
    """Return the conflict ids that start with `given`, or none if `given` is too short."""
    return tuple(one for one in ids if one.startswith(given)) if len(given) >= FEWEST else ()


def file_name(given: str) -> str:
    """Return the file name of a new patch; `.patch` is added unless `given` has a patch suffix."""
    return given if given.endswith((SUFFIX, ".diff")) else given + SUFFIX


def beside(names: Sequence[str], name: str, *, other: str, is_behind: bool) -> tuple[str, ...]:
    """Return patch names in a new order, with `name` moved directly before or after `other`."""
    rest = [each for each in names if each != name]
    at = rest.index(other) + is_behind
    return (*rest[:at], name, *rest[at:])


def together(names: Sequence[str], name: str, others: Sequence[str]) -> tuple[str, ...]:
    """Return patch names in a new order: `others` are moved next to `name`, in their old order."""
    members = [each for each in names if each == name or each in others]
    rest = [each for each in names if each == name or each not in others]
    at = rest.index(name)
    return (*rest[:at], *members, *rest[at + 1 :])
