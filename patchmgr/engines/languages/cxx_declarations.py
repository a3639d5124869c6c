"""Find the names that a C++ or CUDA file declares outside functions, and the names that it uses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from patchmgr.engines.languages.cxx_structure import (
    ANGLES,
    BUILT_IN,
    Bracketed,
    Function,
    Head,
    Item,
    Scan,
    ScanState,
    Scope,
    ScopeKind,
    function_of,
    grouped,
    is_name,
    statement_of,
    texts_in,
)
from patchmgr.engines.languages.cxx_tokens import (
    TYPE_KEYS,
    Token,
    UnclearSource,
    match_brackets,
    tokens,
)
from patchmgr.formats.late_patterns import late_pattern

_NUMBERS = frozenset(
    {"bool", "char", "double", "float", "int", "long", "short", "signed", "size_t", "unsigned"}
    | {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
)
_DECLARATORS = 20  # names that one declaration declares, at most
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

MOST_TOKENS = 400_000  # a file with more tokens is not read
_LONGEST = 200  # tokens between the angle brackets of a use, at most


def is_number(text: str) -> bool:
    """Return whether a C++ type is a number type, such as `int` or `double`."""
    return set(text.split()) <= _NUMBERS | {"std", "::"}


class Parameter(Struct, frozen=True):
    """A C++ parameter: its name, and its type without the qualifiers that callers can ignore."""

    type: str
    name: str
    has_default: bool


class Declaration(Struct, frozen=True):
    """A C++ declaration: its name, its kind, and the namespaces and types that contain it."""

    name: str
    # `function`, `type`, `enumerator`, `variable`, `macro`, `field` (in a macro), `namespace`, or
    # `name` (of a declaration elsewhere, as in `using std::max`)
    kind: str
    line: int
    owners: tuple[str, ...] = ()  # outermost first
    is_member: bool = False  # of a type
    # of a function, a macro or a type template (None: unknown)
    parameters: tuple[Parameter, ...] | None = None
    is_open: bool = False  # any number of further arguments is accepted
    is_definition: bool = False
    is_scoped: bool = False  # an enumerator that needs its type's name
    is_template: bool = False

    def takes(self, least: int, most: int) -> bool:
        """Return whether the declaration accepts a call with `least` to `most` arguments."""
        if self.parameters is None:
            return True
        needed = sum(not one.has_default for one in self.parameters)
        return most >= needed and (self.is_open or least <= len(self.parameters))


class Mention(Struct, frozen=True):
    """A use of a C++ name, with the token before it and, for a call, the number of arguments.

    A comma between angle brackets may or may not separate arguments, so a call has between `least`
    and `most` arguments.
    """

    name: str
    line: int
    before: str
    owner: str = ""  # the name before `::`
    is_local: bool = False  # itself a declaration in a function
    is_call: bool = False
    least: int = 0
    most: int = 0
    template: int | None = None  # number of arguments in angle brackets
    at: int = 0  # the index of its token


class CxxFile(Struct, frozen=True):
    """The tokens and declarations of a C++ file."""

    tokens: Sequence[Token]
    closing: Mapping[int, int]  # index of the closing bracket by that of the opening one
    declarations: tuple[Declaration, ...]
    in_directives: frozenset[str]  # all words in preprocessor directives


def read_cxx(content: bytes) -> CxxFile:
    """Parse a C++ file. Raises UnclearSource if it is too long or if its brackets do not match."""
    text = _text_of(content)
    found = list(islice(tokens(text), MOST_TOKENS + 1))
    if len(found) > MOST_TOKENS:
        raise UnclearSource
    closing = match_brackets(token.text for token in found)
    directives = (word for line in _DIRECTIVE.findall(text) for word in _WORD.findall(line))
    declared = _Declarations().read(text, found)
    return CxxFile(found, closing, declared, frozenset(directives))


def read_declarations(content: bytes) -> tuple[Declaration, ...]:
    """Return a C++ file's declarations outside function bodies, or raise UnclearSource."""
    text, scan = _text_of(content), _Declarations()
    return scan.read(text, tokens(text, scan.is_passed_over))


def _text_of(content: bytes) -> str:
    return content.decode("utf-8", "replace").replace("\r\n", "\n").removeprefix("\ufeff")


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


