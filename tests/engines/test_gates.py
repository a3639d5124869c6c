"""The gates of `check` on the text of patches, on Python, and on claims."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import pytest

from patchmgr.engines.gates.python import PythonGates, stated_versions
from patchmgr.engines.gates.text import (
    cited_commits,
    header_problems,
    link_problems,
    marker_problems,
    sign_off_problems,
    whitespace_problems,
)
from patchmgr.engines.languages.python_modules import Modules, parsed_for
from patchmgr.engines.series.claims import broken_claims
from patchmgr.model.check import Problem
from patchmgr.model.patch import Author, Patch
from patchmgr.model.settings import Claim
from patchmgr.model.snapshot import Entry
from tests.engines.ports import MemoryBlobs
from tests.engines.series import File, Upstream, created, edited, entry_of, link, patch_of
from tests.tables import table

LINES = [b"line %d\n" % n for n in range(9)]
OLD = b"".join(LINES)


def at_end(added: bytes, *, old: bytes = OLD) -> Patch:
    return patch_of("p", edited("f", old, old + added))


def sentences(problems: object) -> list[str]:
    assert hasattr(problems, "__iter__")
    return [f"{p.sentence} {p.line}" if p.line else p.sentence for p in problems]


@table(
    ("patch", "said"),
    [
        pytest.param(at_end(b"new\n"), [], id="good"),
        pytest.param(at_end(b"new \n"), ["white space at the end of the line 10"], id="end"),
        pytest.param(at_end(b" \tnew\n"), ["a space before a tab 10"], id="indentation"),
        pytest.param(at_end(b"new\r\n"), ["white space at the end of the line 10"], id="CR"),
        pytest.param(at_end(b"new\r\n", old=OLD.replace(b"\n", b"\r\n")), [], id="CR LF file"),
        pytest.param(patch_of("p", created("f", b"a\r\nb\r\n")), [], id="new CR LF file"),
        pytest.param(
            at_end(b"new\n\n\n"), ["a new blank line at the end of the file 11"], id="blank end"
        ),
        pytest.param(
            patch_of("p", created("f", b"\n")),
            ["a new blank line at the end of the file 1"],
            id="nothing but a blank line",
        ),
        pytest.param(patch_of("p", edited("f", OLD, b"\n" + OLD)), [], id="blank line above"),
        pytest.param(
            patch_of("p", edited("f", OLD, b"".join([*LINES[:8], b"\n", LINES[8]]))),
            [],
            id="blank line near the end",
        ),
        pytest.param(patch_of("p", edited("f", OLD + b"\n", OLD)), [], id="blank end that goes"),
        pytest.param(patch_of("p", created("f", b"")), [], id="empty file"),
    ],
)
def test_white_space_is_judged_as_git_does(patch: Patch, said: list[str]) -> None:
    assert sentences(whitespace_problems(patch)) == said


def test_conflict_markers_are_found_at_their_lines() -> None:
    patch = at_end(b"<<<<<<< ours\n======== title\n=======\n>>>>>>> theirs\n")
    assert [problem.line for problem in marker_problems(patch)] == [10, 12, 13]


def headed(
    fields: Mapping[str, str], message: bytes = b"Do it\n", author: Author | None = None
) -> Patch:
    lines = "".join(f"{name}: {value}\n" for name, value in fields.items())
    header = lines.encode() + b"\n"
    return Patch("p", header, header, b"", "Do it", message, author, (), True, fields)


SIGNED = b"Do it\n\nSigned-off-by: Ann <ann@example.org>\n"


@table(
    ("message", "author", "said"),
    [
        pytest.param(b"Do it\n", None, ["no Signed-off-by in the header"], id="none"),
        pytest.param(SIGNED, None, [], id="nobody known as author"),
        pytest.param(SIGNED, Author("Other", "ANN@example.org", ""), [], id="address"),
        pytest.param(SIGNED, Author("ann", "other@example.org", ""), [], id="name"),
        pytest.param(
            SIGNED,
            Author("Bob", "bob@example.org", ""),
            ["the author Bob <bob@example.org> did not sign off"],
            id="somebody else",
        ),
    ],
)
def test_the_author_signs_off(message: bytes, author: Author | None, said: list[str]) -> None:
    assert sentences(sign_off_problems(headed({}, message, author))) == said


@table(
    ("fields", "said"),
    [
        pytest.param({"Bug": "https://example.org/1"}, [], id="good"),
        pytest.param({"Bug": "#12"}, [], id="number"),
        pytest.param({"Bug-Debian": "12"}, [], id="bug elsewhere"),
        pytest.param(
            {"Bug": "somebody said so"}, ["Bug names no bug: somebody said so"], id="no bug"
        ),
        pytest.param(
            {"Origin": "https://example"},
            ["Origin has https://example which is no link"],
            id="no host",
        ),
        pytest.param(
            {"Origin": "https://example.org:x/"},
            ["Origin has https://example.org:x/ which is no link"],
            id="no port",
        ),
        pytest.param(
            {"Origin": "https://[x/"}, ["Origin has https://[x/ which is no link"], id="bracket"
        ),
        pytest.param({"Other": "https://example"}, [], id="another field"),
    ],
)
def test_links_lead_somewhere_by_their_form(fields: dict[str, str], said: list[str]) -> None:
    assert sentences(link_problems(headed(fields))) == said


def test_a_header_says_why_and_until_when() -> None:
    assert len(sentences(header_problems(headed({})))) == 2
    good = headed({"Drop-When": "upstream has it"}, b"Do it\n\nIt is needed.\n")
    assert sentences(header_problems(good)) == []


def test_commits_that_a_header_cites() -> None:
    patch = headed({"Origin": f"commit: {'a' * 40}", "Forwarded": f"commit: {'b' * 40}"})
    assert list(cited_commits(patch)) == ["a" * 40]


@table(
    ("texts", "versions"),
    [
        pytest.param([b"x = 1\n", b'requires-python = ">=3.9"\n'], ((3, 9),), id="second file"),
        pytest.param(
            [b'requires-python = "<4"\n', b"python_requires='>=3.8,<4'"], ((3, 8),), id="bound"
        ),
        pytest.param([b"x = 1\n"], (), id="silent"),
    ],
)
def test_a_project_states_its_oldest_python(
    texts: list[bytes], versions: tuple[tuple[int, int], ...]
) -> None:
    assert stated_versions(texts) == versions


Changes = Mapping[str, "File | None"]
PIN: Mapping[str, File] = {
    "pkg/__init__.py": b"",
    "pkg/a.py": b"def f(): pass\nfrom os import *\n",
    "pkg/b.py": b"def g(): pass\nclass C: pass\n",
    "use.py": b"from pkg.b import g\nfrom pkg import b\nimport pkg.b, os\n",
    "lost.py": link(b"use.py"),
    "broken.py": b"(\n",
}


def problems(*patches: Changes) -> list[str]:
    blobs = MemoryBlobs()
    pin = Upstream(blobs, PIN)
    gates = PythonGates(pin, Modules(blobs.read, ()))
    changes: list[tuple[str, Mapping[str, Entry | None]]] = [
        (f"p{n}", {p: None if f is None else entry_of(blobs, f) for p, f in patch.items()})
        for n, patch in enumerate(patches)
    ]
    found = gates.problems(changes, lambda modules, names: ["use.py", "lost.py", "gone.py"])
    return [_shown(problem) for problem in found]


def _shown(problem: Problem) -> str:
    return f"{problem.patch} {problem.path}: {problem.sentence}"


@table(
    ("patches", "said"),
    [
        pytest.param([{"use.py": b"from pkg.b import g, C\n"}], [], id="resolves"),
        pytest.param(
            [{"use.py": b"from pkg.b import h\n"}],
            ["p0 use.py: imports h from pkg.b, which does not have it"],
            id="no such name",
        ),
        pytest.param([{"use.py": b"from pkg.a import h\n"}], [], id="a star may have it"),
        pytest.param(
            [{"use.py": b"from pkg.b import *\nimport pkg.b\nfrom away import x\n"}],
            [],
            id="whole modules",
        ),
        pytest.param(
            [{"pkg/b.py": b"class C: pass\n"}],
            ["p0 use.py: `from pkg.b import g` finds nothing any more"],
            id="name gone",
        ),
        pytest.param(
            [{"pkg/b.py": None}],
            [
                "p0 use.py: `from pkg import b` finds nothing any more",
                "p0 use.py: `import pkg.b` finds nothing any more",
                "p0 use.py: `from pkg.b import g` finds nothing any more",
            ],
            id="module gone",
        ),
        pytest.param([{"pkg/b.py": b"class C: pass\n", "use.py": None}], [], id="importer gone"),
        pytest.param([{"pkg/b.py": b"class C: pass\ng = 1\n"}], [], id="bound in another way"),
        pytest.param([{"pkg/b.py": b"from pkg.a import *\n"}], [], id="may have all"),
        pytest.param(
            [{"pkg/b.py": b"class C: pass\n"}, {"pkg/b.py": b"class C: pass\ng = 1\n"}],
            ["p0 use.py: `from pkg.b import g` finds nothing any more"],
            id="back again",
        ),
        pytest.param([{"broken.py": b"((\n"}], [], id="upstream's own does not compile"),
    ],
)
def test_imports_find_their_names_at_every_patch(patches: list[Changes], said: list[str]) -> None:
    assert problems(*patches) == said


def test_a_file_that_does_not_compile_is_named() -> None:
    (said,) = problems({"use.py": b"return\n"})
    assert said.startswith("p0 use.py: does not compile for Python 3.")


def test_what_cannot_be_read_as_python_at_all_does_not_compile() -> None:
    version = sys.version_info[:2]
    fault = parsed_for(b"x = " + b"-" * 200_000 + b"1\n", version, compiles=False)
    assert isinstance(fault, tuple)
    assert fault[0].startswith("does not compile")


@table(
    ("claim", "head", "said"),
    [
        pytest.param(Claim("f", None, None), b"a\n", [], id="upstream's"),
        pytest.param(
            Claim("f", None, None),
            b"b\n",
            ["f is claimed to be upstream's, and differs"],
            id="differs",
        ),
        pytest.param(
            Claim("f", "g", None),
            None,
            ["f::g is claimed to be as it was, and is not there"],
            id="gone",
        ),
    ],
)
def test_claims_are_held(claim: Claim, head: bytes | None, said: list[str]) -> None:
    assert sentences(broken_claims([claim], lambda path: b"a\n", lambda path: head)) == said
