"""New source files that a pattern of a build file took in, and that no build file takes now."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from functools import partial

from patchmgr.engines.audit.states import Files, States, Told
from patchmgr.engines.languages.names import CXX
from patchmgr.model.audit import AuditFinding

_BUILD = re.compile(r"(?:.*/)?(?:CMakeLists\.txt|[^/]+\.cmake|setup\.py|meson\.build|Makefile)")
_PATTERN = re.compile(rb"[\w./${}()\-]*\*[\w./*\-]*\.\w+")
_VARIABLE = re.compile(r".*[})]/?")


def unbuilt_files(states: States) -> Iterator[Told]:
    """Tell which new files a pattern of a build file found, and no build file finds any more."""
    changed = [path for path in sorted(states.changed_upstream) if _BUILD.fullmatch(path)]
    if not changed:
        return
    for patch in states.patches:
        for change in patch.files if patch.is_carried else ():
            home = patch.homes.get(change.path, change.path)
            is_new = change.old_path is None and states.carriers.get(home) == patch.name
            if not is_new or not home.endswith(CXX):
                continue
            was = [path for path in changed if _takes(states.written, path, home)]
            beside = {*changed, *_around(home), *(path for path in states.carriers)}
            if was and not any(_takes(states.merged, path, home) for path in sorted(beside)):
                text = f"{was[0]} no longer has the pattern by which this new file was built"
                commit = states.commit_since(was[0], partial(_lacks, path=home))
                yield patch.name, AuditFinding("unbuilt", False, home, 0, None, text, commit)


def _around(path: str) -> Collection[str]:
    folders = path.split("/")[:-1]
    return {"/".join((*folders[:n], "CMakeLists.txt")) for n in range(len(folders) + 1)}


def _takes(files: Files, build: str, path: str) -> bool:
    """Say whether a build file names a file, or has a pattern that finds it."""
    content = files.read(build) if _BUILD.fullmatch(build) else None
    name = path.rpartition("/")[2].encode("utf-8", "surrogateescape")
    return content is not None and (name in content or _matches(content, path))


def _lacks(content: bytes | None, path: str) -> bool:
    return not _matches(content, path)


def _matches(content: bytes | None, path: str) -> bool:
    for found in _PATTERN.findall(content or b""):
        pattern = _VARIABLE.sub("", found.decode("utf-8", "surrogateescape")).removeprefix("./")
        if fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}"):
            return True
    return False
