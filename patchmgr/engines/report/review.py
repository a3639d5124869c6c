"""Collect what a reviewer asks about: subsystems, changed sites, hotspots and risks.

A hotspot is a symbol that the series touches and that upstream changes often, so that the next
conflict is likely to be there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.hardware_gates.conditions import GateFinder
from patchmgr.engines.hardware_gates.cxx import cxx_sides
from patchmgr.engines.hardware_gates.defaults import Defaults, settings_defaults, variables_in
from patchmgr.engines.hardware_gates.python import python_sides
from patchmgr.engines.hardware_gates.sites import Lines, PinAndHead, compared
from patchmgr.engines.hardware_gates.words import Words
from patchmgr.engines.languages.file_types import CXX_LANGUAGES, is_test, is_third_party, language
from patchmgr.engines.moved.units import leaf_of
from patchmgr.engines.report.footprint import tally
from patchmgr.engines.report.subsystems import Subsystems
from patchmgr.formats import toml_text
from patchmgr.formats.wheel_records import normalized_name
from patchmgr.model.footprint import (
    Area,
    Build,
    ChangedFile,
    ChangedSite,
    FileChange,
    FileFootprint,
    Footprint,
    Hotspot,
    PatchFootprint,
    Reach,
    Risk,
    RiskKind,
    Subsystem,
)
from patchmgr.model.snapshot import FILE_MODES

_JUDGED = CXX_LANGUAGES | {"Python"}
_HEADING_NAMES = (
    re.compile(r"\b(?:class|def|struct|namespace)\s+(\w+)"),
    re.compile(r"([\w~]+)\s*\("),
    re.compile(r"(\w+)"),
)


def parts_of(files: Sequence[FileFootprint], rule: Subsystems) -> tuple[Subsystem, ...]:
    """Return each subsystem with its files and changed lines, the most changed subsystem first."""
    groups: dict[str, list[FileFootprint]] = {}
    for file in files:
        groups.setdefault(_part_of(file, rule), []).append(file)
    parts = []
    for name, group in groups.items():
        tests = [file for file in group if file.area is Area.TESTS]
        parts.append(
            Subsystem(
                tally(name, group),
                tally(name, tests),
                rebuilt=sum(f.build is Build.REBUILD for f in group),
                languages=tuple(sorted({f.language for f in group})),
            )
        )
    return tuple(sorted(parts, key=lambda p: (-p.total.added - p.total.removed, p.total.name)))


def part_of_files(files: Sequence[FileFootprint], rule: Subsystems) -> tuple[tuple[str, str], ...]:
    """Return the path and the subsystem of each file."""
    return tuple((file.path, _part_of(file, rule)) for file in files)


def _part_of(file: ChangedFile, rule: Subsystems) -> str:
    return Area.THIRD_PARTY.value if file.area is Area.THIRD_PARTY else rule.of(file.path)


def parts_of_patches(
    patches: Sequence[PatchFootprint], rule: Subsystems
) -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
    """Return, for each patch, the number of lines that it changes in each subsystem."""
    found = []
    for patch in patches:
        lines: dict[str, int] = {}
        for file in patch.files:
            own = _part_of(file, rule)
            lines[own] = lines.get(own, 0) + file.added + file.removed
        found.append((patch.name, tuple(sorted(lines.items()))))
    return tuple(found)


class Judge(Struct, frozen=True):
    """Finds the sites that a series changes in one file. It is picklable."""

    words: Words
    defaults: Mapping[str, object] = {}  # settings without environment variables

    def __call__(self, texts: PinAndHead) -> tuple[ChangedSite, ...]:
        """Return the changed sites of a file, or none if the file is unchanged."""
        if texts.old == texts.new:
            return ()
        if language(texts.path, texts.new) == "Python":
            defaults = Defaults(self.defaults, self.words.settings)
            sides = python_sides(texts, GateFinder(self.words, defaults))
        else:
            sides = cxx_sides(texts, GateFinder(self.words.of_cxx(), Defaults(), is_cxx=True))
        return compared(texts, *sides)


def judge_of(changes: Sequence[FileChange], words: Words) -> Judge:
    """Return a `Judge` for a project, with its names of gates and its default settings."""
    settings = (c for c in changes if c.path.rpartition("/")[2] in words.settings_files)
    return Judge(words, settings_defaults(c.after for c in settings if c.after is not None))


def texts_of(
    changes: Sequence[FileChange], hunks: Mapping[str, tuple[Lines, ...]]
) -> tuple[PinAndHead, ...]:
    """Return the texts of upstream's code files that a series edits, but not of tests.

    Vendored code is left out, too.
    """
    found = []
    for change in changes:
        path, before, after = change.path, change.before, change.after
        if before is None or after is None or before == after:
            continue
        is_plain = {change.old_mode, change.new_mode} <= FILE_MODES
        is_own = not is_test(path) and not is_third_party(path)
        if is_plain and is_own and language(path, after) in _JUDGED:
            found.append(PinAndHead(path, before, after, hunks.get(path)))
    # The longest first, because they take the longest.
    return tuple(sorted(found, key=lambda texts: (-len(texts.new), texts.path)))


def with_owners(
    footprint: Footprint, found: Iterable[Sequence[ChangedSite]]
) -> tuple[ChangedSite, ...]:
    """Return the changed sites with the names of their patches, sorted by reach, path and line."""
    owners = _owners(footprint)
    by_path = {file.path: file.patches for file in footprint.files}
    sites = [
        replace(site, patches=owners.get((site.path, site.symbol)) or by_path.get(site.path, ()))
        for own in found
        for site in own
    ]
    order = list(Reach)
    return tuple(sorted(sites, key=lambda s: (order.index(s.reach), s.path, s.line, s.is_removal)))


def _owners(footprint: Footprint) -> dict[tuple[str, str | None], tuple[str, ...]]:
    last = {f.renamed_from or f.path: f.path for f in footprint.files}
    found: dict[tuple[str, str | None], list[str]] = {}
    for patch in footprint.patches:
        for file in patch.files:
            for touch in file.touches:
                key = (last.get(file.path, file.path), touch.symbol)
                found.setdefault(key, []).append(patch.name)
    return {key: tuple(dict.fromkeys(names)) for key, names in found.items()}


def hotspots(
    patches: Sequence[PatchFootprint],
    changes: Sequence[tuple[str, str, str]],
    names: Mapping[str, str],
) -> tuple[Hotspot, ...]:
    """Return the upstream symbols that patches touch, those with the most upstream commits first.

    Each item of `changes` is a commit, a path and the heading of a hunk. `names` maps a path to the
    latest path of the same file.
    """
    touched: dict[tuple[str, str | None], list[str]] = {}
    for patch in patches:
        for file in patch.files:
            for touch in file.touches if file.is_upstream else ():
                if touch.is_upstream:
                    path = file.renamed_from or file.path
                    touched.setdefault((path, touch.symbol), []).append(patch.name)
    by_file: dict[str, set[str]] = {}
    by_name: dict[tuple[str, str], set[str]] = {}
    for commit, path, heading in changes:
        by_file.setdefault(path, set()).add(commit)
        by_name.setdefault((path, heading_name(heading)), set()).add(commit)
    found = [
        Hotspot(
            names.get(path, path),
            symbol,
            len(by_name.get((path, leaf_of(symbol or "")), ())),
            len(by_file.get(path, ())),
            tuple(dict.fromkeys(own)),
        )
        for (path, symbol), own in touched.items()
    ]
    return tuple(sorted(found, key=lambda h: (-h.commits, -h.file_commits, h.path, h.symbol or "")))


def heading_name(heading: str) -> str:
    """Return the function or class that the heading of a hunk names, or "" if it names none."""
    found = (pattern.search(heading) for pattern in _HEADING_NAMES)
    return next((match[1] for match in found if match is not None), "")


AUTOMATIC_FILES = frozenset(
    {"sitecustomize.py", "usercustomize.py", "conftest.py", "setup.py", ".gitmodules", ".envrc"}
    | {".pre-commit-config.yaml", "noxfile.py", "tox.ini"}
)
"""Files that a tool runs or reads just because they exist."""
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


def find_risks(
    changes: Sequence[FileChange],
    files: Sequence[FileFootprint],
    known_variables: Callable[[Sequence[str]], frozenset[str]],
) -> tuple[Risk, ...]:
    """Return a series' new dependencies, binaries, variables and pins, sorted by kind and path.

    `known_variables` returns which of the given names occur anywhere in upstream's tree.
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
    if name in AUTOMATIC_FILES or name.endswith(".pth") or _WORKFLOWS.search(file.path):
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
    """Return the requirements in a file as they are written, keyed by normalized package name."""
    lines: list[str] = []
    if _REQUIREMENTS.search(path):
        lines = [line.partition(" #")[0].strip() for line in text.splitlines()]
    elif path.rpartition("/")[2] == "pyproject.toml":
        lines = list(_of_project(text))
    found = {}
    for line in lines:
        match = _REQUIREMENT.match(line)
        if match is not None:
            found[normalized_name(match[1])] = line
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
    """Yield a risk for each newly read environment variable that upstream does not mention."""
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
    is_code = content is not None and file.language in _JUDGED and b"env" in content
    return variables_in(content) if content is not None and is_code else frozenset()
