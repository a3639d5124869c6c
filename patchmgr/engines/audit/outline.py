"""Find the names in Python files whose meaning may have changed, without parsing the files.

Only top-level statements, found by indentation, that differ between two versions are examined.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from functools import lru_cache

from msgspec import Struct, field

from patchmgr.engines.structure.python_tree import Definition, first_line

_WORD = re.compile(r"[^\W\d]\w*")
_MANY = 100  # words; looking for fewer words is faster than reading all words of a text
BEGINS = re.compile(r"\n(?=[^\s#)\]}])(?!(?:else|elif|except|finally)\b)")
_QUOTES = ('"""', "'''")
_LITERAL = re.compile(
    r"#[^\n]*|\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'",
    re.DOTALL,
)
DEFINES = re.compile(r"(?:(?:@|[ \t]).*\n|\)[ \t]*\n)*(?:async[ \t]+)?(class|def)[ \t]+(\w+)")
_HEAD_ENDS = re.compile(r":[ \t]*(?:#.*)?$")
_TEXT = re.compile(r"[rRuU]?(?:\"\"\"|''')")
_FROM_OUTSIDE = re.compile(r"(?:from|import)[ \t]+(\w+)")
_IMPORTS = ("from ", "import ")
_SET = re.compile(r"[ \t]*(?:self|cls)\.(\w+)[ \t]*(?::([^=]+))?=(?!=)(.*)")
_BINDS = re.compile(r"(\w+)[ \t]*(?::([^=\n]+))?(?:=(?!=)((?s:.*)))?$")
_STRING = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
_CALL = re.compile(r"\s*[\w.]+\(")
_COMMENT = re.compile(r"#.*")
# Words in annotations that are not names of classes in the project.
_PLAIN = frozenset({*dir(builtins), "Literal", "Optional", "Any", "ClassVar", "Final"})
_RENAMES = re.compile(
    r"(?:^|import|[,(])[ \t]*(\w+)[ \t]+as[ \t]+(\w+)[ \t]*(?:[,)#]|$)"
    r"|^class[ \t]+(\w+)([^:\n]*)|^(\w+)[ \t]*(?::[^=\n]+)?=([^\n]*)",
    re.MULTILINE,
)


class Altered(Struct, frozen=True):
    """The names whose meaning may differ between two versions of a project's Python modules."""

    names: set[str]
    types: set[str]  # names whose values may have another type
    # names, without aliases, that were removed or may take other arguments
    lost: set[str] = field(default_factory=set)

    def suspects_in(self, text: str, within: Set[int]) -> Suspects:
        """Return those lines in `within` whose meaning may depend on changed names."""
        # A changed special method counts as a change of its class, whose name is in `names`.
        names, types = (
            {name for name in some if not name.startswith("__")}
            for some in (self.names, self.types)
        )
        names, types = (
            some & words(text) if len(some) > _MANY else {name for name in some if name in text}
            for some in (names, types)
        )
        lines, whole, naming, numbers = set[int](), set[int](), set[int](), sorted(within)
        either = names | types
        for first, block in blocks(text) if either else ():
            end = first + block.count("\n")
            if not is_among(numbers, first, end) or not _may_have(block, either):
                continue
            head, parts = parts_of(block)
            if _has_word(block, types) or _has_word(head, names):
                whole.update(range(first, end + 1))
                continue
            for start, part in parts:
                if _has_word(part, names):
                    numbered = [*enumerate(part.split("\n"), first + start)]
                    lines.update(n for n, _ in numbered)
                    naming.update(n for n, line in numbered if _has_word(line, names))
        return Suspects((lines | whole) & within, whole & within, sorted(naming))


class Suspects(Struct, frozen=True):
    """The lines (from 1) of a file that may be affected by names whose meaning changed."""

    lines: Set[int]
    whole: Set[int] = frozenset()  # every node that starts on these lines may be affected
    naming: Sequence[int] | None = None  # lines that contain such a name (None: not searched)

    @property
    def near(self) -> Sequence[int]:
        """Sorted line numbers; each statement that may be affected contains one of them."""
        return sorted(self.lines if self.naming is None else {*self.naming, *self.whole})

    def has(self, node: ast.AST) -> bool:
        """Return whether a changed name may affect a node or, for a definition, its header."""
        line = getattr(node, "lineno", 0)
        if self.naming is None or line in self.whole:
            return True
        return is_among(self.naming, *head_lines(node))


def head_lines(node: ast.AST) -> tuple[int, int]:
    """Return the first and the last line of a node or, for a definition, of its header."""
    if isinstance(node, Definition):
        return first_line(node), max(node.lineno, node.body[0].lineno - 1)
    return getattr(node, "lineno", 0), getattr(node, "end_lineno", None) or 0


