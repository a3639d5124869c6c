"""What came through without a conflict, and yet a person should look at.

A file that both sides changed, and whose merge defines something twice, or has a new line of a
kind that the other side replaced everywhere. Names and uses are the audit's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from patchmgr.engines.audit.states import Files, States, Told
from patchmgr.engines.audit.syntax import new_fault
from patchmgr.engines.audit.usage import outdated_uses
from patchmgr.engines.structure.guards_lines import Growths, growths, outdated_lines
from patchmgr.engines.structure.guards_words import is_worth_a_look
from patchmgr.engines.structure.sides import Texts
from patchmgr.model.audit import AuditFinding

Question = tuple[Texts, str, str]
"""The three texts, the merged one, and the path of a file."""
Suspect = Callable[[Texts, str, str], tuple[str, ...]]
"""Return what is suspicious in the merge of three texts of the file at a path."""
SuspectAll = Callable[[Sequence[Question]], Callable[[], Sequence[tuple[str, ...]]]]

_PYTHON = (".py", ".pyi")
_QUOTED = re.compile(r"`([^`]+)`")


def check_merged(
    states: States, *, suspect_all: SuspectAll
) -> Callable[[Collection[Told]], tuple[Told, ...]]:
    """Begin to look for what is suspicious in the files that merged.

    What is returned waits for it; it is told of the last patch that carries each file, but for
    names that something was told of already. `suspect_all` starts to look at merges, and gives
    what is to be asked for the answers. Files that a conflict is left in are not looked at.
    """
    old, upstream, fork, after = states.base, states.onto, states.written, states.merged
    merges, texts = _merged_texts([*states.carriers], (old, upstream, fork), after)
    counted = {path: growths(texts[path], merges[path]) for path in texts}
    suspects = [
        path
        for path in texts
        if path.endswith(_PYTHON) and is_worth_a_look(texts[path], counted[path])
    ]
    asked = suspect_all([(texts[path], merges[path], path) for path in suspects])
    found = {path: _outdated(texts[path], merges[path], counted[path]) for path in texts}

    def suspected(told: Collection[Told]) -> tuple[Told, ...]:
        known: dict[str, list[str]] = {}
        for _, finding in told:
            known.setdefault(finding.path, []).append(finding.symbol or "")
        answers = dict(zip(suspects, asked(), strict=True))
        return tuple(
            (states.carriers[path], _finding(path, sentence, merges[path]))
            for path, sentences in found.items()
            for sentence in (*sentences, *answers.get(path, ()))
            if not _is_about(sentence, known.get(path, ()))
        )

    return suspected


def check_file(
    sides: tuple[bytes, bytes, bytes], merged: bytes, path: str, *, suspect: Suspect
) -> tuple[str, ...]:
    """Return what is suspicious in the clean merge of base, upstream and fork of one file."""
    if len({*sides, merged}) < 4 or any(b"\0" in side for side in sides):
        return ()
    fault = new_fault(path, sides[1:], merged)
    if fault is not None:
        return (f"both sides parse, and their merge does not: line {fault.line}, {fault.what}.",)
    texts, text = Texts(*map(_decoded, sides)), _decoded(merged)
    return (*suspect(texts, text, path), *_outdated(texts, text, growths(texts, text)))


def _outdated(texts: Texts, merged: str, counted: Growths) -> tuple[str, ...]:
    """Return the lines and uses of a kind that the other side replaced everywhere."""
    return (*outdated_lines(texts, counted), *outdated_uses(texts, merged, counted))


def _is_about(sentence: str, symbols: Collection[str]) -> bool:
    """Say whether a sentence is about one of some names, or about one's last part."""
    quoted = {text.removeprefix("if ") for text in _QUOTED.findall(sentence)}
    quoted |= {text.rpartition(".")[2] for text in quoted}
    return any(s in quoted or s.rpartition(".")[2] in quoted for s in symbols if s)


def _finding(path: str, sentence: str, merged: str) -> AuditFinding:
    """Return a suspicion, with its line where what it quotes is one line only."""
    quoted = next(iter(_QUOTED.findall(sentence)), None)
    said = merged.split("\n")
    lines = [n for n, line in enumerate(said, 1) if line.strip() in (quoted, f"{quoted}:")]
    line = lines[0] if len(lines) == 1 else 0
    return AuditFinding("suspect", False, path, line, quoted, sentence)


def _merged_texts(
    paths: Sequence[str], sides: Sequence[Files], after: Files
) -> tuple[dict[str, str], dict[str, Texts]]:
    """Return the merged files that both sides changed, and those sides."""
    merges: dict[str, str] = {}
    texts: dict[str, Texts] = {}
    for path in paths:
        if len({side.blob(path) for side in (*sides, after)} - {None}) < 4:
            continue
        content = after.read(path)
        before = [side.read(path) for side in sides]
        if content is not None and b"\0" not in content and None not in before:
            merges[path] = _decoded(content)
            texts[path] = Texts(*(_decoded(side or b"") for side in before))
    return merges, texts


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")
