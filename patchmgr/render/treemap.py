"""Lay numbers out as rectangles whose areas they are: a squarified treemap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct


class Box(Struct, frozen=True):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float


def squarified(sizes: Sequence[float], box: Box) -> tuple[Box, ...]:
    """Return a rectangle a size, in their order; together they fill the box.

    Sizes are positive, the largest first.
    """
    total = sum(sizes)
    if not sizes or total <= 0:
        return tuple(Box(box.x, box.y, 0, 0) for _ in sizes)
    scale = box.width * box.height / total
    return tuple(_rows([size * scale for size in sizes], box))


def _rows(areas: list[float], box: Box) -> Iterator[Box]:
    at = 0
    while at < len(areas):
        side = max(min(box.width, box.height), 1e-9)
        end = at + 1
        while end < len(areas) and _worst(areas[at : end + 1], side) <= _worst(areas[at:end], side):
            end += 1
        row = areas[at:end]
        thickness = sum(row) / side
        yield from _row(row, box, thickness)
        if box.width >= box.height:
            box = Box(box.x + thickness, box.y, max(box.width - thickness, 0), box.height)
        else:
            box = Box(box.x, box.y + thickness, box.width, max(box.height - thickness, 0))
        at = end


def _row(row: Sequence[float], box: Box, thickness: float) -> Iterator[Box]:
    offset = 0.0
    for area in row:
        length = area / max(thickness, 1e-9)
        if box.width >= box.height:
            yield Box(box.x, box.y + offset, thickness, length)
        else:
            yield Box(box.x + offset, box.y, length, thickness)
        offset += length


def _worst(row: Sequence[float], side: float) -> float:
    total = sum(row)
    return max(side**2 * max(row) / total**2, total**2 / (side**2 * max(min(row), 1e-9)))
