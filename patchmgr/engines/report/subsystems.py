"""Group paths into subsystems: by the globs of the series, by labels or owners, or by folders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from patchmgr.formats.regexes import compile_regex

_ANY = "**"
_LONGEST = 30_000  # characters of a glob; no path is as long
_WILD = {"*": "[^/]*", "?": "[^/]"}


class Globs:
    """A list of globs. A glob matches a path if it matches the path or a folder around it."""

    def __init__(self, globs: Sequence[str]) -> None:
        self._expressions = [
            compile_regex(_expression(glob), longest=5 * _LONGEST)
            for glob in globs
            if len(glob) <= _LONGEST
        ]

    def match(self, path: str) -> bool:
        """Return whether any of the globs matches a path or a folder that contains the path."""
        text = path.encode("utf-8", "replace").decode()
        return any(expression.fullmatch(text) for expression in self._expressions)


def _expression(glob: str) -> str:
    """Return a glob as a regular expression for RE2. No glob can make RE2 slow."""
    text = glob.strip().lstrip("/")
    if text.endswith(f"/{_ANY}") and text.strip("*/"):
        text = text[: -len(_ANY)]  # everything in the folder
    *folders, name = text.rstrip("/").split("/")
    around = "".join("(?:.*/)?" if part == _ANY else f"{_part(part)}/" for part in folders)
    own = ".*" if name == _ANY else _part(name)
    return f"(?s){around}{own}{'/.+' if text.endswith('/') else '(?:/.*)?'}"


def _part(text: str) -> str:
    return "".join(_WILD.get(sign) or re.escape(sign) for sign in text)


Rules = tuple[tuple[str, tuple[str, ...]], ...]
"""The name and the globs of each subsystem, in order."""

CODEOWNERS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
LABELERS = (".github/labeler.yml", ".github/labeler.yaml")
_SECTION = re.compile(r"\^?\[([^\]]+)\]")  # of GitLab
_LABEL = re.compile(r"([\"']?)([^\s\"'#-][^\"'#]*?)\1:\s*(\[.*\])?\s*(?:#.*)?$")
_GLOB = re.compile(r"[\"']([^\"']+)[\"']|([\w./*?@+-]+)")
_KEYS = (
    "any-glob-to-any-file", "any-glob-to-all-files", "all-globs-to-any-file",
    "all-globs-to-all-files", "changed-files", "any", "all", "base-branch", "head-branch",
)  # fmt: skip


def read_codeowners(content: bytes) -> Rules:
    """Return a name and a glob for each line of CODEOWNERS; the last glob that matches counts.

    The name is that of the section or, outside of sections, the path at the start of the glob.
    """
    found: list[tuple[str, tuple[str, ...]]] = []
    section = ""
    for line in content.decode("utf-8", "replace").splitlines():
        words = re.split(r"(?<!\\)\s+", line.partition(" #")[0].strip())
        heading = _SECTION.match(line)
        if heading is not None:
            section = heading[1]
        elif words[0] and not words[0].startswith("#"):
            glob = words[0].replace("\\ ", " ")
            name = section or re.split(r"[*?\[]", glob, maxsplit=1)[0].strip("/")
            if name:
                found.append((name, (glob if "/" in glob.strip("/") else f"**/{glob}",)))
    return tuple(found)


def read_labeler(content: bytes) -> Rules:
    """Return the labels in a labeler.yml, in order, each with its globs."""
    found: dict[str, list[str]] = {}
    label = ""
    for line in content.decode("utf-8", "replace").splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not line[0].isspace() and not line.startswith("-"):
            match = _LABEL.match(line)
            label = match[2] if match else ""
        if label:
            found.setdefault(label, []).extend(_globs(line))
    return tuple((name, tuple(globs)) for name, globs in found.items() if globs)


def _globs(line: str) -> Iterator[str]:
    text = line.strip().lstrip("- ")
    key, colon, rest = text.partition(":")
    if colon and (key.strip("\"'") in _KEYS or not line[0].isspace()):
        text = rest
    for quoted, plain in _GLOB.findall(text):
        glob = quoted or plain
        if ("/" in glob or "*" in glob or "." in glob) and not glob.startswith("!"):
            yield glob


SETTINGS, LABELS, OWNERS, FOLDERS = "series.toml", "labels", "CODEOWNERS", "folders"


class Subsystems(Struct, frozen=True):
    """A rule that names the subsystem of a path. `source` says where the rule comes from."""

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
    """Return the rule that names subsystems: series.toml (`own`), labels, CODEOWNERS or folders.

    `read` returns a file at the pin, and `fallback` returns the top folder of a path.
    """
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
    """Return a function that maps a path to its top folder.

    If most paths are in one folder, its subfolders count as top folders. `among` is the number of
    all paths, if `paths` are only some of them.
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
