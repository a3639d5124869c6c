"""Times `upstream fetch` of a package's release against a download and `tar xf` of it.

    python -m benchmarks.fetch [--rounds N] [--write]

It needs a package index, as the settings of pip or uv name it. Both bring the same archive.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.clones import output
from benchmarks.pages import Section, program, tell, write
from benchmarks.timing import Measured, Tool, measure, table
from patchmgr.errors import PatchmgrError
from patchmgr.formats.git_urls import local_path
from patchmgr.plumbing.index_session import IndexSettings, read_settings, with_login
from patchmgr.plumbing.package_index import Release, list_releases
from patchmgr.plumbing.package_upstream import newest_final

PACKAGE = "vllm"
SECTION = Section(
    about=__doc__ or "",
    repository="",
    begin="<!-- begin: python -m benchmarks.fetch -->",
    end="<!-- end: fetch -->",
    rounds=7,
)


def main() -> None:
    """Measure, print, and write the section where that is asked for."""
    parser = argparse.ArgumentParser(description=SECTION.about.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=SECTION.rounds, help="timed runs of each")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    options = parser.parse_args()
    try:
        settings = read_settings(os.environ)
        release = newest_final(list_releases(PACKAGE, settings))
    except PatchmgrError as fault:
        tell(f"SKIPPED: nothing was measured, {fault.message}")
        return
    if release is None or release.archive.kind != "sdist" or not shutil.which("curl"):
        tell("SKIPPED: nothing was measured, that needs an archive for tar, and curl")
        return
    with tempfile.TemporaryDirectory(prefix="patchmgr-fetch-") as folder:
        text = report(Fetches(Path(folder), settings, release), options.rounds)
    print(text)
    if options.write:
        write(SECTION, text)


class Fetches:
    """A workspace that follows the package, and the two ways to a release of it."""

    def __init__(self, place: Path, settings: IndexSettings, release: Release) -> None:
        self._place, self._settings, self._release = place, settings, release
        self._workspace, self._cache = place / "fetch" / "workspace", place / "cache"
        self._workspace.parent.mkdir()
        environment = self._environment(self._cache)
        output([*program(), "init", str(self._workspace)], place, environment)
        adding = ("upstream", "add", PACKAGE, "--package", PACKAGE)
        output([*program(), *adding], self._workspace, environment)

    def first(self) -> Tool:
        """Return the fetch into an empty cache."""
        return self._fetch("`upstream fetch`", self._cache, lambda: _empty(self._cache))

    def again(self) -> Tool:
        """Return the fetch where the release is there already."""
        tool = self._fetch("`upstream fetch` of nothing new", self._place / "filled")
        output(tool.command, tool.folder, tool.environment)
        return tool

    def unpacking(self) -> Tool:
        """Return the download of the same archive, unpacked."""
        told = self._place / "curl"
        told.touch(mode=0o600)
        told.write_text("".join(f"{line}\n" for line in self._curl()))
        folder = self._place / "unpacking" / "folder"
        folder.mkdir(parents=True)
        script = f"curl --config {told} --output archive && tar xf archive"
        environment = self._environment(self._cache)
        return Tool(
            "download and `tar xf`", ("sh", "-c", script), folder, environment,
            lambda: _empty(folder),
        )  # fmt: skip

    def _fetch(self, name: str, cache: Path, restore: Callable[[], None] = lambda: None) -> Tool:
        command = (*program(), "upstream", "fetch", PACKAGE)
        return Tool(name, command, self._workspace, self._environment(cache), restore)

    def _environment(self, cache: Path) -> Mapping[str, str]:
        """Return the user's environment, settings of pip and uv included, with another cache."""
        return {**os.environ, "XDG_CACHE_HOME": str(cache)}

    def _curl(self) -> Iterator[str]:
        """Yield curl's options: the URL, and the certificates, proxy and login of the settings."""
        settings, url = self._settings, self._release.archive.url
        yield from ("silent", "show-error", "fail", "location")
        yield f'url = "{with_login(url, settings)}"'
        if local_path(url) is not None:
            return
        if settings.cert:
            yield f'{"capath" if Path(settings.cert).is_dir() else "cacert"} = "{settings.cert}"'
        host = urlsplit(url).netloc.rpartition("@")[2]
        if {host, host.partition(":")[0]} & set(settings.trusted_hosts):
            yield "insecure"
        if settings.client_cert:
            yield f'cert = "{settings.client_cert}"'
        if settings.proxy:
            yield f'proxy = "{settings.proxy}"'


def report(fetches: Fetches, rounds: int) -> str:
    """Measure and return the section: a table each for the first fetch and for one more."""
    first = measure([fetches.first(), fetches.unpacking()], rounds, tell)
    again = measure([fetches.again()], rounds, tell)
    about = (
        f"One release as its source archive. {rounds} timed rounds after one to warm the caches."
    )
    return "\n\n".join([about, *map(_table, (first, again))])


def _table(results: list[Measured]) -> str:
    return table(results, results[-1].tool.name)


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()


if __name__ == "__main__":
    main()
