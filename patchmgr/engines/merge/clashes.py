"""Find changes of both sides that merge as text but may be wrong together.

Of 1,300 files of C and C++, 658 were resolved without this check, and 62 of these differed from the
person's merge. The check leaves 14 of the 62 to a person, and about 18 of the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from patchmgr.engines.merge.features import Words
from patchmgr.engines.merge.languages import PYTHON, TEXT, YAML, Language, lex, tokens_of
from patchmgr.engines.merge.node_edits import token_edits
from patchmgr.engines.merge.region import Region
from patchmgr.engines.merge.tree import Node, likeness, lines_of, said_of, words_of
from patchmgr.engines.merge.uses import is_of_a_changed_form
from patchmgr.engines.structure.sides import Texts
from patchmgr.engines.text.distinctive import bare, is_telling

_LAST_NUMBER = re.compile(r"(.*\W)(0[xX][\da-fA-F]{1,16}|\d{1,18})(\W*)")
_WORD = re.compile(r"\w+")
_NEAR = 2  # tokens between the edits of both sides
_ALIKE = 0.9  # share of the words of two lines
_REWORDED = 0.6  # the same, of a line and what it becomes
# An underline, a line in bold type, or a heading of Markdown; a single # may begin a remark.
_HEADING = re.compile(r"\s*(?:([=~^\-])\1{2,}|\*\*.+\*\*|##+ .+)\s*$")
_HEAD = re.compile(r"\s*[^#].*\(\s*\S")
_SIGN = re.compile(r"[(=;,{\[]")
_DECLARES = re.compile(
    r"\s*(?!(?:case|delete|else|extern|friend|goto|namespace|new|return|throw|typedef|using)\b)"
    r"(?!(?:class|enum|struct|union)\s+\w+\s*[;{])"
    r"\w(?:[\w<>,\s*&]|::)*[\s*&>](\w+)\s*(?:=[^=]|[;\[{])"
)


def clash(
    region: Region, flat: Sequence[Node], text: str, language: Language, file: FileLines
) -> str:
    """Return why a person must confirm a candidate resolution `text`, or "" for no reason.

    `flat` are base, ours and theirs of the region as tokens, and `file` are the lines of the file.
    Python has few reasons here, as the checks of names find the others.
    """
    base, *words = (Counter(words_of(side.said)) for side in flat)
    if any(_lacks(base, *two) for two in (words, words[::-1])):
        return "renamed"
    if language is not PYTHON:
        fault = _unaccounted(Counter(words_of(said_of(text))), base, *words)
        if fault:
            return fault
    if _keeps_a_copy(region, text):
        return "copied"
    stammers = set[str]().union(*(_stammers("".join(side), language) for side in region.sides))
    if _stammers(text, language) - stammers:
        return "doubled"
    is_code = language is PYTHON or language.family == "c"
    texts = [text, *("".join(side) for side in region.sides)] if is_code else [""]
    joined, *joined_before = (_joined_strings(each, language) for each in texts)
    if joined.difference(*joined_before):
        return "strings"
    if is_code and any(_is_at_two_places(flat[0], *two) for two in (flat[1:], flat[:0:-1])):
        return "two places"
    if is_code and any(_is_run_on(flat[0], *two) for two in (flat[1:], flat[:0:-1])):
        return "one expression"
    old, *both = (side[region.before : len(side) - region.after] for side in region.sides)
    if language is TEXT and not old and all(both):
        begins, also_begins = (any(map(_HEADING.match, side)) for side in both)
        if begins is not also_begins:
            return "sections"  # of which one the other side's lines are
    is_nested = language in (TEXT, YAML)
    if is_nested and any(_is_left_behind(old, *x) for x in (both, both[::-1])):
        return "indented"
    if file.is_counted_twice(*both):
        return "same number"
    if language.family != "c":
        return ""
    if file.is_of_a_changed_form(region):
        return "used otherwise"
    merged, before, *after = map(_conditions, (lines_of(text), *region.sides))
    if any((side - before) - merged for side in after):
        return "loses"
    if _declared_again(lines_of(text)).difference(*map(_declared_again, region.sides)):
        return "declared twice"
    if _is_changed_elsewhere(region, text):
        return "elsewhere"
    if not old and _is_behind_a_closed_one(["".join(side) for side in both], text, language):
        return "closes"
    there = {line.strip() for line in text.split("\n")} - {""}
    ours, theirs = (
        [x for x in _outside(side, language) if x not in old and x.strip() in there]
        for side in both
    )
    if any(_is_nearly(a, b) for a in ours for b in theirs):
        return "declared twice"
    heads = [x for x in ours if x in theirs and _HEAD.match(x) and tells(x)]
    if any(lines_of(text).count(head) > 1 for head in heads):
        return "declared twice"
    return ""


def is_emptied(region: Region) -> bool:
    """Return whether one side deletes all lines of a region, and the other wraps or changes them.

    What is left then is of no use: two includes around which git's git-compat-util.h got an `#if`
    (73a0d5e2578b). Lines before or after the deleted ones are kept.
    """
    old, *both = (
        [line.strip() for line in side[region.before : len(side) - region.after]]
        for side in region.sides
    )
    left = next((side for side in both if any(side)), [])
    is_emptied = any(old) and not all(map(any, both))
    return is_emptied and old not in (left[: len(old)], left[-len(old) :])


class FileLines(Struct, frozen=True):
    """How often each line occurs in base, and in ours and in theirs, of a file."""

    texts: Texts
    base: Counter[str]
    sides: tuple[Counter[str], Counter[str]]

    @staticmethod
    def of(texts: Texts) -> FileLines:
        """Count the lines of a file, whatever their indentation."""
        base, ours, theirs = (_counted(lines_of(text)) for text in texts.sides())
        return FileLines(texts, base, (ours, theirs))

    def is_moved(self, region: Region) -> bool:
        """Return whether one side moves a line out of a region, and the other side changes it.

        Where it is now, the change would be lost: a patch of redis moved two calls into a new
        function, and upstream took an argument out of them (c348269baf30).
        """
        base, *sides = map(_counted, region.sides)
        gone = [line for line in (base - sides[0]) & (base - sides[1]) if tells(line)]
        return any(
            mover[line] >= self.base[line] > other[line]
            for mover, other in (self.sides, self.sides[::-1])
            for line in gone
        )

    def is_of_a_changed_form(self, region: Region) -> bool:
        """Return whether one side uses a name in a form that the other side changed everywhere."""
        base, ours, theirs = ("".join(side) for side in region.sides)
        return is_of_a_changed_form(base, ours, theirs, self.texts)

    def is_counted_twice(self, ours: Sequence[str], theirs: Sequence[str]) -> bool:
        """Return whether both sides give the next number, or bit, in the file to different things.

        Both sides add an option to curl, `CINIT(SSH_COMPRESSION, LONG, 268)` and
        `CINIT(DNS_SHUFFLE_ADDRESSES, LONG, 268)` (78d8cd8a62d5).
        """
        mine = {(shape, number): name for shape, number, name in map(_numbered, ours)}
        pairs = [
            (shape, number, name, mine[shape, number])
            for shape, number, name in map(_numbered, theirs)
            if number > 1 and mine.get((shape, number), name) != name
        ]
        base = list(map(_numbered, self.base)) if pairs else []
        numbers = {(shape, number) for shape, number, _ in base}
        names = {name for _, _, name in base}
        return any(
            numbers & {(shape, number - 1), (shape, number / 2)}
            and (shape, number) not in numbers
            and names.isdisjoint((one, other))
            for shape, number, one, other in pairs
        )


def _numbered(line: str) -> tuple[str, int, str]:
    """Return the shape of a line whose last word is a number, the number, and what is before it.

    Returns an empty shape for another line.
    """
    found = _LAST_NUMBER.fullmatch(" ".join(line.split()))
    if found is None:
        return "", 0, ""
    before, number, after = found.groups()
    base = 16 if number[:2] in ("0x", "0X") else 10
    return _WORD.sub("w", before) + after, int(number, base), before


def _counted(lines: Iterable[str]) -> Counter[str]:
    return Counter(line.strip() for line in lines)


def tells(line: str) -> bool:
    """Return whether a line says something that few other lines say."""
    return is_telling(bare(line.encode("utf-8", "surrogateescape")))


def _keeps_a_copy(region: Region, text: str) -> bool:
    """Return whether a line is left that one side copies and the other side changes.

    A patch of llama.cpp wrote a statement into three branches, and upstream added a cast to it,
    which belongs to all three (fcd5847b7e78).
    """
    base, *sides = map(_counted, region.sides)
    left = [line for line in _counted(lines_of(text)) & base if tells(line)]
    return any(
        copier[line] > base[line] > changer[line]
        and any(likeness(said_of(line), said_of(new)) >= _REWORDED for new in changer - base)
        for copier, changer in (sides, sides[::-1])
        for line in left
    )


def _is_left_behind(base: Sequence[str], one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether one side indents a line that the other side changes.

    Upstream of pytest writes another link, and the patch makes a comment of the lines around it.
    """
    there, new = ({line.strip(): line for line in side} for side in (one, other))
    return any(
        tells(line) and there.get(said, line) != line and said not in new
        for line in base
        if (said := line.strip())
    )


