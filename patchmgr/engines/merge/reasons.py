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
from operator import eq
from typing import Any, TypeVar

from msgspec import Struct

from patchmgr.engines.merge.features import Subject, Words
from patchmgr.engines.merge.imports import FileImports, imported
from patchmgr.engines.merge.languages import (
    CLOSERS,
    PYTHON,
    TEXT,
    Language,
    code_lines,
    lex,
    tokens_of,
)
from patchmgr.engines.merge.node_edits import token_edits
from patchmgr.engines.merge.region import Region
from patchmgr.engines.merge.replay import Place
from patchmgr.engines.merge.tree import Node, likeness, lines_of, said_of, words_of
from patchmgr.engines.merge.verify import NO_FAULT, Surroundings, blocks_opened
from patchmgr.engines.structure.sides import Texts
from patchmgr.engines.text.distinctive import bare, is_distinctive

BY_LINES = frozenset({"ours, theirs", "theirs, ours"})
_SIDES = frozenset({"ours", "theirs"})
_LAST_NUMBER = re.compile(r"(.*\W)(0[xX][\da-fA-F]{1,16}|\d{1,18})([uUlL]{0,3}\W*)")
_LITERAL = re.compile(r"\"[^\"]*\"|'[^']*'|\b\d[\w.]*")
_WORD = re.compile(r"\w+")
_ALTERNATIVES = re.compile(r"(?<![^\s\"'(])([^\s\"'(),;]+) (?:&&|\|\|?|and|or) \1(?![^\s\"'),;])")
_JOINED = re.compile(r"\b(?=(\w+[^\w\s]{1,3}[^\W\d]\w*))")
_LONGEST_RUN = 30  # words of the longest run that is checked for repetition
_ALIKE = 0.9  # share of the words that two lines have in common
_REWORDED = 0.6  # the same, for a line and its new version
# An underline, a line in bold, or a heading of Markdown. A single # may begin a comment.
_HEADING = re.compile(r"\s*(?:([=~^\-])\1{2,}|\*\*.+\*\*|##+ .+)\s*$")
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_RELEASE = re.compile(rf"\W*v?({_VERSION.pattern})")
_SIGN = re.compile(r"[(=;,{\[]")
_FUNCTION = re.compile(
    r"\s*(?!(?:await|case|defer|delete|else|go|goto|new|return|throw|yield)\b)"
    r"\w[\w<>:,\s*&]*[\s*&](\w+\s*\(.*)"
)
_USE = re.compile(r"\b([^\W\d]\w+)\s*(?=(\(|\[|->|\.\w+))")
_SUFFIXES = ("[", "(", ".", "->", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "?.", "::")
_LOGICAL = frozenset({"&&", "||", "and", "or"})
_COMPARISONS = frozenset({"is", "in", "==", "!=", "<", ">", "<=", ">="})
_BETWEEN = frozenset({",", ";", ":", "=", "return", "if", "elif", "while"})  # end an expression
_GROUP = re.compile(r"(?:=|in|return) \( \w+ \)")  # no tuple, as `(a,)` is
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
    fault = made.features["fails"] if made.features["fails"] not in NO_FAULT else ""
    if not fault and conflict.imports is not None:
        fault = conflict.imports.fault(made.text)
    if fault or made.asks:
        return fault or made.asks[0]
    family = conflict.around.language.family
    rows = ((name, is_so) for name, (where, is_so) in REASONS.items() if family in where.split())
    return next((name for name, is_so in rows if is_so(conflict, made)), "")


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
    return any(
        other[word] > base[word]
        for one, other in _ways((conflict.subject.ours, conflict.subject.theirs))
        for word in base
        if one and not one[word] and (word.isidentifier() or word in "&|")
    ) or any(
        one and not one[pair] and other[pair] > n > 1
        for one, other in _ways(pairs[1:])
        for pair, n in pairs[0].items()
    )


