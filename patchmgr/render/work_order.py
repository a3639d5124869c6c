"""A work order (what is known about a conflict) as Markdown, HTML, text and JSON data."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

from msgspec import Struct, to_builtins

from patchmgr.model.work_order import OrderedRegion, Proposed, SideText, UpstreamChange, WorkOrder
from patchmgr.render.clean import clean, reliability_text
from patchmgr.render.machine import keys, pin_value
from patchmgr.render.markdown_text import fenced
from patchmgr.render.markdown_text import text as escaped

if TYPE_CHECKING:
    from patchmgr.commands.resolver import Asked


class _Line(Struct, frozen=True):
    text: str


class _Code(Struct, frozen=True):
    title: str
    text: str


_Section = tuple[str, list[_Line | _Code]]


def order_value(order: WorkOrder) -> dict[str, Any]:
    """Return a work order as JSON data."""
    whole = {**keys(order), "base": pin_value(order.base), "onto": pin_value(order.onto)}
    plain: dict[str, Any] = to_builtins({**whole, "fields": dict(order.fields)})
    return plain


def value_size(value: object) -> int:
    """Return an upper bound for the size of a value in a JSON document, in characters."""
    return len(json.dumps(to_builtins(value, enc_hook=str), indent=1)) * _NESTED // 100


_NESTED = 110  # percent: what stands deeper in a document is indented more


def without_sides(value: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Return a recorded conflict as JSON data, shortened if it exceeds `most` characters.

    The shortened data lacks the texts, which are also in the work order's regions, and has only the
    first parts.
    """
    if value_size(value) <= most or "conflict" not in value:
        return dict(value)
    conflict, *parts = (
        {key: of for key, of in one.items() if key not in _TEXTS}
        for one in (value["conflict"], *value["parts"])
    )
    return {**value, "conflict": conflict, "parts": parts[:_MOST_PARTS]}


_TEXTS = ("base", "ours", "theirs", "resolution", "edits")
_MOST_PARTS = 10


def order_markdown(order: WorkOrder) -> str:
    """Return a work order as GitHub Markdown."""
    return "".join(_markdown(*section) for section in _sections(order, has_sides=True))


def order_html(order: WorkOrder) -> str:
    """Return a work order as HTML, with the sides of each conflict region side by side."""
    (title, about), *others = _sections(order, has_sides=True)
    parts = [f"<h4>{html_text(title)}</h4>", *_html_blocks(about)]
    for title, blocks in others:
        is_region = title.startswith("Region ")
        is_open = " open" if is_region or title.startswith("Caused ") else ""
        parts.append(f"<details{is_open}><summary>{html_text(title)}</summary>")
        parts += [*_html_blocks(blocks, is_row=is_region), "</details>"]
    return "\n".join(parts)


def html_text(foreign: str) -> str:
    """Return a text escaped for HTML."""
    return escape(clean(foreign))


def order_text(order: WorkOrder) -> str:
    """Return a work order as text for a terminal, without the sides of the conflict."""
    return "".join(_text(*section) for section in _sections(order, has_sides=False))


def proposed_text(proposed: Proposed) -> str:
    """Return the result of `conflicts propose`: whether a resolution passes, and failed checks."""
    where = f"{proposed.id}  {clean(proposed.series)}/{clean(proposed.patch)}"
    state = "passes" if proposed.has_passed else "does not pass"
    lines = [f"{where}  {clean(proposed.path)}  {state}  by {clean(proposed.by)}"]
    lines += [f"  {one.check}: {clean(one.text)}" for one in proposed.failures]
    if proposed.has_passed:
        lines.append(f"  accept it with: patchmgr conflicts accept {proposed.id} proposed")
    return "".join(f"{line}\n" for line in lines)


def asked_text(asked: Sequence[Asked]) -> str:
    """Return the result of `rebase --resolver`: whether each answer of the program was taken."""
    lines = list[str]()
    for one in asked:
        state = "taken" if one.is_taken else one.error or "not taken"
        lines.append(
            f"  resolver  {one.id}  {clean(f'{one.series}/{one.patch}: {one.path}')}  {state}"
        )
        lines += [f"    {clean(one.message)}"] if one.message else []
        lines += [f"    {each.check}: {clean(each.text)}" for each in one.failures]
    return "".join(f"{line}\n" for line in lines)


def _markdown(title: str, blocks: list[_Line | _Code]) -> str:
    lines = [f"## {escaped(title)}", ""]
    for block in blocks:
        if isinstance(block, _Line):
            lines.append(f"- {escaped(block.text)}")
        else:
            lines += [f"- {escaped(block.title)}", "", fenced(block.text), ""]
    return "\n".join((*lines, "", ""))


def _html_blocks(blocks: Sequence[_Line | _Code], *, is_row: bool = False) -> Iterator[str]:
    """Yield lists of lines, and rows of texts; with `is_row`, all texts are in one row."""
    sides = {one.title: {*_lines(one)} for one in blocks if isinstance(one, _Code)}
    with_base = [sides["base"]] if "base" in sides else []
    with_others = [sides[name] for name in ("ours", "theirs") if name in sides]
    for in_row, run in groupby(blocks, lambda one: is_row or isinstance(one, _Code)):
        yield '<div class="sides">' if in_row else "<ul>"
        for one in run:
            if isinstance(one, _Code):
                yield _html_code(one, with_others if one.title == "base" else with_base)
            else:
                yield (
                    f"<p>{html_text(one.text)}</p>" if in_row else f"<li>{html_text(one.text)}</li>"
                )
        yield "</div>" if in_row else "</ul>"


