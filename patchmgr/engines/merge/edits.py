"""Describe what a patch does to a file as a list of edits, each with the symbol it changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from patchmgr.engines.merge.align import aligned
from patchmgr.engines.merge.languages import framed, language_of
from patchmgr.engines.merge.statements import read
from patchmgr.engines.merge.tree import Node, lines_of
from patchmgr.formats.shown import cut
from patchmgr.model.edits import Edit

_SHOWN = 60  # characters of a statement that are quoted
_MOST = 2  # token edits in one statement that are described one by one
_SYMBOLS = ("def", "class")
_BRACKETS = ("(", ")", "[", "]", "{", "}")
_BEFORE_LISTS = ("(", "[", "{", "=", "import")
_HOLDERS = ("block", "clauses", "lines", "clause")
_LISTS = {
    "call": ("the argument {} of", "the call of {}"),
    "parameters": ("the parameter {} of", "{}"),
    "import": ("{} to", "the import from {}"),
    "dict": ("{} to", "the dictionary {}"),
    "set": ("{} to", "the set {}"),
    "list": ("{} to", "the list {}"),
    "tuple": ("{} to", "the tuple {}"),
    "[": ("{} to", "the list {}"),
    "{": ("{} to", "the list {}"),
    "(": ("the argument {} of", "{}"),
    "subscript": ("{} to", "the subscript of {}"),
}


def edits_of(base: str, theirs: str, path: str) -> tuple[Edit, ...]:
    """Return the edits that turn the text `base` into `theirs`, from top to bottom."""
    language = language_of(path)
    sides = [read(framed(lines_of(text), language), language) for text in (base, theirs)]
    return tuple(dict.fromkeys(_edited(sides[0], sides[1], "", "")))


def edits_of_parts(pairs: Sequence[tuple[str, str]], path: str) -> tuple[Edit, ...]:
    """Return the edits to several parts of a file, given each part's text before and after."""
    return tuple(dict.fromkeys(edit for pair in pairs for edit in edits_of(*pair, path)))


def _edited(base: Node, theirs: Node, symbol: str, within: str) -> Iterator[Edit]:
    """Yield the edits to a node of both trees; `within` is the statement that contains it."""
    if base.whole == theirs.whole:
        return
    if base.normalized == theirs.normalized:
        yield from _layout(base, theirs, symbol)
        return
    if base.kind in _SYMBOLS and theirs.kind == base.kind and base.key != theirs.key:
        old, new = (_name(node) for node in (base, theirs))
        yield Edit(symbol, f"rename {_noun(base, symbol)} {old} to {new}")
    if base.kind != theirs.kind or (
        not (base.parts and theirs.parts) and base.kind not in ("list", "block")
    ):
        yield Edit(symbol, _rewritten(base, theirs))
        return
    is_line = theirs.key == "logical" or base.kind not in ("code", "list", *_HOLDERS)
    about = _quoted(theirs) if is_line else within
    yield from _parts(base, theirs, _inside(base, symbol), about)


def _layout(base: Node, theirs: Node, symbol: str) -> Iterator[Edit]:
    inner = _inside(base, symbol)
    if any(part.kind in _HOLDERS or part.key == "logical" for part in base.parts) or (
        base.kind in _HOLDERS and len(base.parts) == len(theirs.parts)
    ):
        for one, other in zip(base.parts, theirs.parts, strict=False):
            yield from _layout(one, other, inner)
    elif base.text != theirs.text:
        yield Edit(symbol, f"reformat {_quoted(theirs)}")


def _parts(base: Node, theirs: Node, symbol: str, within: str) -> Iterator[Edit]:
    ends = (len(base.parts), len(theirs.parts))
    is_code = base.kind not in (*_HOLDERS, "list")
    found: list[Edit] = []
    tokens: list[str] = []
    i = j = 0
    for at, to in [*aligned(base.kind, base.parts, theirs.parts), ends]:
        old, new = base.parts[i:at], theirs.parts[j:to]
        if not is_code:
            found += _came_and_went(base, old, new, symbol, within)
        elif any(node.normalized for node in (*old, *new)):
            tokens.append(_text(old or new))
            found.append(Edit(symbol, _replaced(_text(old), _text(new), symbol, within)))
        if at < len(base.parts):
            is_list = base.parts[at].kind == "list"
            about = (_owner(base.parts, at) if is_list else "") or within
            found += _edited(base.parts[at], theirs.parts[to], symbol, about)
        i, j = at + 1, to + 1
    is_torn = len(tokens) > _MOST or any(text.strip() in _BRACKETS for text in tokens)
    yield from [Edit(symbol, _rewritten(base, theirs))] if is_torn else found


