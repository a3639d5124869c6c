"""Find uses of Python names that a merge broke.

The lines of the series that may use what upstream changed are checked, and vice versa.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from patchmgr.engines.audit.outline import (
    Altered,
    Suspects,
    altered,
    lost_names,
    with_aliases,
)
from patchmgr.engines.audit.places import source_path, upstream_path
from patchmgr.engines.audit.states import States, Told, decoded
from patchmgr.engines.languages.file_types import PYTHON
from patchmgr.engines.structure.guards_imports import ENDS, places
from patchmgr.model.ports import Tree

_WORD = re.compile(r"\w+")
_SAID = re.compile(r"\w+|\*")
_ALIAS = re.compile(r"\bas[ \t]+\w+")
_IMPORT = re.compile(
    r"[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b[ \t]*(\([^)]*|(?:[^\n]*\\\n)*[^\n]*)"
    r"|import[ \t]+((?:[\w.,\t ]|\\\n)+))"
)
_MOST_READ = 64  # files changed upstream; with more than this, nearly every name has changed
Lines = tuple[str, Suspects, bool]
"""A path, the lines to check, and whether the series (and not upstream) added these lines."""


def check_series_uses(states: States) -> Iterator[Told]:
    """Find Python names that the series uses and that upstream removed, moved or changed."""
    yield from _faults(states, _ours(states))


def check_upstream_uses(states: States) -> Iterator[Told]:
    """Find Python names that upstream uses and that the series removed, moved or changed."""
    yield from _faults(states, _theirs(states))


INTERFACES = (check_series_uses, check_upstream_uses)


def _faults(states: States, found: Iterator[Lines]) -> Iterator[Told]:
    if reach := [*found]:
        # This module is loaded late, because it is only needed if there are lines to check.
        from patchmgr.engines.audit.use_faults import faults_in

        yield from faults_in(states, reach)


def _ours(states: States) -> Iterator[Lines]:
    """Yield the lines of the series that may use names which upstream changed."""
    changed = ChangedModules(path for path in states.changed_upstream if path.endswith(PYTHON))
    carriers = [path for path in states.carriers if path.endswith(PYTHON) and changed.places]
    names = _altered(states, carriers) if carriers else None
    for path in carriers:
        content = states.merged.read(path)
        if content is None:
            continue
        old = source_path(states, path)
        # In a file that moved, an unchanged relative import may refer to another module.
        same = path == old and states.merged.blob(path) == states.written.blob(old)
        text = decoded(content)
        said = {statement for statement, _, _ in changed.imports(path, text)}
        imported = frozenset(word for statement in said for word in _SAID.findall(statement))
        if same and not imported:
            continue
        lines = new_lines(text, states.onto.read(upstream_path(states, path)))
        reach = Suspects(lines)
        if names is not None and path == old and "*" not in imported:
            reach = names.suspects_in(text, lines)
        if reach.lines:
            yield path, reach, True


def _altered(states: States, carriers: Iterable[str]) -> Altered | None:
    """Return the names whose meaning upstream changed, or None if it changed too many files."""
    changed = {upstream_path(states, p) for p in states.changed_upstream if p.endswith(PYTHON)}
    paths = sorted(changed)
    if len(paths) > _MOST_READ:
        return None
    states.base.read_ahead(paths)
    states.onto.read_ahead(paths)
    pairs = [(states.base.text(path), states.onto.text(path)) for path in paths]
    own = (states.merged.text(path) for path in carriers)
    found = altered(pairs, own)
    for path, (old, new) in zip(paths, pairs, strict=True):
        if not (old and new):  # the module itself was added or removed
            found.names.update(path.rpartition(".")[0].split("/")[-2:])
    return found


def _theirs(states: States) -> Iterator[Lines]:
    """Yield the new lines of upstream that may use names which the series changed."""
    lost = lost_in_series(states)
    ours, every = ChangedModules(lost), set().union(*lost.values())
    for path in sorted(states.changed_upstream) if every else ():
        content = states.merged.read(path) if path.endswith(PYTHON) else None
        if content is None or states.merged.blob(path) == states.written.blob(path):
            continue
        text = decoded(content)
        if path in lost or any(True for _ in ours.imports(path, text)):
            wanted, lines = with_aliases(every, [text]), new_lines(text, states.written.read(path))
            reach = Altered(wanted, set()).suspects_in(text, lines)
            if reach.lines:
                yield path, reach, False


def lost_in_series(states: States) -> dict[str, set[str]]:
    """Map each module to the names in it that the series may have removed or changed."""
    return {path: names for path in _changed_modules(states) if (names := _lost(states, path))}


def _lost(states: States, path: str) -> set[str]:
    """Return the names in a module that the series may have removed or changed incompatibly."""
    old, new = states.base.text(path), states.written.text(path)
    key = "lost", states.base.blob(path), states.written.blob(path)
    lost = {*states.once(key, lambda: lost_names(old, new))}
    if path.endswith("/__init__.py"):  # a package re-exports the names that it imports
        was, now = ({name for _, _, name in named_imports(text)} for text in (old, new))
        lost |= was - now
    return lost if new or not old else lost.union(path.rpartition(".")[0].split("/")[-2:])


def _changed_modules(states: States) -> dict[str, None]:
    """Return the Python files of the base, except tests, that the series changes or moves."""
    return {
        change.old_path: None
        for patch in states.patches
        for change in patch.files
        if patch.is_carried and change.old_path is not None and change.old_path.endswith(PYTHON)
        if not change.old_path.rpartition("/")[2].startswith("test_")
    }


def new_lines(text: str, other: bytes | None) -> frozenset[int]:
    """Return the numbers (from 1) of the lines in `text` that do not occur in `other`."""
    known = {"", *decoded(other).split("\n")}
    return frozenset(n for n, line in enumerate(text.split("\n"), 1) if line not in known)


class ChangedModules:
    """Python modules that changed, and the packages that contain them and may re-export names."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.places: set[str] = set()
        for path in paths:
            place = path.rpartition(".")[0].removesuffix("/__init__")
            while place and place not in self.places:
                self.places.add(place)
                place = place.rpartition("/")[0]
        self._names = frozenset(place.rpartition("/")[2] for place in self.places)

    def imports(self, path: str, text: str) -> Iterator[tuple[str, str, str]]:
        """Yield (statement, module, name) for each import of a changed module in a file."""
        for statement, module, name in named_imports(text):
            is_known = not self._names.isdisjoint((name, module.rpartition(".")[2]))
            for place in places(path, module) if is_known or module.startswith(".") else ():
                if place in self.places or f"{place}/{name}" in self.places:
                    yield statement, module, name
                    break


