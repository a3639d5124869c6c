"""Say of every changed statement of existing Python what guards it, and whom it reaches."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from patchmgr.engines.gating_defaults import Defaults
from patchmgr.engines.gating_names import Kinds
from patchmgr.engines.gating_off import Off, arguments_of, dotted, is_boolean, single_assignments
from patchmgr.engines.gating_units import Piece, Unit, first_line, head_end, pieces_of, units_of
from patchmgr.model.gating import ChangedSite, Gate, Reach

_DEEPEST = 4

WHY_SAME = "nothing but comments and layout"
WHY_OFF = "with its gates off, the code is the old one"
WHY_NEW = "a new symbol: it runs where it is called"
WHY_NAME = "a new name: it counts where it is read"
WHY_GONE = "upstream's symbol is removed"
WHY_GUARDED = "a gate is in front of it, but the code is not the old one without it"
WHY_NONE = "no gate is in front of it"
WHY_MOVED = "the statement is the old one, at another place"
WHY_UNREAD = "the file does not parse"


Lines = tuple[int, int, int, int]
"""A hunk without context: first line and number of lines, of the old text and of the new one."""


@dataclass(frozen=True, slots=True)
class Texts:
    """A file of the pin and of the head, with the lines that git says are changed.

    Without `hunks` the texts are compared here.
    """

    path: str
    old: bytes
    new: bytes
    hunks: tuple[Lines, ...] | None = None


def gated_sites(texts: Texts, kinds: Kinds, defaults: Defaults) -> tuple[ChangedSite, ...]:
    """Return the changed sites of a Python file that upstream has, in order of their lines."""
    if texts.old == texts.new:
        return ()
    old, new = _parsed(texts.old), _parsed(texts.new)
    lines = texts.new.decode("utf-8", "replace").splitlines()
    if old is None or new is None:
        text = lines[0] if lines else ""
        site = ChangedSite(
            texts.path, None, 1, len(lines), False, text, Reach.SHARED, (), WHY_UNREAD
        )
        return (site,)
    found = dict.fromkeys(_Comparison(texts, old, new, kinds, defaults).sites())
    return tuple(sorted(found, key=lambda site: (site.line, site.is_removal)))


def _parsed(content: bytes) -> ast.Module | None:
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Comparison:
    """Two versions of one file."""

    def __init__(
        self, texts: Texts, old: ast.Module, new: ast.Module, kinds: Kinds, defaults: Defaults
    ) -> None:
        self._path = texts.path
        self._kinds = kinds
        self._defaults = defaults
        self._old_lines = texts.old.decode("utf-8", "replace").splitlines()
        self._new_lines = texts.new.decode("utf-8", "replace").splitlines()
        self._old = units_of(old, len(self._old_lines))
        self._new = units_of(new, len(self._new_lines))
        self._hunks = texts.hunks
        if self._hunks is None:
            self._hunks = tuple(_hunks(self._old_lines, self._new_lines))
        self._gone = {n for a, count, _, _ in self._hunks for n in range(a, a + count)}
        self._come = {n for _, _, b, count in self._hunks for n in range(b, b + count)}
        self._facts: dict[int, dict[str, ast.expr]] = {}
        self._own: Mapping[str, Sequence[ast.expr]] | None = None
        self._top: Mapping[str, Sequence[ast.expr]] | None = None

    def sites(self) -> Iterator[ChangedSite]:
        """Yield the changed sites of all units."""
        for key, unit in self._new.items():
            before = self._old.get(key)
            if before is None:
                if not self._is_in_new_class(unit):
                    yield self._whole(unit, is_new=True)
            elif not self._come.isdisjoint(unit.lines) or not self._gone.isdisjoint(before.lines):
                yield from self._compared(before, unit)
        for key, unit in self._old.items():
            if key not in self._new:
                yield self._whole(unit, is_new=False)

    def _is_in_new_class(self, unit: Unit) -> bool:
        outer = (unit.name or "").rpartition(".")[0]
        return bool(outer) and (outer, 0) in self._new and (outer, 0) not in self._old

    def _whole(self, unit: Unit, *, is_new: bool) -> ChangedSite:
        lines = self._new_lines if is_new else self._old_lines
        node = unit.node
        assert node is not None
        reach, why = (Reach.ADDED, WHY_NEW) if is_new else (Reach.SHARED, WHY_GONE)
        last = node.end_lineno or node.lineno
        text = lines[node.lineno - 1].strip()
        return ChangedSite(
            self._path, unit.name, unit.lines[0], last, not is_new, text, reach, (), why
        )

    def _compared(self, old: Unit, new: Unit) -> Iterator[ChangedSite]:
        """Yield the changed sites of a unit that both versions have."""
        before = list(pieces_of(_with_head(old), self._old_key))
        after = list(pieces_of(_with_head(new), self._new_key))
        residue = self._residue(old, new, before, after)
        for removed, added in self._changed_lines(old, new):
            own = [p for p in after if p.node is not None and _overlaps(p, added)]
            gone = [p for p in before if p.node is not None and _overlaps(p, removed)]
            runs = list(self._runs(own, new, residue, has_old=bool(gone)))
            yield from (self._site(new, run, gone, residue) for run in runs)
            if not own and gone:
                yield self._removal(old, gone, residue)

    def _changed_lines(self, old: Unit, new: Unit) -> Iterator[tuple[list[int], list[int]]]:
        before, after = set(old.lines), set(new.lines)
        for a, a_count, b, b_count in self._hunks or ():
            removed = [n for n in range(a, a + a_count) if n in before]
            added = [n for n in range(b, b + b_count) if n in after]
            if removed or added:
                yield removed, added

    def _runs(
        self, pieces: Sequence[Piece], unit: Unit, residue: _Residue, *, has_old: bool
    ) -> Iterator[list[Piece]]:
        """Cut pieces in a row where the reach or the gates change."""
        run: list[Piece] = []
        last: object = None
        for piece in pieces:
            state = (self._is_left(piece, residue), self._gates(piece, unit))
            if run and state != last:
                yield run
                run = []
            run.append(piece)
            last = state
        if run:
            yield run

    def _is_left(self, piece: Piece, residue: _Residue) -> bool:
        return any(line in residue.new for line in range(piece.first, piece.last + 1))

    def _site(
        self, unit: Unit, run: Sequence[Piece], gone: Sequence[Piece], residue: _Residue
    ) -> ChangedSite:
        first, last = run[0].first, max(piece.last for piece in run)
        gates = tuple(dict.fromkeys(g for piece in run for g in self._gates(piece, unit)))
        is_left = any(self._is_left(piece, residue) for piece in run)
        # Old text that is nowhere any more was replaced by what stands here now.
        is_left = is_left or any(p.first in residue.old for p in gone)
        reach, why = self._reach(unit, run, gone, gates, is_left)
        text = self._new_lines[first - 1].strip()
        return ChangedSite(self._path, unit.name, first, last, False, text, reach, gates, why)

    def _reach(
        self,
        unit: Unit,
        run: Sequence[Piece],
        gone: Sequence[Piece],
        gates: Sequence[Gate],
        is_left: bool,
    ) -> tuple[Reach, str]:
        if not is_left:
            if gone and {p.dump for p in run} <= {p.dump for p in gone}:
                return Reach.INERT, WHY_SAME
            if gates:
                return Reach.INERT, WHY_OFF
            return Reach.SHARED, WHY_MOVED
        if not unit.is_function and _is_addition(run, gone):
            return Reach.ADDED, WHY_NAME
        return (Reach.GATED, WHY_GUARDED) if gates else (Reach.SHARED, WHY_NONE)

    def _removal(self, unit: Unit, gone: Sequence[Piece], residue: _Residue) -> ChangedSite:
        first, last = gone[0].first, max(piece.last for piece in gone)
        gates = tuple(dict.fromkeys(g for piece in gone for g in self._gates(piece, unit)))
        text = self._old_lines[first - 1].strip()
        site = ChangedSite(
            self._path, unit.name, first, last, True, text, Reach.INERT, gates, WHY_OFF
        )
        if not any(line in residue.old for p in gone for line in range(p.first, p.last + 1)):
            return site
        if gates:
            return replace(site, reach=Reach.GATED, why=WHY_GUARDED)
        return replace(site, reach=Reach.SHARED, why=WHY_NONE)

    def _gates(self, piece: Piece, unit: Unit) -> tuple[Gate, ...]:
        """Return the gates in front of a piece, and those that it asks itself."""
        facts = self._facts.get(id(unit))
        if facts is None:
            facts = self._facts[id(unit)] = single_assignments(unit.body, _arguments(unit))
        off = Off(self._kinds, self._defaults)
        found: list[Gate] = []
        for test, holds in piece.guards:
            truth = off.truth(_resolved(test, facts))
            gates = self._asked(test, facts) if truth is not holds else []
            if holds:
                found += gates
            elif truth is True:
                found += [Gate(gate.kind, f"not {gate.text}") for gate in gates]
        for test in _tests_in(piece.node):
            found += self._asked(test, facts)
        return tuple(dict.fromkeys(found))

    def _asked(self, test: ast.expr, facts: dict[str, ast.expr], depth: int = 0) -> list[Gate]:
        """Return the gates of a condition, through local names that hold one."""
        found = list(self._kinds.gates(test))
        for child in ast.walk(test) if depth < _DEEPEST else ():
            if isinstance(child, ast.Name) and child.id in facts:
                found += self._asked(facts[child.id], facts, depth + 1)
            elif isinstance(child, ast.Name):
                for value in self._module_facts().get(child.id, ()):
                    found += self._kinds.gates(value)
            elif isinstance(child, ast.Attribute) and dotted(child.value) == "self":
                for value in self._attributes().get(child.attr, ()):
                    found += self._asked(value, {}, depth + 1)
        return found

    def _attributes(self) -> Mapping[str, Sequence[ast.expr]]:
        """Return what the file's methods put into attributes of `self`, once it is asked for."""
        if self._own is None:
            values: dict[str, list[ast.expr]] = {}
            for unit in self._new.values():
                for node in unit.body if unit.is_function else ():
                    for child in ast.walk(node):
                        if isinstance(child, ast.Assign) and len(child.targets) == 1:
                            target = child.targets[0]
                            if isinstance(target, ast.Attribute) and dotted(target.value) == "self":
                                values.setdefault(target.attr, []).append(child.value)
            self._own = values
        return self._own

    def _module_facts(self) -> Mapping[str, Sequence[ast.expr]]:
        """Return what the module's own statements assign, by name."""
        if self._top is None:
            facts = single_assignments(self._new[None, 0].body, frozenset())
            self._top = {name: (value,) for name, value in facts.items()}
        return self._top

    def _old_key(self, node: ast.stmt) -> str | None:
        return _text_key(node, self._old_lines, self._gone)

    def _new_key(self, node: ast.stmt) -> str | None:
        return _text_key(node, self._new_lines, self._come)

    def _residue(
        self, old: Unit, new: Unit, before: Sequence[Piece], after: Sequence[Piece]
    ) -> _Residue:
        """Return the lines in which the two differ for those whom no gate lets in."""
        if self._has_gates(old, self._old_lines) or self._has_gates(new, self._new_lines):
            steady = frozenset(
                dotted(node)
                for statement in old.body
                for node in ast.walk(statement)
                if isinstance(node, ast.Attribute)
            )
            before = list(pieces_of(self._off(old, steady), self._old_key))
            after = list(pieces_of(self._off(new, steady), self._new_key))
        matcher = SequenceMatcher(
            None, [piece.dump for piece in before], [piece.dump for piece in after], autojunk=False
        )
        is_lost, is_left = [False] * len(before), [False] * len(after)
        for tag, a0, a1, b0, b1 in matcher.get_opcodes():
            if tag != "equal":
                is_lost[a0:a1] = [True] * (a1 - a0)
                is_left[b0:b1] = [True] * (b1 - b0)
        return _Residue(_spread(before, is_lost), _spread(after, is_left))

    def _has_gates(self, unit: Unit, lines: Sequence[str]) -> bool:
        return self._kinds.are_in(lines[number - 1] for number in unit.lines)

    def _off(self, unit: Unit, steady: frozenset[str]) -> list[ast.stmt]:
        off = Off(self._kinds, self._defaults, steady, unit.is_function)
        return [*_head_of(unit), *off.block(unit.body, _arguments(unit))]


