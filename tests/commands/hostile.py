"""What a stranger may put into a workspace: patches, and files of every kind of ours."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

EDIT = b"@@ -1 +1 @@\n-a\n+b\n"
_LINK = b"diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+"
_NO_END = b"\n\\ No newline at end of file\n"
_IN_LINK = (
    b"diff --git a/l/p b/l/p\nnew file mode 100644\n--- /dev/null\n+++ b/l/p\n@@ -0,0 +1 @@\n+x\n"
)


def _new(path: bytes, mode: bytes = b"100644") -> bytes:
    head = b"diff --git a/%s b/%s\nnew file mode %s\n" % (path, path, mode)
    return head + b"--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+x\n" % path


def _plain(path: bytes) -> bytes:
    return b"--- a/%s\n+++ b/%s\n" % (path, path) + EDIT


def _moved(verb: bytes, old: bytes, new: bytes) -> bytes:
    head = b"diff --git a/%s b/%s\nsimilarity index 100%%\n" % (old, new)
    return head + b"%s from %s\n%s to %s\n" % (verb, old, verb, new)


PATHS: Mapping[str, bytes] = {
    "dot-dot": b"../outside/x", "dot-dot-inside": b"a/../../outside/x", "absolute": b"/tmp/x",
    "drive": b"C:/x", "unc": b"\\\\host\\x", "backslash": b"a\\..\\..\\x", "git": b".git/config",
    "git-upper": b".GIT/config", "git-short": b"git~1/config", "git-space": b".git /config",
    "git-stream": b".git::$INDEX_ALLOCATION/config", "git-hfs": b".g\xe2\x80\x8cit/config",
    "git-below": b"sub/.git/hooks/post-checkout", "private": b".patchmgr/journal.json",
    "dash": b"-rf", "control": b"a\x1b[2Jb", "return": b"a\rb", "empty-part": b"a//b",
    "long": b"x" * 5000,
}  # fmt: skip

PATCHES: Mapping[str, bytes] = {
    **{f"new {name}": _new(path) for name, path in PATHS.items()},
    **{f"plain {name}": _plain(path) for name, path in PATHS.items()},
    "quoted": b'--- "a/\\056\\056/outside/x"\n+++ "b/\\056\\056/outside/x"\n' + EDIT,
    "quoted NUL": b'--- "a/x\\000y"\n+++ "b/x\\000y"\n' + EDIT,
    "rename out": _moved(b"rename", b"pkg/a.py", b"../outside/x"),
    "rename in": _moved(b"rename", b"../outside/secret", b"x"),
    "copy out": _moved(b"copy", b"pkg/a.py", b".git/x"),
    "headers disagree": b"diff --git a/x b/x\n--- a/y\n+++ b/z\n" + EDIT,
    "no names": b"--- \n+++ \n" + EDIT,
    "through its own link": _LINK + b"../outside" + _NO_END + _IN_LINK,
    "gitmodules link": _LINK.replace(b"/l", b"/.gitmodules") + b"x" + _NO_END,
    "set-user-id": _new(b"x", b"104755"),
    "device": _new(b"x", b"060000"),
    "huge count": b"--- a/x\n+++ b/x\n@@ -1,1000000000 +1,1000000000 @@\n a\n",
    "endless count": b"--- a/x\n+++ b/x\n@@ -1,%s +1 @@\n a\n" % (b"9" * 5000),
    "binary bomb": b"diff --git a/i b/i\nnew file mode 100644\nGIT binary patch\n"
                   b"literal 99999999999\nKcmZQzWC8#H2LJ>B\n",
    "NUL in the header": b"Subject: a\0b\n\n" + _plain(b"x"),
    "parts": b"From: A <a@b>\nDate: Thu, 14 May 2026 21:22:37 +0200\nSubject: x\n"
             b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + _plain(b"x"),
    "deep predicate": b"Needed-When: " + b"(" * 20000 + b"\n\n" + _plain(b"x"),
}  # fmt: skip


def _write(content: bytes) -> Callable[[Path], None]:
    def spoil(file: Path) -> None:
        file.write_bytes(content)

    return spoil


def _cut(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def _link(file: Path) -> None:
    secret = next(p / "outside" for p in file.parents if (p / "outside").is_dir()) / "secret"
    file.unlink()
    file.symlink_to(secret)


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


SPOILS: Mapping[str, Callable[[Path], None]] = {
    "empty": _write(b""), "cut off": _cut, "NUL": _write(b"\0" * 64), "bytes": _write(b"\xff\xfe"),
    "a list": _write(b"[]"), "a number": _write(b"1e999"), "null": _write(b"null"),
    "deep list": _write(b"[" * 100_000), "deep table": _write(b"a = " + b"{a=" * 50_000),
    "other types": _write(b'format = "1"\nupstream = 3\nseries = [1]\nkind = {}\n'),
    "other JSON": _write(b'{"format": 1, "files": [[1, 2, 3]], "refs": 3, "series": [7]}'),
    "numbers": _write(b'{"format": 1, "number": 1e999, "files": [], "refs": [], "spent": []}'),
    "many lines": _write(b"x = 1\n" * 100_000), "markers": _write(b"<<<<<<< ours\n"),
    "a link": _link, "a folder": _folder, "a pipe": _pipe,
}  # fmt: skip
