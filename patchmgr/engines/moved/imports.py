"""Find the imports that moved lines need in their new file, and add these imports to it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from patchmgr.engines.audit.names import messages_of
from patchmgr.engines.audit.python_modules import bindings_in
from patchmgr.engines.audit.syntax import parsed_python
from patchmgr.engines.languages.file_types import CXX_LANGUAGES
from patchmgr.engines.languages.words import code_of
from patchmgr.engines.merge.languages import PYTHON
from patchmgr.engines.merge.replay import Replay
from patchmgr.engines.merge.statements import read
from patchmgr.engines.merge.tree import lines_of
from patchmgr.engines.moved.units import Outline
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.structure.python_tree import Import, bound_by, last_name, module_of
from patchmgr.engines.text.differences import Run, changed_blocks

_STRING = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'")
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*(?!\s*=(?!=))")  # no attribute or keyword argument
_ATTRIBUTE = re.compile(r"\b(?:self|cls)\.([^\W\d]\w*)(\s*=(?!=))?")  # and whether it is set
_WORDS = re.compile(rb"\w+")
_LISTED = re.compile(rb"\w+(?: as \w+)?,")  # a name in brackets over several lines
_INCLUDE = re.compile(rb"\s*#\s*include\b")
LONGEST = 88  # columns: an import that gets longer than this is split into lines


class Unsure(Exception):
    """Raised when it is not certain which imports some lines need. The message gives the reason."""


class ImportedName(Struct, frozen=True):
    """The import statement that binds a name."""

    statement: str
    module: str | None  # None for `import name`
    is_for_types: bool = False  # only type checkers run the import


def is_import_line(line: bytes, language: str) -> bool:
    """Return whether a line is the first of a Python import, or an `#include` of C or C++."""
    if language in CXX_LANGUAGES:
        return bool(_INCLUDE.match(line))
    return language == "Python" and line.startswith((b"import ", b"from "))


def import_lines(outline: Outline) -> frozenset[int]:
    """Return the numbers (from 0) of the lines of all top-level imports in a file."""
    if outline.language == "Python":
        nodes = _imports(_parsed(outline.content)) if outline.content else ()
        return frozenset(n for node in nodes for n in range(node.lineno - 1, _end(node)))
    lines = enumerate(outline.lines)
    return frozenset(n for n, line in lines if is_import_line(line, outline.language))


def added_imports(run: Run) -> frozenset[bytes]:
    """Return the names that a change adds to Python imports, or none if it has other effects."""
    before, after = (_imported(lines) for lines in (run.removed, run.added))
    if before is None or after is None or not before <= after:
        return frozenset()
    return after - before


def _imported(lines: Sequence[bytes]) -> frozenset[bytes] | None:
    """Return the names that lines import, or None if a line is not part of an import."""
    filled = [line.strip() for line in lines if line.strip()]
    if filled and all(_LISTED.fullmatch(line) for line in filled):
        return frozenset(line.split(b",")[0].split()[-1] for line in filled)
    try:
        nodes = _parsed(b"\n".join(filled)).body
    except Unsure:
        return None
    imports = [node for node in nodes if isinstance(node, Import)]
    if len(imports) < len(nodes):
        return None
    names = (name for node in imports for alias in node.names for name in bound_by(alias))
    return frozenset(name.encode("utf-8", "surrogateescape") for name in names)


def words_of(text: bytes) -> frozenset[bytes]:
    """Return the set of words in a text."""
    return frozenset(_WORDS.findall(text))


def missing_attribute(
    home: Outline, added: Sequence[bytes], brought: frozenset[str] = frozenset()
) -> str | None:
    """Return an attribute of `self` that the `added` lines use but `home` lacks, or None.

    `brought` are the new symbols that the patch adds to `home`.
    """
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
) -> tuple[Run, ...]:
    """Return the changes to `home` that add the imports of `theirs` that `added` lines need.

    Names in the text `around` the lines, and new symbols of the patch (`brought`), need none.
    Raises Unsure if a needed import cannot be added.
    """
    if home.language == "Python":
        names = _names(added, "Python") - _names(around.split(b"\n"), "Python") - brought
        return _python(theirs, home, names)
    if home.language in CXX_LANGUAGES:
        old = {line.strip() for line in base.lines}
        new = [n for n in sorted(import_lines(theirs)) if theirs.lines[n].strip() not in old]
        return tuple(_includes(home, [theirs.lines[n] for n in new]))
    return ()


def _includes(home: Outline, lines: Sequence[bytes]) -> Iterator[Run]:
    there = {line.strip() for line in home.lines}
    at = max(import_lines(home), default=-1) + 1
    missing = tuple(line for line in lines if line.strip() not in there)
    if missing:
        yield Run(at, (), missing)


def _names(lines: Sequence[bytes], language: str) -> frozenset[str]:
    """Return the names that lines may use, without attributes and keyword arguments."""
    codes = (_STRING.sub("0", code_of(line, language)) for line in lines)
    return frozenset(name for code in codes for name in _NAME.findall(code))


def _python(theirs: Outline, home: Outline, names: frozenset[str]) -> tuple[Run, ...]:
    sources = _bindings(_parsed(theirs.content))
    there = _bindings(_parsed(home.content))
    content = home.content
    for name in sorted(names & sources.keys() - there.keys()):
        source = sources[name]
        if source is None:
            raise Unsure(f"the patch uses {name}, which is not in {home.path}")
        content = with_import(theirs.path, source, home.path, content, name=name)
    old, new = home.lines, split_lines(content)
    return tuple(
        Run(b.old_start, tuple(old[b.old_start : b.old_end]), tuple(new[b.new_start : b.new_end]))
        for b in changed_blocks(old, new)
    )


def missing_imports(
    base: str, home: str, theirs: bytes, merged: bytes, *, names: Collection[str]
) -> bytes | None:
    """Add to a merged file those imports of `theirs` that it lacks and that bind any of `names`.

    `base` and `home` are the paths before and after the rebase. Returns None if no import is
    needed, or if it is unclear how to add one; the audit then reports the undefined name.
    """
    content = merged
    try:
        sources = _bindings(_parsed(theirs))
        wanted = (frozenset(names) & sources.keys()) - _bindings(_parsed(merged)).keys()
        for name in sorted(wanted & _undefined_names(merged) if wanted else ()):
            source = sources[name]
            if source is not None:
                content = with_import(base, source, home, content, name=name)
    except Unsure:
        return None
    return None if content == merged else content


def _undefined_names(content: bytes) -> frozenset[str]:
    """Return the names that are used but not defined, or none if the file does not parse."""
    try:
        found = messages_of(_parsed(content))
    except Unsure:
        return frozenset()
    undefined = (m for m in found if type(m).__name__ == "UndefinedName")
    return frozenset(str(m.message_args[0]) for m in undefined)


def with_import(base: str, source: ImportedName, home: str, content: bytes, *, name: str) -> bytes:
    """Add the import of a name, which the file `base` has, to the file `home`.

    Returns the new content. Raises Unsure if it is unclear where to add the import.
    """
    if source.statement.startswith("from .") and _folder(base) != _folder(home):
        raise Unsure(f"the patch uses {name}, which a relative import binds")
    tree = _parsed(content)
    end = b"\r\n" if b"\r\n" in content else b"\n"
    lines = split_lines(content)
    if source.is_for_types:
        at, indent = _place_for_types(tree, name)
        lines.insert(at, indent + source.statement.encode() + end)
        return b"".join(lines)
    if not any(True for _ in _imports(tree)):
        return _first_import(content, source)
    joined = None if source.module is None else _joined(content, source)
    if joined is not None:
        return joined
    lines.insert(_place(tree, source.statement), source.statement.encode() + end)
    return b"".join(lines)


def _place_for_types(tree: ast.Module, name: str) -> tuple[int, bytes]:
    """Return the line for an import under `if TYPE_CHECKING`, and the indentation there."""
    for node in tree.body:
        if isinstance(node, ast.If) and _is_for_types(node):
            last = [n for n in node.body if isinstance(n, Import)][-1:]
            if last:
                return _end(last[0]), b" " * last[0].col_offset
    raise Unsure(f"the patch uses {name}, which is imported for type checkers only")


def _first_import(content: bytes, source: ImportedName) -> bytes:
    """Return a file with its first import added on the line that libcst chooses."""
    import libcst.codemod.visitors

    visitor = libcst.codemod.visitors.AddImportsVisitor
    (alias,) = (node.names[0] for node in _imports(_parsed(source.statement.encode())))
    context = libcst.codemod.CodemodContext()
    asname = alias.asname if alias.asname != alias.name else None
    if source.module is None:
        visitor.add_needed_import(context, alias.name, None, asname)
    else:
        module = source.module.lstrip(".")
        level = len(source.module) - len(module)
        visitor.add_needed_import(context, module, alias.name, asname, level)
    try:
        return visitor(context).transform_module(libcst.parse_module(content)).bytes
    except libcst.ParserSyntaxError as fault:
        raise Unsure("the file does not parse") from fault


def _joined(content: bytes, source: ImportedName) -> bytes | None:
    """Return the file with the name added to its only import from that module, or None."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    of_module = [
        node
        for node in _parsed(content).body
        if isinstance(node, ast.ImportFrom) and module_of(node) == source.module
    ]
    if len(of_module) != 1 or " as " in source.statement:
        return None  # import sorters put `name as other` into a separate statement
    (node,) = of_module
    if any(alias.asname == alias.name for alias in node.names):
        return None  # `name as name` re-exports the name, in a separate statement
    lines = list(lines_of(text))
    place = slice(node.lineno - 1, node.end_lineno)
    line = "".join(lines[place])
    end = "\r\n" if line.endswith("\r\n") else "\n"
    sides = (read(side, PYTHON) for side in ("", line.replace(end, "\n"), f"{source.statement}\n"))
    whole = Replay(is_theirs=False, is_python=True).node(*sides).whole
    if whole.count("\n") == 1 and len(whole) > max(LONGEST, len(line)):
        whole = _in_lines(whole)
    try:
        (merged,) = _imports(_parsed(whole.encode()))
    except (Unsure, ValueError):
        return None
    names = Counter((alias.name, alias.asname) for alias in node.names)
    names[source.statement.rpartition(" ")[2], None] += 1
    if names != Counter((alias.name, alias.asname) for alias in merged.names):
        return None
    lines[place] = [whole.replace("\n", end)]
    return "".join(lines).encode()


