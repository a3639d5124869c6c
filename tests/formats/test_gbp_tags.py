"""`Gbp-Pq:` lines: what they say, and messages without them."""

from __future__ import annotations

from patchmgr.formats.mboxes import read_tags
from tests.tables import table

HEAD = b"From: a <a@b>\nSubject: x\n\n"
DIFF = b"---\n f | 1 +\n\ndiff --git a/f b/f\n+Gbp-Pq: Name no.patch\n"

TAGGED = {
    "name": (b"Text.\n\nGbp-Pq: Name fix.patch\n", b"Text.\n", "fix.patch", False),
    "topic": (b"Gbp-Pq: Topic net/core\nGbp-Pq: Name a.diff\n", b"", "net/core/a.diff", False),
    "old topic": (b"Gbp-Pq-Topic: net\nGbp-Pq: Name a.diff\n", b"", "net/a.diff", False),
    "topic alone": (b"Text.\n\nGbp-Pq: Topic net\n", b"Text.\n", None, False),
    "ignore": (b"Text.\nGbp-Pq: Ignore\n", b"Text.\n", None, True),
    "old ignore": (b"Gbp: Ignore\n", b"", None, True),
    "bracket": (b"Gbp[-Pq]: Ignore\n", b"Gbp[-Pq]: Ignore\n", None, False),
    "case": (b"gbp-pq: NAME x\n", b"", "x", False),
    "below the tags": (b"Gbp-Pq: Name x\nSigned-off-by: a\n", b"Signed-off-by: a\n", "x", False),
    "unsafe": (b"Gbp-Pq: Name ../x\n", b"", None, False),
    "unsafe topic": (b"Gbp-Pq: Topic /etc/../..\nGbp-Pq: Name x\n", b"", None, False),
}


@table(("text", "kept", "wish", "is_ignored"), TAGGED)
def test_tags_leave_the_message(
    text: bytes, kept: bytes, wish: str | None, is_ignored: bool
) -> None:
    tagged = read_tags(HEAD + text + DIFF)
    assert (tagged.wish, tagged.is_ignored) == (wish, is_ignored)
    assert tagged.raw == HEAD + kept + DIFF


@table(
    "text",
    [
        b"",
        b"Text.\n\n\n",
        b"Gbp-Pq: Unknown x\n",
        b" Gbp-Pq: Name x\n",
        b"Gbp-Dch: Full\n",
        b"\xff",
    ],
)
def test_a_mail_without_tags_keeps_its_bytes(text: bytes) -> None:
    raw = HEAD + text + DIFF
    assert read_tags(raw).raw == raw
    assert read_tags(raw).wish is None
