"""A plot as an SVG file: lines over numbers, drawn without anything but text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

WIDTH, HEIGHT, MARGIN = 640, 320, 52
COLORS = ("#1f6feb", "#d29922", "#8957e5", "#2da44e")

Line = Sequence[tuple[float, float]]
Place = Callable[[float, float], tuple[float, float]]


def plot(lines: Mapping[str, Line], *, across: str, up: str) -> str:
    """Return the picture of some lines, each with its name; both axes begin at 0."""
    most_x = max(x for line in lines.values() for x, _ in line)
    most_y = max(y for line in lines.values() for _, y in line) * 1.05

    def place(x: float, y: float) -> tuple[float, float]:
        inner = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN
        return MARGIN + x / most_x * inner[0], HEIGHT - MARGIN - y / most_y * inner[1]

    parts = [_axes(place, most_x, most_y), _text(WIDTH / 2, HEIGHT - 8, across)]
    parts.append(_text(MARGIN, MARGIN / 2, up))
    for number, (name, line) in enumerate(lines.items()):
        color = COLORS[number % len(COLORS)]
        points = [place(x, y) for x, y in line]
        drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{drawn}" fill="none" stroke="{color}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in points]
        x, y = WIDTH - MARGIN, MARGIN / 2 + 16 * number
        parts.append(_text(x, y, name, color=color, anchor="end"))
    inside = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n{inside}\n</svg>\n'
    )


def write_plot(path: Path, picture: str) -> None:
    """Write a plot where its page will find it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(picture)


def _axes(place: Place, most_x: float, most_y: float) -> str:
    (x, y), (end, _), (_, top) = place(0, 0), place(most_x, 0), place(0, most_y)
    lines = f'<path d="M{x} {top}V{y}H{end}" fill="none" stroke="#6e7781"/>'
    marks = [_text(end, y + 16, f"{most_x:g}"), _text(x, y + 16, "0")]
    marks.append(_text(x - 6, top + 4, f"{most_y:.1f}", anchor="end"))
    return "\n".join([lines, *marks])


def _text(x: float, y: float, text: str, *, color: str = "#24292f", anchor: str = "middle") -> str:
    look = f'fill="{color}" text-anchor="{anchor}"'
    return f'<text x="{x:.0f}" y="{y:.0f}" {look}>{escape(text)}</text>'
