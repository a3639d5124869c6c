"""`benchmarks.rules` on a small history: series are rebuilt, and judged as a rebase does."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks.absorb_cases import KnownSeries, rebuild
from benchmarks.rules import judge_series
from patchmgr.model.outcome import Verdict
from patchmgr.plumbing.scratch_repository import Scratch
from tests.conftest import Repository

History = tuple[Repository, dict[str, str]]
LINES = [f"value_{n} = compute({n}, limit_{n})\n" for n in range(20)]


def text(*changed: int) -> str:
    return "".join(f"value_{n} = other({n})\n" if n in changed else LINES[n] for n in range(20))


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    """Return upstream, which landed two commits of a fork in one, and its commits by name."""
    upstream = Repository(tmp_path_factory.mktemp("rules") / "upstream")
    base = upstream.commit({"f.py": text(), "g.py": "x = 1\n"}, "base")
    upstream.git("checkout", "--quiet", "-b", "fork")
    one = upstream.commit({"f.py": text(3)}, "one")
    two = upstream.commit({"f.py": text(3, 15)}, "two")
    upstream.git("checkout", "--quiet", "-b", "later", base)
    before = upstream.commit({"g.py": "x = 2\n"}, "unrelated")
    landed = upstream.commit({"f.py": text(3, 15)}, "Land it (#7)")
    after = upstream.commit({"g.py": "x = 3\n"}, "unrelated again")
    names = {"base": base, "one": one, "two": two}
    return upstream, {**names, "before": before, "landed": landed, "after": after}


def series(history: History, *picks: Any, **more: Any) -> KnownSeries:
    upstream, ids = history
    trees = [upstream.tree(ids[end]) for end in more.pop("ends")]
    row = {"series": "s", "kind": "A", "stores": ["a+b"], "base": ids["base"], "picks": picks,
           "trees": trees, "targets": [], **more}  # fmt: skip
    return msgspec.convert(row, KnownSeries)


@pytest.mark.parametrize("form", ["commits", "range", "message", "squashed", "picked"])
def test_a_series_is_rebuilt_from_its_picks(history: History, form: str) -> None:
    upstream, ids = history
    base, one, two = ids["base"], ids["one"], ids["two"]
    forms: dict[str, tuple[list[Any], list[str], list[str]]] = {
        "commits": ([one, two], ["one", "two"], ["one", "two"]),
        "range": ([f"{base}..{two}"], ["two"], ["two"]),
        "message": ([f"{base}..{two}@{one}"], ["two"], ["one"]),
        "squashed": ([[one, two]], ["two"], ["one"]),
        "picked": ([ids["landed"]], ["two"], ["Land it (#7)"]),
    }
    picks, ends, subjects = forms[form]
    with Scratch([upstream.root / ".git"]) as scratch:
        patches = rebuild(scratch, series(history, *picks, ends=ends))
    assert [patch.subject for patch in patches] == subjects


def test_patches_are_judged_on_each_target(history: History, tmp_path: Path) -> None:
    upstream, ids = history
    mirror = tmp_path / "mirrors/a+b"
    mirror.mkdir(parents=True)
    (mirror / "repo").symlink_to(upstream.root / ".git")
    targets = [
        {"at": at, "target": ids[at], "evidence": [ids["landed"]], "truth": [[truth, "", None]] * 2}
        for at, truth in (("before", "not-absorbed"), ("after", "absorbed"))
    ]
    known = series(history, ids["one"], ids["two"], ends=["one", "two"], targets=targets)
    early, late = judge_series(tmp_path / "mirrors", frozenset(), known)
    assert [one.verdict for one in early.judged] == [Verdict.UNCHANGED] * 2
    assert [one.verdict for one in late.judged] == [Verdict.ABSORBED] * 2
    assert [one.names_commit for one in late.judged] == [True] * 2
    assert all(one.is_right and one.kinds for one in late.judged)
    assert early.without == late.without == {}


def test_what_cannot_be_judged_is_said(history: History, tmp_path: Path) -> None:
    mirror = tmp_path / "mirrors/a+b"
    mirror.mkdir(parents=True)
    (mirror / "repo").symlink_to(history[0].root / ".git")
    wrong = series(history, history[1]["one"], ends=["two"])
    (found,) = judge_series(tmp_path / "mirrors", frozenset(), wrong)
    assert found.judged == () and found.fault.startswith("s: ")
