"""What came through without a conflict, and yet a person should look at.

A file that both sides changed, and whose merge has names that are bound nowhere, defines
something twice, or has a new line of a kind that the other side replaced everywhere; an import
that resolves on the side that a patch is written against, or upstream, and not in the merged tree;
a call that fitted what is imported on such a side, and does not fit it there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from patchmgr.engines.audit.states import Files, States
from patchmgr.engines.fold import Overlay
from patchmgr.engines.structure.guards_imports import is_among, resolves, unresolved_imports
from patchmgr.engines.structure.guards_lines import growths, outdated_lines
from patchmgr.engines.structure.guards_words import is_worth_a_look
from patchmgr.engines.structure.sides import Texts

if TYPE_CHECKING:
    from patchmgr.engines.rebase import FileResult, Judged
    from patchmgr.model.patch import Hunk

_WORD = re.compile(r"\w+")
_ALIAS = re.compile(r"\bas[ \t]+\w+")
_IMPORT = re.compile(
    r"[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b[ \t]*(\([^)]*|[^\n]*)|import[ \t]+([\w.,\t ]+))"
)

Question = tuple[Texts, str, str]
"""The three texts, the merged one, and the path of a file."""
SuspectAll = Callable[[Sequence[Question]], Callable[[], Sequence[tuple[str, ...]]]]

_PYTHON = (".py", ".pyi")


def check_merged(
    judged: Sequence[Judged], states: States, *, suspect_all: SuspectAll
) -> tuple[Judged, ...]:
    """Warn, at the last patch that carries a file, of what is suspicious in it.

    `suspect_all` starts to look at merges, and gives what is to be asked for the answers. Files
    that a conflict is left in are not looked at, nor are imports of what is as the patches know it.
    """
    old, upstream, fork, after = states.base, states.onto, states.written, states.merged
    last = {patch.outcome.name: number for number, patch in enumerate(judged)}
    carried = list(states.carriers)
    merges, texts = _merged_texts(carried, (old, upstream, fork), after)
    counted = {path: growths(texts[path], merges[path]) for path in texts}
    suspects = [
        path
        for path in texts
        if path.endswith(_PYTHON) and is_worth_a_look(texts[path], counted[path])
    ]
    asked = suspect_all([(texts[path], merges[path], path) for path in suspects])
    touched = {path for patch in judged for result in patch.files for path in _paths(result)}
    doubtful = _Modules(
        _modules({*states.changed_upstream, *touched, *carried}, fork.tree, after.tree)
    )
    ours = _Modules(doubtful.places | _modules(carried, old.tree, after.tree))
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
    return _with_warnings(judged, told, {path: last[n] for path, n in states.carriers.items()})


def _merged_texts(
    paths: Sequence[str], sides: Sequence[Files], after: Files
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
    path: str, text: str, imports: Sequence[tuple[str, str]], after: Files, side: Files
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
    after: Files,
    sides: Sequence[Files],
    modules: _Modules,
) -> tuple[str, ...]:
    """Return what is to be said of the imports of a file from some modules."""
    if all(resolves(path, *each, after) for each in modules.among(path, imports)):
        return ()
    lost = unresolved_imports(path, text, after, sides=sides, doubtful=modules.places)
    return tuple(f"`{statement}` finds nothing any more" for statement in lost)


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")