def is_among(lines: Sequence[int], first: int, last: int) -> bool:
    """Return whether any of the sorted line numbers is in the range from `first` to `last`."""
    at = bisect_left(lines, first)
    return at < len(lines) and lines[at] <= last


def altered(pairs: Iterable[tuple[str, str]], users: Iterable[str] = ()) -> Altered:
    """Return the names whose meaning may differ between the old and the new version of modules.

    `pairs` has the old and the new source of each module. `users` are sources that may define
    aliases of these names, derive classes from them, or assign them.
    """
    pairs, found = list(pairs), Altered(set(), set())
    for old, new in pairs:
        _compare(old, new, "", found)
    texts = [new for _, new in pairs] + list(users)
    return Altered(with_aliases(found.names, texts), with_aliases(found.types, texts))


def lost_names(old: str, new: str) -> set[str]:
    """Return the names that a module's new version lacks or may define with other arguments."""
    found = Altered(set(), set())
    _compare(old, new, "", found)
    return found.lost


def with_aliases(names: set[str], texts: Iterable[str]) -> set[str]:
    """Return the names, and all aliases, subclasses and variables that `texts` define from them.

    Only texts that contain one of the names are searched.
    """
    found = (_aliases(text) for text in texts if any(name in text for name in names))
    aliases = [one for some in found for one in some]
    while more := {n for n, of in aliases if n not in names and not names.isdisjoint(of)}:
        names = names | more
    return names


@lru_cache(maxsize=128)  # names and types ask for the same texts
def _aliases(text: str) -> Sequence[tuple[str, set[str]]]:
    """Return (name, words in its definition) for each alias, derived class and variable."""
    lines = "\n".join(x for x in text.split("\n") if x[:1].isalpha() or " as " in x)
    return [
        (alias or derived or value, words(of or bases or made))
        for of, alias, derived, bases, value, made in _RENAMES.findall(lines)
    ]


def words(text: str) -> set[str]:
    """Return the set of words in a string, leaving out numbers."""
    return set(_WORD.findall(text))


def _may_have(text: str, some: Set[str]) -> bool:
    return len(some) > _MANY or any(map(text.__contains__, some))


def _has_word(text: str, some: Set[str]) -> bool:
    return _may_have(text, some) and not some.isdisjoint(_WORD.findall(text))


@lru_cache(maxsize=128)  # most files have the same text on both sides
def blocks(text: str) -> Sequence[tuple[int, str]]:
    """Return (line from 1, source) for each top-level statement of Python source.

    Decorators belong to the statement after them, and an `else` to the statement before it.
    """
    found = list[tuple[int, str]]()
    first, start, begin, cut, depth, quotes = 1, 0, 0, 0, 0, [0, 0]
    for end in (*(match.end() for match in BEGINS.finditer(text)), len(text)):
        quotes = [n + text.count(mark, cut, end) for n, mark in zip(quotes, _QUOTES, strict=True)]
        cut = end
        if end < len(text) and (quotes[0] % 2 or quotes[1] % 2):
            continue
        piece = text[begin:end]
        begin = end
        depth += _depth(piece) and _depth(_LITERAL.sub("", piece))
        goes_on = depth or piece.startswith("@") or piece.endswith("\\\n")
        if end > start and (end == len(text) or not goes_on):
            found.append((first, text[start:end]))
            first, start, depth = first + text.count("\n", start, end), end, 0
    return found


def _depth(text: str) -> int:
    """Return the number of brackets that a text opens minus the number that it closes."""
    count = text.count
    return count("(") + count("[") + count("{") - count(")") - count("]") - count("}")


def parts_of(block: str) -> tuple[str, list[tuple[int, str]]]:
    """Return the header of a class, and (line from 0, source) for each of its members.

    For any other block, the header is empty and the block is the only member.
    """
    kind = DEFINES.match(block)
    if kind is None or kind[1] != "class":
        return "", [(0, block)]
    head, body = _head_and_body(block)
    return head, [(head.count("\n") + first - 1, part) for first, part in blocks(body)]


def _head_and_body(block: str) -> tuple[str, str]:
    """Split a definition into its head and its body. The body of a class is not indented."""
    lines = block.splitlines(keepends=True)
    start = next(n for n, line in enumerate(lines) if line.startswith(("class", "def", "async")))
    ends = (n for n, line in enumerate(lines) if n >= start and _HEAD_ENDS.search(line))
    end = next(ends, len(lines) - 1) + 1
    if not lines[start].startswith("class"):
        return "".join(lines[:end]), "".join(lines[end:])
    margin = next((len(x) - len(x.lstrip()) for x in lines[end:] if x.strip()), 0)
    # Comments may be indented less, and empty lines are shorter.
    body = re.sub(f"\n[ \\t]{{0,{margin}}}", "\n", "\n" + "".join(lines[end:]))
    return "".join(lines[:end]), body[1:]


