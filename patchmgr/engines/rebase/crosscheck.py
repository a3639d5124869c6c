"""Find faults in files that both sides changed and that merged without a conflict.

Such a merge may define something twice, or add a line in a form that the other side replaced
everywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from itertools import islice
from keyword import kwlist

from patchmgr.engines.audit.outline import words
from patchmgr.engines.audit.places import merged_files, patch_of_texts
from patchmgr.engines.audit.states import States, Told, decoded
from patchmgr.engines.audit.syntax import new_fault
from patchmgr.engines.languages.file_types import PYTHON
from patchmgr.engines.structure.guards_lines import (
    LONGEST_SHOWN,
    Growths,
    growths,
    is_worth_a_look,
    outdated_lines,
)
from patchmgr.engines.structure.sides import Texts
from patchmgr.model.audit import AuditFinding

Question = tuple[Texts, str, str]
"""A merge to check: base, upstream and fork, the merged text, and the path of the file."""
Suspect = Callable[[Texts, str, str], tuple[str, ...]]
"""A function that returns the warnings about one merge; its arguments are those of a `Question`."""
SuspectAll = Callable[[Sequence[Question]], Callable[[], Sequence[tuple[str, ...]]]]
"""A function that starts checking merges, and returns a function that waits for the warnings."""

_QUOTED = re.compile(r"`([^`]+)`")


def check_merged(
    states: States, *, suspect_all: SuspectAll
) -> Callable[[Collection[Told]], tuple[Told, ...]]:
    """Start checking cleanly merged files, and return a function that waits for the warnings.

    The function takes the findings of other checks, and omits warnings about the names in them.
    Each finding has the patch from which the quoted code comes.
    """
    merges, texts = dict[str, str](), dict[str, Texts]()
    for path, contents in merged_files(states):
        if not any(b"\0" in each for each in contents):
            base, fork, upstream, merges[path] = map(decoded, contents)
            texts[path] = Texts(base, upstream, fork)
    counted = {path: growths(texts[path], merges[path]) for path in texts}
    suspects = [
        path
        for path in texts
        if path.endswith(PYTHON) and is_worth_a_look(texts[path], counted[path])
    ]
    asked = suspect_all([(texts[path], merges[path], path) for path in suspects])
    found = {path: _outdated(texts[path], merges[path], counted[path]) for path in texts}

    def suspected(told: Collection[Told]) -> tuple[Told, ...]:
        known: dict[str, list[str]] = {}
        for _, finding in told:
            known.setdefault(finding.path, []).append(finding.symbol or "")
        answers = dict(zip(suspects, asked(), strict=True))
        return tuple(
            (
                patch_of_texts(states, path, _QUOTED.findall(sentence)),
                _finding(path, sentence, merges[path]),
            )
            for path, sentences in found.items()
            for sentence in (*sentences, *answers.get(path, ()))
            if not _is_about(sentence, known.get(path, ()))
        )

    return suspected


def check_file(
    sides: tuple[bytes, bytes, bytes], merged: bytes, path: str, *, suspect: Suspect
) -> tuple[str, ...]:
    """Return warnings about a clean merge of `sides` (base, upstream, fork), one sentence each."""
    if len({*sides, merged}) < 4 or any(b"\0" in side for side in sides):
        return ()
    fault = new_fault(path, sides[1:], merged)
    if fault is not None:
        where = f"line {fault.line}, " if fault.line else ""
        return (f"both sides parse, but their merge does not: {where}{fault.what}.",)
    texts, text = Texts(*map(decoded, sides)), decoded(merged)
    return (*suspect(texts, text, path), *_outdated(texts, text, growths(texts, text)))


def _outdated(texts: Texts, merged: str, counted: Growths) -> tuple[str, ...]:
    """Return warnings about lines and uses in a form that the other side replaced everywhere."""
    return (*outdated_lines(texts, counted), *outdated_uses(texts, merged, counted))


def _is_about(sentence: str, symbols: Collection[str]) -> bool:
    """Return whether a warning quotes one of the symbols, or the last part of its name."""
    quoted = {text.removeprefix("if ") for text in _QUOTED.findall(sentence)}
    quoted |= {text.rpartition(".")[2] for text in quoted}
    return any(s in quoted or s.rpartition(".")[2] in quoted for s in symbols if s)


def _finding(path: str, sentence: str, merged: str) -> AuditFinding:
    """Return a warning as a finding, with a line number if only one line has the quoted text."""
    quoted = next(iter(_QUOTED.findall(sentence)), None)
    said = merged.split("\n")
    lines = [n for n, line in enumerate(said, 1) if line.strip() in (quoted, f"{quoted}:")]
    line = lines[0] if len(lines) == 1 else 0
    return AuditFinding("suspect", False, path, line, quoted, sentence)


_NAME = r"[^\W\d]\w*(?:\.\w+)*"
_ARGUMENT = re.compile(
    r"#[^\n]*|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|(?:None|True|False|nullptr)\b"
    r"|\w+[ \t]*=(?!=)|\w+|\*+|[^\s\w]"
)
_PLAIN = frozenset({"None", "True", "False", "nullptr"})
_KEYWORDS = frozenset({*kwlist, "case", "catch", "delete", "new", "sizeof", "switch", "throw"})
_FEWEST = 2  # fewest uses in base, other than calls, that are evidence if all of them changed
_LONGEST = 2000  # most tokens read of a call: an unbalanced bracket in a comment can hide its end

Use = tuple[str, str]
"""A dotted name, and what follows it: `.`, `[`, or the kinds of a call's arguments."""
Counted = Callable[[str, str], Counter[Use]]
"""A function that counts the uses of a name in a text."""


