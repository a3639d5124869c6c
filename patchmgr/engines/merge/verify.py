"""Find the faults that a candidate resolution has within its file, such as a syntax error."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate, dropwhile, pairwise, takewhile

from msgspec import Struct

from patchmgr.engines.audit.names import faults_of, new_faults
from patchmgr.engines.languages.keys import Line, added_by_both, added_twice, lines_in_blocks
from patchmgr.engines.merge.imports import imported
from patchmgr.engines.merge.languages import (
    CLOSERS,
    CMAKE,
    JSON,
    PYTHON,
    TEXT,
    TOML,
    YAML,
    C,
    Language,
    language_of,
    tokens_of,
)
from patchmgr.engines.merge.region import Piece, Region
from patchmgr.engines.structure.guards_flow import facts_of, newly_dead
from patchmgr.engines.structure.guards_lines import growths
from patchmgr.engines.structure.outdated_uses import outdated_uses
from patchmgr.engines.structure.python_tree import compiles, parse_python
from patchmgr.engines.structure.sides import Texts
from patchmgr.engines.text.distinctive import bare, is_distinctive
from patchmgr.formats import toml_text

_FUNCTION = re.compile(r"[ \t]*(?:async\s+def|def)\b")
# a line that continues the statement above it: `else:`, `case 1:`, a comment or a closing bracket
_CLAUSE = re.compile(r"[ \t]*(?:(?:else|elif|except|finally|case)\b|[#)\]}])")
# the indentation and name of a `def` or `class`, or the target of an assignment at the top level
_BINDINGS = re.compile(r"^([ \t]*)(?:(?:async\s+)?def|(class))\s+(\w+)|^(\w+)\s*(?:=[^=]|:)", re.M)
_GROUP = re.compile(r"[\\@]([{}])")  # of Doxygen
_SPACE = re.compile(r"(?:\\[ntr]|\s)+")  # white space in a docstring, which is only layout
_CODING = re.compile(r"[ \t\f]*#.*?coding[:=]")  # PEP 263; it counts in the first two lines only
_IMPORT = re.compile(r"(?:use|import)\b")  # a `using` of C# comes before the namespace
_STATIC_CONST = re.compile(r"^[ \t]*static\b[^;{}=\"]*\)\s*const\s*[;{]", re.MULTILINE)
_NAMESPACE = re.compile(r"(?:namespace|package)\b[^{]*$")
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)  # of the preprocessor
_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*)(?![\w:.-])(?:[^<>]*[^/<>])?>")  # `<p/>` opens nothing
_CONTROL = re.compile(rb"(?:async )?(?:if|elif|else|for|while|with|try|except|finally|case)\b.*:$")
_MESSAGE = re.compile(r'^msgid "(?!"\nmsgstr).*\n(?:(?:msg|").*(?:\n|\Z))*', re.MULTILINE)
_HEADING = re.compile(r"(?:##+|==+)[ \t]+\S")  # of Markdown or AsciiDoc
_UNDERLINE = re.compile(r"([=~^-])\1{2,}$")
_NO_LINE = Line(0, b"", -1, ())
_HEAD = 10  # lines at the start of a file
NO_FAULT = frozenset({"no", "not read", "depends"})  # what `fails` returns for no certain fault
_FARTHEST = 300  # lines that are read around a region


class Surroundings(Struct, frozen=True):
    """The lines before and after a conflict region; candidates are parsed together with them.

    If there are other regions among these lines, they have the text of ours.
    """

    before: str
    after: str
    # `base` and `sides` are the region's own texts
    base: str
    sides: tuple[str, str]
    elsewhere: frozenset[str]  # names bound outside the region
    certain: frozenset[str]  # names bound outside all regions
    in_sides: frozenset[str]  # names that a side binds anywhere in the file
    language: Language

    def text(self, candidate: str) -> str:
        """Return a candidate resolution between the lines before and after the region."""
        return f"{self.before}{candidate}{self.after}"


def surroundings(
    pieces: Sequence[Piece], at: int, language: Language, sides: tuple[str, str]
) -> Surroundings:
    """Return the lines around a region: those of its Python function, or else all lines."""
    region = pieces[at]
    assert isinstance(region, Region)
    before = [x for p in pieces[:at] for x in (p.ours if isinstance(p, Region) else p)]
    after = [x for p in pieces[at + 1 :] for x in (p.ours if isinstance(p, Region) else p)]
    others = [p for n, p in enumerate(pieces) if n != at]
    elsewhere = certain = in_sides = frozenset[str]()
    own = "".join(region.ours), "".join(region.theirs)
    if language is PYTHON:
        certain = bound_in("".join(x for p in others if isinstance(p, tuple) for x in p))
        regions = [p for p in others if isinstance(p, Region)]
        elsewhere = certain.union(
            *(bound_in("".join(side)) for p in regions for side in (p.ours, p.theirs))
        )
        in_sides = bound_in(sides[0]) | bound_in(sides[1])
        within = _within(before, region, after)
        # If not, the region may be a decorator or a part of a docstring.
        if all(compiles("".join((*within[0], side, *within[1]))) for side in own):
            before, after = within
    base = "".join(region.base)
    return Surroundings(
        "".join(before), "".join(after), base, own, elsewhere, certain, in_sides, language
    )


def _within(before: list[str], region: Region, after: list[str]) -> tuple[list[str], list[str]]:
    """Return the lines of the Python function around the region, or of the statements it is in."""
    lines = [x for side in region.sides for x in side if x.strip()]
    least = min(map(_indent, lines), default=0)
    start = len(before)
    column = least
    for n in range(len(before) - 1, max(-1, len(before) - _FARTHEST), -1):
        indent = _indent(before[n])
        if not before[n].strip() or _CLAUSE.match(before[n]):
            continue
        if indent <= least and start == len(before) and _is_torn(region, least):
            start = n
        if indent < column:
            column = indent
            if _FUNCTION.match(before[n]):
                return _framed(before[n:], after, column)
    return _framed(before[start:], after, least)


def _is_torn(region: Region, least: int) -> bool:
    """Return whether a side begins inside a statement that starts before the region.

    `least` is the smallest indentation in the region.
    """
    firsts = (next((x for x in side if x.strip()), "") for side in region.sides)
    return any(_indent(x) > least or _CLAUSE.match(x) for x in firsts)


def _framed(before: list[str], after: list[str], column: int) -> tuple[list[str], list[str]]:
    """Return the lines up to the end of the block at `column`, in a function so that they parse."""
    end = next(
        (
            n
            for n, x in enumerate(after)
            if x.strip() and _indent(x) <= column and not _CLAUSE.match(x)
        ),
        len(after),
    )
    frame = "async def f():\n" if any("await" in x for x in before) else "def f():\n"
    return [*([frame] if column else []), *before], after[:end]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


@lru_cache(maxsize=64)
def bound_in(text: str) -> frozenset[str]:
    """Return the names that a Python text binds by imports, definitions and assignments."""
    # Methods are left out: `_ids(self.ids)` is a fault if only `self._ids` exists (vllm stop-ids
    # onto 0.25.0, whose second hunk lost its `self.`).
    names = {name.partition(".")[0] for _, name in imported(text)} - {"*"}
    # Of each enclosing definition: its indentation, and whether it is a class.
    around: list[tuple[int, bool]] = []
    for indent, is_class, defined, assigned in _BINDINGS.findall(text):
        while around and around[-1][0] >= len(indent):
            around.pop()
        if not (around and around[-1][1]):
            names.add(defined or assigned)
        if defined:
            around.append((len(indent), bool(is_class)))
    return frozenset(names)


def fails(candidate: str, around: Surroundings) -> str:
    """Return the fault that a candidate adds, such as "syntax", or "no" if it adds none.

    Two other answers mean that no fault is certain. "not read": the candidate does not parse, but
    at least one side does not, either. "depends": it uses a name that only another region may bind.
    """
    language = around.language
    if language is PYTHON:
        return _fails_python(candidate, around)
    own = candidate, *around.sides
    whole = [around.text(text) for text in own]
    if language in _PARSERS:
        is_read, *are_read = (_parses(text, language) for text in whole)
        return "no" if is_read or not all(are_read) else "syntax"
    if language.family not in ("c", "cmake", "shell"):
        return "no"
    # A region may begin within a raw string.
    texts = whole if language.continues else own
    merged, *sides = (_balance(text, language) for text in texts)
    if merged not in sides:
        return "syntax"
    if language.family == "shell":
        return "no"
    if not _closes_what_sides_close(candidate, around):
        return "syntax"
    repeated, *known = (_repeated(text, language) for text in own)
    return "no" if any(repeated <= side for side in known) else "key-twice"


def _json_of(text: str) -> object:
    return json.loads(text, object_pairs_hook=_without_doubles)


def _without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


_PARSERS: dict[Language, Callable[[str], object]] = {JSON: _json_of, TOML: toml_text.loads}


@lru_cache(maxsize=64)
def _parses(text: str, language: Language) -> bool:
    try:
        _PARSERS[language](text)
    except (ValueError, RecursionError):
        return False
    return True


@lru_cache(maxsize=64)
def _balance(text: str, language: Language) -> tuple[int, ...]:
    """Count what a text leaves open: brackets, preprocessor conditions, Doxygen groups, quotes.

    Two commas in a row are counted, too.
    """
    tokens = tokens_of(text, language)
    signs = [t.text for t in tokens if t.kind == "sign"]
    if language.family == "shell":
        return tuple(signs.count(quote) % 2 for quote in "'\"")
    words = [t.text.lstrip("# \t") for t in tokens if t.kind == "directive"]
    opened = sum(w.startswith("if") for w in words) - sum(w.startswith("endif") for w in words)
    groups = [_GROUP.findall(t.text) for t in tokens if t.kind == "comment"]
    grouped = sum((group == "{") * 2 - 1 for found in groups for group in found)
    blocks = sum(blocks_opened(text, language))
    pairs = (signs.count(a) - signs.count(b) for a, b in ("()", "[]", "{}"))
    empty = sum(
        one == "," == two for one, two in pairwise(t.text for t in tokens if t.kind != "comment")
    )
    return (*pairs, opened, grouped, blocks, empty)


def blocks_opened(text: str, language: Language) -> list[int]:
    """Return how many blocks each punctuation mark in a text opens (-1: it closes one).

    In a language that ends blocks with `end`, there is a number for each line instead.
    """
    if language.opens:
        return [language.opened_by(line) for line in text.split("\n")]
    signs = [t.text for t in tokens_of(text, language) if t.kind == "sign"]
    return [(x == "{") - (x == "}") for x in signs]


def is_broken(text: str, sides: Sequence[str], path: str) -> bool:
    """Return whether the merged file has a fault that `sides` (base, ours, theirs) do not have."""
    language = language_of(path)
    contents = [_bytes(one) for one in (*sides, text)]
    texts = Texts(*sides)
    faults = [is_so for is_so, family in _FAULTS.items() if family in ("", language.family)]
    return (
        any(is_so(text) and not any(map(is_so, sides)) for is_so in faults)
        or _leaves_a_pair_open(text, sides, language)
        or _loses_or_doubles_a_line(text, sides)
        or (language in (PYTHON, YAML) and _puts_a_line_elsewhere(text, sides))
        or (language.directive == C.directive and _puts_a_line_under_another_condition(text, sides))
        or (language is TEXT and _puts_a_line_in_another_section(text, sides))
        or (path.endswith(".po") and not _messages(text) <= set().union(*map(_messages, sides)))
        or any(added_twice(path, contents))
        or _adds_a_line_twice(contents)
        or any(outdated_uses(texts, text, growths(texts, text)))
        or (
            language is PYTHON
            and any(x.is_certain for x in new_faults(contents[3], *contents[1:3]))
        )
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _has_both_endings(text: str) -> bool:
    """Return whether a file has both line endings (OctoPrint 86c0ecb005)."""
    return 0 < text.count("\r\n") < text.count("\n")


def _has_late_coding(text: str) -> bool:
    """Return whether the encoding is declared too late in a file (OctoPrint b326efbc3c)."""
    return any(map(_CODING.match, text.split("\n", _HEAD)[2:_HEAD]))


def _has_late_namespace(text: str) -> bool:
    """Return whether an import comes before the namespace of its file (phpunit 6cf9705f09)."""
    rest = dropwhile(lambda line: not _IMPORT.match(line), text.split("\n"))
    return any(map(_NAMESPACE.match, rest))


def _has_nested_call(text: str) -> bool:
    """Return whether a CMake command begins inside another one's brackets (openscad 69262c7dd8)."""
    pairs = pairwise(tokens_of(text, CMAKE))
    return any(two.text == "(" and one.depth and "\n" in one.lead for one, two in pairs)


