"""Tell from its path what kind of text a file is, and how its tokens are split."""

from __future__ import annotations

from enum import Enum

from patchmgr.engines.structure.tokens import Grammar


class DataKind(Enum):
    """The kinds of text that have rules of their own."""

    JSON = "json"
    TOML = "toml"
    YAML = "yaml"
    REQUIREMENTS = "requirements"
    CMAKE = "cmake"
    MARKUP = "markup"
    SCRIPT = "script"
    PATTERNS = "patterns"  # one pattern a line: .gitignore, CODEOWNERS
    OTHER = "other"


_SUFFIXES = {
    ".json": DataKind.JSON,
    ".toml": DataKind.TOML,
    ".yaml": DataKind.YAML,
    ".yml": DataKind.YAML,
    ".cmake": DataKind.CMAKE,
    ".md": DataKind.MARKUP,
    ".rst": DataKind.MARKUP,
    ".sh": DataKind.SCRIPT,
    ".bash": DataKind.SCRIPT,
}
_PATTERN_FILES = frozenset({"CODEOWNERS", "MANIFEST.in"})


def data_kind(path: str) -> DataKind:
    """Return the kind of a file, OTHER where nothing is known of it."""
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    if name == "CMakeLists.txt":
        return DataKind.CMAKE
    if name in _PATTERN_FILES or (name.startswith(".") and name.endswith("ignore")):
        return DataKind.PATTERNS
    if "Dockerfile" in name:
        return DataKind.SCRIPT
    if suffix in ("txt", "in") and ("requirements" in path or "constraints" in name):
        return DataKind.REQUIREMENTS
    return _SUFFIXES.get(dot + suffix.lower(), DataKind.OTHER) if stem else DataKind.OTHER


_GRAMMARS = {
    DataKind.JSON: Grammar.JSON,
    DataKind.CMAKE: Grammar.FREE_HASH,
    DataKind.MARKUP: Grammar.PLAIN,
    DataKind.OTHER: Grammar.PLAIN,
}


def grammar_of(kind: DataKind) -> Grammar:
    """Return how a kind of text is split into tokens."""
    return _GRAMMARS.get(kind, Grammar.HASH)
