"""The releases of a package on the configured indexes, with one archive for each release."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec import Struct
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version
from pypi_simple import ACCEPT_ANY, DistributionPackage, ProjectPage
from requests import Session

from patchmgr.errors import PatchmgrError
from patchmgr.formats.git_urls import local_path
from patchmgr.formats.wheel_records import normalized_name
from patchmgr.plumbing.index_session import (
    IndexSettings,
    answer,
    open_session,
    unreachable,
    without_login,
)

_FILENAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z._+!-]*")
_SHA256 = re.compile(r"([0-9a-fA-F]{64})(?:&.*)?")
_SDIST = re.compile(r"(.+)\.(?:tar|tar\.gz|tgz|zip|tar\.bz2|tar\.xz)")
_OK = 200
_ABSENT = frozenset({404, 410})
_Rank = tuple[bool, int, str]


class Archive(Struct, frozen=True):
    """An archive of a release; `kind` is "sdist" or "wheel", and `url` contains no credentials."""

    filename: str
    url: str
    sha256: str | None
    kind: str
    yanked: bool = False
    size: int | None = None
    uploaded: float | None = None  # in seconds since 1970, if the index says it (PEP 700)


def check_filename(archive: Archive) -> None:
    """Raise PatchmgrError "bad-archive" if an archive has an unsafe file name."""
    if not _FILENAME.fullmatch(archive.filename):
        message = f"{archive.filename!a} is not a valid file name for a package archive"
        raise PatchmgrError("bad-archive", message)


class Release(Struct, frozen=True):
    """A version of a package, in PEP 440's normal form, and the archive to import for it."""

    version: str
    archive: Archive
    published: float | None = None  # when the first archive was uploaded, in seconds since 1970


def list_releases(package: str, settings: IndexSettings) -> tuple[Release, ...]:
    """Return all releases of a package in version order, including pre-releases and yanked ones.

    For each version, an sdist is preferred, then a wheel for any platform, then another wheel; a
    yanked archive is the last choice. Raises PatchmgrError "unknown-package", "offline" or
    "unreachable-upstream".
    """
    name = normalized_name(package)
    best: dict[Version, tuple[_Rank, Archive]] = {}
    published: dict[Version, float] = {}
    for archive in _archives(name, settings):
        version = _version(archive.filename, name)
        if version is not None:
            offer = (_rank(archive), archive)
            best[version] = min(best.get(version, offer), offer, key=lambda pair: pair[0])
            if (time := archive.uploaded) is not None:
                published[version] = min(published.get(version, time), time)
    return tuple(Release(str(v), best[v][1], published.get(v)) for v in sorted(best))


def _archives(name: str, settings: IndexSettings) -> Iterator[Archive]:
    """Yield the archives at all locations; a failing location is skipped, except the main index."""
    is_known = False
    skipped: PatchmgrError | None = None
    with open_session() as session:
        for location in (*settings.find_links, *settings.index_urls()):
            try:
                page = _page(session, location, name, settings=settings)
            except PatchmgrError as fault:
                if location == settings.index_url.rstrip("/") and fault.kind != "offline":
                    raise
                skipped = skipped or fault
                continue
            is_known = is_known or page is not None
            yield from page or ()
    if not is_known:
        raise skipped or PatchmgrError(
            "unknown-package",
            f"no package index lists {name!a}",
            "check the spelling, and the index with `pip config list`",
        )


def _page(
    session: Session, location: str, name: str, *, settings: IndexSettings
) -> list[Archive] | None:
    """Return the package's archives at a location, or None if the location lacks the package."""
    is_flat = location in settings.find_links
    folder = local_path(location)
    if folder is not None:
        if not is_flat and location == settings.index_url.rstrip("/") and not folder.is_dir():
            raise unreachable(name, f"the package index {folder} is not a folder")
        page = _local_page(folder if is_flat else folder / name, name, settings)
    elif settings.offline:
        raise PatchmgrError(
            "offline",
            f"the releases of {name} cannot be listed offline",
            "unset UV_OFFLINE, or set PIP_FIND_LINKS to a folder of archives",
        )
    else:
        page = _remote_page(session, location if is_flat else f"{location}/{name}/", name, settings)
    if page is None or not is_flat:
        return page
    return [found for found in page if _version(found.filename, name) is not None] or None