def _has_static_const(text: str) -> bool:
    """Return whether a static C++ function is `const`, an error (owncloud/client 0589bfc51b)."""
    return _STATIC_CONST.search(text) is not None


_FAULTS: dict[Callable[[str], bool], str] = {
    lambda text: "\ufeff" in text[1:]: "",  # owncloud/client 457f9b587d
    _has_both_endings: "",
    lambda text: not compiles(text): "python",
    _has_late_coding: "python",
    _has_late_namespace: "c",
    _has_static_const: "c",
    _has_nested_call: "cmake",
}
"""Tests for faults of a file, and the family of languages that each is for ("" stands for all)."""


def _leaves_a_pair_open(text: str, sides: Sequence[str], language: Language) -> bool:
    """Return whether the merge leaves more or fewer pairs open than all of its three sides do."""
    # In Ruby, an `end` came without its `if` (mastodon b6b68b44a1). Both sides of gnuradio
    # 75b650ef25 end with an `#endif`, and the merge kept one.
    merged, base, ours, theirs = (_left_open(one, language) for one in (text, *sides))
    return any(
        base[sign] == ours[sign] == theirs[sign] != merged[sign] for sign in {*merged, *base}
    )


def _left_open(text: str, language: Language) -> Counter[str]:
    """Count how many brackets, conditions, blocks and tags a text opens, minus those it closes."""
    found = Counter({one: text.count(one) - text.count(two) for one, two in CLOSERS.items()})
    found["#if"] = sum(2 * word.startswith("if") - 1 for word in _CONDITION.findall(text))
    found["end"] = sum(blocks_opened(text, language)) if language.opens else 0
    if language is TEXT:
        for end, tag in _TAG.findall(text):
            found[f"<{tag}>"] += -1 if end else 1
    return found


