"""Find the reasons why a person must confirm a candidate resolution that is likely to be right.

Without the checks, 62 of 658 resolved files in C and C++ (of 1,300) were unlike a person's merge.
With the checks, 14 of the 62 and about 20 of the others are left to a person.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import eq, itemgetter
from typing import Any, TypeVar

from msgspec import Struct

from patchmgr.engines.merge.features import Subject, Words
from patchmgr.engines.merge.imports import FileImports, imported
from patchmgr.engines.merge.languages import PYTHON, TEXT, Language, code_lines, lex, tokens_of
from patchmgr.engines.merge.node_edits import token_edits
from patchmgr.engines.merge.operators import competing
from patchmgr.engines.merge.region import Region
from patchmgr.engines.merge.replay import Place
from patchmgr.engines.merge.tree import Node, likeness, lines_of, said_of, words_of
from patchmgr.engines.merge.verify import (
    Surroundings,
    blocks_opened,
    closed_in,
    code_of,
    has_layout_of,
    is_same_code,
)
from patchmgr.engines.structure.sides import Texts
from patchmgr.engines.text.distinctive import bare, is_distinctive

BY_LINES = frozenset({"ours, theirs", "theirs, ours"})
_SIDES = frozenset({"ours", "theirs"})
_JSON_MEMBER = re.compile(r'\s*(?:"(?:\\.|[^"\\])*"\s*:|[}\],]*\s*$)')
_LAST_NUMBER = re.compile(r"(.*\W)(0[xX][\da-fA-F]{1,16}|\d{1,18})([uUlL]{0,3}\W*)")
_LITERAL = re.compile(r"\"[^\"]*\"|'[^']*'|\b\d[\w.]*")
_IF = re.compile(r"\bif\s*\((.*)\)")
_CONSTANTS = frozenset({"NULL", "null", "nullptr", "true", "false", "not", "None"})
_CONVERSION = re.compile(r"%[-+ #0-9.*]*(?:hh?|ll?|[zjtLq])?[diouxXeEfFgGaAcspn]")
_WORD = re.compile(r"\w+")
_ALTERNATIVES = re.compile(r"(?<![^\s\"'(])([^\s\"'(),;]+) (?:&&|\|\|?|and|or) \1(?![^\s\"'),;])")
_JOINED = re.compile(r"\b(?=(\w+[^\w\s]{1,3}[^\W\d]\w*))")
# the first part of a name with underscores, or of a path
_PREFIX = re.compile(r"(?<![\w/.])(?:[^\W\d]\w*?_(?=\w)|\w[\w.-]*/(?=[\w.-]))")
_NUMBER = re.compile(r"\d+")
# the name of a parameter, and its default value
_PARAMETER = re.compile(r"(?:(?<=[\w*&>]\s)|(?<=[*&>]))\w+\s*(?:=[^,()]*)?(?=[,)])")
_POINTER = re.compile(r"\w+\s*\(\s*\*")  # to a function
_CALL = re.compile(r"([\w.:>-]+)\s*\((.*,.*)\);")
_NEAR = 2  # tokens between the edits of both sides
_LONGEST_RUN = 30  # words of the longest run that is checked for repetition
_NEARBY = 10  # lines before and after a region
_ALIKE = 0.9  # share of the words that two lines have in common
_REWORDED = 0.6  # the same, for a line and its new version
# An underline, a line in bold, or a heading of Markdown. A single # may begin a comment.
_HEADING = re.compile(r"\s*(?:([=~^\-])\1{2,}|\*\*.+\*\*|##+ .+)\s*$")
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_RELEASE = re.compile(rf"\W*v?({_VERSION.pattern})")
# a label on a line of its own, such as `private:` or `private slots:`
_LABEL = re.compile(r"^[ \t]*(?!(?:case|default)\b)\w+(?:[ ]\w+)?[ \t]*:\s*?$", re.MULTILINE)
_HEAD = re.compile(r"\s*[^#].*\(\s*\S")
_INCLUDED = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*([\"<](?:[^\">\n]*/)?)([^\"/>\n]+)", re.MULTILINE
)
_SIGN = re.compile(r"[(=;,{\[]")
_DECLARES = re.compile(
    r"\s*(?!(?:case|delete|else|extern|friend|goto|namespace|new|return|throw|typedef|using)\b)"
    r"(?!(?:class|enum|struct|union)\s+\w+\s*[;{])"
    r"\w(?:[\w<>,\s*&]|::)*[\s*&>](\w+)\s*(?:=[^=]|[;\[{])"
    r"|#\s*define\s+(\w+)|\s*(?:(?:let|private|public|readonly|va[lr])\s+)*([\w-]+)\??\s*:\s*[^\s:]"
)
_FUNCTION = re.compile(
    r"\s*(?!(?:await|case|defer|delete|else|go|goto|new|return|throw|yield)\b)"
    r"\w[\w<>:,\s*&]*[\s*&](\w+\s*\(.*)"
)
_USE = re.compile(r"\b([^\W\d]\w+)\s*(?=(\(|\[|->|\.\w+|[,)]))")
_SUFFIXES = ("[", "(", ".", "->", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "?.", "::")
_BRACKET = re.compile(r"[()\[\]{},]")
_LONGEST = 2000  # characters of a call, or of a line
_MOST_NAMES = 50  # for more names than this, it is faster to look at every word

_Form = tuple[str, str, str]  # the name, "." before a member, and what follows
_Side = TypeVar("_Side")


class Made(Struct, frozen=True):
    """A candidate resolution that is not judged yet, and the rule that made it."""

    rule: str
    text: str
    places: tuple[Place, ...] = ()  # that both sides changed
    asks: tuple[str, ...] = ()  # why a person must confirm the text
    features: Mapping[str, str] = {}
    spaced: str = ""  # with blank lines between insertions, if they were missing


class Conflict(Struct, frozen=True):
    """A conflict region and its file: what is the same for all candidate resolutions."""

    region: Region
    flat: Sequence[Node]  # the sides as tokens
    around: Surroundings
    subject: Subject
    texts: Texts
    # how often the file has each line, without indentation, in base, ours and theirs
    lines: Sequence[Words]
    imports: FileImports | None  # None: not Python
    has_one_answer: bool  # the changes can be merged in only one way


_Reason = Callable[[Conflict, Made], bool]


def reason(conflict: Conflict, made: Made) -> str:
    """Return why a person must confirm a candidate resolution, or "" if nobody must.

    The reason is a fault that neither side has, the first of `made.asks`, or a key of `REASONS`.
    """
    fault = (
        made.features["fails"]
        if made.features["fails"] not in ("no", "not read", "depends")
        else ""
    )
    if not fault and conflict.imports is not None:
        fault = conflict.imports.fault(made.text)
    if fault or made.asks:
        return fault or made.asks[0]
    family = conflict.around.language.family
    rows = ((name, is_so) for name, (where, is_so) in REASONS.items() if family in where.split())
    return next((name for name, is_so in rows if is_so(conflict, made)), "")


def _is_indented(conflict: Conflict, made: Made) -> bool:
    """Return whether two sides differ in layout alone, but mean different things in Python.

    The candidate may have the code of one side and the layout of the other, which is checked by
    tokens, because Python 2 cannot be parsed (pyload/pyload be459e0b40, 8da44b430b).
    """
    base, ours, theirs = map("".join, conflict.region.sides)
    ways = {
        "both": [(ours, theirs, ours), (theirs, ours, theirs)],
        "ours": [(base, ours, theirs)],
        "theirs": [(base, theirs, ours)],
    }
    return any(
        not is_same_code(one, other, conflict.around)
        and not has_layout_of(made.text, one, other, edited)
        for one, other, edited in ways.get(conflict.subject.features["layout"], [])
    ) or _is_in_another_block(conflict, made)


def _is_in_another_block(conflict: Conflict, made: Made) -> bool:
    """Return whether a line is indented more, compared with the line before, than on any side.

    One side takes an `if` away from around some lines, and the other adds an `if` to them: it came
    into the block of the line before (qutebrowser deb1471f2a).
    """
    merged, *sides = map(_steps, (made.text, *map("".join, conflict.region.sides)))
    known = [(pair, side[pair]) for side in sides for pair in side.keys() & merged.keys()]
    most = dict(sorted(known, key=itemgetter(1)))
    return any(merged[pair] > step for pair, step in most.items())


@lru_cache(maxsize=64)
def _steps(text: str) -> dict[tuple[str, str], int]:
    """Map each two adjacent lines of Python to 1 if the second is indented more, or 0, or -1."""
    lines = ((column, " ".join(tokens)) for column, tokens in code_of(text)[1])
    return {
        (one[1], other[1]): (other[0] > one[0]) - (other[0] < one[0])
        for one, other in pairwise(lines)
    }


def _is_left_as_it_was(conflict: Conflict, made: Made) -> bool:
    """Return whether one side moves or copies a line that the other side changes."""
    # A patch of redis moved two calls, and upstream removed an argument (c348269baf30). A patch of
    # llama.cpp wrote a statement into three branches, and upstream added a cast (fcd5847b7e78).
    base, *sides = map(_counted, conflict.region.sides)
    there, merged = conflict.lines[0], _counted(lines_of(made.text))
    return any(
        (one[line] < base[line] and in_one[line] >= there[line] > in_other[line])
        or (one[line] > base[line] and merged[line] and _is_reworded(line, other - base))
        for (one, in_one), (other, in_other) in _ways(
            [*zip(sides, conflict.lines[1:], strict=True)]
        )
        for line in base - other
        if _is_distinctive(line)
    )


def _is_left_alone(conflict: Conflict, _: Made) -> bool:
    """Return whether one side moves all lines of a region, and the other side only adds some."""
    # A patch sorted a list in the README of ollama into sections, and upstream added an entry at
    # its end (6febde7200).
    base, *sides = map(_counted, conflict.region.changed)
    there = conflict.lines[0]
    moved = [line for line in base if _is_distinctive(line)]
    return bool(moved) and any(
        other > base
        and all(one[line] < base[line] and in_one[line] >= there[line] for line in moved)
        for (one, in_one), (other, _) in _ways([*zip(sides, conflict.lines[1:], strict=True)])
    )


def _is_reworded(line: str, new: Iterable[str]) -> bool:
    return any(likeness(said_of(line), said_of(one)) >= _REWORDED for one in new)


def _is_renamed(conflict: Conflict, _: Made) -> bool:
    """Return whether one side removes all uses of a word, and the other side adds uses of it."""
    base = conflict.subject.base
    # Two words with a sign between them count, too, if they occur twice: a fork replaces
    # `ollama/ollama` in all imports, and upstream adds an import (ollama/ollama a7208da01b).
    pairs = [_joined_words("".join(side)) for side in conflict.region.sides]
    return (
        any(
            other[word] > base[word]
            for one, other in _ways((conflict.subject.ours, conflict.subject.theirs))
            for word in base
            if one and not one[word] and (word.isidentifier() or word in "&|")
        )
        or any(
            one and not one[pair] and other[pair] > n > 1
            for one, other in _ways(pairs[1:])
            for pair, n in pairs[0].items()
        )
        or _is_prefix_renamed(conflict)
    )


def _is_prefix_renamed(conflict: Conflict) -> bool:
    """Return whether one side removes a prefix of names from its file, and the other adds uses."""
    # One side of zeek makes `zeek_plugin_cc` of `bro_plugin_cc` and the like, and the other adds a
    # `bro_plugin_pac` (e2dc0092f3). Or `logging/base` becomes `frameworks/logging/base`, and
    # `logging/plugins/dataseries` comes (eb5a3a1a67).
    language = conflict.around.language
    region = [_prefixes("".join(lines), language) for lines in conflict.region.sides]
    texts = conflict.texts.sides()  # read only where the region has such a prefix
    return any(
        one
        and not one[prefix]
        and other[prefix] > n
        and not _prefixes(text, language)[prefix]
        and _prefixes(texts[0], language)[prefix] > 1
        for (one, text), (other, _) in _ways([*zip(region[1:], texts[1:], strict=True)])
        for prefix, n in region[0].items()
    )


@lru_cache(maxsize=64)
def _prefixes(text: str, language: Language) -> Counter[str]:
    return Counter(_PREFIX.findall("\n".join(code_lines((text,), language))))


@lru_cache(maxsize=64)
def _joined_words(text: str) -> Counter[str]:
    return Counter(_JOINED.findall(text))


def _is_used_elsewhere(conflict: Conflict, _: Made) -> bool:
    """Return whether one side removes a word from its file, and the other adds uses elsewhere.

    A patch of traefik renamed the alias of an import whose path was in conflict. Upstream had added
    four uses of the old alias, which merge without a conflict. Or the other side moves a use out of
    the region, as in gnuradio (1c9d67fc22).
    """
    known = conflict.subject
    code = words_of(said_of("\n".join(code_lines(conflict.region.base, conflict.around.language))))
    base, *sides = zip(conflict.texts.sides(), map("".join, conflict.region.sides), strict=True)
    return any(
        uses.search(text) is None and _outside_of(uses, *other) > _outside_of(uses, *base)
        for (one, (text, _)), (_, other) in _ways(
            [*zip((known.ours, known.theirs), sides, strict=True)]
        )
        for word in {*code}
        if one and not one[word] and word.isidentifier()
        for uses in (_uses_of(word, base[1]),)
    )


def _outside_of(uses: re.Pattern[str], text: str, region: str) -> int:
    return len(uses.findall(text)) - len(uses.findall(region))


def _uses_of(word: str, region: str) -> re.Pattern[str]:
    """Return a pattern for the uses of a word, of members only if the region has no other use."""
    # One side of gnuradio renames `setColor`, but not `pen.setColor` (bbbbf8b042). `re` searches
    # faster for a pattern that begins with a word than for one with `\b` before it.
    uses = re.compile(rf"{word}(?<![\w.>]{word})\b")
    return uses if uses.search(region) else re.compile(rf"{word}(?<!\w{word})\b")


def _is_at_two_places(conflict: Conflict, made: Made) -> bool:
    """Return whether the tokens around one side's edit also occur in the other side's new text.

    Upstream adds `override` between `)` and `;`, and the patch adds a function next to it that also
    ends in `);`.
    """
    base, *sides = conflict.flat
    lines = [_counted(side) for side in conflict.region.sides]
    return any(
        _is_around(base, *two) and not (made.rule == "replay" and _is_kept(lines[0], *kept))
        for two, kept in zip(_ways(sides), _ways(lines[1:]), strict=True)
    )


def _is_kept(base: Words, one: Words, other: Words) -> bool:
    """Return whether the other side has each line that one side changes, and has it once."""
    # There, `setup();` becomes `setup() override;`, and a function comes after it (gnuradio
    # 922af8c745).
    return all(base[line] == other[line] == 1 for line in base - one if line)


def _is_around(base: Node, one: Node, other: Node) -> bool:
    old, new = ([part.said for part in side.parts] for side in (base, other))
    before, after = Counter(pairwise(old)), Counter(pairwise(new))
    edits = [edit.start for edit in token_edits(base, one) if 0 < edit.start < len(old)]
    around = ((place, (old[place - 1], old[place])) for place in edits)
    places = [(place, pair) for place, pair in around if after[pair] > before[pair]]
    return any(
        edit.start - _NEAR <= place <= edit.end + _NEAR
        and pair in set(pairwise(new[edit.first : edit.last]))
        for edit in token_edits(base, other)
        for place, pair in places
    )


def _is_of_two_sections(conflict: Conflict, _: Made) -> bool:
    """Return whether both sides insert lines of two sections, or one changes a section's release.

    The other side's text is of another release then: it names the day of 0.14.4, and 0.15.0 is
    above it (datalad/datalad 7b107319e9).
    """
    old, *both = conflict.region.changed
    if old:
        was, *now = (_RELEASE.match("".join(side)) for side in (old, *both))
        releases = [found[1] for found in now if found]
        is_of_two = was is not None and len({*releases}) == 2 and was[1] in releases
        return is_of_two and conflict.subject.features["layout"] == "no"
    ours, theirs = ([line for line in side if _HEADING.match(line)] for side in both)
    # Headings with one version are one section (evennia 54e351f296: 0.9 (2019) and 0.9
    # (2018-2019)).
    versions = [{*_VERSION.findall("".join(heads))} for heads in (ours, theirs)]
    is_of_two = bool(ours) is not bool(theirs) or not versions[0].isdisjoint(versions[1])
    return all(both) and is_of_two


def _is_left_behind(conflict: Conflict, _: Made) -> bool:
    """Return whether one side changes the indentation of a line that the other side changes.

    Upstream of pytest changes a link, and the patch turns the lines around it into a comment. In
    plain text, a side that changes only the indentation of the region does not count.
    """
    base, *sides = conflict.region.changed
    is_layout = conflict.around.language is TEXT and conflict.subject.features["layout"] != "no"
    return not is_layout and any(
        _is_distinctive(line)
        and one.get(said, line).rstrip() != line.rstrip()
        and said not in other
        for one, other in _ways([{line.strip(): line for line in side} for side in sides])
        for line in base
        if (said := line.strip())
    )


def _has_one_number(conflict: Conflict, _: Made) -> bool:
    """Return whether both sides assign the next number, or bit, of a list to different things.

    Both sides add an option to curl, `CINIT(SSH_COMPRESSION, LONG, 268)` and
    `CINIT(DNS_SHUFFLE_ADDRESSES, LONG, 268)` (78d8cd8a62d5). One of the two names may have had
    another number before: upstream of KeyDB moves a flag from `1ULL<<37` to the bit that the patch
    uses (bb7e10842707).
    """
    language = conflict.around.language
    if _is_counted_by_both(conflict):
        return True
    ours, theirs = (code_lines(side, language) for side in conflict.region.changed[1:])
    mine = {(shape, number): name for shape, number, name in map(_numbered, ours)}
    pairs = [
        (shape, number, name, mine[shape, number])
        for shape, number, name in map(_numbered, theirs)
        if number > 1 and mine.get((shape, number), name) != name
    ]
    if not pairs:
        return False
    base = code_lines((conflict.texts.base,), language)
    names = {name for _, _, name in map(_numbered, base)}
    around = conflict.texts.upstream.partition("".join(conflict.region.ours))
    sides = lines_of(around[0])[-_NEARBY:], conflict.region.base, lines_of(around[2])[:_NEARBY]
    near = {_numbered(line)[:2] for lines in sides for line in code_lines(lines, language)}
    return any(
        near & {(shape, number - 1), (shape, number / 2)}
        and (shape, number) not in near
        and not {one, other} <= names
        for shape, number, one, other in pairs
    )


def _is_counted_by_both(conflict: Conflict) -> bool:
    """Return whether both sides change a count alike, each by the number of lines that it adds."""
    # Each side of FreeRDP adds a field, and takes one from the padding after them (92114d1d38).
    base, *sides = (
        [said_of(line) for line in code_lines(lines, conflict.around.language) if line.strip()]
        for lines in conflict.region.sides
    )
    added = {len(side) - len(base) for side in sides}
    both = {*sides[0]}.intersection(sides[1]).difference(base)
    return sides[0] != sides[1] and any(
        _NUMBER.sub("0", old) == _NUMBER.sub("0", new)
        and added == {abs(n - m) for n, m in zip(_numbers(old), _numbers(new), strict=True)} - {0}
        for old in {*base}.difference(*sides)
        for new in both
    )


def _numbers(said: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(said)]


def _has_mixed_parts(conflict: Conflict, made: Made) -> bool:
    """Return whether each side changes the number of another part of one thing, as of a version.

    One side begins 2.7.0, and the other one releases 2.6.1, with a line for each number: nobody
    decided that 2.7.1 is next.
    """
    # 16 merges of owncloud/client and supercollider (50179c3b54, 1fa4a87cef)
    merged = lines_of(made.text)
    base, ours, theirs = conflict.region.sides
    if made.text in conflict.around.sides or len({*map(len, (merged, base, ours, theirs))}) > 1:
        return False
    parts = {True: set[tuple[str, str]](), False: set[tuple[str, str]]()}
    for old, one, other, new in zip(base, ours, theirs, merged, strict=True):
        was, now = _numbered(old), _numbered(new)
        if new != old and was[::2] == now[::2] and (old in (one, other)):
            parts[new == one].add((was[0], was[2].rstrip().rpartition("_")[0]))
    return any(stem for _, stem in parts[True] & parts[False])


def _shares_a_literal(conflict: Conflict, made: Made) -> bool:
    """Return whether both sides change a literal alike, and each also changes its line."""
    # Both add a `%s` to a format, and each adds an argument, so one `%s` is missing.
    base, *sides = conflict.region.sides
    old, *new = (
        Counter(found for line in lines for found in _LITERAL.findall(line))
        for lines in (base, *sides)
    )
    if made.features["is"] != "neither" or not (old - new[0]) & (old - new[1]):
        return False
    for literal in (new[0] - old) & (new[1] - old):
        ours, theirs = (
            [Counter(words_of(said_of(line))) for line in side if literal in _LITERAL.findall(line)]
            for side in sides
        )
        if any(one - other and other - one for one in ours for other in theirs):
            return True
    return False


def _has_two_conditions(conflict: Conflict, made: Made) -> bool:
    """Return whether each side adds a condition of its own on the same names."""
    # One side frees a list if it is there, and the other one extends it (owncloud/client
    # 2bb52ef6f9).
    base, *sides = (
        {said_of(found[1]) for found in _IF.finditer("".join(side))}
        for side in conflict.region.sides
    )
    if made.text in conflict.around.sides:
        return False
    ours, theirs = (
        {
            frozenset(x for x in words_of(one) if x.isidentifier() and x not in _CONSTANTS): one
            for one in side - base
        }
        for side in sides
    )
    return any(names and names in theirs and theirs[names] != ours[names] for names in ours)


def _includes_from_where_it_left(conflict: Conflict, _: Made) -> bool:
    """Return whether one side includes a file from another directory, and the other uses the old.

    The other side adds an include from the directory that the first one left.
    """
    # `libiptc/libiptc.h` is in `owniptc/` now, and `libiptc/libip6tc.h` is added (collectd
    # 9d15d1058b).
    base, *sides = ({*_INCLUDED.findall("".join(side))} for side in conflict.region.sides)
    return any(
        (
            {old for old, name in base - one for _, new in one - base if new == name}
            - {x for x, _ in one}
        )
        & {folder for folder, _ in other - base}
        for one, other in _ways(sides)
    )


def _is_of_another_format(conflict: Conflict, made: Made) -> bool:
    """Return whether one side changes the conversions in a format, and the other its arguments.

    One side changes `%lu` to `%zu`, and the other casts the argument to `unsigned long`.
    """
    # collectd a4d4813438, 4e51eefd95
    if made.text in conflict.around.sides:
        return False
    base, *sides = (
        _formatted("".join(side), conflict.around.language) for side in conflict.region.sides
    )
    if not len(base) == len(sides[0]) == len(sides[1]):
        return False
    return any(
        one[0] != old[0] == other[0]
        and len(one[0]) == len(old[0])
        and other[1] != old[1]
        and other[1].count(",") == old[1].count(",")
        for old, *both in zip(base, *sides, strict=True)
        for one, other in _ways(both)
    )


def _formatted(text: str, language: Language) -> list[tuple[list[str], str]]:
    """Return the conversions in each format of a text, and the arguments after it."""
    found = list[tuple[list[str], str]]()
    tokens = [token for token in tokens_of(text, language) if token.kind != "comment"]
    for n, token in enumerate(tokens):
        if token.kind != "string" or tokens[n - 1].kind == "string":
            continue
        end = next((m for m, t in enumerate(tokens[n:], n) if t.depth < token.depth), len(tokens))
        strings = (t.text for t in tokens[n:end] if t.kind == "string")
        if conversions := _CONVERSION.findall("".join(strings)):
            rest = (t.text for t in tokens[n:end] if t.kind != "string")
            found.append((conversions, " ".join(rest)))
    return found


def _numbered(line: str) -> tuple[str, int, str]:
    """Return (shape, number, text before it) for a line that ends with a number, or ("", 0, "")."""
    found = _LAST_NUMBER.fullmatch(" ".join(line.split()))
    if found is None:
        return "", 0, ""
    before, number, after = found.groups()
    base = 16 if number[:2] in ("0x", "0X") else 10
    return _WORD.sub("w", before) + after, int(number, base), before


def _is_of_a_changed_form(conflict: Conflict, made: Made) -> bool:
    """Return whether one side adds a use of a name in a form that the other side replaced.

    The candidate may also have the replaced form itself.
    """
    # Upstream of mpv adds an argument to each call of `mp_input_queue_cmd`, and the patch adds a
    # call without it (9e990e9031db); or upstream changes `ai[i]` to `ctx->ai[i]` (e6faec5fb781).
    old, *sides = (_forms("".join(side)) for side in conflict.region.sides)
    merged = _forms(made.text)
    if made.text not in conflict.around.sides and any(
        old[form]
        and not one[form]
        and n > (other - old)[form]
        and any(new[0] == form[0] for new in one - old)
        for one, other in _ways(sides)
        for form, n in merged.items()
    ):
        return True
    added = [side - old for side in sides]
    names = sorted({form[0] for forms in added for form in forms})
    if not names:
        return False
    pattern = "|".join(names) if len(names) <= _MOST_NAMES else _WORD.pattern
    base, *others = conflict.texts.sides()
    before = _forms(base, pattern)
    return any(
        not (there := _forms(text, pattern))[form]
        and any(new[0] == form[0] and n > before[new] for new, n in there.items())
        for forms, text in zip(added, others[::-1], strict=True)
        for form in forms
        if before[form]
    )


@lru_cache(maxsize=64)
def _forms(text: str, names: str = _WORD.pattern) -> Counter[_Form]:
    """Count how often a text uses each name in each form. The pattern `names` matches the names."""
    found = Counter[_Form]()
    for at in (name.start() for name in re.finditer(names, text)):
        use = _USE.match(text, at)
        if use is not None:
            after = _arguments(text, use.end(2)) if use[2] == "(" else use[2].strip(",)")
            found[use[1], "." if text.endswith(("->", ".", "::"), 0, at) else "", after] += 1
    return found


def _arguments(text: str, at: int) -> str:
    """Return how many arguments the call opened just before `at` has, or "?" if it is too long.

    A quote is added if the first one is a string.
    """
    depth = commas = 0
    quote = '"' if text[at : at + 9].lstrip().startswith('"') else ""
    for found in _BRACKET.finditer(text, at, at + _LONGEST):
        if found[0] in "([{":
            depth += 1
        elif found[0] == ",":
            commas += depth == 0
        elif depth:
            depth -= 1
        else:
            return f"{commas + bool(text[at : found.start()].strip())}{quote}"
    return "?"


def _loses(conflict: Conflict, made: Made) -> bool:
    """Return whether the candidate lacks words that a side adds, or a side's order of words."""
    if any(place.kind == "string" and place.how == "edit" for place in made.places):
        return True  # all words of "15.1.0" are in "15.0.1"
    lacks = {made.features["keeps ours"], made.features["keeps theirs"]} - {"all", "nothing"}
    side = made.features["is"]
    # One side wraps an expression in `to_scalar()`, the other in `bits()`: scale-view at 0.24.0.
    if lacks and (made.places or "none" in lacks or side != "neither"):
        return True
    is_code = conflict.around.language.family in _CODE.split()
    if made.places and is_code and _lacks_code(conflict, made):
        return True
    of_ours = side == "theirs"
    return side != "neither" and (
        _is_reordered(conflict, of_ours=of_ours) or _drops_a_suffix(conflict, of_ours=of_ours)
    )


