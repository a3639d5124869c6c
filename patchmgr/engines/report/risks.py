"""Surprises for somebody who takes over a series, found in the files that it changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from patchmgr.engines.gating.defaults import variables_in
from patchmgr.formats import toml_text
from patchmgr.model.footprint import FileChange, FileFootprint
from patchmgr.model.review import Risk, RiskKind

RUNS_BY_BEING_THERE = frozenset(
    {"sitecustomize.py", "usercustomize.py", "conftest.py", "setup.py", ".gitmodules", ".envrc"}
    | {".pre-commit-config.yaml", "noxfile.py", "tox.ini"}
)
_WORKFLOWS = re.compile(r"(?:^|/)\.github/workflows/|(?:^|/)\.buildkite/|(?:^|/)\.circleci/")
_PIN = re.compile(
    r"GIT_TAG\s+\S+|GIT_REPOSITORY\s+\S+|URL_HASH\s+\S+|FetchContent_Declare\("
    r"|--branch[ =]\S+|\b[0-9a-f]{40}\b|\bsha256[:=]\S+"
    r"|^\s*ARG\s+\w*(?:VERSION|COMMIT|REF|SHA)\w*=\S+"
    r"|(?:_COMMIT|_REF|_SHA|_VERSION)\s*[:=]+\s*[\"']?\S+",
    re.I,
)
_IMAGE = re.compile(r"^\s*FROM\s+\S+", re.I)
_BUILD = frozenset(
    {"CMake", "Dockerfile", "Shell", "Make", "Bazel", "TOML", "YAML", "Meson", "HCL"}
)
_REQUIREMENT = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?:[<>=!~@;].*)?$")
_REQUIREMENTS = re.compile(
    r"(?:^|/)requirements[^/]*\.(?:txt|in)$|(?:^|/)requirements/[^/]*\.(?:txt|in)$"
)
_GETENV = re.compile(rb"\b(?:std::)?getenv\s*\(\s*\"([A-Za-z_][A-Za-z0-9_]*)\"")
_C = frozenset({"C", "C++", "C++ header", "CUDA", "HIP"})


def find_risks(
    changes: Sequence[FileChange],
    files: Sequence[FileFootprint],
    known_variables: Callable[[Sequence[str]], frozenset[str]],
) -> tuple[Risk, ...]:
    """Return the risks of the squashed series, by kind and path.

    `known_variables` returns those of some names that occur anywhere in upstream's tree.
    """
    by_path = {change.path: change for change in changes}
    found: list[Risk] = []
    for file in files:
        change = by_path[file.path]
        found += _of_file(file, change)
    found += _variables(files, by_path, known_variables)
    order = list(RiskKind)
    return tuple(sorted(found, key=lambda risk: (order.index(risk.kind), risk.path, risk.what)))


def _of_file(file: FileFootprint, change: FileChange) -> Iterator[Risk]:
    name = file.path.rpartition("/")[2]
    if name in RUNS_BY_BEING_THERE or name.endswith(".pth") or _WORKFLOWS.search(file.path):
        yield Risk(RiskKind.RUNS, file.path, file.kind.value, file.patches)
    if file.is_binary:
        yield Risk(RiskKind.BINARY, file.path, file.kind.value, file.patches)
    if change.after is None or file.is_binary:
        return
    old, new = _text(change.before), _text(change.after)
    if file.language in _BUILD:
        before = set(old.splitlines())
        for line in dict.fromkeys(new.splitlines()):
            is_image = file.language == "Dockerfile" and _IMAGE.match(line) is not None
            is_pin = is_image or _PIN.search(line) is not None
            if line not in before and is_pin and not line.lstrip().startswith("#"):
                yield Risk(RiskKind.PIN, file.path, line.strip()[:160], file.patches)
    known = _requirements(file.path, old)
    for requirement in sorted(_requirements(file.path, new).items()):
        if requirement[0] not in known:
            yield Risk(RiskKind.DEPENDENCY, file.path, requirement[1], file.patches)


def _text(content: bytes | None) -> str:
    return "" if content is None else content.decode("utf-8", "replace")


def _requirements(path: str, text: str) -> dict[str, str]:
    """Return what a file of requirements asks for: by normal name, as written."""
    lines: list[str] = []
    if _REQUIREMENTS.search(path):
        lines = [line.partition(" #")[0].strip() for line in text.splitlines()]
    elif path.rpartition("/")[2] == "pyproject.toml":
        lines = list(_of_project(text))
    found = {}
    for line in lines:
        match = _REQUIREMENT.match(line)
        if match is not None:
            found[re.sub(r"[-_.]+", "-", match[1]).lower()] = line
    return found


def _of_project(text: str) -> Iterator[str]:
    try:
        document: Mapping[str, Any] = toml_text.loads(text)
    except (ValueError, RecursionError):
        return
    project = _table(document, "project")
    asked = [project.get("dependencies"), _table(document, "build-system").get("requires")]
    asked += _table(project, "optional-dependencies").values()
    for lines in asked:
        if isinstance(lines, list):
            yield from (line for line in lines if isinstance(line, str))


def _table(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = values.get(name)
    return found if isinstance(found, dict) else {}


def _variables(
    files: Sequence[FileFootprint],
    changes: Mapping[str, FileChange],
    known: Callable[[Sequence[str]], frozenset[str]],
) -> Iterator[Risk]:
    """Yield the environment variables that no file read before."""
    read: dict[str, list[FileFootprint]] = {}
    for file in files:
        change = changes[file.path]
        new = _read(file, change.after) - _read(file, change.before)
        for name in new:
            read.setdefault(name, []).append(file)
    old = known(sorted(read)) if read else frozenset()
    for name in sorted(set(read) - old):
        for file in read[name][:1]:
            patches = tuple(dict.fromkeys(p for f in read[name] for p in f.patches))
            yield Risk(RiskKind.ENVIRONMENT, file.path, name, patches)


def _read(file: FileFootprint, content: bytes | None) -> frozenset[str]:
    if content is None:
        return frozenset()
    if file.language == "Python":
        return variables_in(content) if b"env" in content else frozenset()
    if file.language in _C:
        return frozenset(name.decode() for name in _GETENV.findall(content))
    return frozenset()
