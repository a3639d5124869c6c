"""The structural merge of a Python file: statements, clauses, calls and lists by what they are."""

from __future__ import annotations

from collections.abc import Sequence

from patchmgr.engines.merge.region import Piece, Region, grown, pieces_of
from patchmgr.engines.structure.guards import broken_rules
from patchmgr.engines.structure.python_body import BodyMerge
from patchmgr.engines.structure.python_imports import check_merged, has_imports_of, left_by
from patchmgr.engines.structure.python_tree import Unsure, block_of
from patchmgr.engines.structure.sides import (
    IMPORTED,
    LARGEST,
    PYTHON_SUFFIXES,
    Solution,
    Texts,
)

_PUBLIC = ("__init__.py", ".pyi")


def merge_python(texts: Texts, path: str, *, marked: str) -> Solution | None:
    """Merge a Python file, or answer None where any part of it is not sure.

    `marked` is the text merge with zdiff3 markers, upstream's side first; nothing outside of its
    conflicts is touched.
    """
    if not path.endswith(PYTHON_SUFFIXES) or max(map(len, texts.sides())) > LARGEST:
        return None
    pieces = pieces_of(marked)
    if pieces is None:
        return None
    try:
        solution = _solution(texts, pieces)
        if solution is not None:
            _check_imports(texts, solution, path)
    except (Unsure, RecursionError):
        return None
    if solution is None or broken_rules(texts.base, texts.upstream, texts.fork, solution.text):
        return None
    return solution


def _check_imports(texts: Texts, solution: Solution, path: str) -> None:
    """Refuse imports that are not both sides': a text merge may have brought in some of them.

    Of a file that others import names from, none goes because it is not used there.
    """
    blocks = [block_of(text) for text in (*texts.sides(), solution.text)]
    runs = [block.statements for block in blocks if block is not None]
    if len(runs) == len(blocks):
        check_merged(*runs)
        if path.endswith(_PUBLIC) and left_by(*runs[:3]):
            raise Unsure


def _solution(texts: Texts, pieces: Sequence[Piece]) -> Solution | None:
    """Merge the texts as they differ within the conflicts, or whole where these tear statements."""
    for sides in (_within_regions(grown(pieces, texts.base)), texts):
        blocks = [block_of(side) for side in (sides.base, sides.upstream, sides.fork)]
        if blocks[0] is None or blocks[1] is None or blocks[2] is None:
            continue
        rules: set[str] = set()
        merged = BodyMerge(rules).block(blocks[0], blocks[1], blocks[2]).text
        names = tuple(sorted(rules)) or ("adjacent",)
        if merged == sides.upstream and has_imports_of(*sides.sides()):
            names = (IMPORTED,)
        return Solution(merged, names) if _has_clean(merged, pieces) else None
    return None


def _within_regions(pieces: Sequence[Piece]) -> Texts:
    """Return three texts that differ only where git left conflicts."""
    rows = [p.sides if isinstance(p, Region) else (p, p, p) for p in pieces]
    return Texts(*("".join(x for row in rows for x in row[n]) for n in range(3)))


def _has_clean(text: str, pieces: Sequence[Piece]) -> bool:
    """Say whether all that no conflict touches is in the text, in order."""
    at = 0
    for n, piece in enumerate(pieces):
        if isinstance(piece, tuple) and piece:
            found = text.find("".join(piece), at)
            if found < 0 or (not n and found):
                return False
            at = found + sum(map(len, piece))
    return not pieces[-1] or at == len(text)
