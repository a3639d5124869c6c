"""Find files that parse on both sides of a merge but not after it."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from msgspec import Struct

from patchmgr.engines.audit.places import base_path, upstream_path, written_path
from patchmgr.engines.audit.states import UNKNOWN, States, Told, decoded
from patchmgr.engines.languages.cxx_tokens import UnclearSource, brackets, match_brackets
from patchmgr.engines.languages.file_types import CXX
from patchmgr.engines.structure.python_tree import parse_python
from patchmgr.formats import toml_text
from patchmgr.model.audit import AuditFinding

LARGEST = 4 << 20  # bytes
LARGEST_TREE = 1_000_000  # bytes of the largest Python file that is parsed into a tree
_KEPT = 64


class ParseFault(Struct, frozen=True):
    """Why a file does not parse, and the line number (from 1; 0 if the line is not known)."""

    what: str
    line: int


def syntax(states: States) -> Iterable[Told]:
    """Find files of the result that do not parse, although the versions of both sides do."""
    for path, name in states.carriers.items():
        if path.rpartition(".")[2] not in _READ_BY:
            continue
        ours, merged = states.onto.read(upstream_path(states, path)), states.merged.read(path)
        theirs = states.written.read(written_path(states, path))
        if merged is None or UNKNOWN in (ours, theirs, merged) or merged in (ours, theirs):
            continue
        fault = new_fault(path, (side for side in (ours, theirs) if side is not None), merged)
        if fault is not None:
            # The parser's message is left out: it differs between versions of Python, and the id
            # of the finding depends on the text.
            text = "both sides parse, but their merge does not"
            if ours in (None, theirs):  # audit of a series on its own pin, or of two trees
                text = "this parses before the change, but not after it"
            is_new = ours is theirs is None
            if is_new:  # it may be for a later Python, a template, or JSON with comments
                text = "the new file does not parse"
            yield name, AuditFinding("syntax", not is_new, path, fault.line, None, text)


def encoding(states: States) -> Iterable[Told]:
    """Find lines of patches that are not UTF-8, in files that upstream has converted to UTF-8."""
    for path, name in states.carriers.items():
        ours, merged = states.onto.read(upstream_path(states, path)), states.merged.read(path)
        if ours is None or merged in (None, ours, UNKNOWN) or b"\0" in merged[:8000]:
            continue
        line = _first_not_utf8(merged)
        if line is None or ours == UNKNOWN or _first_not_utf8(ours) is not None:
            continue
        base = states.base.read(base_path(states, path))
        if base not in (None, UNKNOWN) and _first_not_utf8(base) is not None:
            text = "upstream converted the file to UTF-8, but this line is in another encoding"
            yield name, AuditFinding("encoding", True, path, line, None, text)


def _first_not_utf8(content: bytes) -> int | None:
    """Return the number (from 1) of the first line that is not UTF-8, or None if all are."""
    try:
        content.decode()
    except UnicodeDecodeError as fault:
        return content.count(b"\n", 0, fault.start) + 1
    return None


def new_fault(path: str, sides: Iterable[bytes], merged: bytes) -> ParseFault | None:
    """Return why merged content does not parse although its sides do, or else None."""
    fault = fault_of(path, merged)
    return None if fault is None or any(fault_of(path, side) for side in sides) else fault


@lru_cache(_KEPT)
def fault_of(path: str, content: bytes) -> ParseFault | None:
    """Return why a file does not parse, or None if it parses or cannot be checked.

    C and C++ are only checked for matching brackets, quotes and `#if`s.
    """
    read = _READ_BY.get(path.rpartition(".")[2])
    if read is None or len(content) > LARGEST:
        return None
    try:
        read(content)
    except UnclearSource:
        return ParseFault("brackets, quotes or `#if`s do not match", 0)
    except (SyntaxError, json.JSONDecodeError) as error:
        return ParseFault(error.msg, error.lineno or 0)
    except ValueError as error:  # such as a null byte
        return ParseFault(str(error), 0)
    except (RecursionError, MemoryError):  # nested too deeply to be parsed
        return None
    return None


def parsed_python(content: bytes | None) -> ast.Module | None:
    """Return the syntax tree of Python source, or None if it does not parse or is too large."""
    if content is None or len(content) > LARGEST_TREE:
        return None
    return parse_python(decoded(content))


def _compile(content: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(content, "<merged>", "exec", dont_inherit=True)


def _match(content: bytes) -> None:
    match_brackets(brackets(content.decode("utf-8", "replace").replace("\r\n", "\n")))


_READ_BY: Mapping[str, Callable[[bytes], object]] = {
    "py": _compile, "pyi": _compile, "json": json.loads,
    "toml": lambda content: toml_text.loads(content.decode()),
    **{suffix.removeprefix("."): _match for suffix in CXX},
}  # fmt: skip
