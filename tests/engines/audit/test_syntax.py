"""A merge that is clean for git and that nothing can read any more."""

import pytest

from patchmgr.engines.audit import syntax as checked
from patchmgr.engines.audit.checks import CHECKS
from patchmgr.engines.audit.rebased import with_findings
from patchmgr.engines.audit.states import run_checks
from patchmgr.engines.audit.syntax import encoding, fault_of, syntax
from patchmgr.model.outcome import Verdict
from tests.engines.audit.audited import audited, found
from tests.engines.series import difference
from tests.tables import table

APART = "\n# one\n# two\n# three\n# four\n# five\n\n"

Edit = tuple[str, str]
FAST = f"if FAST:\n    import a\n{APART}    # rest\n"
DEDENTED: Edit = ("if FAST:\n    import a\n", "import a\n")
TABLES = "[a]\nx = 1\n\n\n\n\n\n[c]\ny = 1\n"
ENDS = f"#if FAST\nint a;\n#endif\n{APART}#endif\n"
BRANCHES = f"#if FAST\nint f() {{\n#else\nint g() {{\n#endif\n{APART}  return 0;\n}}\n"


@table(
    ("path", "base", "ours", "upstream", "line"),
    {
        "a-conflict-for-git-is-none-of-ours": (
            "a.py", FAST.replace("# rest", "import b"), ("import b\n", "import b\n    import c\n"),
            (FAST.replace("# rest", "import b"), f"import a\n{APART}import b\n"), None),
        "one-dedents-imports-the-other-adds-one": (
            "a.py", FAST, ("# rest\n", "# rest\n    import c\n"), DEDENTED, 10),
        "no-change-it-is-added-behind-them": (
            "a.py", FAST, ("# rest\n", "# rest\nimport c\n"), DEDENTED, None),
        "a-return-outside-of-a-function": (
            "a.py", f"def f(a):\n{APART}    pass\n", ("pass", "return a"), ("def f(a)", "class f"),
            9),
        "no-change-another-kind-of-file": (
            "a.txt", FAST, ("# rest\n", "# rest\n    import c\n"), DEDENTED, None),
        "no-change-json-in-conflict": (
            "a.json", '{\n "a": [1],\n\n\n\n\n\n "b": 1\n}\n', ('"b": 1\n', '"b": 1,\n "c": 2\n'),
            ('[1],\n\n\n\n\n\n "b": 1\n', "[1]\n\n\n\n\n\n\n"), None),
        "no-change-upstream-is-broken": (
            "a.json", '{\n "a": [\n\n\n\n\n\n 1], "b": 2}\n', ("2", "3"), ("[", "{"), None),
        "no-change-json": (
            "a.json", "[\n 1\n\n\n\n\n\n ,2\n]\n", (",2", ",2,3"), (" 1\n", " 1,5\n"), None),
        "json-whose-first-element-went": (
            "a.json", "[\n 1\n,2\n\n\n\n\n\n]\n", ("\n\n]", "\n,3\n]"), (" 1\n,2\n", "\n"), 7),
        "a-table-of-toml-twice": (
            "a.toml", TABLES, ("y = 1\n", "y = 1\n[b]\nz = 1\n"), ("[a]", "[b]\nz = 2\n[a]"), 0),
        "no-change-two-tables": (
            "a.toml", TABLES, ("y = 1\n", "y = 1\n[d]\nz = 1\n"), ("[a]", "[b]\nz = 2\n[a]"), None),
        "each-removes-another-endif": (
            "a.hpp", ENDS, ("a;\n#endif\n", "a;\n"), ("\n\n#endif\n", "\n\n"), 0),
        "no-change-branches-that-open-one-body": (
            "a.cu", BRANCHES, ("return 0", "return 1"), ("int g", "int h"), None),
    },
)  # fmt: skip
def test_what_both_sides_can_read_and_the_merge_cannot(
    path: str, base: str, ours: Edit, upstream: Edit, line: int | None
) -> None:
    sides = (base, base.replace(*ours), base.replace(*upstream))
    told = found([syntax], *({path: side.encode()} for side in sides))
    assert [finding.line for finding in told] == ([] if line is None else [line])
    for finding in told:
        assert finding.is_certain
        assert finding.kind == "syntax"
        assert finding.path == path


