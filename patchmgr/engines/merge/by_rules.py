"""What the merge by rules makes of a file, as candidates of its regions."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from patchmgr.engines.merge.candidate import Candidate, FileCandidates, RegionCandidates
from patchmgr.engines.structure.sides import Solution

BY_RULES = "rules"
"""What made a candidate that only the merge by rules has."""
NONE, OTHER, SEVERAL = "none", "other", "several"


def with_solution(file: FileCandidates, solution: Solution | None) -> FileCandidates:
    """Say of each candidate whether the merge by rules has it, and add what only that has.

    Feature `rules`: the rule, `several` of them, `other` where they give another text, `none`
    where they refuse the file.
    """
    texts = None if solution is None else _cut(solution.text, file.pieces)
    told = iter(texts or ())
    rule = solution.rules[0] if solution and len(solution.rules) == 1 else SEVERAL
    pieces: list[str | RegionCandidates] = []
    for piece in file.pieces:
        if isinstance(piece, str):
            pieces.append(piece)
        else:
            pieces.append(_with_text(piece, next(told) if texts else None, rule))
    return FileCandidates(tuple(pieces))


def _with_text(region: RegionCandidates, text: str | None, rule: str) -> RegionCandidates:
    words = (NONE if text is None else rule if one.text == text else OTHER
             for one in region.candidates)  # fmt: skip
    found = [
        replace(one, features={**one.features, "rules": word})
        for one, word in zip(region.candidates, words, strict=True)
    ]
    if text is not None and all(one.text != text for one in found):
        shared = set.intersection(*({*one.features.items()} for one in region.candidates))
        found.insert(0, Candidate(text, BY_RULES, {**dict(sorted(shared)), "rules": rule}))
    return RegionCandidates(tuple(found))


def _cut(text: str, pieces: Sequence[str | RegionCandidates]) -> list[str] | None:
    """Return what stands in the place of each region, None where that is not sure."""
    found: list[str] = []
    at, start = 0, None
    for piece in pieces:
        if not isinstance(piece, str):
            if start is not None:
                return None
            start = at
        elif piece:
            next_at = text.find(piece, at)
            if next_at < 0 or (start is None and next_at != at):
                return None
            if start is not None:
                found.append(text[start:next_at])
                start = None
            at = next_at + len(piece)
    if start is not None:
        found.append(text[start:])
        at = len(text)
    return found if at == len(text) else None