@lru_cache(maxsize=64)
def _joined_words(text: str) -> Counter[str]:
    return Counter(_JOINED.findall(text))


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


def _has_one_number(conflict: Conflict, _: Made) -> bool:
    """Return whether both sides insert lines that give one number, or bit, to different things."""
    # Two options of curl, SSH_COMPRESSION and DNS_SHUFFLE_ADDRESSES, both get 268 (78d8cd8a62d5).
    old, *both = conflict.region.changed
    sides = (code_lines(side, conflict.around.language) for side in both)
    ours, theirs = ({line[:2]: line[2] for line in map(_numbered, side)} for side in sides)
    return not old and any(key[1] > 1 and theirs.get(key, one) != one for key, one in ours.items())


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


def _numbered(line: str) -> tuple[str, int, str]:
    """Return (shape, number, text before it) for a line that ends with a number, or ("", 0, "")."""
    found = _LAST_NUMBER.fullmatch(" ".join(line.split()))
    if found is None:
        return "", 0, ""
    before, number, after = found.groups()
    base = 16 if number[:2] in ("0x", "0X") else 10
    return _WORD.sub("w", before) + after, int(number, base), before


def _is_of_a_changed_form(conflict: Conflict, _: Made) -> bool:
    """Return whether one side adds a use of a name in a form that the other side replaced."""
    # Upstream of mpv adds an argument to each call of `mp_input_queue_cmd`, and the patch adds a
    # call without it (9e990e9031db); or upstream changes `ai[i]` to `ctx->ai[i]` (e6faec5fb781).
    old, *sides = (_forms("".join(side)) for side in conflict.region.sides)
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
            after = _arguments(text, use.end(2)) if use[2] == "(" else use[2]
            found[use[1], "." if text.endswith(("->", ".", "::"), 0, at) else "", after] += 1
    return found


def _arguments(text: str, at: int) -> str:
    """Return how many arguments the call opened just before `at` has, or "?" if it is too long."""
    depth = commas = 0
    for found in _BRACKET.finditer(text, at, at + _LONGEST):
        if found[0] in "([{":
            depth += 1
        elif found[0] == ",":
            commas += depth == 0
        elif depth:
            depth -= 1
        else:
            return str(commas + bool(text[at : found.start()].strip()))
    return "?"


def _loses(conflict: Conflict, made: Made) -> bool:
    """Return whether the candidate lacks words that a side adds, or a side's order of words."""
    lacks = {made.features["keeps ours"], made.features["keeps theirs"]} - {"all", "nothing"}
    side = made.features["is"]
    # One side wraps an expression in `to_scalar()`, the other in `bits()`: scale-view at 0.24.0.
    if lacks and (made.places or "none" in lacks or side != "neither"):
        return True
    of_ours = side == "theirs"
    return side != "neither" and (
        _is_reordered(conflict, of_ours=of_ours) or _drops_a_suffix(conflict, of_ours=of_ours)
    )


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


def _has_two_wordings(conflict: Conflict, made: Made) -> bool:
    """Return whether the candidate has both sides' lines, which may say one thing in two ways."""
    region = conflict.region
    # In plain text, the last line may be an entry of two lists: the last release in a changelog
    # (prometheus/prometheus ae3eca0909).
    shared = (*region.head, *region.tail) if conflict.around.language is TEXT else region.head
    return made.rule in BY_LINES and any(map(_is_distinctive, shared))


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


