"""Resolve what git leaves of a file in conflict, or say what its regions could become."""

from __future__ import annotations

from msgspec.structs import replace

from patchmgr.engines.merge.candidate import Resolved
from patchmgr.engines.merge.choice import Choice, Ranked, choose
from patchmgr.engines.merge.merge import candidates_of
from patchmgr.engines.structure.regions import pieces_of
from patchmgr.engines.structure.reliability import reliability_of
from patchmgr.engines.structure.sides import Solution, Texts
from patchmgr.engines.structure.solvers import merge_structure
from patchmgr.model.outcome import Reliability, Suggestion

LAYOUT = "layout"
"""The rule where one side changed the format alone."""


def resolve(
    texts: Texts, path: str, marked: bytes, least: float = 0.0, suggests: bool = False
) -> Resolved | None:
    """Merge a file by its structure, given git's zdiff3 text with upstream's side first.

    What the rules make of it is taken where each of them was right in a share of `least`. What is
    left comes with what its regions could become if that `suggests`, which takes longer. None for
    what is too large to be read, or has markers of its own.
    """
    shown = marked.decode("utf-8", "surrogateescape")
    solution = merge_structure(texts, path, marked)
    if solution is not None:
        known = tuple(reliability_of(rule, path) for rule in solution.rules)
        if all(_share(one) >= least for one in known):
            return Resolved(solution.text, known, is_layout=set(solution.rules) == {LAYOUT})
    if not suggests or pieces_of(shown, texts) is None:
        return None
    if not all(_has_crlf(text) for text in (shown, *filter(None, texts.sides()))):
        return _suggestions(texts, path, shown, solution)
    bare = Texts(*map(_without_crlf, texts.sides()))
    if solution is not None:
        solution = replace(solution, text=_without_crlf(solution.text))
    found = _suggestions(bare, path, _without_crlf(shown), solution)
    return None if found is None else _with_crlf(found)


def _share(known: Reliability) -> float:
    return (known.right or 0) / known.of if known.of else 0.0


def _without_crlf(text: str) -> str:
    return text.replace("\r\n", "\n")


def _has_crlf(text: str) -> bool:
    return 0 < text.count("\n") == text.count("\r\n") and text.count("\r") == text.count("\n")


def _with_crlf(found: Resolved) -> Resolved:
    """Return suggestions with the line ends of a file that has no others."""
    suggestions = tuple(
        tuple(replace(one, text=one.text.replace(b"\n", b"\r\n")) for one in region)
        for region in found.suggestions
    )
    return replace(found, suggestions=suggestions)


def _suggestions(
    texts: Texts, path: str, marked: str, solution: Solution | None
) -> Resolved | None:
    file = candidates_of(texts, path, marked, solution)
    if file is None:
        return None
    return Resolved(None, suggestions=tuple(map(_suggested, choose(file))))


def _suggested(choice: Choice) -> tuple[Suggestion, ...]:
    return tuple(
        Suggestion(one.candidate.text.encode("utf-8", "surrogateescape"), _said(one))
        for one in choice.ranked
    )


def _said(one: Ranked) -> Reliability:
    known = one.reliability
    if not known.of:
        return Reliability(one.candidate.rule)
    return Reliability(one.candidate.rule, known.right, known.of)