def _came_and_went(
    parent: Node, old: Sequence[Node], new: Sequence[Node], symbol: str, within: str
) -> Iterator[Edit]:
    old, new = ([node for node in nodes if node.normalized] for nodes in (old, new))
    is_list = parent.kind == "list"
    if len(old) == len(new) == 1 and old[0].kind == new[0].kind and (is_list or not old[0].key):
        yield Edit(symbol, _rewritten(old[0], new[0]))
        return
    for verb, nodes in (("remove", old), ("add", new)):
        for node in nodes:
            yield Edit(symbol, f"{verb} {_thing(node, parent, symbol, within, verb)}")


def _thing(node: Node, parent: Node, symbol: str, within: str, verb: str) -> str:
    if parent.kind == "list":
        item, host = _LISTS.get(parent.key, ("{} to", "{}"))
        item = item if verb == "add" else item.replace("} to", "} from")
        if parent.key == "parameters" and symbol.rpartition(".")[2] == within:
            item, host = item.removesuffix(" of"), ""
        return f"{item.format(_quoted(node))} {host.format(within)}".strip()
    if node.kind in _SYMBOLS:
        return f"{_noun(node, symbol)} {_name(node)}"
    if node.kind == "import":
        return _quoted(node)
    if node.kind == "assignment" and node.key:
        return f"the assignment to {node.key}"
    return _quoted(node)


def _replaced(old: str, new: str, symbol: str, within: str) -> str:
    old, new = (" ".join(text.split()) for text in (old, new))
    named = ("", symbol.rpartition(".")[2], f"`{cut(new, _SHOWN)}`")
    place = f" in {within}" if within not in named else ""
    if old and new:
        return f"replace `{cut(old, _SHOWN)}` with `{cut(new, _SHOWN)}`{place}"
    return f"add `{cut(new, _SHOWN)}`{place}" if new else f"remove `{cut(old, _SHOWN)}`{place}"


def _text(nodes: Sequence[Node]) -> str:
    return "".join(node.whole for node in nodes)


def _owner(parts: Sequence[Node], at: int) -> str:
    """Return the name that a list belongs to: `f` for `f(a, b)`, `x` for `x = [a, b]`, or ""."""
    words = (node.text for node in reversed(parts[:at]) if node.kind in ("word", "sign"))
    name = next((word for word in words if word not in _BEFORE_LISTS), "")
    if name == "]" and len(parts) > 1 and parts[1].text == ":":
        name = parts[0].text  # an annotation is between the target and its value
    return name if name.isidentifier() else ""


def _inside(node: Node, symbol: str) -> str:
    if node.kind not in _SYMBOLS:
        return symbol
    return f"{symbol}.{_name(node)}" if symbol else _name(node)


def _noun(node: Node, symbol: str) -> str:
    if node.kind == "class":
        return "the class"
    return "the method" if symbol[:1].isupper() and "." not in symbol else "the function"


def _name(node: Node) -> str:
    return node.key.partition(" ")[2]


def _rewritten(old: Node, new: Node) -> str:
    """Return a sentence such as "replace `…b = 1` with `…b = 2`"; long texts are cut short."""
    one, other = (" ".join(node.text.split()) for node in (old, new))
    same = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    start = max(0, same - _SHOWN // 2) if max(len(one), len(other)) > _SHOWN else 0
    before = "…" if start else ""
    return (
        f"replace `{before}{cut(one[start:], _SHOWN)}` with `{before}{cut(other[start:], _SHOWN)}`"
    )


def _quoted(node: Node) -> str:
    return f"`{cut(node.text.strip().partition(chr(10))[0].strip(), _SHOWN)}`"
