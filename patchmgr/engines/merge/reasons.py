"""Find the reasons why a person must confirm a candidate resolution that is likely to be right.

In a test on 1,300 conflicted files in C and C++, 658 were resolved without these checks, 62 of them
unlike the person's merge. With the checks, 14 of the 62 and about 20 others are left to a person.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Any

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
from patchmgr.engines.merge.imports import imported
from patchmgr.engines.merge.languages import PYTHON, TEXT, Language, code_lines, tokens_of
from patchmgr.engines.merge.node_edits import token_edits
from patchmgr.engines.merge.operators import is_regrouped
from patchmgr.engines.merge.statements import code_of, has_layout_of
from patchmgr.engines.merge.token_reasons import (
    has_mixed_parts,
    includes_from_where_it_left,
    is_at_two_places,
    is_changed_elsewhere,
    is_counted_by_both,
    is_declared_alike,
    is_of_a_changed_form,
    is_of_another_format,
    is_of_older_form,
    is_renamed,
    is_said_twice,
    is_used_elsewhere,
    shares_a_literal,
    stammered,
)
from patchmgr.engines.merge.tree import Node, likeness, lines_of, normalized, words_of
from patchmgr.engines.merge.verify import (
    NO_FAULT,
    blocks_opened,
    closed_in,
    is_same_code,
)
from patchmgr.engines.text.differences import is_within

BY_LINES = frozenset({"ours, theirs", "theirs, ours"})
_SIDES = frozenset({"ours", "theirs"})
_JSON_MEMBER = re.compile(r'\s*(?:"(?:\\.|[^"\\])*"\s*:|[}\],]*\s*$)')  # a key, or only brackets
_REWORDED = 0.6  # share of the words that a line and its new version have in common
# An underline, a line in bold, or a heading of Markdown. A single # may begin a comment.
_HEADING = re.compile(r"\s*(?:([=~^\-])\1{2,}|\*\*.+\*\*|##+ .+)\s*$")
_REFERRED = re.compile(r"\.\. _.+:$")  # a label of reStructuredText
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_RELEASE = re.compile(rf"\W*v?({_VERSION.pattern})")
# a label on a line of its own, such as `private:` or `private slots:`
_LABEL = re.compile(r"^[ \t]*(?!(?:case|default)\b)\w+(?:[ ]\w+)?[ \t]*:\s*?$", re.MULTILINE)
_SUFFIXES = ("[", "(", ".", "->", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "?.", "::")
_Reason = Callable[[Conflict, Made], bool]


def reason(conflict: Conflict, made: Made) -> str:
    """Return why a person must confirm a candidate resolution, or "" if nobody must.

    The reason is a fault that neither side has, the first of `made.asks`, or a key of `REASONS`.
    """
    fault = "" if made.features["fails"] in NO_FAULT else made.features["fails"]
    if not fault and conflict.imports is not None:
        fault = conflict.imports.fault(made.text)
    if fault or made.asks:
        return fault or made.asks[0]
    family = conflict.around.language.family
    rows = ((name, is_so) for name, (where, is_so) in REASONS.items() if family in where.split())
    return next((name for name, is_so in rows if is_so(conflict, made)), "")


def _is_indented(conflict: Conflict, made: Made) -> bool:
    """Return whether the conflict is only about layout, but in Python that changes the meaning.

    The candidate is accepted if it has the code of one side in the layout of the other. Tokens are
    compared, because not all of Python 2 can be parsed (pyload/pyload be459e0b40, 8da44b430b).
    """
    base, ours, theirs = map("".join, conflict.region.sides)
    cases = {
        "both": [(ours, theirs, ours), (theirs, ours, theirs)],
        "ours": [(base, ours, theirs)],
        "theirs": [(base, theirs, ours)],
    }
    return any(
        not is_same_code(one, other, conflict.around)
        and not has_layout_of(made.text, one, other, edited)
        for one, other, edited in cases.get(conflict.subject.features["layout"], [])
    ) or _is_in_another_block(conflict, made)


def _is_in_another_block(conflict: Conflict, made: Made) -> bool:
    """Return whether a line is indented more, relative to the line before it, than on any side.

    One side removes the `if` around some lines, and the other puts an `if` around them: in the
    merge, the new `if` was in the block of the line before it (qutebrowser deb1471f2a).
    """
    merged, *sides = map(_steps, (made.text, *map("".join, conflict.region.sides)))
    known = [(pair, side[pair]) for side in sides for pair in side.keys() & merged.keys()]
    most = dict(sorted(known, key=itemgetter(1)))
    return any(merged[pair] > step for pair, step in most.items())


@lru_cache(maxsize=64)
def _steps(text: str) -> dict[tuple[str, str], int]:
    """Map each pair of adjacent lines to 1 if the second is indented more, -1 if less, or 0."""
    lines = ((column, " ".join(tokens)) for column, tokens in code_of(text)[1])
    return {
        (one[1], other[1]): (other[0] > one[0]) - (other[0] < one[0])
        for one, other in pairwise(lines)
    }


def _is_left_as_it_was(conflict: Conflict, made: Made) -> bool:
    """Return whether one side moves or copies a line that the other side changes."""
    # A patch of redis moved two calls, and upstream removed an argument (c348269baf30). A patch of
    # llama.cpp wrote a statement into three branches, and upstream added a cast (fcd5847b7e78).
    base, *sides = map(counted, conflict.region.sides)
    there, merged = conflict.lines[0], counted(lines_of(made.text))
    return any(
        (one[line] < base[line] and in_one[line] >= there[line] > in_other[line])
        or (one[line] > base[line] and merged[line] and _is_reworded(line, other - base))
        for (one, in_one), (other, in_other) in ways([*zip(sides, conflict.lines[1:], strict=True)])
        for line in base - other
        if is_distinctive_line(line)
    )


def _is_left_alone(conflict: Conflict, _: Made) -> bool:
    """Return whether one side moves all lines of a region, and the other side only adds some."""
    # A patch sorted a list in the README of ollama into sections, and upstream added an entry at
    # its end (6febde7200).
    base, *sides = map(counted, conflict.region.changed)
    there = conflict.lines[0]
    moved = [line for line in base if is_distinctive_line(line)]
    return bool(moved) and any(
        other > base
        and all(one[line] < base[line] and in_one[line] >= there[line] for line in moved)
        for (one, in_one), (other, _) in ways([*zip(sides, conflict.lines[1:], strict=True)])
    )


def _is_reworded(line: str, new: Iterable[str]) -> bool:
    return any(likeness(normalized(line), normalized(one)) >= _REWORDED for one in new)


def _is_of_two_sections(conflict: Conflict, _: Made) -> bool:
    """Return whether the sides' lines may belong to different sections, as in a changelog.

    Either both sides insert lines, and only one begins a section, or both begin one for the same
    version. Or only one side changes the version in a heading: in datalad/datalad 7b107319e9, the
    date that the other side adds is that of 0.14.4, not that of 0.15.0.
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
    """Return whether one side indents a line differently, and the other side changes its words.

    Upstream of pytest changes a link, and the patch turns the lines around it into a comment. In
    plain text, it does not count if a side changes only the layout of the region.
    """
    base, *sides = conflict.region.changed
    is_only_layout = (
        conflict.around.language is TEXT and conflict.subject.features["layout"] != "no"
    )
    return not is_only_layout and any(
        is_distinctive_line(line)
        and one.get(bare, line).rstrip() != line.rstrip()
        and bare not in other
        for one, other in ways([{line.strip(): line for line in side} for side in sides])
        for line in base
        if (bare := line.strip())
    )


