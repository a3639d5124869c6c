"""The reasons to ask a person that depend on single tokens: names, numbers and literals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import eq

from patchmgr.engines.merge.conflict import (
    LONGEST,
    WORD,
    Conflict,
    Made,
    counted,
    is_distinctive_line,
    is_layout,
    outside_brackets,
    ways,
)
from patchmgr.engines.merge.features import Words
from patchmgr.engines.merge.languages import Language, code_lines, tokens_of
from patchmgr.engines.merge.node_edits import token_edits
from patchmgr.engines.merge.tree import Node, likeness, lines_of, normalized, words_of

_LAST_NUMBER = re.compile(r"(.*\W)(0[xX][\da-fA-F]{1,16}|\d{1,18})([uUlL]{0,3}\W*)")
_STRING = re.compile(r"\"[^\"]*\"|'[^']*'")
_LITERAL = re.compile(rf"{_STRING.pattern}|\b\d[\w.]*")
_IF = re.compile(r"\bif\s*\((.*)\)")
_CONSTANTS = frozenset({"NULL", "null", "nullptr", "true", "false", "not", "None"})
_CONVERSION = re.compile(r"%[-+ #0-9.*]*(?:hh?|ll?|[zjtLq])?[diouxXeEfFgGaAcspn]")
# the same operand on both sides of an operator such as `||`, as in `a || a`
_ALTERNATIVES = re.compile(r"(?<![^\s\"'(])([^\s\"'(),;]+) (?:&&|\|\|?|and|or) \1(?![^\s\"'),;])")
_JOINED = re.compile(r"\b(?=(\w+[^\w\s]{1,3}[^\W\d]\w*))")  # `a/b`
# the first part of a name with underscores, or of a path
_PREFIX = re.compile(r"(?<![\w/.])(?:[^\W\d]\w*?_(?=\w)|\w[\w.-]*/(?=[\w.-]))")
_NUMBER = re.compile(r"\d+")
# the name of a parameter, and its default value
_PARAMETER = re.compile(r"(?:(?<=[\w*&>]\s)|(?<=[*&>]))\w+\s*(?:=[^,()]*)?(?=[,)])")
_POINTER = re.compile(r"\w+\s*\(\s*\*")  # to a function
_CALL = re.compile(r"([\w.:>-]+)\s*\((.*,.*)\);")  # with two arguments or more
_NEAR = 2  # tokens between the edits of both sides
_LONGEST_RUN = 30  # words of the longest run that is checked for repetition
_NEARBY = 10  # lines before and after a region
_ALIKE = 0.9  # share of the words that two lines have in common
_HEAD = re.compile(r"\s*[^#].*\(\s*\S")  # begins a declaration or a call
_INCLUDED = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*([\"<](?:[^\">\n]*/)?)([^\"/>\n]+)", re.MULTILINE
)
_SIGN = re.compile(r"[(=;,{\[]")  # the end of what is declared
# the name that a line declares or assigns
_DECLARES = re.compile(
    # after a type, as in `int a;`, `T a[3] = {` or `int a(0);` (codership/galera 7acc48979c), but
    # not in `return a;` or `struct a {`
    r"\s*(?!(?:case|delete|else|extern|friend|goto|namespace|new|return|throw|typedef|using)\b)"
    r"(?!(?:class|enum|struct|union)\s+\w+\s*[;{])"
    r"\w(?:[\w<>,\s*&]|::)*[\s*&>](\w+)\s*(?:=[^=]|[;\[{]|\(\w+\);)"
    # `a.b = 1` or `#define A 1`
    r"|\s*(?!\w+\s*=\s*=)((?:\w+(?:\.|->|::))*\w+)\s*=[^=]|#\s*define\s+(\w+)"
    # `let a: T` or `a: 1`
    r"|\s*(?:(?:let|private|public|readonly|va[lr])\s+)*([\w-]+)\??\s*:\s*[^\s:]"
)
_ENUMERATOR = re.compile(r"([A-Z][A-Z\d_]+)(?: ?=[^=].*)?,?")
# the name and parameters of a function after its type, as in `int f(int a)`
_FUNCTION = re.compile(
    r"\s*(?!(?:await|case|defer|delete|else|go|goto|new|return|throw|yield)\b)"
    r"\w[\w<>:,\s*&]*[\s*&](\w+\s*\(.*)"
)
_USE = re.compile(r"\b([^\W\d]\w+)\s*(?=(\(|\[|->|\.\w+|[,)]))")  # a name, and what follows it
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\w\s]|[^\W_a-zA-Z\d]+")  # of names, too
_SECTION = re.compile(r"\s*(?:private|protected|public|signals)\b[^(]*:\s*$")
_BRACKET = re.compile(r"[()\[\]{},]")
_MOST_NAMES = 50  # for more names than this, it is faster to look at every word
_Form = tuple[str, str, str]  # the name, "." before a member, and what follows


def is_renamed(conflict: Conflict, _: Made) -> bool:
    """Return whether one side removes all uses of a word, and the other side adds uses of it."""
    base = conflict.subject.base
    # Two words with a sign between them count, too, if they occur twice: a fork replaces
    # `ollama/ollama` in all imports, and upstream adds an import (ollama/ollama a7208da01b).
    pairs = [_joined_words("".join(side)) for side in conflict.region.sides]
    return (
        any(
            other[word] > base[word]
            for one, other in ways((conflict.subject.ours, conflict.subject.theirs))
            for word in base
            if one and not one[word] and (word.isidentifier() or word in "&|")
        )
        or any(
            one and not one[pair] and other[pair] > n > 1
            for one, other in ways(pairs[1:])
            for pair, n in pairs[0].items()
        )
        or _is_prefix_renamed(conflict)
    )


def _is_prefix_renamed(conflict: Conflict) -> bool:
    """Return whether one side removes all names with a prefix, and the other adds such a name."""
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
        for (one, text), (other, _) in ways([*zip(region[1:], texts[1:], strict=True)])
        for prefix, n in region[0].items()
    )


@lru_cache(maxsize=64)
def _prefixes(text: str, language: Language) -> Counter[str]:
    return Counter(_PREFIX.findall("\n".join(code_lines((text,), language))))


@lru_cache(maxsize=64)
def _joined_words(text: str) -> Counter[str]:
    return Counter(_JOINED.findall(text))


def is_used_elsewhere(conflict: Conflict, _: Made) -> bool:
    """Return whether one side removes a word from its file, and the other adds uses elsewhere.

    A patch of traefik renamed the alias of an import whose path was in conflict. Upstream had added
    four uses of the old alias, which merge without a conflict. Or the other side moves a use out of
    the region, as in gnuradio (1c9d67fc22).
    """
    known = conflict.subject
    code = words_of(
        normalized("\n".join(code_lines(conflict.region.base, conflict.around.language)))
    )
    base, *sides = zip(conflict.texts.sides(), map("".join, conflict.region.sides), strict=True)
    return any(
        uses.search(text) is None and _outside_of(uses, *other) > _outside_of(uses, *base)
        for (one, (text, _)), (_, other) in ways(
            [*zip((known.ours, known.theirs), sides, strict=True)]
        )
        for word in {*code}
        if one and not one[word] and word.isidentifier()
        for uses in (_uses_of(word, base[1]),)
    )


def _outside_of(uses: re.Pattern[str], text: str, region: str) -> int:
    return len(uses.findall(text)) - len(uses.findall(region))


def _uses_of(word: str, region: str) -> re.Pattern[str]:
    """Return a pattern for uses of a word. `a.word` only matches if the region has no other use."""
    # One side of gnuradio renames `setColor`, but not `pen.setColor` (bbbbf8b042). `re` searches
    # faster for a pattern that begins with a word than for one with `\b` before it.
    uses = re.compile(rf"{word}(?<![\w.>]{word})\b")
    return uses if uses.search(region) else re.compile(rf"{word}(?<!\w{word})\b")


def is_at_two_places(conflict: Conflict, made: Made) -> bool:
    """Return whether one side's edit would also fit in what the other side adds.

    The tokens around the edit occur there, too: upstream adds `override` between `)` and `;`, and
    the patch adds a function next to it that also ends in `);`.
    """
    base, *sides = conflict.flat
    lines = [counted(side) for side in conflict.region.sides]
    return any(
        _is_around(base, *two) and not (made.rule == "replay" and _is_kept(lines[0], *kept))
        for two, kept in zip(ways(sides), ways(lines[1:]), strict=True)
    )


def _is_kept(base: Words, one: Words, other: Words) -> bool:
    """Return whether each line that `one` changes occurs once in base and once in `other`."""
    # There, `setup();` becomes `setup() override;`, and a function comes after it (gnuradio
    # 922af8c745).
    return all(base[line] == other[line] == 1 for line in base - one if line)


def _is_around(base: Node, one: Node, other: Node) -> bool:
    old, new = ([part.normalized for part in side.parts] for side in (base, other))
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


def is_said_twice(conflict: Conflict, made: Made) -> bool:
    """Return whether the candidate has two lines, one from each side, with the same purpose.

    The lines are near each other, in one block. One side of mumble adds `bool bMuteCueShown`, and
    the other `bool muteCueShown` (50fd9ec4c288).
    """
    # Of the merged files of 17 projects that nothing was tuned with, it holds for 15 of 74 that are
    # plainly wrong, and for 3 of 1,225 that are as the person's.
    if not conflict.region.ours:
        return False
    language = conflict.around.language
    before, _, after = conflict.texts.upstream.partition("".join(conflict.region.ours))
    lines = [
        line.expandtabs(4)
        for part in (lines_of(before)[-_NEARBY:], (made.text,), lines_of(after)[:_NEARBY])
        for line in code_lines(part, language)
        if line.strip() and not _SECTION.match(line)
    ]
    depths = [len(line) - len(line.lstrip()) for line in lines]
    texts = [" ".join(line.split()) for line in lines]
    known = [_code(text, language) for text in conflict.texts.sides()]
    added = [[side[line] > known[0][line] for side in known[1:]] for line in texts]
    region = _code(made.text, language)
    return _takes_one_number(texts, added) or any(
        (one in region or other in region)
        and depths[m] == min(depths[n : m + 1]) == depths[n]
        and added[n] == added[m][::-1]
        and (
            # one enumerator with two comments (CMake e8f0f502424a)
            one == other and bool(_bound(one)) and all(side[one] == 1 for side in known[1:])
            if all(added[n])
            else _is_one_thing(one, other)
        )
        for n, one in enumerate(texts)
        if any(added[n])
        for m, other in enumerate(texts[n + 1 : n + _NEARBY], n + 1)
    )


@lru_cache(maxsize=16)
@lru_cache(maxsize=4)
def _code(text: str, language: Language) -> Words:
    """Count how often each line of code occurs, ignoring comments and white space."""
    return Counter(" ".join(line.split()) for line in code_lines((text,), language))


def _takes_one_number(lines: Sequence[str], added: Sequence[list[bool]]) -> bool:
    """Return whether the sides give the same new number, such as 7 after 6, to different things."""
    rows = [_numbered(line) for line in lines]
    numbers = {row[:2] for row in rows}
    ours, theirs = (
        {row[:2]: row[2] for row, who in zip(rows, added, strict=True) if who == side}
        for side in ([True, False], [False, True])
    )
    return any(
        number > 1
        and ours[shape, number] != theirs[shape, number]
        and not numbers.isdisjoint(((shape, number - 1), (shape, number / 2)))
        for shape, number in ours.keys() & theirs.keys()
    )


def _is_one_thing(one: str, other: str) -> bool:
    """Return whether two lines have the same words, or bind the same name."""
    a, b = (Counter(map(str.lower, _PART.findall(x.strip(" ,\\")))) for x in (one, other))
    if is_distinctive_line(one) and is_distinctive_line(other) and not (a - b and b - a):
        return True
    return not _bound(one).isdisjoint(_bound(other))


def _bound(line: str) -> set[object]:
    """Return the name that a line declares or assigns, or the set of names in its `if`."""
    # One side frees a list if it is there, and the other one extends it (owncloud/client
    # 2bb52ef6f9).
    if (test := _IF.search(line)) is not None:
        names = {x for x in words_of(normalized(test[1])) if x.isidentifier()} - _CONSTANTS
        return {frozenset(names)} if names else set()
    declared = _DECLARES.match(line) or _ENUMERATOR.fullmatch(line)
    return {declared[declared.lastindex or 0]} if declared else set()


def is_counted_by_both(conflict: Conflict, _: Made) -> bool:
    """Return whether each side changes a number by as much as the number of lines that it adds.

    The number then counts the lines, and the merge needs a number that neither side has.
    """
    # Each side of FreeRDP adds a field, and takes one from the padding after them (92114d1d38).
    base, *sides = (
        [normalized(line) for line in code_lines(lines, conflict.around.language) if line.strip()]
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


def _numbers(text: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(text)]


def has_mixed_parts(conflict: Conflict, made: Made) -> bool:
    """Return whether the sides change different parts of one number, such as a version.

    One side begins 2.7.0, and the other one releases 2.6.1, with each part on its own line. The
    merge would be 2.7.1, which nobody chose.
    """
    # 16 merges of owncloud/client and supercollider (50179c3b54, 1fa4a87cef)
    merged = lines_of(made.text)
    base, ours, theirs = conflict.region.sides
    if made.text in conflict.around.sides or len({*map(len, (merged, base, ours, theirs))}) > 1:
        return False
    parts = {True: set[tuple[str, str]](), False: set[tuple[str, str]]()}
    for n, (old, one, other, new) in enumerate(zip(base, ours, theirs, merged, strict=True)):
        was, now = _numbered(old), _numbered(new)
        if new != old and was[::2] == now[::2] and (old in (one, other)):
            stem = was[2].rstrip().rpartition("_")[0]
            # Constants without a stem, MINOR and MICRO, are on adjacent lines (kivy bb00aa60d1).
            places = (str(n), str(n + 1)) if was[2].isupper() else ()
            parts[new == one] |= {(was[0], place) for place in ((stem,) if stem else places)}
    return not parts[True].isdisjoint(parts[False])


def shares_a_literal(conflict: Conflict, made: Made) -> bool:
    """Return whether both sides change a literal alike, but the rest of its line differently."""
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
            [
                Counter(words_of(normalized(line)))
                for line in side
                if literal in _LITERAL.findall(line)
            ]
            for side in sides
        )
        if any(one - other and other - one for one in ours for other in theirs):
            return True
    return False


def includes_from_where_it_left(conflict: Conflict, _: Made) -> bool:
    """Return whether one side moves an include from a directory, and the other adds one from it."""
    # `libiptc/libiptc.h` is in `owniptc/` now, and `libiptc/libip6tc.h` is added (collectd
    # 9d15d1058b).
    base, *sides = ({*_INCLUDED.findall("".join(side))} for side in conflict.region.sides)
    return any(
        (
            {old for old, name in base - one for _, new in one - base if new == name}
            - {x for x, _ in one}
        )
        & {folder for folder, _ in other - base}
        for one, other in ways(sides)
    )


def is_of_another_format(conflict: Conflict, made: Made) -> bool:
    """Return whether one side changes a format's conversions, and the other its arguments.

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
        for one, other in ways(both)
    )


