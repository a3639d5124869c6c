"""Find lines of the series that read a value which upstream now computes differently.

Each value is traced back to its definitions, in the function before the rebase and after it.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from itertools import takewhile

from msgspec import Struct

from patchmgr.engines.audit.dataflow import Flow, Reaching, Site, TooLong, flow_of
from patchmgr.engines.audit.places import added_lines, base_path, merged_files
from patchmgr.engines.audit.states import States, Told, decoded
from patchmgr.engines.languages.file_types import PYTHON
from patchmgr.engines.structure.python_tree import Function, parse_expression, parse_python
from patchmgr.formats.shown import cut
from patchmgr.model.audit import AuditFinding

_LONGEST_SHOWN = 60  # characters of an expression that are shown, at most
_MOST_TOLD = 3  # names that are reported in one function, at most
# A call with more arguments is taken to make an object, not to compute a value as `min` does.
_MOST_ARGUMENTS = 4
_NONE: frozenset[int] = frozenset()
_LINE = "\0"  # placeholder for a line number
_SCOPE = re.compile(r"^([ \t]*)(async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)
_WORD = re.compile(r"[^\W\d]\w*")
_EMPTY = re.compile(r"\b(?:len|bool)\((\w[\w.]*)\)(?: (?:>|!=) 0)?(?=$|\)| and | or )")
PARAMETER = "parameter = "


class _Part(Struct, frozen=True):
    """A function outside of other functions: its text, and its first and last line (from 1)."""

    text: str
    line: int
    last: int


def changed_meaning(states: States) -> Iterator[Told]:
    """Find lines of the series that read a value which upstream now computes differently."""
    for path, contents in merged_files(states, PYTHON):
        base, written, onto, merged = (_parts(decoded(content)) for content in contents)
        changed = {
            name
            for name in merged.keys() & base.keys() & written.keys() & onto.keys()
            if base[name].text != onto[name].text and onto[name].text != merged[name].text
        }
        added = added_lines(states, path) if changed else {}
        for name in sorted(changed, key=lambda name: merged[name].line):
            part = merged[name]
            here = {n - part.line + 1: added[n] for n in added if part.line <= n <= part.last}
            sides = _sides(written[name].text, part.text) if here else None
            for line, symbol, sentence, where in _changes(sides, here) if sides else ():
                source = part.text.split("\n")[where - 1].strip()
                text = sentence.replace(_LINE, str(part.line + where - 1))
                place = path, part.line + line - 1, symbol
                commit = _since(states, path, source)
                yield here[line], AuditFinding("meaning", False, *place, text, commit)


def _since(states: States, path: str, line: str) -> str | None:
    """Return the upstream commit that added a line to a file, or None if the base has the line."""
    text = line.encode("utf-8", "surrogateescape")
    if text in (states.base.read(base_path(states, path)) or b""):
        return None
    return states.commit_since(path, lambda content: text in (content or b""))


def _parts(text: str) -> dict[str, _Part]:
    """Map qualified names to functions, except for those inside a function and repeated names."""
    found: dict[str, _Part] = {}
    again: set[str] = set()
    around: list[tuple[int, str]] = []
    end = line = counted = 0
    for match in _SCOPE.finditer(text):
        if match.start() < end:
            continue  # inside another function
        indent = len(match[1])
        while around and around[-1][0] >= indent:
            around.pop()
        name = ".".join([*(outer for _, outer in around), match[3]])
        if match[2] == "class":
            around.append((indent, match[3]))
            continue
        close = _end(indent).search(text, match.end())
        end = close.end() if close else len(text)
        line, counted = line + text.count("\n", counted, match.start()), match.start()
        body = text[match.start() : end]
        if name in found:
            again.add(name)
        found[name] = _Part(body, line + 1, line + max(1, body.count("\n")))
    return {name: part for name, part in found.items() if name not in again}


@lru_cache(maxsize=32)
def _end(indent: int) -> re.Pattern[str]:
    """Return a pattern that finds the end of a function whose head has the given indentation."""
    return re.compile(rf"\n(?=[ \t]{{0,{indent}}}[^\s)\]}}#])")


def _flow(text: str) -> Flow | None:
    is_inner = text[:1] in " \t"
    tree = parse_python(f"if 1:\n{text}" if is_inner else f"\n{text}")
    if tree is None or not tree.body:
        return None
    node = tree.body[0].body[0] if isinstance(tree.body[0], ast.If) else tree.body[0]
    if not isinstance(node, Function):
        return None
    try:
        return flow_of(node)
    except (TooLong, RecursionError):
        return None


class _Change(Struct, frozen=True):
    """A redefined value: its old and new expressions, and the line of the new one."""

    was: str
    now: str
    line: int  # the function begins in line 2, below an extra line
    reads: frozenset[str]  # names in either expression (none for some calls)


class _Sides(Struct, frozen=True):
    """A function before and after the merge."""

    old: Flow
    new: Flow
    apart: frozenset[str]  # names that only one version has
    pairs: Mapping[int, Site]  # statements that both have

    def alike(self, text: str) -> str:
        """Return an expression in a form that can be compared between the two versions.

        Names that one version lacks become `?`, and `bool(x)` becomes `x`.
        """
        text = _EMPTY.sub(r"\1", text)
        return _WORD.sub(lambda word: "?" if word[0] in self.apart else word[0], text)

    def redefined(self, old: frozenset[int], new: frozenset[int]) -> _Change | None:
        """Return how upstream changed the computation of a variable, or None if it did not."""
        texts = {self.old.definitions[n].text for n in old}
        if texts == {self.new.definitions[n].text for n in new}:
            return None
        before = {self.alike(self.old.definitions[n].text): n for n in sorted(old)}
        after = {self.alike(self.new.definitions[n].text): n for n in sorted(new)}
        gone = [self.old.definitions[n] for text, n in before.items() if text not in after]
        come = [self.new.definitions[n] for text, n in after.items() if text not in before]
        # Upstream adds branches on purpose, such as `if fp8: x = cast(x)`; in 7 of 1,900 merges
        # people kept them.
        if not gone or not come:
            return None
        if any(one.is_parameter for one in (*gone, *come)) and not all(
            one.text.startswith(PARAMETER) for one in (*gone, *come)
        ):
            return None
        shown = (" or ".join(one.text for one in some) for some in (gone, come))
        was, now = _shown(*(text.replace(PARAMETER, "") for text in shown))
        nodes = [parse_expression(one.text) for one in (*gone, *come)]
        is_formula = not any(isinstance(node, ast.Call) and _has_options(node) for node in nodes)
        reads = {name for one in (*gone, *come) for name in one.reads if is_formula}
        return _Change(was, now, come[0].line, frozenset(reads))


def _has_options(node: ast.Call) -> bool:
    return bool(node.keywords) or len(node.args) > _MOST_ARGUMENTS


def _inlined(flow: Flow, text: str, reads: Reaching, names: Collection[str]) -> str:
    """Return an expression with the given names replaced by their values."""
    values = {
        name: flow.definitions[min(reached)].text
        for name, reached in reads.items()
        if name in names and len(reached) == 1
    }
    try:
        return ast.unparse(_Inlined(values).visit(ast.parse(text, mode="eval")))
    except (SyntaxError, ValueError, RecursionError):
        return text


class _Inlined(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        text = self._values.get(node.id)
        return node if text is None else ast.parse(text, mode="eval").body


def _shown(was: str, now: str) -> tuple[str, str]:
    """Quote two expressions for a sentence. If one is long, their common beginning is left out."""
    if max(len(was), len(now)) > _LONGEST_SHOWN:
        same = len([*takewhile(lambda pair: pair[0] == pair[1], zip(was, now, strict=False))])
        start = max(was.rfind(" ", 0, same), was.rfind("(", 0, same)) + 1
        was, now = (f"…{text[start:]}" if start else text for text in (was, now))
    return f"`{cut(was, _LONGEST_SHOWN)}`", f"`{cut(now, _LONGEST_SHOWN)}`"


def _sides(old: str, new: str) -> _Sides | None:
    before, after = _flow(old), _flow(new)
    if before is None or after is None:
        return None
    return _Sides(before, after, before.names ^ after.names, _pairs(before, after))


def _pairs(old: Flow, new: Flow) -> dict[int, Site]:
    """Map the index of each merged statement to the same statement before the merge."""
    places: dict[str, list[Site]] = {}
    for site in old.sites:
        places.setdefault(site.text, []).append(site)
    now: dict[str, list[int]] = {}
    for number, site in enumerate(new.sites):
        now.setdefault(site.text, []).append(number)
    return {
        number: site
        for text, numbers in now.items()
        if len(numbers) == len(places.get(text, ()))
        for number, site in zip(numbers, places[text], strict=True)
    }


def _changes(sides: _Sides, added: Collection[int]) -> Iterator[tuple[int, str, str, int]]:
    """Yield (line, name, sentence, changed line) for each change that affects an added line."""
    told: set[str] = set()
    for number, site in enumerate(sides.new.sites):
        line = next((n for n in range(site.first - 1, site.last) if n in added), None)
        if line is None:
            continue
        about = [*_left_before(sides, site, added)]
        if number in sides.pairs:
            about += _about(sides, number)
        for name, sentence, where in about:
            if name not in told and len(told) < _MOST_TOLD:
                told.add(name)
                yield line, name, sentence, where - 1


def _left_before(
    sides: _Sides, site: Site, added: Collection[int]
) -> Iterator[tuple[str, str, int]]:
    """Find conditions under which upstream's code now leaves the function before a statement."""
    alike = [one for one in sides.new.exits if one.text == site.text]
    earlier = [
        one
        for one in alike
        if one.first < site.first
        and one.first - 1 not in added
        and one.guards == site.guards[: len(one.guards)]
    ]
    known = sum(one.text == site.text for one in sides.old.exits)
    own = sum(one.first - 1 in added for one in alike)
    if len(earlier) > max(known - own, 0):
        shown = site.text.removeprefix("if ")
        text = f"if `{shown}`, line {_LINE} now leaves the function or loop before this line"
        yield shown, text, earlier[0].first
    before = Counter(one.text for one in sides.old.exits)
    for one in sides.new.exits:
        before[one.text] -= one.first - 1 not in added
        if before[one.text] < 0 and one.last < site.first and _is_unreachable(one, site):
            shown = one.text.removeprefix("if ")
            text = f"this line is only reached if `{shown}`, but then line {_LINE}"
            yield shown, f"{text} now leaves the function or loop before it", one.first