def outdated_uses(texts: Texts, merged: str, counted: Growths) -> tuple[str, ...]:
    """Return warnings about new uses of names in a form that the other side changed everywhere."""
    # Of 662 merges that people left unchanged, none has such a use; of 107 that they corrected,
    # five have one, such as nm-vllm f19ddfb1 (`ops.gptq_shuffle`).
    told: list[str] = []
    count = cache(lambda text, name: Counter(_uses(text, name)))
    for who, other, gone, new in (
        ("upstream", texts.upstream, counted.upstream, counted.fork),
        ("the patch", texts.fork, counted.fork, counted.upstream),
    ):
        lost = {use for line, count in gone.items() if count < 0 for use in _uses(line)}
        lines = [line for line, count in new.items() if count > 0]
        first = {name.partition(".")[0] for name, _ in lost}
        likely = (line for line in lines if not first.isdisjoint(words(line)))
        fresh = [(use, line) for line in likely for use in _uses(line)]
        again = lost.intersection(use for use, _ in fresh)
        outdated = {u for u in again if _is_outdated(u, texts.base, other, merged, count)}
        found = {use[0]: line for use, line in reversed(fresh) if use in outdated}
        for name, line in sorted(found.items()):
            shown = line.strip()[:LONGEST_SHOWN]
            told.append(f"`{shown}` uses `{name}` as it was before {who} changed every use of it.")
    return tuple(told)


def _is_outdated(use: Use, base: str, other: str, merged: str, count: Counted) -> bool:
    """Return whether the merge uses a name in a form that `other` no longer uses."""
    name, how = use
    if name not in other or (how in (".", "[") and f"{name}{how}" in other):
        return False
    now, was = count(other, name), count(base, name)
    fewest = _FEWEST if how in (".", "[") else 1
    if now[use] or was[use] < fewest or all(now[each] <= was[each] for each in now):
        return False
    return count(merged, name)[use] > 0


def _uses(text: str, name: str = "") -> Iterator[Use]:
    """Yield the uses of `name` in a text, or of every name if `name` is empty."""
    # The search for a name is fast because its pattern begins with the name itself.
    plain = re.escape(name)
    pattern = rf"({plain})(?<![\w.]{plain})" if name else rf"(?<![\w.])({_NAME})"
    for match in re.finditer(rf"{pattern}(?!\w)[ \t]*([.(\[]?)", text):
        parts = match[1].split(".")
        if match[1] in _KEYWORDS:
            continue  # `else (1,)` is not a call
        if not name:
            yield from ((".".join(parts[:end]), ".") for end in range(1, len(parts)))
        if match[2] == "(":
            kinds = _kinds(text, match.end())
            if kinds is not None:
                yield match[1], kinds
        elif match[2]:
            yield match[1], match[2]


def _kinds(text: str, start: int) -> str | None:
    """Return the kinds of a call's arguments, or None if the end of the call is not found."""
    kinds: list[str] = []
    depth, is_first = 0, True
    for match in islice(_ARGUMENT.finditer(text, start), _LONGEST):
        token = match[0]
        if token[0] == "#":
            continue
        if depth == 0 and token == ")":
            return f"({', '.join(sorted(kinds))})"
        if is_first and token != ",":
            is_kind = token in _PLAIN or token[-1] == "=" or token[0] == "*"
            kinds.append(token.replace(" ", "") if is_kind else "_")
        is_first = depth == 0 and token == ","
        depth += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
    return None
