"""Count lines of quilt's tests by command, with the reasons of those that fail."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BAR = (
    "series", "push", "pop", "new", "refresh", "fold", "rename", "delete", "import", "header",
    "diff", "files",
)  # fmt: skip
REASONS = Path(__file__).with_name("reasons.toml")


@dataclass(frozen=True)
class Line:
    """A line of a test that runs something; `verb` is quilt's command in it, if there is one.

    It passed if all that it printed is what the test expects.
    """

    test: str
    number: int
    text: str
    verb: str | None
    is_passed: bool

    @property
    def is_counted(self) -> bool:
        """Say whether the line runs a command that the bar is about."""
        return self.verb in BAR


@dataclass(frozen=True)
class Reason:
    """Why lines fail; `kind` is `on purpose`, `open`, or `quilt` where quilt fails, too."""

    kind: str
    why: str
    lines: frozenset[tuple[str, int]]


def reasons() -> tuple[Reason, ...]:
    """Return the table of reasons."""
    table = tomllib.loads(REASONS.read_text())["reason"]
    return tuple(
        Reason(row["kind"], row["why"], frozenset(
            (test, number) for test, numbers in row["lines"].items() for number in numbers
        ))
        for row in table
    )  # fmt: skip


def unexplained(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Return the counted lines that fail without a reason."""
    known = {at for reason in reasons() for at in reason.lines}
    failed = (line for line in lines if line.is_counted and not line.is_passed)
    return tuple(line for line in failed if (line.test, line.number) not in known)


def share(lines: Sequence[Line]) -> float:
    """Return the share of the counted lines that pass."""
    counted = [line for line in lines if line.is_counted]
    return sum(line.is_passed for line in counted) / len(counted)


def strict(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Return the lines, a counted one passed only if all behind it did that look at its work.

    Those are the lines up to the next command of quilt's.
    """
    found: list[Line] = []
    is_fine = True
    test = ""
    for line in reversed(lines):
        is_fine = is_fine or line.test != test
        test = line.test
        if line.verb is None:
            is_fine = is_fine and line.is_passed
            continue
        found.append(Line(line.test, line.number, line.text, line.verb, line.is_passed and is_fine))
        is_fine = True
    return tuple(reversed(found))


def page(lines: Sequence[Line]) -> str:
    """Return the section of the page: a table by command, then the reasons."""
    return "\n".join([*_table(lines), "", *_reasons(lines)]).strip()


def _table(lines: Sequence[Line]) -> Iterator[str]:
    careful = strict(lines)
    yield "| quilt's command | lines | pass | share | and all lines that look at its work |"
    yield "|---|--:|--:|--:|--:|"
    for verb in (*BAR, None):
        wanted = BAR if verb is None else (verb,)
        own = [line for line in lines if line.verb in wanted]
        also = [line for line in careful if line.verb in wanted]
        count, passed = len(own), sum(line.is_passed for line in own)
        name = "**all**" if verb is None else f"`{verb}`"
        both = sum(line.is_passed for line in also)
        yield f"| {name} | {count} | {passed} | {passed / max(count, 1):.0%} | {both} |"


def _reasons(lines: Sequence[Line]) -> Iterator[str]:
    failed = {(n.test, n.number) for n in lines if n.is_counted and not n.is_passed}
    yield "| of the lines that fail | | why |"
    yield "|--:|---|---|"
    for reason in sorted(reasons(), key=lambda each: -len(failed & each.lines)):
        count = len(failed & reason.lines)
        if count:
            yield f"| {count} | {reason.kind} | {reason.why} |"
    left = len(unexplained(lines))
    if left:
        yield f"| {left} | | no reason is given |"
