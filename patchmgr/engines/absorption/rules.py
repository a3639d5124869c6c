"""The rules of absorption that can be switched off to measure what each of them is worth."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple


class Rule(NamedTuple):
    """A rule, and what it is for."""

    name: str
    reason: str


RULES = (
    Rule("own landing", "a step that brings mostly this series may have half of a patch rewritten"),
    Rule("left out", "what a landing left out of a patch, review took out: it goes with the patch"),
    Rule("along", "a patch of which later ones left nothing goes with them, between landed ones"),
    Rule("target", "a patch that no one step landed is in where the target has every line of it"),
    Rule("reverted", "what a later step takes back is needed again"),
    Rule("landed again", "what landed once more after that is in"),
    Rule("old text", "a hunk whose old text is back at the target is needed again"),
    Rule("news", "a place where upstream wrote nothing has not taken a hunk in other words"),
    Rule("deletion", "a deletion is in where nothing that replaced the lines is left"),
    Rule(
        "coincidence", "a number that both sides change alike is no evidence for the lines beside"
    ),
    Rule("order", "what stands elsewhere is not there, where order is meaning"),
    Rule("white space", "indentation and the inside of strings are meaning"),
)

ALL_ON: Set[str] = frozenset()
