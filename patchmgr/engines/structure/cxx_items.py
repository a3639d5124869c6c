"""Split a stretch of C++ into whole declarations and statements, and say what each brings in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from patchmgr.engines.languages.words import KEYWORDS
from patchmgr.engines.structure.tokens import Kind, Token

_NAMES = frozenset({"a", "an", "as", "cls", "def", "del", "from", "in", "is", "let", "of", "pass"})
_KEYWORDS = KEYWORDS - _NAMES - {"self", "the", "to"}
_CLOSERS = {")": "(", "]": "[", "}": "{"}
_TYPES = frozenset({"class", "struct", "union", "enum", "namespace"})
_RECORDS = frozenset({"class", "struct", "union", "enum", "typedef"})
_FLOW = frozenset({"if", "for", "while", "do", "switch", "try"})
_LABELS = frozenset({"case", "default"})
_TAILS = frozenset({"else", "catch"})
JUMPS = frozenset({"return", "break", "continue", "goto", "co_return", "throw"})
_ASSIGNS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", "++", "--"})
_CONTINUES = frozenset({";", ",", ")", "(", ".", "else", "catch", "while"})


class Write(Struct, frozen=True):
    """What a statement assigns to: the whole of it, and the variable that it is or is part of."""

    target: str
    root: str
    is_part: bool


class Item(Struct, frozen=True):
    """A declaration, statement, macro or directive, and what it declares, writes and calls."""

    tokens: tuple[Token, ...]
    names: frozenset[str] = frozenset()
    writes: tuple[Write, ...] = ()
    callee: str = ""

    def words(self) -> frozenset[str]:
        """Return the distinct words and strings of it, keywords left out."""
        kinds = (Kind.WORD, Kind.STRING)
        return frozenset(t.text for t in self.tokens if t.kind in kinds) - _KEYWORDS


def items_of(tokens: Sequence[Token]) -> tuple[Item, ...] | None:
    """Split into whole items, or None where one begins, ends or jumps outside."""
    parts: list[tuple[Token, ...]] = []
    for part in _parts(tokens):
        if part is None:
            return None
        parts.append(tuple(token for token in part if token.kind is not Kind.COMMENT))
    if parts and parts[0][0].text in _LABELS:
        return _cases(parts)
    firsts = {part[0].text for part in parts}
    if firsts & (_LABELS | _TAILS | JUMPS) or any(map(_jumps_out, parts)):
        return None
    return tuple(_item(part) for part in parts)


def _cases(parts: Sequence[tuple[Token, ...]]) -> tuple[Item, ...] | None:
    """Make one item of each `case` up to its jump; None where one falls through to the next."""
    groups: list[list[tuple[Token, ...]]] = []
    for part in parts:
        if part[0].text in _LABELS:
            if groups and groups[-1][-1][0].text not in JUMPS and not _jumps(groups[-1][-1]):
                return None
            groups.append([])
        groups[-1].append(part)
    if not any(token.text in JUMPS for token in groups[-1][-1]):
        return None
    flat = [tuple(token for part in group for token in part) for group in groups]
    return tuple(Item(tokens, frozenset({_label(tokens)})) for tokens in flat)


def _label(tokens: Sequence[Token]) -> str:
    texts = [token.text for token in tokens]
    return joined_text(tokens[: texts.index(":")] if ":" in texts else tokens)


def _jumps_out(part: Sequence[Token]) -> bool:
    return part[0].text in _FLOW and _jumps(part)


def _jumps(part: Sequence[Token]) -> bool:
    return any(token.text in JUMPS for token in part)


def _parts(tokens: Sequence[Token]) -> Iterator[list[Token] | None]:
    part: list[Token] = []
    open_: list[str] = []
    ifs = 0
    for n, token in enumerate(tokens):
        part.append(token)
        if token.kind is Kind.DIRECTIVE:
            ifs += _opens(token)
            if ifs < 0 or (ifs == 0 and _is_branch(token)):
                yield None
        elif token.kind is Kind.SIGN and token.text in "([{":
            open_.append(token.text)
        elif _closes_wrongly(token, open_):
            yield None
        if not open_ and not ifs and _ends(part, tokens[n + 1 : n + 2]):
            yield part
            part = []
    if any(token.kind is not Kind.COMMENT for token in part):
        yield None


def _closes_wrongly(token: Token, open_: list[str]) -> bool:
    is_closer = token.kind is Kind.SIGN and token.text in _CLOSERS
    return is_closer and (not open_ or open_.pop() != _CLOSERS[token.text])


def _ends(part: Sequence[Token], after: Sequence[Token]) -> bool:
    """Say whether an item ends here: `;`, a body, a line of the preprocessor, a macro's call."""
    token = part[-1]
    if token.text == "}" and part[0].text in _RECORDS:
        return False  # a name or a semicolon follows
    if token.text == "}":
        return not after or after[0].text not in _CONTINUES
    if token.text == ")":
        code = [t for t in part if t.kind is not Kind.COMMENT]
        is_line = not after or "\n" in after[0].gap
        return is_line and code[0].text.isupper() and code[1].text == "("
    return token.kind in (Kind.DIRECTIVE, Kind.EOL) or token.text == ";"


