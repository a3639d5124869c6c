"""A folder for `stg import --series DIR/series`, as `stg export` makes it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from patchmgr.formats.exports.form import Form, Item, Parcel, Pinned
from patchmgr.formats.mail_text import written_date, written_person
from patchmgr.formats.paths import encode_path

_BASE = re.compile(rb"^# This series applies on GIT commit [0-9a-f]{40}$", re.MULTILINE)


class StGit(Form, frozen=True):
    """Subject, author and text above each diff, and the commit that all applies on."""

    def kept(self, items: Sequence[Item], pinned: Pinned) -> tuple[bool, ...]:
        """Keep what is no mail: StGit would take a mail's header for text."""
        return tuple(
            not i.patch.is_mailbox and i.line.strip in (0, 1) and not i.line.is_reversed
            for i in items
        )

    def rewritten(self, item: Item, diff: bytes) -> bytes:
        """Return a patch as `stg export` writes it, with its date."""
        subject, _, body = item.patch.message.partition(b"\n")
        who = encode_path(written_person(item.author.name, item.author.email))
        when = encode_path(written_date(item.author.date))
        text = body.strip(b"\n")
        parts = [subject, b"\n\nFrom: ", who, b"\nDate: ", when, b"\n\n", text]
        return b"".join([*parts, b"\n\n" if text else b"", b"---\n\n", diff])

    def files(self, parcels: Sequence[Parcel], pinned: Pinned) -> Mapping[str, bytes]:
        """Return the patches under their names, and the series file with its base."""
        files = Form.files(self, parcels, pinned)
        line = b"# This series applies on GIT commit " + pinned.commit.encode()
        series, number = _BASE.subn(line, files["series"])
        return {**files, "series": series if number else line + b"\n" + series}
