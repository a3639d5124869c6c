"""Descriptions of a patch's edits, each with the symbol that it is in."""

from patchmgr.engines.merge.edits import edits_of
from tests.tables import table

PYTHON = '''\
import os
from a import b, c

KINDS = {A, B}


def select(x, y=1):
    if x:
        return call(x, key=1)
    return [1, 2]


class Choice:
    """A choice."""

    first = 1

    def ask(self):
        return self.first
'''
CUDA = """\
#include <a.h>
int f(int a, int b) {
  if (a) { return g(a, b); }
  return 1;
}
"""


@table(
    ("old", "new", "words"),
    {
        "imported-name": ("b, c", "b, c, d", ["add `d` to the import from a"]),
        "import": ("import os\n", "", ["remove `import os`"]),
        "element": ("A, B", "A, B, C", ["add `C` to the set KINDS"]),
        "element-removed": ("A, B", "A", ["remove `B` from the set KINDS"]),
        "default": ("y=1):", "y=2):", ["replace `1` with `2` in select"]),
        "parameter": ("y=1):", "y=1, z=2):", ["add the parameter `z=2` in select"]),
        "argument": (
            "key=1)", "key=1, more=2)", ["add the argument `more=2` of the call of call in select"],
        ),
        "test": ("if x:", "if x and y:", ["add `and y` in `if x and y:` in select"]),
        "statement-of-a-method": (
            "        return self.first\n", "        log()\n        return self.first\n",
            ["add `log()` in Choice.ask"],
        ),
        "method": (
            "    def ask(self):\n", "    def tell(self):\n        pass\n\n    def ask(self):\n",
            ["add the method tell in Choice"],
        ),
        "field": ("first = 1", "first = 1\n    second = 2",
            ["add the assignment to second in Choice"]),
        "layout": ("[1, 2]", "[1,\n        2]", ["reformat `return [1,` in select"]),
        "nothing": ("A choice.", "A choice.", []),
    },
)  # fmt: skip
def test_an_edit_to_python_is_described_in_words(old: str, new: str, words: list[str]) -> None:
    assert PYTHON.count(old) == 1 or old == "A choice."
    told = edits_of(PYTHON, PYTHON.replace(old, new), "a.py")
    assert [str(edit) for edit in told] == words


@table(
    ("old", "new", "words"),
    {
        "include": ("#include <a.h>\n", "#include <a.h>\n#include <b.h>\n",
            ["add `#include <b.h>`"]),
        "argument": ("g(a, b)", "g(a, b, c)", ["add the argument `c` of g in f"]),
        "parameter": ("int b)", "int b, int c)", ["add the argument `int c` of f in f"]),
        "statement": ("  return 1;", "  log();\n  return 1;", ["add `log();` in f"]),
    },
)  # fmt: skip
def test_an_edit_to_cuda_is_described_in_words(old: str, new: str, words: list[str]) -> None:
    assert [str(edit) for edit in edits_of(CUDA, CUDA.replace(old, new), "a.cu")] == words


def test_the_edit_of_a_line_does_not_name_the_line_as_its_place() -> None:
    told = edits_of("one\ntwo\n", "one\nTWO\n", "a.txt")
    assert [*map(str, told)] == ["replace `two` with `TWO`"]


def test_a_long_statement_is_quoted_from_its_first_difference() -> None:
    start = "value = " + " + ".join(f"part_{n}" for n in range(20))
    (edit,) = edits_of(f"{start} + (a or b)\n", f"{start} + [c and\n d, e]\n", "a.py")
    assert "(a or b)" in edit.words
    assert "…" in edit.words


def test_the_first_text_may_be_empty() -> None:
    assert [edit.words for edit in edits_of("", "x = 1\n", "a.py")] == ["add the assignment to x"]


def test_unclosed_brackets_are_read_only_once() -> None:
    """Each one was once searched to the end of the file, so `report` did not end on 50,000."""
    start = "{" * 20_000 + "\n"
    (edit,) = edits_of(start, f"{start}int z;\n", "a.c")
    assert edit.words.startswith("add `int z;`")
