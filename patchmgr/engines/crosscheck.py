"""What came through without a conflict, and yet a person should look at.

A file that both sides changed, and whose merge has names that are bound nowhere, defines
something twice, or has a new line of a kind that the other side replaced everywhere; an import
that resolves on the side that a patch is written against, or upstream, and not in the merged tree;
a call that fitted what is imported on such a side, and does not fit it there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.fold import Overlay
from patchmgr.engines.structure.guards_imports import is_among, resolves, unresolved_imports
from patchmgr.engines.structure.guards_lines import growths, outdated_lines
from patchmgr.engines.structure.guards_words import is_worth_a_look
from patchmgr.engines.structure.sides import Texts
from patchmgr.errors import PatchmgrError
from patchmgr.model.snapshot import FILE_MODES, Entry

if TYPE_CHECKING:
    from patchmgr.engines.rebase import FileResult, Judged
    from patchmgr.model.patch import Hunk
    from patchmgr.model.ports import Blobs, Tree

_UNKNOWN = b"("
_CONTENTS = 64  # kept: several names may come from one module
_WORD = re.compile(r"\w+")
_ALIAS = re.compile(r"\bas[ \t]+\w+")
_IMPORT = re.compile(
    r"[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b[ \t]*(\([^)]*|[^\n]*)|import[ \t]+([\w.,\t ]+))"
)

Question = tuple[Texts, str, str]
"""The three texts, the merged one, and the path of a file."""
SuspectAll = Callable[[Sequence[Question]], Callable[[], Sequence[tuple[str, ...]]]]

_PYTHON = (".py", ".pyi")


class _Files(Struct, frozen=True):
    """One state of all files, as the check of imports asks for it."""

    tree: Overlay
    content: Callable[[str], bytes]

    def exists(self, path: str) -> bool:
        """Say whether the path is a file or a folder."""
        return self.tree.entry(path) is not None or self.tree.is_directory(path)

    def blob(self, path: str) -> str | None:
        """Return the id of a file's content, None where there is no such file."""
        entry = self.tree.entry(path)
        return None if entry is None else entry.blob

    def read(self, path: str) -> bytes | None:
        """Return a file's content, None where there is no such file.

        What nobody has (a mirror may lack large files) is no Python: it may hold anything.
        """
        entry = self.tree.entry(path)
        if entry is None or entry.mode not in FILE_MODES:
            return None
        try:
            return self.content(entry.blob)
        except PatchmgrError:
            return _UNKNOWN


def check_merged(
    judged: Sequence[Judged],
    changes: Mapping[str, Entry | None],
    base: Tree,
    onto: Tree,
    *,
    blobs: Blobs,
    suspect_all: SuspectAll,
    upstream_paths: Collection[str],
) -> tuple[Judged, ...]:
    """Warn, at the last patch that carries a file, of what is suspicious in it.

    `changes` is what the series makes of `onto`. `suspect_all` starts to look at merges, and gives
    what is to be asked for the answers. Files that a conflict is left in are not looked at, nor
    are imports of what is as the patches know it: `upstream_paths` are those that upstream changed.
    """
    merged = Overlay(onto)
    for path, entry in changes.items():
        merged.set(path, entry)
    sides = [Overlay(base), Overlay(onto), _written_against(judged, base), merged]
    content = lru_cache(_CONTENTS)(blobs.read)
    old, upstream, fork, after = (_Files(side, content) for side in sides)
    last = _last_patches(judged)
    carried = sorted(path for path in changes if path in last)
    merges, texts = _merged_texts(carried, (old, upstream, fork), after)
    counted = {path: growths(texts[path], merges[path]) for path in texts}
    suspects = [
        path
        for path in texts
        if path.endswith(_PYTHON) and is_worth_a_look(texts[path], counted[path])
    ]
    asked = suspect_all([(texts[path], merges[path], path) for path in suspects])
    touched = {path for patch in judged for result in patch.files for path in _paths(result)}
    doubtful = _Modules(_modules({*upstream_paths, *touched, *changes}, fork.tree, merged))
    ours = _Modules(doubtful.places | _modules(changes, old.tree, merged))
    named = {path: _named_imports(t) for path, t in merges.items() if path.endswith(_PYTHON)}
    told: dict[str, tuple[str, ...]] = {}
    for path, imports in named.items():
        modules = ours if path in texts else doubtful
        told[path] = _lost(path, merges[path], imports, after, (fork, upstream), modules)
    hunks = _hunks(judged)
    for path in told:
        near = _named_in(hunks.get(path, ()), doubtful.among(path, named[path]))
        told[path] += _outdated(path, merges[path], near, after, fork)
        if path in texts:
            near = ours.among(path, named[path])
            told[path] += _outdated(path, merges[path], near, after, upstream)
    for path in texts:
        told[path] = (*told.get(path, ()), *outdated_lines(texts[path], counted[path]))
    for path, sentences in zip(suspects, asked(), strict=True):
        told[path] += sentences
    return _with_warnings(judged, told, last)