def _html_code(code: _Code, others: Sequence[Collection[str]]) -> str:
    """Return a text with its name; lines that any of the other texts lacks are marked."""
    name, shown = html_text(code.title), list[str]()
    for line in _lines(code):
        content = escape(clean(line, keep="\t"))
        is_shared = all(line in other for other in others)
        shown.append(content if is_shared else f"<mark>{content}</mark>")
    text = "\n".join(shown)
    return (
        f'<figure><figcaption>{name}</figcaption><pre class="scroll" tabindex="0" role="group" '
        f'aria-label="{name}">{text}</pre></figure>'
    )


def _lines(code: _Code) -> Sequence[str]:
    return code.text.removesuffix("\n").split("\n")


def _text(title: str, blocks: list[_Line | _Code]) -> str:
    lines = [f"{clean(title)}:"]
    for block in blocks:
        if isinstance(block, _Line):
            lines.append(f"  {clean(block.text)}")
        else:
            shown = clean(block.text, keep="\n\t").rstrip("\n")
            lines += [f"  {clean(block.title)}", *(f"    {one}" for one in shown.split("\n"))]
    return "".join(f"{line}\n" for line in lines)


def _sections(order: WorkOrder, *, has_sides: bool) -> Iterator[_Section]:
    paths = " -> ".join(dict.fromkeys((order.path, order.new_path)))
    ends = (
        pin.commit[:12] if pin.ref == pin.commit else f"{pin.ref} ({pin.commit[:12]})"
        for pin in (order.base, order.onto)
    )
    fields = [f"{name}: {value}" for name, value in order.fields]
    yield (
        f"Conflict {order.id}",
        [
            _Line(f"{order.kind.value} in {paths}: {order.reason}"),
            _Line(f"{order.series}/{order.patch}: {order.subject}"),
            _Line(" to ".join(ends)),
            *([_Code("message", order.message)] if "\n" in order.message.strip() else []),
            *(_Line(field) for field in fields if field not in order.message),
            *([_Line(f"proposed by {order.offered}, and passes")] if order.offered else []),
        ],
    )
    for number, region in enumerate(order.regions, 1):
        blocks = [*(_sides(region) if has_sides else ()), *_candidates(region)]
        if blocks:
            inside = f" in {region.symbol}" if region.symbol else ""
            yield f"Region {number}{inside} ({region.id})", blocks
    yield from _filled("Symbols", _symbols(order))
    yield from _filled("Caused upstream by", (b for one in order.causes for b in _change(one)))
    yield from _filled("Later upstream commits there", (_Line(_named(o)) for o in order.later))
    uses = [_Line(f"{one.path}:{one.line}: {one.text.strip()}") for one in order.uses or ()]
    if order.uses is None:
        uses = [_Line("the store lacks files, and cannot be searched")]
    yield from _filled("Named elsewhere upstream", iter(uses))
    yield from _filled("Earlier decisions on similar conflicts", _earlier(order))
    needs = (_Line(f"{one.check}: {one.text}") for one in order.requirements)
    yield from _filled("A resolution must satisfy", needs)
    cut = (_Line(one) for one in order.cut)
    yield from _filled("Shortened; for all of it: conflicts show --full", cut)


def _filled(title: str, blocks: Iterator[_Line | _Code]) -> Iterator[_Section]:
    found = list(blocks)
    if found:
        yield title, found


def _sides(region: OrderedRegion) -> Iterator[_Code | _Line]:
    for name, side in (("base", region.base), ("ours", region.ours), ("theirs", region.theirs)):
        yield from _side(name, side)


def _side(name: str, side: SideText | None) -> Iterator[_Code | _Line]:
    if side is None:
        yield _Line(f"{name}: there is no such file")
    elif side.text is None:
        yield _Line(f"{name}: {side.size} bytes that are not text")
    else:
        yield _Code(name, side.text)


def _candidates(region: OrderedRegion) -> Iterator[_Code]:
    for one in region.candidates:
        yield _Code(f"candidate {one.number}: {reliability_text(one.reliability)}", one.text)


def _symbols(order: WorkOrder) -> Iterator[_Code]:
    for one in order.symbols:
        for side in ("base", "ours", "theirs", "result"):
            found = getattr(one, side)
            if found is not None:
                yield _Code(f"{one.name}, {side}", found)


def _named(change: UpstreamChange) -> str:
    by = f" ({change.author})" if change.author else ""
    return f"{change.commit[:12]} {change.subject}{by}"


def _change(change: UpstreamChange) -> Iterator[_Line | _Code]:
    yield _Line(_named(change))
    if change.message:
        yield _Code("message", change.message)
    if change.diff:
        yield _Code("diff", change.diff)


def _earlier(order: WorkOrder) -> Iterator[_Line | _Code]:
    for one in order.earlier:
        told = " ".join(filter(None, (one.id, one.path, f"({one.seen})", one.words)))
        yield _Line(told) if one.text is None else _Code(told, one.text)