def _loses_or_doubles_a_line(text: str, sides: Sequence[str]) -> bool:
    """Return whether a line that occurs once in base, ours and theirs is not once in the merge."""
    # Upstream moved a line, and the patch added one before it: the line was at both places
    # (qutebrowser 6c8e073dc8). The comment behind an item that one side removes was lost (OctoPrint
    # c84d39a803).
    merged, *others = (Counter(map(str.strip, one.split("\n"))) for one in (text, *sides))
    once = (line for line, n in others[0].items() if n == others[1][line] == others[2][line] == 1)
    off = [(merged[line], bare(_bytes(line))) for line in once if merged[line] != 1]
    return any(
        is_distinctive(line) and (n > 1 or line.rstrip(b",") not in bare(_bytes(text)))
        for n, line in off
    )


def _adds_a_line_twice(contents: Sequence[bytes]) -> bool:
    """Return whether both sides add a line to the same block, and the merge has it twice.

    One side of silverstripe/silverstripe-framework 77a45c0dbc adds an `if`, and the other side adds
    the same lines in another place, without a conflict: the merge had both. A line that begins a
    block is compared with the first line in it. `contents` are base, ours, theirs and the merge.
    """
    ours, theirs, merged = (Counter(map(bytes.strip, one.split(b"\n"))) for one in contents[1:])
    new = merged - (ours | theirs)
    more = {x for x in new if is_distinctive(bare(x)) and not x.startswith((b"@", b"#["))}
    if not more:
        return False
    firsts = {one.lstrip().partition(b"\n")[0].rstrip() for one in contents[1:3]}
    if not contents[0].strip() and len(firsts) == 1 and firsts <= more:
        return True  # a file that both sides add begins once (supercollider 4332bec94f)
    sides = [
        [
            (line, line.text + (after.text if after.block == line.number else b""))
            for line, after in pairwise((*lines_in_blocks(content), _NO_LINE))
            if line.text in more
        ]
        for content in contents
    ]
    return any(added_by_both(sides))


