"""Say of every changed statement of existing Python what guards it, and whom it reaches."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines import gating_reasons as reasons
from patchmgr.engines.gating_defaults import Defaults, variables_in
from patchmgr.engines.gating_facts import dotted, nodes_in
from patchmgr.engines.gating_front import Front
from patchmgr.engines.gating_names import Kinds
from patchmgr.engines.gating_off import Off
from patchmgr.engines.gating_pieces import (
    Lines,
    Residue,
    across,
    arguments,
    extent,
    head_of,
    hunks,
    is_addition,
    overlaps,
    spread,
    text_key,
    with_head,
)
from patchmgr.engines.gating_units import Piece, Unit, pieces_of, units_of
from patchmgr.model.gating import ChangedSite, Gate, Reach


class Texts(Struct, frozen=True):
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
            texts.path, None, 1, len(lines), False, text, Reach.SHARED, (), reasons.UNREAD
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
        self.hunks = texts.hunks
        if self.hunks is None:
            self.hunks = tuple(hunks(self._old_lines, self._new_lines))
        self._gone = {n for a, count, _, _ in self.hunks for n in range(a, a + count)}
        self._come = {n for _, _, b, count in self.hunks for n in range(b, b + count)}
        self._front = Front(kinds, defaults, self._new, changed=(self._gone, self._come))

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
        reach, why = (Reach.ADDED, reasons.NEW) if is_new else (Reach.SHARED, reasons.GONE)
        last = node.end_lineno or node.lineno
        text = lines[node.lineno - 1].strip()
        return ChangedSite(
            self._path, unit.name, unit.lines[0], last, not is_new, text, reach, (), why
        )

    def _compared(self, old: Unit, new: Unit) -> Iterator[ChangedSite]:
        """Yield the changed sites of a unit that both versions have."""
        before = list(pieces_of(with_head(old), self._old_key, guards=old.guards))
        after = list(pieces_of(with_head(new), self._new_key, guards=new.guards))
        residue = self._residue(old, new, before, after)
        for removed, added in self._changed_lines(old, new):
            own = [p for p in after if p.node is not None and overlaps(p, added)]
            gone = [p for p in before if p.node is not None and overlaps(p, removed)]
            runs = list(self._runs(own, new, residue, has_old=bool(gone)))
            lost = [gate for piece in gone for gate in self._front.of(piece, old)]
            yield from (self._site(new, run, gone, residue, lost=lost) for run in runs)
            if not own and gone:
                yield self._removal(old, gone, residue)

    def _changed_lines(self, old: Unit, new: Unit) -> Iterator[tuple[list[int], list[int]]]:
        before, after = set(old.lines), set(new.lines)
        for a, a_count, b, b_count in self.hunks or ():
            removed = [n for n in range(a, a + a_count) if n in before]
            added = [n for n in range(b, b + b_count) if n in after]
            if removed or added:
                yield removed, added

    def _runs(
        self, pieces: Sequence[Piece], unit: Unit, residue: Residue, *, has_old: bool
    ) -> Iterator[list[Piece]]:
        """Cut pieces in a row where the reach or the gates change."""
        run: list[Piece] = []
        last: object = None
        for piece in pieces:
            state = (self._is_left(piece, residue), self._front.of(piece, unit))
            if run and state != last:
                yield run
                run = []
            run.append(piece)
            last = state
        if run:
            yield run

    def _is_left(self, piece: Piece, residue: Residue) -> bool:
        return not residue.new.isdisjoint(extent(piece))

    def _site(
        self,
        unit: Unit,
        run: Sequence[Piece],
        gone: Sequence[Piece],
        residue: Residue,
        *,
        lost: Sequence[Gate],
    ) -> ChangedSite:
        first, last = run[0].first, max(piece.last for piece in run)
        gates = tuple(dict.fromkeys(g for piece in run for g in self._front.of(piece, unit)))
        if not gates and all(piece.first not in residue.kept for piece in run):
            gates = self._front.every(unit)
        is_left = any(self._is_left(piece, residue) for piece in run)
        # Old text that is nowhere any more was replaced by what stands here now.
        is_left = is_left or any(not residue.old.isdisjoint(extent(p)) for p in gone)
        reach, why = self._reach(unit, run, gone, gates, is_left)
        if why == reasons.OFF:
            gates = tuple(dict.fromkeys((*gates, *lost)))  # what was asked before counts, too
            if self._variables(gone, self._old_lines) - self._variables(run, self._new_lines):
                reach, why = Reach.GATED, reasons.UNHEARD
        text = self._new_lines[first - 1].strip()
        return ChangedSite(self._path, unit.name, first, last, False, text, reach, gates, why)

    @staticmethod
    def _variables(pieces: Sequence[Piece], lines: Sequence[str]) -> frozenset[str]:
        text = "\n".join(line for p in pieces for line in lines[p.first - 1 : p.last])
        return variables_in(text.encode("utf-8", "replace"))

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
                return Reach.INERT, reasons.SAME
            if gates:
                return Reach.INERT, reasons.OFF
            return Reach.SHARED, reasons.MOVED
        if not unit.is_function and is_addition(run, gone):
            return Reach.ADDED, reasons.NAME
        return (Reach.GATED, reasons.GUARDED) if gates else (Reach.SHARED, reasons.NONE)

    def _removal(self, unit: Unit, gone: Sequence[Piece], residue: Residue) -> ChangedSite:
        first, last = gone[0].first, max(piece.last for piece in gone)
        gates = tuple(dict.fromkeys(g for piece in gone for g in self._front.of(piece, unit)))
        text = self._old_lines[first - 1].strip()
        site = ChangedSite(
            self._path, unit.name, first, last, True, text, Reach.INERT, gates, reasons.OFF
        )
        if all(residue.old.isdisjoint(extent(p)) for p in gone):
            return site
        if gates:
            return replace(site, reach=Reach.GATED, why=reasons.GUARDED)
        return replace(site, reach=Reach.SHARED, why=reasons.NONE)

    def _old_key(self, node: ast.stmt) -> str | None:
        return text_key(node, self._old_lines, self._gone)

    def _new_key(self, node: ast.stmt) -> str | None:
        return text_key(node, self._new_lines, self._come)

    def _residue(
        self, old: Unit, new: Unit, before: Sequence[Piece], after: Sequence[Piece]
    ) -> Residue:
        """Return the lines in which the two differ for those whom no gate lets in."""
        if self._may_be_gated(old, before, self._old_lines, self._gone) or self._may_be_gated(
            new, after, self._new_lines, self._come
        ):
            steady = frozenset(
                dotted(node) for node in nodes_in(*old.body) if isinstance(node, ast.Attribute)
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
        lost, left = spread(before, is_lost), spread(after, is_left)
        kept = spread(after, [True] * len(after))
        changes = self.hunks or ()
        return Residue(
            lost | across(left, changes, is_back=True), left | across(lost, changes), kept
        )

    def _may_be_gated(
        self, unit: Unit, pieces: Sequence[Piece], lines: Sequence[str], changed: set[int]
    ) -> bool:
        """Say whether a gate is in changed lines of a unit, or in front of them."""
        own = [number for number in unit.lines if number in changed]
        if self._kinds.are_in(lines[number - 1] for number in own):
            return True
        return any(self._front.of(piece, unit) for piece in pieces if overlaps(piece, own))

    def _off(self, unit: Unit, steady: frozenset[str]) -> list[ast.stmt]:
        off = Off(self._kinds, self._defaults, steady, unit.is_function)
        return [*head_of(unit), *off.block(unit.body, arguments(unit))]