def _opens(token: Token) -> int:
    word = token.text.lstrip("# \t")
    return word.startswith("if") - word.startswith("endif")


def _is_branch(token: Token) -> bool:
    return token.text.lstrip("# \t").startswith("el")


def _item(tokens: tuple[Token, ...]) -> Item:
    first = tokens[0]
    if first.kind is Kind.DIRECTIVE:
        return Item(tokens, frozenset({" ".join(first.text.split())}))
    if first.text.lstrip("#").strip() == "define":
        return Item(tokens, frozenset({tokens[1].text}))
    if first.text in _FLOW:
        return Item(tokens, writes=_writes(tokens))
    head = _head(tokens)
    if first.text == "(":  # what it writes is not clear
        return Item(tokens, Item(tokens).words())
    for n, token in enumerate(head[:-1]):
        if token.text in _TYPES:
            return Item(tokens, frozenset({_name_after(head, n)}))
    if _declares(head):
        return Item(tokens, frozenset({head[-1].text}))
    opens = tokens[len(head) : len(head) + 1]
    if opens and opens[0].text == "(":
        return Item(tokens, frozenset({joined_text(tokens)}), (), joined_text(head))
    return Item(tokens, writes=_writes(tokens))


def joined_text(tokens: Sequence[Token]) -> str:
    """Join the texts of tokens without white space."""
    return "".join(token.text for token in tokens)


def _name_after(head: Sequence[Token], at: int) -> str:
    rest = [t.text for t in head[at + 1 :] if t.kind is Kind.WORD and t.text not in _TYPES]
    is_namespace = head[at].text == "namespace"
    return rest[-1 if is_namespace else 0] if rest else head[at].text


def _head(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens up to the first `(`, `=`, `{`, `[` or `;` outside of template brackets."""
    angles, head = 0, []
    for n, token in enumerate(tokens):
        if token.text == "<" and n and tokens[n - 1].kind is Kind.WORD:
            angles += 1
        elif token.text in (">", ">>>") and angles:
            angles = max(0, angles - len(token.text))
        elif not angles and (token.text in ("(", "{", ";", "[") or token.text in _ASSIGNS):
            break
        elif not angles:
            head.append(token)
    return head


def _declares(head: Sequence[Token]) -> bool:
    """Say whether a name is declared: a type stands before it."""
    if len(head) < 2 or head[-1].kind is not Kind.WORD:
        return False
    before = head[-2]
    is_name = before.kind is Kind.WORD and before.text not in JUMPS
    return is_name or (before.text in ("*", "&", "&&", "::") and len(head) > 2)


def _writes(tokens: Sequence[Token]) -> tuple[Write, ...]:
    """Return what the assignments among some tokens write to."""
    found: list[Write] = []
    for n, token in enumerate(tokens):
        if token.text in _ASSIGNS:
            start = n
            while start and tokens[start - 1].text not in ("(", ")", "{", "}", ";", ",", ":"):
                start -= 1
            target = tokens[start:n] or tokens[n + 1 : n + 2]
            words = [t.text for t in target if t.kind is Kind.WORD]
            if words:
                is_part = any(t.text in (".", "->", "[") for t in target)
                found.append(
                    Write(joined_text(target), words[0] if is_part else words[-1], is_part)
                )
    return tuple(found)
