"""Read patches for `import`: from files, other tools' folders, commits, stacks or upstream."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import shlex
import tempfile
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.header_edits import with_fields, with_origin
from patchmgr.formats.mboxes import is_talk, needs_decoding, read_tags, split_mbox
from patchmgr.formats.patch_files import parse_patch, reversed_patch
from patchmgr.formats.patch_package import PackagePatch, names_folder, read_name
from patchmgr.formats.rewriting import Rewritten, rewritten
from patchmgr.formats.series_files import parse_series, renamed, with_ended_lines
from patchmgr.formats.shown import shown
from patchmgr.model.patch import Patch
from patchmgr.model.series import SeriesFile, SeriesLine
from patchmgr.model.snapshot import Changes
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.forks import (
    commit_dates,
    find_stack,
    own_range,
    parents_of,
    range_mails,
    range_patches,
    read_commit_text,
)
from patchmgr.plumbing.git_process import output, text
from patchmgr.plumbing.git_upstream import GitUpstream
from patchmgr.plumbing.history import changes_between, commit_of_pull, is_ancestor
from patchmgr.plumbing.outputs import read_named
from patchmgr.plumbing.scratch_repository import Draft, Scratch, write_commits
from patchmgr.services.session import Session

SUFFIXES = (".patch", ".diff", ".eml", ".mbox", ".mbx")
COMPRESSED: Mapping[str, Callable[[BinaryIO], io.BufferedIOBase]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}
LARGEST_PATCH = 1 << 30
_LISTED = 9  # the most names in a message

_NUMBER = re.compile(r"^\d{4,}-")
_IS_MAIL_OR_DIFF = re.compile(
    rb"^diff --git |^--- .*\n\+\+\+ "
    rb"|\A\s*(?:From [0-9a-f]{40}|From \S+ \w{3} \w{3} )"
    rb"|\A\s*(?:from|date|subject|to|message-id|return-path|received):",
    re.IGNORECASE | re.MULTILINE,
)
# Where a source tree keeps its patches: with quilt, and in a Debian package.
_BELOW = ("patches", "debian/patches")


class SourcePatch(Struct, frozen=True):
    """A patch to import, as it was read from a file, a mail or a repository."""

    raw: bytes
    label: str  # its name in error messages
    wish: str | None = None  # the file name to give it; None makes one from the subject
    line: SeriesLine | None = None  # its line in a series file, if any
    # N of -pN, leading directories to remove from its paths; None derives it from the paths
    strip: int | None = 1
    is_reversed: bool = False
    commit: str | None = None  # the id of its commit, if any

    def listed(self, name: str) -> SeriesLine:
        """Return a line for a series file that lists this patch under `name`."""
        if self.line is not None and self.line.name is not None:
            return renamed(SeriesFile((self.line,)), self.line.name, name).lines[0]
        strip = "" if self.strip in (None, 1) else f" -p{self.strip}"
        back = " -R" if self.is_reversed else ""
        raw = f"{name}{strip}{back}\n".encode("utf-8", "surrogateescape")
        return parse_series(raw).lines[0]


class Reading(Struct, frozen=True):
    """How to read a source; `strip` is the N of the user's -pN, and `say` prints a message."""

    say: Callable[[str], None]
    strip: int | None = None

    def read(self, source: Path) -> Iterator[SourcePatch | SeriesLine]:
        """Yield the patches of a file or folder in order, and the comments of its series file."""
        if source.is_dir():
            yield from self._read_folder(source)
            return
        mails = _mails_of(_not_empty(source))
        package = read_name(source.name)
        if len(mails) == 1 and package is not None and names_folder(mails[0], package.folder):
            yield self._of_package(source.name, mails[0], package)
        elif len(mails) == 1 and _bare_name(source.name).endswith((".patch", ".diff")):
            wish = _NUMBER.sub("", _bare_name(source.name))
            yield self._decoded(SourcePatch(mails[0], source.name, wish, strip=self.strip))
        else:
            yield from self._read_mails(source.name, mails)

    def _read_mails(
        self, name: str, mails: Sequence[bytes], line: SeriesLine | None = None
    ) -> Iterator[SourcePatch]:
        many = len(mails) > 1
        if many and (line is not None or _bare_name(name).endswith((".patch", ".diff"))):
            self.say(f"{shown(name)} has {len(mails)} mails; each becomes a separate patch.")
        strip = self.strip if line is None else line.strip
        for number, mail in enumerate(mails, 1):
            label = f"{name} mail {number}" if many else name
            if many and is_talk(mail) and b"\n--- " not in mail and b"\ndiff --git " not in mail:
                self.say(f"Left out {label}: a cover letter or a reply, without a diff.")
            else:
                yield self._decoded(SourcePatch(mail, label, line=line, strip=strip))

    def _decoded(self, patch: SourcePatch) -> SourcePatch:
        if patch.raw.startswith(BOM_UTF8):
            self.say(f"Left out the byte order mark of {shown(patch.label)}, as git am does.")
            patch = replace(patch, raw=patch.raw.removeprefix(BOM_UTF8))
        if not needs_decoding(patch.raw):
            return patch
        self.say(f"Decoded {shown(patch.label)}, as git am does.")
        return replace(patch, raw=_decoded_mail(patch.raw))

    def _read_folder(self, folder: Path) -> Iterator[SourcePatch | SeriesLine]:
        """Yield the patches that a folder's series file lists or, without one, all patch files."""
        place = next((p for p in _places(folder) if (p / "series").is_file()), None)
        if place is not None:
            raw = read_source_file(place / "series")
            names = [path.name for path in _patch_files(place)]
            unlisted = [name for name in names if os.fsencode(name) not in raw]
            self._say_left_out("Left out, because the series file does not list them", unlisted)
            for line in with_ended_lines(parse_series(raw)).lines:
                if line.name is None:
                    yield line
                else:
                    yield from self._listed(place, line, line.name)
            return
        place = next((p for p in _places(folder) if _patch_files(p)), folder)
        files = _patch_files(place)
        packages = [read_name(path.name) for path in files]
        if files and all(packages):
            _check_one_package(place, [p for p in packages if p is not None])
            files = sorted(files, key=_number_of)
        folders = sorted(path for path in place.iterdir() if _patch_files(path))
        self._say_left_out("Left out these folders of patches", [path.name for path in folders])
        for path in files:
            if not self._is_empty(path):
                yield from self.read(path)

    def _say_left_out(self, what: str, names: Sequence[str]) -> None:
        if names:
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            self.say(f"{what}: {shown(', '.join(names[:_LISTED]))}{more}")

    def _is_empty(self, path: Path) -> bool:
        """Return whether a patch file is empty, and tell the user if it is."""
        is_empty = _is_blank(read_source_file(path))
        if is_empty:
            self.say(f"Left out {shown(path.name)}, which is empty.")
        return is_empty

    def _listed(self, folder: Path, line: SeriesLine, name: str) -> Iterator[SourcePatch]:
        if self._is_empty(folder / name):
            return
        mails = _mails_of(_not_empty(folder / name))
        if len(mails) > 1:
            yield from self._read_mails(name, mails, line)
        else:
            wish = _bare_name(name)
            yield self._decoded(SourcePatch(mails[0], name, wish, line, line.strip))

    def _of_package(self, name: str, raw: bytes, package: PackagePatch) -> SourcePatch:
        strip = package.strip if self.strip is None else self.strip
        line = parse_series(f"{name} -p{strip}\n".encode("utf-8", "surrogateescape")).lines[0]
        return SourcePatch(raw, name, name, line, strip)