class _Declarations(Scan):
    """Collects the declarations in namespaces and types, but not those in function bodies."""

    passed_over = frozenset({ScopeKind.INITIALIZER, ScopeKind.BODY})

    def __init__(self) -> None:
        super().__init__()
        self._found: list[Declaration] = []
        self._is_scoped = False  # whether the values of the last enumeration must be qualified

    def read(self, text: str, found: Iterable[Token]) -> tuple[Declaration, ...]:
        """Return all declarations of a file, given its text and its tokens."""
        self.run(found)
        return (*self._found, *_macros(text))

    def open(self, scope: Scope, statement: Head) -> None:
        """Record what the statement before a brace declares."""
        texts, line = statement.texts, scope.line + 1
        names = scope.owners[len(self.scope.owners) :]
        match scope.kind:
            case ScopeKind.NAMESPACE if "namespace" in texts:
                names = tuple(filter(is_name, texts))
                self._found += [Declaration(name, "namespace", line) for name in names]
            case ScopeKind.ENUMERATION:
                after = texts[texts.index("enum") + 1 :]
                self._is_scoped = after[:1] in (["class"], ["struct"])
                self._note(names, "type", line)
            case ScopeKind.TYPE if names:
                key = next(n for n, text in enumerate(texts) if text in TYPE_KEYS)
                colon = texts.index(":") if ":" in texts else len(texts)
                if "<" not in texts[key:colon]:  # a specialization declares nothing new
                    self._note(names, "type", line, statement.template)
            case ScopeKind.BODY if "friend" not in texts:
                self._function(statement, scope.function, is_definition=True)
            case _:
                pass

    def declare(self, pending: Sequence[Token]) -> None:
        """Record an enumerator, or the names that a declaration ending in a semicolon declares."""
        line = pending[0].line + 1
        if self.scope.kind is ScopeKind.ENUMERATION:
            if is_name(pending[0].text):
                self._note((pending[0].text,), "enumerator", line, is_scoped=self._is_scoped)
            return
        statement = statement_of(pending)
        texts = statement.texts
        if not texts or texts[0] == "static_assert" or "friend" in texts:
            return
        at = next((n for n, item in enumerate(statement.items) if item.text != "{}"), None)
        line = 0 if at is None else statement.items[at].line + 1
        if texts[0] == "using":
            kind = "type" if "=" in texts else "name"
            texts = texts[: texts.index("=")] if "=" in texts else texts
            names = [] if "namespace" in texts else [*filter(is_name, texts)]
            self._note(names[-1:], kind, line, statement.template)
        elif texts[0] == "typedef":
            inner = (t for item in statement.items if item.text == "()" for t in texts_in(item))
            names = _declarators(texts) or [*filter(is_name, texts)][-1:]
            names += [*filter(is_name, inner)][:1]
            self._note(names, "type", statement.items[-1].line + 1)
        elif function := function_of(texts, self.scope.owners):
            self._function(statement, function, is_definition=False)
        elif not TYPE_KEYS.isdisjoint(texts) and "{}" not in texts:
            line = statement.items[-1].line + 1
            self._note([*filter(is_name, texts)][-1:], "type", line, statement.template)
        elif names := _declarators(texts):
            self._note(names, "variable", line)

    def cut(self, pending: Sequence[Token]) -> None:
        """Record the function whose head ends at the end of a branch of an `#if`."""
        statement = statement_of(pending)
        function = function_of(statement.texts, self.scope.owners)
        self._function(statement, function, is_definition=True)

    def doubt(self, line: int, first: ScanState) -> None:
        """After an unbalanced `#if`, continue in the state at the end of its first branch."""
        self.restore(first)

    def _function(self, statement: Head, function: Function | None, *, is_definition: bool) -> None:
        """Add a function, unless it is an operator, a destructor or a specialization."""
        if function is None or "operator" in statement.texts:
            return
        *around, name = function.name.split("::")
        at = function.parameters - 1
        if name[0] == "~" or statement.texts[at] == ">":
            return
        group = statement.items[function.parameters]
        assert isinstance(group, Bracketed)
        self._note(
            (name,),
            "function",
            statement.items[at].line + 1,
            grouped(group.inner),
            around=around,
            is_definition=is_definition,
            is_template=statement.template is not None,
        )

    def _note(
        self, names: Iterable[str], kind: str, line: int, parameters: Sequence[Item] | None = None,
        *, around: Sequence[str] = (), **others: Any,
    ) -> None:  # fmt: skip
        """Add a declaration of each name. `around` are the name's qualifiers: `A` for `A::f`."""
        owners = (*self.scope.owners, *around)
        is_member = self.scope.kind is ScopeKind.TYPE or bool(around)
        read = None if parameters is None else _parameters(parameters)
        given, is_open = (None, False) if read is None else read
        self._found += [
            Declaration(name, kind, line, owners, is_member, given, is_open, **others)
            for name in names
        ]