def _in_lines(line: str) -> str:
    head, _, names = line.rstrip().partition(" import ")
    if any(sign in names for sign in "(#\\"):
        return line
    listed = "".join(f"    {name.strip()},\n" for name in names.split(","))
    return f"{head} import (\n{listed})\n"


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _parsed(content: bytes) -> ast.Module:
    tree = parsed_python(content)
    if tree is None:
        raise Unsure("the file does not parse")
    return tree


def _bindings(tree: ast.Module) -> Mapping[str, ImportedName | None]:
    """Map each name that a module binds to its import, or to None if it is not imported."""
    found: dict[str, ImportedName | None] = {}
    typing = {
        inner
        for node in tree.body
        if isinstance(node, ast.If) and _is_for_types(node)
        for inner in node.body
    }
    for name, node in bindings_in(tree.body):
        found[name] = None
        if isinstance(node, Import):
            alias = next(alias for alias in node.names if name in bound_by(alias))
            found[name] = _source(node, alias, is_for_types=node in typing)
    return found


def _source(node: Import, alias: ast.alias, *, is_for_types: bool) -> ImportedName:
    named = alias.name if alias.asname is None else f"{alias.name} as {alias.asname}"
    if isinstance(node, ast.Import):
        return ImportedName(f"import {named}", None, is_for_types)
    module = module_of(node)
    return ImportedName(f"from {module} import {named}", module, is_for_types)


def _is_for_types(node: ast.If) -> bool:
    return last_name(node.test) == "TYPE_CHECKING"


def _imports(tree: ast.Module) -> Iterator[Import]:
    return (n for n in tree.body if isinstance(n, Import))


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _place(tree: ast.Module, statement: str) -> int:
    """Return the line after which to insert an import, so that imports of its kind stay sorted."""
    word, module = statement.split(" ")[:2]
    at: int | None = None
    last = 0
    for node in _imports(tree):
        last = _end(node)
        if isinstance(node, ast.ImportFrom) != (word == "from"):
            continue
        name = node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
        if name.partition(".")[0] == module.partition(".")[0] and name <= module:
            at = last
    return last if at is None else at