def _puts_a_line_elsewhere(text: str, sides: Sequence[str]) -> bool:
    """Return whether a line has left its list item, or an `if` that one side puts around it."""
    # Each side of GNS3/gns3-server 2ea0aa5d indents a statement, one for a `try`: that was not in
    # the `if` of the other. In bc3016ee, an item of a list was indented as on the other side.
    merged, *three = map(_blocks, (text, *sides))
    for line, around in merged.items():
        found = [set(one) for side in three if (one := side.get(line)) is not None]
        if around is None or len(found) < len(three) or not is_distinctive(bare(line)):
            continue
        base, new = found[0], found[1] | found[2]
        left = (new - base).difference(around) & merged.keys()
        if any(map(_CONTROL.match, left)) or any(
            one.startswith(b"- ") and one in {**three[1], **three[2]} for one in {*around} - new
        ):
            return True
    return False


def _puts_a_line_under_another_condition(text: str, sides: Sequence[str]) -> bool:
    """Return whether a line that one side adds is no longer under its preprocessor condition."""
    # One side adds an include to the `#else` of `WIN32`, which the other side closes for the next
    # `#ifdef`: the include was under that (OpenLightingProject/ola 1314e11c51).
    merged, base, *both = map(_conditions_of_lines, (text, *sides))
    known = {one for around in merged.values() for one, _ in around}
    return any(
        around
        and line not in base
        and line not in other
        and any(one not in merged.get(line, around) and one[0] in known for one in around)
        and is_distinctive(bare(_bytes(line)))
        for one_side, other in (both, reversed(both))
        for line, around in one_side.items()
    )


