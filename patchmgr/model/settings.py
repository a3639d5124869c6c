"""What a person writes about a series in its `series.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct, field

LONGEST_TIMEOUT = 7 * 24 * 3600
EXPERIMENTAL = "experimental"
_Word = Annotated[str, Meta(pattern=r"^[^\0]+\Z")]


class CheckCommand(Struct, frozen=True):
    """A command of a series that says whether its branch is good; exit code 0 means yes.

    `timeout` is in seconds. `needs` are programs without which the command is skipped.
    """

    name: str
    run: Annotated[tuple[_Word, ...], Meta(min_length=1)]
    timeout: Annotated[int, Meta(gt=0, le=LONGEST_TIMEOUT)] = 1800
    needs: tuple[_Word, ...] = ()


class Claim(Struct, frozen=True):
    """A claim that a file of the branch, or one symbol of it, has certain bytes.

    `digest` is their sha256 (64 hex); None claims that they are the pin's bytes.
    """

    path: str
    symbol: str | None
    digest: str | None

    def __str__(self) -> str:
        """Return the claim's place as a person writes it."""
        return self.path if self.symbol is None else f"{self.path}::{self.symbol}"


class SeriesSettings(Struct, frozen=True):
    """The settings of one series; all of them have a default.

    `subsystems` maps a name to globs, `labels` a gate's kind to further expressions, `groups` a
    name to patches. `python` are the versions that files must compile for; if empty, those that
    upstream states. `left_out` names built-in gates that are not wanted. Patches of groups that are
    `off` are kept out unless the group is selected. `confidence` is how reliable (in percent) a
    merge by structure must be to be taken, None for any. `trusted` are the sources whose pulled
    resolutions count as one's own. `build_env` are further variables for a build, with placeholders
    such as `{version}`.
    """

    subsystems: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    off: frozenset[str] = frozenset({EXPERIMENTAL})
    python: tuple[tuple[int, int], ...] = ()
    needs_sign_off: bool = False
    left_out: frozenset[str] = frozenset()
    commands: tuple[CheckCommand, ...] = ()
    claims: tuple[Claim, ...] = ()
    confidence: int | None = None
    trusted: frozenset[str] = frozenset()
    build_env: Mapping[str, str] = field(default_factory=dict)

    def off_groups(self, patch: str) -> tuple[str, ...]:
        """Return the groups of a patch that are off unless they are selected, sorted."""
        names = (patch, patch.removesuffix(".patch"))
        found = (g for g, members in self.groups.items() if any(n in members for n in names))
        return tuple(sorted(group for group in found if group in self.off))
