"""Inputs to begin with: small, of our own making, each with something that a parser looks at."""

from __future__ import annotations

import gzip
import io
import json
import random
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

FOUND = Path(__file__).parent / "found"

_SHA = "1" * 40
_LONG = "2" * 64
_ENVELOPE = b"From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
_MAIL = (
    _ENVELOPE + b"From: Joe Doe <joe@example.org>\nDate: Thu, 14 May 2026 21:22:37 +0200\n"
    b"Subject: [PATCH 1/2] area: x =?UTF-8?q?=C3=BC?=\n"
)
_MIME = (
    b"MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n"
)
_EDIT = (
    b"diff --git a/x b/x\nindex 1111111..2222222 100644\n--- a/x\n+++ b/x\n"
    b"@@ -1,3 +1,3 @@ def f():\n a\n-b\n+c\n d\n"
)
_RENAME = (
    b'diff --git "a/t\\303\\244st" b/y\nsimilarity index 90%\nrename from "t\\303\\244st"\n'
    b"rename to y\n"
)
_NEW = b"diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n"
_GONE = b"diff --git a/g b/g\ndeleted file mode 100755\n--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n"
_BINARY = (
    b"diff --git a/i b/i\nnew file mode 100644\nGIT binary patch\nliteral 3\nKcmZQzWC8#H2LJ>B\n"
)
_DEP3 = b"Description: fix it\n for good\n .\n really\nAuthor: Joe Doe <joe@example.org>\n"
_CONDITIONS = b'Needed-When: exists pkg/a.py and not "v = 1" in pkg/b.py\nEnsures: exists x\n'

_OPERATION = {
    "format": 1, "number": 1, "at": 0, "command": "drop a", "kind": "command", "of": [1],
    "files": [["series/s/a.patch", None, _LONG]],
    "targets": [{"root": "/c", "files": [["a", None, ["100644", _LONG, 420]]], "before": None,
                 "after": None}],
    "refs": [["up", "refs/heads/patchmgr/s", None, _SHA]],
}  # fmt: skip
_JOURNAL = {
    "files": [["upstream.lock", None], ["series/s/a.patch", ".patchmgr/staging/0"]],
    "refs": [["up", "refs/heads/patchmgr/s", _SHA, None]], "spent": [".patchmgr/a/b"], "steps": [],
}  # fmt: skip
_APPLIED = {
    "format": 1, "series": "s", "digest": _LONG, "selected": [], "onto": _SHA, "head": None,
    "files": [{"path": "a", "before": {"mode": "100644", "sha256": _LONG}, "after": None,
               "original": "0", "permissions": 420}],
    "workspace": "/w", "pushed": [{"name": "a.patch", "digest": _LONG, "is_forced": False}],
    "rejects": [],
}  # fmt: skip
_LOCK = f"""format = 1
[series.s]
upstream = "up"
[series.s.base]
commit = "{_SHA}"
ref = "v1"
tree = "{_SHA}"
[upstream.up]
git = "https://example.org/up.git"
branch = "main"
track = "git"
"""
_DECISION = f"""format = 1
[[decision]]
series = "s"
patch = "a.patch"
verdict = "absorbed"
change = "{_LONG}"
subject = "x"
commit = "{_SHA}"
pull = 7
[[decision.text]]
digest = "{_LONG}"
lines = 3
path = "a"
times = 1
"""
_SETTINGS = """off = ["x"]
[subsystems]
core = ["pkg/**"]
[groups]
x = ["a.patch"]
[paths]
"src/" = "pkg/"
[check]
python = ["3.10"]
sign-off = true
[[check.command]]
name = "t"
run = ["true"]
"""


def _tar(form: int) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as archive:
        for name, content in (("x-1/a.py", b"a\n"), ("x-1/" + "long" * 30 + "/b", b"b")):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("x-1/l")
        link.type, link.linkname = tarfile.SYMTYPE, "a.py"
        archive.addfile(link)
    return made.getvalue()


def _zip() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/a.py", b"a\n" * 20)
        archive.writestr("x-1.dist-info/RECORD", b"x/a.py,,\n")
    return made.getvalue()


def _json(document: object) -> bytes:
    return json.dumps(document).encode()


def _rows(seed: str) -> tuple[bytes, ...]:
    """Return rows of choices for the targets that read any bytes as choices."""
    chooser = random.Random(seed)
    return tuple(chooser.randbytes(size) for size in (8, 24, 64, 120, 200))