def _loses(conflict: Conflict, made: Made) -> bool:
    """Return whether the candidate lacks words that a side adds, or has them in another order."""
    if any(place.kind == "string" and place.how == "edit" for place in made.places):
        return True  # all words of "15.1.0" are in "15.0.1"
    lacks = {made.features["keeps ours"], made.features["keeps theirs"]} - {"all", "nothing"}
    side = made.features["is"]
    if _is_out_of_order(conflict, made):
        return True
    # One side wraps an expression in `to_scalar()`, the other in `bits()`: scale-view at 0.24.0.
    if lacks and (made.places or "none" in lacks or side != "neither"):
        return True
    is_code = conflict.around.language.family in _CODE.split()
    if made.places and is_code and _lacks_code(conflict, made):
        return True
    return side != "neither" and _drops_a_suffix(conflict, of_ours=side == "theirs")


def _lacks_code(conflict: Conflict, made: Made) -> bool:
    """Return whether words that a side adds to the code are only in comments of the candidate."""
    # One side adds an argument `parent`, the other a comment with this word (gnuradio 865e2586b4).
    base, ours, theirs, merged = (
        Counter(words_of(normalized("\n".join(code_lines(lines, conflict.around.language)))))
        for lines in (*conflict.region.sides, (made.text,))
    )
    rest = merged - (base - ((base - ours) | (base - theirs)))
    return any(side - base - rest for side in (ours, theirs))