def _places(folder: Path) -> tuple[Path, ...]:
    return (folder, *(folder / below for below in _BELOW))


def _patch_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    named = (path for path in folder.iterdir() if _bare_name(path.name).endswith(SUFFIXES))
    return sorted(path for path in named if path.is_file())


def _bare_name(name: str) -> str:
    """Return the name of a patch file without the suffix of a compressed file, such as .gz."""
    stem, dot, suffix = name.rpartition(".")
    return stem if dot + suffix in COMPRESSED else name


def _mails_of(raw: bytes) -> list[bytes]:
    """Return the mails in a file; text above the first mail counts as part of that mail."""
    mails = split_mbox(raw)
    if len(mails) > 1 and not _IS_MAIL_OR_DIFF.search(mails[0]):
        mails[:2] = [mails[0] + mails[1]]
    return mails


def _number_of(path: Path) -> tuple[int, str]:
    package = read_name(path.name)
    return package.number if package is not None else 0, path.name


def _check_one_package(folder: Path, found: Sequence[PackagePatch]) -> None:
    packages = sorted({" in ".join(reversed(patch.packages)) for patch in found})
    if len(packages) > 1:
        listed = shown(", ".join(packages))
        message = f"{folder} has patches for {len(packages)} npm packages: {listed}"
        raise UsageError(message, "name the patch files of one package, not the folder")