def _is_unreachable(exit_: Site, site: Site) -> bool:
    """Return whether a statement cannot be reached, because an earlier `if` always leaves first."""
    depth = len(exit_.guards)
    if site.guards[:depth] != exit_.guards or len(site.guards) == depth:
        return False
    known: set[str] = set()
    for guard, reads in zip(site.guards[depth:], site.guard_reads[depth:], strict=True):
        if all(exit_.reads.get(name, reached) == reached for name, reached in reads.items()):
            known.update(_parts_of(guard, ast.And))
    test = exit_.text.removeprefix("if ")
    return not known.isdisjoint(_parts_of(test, ast.Or)) or known.issuperset(
        _parts_of(test, ast.And)
    )


def _parts_of(text: str, operator: type[ast.And | ast.Or]) -> set[str]:
    """Return the simplified operands of an `and` or `or`. Any other condition is one operand."""
    node = parse_expression(text)
    plain = None if node is None else _plain(node)
    if isinstance(plain, ast.BoolOp) and isinstance(plain.op, operator):
        return {ast.unparse(value) for value in plain.values}
    return {text if plain is None else ast.unparse(plain)}


_NEGATED: Mapping[type[ast.cmpop], ast.cmpop] = {
    **{ast.Eq: ast.NotEq(), ast.NotEq: ast.Eq(), ast.Is: ast.IsNot(), ast.IsNot: ast.Is()},
    **{ast.In: ast.NotIn(), ast.NotIn: ast.In()},
}


