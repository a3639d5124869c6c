"""Find names, keys and numbers that clash because both sides of a merge add or raise them.

In Python and C++, the names of options, routes, members and the like are checked; in other files,
the keys, cases, functions and sections of one block. Numbers are checked in all files.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from patchmgr.engines.audit.cxx_includes import read_outside
from patchmgr.engines.audit.places import added_lines, merged_files, patch_of_line
from patchmgr.engines.audit.states import States, Told
from patchmgr.engines.audit.syntax import parsed_python
from patchmgr.engines.languages.file_types import CXX, PYTHON
from patchmgr.engines.languages.keys import added_twice
from patchmgr.engines.structure.python_tree import (
    Assigned,
    Definition,
    Function,
    blocks_of,
    children,
    last_name,
    targets_of,
    walk,
)
from patchmgr.engines.text.differences import Block, changed_blocks
from patchmgr.formats.late_patterns import late_pattern
from patchmgr.model.audit import AuditFinding

# Calls whose first string is a name that must be unique in its scope.
_NAMES = frozenset({
    "add_argument", "add_option", "add_parser", "add_command", "add_api_route", "add_url_rule",
    "option", "Option", "argument",
})  # fmt: skip
_DECLARED = re.compile(
    rb"\bdefine[ \t]+(\w+)|\b(\w+)[\"'\]]*[ \t]*(?:[(;,=\[:{})]|$)", re.MULTILINE
)
_GROUP = re.compile(r"([\w.]+)\.\w*_group\(")
_ROUTES = frozenset({"route", "get", "post", "put", "delete", "patch", "websocket", "command"})
Key = tuple[str, ...]
"""A name that code defines, and what distinguishes it from others of that name, as its scope."""


def check_twice(states: States) -> Iterator[Told]:
    """Find names that clash in the result because both sides define them at different positions."""
    for path, texts in merged_files(states, (*CXX, *PYTHON)):
        base, ours, theirs = ({*text.split(b"\n")} for text in texts[:3])
        words = ({*_DECLARED.findall(b"\n".join(side - base))} for side in (ours, theirs))
        if not set.intersection(*words):
            continue
        read = _in_python if path.endswith(PYTHON) else partial(_in_cxx, is_c=path.endswith(".c"))
        after = read(texts[3])
        twice = {key: lines for key, lines in after.items() if len(lines) > 1}
        before = read(texts[0]) if twice else {}
        twice = {key: lines for key, lines in twice.items() if key not in before}
        each = [read(text) for text in texts[1:3] if twice]
        added = added_lines(states, path) if twice else {}
        for key, lines in twice.items():
            if all(len(side.get(key, ())) == 1 for side in each):
                line = next((n for n in lines if n in added), lines[-1])
                said = f"`{key[0]}` is defined twice, once by each side."
                # Not definite: the two may be in different branches of an `#if`.
                finding = AuditFinding("defined-twice", False, path, line, key[0], said)
                yield added.get(line, states.carriers[path]), finding


def _in_cxx(content: bytes, *, is_c: bool) -> dict[Key, list[int]]:
    """Map each function, member, enumerator and macro of a file to the lines that define it.

    The key is the name, its kind, its namespaces or classes, and (not in C) parameter types.
    """
    found = defaultdict[Key, list[int]](list)
    for one in read_outside(content):
        is_member = one.kind == "variable" and one.is_member
        if one.is_definition or is_member or one.kind in ("enumerator", "macro"):
            types = () if is_c else (p.type for p in one.parameters or ())
            found[(one.name, one.kind, *one.owners, "", *types)].append(one.line)
    return found


def _in_python(content: bytes) -> dict[Key, list[int]]:
    """Map each option, route, table key, member and variable of a file to its defining lines.

    The key is the name, the scope, and the call that defines it.
    """
    tree = parsed_python(content)
    found = defaultdict[Key, list[int]](list)
    for key, line in () if tree is None else _names_in(tree.body, ""):
        found[key].append(line)
    return found


def _names_in(body: list[ast.stmt], scope: str) -> Iterator[tuple[Key, int]]:
    """Yield (key, line number) for each name that a block defines.

    Each branch of an `if` counts as a scope of its own.
    """
    made: dict[str, str] = {}
    for statement in body:
        blocks = [*blocks_of(statement)]
        if isinstance(statement, Definition):
            kind = "def " if isinstance(statement, Function) else ""
            inner = f"{scope}{kind}{statement.name}."
            yield from _by_decorators(statement, scope, inner)
            if isinstance(statement, Function):
                yield from _by_calls(statement.args, inner, {})
            yield from _names_in(statement.body, inner)
        elif blocks:
            is_plain = isinstance(statement, (ast.With, ast.AsyncWith))
            head = " ".join(ast.unparse(n) for n in children(statement) if isinstance(n, ast.expr))
            for number, block in enumerate(blocks):
                yield from _names_in(block, scope if is_plain else f"{scope}:{head}:{number}:")
        else:
            yield from _by_calls(statement, scope, made)
            if isinstance(statement, Assigned) and statement.value is not None:
                values = dict.fromkeys(targets_of(statement), ast.unparse(statement.value))
                made.update({ast.unparse(target): value for target, value in values.items()})
            if "def " not in scope:
                yield from _by_statement(statement, scope)


def _by_statement(statement: ast.stmt, scope: str) -> Iterator[tuple[Key, int]]:
    """Yield the variables and table keys that a statement sets, or the name that it registers."""
    for target in targets_of(statement) if isinstance(statement, Assigned) else ():
        match target:
            case ast.Name(id=name):
                yield (name, scope), target.lineno
            case ast.Subscript(slice=ast.Constant(value=key)):
                yield (repr(key), scope, ast.unparse(target.value)), target.lineno
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and "regist" in last_name(call.func).lower():
        names = islice(_texts(call), 1)
        yield from (((name, scope, ast.unparse(call.func)), call.lineno) for name in names)


def _by_calls(node: ast.AST, scope: str, made: Mapping[str, str]) -> Iterator[tuple[Key, int]]:
    """Yield the names that calls such as `add_argument` define, with line numbers."""
    for call in walk(node):
        if isinstance(call, ast.Call) and last_name(call.func) in _NAMES:
            owner = ast.unparse(call.func).rpartition(".")[0]
            for _ in made:  # a group of options belongs to its parser
                group = _GROUP.match(made.get(owner, ""))
                owner = owner if group is None else group[1]
            key = f"{scope} {made.get(owner, '')}", owner, last_name(call.func)
            yield from (((name, *key), call.lineno) for name in _texts(call))


def _by_decorators(node: Definition, scope: str, inner: str) -> Iterator[tuple[Key, int]]:
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call):
            continue
        last, by = last_name(decorator.func), ast.unparse(decorator.func)
        names = [*_texts(decorator)]
        if last in _NAMES:  # each decorated function is a command with its own options
            yield from (((name, inner, by), decorator.lineno) for name in names)
        elif (last in _ROUTES or "regist" in by.lower()) and not by.startswith("mock"):
            yield from (((name, scope, by), decorator.lineno) for name in names[:1])


def _texts(call: ast.Call) -> Iterator[str]:
    """Yield the names that a call defines: its first argument, and all options such as `-o`."""
    for number, arg in enumerate(call.args):
        value = arg.value if isinstance(arg, ast.Constant) else None
        if isinstance(value, str) and (number == 0 or value.startswith("-")):
            yield value


def check_keys(states: States) -> Iterator[Told]:
    """Warn of keys and functions that both sides add to a block in which each must be unique."""
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
    """Yield how many lines each block adds, for blocks with a line that the other side lacks."""
    for block in blocks:
        if not other.issuperset(side[block.new_start : block.new_end]):
            yield block.new_end - block.new_start - (block.old_end - block.old_start)
