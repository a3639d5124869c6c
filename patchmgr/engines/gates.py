"""The checks that `check` runs on the Python code, imports, text and header of each patch.

Every Python file must compile after every patch, and every import must find its module and name.
The text must have no white space errors and no conflict markers. The header must be signed off,
give a reason, and link to reports and fixes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from urllib.parse import urlsplit

from msgspec import Struct

from patchmgr.engines.audit.python_modules import module_name
from patchmgr.engines.audit.states import Files
from patchmgr.engines.languages.file_types import PYTHON
from patchmgr.engines.languages.python_modules import ANYTHING, Modules, Version
from patchmgr.engines.series.fold import Overlay
from patchmgr.engines.structure.guards_imports import ENDS, places, resolves
from patchmgr.formats.upstream_status import MAINLINE, STATUS, stance_problems
from patchmgr.model.check import Problem
from patchmgr.model.patch import FilePatch, Patch
from patchmgr.model.ports import Tree
from patchmgr.model.snapshot import FILE_MODES, Entry

Changes = Mapping[str, "Entry | None"]
Importers = Callable[[Sequence[str], Sequence[str]], Sequence[str]]
"""A function that takes modules and names, and returns the files that may import these names."""

_REQUIRES = re.compile(r"^\s*(?:requires-python|python_requires)\s*=\s*[\"']([^\"']+)", re.M)
_LOWEST = re.compile(r">=?\s*3\.(\d+)")


def stated_versions(texts: Sequence[bytes]) -> tuple[Version, ...]:
    """Return the oldest Python version that a project's metadata allows, or an empty tuple."""
    for text in texts:
        found = _REQUIRES.search(text.decode("utf-8", "replace"))
        lowest = _LOWEST.search(found[1]) if found else None
        if lowest is not None:
            return ((3, int(lowest[1])),)
    return ()


class _Removal(Struct, frozen=True):
    """The names that a patch removes, and the modules from which it removes them."""

    modules: frozenset[str]
    names: frozenset[str]

    def pattern(self) -> re.Pattern[bytes]:
        """Return a regular expression that matches any of the removed names in a file."""
        either = "|".join(re.escape(name) for name in sorted(self.names))
        return re.compile(rf"\b(?:{either})\b".encode("utf-8", "surrogateescape"))


class PythonGates:
    """Checks the Python files of a series after each patch, and counts what it has checked."""

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
        """Yield a problem for each file that does not compile, and each import that fails.

        `patches` has the name of each patch and the files that it changes.
        """
        every = [(path, entry) for _, changes in patches for path, entry in changes.items()]
        self.modules.judged |= {e.blob for path, e in every if e and path.endswith(PYTHON)}
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
                modules |= {module_name(path).rpartition(".")[2]} if gone else set()
                names |= gone
                state.set(path, entry)
            found.append(_Removal(frozenset(modules), frozenset(names)))
        return tuple(found)

    def _removed(self, path: str, old: Entry | None, new: Entry | None) -> frozenset[str]:
        if not path.endswith(PYTHON) or old is None:
            return frozenset()
        before, after = self.modules.bound(old), self.modules.bound(new)
        if before is None or after is None or not after.isdisjoint(ANYTHING):
            return frozenset()
        gone = {module_name(path).rpartition(".")[2]} if new is None else set[str]()
        return before - after | gone

    def _step(self, patch: str, changes: Changes, removal: _Removal) -> Iterator[Problem]:
        before = {path: self._state.entry(path) for path in changes}
        for path, entry in changes.items():
            self._state.set(path, entry)
        for path, entry in changes.items():
            if path.endswith(PYTHON) and entry is not None and entry.mode in FILE_MODES:
                yield from self._compiled(patch, path, entry)
                new = self.modules.imports(entry) - self.modules.imports(before[path])
                yield from self._unresolved(patch, path, new)
        if removal.names:
            yield from self._lost(patch, removal, before)

    def _compiled(self, patch: str, path: str, entry: Entry) -> Iterator[Problem]:
        """Yield a problem if a changed file does not compile, but upstream's version does."""
        self.compiled += 1
        fault, start = self.modules.fault(entry), self.pin.entry(path)
        if fault is None or (start is not None and self.modules.fault(start) is not None):
            return
        yield Problem("python", fault[0], patch, path, fault[1])

    def _unresolved(
        self, patch: str, path: str, wanted: frozenset[tuple[str, str]]
    ) -> Iterator[Problem]:
        """Yield a problem for each `wanted` import whose module exists but lacks the name."""
        files = Files(self._state, self.modules.read)
        for module, name in sorted(wanted):
            self.looked_up += 1
            is_known = name not in ("", "*") and self.modules.is_module(path, module, self._state)
            if is_known and not resolves(path, module, name, files):
                sentence = f"imports {name} from {module}, which does not have it"
                yield Problem("imports", sentence, patch, path)

    def _lost(self, patch: str, removal: _Removal, before: Changes) -> Iterator[Problem]:
        """Yield a problem for each import, in any file, of a name that the patch removed."""
        old = Overlay(self._state)
        for path, entry in before.items():
            old.set(path, entry)
        was, now = (Files(state, self.modules.read) for state in (old, self._state))
        pattern = removal.pattern()
        own = [path for path in self._state.changes() if path.endswith(PYTHON)]
        for path in sorted({*self._importers, *own}):
            file = self._state.entry(path)
            if (
                file is None
                or file.mode not in FILE_MODES
                or not pattern.search(self.modules.read(file.blob))
            ):
                continue
            for module, name in sorted(self.modules.imports(file)):
                if set(before).isdisjoint(_files(path, module, name)):
                    continue
                self.looked_up += 1
                wanted = path, module, name
                if resolves(*wanted, was) and not resolves(*wanted, now):
                    what = f"from {module} import {name}" if name else f"import {module}"
                    yield Problem("imports", f"`{what}` no longer works", patch, path)


