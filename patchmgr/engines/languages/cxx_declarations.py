"""Find the names that a C++ or CUDA file declares outside functions, and the names that it uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.languages.cxx_tokens import (
    ACCESS,
    GROUPED,
    PAIRS,
    TYPE_KEYS,
    Token,
    UnclearSource,
    match_brackets,
    tokens,
)
from patchmgr.formats.late_patterns import late_pattern

_CLOSERS = frozenset(PAIRS.values())
_BUILT_IN = frozenset(
    {"auto", "bool", "char", "const", "double", "float", "int", "long", "short", "signed", "size_t"}
    | {"unsigned", "void", "volatile", "struct", "class", "enum", "typename"}
)
_NUMBERS = frozenset(
    {"bool", "char", "double", "float", "int", "long", "short", "signed", "size_t", "unsigned"}
    | {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
)
_NO_NAMES = (
    GROUPED
    | _BUILT_IN
    | {"__device__", "__forceinline__", "__global__", "__host__", "catch", "constexpr", "default"}
    | {"delete", "do", "else", "extern", "for", "friend", "if", "inline", "mutable", "namespace"}
    | {"new", "operator", "override", "private", "protected", "public", "return", "sizeof"}
    | {"static", "static_assert", "switch", "template", "this", "typedef", "using", "virtual"}
    | {"while", "case", "co_return", "final", "goto", "union", "nullptr", "true", "false"}
)
_LEADS = frozenset(  # words before a call that are not types
    {"return", "else", "case", "co_return", "co_await", "co_yield", "throw", "do", "not", "and"}
    | {"or", "goto"}
)
_MACRO = late_pattern(r"^[ \t]*#[ \t]*define[ \t]+([^\W\d]\w*)(\([^()]*\))?", re.MULTILINE)
_DIRECTIVE = late_pattern(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
_FIELD = late_pattern(  # in a macro, such as `void* queue[2];` in `UV_HANDLE_FIELDS`
    r"^[ \t]*(\w+)\b[\w \t*]*[ \t*]([^\W\d]\w*)(?:\[[^]\n]*\])?;[ \t]*\\?$", re.MULTILINE
)
_WORD = late_pattern(r"[^\W\d]\w*")

_SPECIFIERS = frozenset(
    {"__device__", "__forceinline__", "__global__", "__host__", "const", "constexpr", "explicit"}
    | {"extern", "inline", "mutable", "static", "virtual", "volatile", "&", "typename", "struct"}
)

MOST_TOKENS = 400_000  # a file with more tokens is not read
_LONGEST = 200  # most tokens between the angle brackets of a use


def is_number(text: str) -> bool:
    """Return whether a C++ type is a number type, such as `int` or `double`."""
    return set(text.split()) <= _NUMBERS | {"std", "::"}


class Parameter(Struct, frozen=True):
    """A C++ parameter: its name, and its type without the qualifiers that callers can ignore."""

    type: str
    name: str
    has_default: bool


class Declaration(Struct, frozen=True):
    """A C++ declaration: its name, its kind, and the namespaces and types that contain it.

    `owners` are these namespaces and types, outermost first. `kind` is `function`, `type`,
    `enumerator`, `variable`, `macro`, `field` (in a macro), `namespace` or `name` (of a declaration
    elsewhere, as in `using std::max`). `parameters` are those of a function, a macro or a type
    template, or None if they are not known. `is_open` says whether any number of further arguments
    is accepted. `is_member` says whether the declaration is in a type. `is_scoped` says whether an
    enumerator must be qualified by its type. `type` is the type of a variable or the return type of
    a function, or empty if it is not known. `is_constant` says whether the value of a variable may
    be known at compile time. `bases` are the base types of a type, and `pure` are the functions
    that every type derived from the type must define.
    """

    name: str
    kind: str
    line: int
    owners: tuple[str, ...] = ()
    is_member: bool = False
    parameters: tuple[Parameter, ...] | None = None
    is_open: bool = False
    is_definition: bool = False
    is_scoped: bool = False
    type: str = ""
    is_constant: bool = False
    is_override: bool = False
    bases: tuple[str, ...] = ()
    pure: tuple[str, ...] = ()

    def takes(self, least: int, most: int) -> bool:
        """Return whether the declaration accepts a call with `least` to `most` arguments."""
        if self.parameters is None:
            return True
        needed = sum(not one.has_default for one in self.parameters)
        return most >= needed and (self.is_open or least <= len(self.parameters))


class Use(Struct, frozen=True):
    """A use of a C++ name, with the token before it and, for a call, the number of arguments.

    `at` is the index of the name's token. `owner` is the name before `::`. `is_local` says whether
    the use is itself a declaration in a function. A comma between angle brackets may or may not
    separate arguments, so a call has between `least` and `most` arguments. `template` is the number
    of arguments in angle brackets after the name, or None if there are no angle brackets.
    """

    name: str
    line: int
    before: str
    owner: str = ""
    is_local: bool = False
    is_call: bool = False
    least: int = 0
    most: int = 0
    template: int | None = None
    at: int = 0


class CxxFile(Struct, frozen=True):
    """The tokens and declarations of a C++ file.

    `closing` maps the index of each opening bracket to the index of the closing bracket.
    `in_directives` holds all words in preprocessor directives.
    """

    tokens: Sequence[Token]
    closing: Mapping[int, int]
    declarations: tuple[Declaration, ...]
    in_directives: frozenset[str]


def read_cxx(content: bytes) -> CxxFile:
    """Parse a C++ file. Raises UnclearSource if it is too long or if its brackets do not match."""
    text = _text_of(content)
    found = list(islice(tokens(text), MOST_TOKENS + 1))
    if len(found) > MOST_TOKENS:
        raise UnclearSource
    closing = match_brackets(token.text for token in found)
    directives = (word for line in _DIRECTIVE.findall(text) for word in _WORD.findall(line))
    return CxxFile(found, closing, _declared(text, found, closing), frozenset(directives))


def read_declarations(content: bytes) -> tuple[Declaration, ...]:
    """Return the declarations of a C++ file, without reading the bodies of functions.

    Raises UnclearSource if the file is too long or if its brackets do not match.
    """
    text, bodies = _text_of(content), _Bodies()
    found = []
    for token in tokens(text, bodies.is_inside):
        found.append(token)
        bodies.enter(token.text)
        if len(found) > MOST_TOKENS:
            raise UnclearSource
    return _declared(text, found, match_brackets(token.text for token in found))


def _text_of(content: bytes) -> str:
    return content.decode("utf-8", "replace").replace("\r\n", "\n")


def _declared(
    text: str, found: Sequence[Token], closing: Mapping[int, int]
) -> tuple[Declaration, ...]:
    kept = _Scan(found, closing)
    kept.scope(0, len(found), (), is_member=False)
    declared = (
        replace(one, pure=tuple(kept.pure.get((*one.owners, one.name), ())))
        if kept.pure and one.kind == "type"
        else one
        for one in kept.found
    )
    return (*declared, *_macros(text))


class _Bodies:
    """Tells which tokens are in the body of a function: in the braces after a parameter list."""

    def __init__(self) -> None:
        self._depth = 0  # open braces, counted from the one that opens a body
        self._parentheses = 0  # open parentheses outside of bodies
        self._before = ""
        self._is_function = self._is_template = False
        # The depth before each open `#if`, and at the end of its first branch.
        self._branches: list[tuple[int, int | None]] = []

    def is_inside(self) -> bool:
        """Return whether the next token is in the body of a function."""
        return self._depth > 0

    def enter(self, text: str) -> None:
        if text == "#if":
            self._branches.append((self._depth, None))
        elif text in ("#else", "#endif") and self._branches:
            start, after = self._branches.pop()
            after = self._depth if after is None else after
            if text == "#else":
                self._branches.append((start, after))
            self._depth = start if text == "#else" else after
        elif text == "{":
            is_body = self._is_function and not self._parentheses
            self._depth += bool(self._depth or is_body)
            self._is_function &= not is_body
        elif text == "}":
            self._depth = max(0, self._depth - 1)
            self._is_function &= self._parentheses > 0
        elif text == "(" and not self._depth:
            self._is_function |= not self._parentheses and self._before not in GROUPED
            self._parentheses += 1
        elif text == ")" and not self._depth:
            self._parentheses = max(0, self._parentheses - 1)
        elif text in (";", "namespace") or (text == ">" and self._is_template):
            self._is_function = self._is_template = False
        elif text == "template":
            self._is_template = True
        self._before = text


def _macros(text: str) -> Iterator[Declaration]:
    line, at = 1, 0
    for match in _MACRO.finditer(text):
        line, at = line + text.count("\n", at, match.start()), match.start()
        body = _DIRECTIVE.match(text, at)
        for field in _FIELD.finditer(body[0], match.end() - at) if body else ():
            if field[1] not in _LEADS:
                owners = (match[1],)
                yield Declaration(field[2], "field", line, owners, is_member=True)
        if match[2] is None:
            yield Declaration(match[1], "macro", line)
            continue
        names = [name.strip() for name in match[2][1:-1].split(",") if name.strip()]
        is_open = bool(names) and names[-1].endswith("...")
        plain = tuple(Parameter("", name, False) for name in names if not name.endswith("..."))
        yield Declaration(match[1], "macro", line, parameters=plain, is_open=is_open)


class _Scan:
    """Collects the declarations in namespaces and types, without the bodies of functions."""

    def __init__(self, found: Sequence[Token], closing: Mapping[int, int]) -> None:
        self.found: list[Declaration] = []
        self.pure: dict[tuple[str, ...], list[str]] = {}  # keyed by the qualified name of a type
        self._tokens = found
        self._said = [*(token.text for token in found), "{"]  # the item -1 stands for `{...}`
        self._closing = closing

    def scope(self, start: int, end: int, owners: tuple[str, ...], *, is_member: bool) -> None:
        """Read the declarations between two tokens, including those in inner scopes."""
        waiting = [(start, end, owners, is_member)]
        while waiting:
            waiting += self._one(*waiting.pop())

    def _one(
        self, start: int, end: int, owners: tuple[str, ...], is_member: bool
    ) -> Iterator[tuple[int, int, tuple[str, ...], bool]]:
        items: list[int] = []
        at = start
        while at < end:
            text = self._said[at]
            close = self._closing.get(at)
            if text[0] == "#" or text in _CLOSERS:
                at += 1
            elif text == ";":
                self._declare(items, None, owners, is_member)
                items, at = [], at + 1
            elif text == ":" and len(items) == 1 and self._text(items[0]) in ACCESS:
                items, at = [], at + 1
            elif text == "{" and close is not None:
                inner = self._open(items, at, owners, is_member)
                if inner is not None:
                    name, is_type = inner
                    yield at + 1, close, (*owners, *name), is_type
                if inner is None and not self._is_done(items):
                    items.append(at)  # an initializer, or the values of an enumeration
                    at = close + 1
                    continue
                is_type = inner is not None and inner[1]
                items, at = ([-1] if is_type else []), close + 1
            elif text in PAIRS and close is not None:
                items.append(at)
                at = close + 1
            else:
                items.append(at)
                at += 1

    def _text(self, item: int) -> str:
        return self._said[item]

    def _texts(self, items: Sequence[int]) -> list[str]:
        return [*map(self._said.__getitem__, items)]

    def _open(
        self, items: list[int], at: int, owners: tuple[str, ...], is_member: bool
    ) -> tuple[tuple[str, ...], bool] | None:
        """Return the owners that braces add to inner declarations, and whether a type owns these.

        Returns None if the braces contain no declarations.
        """
        template = self._template(items)
        items[:] = self._without_template(items)
        texts = self._texts(items)
        line = self._tokens[at].line + 1
        if "namespace" in texts:
            scopes = tuple(text for text in texts if _is_name(text))
            self.found += [Declaration(name, "namespace", line) for name in scopes]
            return () if "inline" in texts else scopes, False  # an inline one needs no naming
        if texts[-2:] == ["extern", '""']:
            return (), False
        pairs = zip(texts, ["", *texts], strict=False)
        if any(text == "(" and before not in GROUPED for text, before in pairs):
            self._declare(items, at, owners, is_member)
            return None
        if "enum" in texts:
            self._enumeration(texts, at, owners, is_member)
            items[:] = [-1]
            return None
        if not TYPE_KEYS.isdisjoint(texts) and "=" not in texts:
            key = next(n for n, text in enumerate(texts) if text in TYPE_KEYS)
            rest = texts[key + 1 :]
            colon = rest.index(":") if ":" in rest else len(rest)
            bases = tuple(text for text in rest[colon:] if _is_name(text))
            rest = rest[:colon]
            names = [t for t in rest if _is_name(t) and not _is_attribute(t)]
            if "<" in rest:  # a specialization, which declares nothing new
                return tuple(names[:1]), True
            if names:
                one = Declaration(names[-1], "type", line, owners, is_member, *template)
                self.found.append(replace(one, bases=bases))
            return tuple(names[-1:]), True
        return None

    def _is_done(self, items: Sequence[int]) -> bool:
        """Return whether the braces end the declaration, as the body of a function does."""
        texts = self._texts(items)
        return "(" in texts and "=" not in texts[: texts.index("(")]

    def _enumeration(
        self, texts: list[str], at: int, owners: tuple[str, ...], is_member: bool
    ) -> None:
        rest = texts[texts.index("enum") + 1 :]
        is_scoped = rest[:1] in (["class"], ["struct"])
        rest = rest[: rest.index(":")] if ":" in rest else rest
        names = [text for text in rest if _is_name(text)]
        line = self._tokens[at].line + 1
        if names:
            self.found.append(Declaration(names[-1], "type", line, owners, is_member))
        inner = (*owners, *names[-1:])
        number, end, is_first = at + 1, self._closing[at], True
        while number < end:
            token = self._tokens[number]
            if is_first and _is_name(token.text):
                one = Declaration(token.text, "enumerator", token.line + 1, inner)
                self.found.append(replace(one, is_scoped=is_scoped))
                is_first = False
            elif token.text == ",":
                is_first = True
            number = self._closing.get(number, number) + 1

    def _template(self, items: Sequence[int]) -> tuple[tuple[Parameter, ...] | None, bool]:
        """Return the parameters of a template, and whether it takes any number of arguments."""
        end = self._angles_end(items, 1) if self._is_template(items, 0) else len(items)
        read = self._parameters(items[1] + 1, items[end]) if end < len(items) else None
        return (None, False) if read is None else read

    def _without_template(self, items: Sequence[int]) -> list[int]:
        if "template" not in self._texts(items):
            return list(items)
        kept, at = [], 0
        while at < len(items):
            if self._is_template(items, at):
                at = self._angles_end(items, at + 1) + 1
            else:
                kept.append(items[at])
                at += 1
        return kept

    def _is_template(self, items: Sequence[int], at: int) -> bool:
        is_word = at < len(items) and self._text(items[at]) == "template"
        return is_word and self._texts(items[at + 1 : at + 2]) == ["<"]

    def _angles_end(self, items: Sequence[int], start: int) -> int:
        """Return the index of the `>` that closes the `<` at `start`, or the number of items."""
        depth = 0
        for at in range(start, len(items)):
            depth += {"<": 1, ">": -1, "<<": 2}.get(self._text(items[at]), 0)
            if depth <= 0:
                return at
        return len(items)

    def _declare(
        self, items: list[int], body: int | None, owners: tuple[str, ...], is_member: bool
    ) -> None:
        template = self._template(items)
        items = self._without_template(items)
        texts = self._texts(items)
        if not texts or "static_assert" in texts[:1] or "friend" in texts:
            return
        if texts[0] == "using":
            kind = "type" if "=" in texts else "name"
            texts = texts[: texts.index("=")] if "=" in texts else texts
            names = [] if "namespace" in texts else [text for text in texts if _is_name(text)]
            self._note(names[-1:], kind, items, owners, is_member, template)
            return
        if texts[0] == "typedef":
            names = [text for text in texts if _is_name(text)]
            inner = [
                self._text(n) for item in items if self._text(item) == "("
                for n in range(item, self._closing[item]) if _is_name(self._text(n))
            ]  # fmt: skip
            self._note([*names[-1:], *inner[:1]], "type", items, owners, is_member)
            return
        start = next(
            (n for n, text in enumerate(texts) if text == "(" and n and _is_name(texts[n - 1])),
            None,
        )
        equals = texts.index("=") if "=" in texts else len(texts)
        if start is not None and (start < equals or "operator" in texts):
            self._function(items, start, body, owners, is_member)
        elif not TYPE_KEYS.isdisjoint(texts) and "{" not in texts:
            names = [text for text in texts if _is_name(text)][-1:]
            line = self._tokens[items[-1]].line + 1
            self.found += [
                Declaration(name, "type", line, owners, is_member, *template) for name in names
            ]
        else:
            names = _declarators(texts)
            kind = _type(texts[: texts.index(names[0])]) if names else ""
            is_constant = not {"const", "constexpr"}.isdisjoint(texts)
            first = len(self.found)
            self._note(names, "variable", items, owners, is_member)
            self.found[first:] = [
                replace(one, type=kind, is_constant=is_constant) for one in self.found[first:]
            ]

    def _function(
        self,
        items: Sequence[int],
        start: int,
        body: int | None,
        owners: tuple[str, ...],
        is_member: bool,
    ) -> None:
        texts = self._texts(items[:start])
        around: list[str] = []
        at = start - 1
        while at >= 2 and texts[at - 1] == "::" and _is_name(texts[at - 2]):
            around.insert(0, texts[at - 2])
            at -= 2
        is_typed = any(_is_name(text) or text in _BUILT_IN for text in texts[:at])
        is_maker = texts[start - 1] in (*owners[-1:], *around[-1:])
        if not is_typed and not is_maker:
            return  # most likely a macro call
        open_ = items[start]
        read = self._parameters(open_ + 1, self._closing[open_])
        line = self._tokens[items[start - 1]].line + 1
        tail = self._texts(items[start + 1 :])
        if tail[-2:] == ["=", "0"]:
            self.pure.setdefault(owners, []).append(texts[start - 1])
        self.found.append(
            Declaration(
                texts[start - 1],
                "function",
                line,
                (*owners, *around),
                is_member or bool(around),
                None if read is None else read[0],
                read is not None and read[1],
                body is not None,
                type=_type(texts[:at]),
                is_override=not {"override", "final"}.isdisjoint(tail),
            )
        )

    def _note(
        self,
        names: Sequence[str],
        kind: str,
        items: Sequence[int],
        owners: tuple[str, ...],
        is_member: bool,
        template: tuple[tuple[Parameter, ...] | None, bool] = (None, False),
    ) -> None:
        first = next((item for item in items if item >= 0), None)
        line = 0 if first is None else self._tokens[first].line + 1
        self.found += [
            Declaration(name, kind, line, owners, is_member, *template) for name in names
        ]

    def _parameters(self, start: int, end: int) -> tuple[tuple[Parameter, ...], bool] | None:
        """Return the parameters between two brackets, and whether more arguments may follow.

        Returns None if the parameters depend on the preprocessor.
        """
        found: list[Parameter] = []
        is_open = False
        for part in _split(self._tokens, self._closing, start, end):
            texts = [text for text in part if text[0] != "#"]
            if "..." in "".join(texts):
                is_open = True
            elif len(texts) != len(part):
                return None
            elif texts and texts != ["void"]:
                found.append(_parameter(texts))
        return tuple(found), is_open


def _split(
    found: Sequence[Token], closing: Mapping[int, int], start: int, end: int
) -> Iterator[list[str]]:
    """Yield the tokens between commas outside of brackets. Angle brackets count if they match."""
    part: list[str] = []
    depth = 0
    number = start
    while number < end:
        text = found[number].text
        close = closing.get(number)
        depth = max(0, depth + {"<": 1, ">": -1}.get(text, 0))
        if text == "," and not depth:
            yield part
            part = []
        elif close is not None:
            part += [found[n].text for n in range(number, close + 1)]
            number = close
        else:
            part.append(text)
        number += 1
    if part:
        yield part


def _parameter(texts: list[str]) -> Parameter:
    has_default = "=" in texts
    texts = texts[: texts.index("=")] if has_default else texts
    words = [text for text in texts if _is_name(text) or text in _BUILT_IN]
    is_named = len([w for w in words if w not in ("const", "volatile", "struct")]) > 1
    name = texts[-1] if is_named and _is_name(texts[-1]) else ""
    kind = [t for t in (texts[:-1] if name else texts) if t not in ("const", "volatile", "&")]
    return Parameter(" ".join(kind), name, has_default)


def _type(texts: Sequence[str]) -> str:
    """Return a type without the specifiers that callers can ignore, or "" if it is not plain."""
    if not {"auto", "decltype", "operator", "(", "[", "{", "~"}.isdisjoint(texts):
        return ""
    if any(text.isupper() and len(text) <= 2 for text in texts):
        return ""  # most likely a template parameter, such as `T`
    return " ".join(t for t in texts if t not in _SPECIFIERS and not t.isupper())


def _declarators(texts: Sequence[str]) -> list[str]:
    """Return the variables that a declaration without a parameter list declares."""
    found: list[str] = []
    depth = 0
    for number, text in enumerate(texts):
        depth = max(0, depth + {"<": 1, ">": -1}.get(text, 0))
        after = texts[number + 1] if number + 1 < len(texts) else ";"
        is_end = after in (";", "=", ",", "[", "{", ":")
        if number and not depth and is_end and _is_name(text) and texts[number - 1] != "=":
            found.append(text)
        if text == "=" and "," not in texts:
            break
    return found


def _is_name(text: str) -> bool:
    return (text[0].isalpha() or text[0] == "_") and text not in _NO_NAMES


def _is_attribute(text: str) -> bool:
    return text.isupper() and "_" in text and text.endswith(("API", "EXPORT"))


def uses(file: CxxFile, names: frozenset[str]) -> Iterator[Use]:
    """Yield the uses of the given names in a C++ file. Declarations count as uses, too."""
    for number, token in enumerate(file.tokens):
        if token.text not in names:
            continue
        before = file.tokens[number - 1].text if number else ""
        open_ = _call(file, number + 1)
        least = most = 0
        if open_ is not None:
            end = file.closing[open_]
            least = sum(1 for _ in _split(file.tokens, file.closing, open_ + 1, end))
            most = _widest(file, open_)
        yield Use(
            token.text,
            token.line + 1,
            before,
            owner=file.tokens[number - 2].text if before == "::" and number > 1 else "",
            is_local=_is_local(file, number),
            is_call=open_ is not None,
            least=least,
            most=most,
            template=_template_arguments(file, number + 1),
            at=number,
        )


def arguments_of_object(file: CxxFile, use: Use) -> int | None:
    """Return the number of arguments with which a use of a C++ type constructs an object.

    Returns None if the use constructs no object, or if the object may be a copy of another one.
    """
    texts = [token.text for token in file.tokens[use.at + 1 : use.at + 3]]
    if len(texts) < 2 or use.before in (*TYPE_KEYS, "~"):
        return None
    if texts[0] in ("(", "{"):
        open_ = use.at + 1
    elif _is_name(texts[0]) and texts[1] in ("(", "{"):
        if any((one.name, one.line) == (texts[0], use.line) for one in file.declarations):
            return None  # a function that returns such an object
        open_ = use.at + 2
    elif texts == [">", "("] and file.tokens[use.at - 2].text in ("make_shared", "make_unique"):
        open_ = use.at + 2
    else:
        return None
    close = file.closing.get(open_)
    if close is None:
        return None
    parts = [*_split(file.tokens, file.closing, open_ + 1, close)]
    if len(parts) == 1 and not (parts[0][0][0].isdigit() or parts[0][0][0] in "\"'"):
        return None
    return len(parts)


def _template_arguments(file: CxxFile, start: int) -> int | None:
    """Count the arguments in the angle brackets that open at `start`, or return None if unclear."""
    if [token.text for token in file.tokens[start : start + 1]] != ["<"]:
        return None
    depth, number = 0, start
    while number < min(len(file.tokens), start + _LONGEST):
        text = file.tokens[number].text
        depth += {"<": 1, ">": -1}.get(text, 0)
        if depth == 0:
            return sum(1 for _ in _split(file.tokens, file.closing, start + 1, number))
        if text in (";", "&&", "||", "<<", "..."):
            return None
        number = file.closing.get(number, number) + 1
    return None


def _widest(file: CxxFile, open_: int) -> int:
    """Count the arguments of a call as if every comma separated two arguments."""
    number, end, count = open_ + 1, file.closing[open_], 0
    while number < end:
        count += file.tokens[number].text == ","
        number = file.closing.get(number, number) + 1
    return count + (end > open_ + 1)


def _call(file: CxxFile, number: int) -> int | None:
    """Return the index of the `(` after a name and any `<...>` or `<<<...>>>`, or None."""
    depth, most = 0, number + _LONGEST
    while number < min(len(file.tokens), most):
        text = file.tokens[number].text
        if text == "(" and not depth:
            return number if number in file.closing else None
        depth += {"<": 1, "<<": 2, ">": -1}.get(text, 0)
        if depth <= 0 and text != ">":
            return None
        number = file.closing.get(number, number) + 1
    return None


def _is_local(file: CxxFile, number: int) -> bool:
    """Return whether a type before a name shows a declaration, as in `int n` and `; T* n`."""
    texts = [file.tokens[n].text for n in range(max(0, number - 3), number)]
    if not texts or texts[-1] in _LEADS:
        return False
    if texts[-1] in ("*", "&"):
        is_type = texts[-2:-1] and (_is_name(texts[-2]) or texts[-2] in _BUILT_IN)
        return bool(is_type) and texts[:-2][-1:] in ([], [";"], ["{"], ["}"], ["const"], ["auto"])
    return texts[-1] == ">" or texts[-1] in _BUILT_IN or _is_name(texts[-1])