def _merged_texts(
    paths: Sequence[str], sides: Sequence[_Files], after: _Files
) -> tuple[dict[str, str], dict[str, Texts]]:
    """Return the merged files that are Python, or that both sides changed, and those sides."""
    merges: dict[str, str] = {}
    texts: dict[str, Texts] = {}
    for path in paths:
        is_both = len({side.blob(path) for side in (*sides, after)} - {None}) == 4
        content = after.read(path) if is_both or path.endswith(_PYTHON) else None
        if content is None or b"\0" in content:
            continue
        merges[path] = _decoded(content)
        before = [side.read(path) for side in sides] if is_both else [None]
        if None not in before:
            texts[path] = Texts(*(_decoded(side or b"") for side in before))
    return merges, texts


def _with_warnings(
    judged: Sequence[Judged], told: Mapping[str, Sequence[str]], last: Mapping[str, int]
) -> tuple[Judged, ...]:
    """Return the patches with what is to be said of the files that each is the last to carry."""
    found = list(judged)
    for path, sentences in told.items():
        outcome = found[last[path]].outcome
        warnings = (*outcome.warnings, *(f"{path}: {sentence}" for sentence in sentences))
        found[last[path]] = replace(found[last[path]], outcome=replace(outcome, warnings=warnings))
    return tuple(found)


def _outdated(
    path: str, text: str, imports: Sequence[tuple[str, str]], after: _Files, side: _Files
) -> tuple[str, ...]:
    """Return what is to be said of calls of what a file imports."""
    if not imports:
        return ()
    from patchmgr.engines.structure.guards_signatures import outdated_calls

    return outdated_calls(path, text, imports, after, side)


def _hunks(judged: Sequence[Judged]) -> dict[str, list[Hunk]]:
    """Return by path in the merged tree what the series changes in a file."""
    found: dict[str, list[Hunk]] = {}
    for patch in judged:
        for result in patch.files:
            change = result.step.change
            for path in {result.home, change.new_path} - {None}:
                found.setdefault(str(path), []).extend(change.hunks)
    return found


def _named_in(
    hunks: Sequence[Hunk], imports: Sequence[tuple[str, str]]
) -> Sequence[tuple[str, str]]:
    """Return the imports whose names are in what a series adds, or beside it."""
    if not imports:
        return ()
    lines = (line for hunk in hunks for line in hunk.lines if line[:1] != b"-")
    text = _decoded(b"".join(lines))
    return [(module, name) for module, name in imports if name in text]


def _paths(result: FileResult) -> tuple[str, ...]:
    change = result.step.change
    return tuple(path for path in (change.old_path, change.new_path) if path is not None)


class _Modules:
    """The modules that differ between two states, by their places."""

    def __init__(self, places: Collection[str]) -> None:
        self.places = frozenset(places)
        self._names = frozenset(place.rpartition("/")[2] for place in places)

    def among(self, path: str, imports: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return those imports of a file that are of one of them, or from one."""
        return [
            (module, name)
            for module, name in imports
            if self._may_have(module, name) and is_among(self.places, path, module, name)
        ]

    def _may_have(self, module: str, name: str) -> bool:
        """Say whether an import can be of one of them, as far as the last names tell."""
        is_named = name in self._names or module.rpartition(".")[2] in self._names
        return is_named or module.startswith(".")


def _modules(paths: Collection[str], one: Overlay, other: Overlay) -> frozenset[str]:
    """Return the places of the modules that differ between two states."""
    return frozenset(
        path.rpartition(".")[0].removesuffix("/__init__")
        for path in paths
        if path.endswith(_PYTHON) and one.entry(path) != other.entry(path)
    )


def _named_imports(text: str) -> frozenset[tuple[str, str]]:
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


def _lost(
    path: str,
    text: str,
    imports: Collection[tuple[str, str]],
    after: _Files,
    sides: Sequence[_Files],
    modules: _Modules,
) -> tuple[str, ...]:
    """Return what is to be said of the imports of a file from some modules."""
    if all(resolves(path, *each, after) for each in modules.among(path, imports)):
        return ()
    lost = unresolved_imports(path, text, after, sides=sides, doubtful=modules.places)
    return tuple(f"`{statement}` finds nothing any more" for statement in lost)


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _written_against(judged: Sequence[Judged], base: Tree) -> Overlay:
    """Return the end of the side that the series is written against."""
    files = Overlay(base)
    for patch in judged:
        for result in patch.files:
            change = result.step.change
            if change.old_path is not None and not change.is_copy:
                files.set(change.old_path, None)
        for result in patch.files:
            if result.step.change.new_path is not None:
                files.set(result.step.change.new_path, result.step.theirs)
    return files


def _last_patches(judged: Sequence[Judged]) -> dict[str, int]:
    """Return by path of the new side the last patch that carries it, where none is in conflict."""
    last: dict[str, int] = {}
    stuck: set[str] = set()
    for number, patch in enumerate(judged):
        if patch.outcome.is_carried:
            last |= dict.fromkeys(patch.outcome.changes or (), number)
        elif patch.outcome.is_left:
            stuck |= {result.home for result in patch.files}
    return {path: number for path, number in last.items() if path not in stuck}