def _compare(old: str, new: str, owner: str, found: Altered) -> None:
    """Add to `found` the names that a module, or the class `owner`, binds in blocks that differ."""
    sides = [[block.rstrip() + "\n" for _, block in blocks(text)] for text in (old, new)]
    only = [
        [block for block in side if block not in other]
        for side, other in ((sides[0], set(sides[1])), (sides[1], set(sides[0])))
    ]
    defined = [defaultdict[tuple[str, str], list[str]](list) for _ in only]
    for side, texts in zip(defined, only, strict=True):
        for text in texts:
            if m := DEFINES.match(text):
                side[m[1], m[2]].append(text)
    for kind, name in defined[0].keys() | defined[1].keys():
        pair = [[_head_and_body(text) for text in side[kind, name]] for side in defined]
        heads, bodies = ([[one[n] for one in side] for side in pair] for n in (0, 1))
        if kind == "class" and all(pair):
            _compare("".join(bodies[0]), "".join(bodies[1]), name, found)
        _add_heads(kind, name, owner, heads, found)
        _add_attributes(kind, bodies, found)
    # A string on its own binds nothing.
    plain = [[t for t in texts if not (DEFINES.match(t) or _TEXT.match(t))] for texts in only]
    _add_others(plain, owner, found)


def _add_heads(kind: str, name: str, owner: str, heads: list[list[str]], found: Altered) -> None:
    """Add the name of a definition that differs and, if needed, the class that it belongs to.

    `heads` has the first lines of the definition, up to the colon, in both versions.
    """
    has_same_head = heads[0] == heads[1]
    if kind != "class" or not has_same_head:
        found.names.add(name)
    if not has_same_head and all(heads):
        found.types.add(name)
    if not has_same_head and heads[0]:  # a constructor is called by the name of its class
        found.lost.add(owner if owner and name.startswith("__") else name)
    is_special = name.startswith("__") and not (name == "__init__" and has_same_head)
    if owner and (is_special or "abstractmethod" in str(heads)):
        found.names.add(owner)
        found.types.add(owner)


def _add_attributes(kind: str, bodies: list[list[str]], found: Altered) -> None:
    """Add the attributes of `self` that a definition sets in lines that differ."""
    was, now = (set("".join(side).splitlines()) for side in bodies)
    sets = [list(filter(None, map(_SET.match, some))) for some in (was - now, now - was)]
    for given in (*sets[0], *sets[1]):
        found.names.add(given[1])
        if given[2] or "(" in given[3]:
            found.types.add(given[1])
    if kind == "class" and sets[0]:
        found.lost.update({m[1] for m in sets[0]} - {m[1] for m in map(_SET.match, now) if m})


def _add_others(plain: list[list[str]], owner: str, found: Altered) -> None:
    """Add the names in the other statements that differ; `plain` has these for each version."""
    others = [set[str](), set[str]()]
    for lines, texts in zip(others, plain, strict=True):
        for block in texts:
            if not _add_binding(block, owner, found):
                lines.update(_COMMENT.sub("", block).splitlines())
    said = {word for line in others[0] ^ others[1] for word in _WORD.findall(line)}
    said.difference_update(keyword.kwlist)
    found.names.update(said)
    found.types.update(said)
    before = {m[1] for text in plain[0] if (m := _BINDS.match(text))}
    gone = "\n".join(x for x in others[0] - others[1] if not x.lstrip().startswith(_IMPORTS))
    found.lost.update(before, said & words(gone))


def _add_binding(block: str, owner: str, found: Altered) -> bool:
    """Add to `found` the names that a block binds, and return whether it is a simple statement."""
    outside = _FROM_OUTSIDE.match(block)
    if outside and outside[1] in sys.stdlib_module_names:
        return True
    binding = _BINDS.match(block)
    if binding is None:
        return False
    name, kind, value = binding.groups()
    listed = {word for text in _STRING.findall(value or "") for word in _WORD.findall(text)}
    found.names.update({name, owner} - {""}, listed)
    if owner and kind and value is None:  # a required field
        found.lost.add(owner)
    is_plain = kind and _PLAIN.issuperset(_WORD.findall(_STRING.sub("", kind)))
    if (kind and not is_plain) or _CALL.match(value or ""):
        found.types.add(name)
    return True
