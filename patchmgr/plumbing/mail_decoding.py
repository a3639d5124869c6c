"""Decode mails as `git am` does: base64, quoted-printable, flowed text, attached patches."""

from __future__ import annotations

import tempfile
from pathlib import Path

from patchmgr.plumbing.git_process import output

_UTF8 = (
    b"MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n"
)


def decoded_mail(mail: bytes) -> bytes:
    """Return a mail as plain text in UTF-8, with the fields that `git am` reads.

    Raises PatchmgrError "git" if git cannot read the mail.
    """
    with tempfile.TemporaryDirectory(prefix="patchmgr-mail-") as folder:
        message, patch = Path(folder, "message"), Path(folder, "patch")
        line = ["mailinfo", "-b", "--no-scissors", "--encoding=UTF-8", str(message), str(patch)]
        told = output(line, data=mail)
        text, diff = message.read_bytes(), patch.read_bytes()
    info = dict(field.split(b": ", 1) for field in told.splitlines() if b": " in field)
    head = b"From: %s <%s>\n" % (info.get(b"Author", b""), info.get(b"Email", b""))
    fields = (b"Date", b"Subject")
    head += b"".join(b"%s: %s\n" % (name, info[name]) for name in fields if name in info)
    return head + (b"" if (head + text).isascii() else _UTF8) + b"\n" + text + diff
