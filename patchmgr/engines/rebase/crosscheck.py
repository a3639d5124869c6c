"""Find faults in files that both sides changed and that merged without a conflict.

Such a merge may define something twice, or add a line in a form that the other side replaced
everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from patchmgr.engines.audit.places import merged_files, patch_of_texts
from patchmgr.engines.audit.states import States, Told, decoded
from patchmgr.engines.audit.syntax import new_fault
from patchmgr.engines.languages.file_types import PYTHON, language
from patchmgr.engines.structure.guards_lines import (
    LONGEST_SHOWN,
    Growths,
    growths,
    is_worth_a_look,
    outdated_lines,
)
from patchmgr.engines.structure.outdated_uses import outdated_uses
from patchmgr.engines.structure.sides import Texts
from patchmgr.formats.shown import cut
from patchmgr.model.audit import AuditFinding

Question = tuple[Texts, str, str]
"""A merge to check: base, upstream and fork, the merged text, and the path of the file."""
Suspect = Callable[[Texts, str, str], tuple[str, ...]]
"""A function that returns the warnings about one merge; its arguments are those of a `Question`."""
SuspectAll = Callable[[Sequence[Question]], Callable[[], Sequence[tuple[str, ...]]]]
"""A function that starts checking merges, and returns a function that waits for the warnings."""

_QUOTED = re.compile(r"`([^`]+)`")
_PROSE = frozenset({"Markdown", "reStructuredText", "Text"})
_NAME = re.compile(r"\w+[_0-9A-Z]\w*")  # not a word of prose


def check_merged(
    states: States, *, suspect_all: SuspectAll
) -> Callable[[Collection[Told]], tuple[Told, ...]]:
    """Start checking files that merged without a conflict; return a function to get the warnings.

    The function takes the findings of other checks, omits warnings about the names in them, and
    waits until the checks are done. Each warning comes with the name of the patch that has the
    quoted code.
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
    found = {path: _outdated(texts[path], merges[path], counted[path], path) for path in texts}

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
            for sentence in (*sentences, *_others(sentences, answers.get(path, ())))
            if not _is_about(sentence, known.get(path, ()))
        )

    return suspected


def check_file(
    sides: tuple[bytes, bytes, bytes], merged: bytes, path: str, *, suspect: Suspect
) -> tuple[str, ...]:
    """Return warnings about a merge of `sides` (base, upstream, fork), one sentence each."""
    if len({*sides, merged}) < 4 or any(b"\0" in side for side in sides):
        return ()
    fault = new_fault(path, sides[1:], merged)
    if fault is not None:
        where = f"line {fault.line}, " if fault.line else ""
        return (f"both sides parse, but their merge does not: {where}{fault.what}.",)
    texts, text = Texts(*map(decoded, sides)), decoded(merged)
    outdated = _outdated(texts, text, growths(texts, text), path)
    return (*_others(outdated, suspect(texts, text, path)), *outdated)


def _outdated(texts: Texts, merged: str, counted: Growths, path: str) -> tuple[str, ...]:
    """Return warnings about lines and uses in a form that the other side replaced everywhere."""
    is_prose = language(path) in _PROSE
    uses = (
        f"`{cut(line, LONGEST_SHOWN)}` uses `{name}` as it was before {who} changed every use"
        " of it."
        for line, name, who in outdated_uses(texts, merged, counted)
        if not is_prose or _NAME.fullmatch(name)
    )
    return (*outdated_lines(texts, counted), *uses)


def _others(told: Sequence[str], sentences: Sequence[str]) -> list[str]:
    """Return the sentences that quote no name whose outdated use `told` reports."""
    names = [name for sentence in told for name in _QUOTED.findall(sentence)[1:]]
    return [sentence for sentence in sentences if not _is_about(sentence, names)]


def _is_about(sentence: str, symbols: Collection[str]) -> bool:
    """Return whether a warning quotes any of the symbols, or the last part of its name."""
    quoted = {text.removeprefix("if ") for text in _QUOTED.findall(sentence)}
    quoted |= {text.rpartition(".")[2] for text in quoted}
    return any(s in quoted or s.rpartition(".")[2] in quoted for s in symbols if s)


def _finding(path: str, sentence: str, merged: str) -> AuditFinding:
    """Return a warning as a finding, with a line number if only one line has the quoted text."""
    quoted = next(iter(_QUOTED.findall(sentence)), None)
    lines = merged.split("\n")
    found = [n for n, line in enumerate(lines, 1) if line.strip() in (quoted, f"{quoted}:")]
    line = found[0] if len(found) == 1 else 0
    return AuditFinding("suspect", False, path, line, quoted, sentence)