def _lacks_code(conflict: Conflict, made: Made) -> bool:
    """Return whether words that a side adds to the code are only in comments of the candidate."""
    # One side adds an argument `parent`, the other a comment with this word (gnuradio 865e2586b4).
    base, ours, theirs, merged = (
        Counter(words_of(said_of("\n".join(code_lines(lines, conflict.around.language)))))
        for lines in (*conflict.region.sides, (made.text,))
    )
    rest = merged - (base - ((base - ours) | (base - theirs)))
    return any(side - base - rest for side in (ours, theirs))


def _is_reordered(conflict: Conflict, *, of_ours: bool) -> bool:
    """Return whether a side changes only the order of the words in some lines (not imports)."""
    base, *sides = conflict.region.sides
    side = sides[0] if of_ours else sides[1]
    if conflict.around.language is TEXT or conflict.subject.features["what"] == "import":
        return False
    pairs = {(said_of(old), said_of(new)) for old, new in zip(base, side, strict=False)}
    is_same = all(sorted(words_of(old)) == sorted(words_of(new)) for old, new in pairs)
    return len(base) == len(side) and is_same and any(old != new for old, new in pairs)


def _drops_a_suffix(conflict: Conflict, *, of_ours: bool) -> bool:
    """Return whether the given side alone extends an expression, as from `c` to `c[0]`."""
    base, *sides = conflict.flat
    side, other = sides if of_ours else sides[::-1]
    # The other side may have the new text in another place (ckan/ckan d1ba07ffb1).
    said = f" {' '.join(part.said for part in other.parts)} "
    edits = [edit for edit in token_edits(base, side) if edit.start == edit.end and edit.first]
    runs = [side.parts[edit.first - 1 : edit.last] for edit in edits]
    return any(
        first.kind == "word"
        and rest[0].text in _SUFFIXES
        and f" {' '.join(part.said for part in (first, *rest))} " not in said
        for first, *rest in runs
    )


