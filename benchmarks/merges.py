"""Learns from merges that people made how reliable each candidate for a conflict is.

    PATCHMGR_MIRRORS=<folder> python -m benchmarks.merges --corpus FILE [--limit N] [--write]

Collects into FILE, where it has none of them yet, the files that git left in conflict in public
histories; asks the engine for candidates; compares them with what the person committed. Printed is
how well trees of several depths know this on repositories that they were not learned from.
`--write` puts the tables into docs/benchmarks.md and the trees into the package.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from itertools import groupby, pairwise
from pathlib import Path

import msgspec

from benchmarks.merge_cases import Case, Corpus, cases_of
from benchmarks.merge_labels import Frame, Sides, file_code, region_code
from benchmarks.merge_training import (
    BUCKETS,
    DEEPEST,
    Labelled,
    LabelledFile,
    Score,
    bucket_rows,
    learn,
    measure,
    score_row,
)
from benchmarks.mirrored import mirrors_of
from benchmarks.pages import PAGE, Section, tell, write
from benchmarks.plots import plot, write_plot
from patchmgr.engines.merge.candidate import FileCandidates
from patchmgr.engines.merge.choice import FILE, LEAST, Table, written
from patchmgr.engines.merge.merge import candidates_of
from patchmgr.engines.structure.reliability import FILE as RULES_FILE
from patchmgr.engines.structure.sides import Texts
from patchmgr.engines.structure.solvers import merge_structure

TRAINING = (
    "sympy/sympy", "ansible/ansible", "buildbot/buildbot", "ipython/ipython", "sphinx-doc/sphinx",
    "pypa/setuptools", "scrapy/scrapy", "spyder-ide/spyder", "beetbox/beets", "nipy/nipype",
    "mopidy/mopidy", "ElementsProject/elements", "namecoin/namecoin-core", "git/git",
    "apache/trafficserver",
)  # fmt: skip
NEVER_SEEN = (
    "celery/celery", "pytest-dev/pytest", "fail2ban/fail2ban", "pyqtgraph/pyqtgraph",
    "OpenMDAO/OpenMDAO", "openvswitch/ovs", "Icinga/icinga2",
)  # fmt: skip
SECTION = Section(
    __doc__ or "", "", "<!-- begin: python -m benchmarks.merges -->", "<!-- end: merges -->", 1
)
PLOT = "benchmark-merges.svg"
HEAD = "| {} | loss | loss, own | solved | right | the person's | among three |\n|---|" + "--:|" * 6


def labelled(case: Case) -> LabelledFile:
    """Return how near each candidate of a case's regions comes to the person's."""
    where = (case.id, case.repo, case.language)
    texts = Texts(case.base, case.ours, case.theirs)
    solution = merge_structure(texts, case.path, case.marked.encode("utf-8", "surrogateescape"))
    file = candidates_of(texts, case.path, case.marked, solution)
    if file is None:
        return LabelledFile(*where, ())
    frame = Frame(_clean(file))
    persons = frame.regions(case.expected)
    sides = frame.sides(case.base, case.ours, case.theirs)
    is_python = case.language == "python"
    rules: tuple[str, ...] = ()
    code = None
    if solution is not None:
        three = Sides(case.base, case.ours, case.theirs)
        rules = solution.rules
        code = file_code(frame, three, case.expected, solution.text, is_python=is_python)
    regions = tuple(
        tuple(
            Labelled(one.rule, one.features, region_code(three, own, one.text, is_python=is_python))
            for one in region.candidates
        )
        for region, three, own in zip(file.regions, sides, persons, strict=True)
    )
    return LabelledFile(*where, regions, rules, code)


def _clean(file: FileCandidates) -> Iterator[str]:
    """Yield the clean texts before, between and after the regions."""
    between = ""
    for piece in file.pieces:
        if isinstance(piece, str):
            between += piece
        else:
            yield between
            between = ""
    yield between


def collect(corpus: Corpus, mirrors: Path, *, most: int) -> None:
    """Fill a corpus with the repositories that it has not."""
    have = corpus.repositories()
    for repo in (*TRAINING, *NEVER_SEEN):
        if repo not in have:
            mirror = (mirrors / _mirror(repo)).resolve()
            for case in cases_of(mirror, repo, most=most):
                corpus.add(case)
            corpus.commit()
            tell(f"{repo}: collected")


def _mirror(repo: str) -> str:
    return f"{repo.replace('/', '+')}/repo"


def _labelled_of(path: Path, limit: int, repo: str) -> list[LabelledFile]:
    """Label the cases of a repository, so many of each language, always the same ones."""
    cases = sorted(Corpus(path).cases(repo), key=lambda case: case.language)
    found = []
    for _, some in groupby(cases, lambda case: case.language):
        mixed = sorted(some, key=lambda case: sha256(case.id.encode()).digest())
        found += [labelled(case) for case in mixed[: limit or None]]
    tell(f"{repo}: {len(found)} files")
    return found


def label(path: Path, *, limit: int, jobs: int) -> list[LabelledFile]:
    """Label the corpus, so many repositories at a time."""
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        work = pool.imap(partial(_labelled_of, path, limit), (*TRAINING, *NEVER_SEEN))
        return [file for some in work for file in some]


def size_line(files: Sequence[LabelledFile]) -> str:
    """Return how much was measured."""
    regions = sum(len(file.regions) for file in files)
    repos = len({file.repo for file in files})
    return f"{len(files):,} files with {regions:,} regions, of {repos} repositories."


def model_table(training: Sequence[LabelledFile], unseen: Sequence[LabelledFile]) -> Iterator[str]:
    """Yield a row for trees of each depth, on the repositories that were not learned from."""
    yield HEAD.format("questions")
    for deepest in (0, 1, 2, DEEPEST, 2 * DEEPEST):
        trees = learn(training, deepest=deepest)
        yield score_row(f"at most {deepest}", measure(unseen, trees, least=LEAST))


def language_table(files: Sequence[LabelledFile], trees: Table) -> Iterator[str]:
    """Yield a row for each family of languages."""
    yield HEAD.format("files")
    for language in ("python", "c++", "other"):
        some = [file for file in files if file.language == language]
        yield score_row(language, measure(some, trees, least=LEAST))


def rule_table(files: Iterable[LabelledFile]) -> Iterator[str]:
    """Yield a row for each rule: how many candidates it made, how many right."""
    counts = defaultdict[str, Counter[str]](Counter)
    for file in files:
        for region in file.regions:
            for one in region:
                said = counts[one.rule]
                said["of"] += 1
                said["right"] += one.code.is_right
                said["own"] += one.code.is_persons
    yield "| rule | candidates | right | the person's |"
    yield "|---|--:|--:|--:|"
    for rule, said in sorted(counts.items(), key=lambda item: -item[1]["of"]):
        shares = (f"{100 * said[kind] / said['of']:.0f} %" for kind in ("right", "own"))
        yield f"| {rule} | {said['of']} | {' | '.join(shares)} |"


def counts_of_rules(files: Iterable[LabelledFile]) -> dict[str, dict[str, tuple[int, int]]]:
    """Return by language and rule how many files that the rule took part in are right."""
    found = defaultdict[str, defaultdict[str, list[bool]]](lambda: defaultdict(list))
    for file in files:
        for rule in file.rules:
            found[file.language][rule].append(file.code is not None and file.code.is_right)
    return {
        language: {rule: (sum(codes), len(codes)) for rule, codes in sorted(rules.items())}
        for language, rules in sorted(found.items())
    }


def reliability_plot(score: Score) -> str:
    """Return the picture of the stated share against what was right."""
    middles = [(low + high) / 2 for low, high in pairwise(BUCKETS)]
    counts = zip(middles, score.buckets, strict=True)
    shares = [(100 * at, right / of) for at, (right, of) in counts if of]
    ideal = [(0.0, 0.0), (100.0, 1.0)]
    lines = {"never seen repositories": shares, "as stated": ideal}
    return plot(lines, across="stated share right, %", up="right")


def main() -> None:
    """Collect, label, learn, print, and write all three where that is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--corpus", type=Path, required=True, help="the cases, an SQLite file")
    parser.add_argument("--most", type=int, default=400, help="merges of each repository")
    parser.add_argument("--limit", type=int, default=0, help="files of a repository and language")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--write", action="store_true", help="write the page and the trees")
    options = parser.parse_args()
    mirrors = mirrors_of([_mirror(repo) for repo in (*TRAINING, *NEVER_SEEN)])
    if mirrors is None:
        return
    collect(Corpus(options.corpus), mirrors, most=options.most)
    files = label(options.corpus, limit=options.limit, jobs=options.jobs)
    training = [file for file in files if file.repo in TRAINING]
    unseen = [file for file in files if file.repo in NEVER_SEEN]
    trees = learn(training)
    score = measure(unseen, trees, least=LEAST)
    steps = ["| stated | candidates | right |\n|---|--:|--:|", *bucket_rows(score)]
    parts = (
        [f"Learned from {size_line(training)}", f"Measured on {size_line(unseen)}"],
        model_table(training, unseen),
        language_table(unseen, trees),
        steps,
        rule_table(unseen),
    )
    text = "\n\n".join("\n".join(part) for part in parts)
    print(text)
    if options.write:
        write(SECTION, text)
        write_plot(PAGE.parent / PLOT, reliability_plot(score))
        FILE.write_bytes(written(trees))
        RULES_FILE.write_bytes(msgspec.json.format(msgspec.json.encode(counts_of_rules(files))))


if __name__ == "__main__":
    main()
