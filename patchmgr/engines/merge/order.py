"""Find the order of two insertions at the same position, or why a person must choose it."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.merge.tree import Node, normalized, words_of

Nodes = Sequence[Node]


class Chunk(Struct, frozen=True):
    """The syntax nodes of base, ours and theirs between two nodes that all three versions have."""

    kind: str
    base: Nodes
    ours: Nodes
    theirs: Nodes
    of_ours: dict[int, int]  # index in `ours` by index in `base`
    of_theirs: dict[int, int]  # the same for `theirs`
    around: tuple[Node | None, Node | None] = (None, None)  # nodes of all versions (None: an end)
    bracket: str = ""


def order_reason(chunk: Chunk, earlier: Nodes, later: Nodes, *, is_python: bool) -> str:
    """Return why a person must choose the order of two insertions, or "" if nobody must."""
    if not _entries(earlier).isdisjoint(_entries(later)):
        return "same key"
    if chunk.bracket in _IN_ORDER:  # positional items come before named ones
        return "" if all(_is_named(p, chunk.bracket) for p in later) else "order"
    if any(p.text.startswith(("!", "...")) for p in (*earlier, *later)):
        return "order"  # `!` makes an exception to earlier patterns; `...` copies another object
    if all(any(map(_is_clause, run)) for run in (earlier, later)):
        return "order"  # the first clause that matches is the one that runs
    if any(map(_is_condition, earlier)) or not _opens_conditions(later):
        return "order"
    texts = [words_of(p.normalized) for p in earlier if p.kind != "blank"]
    if any(words[:1] == ("}",) for words in texts[1:]):
        return "closes"  # the later insertion would be in another block (traefik fc12abc265)
    ends = texts[-1:]
    has_case = any(words_of(p.normalized)[:1] in _CASES for p in (*earlier, *later))
    is_left = bool(ends and ends[0]) and (
        ends[0][0] in _LEAVING or (has_case and ends[0][-1] == ":")
    )
    if is_left is not has_case:
        return "not reached"
    if is_python and _share_names(earlier, later):
        return "effects"
    if not is_python and chunk.kind == "block":
        one, other = ({*_steps(run)} for run in (earlier, later))
        if _targets(one) & _targets(other):
            return "effects"  # `sql += a;` here and `sql = limited(sql);` there
        if any(map(_is_call, one & other)):
            return "doubled"  # `run(b);` here and `if (b) { run(b); }` there
    return "uses" if _uses(earlier, later) or _uses(later, earlier) else ""


def _entries(items: Nodes) -> set[str]:
    """Return the keys of list items, such as `numpy` of `"numpy>=2"` and `{"a"` of `{"a", 1}`."""
    listed = (p.normalized for p in items if p.kind == "code" or p.normalized.startswith("{"))
    return {found for item in listed for found in _ENTRY.findall(item)}


def _is_condition(node: Node) -> bool:
    return node.kind == "directive" and not node.text.startswith(_WHOLE)


def _opens_conditions(run: Nodes) -> bool:
    """Return whether an insertion ends only preprocessor conditions that it begins itself."""
    words = [p.text.lstrip("# \t") for p in run if _is_condition(p)]
    depths = accumulate(word.startswith("if") - word.startswith("endif") for word in words)
    return all(depth >= word.startswith("el") for word, depth in zip(words, depths, strict=True))


def _is_clause(node: Node) -> bool:
    """Return whether a node continues a chain of conditions, as in `} else if (a) {`."""
    return node.kind in ("clause", "elif", "except") or words_of(node.normalized)[:2] == (
        "}",
        "else",
    )


def adjacent_reason(chunk: Chunk, at: int, merged: Nodes) -> str:
    """Return why a person must check two changes next to each other in base, or "".

    `at` is the index in base between the changes, and `merged` are the merged nodes before it.
    """
    sides = (chunk.base, chunk.ours, chunk.theirs)
    before = (chunk.base[at - 1] if at else chunk.around[0], [chunk.around[0], *merged][-1])
    if any(
        node is not None and node.text in _ACCESS for node in (*before, *chunk.base[at : at + 1])
    ):
        return "one expression"  # `.y` becomes `y` here and `x.y` there
    if all(node is None or node.kind == "eol" or node.text in _ENDS for node in before):
        return ""
    if [node.text == "=" for node in before if node is not None][-2:] == [False, True]:
        return "one expression"  # `a` becomes `b=a` here and goes there (yt-project/yt 80979bbe13)
    items = [p for side in sides for p in side]
    if any(p.text == "." for p in items) and not any(p.text == "." for p in chunk.base):
        return "one expression"  # `seed` becomes `read_seed` here and `params.seed` there
    if any(operators_in(side, chunk.around[0]) for side in sides):
        return "one expression"
    is_even = len(chunk.base) == len(chunk.ours) == len(chunk.theirs)
    is_certain = chunk.bracket == "(" and _is_certain(*sides)  # not in Python
    is_by_place = chunk.bracket in _IN_ORDER - {"list"} and not all(
        _is_named(p, chunk.bracket) for p in items
    )
    return "order" if is_by_place and not (is_even or is_certain) else ""


def _is_certain(base: Nodes, *sides: Nodes) -> bool:
    """Return whether one side only replaces list items, and the other only adds or removes some."""
    # `f(t)` becomes `f(tnew)` here and `f(t, false)` there (zeek 13a492091f).
    old, *new = ([p.normalized for p in side] for side in (base, *sides))
    return any(
        len(other) != len(old) == len(one)
        and all(a == b or not (a in one or b in old) for a, b in zip(old, one, strict=True))
        and all(len({*items}) == len(items) for items in (old, other))
        and {*old}.intersection(other) == min({*old}, {*other}, key=len)
        and [item for item in old if item in other] == [item for item in other if item in old]
        for one, other in (new, new[::-1])
    )


def operators_in(nodes: Nodes, before: Node | None = None) -> list[str]:
    """Return the texts of the operators in an expression. The `@` of a decorator does not count."""
    return [
        node.text
        for last, node in pairwise((before, *nodes))
        if node is not None
        and node.kind == "sign"
        and node.text not in _NO_OPERATORS
        and (node.text != "@" or (last is not None and last.kind != "eol"))
    ]


_ENTRY = re.compile(
    r"""(?:^|,[ ])(["'][ ](?:[\w.-]+[ ])+(?=[=<>~!])  # "numpy>=2"
    |(?:\w+[ ])?[({][ ](?:"[ ][^"]*"|'[ ][^']*')[ ](?=,)  # {"a", 1} or f("a", 1)
    |[({][ ]\w+[ ](?=,))  # {A, 1}""",
    re.VERBOSE,
)
_NO_OPERATORS = ".,:;=()[]{}"
_ACCESS = (".", "->", "::")
_ENDS = (";", "{", "}")
_IN_ORDER = frozenset({"(", "call", "parameters", "list", "tuple", "subscript"})
"""The keys of brackets in which the order of unnamed items matters."""
_WHOLE = ("#define", "#include", "#undef", "#pragma")
_CASES = (("case",), ("default",))
_LEAVING = frozenset(("return", "raise", "throw", "break", "continue", "goto", "yield"))


def _is_named(item: Node, bracket: str) -> bool:
    """Return whether the position of an argument does not matter: `name=value`, `*` or `**`."""
    # The parameters after `*` are passed by name.
    is_sign = item.normalized == "*" or item.normalized.startswith("* *")
    words = words_of(item.normalized)[1:]
    return item.kind == "blank" or is_sign or "=" in (words[:1] if bracket == "(" else words)


def order_of(chunk: Chunk, ours: Nodes, theirs: Nodes) -> Callable[[Node], tuple[bool, str]] | None:
    """Return the key by which both sides sort imports or list items, or None if one does not."""
    if chunk.kind != "list" and not all(p.kind == "import" for p in (*ours, *theirs)):
        return None
    before, after = ([p] if p and p.kind in ("code", "import") else [] for p in chunk.around)
    if not (before or after or chunk.kind != "list" or chunk.bracket == "import"):
        return None
    runs = [[_order(p) for p in (*before, *side, *after)] for side in (ours, theirs)]
    return _order if all(run == sorted(run) for run in runs) else None


def _name(node: Node) -> str:
    """Return the text that a node is sorted by: the module of an import, or the text itself."""
    if node.kind != "import":
        return node.normalized
    words = node.key.split()
    return "".join(words[1:-1] if words[0] == "from" else words[1:])


def _order(node: Node) -> tuple[bool, str]:
    """Return the sort key of isort and ruff: `import` before `from`, then by name."""
    return node.text.startswith("from "), _name(node)


def _share_names(one: Nodes, other: Nodes) -> bool:
    """Return whether either run of statements may change something that the other run names.

    An assignment may change only its target; any other statement may change all that it names.
    """
    return any(
        not _names_in(a, of_targets=True).isdisjoint(_names_in(b, of_targets=False))
        for a, b in ((one, other), (other, one))
    )


def _steps(run: Nodes) -> Iterator[str]:
    """Yield the simple statements of a run, including those inside its `if`s and loops."""
    for node in run:
        blocks = [p for p in node.parts if p.kind == "block"] if node.kind == "compound" else []
        for block in blocks:
            yield from _steps(block.parts)
        if node.kind in _DONE and not blocks:
            heads = (n for n, p in enumerate(node.parts, 1) if p.text in (")", "else"))
            head = next(heads, 0) if node.kind == "compound" else 0
            yield " ".join(p.normalized for p in node.parts[head:] if p.kind != "comment")


def _targets(steps: Iterable[str]) -> set[str]:
    return {name for step in steps for name in _TARGET.findall(step)}


_TARGET = re.compile(r"\b((?:\w+ (?:\.|- >|: :) ){0,9}\w+) (?:[.+*/%&|^-] )?= (?![=>])")


def _is_call(step: str) -> bool:
    words = words_of(step)
    return "(" in words and words[0] not in _LEAVING


def _names_in(run: Nodes, *, of_targets: bool) -> set[str]:
    texts = (
        normalized(p.key) if of_targets and p.kind == "assignment" else p.normalized
        for p in run
        if p.kind in _DONE
    )
    words = {word for text in texts for word in words_of(text)}
    return {word for word in words if word.isidentifier() and word not in _KEYWORDS}


_DONE = frozenset({"statement", "assignment", "compound"})
_KEYWORDS = frozenset((*keyword.kwlist, "self", "cls"))


def _uses(one: Nodes, other: Nodes) -> bool:
    """Return whether the statements `one` contain a name that only the statements `other` bind."""
    if all(node.kind in ("import", "blank") for node in (*one, *other)):
        return False
    mine, bound = ({word for p in run for word in p.key.split()[-1:]} for run in (one, other))
    return any(word in bound - mine for p in one for word in words_of(p.normalized))


def one_after_the_other(first: Nodes, second: Nodes) -> Nodes:
    """Join two insertions; blank lines at the end of either one are put between them."""
    # A comment on the code after both comes last (doctrine/orm 73c89240b2). An insertion that
    # starts deeper than a line of the other one belongs to the line above both: an item of a list,
    # if the other insertion has an item and the next section (wagtail 56e4dacc5a).
    is_remark = _is_remark(first) and second[-1:] and _has_blank_line(second[-1])
    one, other = map(_depths, (first, second))
    is_late = _rank(first) > _rank(second)
    if is_late or is_remark or (min(one) < other[0] and min(other) >= one[0]):
        first, second = second, first
    ends = [run[-1] for run in (first, second) if run and run[-1].kind == "blank"]
    rest = list(second)
    if ends and rest and rest[0].kind != "blank" and not ends[0].whole.strip():
        gap = "" if rest[0].lead.startswith(ends[0].whole + "\n") else ends[0].whole
        rest[0] = replace(rest[0], lead=gap + rest[0].lead)
    elif not ends and all(any(map(_has_blank_line, run[1:])) for run in (first, rest)):
        # A section that is inserted between two blank lines ends without one (pypa/pip ef3dc23375).
        gap = "" if _has_blank_line(rest[0]) else "\n"
        rest[0] = replace(rest[0], lead=gap + rest[0].lead)
    return [*(p for p in first if p.kind != "blank" or not rest), *rest]


def _rank(run: Nodes) -> int:
    """Return the rank of an insertion; of two at the same position, the lower rank comes first.

    A docstring is the first statement (openstack/swift 902ce40a37). Imports come before other code
    (585040c33e). An `if __name__ ==`, or a final annotation such as `@Test`, comes last.
    """
    kinds = {p.kind for p in run} - {"blank"}
    if kinds in ({"docstring"}, {"import"}):
        return 0 if "docstring" in kinds else 1
    return 2 + any(p.text.startswith("if __name__ ==") for p in run) + _is_annotation(run)


def _is_remark(run: Nodes) -> bool:
    """Return whether an insertion ends with a comment that has no blank line before it."""
    parts = next((p.parts for p in run[::-1] if p.kind != "blank"), ())
    is_comment = bool(parts) and all(part.kind == "comment" for part in parts)
    return is_comment and not _has_blank_line(run[-1])


def _has_blank_line(node: Node) -> bool:
    """Return whether there is a blank line before a node."""
    return any(not line.strip() for line in node.lead.split("\n")[:-1])


def _depths(run: Nodes) -> list[int]:
    """Return the indentation of inserted lines, or 0 for inserted nodes of another kind."""
    texts = (node.text for node in run if node.kind != "blank")
    return [len(text) - len(text.lstrip(" \t")) for text in texts] or [0]


def _is_annotation(run: Nodes) -> bool:
    """Return whether an insertion ends with an annotation, such as `@Test`, of what follows it."""
    last = next((node for node in run[::-1] if node.kind != "blank"), None)
    return last is not None and last.kind in ("decorated", "fragment") and last.text != "}"
