"""JSON that anybody may have written."""

import pytest

from patchmgr.formats.json_text import parse_json
from tests.tables import table


def test_a_document_is_read() -> None:
    assert parse_json(b'{"a": [1, null]}') == {"a": [1, None]}


@table("raw", [b"", b"{", b"\xff", b"[" * 100_000, '{"a":' * 100_000])
def test_what_is_none_is_a_value_error(raw: bytes | str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(raw)
