"""Judges public series whose fate is known, and switches off one rule at a time.

    PATCHMGR_MIRRORS=<folder> python -m benchmarks.rules --cases FILE [--jobs N] [--write]

Prints how many patches are called absorbed, for each group of them, how often each kind of verdict
was right, and what each rule changes. `--write` puts the tables into docs/benchmarks.md and the
shares into the package. `--rules NAME,...` switches off only these, `--only REGEX` takes the cases
with such a `series:target`. `--kept FILE` goes on from what an earlier run of the same program kept
there, and keeps the rest.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from unittest.mock import patch

import msgspec
from msgspec import Struct, field

from benchmarks.absorb_cases import CannotRebuild, KnownSeries, Target, read_cases, rebuild
from benchmarks.mirrored import mirrors_of
from benchmarks.pages import Section, tell, write
from patchmgr.engines.absorption import landing, proof, weave
from patchmgr.engines.absorption.reliability import FILE, IN_PART, kind_of_proposals
from patchmgr.engines.absorption.series import Folded, Series, Way
from patchmgr.engines.absorption.verdict import Absorption
from patchmgr.engines.cause.commits import explain, explained_paths
from patchmgr.engines.moved.files import ChangedFiles, is_of
from patchmgr.engines.rebase.rebase import Item, rebase_series
from patchmgr.engines.rebase.work import Tools, UpstreamRange
from patchmgr.engines.series.fold import Overlay, step_patch
from patchmgr.errors import PatchmgrError
from patchmgr.model.outcome import PatchOutcome, Reliability, Verdict
from patchmgr.model.patch import Author, Patch
from patchmgr.model.ports import Step
from patchmgr.plumbing.diffs import changed_paths, readable_files
from patchmgr.plumbing.history import GitHistory, KnownHistory
from patchmgr.plumbing.renames import find_renames, moved_folders
from patchmgr.plumbing.scratch_repository import Scratch
from patchmgr.plumbing.text_merge import GitTextMerge
from patchmgr.render.escape import counted, share
from patchmgr.services.carry import _readable
from patchmgr.services.series import new_paths, touched_paths

SECTION = Section(
    __doc__ or "", "", "<!-- begin: python -m benchmarks.rules -->", "<!-- end: rules -->", 1
)
GROUPS = ("target is the squash", "later targets", "pinned", "stack", "multi", "fork", "stale",
          "elsewhere", "false: never landed", "false: reverted", "false: undo",
          "false: partly absorbed")  # fmt: skip
_NOBODY = Author("case", "case@localhost", "0 +0000")
_last_landing, _fates = landing._last_landing, weave.Weave._fates


class Rule(Struct, frozen=True):
    """A rule of absorption, what it is for, and what stands in its place while it is off."""

    name: str
    reason: str
    owner: object
    attribute: str
    instead: object

    def is_off(self) -> AbstractContextManager[object]:
        """Return what switches the rule off for a while."""
        return patch.object(self.owner, self.attribute, self.instead)


def _proof(name: str, reason: str) -> Rule:
    others = {other: proves for other, proves in proof.PROOFS.items() if other != name}
    return Rule(name, reason, proof, "PROOFS", others)


NEWS = Rule(
    "news",
    "where upstream wrote nothing, it has not taken a hunk in other words",
    weave.Weave,
    "_fates",
    lambda of, run, paired, state, absent, gone: _fates(
        of,
        run,
        paired,
        state,
        weave.Fate.TAKEN,
        weave.Fate.TAKEN if all(one.node.is_base for one in run) else weave.Fate.FOUND,
    ),
)
RULES = (
    Rule(
        "own landing",
        "in a step that brings mostly this series, half of a patch may be rewritten",
        Series,
        "is_own",
        lambda series, patch, number: False,
    ),
    Rule(
        "left out",
        "what a landing left out of a patch was removed in review, so it goes with the patch",
        landing,
        "MOST_OPEN",
        0,
    ),
    Rule(
        "along",
        "a patch that later ones wholly replace goes with them, if between landed ones",
        landing,
        "_along",
        lambda mute, landed, related: set(),
    ),
    Rule(
        "target",
        "a patch that no single step landed is in if the target has every line of it",
        landing,
        "_since",
        lambda series, patch: None,
    ),
    Rule(
        "reverted",
        "what a later step reverts is needed again",
        landing,
        "reversal",
        lambda series, patches, landed: None,
    ),
    Rule(
        "landed again",
        "what lands again after a revert is in",
        landing,
        "_last_landing",
        lambda series, patch, landings: _last_landing(
            series, patch, {**landings, patch: landings[patch][:1]}
        ),
    ),
    Rule(
        "old text",
        "a hunk is needed again if its old text is back at the target",
        landing,
        "restored",
        lambda series, patch, landed: set(),
    ),
    NEWS,
    _proof("deletion", "a deletion is in if nothing that replaced the lines is left"),
    _proof("place", "lines that are missing, or in another order, block or string do not count"),
)


class Judgement(Struct, frozen=True):
    """One patch on one target: what is true, and what was said of it.

    `kinds` are the ways in which its hunks were found or proposed, as the shares are kept.
    """

    series: str
    group: str
    truth: str
    verdict: Verdict
    kinds: tuple[str, ...] = ()
    names_commit: bool | None = None

    @property
    def is_right(self) -> bool:
        """Say whether the patch is called absorbed if, and only if, it is."""
        return (self.verdict is Verdict.ABSORBED) == (self.truth == "absorbed")


class CaseResult(Struct, frozen=True):
    """The judgements of a series on a target, with all rules, and without each that matters to it.

    A rule matters where the search for absorbed patches finds something else without it, or where
    it speaks against what a merge says.
    """

    judged: tuple[Judgement, ...]
    without: dict[str, tuple[Judgement, ...]] = field(default_factory=dict)
    fault: str = ""


class Judge:
    """Judges the patches of one series on one target, as a rebase does; the audit is left out."""

    def __init__(
        self,
        scratch: Scratch,
        series: KnownSeries,
        target: Target,
        patches: Sequence[Patch],
    ):
        self._scratch, self._series, self._target = scratch, series, target
        self._base, self._onto = scratch.tree(series.base), scratch.tree(target.target)
        self._text = GitTextMerge(scratch)
        history = GitHistory(scratch.git_dir, series.base, target.target)
        paths = touched_paths(patches)
        self._homes = find_renames(scratch, self._base, self._onto, paths, history)
        arriving = new_paths(patches, self._base)
        self._arrivals = moved_folders(scratch, self._base, self._onto, arriving, history)
        self._paths = tuple(dict.fromkeys((*paths, *self._homes.values())))
        self._way = KnownHistory(
            history, self._paths, lambda steps: _readable(scratch, steps, lambda blobs: None)
        )
        self._start = {path: self._base.entry(path) for path in paths}
        self._end = {path: self._onto.entry(self._homes.get(path, path)) for path in paths}
        ends = self._base.id, self._onto.id
        self._elsewhere = ChangedFiles(
            lambda language: readable_files(scratch, *ends, is_wanted=is_of(language)), scratch
        )
        old = Overlay(self._base)
        self._folded = [Folded(patch, step_patch(old, patch, scratch)) for patch in patches]
        self._searched = self._search()

    def find(self, *, is_new: bool = False) -> Mapping[int, Absorption]:
        """Return by patch what upstream has of it; what versions have is found once, or anew."""
        return landing.find_absorbed(self._search() if is_new else self._searched)

    def _width(self, step: Step) -> int:
        return len(changed_paths(self._scratch.git_dir, self._way.before(step.commit), step.commit))

    def _search(self) -> Series:
        steps = self._way.steps(self._paths)
        way = Way(self._start, self._end, self._homes, steps, self._width)
        return Series(self._folded, way, self._scratch, elsewhere=self._elsewhere)

    def judge(
        self, found: Mapping[int, Absorption], *, is_explained: bool = False
    ) -> tuple[Judgement, ...]:
        """Return a judgement of each patch, by what upstream has.

        Commits and proposals are looked for where `is_explained` asks for them.
        """
        items = [
            Item(one.patch, steps=one.steps, absorption=found.get(number))
            for number, one in enumerate(self._folded)
        ]
        tools = Tools(self._scratch, lambda path, content, line: None, _NOBODY, text=self._text,
                      asks=True, elsewhere=self._elsewhere)  # fmt: skip
        judged, _ = rebase_series(
            items,
            UpstreamRange(self._base, self._onto, self._homes, self._arrivals),
            tools,
        )
        if is_explained:
            start = {path: self._base.entry(path) for path in explained_paths(judged)}
            judged = explain(judged, self._way, start, blobs=self._scratch, text=self._text)
        return tuple(self._judgement(n, each.outcome) for n, each in enumerate(judged))

    def _judgement(self, number: int, outcome: PatchOutcome) -> Judgement:
        said = [one.commit for one in outcome.evidence]
        landed = self._target.landed_by(number)
        return Judgement(
            self._series.series,
            self._series.group(self._target, number),
            self._target.truth[number][0],
            outcome.verdict,
            kinds_of(outcome),
            any(commit in landed for commit in said) if said else None,
        )


def kinds_of(outcome: PatchOutcome) -> tuple[str, ...]:
    """Return as what a verdict or a proposal is counted; what is carried is not."""
    if outcome.verdict is Verdict.ABSORBED:
        return tuple(sorted({hunk.how.value for hunk in outcome.hunks if hunk.how is not None}))
    if outcome.verdict is Verdict.CONFLICT and outcome.likely:
        return (kind_of_proposals(outcome),)
    return ()


def judge_series(mirrors: Path, rules: frozenset[str], series: KnownSeries) -> list[CaseResult]:
    """Judge a series on all its targets, with every rule and without each one of `rules`."""
    stores = [(mirrors / name / "repo").resolve() for name in series.stores]
    results = []
    with (
        tempfile.TemporaryDirectory(prefix="patchmgr-rules-") as folder,
        Scratch(stores, folder=Path(folder)) as scratch,
    ):
        try:
            patches = rebuild(scratch, series)
            for target in series.targets:
                results.append(_judge_case(Judge(scratch, series, target, patches), rules))
        except (CannotRebuild, PatchmgrError) as fault:
            results.append(CaseResult((), fault=f"{series.series}: {fault}"))
    return results


def _judge_case(judge: Judge, rules: frozenset[str]) -> CaseResult:
    found, without, said = judge.find(), {}, set[str]()
    noted = {name: partial(_noted, said, name, prove) for name, prove in proof.PROOFS.items()}
    with patch.object(proof, "PROOFS", noted):
        judged = judge.judge(found, is_explained=True)
    for rule in (rule for rule in RULES if rule.name in rules):
        with rule.is_off():
            other = judge.find(is_new=rule is NEWS)  # the one that changes what versions have
            if other != found or rule.name in said:
                without[rule.name] = judge.judge(other)
    return CaseResult(judged, without)


def _noted(
    said: set[str], name: str, prove: Callable[[proof.Drop], str | None], drop: proof.Drop
) -> str | None:
    """Ask a proof, and note that it speaks against a drop."""
    found = prove(drop)
    said.update({name} if found is not None else ())
    return found


def judge_all(
    cases: Iterable[KnownSeries], mirrors: Path, rules: frozenset[str], jobs: int, kept: Path | None
) -> list[CaseResult]:
    """Judge all series, so many at a time, those with most to do first."""
    lines = kept.read_bytes().splitlines() if kept and kept.exists() else []
    done = [msgspec.json.decode(line, type=list[CaseResult]) for line in lines]
    results = [result for each in done for result in each]
    known = {one.series for result in results for one in result.judged}
    rest = (each for each in cases if each.series not in known)
    ordered = sorted(rest, key=lambda each: -len(each.picks) * len(each.targets))
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        work = pool.imap_unordered(partial(judge_series, mirrors, rules), ordered)
        for number, found in enumerate(work, start=1):
            results += found
            if kept:
                with kept.open("ab") as file:
                    file.write(msgspec.json.encode(found) + b"\n")
            if number % 50 == 0:
                tell(f"{number} of {len(ordered)} series")
    for result in results:
        if result.fault:
            tell(f"LEFT OUT: {result.fault}")
    return results


def scored(judged: Iterable[Judgement]) -> Iterator[Judgement]:
    """Yield the judgements of patches whose fate is known."""
    return (one for one in judged if one.truth != "?")


def shares(judged: Iterable[Judgement]) -> list[Reliability]:
    """Return by kind how many absorbed patches, or proposals, there were, and how many right."""
    right, every = Counter[str](), Counter[str]()
    for one in scored(judged):
        every.update(one.kinds)
        is_part = one.truth == "partial" and one.kinds == (IN_PART,)
        right.update(one.kinds if one.truth == "absorbed" or is_part else ())
    return [Reliability(kind, right[kind], every[kind]) for kind in sorted(every)]


def written(table: Sequence[Reliability]) -> bytes:
    """Return the shares as the package keeps them."""
    return msgspec.json.format(msgspec.json.encode(table), indent=1) + b"\n"


def size_line(results: Sequence[CaseResult]) -> str:
    """Return how much was judged."""
    known = [one for result in results for one in scored(result.judged)]
    series = {one.series for one in known}
    left = sum(bool(result.fault) for result in results)
    more = f"; {left} could not be rebuilt or judged" if left else ""
    cases = counted(sum(bool(result.judged) for result in results), "case")
    return f"{len(known):,} patches in {cases} of {len(series):,} series{more}."


def group_table(judged: Sequence[Judgement]) -> Iterator[str]:
    """Yield a row for each group: how many of its patches are called absorbed."""
    groups = defaultdict[str, list[Judgement]](list)
    for one in scored(judged):
        groups[one.group].append(one)
    yield "| group | patches | called absorbed | share |"
    yield "|---|--:|--:|--:|"
    recall = []
    for name in GROUPS:
        if name in groups:
            number = sum(one.verdict is Verdict.ABSORBED for one in groups[name])
            every = len(groups[name])
            recall += [] if name.startswith("false") else [number / every]
            yield f"| {name} | {every} | {number} | {share(number, every)} |"
    if recall:
        yield f"| **mean of the true groups** | | | **{100 * sum(recall) / len(recall):.1f} %** |"


def kind_table(judged: Iterable[Judgement]) -> Iterator[str]:
    """Yield a row for each kind of verdict: how often it was right."""
    yield "| kind | right | of | share |"
    yield "|---|--:|--:|--:|"
    for one in shares(judged):
        yield f"| {one.rule} | {one.right} | {one.of} | {share(one.right or 0, one.of or 0)} |"


def rule_table(results: Sequence[CaseResult]) -> Iterator[str]:
    """Yield a row for each rule: what changes without it."""
    yield "| rule | what it is for | cases | wrong to right | right to wrong | conflicts | series |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    for rule in RULES:
        cases = [one for one in results if rule.name in one.without]
        better, worse, conflicts, series = 0, 0, 0, set[str]()
        for case in cases:
            for with_it, without in zip(case.judged, case.without[rule.name], strict=True):
                conflicts += without.verdict is Verdict.CONFLICT
                conflicts -= with_it.verdict is Verdict.CONFLICT
                if with_it.truth != "?" and with_it.is_right is not without.is_right:
                    better, worse = better + without.is_right, worse + with_it.is_right
                    series.add(with_it.series)
        numbers = f"{len(cases)} | {better} | {worse} | {conflicts:+d} | {len(series)}"
        yield f"| {rule.name} | {rule.reason} | {numbers} |"


def evidence_line(judged: Sequence[Judgement]) -> str:
    """Return how often the commit that is named for an absorbed patch is one that landed it."""
    said = [one for one in scored(judged) if one.verdict is Verdict.ABSORBED]
    named = [one.names_commit for one in said if one.truth == "absorbed"]
    known = [one for one in named if one is not None]
    landed = share(sum(known), len(known))
    return f"The named commit landed the patch in {landed} of {len(known)} verdicts."


def main() -> None:
    """Measure, print, and write both files where that is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--cases", type=Path, required=True, help="the series, a JSON line each")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--only", default="", help="cases whose series:target matches this")
    parser.add_argument("--rules", help="names of rules to switch off, instead of all")
    parser.add_argument("--kept", type=Path, help="results by series, to go on from")
    parser.add_argument("--write", action="store_true", help="write the page and the shares")
    options = parser.parse_args()
    known = [rule.name for rule in RULES]
    names = known if options.rules is None else list(filter(None, options.rules.split(",")))
    if not set(names) <= set(known):
        parser.error(f"the rules are: {', '.join(known)}")
    if options.write and (options.only or options.rules is not None):
        parser.error("--write is for all cases and all rules")
    cases = list(read_cases(options.cases, options.only))
    mirrors = mirrors_of(sorted({store for series in cases for store in series.stores}))
    if mirrors is None:
        return
    results = judge_all(cases, mirrors, frozenset(names), options.jobs, options.kept)
    judged = [one for result in results for one in result.judged]
    parts = (
        [size_line(results)],
        group_table(judged),
        [evidence_line(judged)],
        kind_table(judged),
        rule_table(results),
    )
    text = "\n\n".join("\n".join(part) for part in parts)
    print(text)
    if options.write:
        write(SECTION, text)
        FILE.write_bytes(written(shares(judged)))


if __name__ == "__main__":
    main()
