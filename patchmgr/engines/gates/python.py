"""Gates on Python: every file compiles at every patch, and every import finds its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from patchmgr.engines.languages.python_modules import ANYTHING, ENDS, Modules, Version
from patchmgr.engines.series.fold import Overlay
from patchmgr.engines.structure.guards_imports import places
from patchmgr.model.check import Problem
from patchmgr.model.ports import Tree
from patchmgr.model.snapshot import FILE_MODES, Entry

Changes = Mapping[str, "Entry | None"]
Importers = Callable[[Sequence[str], Sequence[str]], Sequence[str]]
"""Return the files of the pin that may import one of the names from one of the modules."""

_PYTHON = (".py", ".pyi")
_REQUIRES = re.compile(r"^\s*(?:requires-python|python_requires)\s*=\s*[\"']([^\"']+)", re.M)
_LOWEST = re.compile(r">=?\s*3\.(\d+)")


def stated_versions(texts: Sequence[bytes]) -> tuple[Version, ...]:
    """Return the oldest Python that a project's own metadata asks for, none where it is silent."""
    for text in texts:
        found = _REQUIRES.search(text.decode("utf-8", "replace"))
        lowest = _LOWEST.search(found[1]) if found else None
        if lowest is not None:
            return ((3, int(lowest[1])),)
    return ()


class _Removal(Struct, frozen=True):
    """What a patch takes out: the modules by their own names, and what these had."""

    modules: frozenset[str]
    names: frozenset[str]

    def said(self) -> re.Pattern[bytes]:
        """Return an expression that a file must have to import any of it."""
        either = "|".join(re.escape(name) for name in sorted(self.names))
        return re.compile(rf"\b(?:{either})\b".encode("utf-8", "surrogateescape"))


class PythonGates:
    """Follows a series patch by patch, and counts what it looks at."""

    def __init__(self, pin: Tree, modules: Modules) -> None:
        self.pin = pin
        self.modules = modules
        self.compiled = 0
        self.looked_up = 0
        self._state = Overlay(pin)
        self._importers: tuple[str, ...] = ()

    def problems(
        self, patches: Sequence[tuple[str, Changes]], importers: Importers
    ) -> Iterator[Problem]:
        """Yield what is wrong once each patch is in; patches are given with what they change."""
        every = [(path, entry) for _, changes in patches for path, entry in changes.items()]
        self.modules.judged |= {e.blob for path, e in every if e and path.endswith(_PYTHON)}
        removals = self._removals([changes for _, changes in patches])
        modules = {module for removal in removals for module in removal.modules}
        names = {name for removal in removals for name in removal.names}
        if names:
            self._importers = tuple(importers(sorted(modules), sorted(names)))
        for (patch, changes), removal in zip(patches, removals, strict=True):
            yield from self._step(patch, changes, removal)

    def _removals(self, patches: Sequence[Changes]) -> tuple[_Removal, ...]:
        state, found = Overlay(self.pin), []
        for changes in patches:
            modules: set[str] = set()
            names: set[str] = set()
            for path, entry in changes.items():
                gone = self._removed(path, state.entry(path), entry)
                modules |= {_module_name(path)} if gone else set()
                names |= gone
                state.set(path, entry)
            found.append(_Removal(frozenset(modules), frozenset(names)))
        return tuple(found)

    def _removed(self, path: str, old: Entry | None, new: Entry | None) -> frozenset[str]:
        if not path.endswith(_PYTHON) or old is None:
            return frozenset()
        before, after = self.modules.bound(old), self.modules.bound(new)
        if before is None or after is None or not after.isdisjoint(ANYTHING):
            return frozenset()
        return before - after | ({_module_name(path)} if new is None else frozenset())

    def _step(self, patch: str, changes: Changes, removal: _Removal) -> Iterator[Problem]:
        before = {path: self._state.entry(path) for path in changes}
        for path, entry in changes.items():
            self._state.set(path, entry)
        for path, entry in changes.items():
            if path.endswith(_PYTHON) and entry is not None and entry.mode in FILE_MODES:
                yield from self._compiled(patch, path, entry)
                new = self.modules.imports(entry) - self.modules.imports(before[path])
                yield from self._unresolved(patch, path, new)
        if removal.names:
            yield from self._lost(patch, removal, before)

    def _compiled(self, patch: str, path: str, entry: Entry) -> Iterator[Problem]:
        """Yield why a file does not compile, unless upstream's own does not either."""
        self.compiled += 1
        fault, start = self.modules.fault(entry), self.pin.entry(path)
        if fault is None or (start is not None and self.modules.fault(start) is not None):
            return
        yield Problem("python", fault[0], patch, path, fault[1])

    def _unresolved(
        self, patch: str, path: str, wanted: frozenset[tuple[str, str]]
    ) -> Iterator[Problem]:
        """Yield imports that the patch adds, of names that a module of the tree does not have."""
        for module, name in sorted(wanted):
            self.looked_up += 1
            is_known = name not in ("", "*") and self.modules.is_module(path, module, self._state)
            if is_known and not self.modules.resolves(path, module, name, self._state):
                sentence = f"imports {name} from {module}, which does not have it"
                yield Problem("imports", sentence, patch, path)

    def _lost(self, patch: str, removal: _Removal, before: Changes) -> Iterator[Problem]:
        """Yield imports, anywhere, of what the patch takes away."""
        old = Overlay(self._state)
        for path, entry in before.items():
            old.set(path, entry)
        said = removal.said()
        own = [path for path in self._state.changes() if path.endswith(_PYTHON)]
        for path in sorted({*self._importers, *own}):
            file = self._state.entry(path)
            if file is None or file.mode not in FILE_MODES or not self.modules.says(file, said):
                continue
            for module, name in sorted(self.modules.imports(file)):
                if set(before).isdisjoint(_files(path, module, name)):
                    continue
                self.looked_up += 1
                if self.modules.resolves(path, module, name, old) and not self.modules.resolves(
                    path, module, name, self._state
                ):
                    what = f"from {module} import {name}" if name else f"import {module}"
                    yield Problem("imports", f"`{what}` finds nothing any more", patch, path)


def _files(path: str, module: str, name: str) -> Iterator[str]:
    """Yield the paths that the module of an import, or the name as one, may have."""
    for place in places(path, module):
        for end in ENDS:
            yield place + end
            if name:
                yield f"{place}/{name}{end}"


def _module_name(path: str) -> str:
    stem = path.rsplit(".", 1)[0].removesuffix("/__init__")
    return stem.rpartition("/")[2]
