"""Merge a file as text after formatting base and the patch's side with upstream's formatter."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby, product

from msgspec import Struct

from patchmgr.engines.audit.syntax import new_fault
from patchmgr.engines.languages.cxx_structure import cxx_symbols
from patchmgr.engines.languages.file_types import CXX, PYTHON
from patchmgr.engines.merge.languages import cxx_tokens
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.structure.guards import suspect
from patchmgr.engines.structure.python_tree import compiles, elements, parse_anew
from patchmgr.engines.structure.sides import Texts
from patchmgr.engines.text.differences import Block, changed_blocks
from patchmgr.engines.text.marked import split_marked
from patchmgr.model.merge import Clean
from patchmgr.model.ports import Formatter, Style, TextMerge

STABLE = 0.9  # least share of upstream's lines that upstream's own formatter leaves alone

_DOCSTRING_WORD = re.compile(r"\w+")
_COMMENT = re.compile(  # in Python: a string, or a comment (the group)
    r'''"""(?:\\.|.)*?"""|\'{3}(?:\\.|.)*?\'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(\#[^\n]*)''',
    re.DOTALL,
)
_NAMESPACE_END = re.compile(r"//\s*(?:end\s+)?(?:anonymous\s+)?namespace\b[^\n]*")
_TOKEN = re.compile(rb"(\w+|[^\w\s(),'\"])")  # the tokens that formatters keep
_WORDS = re.compile(r"[^\s/*]+")


class Notation(Struct, frozen=True):
    """Two checks for a language: is a difference only formatting, and is a merge sound?"""

    is_same: Callable[[bytes, bytes], bool]
    # of merge, base, upstream and fork, all formatted in the same way
    is_sound: Callable[[bytes, bytes, bytes, bytes], bool]


def notation_of(path: str) -> Notation | None:
    """Return the checks for the language of a file, or None if it has none."""
    if path.endswith(PYTHON):
        return Notation(is_same_python, _is_sound_python)
    return Notation(is_same_cxx, _is_sound_cxx) if path.endswith(CXX) else None


def is_same_python(one: bytes, other: bytes) -> bool:
    """Return whether two Python texts have the same tree, comments and words in docstrings."""
    if one == other:
        return True
    known = _python(text_of(one))
    return known is not None and known == _python(text_of(other))


@lru_cache(maxsize=8)
def _python(text: str) -> tuple[bytes, Counter[str]] | None:
    """Return a digest of the tree, and the comments without white space; None if unparsable."""
    tree = parse_anew(text)
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
    """Remove what formatters may change, such as the `u` of `u""` and punctuation in docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.kind = None
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            value = node.value.value
            if isinstance(value, str):
                node.value = ast.Constant(" ".join(_DOCSTRING_WORD.findall(value)))
        elif isinstance(node, ast.Delete):
            node.targets = [target for each in node.targets for target in elements(each)]


def _is_sound_python(merged: bytes, base: bytes, upstream: bytes, fork: bytes) -> bool:
    text, sides = text_of(merged), Texts(text_of(base), text_of(upstream), text_of(fork))
    return compiles(text) and not suspect(sides, text, PYTHON[0])


def is_same_cxx(one: bytes, other: bytes) -> bool:
    """Return whether two C++ texts have the same tokens, and the same words in comments."""
    return one == other or _cxx(text_of(one)) == _cxx(text_of(other))


def _cxx(text: str) -> tuple[list[str], list[str]]:
    code: list[str] = []
    words: list[str] = []
    for token in cxx_tokens(text):
        if token.kind == "directive":
            code.append("".join(token.text.replace("\\\n", "").split()))
        elif token.kind != "comment":
            code.append(token.text)
        # Formatters add these comments.
        elif not _NAMESPACE_END.fullmatch(token.text):
            words += _WORDS.findall(token.text)
    return code, words


def _is_sound_cxx(merged: bytes, base: bytes, upstream: bytes, fork: bytes) -> bool:
    if new_fault(CXX[0], (upstream, fork), merged) is not None:
        return False
    now, *sides = map(_definitions, (merged, upstream, fork))
    return all(number <= max(side[name] for side in sides) for name, number in now.items())


