"""Lists of names that mark a condition as a gate, for each project and each series."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from msgspec import Struct, convert
from msgspec.structs import replace

from patchmgr.formats import toml_text
from patchmgr.formats.regexes import compile_regex
from patchmgr.formats.series_settings import KINDS

CAPABILITY, PLATFORM, ENVIRONMENT = "capability", "platform", "environment"
QUANTISATION, PROBE, BUILD = "quantisation", "probe", "build flag"
BROAD = (PLATFORM, BUILD)
"""Kinds of gates that prove nothing: nearly all users pass them, or it is unknown who does."""

Names = tuple[str, ...]


class Words(Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """The lists of names by which a report recognizes gates; `docs/reports.md` explains each list.

    Each entry is an RE2 expression that must match a whole name.
    """

    gates: dict[str, Names] = {}
    flags: Names = ()
    bounds: Names = ()
    installed: Names = ()
    states: Names = ()
    askers: Names = ()
    usual: Names = ()
    whole: Names = ()
    everywhere: Names = ()
    through: Names = ()
    settings: Names = ()
    settings_files: Names = ()
    cxx_gates: dict[str, Names] = {}
    cxx_flags: Names = ()
    own: dict[str, Names] = {}  # the series' own lists

    @classmethod
    def of(cls, lists: Iterable[bytes], own: Mapping[str, Sequence[str]]) -> Words:
        """Merge the lists of names in several TOML files, and add those of the series."""
        found: dict[str, Any] = {"own": {kind: tuple(names) for kind, names in own.items()}}
        for raw in lists:
            for key, more in toml_text.loads(raw.decode()).items():
                if isinstance(more, dict):
                    table = found.setdefault(key, {})
                    for kind, names in more.items():
                        table[kind] = [*table.get(kind, ()), *names]
                else:
                    found[key] = [*found.get(key, ()), *more]
        gates = found.get("gates", {})
        found["gates"] = {kind: gates[kind] for kind in KINDS if kind in gates}
        return convert(found, cls)

    def of_cxx(self) -> Words:
        """Return the lists of names to use for C++ and CUDA: all except `installed`."""
        gates = dict(self.cxx_gates)
        for kind, names in self.gates.items():
            gates[kind] = (*gates.get(kind, ()), *names)
        flags = (*self.cxx_flags, *self.flags)
        return replace(self, gates=gates, flags=flags, installed=())

    def kind(self, name: str) -> str | None:
        """Return the kind of gate that a name in code marks, or None if it marks none."""
        every = (*self.own.items(), *self.gates.items())
        return next((kind for kind, names in every if has(names, name)), None)

    def is_flag(self, name: str) -> bool:
        """Return whether a name in code is that of a boolean flag, rather than of a lower bound."""
        return has(self.flags, name) and not has(self.bounds, name)

    def is_own(self, name: str) -> bool:
        """Return whether the series itself lists a name as a gate."""
        return any(has(names, name) for names in self.own.values())

    def is_installed(self, name: str) -> bool:
        """Return whether a name tests what is installed, and not how the program is configured."""
        return has(self.installed, name) and not has(self.states, name)


_compiled = cache(compile_regex)


@lru_cache(maxsize=100_000)
def has(names: Names, name: str) -> bool:
    """Return whether one of the regular expressions matches all of a name."""
    return any(_compiled(expression).fullmatch(name) for expression in names)
