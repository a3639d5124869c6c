"""A package upstream: releases on the configured index, imported into the store on demand."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from packaging.version import Version

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.model.progress import Progress
from patchmgr.model.upstream import Pin, Resolved, Upstream
from patchmgr.plumbing import git_process
from patchmgr.plumbing.diffs import Changes, release_changes
from patchmgr.plumbing.history import ReleaseHistory
from patchmgr.plumbing.objects import ObjectReader
from patchmgr.plumbing.stores import cache_folder, references
from patchmgr.plumbing.upstream_kinds import OpenUpstream, nearest

if TYPE_CHECKING:
    from patchmgr.plumbing.package_index import Release

RELEASES = "refs/upstream/releases/"
NEWEST = "refs/upstream/newest"
_VERSIONS = "patchmgr-versions"  # a line each: the version, and when it was published, if known


def imported(store: Path, version: str, folder: str = RELEASES) -> Resolved | None:
    """Return the imported release of this version, or None if it is not in the store."""
    form = "--format=%(objectname)%0a%(contents)"
    shown = git_process.ask(store, "for-each-ref", form, folder + version)
    commit, _, message = shown.partition("\n")
    if not commit:
        return None
    trailers = dict(line.split(": ", 1) for line in git_process.lines(message) if ": " in line)
    return Resolved(version, commit, trailers["Archive"], trailers["Sha256"], version)


def newest_ref(store: Path) -> str | None:
    """Return the ref of the newest state as of the last fetch, or None before the first fetch."""
    return git_process.answer(store, "symbolic-ref", "--quiet", NEWEST)


class PackageUpstream(OpenUpstream):
    """An upstream that is a package on an index; `reader` reads its store."""

    def __init__(self, upstream: Upstream, reader: ObjectReader, progress: Progress) -> None:
        super().__init__(upstream, reader, progress)
        assert upstream.package is not None
        self._package = upstream.package
        self._listed: tuple[Release, ...] | None = None
        self._known: Mapping[str, str] | None = None
        self._read = cache(lambda version, commit: imported(self.store, version))
        self._named_commit = cache(lambda v: (self.resolve(v).commit, f"{self._package} {v}"))

    def releases(self) -> tuple[Release, ...]:
        """Return the releases on the index in version order; the index is read once per run."""
        if self._listed is None:
            from patchmgr.plumbing import index_session, package_index

            settings = index_session.read_settings(os.environ)
            self._listed = package_index.list_releases(self._package, settings)
            beside = self.store / f"{_VERSIONS}.{os.getpid()}"
            beside.write_text("".join(f"{r.version} {r.published or ''}\n" for r in self._listed))
            beside.replace(self.store / _VERSIONS)
        return self._listed

    def _commits(self) -> Mapping[str, str]:
        """Map the version of each release in the store to its commit."""
        if self._known is None:
            self._known = references(self.store, RELEASES)
        return self._known

    def _stored(self, version: str) -> Resolved | None:
        commit = self._commits().get(version)
        return None if commit is None else self._read(version, commit)

    def fetch(self, wanted: Sequence[str] = ()) -> str:
        """Import the newest final release and the releases in `wanted`; return the newest's commit.

        Raises PatchmgrError "unknown-ref" if there is no final release, or if a release in `wanted`
        is unknown.
        """
        newest = newest_final(self.releases())
        if newest is None:
            raise PatchmgrError("unknown-ref", f"{self._package} has no final release")
        found = self._stored(newest.version) or self._import(newest)
        git_process.output(["symbolic-ref", NEWEST, RELEASES + newest.version], git_dir=self.store)
        for ref in wanted:
            self.resolve(ref)
        return found.commit

    def resolve(self, ref: str) -> Resolved:
        """Return the release with this version or commit; import it if it is not in the store.

        Raises PatchmgrError "unknown-ref", with the nearest versions as a hint.
        """
        version = self._known_version(ref) or self._listed_version(ref)
        found = self._stored(version)
        if found is None:
            found = self._import(next(r for r in self.releases() if r.version == version))
        return replace(found, ref=f"v{version}")

    def _known_version(self, ref: str) -> str | None:
        if ref == "upstream/main":
            newest = newest_ref(self.store)
            return None if newest is None else newest.removeprefix(RELEASES)
        known = self._commits()
        for name in (ref, ref.removeprefix("v")):
            if name in known:
                return name
        found = (v for v, commit in known.items() if len(ref) >= 4 and commit.startswith(ref))
        return next(found, None)

    def _listed_version(self, ref: str) -> str:
        releases = self.releases()
        if ref == "upstream/main":
            newest = newest_final(releases)
            if newest is not None:
                return newest.version
        for release in releases:
            if release.version in (ref, ref.removeprefix("v")):
                return release.version
        names = [f"v{release.version}" for release in reversed(releases)]
        hints = nearest(f"v{ref.removeprefix('v')}", names)
        raise PatchmgrError("unknown-ref", f"{self._name} has no release {ref}", *hints)

    def _import(self, release: Release) -> Resolved:
        from patchmgr.plumbing import downloads, index_session, releases

        settings, said = index_session.read_settings(os.environ), self._progress
        folder = cache_folder() / "archives"
        path = downloads.download(release.archive, folder, settings, progress=said)
        releases.import_release(self.store, self._package, release, path, progress=said)
        self._known = None
        found = self._stored(release.version)
        assert found is not None
        return found

    def bring_pin(self, pin: Pin) -> str:
        """Import the pinned release, and return its version.

        Raises PatchmgrError "checksum-mismatch" if the archive on the index is not the pinned one.
        """
        version = self._known_version(pin.ref) or self._listed_version(pin.ref)
        found = self._stored(version)
        if found is None:
            release = next(r for r in self.releases() if r.version == version)
            offered = release.archive.sha256
            if offered is not None and offered != pin.sha256:
                raise self._mismatch(pin, release.archive.filename)
            found = self._import(release)
        if (found.sha256, found.commit) != (pin.sha256, pin.commit):
            raise self._mismatch(pin, pin.archive or pin.ref)
        return version

    def version_of(self, pin: Pin) -> str:
        """Return the version of a pinned release."""
        known = self._commits()
        named = pin.ref.removeprefix("v")  # the release was imported again from another archive
        return next((v for v, commit in known.items() if commit == pin.commit), named)

    def _mismatch(self, pin: Pin, archive: str) -> PatchmgrError:
        return PatchmgrError(
            "checksum-mismatch",
            f"{archive} of {self._name} is not the archive that upstream.lock pins "
            f"(sha256 {pin.sha256})",
            "if the release was replaced on purpose, make a new series on it",
        )

    def history(self, base: Resolved, target: Resolved) -> ReleaseHistory:
        """Return the history from base to target: the final releases between, then the target."""
        assert base.version is not None and target.version is not None
        versions = self._versions()
        names = final_between(versions, base.version, target.version)
        after = final_between(versions, target.version, base.version)
        is_older = Version(target.version) < Version(base.version)
        return ReleaseHistory(
            self.store,
            base.commit,
            () if target.commit == base.commit else (*names, target.version),
            self._named_commit,
            len(after) + 1 if is_older else 0,
        )

    def between(
        self, start: Resolved, end: Resolved, every: int | None, say: Callable[[str], None]
    ) -> tuple[Resolved, ...]:
        """Return the final releases between two releases, as the index lists them now.

        Imports those that the store lacks, and passes `say` a line that lists them. Raises
        PatchmgrError "usage" if `every` is given.
        """
        if every is not None:
            raise UsageError("--every N counts commits, but a package has only releases")
        assert start.version is not None and end.version is not None
        self.releases()
        versions = final_between(self._versions(), start.version, end.version)
        known = self._commits()
        missing = [f"v{version}" for version in versions if version not in known]
        if missing:
            count = f"{len(missing)} release{'' if len(missing) == 1 else 's'}"
            say(f"{count} to download first: {', '.join(missing)}")
        return tuple(self.resolve(version) for version in versions)

    def recent(
        self, commit: str, paths: Sequence[str], *, scratch: Path
    ) -> tuple[int, Changes] | None:
        """Return how many pairs of stored final releases were compared, and the hunks between them.

        Returns None if there are fewer than two releases.
        """
        known = {Version(v): commit for v, commit in self._commits().items()}
        commits = [known[v] for v in sorted(known) if not v.is_prerelease]
        return release_changes(self.store, commits, paths, scratch=scratch)

    def distance(self, pin: Pin) -> tuple[str | None, int | None]:
        """Return the newest final release (or the pin, if newer), and how many come after the pin.

        Both are None if the index has never been read.
        """
        if not (self.store / _VERSIONS).exists():
            return None, None
        start, versions = pin.ref.removeprefix("v"), self._versions()
        finals = (v for v in map(Version, versions) if not v.is_prerelease)
        newest = max(finals, default=Version(start))
        if newest <= Version(start):
            return pin.ref, 0
        return f"v{newest}", len(final_between(versions, start, str(newest))) + 1

    def _versions(self) -> Mapping[str, float | None]:
        """Map the versions on the index as of the last request to when they were published.

        Imported releases are included. The time is in seconds since 1970, or None if unknown.
        """
        kept = self.store / _VERSIONS
        lines = kept.read_text().splitlines() if kept.exists() else []
        listed = (line.partition(" ") for line in lines)
        times = {version: float(time) if time else None for version, _, time in listed}
        return {**dict.fromkeys(self._commits()), **times}


def newest_final(releases: Iterable[Release]) -> Release | None:
    """Return the newest final release (a yanked one only if all are yanked), or None."""
    finals = [release for release in releases if not Version(release.version).is_prerelease]
    finals.sort(key=lambda release: (not release.archive.yanked, Version(release.version)))
    return finals[-1] if finals else None


def final_between(published: Mapping[str, float | None], start: str, end: str) -> tuple[str, ...]:
    """Return the final releases between two, without those that continue an older branch.

    `published` maps versions to the time of their publication. A release that was published after a
    higher one up to `end` is on a maintenance branch, and not in the history of `end`: Django
    4.2.22 to 4.2.30 came after 5.2.1.
    """
    low, high = Version(start), Version(end)
    finals = ((Version(v), time) for v, time in published.items())
    found, first = list[str](), inf  # the earliest time of the higher releases
    for version, time in sorted(finals, reverse=True, key=lambda final: final[0]):
        if low < version <= high and not version.is_prerelease:
            if version != high and (time or 0) <= first:
                found.append(str(version))
            first = min(first, time or inf)
    return (*reversed(found),)