@dataclass(frozen=True, slots=True)
class _Residue:
    """The lines of the old and the new text that are not in the other with all gates off."""

    old: frozenset[int]
    new: frozenset[int]


def _text_key(node: ast.stmt, lines: Sequence[str], changed: set[int]) -> str | None:
    """Return the text of a statement's head where git says that it is the same on both sides."""
    if getattr(node, "is_made", False):
        return None
    own = range(first_line(node), head_end(node) + 1)
    if any(number in changed for number in own):
        return None
    return "\n".join(lines[number - 1].strip() for number in own)


def _arguments(unit: Unit) -> frozenset[str]:
    node = unit.node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return arguments_of(node)
    return frozenset()


def _head_of(unit: Unit) -> list[ast.stmt]:
    """Return the definition without its body: arguments, decorators, bases."""
    if unit.node is None:
        return []
    fields = {**dict(ast.iter_fields(unit.node)), "body": []}
    head = ast.copy_location(type(unit.node)(**fields), unit.node)
    vars(head)["is_made"] = True
    return [head]


def _with_head(unit: Unit) -> list[ast.stmt]:
    if unit.node is None:
        return list(unit.body)
    return [*_head_of(unit), *unit.body]


def _overlaps(piece: Piece, lines: Iterable[int]) -> bool:
    return any(piece.first <= line <= piece.last for line in lines)


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[Lines]:
    for tag, a0, a1, b0, b1 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield a0 + 1, a1 - a0, b0 + 1, b1 - b0


