"""Find names that pyflakes cannot resolve in a file that both sides changed."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from patchmgr.engines.audit.places import patch_of_line, upstream_path, written_path
from patchmgr.engines.audit.states import UNKNOWN, States, Told
from patchmgr.engines.audit.syntax import parsed_python
from patchmgr.engines.languages.file_types import PYTHON
from patchmgr.engines.structure.python_tree import walk
from patchmgr.model.audit import AuditFinding

if TYPE_CHECKING:
    from pyflakes.messages import Message

# The pyflakes messages that are reported, and the kind of finding for each.
_KINDS = {
    "UndefinedName": "undefined-name",
    "UndefinedLocal": "undefined-name",
    "UndefinedExport": "undefined-name",
    "RedefinedWhileUnused": "defined-twice",
    "MultiValueRepeatedKeyLiteral": "key-twice",
    "DuplicateArgument": "defined-twice",
}


class PyflakesFault(Struct, frozen=True):
    """A pyflakes message, with the name at fault, the line number and the text of the line."""

    kind: str
    name: str
    line: int
    text: str
    is_certain: bool

    @property
    def sentence(self) -> str:
        """The message as a sentence for the user."""
        if self.kind == "undefined-name":
            return f"`{self.name}` is used, but nothing defines it any more."
        return f"`{self.name}` is defined twice here, but not on either side."


def check_names(states: States) -> Iterator[Told]:
    """Find undefined names and duplicate definitions that neither side of the merge has."""
    for path in states.carriers:
        if not path.endswith(PYTHON):
            continue
        old = written_path(states, path)
        content = _joined(states, path, old)
        if content is None or not faults_of(content):
            continue
        # A fault that a patch moves here with its code is not new.
        sides = [(states.written, source) for source in _sources(states, path)]
        sides += [(states.written, old), (states.onto, upstream_path(states, path))]
        known = [text for side, p in sides if (text := side.read(p)) is not None]
        for fault in new_faults(content, *known):
            yield patch_of_line(states, path, fault.line), _finding(states, path, fault)


def _sources(states: States, path: str) -> set[str]:
    """Return the other Python files that are changed by the last patch that changes `path`."""
    return {
        change.path
        for patch in states.patches
        if patch.is_carried and patch.name == states.carriers[path]
        for change in patch.files
        if change.path != path and change.path.endswith(PYTHON)
    }


def _joined(states: States, path: str, old: str) -> bytes | None:
    """Return the content of a merged file if it differs from both sides, or else None."""
    blob = states.merged.blob(path)
    if blob in (states.written.blob(old), states.onto.blob(upstream_path(states, path))):
        return None
    content = states.merged.read(path)
    return None if content == UNKNOWN or b"\0" in (content or b"") else content


def _finding(states: States, path: str, fault: PyflakesFault) -> AuditFinding:
    commit = None
    if fault.kind == "undefined-name":
        word = fault.name.encode()
        commit = states.commit_since(path, lambda content: word not in (content or b""))
    place = path, fault.line, fault.name
    return AuditFinding(fault.kind, fault.is_certain, *place, fault.sentence, commit)


def name_warnings(merged: str, *sides: str) -> tuple[str, ...]:
    """Return warnings about undefined and duplicate names that a merge has but neither side has."""
    texts = [text.encode("utf-8", "surrogateescape") for text in (merged, *sides)]
    return tuple(dict.fromkeys(fault.sentence for fault in new_faults(texts[0], *texts[1:])))


def new_faults(merged: bytes, *sides: bytes) -> tuple[PyflakesFault, ...]:
    """Return the pyflakes messages about merged source that neither side has."""
    found = faults_of(merged)
    if not found:
        return ()
    known = {(f.kind, f.name, f.text) for side in sides for f in faults_of(side)}
    # In a side that does not parse, any line may have the fault (twisted/twisted 9a429a6cea:
    # `xrange` in Python 2).
    unread = {
        line.strip()
        for side in sides
        if parsed_python(side) is None
        for line in side.decode("utf-8", "surrogateescape").split("\n")
    }
    # If both sides changed a line, neither has its merged text, so the numbers are compared.
    counts = [Counter((f.kind, f.name) for f in faults_of(side)) for side in sides]
    more = Counter((f.kind, f.name) for f in found)
    return tuple(
        f
        for f in found
        if (f.kind, f.name, f.text) not in known
        and f.text not in unread
        and all(more[f.kind, f.name] > count[f.kind, f.name] for count in counts)
    )


@lru_cache(maxsize=16)
def faults_of(content: bytes) -> tuple[PyflakesFault, ...]:
    """Return the pyflakes messages about names in a file, or none if the file does not parse."""
    tree = parsed_python(content)
    if tree is None:
        return ()
    messages = messages_of(tree)
    lines = content.decode("utf-8", "surrogateescape").split("\n")
    is_undefined = any(type(message).__name__ == "UndefinedName" for message in messages)
    unread = _unread_lines(tree) if is_undefined else ()
    found: list[PyflakesFault] = []
    for message in messages:
        kind = _KINDS.get(type(message).__name__)
        if kind is None or not 0 < message.lineno <= len(lines):
            continue
        is_certain = type(message).__name__ == "UndefinedName" and message.lineno not in unread
        name = str(message.message_args[0])
        text = lines[message.lineno - 1].strip()
        found.append(PyflakesFault(kind, name, message.lineno, text, is_certain))
    return tuple(found)


def messages_of(tree: ast.Module) -> Sequence[Message]:
    """Return all pyflakes messages about a syntax tree, or none if pyflakes fails."""
    from pyflakes.checker import Checker  # slow to import, and not needed in every rebase

    try:
        return tuple(Checker(tree, filename="merged.py").messages)
    except Exception:  # RecursionError, or a tree that pyflakes does not expect
        return ()


def _unread_lines(tree: ast.Module) -> Collection[int]:
    """Return the line numbers of annotations that Python does not evaluate."""
    found: set[int] = set()
    is_late = any(
        alias.name == "annotations"
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for alias in node.names
    )
    for node in walk(tree):
        for name in ("annotation", "returns"):
            part = getattr(node, name, None)
            if isinstance(part, ast.expr) and (
                is_late
                or isinstance(part, ast.Constant)
                or any(isinstance(c, ast.Constant) and isinstance(c.value, str) for c in walk(part))
            ):
                found.update(range(part.lineno, (part.end_lineno or part.lineno) + 1))
    return found
