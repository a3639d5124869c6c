"""Upstream commits and pull requests in a header are proposed for patches in conflict."""

from collections.abc import Mapping

from msgspec.structs import replace

from patchmgr.engines.conflicts.header_references import named_in, with_named
from patchmgr.engines.rebase.rebase import Judged
from patchmgr.model.outcome import FileConflict, Likely, PatchOutcome, Reliability, Verdict
from patchmgr.model.ports import Named
from tests.engines.series import NOBODY, patch_of
from tests.tables import table

ID = "0123456789abcdef0123456789abcdef01234567"
FORGE = "https://forge.example/works/plant.git"
PULL = "https://forge.example/works/plant/pull/7"


@table(
    ("fields", "expected"),
    {
        "number": ({"Drop-When": "#7 is in"}, [Named("Drop-When", pull=7)]),
        "address": ({"forwarded": PULL}, [Named("forwarded", pull=7)]),
        "release-and-address": ({"Drop-When": f"it is there (0.6.14:\n {PULL})"},
            [Named("Drop-When", release="0.6.14"), Named("Drop-When", pull=7)]),
        "commit": ({"Applied-Upstream": f"commit:{ID}, #8"},
            [Named("Applied-Upstream", pull=8), Named("Applied-Upstream", commit=ID)]),
        "surest-first": ({"Drop-When": "#9", "Origin": "backport, #8"},
            [Named("Origin", pull=8), Named("Drop-When", pull=9)]),
        "another-repository": ({"Forwarded": "https://forge.example/other/thing/pull/7"}, []),
        "an-issue": ({"Bug": "https://forge.example/works/plant/issues/7"}, []),
        "a-release-alone": ({"Drop-When": "the file is there from 0.24.0"}, []),
        "no-number": ({"Drop-When": "color #fff, a#7, x/y#7"}, []),
        "a-remark-of-what-has-it": (
            {"Drop-When": "the set names it upstream (0.24.0: #7, which adds more)"},
            [Named("Drop-When", release="0.24.0"), Named("Drop-When", pull=7)]),
        "another-sentence": (
            {"Drop-When": "both names are set. #7 (0.25.0) only moves the two sites"}, []),
        "another-clause": ({"Drop-When": "#7 only moves the two sites"}, []),
        "other-words-before-it": ({"Drop-When": "it is in (0.17.0: moot by the rewrite of #7)"},
            []),
        "another-clause-in-brackets": ({"Drop-When": "it is there (#7; from 0.26.0 it is gone)"},
            []),
        "a-bug": ({"Bug": PULL}, []),
        "no-upstream-origin": ({"Origin": "vendor, for #7"}, []),
        "backport": ({"Upstream-Status": f"Backport [{PULL}]"}, [Named("Upstream-Status", pull=7)]),
        "inappropriate": ({"Upstream-Status": "Inappropriate, see #7"}, []),
        "other-fields": ({"Description": "see #7", "Reviewed-by": "#7"}, []),
    },
)  # fmt: skip
def test_headers_name_upstream_commits(fields: Mapping[str, str], expected: list[Named]) -> None:
    patch = replace(patch_of("p"), fields=fields)
    assert list(named_in(patch, FORGE)) == expected


def test_the_owner_counts_only_where_it_is_known() -> None:
    patch = replace(patch_of("p"), fields={"Forwarded": PULL})
    for repository in (None, "file:///srv/mirror", "/srv/mirror", "git@forge.example:works/plant"):
        assert list(named_in(patch, repository)) == [Named("Forwarded", pull=7)]
    assert list(named_in(patch, "git@forge.example:works/other")) == []


def _judged(verdict: Verdict, *likely: Likely) -> Judged:
    conflict = FileConflict("id", "f", "g", "why", b"", b"", b"", b"")
    outcome = PatchOutcome(
        "p", "s", b"", NOBODY, verdict, conflicts=(conflict,), likely=tuple(likely)
    )
    return Judged(outcome)


def _told(judged: Judged, found: tuple[str, str] | None) -> PatchOutcome:
    patch = replace(patch_of("p"), fields={"Drop-When": "#7"})
    return with_named((judged,), (patch,), lambda named: found, None)[0].outcome


def test_a_named_commit_in_the_range_is_proposed() -> None:
    told = _told(_judged(Verdict.CONFLICT), (ID, "Fix it (#7)"))
    (likely,) = told.likely
    assert likely == Likely(ID, "Fix it (#7)", 7, 0.5, ("g",), "Drop-When", Reliability("header"))
    assert [conflict.proposal for conflict in told.conflicts] == ["absorbed"]


def test_a_commit_found_by_its_text_is_marked_as_named() -> None:
    known = Likely(ID, "Fix it (#7)", 7, 0.8, ("g",))
    told = _told(_judged(Verdict.CONFLICT, known), (ID, "Fix it (#7)"))
    assert told.likely == (replace(known, named_by="Drop-When"),)


@table("verdict", [Verdict.CONFLICT, Verdict.MODIFIED])
def test_nothing_is_proposed_without_a_commit_or_conflict(verdict: Verdict) -> None:
    judged = _judged(verdict)
    assert _told(judged, None) == judged.outcome
    if verdict is Verdict.MODIFIED:
        assert _told(judged, (ID, "Fix it (#7)")) == judged.outcome
