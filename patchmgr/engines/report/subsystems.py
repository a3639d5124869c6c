"""Put paths into subsystems: by the series' own globs, by labels or owners, else by folders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from patchmgr.formats.owners import (
    CODEOWNERS,
    LABELERS,
    Globs,
    Rules,
    read_codeowners,
    read_labeler,
)

SETTINGS, LABELS, OWNERS, FOLDERS = "series.toml", "labels", "CODEOWNERS", "folders"


class Subsystems(Struct, frozen=True):
    """A rule that names the subsystem of a path; `source` says where it is from."""

    source: str
    _rules: tuple[tuple[str, Globs], ...]
    _takes_last: bool
    _fallback: Callable[[str], str]

    def of(self, path: str) -> str:
        """Return the name of the subsystem that a path belongs to."""
        rules = reversed(self._rules) if self._takes_last else self._rules
        for name, globs in rules:
            if globs.match(path):
                return name
        return self._fallback(path)


def subsystems(
    own: Mapping[str, Sequence[str]],
    read: Callable[[str], bytes | None],
    fallback: Callable[[str], str],
) -> Subsystems:
    """Return the rule for a project; `read` gives files of the pin, `fallback` a folder."""
    if own:
        rules: Rules = tuple((name, tuple(globs)) for name, globs in own.items())
        return _made(SETTINGS, rules, fallback)
    for paths, reader, source in (
        (LABELERS, read_labeler, LABELS),
        (CODEOWNERS, read_codeowners, OWNERS),
    ):
        for path in paths:
            content = read(path)
            found = reader(content) if content is not None else ()
            if found:
                return _made(source, found, fallback)
    return _made(FOLDERS, (), fallback)


def _made(source: str, rules: Rules, fallback: Callable[[str], str]) -> Subsystems:
    parsed = tuple((name, Globs(globs)) for name, globs in rules)
    return Subsystems(source, parsed, source == OWNERS, fallback)


def folders_of(paths: Sequence[str], among: int | None = None) -> Callable[[str], str]:
    """Return the rule by top folders: one with more than half of the paths is split once more.

    There are `among` paths in all where not all are given.
    """
    tops = [_top(path, 1) for path in paths]
    whole = len(tops) if among is None else among
    split = next((top for top in set(tops) if tops.count(top) * 2 > whole), None)

    def rule(path: str) -> str:
        top = _top(path, 1)
        return top if top != split else _top(path, 2)

    return rule


def _top(path: str, levels: int) -> str:
    return "/".join(path.split("/")[:-1][:levels]) or "."
