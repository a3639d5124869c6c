"""Where what is gone went: its new name or place upstream, and the commit that did it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from patchmgr.engines.audit.python_modules import (
    Entity,
    Function,
    PythonState,
    members_of,
    module_name,
    statements,
)
from patchmgr.engines.audit.states import States
from patchmgr.engines.structure.guards_imports import ROOTS, bound_names
from patchmgr.engines.structure.python_tree import parse_python
from patchmgr.model.ports import Step

LIKE = 0.6  # of the lines of two definitions
_MOST_FILES = 4_000
_LONGEST = 400  # lines of a definition that is compared

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def new_name(states: States, old: Entity, new: Entity, symbol: str, now: PythonState) -> str | None:
    """Return what is called now what a name stood for, None where that is not clear."""
    last = symbol.rpartition(".")[2]
    if new.owner is not None and isinstance(new.owner.node, ast.ClassDef):
        others = {k: v[0] for k, v in members_of(new.owner.node).items()}
        was = old.owner.node if old.owner is not None else None
        known = members_of(was) if isinstance(was, ast.ClassDef) else {}
        return best(old.node, last, {k: v for k, v in others.items() if k not in known})
    if new.module is not None and old.module is not None and new.what == "gone":
        fresh = {
            name: node
            for name, node in definitions(new.module.node)
            if name not in old.module.bound
        }
        found = best(old.node, last, fresh)
        if found is not None:
            return found
    moved = handed_on(old, last, now) or moved_to(states, old, last, now)
    root = "" if old.module is None else root_of(old.module.path, symbol.rpartition(".")[0])
    return None if moved is None else f"{module_of(moved, root)}.{last}"


def definitions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield what the top of a module defines, by name."""
    for node in statements(tree.body):
        if isinstance(node, (*Function, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, ast.Assign):
            yield from ((t.id, node) for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node


def best(old: ast.AST | None, name: str, others: dict[str, ast.AST]) -> str | None:
    """Return the one other definition that is like the old one, None where there is not one."""
    if old is None:
        return None
    scored = sorted(
        ((likeness(old, node, name, other), other) for other, node in others.items()),
        reverse=True,
    )
    if not scored or scored[0][0] < LIKE:
        return None
    if len(scored) > 1 and scored[1][0] == scored[0][0]:
        return None
    return scored[0][1]


def likeness(old: ast.AST, new: ast.AST, name: str, other: str) -> float:
    """Say how much two definitions are alike, between 0 and 1, their names aside."""
    if isinstance(old, ast.ClassDef) != isinstance(new, ast.ClassDef):
        return 0.0
    if isinstance(old, Function) != isinstance(new, Function):
        return 0.0
    texts = [_lines(old, name), _lines(new, other)]
    if texts[0] == texts[1]:
        return 1.0
    if isinstance(old, (ast.Assign, ast.AnnAssign)) or max(map(len, texts)) > _LONGEST:
        return 0.0
    return SequenceMatcher(None, texts[0], texts[1], autojunk=False).ratio()


def _lines(node: ast.AST, name: str) -> list[str]:
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return [ast.unparse(node.value) if node.value is not None else ""]
    return re.sub(rf"\b{re.escape(name)}\b", "_", ast.unparse(node)).split("\n")


def handed_on(old: Entity, name: str, now: PythonState) -> str | None:
    """Return the file that defined a name which another module handed on, if it has it still."""
    node, module = old.node, old.module
    if module is None or not isinstance(node, (*Function, ast.ClassDef)) or node.name != name:
        return None
    there = now.module(module.path)
    return module.path if there is not None and name in dict(definitions(there.node)) else None


def moved_to(states: States, old: Entity, name: str, now: PythonState) -> str | None:
    """Return the one file upstream that has a definition now that stood elsewhere."""
    if old.node is None or old.module is None or old.owner is not None:
        return None
    if not isinstance(old.node, (*Function, ast.ClassDef, ast.Assign, ast.AnnAssign)):
        return None
    word = name.encode()
    heads = (b"def %b(" % word, b"class %b" % word, b"\n%b =" % word, b"\n%b:" % word)
    found: dict[str, float] = {}
    for path in sorted(states.changed_upstream)[:_MOST_FILES]:
        if not path.endswith(".py") or path == old.module.path:
            continue
        content = states.onto.read(path)
        if content is None or not any(head in content for head in heads):
            continue
        before = states.base.read(path)
        if before is not None and any(head in before for head in heads):
            continue
        module = now.module(path)
        node = None if module is None else dict(definitions(module.node)).get(name)
        if node is not None:
            found[path] = likeness(old.node, node, name, name)
    good = sorted((score, path) for path, score in found.items() if score >= LIKE)
    if not good or (len(good) > 1 and good[-1][0] == good[-2][0]):
        return None
    return good[-1][1]


def root_of(path: str, module: str) -> str:
    """Return the folder that a file is imported from by that name; empty where it is unknown."""
    place, rest = path.rpartition(".")[0].removesuffix("/__init__"), module.replace(".", "/")
    return place.removesuffix(rest) if rest and place.endswith(f"/{rest}") else ""


def module_of(path: str, root: str = "") -> str:
    """Return how a module is imported, without the folder that is no package: a known root's."""
    for above in (root, *ROOTS):
        if above and path.startswith(above):
            return module_name(path.removeprefix(above))
    return module_name(path)


def since_gone(states: States, old: Entity, new: Entity, symbol: str) -> Step | None:
    """Return the upstream step that took a definition away."""
    if old.module is None:
        return None
    last = symbol.rpartition(".")[2]
    if old.owner is not None and isinstance(old.owner.node, ast.ClassDef):
        path = [old.owner.node.name, last]
    else:
        path = [last]
    return states.since(old.module.path, lambda content: not _has(content, path))


def _has(content: bytes | None, names: list[str]) -> bool:
    if content is None:
        return False
    if len(names) == 1:
        bound = bound_names(content)
        return bound is None or names[0] in bound
    return _definition(content, names) is not None


def _definition(content: bytes | None, names: list[str]) -> ast.AST | None:
    tree = None if content is None else parse_python(content.decode("utf-8", "surrogateescape"))
    if tree is None:
        return None
    found: ast.AST | None = dict(definitions(tree)).get(names[0])
    for name in names[1:]:
        found = members_of(found).get(name, [None])[0] if isinstance(found, ast.ClassDef) else None
    return found


def since_signed(states: States, old: Entity, new: Entity, symbol: str) -> Step | None:
    """Return the upstream step that gave a function or a class the signature that it has now."""
    node, module = new.node, new.module
    if module is None or not isinstance(node, (*Function, ast.ClassDef)):
        return None
    owner = new.owner.node if new.owner is not None else None
    names = [*([owner.name] if isinstance(owner, ast.ClassDef) else []), node.name]
    head = _head(node)
    return states.since(module.path, lambda content: _head(_definition(content, names)) == head)


def _head(node: ast.AST | None) -> str:
    if isinstance(node, Function):
        decorators = [ast.dump(d) for d in node.decorator_list]
        return f"{type(node).__name__} {ast.dump(node.args)} {decorators}"
    if isinstance(node, ast.ClassDef):
        made = members_of(node).get("__init__", [None])[0]
        return _head(made) if made is not None else f"class {node.name}"
    return ""
