"""A merge that is clean for git and that nothing can read any more."""

from __future__ import annotations

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
GUARDED = "if FAST:\n    import a\n    import b\n"
PLAIN = "import a\nimport b\n"
CALL = f"x = [\n{APART}    1,\n]\n"


def rows(*pairs: tuple[str, str]) -> str:
    return "[\n" + "".join(f'  "{key}{value}",\n\n\n\n' for key, value in pairs)


@table(
    ("path", "base", "ours", "upstream", "line"),
    [
        pytest.param(
            "a.py",
            f"if FAST:\n    import a\n{APART}    import b\n",
            f"if FAST:\n    import a\n{APART}    import b\n    import c\n",
            f"import a\n{APART}import b\n",
            None,
            id="a-conflict-for-git-is-none-of-ours",
        ),
        pytest.param(
            "a.py",
            f"if FAST:\n    import a\n{APART}    # rest\n",
            f"if FAST:\n    import a\n{APART}    # rest\n    import c\n",
            f"import a\n{APART}    # rest\n",
            10,
            id="one-dedents-imports-the-other-adds-one",
        ),
        pytest.param(
            "a.py",
            f"if FAST:\n    import a\n{APART}    # rest\n",
            f"if FAST:\n    import a\n{APART}    # rest\nimport c\n",
            f"import a\n{APART}    # rest\n",
            None,
            id="no-change-it-is-added-behind-them",
        ),
        pytest.param(
            "a.py",
            f"def f(a):\n{APART}    pass\n",
            f"def f(a):\n{APART}    return a\n",
            f"class f:\n{APART}    pass\n",
            9,
            id="a-return-outside-of-a-function",
        ),
        pytest.param(
            "a.txt",
            f"if FAST:\n    import a\n{APART}    # rest\n",
            f"if FAST:\n    import a\n{APART}    # rest\n    import c\n",
            f"import a\n{APART}    # rest\n",
            None,
            id="no-change-another-kind-of-file",
        ),
        pytest.param(
            "a.json",
            '{\n "a": [1],\n\n\n\n\n\n "b": 1\n}\n',
            '{\n "a": [1],\n\n\n\n\n\n "b": 1,\n "c": 2\n}\n',
            '{\n "a": [1]\n\n\n\n\n\n\n}\n',
            None,
            id="no-change-json-in-conflict",
        ),
        pytest.param(
            "a.json",
            '{\n "a": [\n\n\n\n\n\n 1], "b": 2}\n',
            '{\n "a": [\n\n\n\n\n\n 1], "b": 3}\n',
            '{\n "a": {\n\n\n\n\n\n 1], "b": 2}\n',
            None,
            id="no-change-upstream-is-broken",
        ),
        pytest.param(
            "a.json",
            "[\n 1\n\n\n\n\n\n ,2\n]\n",
            "[\n 1\n\n\n\n\n\n ,2,3\n]\n",
            "[\n 1,5\n\n\n\n\n\n ,2\n]\n",
            None,
            id="no-change-json",
        ),
        pytest.param(
            "a.json",
            "[\n 1\n,2\n\n\n\n\n\n]\n",
            "[\n 1\n,2\n\n\n\n\n,3\n]\n",
            "[\n\n\n\n\n\n\n]\n",
            7,
            id="json-whose-first-element-went",
        ),
        pytest.param(
            "a.toml",
            "[a]\nx = 1\n\n\n\n\n\n[c]\ny = 1\n",
            "[a]\nx = 1\n\n\n\n\n\n[c]\ny = 1\n[b]\nz = 1\n",
            "[b]\nz = 2\n[a]\nx = 1\n\n\n\n\n\n[c]\ny = 1\n",
            0,
            id="a-table-of-toml-twice",
        ),
        pytest.param(
            "a.toml",
            "[a]\nx = 1\n\n\n\n\n\n[c]\ny = 1\n",
            "[a]\nx = 1\n\n\n\n\n\n[c]\ny = 1\n[d]\nz = 1\n",
            "[b]\nz = 2\n[a]\nx = 1\n\n\n\n\n\n[c]\ny = 1\n",
            None,
            id="no-change-two-tables",
        ),
        pytest.param(
            "a.hpp",
            f"#if FAST\nint a;\n#endif\n{APART}#endif\n",
            f"#if FAST\nint a;\n{APART}#endif\n",
            f"#if FAST\nint a;\n#endif\n{APART}",
            0,
            id="each-removes-another-endif",
        ),
        pytest.param(
            "a.cu",
            f"#if FAST\nint f() {{\n#else\nint g() {{\n#endif\n{APART}  return 0;\n}}\n",
            f"#if FAST\nint f() {{\n#else\nint g() {{\n#endif\n{APART}  return 1;\n}}\n",
            f"#if FAST\nint f() {{\n#else\nint h() {{\n#endif\n{APART}  return 0;\n}}\n",
            None,
            id="no-change-branches-that-open-one-body",
        ),
    ],
)
def test_what_both_sides_can_read_and_the_merge_cannot(
    path: str, base: str, ours: str, upstream: str, line: int | None
) -> None:
    told = found([syntax], {path: base.encode()}, {path: ours.encode()}, {path: upstream.encode()})
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
def test_a_patch_in_another_encoding_than_the_file_now_has(
    base: bytes, ours: bytes, upstream: bytes, line: int | None
) -> None:
    told = found([encoding], {"a.txt": base}, {"a.txt": ours}, {"a.txt": upstream})
    assert [(f.kind, f.line, f.is_certain) for f in told] == [("encoding", line, True)][
        : bool(line)
    ]


