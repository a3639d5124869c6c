"""What came through without a conflict, and yet a person should look at.

A file that both sides changed, and whose merge defines something twice, or has a new line of a
kind that the other side replaced everywhere. Names and uses are the audit's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from patchmgr.engines.audit.states import Files, States
from patchmgr.engines.structure.guards_lines import growths, outdated_lines
from patchmgr.engines.structure.guards_words import is_worth_a_look
from patchmgr.engines.structure.sides import Texts

if TYPE_CHECKING:
    from patchmgr.engines.rebase import Judged

Question = tuple[Texts, str, str]
"""The three texts, the merged one, and the path of a file."""
SuspectAll = Callable[[Sequence[Question]], Callable[[], Sequence[tuple[str, ...]]]]

_PYTHON = (".py", ".pyi")


def check_merged(
    judged: Sequence[Judged], states: States, *, suspect_all: SuspectAll
) -> tuple[Judged, ...]:
    """Warn, at the last patch that carries a file, of what is suspicious in it.

    `suspect_all` starts to look at merges, and gives what is to be asked for the answers. Files
    that a conflict is left in are not looked at.
    """
    old, upstream, fork, after = states.base, states.onto, states.written, states.merged
    last = {patch.outcome.name: number for number, patch in enumerate(judged)}
    carried = list(states.carriers)
    merges, texts = _merged_texts(carried, (old, upstream, fork), after)
    counted = {path: growths(texts[path], merges[path]) for path in texts}
    suspects = [
        path
        for path in texts
        if path.endswith(_PYTHON) and is_worth_a_look(texts[path], counted[path])
    ]
    asked = suspect_all([(texts[path], merges[path], path) for path in suspects])
    told: dict[str, tuple[str, ...]] = {}
    for path in texts:
        told[path] = outdated_lines(texts[path], counted[path])
    for path, sentences in zip(suspects, asked(), strict=True):
        told[path] += sentences
    return _with_warnings(judged, told, {path: last[n] for path, n in states.carriers.items()})


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


def _with_warnings(
    judged: Sequence[Judged], told: Mapping[str, Sequence[str]], last: Mapping[str, int]
) -> tuple[Judged, ...]:
    """Return the patches with what is to be said of the files that each is the last to carry."""
    found = list(judged)
    for path, sentences in told.items():
        outcome = found[last[path]].outcome
        warnings = (*outcome.warnings, *(f"{path}: {sentence}" for sentence in sentences))
        found[last[path]] = replace(found[last[path]], outcome=replace(outcome, warnings=warnings))
    return tuple(found)


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")
