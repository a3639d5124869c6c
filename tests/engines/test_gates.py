"""The gates of `check` on the text of patches, on Python, and on claims."""

import sys
from collections.abc import Mapping

from msgspec.structs import replace

from patchmgr.engines.gates import (
    PythonGates,
    cited_commits,
    header_problems,
    link_problems,
    marker_problems,
    sign_off_problems,
    stated_versions,
    whitespace_problems,
)
from patchmgr.engines.languages.python_modules import Modules, parsed_for
from patchmgr.engines.series.claims import broken_claims
from patchmgr.model.patch import Author, Patch
from patchmgr.model.settings import ContentClaim
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
    ("patch", "expected"),
    {
        "good": (at_end(b"new\n"), []),
        "end": (at_end(b"new \n"), ["white space at the end of the line 10"]),
        "indentation": (at_end(b" \tnew\n"), ["a space before a tab 10"]),
        "CR": (at_end(b"new\r\n"), ["white space at the end of the line 10"]),
        "CR LF file": (at_end(b"new\r\n", old=OLD.replace(b"\n", b"\r\n")), []),
        "new CR LF file": (patch_of("p", created("f", b"a\r\nb\r\n")), []),
        "blank end": (at_end(b"new\n\n\n"), ["a new blank line at the end of the file 11"]),
        "nothing but a blank line": (patch_of("p", created("f", b"\n")),
            ["a new blank line at the end of the file 1"]),
        "blank line above": (patch_of("p", edited("f", OLD, b"\n" + OLD)), []),
        "blank line near the end": (
            patch_of("p", edited("f", OLD, b"".join([*LINES[:8], b"\n", LINES[8]]))), []),
        "blank end that goes": (patch_of("p", edited("f", OLD + b"\n", OLD)), []),
        "empty file": (patch_of("p", created("f", b"")), []),
    },
)  # fmt: skip
def test_white_space_is_judged_as_git_does(patch: Patch, expected: list[str]) -> None:
    assert sentences(whitespace_problems(patch)) == expected


def test_conflict_markers_are_found_at_their_lines() -> None:
    patch = at_end(b"<<<<<<< ours\n======== title\n=======\n>>>>>>> theirs\n")
    assert [problem.line for problem in marker_problems(patch)] == [10, 12, 13]


def test_a_conflict_marker_that_git_left_in_a_message_is_found() -> None:
    header = b"Subject: x\n\n<<<<<<< HEAD\nWhy\n=======\nBecause\n>>>>>>> b\n"
    patch = replace(at_end(b"x\n"), header=header)
    assert sentences(marker_problems(patch)) == ["a conflict marker in the header"]


def headed(
    fields: Mapping[str, str], message: bytes = b"Do it\n", author: Author | None = None
) -> Patch:
    lines = "".join(f"{name}: {value}\n" for name, value in fields.items())
    header = lines.encode() + b"\n"
    return Patch("p", header, header, b"", "Do it", message, author, (), True, fields)


SIGNED = b"Do it\n\nSigned-off-by: Ann <ann@example.org>\n"


@table(
    ("message", "author", "expected"),
    {
        "none": (b"Do it\n", None, ["no Signed-off-by in the header"]),
        "nobody known as author": (SIGNED, None, []),
        "address": (SIGNED, Author("Other", "ANN@example.org", ""), []),
        "name": (SIGNED, Author("ann", "other@example.org", ""), []),
        "somebody else": (
            SIGNED,
            Author("Bob", "bob@example.org", ""),
            ["the author Bob <bob@example.org> did not sign off"],
        ),
    },
)
def test_the_author_signs_off(message: bytes, author: Author | None, expected: list[str]) -> None:
    assert sentences(sign_off_problems(headed({}, message, author))) == expected


@table(
    ("fields", "expected"),
    {
        "good": ({"Bug": "https://example.org/1"}, []),
        "number": ({"Bug": "#12"}, []),
        "bug elsewhere": ({"Bug-Debian": "12"}, []),
        "no bug": ({"Bug": "somebody said so"}, ["Bug names no bug: somebody said so"]),
        "no host": ({"Origin": "https://example"},
            ["Origin contains https://example, which is not a valid link"]),
        "no port": ({"Origin": "https://example.org:x/"},
            ["Origin contains https://example.org:x/, which is not a valid link"]),
        "bracket": ({"Origin": "https://[x/"},
            ["Origin contains https://[x/, which is not a valid link"]),
        "another field": ({"Other": "https://example"}, []),
    },
)  # fmt: skip
def test_links_lead_somewhere_by_their_form(fields: dict[str, str], expected: list[str]) -> None:
    assert sentences(link_problems(headed(fields))) == expected


