"""Make work orders, which hold everything that is known about a conflict."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any

from msgspec.structs import replace

from patchmgr.engines.cause.pulls import pull_number
from patchmgr.engines.conflicts.work_order import (
    Whole,
    near_hunks,
    readable,
    regions_of,
    shortened,
    symbols_of,
)
from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.engines.moved.units import leaf_of
from patchmgr.errors import PatchmgrError
from patchmgr.model.audit import ENSURES, AuditFinding
from patchmgr.model.outcome import (
    ConflictKind,
    PatchOutcome,
    SeriesOutcome,
    UpstreamCommit,
    Verdict,
)
from patchmgr.model.patch import CONDITIONS
from patchmgr.model.recorded_conflict import Recorded
from patchmgr.model.resolving import OpenConflict
from patchmgr.model.work_order import (
    EarlierResolution,
    OrderedRegion,
    Requirement,
    Solution,
    SymbolSides,
    SymbolUse,
    UpstreamChange,
    WorkOrder,
)
from patchmgr.plumbing.diffs import diff_of_paths, lines_with
from patchmgr.plumbing.forks import read_commit_text
from patchmgr.plumbing.git_process import text
from patchmgr.plumbing.history import GitHistory, ReleaseHistory
from patchmgr.render.work_order import order_value, value_size, without_sides
from patchmgr.services.decisions import decisions_on, open_findings, read_accepted
from patchmgr.services.memory import Memory, waiting_with
from patchmgr.services.repeated_rebase import RepeatedRebase, repeated_rebase
from patchmgr.services.session import Session
from patchmgr.services.syncs import solved_as
from patchmgr.services.work_area import InProgress, Place, read_in_progress
from patchmgr.workspace import PRIVATE

OFFERED = f"{PRIVATE}/proposals/{{}}.json"
"""The path of a proposed resolution that has passed its checks but is not yet accepted.

