"""Gates on the text of a patch: white space, conflict markers, sign-off, header and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from urllib.parse import urlsplit

from patchmgr.model.check import Problem
from patchmgr.model.patch import FilePatch, Patch

_MARKER = re.compile(rb"(?:<{7}|>{7}|={7}|\|{7})(?=[ \r\n]|$)")
_SIGN_OFF = re.compile(rb"^Signed-off-by:[ \t]*(.*?)[ \t]*<([^<>\n]+)>[ \t]*$", re.M | re.I)
_TRAILER = re.compile(r"[A-Za-z][A-Za-z0-9-]*: \S")
_URL = re.compile(r"[a-z][a-z0-9+.-]*:(?://)?[^\s<>\"'`]*", re.I)
_LINKED = frozenset({"bug", "origin", "forwarded", "applied-upstream"})
_LINKED_PREFIX = "bug-"
_WHY = frozenset({"description", "symptom", "cause"})
_UNTIL = frozenset({"drop-when", "needed-when", "applied-upstream", "exit", "exit-criterion"})


def whitespace_problems(patch: Patch) -> Iterator[Problem]:
    """Yield the white space errors that the patch adds, as `git diff --check` sees them."""
    for file in patch.files:
        has_returns = _has_returns(file)
        for number, line in _added(file):
            body = line.rstrip(b"\n")
            if has_returns:
                body = body.removesuffix(b"\r")
            if body != body.rstrip(b" \t\r\v\f"):
                yield _problem(
                    "whitespace", "white space at the end of the line", patch, file, number
                )
            indent = body[: len(body) - len(body.lstrip(b" \t"))]
            if b" \t" in indent:
                yield _problem("whitespace", "a space before a tab", patch, file, number)
        blank = _blank_end(file)
        if blank is not None:
            yield _problem(
                "whitespace", "a new blank line at the end of the file", patch, file, blank
            )


def marker_problems(patch: Patch) -> Iterator[Problem]:
    """Yield the conflict markers that the patch adds."""
    for file in patch.files:
        for number, line in _added(file):
            if _MARKER.match(line):
                yield _problem("markers", "a conflict marker", patch, file, number)


def _problem(gate: str, sentence: str, patch: Patch, file: FilePatch, line: int) -> Problem:
    return Problem(gate, sentence, patch.name, file.path, line)


def _added(file: FilePatch) -> Iterator[tuple[int, bytes]]:
    for hunk in file.hunks:
        number = hunk.new_start
        for line in hunk.lines:
            if line[:1] == b"+":
                yield number, line[1:]
            number += line[:1] != b"-"


def _has_returns(file: FilePatch) -> bool:
    """Say whether the file has CR LF: by the lines that were there, of a new one by all lines."""
    old = [line for hunk in file.hunks for line in hunk.lines if line[:1] != b"+"]
    lines = old or [line for hunk in file.hunks for line in hunk.lines]
    return bool(lines) and sum(line.endswith(b"\r\n") for line in lines) * 2 > len(lines)


def _blank_end(file: FilePatch) -> int | None:
    """Return the first of the added blank lines that end a file, as far as the hunk shows it."""
    if not file.hunks or file.new_path is None:
        return None
    hunk = file.hunks[-1]
    after = len(list(takewhile(lambda line: line[:1] == b" ", reversed(hunk.lines))))
    # Git shows three lines of context unless the file ends.
    if after >= 3:
        return None
    kept = [line for line in hunk.lines if line[:1] != b"-"]
    blank = 0
    for line in reversed(kept):
        if line[1:].strip():
            break
        blank += 1
    tail = kept[len(kept) - blank :]
    if not tail or tail[-1][:1] != b"+" or after:
        return None
    first = next(i for i, line in enumerate(tail) if line[:1] == b"+")
    return hunk.new_start + len(kept) - blank + first


def sign_off_problems(patch: Patch) -> Iterator[Problem]:
    """Yield what the patch lacks of the developer's certificate of origin."""
    signed = [(m[1], m[2]) for m in _SIGN_OFF.finditer(patch.message)]
    if not signed:
        yield Problem("sign-off", "no Signed-off-by in the header", patch.name)
    elif patch.author is not None:
        emails = {email.decode("utf-8", "surrogateescape").lower() for _, email in signed}
        names = {name.decode("utf-8", "surrogateescape").lower() for name, _ in signed}
        if patch.author.email.lower() not in emails and patch.author.name.lower() not in names:
            sentence = f"the author {patch.author.name} <{patch.author.email}> did not sign off"
            yield Problem("sign-off", sentence, patch.name)


def header_problems(patch: Patch) -> Iterator[Problem]:
    """Yield what the header does not say: why the patch is, and when it can go."""
    fields = {name.lower() for name, value in patch.fields.items() if value.strip()}
    if fields.isdisjoint(_WHY) and not _has_body(patch):
        yield Problem("header", "no reason: a text below the subject, or Description", patch.name)
    if fields.isdisjoint(_UNTIL):
        sentence = "no exit criterion: Drop-When, Needed-When or Applied-Upstream"
        yield Problem("header", sentence, patch.name)


def _has_body(patch: Patch) -> bool:
    lines = patch.message.decode("utf-8", "replace").split("\n")[1:]
    return any(line.strip() and not _TRAILER.match(line) for line in lines)


def link_problems(patch: Patch) -> Iterator[Problem]:
    """Yield links of the header that lead nowhere by their form; nothing is fetched."""
    for name, value in patch.fields.items():
        key = name.lower()
        if key not in _LINKED and not key.startswith(_LINKED_PREFIX):
            continue
        for url in _URL.findall(value):
            if url.lower().startswith(("http", "ftp")) and not _is_sound(url):
                yield Problem("links", f"{name} has {url} which is no link", patch.name)
        is_named = _URL.search(value) or re.search(r"#?\d+", value)
        if key.startswith("bug") and value.strip() and not is_named:
            yield Problem("links", f"{name} names no bug: {value.strip()}", patch.name)


def _is_sound(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return False
    return (
        "." in host.strip(".")
        and url[-1] not in ".,;:"
        and parts.scheme in ("http", "https", "ftp")
    )


def cited_commits(patch: Patch) -> Iterator[str]:
    """Yield the full commit ids that the header says upstream has the patch in."""
    for name, value in patch.fields.items():
        if name.lower() in ("origin", "applied-upstream"):
            yield from re.findall(r"\bcommit:\s*([0-9a-f]{40})\b", value)