def read_source_file(path: Path) -> bytes:
    """Return a file that the user named; raise "usage" if unreadable, "bad-patch" if too large."""
    raw = read_named(path, limit=LARGEST_PATCH)
    if path.suffix in COMPRESSED:
        try:
            with COMPRESSED[path.suffix](io.BytesIO(raw)) as file:
                raw = file.read(LARGEST_PATCH + 1)
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as fault:
            raise PatchmgrError("bad-patch", f"{path} cannot be decompressed: {fault}") from fault
    if len(raw) > LARGEST_PATCH:
        raise PatchmgrError("bad-patch", f"{path} is larger than {LARGEST_PATCH} bytes")
    return raw


_BY_HAND = "if `patch` applies it to a checkout of the pin, import the output of: git diff --binary"


class _Read(Struct, frozen=True):
    """A patch that could be read: its parts, its -pN, and notes on what had to be rewritten."""

    parts: tuple[tuple[SourcePatch, Patch], ...]
    strip: int
    notes: tuple[str, ...] = ()

    @property
    def has_old(self) -> bool:
        """Return whether the patch changes a file that already existed."""
        return any(file.old_path for _, patch in self.parts for file in patch.files)


def readable(
    item: SourcePatch, exists: Callable[[str], bool], notes: list[str]
) -> Sequence[tuple[SourcePatch, Patch]]:
    """Return the parts of a patch (usually one), if necessary read with another -pN or rewritten.

    `exists` says whether a path is a file in the state that the patch applies to. Adds to `notes`
    what was changed. Raises PatchmgrError if the patch cannot be read.
    """
    faults: list[PatchmgrError] = []
    possible: _Read | None = None
    for read in _readings(item, exists):
        if isinstance(read, PatchmgrError):
            faults.append(read)
        elif item.strip is not None or all(_finds(patch, exists) for _, patch in read.parts):
            possible = read
            break
        else:
            possible = possible or read
    if possible is None:
        # The error from rewriting the patch says more than the error from reading it as it is.
        fault = next((fault for fault in faults if fault.kind == "unsafe-path"), faults[-1])
        leave = f"to import the others: --without {shlex.quote(shown(item.label))}"
        hint = leave if fault.kind == "unsafe-path" else _BY_HAND
        raise PatchmgrError(fault.kind, fault.message, *fault.hints, hint)
    if possible.notes:
        changes = "; ".join(possible.notes)
        notes.append(f"{shown(item.label)} was rewritten without changing its effect: {changes}.")
    if item.strip is None and possible.strip != 1:
        notes.append(f"{shown(item.label)} was read with -p{possible.strip}, as its paths require.")
    return possible.parts


def _readings(item: SourcePatch, exists: Callable[[str], bool]) -> Iterator[_Read | PatchmgrError]:
    """Yield a patch, or an error, for each possible way to read it, the plainest first."""
    usual = 1 if item.strip is None else item.strip
    plain = _reading(item, usual)
    yield plain
    is_read = isinstance(plain, _Read)
    # -p1 is usual; -p0 may be right as well, -p2 and -p3 only if it fails
    others: tuple[int, ...] = (0,) if is_read else (0, 2, 3)
    if item.strip is not None or (not isinstance(plain, _Read) and plain.kind == "unsafe-path"):
        others = ()
    for strip in others:
        read = _reading(item, strip)
        if isinstance(read, _Read) and (read.has_old or (strip == 0 and not is_read)):
            yield read
    if not is_read:
        yield _reading(item, usual, exists)
        for strip in others[:1]:
            read = _reading(item, strip, exists)
            if isinstance(read, _Read) and read.has_old:
                yield read


