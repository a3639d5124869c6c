"""Resolve the regions that git leaves in conflict in a file: make candidates, and choose one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import takewhile
from math import exp, inf
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.merge.candidate import Candidate, Candidates, FileCandidates, Resolved
from patchmgr.engines.merge.conflict import Conflict, Made
from patchmgr.engines.merge.features import (
    CANDIDATES,
    REGIONS,
    Words,
    bucket,
    features_of,
    removed_names,
    stale,
    subject_of,
)
from patchmgr.engines.merge.imports import FileImports
from patchmgr.engines.merge.languages import (
    PYTHON,
    TEXT,
    Language,
    framed,
    language_of,
    tokens_of,
    unframed,
)
from patchmgr.engines.merge.reasons import BY_LINES, is_annotation, reason
from patchmgr.engines.merge.region import Piece, Region, grown, pieces_of, slid, widened
from patchmgr.engines.merge.replay import Replay
from patchmgr.engines.merge.statements import read
from patchmgr.engines.merge.tree import Node, leaf, lines_of, normalized, tree
from patchmgr.engines.merge.verify import NO_FAULT, Surroundings, fails, is_broken, surroundings
from patchmgr.engines.structure.sides import LARGEST, Texts
from patchmgr.model.outcome import Reliability, Suggestion

_VERSION = re.compile(r"\d+(?:\.(?:\d+|x\b))+")
_UNRELEASED = re.compile(r"\s*(?:\W+\s)?(?:dev|head|main|master|next|unreleased)\b", re.IGNORECASE)
_LONGEST = 10_000  # characters of a line; a longer one was written by a tool, such as a bundler
_MARKER = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: |$)", re.MULTILINE)


def resolve(texts: Texts, path: str, marked: bytes, least: float | None = None) -> Resolved | None:
    """Merge a file by its syntax, or suggest texts for the conflict regions that git left.

    `marked` is in git's zdiff3 style with upstream's side first. The likeliest candidate for each
    region is taken if at least the share `least` (default `LEAST`) of such candidates was right in
    the past. Returns None if a text is too large, or already contains conflict markers.
    """
    file = candidates_of(texts, path, marked.decode("utf-8", "surrogateescape"))
    if file is None:
        return None
    choices = choose(file, least=LEAST if least is None else least)
    text = text_of(file, choices)
    if text is None or is_broken(text, texts.sides(), path):
        return Resolved(None, suggestions=tuple(map(_suggested, choices)))
    taken = [one.taken for one in choices if one.taken is not None]
    return Resolved(
        _ended(text, texts),
        tuple(dict.fromkeys(one.reliability for one in taken)),
        is_layout=all(one.candidate.features["layout"] != "no" for one in taken),
    )


def _ended(text: str, texts: Texts) -> str:
    """Remove the last line feed, which git adds before a marker, if no side ends with one."""
    if texts.upstream.endswith("\n") or texts.fork.endswith("\n"):
        return text
    return text.removesuffix("\n").removesuffix("\r")


def _suggested(choice: Choice) -> tuple[Suggestion, ...]:
    return tuple(
        Suggestion(one.candidate.text.encode("utf-8", "surrogateescape"), one.reliability)
        for one in choice.ranked
    )


def candidates_of(texts: Texts, path: str, marked: str) -> FileCandidates | None:
    """Return the candidate resolutions for each conflict region that git left in `marked`.

    `marked` is in git's zdiff3 style with upstream's side first. Returns None if a text, or a line
    in conflict, is too large, or if a text already contains conflict markers.
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
    regions = (side for piece in pieces if isinstance(piece, Region) for side in piece.sides)
    if any(len(line) > _LONGEST for side in regions for line in side):
        return None
    language = language_of(path)
    pieces = widened(slid(grown(pieces, base)), language)
    found: list[str | Candidates] = []
    lines = [Counter(line.strip() for line in lines_of(text)) for text in texts.sides()]
    known = _Known(
        [removed_names(lines[0], side) for side in lines[1:]],
        texts,
        lines,
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
    """Return whether ours and theirs contain a region's lines, so that git wrote its markers."""
    if not isinstance(piece, Region):
        return True
    pairs = zip((piece.ours, piece.theirs), (ours, theirs), strict=True)
    return all("".join(lines).rstrip("\r\n") in text for lines, text in pairs)


def _of_region(region: Region, around: Surroundings, known: _Known) -> Candidates:
    sides = [read(framed(lines, around.language), around.language) for lines in region.sides]
    flat = [_flat(lines, around.language) for lines in region.sides]
    made: dict[str, Made] = {}
    also: dict[str, list[str]] = {}
    candidates = [*_replayed(sides, flat, around.language), *_plain(region)]
    if _is_newer_first(region, around):  # of equally likely candidates, the first is taken
        candidates.sort(key=lambda one: one.rule.endswith(("theirs first", "theirs, ours")))
    for each in candidates:
        made.setdefault(each.text, each)
        also.setdefault(each.text, []).append(each.rule)
    subject = subject_of(region, around.language, sides, flat)
    is_stale = stale(subject, known.texts.sides()[1:], known.removed, around.language)
    subject.features.update(known.features, stale=is_stale)
    has_one_answer = any(each.rule == "replay" for each in made.values())
    conflict = Conflict(
        region, flat, around, subject, known.texts, known.lines, known.imports, has_one_answer
    )
    found: list[Candidate] = []
    # The lines of both sides may be what a replay gives (doctrine/orm ae785757a1).
    asked = {
        normalized(one.text): one.asks
        for one in candidates
        if around.language.family == "c"
        and one.rule.startswith("replay, ")
        and "order" not in one.asks  # which lines beside them may tell
    }
    for text, each in made.items():
        features = features_of(subject, text, each.places)
        features["rule"] = _in_turn(each.rule, features["open how"])
        features["also"] = _also(each.rule, also[text])
        features["fails"] = fails(text, around)
        doubts = each.asks or asked.get(normalized(text), ())
        asks = reason(conflict, replace(each, features=features, asks=doubts))
        found.append(Candidate(each.spaced or text, each.rule, features, asks))
    standing = sum(one.features["fails"] == "no" for one in found)
    for one in found:
        one.features["candidates"] = bucket(standing, CANDIDATES)
    return tuple(found)


def _is_newer_first(region: Region, around: Surroundings) -> bool:
    """Return whether both sides add a section for a version, and upstream's is the newer one.

    The section after them must be for an older version than both.
    """
    old, ours, theirs = region.changed
    after = region.ours[len(region.ours) - region.after :], around.after.split("\n")
    next_one = next(filter(None, map(_version, after)), ())
    return around.language is TEXT and not old and _version(ours) > _version(theirs) > next_one > ()


def _version(lines: Sequence[str]) -> tuple[float, ...]:
    """Return the version in the first line that is not empty, or () if there is none."""
    line = next((line for line in lines if line.strip()), "")
    if _UNRELEASED.search(line):
        return (inf,)
    found = _VERSION.search(line)
    return tuple(float(n) if n.isdecimal() else inf for n in found[0].split(".")) if found else ()


def _also(rule: str, rules: Sequence[str]) -> str:
    """Return the first rule of another kind that gave the same text, or "none"."""
    others = [other for other in rules if other.partition(",")[0] != rule.partition(",")[0]]
    return _in_turn(others[0], "insert") if others else "none"


def _in_turn(rule: str, how: str) -> str:
    """Return the name of a rule; "in turn" replaces the order of the sides if both sides insert."""
    if rule in BY_LINES or how.startswith("insert"):
        return re.sub(r"^(ours, theirs|theirs, ours)|(ours|theirs)(?= first$)", "in turn", rule)
    return rule


class _Known(Struct, frozen=True):
    """The facts about a file in conflict that are the same for all its regions."""

    removed: Sequence[Words]
    texts: Texts
    lines: Sequence[Words]
    features: dict[str, str]
    imports: FileImports | None


def _plain(region: Region) -> Iterator[Made]:
    """Yield the lines of each side alone, and of both sides in either order."""
    yield Made("ours", "".join(region.ours))
    yield Made("theirs", "".join(region.theirs))
    first, last = region.before + len(region.head), region.after + len(region.tail)
    if region.head and is_annotation(region.head[-1]):
        first = region.before
    # If both add a function with the same last statement or first annotation, each keeps its own
    # copy.
    ours, theirs = (side[first : len(side) - last] for side in (region.ours, region.theirs))
    if any(_is_in_block_of(side, region.tail) for side in (ours, theirs)):
        ours, theirs, last = (*ours, *region.tail), (*theirs, *region.tail), region.after
    head, tail = region.ours[:first], region.ours[len(region.ours) - last :]
    gap = _empty(region.head[::-1]) or _empty(region.tail)
    for rule, one, other in (("theirs, ours", theirs, ours), ("ours, theirs", ours, theirs)):
        if ours and theirs and not _is_in_block_of(one, other):
            spaced = "".join((*head, *one, *gap, *other, *tail)) if gap else ""
            yield Made(rule, "".join((*head, *one, *other, *tail)), spaced=spaced)


def _empty(lines: Sequence[str]) -> Sequence[str]:
    """Return the empty lines at the start of `lines`."""
    return tuple(takewhile(lambda line: not line.strip(), lines))


def _is_in_block_of(lines: Sequence[str], following: Sequence[str]) -> bool:
    """Return whether `following` lines would be inside a block that `lines` begin."""
    depth = next(_depths(following), 0)
    return depth > min(_depths(lines), default=depth)


def _depths(lines: Sequence[str]) -> Iterator[int]:
    """Yield the indentation of each line, except empty lines, comments and directives."""
    return (len(x) - len(x.lstrip()) for x in lines if x.strip() and x.lstrip()[0] != "#")


def _replayed(sides: Sequence[Node], flat: Sequence[Node], language: Language) -> Iterator[Made]:
    """Yield the replays of theirs on ours: by statements and their parts, and by tokens."""
    # A side may have removed the empty line whose line feed was matched with the last one (evennia
    # beecefc19f).
    is_ended = all(side.whole[-1:] in ("", "\n") for side in sides)
    for each in (
        *_in_both_orders("replay", sides, is_python=language is PYTHON),
        *_in_both_orders("tokens", flat),
    ):
        text = unframed(each.text, language)
        yield replace(each, text=f"{text}\n" if is_ended and text[-1:] not in ("", "\n") else text)


def _in_both_orders(rule: str, sides: Sequence[Node], *, is_python: bool = False) -> Iterator[Made]:
    """Yield the merge or, if both sides changed a node, one merge that prefers each side."""
    for side in ("theirs", "ours"):
        replay = Replay(is_theirs=side == "theirs", is_python=is_python)
        try:
            text = replay.node(sides[0], sides[1], sides[2]).whole
        except RecursionError:  # nested too deeply: only the sides themselves are offered
            return
        made = f"{rule}, {side} first" if replay.places else rule
        yield Made(made, text, tuple(replay.places), tuple(replay.asks))
        if not replay.places:
            return


def _flat(lines: Sequence[str], language: Language) -> Node:
    tokens = tokens_of(framed(lines, language), language)
    return tree("code", [leaf(t.kind, t.text, lead=t.lead) for t in tokens])


# ---- the choice of a candidate, by points that were learned from people's merges

FILE = Path(__file__).with_name("choice.json")  # `python -m benchmarks.merges --write` writes it
LEAST = 0.9  # a candidate is accepted if this share of equally likely ones was right


class Points(Struct, frozen=True):
    """The points that a candidate resolution gets if its features include all those in `when`."""

    when: dict[str, str]
    points: float


class Step(Struct, frozen=True):
    """How many of the candidates with at least this likelihood were right, as measured.

    A candidate is right if it is the person's text, or differs only in order or in what the person
    dropped.
    """

    likelihood: float
    right: int
    of: int


class Table(Struct, frozen=True):
    """What was learned from people's merges: points, and how often candidates were right.

    The sum of the points that apply is the logarithm of the odds that a candidate is the person's
    own text (logistic regression). No points were learned from the repositories measured.
    """

    points: tuple[Points, ...]
    measured: dict[str, tuple[Step, ...]]  # by family of languages


class Ranked(Struct, frozen=True):
    """A candidate resolution, its likelihood, and how often equally likely ones were right."""

    candidate: Candidate
    likelihood: float
    reliability: Reliability


class Choice(Struct, frozen=True):
    """The candidate resolutions of one conflict region, the best first."""

    ranked: tuple[Ranked, ...]
    taken: Ranked | None  # the best that needs no person (None: not likely enough)


@cache
def learned_table() -> Table:
    """Return the points and measurements learned from people's merges (`choice.json`)."""
    return msgspec.json.decode(FILE.read_bytes(), type=Table)


def likelihood_of(features: Mapping[str, str], points: tuple[Points, ...]) -> float:
    """Return the likelihood that a candidate with the given features is the person's own text."""
    items = features.items()
    return 1 / (1 + exp(-sum(one.points for one in points if one.when.items() <= items)))


def choose(
    file: FileCandidates, *, least: float = LEAST, known: Table | None = None
) -> tuple[Choice, ...]:
    """Rank the candidates for each conflict region; take the best one if it is likely enough."""
    return tuple(_choice(region, least, known or learned_table()) for region in file.regions)


def _choice(region: Candidates, least: float, known: Table) -> Choice:
    ranked = [_ranked(one, known) for one in region]
    ranked.sort(key=lambda one: (breaks(one.candidate), -one.likelihood))
    first = next((one for one in ranked if not one.candidate.asks), None)
    distinct: dict[str, Ranked] = {}
    for one in ranked:
        distinct.setdefault(one.candidate.text, one)
    return Choice(tuple(distinct.values()), first if first and _is_sure(first, least) else None)


def _ranked(one: Candidate, known: Table) -> Ranked:
    likelihood = likelihood_of(one.features, known.points)
    steps = known.measured.get(one.features["language"], known.measured["other"])
    measured = Reliability(one.rule)
    if not (one.asks or breaks(one)) and (step := reached(likelihood, steps)) is not None:
        measured = Reliability(one.rule, step.right, step.of)
    return Ranked(one, likelihood, measured)


def reached(likelihood: float, steps: Sequence[Step]) -> Step | None:
    """Return how many candidates of this likelihood were right, interpolated between two steps.

    Returns None if the likelihood is lower than that of all steps.
    """
    below = [step for step in steps if step.likelihood <= likelihood]
    above = [step for step in steps if step.likelihood > likelihood]
    if above and below:
        last, following = above[-1], below[0]
        part = (last.likelihood - likelihood) / (last.likelihood - following.likelihood)
        right, of = (
            round(old + part * (new - old))
            for old, new in ((last.right, following.right), (last.of, following.of))
        )
        below.append(Step(likelihood, right, of))
    return max(below, key=lambda step: step.right / step.of, default=None)


def breaks(one: Candidate) -> bool:
    """Return whether a candidate has a fault that keeps it from being proposed first."""
    return one.features["fails"] not in NO_FAULT


def _is_sure(one: Ranked, least: float) -> bool:
    right, of = one.reliability.right or 0, one.reliability.of or 0
    return of > 0 and right / of >= least


def text_of(file: FileCandidates, choices: tuple[Choice, ...]) -> str | None:
    """Return the merged text of the file, or None if a person must resolve a conflict region."""
    taken = [one.taken for one in choices]
    texts = tuple(one.candidate.text for one in taken if one is not None)
    return file.joined(texts) if len(texts) == len(taken) else None
