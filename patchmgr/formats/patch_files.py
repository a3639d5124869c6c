"""Patch files: a header, the sections of a diff, perhaps a mail signature, and nothing else."""

from __future__ import annotations

import re
from itertools import groupby

from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.formats.mail_text import is_cut
from patchmgr.formats.mailbox import read_header
from patchmgr.formats.reader import PatchReader, split_lines, unmangled_lines
from patchmgr.formats.sections import (
    NOISE,
    TITLE,
    Sections,
    is_hunk_head,
    read_git_section,
    read_plain_section,
    skip_noise,
)
from patchmgr.formats.shown import shown
from patchmgr.model.patch import FilePatch, Hunk, Patch
from patchmgr.model.series import SeriesLine


def reversed_patch(patch: Patch) -> Patch:
    """Return the patch that undoes this one; raise "unsupported" for a copy or a binary file."""
    files = tuple(_reversed_file(patch.name, change) for change in reversed(patch.files))
    return replace(patch, files=files, is_reversed=not patch.is_reversed)


def _reversed_file(name: str, change: FilePatch) -> FilePatch:
    if change.is_copy or change.binary is not None:
        what = "copies a file" if change.is_copy else "changes a binary file"
        raise PatchmgrError(
            "unsupported",
            f"{shown(name)} cannot be reversed (-R), because it {what}: {shown(change.path)}",
            "make a reverse patch with: git diff -R --binary",
        )
    return replace(
        change,
        old_path=change.new_path, new_path=change.old_path,
        old_mode=change.new_mode, new_mode=change.old_mode,
        old_id=change.new_id, new_id=change.old_id,
        hunks=tuple(map(_reversed_hunk, change.hunks)),
    )  # fmt: skip


def _reversed_hunk(hunk: Hunk) -> Hunk:
    """Return the reverse of a hunk, with removed lines before added lines."""
    lines: list[bytes] = []
    for is_context, run in groupby(hunk.lines, key=lambda line: line[:1] == b" "):
        found = list(run)
        if not is_context:
            removed = [b"-" + line[1:] for line in found if line[:1] == b"+"]
            found = removed + [b"+" + line[1:] for line in found if line[:1] == b"-"]
        lines += found
    return Hunk(
        hunk.new_start, hunk.new_count, hunk.old_start, hunk.old_count, hunk.heading, tuple(lines)
    )


MAX_PATCH = 256 * 1024 * 1024

_CONTEXT_DIFF = re.compile(rb"\*\*\* \d+(,\d+)? \*\*\*\*$")
_SUBMODULE = re.compile(rb"Submodule .+ [0-9a-f]{7,}\.\.\.?[0-9a-f]{7,}")
_BINARY = b"GIT binary patch"
_COMBINED = (b"diff --cc ", b"diff --combined ")
_SIGNATURES = (b"-- \n", b"--\n")
_NO_SIGNATURE = (b"+", b"-", b" ", b"@", b"\\", b"diff ", b"Index: ")


def parse_patch(raw: bytes, *, name: str, strip: int = 1) -> Patch:
    """Read a patch file, which may have no diff; `strip` is the number of folders to remove.

    Raises PatchmgrError "bad-patch" or "unsafe-path" if the file is inconsistent or a path is
    unsafe.
    """
    if len(raw) > MAX_PATCH:
        raise PatchmgrError("bad-patch", f"patch {shown(name)} is larger than {MAX_PATCH} bytes")
    lines = unmangled_lines(raw)
    start = _first_diff_line(lines)
    reader = PatchReader(name, lines, start, strip=strip)
    _check_header(reader)
    files = _read_files(reader)
    raw_lines = split_lines(raw)
    first = sum(map(len, raw_lines[:start]))
    end = first + sum(map(len, raw_lines[start : reader.at]))
    text = read_header(b"".join(lines[:start]), name=name)
    return Patch(
        name=name,
        raw=raw,
        header=raw[:first],
        diff=raw[first:end],
        subject=text.subject,
        message=text.message,
        author=text.author,
        files=files,
        is_mailbox=text.is_mailbox,
        fields=text.fields,
    )


def parse_listed(raw: bytes, line: SeriesLine) -> Patch:
    """Read a patch file with the -pN and -R options of its line in the series file."""
    assert line.name is not None
    patch = parse_patch(raw, name=line.name, strip=line.strip)
    return reversed_patch(patch) if line.is_reversed else patch


def _first_diff_line(lines: list[bytes]) -> int:
    """Return the index of the diff's first line, or the number of lines if there is no diff."""
    above = None
    for at, line in enumerate(lines):
        if line.startswith((TITLE, *_COMBINED)):
            return at
        if line.startswith(b"--- ") and at + 1 < len(lines) and lines[at + 1].startswith(b"+++ "):
            return at if above is None else above
        if not line.startswith(NOISE):
            above = None
        elif above is None:
            above = at
    return len(lines)


def _check_header(reader: PatchReader) -> None:
    """Refuse a header that contains a hunk, a context diff or a notice about a binary file."""
    for at, line in enumerate(reader.lines[: reader.at]):
        if is_hunk_head(line):
            raise reader.fault("the hunk has no --- and +++ lines above it", at=at)
        if line.rstrip(b"\n") == _BINARY:
            raise reader.fault("the binary patch has no diff --git line above it", at=at)
        if _CONTEXT_DIFF.match(line):
            hint = "make a unified diff with diff -u"
            raise reader.fault("context diffs are not supported", hint, at=at)
        if _is_binary_notice(line):
            raise reader.fault(
                "the content of the binary file is missing", "use git diff --binary", at=at
            )
        if at == 0 and _SUBMODULE.match(line):  # below that, a message may have such a line
            hint = "use git diff --submodule=short"
            raise reader.fault(
                "the diff does not give the submodule's full commit ids", hint, at=at
            )


def _is_binary_notice(line: bytes) -> bool:
    return line.startswith((b"Binary files ", b"Files ")) and line.endswith(b" differ\n")


def is_in_diff(line: bytes) -> bool:
    """Return whether git would take a line of a message for the message's end or for a diff."""
    is_marker = is_cut(line) or line.startswith(b"--- ") or is_hunk_head(line) or line == _BINARY
    return is_marker or bool(_CONTEXT_DIFF.match(line)) or _is_binary_notice(line + b"\n")


def _read_files(reader: PatchReader) -> tuple[FilePatch, ...]:
    """Read all sections and leave the reader at the signature, or at the end."""
    files, sections = list[FilePatch](), Sections()
    while reader.line is not None and reader.line not in _SIGNATURES:
        if reader.line == b"\n":
            reader.at += 1
            continue
        start = reader.at
        files.append(_read_section(reader))
        problem = sections.add(files[-1])
        if problem is not None:
            raise reader.fault(problem, at=start)
    for at in range(reader.at + 1, len(reader.lines)):
        if reader.lines[at].startswith(_NO_SIGNATURE):
            raise reader.fault("there is a diff after the mail signature", at=at)
    return tuple(files)


def _read_section(reader: PatchReader) -> FilePatch:
    if reader.starts(TITLE):
        return read_git_section(reader)
    if reader.starts(*_COMBINED):
        raise reader.fault(
            "the diff of a merge commit is not supported", "export the merged commits one by one"
        )
    skip_noise(reader)
    if reader.starts(b"--- "):
        return read_plain_section(reader)
    if _is_binary_notice(reader.line or b""):
        raise reader.fault("the content of the binary file is missing", "use git diff --binary")
    hint = "the counts of the hunk above may be wrong"
    raise reader.fault("the line is not part of any file's diff", hint)
