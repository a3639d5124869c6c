"""The parts of a work order that depend only on texts, and where a long one is cut."""

from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines.conflicts.work_order import first_statements, near_hunks
from tests.tables import table

PYTHON = (
    "import os\n\n\ndef f(x):\n    y = (\n        x\n    )\n    return y\n\n\ndef g():\n    pass\n"
)
C = "int f(int a) {\n  int b = 1;\n  if (b) { c(); }\n  return 2;\n}\nint x;\n"


@table(
    "text, path, most, kept",
    {
        "all of it": (PYTHON, "a.py", 999, PYTHON),
        "a statement": (PYTHON, "a.py", 12, "import os\n"),
        "of a function": (PYTHON, "a.py", 60, PYTHON[: PYTHON.index("    return")]),
        "none of a bracket": (PYTHON, "a.py", 40, "import os\n"),
        "of another language": (C, "a.cc", 40, "int f(int a) {\n  int b = 1;"),
        "lines of prose": ("one\ntwo\nthree\n", "a.md", 9, "one\ntwo\n"),
        "a long line": ("x" * 99, "a.md", 9, ""),
    },
)
def test_a_text_ends_with_a_whole_statement(text: str, path: str, most: int, kept: str) -> None:
    assert first_statements(text, path, most) == kept


@given(st.integers(0, 200), st.sampled_from([(PYTHON, "a.py"), (C, "a.cc"), (PYTHON, "a.md")]))
def test_a_shortened_text_is_a_start_and_fits(most: int, given: tuple[str, str]) -> None:
    text, path = given
    kept = first_statements(text, path, most)
    assert text.startswith(kept)
    assert len(kept) <= most or kept == text


HEAD = "diff --git a/a b/a\n--- a/a\n+++ b/a\n"
ONE, TWO = "@@ -1 +1 @@\n-old\n+new\n", "@@ -9 +9 @@\n-far\n+away\n"


@table(
    "texts, names, kept",
    {
        "a line": ([b"new\n"], (), HEAD + ONE),
        "a name": ([], ("away",), HEAD + TWO),
        "nothing near": ([b"else\n"], (), HEAD + ONE + TWO),
    },
)
def test_hunks_nearby_are_kept(texts: list[bytes], names: tuple[str, ...], kept: str) -> None:
    assert near_hunks(HEAD + ONE + TWO, texts, names) == kept
