"""Which part of a project a path belongs to, by files that projects keep: CODEOWNERS, labeler.yml.

Only globs are read, and nothing of either file is executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Rules = tuple[tuple[str, tuple[str, ...]], ...]
"""Names with their globs."""

CODEOWNERS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
LABELERS = (".github/labeler.yml", ".github/labeler.yaml")
_SECTION = re.compile(r"\^?\[([^\]]+)\]")
_LABEL = re.compile(r"([\"']?)([^\s\"'#-][^\"'#]*?)\1:\s*(\[.*\])?\s*(?:#.*)?$")
_GLOB = re.compile(r"[\"']([^\"']+)[\"']|([\w./*?@+-]+)")
_KEYS = (
    "any-glob-to-any-file", "any-glob-to-all-files", "all-globs-to-any-file",
    "all-globs-to-all-files", "changed-files", "any", "all", "base-branch", "head-branch",
)  # fmt: skip


def read_codeowners(content: bytes) -> Rules:
    """Return a name with a glob a line, in order: the last one that matches a path counts.

    The name is that of the section, or else the path that the glob begins with.
    """
    found: list[tuple[str, tuple[str, ...]]] = []
    section = ""
    for line in content.decode("utf-8", "replace").splitlines():
        words = re.split(r"(?<!\\)\s+", line.partition(" #")[0].strip())
        heading = _SECTION.match(line)
        if heading is not None:
            section = heading[1]
        elif words[0] and not words[0].startswith("#"):
            glob = words[0].replace("\\ ", " ")
            name = section or re.split(r"[*?\[]", glob, maxsplit=1)[0].strip("/")
            if name:
                found.append((name, (glob if "/" in glob.strip("/") else f"**/{glob}",)))
    return tuple(found)


def read_labeler(content: bytes) -> Rules:
    """Return the labels of a labeler.yml with their globs, in order."""
    found: dict[str, list[str]] = {}
    label = ""
    for line in content.decode("utf-8", "replace").splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not line[0].isspace() and not line.startswith("-"):
            match = _LABEL.match(line)
            label = match[2] if match else ""
        if label:
            found.setdefault(label, []).extend(_globs(line))
    return tuple((name, tuple(globs)) for name, globs in found.items() if globs)


def _globs(line: str) -> Iterator[str]:
    text = line.strip().lstrip("- ")
    key, colon, rest = text.partition(":")
    if colon and (key.strip("\"'") in _KEYS or not line[0].isspace()):
        text = rest
    for quoted, plain in _GLOB.findall(text):
        glob = quoted or plain
        if ("/" in glob or "*" in glob or "." in glob) and not glob.startswith("!"):
            yield glob