def _reading(
    item: SourcePatch, strip: int, exists: Callable[[str], bool] | None = None
) -> _Read | PatchmgrError:
    """Read a patch with -pN, after rewriting it if `exists` is given; return any error."""
    try:
        new = Rewritten((item.raw,), ())
        if exists is not None:
            new = rewritten(item.raw, name=item.label, strip=strip, exists=exists)
        patches = [_parsed(item, raw, strip) for raw in new.parts]
    except PatchmgrError as fault:
        return fault
    items = [replace(item, raw=raw, strip=strip) for raw in new.parts]
    return _Read(tuple(zip(items, patches, strict=True)), strip, new.notes)


def _parsed(item: SourcePatch, raw: bytes, strip: int) -> Patch:
    patch = parse_patch(raw, name=item.label, strip=strip)
    is_reversed = item.is_reversed or (item.line is not None and item.line.is_reversed)
    return reversed_patch(patch) if is_reversed else patch


def _finds(patch: Patch, exists: Callable[[str], bool]) -> bool:
    """Return whether all files that a patch modifies, moves or deletes exist."""
    return all(
        file.old_path is None or exists(file.old_path)
        for file in patch.files
        # A file whose only hunk is at line 0 is new, or was empty.
        if [(hunk.old_start, hunk.old_count) for hunk in file.hunks] != [(0, 0)]
    )


def _is_blank(raw: bytes) -> bool:
    return not raw.removeprefix(BOM_UTF8).strip()


def _not_empty(path: Path) -> bytes:
    raw = read_source_file(path)
    if _is_blank(raw):
        raise UsageError(f"{path} is empty")
    if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        hint = "write it with: git diff --output=FILE (not with > in PowerShell)"
        raise PatchmgrError("bad-patch", f"{path} is in UTF-16", hint)
    return raw


def read_range(repository: Path, commits: str, say: Callable[[str], None]) -> list[SourcePatch]:
    """Return the commits of a range as patches, with the names that `gbp pq` recorded, if any."""
    mails, dates = range_patches(repository, commits)
    if len(mails) < len(dates):
        left_out = len(dates) - len(mails)
        counted = f"{left_out} of {len(dates)} commits"
        say(f"Left out {counted} in {commits}: merges, and commits that change nothing.")
    return found_in(mails, commits, say, dates)


def found_in(
    mails: Sequence[bytes], commits: str, say: Callable[[str], None], dates: Mapping[str, str]
) -> list[SourcePatch]:
    """Return the mails of a range as patches, with the names that `gbp pq` recorded, if any.

    `dates` maps commit ids to committer dates, which go into the headers.
    """
    found: list[SourcePatch] = []
    for at, mail in enumerate(mails, 1):
        tagged = read_tags(mail)
        if tagged.is_ignored:
            say(f"Left out commit {at} of {commits}, because its message says `Gbp-Pq: Ignore`.")
        else:
            raw, label = with_origin(tagged.raw, dates), f"commit {at} of {commits}"
            found.append(SourcePatch(raw, label, tagged.wish, commit=mail[5:45].decode()))
    return found


def read_stack(
    repository: Path, branch: str | None, say: Callable[[str], None]
) -> list[SourcePatch]:
    """Return the applied patches of a branch's StGit stack, under their StGit names."""
    git_dir, stack = find_stack(repository, branch)
    for names, what in ((stack.unapplied, "unapplied"), (stack.hidden, "hidden")):
        if names:
            listed = shown(", ".join(name for name, _ in names))
            say(f"These {what} patches of the stack were left out: {listed}")
    found: list[SourcePatch] = []
    dates = commit_dates(git_dir, *(commit for _, commit in stack.applied))
    for name, commit in stack.applied:
        mails = range_mails(git_dir, "-1", commit)
        for mail in mails:
            raw = with_origin(mail, dates)
            found.append(SourcePatch(raw, name, name, commit=commit))
        if not mails:
            say(f"Left out a patch of the stack that changes nothing: {shown(name)}")
    return found


_PULL = re.compile(
    r"(?:#?|(?P<repository>https?://[^\s/]+/\S+?)/(?:-/)?(?:pull|merge_requests)/)(?P<number>[0-9]{1,9})"
)


def read_commit(session: Session, record: SeriesRecord, name: str) -> SourcePatch:
    """Return a commit of the series' upstream as a patch with `Origin: backport`.

    Raises PatchmgrError "usage" for a merge, a root commit, or a commit that changes nothing, and
    "unknown-ref" if upstream has no such commit.
    """
    upstream = git_upstream_of(session, record)
    return _of_commit(upstream, upstream.resolve(name).commit)