LATIN = b"\xe9\na\nb\nc\nd\ne\n"


@table(
    ("base", "ours", "upstream", "line"),
    {
        "upstream-converts-it-to-UTF-8": (
            LATIN, LATIN.replace(b"e", b"\xfc"), LATIN.replace(b"\xe9", "é".encode()), 6),
        "no-change-the-patch-adds-ASCII": (
            LATIN, LATIN.replace(b"e", b"u"), LATIN.replace(b"\xe9", "é".encode()), None),
        "no-change-the-patch-brings-it-to-UTF-8": (
            b"a\nb\nc\nd\n", b"a\nb\nc\n\xfc\n", "é\nb\nc\nd\n".encode(), None),
        "no-change-upstream-keeps-the-encoding": (
            b"\xe9\nb\nc\nd\n", b"\xe9\nb\nc\n\xfc\n", b"\xe8\nb\nc\nd\n", None),
    },
)  # fmt: skip
def test_another_encoding(base: bytes, ours: bytes, upstream: bytes, line: int | None) -> None:
    told = found([encoding], {"a.txt": base}, {"a.txt": ours}, {"a.txt": upstream})
    faults = [(f.kind, f.line, f.is_certain) for f in told]
    assert faults == ([("encoding", line, True)] if line else [])


def test_the_patch_is_a_conflict_and_its_reason_names_file_and_line() -> None:
    base = f"if FAST:\n    import a\n{APART}    # rest\n".encode()
    sides = base + b"    import c\n", base.replace(b"if FAST:\n    import a", b"import a")
    judged, states = audited({"a.py": base}, {"a.py": sides[0]}, {"a.py": sides[1]})
    patches = {"p": difference("p", {"a.py": base}, {"a.py": sides[0]})}
    assert judged[0].outcome.verdict is not Verdict.CONFLICT
    outcome = with_findings(judged, run_checks(states, CHECKS), patches, {})[0].outcome
    assert outcome.verdict is Verdict.CONFLICT
    assert outcome.reason is not None
    assert "a.py:10: both sides parse, but their merge does not" in outcome.reason


@table(
    ("path", "content", "has_fault"),
    {
        "a-byte-that-no-source-has": ("a.py", b"x = 1\0\n", True),
        "a-warning-is-no-fault": ("a.py", b"x = '\\d'\n", False),
        "not-utf-8": ("a.py", "x = 'é'\n".encode("latin-1"), True),
        "another-coding": ("a.py", b"# coding: latin-1\nx = '\xe9'\n", False),
        "deep": ("a.py", b"(" * 150 + b")" * 150, False),
        "json-too-deep-to-be-told": ("a.json", b"[" * 200_000, False),
        "json-that-is-no-text": ("a.json", b"\xff\xff", True),
        "toml": ("a.toml", b"a = \n", True),
        "another-kind": ("a.md", b"<<<<<<< ours", False),
        "no-brackets": ("a.cu", b'f("}", \'{\', uR"x(()x", 1\'000 /* ( */); // [\n', False),
        "branches": ("a.cu", b"{\n # if A\n}\n#else\n}\n#endif\n", False),
        "an-odd-bracket": ("a.cu", b"f(a[1);\n", True),
        "a-comment-without-an-end": ("a.cu", b"f(); /* no end\n", True),
    },
)
def test_a_fault_of_one_text(path: str, content: bytes, has_fault: bool) -> None:
    assert (fault_of(path, content) is not None) is has_fault


def test_a_large_text_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked, "LARGEST", 3)
    assert fault_of("a.py", b"(((((") is None
