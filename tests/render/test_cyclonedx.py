"""Bills of materials: sound CycloneDX, the same each time, read back by others."""

import base64
import json
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from patchmgr.model.bill_of_materials import Issue, Materials, PatchUsed
from patchmgr.model.patch import Author
from patchmgr.model.upstream import Upstream
from patchmgr.services.bill_of_materials import issues_of
from tests.engines.series import patch_of
from tests.tables import table

pytest.importorskip("cyclonedx")
from cyclonedx.model.bom import Bom
from cyclonedx.schema import SchemaVersion

from patchmgr.render.cyclonedx import FORMS, bill_of_materials

JOE = Author("Joe", "joe@example.org", "1767242523 -0330")
BUGS = (Issue("CVE-2026-12345", is_vulnerability=True), Issue("see", "https://b.example/1"))
TWO = (
    PatchUsed(replace(patch_of("z.patch"), raw=b"+\xff\n"), JOE, True, (), "b2" * 20),
    PatchUsed(replace(patch_of("a.patch"), raw=b"+a\n"), JOE, False, BUGS, "a1" * 20),
)
GIT = Upstream("up", "git", git="https://github.com/o/r.git")
ONE = Materials("s", "v1+patchmgr.1", "v1", GIT, "c3" * 20, None, TWO, 1767242523)
RELEASE = replace(ONE, series="t", upstream=Upstream("demo", "package", package="demo"),
                  commit=None, sha256="d4" * 32)  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_version_is_valid_and_read_back(form: str) -> None:
    # Takes two seconds to load, of each process that collects.
    from cyclonedx.validation.json import JsonStrictValidator

    text = bill_of_materials([ONE, RELEASE], form)
    validator = JsonStrictValidator(SchemaVersion.from_version(FORMS[form]))
    assert validator.validate_str(text) is None
    read = Bom.from_json(json.loads(text))  # type: ignore[attr-defined]
    by_ref = {str(one.bom_ref): one for one in read.components}
    pedigree = by_ref["s"].pedigree
    assert [commit.uid for commit in pedigree.commits] == ["a1" * 20, "b2" * 20]
    assert {patch.type.value for patch in pedigree.patches} == {"backport", "unofficial"}
    (ancestor,) = by_ref["t"].pedigree.ancestors
    assert (str(ancestor.purl), len(ancestor.hashes)) == ("pkg:pypi/demo@v1", 1)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_another_library_reads_it() -> None:
    parser = pytest.importorskip("lib4sbom.parser").SBOMParser()
    parser.parse_string(bill_of_materials([ONE, RELEASE]))
    assert parser.get_type() == "cyclonedx"
    found = {(one["name"], one["version"]) for one in parser.get_packages()}
    assert found == {("up", "v1+patchmgr.1"), ("demo", "v1+patchmgr.1")}


def test_patches_are_there_whole_with_what_they_resolve() -> None:
    (component,) = json.loads(bill_of_materials([ONE]))["components"]
    assert component["pedigree"]["notes"].endswith("in their order: z.patch, a.patch")
    patches = {patch["type"]: patch for patch in component["pedigree"]["patches"]}
    told = patches["backport"]["diff"]["text"]
    assert base64.b64decode(told["content"]) == b"+\xff\n"
    assert patches["unofficial"]["diff"]["text"]["content"] == "+a\n"
    assert patches["unofficial"]["resolves"] == [
        {"id": "see", "references": ["https://b.example/1"], "type": "defect"},
        {"id": "CVE-2026-12345", "type": "security"},
    ]


def test_the_same_materials_give_the_same_bytes() -> None:
    text = bill_of_materials([ONE])
    assert bill_of_materials([ONE]) == text
    found, other = json.loads(text), json.loads(bill_of_materials([RELEASE]))
    assert found["metadata"]["timestamp"] == "2026-01-01T04:42:03+00:00"
    assert found["serialNumber"] != other["serialNumber"]


URLS = [
    ("https://github.com/o/r.git", "pkg:github/o/r@"),
    ("git@gitlab.com:g/h/r.git", "pkg:gitlab/g/h/r@"),
    ("https://git.example/r", "pkg:generic/up@"),
]


@table(("git", "purl"), URLS)
def test_what_a_commit_is_called(git: str, purl: str) -> None:
    one = replace(ONE, upstream=replace(GIT, git=git))
    (component,) = json.loads(bill_of_materials([one]))["components"]
    assert component["pedigree"]["ancestors"][0]["purl"].startswith(purl + "c3" * 20)
    assert "purl" not in component


RESOLVED = [
    ({}, []),
    ({"Bug": "https://b.example/1"}, [("https://b.example/1", "https://b.example/1", False)]),
    ({"Bug-Debian": "#12"}, [("#12", None, False)]),
    ({"CVE": "CVE-2026-12345 CVE-2026-1234"},
     [("CVE-2026-12345", None, True), ("CVE-2026-1234", None, True)]),
    ({"References": "bsc#1 CVE-2026-12345"}, [("CVE-2026-12345", None, True)]),
    ({"Description": "not CVE-2026-12345"}, []),
]  # fmt: skip


@table(("fields", "expected"), RESOLVED)
def test_what_a_header_says_to_resolve(
    fields: Mapping[str, str], expected: list[tuple[str, str | None, bool]]
) -> None:
    found = issues_of(replace(patch_of("p"), fields=fields))
    assert [(one.id, one.url, one.is_vulnerability) for one in found] == expected