def _is_out_of_order(conflict: Conflict, made: Made) -> bool:
    """Return whether the candidate has a side's words in another order. Imports do not count.

    Either that side only reorders words, and the candidate is the other side's text; or both sides
    insert text, and the words of one of them are in another order.
    """
    # One side of openscad moves `this->loc` from one call to another, and the other one puts a
    # `try` around both (ef220dfada). Both sides of mumble add a function with the same names in two
    # ways (56b7ba6550).
    if conflict.around.language is TEXT or conflict.subject.features["what"] == "import":
        return False
    merged, base, *sides = (
        words_of(normalized(text)) for text in (made.text, *map("".join, conflict.region.sides))
    )
    is_inserted = not "".join(conflict.region.changed[0]).strip()
    return any(
        bool(made.places) and not is_within(side, merged)
        if is_inserted
        else merged == other != side != base and sorted(side) == sorted(base)
        for side, other in ways(sides)
    )


def _drops_a_suffix(conflict: Conflict, *, of_ours: bool) -> bool:
    """Return whether the given side alone extends an expression, as from `c` to `c[0]`."""
    base, *sides = conflict.flat
    side, other = sides if of_ours else sides[::-1]
    # The other side may have the new text in another place (ckan/ckan d1ba07ffb1).
    words = f" {' '.join(part.normalized for part in other.parts)} "
    edits = [edit for edit in token_edits(base, side) if edit.start == edit.end and edit.first]
    runs = [side.parts[edit.first - 1 : edit.last] for edit in edits]
    return any(
        first.kind == "word"
        and rest[0].text in _SUFFIXES
        and f" {' '.join(part.normalized for part in (first, *rest))} " not in words
        for first, *rest in runs
    )


def _is_one_side(conflict: Conflict, made: Made) -> bool:
    """Return whether the candidate is one side's text, and may need the other side's changes."""
    if made.rule not in _SIDES:
        return False
    base, ours, theirs = (set(imported("".join(side))) for side in conflict.region.sides)
    # Python code is checked for names that one side alone would lack.
    is_checked = conflict.around.language is PYTHON and not conflict.has_one_answer
    return not is_checked or not (ours | theirs) - base <= set(imported(made.text))


def _is_before_another(conflict: Conflict, made: Made) -> bool:
    """Return whether an annotation or label at the end of a side's lines gets other lines after it.

    One side decorates a class, and the other adds a class before it (OctoPrint 7db030a60f79).
    """
    ends = map(_last, conflict.region.changed[1:])
    bound = {end for end in ends if is_annotation(end) or _REFERRED.match(end)}
    merged = lines_of(made.text.removesuffix("".join(conflict.region.tail)))
    return _last(merged) not in bound and any(line.strip() in bound for line in merged)


def _last(lines: Sequence[str]) -> str:
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _is_command(conflict: Conflict, made: Made) -> bool:
    """Return whether both sides insert commands, or items without a key, at the same position."""
    added = (line for side in conflict.region.changed[1:] for line in side)
    kinds = {place.kind for place in made.places if place.how.startswith("insert")}
    return not (kinds.isdisjoint(("line", "list")) or all(map(_JSON_MEMBER.match, added)))


def _has_two_wordings(conflict: Conflict, made: Made) -> bool:
    """Return whether the candidate has both sides' lines, which may be versions of one text."""
    region = conflict.region
    # In plain text, the last line may be an entry of two lists: the last release in a changelog
    # (prometheus/prometheus ae3eca0909).
    shared = (*region.head, *region.tail) if conflict.around.language is TEXT else region.head
    return made.rule in BY_LINES and any(map(is_distinctive_line, shared))


def _is_of_one_block(conflict: Conflict, made: Made) -> bool:
    """Return whether both sides begin the same block, such as `default:`, and the merge joins them.

    It also counts if the sides put a line into different blocks (keepassxc 468519cd46).
    """
    is_open = "".join(conflict.region.head).rstrip().endswith(("{", ":"))
    base, *sides = (_around(lines, conflict.around.language) for lines in conflict.region.sides)
    return made.text not in conflict.around.sides and (
        is_open
        or any(
            is_distinctive_line(line)
            and all(line in side and side[line][0] > depth for side in sides)
            and sides[0][line] != sides[1][line]
            for line, (depth, _) in base.items()
        )
    )


def _around(lines: Iterable[str], language: Language) -> dict[str, tuple[int, str]]:
    """Map each line to the number of open blocks before it, and to all text before it."""
    found, depth, text = dict[str, tuple[int, str]](), 0, ""
    for line in map(str.strip, lines):
        found.setdefault(line, (depth, text))
        depth, text = depth + sum(blocks_opened(line, language)), text + line
    return found