def _is_at_two_places(base: Node, one: Node, other: Node) -> bool:
    """Return whether the tokens around one side's edit also occur in the other side's new text.

    Upstream adds `override` after `)`, and the patch has added a function there: `) ;` are its
    last tokens, too.
    """
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


def _is_run_on(base: Node, one: Node, other: Node) -> bool:
    """Return whether one side removes a comma, and the other side adds an item after it."""
    commas = {
        edit.end
        for edit in token_edits(base, one)
        if edit.first == edit.last and [p.said for p in base.parts[edit.start : edit.end]] == [","]
    }
    return any(edit.start == edit.end and edit.end in commas for edit in token_edits(base, other))


def _unaccounted(merged: Words, base: Words, ours: Words, theirs: Words) -> str:
    """Return "loses" if a word is lost that both sides keep, and "doubled" if there is one more.

    Where one side moves words and the other removes those around their place, both can happen.
    """
    gone, come = (base - ours) + (base - theirs), (ours - base) + (theirs - base)
    if base - gone - merged:
        return "loses"
    return "doubled" if any(map(str.isidentifier, merged - (base + come))) else ""


def _stammers(text: str, language: Language) -> set[str]:
    """Return the words that follow themselves in a statement, as in `unsigned unsigned i`."""
    lines = [text] if language.layout == "signs" else text.split("\n")
    pairs = (pair for line in lines for pair in pairwise(words_of(said_of(line))))
    return {a for a, b in pairs if a == b and a.isidentifier()}