def _parameters(items: Iterable[Item]) -> tuple[tuple[Parameter, ...], bool] | None:
    """Return the parameters in brackets, and whether more may follow, or None if unclear."""
    found: list[Parameter] = []
    is_open = False
    for part in _parts(items):
        if "..." in "".join(part):
            is_open = True
        elif any(text[0] == "#" for text in part):
            return None
        elif part != ["void"]:
            found.append(_parameter(part))
    return tuple(found), is_open


def _parts(items: Iterable[Item]) -> Iterator[list[str]]:
    """Yield the tokens of each item between commas; commas inside brackets do not count."""
    part: list[str] = []
    depth = 0
    for item in items:
        depth = max(0, depth + ANGLES.get(item.text, 0))
        if item.text == "," and not depth:
            yield part
            part = []
        else:
            part += texts_in(item)
    if part:
        yield part


def _parameter(texts: list[str]) -> Parameter:
    has_default = "=" in texts
    texts = texts[: texts.index("=")] if has_default else texts
    words = [text for text in texts if is_name(text) or text in BUILT_IN]
    is_named = len([w for w in words if w not in ("const", "volatile", "struct")]) > 1
    name = texts[-1] if is_named and is_name(texts[-1]) else ""
    kind = [t for t in (texts[:-1] if name else texts) if t not in ("const", "volatile", "&")]
    return Parameter(" ".join(kind), name, has_default)


def _declarators(texts: Sequence[str]) -> list[str]:
    """Return the variables that a declaration without a parameter list declares."""
    found: list[str] = []
    depth = 0
    for number, text in enumerate(texts):
        depth = max(0, depth + ANGLES.get(text, 0))
        after = texts[number + 1] if number + 1 < len(texts) else ";"
        is_end = after in (";", "=", ",", "[]", "{}", ":")
        if number and not depth and is_end and is_name(text) and texts[number - 1] != "=":
            found.append(text)
        if text == "=" and "," not in texts:
            break
    return found


def uses(file: CxxFile, names: frozenset[str]) -> Iterator[Mention]:
    """Yield all uses of the given names in a C++ file, including their declarations."""
    for number, token in enumerate(file.tokens):
        if token.text not in names:
            continue
        before = file.tokens[number - 1].text if number else ""
        open_ = _call(file, number + 1)
        least = most = 0
        if open_ is not None:
            end = file.closing[open_]
            items = grouped(file.tokens[open_ + 1 : end])
            most = sum(item.text == "," for item in items) + bool(items)
            least = most if most < 2 else sum(1 for _ in _parts(items))
        yield Mention(
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


def arguments_of_object(file: CxxFile, use: Mention) -> int | None:
    """Return the number of arguments with which a use of a type constructs an object.

    Returns None if it constructs no object, or if the object may be a copy of another one.
    """
    texts = [token.text for token in file.tokens[use.at + 1 : use.at + 3]]
    if len(texts) < 2 or use.before in (*TYPE_KEYS, "~"):
        return None
    if texts[0] in ("(", "{"):
        open_ = use.at + 1
    elif is_name(texts[0]) and texts[1] in ("(", "{"):
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
    parts = [*_parts(grouped(file.tokens[open_ + 1 : close]))]
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
        depth += ANGLES.get(text, 0)
        if depth == 0:
            return sum(1 for _ in _parts(grouped(file.tokens[start + 1 : number])))
        if text in (";", "&&", "||", "<<", "..."):
            return None
        number = file.closing.get(number, number) + 1
    return None


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
    """Return whether a type is before a name, so that the name is declared here: `int n, *m`."""
    for _ in range(_DECLARATORS):
        first = number
        while first and file.tokens[first - 1].text in ("*", "&"):
            first -= 1
        before = [token.text for token in file.tokens[max(0, first - 2) : first]]
        if before[1:] != [","] or not is_name(before[0]):
            break
        number = first - 2
    texts = [file.tokens[n].text for n in range(max(0, number - 3), number)]
    if not texts or texts[-1] in _LEADS:
        return False
    if texts[-1] in ("*", "&"):
        is_type = texts[-2:-1] and (is_name(texts[-2]) or texts[-2] in BUILT_IN)
        return bool(is_type) and texts[:-2][-1:] in ([], [";"], ["{"], ["}"], ["const"], ["auto"])
    return texts[-1] == ">" or texts[-1] in BUILT_IN or is_name(texts[-1])
