"""The pure parts of what is published: comparisons, origins, solutions, owners, risks."""

import pytest
from msgspec.structs import replace

from patchmgr.engines.report.review import heading_name
from patchmgr.engines.report.subsystems import (
    Globs,
    folders_of,
    read_codeowners,
    read_labeler,
    subsystems,
)
from patchmgr.engines.series.claims import claimed_bytes
from patchmgr.engines.series.comparison import OwnCommit, compare_states
from patchmgr.engines.text.origins import origins
from patchmgr.model.comparison import Sameness
from patchmgr.model.recorded_conflict import Origin, Recorded, RecordKind, Resolution
from patchmgr.services.syncs import ANEW, BOTH, OPEN, PATCH, UNION, UPSTREAM, solved_as
from tests.tables import table

DIFF = b"""diff --git a/x b/x
index 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 100644
--- a/x
+++ b/x
@@ -3,3 +3,3 @@ f
 one
-two
+TWO
 three
"""
OLD = OwnCommit("1" * 40, b"subject\n", DIFF)


@table(
    ("message", "diff", "sameness"),
    [
        (b"subject\n", DIFF, Sameness.IDENTICAL),
        (b"subject\n", DIFF.replace(b"222222 ", b"333333 "), Sameness.IDENTICAL),
        (b"subject\n", DIFF.replace(b"-3,3 +3,3", b"-9,3 +9,3"), Sameness.POSITION),
        (b"subject\n", DIFF.replace(b" one", b" eins"), Sameness.CONTEXT),
        (b"subject\n", DIFF.replace(b"+TWO", b"+Two"), Sameness.CHANGED),
        (b"subject\n\nmore\n", DIFF, Sameness.CHANGED),
    ],
)
def test_patch_versions_are_told_apart(message: bytes, diff: bytes, sameness: Sameness) -> None:
    (found,) = compare_states([OLD], [OwnCommit("2" * 40, message, diff)])
    assert found.sameness is sameness
    assert found.paths == ("x",)


def test_added_and_dropped_patches_are_named() -> None:
    new = OwnCommit("3" * 40, b"another\n", DIFF.replace(b"x", b"y"))
    found = compare_states([OLD], [new])
    assert [p.sameness for p in found] == [Sameness.ADDED, Sameness.DROPPED]


def test_each_line_is_of_the_version_that_wrote_it_last() -> None:
    versions = [(None, b"a\nb\nc\n"), ("1", b"a\nB\nc\n"), ("2", b"x\na\nB\nC\n")]
    assert origins(versions) == ("2", None, "1", "2", None)


CONFLICT = Recorded("x" * 8, RecordKind.REGION, b"", b"a\n", b"b\n")


@table(
    ("base", "resolution", "words"),
    [
        (b"", b"a\n", UPSTREAM),
        (b"", b"b\n", PATCH),
        (b"", b"a\nb\n", UNION),
        (b"o\n", b"b\na\n", BOTH),
        (b"", b"c\n", ANEW),
    ],
)
def test_a_solution_is_told_by_its_text(base: bytes, resolution: bytes, words: str) -> None:
    solved = replace(CONFLICT, base=base, resolution=Resolution(resolution, Origin.REBASE))
    assert solved_as(solved) == words
    assert solved_as(CONFLICT) == OPEN


@table(
    ("glob", "path", "matches"),
    [
        ("/csrc/", "csrc/a.cu", True),
        ("csrc/**", "csrc/x/a.cu", True),
        ("**/*.cu", "a.cu", True),
        ("*.py", "pkg/a.py", False),
        ("pkg/*", "pkg/a/b.py", True),
        ("pkg", "pkg2/a.py", False),
        ("a+b", "a+b", True),
        ("a/**", "a", False),
        ("a/**/b", "a/b/c", True),
        ("**", "a/b", True),
        ("a[b]", "a[b]", True),
        ("*a" * 8 + "b", "a" * 3000, False),
        ("/".join(["**", "*a*a"] * 30), "/".join(["a" * 50] * 80), True),
    ],
)
def test_globs_match_as_those_of_owners_do(glob: str, path: str, matches: bool) -> None:
    assert Globs([glob]).match(path) is matches


@pytest.mark.parametrize("count", [4000, 29_000, 400_000])
@pytest.mark.parametrize("sign", ["[", "*", "?", "**/"])
def test_a_long_glob_is_a_glob(sign: str, count: int) -> None:
    assert not Globs([sign * (count // len(sign)) + "/x"]).match("a/b/c.py")


def test_subsystems_come_from_what_a_project_keeps() -> None:
    owners = b"# people\n* @all\n/pkg/core @x @y\n[Kernels]\n*.cu @z\n"
    labeler = b"gpu:\n- changed-files:\n  - any-glob-to-any-file: ['csrc/**', \"x/*.cu\"]\n"
    labeler += b"docs:\n- docs/**\n"
    assert ("pkg/core", ("/pkg/core",)) in read_codeowners(owners)
    assert read_labeler(labeler) == (("gpu", ("csrc/**", "x/*.cu")), ("docs", ("docs/**",)))
    paths = ["a/b/1", "a/b/2", "a/c/3", "d/4"]
    rule = folders_of(paths)
    files = {".github/CODEOWNERS": owners}
    by_owner = subsystems({}, files.get, rule)
    assert (by_owner.source, by_owner.of("pkg/core/x.py")) == ("CODEOWNERS", "pkg/core")
    assert by_owner.of("pkg/core/k.cu") == "Kernels"
    assert subsystems({}, {".github/labeler.yml": labeler}.get, rule).of("csrc/a") == "gpu"
    assert subsystems({"mine": ["d/**"]}, files.get, rule).of("d/4") == "mine"
    plain = subsystems({}, lambda path: None, rule)
    assert [plain.of(p) for p in paths] == ["a/b", "a/b", "a/c", "d"]


def test_a_claim_is_about_a_file_or_a_symbol() -> None:
    text = b"x = 1\n\n\nclass A:\n    def f(self):\n        return 1\n\n"
    text += b"    def g(self):\n        return 2\n"
    found = claimed_bytes("a.py", "A.f", text)
    assert found is not None and b"return 1" in found and b"return 2" not in found
    assert claimed_bytes("a.py", None, text) == text
    assert claimed_bytes("a.py", "A.h", text) is None
    assert claimed_bytes("a.py", "A", None) is None


@table(
    ("heading", "name"),
    [
        ("def f(self):", "f"),
        ("class A(B):", "A"),
        ("    async def g(", "g"),
        ("void k(int x) {", "k"),
        ("", ""),
    ],
)
def test_a_heading_says_what_it_is_about(heading: str, name: str) -> None:
    assert heading_name(heading) == name
