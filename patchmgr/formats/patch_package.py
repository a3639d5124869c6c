"""Data of other tools: patch-package's file names and StGit's stacks."""

from __future__ import annotations

import re

from msgspec import Struct, convert

from patchmgr.errors import PatchmgrError
from patchmgr.formats.json_text import parse_json
from patchmgr.formats.shown import shown
from patchmgr.model.operation import Commit

_VERSION = re.compile(r"\d+\.\d+\.\d+.*")
_SUFFIX = re.compile(r"(?:\.dev)?\.patch$")
_NAME = re.compile(r"(?:@[\w.~-]+/)?[\w.~-]+")


class PackagePatch(Struct, frozen=True):
    """A parsed file name of patch-package: nested packages, outermost first, and a version."""

    packages: tuple[str, ...]
    version: str
    number: int = 0  # the order of one package's patches (0: not in the name)
    title: str = ""

    @property
    def folder(self) -> str:
        """Return the folder in which npm installs the package, relative to the project's root."""
        return "/".join(f"node_modules/{name}" for name in self.packages)

    @property
    def strip(self) -> int:
        """Return the number of leading folders to remove from paths in the package's patches."""
        return 2 + self.folder.count("/")


def read_name(name: str) -> PackagePatch | None:
    """Parse the name of a patch file; return None if patch-package would not recognize it."""
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
    """Return the file name (without `.dev`) for which `read_name` returns these values."""
    name = "++".join(package.replace("/", "+") for package in patch.packages)
    row = f"+{patch.number:03}" if patch.number else ""
    title = f"+{patch.title}" if patch.number and patch.title else ""
    return f"{name}+{patch.version}{row}{title}.patch"


def names_folder(diff: bytes, folder: str) -> bool:
    """Return whether a diff in git's format changes some file, and none outside `folder`."""
    titles = re.findall(rb"^diff --git (.*)$", diff, re.MULTILINE)
    prefix = folder.encode()
    return bool(titles) and all(
        re.fullmatch(rb'"?a/%b/.* "?b/%b/.*' % (re.escape(prefix), re.escape(prefix)), title)
        for title in titles
    )


# The ref, below refs/, and the file with the stack: in StGit up to 0.19, and in later releases.
PLACES = ("heads/{branch}.stgit:meta", "stacks/{branch}:stack.json")

_HEAD = re.compile(r"([A-Z][a-z]+):(?: .*)?")
_PATCH = re.compile(r"  (\S+): ([0-9a-f]{40})")


class Stack(Struct, frozen=True):
    """The stack of a StGit branch: (name, commit id) of its patches, in the order of the stack."""

    applied: tuple[tuple[str, str], ...]
    unapplied: tuple[tuple[str, str], ...]
    hidden: tuple[tuple[str, str], ...]


def read_stack(raw: bytes) -> Stack:
    """Read StGit's stack.json or its older `meta` file; raise a "bad-stack" error if malformed."""
    try:
        text = raw.decode()
        return _from_json(parse_json(text)) if text.startswith("{") else _from_lines(text)
    except (ValueError, KeyError) as fault:
        message = f"StGit's record of the stack cannot be read: {shown(str(fault))}"
        raise PatchmgrError("bad-stack", message) from fault


class _Commit(Struct):
    oid: Commit


class _Document(Struct):
    patches: dict[str, _Commit]
    applied: tuple[str, ...]
    unapplied: tuple[str, ...]
    hidden: tuple[str, ...]


def _from_json(document: object) -> Stack:
    read = convert(document, _Document)
    names = (read.applied, read.unapplied, read.hidden)
    return Stack(*(tuple((name, read.patches[name].oid) for name in some) for some in names))


def _from_lines(text: str) -> Stack:
    found: dict[str, list[tuple[str, str]]] = {"Applied": [], "Unapplied": [], "Hidden": []}
    rows: list[tuple[str, str]] | None = None
    for line in text.splitlines():
        if match := _HEAD.fullmatch(line):
            rows = found.get(match[1])
        elif (row := _PATCH.fullmatch(line)) and rows is not None:
            rows.append((row[1], row[2]))
        else:
            raise ValueError(f"unexpected line: {line}")
    return Stack(tuple(found["Applied"]), tuple(found["Unapplied"]), tuple(found["Hidden"]))
