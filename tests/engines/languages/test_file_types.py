"""The languages of files, and which files are tests, vendored or compiled."""

from patchmgr.engines.languages.file_types import is_test, is_third_party, language, needs_rebuild
from tests.tables import table


@table(
    ("path", "expected"),
    [
        ("a/b.py", "Python"),
        ("a/b.pyi", "Python"),
        ("B.PY", "Python"),
        ("csrc/k.cu", "CUDA"),
        ("csrc/k.cuh", "CUDA"),
        ("csrc/k.hip", "HIP"),
        ("csrc/k.cpp", "C++"),
        ("csrc/k.h", "C++ header"),
        ("csrc/k.hpp", "C++ header"),
        ("csrc/k.c", "C"),
        ("CMakeLists.txt", "CMake"),
        ("cmake/x.cmake", "CMake"),
        ("CMakeLists.txt.in", "CMake"),
        ("version.h.in", "C++ header"),
        ("MANIFEST.in", "other"),
        (".in", "other"),
        ("requirements.txt", "Text"),
        ("run.sh", "Shell"),
        ("docker/Dockerfile", "Dockerfile"),
        ("docker/Dockerfile.rocm", "Dockerfile"),
        ("docker/rocm.Dockerfile", "Dockerfile"),
        ("a.yaml", "YAML"),
        ("a.yml", "YAML"),
        ("pyproject.toml", "TOML"),
        ("Cargo.lock", "TOML"),
        ("README.md", "Markdown"),
        ("t.jinja", "Jinja"),
        ("a.json", "JSON"),
        ("src/lib.rs", "Rust"),
        ("Gemfile", "Ruby"),
        ("app/page.scss", "CSS"),
        ("Main.kt", "Kotlin"),
        ("Makefile", "Make"),
        (".py", "other"),
        (".gitignore", "other"),
        ("LICENSE", "other"),
        ("build", "other"),
        ("py", "other"),
        ("archive.tar.gz", "other"),
        ("dir.py/file", "other"),
        ("", "other"),
    ],
)
def test_language_comes_from_the_name(path: str, expected: str) -> None:
    assert language(path) == expected
    assert language(path, b"no shebang") == expected


@table(
    ("path", "content", "expected"),
    [
        ("run", b"#!/bin/sh\n", "Shell"),
        ("run", b"#!/usr/bin/env bash\n", "Shell"),
        ("run", b"#! /usr/bin/env -S python3 -u\n", "Python"),
        ("run", b"#!/usr/bin/env -S /opt/bin/python3.11\n", "Python"),
        ("run", b"#!bash", "Shell"),
        ("run", b"#!/usr/bin/awk -f\n", "other"),
        ("run", b"#!\n", "other"),
        ("run", b" #!/bin/sh\n", "other"),
        ("run", b"", "other"),
        ("run.txt", b"#!/bin/sh\n", "Text"),
        ("run.unknown", b"#!/bin/sh\n", "other"),
        ("run", b"#!" + b"/" * 100_000, "other"),
    ],
)
def test_without_suffix_the_shebang_decides(path: str, content: bytes, expected: str) -> None:
    assert language(path, content) == expected


@table(
    ("path", "expected"),
    [
        ("tests/a.txt", True),
        ("test/a.py", True),
        ("Tests/a.py", True),
        ("pkg/testing/a.py", True),
        ("x/plugins_tests/a.py", True),
        ("x/unittests/a.cc", True),
        ("test_a.py", True),
        ("pkg/a_test.py", True),
        ("pkg/a_tests.py", True),
        ("csrc/a_test.cc", True),
        ("csrc/a_test.cu", True),
        ("csrc/test_a.cu", True),
        ("csrc/a_test.cpp", True),
        ("conftest.py", True),
        ("web/a.test.ts", True),
        ("web/a.spec.jsx", True),
        ("latest/a.py", False),
        ("pkg/testbed/a.py", False),
        ("pkg/attest.py", False),
        ("pkg/test.py", False),
        ("pkg/test_a.txt", False),
        ("pkg/contest.py", False),
        ("tests", False),
        ("pkg/a.py", False),
    ],
)
def test_tests_are_recognized_by_path(path: str, expected: bool) -> None:
    assert is_test(path) is expected


@table(
    ("path", "expected"),
    [
        ("3rdparty/x/a.h", True),
        ("a/third_party/b.py", True),
        ("a/third-party/b.py", True),
        ("a/Vendor/b.go", True),
        ("a/_vendor/b.py", True),
        ("cmake/external_projects/a.cmake", False),
        ("a/vendor.py", False),
        ("third_party", False),
        ("a/vendors/b.py", False),
    ],
)
def test_third_party_code_is_recognized_by_folder(path: str, expected: bool) -> None:
    assert is_third_party(path) is expected


@table(
    ("path", "expected"),
    [
        ("csrc/a.cu", True),
        ("csrc/a.h", True),
        ("CMakeLists.txt", True),
        ("src/lib.rs", True),
        ("setup.py", True),
        ("pyproject.toml", True),
        ("Cargo.lock", True),
        ("a.py", False),
        ("a.toml", False),
        ("Dockerfile", False),
        ("README.md", False),
    ],
)
def test_compiled_and_build_files_need_a_rebuild(path: str, expected: bool) -> None:
    assert needs_rebuild(path) is expected