@lru_cache(256)  # two checks ask about the same files
def named_imports(text: str) -> frozenset[tuple[str, str, str]]:
    """Return (statement, module, name) for the imports in Python source, found without parsing.

    An import with unusual spaces, or not at the start of a line, is not found. Words in comments
    and strings may be taken for imports.
    """
    found: set[tuple[str, str, str]] = set()
    at, end = text.find("import"), 0
    while at >= 0:
        start = text.rfind("\n", 0, at) + 1
        match = _IMPORT.match(text, start) if start >= end else None
        if match is not None:
            package, names, whole = match.groups()
            if package:
                each = _WORD.findall(_ALIAS.sub("", names)) or [""]
                found.update((match[0], package, name) for name in each)
            else:
                named = (name.split()[:1] for name in whole.replace("\\\n", " ").split(","))
                found.update((match[0], name, "") for first in named for name in first)
            end = match.end()
        at = text.find("import", max(end, at + 1))
    return frozenset(found)


def imported_blobs(files: Iterable[tuple[str, bytes]], tree: Tree) -> set[str]:
    """Return the ids of the blobs in `tree` to which imports in the given files may refer."""
    stems = {
        stem
        for path, content in files
        for _, module, name in named_imports(decoded(content))
        for place in places(path, module)
        for stem in (place, f"{place}/{name}")
    }
    found = (tree.entry(stem + end) for stem in stems for end in ENDS)
    return {entry.blob for entry in found if entry is not None}