def read_pull(session: Session, record: SeriesRecord, given: str) -> SourcePatch:
    """Return a pull request of the series' upstream (its number or URL) as one patch.

    If upstream merged it as one commit, the patch is that commit. Raises PatchmgrError
    "unknown-ref" if the pull request does not exist, and "usage" if it is in another repository or
    in the pin, or changes nothing.
    """
    upstream = git_upstream_of(session, record)
    match = _PULL.fullmatch(given.strip())
    if match is None:
        raise UsageError(f"{shown(given)} is not the number or URL of a pull request")
    url = upstream.url.removesuffix(".git").rstrip("/")
    home = url if url.startswith("http") else None
    if match["repository"] is not None and match["repository"] != home:
        raise UsageError(f"{shown(given)} does not belong to the repository {upstream.url}")
    number = int(match["number"])
    tip = upstream.fetch()
    landed = commit_of_pull(upstream.store, record.pin.commit, tip, number)
    if landed is not None:
        return _of_commit(upstream, landed[0])
    head = upstream.pull(number)
    known = commit_of_pull(upstream.store, head, record.pin.commit, number)
    if known is not None or is_ancestor(upstream.store, head, record.pin.commit):
        which = f": {known[0][:12]}" if known is not None else ""
        raise UsageError(f"the pin already contains pull request {number}{which}")
    base, commits = own_range(upstream.store, head, tip)
    if not commits:
        raise UsageError(f"pull request {number} has no commits of its own")
    where = f"#{number}" if home is None else f"{home}/pull/{number}"
    fields = {"Origin": f"other, {head}", "Forwarded": where}
    label = f"pull request {number}"
    changes = _changes(upstream, base, head)
    first = read_commit_text(upstream.reader, commits[0])
    subject, _, body = text(first.message).partition("\n")
    if len(commits) > 1:
        body = "".join(f"* {read_commit_text(upstream.reader, each).subject}\n" for each in commits)
    message = f"{subject} (#{number})\n\n{body.strip()}".strip() + "\n"
    with Scratch([upstream.store]) as scratch:
        after = {path: entry for path, (_, entry) in changes.items()}
        draft = Draft(first.author, message.encode("utf-8", "surrogateescape"), after)
        (made,) = write_commits(scratch, base, [draft])
        mails = range_mails(scratch.git_dir, "-1", made)
    if not mails:
        raise UsageError(f"pull request {number} changes nothing")
    return SourcePatch(with_fields(mails[0], fields), label)


def git_upstream_of(session: Session, record: SeriesRecord) -> GitUpstream:
    """Return the git repository of a series' upstream, or raise a "usage" error."""
    entry = session.workspace.upstream(record.upstream)
    if entry.git is None:
        hint = f"add a git repository: patchmgr upstream add {entry.name} --git URL"
        raise UsageError(f"the upstream {entry.name} has no git repository", hint)
    upstream = session.open_upstream(entry, tracks="git")
    assert isinstance(upstream, GitUpstream)
    return upstream


def _of_commit(upstream: GitUpstream, commit: str) -> SourcePatch:
    before = parents_of(upstream.store, commit)
    if len(before) != 1:
        what = "a merge" if before else "a root commit"
        raise UsageError(f"{commit[:12]} is {what}, which cannot be imported as a patch")
    _changes(upstream, before[0], commit)
    mails = range_mails(upstream.store, "-1", commit)
    if not mails:
        raise UsageError(f"{commit[:12]} changes nothing")
    mail = with_origin(mails[0], commit_dates(upstream.store, commit))
    raw = with_fields(mail, {"Origin": f"backport, {commit}"})
    return SourcePatch(raw, f"commit {commit[:12]}", commit=commit)


def _changes(upstream: GitUpstream, base: str, head: str) -> Changes:
    """Return the changes between two commits, after fetching their contents into the store."""
    changes = changes_between(upstream.store, base, head)
    upstream.try_fetch_objects({e.blob for pair in changes.values() for e in pair if e is not None})
    return changes


_UTF8 = (
    b"MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n"
)


def _decoded_mail(mail: bytes) -> bytes:
    """Return a mail as plain text in UTF-8, with the fields that `git am` reads."""
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
