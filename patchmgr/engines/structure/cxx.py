"""Merge a C++ or CUDA file whose text merge is in conflict, or refuse."""

from __future__ import annotations

from msgspec.structs import replace

from patchmgr.engines.structure.cxx_includes import merge_includes
from patchmgr.engines.structure.cxx_inserts import commute_in_cxx
from patchmgr.engines.structure.cxx_proof import is_sound
from patchmgr.engines.structure.regions import Clean, joined, pieces_of
from patchmgr.engines.structure.regions_widen import widened
from patchmgr.engines.structure.sides import Solution, Texts
from patchmgr.engines.structure.text_renames import has_stale_use
from patchmgr.engines.structure.text_rules import (
    Answer,
    Commute,
    Insertions,
    solve_region,
)
from patchmgr.engines.structure.tokens import tokens_of

_REACH = 200  # lines in front of a region that tell what a brace in it belongs to


def merge_cxx(texts: Texts, path: str, *, marked: str) -> Solution | None:
    """Solve every region of git's marked text, or answer None."""
    pieces = pieces_of(marked, texts)
    if pieces is None:
        return None
    pieces = widened(pieces, texts)
    answers: list[Answer] = []
    above: tuple[str, ...] = ()
    for piece in pieces:
        if isinstance(piece, Clean):
            above = piece.lines[-_REACH:]
            continue
        answer = merge_includes(piece)
        if answer is None:
            answer = solve_region(piece, _below(above))
        if answer is None:
            return None
        answers.append(answer)
    if not answers or has_stale_use(texts):
        return None
    text = joined(pieces, [answer.text for answer in answers], texts)
    if not is_sound(text, texts):
        return None
    return Solution(text, tuple(dict.fromkeys(answer.rule for answer in answers)))


def _below(above: tuple[str, ...]) -> Commute:
    """Return the check of insertions, which sees the lines in front of the region as well."""
    lead = tokens_of("".join(above))[:-1]

    def commute(inserted: Insertions) -> bool:
        return commute_in_cxx(replace(inserted, before=(*lead, *inserted.before)))

    return commute
