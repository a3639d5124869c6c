"""Uses that fitted what they use on their own side, and do not fit what the result has of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from patchmgr.engines.audit.places import written_path
from patchmgr.engines.audit.states import States, Told

if TYPE_CHECKING:
    pass

PYTHON = (".py", ".pyi")
_WORD = re.compile(r"\w+")
_ALIAS = re.compile(r"\bas[ \t]+\w+")
_IMPORT = re.compile(
    r"[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b[ \t]*(\([^)]*|[^\n]*)|import[ \t]+([\w.,\t ]+))"
)
_DEFINES = re.compile(
    rb"[-+ ][ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)"
    rb"|[-+ ]\s*(?:self\.)?(\w+)[ \t]*(?::[^=]*)?=[^=]"
    rb"|[-+ ][ \t]+(\w+)[ \t]*:[ \t]"
)
_HEAD = re.compile(rb"[-+ ][ \t]*(?:async[ \t]+)?def[ \t]+(\w+)")
_PARAMETER = re.compile(rb"\+[ \t]+[*\w]+[ \t]*(?::[^\n]*)?(?:=[^\n]*)?,?\s*$")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_][\w.]*)?")
_THERE = ("module", "class", "function", "value", "instance")


def check_interfaces(states: States) -> Iterator[Told]:
    """Find uses of what the other side removed, renamed, moved or re-signed."""
    broken = _broken(states)
    reach = _reach(states, broken)
    if reach:
        from patchmgr.engines.audit.interface_faults import faults_in

        yield from faults_in(states, reach)


def _broken(states: States) -> frozenset[bytes]:
    """Return the names whose definitions the series takes away or gives another head."""
    found: set[bytes] = set()
    for patch in states.patches:
        for change in patch.files if patch.is_carried else ():
            path = change.old_path
            if path is None or not path.endswith(PYTHON) or _is_test(path):
                continue
            if change.new_path != path:
                stem = path.removesuffix("/__init__.py").rpartition("/")[2].partition(".")[0]
                found.add(stem.encode())
            heads: dict[bytes, set[bytes]] = {b"-": set(), b"+": set()}
            for hunk in change.hunks:
                inside = b""
                for line in hunk.lines:
                    head = _HEAD.match(line)
                    if head is not None:
                        inside = head[1]
                    if line[:1] in heads and _DEFINES.match(line):
                        heads[line[:1]].add(line[1:].strip())
                    if inside and _PARAMETER.match(line):
                        found.add(inside)
            for text in heads[b"-"] - heads[b"+"]:
                match = _DEFINES.match(b"-" + text)
                found.update(name for name in (match.groups() if match else ()) if name)
    return frozenset(found)


def _is_test(path: str) -> bool:
    return path.rpartition("/")[2].startswith("test_")


def _reach(states: States, broken: frozenset[bytes]) -> dict[str, tuple[frozenset[int], bool]]:
    """Return by path the lines of the result that may use what changed, and whose lines they are.

    True stands for lines of the series, False for those of upstream.
    """
    moved = Changed(path for path in states.changed_upstream if path.endswith(PYTHON))
    found: dict[str, tuple[frozenset[int], bool]] = {}
    for path in states.carriers:
        content = states.merged.read(path) if path.endswith(PYTHON) else None
        if content is None or not moved.places:
            continue
        same = states.merged.blob(path) == states.written.blob(written_path(states, path))
        text = content.decode("utf-8", "surrogateescape")
        if same and not moved.has_import(path, text):
            continue
        lines = new_lines(text, states.onto.read(path))
        if lines:
            found[path] = lines, True
    if broken:
        ours = Changed(path for path in states.carriers if path.endswith(PYTHON))
        for path in sorted(states.changed_upstream):
            content = states.merged.read(path) if path.endswith(PYTHON) else None
            if content is None or not any(word in content for word in broken):
                continue
            text = content.decode("utf-8", "surrogateescape")
            if path in found or not (path in states.carriers or ours.has_import(path, text)):
                continue
            lines = new_lines(text, states.written.read(path))
            if lines:
                found[path] = lines, False
    return found


def new_lines(text: str, other: bytes | None) -> frozenset[int]:
    """Return the lines of a text, from 1, that another text does not have."""
    known = set((other or b"").decode("utf-8", "surrogateescape").split("\n"))
    known.add("")
    lines = enumerate(text.split("\n"), 1)
    return frozenset(number for number, line in lines if line not in known)


class Changed:
    """The modules that changed, and the packages above them, for what they hand on."""

    def __init__(self, paths: Iterator[str]) -> None:
        self.places: set[str] = set()
        for path in paths:
            place = path.rpartition(".")[0].removesuffix("/__init__")
            while place and place not in self.places:
                self.places.add(place)
                place = place.rpartition("/")[0]
        self._names = frozenset(place.rpartition("/")[2] for place in self.places)

    def has_import(self, path: str, text: str) -> bool:
        """Say whether a file imports one of them."""
        from patchmgr.engines.audit.python_modules import places

        return any(
            place in self.places or f"{place}/{name}" in self.places
            for module, name in named_imports(text)
            if name in self._names
            or module.rpartition(".")[2] in self._names
            or module.startswith(".")
            for place in places(path, module)
        )


def named_imports(text: str) -> frozenset[tuple[str, str]]:
    """Return what lines of a text seem to import, which costs less than parsing it.

    Nothing is left out; a word of a comment may be among it.
    """
    found: set[tuple[str, str]] = set()
    at, end = text.find("import"), 0
    while at >= 0:
        start = text.rfind("\n", 0, at) + 1
        match = _IMPORT.match(text, start) if start >= end else None
        if match is not None:
            found.update(_names_of(*match.groups()))
            end = match.end()
        at = text.find("import", max(end, at + 1))
    return frozenset(found)


def _names_of(package: str | None, names: str, whole: str) -> Iterator[tuple[str, str]]:
    if package:
        yield from ((package, name) for name in _WORD.findall(_ALIAS.sub("", names)) or ("",))
    else:
        yield from ((name.split()[0], "") for name in whole.split(",") if name.split())
