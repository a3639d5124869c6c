"""Find tests that pytest no longer collects, and tests that use fixtures that no longer exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from msgspec import Struct

from patchmgr.engines.audit.interfaces import new_lines
from patchmgr.engines.audit.places import patch_of_line, upstream_path, written_path
from patchmgr.engines.audit.states import Files, States, Told
from patchmgr.engines.audit.syntax import parsed_python
from patchmgr.engines.structure.python_tree import Function, parameters, walk
from patchmgr.formats.paths import folders_around
from patchmgr.model.audit import AuditFinding


def check_collected(states: States) -> Iterator[Told]:
    """Find tests that one side added and that pytest collects there, but not in the result.

    Tests of the series that use a fixture that no longer exists are found, too.
    """
    for path in states.carriers:
        old = written_path(states, path)
        if not path.endswith(".py") or not _is_test_file(old):
            continue
        around = {f"{folder}conftest.py" for p in (path, old) for folder in folders_around(p)}
        is_same = path == old and path not in states.changed_upstream
        if is_same and around.isdisjoint(states.changed_upstream):
            continue
        ours, theirs = states.written.read(old), states.onto.read(upstream_path(states, path))
        merged, written = parsed_python(states.merged.read(path)), parsed_python(ours)
        if merged is None or written is None:
            continue
        text = states.merged.text(path)
        sides = ((theirs, written), (ours, parsed_python(theirs) or written))
        found = [
            finding
            for other, side in sides
            for finding in _lost(states, path, merged, side, new_lines(text, other))
        ]
        test_file = _TestFile(path, old, merged, written)
        found += _without_fixture(states, test_file, new_lines(text, theirs))
        yield from ((patch_of_line(states, path, one.line), one) for one in found)


class _TestFile(Struct, frozen=True):
    """A test file in the result and in the series before the rebase: its paths and trees."""

    path: str
    old: str
    merged: ast.Module
    written: ast.Module


def _is_test_file(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py")


def _lost(
    states: States, path: str, merged: ast.Module, side: ast.Module, lines: frozenset[int]
) -> Iterator[AuditFinding]:
    """Yield a finding for each test in `lines` that pytest runs in `side` but not in `merged`."""
    ran = {test.name for test, _ in _run(side)}
    runs = {test.name for test, _ in _run(merged)} if _is_test_file(path) else set()
    for test, around in tests_of(merged):
        if test.lineno not in lines or test.name in runs or test.name not in ran:
            continue
        why = "a later definition has the same name"
        if not _is_test_file(path):
            why = f"it does not collect {path}"
        elif around is not None and not _is_collected(around):
            if _is_subclassed(states, path, around.name):
                continue
            why = f"it does not collect the class `{around.name}`"
        symbol = test.name if around is None else f"{around.name}.{test.name}"
        text = f"pytest no longer runs `{symbol}`: {why}."
        yield AuditFinding("lost-test", False, path, test.lineno, symbol, text)


def _run(tree: ast.Module) -> Iterator[tuple[Function, ast.ClassDef | None]]:
    """Yield (test, class or None) for each test that pytest runs.

    Of several tests with the same name, only the last one runs.
    """
    last = {(around and around.name, test.name): (test, around) for test, around in tests_of(tree)}
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for test, around in last.values():
        if around is None or (classes[around.name] is around and _is_collected(around)):
            yield test, around


def tests_of(tree: ast.Module) -> Iterator[tuple[Function, ast.ClassDef | None]]:
    """Yield the test functions and methods of a file, each with its class (None for a function)."""
    for node in tree.body:
        if isinstance(node, Function) and node.name.startswith("test"):
            yield node, None
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, Function) and inner.name.startswith("test"):
                    yield inner, node


def _is_collected(node: ast.ClassDef | None) -> bool:
    """Return whether pytest may collect a class. A class with bases may be a `TestCase`."""
    if node is None or node.bases:
        return True
    names = {inner.name for inner in node.body if isinstance(inner, Function)}
    is_off = any(ast.unparse(inner) == "__test__ = False" for inner in node.body)
    return node.name.startswith("Test") and "__init__" not in names and not is_off


def _is_subclassed(states: States, path: str, name: str) -> bool:
    """Return whether a class may have subclasses, which would inherit its tests and run them."""
    derives = re.compile(rb"\bclass[ \t]+\w+[ \t]*\([^)]*\b%b\b" % name.encode())
    others = (other for other in sorted(states.changed_upstream) if other.endswith(".py"))
    return any(derives.search(states.merged.read(each) or b"") for each in (path, *others))


def _without_fixture(
    states: States, file: _TestFile, lines: frozenset[int]
) -> Iterator[AuditFinding]:
    """Yield a finding for each test in `lines` that uses a fixture which no longer exists."""
    asked = {
        (test.lineno, test.name, name): None
        for test, around in tests_of(file.merged)
        if frozenset(range(test.lineno, max(test.lineno + 1, test.body[0].lineno))) & lines
        for name in _asked(test, around)
    }
    if not asked:
        return
    was, _ = _fixtures(states.written, file.old, file.written, _defined)
    now, is_open = _fixtures(states.merged, file.path, file.merged, _named)
    for line, test, name in asked:
        home = was.get(name)
        if home is not None and name not in now and not is_open:
            commit = states.commit_since(home, partial(_lacks, name))
            text = f"`{test}` requests the fixture `{name}`, which no longer exists."
            yield AuditFinding("removed", False, file.path, line, name, text, commit)


def _lacks(name: str, content: bytes | None) -> bool:
    return content is None or b"def %b(" % name.encode() not in content


def _asked(test: Function, around: ast.ClassDef | None) -> Iterator[str]:
    """Yield the names of the fixtures that a test takes as arguments."""
    marked = [ast.unparse(d) for d in test.decorator_list]
    marked += [ast.unparse(d) for d in around.decorator_list] if around is not None else []
    if any("patch" in d for d in marked):
        return  # mock passes its own arguments
    needed = [arg for arg, default in parameters(test.args) if default is None]
    for arg in needed[around is not None :]:
        if not any(f"'{arg.arg}" in d or f"{arg.arg}'" in d or f" {arg.arg}," in d for d in marked):
            yield arg.arg


def _fixtures(
    side: Files, path: str, tree: ast.Module, names: Callable[[ast.Module], Iterator[str]]
) -> tuple[Mapping[str, str], bool]:
    """Map each fixture that a test file can use to the file that defines it.

    Also return whether the test file may be able to use other fixtures. `names` yields the names
    of the fixtures in a file.
    """
    found: dict[str, str] = {}
    todo = [(path, tree)]
    for folder in folders_around(path):
        conftest = f"{folder}conftest.py"
        parsed = parsed_python(side.read(conftest))
        if parsed is not None:
            todo.append((conftest, parsed))
    for home, parsed in todo:
        for name in names(parsed):
            found.setdefault(name, home)
    return found, any(_is_open(parsed) for _, parsed in todo)


def _is_open(tree: ast.Module) -> bool:
    return any(
        (isinstance(node, ast.ImportFrom) and node.names[0].name == "*")
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytest_plugins")
        for node in tree.body
    )


def _defined(tree: ast.Module) -> Iterator[str]:
    """Yield the names of a file's fixtures, and all imported names, which may be fixtures."""
    for node in walk(tree):
        if isinstance(node, ast.alias):
            yield node.asname or node.name
        elif isinstance(node, Function):
            for decorator in node.decorator_list:
                if "fixture" in ast.unparse(decorator).partition("(")[0]:
                    yield _name_given(decorator) or node.name


def _named(tree: ast.Module) -> Iterator[str]:
    """Yield all names that may be fixtures, including assigned names and the words in strings."""
    yield from _defined(tree)
    for node in walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from node.value.replace(",", " ").split() if len(node.value) < 200 else ()


def _name_given(decorator: ast.expr) -> str:
    for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    return ""
