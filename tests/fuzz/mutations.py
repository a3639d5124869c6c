"""Mutations of seeds that hypothesis draws and makes smaller."""

from collections.abc import Sequence

from hypothesis import strategies as st

_WORDS = (
    b"\n", b"\r\n", b"\0", b"\xff", b"..", b"/", b"/.git/", b"\\", b'"', b"'", b"[", b"{", b"=",
    b"-1", b"1e999", b"NaN", b"null", b"true", b"9" * 30, b"\xe2\x80\xae", b"\x1b[2J",
    b"=?utf-7?q?", b"@@ -1 +1 @@\n", b"--- a/x\n", b"+++ b/x\n", b"-- \n", b"[" * 3000,
)  # fmt: skip


def mutated(data: st.DataObject, known: Sequence[bytes]) -> bytes:
    """Return a seed with some pieces cut, doubled, or replaced by words or bytes."""
    raw = data.draw(st.sampled_from(known))
    for _ in range(data.draw(st.integers(0, 4))):
        start = data.draw(st.integers(0, len(raw)))
        end = min(len(raw), start + data.draw(st.integers(0, 20)))
        piece = raw[start:end]
        new = data.draw(st.sampled_from((b"", piece * 2, *_WORDS)) | st.binary(max_size=6))
        raw = raw[:start] + new + raw[end:]
    return raw