def _conditions_of_lines(text: str) -> dict[str, tuple[tuple[str, int], ...]]:
    """Map each line that occurs once to the preprocessor conditions around it.

    Each condition comes with the number of its branch: 0 for `#if`, 1 for the next branch.
    """
    found, around = dict[str, tuple[tuple[str, int], ...]](), list[tuple[str, int]]()
    twice = set[str]()
    for line in map(str.strip, text.split("\n")):
        word = line[1:].lstrip() if line.startswith("#") else ""
        if word.startswith("if"):
            around.append((" ".join(word.split()), 0))
        elif word.startswith(("el", "endif")) and around:
            condition, branch = around.pop()
            around += [(condition, branch + 1)] if word.startswith("el") else []
        elif line in found:
            twice.add(line)
        else:
            found[line] = tuple(around)
    return {line: found[line] for line in found.keys() - twice}


def _puts_a_line_in_another_section(text: str, sides: Sequence[str]) -> bool:
    """Return whether a line that one side adds to a section of base ends up in another section."""
    # The patch adds an entry under `Unreleased`, which upstream has since released: the entry was
    # in that release (mitmproxy 64095074507e).
    merged, base, *both = map(_sections, (text, *sides))
    return any(
        section in other and merged.get(line, section) not in (section, "")
        for one, other in (both, reversed(both))
        for line, section in one.items()
        if section and section in base and line not in base and line not in other
        if is_distinctive(bare(_bytes(line)))
    )


def _sections(text: str) -> dict[str, str]:
    """Map each line to its heading; to "" if it has no heading or occurs again."""
    found, heading = dict[str, str](), ""
    lines = text.split("\n")
    for line, below in pairwise([*map(str.strip, lines), ""]):
        is_underlined = _UNDERLINE.match(below) and len(below) >= len(line)
        if _HEADING.match(line) or (is_underlined and line[:1].isalnum()):
            heading = line
        found[line] = "" if line in found else heading
    return found


def _messages(text: str) -> set[str]:
    """Return the messages of a `.po` file with their translations, but without its header."""
    return set(_MESSAGE.findall(text))


def _blocks(text: str) -> dict[bytes, tuple[bytes, ...] | None]:
    """Map each line to the first lines of the blocks around it, or to None if it occurs again."""
    found: dict[bytes, tuple[bytes, ...] | None] = {}
    for line in lines_in_blocks(_bytes(text)):
        found[line.text] = None if line.text in found else line.around
    return found


