"""StGit's record of a stack: which patches it has, their commits, and which are applied."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.json_text import parse_json
from patchmgr.formats.shown import shown
from patchmgr.model.ids import is_full_id

# Below refs/: StGit 0.19 and older keep `meta` in the first, later ones `stack.json` in the second.
PLACES = ("heads/{branch}.stgit:meta", "stacks/{branch}:stack.json")

_HEAD = re.compile(r"([A-Z][a-z]+):(?: .*)?")
_PATCH = re.compile(r"  (\S+): ([0-9a-f]{40})")


class Stack(Struct, frozen=True):
    """Patches as name and commit: the applied ones from the bottom up, and the others."""

    applied: tuple[tuple[str, str], ...]
    unapplied: tuple[tuple[str, str], ...]
    hidden: tuple[tuple[str, str], ...]


def read_stack(raw: bytes) -> Stack:
    """Read either form; raise "bad-stack" for anything else."""
    try:
        text = raw.decode()
        return _from_json(parse_json(text)) if text.startswith("{") else _from_lines(text)
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        message = f"StGit's record of the stack cannot be read: {shown(str(fault))}"
        raise PatchmgrError("bad-stack", message) from fault


def _from_json(document: Mapping[str, object]) -> Stack:
    patches = document["patches"]
    if not isinstance(patches, dict):
        raise ValueError("it has no patches")

    def listed(key: str) -> tuple[tuple[str, str], ...]:
        names = document[key]
        if not isinstance(names, list):
            raise ValueError(f"{key} is no list")
        found = tuple((str(name), patches[name]["oid"]) for name in names)
        if not all(isinstance(commit, str) and is_full_id(commit) for _, commit in found):
            raise ValueError("a patch without a commit")
        return found

    return Stack(listed("applied"), listed("unapplied"), listed("hidden"))


def _from_lines(text: str) -> Stack:
    found: dict[str, list[tuple[str, str]]] = {"Applied": [], "Unapplied": [], "Hidden": []}
    rows: list[tuple[str, str]] | None = None
    for line in text.splitlines():
        if match := _HEAD.fullmatch(line):
            rows = found.get(match[1])
        elif (row := _PATCH.fullmatch(line)) and rows is not None:
            rows.append((row[1], row[2]))
        else:
            raise ValueError(f"the line {line}")
    return Stack(tuple(found["Applied"]), tuple(found["Unapplied"]), tuple(found["Hidden"]))