def _formatted(text: str, language: Language) -> list[tuple[list[str], str]]:
    r"""Return (conversions, arguments) for each format string in a text, such as `"%d\n", n`."""
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
    """Return (line without its words and last number, that number, text before it).

    If the line has no number, returns ("", 0, "").
    """
    found = _LAST_NUMBER.fullmatch(normalized(_STRING.sub("", line)))
    if found is None:
        return "", 0, ""
    before, number, after = found.groups()
    base = 16 if number[:2] in ("0x", "0X") else 10
    return WORD.sub("w", before) + after, int(number, base), before


def is_of_a_changed_form(conflict: Conflict, made: Made) -> bool:
    """Return whether one side adds a use, such as `f(a)`, in a form that the other side replaced.

    It also counts if the candidate has the replaced form itself.
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
        for one, other in ways(sides)
        for form, n in merged.items()
    ):
        return True
    added = [side - old for side in sides]
    names = sorted({form[0] for forms in added for form in forms})
    if not names:
        return False
    pattern = "|".join(names) if len(names) <= _MOST_NAMES else WORD.pattern
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
def _forms(text: str, names: str = WORD.pattern) -> Counter[_Form]:
    """Count how often each name is used in each form: after a `.` or not, and what follows it.

    The pattern `names` matches the names to count.
    """
    found = Counter[_Form]()
    for at in (name.start() for name in re.finditer(names, text)):
        use = _USE.match(text, at)
        if use is not None:
            after = _arguments(text, use.end(2)) if use[2] == "(" else use[2].strip(",)")
            found[use[1], "." if text.endswith(("->", ".", "::"), 0, at) else "", after] += 1
    return found


def _arguments(text: str, at: int) -> str:
    """Return the number of arguments of the call whose `(` is before `at`, or "?" if too long.

    A quote follows the number if the first argument is a string.
    """
    depth = commas = 0
    quote = '"' if text[at : at + 9].lstrip().startswith('"') else ""
    for found in _BRACKET.finditer(text, at, at + LONGEST):
        if found[0] in "([{":
            depth += 1
        elif found[0] == ",":
            commas += depth == 0
        elif depth:
            depth -= 1
        else:
            return f"{commas + bool(text[at : found.start()].strip())}{quote}"
    return "?"


@lru_cache(maxsize=64)
def stammered(text: str, language: Language) -> set[str]:
    """Return the words and phrases that occur twice in a row, as in `unsigned unsigned i`."""
    # Both sides add `, NULL`, or `&& !children.get(path)`, at different places in a run of equal
    # tokens (FRRouting/frr 1a3de6c608, nextcloud/android ffeab978fb). Or `^3 || ^3` is left of two
    # alternatives (doctrine/orm db4d00a58f).
    lines = [text] if language.layout == "signs" else text.split("\n")
    found = {one[0] for one in _ALTERNATIVES.finditer(text)}
    for words in (words_of(normalized(line)) for line in lines):
        for size in range(1, min(_LONGEST_RUN, len(words) // 2) + 1):
            same = 0
            for n, is_same in enumerate(map(eq, words, words[size:])):
                same = same + 1 if is_same else 0
                # As the run goes on, its phrases have the same words, in turn.
                if same == size and any(map(str.isidentifier, words[n + 1 : n + 1 + size])):
                    found.add(" ".join(sorted(words[n + 1 : n + 1 + size])))
    return found


def is_declared_alike(conflict: Conflict, made: Made) -> bool:
    """Return whether both sides declare the same thing, and the candidate declares it twice."""
    merged = Counter(lines_of(made.text))
    there = {line.strip(" \t\n,") for line in merged} - {""}
    old, *both = conflict.region.changed
    outside = ([*outside_brackets(side, conflict.around.language)] for side in both)
    ours, theirs = (
        [x for x in side if x not in old and x.strip(" \t\n,") in there] for side in outside
    )
    heads = [x for x in ours if x in theirs and _HEAD.match(x) and is_distinctive_line(x)]
    is_replaced = any(map(is_distinctive_line, {*old}.difference(*both)))
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


def is_of_older_form(conflict: Conflict, made: Made) -> bool:
    """Return whether one side puts words before each line, and the other adds a line without these.

    One side of FreeRDP puts `ALIGN64` before each field, and the other adds a field (84a8cb7dba).
    """
    base, *sides, merged = (
        [words_of(normalized(line)) for line in lines if line.strip()]
        for lines in (*conflict.region.sides, lines_of(made.text))
    )
    for one, other in ways(sides):
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


def _is_nearly(one: str, other: str) -> bool:
    """Return whether two lines declare the same thing in different ways."""
    functions = _FUNCTION.match(one), _FUNCTION.match(other)
    if functions[0] and functions[1] and _signature(functions[0][1]) == _signature(functions[1][1]):
        return normalized(one) != normalized(
            other
        )  # with another type, or other names of parameters
    if _SIGN.split(one, maxsplit=1)[0] != _SIGN.split(other, maxsplit=1)[0]:
        return False
    a, b = (normalized(line.strip(" \t\n,")) for line in (one, other))
    more, less = (Counter(words_of(x)) - Counter(words_of(y)) for x, y in ((a, b), (b, a)))
    return a != b and (likeness(a, b) >= _ALIKE or not (more and less))


def _signature(function: str) -> tuple[str, bool]:
    """Return a function's name with its parameter types, and whether it is `const`."""
    # Both sides of keepassxc declare `changeEvent(QEvent*)` (235baa3dcc).
    if _POINTER.match(function):
        return function, False
    head, _, tail = function.partition(")")
    return normalized(_PARAMETER.sub("", f"{head})")), "const" in tail


def is_changed_elsewhere(conflict: Conflict, made: Made) -> bool:
    """Return whether a declaration or call that both sides change lacks the changes of one side.

    Upstream of redis removed a parameter from a function and added another function. The parameter
    that the patch added ended up in the new function (3414221791c7). A side that only wraps the
    line does not count as changing it.
    """
    if is_layout(conflict):
        return False
    base, *sides, merged = map(_heads, (*conflict.region.sides, lines_of(made.text)))

    def is_lost(head: str, one: str, other: str) -> bool:
        old = base[head]
        added = Counter(words_of(one)) - Counter(words_of(old)) - Counter(words_of(other))
        return bool(added) and merged.get(head) == other and not old.startswith(other)

    return any(
        is_lost(head, one[head], other[head])
        for head in base.keys() & sides[0].keys() & sides[1].keys()
        for one, other in ways(sides)
    )


def _heads(lines: Iterable[str]) -> dict[str, str]:
    """Map the text before the first bracket of each line to the line, if only one line has it."""
    calls = [normalized(line) for line in lines if "(" in line]
    heads = [line.partition("(")[0] for line in calls]
    count = Counter(heads)
    return {head: line for head, line in zip(heads, calls, strict=True) if count[head] == 1}