def _files(path: str, module: str, name: str) -> Iterator[str]:
    """Yield the paths where `module` may be, and those where it may have a submodule `name`."""
    for place in places(path, module):
        for end in ENDS:
            yield place + end
            if name:
                yield f"{place}/{name}{end}"


_MARKER = re.compile(rb"(?:<{7}|>{7}|={7}|\|{7})(?=[ \r\n]|$)")
_SIGN_OFF = re.compile(rb"^Signed-off-by:[ \t]*(.*?)[ \t]*<([^<>\n]+)>[ \t]*$", re.M | re.I)
_TRAILER = re.compile(r"[A-Za-z][A-Za-z0-9-]*: \S")
_URL = re.compile(r"[a-z][a-z0-9+.-]*:(?://)?[^\s<>\"'`]*", re.I)
_LINKED = frozenset({"bug", "origin", "forwarded", "applied-upstream"})
_LINKED_PREFIX = "bug-"
_WHY = frozenset({"description", "symptom", "cause"})
_UNTIL = frozenset({"drop-when", "needed-when", "applied-upstream", "exit", "exit-criterion"})


def whitespace_problems(patch: Patch) -> Iterator[Problem]:
    """Yield the white space errors in lines that a patch adds, as `git diff --check` would."""
    for file in patch.files:
        has_returns = _has_returns(file)
        for number, line in _added(file):
            body = line.rstrip(b"\n")
            if has_returns:
                body = body.removesuffix(b"\r")
            if body != body.rstrip(b" \t\r\v\f"):
                yield _problem(
                    "whitespace", "white space at the end of the line", patch, file, number
                )
            indent = body[: len(body) - len(body.lstrip(b" \t"))]
            if b" \t" in indent:
                yield _problem("whitespace", "a space before a tab", patch, file, number)
        blank = _blank_end(file)
        if blank is not None:
            yield _problem(
                "whitespace", "a new blank line at the end of the file", patch, file, blank
            )


def marker_problems(patch: Patch) -> Iterator[Problem]:
    """Yield a problem for each conflict marker in added lines, and one for those in the header."""
    if b"\n<<<<<<< " in patch.header:  # git merged two versions of the patch file
        yield Problem("markers", "a conflict marker in the header", patch.name)
    for file in patch.files:
        for number, line in _added(file):
            if _MARKER.match(line):
                yield _problem("markers", "a conflict marker", patch, file, number)


def _problem(gate: str, sentence: str, patch: Patch, file: FilePatch, line: int) -> Problem:
    return Problem(gate, sentence, patch.name, file.path, line)


