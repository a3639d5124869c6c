"""Make candidate resolutions for each region of a file that git leaves in conflict."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.merge.candidate import Candidate, Candidates, FileCandidates
from patchmgr.engines.merge.clashes import FileLines, clash, is_emptied, tells
from patchmgr.engines.merge.features import (
    CANDIDATES,
    REGIONS,
    FileWords,
    Subject,
    bucket,
    features_of,
    subject_of,
    words_in,
)
from patchmgr.engines.merge.imports import FileImports, imported
from patchmgr.engines.merge.languages import (
    PYTHON,
    Language,
    framed,
    language_of,
    tokens_of,
    unframed,
)
from patchmgr.engines.merge.region import Piece, Region, grown, pieces_of, widened
from patchmgr.engines.merge.replay import Place, Replay
from patchmgr.engines.merge.statements import read
from patchmgr.engines.merge.tree import Node, leaf, tree
from patchmgr.engines.merge.verify import Surroundings, fails, is_same_code, surroundings
from patchmgr.engines.structure.sides import LARGEST, Texts

_MARKER = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: |$)", re.MULTILINE)
_BY_LINES = frozenset({"ours, theirs", "theirs, ours"})
_SIDES = frozenset({"ours", "theirs"})


def candidates_of(texts: Texts, path: str, marked: str) -> FileCandidates | None:
    """Return the candidate resolutions for each conflict region that git left in `marked`.

    `marked` is in git's zdiff3 style with upstream's side first. Returns None if a text is too
    large, or already contains conflict markers.
    """
    if max(map(len, texts.sides())) > LARGEST or any(map(_MARKER.search, texts.sides())):
        return None
    if "\r\n" not in marked or "\n" in marked.replace("\r\n", ""):
        return _candidates_of(texts, path, marked)
    bare = Texts(*(text.replace("\r\n", "\n") for text in texts.sides()))
    found = _candidates_of(bare, path, marked.replace("\r\n", "\n"))
    return None if found is None else FileCandidates(tuple(map(_with_crlf, found.pieces)))


def _with_crlf(piece: str | Candidates) -> str | Candidates:
    if isinstance(piece, str):
        return piece.replace("\n", "\r\n")
    return tuple(replace(one, text=one.text.replace("\n", "\r\n")) for one in piece)


def _candidates_of(texts: Texts, path: str, marked: str) -> FileCandidates | None:
    base, ours, theirs = texts.sides()
    pieces = pieces_of(marked)
    if pieces is None or not all(_is_of(piece, ours, theirs) for piece in pieces):
        return None
    language = language_of(path)
    pieces = widened(grown(pieces, base), language)
    found: list[str | Candidates] = []
    known = _Known(
        words_in(base, ours, theirs),
        FileLines.of(texts),
        {"regions": bucket(len(pieces) // 2, REGIONS)},
        FileImports(
            base, ours, theirs, "".join(x for p in pieces if isinstance(p, tuple) for x in p)
        )
        if language is PYTHON
        else None,
    )
    for n, piece in enumerate(pieces):
        if isinstance(piece, Region):
            around = surroundings(pieces, n, language, (ours, theirs))
            found.append(_of_region(piece, around, known))
        else:
            found.append("".join(piece))
    return FileCandidates(tuple(found))


def _is_of(piece: Piece, ours: str, theirs: str) -> bool:
    """Return whether the lines of a region are in the sides, as a line may look like a marker."""
    if not isinstance(piece, Region):
        return True
    pairs = zip((piece.ours, piece.theirs), (ours, theirs), strict=True)
    return all("".join(lines).rstrip("\r\n") in text for lines, text in pairs)


def _of_region(region: Region, around: Surroundings, known: _Known) -> Candidates:
    sides = [read(framed(lines, around.language), around.language) for lines in region.sides]
    flat = [_flat(lines, around.language) for lines in region.sides]
    made: dict[str, _Made] = {}
    also: dict[str, list[str]] = {}
    for each in (*_replayed(sides, flat, around.language), *_plain(region)):
        made.setdefault(each.text, each)
        also.setdefault(each.text, []).append(each.rule)
    is_python = around.language is PYTHON  # where the checks of names tell what a side lacks
    has_one_answer = not is_python or any(each.rule == "replay" for each in made.values())
    base, *two = (set(imported("".join(lines))) for lines in region.sides)
    brought = (two[0] | two[1]) - base
    subject = subject_of(region, around.language, sides, flat)
    stale = known.words.stale(subject)
    is_indented = around.language is PYTHON and not _is_layout(region, around, subject)
    always = "indented" if is_indented else "moved" if known.lines.is_moved(region) else ""
    found: list[Candidate] = []
    for text, each in made.items():
        features = features_of(subject, text, each.places)
        features |= known.features
        features["stale"] = stale
        features["rule"] = _in_turn(each.rule, features["open how"])
        features["also"] = _also(each.rule, also[text])
        features["fails"] = fails(text, around)
        fault = known.imports.fault(text) if known.imports else ""
        fault = fault or always or asks(features, each)
        fault = fault or ("undone" if subject.is_undone(text) else "")
        if each.rule in _BY_LINES and any(map(tells, region.head)):
            fault = fault or "two wordings"
        fault = fault or clash(region, flat, text, around.language, known.lines)
        if each.rule.startswith("tokens") and is_emptied(region):
            fault = fault or "emptied"
        if each.rule in _SIDES and (has_one_answer or not brought <= set(imported(text))):
            fault = fault or "loses"
        found.append(Candidate(text, each.rule, features, fault))
    standing = sum(one.features["fails"] == "no" for one in found)
    for one in found:
        one.features["candidates"] = bucket(standing, CANDIDATES)
    return tuple(found)


def _is_layout(region: Region, around: Surroundings, subject: Subject) -> bool:
    """Return whether sides with the same words are also the same code."""
    base, ours, theirs = ("".join(lines) for lines in region.sides)
    pairs = {"both": (ours, theirs), "ours": (base, ours), "theirs": (base, theirs)}
    pair = pairs.get(subject.features["layout"])
    return pair is None or is_same_code(*pair, around)


def asks(features: Mapping[str, str], made: _Made) -> str:
    """Return why a person must confirm a candidate resolution, or "" for no reason.

    There is a reason if the candidate has a fault that the sides do not have, if it lacks words
    that a side adds, if a side uses a name that the other side removed, or if merging it found a
    place that a person must look at.
    """
    if features["fails"] not in ("no", "depends"):
        return features["fails"]
    lacks = {features["keeps ours"], features["keeps theirs"]} - {"all", "nothing"}
    # One side wraps an expression in `to_scalar()`, the other in `bits()`: scale-view at 0.24.0.
    if lacks and (made.places or "none" in lacks or features["is"] != "neither"):
        return "loses"
    if features["stale"] == "gone":
        return "gone"
    if features["language"] in _COMMANDS and any(map(_has_order, made.places)):
        return "order"
    return made.asks[0] if made.asks else ""


_COMMANDS = frozenset({"shell", "cmake", "yaml", "json"})
"""The families of languages in which the order of lines or items matters."""


def _has_order(place: Place) -> bool:
    """Return whether both sides insert commands, or items without a key, at one place."""
    return place.how.startswith("insert") and place.kind in ("line", "list")


def _also(rule: str, rules: Sequence[str]) -> str:
    """Return the names of the other rules that gave the same text."""
    others = [other for other in rules if other.partition(",")[0] != rule.partition(",")[0]]
    return _in_turn(others[0], "insert") if others else "none"


def _in_turn(rule: str, how: str) -> str:
    """Return a rule without which side's insertion is first, as that is a matter of taste."""
    if rule in _BY_LINES or how.startswith("insert"):
        return re.sub(r"^(ours, theirs|theirs, ours)|(ours|theirs)(?= first$)", "in turn", rule)
    return rule


