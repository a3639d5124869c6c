"""Find the new name of a definition that upstream removed, and the commit that removed it."""

from __future__ import annotations

import ast
import re
from difflib import SequenceMatcher

from patchmgr.engines.audit.python_modules import definitions, members_of, module_name
from patchmgr.engines.audit.python_names import Entity, PythonState
from patchmgr.engines.audit.states import States, decoded
from patchmgr.engines.structure.guards_imports import ROOTS, bound_names
from patchmgr.engines.structure.python_tree import Assigned, Definition, Function, parse_python

_LIKE = 0.6  # least similarity of the lines of two definitions
_MOST_FILES = 4_000
_LONGEST = 400  # lines of the longest definition that is compared


def new_name(states: States, old: Entity, new: Entity, symbol: str, now: PythonState) -> str | None:
    """Return the name that upstream has now for the old definition `symbol`; None if unclear."""
    last = symbol.rpartition(".")[2]
    if new.owner is not None and isinstance(new.owner.node, ast.ClassDef):
        known = members_of(old.owner.node if old.owner is not None else None)
        own = members_of(new.owner.node).items()
        return best(old.node, last, {name: made[0] for name, made in own if name not in known})
    if new.module is not None and old.module is not None and new.what == "gone":
        top, was = definitions(new.module.node), old.module.bound
        fresh: dict[str, ast.AST] = {name: top[name] for name in top if name not in was}
        if (found := best(old.node, last, fresh)) is not None:
            return found
    moved = reexported_from(old, last, now) or moved_to(states, old, last, now)
    root = "" if old.module is None else root_of(old.module.path, symbol.rpartition(".")[0])
    name = "" if moved is None else f"{module_of(moved, root)}.{last}"
    is_importable = all(part.isidentifier() for part in name.split("."))  # `my-tools/a.py` is not
    return name if is_importable else None


def best(old: ast.AST | None, name: str, others: dict[str, ast.AST]) -> str | None:
    """Return the name of the definition in `others` most similar to `old`, or None if unclear."""
    if old is None:
        return None
    scored = sorted(
        ((_likeness(old, node, name, other), other) for other, node in others.items()), reverse=True
    )
    return _first(scored)


def _first(scored: list[tuple[float, str]]) -> str | None:
    """Return the name with the highest score, or None if the score is too low or shared."""
    is_one = scored[0][0] > scored[1][0] if len(scored) > 1 else bool(scored)
    return scored[0][1] if is_one and scored[0][0] >= _LIKE else None


def _likeness(old: ast.AST, new: ast.AST, name: str, other: str) -> float:
    """Return how similar two definitions are, from 0 to 1, regardless of their names."""
    if isinstance(old, ast.ClassDef) != isinstance(new, ast.ClassDef):
        return 0.0
    if isinstance(old, Function) != isinstance(new, Function):
        return 0.0
    texts = [_lines(old, name), _lines(new, other)]
    if texts[0] == texts[1]:
        return 1.0
    if isinstance(old, Assigned) or max(map(len, texts)) > _LONGEST:
        return 0.0
    return SequenceMatcher(None, texts[0], texts[1], autojunk=False).ratio()


def _lines(node: ast.AST, name: str) -> list[str]:
    if isinstance(node, Assigned):
        return [ast.unparse(node.value) if node.value is not None else ""]
    return re.sub(rf"\b{re.escape(name)}\b", "_", ast.unparse(node)).split("\n")


def reexported_from(old: Entity, name: str, now: PythonState) -> str | None:
    """Return the module that defined a re-exported name if it still does, or else None."""
    node, module = old.node, old.module
    if module is None or not isinstance(node, Definition) or node.name != name:
        return None
    there = now.module(module.path)
    return module.path if there is not None and name in definitions(there.node) else None


def moved_to(states: States, old: Entity, name: str, now: PythonState) -> str | None:
    """Return the file to which upstream moved a definition, or None if unclear."""
    if old.node is None or old.module is None or old.owner is not None:
        return None
    if not isinstance(old.node, (Definition, Assigned)):
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
        node = None if module is None else definitions(module.node).get(name)
        if node is not None:
            found[path] = _likeness(old.node, node, name, name)
    return _first(sorted(((score, path) for path, score in found.items()), reverse=True))


def root_of(path: str, module: str) -> str:
    """Return the folder from which `path` is imported as `module`, or "" if there is none."""
    place, rest = path.rpartition(".")[0].removesuffix("/__init__"), module.replace(".", "/")
    return place.removesuffix(rest) if rest and place.endswith(f"/{rest}") else ""


def module_of(path: str, root: str = "") -> str:
    """Return the dotted name by which a file below a source folder is imported."""
    for above in (root, *ROOTS):
        if above and path.startswith(above):
            return module_name(path.removeprefix(above))
    return module_name(path)


def since_gone(states: States, old: Entity, symbol: str) -> str | None:
    """Return the upstream commit that removed a definition, or None if that commit is not known."""
    if old.module is None:
        return None
    last, outer = symbol.rpartition(".")[2], _class_of(old)

    def is_gone(content: bytes | None) -> bool:
        if content is None or outer:
            return _definition(content, outer, last) is None
        bound = bound_names(content)
        return bound is not None and last not in bound

    return states.commit_since(old.module.path, is_gone)


def since_signed(states: States, new: Entity) -> str | None:
    """Return the upstream commit that last changed a definition's signature, or None if unknown."""
    node, module = new.node, new.module
    if module is None or not isinstance(node, Definition):
        return None
    name, outer, head = node.name, _class_of(new), _head(node)
    return states.commit_since(
        module.path, lambda content: _head(_definition(content, outer, name)) == head
    )


def _class_of(found: Entity) -> str:
    owner = found.owner.node if found.owner is not None else None
    return owner.name if isinstance(owner, ast.ClassDef) else ""


def _definition(content: bytes | None, outer: str, name: str) -> ast.AST | None:
    """Return the node that defines `name` in the class `outer` (or at top level), or None."""
    tree = None if content is None else parse_python(decoded(content))
    top = {} if tree is None else definitions(tree)
    return members_of(top.get(outer)).get(name, [None])[0] if outer else top.get(name)


def _head(node: ast.AST | None) -> str:
    if isinstance(node, Function):
        decorators = [ast.dump(d) for d in node.decorator_list]
        return f"{type(node).__name__} {ast.dump(node.args)} {decorators}"
    if isinstance(node, ast.ClassDef):
        made = members_of(node).get("__init__")
        return _head(made[0]) if made else f"class {node.name}"
    return ""
