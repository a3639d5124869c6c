"""New source files that upstream's build files no longer find by a pattern."""

from __future__ import annotations

import pytest

from patchmgr.engines.audit.new_files import unbuilt_files
from tests.engines.audit.audited import found
from tests.tables import table

GLOB = "file(GLOB OPS ${CMAKE_SOURCE_DIR}/csrc/ops/*.cu)\nadd_library(ops ${OPS})\n"
LIST = "set(OPS csrc/ops/norm.cu)\nadd_library(ops ${OPS})\n"
BASE = {"CMakeLists.txt": GLOB, "csrc/ops/norm.cu": "int norm;\n"}


@table(
    ("upstream", "new", "expected"),
    [
        pytest.param({"CMakeLists.txt": LIST}, "csrc/ops/gelu.cu", 1, id="a-list-now"),
        pytest.param({"CMakeLists.txt": LIST}, "csrc/ops/gelu.cuh", 0, id="a-header"),
        pytest.param({"CMakeLists.txt": LIST}, "csrc/other/gelu.cu", 0, id="another-folder"),
        pytest.param({"CMakeLists.txt": LIST}, "csrc/ops/norm.cu", 0, id="changed-only"),
        pytest.param({"CMakeLists.txt": GLOB + "\n# more\n"}, "csrc/ops/gelu.cu", 0, id="kept"),
        pytest.param(
            {"CMakeLists.txt": GLOB.replace("GLOB", "GLOB_RECURSE").replace("ops/*", "*")},
            "csrc/ops/gelu.cu",
            0,
            id="a-wider-pattern",
        ),
        pytest.param(
            {"CMakeLists.txt": "add_subdirectory(csrc)\n", "csrc/CMakeLists.txt": "ops/*.cu\n"},
            "csrc/ops/gelu.cu",
            0,
            id="in-another-file",
        ),
    ],
)
def test_a_new_file_that_no_pattern_finds_is_told(
    upstream: dict[str, str], new: str, expected: int
) -> None:
    sides = ({**BASE, **side} for side in ({}, {new: "int gelu;\n"}, upstream))
    told = found([unbuilt_files], *({p: t.encode() for p, t in side.items()} for side in sides))
    assert [(one.path, one.is_certain) for one in told] == [(new, False)] * expected
