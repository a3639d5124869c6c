"""Parse the predicates of `Needed-When`, `Ensures` and `Valid-While` (docs/predicates.md)."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import refusal
from patchmgr.formats.regexes import RegexError, compile_regex
from patchmgr.formats.shown import shown
from patchmgr.model.patch import CONDITIONS, Patch
from patchmgr.model.predicate import (
    AllOf,
    AnyOf,
    Claim,
    Conditions,
    NamedRef,
    Not,
    PathExists,
    PatternFound,
    Predicate,
    ReleaseIn,
    Where,
    WrittenRef,
)

LONGEST = 4000
DEEPEST = 50

_TOKEN = re.compile(r'\s*(?:([()])|"((?:[^"\\\n]|\\[^\n])*)"|([^\s()"]+))')
_KEYWORDS = frozenset({"and", "or", "not", "no", "path", "pattern", "release", "of", "at", "in"})
_END = ""


class _SyntaxError(Exception):
    """A syntax error in a predicate, and its index in the text."""

    def __init__(self, at: int, problem: str) -> None:
        super().__init__(problem)
        self.at = at
        self.problem = problem


class _Token(Struct, frozen=True):
    """A token and its position in the predicate; a quoted string is kept without its quotes."""

    at: int
    end: int
    text: str
    is_string: bool = False

    @property
    def word(self) -> str | None:
        """Return the text of a bare word or a parenthesis, or None for a quoted string."""
        return None if self.is_string else self.text

    def plain(self) -> str:
        r"""Return the text; in a quoted string, `\"` becomes `"` and `\\` becomes `\`."""
        return re.sub(r'\\(["\\])', r"\1", self.text) if self.is_string else self.text


def read_conditions(patch: Patch) -> Conditions:
    """Parse the conditions in a patch's header; raise "bad-predicate" if one is malformed."""
    texts: dict[str, tuple[str, str]] = {}
    for name, text in patch.fields.items():
        key = name.lower()
        if key in CONDITIONS:
            before = f"{texts[key][1]}\n" if key in texts else ""
            texts[key] = (name, before + text)
    found = {
        key: parse_predicate(text, what=f"patch {shown(patch.name)} {name}")
        for key, (name, text) in texts.items()
    }
    return Conditions(*map(found.get, CONDITIONS))


def parse_predicate(text: str, *, what: str) -> Predicate:
    """Parse a predicate; raise a "bad-predicate" error with a message that begins with `what`."""
    try:
        if len(text) > LONGEST:
            raise _SyntaxError(LONGEST, f"a predicate has no more than {LONGEST} characters")
        return _Parser(text).whole()
    except _SyntaxError as fault:
        line = f"line {text.count(chr(10), 0, fault.at) + 1} " if "\n" in text else ""
        column = fault.at - text.rfind("\n", 0, fault.at)
        raise PatchmgrError(
            "bad-predicate",
            f"{what} {line}column {column}: {fault.problem}",
            "the grammar is in docs/predicates.md",
        ) from fault


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            start = at + len(text[at:]) - len(text[at:].lstrip())
            raise _SyntaxError(start, "the string has no closing quote on its line")
        which = match.lastindex or 0
        start = match.start(which) - (which == 2)
        tokens.append(_Token(start, match.end(), match[which], is_string=which == 2))
        at = match.end()
    return tokens


class _Parser:
    """A recursive descent parser; each method reads one rule of the grammar."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._end = _Token(len(text), len(text), _END)
        self._at = 0
        self._depth = 0

    def whole(self) -> Predicate:
        found = self._any_of()
        if self._next is not self._end:
            raise self._unexpected("`and`, `or` or the end")
        return found

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else self._end

    def _take(self) -> _Token:
        token = self._next
        self._at += 1
        return token

    def _has(self, word: str) -> bool:
        """Consume the next token if it is this bare word, and return whether it was."""
        is_next = self._next.word == word
        self._at += is_next
        return is_next

    def _unexpected(self, wanted: str) -> _SyntaxError:
        token = self._next
        if token is self._end:
            return _SyntaxError(token.at, f"expected {wanted}, but the text ends here")
        quoted = f'"{token.text}"' if token.is_string else token.text
        return _SyntaxError(token.at, f"expected {wanted}, not {shown(quoted)}")

    def _any_of(self) -> Predicate:
        parts = self._joined("or", self._all_of)
        return AnyOf(parts) if len(parts) > 1 else parts[0]

    def _all_of(self) -> Predicate:
        parts = self._joined("and", self._part)
        return AllOf(parts) if len(parts) > 1 else parts[0]

    def _joined(self, word: str, read: Callable[[], Predicate]) -> tuple[Predicate, ...]:
        parts = [read()]
        while self._has(word):
            parts.append(read())
        return tuple(parts)

    def _part(self) -> Predicate:
        self._depth += 1
        if self._depth > DEEPEST:
            problem = f"the predicate is nested deeper than {DEEPEST} levels"
            raise _SyntaxError(self._next.at, problem)
        found = self._nested()
        self._depth -= 1
        return found

    def _nested(self) -> Predicate:
        if self._has("not"):
            return Not(self._part())
        if self._has("("):
            found = self._any_of()
            if not self._has(")"):
                raise self._unexpected("`and`, `or` or `)`")
            return found
        is_negated = self._has("no")
        if self._has("path"):
            claim: Claim = PathExists(self._path())
        elif self._has("pattern"):
            claim = self._pattern()
        elif not is_negated and self._has("release"):
            claim = ReleaseIn(self._specifier())
        else:
            wanted = (
                "`path` or `pattern`"
                if is_negated
                else "`not`, `path`, `no path`, `pattern` or `release`"
            )
            raise self._unexpected(wanted)
        claim = replace(claim, where=self._where())
        return Not(claim) if is_negated else claim

    def _pattern(self) -> PatternFound:
        regex = self._regex()
        if not self._has("in"):
            raise self._unexpected("`in`")
        path = self._next
        if path.is_string:
            name, symbol = self._path(), self._symbol_after(path)
            return PatternFound(regex, name, symbol)
        word, colon, rest = self._word("a path").partition(":")
        name = _checked_path(path, word)
        if not colon:
            return PatternFound(regex, name)
        return PatternFound(regex, name, rest or self._quoted_symbol(path.end))

    def _symbol_after(self, path: _Token) -> str | None:
        """Read the symbol that directly follows a quoted path, if there is one."""
        token = self._next
        if token.at != path.end or not (token.word or "").startswith(":"):
            return None
        self._at += 1
        return token.text[1:] or self._quoted_symbol(token.end)

    def _quoted_symbol(self, at: int) -> str:
        if not self._next.is_string or self._next.at != at or not self._next.text:
            raise _SyntaxError(at, "expected a symbol right after the colon")
        return self._take().plain()

    def _word(self, what: str) -> str:
        """Read a bare word or a non-empty string."""
        if self._next.text in (_END, "(", ")"):
            raise self._unexpected(what)
        return self._take().plain()

    def _path(self) -> str:
        token = self._next
        return _checked_path(token, self._word("a path"))

    def _regex(self, *, groups: int | None = None) -> str:
        token = self._next
        if not token.is_string:
            raise self._unexpected("a regular expression in double quotes")
        self._at += 1
        try:
            found = compile_regex(token.text).groups
        except RegexError as fault:
            raise _SyntaxError(token.at, str(fault)) from fault
        if groups is not None and found != groups:
            problem = f"the regular expression must have one group, not {found}"
            raise _SyntaxError(token.at, problem)
        return token.text

    def _specifier(self) -> str:
        token = self._next
        words: list[str] = []
        while token.is_string or self._next.word not in (None, _END, "(", ")", *_KEYWORDS):
            words.append(self._take().plain())
            if token.is_string:
                break
        if not words:
            raise self._unexpected("a version specifier such as >=0.24,<0.27")
        specifier = " ".join(words)
        try:
            clauses = tuple(SpecifierSet(specifier))
        except InvalidSpecifier as fault:
            problem = f"{shown(specifier)} is not a version specifier such as >=0.24,<0.27"
            raise _SyntaxError(token.at, problem) from fault
        if not clauses or any(clause.operator == "===" for clause in clauses):
            raise _SyntaxError(token.at, "a version specifier needs a comparison other than ===")
        return specifier

    def _where(self) -> Where:
        if not self._has("of"):
            return Where()
        upstream = self._word("the name of an upstream")
        if not self._has("at"):
            return Where(upstream)
        after = self._tokens[self._at + 1 : self._at + 2]
        if not self._next.is_string or not after or after[0].word != "in":
            return Where(upstream, NamedRef(self._word("a ref")))
        regex = self._regex(groups=1)
        if not self._has("in"):
            raise self._unexpected("`in`")
        return Where(upstream, WrittenRef(regex, self._path()))


def _checked_path(token: _Token, path: str) -> str:
    problem = refusal(path)
    if problem is not None:
        raise _SyntaxError(token.at, f"the path {problem}")
    return path
