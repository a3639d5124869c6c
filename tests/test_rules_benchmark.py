"""The tables of `benchmarks.rules`, from judgements; and what its cases say."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmarks import rules
from benchmarks.absorb_cases import KnownSeries, read_cases
from benchmarks.rules import (
    CaseResult,
    Judgement,
    Rule,
    evidence_line,
    group_table,
    kind_table,
    kinds_of,
    rule_table,
    shares,
    size_line,
)
from patchmgr.model.outcome import (
    FileConflict,
    How,
    HunkOutcome,
    Likely,
    PatchOutcome,
    Reliability,
    Verdict,
)
from patchmgr.model.patch import Author
from tests.tables import table

ROW = {
    "series": "one", "kind": "A", "stores": ["a+b"], "base": "b" * 40,
    "picks": ["1" * 40, ["2" * 40, "3" * 40]], "trees": ["4" * 40, "5" * 40],
    "targets": [
        {"at": at, "target": "6" * 40, "evidence": ["7" * 40],
         "truth": [["absorbed", "exact", 100], [truth, kind, None]]}
        for at, truth, kind in (("i", "partial", "part"), ("ii", "not-absorbed", "undo"),
                                ("iii", "not-absorbed", "open"), ("iv", "?", "?"))
    ],
    "unknown": "left out",
}  # fmt: skip


@pytest.fixture
def series(tmp_path: Path) -> KnownSeries:
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(ROW) + "\n")
    return next(read_cases(path))


@pytest.mark.parametrize(
    ("target", "groups"),
    [
        (0, ["target is the squash", "false: partly absorbed"]),
        (1, ["later targets", "false: undo"]),
        (2, ["later targets", "false: never landed"]),
    ],
)
def test_a_patch_counts_in_its_group(series: KnownSeries, target: int, groups: list[str]) -> None:
    found = series.targets[target]
    assert [series.group(found, number) for number in range(2)] == groups
    assert found.landed_by(0) == ("7" * 40,)


@pytest.mark.parametrize(("only", "targets"), [("", 4), ("one:i$", 1), ("two", None)])
def test_some_of_the_cases_can_be_asked_for(tmp_path: Path, only: str, targets: int | None) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(ROW) + "\n")
    found = next(read_cases(path, only), None)
    assert (None if found is None else len(found.targets)) == targets


A, C, M = Verdict.ABSORBED, Verdict.CONFLICT, Verdict.MODIFIED


def said(
    verdict: Verdict, truth: str, *kinds: str, group: str = "stale", named: bool | None = None
) -> Judgement:
    return Judgement("one", group, truth, verdict, kinds, named)


JUDGED = (
    said(A, "absorbed", "exact", "history", named=True),
    said(A, "not-absorbed", "history", group="false: undo"),
    said(A, "absorbed", "history", named=False),
    said(A, "?", "history", group="stale"),
    said(C, "absorbed", "likely"),
)


CONFLICT = FileConflict("id", "f", "f", "why", b"", b"", b"", b"")


def outcome(verdict: Verdict, *hows: How, likely: int = 0) -> PatchOutcome:
    hunks = tuple(HunkOutcome("f", "f", 1, None, verdict, how) for how in hows)
    proposals = (Likely("1" * 40, "Do it", None, 0.9, ("f",)),) * likely
    nobody = Author("n", "e", "0 +0000")
    return PatchOutcome("p", "Do p", b"", nobody, verdict, hunks=hunks, likely=proposals)


@table(
    ("found", "kinds"),
    [
        (outcome(A, How.RANGE, How.EXACT, How.RANGE), ("exact", "range")),
        (outcome(A), ()),
        (outcome(C, likely=2), ("likely",)),
        (outcome(C), ()),
        (replace(outcome(C, likely=1), conflicts=(CONFLICT,)), ("likely in part",)),
        (outcome(M, How.TEXT, likely=1), ()),
        (outcome(Verdict.PARTIAL, How.EXACT), ()),
    ],
)
def test_a_verdict_counts_by_how_it_was_found(found: PatchOutcome, kinds: tuple[str, ...]) -> None:
    assert kinds_of(found) == kinds


def test_a_share_counts_what_is_known() -> None:
    table = [Reliability("exact", 1, 1), Reliability("history", 2, 3), Reliability("likely", 1, 1)]
    assert shares(JUDGED) == table
    part = [said(C, truth, "likely in part") for truth in ("absorbed", "partial", "not-absorbed")]
    assert shares(part) == [Reliability("likely in part", 2, 3)]
    assert shares([said(A, "partial", "exact")]) == [Reliability("exact", 0, 1)]
    assert "| history | 2 | 3 | 66.6 % |" in kind_table(JUDGED)
    assert evidence_line(JUDGED).endswith("in 50.0 % of 2 verdicts.")


def test_it_is_said_how_much_was_judged() -> None:
    results = [CaseResult(JUDGED), CaseResult((), fault="one: gone")]
    told = "4 patches in 1 case of 1 series; 1 could not be rebuilt or judged."
    assert size_line(results) == told


@pytest.mark.parametrize(
    "arguments", [("--rules", "none such"), ("--write", "--only", "x"), ("--write", "--rules", "")]
)
def test_what_is_refused(arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["rules", "--cases", "gone", *arguments])
    with pytest.raises(SystemExit):
        rules.main()


def test_groups_have_a_row_each_and_the_true_ones_a_mean() -> None:
    assert list(group_table(JUDGED))[2:] == [
        "| stale | 3 | 2 | 66.6 % |",
        "| false: undo | 1 | 1 | 100 % |",
        "| **mean of the true groups** | | | **66.7 %** |",
    ]


def test_a_rule_has_what_changes_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    off = [Rule(name, f"for {name}", rules, "GROUPS", ()) for name in ("a", "b")]
    monkeypatch.setattr(rules, "RULES", off)
    with_it = (said(A, "absorbed"), said(C, "absorbed"), said(A, "?"), said(M, "not-absorbed"))
    without = (said(C, "absorbed"), said(A, "absorbed"), said(C, "?"), said(C, "not-absorbed"))
    results = [CaseResult(with_it, {"a": without}), CaseResult(with_it)]
    assert list(rule_table(results))[2:] == [
        "| a | for a | 1 | 1 | 1 | +2 | 1 |",
        "| b | for b | 0 | 0 | 0 | +0 | 0 |",
    ]


def test_without_the_histories_nothing_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(ROW) + "\n")
    monkeypatch.setenv("PATCHMGR_MIRRORS", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["rules", "--cases", str(path)])
    rules.main()
    printed = capsys.readouterr()
    assert "SKIPPED" in printed.err and "a+b" in printed.err and printed.out == ""


def test_a_rule_is_off_for_a_while() -> None:
    for rule in rules.RULES:
        before = getattr(rule.owner, rule.attribute)
        with rule.is_off():
            assert getattr(rule.owner, rule.attribute) is rule.instead is not before
        assert getattr(rule.owner, rule.attribute) is before
