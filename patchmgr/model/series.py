"""A series: patches in order, each with its guards, on one pin."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct


class Guard(Struct, frozen=True):
    """A condition: `+sym` holds if the symbol is selected, and `-sym` holds if it is not."""

    symbol: str
    is_positive: bool

    def __str__(self) -> str:
        """Return the guard as Mercurial's MQ writes it."""
        return f"#{'+' if self.is_positive else '-'}{self.symbol}"


class SeriesLine(Struct, frozen=True):
    """One line of a series file, byte for byte; `name` is None for comments and blank lines."""

    raw: bytes
    name: str | None = None
    strip: int = 1
    is_reversed: bool = False  # `-R`: the patch is applied in reverse
    guards: tuple[Guard, ...] = ()
    off: tuple[str, ...] = ()  # groups of the patch that are off unless they are selected

    @property
    def is_usual(self) -> bool:
        """Return whether the patch is applied with `-p1` and not in reverse."""
        return self.strip == 1 and not self.is_reversed

    def refusal(self, selected: Collection[str]) -> str | None:
        """Return why the patch's groups or guards exclude it, or None if they do not."""
        for group in self.off:
            if group not in selected:
                return f"its group {group} is off and not selected"
        # as in MQ
        for guard in self.guards:
            if not guard.is_positive and guard.symbol in selected:
                return f"its guard is {guard}, and {guard.symbol} is selected"
        wanted = [g for g in self.guards if g.is_positive]
        if wanted and not any(g.symbol in selected for g in wanted):
            return f"its guard is {wanted[0]}, and {wanted[0].symbol} is not selected"
        return None


class SkippedPatch(Struct, frozen=True):
    """A patch that a command leaves out, and the reason."""

    name: str
    reason: str


class SeriesFile(Struct, frozen=True):
    """The lines of a quilt series file."""

    lines: tuple[SeriesLine, ...] = ()

    def names(self) -> tuple[str, ...]:
        """Return the names of the patch files, in order."""
        return tuple(line.name for line in self.lines if line.name is not None)

    def line(self, name: str) -> SeriesLine:
        """Return the line of a patch, which must be in the series."""
        return next(line for line in self.lines if line.name == name)


class Need(Struct, frozen=True):
    """A patch that another patch depends on, through lines of the file `path` or a symbol."""

    patch: str
    path: str | None = None
    symbol: str | None = None


class GraphPatch(Struct, frozen=True):
    """A patch of a series, and the patches that it directly depends on, nearest first."""

    name: str
    needs: tuple[Need, ...]