def _is_one_side(conflict: Conflict, made: Made) -> bool:
    """Return whether the candidate is only one side's text, although it may need the other's."""
    if made.rule not in _SIDES:
        return False
    base, ours, theirs = (set(imported("".join(side))) for side in conflict.region.sides)
    # Python code is checked for names that one side alone would lack.
    is_checked = conflict.around.language is PYTHON and not conflict.has_one_answer
    return not is_checked or not (ours | theirs) - base <= set(imported(made.text))


def _is_command(conflict: Conflict, made: Made) -> bool:
    """Return whether both sides insert commands, or items without a key, at the same position."""
    added = (line for side in conflict.region.changed[1:] for line in side)
    kinds = {place.kind for place in made.places if place.how.startswith("insert")}
    return not (kinds.isdisjoint(("line", "list")) or all(map(_JSON_MEMBER.match, added)))


def _has_two_wordings(conflict: Conflict, made: Made) -> bool:
    """Return whether the candidate has both sides' lines, which may say one thing in two ways."""
    region = conflict.region
    # In plain text, the last line may be an entry of two lists: the last release in a changelog
    # (prometheus/prometheus ae3eca0909).
    shared = (*region.head, *region.tail) if conflict.around.language is TEXT else region.head
    return made.rule in BY_LINES and any(map(_is_distinctive, shared))


