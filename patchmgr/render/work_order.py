"""A work order (what is known about a conflict) as Markdown, text and JSON data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, to_builtins

from patchmgr.model.work_order import OrderedRegion, Proposed, UpstreamChange, WorkOrder
from patchmgr.render.escape import clean, reliability_text
from patchmgr.render.machine import keys, pin_document
from patchmgr.render.markdown_text import fenced
from patchmgr.render.markdown_text import text as escaped

if TYPE_CHECKING:
    from patchmgr.commands.resolver import Asked


class OrderLine(Struct, frozen=True):
    """A line of a work order."""

    text: str


class OrderCode(Struct, frozen=True):
    """A text in a work order, with a title; its lines are not wrapped."""

    title: str
    text: str


Section = tuple[str, list[OrderLine | OrderCode]]


def order_value(order: WorkOrder) -> dict[str, Any]:
    """Return a work order as JSON data."""
    whole = {**keys(order), "base": pin_document(order.base), "onto": pin_document(order.onto)}
    plain: dict[str, Any] = to_builtins({**whole, "fields": dict(order.fields)})
    return plain


def value_size(value: object) -> int:
    """Return an upper bound for the length of a value in a JSON document, in characters."""
    return len(json.dumps(to_builtins(value, enc_hook=str), indent=1)) * _NESTED // 100


_NESTED = 110  # percent, because a nested value is indented more


def without_sides(value: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Return a recorded conflict; if it has more than `most` characters, leave out its texts."""
    if value_size(value) <= most or "conflict" not in value:
        return dict(value)
    conflict, *parts = (
        {key: of for key, of in one.items() if key not in _TEXTS}
        for one in (value["conflict"], *value["parts"])
    )
    # the regions of the work order still have the texts
    return {**value, "conflict": conflict, "parts": parts[:_MOST_PARTS]}


_TEXTS = ("base", "ours", "theirs", "resolution", "edits")
_MOST_PARTS = 10


def order_markdown(order: WorkOrder) -> str:
    """Return a work order as GitHub Markdown."""
    return "".join(_markdown(*section) for section in sections(order))


def order_text(order: WorkOrder) -> Iterator[str]:
    """Yield a work order as text for a terminal, without the sides of the conflict."""
    for title, blocks in sections(order, has_sides=False):
        yield f"{clean(title)}:"
        for block in blocks:
            if isinstance(block, OrderLine):
                yield f"  {clean(block.text)}"
            else:
                shown = clean(block.text, keep="\n\t").rstrip("\n")
                yield f"  {clean(block.title)}"
                yield from (f"    {line}" for line in shown.split("\n"))


def proposed_text(proposed: Proposed) -> Iterator[str]:
    """Yield the result of `conflicts propose`: whether the text passed, or the failed checks."""
    where = f"{proposed.id}  {clean(proposed.series)}/{clean(proposed.patch)}"
    state = "passes" if proposed.has_passed else "does not pass"
    yield f"{where}  {clean(proposed.path)}  {state}  by {clean(proposed.by)}"
    yield from (f"  {one.check}: {clean(one.text)}" for one in proposed.failures)
    if proposed.has_passed:
        yield f"  accept it with: patchmgr conflicts accept {proposed.id} proposed"


def asked_text(asked: Sequence[Asked]) -> Iterator[str]:
    """Yield the result of `rebase --resolver`: which answers of the program were recorded."""
    for one in asked:
        state = "taken" if one.is_taken else one.error or "not taken"
        yield f"  resolver  {one.id}  {clean(f'{one.series}/{one.patch}: {one.path}')}  {state}"
        if one.message:
            yield f"    {clean(one.message)}"
        yield from (f"    {each.check}: {clean(each.text)}" for each in one.failures)


def _markdown(title: str, blocks: list[OrderLine | OrderCode]) -> str:
    lines = [f"## {escaped(title)}", ""]
    for block in blocks:
        if isinstance(block, OrderLine):
            lines.append(f"- {escaped(block.text)}")
        else:
            lines += [f"- {escaped(block.title)}", "", fenced(block.text), ""]
    return "\n".join((*lines, "", ""))


