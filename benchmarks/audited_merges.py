"""Counts what the audit says of merges that people worked on, and what of it they corrected.

    PATCHMGR_MIRRORS=<folder> python -m benchmarks.audited_merges [--count N] [--out FILE]

Each merge that git leaves in conflict in a few files, or that was committed in another form than
git's, is a case. The side that changed fewer files is the series, and the result is what git makes
of the files that it merges. A person corrected a finding if the merge that they committed lacks the
line, or the file.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

from msgspec import Struct, to_builtins

from benchmarks.mirrored import mirrors_of, options_of
from benchmarks.pages import tell
from benchmarks.picking import GitFault, Oracle
from patchmgr.engines.audit.checks import CHECKS
from patchmgr.engines.audit.states import AuditedPatch, Files, States, run_checks
from patchmgr.engines.series.fold import Overlay
from patchmgr.errors import PatchmgrError
from patchmgr.formats.patch_files import parse_patch
from patchmgr.plumbing.diffs import changed_paths, tree_diff
from patchmgr.plumbing.objects import ObjectReader, StoredTree

REPOSITORIES = (
    "ckan+ckan/repo", "conda+conda/repo", "mitmproxy+mitmproxy/repo", "Snapchat+KeyDB/repo",
    "ElementsProject+elements/repo", "flashinfer-ai+flashinfer/repo", "neuralmagic+vllm/repo",
    "vllm-project+vllm-ascend/repo", "ollama+ollama/repo",
)  # fmt: skip
_MOST_CONFLICTS = 8  # files
_MOST_PATHS = 400  # that the smaller side changed
_TRIES = 60  # merges that are looked at for each that is counted


class Merge(Struct, frozen=True):
    """A merge: its commit and parents, git's tree of it, and the paths that git left in conflict.

    `person` is the tree that was committed.
    """

    commit: str
    parents: tuple[str, str]
    person: str
    tree: str
    conflicts: tuple[str, ...]


class Told(Struct, frozen=True):
    """A finding of the audit, and whether the person's merge lacks its line."""

    repository: str
    merge: str
    check: str
    kind: str
    is_certain: bool
    path: str
    line: int
    text: str
    is_corrected: bool


class _Audited(Struct, frozen=True):
    """The findings of one merge, and whether git left no conflict in it."""

    is_clean: bool
    told: tuple[Told, ...]


def main(arguments: Sequence[str]) -> int:
    """Audit merges of each repository and print the table."""
    options = options_of(arguments, __doc__, "merges of each repository", 100)
    mirrors = mirrors_of(REPOSITORIES)
    if mirrors is None:
        return 0
    found: list[_Audited] = []
    for name in REPOSITORIES:
        with tempfile.TemporaryDirectory(prefix="patchmgr-audited-") as folder:
            oracle = Oracle(Path(folder) / "oracle.git", (mirrors / name).resolve())
            oracle.prepare()
            some = list(islice(_audited(oracle, name, options.count * _TRIES), options.count))
        tell(f"{name}: {len(some)} merges")
        found += some
    if options.out:
        rows = (json.dumps(to_builtins(told)) for one in found for told in one.told)
        options.out.write_text("".join(f"{row}\n" for row in rows))
    print(table(found))
    return 0


def _audited(oracle: Oracle, name: str, most: int) -> Iterator[_Audited]:
    """Yield the findings of a mirror's merges, in a fixed random order."""
    line = ("log", "--all", "--min-parents=2", "--max-parents=2", "--format=%H %P %T")
    every = oracle.git(f"--git-dir={oracle.mirror}", *line).splitlines()
    random.Random(0).shuffle(every)
    with ObjectReader(oracle.git_dir) as reader:
        for row in every[:most]:
            commit, one, other, person = row.split()
            try:
                printed = oracle.git(
                    "merge-tree", "--write-tree", "--name-only", "--no-messages", one, other,
                    good=(0, 1),
                ).splitlines()  # fmt: skip
                merge = Merge(commit, (one, other), person, printed[0], tuple(printed[1:]))
                is_touched = merge.conflicts or merge.tree != person
                states = _states(oracle, reader, merge) if is_touched else None
                if states is not None:
                    yield _Audited(not merge.conflicts, tuple(_told(reader, name, merge, states)))
            except (GitFault, PatchmgrError) as fault:  # a mirror may lack large files
                tell(f"{commit}: {str(fault).splitlines()[0][:100]}")


