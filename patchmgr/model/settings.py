"""The settings of a series that a person writes in `series.toml`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated

from msgspec import Meta, Struct, field

LONGEST_TIMEOUT = 7 * 24 * 3600
EXPERIMENTAL = "experimental"
_Word = Annotated[str, Meta(pattern=r"^[^\0]+\Z")]


class CheckCommand(Struct, frozen=True, forbid_unknown_fields=True):
    """A command that checks the branch of a series; exit code 0 means that it passed."""

    name: str
    run: Annotated[tuple[_Word, ...], Meta(min_length=1)]
    timeout: Annotated[int, Meta(gt=0, le=LONGEST_TIMEOUT)] = 1800  # in seconds
    needs: tuple[_Word, ...] = ()  # programs; if one is missing, the command is skipped


class ContentClaim(Struct, frozen=True):
    """A claim about the content of a file on the branch, or of one symbol in this file."""

    path: str
    symbol: str | None
    digest: str | None  # the sha256 of that content; None: the same as at the pin

    def __str__(self) -> str:
        """Return the path, followed by `::` and the symbol if there is one."""
        return self.path if self.symbol is None else f"{self.path}::{self.symbol}"


class SeriesSettings(Struct, frozen=True):
    """The settings of one series; every setting has a default."""

    # globs of each subsystem
    subsystems: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # further expressions for each kind of hardware gate
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # patches of each group
    # groups whose patches are skipped unless the group is selected
    off: frozenset[str] = frozenset({EXPERIMENTAL})
    # versions that files must compile for; empty: those that upstream supports
    python: tuple[tuple[int, int], ...] = ()
    needs_sign_off: bool = False
    left_out: frozenset[str] = frozenset()  # built-in gates that are not run
    commands: tuple[CheckCommand, ...] = ()
    claims: tuple[ContentClaim, ...] = ()
    confidence: int | None = None  # the reliability (percent) that a structural merge needs, if any
    # sources whose pulled resolutions are used like the workspace's own
    trusted: frozenset[str] = frozenset()
    # environment variables for a build; values may contain placeholders such as `{version}`
    build_env: Mapping[str, str] = field(default_factory=dict)

    def strays(self, group: str, names: Collection[str]) -> tuple[str, ...]:
        """Return the entries of a group, sorted, that are not the name of a patch in `names`."""
        known = {*names, *(name.removesuffix(".patch") for name in names)}
        return tuple(sorted({*self.groups[group]} - known))

    def off_groups(self, patch: str) -> tuple[str, ...]:
        """Return the names of the patch's groups that are off unless selected, sorted."""
        names = (patch, patch.removesuffix(".patch"))
        found = (g for g, members in self.groups.items() if any(n in members for n in names))
        return tuple(sorted(group for group in found if group in self.off))