def test_the_patch_is_a_conflict_and_its_reason_names_file_and_line() -> None:
    base = f"if FAST:\n    import a\n{APART}    # rest\n".encode()
    sides = base + b"    import c\n", base.replace(b"if FAST:\n    import a", b"import a")
    judged, states = audited({"a.py": base}, {"a.py": sides[0]}, {"a.py": sides[1]})
    patches = {"p": difference("p", {"a.py": base}, {"a.py": sides[0]})}
    assert judged[0].outcome.verdict is not Verdict.CONFLICT
    outcome = with_findings(judged, run_checks(states, CHECKS), patches, {})[0].outcome
    assert outcome.verdict is Verdict.CONFLICT
    assert outcome.reason is not None
    assert "a.py:10: both sides parse, and their merge does not" in outcome.reason


@table(
    ("path", "content", "has_fault"),
    [
        pytest.param("a.py", b"x = 1\0\n", True, id="a-byte-that-no-source-has"),
        pytest.param("a.py", b"x = '\\d'\n", False, id="a-warning-is-no-fault"),
        pytest.param("a.py", "x = 'é'\n".encode("latin-1"), True, id="not-utf-8"),
        pytest.param("a.py", b"# coding: latin-1\nx = '\xe9'\n", False, id="another-coding"),
        pytest.param("a.py", b"(" * 150 + b")" * 150, False, id="deep"),
        pytest.param("a.json", b"[" * 200_000, False, id="json-too-deep-to-be-told"),
        pytest.param("a.json", b"\xff\xff", True, id="json-that-is-no-text"),
        pytest.param("a.toml", b"a = \n", True, id="toml"),
        pytest.param("a.md", b"<<<<<<< ours", False, id="another-kind"),
        pytest.param(
            "a.cu", b'f("}", \'{\', uR"x(()x", 1\'000 /* ( */); // [\n', False, id="no-brackets"
        ),
        pytest.param("a.cu", b"{\n # if A\n}\n#else\n}\n#endif\n", False, id="branches"),
        pytest.param("a.cu", b"f(a[1);\n", True, id="an-odd-bracket"),
        pytest.param("a.cu", b"f(); /* no end\n", True, id="a-comment-without-an-end"),
    ],
)
def test_a_fault_of_one_text(path: str, content: bytes, has_fault: bool) -> None:
    assert (fault_of(path, content) is not None) is has_fault


def test_a_large_text_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked, "LARGEST", 3)
    assert fault_of("a.py", b"(((((") is None
