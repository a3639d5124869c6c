"""Find what both sides of a merge add, and what may be there only once.

In Python and C++, these are names, such as options, routes and members; elsewhere keys, cases,
functions and sections of one block. In any file, numbers that both sides raise by the same amount
are found, too.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from patchmgr.engines.audit.cxx_includes import read_outside
from patchmgr.engines.audit.places import (
    added_lines,
    merged_files,
    patch_of_line,
    upstream_path,
    written_path,
)
from patchmgr.engines.audit.states import States, Told
from patchmgr.engines.audit.syntax import parsed_python
from patchmgr.engines.languages.file_types import CXX, PYTHON
from patchmgr.engines.languages.keys import added_twice
from patchmgr.engines.structure.python_tree import Assigned, Definition, last_name, targets_of, walk
from patchmgr.engines.text.differences import Block, changed_blocks
from patchmgr.formats.late_patterns import late_pattern
from patchmgr.model.audit import AuditFinding

# Calls whose first string is a name that must be unique in its scope.
_NAMES = frozenset({
    "add_argument", "add_option", "add_parser", "add_command", "add_api_route", "add_url_rule",
    "option", "Option", "argument",
})  # fmt: skip
_DECLARED = re.compile(rb"\bdefine[ \t]+(\w+)|\b(\w+)[ \t]*(?:[(;,=\[:{}]|$)", re.MULTILINE)
_ROUTES = frozenset({"route", "get", "post", "put", "delete", "patch", "websocket", "command"})


class Defined(Struct, frozen=True):
    """A name that code defines in a scope."""

    scope: str
    by: str  # the call or table that defines it, if any
    name: str


def check_twice(states: States) -> Iterator[Told]:
    """Find names that clash in the result because both sides define them at different positions."""
    for path in states.carriers:
        old = written_path(states, path)
        there = upstream_path(states, path)
        blobs = states.merged.blob(path), states.written.blob(old), states.onto.blob(there)
        if not path.endswith(PYTHON) or len(set(blobs)) < 3 or None in blobs:
            continue
        found = _given(states.merged.read(path))
        more = {key: lines for key, lines in found.items() if len(lines) > 1}
        if not more:
            continue
        sides = [_given(side) for side in (states.written.read(old), states.onto.read(there))]
        upstream = Counter(states.onto.lines(there))
        text = states.merged.lines(path)
        for key, lines in more.items():
            if any(len(side.get(key, ())) != 1 for side in sides):
                continue
            own = [line for line in lines if not upstream[text[line - 1]]]
            line = (own or lines)[-1]
            said = f"`{key.name}` is passed to `{key.by}` twice, once by each side."
            if not key.by:
                name = f"{key.scope}.{key.name}".lstrip(".")
                said = f"`{name}` is set twice, once by each side."
            finding = AuditFinding("defined-twice", False, path, line, key.name, said)
            yield patch_of_line(states, path, line), finding


def defined_twice(states: States) -> Iterator[Told]:
    """Find what both sides define in a C or C++ file at different positions."""
    for path, texts in merged_files(states, CXX):
        base, ours, theirs = ({*text.split(b"\n")} for text in texts[:3])
        words = ({*_DECLARED.findall(b"\n".join(side - base))} for side in (ours, theirs))
        if not set.intersection(*words):
            continue
        after = _definitions(texts[3], path)
        twice = {key: lines for key, lines in after.items() if len(lines) > 1}
        before = _definitions(texts[0], path) if twice else {}
        twice = {key: lines for key, lines in twice.items() if key not in before}
        each = [_definitions(text, path) for text in texts[1:3] if twice]
        added = added_lines(states, path) if twice else {}
        for key, lines in twice.items():
            if all(len(e[key]) == 1 for e in each):
                line = next((n for n in lines if n in added), lines[-1])
                said = f"`{key[0]}` is defined twice, once by each side."
                # Not definite: the two may be in different branches of an `#if`.
                finding = AuditFinding("defined-twice", False, path, line, key[0], said)
                yield added.get(line, states.carriers[path]), finding


def _definitions(content: bytes | None, path: str) -> dict[tuple[str, ...], list[int]]:
    """Map each function, member, enumerator and macro of a file to the lines that define it.

    The key is the name, its kind, its namespaces or classes, and (not in C) parameter types.
    """
    found = defaultdict[tuple[str, ...], list[int]](list)
    for one in read_outside(content):
        is_member = one.kind == "variable" and one.is_member
        if one.is_definition or is_member or one.kind in ("enumerator", "macro"):
            types = () if path.endswith(".c") else (p.type for p in one.parameters or ())
            found[(one.name, one.kind, *one.owners, "", *types)].append(one.line)
    return found


def _given(content: bytes | None) -> dict[Defined, list[int]]:
    """Map each name that a file defines to the line numbers (from 1) of its definitions."""
    tree = parsed_python(content)
    found: dict[Defined, list[int]] = {}
    if tree is not None:
        for key, line in (*_names_in(tree.body, ""), *_members(tree, "")):
            found.setdefault(key, []).append(line)
    return found


def _names_in(body: list[ast.stmt], scope: str) -> Iterator[tuple[Defined, int]]:
    """Yield each name that a block defines, with its line number. Each branch is its own scope."""
    made: dict[str, ast.expr] = {}
    for statement in body:
        if isinstance(statement, Definition):
            inner = f"{scope}.{statement.name}".lstrip(".")
            yield from _by_decorators(statement, scope, inner)
            if isinstance(statement, ast.ClassDef):
                yield from _members(statement, inner)
            else:
                yield from _by_calls(statement.args, inner, {})
            yield from _names_in(statement.body, inner)
            continue
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            made[statement.targets[0].id] = statement.value
        blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        parts = [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]
        if not any(blocks) and not parts:
            yield from _by_calls(statement, scope, made)
            yield from _by_key(statement, scope)
            continue
        head = f"{type(statement).__name__} {_head(statement)}"
        for number, block in enumerate([*blocks, *(part.body for part in parts)]):
            is_plain = isinstance(statement, (ast.With, ast.AsyncWith))
            place = scope if is_plain else f"{scope}:{head}:{number}"
            yield from _names_in(block, place)


def _head(statement: ast.stmt) -> str:
    for name in ("test", "iter", "subject"):
        part = getattr(statement, name, None)
        if isinstance(part, ast.expr):
            return ast.unparse(part)
    return ""


def _by_calls(
    node: ast.AST, scope: str, made: Mapping[str, ast.expr]
) -> Iterator[tuple[Defined, int]]:
    """Yield the names that calls such as `add_argument` define, with line numbers."""
    for call in walk(node):
        if not isinstance(call, ast.Call) or _last(call.func) not in _NAMES:
            continue
        func, place = call.func, scope
        owner = func.value if isinstance(func, ast.Attribute) else func
        for _ in range(len(made)):
            value = made.get(owner.id) if isinstance(owner, ast.Name) else None
            if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
                break
            if not value.func.attr.endswith("_group"):
                break
            owner = value.func.value
        if isinstance(owner, ast.Name) and owner.id in made:
            place = f"{scope} {ast.unparse(made[owner.id])}"
        by = f"{ast.unparse(owner)}.{_last(func)}" if owner is not func else ast.unparse(func)
        for name in _texts(call):
            yield Defined(place, by, name), call.lineno


def _by_decorators(node: Definition, scope: str, inner: str) -> Iterator[tuple[Defined, int]]:
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call):
            continue
        last, by = _last(decorator.func), ast.unparse(decorator.func)
        names = list(_texts(decorator))
        if last in _NAMES:  # each decorated function is a command with its own options
            yield from ((Defined(inner, by, name), decorator.lineno) for name in names)
        elif (last in _ROUTES or "regist" in by.lower()) and not by.startswith("mock"):
            yield from ((Defined(scope, by, name), decorator.lineno) for name in names[:1])


def _by_key(statement: ast.stmt, scope: str) -> Iterator[tuple[Defined, int]]:
    """Yield the table keys that a top-level statement sets, or the name that it registers."""
    if scope or not isinstance(statement, ast.Assign):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not scope and isinstance(call, ast.Call) and "regist" in _last(call.func).lower():
            for name in list(_texts(call))[:1]:
                yield Defined(scope, ast.unparse(call.func), name), call.lineno
        return
    for target in statement.targets:
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
            yield Defined("", ast.unparse(target.value), repr(target.slice.value)), target.lineno


def _members(node: ast.ClassDef | ast.Module, scope: str) -> Iterator[tuple[Defined, int]]:
    for statement in node.body:
        match targets_of(statement) if isinstance(statement, Assigned) else ():
            case [ast.Name(id=name)]:
                yield Defined(scope, "", name), statement.lineno


def _last(node: ast.expr) -> str:
    return last_name(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""


def _texts(call: ast.Call) -> Iterator[str]:
    """Yield the names that a call defines: a string as first argument, and all options (`-o`)."""
    for number, arg in enumerate(call.args):
        value = arg.value if isinstance(arg, ast.Constant) else None
        if isinstance(value, str) and (number == 0 or value.startswith("-")):
            yield value


def check_keys(states: States) -> Iterator[Told]:
    """Warn of keys and functions that both sides add to a block that may have each only once."""
    for path, contents in merged_files(states):
        added = None
        for lines, name in added_twice(path, contents):
            if added is None:
                added = added_lines(states, path)
            ours, theirs = sorted(lines, key=lambda line: line not in added)
            symbol = name.decode("utf-8", "replace")
            text = f"`{symbol}` is also defined on line {theirs}: each side adds it to this block."
            finding = AuditFinding("defined-twice", False, path, ours, symbol, text)
            yield added.get(ours, states.carriers[path]), finding


_NUMBER = late_pattern(rb"(?<![\w.])\d+(?![\w.])")


def check_counts(states: States) -> Iterator[Told]:
    """Find numbers that both sides raise from n to n + k, where each also adds k other lines."""
    for path, contents in merged_files(states):
        base, ours, theirs, merged = (content.split(b"\n") for content in contents)
        alike = ({*ours} & {*theirs} & {*merged}) - {*base}
        if not any(_NUMBER.search(line) for line in alike):
            continue
        raised, added = [], []
        for side, other in ((ours, theirs), (theirs, ours)):
            blocks = changed_blocks(base, side)
            raised.append({*_raised(base, side, blocks)})
            added.append({*_added(side, blocks, {*other})})
        for line, old, new in sorted(set.intersection(*raised)):
            if line in alike and all(new - old in amounts for amounts in added):
                # It often counts the entries of a table, of which there are n + 2k now, but git
                # applies the same change only once.
                number = merged.index(line) + 1
                text = (
                    f"both sides raise this number from {old} to {new}, and each of them also "
                    f"adds {new - old} other line{'s'[: new - old - 1]}"
                )
                finding = AuditFinding("meaning", False, path, number, None, text)
                yield patch_of_line(states, path, number), finding


def _raised(
    base: Sequence[bytes], side: Sequence[bytes], blocks: Sequence[Block]
) -> Iterator[tuple[bytes, int, int]]:
    """Yield (new line, old number, new number) for each line in which only a number is raised."""
    for block in blocks:
        pairs = base[block.old_start : block.old_end], side[block.new_start : block.new_end]
        for before, after in zip(*pairs, strict=False):
            old, new = ([int(n) for n in _NUMBER.findall(line)] for line in (before, after))
            if _NUMBER.sub(b"", before) == _NUMBER.sub(b"", after):
                changed = [(m, n) for m, n in zip(old, new, strict=True) if m != n]
                if len(changed) == 1 and changed[0][0] < changed[0][1]:
                    yield after, *changed[0]


def _added(side: Sequence[bytes], blocks: Sequence[Block], other: set[bytes]) -> Iterator[int]:
    """Yield by how many lines each block grows, if it has a line that the other side lacks."""
    for block in blocks:
        if not other.issuperset(side[block.new_start : block.new_end]):
            yield block.new_end - block.new_start - (block.old_end - block.old_start)