def sections(order: WorkOrder, *, has_sides: bool = True) -> Iterator[Section]:
    """Yield the title and content of each section; without `has_sides`, leave out the sides."""
    paths = " -> ".join(dict.fromkeys((order.path, order.new_path)))
    ends = (
        pin.commit[:12] if pin.ref == pin.commit else f"{pin.ref} ({pin.commit[:12]})"
        for pin in (order.base, order.onto)
    )
    fields = [f"{name}: {value}" for name, value in order.fields]
    yield (
        f"Conflict {order.id}",
        [
            OrderLine(f"{order.kind.value} in {paths}: {order.reason}"),
            OrderLine(f"{order.series}/{order.patch}: {order.subject}"),
            OrderLine(" to ".join(ends)),
            *([OrderCode("message", order.message)] if "\n" in order.message.strip() else []),
            *(OrderLine(field) for field in fields if field not in order.message),
            *[OrderLine(f"proposed by {order.offered}; all checks passed")] * bool(order.offered),
        ],
    )
    for number, region in enumerate(order.regions, 1):
        blocks = [*(_sides(region) if has_sides else ()), *_candidates(region)]
        if blocks:
            inside = f" in {region.symbol}" if region.symbol else ""
            yield f"Region {number}{inside} ({region.id})", blocks
    yield from _filled("Symbols", _symbols(order))
    yield from _filled("Caused by upstream", (b for one in order.causes for b in _change(one)))
    later = (OrderLine(_named(one)) for one in order.later)
    yield from _filled("Later upstream commits to the file", later)
    uses = [OrderLine(f"{one.path}:{one.line}: {one.text.strip()}") for one in order.uses or ()]
    if order.uses is None:
        uses = [OrderLine("not known, because the store lacks files")]
    yield from _filled("Used elsewhere upstream", iter(uses))
    yield from _filled("Earlier decisions on similar conflicts", _earlier(order))
    needs = (OrderLine(f"{one.check}: {one.text}") for one in order.requirements)
    yield from _filled("A resolution must satisfy", needs)
    cut = (OrderLine(one) for one in order.cut)
    yield from _filled("Shortened; to see everything: patchmgr conflicts show --full", cut)


def _filled(title: str, blocks: Iterator[OrderLine | OrderCode]) -> Iterator[Section]:
    found = list(blocks)
    if found:
        yield title, found


def _sides(region: OrderedRegion) -> Iterator[OrderCode | OrderLine]:
    for name, side in (("base", region.base), ("ours", region.ours), ("theirs", region.theirs)):
        if side is None:
            yield OrderLine(f"{name}: there is no such file")
        elif side.text is None:
            yield OrderLine(f"{name}: {side.size} bytes that are not text")
        else:
            yield OrderCode(name, side.text)


def _candidates(region: OrderedRegion) -> Iterator[OrderCode]:
    for one in region.candidates:
        yield OrderCode(f"candidate {one.number}: {reliability_text(one.reliability)}", one.text)


def _symbols(order: WorkOrder) -> Iterator[OrderCode]:
    for one in order.symbols:
        for side in ("base", "ours", "theirs", "result"):
            found = getattr(one, side)
            if found is not None:
                yield OrderCode(f"{one.name}, {side}", found)


def _named(change: UpstreamChange) -> str:
    by = f" ({change.author})" if change.author else ""
    return f"{change.commit[:12]} {change.subject}{by}"


def _change(change: UpstreamChange) -> Iterator[OrderLine | OrderCode]:
    yield OrderLine(_named(change))
    if change.message:
        yield OrderCode("message", change.message)
    if change.diff:
        yield OrderCode("diff", change.diff)


def _earlier(order: WorkOrder) -> Iterator[OrderLine | OrderCode]:
    for one in order.earlier:
        told = " ".join(filter(None, (one.id, one.path, f"({one.seen})", one.words)))
        yield OrderLine(told) if one.text is None else OrderCode(told, one.text)