SEEDS: Mapping[str, Sequence[bytes]] = {
    "patch": (
        _MAIL + _MIME + b"\nbody\n---\n x | 2 +-\n\n" + _EDIT + _RENAME + b"-- \n2.39.5\n",
        _DEP3 + _CONDITIONS + b"\n" + _NEW + _GONE + _BINARY,
        b"Text.\n\nIndex: x\n=====\n--- x.orig\n+++ x\n@@ -1 +1 @@\n-a\n\\ No newline at end of "
        b"file\n+b\n",
        (_MAIL + b"\nbody\n\n" + _EDIT).replace(b"\n", b"\r\n"),
    ),
    "header": (_MAIL + _MIME + b"\nbody\n", _DEP3 + _CONDITIONS, b"Fix it.\n\nBecause.\n"),
    "mailbox": (
        _MAIL + b"\nGbp-Pq: Topic t\n---\n" + _EDIT + _MAIL + b"\n" + _NEW,
        b"From joe@example.org Thu May 14 21:22:37 2026\n" + _MAIL[len(_ENVELOPE) :] + b"\nx\n\n"
        b"From joe@example.org Thu May 14 21:22:38 2026\nSubject: [PATCH 0/1] y\n\ny\n",
    ),
    "hunks": (
        b"a\nb\nc\nd\n\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n@@ -4 +4,2 @@\n d\n+e\n",
        b"a\na\na\nb\n@@ -2,2 +2 @@\n a\n-a\n",
        b"x\n@@ -0,0 +1 @@\n+y\n",
    ),
    "delta": (b"old text\xff\xff\x08\x05\x90\x05", b"old\xff\xff\x03\x04\x91\x01\x02\x02xy"),
    "series": (
        b"# first\na.patch\nb/c.patch -p1 #+x #-y # why\n\n",
        b"a.patch\r\nb.patch -p0\r\n",
        b"a.patch #+x\tb\nno-end",
    ),
    "lock": (_LOCK.encode(), b"format = 1\n", b'format = 1\n[upstream.p]\npackage = "p"\n'),
    "conflict": (
        b'format = 1\nkind = "region"\npath = "a"\nseen = "s"\norigin = "rebase"\n'
        b"\0\nb\n\0\no\n\0\nt\n\0\nr\n",
        b'format = 1\nkind = "file"\ndeleted = true\norigin = "accept"\n\0\nb\n',
        b'format = 1\nkind = "group"\nparts = ["0123456789abcdef"]\n',
    ),
    "decisions": (_DECISION.encode(), b"format = 1\n"),
    "settings": (_SETTINGS.encode(), b'[labels]\na = ["x"]\n[[claim]]\ntext = "t"\n'),
    "predicate": (
        b"exists pkg/a.py", b'not "x(y)" in a.py::A.b and version >=1.0,<2',
        b"(exists a or exists b) in upstream other at v1", b'other at "T (\\w+)" in a',
    ),
    "regex": (b"a(b|c)*d$\nabcbd", b"[^a-c\\d]{2,3}?\nxy", b"\\bx+\\B\n xx"),
    "archive": (
        _tar(tarfile.PAX_FORMAT), _tar(tarfile.GNU_FORMAT), gzip.compress(_tar(0), 9, mtime=0),
        _zip(),
    ),
    "record": (b'a.py,sha256=abc,3\n"b,c.py",,\n', b"a\r\nb,x\r\n", b'"a\rb",x\r\n'),
    "operation": (_json(_OPERATION),),
    "journal": (_json(_JOURNAL),),
    "applied": (_json(_APPLIED),),
    "upstream": (
        b"# owners\n[Core]\n/pkg/** @a\n*.py @b\ndocs/ @c\n",
        b"core:\n- changed-files:\n  - any-glob-to-any-file: ['pkg/**', \"*.py\"]\n",
        b"[tool.ruff]\nline-length = 88\n[tool.ruff.format]\nquote-style = 'single'\n[tool.yapf]\n"
        b"based_on_style = 'pep8'\n",
        b"BasedOnStyle: Google\nColumnLimit: 100\nBraceWrapping:\n  AfterClass: true\n",
        b"repos:\n- repo: https://example.org/black\n  hooks:\n  - id: black\n    args: [-l, 99]\n",
        _json({"version": 5, "applied": ["a"], "unapplied": [], "hidden": [],
               "patches": {"a": {"oid": _SHA}}}),
        f"Version: 2\nApplied:\n  a: {_SHA}\nUnapplied:\n".encode(),
        b"# file generated by tool\n__version__ = '1'\n__commit_id__ = 'g" + _SHA.encode() + b"'\n",
    ),
    **{name: _rows(name) for name in ("ladder", "memory", "rebase", "absorption", "structure")},
}  # fmt: skip


def seeds(name: str) -> tuple[bytes, ...]:
    """Return the inputs of a target: its seeds, then what the long job once found."""
    found = sorted((FOUND / name).glob("*")) if (FOUND / name).is_dir() else []
    return (*SEEDS[name], *(file.read_bytes() for file in found))
