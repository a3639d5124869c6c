"""Headers: read, made canonical, split and named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.errors import PatchmgrError
from patchmgr.formats.mailbox import canonical_header, read_header, slug
from patchmgr.formats.patch_files import parse_patch
from patchmgr.model.patch import Author, Patch
from tests.tables import table

ZERO = "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
HEAD = "From: Joe Doe <joe@example.org>\nDate: Thu, 14 May 2026 21:22:37 +0200\n"
MIME = """\
MIME-Version: 1.0
Content-Type: text/plain; charset=UTF-8
Content-Transfer-Encoding: 8bit
"""
JOE = Author("Joe Doe", "joe@example.org", "1778786557 +0200")
ANN = Author("Ann, Ü.", "ann@example.org", "1767242523 -0330")
DIFF = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"

# Each message is what git mailinfo -b and git stripspace make of the mail (git 2.39.5).
MAILS = {
    "subject only": (ZERO + HEAD + "Subject: short\n\n\n", "short", "short\n"),
    "a body": (
        ZERO + HEAD + "Subject: [PATCH 1/2] area: x\n\nbody  \n\n\nmore\n\n",
        "area: x",
        "area: x\n\nbody\n\nmore\n",
    ),
    "a folded subject": (
        ZERO + HEAD + "Subject: [PATCH] one\n two\n\tthree\n\n\n", "one two three",
        "one two three\n",
    ),
    "an encoded subject": (
        ZERO + HEAD + "Subject: [PATCH 2/3] =?UTF-8?q?[Bugfix][Core]=20seventy-eig?=\n"
        " =?UTF-8?q?ht=20=C3=BCnd=20on?=\n" + MIME + "\nbody ü\n---\n x | 2 +-\n\n",
        "[Bugfix][Core] seventy-eight ünd on",
        "[Bugfix][Core] seventy-eight ünd on\n\nbody ü\n",
    ),
    "no From line": (HEAD + "Subject: x\nX-Other: y\n\nbody\n", "x", "x\n\nbody\n"),
    "blank lines first": ("\n\n" + HEAD + "Subject: x\n\nbody\n", "x", "x\n\nbody\n"),
    "OpenShift": (
        ZERO + HEAD + "Subject: UPSTREAM: <carry>: keep it\n\n", "UPSTREAM: <carry>: keep it",
        "UPSTREAM: <carry>: keep it\n",
    ),
    "an in-body subject": (
        ZERO + HEAD + "Subject: x\n\nSubject: [PATCH] y\n\nbody\n", "y", "y\n\nbody\n"
    ),
    "no subject": (ZERO + HEAD + "Subject:\n\nfirst\nsecond\n", "first", "first\nsecond\n"),
    "nothing but a sender": (ZERO + HEAD + "Subject: [PATCH]\n\n", "name", "name\n"),
    "From in the body": (
        ZERO + HEAD + "Subject: x\n\ntext\nFrom now on\n" + ZERO.replace("From", ">From"),
        "x",
        "x\n\ntext\nFrom now on\n>" + ZERO,
    ),
}  # fmt: skip


@table(("header", "subject", "message"), MAILS)
def test_a_mail_is_read_as_git_am_reads_it(header: str, subject: str, message: str) -> None:
    text = read_header(header.encode(), name="sub/name.patch")
    assert (text.subject, text.message) == (subject, message.encode())
    assert text.author == JOE
    assert text.is_mailbox


def test_a_charset_is_honoured_and_stray_bytes_stay() -> None:
    head = (ZERO + HEAD + "Subject: x\nContent-Type: text/plain; charset={}\n\n").encode()
    latin = head.replace(b"{}", b'"iso-8859-1"; format=flowed')
    assert read_header(latin + b"\xfc\n").message == "x\n\nü\n".encode()
    assert read_header(head.replace(b"{}", b"UTF-8") + b"\xfc\n").message == b"x\n\n\xfc\n"
    assert read_header(head.replace(b"; charset={}", b"") + b"\xfc\n").message == b"x\n\n\xfc\n"
    raw = head.replace(b"Subject: x", b"Subject: \xfc").replace(b"{}", b"UTF-8")
    assert read_header(raw)[:2] == ("ü", b"\xfc\n")


def test_an_in_body_author_wins() -> None:
    body = "From: Ann <a@b>\nDate: Thu, 1 Jan 2026 01:02:03 -0330\n\nbody\n"
    text = read_header((ZERO + HEAD + "Subject: x\n\n" + body).encode())
    assert text.author == Author("Ann", "a@b", "1767241923 -0330")
    text = read_header((ZERO + HEAD + "Subject: x\n\nFrom: nobody\n\nbody\n").encode())
    assert text.author == JOE


# Other headers: subject, message, author, fields.
TEXTS: dict[str, tuple[str, str, str, Author | None, dict[str, str]]] = {
    "nothing": ("", "name", "name\n", None, {}),
    "blank lines": ("\n \n", "name", "name\n", None, {}),
    "one line": ("Fix it.\n", "Fix it.", "Fix it.\n", None, {}),
    "no last newline": ("Fix it.", "Fix it.", "Fix it.\n", None, {}),
    "a paragraph": ("\nFix\n  it.\n\nBecause.\n\n", "Fix it.", "Fix it.\n\nBecause.\n", None, {}),
    "an area is no field": ("area: fix\nmore\n", "area: fix more", "area: fix more\n", None,
                            {"area": "fix"}),
    "a cut": ("Fix.\n---\nnotes\n", "Fix.", "Fix.\n", None, {}),
    "a cut at once": ("---\nnotes\n", "name", "name\n", None, {}),
    "StGit": (
        "Fix it\n\nFrom: Joe Doe <joe@example.org>\n\nBecause.\n", "Fix it",
        "Fix it\n\nBecause.\n", Author("Joe Doe", "joe@example.org", ""),
        {"From": "Joe Doe <joe@example.org>"},
    ),
    "an author below": (
        "Fix it\n\nAuthor: Joe Doe <joe@example.org>\n", "Fix it",
        "Fix it\n\nAuthor: Joe Doe <joe@example.org>\n",
        Author("Joe Doe", "joe@example.org", ""), {"Author": "Joe Doe <joe@example.org>"},
    ),
    "a subject below stays in the text": (
        "Fix it\n\nSubject: more\n", "Fix it", "Fix it\n\nFix it\n\nSubject: more\n", None,
        {"Subject": "more"},
    ),
    "DEP-3": (
        "Description: fix it\n for good\n .\n really\nAuthor: Joe Doe <joe@example.org>\n"
        "Forwarded: no\n",
        "fix it",
        "fix it\n\nDescription: fix it\n for good\n .\n really\n"
        "Author: Joe Doe <joe@example.org>\nForwarded: no\n",
        Author("Joe Doe", "joe@example.org", ""),
        {"Description": "fix it\nfor good\n\nreally", "Author": "Joe Doe <joe@example.org>",
         "Forwarded": "no"},
    ),
    "DEP-3, text below the name": (
        "Description:\n fix it\nBug: 1\n", "fix it",
        "fix it\n\nDescription:\n fix it\nBug: 1\n", None, {"Description": "fix it", "Bug": "1"},
    ),
    "DEP-3 as a mail": (
        "From: Joe Doe <joe@example.org>\nSubject: fix it\n for good\nBug-Debian: 1\n\nmore\n",
        "fix it for good", "fix it for good\n\nBug-Debian: 1\n\nmore\n",
        Author("Joe Doe", "joe@example.org", ""),
        {"From": "Joe Doe <joe@example.org>", "Subject": "fix it\nfor good", "Bug-Debian": "1"},
    ),
    "DEP-3, a bug first": ("Bug-Ubuntu: 1\n\nFix it\n\nmore\n", "Fix it",
                           "Fix it\n\nBug-Ubuntu: 1\n\nmore\n", None, {"Bug-Ubuntu": "1"}),
    "fields only": ("Forwarded: no\n", "name", "name\n\nForwarded: no\n", None,
                    {"Forwarded": "no"}),
    "an empty subject": ("Subject:\nBug: 1\n", "name", "name\n\nBug: 1\n", None,
                         {"Subject": "", "Bug": "1"}),
    "an author nobody can read": ("Author: Joe\nBug: 1\nFix\n", "Fix",
                                  "Fix\n\nAuthor: Joe\nBug: 1\n", None,
                                  {"Author": "Joe", "Bug": "1"}),
    "a mail without a date": (
        ZERO + "X-A: b\nFrom: Joe Doe <joe@example.org>\nSubject: fix\nSubject: again\n\nmore\n",
        "fix", "fix\n\nX-A: b\nSubject: again\n\nmore\n", Author("Joe Doe", "joe@example.org", ""),
        {"X-A": "b", "From": "Joe Doe <joe@example.org>", "Subject": "fix\nagain"},
    ),
    "a mail without a blank line": (
        HEAD + "Subject: fix\ntext\n", "fix", "fix\n\ntext\n", JOE,
        {"From": "Joe Doe <joe@example.org>", "Date": "Thu, 14 May 2026 21:22:37 +0200",
         "Subject": "fix"},
    ),
    "From as a word": ("From here on\nall is well\n", "From here on all is well",
                       "From here on all is well\n", None, {}),
}  # fmt: skip


@table(("header", "subject", "message", "author", "fields"), TEXTS)
def test_a_header_that_is_no_mail_is_read(
    header: str, subject: str, message: str, author: Author | None, fields: dict[str, str]
) -> None:
    text = read_header(header.encode(), name="sub/name.patch")
    assert (text.subject, text.message) == (subject, message.encode())
    assert text.author == author
    assert text.fields == fields
    assert not text.is_mailbox


@table(
    ("name", "subject"),
    [("a/fix-it.patch", "fix-it"), ("fix.diff", "fix"), ("[PATCH].txt", "patch"), ("", "patch")],
)
def test_a_name_is_the_last_resort(name: str, subject: str) -> None:
    assert read_header(b"", name=name).subject == subject


def test_the_fields_of_a_mail_are_those_of_header_and_message() -> None:
    head = "Subject: =?utf-8?q?a?=\n =?utf-8?q?=C3=BC?=\n\nWhy.\nNeeded-When: x\n  y\n---\nBug: 1\n"
    assert read_header((HEAD + head).encode()).fields == {
        "From": "Joe Doe <joe@example.org>",
        "Date": "Thu, 14 May 2026 21:22:37 +0200",
        "Subject": "a\nü",
        "Needed-When": "x\ny",
    }


REFUSED = {
    "base 64": (HEAD + "Subject: x\nContent-Transfer-Encoding: base64\n\n", "encoding base64"),
    "quoted-printable": (
        HEAD + "Subject: x\ncontent-transfer-encoding: Quoted-Printable\n\n", "encoding quoted"
    ),
    "attachments": (
        HEAD + "Subject: x\nContent-Type: multipart/mixed; boundary=x\n\n", "several parts"
    ),
    "no text": (HEAD + "Subject: x\nContent-Type: application/x\n\n", "several parts"),
    "unknown charset": (HEAD + "Subject: x\nContent-Type: text/plain; charset=q\n\nx", "unknown"),
    "a date nobody can read": (
        "From: a <a@b>\nDate: never\nSubject: x\n\n", "patch has a Date that cannot be read: never"
    ),
    "an in-body date": (HEAD + "Subject: x\n\nDate: never\n\nx", "cannot be read: never"),
    "left in conflict by git": (
        HEAD + "<<<<<<< a\nSubject: x\n=======\nSubject: y\n>>>>>>> b\n\n", "markers in"
    ),
    "a text that git left in conflict": ("<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n", "markers in"),
    "a NUL": (HEAD + "Subject: x\n\na\0b\n", "line 5: the header contains a NUL byte"),
    "an encoded NUL": (HEAD + "Subject: =?utf-8?q?a=00?=\n\n", "a NUL byte in an encoded word"),
    "an encoded NUL in a name": (
        HEAD.replace("Joe", "=?utf-8?q?a=00b?=") + "Subject: x\n\n", "a NUL byte in an encoded word"
    ),
    "an encoded NUL in a text": (
        HEAD + "Subject: x\nContent-Type: text/plain; charset=utf-7\n\n+AAA-", "a NUL byte in an e"
    ),
}  # fmt: skip


@table(("header", "problem"), REFUSED)
def test_what_git_am_would_have_to_decode_is_refused(header: str, problem: str) -> None:
    with pytest.raises(PatchmgrError, match=problem) as caught:
        read_header(header.encode(), name="x.patch")
    assert caught.value.kind == "bad-patch"


@table("kind", ["text/plain", "text/x-patch; charset=utf-8", "garbage", ""])
def test_other_kinds_of_text_are_read(kind: str) -> None:
    raw = HEAD + f"Subject: x\nContent-Type: {kind}\nContent-Transfer-Encoding: 7bit\n\ny\n"
    assert read_header(raw.encode()).message == b"x\n\ny\n"


def parse(header: str | bytes, name: str = "name.patch") -> Patch:
    raw = header.encode() if isinstance(header, str) else header
    return parse_patch(raw + DIFF, name=name)


CANONICAL = {
    "a mail of git": (
        ZERO + HEAD + "Subject: x\nX-Other: y\n\nbody \n\n", ZERO + HEAD + "Subject: x\n"
        "X-Other: y\n\nbody \n\n",
    ),
    "a real commit's id": (
        ZERO.replace("0" * 40, "1" * 40) + HEAD + "Subject: [PATCH] x\n\n\n",
        ZERO + HEAD + "Subject: [PATCH] x\n\n\n",
    ),
    "no From line": (HEAD + "Subject: x\n\nbody\n", ZERO + HEAD + "Subject: x\n\nbody\n\n"),
    "a diffstat": (
        ZERO + HEAD + "Subject: x\n\nbody\n---\n x | 2 +-\n 1 file changed, 1 insertion(+)\n\n",
        ZERO + HEAD + "Subject: x\n\nbody\n\n",
    ),
    "a diffstat without a body": (
        ZERO + HEAD + "Subject: x\n\n---\n x | 2 +-\n\n", ZERO + HEAD + "Subject: x\n\n\n"
    ),
    "notes": (
        ZERO + HEAD + "Subject: x\n\n---\nv2\n x | 2 +-\n\n",
        ZERO + HEAD + "Subject: x\n\n---\nv2\n\n",
    ),
    "a mail of CR LF": (
        (ZERO + HEAD + "Subject: x\n\nbody\n\n").replace("\n", "\r\n"),
        ZERO + HEAD + "Subject: x\n\nbody\n\n",
    ),
}  # fmt: skip


@table(("header", "canonical"), CANONICAL)
def test_a_mail_keeps_its_header(header: str, canonical: str) -> None:
    raw = header.encode() + (DIFF.replace(b"\n", b"\r\n") if "\r" in header else DIFF)
    patch = parse_patch(raw, name="x.patch")
    assert canonical_header(patch, author=ANN) == canonical.encode()


FROM_ANN = 'From: "Ann, Ü." <ann@example.org>\nDate: Thu, 1 Jan 2026 01:12:03 -0330\n'
MADE = {
    "nothing": ("", "Subject: name\n\n\n"),
    "a text": ("Fix it.\n\n  Because. \n\n", "Subject: Fix it.\n\n  Because. \n\n"),
    "a text beyond ASCII": ("Fix ü.\n", "Subject: Fix ü.\n" + MIME + "\n\n"),
    "a body beyond ASCII": ("Fix.\n\nü\n", "Subject: Fix.\n" + MIME + "\nü\n\n"),
    "DEP-3": (
        "Description: fix\n it\nAuthor: x\n---\n x | 1 +\n\n",
        "Subject: fix\n\nDescription: fix\n it\nAuthor: x\n\n",
    ),
    "a mail without a date": (
        "From: x <x@y>\nSubject: fix\nX-Other: y\n\nbody\n",
        "Subject: fix\n\nX-Other: y\n\nbody\n\n",
    ),
    "another charset": (
        "Subject: fix\nContent-Type: text/plain; charset=latin-1\n\n\udcfc\n",
        "Subject: fix\n" + MIME + "\nü\n\n",
    ),
    "stray bytes": ("Fix \udcfc\n\n\udcfc\n", "Subject: Fix \udcfc\n" + MIME + "\n\udcfc\n\n"),
    "a long subject": (
        "[Bugfix][Core] a very long subject that surely goes past the limit of seventy-eight\n",
        "Subject: [Bugfix][Core] a very long subject that surely goes past the limit of\n"
        " seventy-eight\n\n\n",
    ),
    "words that look encoded": (
        "Fix =?utf-8?q?a?=\n", "Subject: =?UTF-8?q?Fix=20=3D=3Futf=2D8=3Fq=3Fa=3F=3D?=\n\n\n"
    ),
}  # fmt: skip


@table(("header", "canonical"), MADE)
def test_another_header_becomes_a_mail(header: str, canonical: str) -> None:
    patch = parse(header.encode("utf-8", "surrogateescape"))
    made = canonical_header(patch, author=ANN)
    expected = (ZERO + FROM_ANN + canonical).encode("utf-8", "surrogateescape")
    assert made == expected
    again = parse(made)
    assert again.is_mailbox
    assert (again.subject, again.message) == (patch.subject, patch.message)
    assert again.author == ANN


def test_an_author_cannot_add_header_lines() -> None:
    author = Author("A\nB: c", "a@b", "0 +0000")
    assert b'\nFrom: "A B: c" <a@b>\n' in canonical_header(parse("x\n"), author=author)


LINES = [
    "", " ", "Fix it", "[PATCH 1/2] x", "Subject: a", "subject: [PATCH] b", "From: C <c@d>",
    "Author: E <e@f>", "Date: Thu, 1 Jan 2026 01:02:03 -0330", "Description: d", " more", " .",
    "Bug: 1", "---", " x | 1 +", "Index: q", "diff -u", ZERO.strip(), HEAD.strip(), "=?x?=",
    "=?utf-8?q?a?=", MIME.strip(), "Content-Type: text/plain; charset=latin-1", "\udcfc",
    "ü", "re: x", "\x1b", "\x0c", "Subject:", "From:",
]  # fmt: skip
ANY_LINE = st.text(alphabet=st.characters(exclude_characters="\0\n", codec="utf-8"), max_size=12)


@given(st.lists(st.sampled_from(LINES) | ANY_LINE, max_size=12), st.booleans())
def test_a_canonical_header_is_final(lines: list[str], is_mail: bool) -> None:
    head = ZERO + HEAD + "Subject: s\n\n" if is_mail else ""
    raw = (head + "\n".join(lines)).encode("utf-8", "surrogateescape") + b"\n"
    try:
        patch = parse(raw)
    except PatchmgrError:
        return
    author = patch.author if patch.author and patch.author.date else ANN
    once = canonical_header(patch, author=author)
    again = parse(once)
    assert again.is_mailbox
    assert again.message == patch.message
    assert again.subject == patch.subject
    assert canonical_header(again, author=JOE) == once


# Each name is git format-patch's, but for those that it leaves empty or hidden.
SLUGS = [
    ("short", "short"),
    ("area: do  a thing!", "area-do-a-thing"),
    ("[Bugfix][Core] a very long subject that surely goes past the limit",
     "Bugfix-Core-a-very-long-subject-that-surely-goes-pas"),
    ("spec-decode: support GLM and Kimi MTP runtime overrides",
     "spec-decode-support-GLM-and-Kimi-MTP-runtime-overrid"),
    ("Revised b12x<->vLLM integration", "Revised-b12x-vLLM-integration"),
    ("Reduce x...y..z.", "Reduce-x.y.z"),
    ("ünd_1.5", "nd_1.5"),
    (".gitignore: x", "gitignore-x"),
    ("./-x", "x"),
    ("../../etc/passwd", "etc-passwd"),
    ("a/b\\c\x1b[0m", "a-b-c-0m"),
    ("漢字", "patch"),
    ("", "patch"),
    ("...", "patch"),
]  # fmt: skip


@table(("subject", "name"), SLUGS, ids=[name for _, name in SLUGS])
def test_a_subject_gives_a_file_name(subject: str, name: str) -> None:
    assert slug(subject) == name


@given(st.text())
def test_a_file_name_is_safe(subject: str) -> None:
    name = slug(subject)
    assert 0 < len(name) <= 52
    assert name[0] not in "-."
    assert name.isascii()
    assert not set(name) & set("/\\: \n~")


ID = "0123456789" * 4
HEADERS_ANN = Author("Ann Lee", "ann@x.org", "1548569065 -0500")
HEADERS_DIFF = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
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
    assert (text.subject, text.message.decode(), text.author) == ("fix it", message, HEADERS_ANN)
    assert not text.is_mailbox
    patch = parse_patch((header + HEADERS_DIFF).encode(), name="x")
    rewritten = canonical_header(patch, author=HEADERS_ANN)
    again = read_header(rewritten)
    assert (again.subject, again.message, again.author) == (text.subject, text.message, HEADERS_ANN)
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
    assert read_header(header.encode()).author != HEADERS_ANN
