"""Which imports changed lines need where they go to."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from patchmgr.engines.languages.words import code_of
from patchmgr.engines.relocation_units import Outline

_STRING = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'")
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*(?!\s*=(?!=))")
_ATTRIBUTE = re.compile(r"\b(?:self|cls)\.([^\W\d]\w*)(\s*=(?!=))?")
_INCLUDE = re.compile(rb"\s*#\s*include\b")
_CXX = frozenset({"C", "C++", "C++ header", "CUDA", "HIP"})


class Unsure(Exception):
    """What the changed lines need is not known; says what."""


class Needed(Struct, frozen=True):
    """A line to insert before a line (from 0) of a text."""

    at: int
    line: bytes


def is_import_line(line: bytes, language: str) -> bool:
    """Say whether a line brings names in, as far as one line tells."""
    if language in _CXX:
        return bool(_INCLUDE.match(line))
    return language == "Python" and line.startswith((b"import ", b"from "))


def import_lines(outline: Outline) -> frozenset[int]:
    """Return the lines (from 0) of the imports at the outermost level."""
    if outline.language == "Python":
        nodes = _imports(_parsed(outline.content)) if outline.content else ()
        return frozenset(n for node in nodes for n in range(node.lineno - 1, _end(node)))
    lines = enumerate(outline.lines)
    return frozenset(n for n, line in lines if is_import_line(line, outline.language))


def missing_attribute(
    home: Outline, added: Sequence[bytes], brought: frozenset[str] = frozenset()
) -> str | None:
    """Return an attribute of its own object that changed lines use and a home knows nothing of."""
    if home.language != "Python":
        return None
    found = [m for line in added for m in _ATTRIBUTE.finditer(code_of(line, "Python"))]
    bound = {match[1] for match in found if match[2]} | brought
    known = frozenset(re.findall(r"\w+", home.content.decode("utf-8", "surrogateescape")))
    return next((m[1] for m in found if m[1] not in bound and m[1] not in known), None)


def needed_imports(
    base: Outline,
    theirs: Outline,
    home: Outline,
    *,
    added: Sequence[bytes],
    around: bytes,
    brought: frozenset[str] = frozenset(),
) -> tuple[Needed, ...]:
    """Return what a home lacks of what changed lines need, by the imports of the patch's side.

    Names in the text `around` the lines are known there, those that are `brought` will be.
    Raises Unsure where a name cannot be had.
    """
    if home.language == "Python":
        names = _names(added, "Python") - _names(around.split(b"\n"), "Python") - brought
        return tuple(_python(theirs, home, names))
    if home.language in _CXX:
        old = {line.strip() for line in base.lines}
        new = [n for n in sorted(import_lines(theirs)) if theirs.lines[n].strip() not in old]
        return tuple(_includes(home, [theirs.lines[n] for n in new]))
    return ()


def _includes(home: Outline, lines: Sequence[bytes]) -> Iterator[Needed]:
    there = {line.strip() for line in home.lines}
    at = max(import_lines(home), default=-1) + 1
    for line in lines:
        if line.strip() not in there:
            yield Needed(at, line)


def _names(lines: Sequence[bytes], language: str) -> frozenset[str]:
    """Return the names that lines may look up: no attributes, no keywords of calls."""
    codes = (_STRING.sub("0", code_of(line, language)) for line in lines)
    return frozenset(name for code in codes for name in _NAME.findall(code))


def _python(theirs: Outline, home: Outline, names: frozenset[str]) -> Iterator[Needed]:
    sources = _bindings(_parsed(theirs.content))
    there = _bindings(_parsed(home.content))
    for name in sorted(names & sources.keys()):
        if name in there:
            continue
        statement = sources[name]
        if statement is None:
            raise Unsure(f"the patch uses {name}, which is not in {home.path}")
        if statement.startswith("from .") and _folder(theirs.path) != _folder(home.path):
            raise Unsure(f"the patch uses {name}, which is imported by a relative name")
        yield Needed(_place(home, statement), statement.encode() + b"\n")


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _parsed(content: bytes) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about upstream's strings
            return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as fault:
        raise Unsure("the file does not parse") from fault


def _bindings(tree: ast.Module) -> Mapping[str, str | None]:
    """Return the names of a module: the import that brings each, None for other ones."""
    found: dict[str, str | None] = {}
    for node in _outermost(tree.body):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                found[bound] = _statement(node, alias)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name] = None
        else:
            stored = (n for n in ast.walk(node) if isinstance(n, ast.Name))
            found.update({n.id: None for n in stored if isinstance(n.ctx, ast.Store)})
    return found


def _statement(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    named = alias.name if alias.asname is None else f"{alias.name} as {alias.asname}"
    if isinstance(node, ast.Import):
        return f"import {named}"
    return f"from {'.' * node.level}{node.module or ''} import {named}"


def _outermost(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module, those of its branches too."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from _outermost(node.body)
            yield from _outermost(getattr(node, "orelse", ()))
            for handler in getattr(node, "handlers", ()):
                yield from _outermost(handler.body)


def _imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    return (n for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom)))


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _place(home: Outline, statement: str) -> int:
    """Return where an import goes: behind the last one that it sorts after, of its own kind."""
    word, module = statement.split(" ")[:2]
    at: int | None = None
    last = 0
    for node in _imports(_parsed(home.content)):
        last = _end(node)
        if isinstance(node, ast.ImportFrom) != (word == "from"):
            continue
        name = node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
        if name.partition(".")[0] == module.partition(".")[0] and name <= module:
            at = last
    if not last:
        raise Unsure(f"{home.path} has no imports to put {statement} beside")
    return last if at is None else at