def test_a_header_says_why_and_until_when() -> None:
    assert len(sentences(header_problems(headed({})))) == 2
    good = headed({"Drop-When": "upstream has it"}, b"Do it\n\nIt is needed.\n")
    assert sentences(header_problems(good)) == []


def test_commits_that_a_header_cites() -> None:
    patch = headed({"Origin": f"commit: {'a' * 40}", "Forwarded": f"commit: {'b' * 40}"})
    assert list(cited_commits(patch)) == ["a" * 40]


@table(
    ("texts", "versions"),
    {
        "second file": ([b"x = 1\n", b'requires-python = ">=3.9"\n'], ((3, 9),)),
        "bound": ([b'requires-python = "<4"\n', b"python_requires='>=3.8,<4'"], ((3, 8),)),
        "silent": ([b"x = 1\n"], ()),
    },
)
def test_the_oldest_python(texts: list[bytes], versions: tuple[tuple[int, int], ...]) -> None:
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
    return [f"{problem.patch} {problem.path}: {problem.sentence}" for problem in found]


@table(
    ("patches", "expected"),
    {
        "resolves": ([{"use.py": b"from pkg.b import g, C\n"}], []),
        "no such name": ([{"use.py": b"from pkg.b import h\n"}],
            ["p0 use.py: imports h from pkg.b, which does not have it"]),
        "no such relative name": ([{"pkg/c.py": b"from .b import h\n"}],
            ["p0 pkg/c.py: imports h from .b, which does not have it"]),
        "tried": (
            [{"use.py": b"try:\n    from pkg.b import h\nexcept ImportError:\n    h = None\n"}],
            []),
        "a star may have it": ([{"use.py": b"from pkg.a import h\n"}], []),
        "whole modules": ([{"use.py": b"from pkg.b import *\nimport pkg.b\nfrom away import x\n"}],
            []),
        "name gone": ([{"pkg/b.py": b"class C: pass\n"}],
            ["p0 use.py: `from pkg.b import g` no longer works"]),
        "module gone": ([{"pkg/b.py": None}],
            ["p0 use.py: `from pkg import b` no longer works",
             "p0 use.py: `import pkg.b` no longer works",
             "p0 use.py: `from pkg.b import g` no longer works"]),
        "importer gone": ([{"pkg/b.py": b"class C: pass\n", "use.py": None}], []),
        "bound in another way": ([{"pkg/b.py": b"class C: pass\ng = 1\n"}], []),
        "may have all": ([{"pkg/b.py": b"from pkg.a import *\n"}], []),
        "back again": ([{"pkg/b.py": b"class C: pass\n"}, {"pkg/b.py": b"class C: pass\ng = 1\n"}],
            ["p0 use.py: `from pkg.b import g` no longer works"]),
        "upstream's own does not compile": ([{"broken.py": b"((\n"}], []),
    },
)  # fmt: skip
def test_imports_find_their_names_at_every_patch(
    patches: list[Changes], expected: list[str]
) -> None:
    assert problems(*patches) == expected


def test_a_file_that_does_not_compile_is_named_though_a_later_patch_mends_it() -> None:
    (sentence,) = problems({"use.py": b"return\n"}, {"use.py": b"x = 1\n"})
    assert sentence.startswith("p0 use.py: does not compile for Python 3.")


def test_what_cannot_be_read_as_python_at_all_does_not_compile() -> None:
    version = sys.version_info[:2]
    fault = parsed_for(b"x = " + b"-" * 200_000 + b"1\n", version, compiles=False)
    assert isinstance(fault, tuple)
    assert fault[0].startswith("does not compile")


@table(
    ("claim", "head", "expected"),
    {
        "upstream's": (ContentClaim("f", None, None), b"a\n", []),
        "differs": (ContentClaim("f", None, None), b"b\n",
            ["f is claimed to be as in upstream, but differs"]),
        "gone": (ContentClaim("f", "g", None), None,
            ["f::g does not exist, although series.toml claims its content"]),
    },
)  # fmt: skip
def test_claims_are_held(claim: ContentClaim, head: bytes | None, expected: list[str]) -> None:
    assert sentences(broken_claims([claim], lambda path: b"a\n", lambda path: head)) == expected


def test_a_claim_about_a_class_of_cxx_is_about_its_methods_as_well() -> None:
    old = b"struct S {\n  int f() {\n    return 1;\n  }\n};\n"
    claim, new = ContentClaim("s.h", "S", None), old.replace(b"1", b"2")
    found = sentences(broken_claims([claim], lambda path: old, lambda path: new))
    assert found == ["s.h::S is claimed to be as in upstream, but differs"]