def _states(oracle: Oracle, reader: ObjectReader, merge: Merge) -> States | None:
    """Return the states of a merge, or None if it is not compared."""
    bases = oracle.git("merge-base", "--all", *merge.parents).split()
    if len(bases) != 1 or len(merge.conflicts) > _MOST_CONFLICTS:
        return None
    base, *sides = (reader.tree_of(commit) for commit in (*bases, *merge.parents))
    changed = [set(changed_paths(oracle.git_dir, base, side)) for side in sides]
    if not all(changed):
        return None
    (paths, written), (upstream, onto) = sorted(
        zip(changed, sides, strict=True), key=lambda side: len(side[0])
    )
    carried = set(changed_paths(oracle.git_dir, onto, merge.tree)) - {*merge.conflicts}
    if len(paths) > _MOST_PATHS or not carried:
        return None
    diff = tree_diff(oracle.git_dir, base, written)
    files = parse_patch(b"Subject: series\n\n---\n" + diff, name="series").files
    read = lru_cache(512)(reader.blob)
    four = (
        Files(Overlay(StoredTree(reader, tree)), read) for tree in (base, written, onto, merge.tree)
    )
    base_files, written_files, onto_files, merged_files = four
    left = tuple(file for file in files if file.path in merge.conflicts)
    mine = tuple(file for file in files if file.path not in merge.conflicts)
    patches = AuditedPatch("series", True, mine), AuditedPatch("left", False, left, is_left=True)
    carriers = dict.fromkeys(sorted(carried), "series")
    return States(
        base_files, written_files, onto_files, merged_files, patches, carriers, frozenset(upstream)
    )


def _told(reader: ObjectReader, name: str, merge: Merge, states: States) -> Iterator[Told]:
    kept = Files(Overlay(StoredTree(reader, merge.person)), reader.blob)
    for check in CHECKS:
        for _, one in run_checks(states, [check]):
            lines, now = states.merged.lines(one.path), kept.read(one.path)
            line = lines[one.line - 1] if 0 < one.line <= len(lines) else None
            is_corrected = now is None or (line is not None and line not in now.splitlines())
            about = name.partition("/")[0], merge.commit, check.__name__, one.kind, one.is_certain
            yield Told(*about, one.path, one.line, _plain(one.text), is_corrected)


def _plain(text: str) -> str:
    """Return a sentence without names, paths and numbers, so that equal faults have one row."""
    text = re.sub(r"`[^`]*`", "X", text).partition(" Its new name")[0]
    text = re.sub(r"(?<!\w)[\w.+-]*[/.][\w./+-]*\w", "F", text)
    text = re.sub(r"(X is called with(out)? X, which it (needs|does not take)\. ?)+", r"\1", text)
    return re.sub(r"\d+", "N", text).strip()


def table(found: Sequence[_Audited]) -> str:
    """Return the table of all kinds of findings."""
    rows = defaultdict[tuple[str, str, str], list[Told]](list)
    for told in (told for one in found for told in one.told):
        rows[told.check, "certain" if told.is_certain else "likely", told.text].append(told)
    silent = sorted({check.__name__ for check in CHECKS} - {check for check, _, _ in rows})
    lines = [
        f"{len(found)} merges of {len(REPOSITORIES)} projects. In "
        f"{sum(one.is_clean for one in found)} of them, git left no conflict.",
        "",
        "| check | | what it says | findings | merges | of these, corrected |",
        "|---|---|---|--:|--:|--:|",
    ]
    for (check, sure, text), some in sorted(rows.items()):
        merges, corrected = ({t.merge for t in some if t.is_corrected >= x} for x in (False, True))
        shown = f"`{check}` | {sure} | {text} | {len(some)} | {len(merges)} | {len(corrected)}"
        lines.append(f"| {shown} |")
    return "\n".join([*lines, "", f"Silent: {', '.join(f'`{name}`' for name in silent)}."])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