def _definitions(content: bytes) -> Counter[str]:
    """Count the functions and types of a C++ text by name, except those with others inside."""
    names = [name for name, _ in groupby(cxx_symbols(content)) if name is not None]
    outer = {name.rpartition("::")[0] for name in names}
    return Counter(name for name in names if name not in outer)


def text_of(content: bytes) -> str:
    """Decode UTF-8, with a surrogate escape for each byte that is not UTF-8."""
    return content.decode("utf-8", "surrogateescape")


def merge_formatted(
    base: bytes, upstream: bytes, fork: bytes, *, path: str, formatter: Formatter, text: TextMerge
) -> bytes | None:
    """Merge a file as text after formatting base and fork with upstream's formatter.

    Returns None if there is a conflict or any doubt.
    """
    notation = notation_of(path)
    if notation is None:
        return None
    for style in formatter.styles(path):
        tidy = style(upstream)
        if tidy is not None and stability(upstream, tidy) >= STABLE:
            merged = _merged(base, upstream, fork, style, notation, text)
            if merged is not None and _is_settled(merged, style(merged), upstream, tidy):
                return merged
    return None


def may_be_formatting(marked: bytes) -> bool:
    """Return whether different formatting may be the reason for all conflict regions."""
    for found in split_marked(marked).regions:
        base, *sides = map(_TOKEN.split, found.region.sides)
        # Formatters sort imports.
        if any(b"import" in words or b"include" in words for words in (base, *sides)):
            continue
        ours, theirs = changes = [changed_blocks(base[1::2], side[1::2]) for side in sides]
        for one, other in product(ours, theirs):
            at, end = max(one.old_start, other.old_start), min(one.old_end, other.old_end)
            # Both sides change the same words.
            if at < end or (one.old_start == one.old_end == other.old_start == other.old_end):
                return False
        # If a side changes no word, git paired the lines badly, and formatting may mend that.
        if ours and theirs and not any(map(_is_reformatted, (base, base), sides, changes)):
            return False
    return True


def _is_reformatted(base: list[bytes], side: list[bytes], changes: Sequence[Block]) -> bool:
    """Return whether a side changes the white space or punctuation between words that it keeps."""
    starts = [(0, 0), *((block.old_end + 1, block.new_end + 1) for block in changes)]
    ends = [*((block.old_start, block.new_start) for block in changes), (len(base), len(side))]
    between, now = base[::2], side[::2]
    pairs = zip(starts, ends, strict=True)
    return any(between[i:end] != now[j:stop] for (i, j), (end, stop) in pairs)


def stability(before: bytes, after: bytes) -> float:
    """Return the share of lines, from 0 to 1, that a formatter left unchanged."""
    old, new = (Counter(split_lines(side)) for side in (before, after))
    return (old & new).total() / most if (most := max(old.total(), new.total())) else 1.0


def _merged(
    old: bytes, upstream: bytes, patched: bytes, style: Style, notation: Notation, text: TextMerge
) -> bytes | None:
    base, fork = style(old), style(patched)
    if base is None or fork is None or (base, fork) == (old, patched):
        return None
    merge = text.merge(base, upstream, fork)
    if not isinstance(merge, Clean) or merge.content == upstream:
        return None
    if not notation.is_same(old, base) or not notation.is_same(patched, fork):
        return None
    return merge.content if _is_proved(merge.content, base, upstream, fork, notation) else None


def _is_proved(
    merged: bytes, base: bytes, upstream: bytes, fork: bytes, notation: Notation
) -> bool:
    """Return whether a merge has only lines of its sides, and passes the language's checks."""
    old, new = Counter(split_lines(upstream)), Counter(split_lines(merged))
    if not new - old <= Counter(split_lines(fork)) or not old - new <= Counter(split_lines(base)):
        return False
    if notation.is_same(base, upstream) and not notation.is_same(fork, merged):
        return False
    return notation.is_sound(merged, base, upstream, fork)


def _is_settled(merged: bytes, again: bytes | None, upstream: bytes, tidy: bytes) -> bool:
    """Return whether the formatter changes no lines of the merge, except as it changes upstream's.

    `again` is the formatted merge, and `tidy` is upstream's file, formatted.
    """
    if again is None:
        return False
    if upstream == tidy:
        return merged == again
    before, after = (Counter(split_lines(side)) for side in (upstream, tidy))
    old, new = (Counter(split_lines(side)) for side in (merged, again))
    return old - new <= before - after and new - old <= after - before
