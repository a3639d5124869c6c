"""What a patch's header names of upstream is proposed where a person decides."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from patchmgr.engines.conflicts.header_words import named_in, with_named
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
    [
        pytest.param({"Drop-When": "#7 is in"}, [Named("Drop-When", pull=7)], id="number"),
        pytest.param({"forwarded": PULL}, [Named("forwarded", pull=7)], id="address"),
        pytest.param({"Drop-When": f"it is there (0.6.14:\n {PULL})"},
                     [Named("Drop-When", release="0.6.14"), Named("Drop-When", pull=7)],
                     id="release-and-address"),
        pytest.param({"Applied-Upstream": f"commit:{ID}, #8"},
                     [Named("Applied-Upstream", pull=8), Named("Applied-Upstream", commit=ID)],
                     id="commit"),
        pytest.param({"Drop-When": "#9", "Origin": "backport, #8"},
                     [Named("Origin", pull=8), Named("Drop-When", pull=9)], id="surest-first"),
        pytest.param({"Forwarded": "https://forge.example/other/thing/pull/7"}, [],
                     id="another-repository"),
        pytest.param({"Bug": "https://forge.example/works/plant/issues/7"}, [], id="an-issue"),
        pytest.param({"Drop-When": "the file is there from 0.24.0"}, [], id="a-release-alone"),
        pytest.param({"Drop-When": "colour #fff, a#7, x/y#7"}, [], id="no-number"),
        pytest.param({"Drop-When": "the set names it upstream (0.24.0: #7, which adds more)"},
                     [Named("Drop-When", release="0.24.0"), Named("Drop-When", pull=7)],
                     id="a-remark-of-what-has-it"),
        pytest.param({"Drop-When": "both names are set. #7 (0.25.0) only moves the two sites"}, [],
                     id="another-sentence"),
        pytest.param({"Drop-When": "#7 only moves the two sites"}, [], id="another-clause"),
        pytest.param({"Drop-When": "it is in (0.17.0: moot by the rewrite of #7)"}, [],
                     id="other-words-before-it"),
        pytest.param({"Drop-When": "it is there (#7; from 0.26.0 it is gone)"}, [],
                     id="another-clause-in-brackets"),
        pytest.param({"Bug": PULL}, [], id="a-bug"),
        pytest.param({"Origin": "vendor, for #7"}, [], id="no-upstream-origin"),
        pytest.param({"Upstream-Status": f"Backport [{PULL}]"}, [Named("Upstream-Status", pull=7)],
                     id="backport"),
        pytest.param({"Upstream-Status": "Inappropriate, see #7"}, [], id="inappropriate"),
        pytest.param({"Description": "see #7", "Reviewed-by": "#7"}, [], id="other-fields"),
    ],
)  # fmt: skip
def test_what_a_header_names(fields: Mapping[str, str], expected: list[Named]) -> None:
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


def test_a_commit_on_the_way_is_proposed() -> None:
    told = _told(_judged(Verdict.CONFLICT), (ID, "Fix it (#7)"))
    assert told.likely == (
        Likely(ID, "Fix it (#7)", 7, 0.5, ("g",), "Drop-When", Reliability("header")),
    )
    assert [conflict.proposal for conflict in told.conflicts] == ["absorbed"]


def test_what_was_found_by_its_text_is_said_to_be_named() -> None:
    known = Likely(ID, "Fix it (#7)", 7, 0.8, ("g",))
    told = _told(_judged(Verdict.CONFLICT, known), (ID, "Fix it (#7)"))
    assert told.likely == (replace(known, named_by="Drop-When"),)


@table("verdict", [Verdict.CONFLICT, Verdict.MODIFIED])
def test_what_is_not_on_the_way_or_not_asked_is_not_proposed(verdict: Verdict) -> None:
    judged = _judged(verdict)
    assert _told(judged, None) == judged.outcome
    if verdict is Verdict.MODIFIED:
        assert _told(judged, (ID, "Fix it (#7)")) == judged.outcome
