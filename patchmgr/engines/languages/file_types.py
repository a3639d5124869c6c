"""Determine the language of a file from its path, and whether the file is a test or vendored."""

from __future__ import annotations

from patchmgr.formats.late_patterns import late_pattern

OTHER = "other"

_SUFFIXES = {
    "Assembly": "s",
    "Batch": "bat",
    "Bazel": "bazel bzl",
    "C": "c",
    "C#": "cs",
    "C++": "cc cpp cxx",
    "C++ header": "h hh hpp hxx inl",
    "CMake": "cmake",
    "CSS": "css less scss",
    "CUDA": "cu cuh",
    "Cython": "pxd pyx",
    "Dart": "dart",
    "Dockerfile": "containerfile dockerfile",
    "Go": "go",
    "Groovy": "gradle groovy",
    "HCL": "hcl",
    "HIP": "hip",
    "HTML": "htm html",
    "INI": "cfg ini",
    "Java": "java",
    "JavaScript": "cjs js jsx mjs",
    "Jinja": "j2 jinja jinja2",
    "JSON": "json json5 jsonl",
    "Jupyter": "ipynb",
    "Kotlin": "kt kts",
    "Make": "mk",
    "Markdown": "markdown md",
    "Metal": "metal",
    "MLIR": "mlir",
    "Objective-C": "m mm",
    "Patch": "diff patch",
    "Perl": "pl",
    "PHP": "php",
    "PowerShell": "ps1",
    "Properties": "properties",
    "Protobuf": "proto",
    "PTX": "ptx",
    "Python": "py pyi",
    "reStructuredText": "rst",
    "Ruby": "gemspec rake rb ru",
    "Rust": "rs",
    "Scala": "scala",
    "Shell": "bash sh zsh",
    "SQL": "sql",
    "Swift": "swift",
    "TableGen": "td",
    "Text": "txt",
    "TOML": "toml",
    "TypeScript": "cts mts ts tsx",
    "XML": "xml",
    "YAML": "yaml yml",
}
_BY_SUFFIX = {end: language for language, ends in _SUFFIXES.items() for end in ends.split()}
CXX_LANGUAGES = frozenset({"C", "C++", "C++ header", "CUDA", "HIP"})
CXX = tuple(f".{suffix}" for suffix, spoken in _BY_SUFFIX.items() if spoken in CXX_LANGUAGES)
"""The suffixes of C, C++, CUDA and HIP files."""
PYTHON = tuple(f".{suffix}" for suffix in _SUFFIXES["Python"].split())
"""The suffixes of Python files."""

_BY_NAME = {
    "cargo.lock": "TOML",
    "cmakelists.txt": "CMake",
    "containerfile": "Dockerfile",
    "dockerfile": "Dockerfile",
    "gemfile": "Ruby",
    "gnumakefile": "Make",
    "makefile": "Make",
    "meson.build": "Meson",
    "meson_options.txt": "Meson",
    "pipfile": "TOML",
    "poetry.lock": "TOML",
    "rakefile": "Ruby",
    "uv.lock": "TOML",
}

_BY_INTERPRETER = {
    "bash": "Shell",
    "dash": "Shell",
    "ksh": "Shell",
    "node": "JavaScript",
    "perl": "Perl",
    "python": "Python",
    "sh": "Shell",
    "zsh": "Shell",
}

_COMPILED = frozenset(
    {"Assembly", "Bazel", "C", "C++", "C++ header", "CMake", "CUDA", "Cython", "HIP", "Make"}
    | {"Meson", "PTX", "Protobuf", "Rust"}
)
_BUILD_FILES = frozenset({"cargo.lock", "cargo.toml", "pyproject.toml", "setup.cfg", "setup.py"})

_TEST_FOLDER = late_pattern(r"(?:[a-z0-9]+_)*(?:tests?|testing|unittests?)")
_TEST_FILE = late_pattern(
    r"conftest\.py|(?:test_.*|.*_tests?)\.(?:py|cc?|cpp|cxx|cuh?|hip|go|rs)|.*\.(?:test|spec)\.[jt]sx?"
)
_THIRD_PARTY = frozenset(
    {"3rd_party", "3rdparty", "_vendor", "_vendored", "node_modules", "third-party"}
    | {"third_party", "thirdparty", "vendor", "vendored"}
)
_SHEBANG = late_pattern(rb"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-\S+[ \t]+)*)?(?:\S*/)?([a-z]+)")


def language(path: str, content: bytes | None = None) -> str:
    """Return the language of a file, judged by the file's name or else by its `#!` line."""
    name = path.rpartition("/")[2].lower()
    found = _named_language(name)
    if found is None and "." not in name and content is not None:
        found = _interpreted_language(content)
    return OTHER if found is None else found


def _named_language(name: str) -> str | None:
    if name.startswith(("dockerfile.", "containerfile.")):
        return "Dockerfile"
    stem, dot, suffix = name.rpartition(".")
    if dot and suffix == "in":
        return _named_language(stem)
    by_suffix = _BY_SUFFIX.get(suffix) if stem else None
    return _BY_NAME.get(name, by_suffix)


def _interpreted_language(content: bytes) -> str | None:
    found = _SHEBANG.match(content[:200])
    return None if found is None else _BY_INTERPRETER.get(found[1].decode())


def is_test(path: str) -> bool:
    """Return whether a file is a test or is in a folder of tests."""
    *folders, name = path.lower().split("/")
    return any(_TEST_FOLDER.fullmatch(f) for f in folders) or bool(_TEST_FILE.fullmatch(name))


def is_third_party(path: str) -> bool:
    """Return whether a file is in a folder of vendored code."""
    return not _THIRD_PARTY.isdisjoint(path.lower().split("/")[:-1])


def needs_rebuild(path: str) -> bool:
    """Return whether a change to a file takes effect only after the package is rebuilt."""
    return language(path) in _COMPILED or path.lower().rpartition("/")[2] in _BUILD_FILES
