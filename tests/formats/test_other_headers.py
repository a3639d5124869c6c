"""Headers that are no mail, but say what a mail says."""

from __future__ import annotations

from patchmgr.formats.mailbox import canonical_header, read_header
from patchmgr.formats.patch_files import parse_patch
from patchmgr.model.patch import Author
from tests.tables import table

ID = "0123456789" * 4
ANN = Author("Ann Lee", "ann@x.org", "1548569065 -0500")
DIFF = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
MAIL = "From: Ann Lee <ann@x.org>\nDate: Sun, 27 Jan 2019 01:04:25 -0500\nSubject: [PATCH] fix it\n"

FORMS = {
    "git show": (
        f"commit {ID}\nAuthor: Ann Lee <ann@x.org>\nDate:   Sun Jan 27 01:04:25 2019 -0500\n\n"
        "    fix it\n    \n    Why:\n      it broke.\n\n",
        f"fix it\n\nWhy:\n  it broke.\n\ncommit {ID}\n",
    ),
    "git log --format=fuller": (
        f"commit {ID} (HEAD)\nAuthor:     Ann Lee <ann@x.org>\n"
        "AuthorDate: Sun Jan 27 01:04:25 2019 -0500\nCommit:     Bob <b@x>\n\n    fix\n    it\n\n",
        f"fix it\n\ncommit {ID} (HEAD)\nCommit:     Bob <b@x>\n",
    ),
    "hg export": (
        f"# HG changeset patch\n# User Ann Lee <ann@x.org>\n# Date 1548569065 18000\n"
        f"#      Sun Jan 27 01:04:25 2019 -0500\n# Node ID {ID}\nfix it\n\nWhy.\n\n",
        f"fix it\n\nWhy.\n\n# Node ID {ID}\n",
    ),
    "a text above a mail": (
        f"Patch-Source: https://x.org/1\n--\nFrom {ID} Mon Sep 17 00:00:00 2001\n"
        f"{MAIL}\nWhy.\n---\n",
        "fix it\n\nPatch-Source: https://x.org/1\n\nWhy.\n",
    ),
}


@table(("header", "message"), FORMS)
def test_a_header_says_what_the_mail_would_say(header: str, message: str) -> None:
    text = read_header(header.encode())
    assert (text.subject, text.message.decode(), text.author) == ("fix it", message, ANN)
    assert not text.is_mailbox
    rewritten = canonical_header(parse_patch((header + DIFF).encode(), name="x"), author=ANN)
    again = read_header(rewritten)
    assert (again.subject, again.message, again.author) == (text.subject, text.message, ANN)
    assert again.is_mailbox


OTHERS = {
    "no author": f"commit {ID}\n\n    fix it\n",
    "no address": f"commit {ID}\nAuthor: Ann\n\n    fix it\n",
    "no message": f"commit {ID}\nAuthor: A <a@b>\nDate: Sun Jan 27 01:04:25 2019 -0500\n",
    "a word": "commit messages are long\n",
    "no user": "# HG changeset patch\nfix it\n",
    "a text that is a header": f"Subject: s\n\nFrom {ID} Mon Sep 17 00:00:00 2001\n{MAIL}",
    "no header below": f"text\n\nFrom {ID} Mon Sep 17 00:00:00 2001\n\nmore\n",
}


@table("header", OTHERS)
def test_other_texts_are_no_such_headers(header: str) -> None:
    assert read_header(header.encode()).subject != "fix it"
    assert read_header(header.encode()).author != ANN
