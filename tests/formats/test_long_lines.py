"""No line of a patch takes more time than it is long, and no message: a command would stop."""

import time
from collections.abc import Callable
from contextlib import suppress

from patchmgr.errors import PatchmgrError
from patchmgr.formats.header_edits import with_diff
from patchmgr.formats.mail_text import leading_date
from patchmgr.formats.mboxes import read_tags
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.rewriting import rewritten
from tests.tables import table

HUNK = b"@@ -1 +1 @@\n-a\n+b\n"
SECTION = b"--- a/x\n+++ b/x\n" + HUNK


@table(
    "read",
    {
        "a name that may end in a date": lambda n: parse_patch(
            b"--- a/x" + b" " * n + b"-\n+++ b/x\n" + HUNK, name="p"
        ),
        "a message of many lines": lambda n: with_diff(
            parse_patch(b"".join(b"%d\n" % at for at in range(n)) + SECTION, name="p"), SECTION
        ),
        "a date": lambda n: leading_date("1 " * n),
        "a tag": lambda n: read_tags(b"\nGbp: name x" + b" " * n + b"y\n---\n"),
        "an old tag": lambda n: read_tags(b"\nGbp-Pq-Topic: x" + b" " * n + b"y\n---\n"),
        "what diff cannot express": lambda n: rewritten(
            SECTION + b"File x" + b" is a" * n + b"\n",
            name="p",
            strip=1,
            exists=lambda _: True,
        ),
    },
)
def test_a_long_line_takes_no_time(read: Callable[[int], object]) -> None:
    start = time.process_time()
    with suppress(PatchmgrError):
        read(50_000)
    assert time.process_time() - start < 1