def _local_page(folder: Path, name: str, settings: IndexSettings) -> list[Archive] | None:
    """Return the archives in an HTML page or, without a page, a folder; None if neither exists."""
    page = folder / "index.html" if folder.is_dir() else folder
    if page.is_file() and page.suffix in (".html", ".htm"):
        base = page.resolve().as_uri()
        found = _parsed(lambda: ProjectPage.from_html(name, page.read_bytes(), base), name)
        return [_archive(package, settings) for package in found.packages]
    if not folder.is_dir():
        return None
    files = sorted(file.resolve() for file in folder.iterdir() if file.is_file())
    return [Archive(file.name, file.as_uri(), None, _kind(file.name)) for file in files]


def _remote_page(
    session: Session, url: str, name: str, settings: IndexSettings
) -> list[Archive] | None:
    """Return the archives on an index's page for a package, or None if there is no page."""
    headers = {"Accept": ACCEPT_ANY}
    what = f"the releases of {name}"
    with answer(session, url, settings=settings, headers=headers, what=what) as response:
        _ = response.content  # the whole page, while the connection is open
    if response.status_code in _ABSENT:
        return None
    if response.status_code != _OK:
        raise unreachable(what, f"the package index answered with status {response.status_code}")
    page = _parsed(lambda: ProjectPage.from_response(response, name), name)
    found = [_archive(package, settings) for package in page.packages]
    return [archive for archive in found if archive.url.startswith(("https://", "http://"))]


def _parsed(parse: Callable[[], ProjectPage], name: str) -> ProjectPage:
    """Parse a page; if the parser fails, raise an error that calls the page malformed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parse()
    except Exception as fault:
        reason = "the package index answered with something that is not a list of files"
        raise unreachable(f"the releases of {name}", reason) from fault


def _archive(package: DistributionPackage, settings: IndexSettings) -> Archive:
    """Return the archive that a link leads to."""
    filename = package.filename
    if not _kind(filename):
        # As in pip, if the text of the link is not a file name.
        filename = unquote(urlsplit(package.url).path.rpartition("/")[2])
    sha256 = _SHA256.fullmatch(package.digests.get("sha256", ""))
    return Archive(
        filename,
        without_login(package.url, settings),
        sha256[1].lower() if sha256 else None,
        _kind(filename),
        yanked=package.is_yanked,
        size=package.size,
        uploaded=package.upload_time.timestamp() if package.upload_time else None,
    )


def _kind(filename: str) -> str:
    """Return "sdist", "wheel", or "" for a file that is neither or has an unsafe name."""
    if not _FILENAME.fullmatch(filename):
        return ""
    return "wheel" if filename.endswith(".whl") else "sdist" if _SDIST.fullmatch(filename) else ""


def _version(filename: str, name: str) -> Version | None:
    """Return the version in a filename, or None if the file is no archive of the package."""
    try:
        if _kind(filename) == "wheel":
            project, version, _, _ = parse_wheel_filename(filename)
            return version if project == name else None
        stem = _SDIST.fullmatch(filename) if _kind(filename) else None
        for dash in re.finditer("-", stem[1] if stem else ""):
            if stem and normalized_name(stem[1][: dash.start()]) == name:
                return Version(stem[1][dash.end() :])
    except (InvalidWheelFilename, InvalidVersion):
        pass
    return None


def _rank(archive: Archive) -> _Rank:
    """Return a key by which the preferred archive of a version sorts first."""
    if archive.kind == "sdist":
        return (archive.yanked, 0, "" if archive.filename.endswith(".tar.gz") else archive.filename)
    tags = parse_wheel_filename(archive.filename)[3]
    platforms = {tag.platform for tag in tags}
    is_manylinux = any(p.startswith("manylinux") and p.endswith("_x86_64") for p in platforms)
    order = 3 if is_manylinux else 4
    if "any" in platforms:
        order = 1 if any(tag.interpreter == "py3" for tag in tags) else 2
    return (archive.yanked, order, archive.filename)