def _joined_strings(text: str, language: Language) -> set[tuple[str, str]]:
    """Return the pairs of strings between which nothing is, which makes them one string.

    Both sides of torchao add a call, and the lines between them are common to both: the strings of
    the two came into one call (7ca78ec6dc2a).
    """
    tokens = (t for t in tokens_of(text, language) if t.kind != "comment")
    return {(a.text, b.text) for a, b in pairwise(tokens) if a.kind == b.kind == "string"}


def _lacks(base: Words, one: Words, other: Words) -> bool:
    """Return whether one side has no occurrence left of a word in the other side's new lines.

    Upstream takes the column `true` out of every row of a table, and the patch adds two rows of the
    old shape; or it renames what new lines call.
    """
    gone = (word for word in base if one and not one[word])
    return any(other[word] > base[word] for word in gone if word.isidentifier() or word in "&|")


def _is_behind_a_closed_one(sides: Sequence[str], text: str, language: Language) -> bool:
    """Return whether one side's insertion follows the other's, which closes the block around.

    Upstream adds a statement to a function, the patch ends that function and begins another.
    """
    for closing, other in (sides, sides[::-1]):
        depth = 0
        for token in lex(closing, language):
            if token.kind == "sign":
                depth += (token.text in "([{") - (token.text in ")]}")
            if depth < 0:
                return text.find(other.strip()) > text.find(closing.strip())
    return False


def _is_nearly(one: str, other: str) -> bool:
    """Return whether two lines declare the same thing differently, as with other parameters."""
    if _SIGN.split(one, maxsplit=1)[0] != _SIGN.split(other, maxsplit=1)[0]:
        return False
    a, b = said_of(one), said_of(other)
    more, less = (Counter(words_of(x)) - Counter(words_of(y)) for x, y in ((a, b), (b, a)))
    return a != b and (likeness(a, b) >= _ALIKE or not (more and less))


def _conditions(lines: Iterable[str]) -> Counter[str]:
    """Count the conditions of the preprocessor in lines, such as `#if __AVX__`."""
    said = (" ".join(line.split()) for line in lines if line.lstrip().startswith("#"))
    return Counter(line for line in said if line.lstrip("# ").startswith(("if", "elif")))


def _declared_again(lines: Iterable[str]) -> set[str]:
    """Return the variables and fields that a block declares twice."""
    seen, found = [set[str]()], set[str]()
    for line in lines:
        if (declared := _DECLARES.match(line)) is not None:
            found |= seen[-1] & {declared[1]}
            seen[-1].add(declared[1])
        for sign in line:
            if sign == "{":
                seen.append(set())
            elif sign == "}":
                seen[1:] = seen[1:-1]
    return found


def _is_changed_elsewhere(region: Region, text: str) -> bool:
    """Return whether what one side adds to a declaration or call is not there in the result.

    Upstream of redis took a parameter out of one and added another function; the parameter that the
    patch adds came into that one's list (3414221791c7). A line may be wrapped into two.
    """
    base, *sides, merged = map(_heads, (*region.sides, lines_of(text)))

    def is_lost(head: str, one: str, other: str) -> bool:
        old = base[head]
        added = Counter(words_of(one)) - Counter(words_of(old)) - Counter(words_of(other))
        return bool(added) and merged.get(head) == other and not old.startswith(other)

    return any(
        is_lost(head, one[head], other[head])
        for head in base.keys() & sides[0].keys() & sides[1].keys()
        for one, other in (sides, sides[::-1])
    )


def _heads(lines: Iterable[str]) -> dict[str, str]:
    """Map what is before the first bracket of a line to the line, if no other line begins so."""
    said = [said_of(line) for line in lines if "(" in line]
    heads = [line.partition("(")[0] for line in said]
    count = Counter(heads)
    return {head: line for head, line in zip(heads, said, strict=True) if count[head] == 1}


def _outside(lines: Iterable[str], language: Language) -> Iterator[str]:
    """Yield the lines that begin outside of all brackets."""
    depth = 0
    for line in lines:
        if depth == 0:
            yield line
        signs = [token.text for token in lex(line, language) if token.kind == "sign"]
        depth += sum(x in "([{" for x in signs) - sum(x in ")]}" for x in signs)
