"""What reaches a terminal."""

import json
import unicodedata

from patchmgr.model.outcome import Reliability
from patchmgr.render.escape import clean, escaped_json, reliability_text
from tests.tables import table


@table(
    ("text", "expected"),
    [
        ("plain text, ünïcode, 漢字, 🙂", "plain text, ünïcode, 漢字, 🙂"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("a\nb\tc\r", "a\\u000ab\\u0009c\\u000d"),
        ("\x00\x7f\x85\x9b", "\\u0000\\u007f\\u0085\\u009b"),
        ("a\u202eb\u2066c\u200f", "a\\u202eb\\u2066c\\u200f"),
        ("\u061c\u200b\u200d\ufeff", "\\u061c\\u200b\\u200d\\ufeff"),
        ("\u2028\u2029\xad", "\\u2028\\u2029\\u00ad"),
        ("\U000e0041", "\\U000e0041"),
        ("a\udcffb", "a\\xffb"),
        ("a\udc80b", "a\\x80b"),
        ("a\ud800b", "a\\ud800b"),
        ("e\u0301 non\xa0breaking", "e\u0301 non\xa0breaking"),
        ("", ""),
    ],
    ids=repr,
)
def test_controls_become_visible(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_kept_characters_stay() -> None:
    assert clean("a\nb\tc\x1b", keep="\n\t") == "a\nb\tc\\u001b"


def test_no_control_and_no_direction_is_left_of_all_of_unicode() -> None:
    left = clean("".join(map(chr, range(0x110000))))
    assert {"Cc", "Cs", "Zl", "Zp"}.isdisjoint(map(unicodedata.category, left))
    directions = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
    assert directions.isdisjoint(map(unicodedata.bidirectional, left))
    left.encode()


def test_a_json_document_escapes_what_a_terminal_must_not_see_and_says_the_same() -> None:
    text = 'ü \u202e\u2066 \x9b\x7f \ufeff \U000e0041 \udcff \n " \\ \u2028'
    raw = json.dumps({"a": [text]}, ensure_ascii=False, indent=1)
    escaped = escaped_json(raw)
    assert json.loads(escaped) == {"a": [text]}
    assert clean(escaped, keep="\n") == escaped
    assert "ü \\u202e\\u2066 \\u009b\\u007f" in escaped


@table(
    ("right", "of", "told"),
    [
        (1199, 1204, "right in 99.5 % of 1,204"),
        (99_999, 100_000, "right in 99.9 % of 100,000"),
        (7, 7, "right in 100 % of 7"),
        (0, 7, "right in 0.0 % of 7"),
        (0, 0, "not measured"),
        (None, None, "not measured"),
    ],
)
def test_a_share_is_never_rounded_up(right: int | None, of: int | None, told: str) -> None:
    assert reliability_text(Reliability("history", right, of)) == f"history, {told}"