`{}` stands for the id of the conflict.
"""

_QUOTED = re.compile(r"`([^`]+)`")
_OF_MAIL = ("from", "date", "subject")
_SOLUTION = (
    ("size", "the text is at most 16 MiB long, and not much longer than the sides"),
    ("markers", "no conflict marker is left"),
    ("syntax", "the file still parses if all sides parse"),
    ("merge", "the rebase accepts the text, and the file no longer has a conflict"),
    (
        "audit",
        "the audit has no new certain finding: names resolve, calls match, and no code is lost or"
        " duplicated",
    ),
    ("ledger", "the text keeps part of each side's change; only a person may give up a side"),
    ("whitespace", "the text adds no whitespace errors"),
)


def work_order(session: Session, name: str, found: Recorded | None) -> WorkOrder | None:
    """Return the work order for a conflict, or None if no rebase in progress has this conflict.

    `name` is the full id. `found` is its record, or None if `name` is the id of a finding.
    """
    in_progress = read_in_progress(session.workspace)
    if in_progress is None:
        return None
    if found is None:
        open_ = {one.finding.id: one for one in open_findings(session.workspace)}
        if name not in open_:
            return None
        with repeated_rebase(session, in_progress, open_[name].series) as carried:
            return order_of_finding(carried, open_[name].patch, name)
    for item in waiting_with(Memory(session.workspace), found):
        place = item.patch, item.path
        with repeated_rebase(session, in_progress, item.series, place) as carried:
            return order_of_file(carried, place, name)
    return None


def open_conflicts(
    session: Session, in_progress: InProgress, series: str
) -> tuple[SeriesOutcome, tuple[OpenConflict, ...]]:
    """Return the outcome of a series in the rebase in progress, and its open conflicts."""
    files = {
        (item.patch, item.path): item.conflict
        for item in in_progress.waiting
        if item.series == series and item.conflict
    }
    with repeated_rebase(session, in_progress, series) as carried:
        return carried.outcome, tuple(orders_of(carried, files))


def orders_of(
    carried: RepeatedRebase, ids: Mapping[Place, str] | None = None
) -> Iterator[OpenConflict]:
    """Yield each open conflict and finding of a series with its work order.

    `ids` maps the files to include to their recorded ids. By default, all files are included.
    """
    for patch in carried.outcome.patches:
        for file in patch.conflicts:
            place = patch.name, file.path
            name = file.id if ids is None else ids.get(place)
            order = None if name is None else order_of_file(carried, place, name)
            yield from () if order is None else (OpenConflict(order, file),)
        for finding in patch.open_findings:
            order = order_of_finding(carried, patch.name, finding.id)
            yield from () if order is None else (OpenConflict(order, None),)


def waiting_orders(session: Session, series: str) -> tuple[WorkOrder, ...]:
    """Return shortened work orders for the open conflicts of a series.

    If the work orders cannot be made, the reason is printed, and the result is empty.
    """
    try:
        in_progress = read_in_progress(session.workspace)
        if in_progress is None or series not in in_progress.series:
            return ()
        found = open_conflicts(session, in_progress, series)[1]
        return tuple(shorter(one.order, {})[0] for one in found)
    except PatchmgrError as fault:
        session.say(f"The conflicts of {series} are left out: {fault.message}")
        return ()


def order_of_file(carried: RepeatedRebase, place: Place, name: str) -> WorkOrder | None:
    """Return the work order for a file in conflict, or None if the file is no longer in conflict.

    `name` is the id of the whole file's conflict, or of one region.
    """
    conflict = carried.conflict(place)
    if conflict is None or carried.patch(place[0]).verdict is not Verdict.CONFLICT:
        return None
    patch, regions = carried.patch(place[0]), regions_of(conflict)
    regions = tuple(one for one in regions if one.id == name) or regions
    known = [one.symbol for one in regions]
    known += [h.symbol for h in patch.hunks if h.path == conflict.path and h.how is None]
    names = tuple(name for name in dict.fromkeys(known) if name is not None)
    file = Whole(conflict.path, conflict.new_path, conflict.base, conflict.ours, conflict.theirs)
    made = _Order(carried, patch, (conflict.path, conflict.new_path))
    order = made.order(name, conflict.kind, conflict.reason, tuple(symbols_of(names, file)))
    return replace(
        order,
        regions=regions,
        causes=made.causes([one for one in conflict.shown if one is not None], regions),
        requirements=(*made.solution(has_regions=conflict.marked is not None), *made.conditions()),
        proposal=conflict.proposal,
        likely=patch.likely,
    )


def order_of_finding(carried: RepeatedRebase, patch: str, name: str) -> WorkOrder | None:
    """Return the work order for the finding `name` of a patch, or None if it has none."""
    outcome = carried.patch(patch)
    finding = next((one for one in outcome.open_findings if one.id == name), None)
    if finding is None:
        return None
    is_condition = finding.kind in ("condition", ENSURES)
    kind = ConflictKind.CONDITION if is_condition else ConflictKind.FINDING
    made = _Order(carried, outcome, (finding.path, finding.path))
    order = made.order(name, kind, finding.sentence(), tuple(made.symbols_of(finding)))
    hint = "a person must correct the patch or its Ensures field, or skip the patch"
    if finding.can_be_accepted:
        accept = f"patchmgr conflicts accept {name} --because TEXT"
        hint = f"a person must correct the patch, skip it, or accept the finding: {accept}"
    return replace(
        order,
        causes=made.causes_of(finding),
        requirements=(Requirement("person", hint), *made.conditions()),
        finding=finding,
    )


def shorter(order: WorkOrder, value: Mapping[str, Any]) -> tuple[WorkOrder, dict[str, Any]]:
    """Return a work order and its conflict's JSON value, shortened to `MOST` bytes in total."""
    known = without_sides(value, MOST // 3)
    cut = () if len(known.get("conflict", ())) == len(value.get("conflict", ())) else (_RECORD,)
    left = MOST - value_size(known)
    order = shortened(replace(order, cut=cut), lambda one: value_size(order_value(one)), most=left)
    return order, known


MOST = 32_000  # bytes of a document, unless the full document is requested
_RECORD = "conflict, parts: the texts of the parts, which are in the regions"


class _Order:
    """Makes the parts of a work order that are the same for every kind of conflict."""

    def __init__(
        self, carried: RepeatedRebase, outcome: PatchOutcome, paths: tuple[str, str]
    ) -> None:
        # the old and the new path of the file
        self.carried, self.outcome, self.paths = carried, outcome, paths
        self.workspace = carried.session.workspace
        patches = {patch.name: patch for patch in carried.loaded.patches}
        self.patch = patches[outcome.name]
        upstream, base = carried.loaded.upstream, carried.loaded.base
        self.history: GitHistory | ReleaseHistory = upstream.history(base, carried.target)
        wanted = tuple(dict.fromkeys(path for path in paths if path))
        self.steps = self.history.steps(wanted) if wanted else ()

    def order(
        self, name: str, kind: ConflictKind, reason: str, symbols: tuple[SymbolSides, ...]
    ) -> WorkOrder:
        """Return a work order with only those fields filled in that all kinds of conflict have."""
        outcome, series = self.outcome, self.carried.outcome
        offered = self.workspace.kept(OFFERED.format(name), Solution)
        return WorkOrder(
            name,
            kind,
            series.name,
            outcome.name,
            outcome.subject,
            text(outcome.message),
            outcome.description,
            tuple(item for item in self.patch.fields.items() if item[0].lower() not in _OF_MAIL),
            *self.paths,
            reason,
            series.base,
            series.onto,
            symbols=symbols,
            later=self.later(),
            uses=self.uses(symbols),
            earlier=tuple(self.earlier(name)),
            offered=None if offered is None else offered.by,
        )

    def _causes(self, shown: Sequence[UpstreamCommit]) -> list[UpstreamCommit]:
        about = [one for one in self.outcome.cause if {*self.paths} & {*one.paths}]
        return list({one.commit: one for one in (*about, *shown)}.values())

    def causes(
        self, shown: Sequence[UpstreamCommit], regions: Sequence[OrderedRegion]
    ) -> tuple[UpstreamChange, ...]:
        """Return the upstream commits that conflict with the patch, and their changes near it."""
        texts = [
            side.text.encode()
            for region in regions
            for side in (region.base, region.ours)
            if side is not None and side.text is not None
        ]
        paths = tuple(path for path in self.paths if path)
        return tuple(
            self._change(one.commit, lambda diff: near_hunks(diff, texts), paths)
            for one in self._causes(shown)
        )

    def causes_of(self, finding: AuditFinding) -> tuple[UpstreamChange, ...]:
        """Return the commit that caused a finding, if known, with the hunks that concern it."""
        if finding.commit is None:
            return ()
        names = {word for quoted in _QUOTED.findall(finding.text) for word in quoted.split()}
        return (self._change(finding.commit, lambda diff: near_hunks(diff, (), names), ()),)

    def _change(
        self, commit: str, near: Callable[[str], str], paths: Sequence[str]
    ) -> UpstreamChange:
        scratch, before = self.carried.scratch, self.history.before(commit)
        diff = near(diff_of_paths(scratch.git_dir, before, commit, paths))
        back = next((step for step in self.steps if step.is_back and step.commit == commit), None)
        if back is not None:
            return UpstreamChange(commit, back.subject, None, "", "", diff)
        told = read_commit_text(scratch.reader, commit)
        subject, _, body = text(told.message).partition("\n")
        pull, author = pull_number(subject), told.author.name
        return UpstreamChange(commit, subject, pull, author, body.strip(), diff)

    def later(self) -> tuple[UpstreamChange, ...]:
        """Return the upstream commits that changed the file after the last conflicting commit."""
        causes = {one.commit for one in self._causes(())}
        numbers = [number for number, step in enumerate(self.steps) if step.commit in causes]
        behind = self.steps[numbers[-1] + 1 :] if numbers else ()
        return tuple(
            UpstreamChange(one.commit, one.subject, pull_number(one.subject), one.author)
            for one in behind
        )

    def uses(self, symbols: Sequence[SymbolSides]) -> tuple[SymbolUse, ...] | None:
        """Return the lines of upstream's new state that use the symbols, outside their definitions.

        Returns None if files are missing from the store, so that the state cannot be searched.
        """
        words = {leaf_of(one.name) for one in symbols}
        words = {word for word in words if not word.startswith("__")}
        suffix = PurePosixPath(self.paths[1]).suffix
        if not words or not suffix:
            return ()
        commit, own = self.carried.target.commit, self.paths[1]
        found = lines_with(self.carried.scratch.git_dir, commit, sorted(words), suffix)
        if found is None:
            return None
        inside = {line for one in symbols for line in (one.ours or "").split("\n")}
        return tuple(SymbolUse(*row) for row in found if row[0] != own or row[2] not in inside)

    def earlier(self, name: str) -> Iterator[EarlierResolution]:
        """Yield earlier resolutions for the same patch or file, and decisions about the patch."""
        series, patch = self.carried.outcome.name, self.outcome.name
        workspace, seen = self.workspace, f"{series}/{patch}"
        memory = Memory(workspace)
        for other in workspace.conflicts():
            with suppress(PatchmgrError):  # `conflicts list` reports a malformed record
                found = memory.get(other)
                if found is None or found.resolution is None or other == name:
                    continue
                if found.seen == seen or found.path in self.paths:
                    content = readable(found.resolution.content)
                    yield EarlierResolution(
                        other, found.path, found.seen, solved_as(found), content
                    )
        for decision in decisions_on(workspace, series):
            if decision.patch == patch:
                words = f"decided: {decision.ruling.value} {decision.by}".rstrip()
                yield EarlierResolution("", self.paths[1], seen, words, None)
        for one in read_accepted(workspace):
            if (one.series, one.patch) == (series, patch):
                yield EarlierResolution(one.id, "", seen, f"accepted: {one.because}", one.text)

    def solution(self, *, has_regions: bool) -> Iterator[Requirement]:
        """Yield the requirements that a proposed text must satisfy."""
        settings = self.workspace.settings(self.carried.outcome.name)
        for check, told in _SOLUTION:
            if check not in settings.left_out:
                yield Requirement(check, told)
        if has_regions:
            yield Requirement("place", "nothing outside the regions has changed")
        for command in settings.commands:
            yield Requirement("run", f"with --run, this command succeeds: {' '.join(command.run)}")

    def conditions(self) -> Iterator[Requirement]:
        """Yield the conditions in the patch header as requirements."""
        for name, value in self.patch.fields.items():
            if name.lower() in CONDITIONS:
                yield Requirement("condition", f"{name}: {' '.join(value.split())}")

    def symbols_of(self, finding: AuditFinding) -> Iterator[SymbolSides]:
        """Yield the symbol that a finding is about, if the symbol is known."""
        if not finding.path:
            return
        scratch, contents = self.carried.scratch, self.carried.contents
        commits = (self.carried.loaded.base.commit, self.carried.target.commit, self.carried.top)
        base, ours, result = (
            contents.file(scratch.tree(commit), finding.path) for commit in commits
        )
        name = finding.symbol
        if name is None and finding.line and result is not None:
            name = SymbolIndex(finding.path, result).at(finding.line)
        if name is not None:
            file = Whole(finding.path, finding.path, base, ours, result=result)
            yield from symbols_of([name], file)
