"""Names of patch-package's files: which package of npm a patch is for, and its place in a row."""

from __future__ import annotations

import re

from msgspec import Struct

_VERSION = re.compile(r"\d+\.\d+\.\d+.*")
_SUFFIX = re.compile(r"(?:\.dev)?\.patch$")
_NAME = re.compile(r"(?:@[\w.~-]+/)?[\w.~-]+")


class PackagePatch(Struct, frozen=True):
    """A file name taken apart: packages from the outermost one in, and the last one's version.

    `number` orders the patches of one package; it is 0 where the name has none.
    """

    packages: tuple[str, ...]
    version: str
    number: int = 0
    title: str = ""

    @property
    def folder(self) -> str:
        """Return where the package is installed."""
        return "/".join(f"node_modules/{name}" for name in self.packages)

    @property
    def strip(self) -> int:
        """Return how many directories its patches have above the package's own files."""
        return 2 + self.folder.count("/")


def read_name(name: str) -> PackagePatch | None:
    """Take a file name apart, None where patch-package would not know it."""
    if not name.endswith(".patch") or "/" in name:
        return None
    packages: list[str] = []
    version, number, title = "", 0, ""
    for part in _SUFFIX.sub("", name).split("++"):
        words = [word for word in part.split("+") if word]
        at = next((n for n, word in enumerate(words) if _VERSION.fullmatch(word)), len(words))
        package = "/".join(words[:at])
        if version or not _NAME.fullmatch(package):
            return None
        packages.append(package)
        rest = words[at + 1 :]
        version = words[at] if at < len(words) else ""
        if rest and (not rest[0].isdigit() or len(rest) > 2):
            return None
        number, title = (int(rest[0]), "+".join(rest[1:])) if rest else (0, "")
    return PackagePatch(tuple(packages), version, number, title) if version else None


def written_name(patch: PackagePatch) -> str:
    """Return the file name, the inverse of `read_name` for all but `.dev`."""
    name = "++".join(package.replace("/", "+") for package in patch.packages)
    row = f"+{patch.number:03}" if patch.number else ""
    title = f"+{patch.title}" if patch.number and patch.title else ""
    return f"{name}+{patch.version}{row}{title}.patch"


def names_folder(diff: bytes, folder: str) -> bool:
    """Say whether every file of a diff that git wrote is below a folder."""
    titles = re.findall(rb"^diff --git (.*)$", diff, re.MULTILINE)
    prefix = folder.encode()
    return bool(titles) and all(
        re.fullmatch(rb'"?a/%b/.* "?b/%b/.*' % (re.escape(prefix), re.escape(prefix)), title)
        for title in titles
    )
