"""Say which edits of data clash for standing on one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from patchmgr.engines.structure.data_kinds import DataKind
from patchmgr.engines.structure.text_apart import Sided
from patchmgr.engines.structure.text_rules import Clash, never_clash
from patchmgr.engines.structure.tokens import Kind, Token

_NUMBER = re.compile(r"[vV]?\d")
_WHOLE_LINES = frozenset({DataKind.REQUIREMENTS, DataKind.YAML, DataKind.SCRIPT, DataKind.PATTERNS})


def clash_in(kind: DataKind) -> Clash:
    """Return what tells, for a kind of file, whether edits that a separator parts clash."""
    if kind in _WHOLE_LINES:
        return share_line
    return share_line_of_numbers if kind is DataKind.MARKUP else never_clash


def share_line(base: Sequence[Token], one: Sided, other: Sided) -> bool:
    """Say whether two edits are in one line: a package, a command, a value."""
    first, second = sorted((one, other), key=lambda sided: sided[1].start)
    between = base[first[1].end : second[1].start]
    if any(token.kind is Kind.EOL for token in between):
        return False
    return not _ends_line(base, first) and not _begins_line(base, second)


def _ends_line(base: Sequence[Token], sided: Sided) -> bool:
    """Say whether an edit leaves its last line whole: what follows is a line of its own."""
    side, edit = sided
    if edit.first == edit.last:
        return edit.start < edit.end and base[edit.end - 1].kind is Kind.EOL
    return side.tokens[edit.last - 1].kind is Kind.EOL


def _begins_line(base: Sequence[Token], sided: Sided) -> bool:
    """Say whether an edit is of whole lines only, and changes none that was there."""
    edit = sided[1]
    starts = edit.start == 0 or base[edit.start - 1].kind is Kind.EOL
    return starts and edit.start == edit.end and _ends_line(base, sided)


def share_line_of_numbers(base: Sequence[Token], one: Sided, other: Sided) -> bool:
    """Say whether two edits in one line both change a version or another number."""
    is_shared = share_line(base, one, other)
    return is_shared and all(any(_numbers(base, sided)) for sided in (one, other))


def _numbers(base: Sequence[Token], sided: Sided) -> Iterator[str]:
    side, edit = sided
    tokens = (*base[edit.start : edit.end], *side.tokens[edit.first : edit.last])
    return (token.text for token in tokens if _NUMBER.match(token.text))