def _plain(node: ast.expr, is_not: bool = False) -> ast.expr:
    """Return a condition, or its negation if `is_not`, with as few `not` operators as possible."""
    match node:
        case ast.UnaryOp(op=ast.Not()):
            return _plain(node.operand, not is_not)
        case ast.BoolOp():
            is_and = isinstance(node.op, ast.And) != is_not
            values = [_plain(value, is_not) for value in node.values]
            return ast.BoolOp(ast.And() if is_and else ast.Or(), values)
        case ast.Compare(ops=[operator]) if is_not and type(operator) in _NEGATED:
            return ast.Compare(node.left, [_NEGATED[type(operator)]], node.comparators)
    return ast.UnaryOp(ast.Not(), node) if is_not else node


def _is_negation(one: str, other: str) -> bool:
    nodes = [parse_expression(text) for text in (one, other)]
    if nodes[0] is None or nodes[1] is None:
        return False
    return ast.unparse(_plain(nodes[0])) == ast.unparse(_plain(nodes[1], True))


def _about(sides: _Sides, number: int) -> Iterator[tuple[str, str, int]]:
    """Yield upstream's changes to the values and conditions on which a statement depends."""
    site, before = sides.new.sites[number], sides.pairs[number]
    yield from _read(sides, before, site)
    pairs = [*zip(before.guards, site.guards, strict=False)]
    changed = [(old, new) for old, new in pairs if sides.alike(old) != sides.alike(new)]
    if not changed and len(before.guards) == len(site.guards):
        yield from _negated_guards(sides, before, site)
    if len(before.guards) == len(site.guards) and len(changed) == 1:
        was, now = changed[0]
        if set(_WORD.findall(was)) & set(_WORD.findall(now)):
            shown = _shown(was, now)
            text = f"the condition or loop around this line changed from {shown[0]} to {shown[1]}"
            yield now, text, site.first


def _negated_guards(sides: _Sides, before: Site, site: Site) -> Iterator[tuple[str, str, int]]:
    """Find conditions around a statement that are now the negation of what they were before."""
    for number, (was, now) in enumerate(zip(before.guards, site.guards, strict=True)):
        old, new = (
            _inlined(flow, guard, reads[number], reads[number])
            for flow, guard, reads in (
                (sides.old, was, before.guard_reads),
                (sides.new, now, site.guard_reads),
            )
        )
        if old != new and _is_negation(old, new):
            shown = _shown(old, new)
            text = f"the condition around this line is now {shown[1]} (it was {shown[0]})"
            yield now, text, site.first


def _read(sides: _Sides, before: Site, site: Site) -> Iterator[tuple[str, str, int]]:
    """Find the names that a statement reads and that upstream now defines differently."""
    for name, now in site.reads.items():
        change = sides.redefined(before.reads.get(name, _NONE), now)
        # A statement that only passes a value on is right whatever the value. But `pos` in
        # `min(index, pos)` counts if upstream changed how `index` is computed from `pos`.
        if change is not None and (
            (change.reads & site.reads.keys()) - {name} or name in site.computed
        ):
            text = f"`{name}`, which this line reads, is now {change.now} (it was {change.was})"
            yield name, text, change.line