def _closes_what_sides_close(candidate: str, around: Surroundings) -> bool:
    """Return whether a candidate closes as many blocks as the changes of both sides together.

    Candidates that are one side's text pass, and so do all if no side keeps base's number.
    """
    texts = candidate, around.base, *around.sides
    closed, base, ours, theirs = (closed_in(text, around.language) for text in texts)
    if candidate in around.sides or base not in (ours, theirs):
        return True
    return closed == ours + theirs - base


@lru_cache(maxsize=64)
def closed_in(text: str, language: Language) -> int:
    """Count the braces that a text closes without having opened them."""
    return -min((0, *accumulate(blocks_opened(text, language))))


@lru_cache(maxsize=64)
def _repeated(text: str, language: Language) -> Counter[str]:
    """Count how often a text repeats what a block or a chain of branches may have only once.

    These are the keys of an object, the cases of a `switch`, the conditions of a chain, and its
    last branch, `else` or `finally`.
    """
    tokens = [t.text for t in tokens_of(text, language) if t.kind != "comment"]
    repeated, seen = Counter[str](), [set[str]()]  # what was seen in each open bracket
    for n, token in enumerate(tokens):
        last = tokens[n - 1] if n else ""
        if token in CLOSERS:
            seen.append(set())
        elif token in CLOSERS.values():
            seen[-1:] = [] if len(seen) > 1 else [set()]
        elif (token == "if" and last != "else") or token in _NEW_CHAINS:
            seen[-1] = set()
        part = _once(tokens, n, last, is_ended="else" in seen[-1])
        if part in seen[-1]:
            repeated[part] += 1
        seen[-1] |= {part} - {""}
    return repeated


_NEW_CHAINS = ("try", "let", "guard")


def _once(tokens: Sequence[str], n: int, last: str, *, is_ended: bool) -> str:
    """Return a key, case, condition or last branch that begins at token `n`, or "".

    `last` is the token before it. `is_ended` says that the chain has an `else`: any further branch
    then counts as another `else`.
    """
    token = tokens[n]
    if token in ("if", "case"):
        stop = ("{", ";") if token == "if" else ("{", ";", ":", "case")
        return " ".join([token, *takewhile(lambda t: t not in stop, tokens[n + 1 :])])
    if token in ("else", "catch", "finally") and last != ".":
        is_last = token == "finally" or (token == "else" and tokens[n + 1 : n + 2] != ["if"])
        return "else" if is_last or is_ended else ""
    if token == ":" and (last == "default" or n == 1 or tokens[n - 2] in ("{", ",")):
        return last
    return ""


def _fails_python(candidate: str, around: Surroundings) -> str:
    texts = [around.text(text) for text in (candidate, *around.sides)]
    if not compiles(texts[1]) or not compiles(texts[2]):
        return "no" if compiles(texts[0]) else "not read"
    if not compiles(texts[0]):
        return "syntax"
    merged, *sides = (faults_of(_bytes(t)) for t in texts)
    known = {(f.kind, f.name) for side in sides for f in side}
    found = {(f.kind, f.name) for f in merged}
    flow, ours, theirs = (facts_of(text) for text in texts)
    if flow and ours and theirs and newly_dead(ours, theirs, flow):
        return "never reached"
    for kind in ("undefined-name", "defined-twice", "key-twice"):
        if any(k == kind and (k, n) not in known and n not in around.elsewhere for k, n in found):
            return kind
    here = bound_in(candidate)
    needed = {n for k, n in found if k == "undefined-name"} & around.in_sides - here
    if needed - around.elsewhere:
        return "undefined-name"
    return "depends" if needed - around.certain else "no"


def is_same_code(one: str, other: str, around: Surroundings) -> bool:
    """Return whether two resolutions of the same Python conflict differ only in layout.

    Indentation counts as code, because a `return x` with less of it means something else. Texts
    that do not parse count as different.
    """
    trees = [_tree_of(around.text(text)) for text in (one, other)]
    return all(trees) and trees[0] == trees[1]


@lru_cache(maxsize=64)
def _tree_of(text: str) -> str:
    tree = parse_python(text)
    return "" if tree is None else _SPACE.sub(" ", ast.dump(tree))
