"""Merge a file that git leaves in conflict: several candidates for each region."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.merge.candidate import Candidate, FileCandidates, RegionCandidates
from patchmgr.engines.merge.clashes import clash
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
from patchmgr.engines.merge.imports import FileImports
from patchmgr.engines.merge.languages import PYTHON, Language, framed, language_of, lex, unframed
from patchmgr.engines.merge.region import Piece, Region, grown, pieces_of, widened
from patchmgr.engines.merge.replay import Place, Policy, Replay
from patchmgr.engines.merge.statements import read
from patchmgr.engines.merge.tree import Node, leaf, tree
from patchmgr.engines.merge.verify import Surroundings, fails, is_same_code, surroundings
from patchmgr.engines.structure.sides import LARGEST, Texts

_MARKER = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: |$)", re.MULTILINE)
_SIDES = frozenset({"ours", "theirs"})
_BY_LINES = frozenset({"ours, theirs", "theirs, ours", "ours, theirs whole", "theirs, ours whole"})
_POLICIES = {
    Policy(is_theirs=True): "theirs first",
    Policy(is_theirs=False): "ours first",
    Policy(is_theirs=False, is_alone=True): "ours alone",
    Policy(is_theirs=True, is_alone=True): "theirs alone",
}


def candidates_of(texts: Texts, path: str, marked: str) -> FileCandidates | None:
    """Return what each region of git's zdiff3 text could become, upstream's side first.

    None for what is too large, or has markers of its own.
    """
    if max(map(len, texts.sides())) > LARGEST or any(map(_MARKER.search, texts.sides())):
        return None
    if "\r\n" not in marked or "\n" in marked.replace("\r\n", ""):
        return _candidates_of(texts, path, marked)
    bare = Texts(*(text.replace("\r\n", "\n") for text in texts.sides()))
    found = _candidates_of(bare, path, marked.replace("\r\n", "\n"))
    return None if found is None else FileCandidates(tuple(map(_with_crlf, found.pieces)))


def _with_crlf(piece: str | RegionCandidates) -> str | RegionCandidates:
    if isinstance(piece, str):
        return piece.replace("\n", "\r\n")
    texts = (replace(one, text=one.text.replace("\n", "\r\n")) for one in piece.candidates)
    return RegionCandidates(tuple(texts))


def _candidates_of(texts: Texts, path: str, marked: str) -> FileCandidates | None:
    base, ours, theirs = texts.sides()
    pieces = pieces_of(marked)
    if pieces is None or not all(_is_of(piece, ours, theirs) for piece in pieces):
        return None
    language = language_of(path)
    pieces = widened(grown(pieces, base), language)
    found: list[str | RegionCandidates] = []
    known = _Known(
        words_in(base, ours, theirs),
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
    """Say whether the lines of a region are in its texts: a line may look like a marker."""
    if not isinstance(piece, Region):
        return True
    pairs = zip((piece.ours, piece.theirs), (ours, theirs), strict=True)
    return all("".join(lines).rstrip("\r\n") in text for lines, text in pairs)


def _of_region(region: Region, around: Surroundings, known: _Known) -> RegionCandidates:
    sides = [read(framed(lines, around.language), around.language) for lines in region.sides]
    flat = [_flat(lines, around.language) for lines in region.sides]
    made: dict[str, _Made] = {}
    also: dict[str, list[str]] = {}
    for each in (*_replayed(sides, flat, around.language), *_plain(region)):
        made.setdefault(each.text, each)
        also.setdefault(each.text, []).append(each.rule)
    is_deleted = any(place.asks == "deleted" for each in made.values() for place in each.places)
    has_one_answer = any(each.rule == "replay" for each in made.values())
    subject = subject_of(region, around.language, sides, flat)
    stale = known.words.stale(subject)
    is_indented = around.language is PYTHON and not _is_layout(region, around, subject)
    found: list[Candidate] = []
    for text, each in made.items():
        features = features_of(subject, text, each.places)
        features |= known.features
        features["stale"] = stale
        features["rule"] = _in_turn(each.rule, features["open how"])
        features["also"] = _also(each.rule, also[text])
        features["fails"] = fails(text, around)
        fault = known.imports.fault(text) if known.imports else ""
        fault = fault or ("indented" if is_indented else asks(features, each.places))
        fault = fault or ("undone" if subject.is_undone(text) else "")
        fault = fault or clash(region, flat, text, around.language)
        if each.rule in _SIDES and has_one_answer:
            fault = fault or "loses"  # the replay has what both sides do
        if each.rule in _SIDES and is_deleted:
            fault = fault or "deleted"
        if around.language is not PYTHON and each.rule.endswith(" alone"):
            fault = fault or "dropped"  # what the other side adds there could stand, too
        found.append(Candidate(text, each.rule, features, fault))
    standing = sum(one.features["fails"] == "no" for one in found)
    for one in found:
        one.features["candidates"] = bucket(standing, CANDIDATES)
    return RegionCandidates(tuple(found))


def _is_layout(region: Region, around: Surroundings, subject: Subject) -> bool:
    """Say whether sides that have the same words are the same code, too."""
    base, ours, theirs = ("".join(lines) for lines in region.sides)
    pairs = {"both": (ours, theirs), "ours": (base, ours), "theirs": (base, theirs)}
    pair = pairs.get(subject.features["layout"])
    return pair is None or is_same_code(*pair, around)


def asks(features: Mapping[str, str], places: Sequence[Place]) -> str:
    """Say why a person is asked, however likely a candidate is right; nothing where none is.

    It does not stand in its file as the sides do; it has nothing of what a side adds, or is the
    other side and lacks some of it; a side uses a name anew that the other one has not any more;
    or there is a place that asks.
    """
    if features["fails"] not in ("no", "depends"):
        return features["fails"]
    if "none" in (features["keeps ours"], features["keeps theirs"]):
        return "loses"
    if features["stale"] == "gone":
        return "gone"
    if features["language"] in _COMMANDS and any(_has_order(place) for place in places):
        return "order"
    if asked := next((place.asks for place in places if place.asks), ""):
        return asked
    # One side wraps an expression in `to_scalar()`, the other in `bits()`: scale-view at 0.24.0.
    dropped = {"theirs": "keeps ours", "ours": "keeps theirs"}.get(features["is"], "")
    return "loses" if features.get(dropped, "all") not in ("all", "nothing") else ""


_COMMANDS = frozenset({"shell", "cmake", "yaml", "json"})
"""Languages whose lines are done one after the other, or whose items have their places."""


def _has_order(place: Place) -> bool:
    """Say whether both sides insert commands, or items without a key, at one place."""
    return place.is_open and place.how.startswith("insert") and place.kind in ("line", "list")


def _also(rule: str, rules: Sequence[str]) -> str:
    """Say which other makers gave the same text."""
    others = [other for other in rules if other.partition(",")[0] != rule.partition(",")[0]]
    return _in_turn(others[0], "insert") if others else "none"


def _in_turn(rule: str, how: str) -> str:
    """Return a rule without the order of what both sides insert, which is a matter of taste."""
    if rule in _BY_LINES or how.startswith("insert"):
        return re.sub(r"^(ours, theirs|theirs, ours)|(ours|theirs)(?= first$)", "in turn", rule)
    return rule


class _Known(Struct, frozen=True):
    """What is known of the whole file."""

    words: FileWords
    features: dict[str, str]
    imports: FileImports | None


class _Made(Struct, frozen=True):
    """A text, what made it, and where the sides met."""

    rule: str
    text: str
    places: tuple[Place, ...] = ()


def _plain(region: Region) -> Iterator[_Made]:
    """Yield either side and both, one after the other, by lines."""
    inner = slice(region.before, None), region.after
    base, ours, theirs = (
        side[inner[0]][: len(side) - region.before - inner[1]] for side in region.sides
    )
    head = region.ours[: region.before]
    tail = region.ours[len(region.ours) - region.after :]

    def whole(*lines: str) -> str:
        return "".join((*head, *lines, *tail))

    yield _Made("ours", whole(*ours))
    yield _Made("theirs", whole(*theirs))
    trimmed = (len(region.head), len(region.tail))
    mine, other = (_cut(side, trimmed) for side in (ours, theirs))
    if mine and other:
        yield _Made("theirs, ours", whole(*region.head, *other, *mine, *region.tail))
        yield _Made("ours, theirs", whole(*region.head, *mine, *other, *region.tail))
        if any(trimmed):
            yield _Made("theirs, ours whole", whole(*theirs, *ours))
            yield _Made("ours, theirs whole", whole(*ours, *theirs))
    if base not in (ours, theirs):
        yield _Made("base", whole(*base))


def _cut(lines: Sequence[str], trimmed: tuple[int, int]) -> Sequence[str]:
    return lines[trimmed[0] : len(lines) - trimmed[1]]


def _replayed(sides: Sequence[Node], flat: Sequence[Node], language: Language) -> Iterator[_Made]:
    """Yield the replays of theirs on ours: by statements and their parts, and by tokens."""
    for each in (
        *_under_policies("replay", sides, is_python=language is PYTHON),
        *_under_policies("tokens", flat),
    ):
        yield replace(each, text=unframed(each.text, language))


def _under_policies(
    rule: str, sides: Sequence[Node], *, is_python: bool = False
) -> Iterator[_Made]:
    """Yield one replay where there is only one answer, else one under each policy."""
    for policy, name in _POLICIES.items():
        replay = Replay(policy, is_python=is_python)
        try:
            text = replay.node(sides[0], sides[1], sides[2]).whole
        except RecursionError:  # nested too deep: the sides are offered as they are
            return
        is_open = any(place.is_open for place in replay.places)
        yield _Made(f"{rule}, {name}" if is_open else rule, text, tuple(replay.places))
        if not is_open:
            return


def _flat(lines: Sequence[str], language: Language) -> Node:
    tokens = lex(framed(lines, language), language)
    return tree("code", [leaf(t.kind, t.text, lead=t.lead) for t in tokens])
