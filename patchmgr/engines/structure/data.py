"""Merge a file of data, markup or build rules whose text merge is in conflict, or refuse."""

from __future__ import annotations

from patchmgr.engines.structure.data_inserts import commute_in
from patchmgr.engines.structure.data_kinds import DataKind, data_kind, grammar_of
from patchmgr.engines.structure.data_lines import clash_in
from patchmgr.engines.structure.data_proof import is_sound
from patchmgr.engines.structure.regions import joined, pieces_of, regions_of
from patchmgr.engines.structure.regions_widen import widened
from patchmgr.engines.structure.sides import Solution, Texts
from patchmgr.engines.structure.text_renames import has_stale_use
from patchmgr.engines.structure.text_rules import Answer, Language, solve_region

_SAFEST = frozenset({"same", "layout", "absorbed"})


def merge_data(texts: Texts, path: str, *, marked: str) -> Solution | None:
    """Solve every region of git's marked text by what is known of this kind of file."""
    return _merge(texts, data_kind(path), marked)


def merge_text(texts: Texts, path: str, *, marked: str) -> Solution | None:
    """Solve a text of any kind by the rules that need to know nothing of it."""
    return _merge(texts, DataKind.OTHER, marked)


def _merge(texts: Texts, kind: DataKind, marked: str) -> Solution | None:
    pieces = pieces_of(marked, texts)
    if pieces is None:
        return None
    pieces = widened(pieces, texts)
    language = Language(grammar_of(kind), clash_in(kind), commute_in(kind))
    answers: list[Answer] = []
    for region in regions_of(pieces):
        answer = solve_region(region, language)
        if answer is None or (kind is DataKind.OTHER and answer.rule not in _SAFEST):
            return None
        answers.append(answer)
    text = joined(pieces, [answer.text for answer in answers], texts)
    if kind is DataKind.SCRIPT and has_stale_use(texts, grammar_of(kind)):
        return None
    if not is_sound(text, texts, kind):
        return None
    return Solution(text, tuple(dict.fromkeys(answer.rule for answer in answers)))
