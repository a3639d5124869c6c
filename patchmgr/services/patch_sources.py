"""Read patches for `import`: from files, other tools' folders, commits, stacks or upstream."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from patchmgr.engines.series.linear import Changes
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.header_edits import with_fields, with_origin
from patchmgr.formats.mboxes import is_talk, read_tags, split_mbox
from patchmgr.formats.patch_package import PackagePatch, names_folder, read_name
from patchmgr.formats.series_files import parse_series, renamed, with_ended_lines
from patchmgr.formats.shown import shown
from patchmgr.model.series import SeriesFile, SeriesLine
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.fast_import import Draft, write_commits
from patchmgr.plumbing.forks import (
    commit_dates,
    find_stack,
    own_range,
    parents_of,
    range_mails,
    range_patches,
    told_by,
    tree_changes,
)
from patchmgr.plumbing.git_process import text
from patchmgr.plumbing.git_upstream import GitUpstream
from patchmgr.plumbing.history import commit_of_pull, is_ancestor
from patchmgr.plumbing.outputs import read_named
from patchmgr.plumbing.scratch_repository import Scratch
from patchmgr.services.session import Session

SUFFIXES = (".patch", ".diff", ".eml", ".mbox", ".mbx")
LARGEST_PATCH = 1 << 30

_NUMBER = re.compile(r"^\d{4,}-")
# Where a source tree keeps its patches: with quilt, and in a Debian package.
_BELOW = ("patches", "debian/patches")


class SourcePatch(Struct, frozen=True):
    """A patch in a source: its bytes, and its name in error messages (`label`).

    `wish` is the requested file name; if it is None, the name is made from the subject. `line` is
    the patch's line in a series file, or None if there is none. `strip` is the N of -pN: the number
    of leading directories to remove from the patch's paths. `commit` is the id of the patch's
    commit, or None.
    """

    raw: bytes
    label: str
    wish: str | None = None
    line: SeriesLine | None = None
    strip: int = 1
    is_reversed: bool = False
    commit: str | None = None

    def listed(self, name: str) -> SeriesLine:
        """Return a line for a series file that lists this patch under `name`."""
        if self.line is not None and self.line.name is not None:
            return renamed(SeriesFile((self.line,)), self.line.name, name).lines[0]
        strip = "" if self.strip == 1 else f" -p{self.strip}"
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
        mails = split_mbox(_not_empty(source))
        package = read_name(source.name)
        if len(mails) == 1 and package is not None and names_folder(mails[0], package.folder):
            yield self._of_package(source.name, mails[0], package)
        elif len(mails) == 1 and source.suffix in (".patch", ".diff"):
            wish = _NUMBER.sub("", source.name)
            yield SourcePatch(mails[0], source.name, wish, strip=self._strip(1))
        else:
            yield from self._read_mails(source, mails)

    def _strip(self, usual: int) -> int:
        return usual if self.strip is None else self.strip

    def _read_mails(self, source: Path, mails: Sequence[bytes]) -> Iterator[SourcePatch]:
        many = len(mails) > 1
        for number, mail in enumerate(mails, 1):
            label = f"{source.name} mail {number}" if many else source.name
            if many and is_talk(mail) and b"\n--- " not in mail and b"\ndiff --git " not in mail:
                self.say(f"Left out {label}: a cover letter or a reply, without a diff.")
            else:
                yield SourcePatch(mail, label, strip=self._strip(1))

    def _read_folder(self, folder: Path) -> Iterator[SourcePatch | SeriesLine]:
        """Yield the patches in a folder's series file; without one, all patch files in order."""
        place = next((p for p in _places(folder) if (p / "series").is_file()), None)
        if place is not None:
            for line in with_ended_lines(parse_series(read_source_file(place / "series"))).lines:
                yield line if line.name is None else self._listed(place, line, line.name)
            return
        place = next((p for p in _places(folder) if _patch_files(p)), folder)
        files = _patch_files(place)
        packages = [read_name(path.name) for path in files]
        if files and all(packages):
            _check_one_package(place, [p for p in packages if p is not None])
            files = sorted(files, key=_number_of)
        for path in files:
            yield from self.read(path)

    def _listed(self, folder: Path, line: SeriesLine, name: str) -> SourcePatch:
        return SourcePatch(_not_empty(folder / name), name, name, line, line.strip)

    def _of_package(self, name: str, raw: bytes, package: PackagePatch) -> SourcePatch:
        strip = self._strip(package.strip)
        line = parse_series(f"{name} -p{strip}\n".encode("utf-8", "surrogateescape")).lines[0]
        return SourcePatch(raw, name, name, line, strip)


