"""Find the version of a text that introduced each line."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from patchmgr.engines.text.patience import equal_ends


def origins(versions: Sequence[tuple[str | None, bytes]]) -> tuple[str | None, ...]:
    """Return, for each line of the last version, the name of the version that introduced it.

    The versions are given in order, the oldest first. Lines end at line feeds only.
    """
    owner: list[str | None] = []
    before: list[bytes] = []
    for name, content in versions:
        after = content.split(b"\n")
        owner, before = _carried(owner, before, after, name), after
    return tuple(owner)


def _carried(
    owner: Sequence[str | None], before: Sequence[bytes], after: Sequence[bytes], name: str | None
) -> list[str | None]:
    start, end = equal_ends(before, after)
    middle = SequenceMatcher(
        None, before[start : len(before) - end], after[start : len(after) - end], autojunk=False
    )
    found = list(owner[:start])
    for tag, a0, a1, b0, b1 in middle.get_opcodes():
        found += owner[start + a0 : start + a1] if tag == "equal" else [name] * (b1 - b0)
    return [*found, *(owner[len(owner) - end :] if end else ())]
