"""Cases of conflicted files: a marked text, and what it should become."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from patchmgr.engines.structure.regions import Clean, Piece, pieces_of
from patchmgr.engines.structure.sides import Texts

SECTION = re.compile(r"^-- (\w+)\n", re.MULTILINE)
REGION = re.compile(
    r"^<{7} upstream\n(?P<upstream>(?:.*\n)*?)\|{7} base\n(?P<base>(?:.*\n)*?)={7}\n"
    r"(?P<fork>(?:.*\n)*?)>{7} fork\n",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Case:
    """A marked text with its sides; `expected` is None where the merge must refuse."""

    path: str
    texts: Texts
    marked: str
    expected: str | None


def texts_of(marked: str) -> Texts:
    """Take each side out of a marked text whose clean lines are in all of them."""
    base, upstream, fork = (
        REGION.sub(lambda m, s=side: str(m[s]), marked)  # type: ignore[misc]
        for side in ("base", "upstream", "fork")
    )
    return Texts(base, upstream, fork)


def cases_in(folder: str) -> list[tuple[str, Case]]:
    """Read the cases of a folder: `path`, then sections; a side's section replaces its text."""
    found = sorted((Path(__file__).parent / folder).glob("*.txt"))
    return [(file.stem, read_case(file.read_text(encoding="utf-8"))) for file in found]


def read_case(text: str) -> Case:
    """Read one case."""
    head, *parts = SECTION.split(text)
    path = head.partition("path: ")[2].strip()
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    texts = texts_of(sections["marked"])
    texts = Texts(
        sections.get("base", texts.base),
        sections.get("upstream", texts.upstream),
        sections.get("fork", texts.fork),
    )
    return Case(path, texts, sections["marked"], sections.get("expected"))


def conflict(base: str, upstream: str, fork: str, *, before: str = "", after: str = "") -> str:
    """Write a text with one region."""
    region = f"<<<<<<< upstream\n{upstream}||||||| base\n{base}=======\n{fork}>>>>>>> fork\n"
    return before + region + after


def merged_lines_stay(case: Case, merged: str) -> bool:
    """Say whether a result has git's merged lines outside of the regions, in their order."""
    pieces: tuple[Piece, ...] | None = pieces_of(case.marked, case.texts)
    assert pieces is not None
    at = 0
    for piece in pieces:
        if isinstance(piece, Clean):
            text = "".join(piece.lines)
            at = merged.find(text, at)
            if at < 0:
                return False
            at += len(text)
    return True
