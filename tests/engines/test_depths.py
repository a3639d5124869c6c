"""How deep lines stand, by what the language says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from patchmgr.engines.depths import LITERAL, depths

PYTHON = """\
if a:
    call(
      one,
        two)
    text = '''one
  two'''
    # remark

def f():
    \"\"\"Say
    it.\"\"\"
"""
CXX = """\
int f() {
    // no { here
  g("{");
#if A
        h();
#endif
  }
"""
YAML = """\
a:
    b: 1
# remark
    c:

        - d
e: 2
"""


@pytest.mark.parametrize(
    ("path", "content", "found"),
    [
        pytest.param(
            "a.py", PYTHON,
            (0, 1, None, None, 1, LITERAL, None, None, 0, 1, None, None), id="python",
        ),
        pytest.param("a.py", "if a:\n  (\n", (None,) * 3, id="python-that-does-not-end"),
        pytest.param("a.cpp", CXX, (0, 1, 1, 1, 2, 1, 0, 0), id="cxx"),
        pytest.param("a.cpp", "}\n}\nf\n", (-1, -2, -2, -2), id="cxx-cut"),
        pytest.param("a.yaml", YAML, (1, 2, None, 2, None, 3, 1, None), id="yaml"),
        pytest.param("a.txt", "a\n  b\n", (None,) * 3, id="text"),
    ],
)  # fmt: skip
def test_depth_is_what_the_language_says(
    path: str, content: str, found: Sequence[int | None]
) -> None:
    assert tuple(depths(path, content.encode())) == found
