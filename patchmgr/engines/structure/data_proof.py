"""Prove that a merged file of data says what its sides say together."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from patchmgr.engines.structure.data_kinds import DataKind, grammar_of
from patchmgr.engines.structure.sides import Texts
from patchmgr.engines.structure.text_counts import is_possible
from patchmgr.engines.structure.tokens import contents, tokens_of
from patchmgr.formats import toml_text

_NAME = re.compile(r"([A-Za-z0-9][\w.\-]*)(\[[^\]]*\])?\s*([<>=!~;@#]|$)")
_YAML_KEY = re.compile(r"( *)((?:- +)*)(\"[^\"]*\"|'[^']*'|[^\s#:'\"-][^:#]*):(?:\s|$)")
_ANCHOR = re.compile(r"(?:^|(?<=[\s\[{,]))([&*])([A-Za-z][\w\-]*)(?=\s|[,\]}]|$)", re.MULTILINE)
_WORDS = {"if": "fi", "case": "esac", "do": "done"}


def is_sound(merged: str, texts: Texts, kind: DataKind) -> bool:
    """Say whether a merged text parses where its sides do and has lost or doubled nothing."""
    sides = (texts.base, texts.upstream, texts.fork)
    grammar = grammar_of(kind)
    now, *split = (Counter(contents(tokens_of(text, grammar))) for text in (merged, *sides))
    if not is_possible(now, split):
        return False
    proof = _PROOFS.get(kind)
    return proof is None or proof(merged, sides)


def _parsed(text: str, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(text)
    except (ValueError, RecursionError):
        return None


def _json_of(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_without_doubles)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _values_prove(merged: str, sides: Sequence[str], parse: Callable[[str], Any]) -> bool:
    values = [_parsed(text, parse) for text in sides]
    now = _parsed(merged, parse)
    if any(value is None for value in values):
        return False
    return now is not None and agrees(now, *values)


def agrees(now: Any, base: Any, upstream: Any, fork: Any) -> bool:
    """Say whether a value is the three-way merge of others, key by key and item by item."""
    if upstream == fork or fork == base:
        return bool(now == upstream)
    if upstream == base:
        return bool(now == fork)
    values = (now, base, upstream, fork)
    if all(isinstance(value, dict) for value in values):
        keys = now.keys() | base.keys() | upstream.keys() | fork.keys()
        return all(agrees(*(value.get(key, _ABSENT) for value in values)) for key in keys)
    if all(isinstance(value, list) for value in values):
        return _items_agree(*(Counter(map(repr, value)) for value in values))
    return now in (upstream, fork) and isinstance(now, str) and upstream in now and fork in now


_ABSENT = object()


def _items_agree(
    now: Counter[str], base: Counter[str], upstream: Counter[str], fork: Counter[str]
) -> bool:
    if not is_possible(now, (base, upstream, fork)):
        return False
    return all(now[item] == 1 or max(upstream[item], fork[item]) > 1 for item in now)


def _proves_yaml(merged: str, sides: Sequence[str]) -> bool:
    """Say whether no key stands twice in a mapping and each alias has its anchor, as in a side."""
    faults = [{*_doubled_keys(text), *_bad_anchors(text)} for text in (merged, *sides)]
    return faults[0] <= faults[2] | faults[3]


def _bad_anchors(text: str) -> set[str]:
    """Return the aliases without an anchor before them, and the anchors that stand twice."""
    anchors: set[str] = set()
    bad: set[str] = set()
    for sign, name in _ANCHOR.findall(text):
        if (sign == "&") == (name in anchors):
            bad.add(sign + name)
        if sign == "&":
            anchors.add(name)
    return bad


def _doubled_keys(text: str) -> list[str]:
    """Return key paths that stand twice in one mapping, as far as indentation shows."""
    doubled: list[str] = []
    open_: list[tuple[int, str, set[str]]] = [(-1, "", set())]
    for line in text.split("\n"):
        found = _YAML_KEY.match(line)
        stripped = line.lstrip()
        if not stripped or stripped.startswith("#"):
            continue
        indent = len(line) - len(stripped)
        while len(open_) > 1 and open_[-1][0] > indent:
            open_.pop()
        if stripped.startswith("- "):
            indent += len(stripped) - len(stripped[2:].lstrip())
        if found is None:
            continue
        if open_[-1][0] < indent:
            open_.append((indent, open_[-1][1], set()))
        keys = open_[-1][2]
        if found[3] in keys:
            doubled.append(f"{open_[-1][1]}/{found[3]}")
        keys.add(found[3])
        open_[-1] = (open_[-1][0], open_[-1][1].rpartition("/")[0] + "/" + found[3], keys)
    return doubled


def _proves_requirements(merged: str, sides: Sequence[str]) -> bool:
    counts = [_packages(text) for text in (merged, *sides)]
    return all(n <= max(counts[2][name], counts[3][name]) for name, n in counts[0].items())


def _packages(text: str) -> Counter[str]:
    names = (_NAME.match(line) for line in text.split("\n"))
    return Counter(re.sub(r"[-_.]+", "-", n[1]).lower() for n in names if n is not None)


def _proves_script(merged: str, sides: Sequence[str]) -> bool:
    """Say whether `if`, `case` and `do` close as they do in the sides, function names are whole."""
    if all(map(_closes, sides[1:])) and not _closes(merged):
        return False
    counts = [Counter(re.findall(r"(?m)^\s*(\w+)\s*\(\)", text)) for text in (merged, *sides)]
    return all(n <= max(counts[2][name], counts[3][name]) for name, n in counts[0].items())


def _closes(text: str) -> bool:
    plain = re.sub(r"(?m)(^|\s)#.*$", "", text)
    words = Counter(re.findall(r"(?m)(?:^|[;&|]|\bthen|\belse|\bdo)\s*(\w+)\b", plain))
    return all(words[start] == words[end] for start, end in _WORDS.items())


def _proves_cmake(merged: str, sides: Sequence[str]) -> bool:
    """Say whether parentheses close as they do in the sides."""
    depths = [text.count("(") - text.count(")") for text in (merged, *sides)]
    return depths[0] in (depths[2], depths[3])


_PROOFS: dict[DataKind, Callable[[str, Sequence[str]], bool]] = {
    DataKind.JSON: lambda merged, sides: _values_prove(merged, sides, _json_of),
    DataKind.TOML: lambda merged, sides: _values_prove(merged, sides, toml_text.loads),
    DataKind.YAML: _proves_yaml,
    DataKind.CMAKE: _proves_cmake,
    DataKind.REQUIREMENTS: _proves_requirements,
    DataKind.SCRIPT: _proves_script,
}
