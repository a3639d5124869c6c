"""Learns from merges that people made which candidate for a conflict is right.

    PATCHMGR_MIRRORS=<folder> python -m benchmarks.merges --corpus FILE [--limit N] [--write]

Collects into FILE, where it has none of them yet, the files that git left in conflict in public
histories; asks the engine for candidates; compares them with what the person committed. Printed is
what comes of it in repositories that it was not learned from. `--write` puts the tables into
docs/benchmarks.md and the points into the package. Needs scikit-learn 1.8 or newer.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import groupby, pairwise
from pathlib import Path

from benchmarks.merge_cases import Case, Corpus, cases_of
from benchmarks.merge_labels import Frame, region_code
from benchmarks.merge_training import (
    BUCKETS,
    FOLDS,
    Judged,
    Labelled,
    LabelledFile,
    firsts,
    judged,
    learn,
    measured,
    scored,
    written,
)
from benchmarks.mirrored import mirrors_of
from benchmarks.pages import PAGE, Section, tell, write
from benchmarks.plots import plot, write_plot
from patchmgr.engines.merge.candidate import FileCandidates
from patchmgr.engines.merge.resolve import FILE, LEAST, Step, Table, candidates_of
from patchmgr.engines.structure.sides import Texts
from patchmgr.render.escape import share

REPOSITORIES = (
    "sympy/sympy", "ansible/ansible", "buildbot/buildbot", "ipython/ipython",
    "sphinx-doc/sphinx", "pypa/setuptools", "scrapy/scrapy", "spyder-ide/spyder",
    "beetbox/beets", "nipy/nipype", "mopidy/mopidy", "ElementsProject/elements",
    "namecoin/namecoin-core", "git/git", "apache/trafficserver", "celery/celery",
    "pytest-dev/pytest", "fail2ban/fail2ban", "pyqtgraph/pyqtgraph", "OpenMDAO/OpenMDAO",
    "openvswitch/ovs", "Icinga/icinga2",
)  # fmt: skip
SECTION = Section(
    __doc__ or "", "", "<!-- begin: python -m benchmarks.merges -->", "<!-- end: merges -->", 1
)
PLOT = "benchmark-merges.svg"
HEAD = "| files | | resolved | right | the person's | else in first three |\n|---|" + "--:|" * 5


def labelled(case: Case) -> LabelledFile:
    """Return how near each candidate of a case's regions comes to the person's."""
    texts = Texts(case.base, case.ours, case.theirs)
    file = candidates_of(texts, case.path, case.marked)
    if file is None:
        return LabelledFile(case.id, case.repo, case.language, ())
    frame = Frame(_clean(file))
    persons = frame.regions(case.expected)
    sides = frame.sides(case.base, case.ours, case.theirs)
    is_python = case.language == "python"
    regions = tuple(
        tuple(
            Labelled(
                one.rule,
                one.features,
                region_code(three, own, one.text, is_python=is_python),
                one.asks,
            )
            for one in region
        )
        for region, three, own in zip(file.regions, sides, persons, strict=True)
    )
    return LabelledFile(case.id, case.repo, case.language, regions)


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
    for repo in REPOSITORIES:
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
        work = pool.imap(partial(_labelled_of, path, limit), REPOSITORIES)
        return [file for some in work for file in some]


def size_line(files: Sequence[LabelledFile]) -> str:
    """Return how much was measured."""
    regions = sum(len(file.regions) for file in files)
    repos = len({file.repo for file in files})
    return f"{len(files):,} files with {regions:,} regions, of {repos} repositories."


def language_table(rows: Sequence[tuple[LabelledFile, Table]]) -> Iterator[str]:
    """Yield what comes of each family of languages as a rebase does it."""
    yield HEAD
    for language in ("python", "c++", "other"):
        some = [row for row in rows if row[0].language == language]
        yield scored(some, least=LEAST).row(language)


def step_table(measured: Mapping[str, Iterable[Step]]) -> Iterator[str]:
    """Yield a row for each step: how many candidates are as likely or likelier, how many right."""
    yield "| language | likelihood | candidates | right |\n|---|--:|--:|--:|"
    for family, steps in measured.items():
        for step in steps:
            at_least = f"{100 * step.likelihood:.1f} % or more"
            yield f"| {family} | {at_least} | {step.of} | {share(step.right, step.of)} |"


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


def reliability_plot(some: Iterable[Judged]) -> str:
    """Return the picture of how likely candidates were judged against how many were right."""
    found = list(some)
    lines = {"as judged": [(0.0, 0.0), (100.0, 1.0)], "right": [], "the person's": []}
    for low, high in pairwise(BUCKETS):
        codes = [one.code for one in found if low <= one.likelihood < high]
        if codes:
            at = 50 * (low + high)
            lines["right"].append((at, sum(c.is_right for c in codes) / len(codes)))
            lines["the person's"].append((at, sum(c.is_persons for c in codes) / len(codes)))
    return plot(lines, across="judged the person's, %", up="share")


def main() -> None:
    """Collect, label, learn, print, and write all three where that is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--corpus", type=Path, required=True, help="the cases, an SQLite file")
    parser.add_argument("--most", type=int, default=400, help="merges of each repository")
    parser.add_argument("--limit", type=int, default=0, help="files of a repository and language")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--write", action="store_true", help="write the page and the trees")
    options = parser.parse_args()
    mirrors = mirrors_of([_mirror(repo) for repo in REPOSITORIES])
    if mirrors is None:
        return
    collect(Corpus(options.corpus), mirrors, most=options.most)
    files = label(options.corpus, limit=options.limit, jobs=options.jobs)
    known = list(judged(files))
    first = [one for file, table in known for one in firsts(file, table)]
    steps = measured(first)
    rows = [(file, Table(table.points, steps)) for file, table in known]
    parts = (
        [f"Learned from {size_line(files)}", "Each file is judged by what the other "
         f"{FOLDS - 1} of {FOLDS} parts of the repositories teach."],
        language_table(rows),
        step_table(steps),
        rule_table(files),
    )  # fmt: skip
    text = "\n\n".join("\n".join(part) for part in parts)
    print(text)
    if options.write:
        write(SECTION, text)
        write_plot(PAGE.parent / PLOT, reliability_plot(first))
        FILE.write_bytes(written(Table(learn(files), steps)))


if __name__ == "__main__":
    main()