def _spread(pieces: Sequence[Piece], is_other: Sequence[bool]) -> frozenset[int]:
    """Return the lines of the pieces that are other ones, and of all that stands in such."""
    found: set[int] = set()
    above: list[bool] = []
    for piece, other in zip(pieces, is_other, strict=True):
        inherited = piece.depth > 0 and any(above[: piece.depth])
        if piece.node is None and len(above) > piece.depth:  # an `else` goes with its `if`
            inherited = inherited or above[piece.depth]
        state = other or inherited
        above[piece.depth :] = [state]
        if state:
            found |= set(range(piece.first, piece.last + 1))
    return frozenset(found)


def _resolved(test: ast.expr, facts: dict[str, ast.expr]) -> ast.expr:
    """Return what a local name stands for."""
    for _ in range(_DEEPEST):
        if not (isinstance(test, ast.Name) and test.id in facts):
            break
        test = facts[test.id]
    return test


def _tests_in(node: ast.stmt | None) -> Iterator[ast.expr]:
    """Yield the conditions in a statement's own head."""
    if node is None or isinstance(node, ast.Assert):
        return
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.expr):
            if name == "test":
                yield value
            else:
                for child in ast.walk(value):
                    if isinstance(child, ast.IfExp):
                        yield child.test
                    elif isinstance(child, ast.BoolOp) and is_boolean(child):
                        yield child


def _is_addition(run: Sequence[Piece], gone: Sequence[Piece]) -> bool:
    """Say whether nothing but names and imports come to a module or a class."""
    old = {name for piece in gone for name in _said(piece.node)}
    if any(not _said(piece.node) for piece in gone):
        return False
    return all(bool(_said(piece.node)) for piece in run) and old <= {
        name for piece in run for name in _said(piece.node)
    }


def _said(node: ast.stmt | None) -> frozenset[str]:
    """Return what an import, a table or an assignment brings, one name each; none for all else."""
    if isinstance(node, ast.Import):
        return frozenset(f"{a.name} as {a.asname}" for a in node.names)
    if isinstance(node, ast.ImportFrom):
        return frozenset(f"{node.module}.{a.name} as {a.asname}" for a in node.names)
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [t.id for t in targets if isinstance(t, ast.Name)]
        if len(names) != len(targets) or node.value is None:
            return frozenset()
        if isinstance(node.value, ast.Dict):
            items = zip(node.value.keys, node.value.values, strict=True)
            return frozenset(f"{names} {ast.dump(k) if k else ''} {ast.dump(v)}" for k, v in items)
        return frozenset({f"{names} {ast.dump(node.value)}"})
    return frozenset()