def _is_of_one_block(conflict: Conflict, made: Made) -> bool:
    """Return whether both sides begin a block such as `default:`, and the candidate joins them.

    Or each puts a line into another block than the other side does (keepassxc 468519cd46).
    """
    is_open = "".join(conflict.region.head).rstrip().endswith(("{", ":"))
    base, *sides = (_around(lines, conflict.around.language) for lines in conflict.region.sides)
    return made.text not in conflict.around.sides and (
        is_open
        or any(
            _is_distinctive(line)
            and all(line in side and side[line][0] > depth for side in sides)
            and sides[0][line] != sides[1][line]
            for line, (depth, _) in base.items()
        )
    )


def _around(lines: Iterable[str], language: Language) -> dict[str, tuple[int, str]]:
    """Map each line to how many blocks are open before it, and to the text before it."""
    found, depth, text = dict[str, tuple[int, str]](), 0, ""
    for line in map(str.strip, lines):
        found.setdefault(line, (depth, text))
        depth, text = depth + sum(blocks_opened(line, language)), text + line
    return found


def _is_emptied(conflict: Conflict, made: Made) -> bool:
    """Return whether one side deletes all lines of a region, and the other wraps or changes them.

    What is left would be useless: in git's git-compat-util.h, one side deleted two includes, and
    the other put an `#if` around them (73a0d5e2578b). If the other side only adds lines before or
    after the deleted ones, its lines are kept.
    """
    old, *both = ([x.strip() for x in side] for side in conflict.region.changed)
    left = next((side for side in both if any(side)), [])
    is_emptied = made.rule.startswith("tokens") and any(old) and not all(map(any, both))
    return is_emptied and old not in (left[: len(old)], left[-len(old) :])