def _added(file: FilePatch) -> Iterator[tuple[int, bytes]]:
    for hunk in file.hunks:
        number = hunk.new_start
        for line in hunk.lines:
            if line[:1] == b"+":
                yield number, line[1:]
            number += line[:1] != b"-"


def _has_returns(file: FilePatch) -> bool:
    """Return whether most lines of a file end with CR LF; new lines count only in a new file."""
    old = [line for hunk in file.hunks for line in hunk.lines if line[:1] != b"+"]
    lines = old or [line for hunk in file.hunks for line in hunk.lines]
    return bool(lines) and sum(line.endswith(b"\r\n") for line in lines) * 2 > len(lines)


def _blank_end(file: FilePatch) -> int | None:
    """Return the number of the first blank line that a patch adds at the end of a file, or None."""
    if not file.hunks or file.new_path is None:
        return None
    hunk = file.hunks[-1]
    after = len(list(takewhile(lambda line: line[:1] == b" ", reversed(hunk.lines))))
    # Git shows three lines of context unless the file ends.
    if after >= 3:
        return None
    kept = [line for line in hunk.lines if line[:1] != b"-"]
    blank = 0
    for line in reversed(kept):
        if line[1:].strip():
            break
        blank += 1
    tail = kept[len(kept) - blank :]
    if not tail or tail[-1][:1] != b"+" or after:
        return None
    first = next(i for i, line in enumerate(tail) if line[:1] == b"+")
    return hunk.new_start + len(kept) - blank + first


def sign_off_problems(patch: Patch) -> Iterator[Problem]:
    """Yield a problem if nobody signed off a patch, or if its author did not."""
    signed = [(m[1], m[2]) for m in _SIGN_OFF.finditer(patch.message)]
    if not signed:
        yield Problem("sign-off", "no Signed-off-by in the header", patch.name)
    elif patch.author is not None:
        emails = {email.decode("utf-8", "surrogateescape").lower() for _, email in signed}
        names = {name.decode("utf-8", "surrogateescape").lower() for name, _ in signed}
        if patch.author.email.lower() not in emails and patch.author.name.lower() not in names:
            sentence = f"the author {patch.author.name} <{patch.author.email}> did not sign off"
            yield Problem("sign-off", sentence, patch.name)


def header_problems(patch: Patch) -> Iterator[Problem]:
    """Yield a problem if a header lacks a reason or an exit criterion, or has an invalid status."""
    fields = {name.lower() for name, value in patch.fields.items() if value.strip()}
    if fields.isdisjoint(_WHY) and not _has_body(patch):
        sentence = "no reason: write text below the subject, or the field Description"
        yield Problem("header", sentence, patch.name)
    if fields.isdisjoint(_UNTIL):
        sentence = "no exit criterion: write Drop-When, Needed-When or Applied-Upstream"
        yield Problem("header", sentence, patch.name)
    for field in (STATUS, MAINLINE):
        yield from (
            Problem("header", sentence, patch.name) for sentence in stance_problems(patch, field)
        )


def _has_body(patch: Patch) -> bool:
    lines = patch.message.decode("utf-8", "replace").split("\n")[1:]
    return any(line.strip() and not _TRAILER.match(line) for line in lines)


def link_problems(patch: Patch) -> Iterator[Problem]:
    """Yield a problem for each malformed link in the header of a patch. No link is fetched."""
    for name, value in patch.fields.items():
        key = name.lower()
        if key not in _LINKED and not key.startswith(_LINKED_PREFIX):
            continue
        for url in _URL.findall(value):
            if url.lower().startswith(("http", "ftp")) and not _is_sound(url):
                sentence = f"{name} contains {url}, which is not a valid link"
                yield Problem("links", sentence, patch.name)
        is_named = _URL.search(value) or re.search(r"#?\d+", value)
        if key.startswith("bug") and value.strip() and not is_named:
            yield Problem("links", f"{name} names no bug: {value.strip()}", patch.name)


def _is_sound(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return False
    return (
        "." in host.strip(".")
        and url[-1] not in ".,;:"
        and parts.scheme in ("http", "https", "ftp")
    )


def cited_commits(patch: Patch) -> Iterator[str]:
    """Yield the full ids of the upstream commits that the header of a patch cites."""
    for name, value in patch.fields.items():
        if name.lower() in ("origin", "applied-upstream"):
            yield from re.findall(r"\bcommit:\s*([0-9a-f]{40})\b", value)
