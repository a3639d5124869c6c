"""Say whether two insertions of lines in one place are distinct and free of order."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from patchmgr.engines.structure.data_kinds import DataKind
from patchmgr.engines.structure.text_rules import Commute, Insertions, never_commute
from patchmgr.engines.structure.tokens import Kind, Token, text_of

Keys = Callable[[Sequence[str]], frozenset[str] | None]

_NAME = re.compile(r"\s*([A-Za-z0-9][\w.\-]*)")
_KEY = re.compile(r"\s*(\"[^\"]*\"|'[^']*'|[\w.\-]+)\s*=\s*\S")
_TABLE = re.compile(r"\s*\[+[^\]]+\]+\s*(#.*)?$")
_ITEM = re.compile(r"\s*\"(?:\\.|[^\"\\])*\",\s*(#.*)?$")
_YAML_KEY = re.compile(r"(\s*)(- )?(\"[^\"]*\"|'[^']*'|[\w.\-/]+):(?:\s|$)")
_YAML_ITEM = re.compile(r"(\s*)- ([\w.\-/*]+)\s*(#.*)?$")
_NAMING = frozenset({"name", "label", "id", "repo", "key", "group"})
_BULLET = re.compile(r"(\s*(?:[-*+]|\|)\s+)\S")
_ENTRY = re.compile(r"(\s*)[\w./\-]+$")
_SOURCE = re.compile(r"\"?[\w./${}\-]+\.(?:c|cc|cpp|cu|cuh|cxx|h|hpp|py)\"?")
_PATTERN = re.compile(r"[^!\s#]\S*")


def commute_in(kind: DataKind) -> Commute:
    """Return what tells, for a kind of file, whether two insertions commute."""
    if kind in _ELEMENTS:
        return _ELEMENTS[kind]
    keys = _KEYS.get(kind)
    if keys is None:
        return never_commute

    def distinct(inserted: Insertions) -> bool:
        sides = (inserted.fork, inserted.upstream)
        if not _begins_line(inserted.before) or not all(map(_is_whole, sides)):
            return False
        mine, other = (keys(_lines(side)) for side in sides)
        return mine is not None and other is not None and bool(mine and other and not mine & other)

    return distinct


def _begins_line(before: Sequence[Token]) -> bool:
    return not before or before[-1].kind is Kind.EOL


def _is_whole(tokens: Sequence[Token]) -> bool:
    return bool(tokens) and tokens[-1].kind is Kind.EOL


def _lines(tokens: Sequence[Token]) -> list[str]:
    return [line for line in text_of(tokens).split("\n") if line.strip()]


def _code(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if not line.lstrip().startswith("#")]


def _requirement_keys(lines: Sequence[str]) -> frozenset[str] | None:
    names = [_NAME.match(line) for line in _code(lines)]
    if not all(names):
        return None
    return frozenset(_package(n[1]) for n in names if n is not None)


def _package(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _toml_keys(lines: Sequence[str]) -> frozenset[str] | None:
    keys: set[str] = set()
    for line in _code(lines):
        key = _KEY.match(line)
        if key is not None and _is_one_line(line):
            keys.add(key[1].strip("\"'"))
        elif _ITEM.match(line):
            item = _NAME.match(line.strip()[1:])
            keys.add(_package(item[1]) if item is not None else line.strip())
        else:
            return None
    return frozenset(keys)


def _is_one_line(line: str) -> bool:
    plain = re.sub(r"\"(?:\\.|[^\"\\])*\"|'[^']*'", "", line)
    if '"' in plain or "'" in plain:
        return False
    return all(plain.count(a) == plain.count(b) for a, b in ("[]", "{}"))


def _yaml_keys(lines: Sequence[str]) -> frozenset[str] | None:
    """Return the keys of whole mapping entries or named items; None for what has an order."""
    code = _code(lines)
    if not code:
        return None
    depth = len(code[0]) - len(code[0].lstrip())
    keys: set[str] = set()
    for line in code:
        indent = len(line) - len(line.lstrip())
        if indent < depth:
            return None
        if indent > depth:
            continue
        key, item = _YAML_KEY.match(line), _YAML_ITEM.match(line)
        if key is not None and (key[2] is None or key[3] in _NAMING):
            keys.add(line.strip() if key[2] else key[3])
        elif item is not None:
            keys.add(item[2])
        else:
            return None
    return frozenset(keys)


def _markup_keys(lines: Sequence[str]) -> frozenset[str] | None:
    """Return the list items, table rows or entries of a table of contents, all of one kind."""
    for shape in (_BULLET, _ENTRY):
        found = [shape.match(line) for line in lines]
        heads = {head[1] for head in found if head is not None}
        if all(found) and len(heads) == 1:
            return frozenset(_first_cell(line) for line in lines)
    return None


def _first_cell(line: str) -> str:
    text = line.strip()
    return text.split("|")[1].strip() if text.startswith("|") else text


def _pattern_keys(lines: Sequence[str]) -> frozenset[str] | None:
    code = _code(lines)
    if not all(_PATTERN.match(line) for line in code):
        return None
    return frozenset(line.split()[0] for line in code)


def _members_commute(inserted: Insertions) -> bool:
    """Say whether both sides insert members with keys of their own into a JSON object."""
    mine, other = _members(inserted.fork), _members(inserted.upstream)
    return bool(mine and other) and not mine & other


def _members(tokens: Sequence[Token]) -> frozenset[str]:
    texts = [token.text for token in tokens]
    if texts.count(",") and texts[0] != "," and texts[-1] != ",":
        return frozenset()
    keys: set[str] = set()
    depth, due = 0, True
    for n, text in enumerate(texts):
        if text == "," and depth == 0:
            due = True
        elif due and depth == 0:
            if not text.startswith('"') or texts[n + 1 : n + 2] != [":"] or text in keys:
                return frozenset()
            keys.add(text)
            due = False
        depth += (text in ("{", "[")) - (text in ("}", "]"))
    return frozenset(keys) if depth == 0 and "," in (texts[0], texts[-1]) else frozenset()


def _sources_commute(inserted: Insertions) -> bool:
    """Say whether both sides insert source files into a list of CMake."""
    mine, other = (frozenset(_names(side)) for side in (inserted.fork, inserted.upstream))
    names = mine | other
    return bool(mine and other) and not mine & other and all(map(_SOURCE.fullmatch, names))


def _names(tokens: Sequence[Token]) -> list[str]:
    return "".join(t.gap + t.text for t in tokens if t.kind is not Kind.COMMENT).split()


_ELEMENTS: dict[DataKind, Commute] = {
    DataKind.JSON: _members_commute,
    DataKind.CMAKE: _sources_commute,
}
_KEYS: dict[DataKind, Keys] = {
    DataKind.REQUIREMENTS: _requirement_keys,
    DataKind.TOML: _toml_keys,
    DataKind.YAML: _yaml_keys,
    DataKind.MARKUP: _markup_keys,
    DataKind.PATTERNS: _pattern_keys,
}
