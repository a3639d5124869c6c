"""Tests that are in the text of the result and that no run finds any more."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from patchmgr.engines.audit.places import patch_of_line, written_path
from patchmgr.engines.audit.states import States, Told
from patchmgr.model.audit import AuditFinding

LARGEST = 1_000_000  # bytes of a file that is looked at
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def check_tests(states: States) -> Iterator[Told]:
    """Find tests that a side adds and the result has only under a definition that hides them."""
    for path in states.carriers:
        name = path.rpartition("/")[2]
        if not name.startswith("test") and not name.endswith("_test.py"):
            continue
        old = written_path(states, path)
        blobs = states.merged.blob(path), states.written.blob(old), states.onto.blob(path)
        if not path.endswith(".py") or len(set(blobs)) < 3:
            continue
        base = _tests(states.base.read(old))
        merged = _tests(states.merged.read(path))
        if base is None or merged is None:
            continue
        ran = {test.rpartition(".")[2] for test in merged}
        for side in (states.written.read(old), states.onto.read(path)):
            for test in (_tests(side) or base).keys() - base.keys() - merged.keys():
                last = test.rpartition(".")[2]
                line = _line(states.merged.read(path) or b"", last)
                if line and last not in ran:
                    text = f"`{test}` is not run any more: a later definition hides it."
                    said = (states.merged.read(path) or b"").split(b"\n")[line - 1].strip()
                    finding = AuditFinding("lost-test", False, path, line, test, text)
                    yield patch_of_line(states, path, said), finding


def _line(content: bytes, name: str) -> int:
    """Return the line, from 1, that defines a test, 0 for none."""
    head = b"def %b(" % name.encode()
    lines = enumerate(content.split(b"\n"), 1)
    return next((number for number, line in lines if head in line), 0)


def _tests(content: bytes | None) -> dict[str, None] | None:
    """Return the tests that a run finds: the last definition of a name is what it stands for."""
    from patchmgr.engines.structure.python_tree import parse_python

    if content is None or len(content) > LARGEST:
        return None
    tree = parse_python(content.decode("utf-8", "surrogateescape"))
    return None if tree is None else dict.fromkeys(_found(tree.body, ""))


def _found(body: list[ast.stmt], scope: str) -> Iterator[str]:
    last = {node.name: node for node in body if isinstance(node, (*_Function, ast.ClassDef))}
    for name, node in last.items():
        if isinstance(node, ast.ClassDef):
            yield from _found(node.body, f"{scope}{name}.")
        elif name.startswith("test"):
            yield scope + name