def _is_emptied(conflict: Conflict, made: Made) -> bool:
    """Return whether one side deletes all lines of a region, and the other wraps or changes them.

    What is left would be useless: in git's git-compat-util.h, one side deletes two includes, and
    the other puts an `#if` around them (73a0d5e2578b). It does not count if the other side only
    adds lines before or after the deleted ones.
    """
    old, *both = ([x.strip() for x in side] for side in conflict.region.changed)
    left = next((side for side in both if any(side)), [])
    is_emptied = made.rule.startswith("tokens") and any(old) and not all(map(any, both))
    return is_emptied and old not in (left[: len(old)], left[-len(old) :])


def _is_unaccounted(conflict: Conflict, made: Made) -> bool:
    """Return whether the candidate lacks a word that both sides keep, or has a word too often.

    A line that both sides add once, where base has other lines, is too often there if it is twice.
    """
    known, merged = conflict.subject, Counter(words_of(normalized(made.text)))
    base, sides = known.base, (known.ours, known.theirs)
    kept = base - (base - sides[0]) - (base - sides[1])
    more = merged - (base + (sides[0] - base) + (sides[1] - base))
    # Both sides put a call into an `if` with an `else`, and one of them adds braces around both:
    # the merge had two `else` (MapServer/MapServer 32c839b9b9).
    old, *new = map(counted, (*conflict.region.sides, lines_of(made.text)))
    twice = (x for x, n in new[2].items() if n > 1 == new[0][x] == new[1][x] > old[x])
    return (
        bool(kept - merged)
        or any(map(WORD.match, more))
        or (any(old) and any(map(is_distinctive_line, twice)))
    )


def is_annotation(line: str) -> bool:
    """Return whether a line is a decorator or attribute, which many definitions may share."""
    return line.lstrip().startswith(("@", "#["))


def _joins_lines(conflict: Conflict, made: Made) -> bool:
    """Return whether the candidate has two of the sides' lines, or comments, joined into one."""
    # Each side removes one of two empty lines: `def f():` and the comment below it were one line
    # (tribler a976408033). Each puts its own comment at the end of a line (qutebrowser 2963de3d92).
    # One puts a comment on one line, and the other adds a line (doctrine/orm a0c2aa0cac).
    language = conflict.around.language
    texts = (made.text, *map("".join, conflict.region.sides))
    kinds = (_comment_lines,) if language.layout == "signs" else (_lines, _comments)
    return any(_joins_two(*({*parts(text, language)} for text in texts)) for parts in kinds)


