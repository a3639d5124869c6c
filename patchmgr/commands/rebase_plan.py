"""What a rebase without conflicts changes: patch files, the series file, the lock, the branch."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.commands.carrying import Wishes
from patchmgr.commands.prepared import Ready
from patchmgr.commands.work_area import Unfinished
from patchmgr.formats.mailbox import canonical_header
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.series_files import set_aside, without, without_strip, write_series
from patchmgr.model.outcome import SeriesOutcome, Verdict
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.sides import Side
from patchmgr.plumbing.stores import adopt_pack, references
from patchmgr.plumbing.workbench import Workbench
from patchmgr.store import Change, RefPlan, Workspace

BRANCHES = "refs/heads/patchmgr/"
SKIPPED = "left out by rebase --skip"


class Asked(Struct, frozen=True):
    """One run of a rebase: what was asked, with what was solved and skipped since."""

    unfinished: Unfinished
    wishes: Wishes
    is_dry_run: bool


def plan_files(
    diffs: Mapping[str, bytes], ready: Ready, outcome: SeriesOutcome, change: Change
) -> None:
    """Plan the patch files and the series file for after the rebase.

    `diffs` are by commit those of the patches that are written anew.
    """
    pairs = list(zip(ready.patches, outcome.patches, outcome.commits, strict=True))
    rewritten = {c: p for p, o, c in pairs if c is not None and not o.reuses_diff}
    folder = f"series/{outcome.name}"
    for patch, result, commit in pairs:
        if commit in rewritten:
            assert commit is not None
            raw = canonical_header(patch, author=result.author) + diffs[commit]
            parse_patch(raw, name=patch.name)
            change.files[f"{folder}/{patch.name}"] = raw
        elif result.verdict is Verdict.ABSORBED:
            change.files[f"{folder}/{patch.name}"] = None
    gone = {o.name for o in outcome.patches if o.verdict is Verdict.ABSORBED}
    aside = {o.name for o in outcome.patches if o.reason == SKIPPED}
    plain = without_strip(ready.series_file, {patch.name for patch in rewritten.values()})
    note = f"skipped on {outcome.onto.ref}"
    series_file = set_aside(without(plain, gone), aside, note)
    if series_file != ready.series_file:
        change.files[f"{folder}/series"] = write_series(series_file)


def pinned(record: SeriesRecord, outcome: SeriesOutcome) -> SeriesRecord:
    """Return the series on its new pin, with what the rebase gave."""
    return replace(record, pin=outcome.onto, result=result_record(outcome))


def result_record(outcome: SeriesOutcome) -> dict[str, object]:
    """Return what the lock keeps of a rebase: from, to, head, and the patches not unchanged."""
    return {
        "base": {"commit": outcome.base.commit, "ref": outcome.base.ref},
        "head": outcome.head or "",
        "patches": [
            {
                "name": patch.name,
                "verdict": patch.verdict.value,
                "evidence": [sighting.commit for sighting in patch.evidence],
            }
            for patch in outcome.patches
        ],
    }


def plan_branch(
    workspace: Workspace, side: Side, bench: Workbench, outcome: SeriesOutcome, change: Change
) -> None:
    """Put the commits into the store and plan the move of its branch."""
    adopt_pack(side.store, bench.git_dir)
    branch = BRANCHES + outcome.name
    old = references(side.store, workspace.ref_at(side.store, branch)).get("")
    change.refs.append(RefPlan(str(side.store), branch, outcome.head, old))
