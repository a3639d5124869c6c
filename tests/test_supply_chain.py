"""The lock for development pins all that the project names, by hash, and names no index."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements-dev.lock").read_text()
_HASH = re.compile(r" +--hash=sha256:[0-9a-f]{64}")


def named() -> Iterator[Requirement]:
    """Yield every requirement of the project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    yield from map(Requirement, project["build-system"]["requires"])
    yield from map(Requirement, project["project"]["dependencies"])
    for group in ("optional-dependencies", "dependency-groups"):
        for words in {**project["project"], **project}[group].values():
            yield from map(Requirement, words)


def locked() -> dict[str, list[str]]:
    """Return the hashes of each pinned requirement."""
    found: dict[str, list[str]] = {}
    for line in LOCK.splitlines():
        word = line.removesuffix(" \\")
        if _HASH.fullmatch(word):
            found[list(found)[-1]].append(word)
        else:
            found[word] = []
    return found


def test_every_pin_is_exact_and_has_hashes() -> None:
    for word, hashes in locked().items():
        (only,) = Requirement(word).specifier
        assert only.operator == "==" and hashes, word
    assert "://" not in LOCK


def test_all_that_the_project_names_is_locked_and_fits() -> None:
    pins = [Requirement(word) for word in locked()]
    for wanted in named():
        versions = [
            next(iter(pin.specifier)).version
            for pin in pins
            if canonicalize_name(pin.name) == canonicalize_name(wanted.name)
        ]
        assert versions, wanted
        assert all(version in wanted.specifier for version in versions), wanted