def _joins_two(merged: set[str], *sides: set[str]) -> bool:
    """Return whether `merged` has a new line or comment that joins two from the sides."""
    known = set[str]().union(*sides)
    worded = {one for one in known if WORD.search(one)}
    return any(
        one[:at].rstrip() in worded and one[at:].lstrip(" \t*") in worded
        for one in merged - known
        for at in range(1, min(len(one), LONGEST))
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
    directives = (" ".join(line.split()) for line in lines if line.lstrip().startswith("#"))
    return Counter(line for line in directives if line.lstrip("# ").startswith(("if", "elif")))


def _has_two_remarks(conflict: Conflict, _: Made) -> bool:
    """Return whether both sides insert only a comment, so that the code after it would get two."""
    # a file had two licences, and a class was described twice (owncloud/client 457f9b587d,
    # OpenLightingProject/ola 06a6e78a5d)
    base, *sides = ("".join(side).strip() for side in conflict.region.changed)
    return not base and all(
        side.startswith("/*") and not "".join(code_lines((side,), conflict.around.language)).strip()
        for side in sides
    )


def _ragged(text: str, _: Language) -> set[int]:
    """Return the numbers of cells in the rows of Markdown tables, or nothing if all are equal."""
    cells = {line.count("|") for line in lines_of(text) if line.lstrip().startswith("|")}
    return cells if len(cells) > 1 else set()


def _wordless(text: str, _: Language) -> set[str]:
    r"""Return the lines without any word, such as ` \` after a merge dropped the word before it."""
    # Of `a.h \`, only ` \` was left (gnuradio 2d395c207b).
    return {line.strip() for line in lines_of(text) if not WORD.search(line)} - {""}


def _has_no_place(conflict: Conflict, _: Made) -> bool:
    """Return whether one side inserts lines between two lines that the other side removes."""
    # The other side has a new function there, and the line was in it (owncloud/client e87660ba28).
    old, *sides = (
        [" ".join(WORD.findall(line)) for line in side] for side in conflict.region.sides
    )
    return any(
        all(
            f" {line} " not in others and all(likeness(line, x) < _REWORDED for x in other)
            for line in around
        )
        for one, other in ways(sides)
        for others in [f" {' '.join(other)} "]
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


def _is_behind_an_end(conflict: Conflict, made: Made) -> bool:
    """Return whether an insertion of one side follows one of the other that ends their block.

    For example, upstream adds a statement to a function, and the patch ends that function and
    begins another.
    """
    if _is_cut_in_two(conflict):
        return True
    base, *sides = ("".join(side).strip() for side in conflict.region.changed)
    language = conflict.around.language
    for ending, other in ways(sides) if not base else ():
        at, to = map(made.text.find, (ending, other))
        if at < to and (
            closed_in(ending, language)
            or (0 <= at <= to - len(ending) and _ends_what_is_around(ending, other, language))
        ):
            return True
    return False


def _ends_what_is_around(before: str, after: str, language: Language) -> bool:
    """Return whether the text `before` changes the meaning of the text `after` it.

    It begins a section with a label such as `private:`, or it is incomplete, because it ends, for
    example, with an attribute of a function.
    """
    # A signal became a private slot (owncloud/client 0589bfc51b). `__attribute__((noreturn))` was
    # before another function (collectd 9988d61c84), and two lists of initializers were before one
    # constructor (owncloud/client 02704cdf74).
    if language.layout != "signs":
        return False
    if any(map(_LABEL.match, outside_brackets(lines_of(before), language))) and not _LABEL.match(
        after
    ):
        return True
    line = next((x.strip() for x in code_lines((before,), language)[::-1] if x.strip()), "#")
    is_open = line[0] != "#" and line[-1] not in ";{}:,>\\" and not language.continues
    return is_open and _macro(line) != _macro(after)


def _macro(text: str) -> str:
    return text.partition("(")[0].strip()


def _is_cut_in_two(conflict: Conflict) -> bool:
    """Return whether one side closes a block between two places that the other side edits."""
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
        for (side, own), (_, others) in ways(edits)
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
    if language.opens or is_layout(conflict) or not made.rule.startswith("replay"):
        return False
    return len({sum(blocks_opened("".join(side), language)) for side in conflict.region.sides}) > 1


def _adds(found_in: Callable[[str, Language], set[Any]]) -> _Reason:
    """Return a reason that applies if `found_in` finds something in the candidate only."""

    def is_new(conflict: Conflict, made: Made) -> bool:
        texts = (made.text, *map("".join, conflict.region.sides))
        found, *known = (found_in(text, conflict.around.language) for text in texts)
        return bool(found.difference(*known))

    return is_new


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
    "next line": ("python text", _is_before_another),
    "order": ("cmake json shell yaml", _is_command),
    "two wordings": (_ALL, _has_two_wordings),
    "one block": ("c", _is_of_one_block),
    "emptied": (_ALL, _is_emptied),
    "renamed": (_ALL, is_renamed),
    "doubled": (_NOT_PYTHON, _is_unaccounted),
    "undone": (_ALL, lambda conflict, made: conflict.subject.is_undone(made.text)),
    "joined lines": (_ALL, _joins_lines),
    "wordless": (_ALL, _adds(_wordless)),
    "older form": (_ALL, is_of_older_form),
    "stammers": (_ALL, _adds(stammered)),
    "operators": (_CODE, is_regrouped),
    "two places": (_CODE, is_at_two_places),
    "cells": ("text", _adds(_ragged)),
    "sections": ("text", _is_of_two_sections),
    "left behind": ("text yaml", _is_left_behind),
    "said twice": (_ALL, is_said_twice),
    "same number": (_ALL, is_counted_by_both),
    "mixed parts": (_ALL, has_mixed_parts),
    "format": ("c", is_of_another_format),
    "same literal": (_CODE, shares_a_literal),
    "used otherwise": ("c", is_of_a_changed_form),
    "condition": ("c", _loses_a_condition),
    "remarks": ("c", _has_two_remarks),
    "declared alike": ("c", is_declared_alike),
    "no place": ("c", _has_no_place),
    "included elsewhere": ("c", includes_from_where_it_left),
    "elsewhere": ("c", is_changed_elsewhere),
    "used elsewhere": (_NOT_PYTHON, is_used_elsewhere),
    "cut": ("c", _is_cut_otherwise),
    "closes": ("c", _is_behind_an_end),
}
"""For each reason to ask a person: the families of languages it applies to, and its test."""
