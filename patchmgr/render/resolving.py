"""What the resolver displays: the list of conflicts, the texts to compare, and the keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.model.outcome import SeriesOutcome, Verdict
from patchmgr.model.resolving import Choice, ChoiceKind, InFile, OpenConflict, Resolving
from patchmgr.model.work_order import OrderedRegion, SideText, WorkOrder
from patchmgr.render.escape import clean, counted, cut_off, reliability_text
from patchmgr.render.rebase import short_ref

if TYPE_CHECKING:
    from patchmgr.commands.resolve import Keys

MOST_LINES = 2000  # per text; the other lines are only counted
_MOST_CAUSES = 3
_CONTEXT = 3  # lines before and after the resolution of a region

Line = tuple[bool, str]
"""(is_new, line): a line of a text; it is new if base does not have it."""


class Pane(Struct, frozen=True):
    """A text displayed beside others; `is_chosen` is true if the user chose this text."""

    title: str
    lines: tuple[Line, ...]
    is_chosen: bool = False


class ListRow(Struct, frozen=True):
    """A line in the list of patches and conflicts; `is_here` marks the current conflict."""

    text: str
    verdict: Verdict | None
    is_here: bool = False


def list_rows(outcomes: Sequence[SeriesOutcome], state: Resolving) -> Iterator[ListRow]:
    """Yield each series, its patches with their verdicts, and the conflicts of each patch."""
    for outcome in outcomes:
        yield ListRow(f"{clean(outcome.name)} -> {short_ref(outcome.onto.ref)}", None)
        for patch in outcome.patches:
            name = (outcome.name, patch.name)
            word = "skip" if name in state.left_out else patch.verdict.value
            yield ListRow(f"{word:<9} {clean(patch.name)}", patch.verdict)
            for one in state.conflicts:
                if one.patch == name:
                    here = one is state.conflict
                    yield ListRow(f"{'>' if here else ' '} {_state_of(one, state)}", None, here)


def _state_of(one: OpenConflict, state: Resolving) -> str:
    path = clean(one.order.new_path) or one.order.kind.value
    if one.order.id in state.accepted:
        return f"accepted  {path}"
    regions = len(one.order.regions)
    if one.patch in state.left_out or not regions:
        return f"          {path}"
    return f"{regions - len(state.open_regions(one))}/{regions} chosen {path}"


def about_lines(state: Resolving) -> Iterator[str]:
    """Yield lines about the current conflict: its file and region, its patch, and its causes."""
    order = state.conflict.order
    number = state.conflicts.index(state.conflict) + 1
    where = f"conflict {number} of {len(state.conflicts)}"
    if len(order.regions) > 1:
        where += f", region {state.region + 1} of {len(order.regions)}"
    symbol = order.regions[state.region].symbol if order.regions else None
    where += f", in {clean(symbol)}" if symbol else ""
    paths = " -> ".join(dict.fromkeys((clean(order.path), clean(order.new_path))))
    yield f"{paths}: {clean(order.reason)}  ({where})"
    yield from facts(order)


def facts(order: WorkOrder) -> Iterator[str]:
    """Yield a work order's patch, the upstream commits that it conflicts with, and the proposal."""
    why = " ".join((order.why or "").split())
    yield f"patch: {clean(order.subject)}" + (f" ({clean(why)})" if why else "")
    causes = []
    for one in order.causes:
        pull = f", #{one.pull}" if one.pull and f"#{one.pull}" not in one.subject else ""
        by = f" by {clean(one.author)}" if one.author else ""
        causes.append(f"{one.commit[:12]} {clean(one.subject)}{pull}{by}")
    told = f"{{}}; to see all: patchmgr conflicts show {order.id}"
    yield from (f"upstream: {one}" for one in cut_off(causes, _MOST_CAUSES, told, "commit"))
    if order.proposal:
        yield f"proposed: {clean(order.proposal)}"