def _is_unaccounted(conflict: Conflict, made: Made) -> bool:
    """Return whether a word that both sides keep is lost, or a word occurs too often."""
    known, merged = conflict.subject, Counter(words_of(said_of(made.text)))
    base, sides = known.base, (known.ours, known.theirs)
    kept = base - (base - sides[0]) - (base - sides[1])
    more = merged - (base + (sides[0] - base) + (sides[1] - base))
    return bool(kept - merged) or any(map(_WORD.match, more))


def is_annotation(line: str) -> bool:
    """Return whether a line annotates the definition after it, and may thus rightly occur twice."""
    return line.lstrip().startswith(("@", "#["))


@lru_cache(maxsize=64)
def _stammered(text: str, language: Language) -> set[str]:
    """Return the words or phrases that are twice in a row in a statement: `unsigned unsigned i`."""
    # Both sides add `, NULL`, or `&& !children.get(path)`, at different places in a run of equal
    # tokens (FRRouting/frr 1a3de6c608, nextcloud/android ffeab978fb). Or `^3 || ^3` is left of two
    # alternatives (doctrine/orm db4d00a58f).
    lines = [text] if language.layout == "signs" else text.split("\n")
    found = {one[0] for one in _ALTERNATIVES.finditer(text)}
    for words in (words_of(said_of(line)) for line in lines):
        for size in range(1, min(_LONGEST_RUN, len(words) // 2) + 1):
            same = 0
            for n, is_same in enumerate(map(eq, words, words[size:])):
                same = same + 1 if is_same else 0
                # As the run goes on, its phrases have the same words, in turn.
                if same == size and any(map(str.isidentifier, words[n + 1 : n + 1 + size])):
                    found.add(" ".join(sorted(words[n + 1 : n + 1 + size])))
    return found


def _is_regrouped(conflict: Conflict, made: Made) -> bool:
    """Return whether more operators compete for an operand in the candidate than on the sides.

    Upstream changes `flags` to `flags == 3`, and the patch changes it to `mask & flags`; or they
    change `file.isImage()` to `file != null && file.isImage()` and `file.isImage() ||
    file.isVideo()` (nextcloud/android 62c918f59a). Nobody decided which operator is applied first.

    A missing comma and adjacent strings count, too. Both sides of a merge in torchao (7ca78ec6dc2a)
    add a call, and the middle lines of the calls are equal: the strings of both were in one call.
    A lost prefix counts as well: `-v1` and `v2 - v1` would give `v2 - v1`.
    """
    texts = (made.text, *map("".join, conflict.region.sides))
    merged, base, ours, theirs = (competing(text, conflict.around.language) for text in texts)
    every = ours + theirs - base
    return any(
        merged[pair] < min(every[pair], max(ours[pair], theirs[pair]))
        if pair[1] and not pair[0]
        else merged[pair] > max(every[pair], min(ours[pair], theirs[pair]))
        for pair in (*merged, *every)
    )


def _joins_lines(conflict: Conflict, made: Made) -> bool:
    """Return whether a line consists of two lines of the sides, or a comment of two comments."""
    # Each side removes one of two empty lines: `def f():` and the comment below it were one line
    # (tribler a976408033). Each puts its own comment at the end of a line (qutebrowser 2963de3d92).
    # One puts a comment on one line, and the other adds a line (doctrine/orm a0c2aa0cac).
    language = conflict.around.language
    texts = (made.text, *map("".join, conflict.region.sides))
    kinds = (_comment_lines,) if language.layout == "signs" else (_lines, _comments)
    return any(_joins_two(*({*parts(text, language)} for text in texts)) for parts in kinds)


def _joins_two(merged: set[str], *sides: set[str]) -> bool:
    """Return whether an item of the merge, but of no side, is two items of the sides joined."""
    known = set[str]().union(*sides)
    said = {one for one in known if _WORD.search(one)}
    return any(
        one[:at].rstrip() in said and one[at:].lstrip(" \t*") in said
        for one in merged - known
        for at in range(1, min(len(one), _LONGEST))
    )


def _lines(text: str, _: Language) -> Iterator[str]:
    return (line.strip() for line in lines_of(text))


def _comments(text: str, language: Language) -> Iterator[str]:
    return (token.text for token in tokens_of(text, language) if token.kind == "comment")


def _comment_lines(text: str, language: Language) -> Iterator[str]:
    return (x.strip("/* \t") for one in _comments(text, language) for x in one.split("\n"))


def _loses_a_condition(conflict: Conflict, made: Made) -> bool:
    """Return whether the candidate lacks a preprocessor condition that a side adds."""
    merged, base, *sides = map(_conditions, (lines_of(made.text), *conflict.region.sides))
    return any(side - base - merged for side in sides)


def _conditions(lines: Iterable[str]) -> Words:
    said = (" ".join(line.split()) for line in lines if line.lstrip().startswith("#"))
    return Counter(line for line in said if line.lstrip("# ").startswith(("if", "elif")))


def _has_two_remarks(conflict: Conflict, _: Made) -> bool:
    """Return whether both sides insert nothing but a comment of what follows."""
    # a file had two licences, and a class was described twice (owncloud/client 457f9b587d,
    # OpenLightingProject/ola 06a6e78a5d)
    base, *sides = ("".join(side).strip() for side in conflict.region.changed)
    return not base and all(
        side.startswith("/*") and not "".join(code_lines((side,), conflict.around.language)).strip()
        for side in sides
    )


def _is_declared_alike(conflict: Conflict, made: Made) -> bool:
    """Return whether the candidate declares a thing twice, because both sides declare it alike."""
    merged = Counter(lines_of(made.text))
    there = {line.strip(" \t\n,") for line in merged} - {""}
    old, *both = conflict.region.changed
    outside = ([*_outside(side, conflict.around.language)] for side in both)
    ours, theirs = (
        [x for x in side if x not in old and x.strip(" \t\n,") in there] for side in outside
    )
    heads = [x for x in ours if x in theirs and _HEAD.match(x) and _is_distinctive(x)]
    is_replaced = any(map(_is_distinctive, {*old}.difference(*both)))
    return any(merged[head] > 1 for head in heads) or any(
        _is_nearly(a, b) or (is_replaced and a not in theirs and b not in ours and _is_like(a, b))
        for a in ours
        for b in theirs
    )


def _is_like(one: str, other: str) -> bool:
    """Return whether two lines call different functions with the same arguments."""
    # Both sides of FreeRDP copy what was a pointer: `memcpy` and `CopyMemory` (ee36541fb7).
    calls = _CALL.fullmatch(one.strip()), _CALL.fullmatch(other.strip())
    if calls[0] is None or calls[1] is None or calls[0][1] == calls[1][1]:
        return False
    arguments = (re.sub(r"[&*\s]", "", call[2]) for call in (calls[0], calls[1]))
    return len({*arguments}) == 1


def _declared_again(text: str, _: Language) -> set[str]:
    """Return the variables, fields, keys and macros that are declared twice in the same block."""
    seen, found = [set[str]()], set[str]()
    for line in lines_of(text):
        if (declared := _DECLARES.match(line)) is not None:
            name = declared[declared.lastindex or 0]
            found |= seen[-1] & {name}
            seen[-1].add(name)
        for sign in line:
            if sign == "{":
                seen.append(set())
            elif sign == "}":
                seen[1:] = seen[1:-1]
    return found


def _ragged(text: str, _: Language) -> set[int]:
    """Return the numbers of cells in the rows of Markdown tables, or none if all are equal."""
    cells = {line.count("|") for line in lines_of(text) if line.lstrip().startswith("|")}
    return cells if len(cells) > 1 else set()


def _wordless(text: str, _: Language) -> set[str]:
    """Return the lines without any word: ` \\` is left of `a.h \\` (gnuradio 2d395c207b)."""
    return {line.strip() for line in lines_of(text) if not _WORD.search(line)} - {""}


def _is_of_older_form(conflict: Conflict, made: Made) -> bool:
    """Return whether one side puts words before each line, and the other adds a line without them.

    One side of FreeRDP puts `ALIGN64` before each field, and the other adds a field (84a8cb7dba).
    """
    base, *sides, merged = (
        [words_of(said_of(line)) for line in lines if line.strip()]
        for lines in (*conflict.region.sides, lines_of(made.text))
    )
    for one, other in _ways(sides):
        kept = [line for line in base if line in other]
        put = [{new[: -len(old)] for new in one if new[-len(old) :] == old} for old in kept]
        words = set.intersection(*put) if len(kept) > 1 else set[tuple[str, ...]]()
        if any(
            line in merged and line not in base and line[-1] == kept[0][-1]
            for line in other
            for before in words
            if any(map(str.isidentifier, before)) and line[: len(before)] != before
        ):
            return True
    return False


def _outside(lines: Iterable[str], language: Language) -> Iterator[str]:
    """Yield the lines that begin outside all brackets."""
    depth = 0
    for line in lines:
        if depth == 0:
            yield line
        signs = [token.text for token in lex(line, language) if token.kind == "sign"]
        depth += sum(x in "([{" for x in signs) - sum(x in ")]}" for x in signs)


def _is_nearly(one: str, other: str) -> bool:
    """Return whether two lines declare the same thing differently, as with other parameters."""
    functions = _FUNCTION.match(one), _FUNCTION.match(other)
    if functions[0] and functions[1] and _signature(functions[0][1]) == _signature(functions[1][1]):
        return said_of(one) != said_of(other)  # with another type, or other names of parameters
    if _SIGN.split(one, maxsplit=1)[0] != _SIGN.split(other, maxsplit=1)[0]:
        return False
    a, b = (said_of(line.strip(" \t\n,")) for line in (one, other))
    more, less = (Counter(words_of(x)) - Counter(words_of(y)) for x, y in ((a, b), (b, a)))
    return a != b and (likeness(a, b) >= _ALIKE or not (more and less))


def _signature(function: str) -> tuple[str, bool]:
    """Return a function's name and the types of its parameters, and whether it is `const`."""
    # Both sides of keepassxc declare `changeEvent(QEvent*)` (235baa3dcc).
    if _POINTER.match(function):
        return function, False
    head, _, tail = function.partition(")")
    return said_of(_PARAMETER.sub("", f"{head})")), "const" in tail


def _has_no_place(conflict: Conflict, _: Made) -> bool:
    """Return whether one side inserts lines between two lines that the other side removes."""
    # The other side has a new function there, and the line was in it (owncloud/client e87660ba28).
    old, *sides = (
        [" ".join(_WORD.findall(line)) for line in side] for side in conflict.region.sides
    )
    return any(
        all(
            f" {line} " not in said and all(likeness(line, x) < _REWORDED for x in other)
            for line in around
        )
        for one, other in _ways(sides)
        for said in [f" {' '.join(other)} "]
        for around in _inserted_between([*filter(None, old)], [*filter(None, one)])
    )


def _inserted_between(old: Sequence[str], side: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the lines of base before and after each run of lines that a side inserts."""
    pairs = {*pairwise(old)}
    known = {*old}
    places = [n for n, line in enumerate(side) if line in known]
    for at, to in pairwise(places):
        if to > at + 1 and (side[at], side[to]) in pairs:
            yield side[at], side[to]


def _is_changed_elsewhere(conflict: Conflict, made: Made) -> bool:
    """Return whether a declaration or call that both sides change has only one side's changes.

    Upstream of redis removed a parameter from a function and added another function. The parameter
    that the patch added ended up in the new function (3414221791c7). A side that only wraps the
    line does not count as changing it.
    """
    if _is_layout(conflict):
        return False
    base, *sides, merged = map(_heads, (*conflict.region.sides, lines_of(made.text)))

    def is_lost(head: str, one: str, other: str) -> bool:
        old = base[head]
        added = Counter(words_of(one)) - Counter(words_of(old)) - Counter(words_of(other))
        return bool(added) and merged.get(head) == other and not old.startswith(other)

    return any(
        is_lost(head, one[head], other[head])
        for head in base.keys() & sides[0].keys() & sides[1].keys()
        for one, other in _ways(sides)
    )


def _heads(lines: Iterable[str]) -> dict[str, str]:
    """Map the text before each line's first bracket to the line, if no other line has that text."""
    said = [said_of(line) for line in lines if "(" in line]
    heads = [line.partition("(")[0] for line in said]
    count = Counter(heads)
    return {head: line for head, line in zip(heads, said, strict=True) if count[head] == 1}


def _is_behind_an_end(conflict: Conflict, made: Made) -> bool:
    """Return whether one side's insertion follows the other's, which ends what is around both.

    For example, upstream adds a statement to a function, and the patch ends that function and
    begins another.
    """
    if _is_cut_in_two(conflict):
        return True
    base, *sides = ("".join(side).strip() for side in conflict.region.changed)
    language = conflict.around.language
    for ending, other in _ways(sides) if not base else ():
        at, to = map(made.text.find, (ending, other))
        if at < to and (
            closed_in(ending, language)
            or (0 <= at <= to - len(ending) and _ends_what_is_around(ending, other, language))
        ):
            return True
    return False


def _ends_what_is_around(before: str, after: str, language: Language) -> bool:
    """Return whether a text begins a section that is not of the text after it, or is not complete.

    It begins a section with a label such as `private:`. It is not complete if it ends with an
    attribute of a function, for example.
    """
    # A signal became a private slot (owncloud/client 0589bfc51b). `__attribute__((noreturn))` was
    # before another function (collectd 9988d61c84), and two lists of initializers were before one
    # constructor (owncloud/client 02704cdf74).
    if language.layout != "signs":
        return False
    if any(map(_LABEL.match, _outside(lines_of(before), language))) and not _LABEL.match(after):
        return True
    line = next((x.strip() for x in code_lines((before,), language)[::-1] if x.strip()), "#")
    is_open = line[0] != "#" and line[-1] not in ";{}:,>\\" and not language.continues
    return is_open and _macro(line) != _macro(after)


def _macro(text: str) -> str:
    return text.partition("(")[0].strip()


def _is_cut_in_two(conflict: Conflict) -> bool:
    """Return whether one side ends a block between two edits of the other side."""
    # One side of gnuradio makes two functions of one, and the other adds a variable before its only
    # statement, and uses it there (bbbbf8b042).
    language = conflict.around.language
    base, *sides = conflict.flat
    edits = [(side, token_edits(base, side)) for side in sides]
    return any(
        closed_in(_text(side, edit.first, edit.last), language)
        > closed_in(_text(base, edit.start, edit.end), language)
        and any(one.end <= edit.start for one in others)
        and any(edit.start <= one.start and edit.start < one.end for one in others)
        for (side, own), (_, others) in _ways(edits)
        for edit in own
        if edit.first < edit.last
    )


def _text(node: Node, start: int, end: int) -> str:
    return "".join(part.whole for part in node.parts[start:end])


def _is_cut_otherwise(conflict: Conflict, made: Made) -> bool:
    """Return whether the sides open and close different numbers of blocks."""
    # Blocks may be paired wrongly: git's region lacked the last two braces of base, so a call was
    # put into the `if` around its own (FRRouting/frr 95702ce22b).
    language = conflict.around.language
    if language.opens or _is_layout(conflict) or not made.rule.startswith("replay"):
        return False
    return len({sum(blocks_opened("".join(side), language)) for side in conflict.region.sides}) > 1


def _is_layout(conflict: Conflict) -> bool:
    """Return whether a side changes only the layout, or both sides differ only in the layout."""
    return conflict.subject.features["layout"] != "no"


def _ways(two: Sequence[_Side]) -> tuple[Sequence[_Side], Sequence[_Side]]:
    return two, two[::-1]


def _counted(lines: Iterable[str]) -> Words:
    return Counter(line.strip() for line in lines)


def _adds(found_in: Callable[[str, Language], set[Any]]) -> _Reason:
    """Return a reason that holds if `found_in` finds something in a candidate but on no side."""

    def is_new(conflict: Conflict, made: Made) -> bool:
        texts = (made.text, *map("".join, conflict.region.sides))
        found, *known = (found_in(text, conflict.around.language) for text in texts)
        return bool(found.difference(*known))

    return is_new


def _is_distinctive(line: str) -> bool:
    """Return whether a line is distinctive, so that its text is unlikely to occur by chance."""
    return is_distinctive(bare(line.encode("utf-8", "surrogateescape")))


_CODE = "python c"
_NOT_PYTHON = "c cmake json shell text toml yaml"
_ALL = f"python {_NOT_PYTHON}"
REASONS: dict[str, tuple[str, _Reason]] = {
    "indented": ("python", _is_indented),
    "moved": (_ALL, _is_left_as_it_was),
    "left alone": ("text toml yaml", _is_left_alone),
    "loses": (_ALL, _loses),
    "one side": (_ALL, _is_one_side),
    "gone": (_ALL, lambda _, made: made.features["stale"] == "gone"),
    "order": ("cmake json shell yaml", _is_command),
    "two wordings": (_ALL, _has_two_wordings),
    "one block": ("c", _is_of_one_block),
    "emptied": (_ALL, _is_emptied),
    "renamed": (_ALL, _is_renamed),
    "doubled": (_NOT_PYTHON, _is_unaccounted),
    "undone": (_ALL, lambda conflict, made: conflict.subject.is_undone(made.text)),
    "joined lines": (_ALL, _joins_lines),
    "wordless": (_ALL, _adds(_wordless)),
    "older form": (_ALL, _is_of_older_form),
    "stammers": (_ALL, _adds(_stammered)),
    "operators": (_CODE, _is_regrouped),
    "two places": (_CODE, _is_at_two_places),
    "cells": ("text", _adds(_ragged)),
    "sections": ("text", _is_of_two_sections),
    "left behind": ("text yaml", _is_left_behind),
    "same number": (_ALL, _has_one_number),
    "mixed parts": (_ALL, _has_mixed_parts),
    "format": ("c", _is_of_another_format),
    "same literal": (_CODE, _shares_a_literal),
    "used otherwise": ("c", _is_of_a_changed_form),
    "condition": ("c", _loses_a_condition),
    "declared twice": ("c", _adds(_declared_again)),
    "remarks": ("c", _has_two_remarks),
    "declared alike": ("c", _is_declared_alike),
    "two conditions": ("c", _has_two_conditions),
    "no place": ("c", _has_no_place),
    "included elsewhere": ("c", _includes_from_where_it_left),
    "elsewhere": ("c", _is_changed_elsewhere),
    "used elsewhere": (_NOT_PYTHON, _is_used_elsewhere),
    "cut": ("c", _is_cut_otherwise),
    "closes": ("c", _is_behind_an_end),
}
"""For each reason to ask a person: the families of languages it applies to, and its test."""
