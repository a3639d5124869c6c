"""What formatting may not change of a text, by language."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from patchmgr.engines.structure.cxx_proof import is_sound
from patchmgr.engines.structure.guards import broken_rules
from patchmgr.engines.structure.guards_text import compiles
from patchmgr.engines.structure.python_tree import parse_python
from patchmgr.engines.structure.sides import Texts
from patchmgr.engines.structure.tokens import Grammar, Kind, tokens_of

PYTHON = (".py", ".pyi")
CXX = (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".cu", ".cuh", ".inl")

_DOCSTRING_WORD = re.compile(r"\w+")
_COMMENT = re.compile(
    r'''"""(?:\\.|.)*?"""|\'{3}(?:\\.|.)*?\'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(\#[^\n]*)''',
    re.DOTALL,
)


class Notation(Struct, frozen=True):
    """A language: whether two texts differ in format alone, and whether a merge is sound.

    `is_sound` is given the merge, and base, upstream and fork in one format.
    """

    is_same: Callable[[bytes, bytes], bool]
    is_sound: Callable[[bytes, bytes, bytes, bytes], bool]


def notation_of(path: str) -> Notation | None:
    """Return the language of a file by its name, None where no formatter is proved for it."""
    if path.endswith(PYTHON):
        return Notation(is_same_python, lambda *texts: _is_sound_python(path, *texts))
    return Notation(is_same_cxx, _is_sound_cxx) if path.endswith(CXX) else None


def is_same_python(one: bytes, other: bytes) -> bool:
    """Say whether two Python texts differ in format alone: one syntax tree, the same comments.

    What is in docstrings may be laid out in another way. A text that does not parse is like none.
    """
    if one == other:
        return True
    known = _python(_text(one))
    return known is not None and known == _python(_text(other))


@lru_cache(maxsize=8)
def _python(text: str) -> tuple[bytes, Counter[str]] | None:
    """Return what stands for the syntax tree, and the comments without their white space."""
    tree = parse_python(text)
    if tree is None:
        return None
    try:
        _simplify(tree)
        shown = ast.dump(tree)
    except RecursionError:
        return None
    found = (match[1] for match in _COMMENT.finditer(text))
    comments = Counter("".join(comment.split()) for comment in found if comment)
    return hashlib.sha256(shown.encode("utf-8", "surrogatepass")).digest(), comments


def _simplify(tree: ast.AST) -> None:
    """Drop what formatters are free to choose: `u""`, `del (a, b)`, the layout of docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.kind = None
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            value = node.value.value
            if isinstance(value, str):
                node.value = ast.Constant(" ".join(_DOCSTRING_WORD.findall(value)))
        elif isinstance(node, ast.Delete):
            node.targets = [target for each in node.targets for target in _targets(each)]


def _targets(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple) else [target]


def _is_sound_python(path: str, merged: bytes, base: bytes, upstream: bytes, fork: bytes) -> bool:
    text = _text(merged)
    if not compiles(text):
        return False
    return not broken_rules(_text(base), _text(upstream), _text(fork), text, path)


_NAMESPACE_END = re.compile(r"//\s*(?:end\s+)?(?:anonymous\s+)?namespace\b[^\n]*")
_WORDS = re.compile(r"[^\s/*]+")


def is_same_cxx(one: bytes, other: bytes) -> bool:
    """Say whether two C++ texts have the same tokens, and the same words in comments.

    A comment that names the namespace that ends is a formatter's own.
    """
    return one == other or _cxx(_text(one)) == _cxx(_text(other))


def _cxx(text: str) -> tuple[list[str], list[str]]:
    code: list[str] = []
    words: list[str] = []
    for token in tokens_of(text, Grammar.C):
        if token.kind is Kind.DIRECTIVE:
            code.append("".join(token.text.replace("\\\n", "").split()))
        elif token.kind is not Kind.COMMENT:
            code.append(token.text)
        elif not _NAMESPACE_END.fullmatch(token.text):
            words += _WORDS.findall(token.text)
    return code, words


def _is_sound_cxx(merged: bytes, base: bytes, upstream: bytes, fork: bytes) -> bool:
    return is_sound(_text(merged), Texts(_text(base), _text(upstream), _text(fork)))


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")