def panes(region: OrderedRegion, choice: Choice | None) -> tuple[Pane, ...]:
    """Return panes for base, ours, theirs and the candidates of a conflicting region."""
    known = _lines_of(region.base)
    taken = None if choice is None else choice.taken
    sides = (
        _pane("base", region.base, known, is_chosen=False),
        _pane("ours (upstream)", region.ours, known, is_chosen=taken is ChoiceKind.OURS),
        _pane("theirs (the patch)", region.theirs, known, is_chosen=taken is ChoiceKind.THEIRS),
    )
    candidates = (
        Pane(
            f"candidate {one.number}: {reliability_text(one.reliability)}",
            marked_lines(one.text, known),
            choice is not None and taken is ChoiceKind.CANDIDATE and choice.number == one.number,
        )
        for one in region.candidates
    )
    return tuple(_without_indent((*sides, *candidates)))


def _without_indent(found: Sequence[Pane]) -> Iterator[Pane]:
    """Yield the panes without the indentation that all their lines share."""
    texts = [line for pane in found for _, line in pane.lines if line.strip()]
    wide = min((len(line) - len(line.lstrip(" ")) for line in texts), default=0)
    for pane in found:
        yield replace(pane, lines=tuple((is_new, line[wide:]) for is_new, line in pane.lines))


def result_pane(region: OrderedRegion, choice: Choice | None, place: InFile) -> Pane:
    """Return a pane that shows how the choice resolves a region, with a few lines around it."""
    if choice is None:
        return Pane("result: nothing is chosen yet", ())
    number = f" {choice.number}" if choice.taken is ChoiceKind.CANDIDATE else ""
    title = f"result: {choice.taken.value}{number}"
    if place.text is None:
        return Pane(title, ((False, "(the file is deleted)"),))
    known = _lines_of(region.base)
    if b"\0" in place.text:
        return Pane(title, _no_text(len(place.text)))
    head = _readable(b"".join(place.before.splitlines(True)[-_CONTEXT:]))
    tail = _readable(b"".join(place.behind.splitlines(True)[:_CONTEXT]))
    shown = marked_lines(_readable(place.text), known)
    return Pane(title, (*marked_lines(head, None), *shown, *marked_lines(tail, None)))


def _readable(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _pane(name: str, side: SideText | None, known: frozenset[str], *, is_chosen: bool) -> Pane:
    if side is None:
        return Pane(name, ((False, "(there is no such file)"),), is_chosen)
    if side.text is None:
        return Pane(name, _no_text(side.size), is_chosen)
    lines = marked_lines(side.text, None if name == "base" else known)
    return Pane(name, lines or ((False, "(nothing)"),), is_chosen)


def _no_text(size: int) -> tuple[Line, ...]:
    return ((False, f"({size} bytes that are not text)"),)


def _lines_of(side: SideText | None) -> frozenset[str]:
    return frozenset() if side is None or side.text is None else frozenset(side.text.split("\n"))


def marked_lines(text: str, known: frozenset[str] | None) -> tuple[Line, ...]:
    """Return (is_new, line) for each line. If `known` is given, lines that it lacks are new."""
    lines = text.removesuffix("\n").split("\n") if text else []
    shown = [
        (known is not None and line not in known, clean(line, keep="\t").expandtabs(4))
        for line in lines[:MOST_LINES]
    ]
    more = len(lines) - MOST_LINES
    return (*shown, *([(False, f"… {counted(more, 'more line')}")] if more > 0 else []))


def key_lines(keys: Sequence[Keys], width: int) -> list[str]:
    """Return the keys and what they do, in lines of at most `width` characters."""
    lines = [""]
    for one in keys:
        has_range = len(one.names) > 1 and one.names.isdigit()
        name = f"1-{one.names[-1]}" if has_range else "/".join(one.names)
        told = f"{name} {one.words}"
        if lines[-1] and len(lines[-1]) + 3 + len(told) > width:
            lines.append("")
        lines[-1] += f"   {told}" if lines[-1] else told
    return lines


def after_quitting(state: Resolving) -> Iterator[str]:
    """Yield messages for a user who quits before all conflicts are resolved."""
    yield f"{counted(len(state.left), 'conflict')} left; your choices are saved"
    yield "continue with: patchmgr resolve"
