"""Escape characters that must not reach a terminal or a page, and format numbers."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import Enum

from patchmgr.model.outcome import Reliability

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)


def clean(text: str, *, keep: str = "") -> str:
    r"""Return the text with control, bidirectional and zero-width characters as `\uNNNN`.

    Bytes that are not UTF-8 become `\xNN`. The characters in `keep` are not escaped.
    """
    return _UNSAFE.sub(lambda found: found[0] if found[0] in keep else _shown(found[0]), text)


def escaped_json(document: str) -> str:
    """Return the JSON document with JSON escapes for the characters that `clean` escapes."""
    return _UNSAFE.sub(
        lambda found: found[0] if found[0] in "\n" else json.dumps(found[0])[1:-1], document
    )


def _shown(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that surrogateescape carried
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def cut(text: str, width: int) -> str:
    """Return a text cut to at most `width` characters; a text that was too long ends in "…"."""
    return text if len(text) <= width else f"{text[: max(width - 1, 0)]}…"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun in the singular or plural: "1 patch", "2 patches"."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun}es" if noun.endswith("ch") else f"{number} {noun}s"


def tallied(found: Iterable[Enum], kinds: Iterable[Enum]) -> str:
    """Return the count of each kind that occurs: "3 modified, 1 absorbed"."""
    counts = Counter(found)
    return ", ".join(f"{counts[kind]} {kind.value}" for kind in kinds if counts[kind])


def first_few(words: Sequence[str], most: int, joint: str = ", ") -> str:
    """Return the first `most` words, and the number of the others: "a, b and 3 more"."""
    left = len(words) - most
    return joint.join(words[:most]) + (f" and {left} more" if left > 0 else "")


def cut_off(lines: Sequence[str], most: int, told: str, noun: str = "") -> Sequence[str]:
    """Return the first `most` lines and, if there are more, a line that counts the others.

    `told` is that line, with `{}` for the count: "3 more" or, with a noun, "3 more lines".
    """
    left = len(lines) - most
    if left <= 0:
        return lines
    return [*lines[:most], told.format(counted(left, f"more {noun}") if noun else f"{left} more")]


def share(right: int, of: int) -> str:
    """Return `right` as a percentage of `of`, rounded down, so that 100 % means all."""
    if right == of:
        return "100 %" if of else "-"
    return f"{1000 * right // of / 10:.1f} %"


def measured_text(found: Reliability) -> str:
    """Return a phrase like "right in 99.9 % of 2,396", or "not measured"."""
    if found.right is None or not found.of:
        return "not measured"
    return f"right in {share(found.right, found.of)} of {found.of:,}"


def reliability_text(found: Reliability) -> str:
    """Return a rule's name, and how often the rule was right: "range, right in 99.9 % of 2,396"."""
    return f"{clean(found.rule)}, {measured_text(found)}"
