"""Merge a C++ or CUDA file whose text merge is in conflict, or refuse."""

from __future__ import annotations

from patchmgr.engines.structure.cxx_includes import merge_includes
from patchmgr.engines.structure.cxx_inserts import commute_in_cxx
from patchmgr.engines.structure.cxx_proof import is_sound
from patchmgr.engines.structure.regions import joined, pieces_of, regions_of
from patchmgr.engines.structure.regions_widen import widened
from patchmgr.engines.structure.sides import Solution, Texts
from patchmgr.engines.structure.text_renames import has_stale_use
from patchmgr.engines.structure.text_rules import Answer, Language, solve_region
from patchmgr.engines.structure.tokens import Grammar

_CXX = Language(Grammar.C, commute=commute_in_cxx)


def merge_cxx(texts: Texts, path: str, *, marked: str) -> Solution | None:
    """Solve every region of git's marked text, or answer None."""
    pieces = pieces_of(marked, texts)
    if pieces is None:
        return None
    pieces = widened(pieces, texts)
    answers: list[Answer] = []
    for region in regions_of(pieces):
        answer = merge_includes(region)
        if answer is None:
            answer = solve_region(region, _CXX)
        if answer is None:
            return None
        answers.append(answer)
    if not answers or has_stale_use(texts, Grammar.C):
        return None
    text = joined(pieces, [answer.text for answer in answers], texts)
    if not is_sound(text, texts):
        return None
    return Solution(text, tuple(dict.fromkeys(answer.rule for answer in answers)))