def _mixed(text: str, language: Language) -> set[str]:
    """Return the pairs of a logical and another operator whose precedence matters there."""
    # Upstream changes `file.isImage()` to `file != null && file.isImage()`, and the patch changes
    # it to `file.isImage() || file.isVideo()` (nextcloud/android 62c918f59a). Or a comparison
    # follows a group: `(quant and quant in known) is not None` (ROCm/vllm e8766c6ddb).
    found, before = set[str](), ""
    around, closed = [set[str]()], set[str]()  # the logical operators of each open bracket
    for word in (t.text for t in tokens_of(text, language) if t.kind != "comment"):
        if word in _COMPARISONS:
            found |= {f"{one} {word}" for one in closed}
        closed = around.pop() if word in CLOSERS.values() and len(around) > 1 else set()
        if word in CLOSERS:
            around.append(set())
        elif word in _LOGICAL:
            found |= {" ".join(sorted((one, word))) for one in around[-1] - {word}}
            around[-1].add(word)
        elif word in _BETWEEN or (word == "\n" and before not in _LOGICAL):
            around[-1].clear()
        before = word
    return found


def _joined(text: str, language: Language) -> set[str]:
    """Return the pairs of adjacent strings, which the language joins into one string."""
    # Both sides add a call, and the strings of both were in one call (torchao 7ca78ec6dc2a).
    return {
        f"{one.text}\0{two.text}"
        for one, two in pairwise(t for t in tokens_of(text, language) if t.kind != "comment")
        if one.kind == two.kind == "string" and not (language.continues and "\n" in two.lead)
    }


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


def _is_declared_alike(conflict: Conflict, made: Made) -> bool:
    """Return whether the candidate declares a thing twice, because both sides declare it alike."""
    there = {line.strip(" \t\n,") for line in lines_of(made.text)} - {""}
    old, *both = conflict.region.changed
    outside = ([*_outside(side, conflict.around.language)] for side in both)
    ours, theirs = (
        [x for x in side if x not in old and x.strip(" \t\n,") in there] for side in outside
    )
    return any(_is_nearly(a, b) for a in ours for b in theirs)


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
    if functions[0] and functions[1] and functions[0][1] == functions[1][1]:
        return one != other  # with another type
    if _SIGN.split(one, maxsplit=1)[0] != _SIGN.split(other, maxsplit=1)[0]:
        return False
    a, b = (said_of(line.strip(" \t\n,")) for line in (one, other))
    more, less = (Counter(words_of(x)) - Counter(words_of(y)) for x, y in ((a, b), (b, a)))
    return a != b and (likeness(a, b) >= _ALIKE or not (more and less))


def _is_cut_otherwise(conflict: Conflict, made: Made) -> bool:
    """Return whether the sides open and close different numbers of blocks."""
    # Blocks may be paired wrongly: git's region lacked the last two braces of base, so a call was
    # put into the `if` around its own (FRRouting/frr 95702ce22b).
    language = conflict.around.language
    if language.opens or not made.rule.startswith("replay"):
        return False
    return len({sum(blocks_opened("".join(side), language)) for side in conflict.region.sides}) > 1


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
    "moved": (_ALL, _is_left_as_it_was),
    "left alone": ("text toml yaml", _is_left_alone),
    "loses": (_ALL, _loses),
    "one side": (_ALL, _is_one_side),
    "gone": (_ALL, lambda _, made: made.features["stale"] == "gone"),
    "two wordings": (_ALL, _has_two_wordings),
    "renamed": (_ALL, _is_renamed),
    "doubled": (_NOT_PYTHON, _is_unaccounted),
    "undone": (_ALL, lambda conflict, made: conflict.subject.is_undone(made.text)),
    "joined lines": (_ALL, _joins_lines),
    "stammers": (_ALL, _adds(_stammered)),
    "mixed": (_CODE, _adds(_mixed)),
    "strings": (_CODE, _adds(_joined)),
    "tuple": ("python", _adds(lambda text, _: {*_GROUP.findall(said_of(text))})),
    "sections": ("text", _is_of_two_sections),
    "same number": ("c", _has_one_number),
    "same literal": (_CODE, _shares_a_literal),
    "used otherwise": ("c", _is_of_a_changed_form),
    "condition": ("c", _loses_a_condition),
    "declared alike": ("c", _is_declared_alike),
    "cut": ("c", _is_cut_otherwise),
}
"""For each reason to ask a person: the families of languages it applies to, and its test."""
