"""Find calls that fitted what a file imports on one side, and do not fit it in the merged tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct

from patchmgr.engines.structure.guards_calls import misfit
from patchmgr.engines.structure.guards_imports import Tree, places
from patchmgr.engines.structure.python_tree import parse_python

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_ENDS = (".py", "/__init__.py")
_MAKER = re.compile(rb"=[ \t]*([A-Za-z_]\w*)\(")
_END = re.compile(rb"\n(?=[^\s#)\]}])")  # of a statement at the top
_CLASS = b"class "
_STARTS = (b"\nclass %b(", b"\ndef %b(", b"\nclass %b:", b"\n%b = ", b"\nasync def %b(")
_DEFINES = (b"def ", b"async def ")
_METHOD = re.compile(rb"\n([ \t]+)(?:async )?def ")
_HEAD = re.compile(rb"[ \t]*(?:async )?def \w+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)[^:\n]*:")
_MAKES = "__init__"
# What gives a name another meaning somewhere in the file.
_BOUND = (
    r"\b(?:def|class|for|global|nonlocal)[ \t]+%s\b|\b%s[ \t]*(?::[^=\n]+)?=(?!=)"
    r"|\bas[ \t]+%s\b|[(,][ \t]*%s[ \t]*:|\b%s[ \t]+as\b"
)
_MOST_BRACKETS = 100
_LONGEST_CALL = 10_000  # characters

Signatures = Mapping[str, ast.arguments]
"""The arguments of a function under "", those of methods by name."""


class _Changed(Struct, frozen=True):
    """What an imported name offers on a side and otherwise in the merged tree.

    `is_made` tells an object from its class.
    """

    old: Signatures
    new: Signatures
    is_made: bool


def outdated_calls(
    path: str, text: str, imports: Collection[tuple[str, str]], merged: Tree, side: Tree
) -> tuple[str, ...]:
    """Return what is to be said of calls in a merged file that fitted a side, as sentences.

    Looked at are functions and classes that the file imports, given by module and name, and
    methods of what such a module makes of its own class at its top. What is decorated, defined
    twice, renamed by the import, or bound again in the file is left out.
    """
    said: list[str] = []
    for module, name in sorted(imports):
        found = _change(path, module, name, merged, side) if name else None
        said += () if found is None else _misfits(text, name, found)
    return tuple(dict.fromkeys(said))


def _change(path: str, module: str, name: str, merged: Tree, side: Tree) -> _Changed | None:
    """Return what became of an imported name, None where it takes the same, or that is not sure."""
    for place in places(path, module):
        for end in _ENDS:
            old, new = side.read(place + end), merged.read(place + end)
            if old is None or new is None or old == new:
                continue
            before, after = (_definition(b"\n" + text, name.encode()) for text in (old, new))
            if before is None or after is None or before[1] != after[1] or before == after:
                continue
            heads = _heads(before[0]), _heads(after[0])
            if heads[0] != heads[1]:
                return _changed(*map(_signatures, heads), is_made=after[1])
    return None


def _changed(old: Signatures, new: Signatures, *, is_made: bool) -> _Changed | None:
    names = [key for key in old if key in new and (is_made or key in ("", _MAKES))]
    other = [key for key in names if ast.dump(old[key]) != ast.dump(new[key])]
    if not other:
        return None
    return _Changed({key: old[key] for key in other}, {key: new[key] for key in other}, is_made)


def _definition(content: bytes, name: bytes) -> tuple[bytes, bool] | None:
    """Return the one statement at the top that defines a name, and whether it makes an object.

    Of an object it is the class that it is made of. None where there is not exactly one.
    """
    for head in (start % name for start in _STARTS):
        start = content.find(head) + 1
        if start:
            break
    else:
        return None
    if content.find(head, start) >= 0:
        return None
    end = _END.search(content, start)
    statement = content[start : len(content) if end is None else end.start() + 1]
    if not head.endswith(b" = "):
        before = content[:start].rstrip(b"\n").rpartition(b"\n")[2]
        return None if before.startswith((b"@", b")")) else (statement, False)
    maker = _MAKER.search(statement)
    made = None if maker is None or maker[1] == name else _definition(content, maker[1])
    return None if made is None or not made[0].startswith(_CLASS) else (made[0], True)


def _heads(definition: bytes) -> bytes:
    """Return a function, or a class with its methods, without what they do."""
    if not definition.startswith(_CLASS):
        head = _HEAD.match(definition)
        return b"" if head is None else head[0] + b" pass\n"
    first = _METHOD.search(definition)
    if first is None:
        return b""
    starts = [at for word in _DEFINES for at in _methods(definition, b"\n" + first[1] + word)]
    found = (_HEAD.match(definition, at + 1) for at in sorted(starts))
    methods = [head[0] + b" pass\n" for head in found if head is not None]
    return b"class C:\n" + b"".join(methods)


def _methods(definition: bytes, head: bytes) -> Iterator[int]:
    """Yield where a method begins, but for those with a decorator."""
    for at in (match.start() for match in re.finditer(re.escape(head), definition)):
        before = definition[definition.rfind(b"\n", 0, at) + 1 : at].lstrip()
        if not before.startswith((b"@", b")")):
            yield at


def _signatures(heads: bytes) -> Signatures:
    """Return what a function or the methods of a class take, nothing where that is not sure."""
    tree = parse_python(heads.decode("utf-8", "surrogateescape"))
    node = None if tree is None or len(tree.body) != 1 else tree.body[0]
    if isinstance(node, _Function):
        return {"": node.args}
    if not isinstance(node, ast.ClassDef):
        return {}
    methods = [child for child in node.body if isinstance(child, _Function)]
    names = [method.name for method in methods]
    return {m.name: m.args for m in methods if not m.decorator_list and names.count(m.name) == 1}


def _misfits(text: str, name: str, changed: _Changed) -> Iterator[str]:
    """Yield what is wrong with calls of an imported name, nothing where it may be another one."""
    sentences = list(_misfitting(text, name, changed))
    if sentences and not re.search(_BOUND % ((re.escape(name),) * 5), text):
        yield from sentences


def _misfitting(text: str, name: str, changed: _Changed) -> Iterator[str]:
    for key, args in changed.old.items():
        said = name if key in ("", _MAKES) else f"{name}.{key}"
        for at in _calls(text, f"{said}("):
            call = _call_at(text, at)
            if call is not None and not any(misfit(call, args, bool(key), said)):
                yield from misfit(call, changed.new[key], bool(key), said)


def _calls(text: str, beginning: str) -> Iterator[int]:
    """Yield where a text has it, but not behind a dot or as the end of another name."""
    for at in (match.start() for match in re.finditer(re.escape(beginning), text)):
        if not re.match(r"[\w.]", text[at - 1 : at]):
            yield at


def _call_at(text: str, start: int) -> ast.Call | None:
    """Return the call that begins at a place of a text, None where that is not sure."""
    end = start
    for _ in range(_MOST_BRACKETS):
        end = text.find(")", end) + 1
        if not 0 < end <= start + _LONGEST_CALL:
            return None
        tree = parse_python(text[start:end])
        if tree is not None:
            node = tree.body[0]
            found = node.value if isinstance(node, ast.Expr) else None
            return found if isinstance(found, ast.Call) else None
    return None
