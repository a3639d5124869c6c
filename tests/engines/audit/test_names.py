"""Names that nothing binds, and what is there twice."""

from patchmgr.engines.audit.names import check_names, new_faults
from tests.engines.audit.audited import found
from tests.tables import table

PAD = "".join(f"value_{n} = {n}\n" for n in range(9))
TOOL = "def tool():\n    return 1\n\n\n"
INNER = PAD.replace("v", "    v").encode()
FUNCTION = "def f(a):\n    size = a\n    return a\n\n\ndef g(size):\n    return size\n"


def text(top: str = "", bottom: str = "") -> bytes:
    return f"{top}{PAD}{bottom}".encode()


@table(
    ("base", "ours", "upstream", "said"),
    {
        "the-function-is-gone": (
            text(TOOL), text(TOOL, "x = tool()\n"), text(),
            [("undefined-name", True, "tool")],
        ),
        "a-conflict": (
            text(FUNCTION), text(FUNCTION.replace("return a\n\n", "return a + size\n\n")),
            text(FUNCTION.replace("    size = a\n", "")), [],
        ),
        "a-local-variable-is-gone": (
            b"def f(a):\n    size = a\n" + INNER + b"    return a\n",
            b"def f(a):\n    size = a\n" + INNER + b"    return size\n",
            b"def f(a):\n" + INNER + b"    return a\n",
            [("undefined-name", True, "size")],
        ),
        "no-run-looks-at-it": (
            text(TOOL), text(TOOL, "def g(x: 'tool'):\n    pass\n"), text(),
            [("undefined-name", False, "tool")],
        ),
        "a-global-of-the-module": (
            text(TOOL), text(TOOL, "global x\nx = tool()\n"), text(),
            [("undefined-name", True, "tool")],
        ),
        "both-define-it": (
            text(), text("def f():\n    pass\n\n"), text("", "\n\ndef f():\n    pass\n"),
            [("defined-twice", False, "f")],
        ),
        "all-is-well": (
            text("import os\n"), text("import os\n", "x = os.sep\n"), text("import os, sys\n"),
            [],
        ),
        "the-sides-are-python-2": (
            text("exec '1'\n", "print 1\nxrange(1)\n"), text("", "print 1\nxrange(1)\n"),
            text("exec '1'\n", "xrange(1)\n"), [],
        ),
        "it-was-missing-before": (
            text("missing\n"), text("missing\n", "x = 1\n"), text("missing\nimport os\n"),
            [],
        ),
    },
)  # fmt: skip
def test_only_new_faults_are_told(
    base: bytes, ours: bytes, upstream: bytes, said: list[tuple[str, bool, str | None]]
) -> None:
    findings = found([check_names], {"a.py": base}, {"a.py": ours}, {"a.py": upstream})
    assert [(f.kind, f.is_certain, f.symbol) for f in findings] == said


def test_a_text_that_is_too_deep_says_nothing() -> None:
    assert new_faults(b"x = " + b"(" * 5000 + b"y" + b")" * 5000 + b"\n") == ()
    assert new_faults(b"x = " + b"-" * 9000 + b"y\n") == ()