def _places(folder: Path) -> tuple[Path, ...]:
    return (folder, *(folder / below for below in _BELOW))


def _patch_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(p for p in folder.iterdir() if p.suffix in SUFFIXES and p.is_file())


def _number_of(path: Path) -> tuple[int, str]:
    package = read_name(path.name)
    return package.number if package is not None else 0, path.name


def _check_one_package(folder: Path, found: Sequence[PackagePatch]) -> None:
    packages = sorted({" in ".join(reversed(patch.packages)) for patch in found})
    if len(packages) > 1:
        listed = shown(", ".join(packages))
        message = f"{folder} has patches for {len(packages)} npm packages: {listed}"
        raise UsageError(message, "name the patch files of the package that you follow")


def read_source_file(path: Path) -> bytes:
    """Return the content of a file that the user named.

    Raises PatchmgrError "usage" if the file cannot be read, and "bad-patch" if it is too large.
    """
    if path.exists() and path.stat().st_size > LARGEST_PATCH:
        raise PatchmgrError("bad-patch", f"{path} is larger than {LARGEST_PATCH} bytes")
    return read_named(path)


def _not_empty(path: Path) -> bytes:
    raw = read_source_file(path)
    if not raw.strip():
        raise UsageError(f"{path} is empty")
    return raw


def read_range(repository: Path, commits: str, say: Callable[[str], None]) -> list[SourcePatch]:
    """Return the commits of a range as patches.

    If `gbp pq` wrote a patch name into the message of a commit, that name is used.
    """
    mails, dates = range_patches(repository, commits)
    if len(mails) < len(dates):
        left_out = len(dates) - len(mails)
        counted = f"{left_out} of {len(dates)} commits"
        say(f"Left out {counted} in {commits}, because they are merges or change nothing.")
    return found_in(mails, commits, say, dates)


def found_in(
    mails: Sequence[bytes], commits: str, say: Callable[[str], None], dates: Mapping[str, str]
) -> list[SourcePatch]:
    """Return the mails of a range of commits as patches, with any names that `gbp pq` recorded.

    `dates` maps commit ids to committer dates. Each header gets the id and the date of its commit.
    """
    found: list[SourcePatch] = []
    for at, mail in enumerate(mails, 1):
        tagged = read_tags(mail)
        if tagged.is_ignored:
            say(f"Left out commit {at} in {commits}, because its message says Gbp-Pq: Ignore.")
        else:
            raw, label = with_origin(tagged.raw, dates), f"commit {at} of {commits}"
            found.append(SourcePatch(raw, label, tagged.wish, commit=mail[5:45].decode()))
    return found


def read_stack(
    repository: Path, branch: str | None, say: Callable[[str], None]
) -> list[SourcePatch]:
    """Return the applied patches of a branch's StGit stack, under their StGit names."""
    git_dir, stack = find_stack(repository, branch)
    for names, what in ((stack.unapplied, "not applied"), (stack.hidden, "hidden")):
        if names:
            listed = shown(", ".join(name for name, _ in names))
            say(f"Left out patches of the stack that are {what}: {listed}")
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
    """Return a pull request of the series' upstream, open or merged, as one patch.

    `given` is the number or the URL of the pull request. If upstream merged it as one commit, the
    patch is that commit. Raises PatchmgrError "usage" for a URL in another repository, or if the
    pin already contains the pull request, and "unknown-ref" if upstream has no such pull request.
    """
    upstream = git_upstream_of(session, record)
    match = _PULL.fullmatch(given.strip())
    if match is None:
        raise UsageError(f"{shown(given)} is not the number or URL of a pull request")
    home = (
        (upstream.url.removesuffix(".git").rstrip("/")) if upstream.url.startswith("http") else None
    )
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
    first = told_by(upstream.reader, commits[0])
    subject, _, body = text(first.message).partition("\n")
    if len(commits) > 1:
        body = "".join(f"* {told_by(upstream.reader, each).subject}\n" for each in commits)
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
    """Return the git repository of a series' upstream.

    Raises PatchmgrError "usage" if the upstream has no git repository.
    """
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
    trees = upstream.reader.tree_of(base), upstream.reader.tree_of(head)
    (changes,) = tree_changes(upstream.store, [trees])
    upstream.try_fetch_objects({e.blob for pair in changes.values() for e in pair if e is not None})
    return changes