class _Known(Struct, frozen=True):
    words: FileWords
    lines: FileLines
    features: dict[str, str]
    imports: FileImports | None


class _Made(Struct, frozen=True):
    """A text, the rule that made it, and where the sides met."""

    rule: str
    text: str
    places: tuple[Place, ...] = ()
    asks: tuple[str, ...] = ()


def _plain(region: Region) -> Iterator[_Made]:
    """Yield each side, and both of them one after the other, by lines.

    Two functions whose last statement is the same return have a tail each, and what continues the
    function around the region does not come after a new function.
    """
    yield _Made("ours", "".join(region.ours))
    yield _Made("theirs", "".join(region.theirs))
    first, last = region.before + len(region.head), region.after + len(region.tail)
    ours, theirs = (side[first : len(side) - last] for side in (region.ours, region.theirs))
    if any(_is_in_block_of(side, region.tail) for side in (ours, theirs)):
        ours, theirs, last = (*ours, *region.tail), (*theirs, *region.tail), region.after
    head, tail = region.ours[:first], region.ours[len(region.ours) - last :]
    for rule, one, other in (("theirs, ours", theirs, ours), ("ours, theirs", ours, theirs)):
        if ours and theirs and not _is_in_block_of(one, other):
            yield _Made(rule, "".join((*head, *one, *other, *tail)))


def _is_in_block_of(lines: Sequence[str], following: Sequence[str]) -> bool:
    """Return whether lines would be in a block that the lines before them open."""
    depth = next(_depths(following), 0)
    return depth > min(_depths(lines), default=depth)


def _depths(lines: Sequence[str]) -> Iterator[int]:
    """Yield the indentation of each line, without empty ones, comments and directives."""
    return (len(x) - len(x.lstrip()) for x in lines if x.strip() and x.lstrip()[0] != "#")


def _replayed(sides: Sequence[Node], flat: Sequence[Node], language: Language) -> Iterator[_Made]:
    """Yield the replays of theirs on ours: by statements and their parts, and by tokens."""
    for each in (
        *_in_both_orders("replay", sides, is_python=language is PYTHON),
        *_in_both_orders("tokens", flat),
    ):
        yield replace(each, text=unframed(each.text, language))


def _in_both_orders(
    rule: str, sides: Sequence[Node], *, is_python: bool = False
) -> Iterator[_Made]:
    """Yield one replay if only one result is possible, otherwise one that prefers each side."""
    for side in ("theirs", "ours"):
        replay = Replay(is_theirs=side == "theirs", is_python=is_python)
        try:
            text = replay.node(sides[0], sides[1], sides[2]).whole
        except RecursionError:  # nested too deep: the sides are offered as they are
            return
        made = f"{rule}, {side} first" if replay.places else rule
        yield _Made(made, text, tuple(replay.places), tuple(replay.asks))
        if not replay.places:
            return


def _flat(lines: Sequence[str], language: Language) -> Node:
    tokens = tokens_of(framed(lines, language), language)
    return tree("code", [leaf(t.kind, t.text, lead=t.lead) for t in tokens])
