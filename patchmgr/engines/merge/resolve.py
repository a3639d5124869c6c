"""Resolve the regions that git leaves in conflict in a file, or suggest texts for them."""

from __future__ import annotations

from patchmgr.engines.merge.candidate import Resolved
from patchmgr.engines.merge.choice import LEAST, Choice, choose, text_of
from patchmgr.engines.merge.merge import candidates_of
from patchmgr.engines.structure.sides import Texts
from patchmgr.model.outcome import Suggestion


def resolve(texts: Texts, path: str, marked: bytes, least: float | None = None) -> Resolved | None:
    """Merge a file by its syntax, or suggest texts for the conflict regions that git left.

    `marked` is in git's zdiff3 style with upstream's side first. The likeliest candidate for each
    region is taken if at least the share `least` (default `LEAST`) of equally likely candidates was
    right. If that fails for any region, the result contains suggestions instead of a text. Returns
    None if a text is too large, or already contains conflict markers.
    """
    file = candidates_of(texts, path, marked.decode("utf-8", "surrogateescape"))
    if file is None:
        return None
    choices = choose(file, least=LEAST if least is None else least)
    text = text_of(file, choices)
    if text is None:
        return Resolved(None, suggestions=tuple(map(_suggested, choices)))
    taken = [one.taken for one in choices if one.taken is not None]
    return Resolved(
        _ended(text, texts),
        tuple(dict.fromkeys(one.reliability for one in taken)),
        is_layout=all(one.candidate.features["layout"] != "no" for one in taken),
    )


def _ended(text: str, texts: Texts) -> str:
    """Return the text without the line feed that a marker needs, if neither side ends with one."""
    if texts.upstream.endswith("\n") or texts.fork.endswith("\n"):
        return text
    return text.removesuffix("\n").removesuffix("\r")


def _suggested(choice: Choice) -> tuple[Suggestion, ...]:
    return tuple(
        Suggestion(one.candidate.text.encode("utf-8", "surrogateescape"), one.reliability)
        for one in choice.ranked
    )
