"""Upstreams, series, imports, exports and status, as text and as JSON data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from patchmgr.model.outcome import Verdict
from patchmgr.model.patch import Patch
from patchmgr.model.series import GraphPatch, Need
from patchmgr.model.sync import LastSync
from patchmgr.model.upstream import Upstream
from patchmgr.render.escape import clean, counted, cut_off
from patchmgr.render.machine import fields, pin_document
from patchmgr.render.rebase import short_ref
from patchmgr.render.view import View, table

if TYPE_CHECKING:
    from patchmgr.commands.export import Exported
    from patchmgr.commands.import_patches import Import
    from patchmgr.commands.init import Started
    from patchmgr.commands.status import SeriesStatus, Status
    from patchmgr.commands.upstream import Fetched
    from patchmgr.commands.upstreaming import Upstreamed
    from patchmgr.services.checkouts import Verification
    from patchmgr.services.forks import Fork
    from patchmgr.services.series import SeriesView


def upstreams_text(upstreams: Sequence[Upstream]) -> Iterator[str]:
    """Yield one line per upstream: its git remote, package or archive, and what is tracked."""
    return table([*map(_upstream_row, upstreams)])


def _upstream_row(upstream: Upstream) -> tuple[str, ...]:
    git = f"git {upstream.git}" if upstream.git else ""
    package = f"package {upstream.package}" if upstream.package else ""
    branch = f"branch {upstream.branch}" if upstream.branch else ""
    archive = f"archive {upstream.archive}" if upstream.archive else ""
    parts = (git, branch, package, archive)
    return upstream.name, f"tracks {upstream.track}", clean(", ".join(p for p in parts if p))


def fetched_text(fetched: Sequence[Fetched]) -> Iterator[str]:
    """Yield one line per fetched upstream."""
    return table([(f.name, f.commit) for f in fetched])


def series_list_text(views: Sequence[SeriesView]) -> Iterator[str]:
    """Yield the result of `series list`: one line per series."""
    return table([_series_row(view) for view in views])


def _series_row(view: SeriesView) -> tuple[str, ...]:
    pin = view.record.pin
    count = counted(len(view.patches), "patch")
    on = f"on {view.record.upstream} {short_ref(pin.ref)}"
    return view.record.name, on, count, "" if pin.ref == pin.commit else pin.commit[:12]


def series_value(view: SeriesView) -> dict[str, Any]:
    """Return a series as JSON data, with the header of every patch."""
    record = view.record
    return fields(
        record,
        "name",
        "upstream",
        "on",
        base=pin_document(record.pin),
        patches=[_patch_value(patch) for patch in view.patches],
    )


def _patch_value(patch: Patch) -> dict[str, Any]:
    author = patch.author
    return {
        "name": patch.name,
        "subject": patch.subject,
        "author": f"{author.name} <{author.email}>" if author else None,
        "paths": list(patch.paths()),
        "added": sum(h.added() for f in patch.files for h in f.hunks),
        "removed": sum(h.removed() for f in patch.files for h in f.hunks),
        "fields": dict(patch.fields),
    }


def series_text(view: SeriesView) -> Iterator[str]:
    """Yield the result of `series show`: the pin, and the header and paths of every patch."""
    pin = view.record.pin
    where = f"{view.record.upstream} {short_ref(pin.ref)}"
    yield f"{view.record.name}: {counted(len(view.patches), 'patch')} on {where}"
    yield f"  commit {pin.commit}"
    if pin.archive is not None:
        yield f"  archive {clean(pin.archive)}  sha256 {pin.sha256}"
    guards = {line.name: " ".join(map(str, line.guards)) for line in view.file.lines}
    for patch in view.patches:
        yield ""
        yield from _patch_lines(patch, guards.get(patch.name, ""))


def _patch_lines(patch: Patch, guards: str) -> list[str]:
    value = _patch_value(patch)
    counts = f"+{value['added']} -{value['removed']}"
    title = f"{clean(patch.name)}  {counts}{'  ' + guards if guards else ''}"
    message = patch.message.decode("utf-8", "surrogateescape").rstrip("\n")
    body = map(clean, message.split("\n"))
    files = [f"    {clean(path)}" for path in patch.paths()]
    return [title, *(f"    {line}".rstrip() for line in body), "", *files]


MOST_LISTED = 12  # lines of one kind in the result of `import`, unless the view shows all


def imported_text(done: Import, series: str, view: View) -> Iterator[str]:
    """Yield the result of `import`: patches, risky files, and how merges were imported.

    A risky file is a binary file, or one that tools run or read automatically, such as a Makefile.
    """
    verb = view.verb("Would import", "Imported")
    head = f"{verb} {counted(len(done.patches), 'patch')} into {series}"
    if view.is_line:
        yield head
        return
    if view.is_all or len(done.patches) <= MOST_LISTED:
        yield f"{head}:"
        for name, subject in ((clean(i.patch.name), clean(i.patch.subject)) for i in done.patches):
            full = f"  {name}  {subject}"
            yield full if len(full) <= view.width else f"  {name}"
    else:
        yield f"{head}; to list them: " + (view.verb("--verbose", f"patchmgr series show {series}"))
    risks = [(clean(item.patch.name), path) for item in done.patches for path in item.risks]
    yield from _cut([f"  risk: {name}: {clean(path)}" for name, path in risks], view)
    if done.fork is not None:
        rests = [clean(item.patch.name) for item in done.patches if item.is_rest]
        yield from _fork_lines(done.fork, rests, view)


def _cut(lines: Sequence[str], view: View) -> Sequence[str]:
    """Return all lines if the view shows all, otherwise the first few and a count of the others."""
    most = len(lines) if view.is_all else MOST_LISTED
    return cut_off(lines, most, "  and {} like these; to list them: --verbose")


def started_text(done: Started, view: View) -> Iterator[str]:
    """Yield the result of `init --from-branch`: the workspace, then what was imported."""
    fork_base = done.fork_base
    verb = view.verb("Would make", "Made")
    branch = f", branch {clean(done.upstream.branch)}" if done.upstream.branch else ""
    yield f"{verb} a workspace in {clean(str(done.folder))}"
    yield f"Following {done.upstream.name}: {clean(str(done.upstream.git))}{branch}"
    based = f"The branch is based on {fork_base.base[:12]}"
    if fork_base.squashed:
        count = counted(fork_base.squashed, "ordinary commit")
        based += f"; {count} brought in upstream's content"
    yield based
    if done.merges is not None:
        yield f"Merges were imported as with --{done.merges}"
    yield from imported_text(done.imported, done.series, view)


def started_value(done: Started) -> dict[str, Any]:
    """Return the result of `init --from-branch` as JSON data."""
    return {
        "workspace": done.folder,
        "upstream": fields(done.upstream, "name", "git", "branch"),
        "base": done.fork_base.base,
        "merges": done.merges,
        **imported_value(done.imported, done.series),
    }


def _fork_lines(fork: Fork, rests: Sequence[str], view: View) -> Iterator[str]:
    """Yield what was imported from a fork with merges, and what the user should review."""
    commits = f"{counted(fork.commits, 'commit')} and {counted(fork.merges, 'merge')}"
    tree = f"exactly the tree of {fork.head[:12]}"
    if fork.goes_on:
        yield f"Made from {commits} after {fork.base[:12]}. On that commit, they give {tree}."
    else:
        yield f"Made from {commits}, on {fork.base[:12]}. All patches together give {tree}."
    yield from _cut([f"  {name}: changes made in a merge itself" for name in rests], view)
    gone = [f"  left out, because nothing remains of it: {clean(one)}" for one in fork.dropped]
    yield from _cut(gone, view)
    for how, count in Counter(remark.how for remark in fork.remarks).items():
        yield f"  {counted(count, 'conflict')} in merges: {how}"
    if fork.learned:
        yield f"Learned {counted(fork.learned, 'resolution')} from the merges."


def imported_value(done: Import, series: str) -> dict[str, Any]:
    """Return the result of `import` as JSON data; `fork` describes an imported fork, or is null."""
    patches = [
        {**_patch_value(i.patch), "risks": i.risks, "merge": i.is_rest} for i in done.patches
    ]
    fork = None if done.fork is None else _fork_value(done.fork)
    return {"series": series, "patches": patches, "fork": fork}


def _fork_value(fork: Fork) -> dict[str, Any]:
    return fields(
        fork,
        "base",
        "head",
        "tree",
        "commits",
        "merges",
        "dropped",
        "learned",
        conflicts=[fields(r, "commit", "path", "merge", "how") for r in fork.remarks],
    )


def status_text(status: Status, view: View) -> Iterator[str]:
    """Yield the result of `status`: one line per series, then the rebase in progress."""
    if view.is_line:
        yield _status_summary(status)
        return
    rows = [_status_row(row) for row in status.series]
    yield f"workspace {clean(str(status.root))}"
    for row, line in zip(status.series, table(rows), strict=True):
        yield line
        if view.is_all:
            yield f"  commit {row.pin.commit}"
        if row.last_sync is not None:
            yield f"  {_last_sync(row.last_sync)}"
        for one in row.follow_ups:
            yield f"  {clean(one.patch)}: {clean(one.sentence())}"
            yield f"    answer with: {clean(one.answers(row.name))}"
    if not rows:
        make = "patchmgr series new NAME --upstream U --base REF"
        yield f"no series yet; to make one: {make}"
    unknown = {row.upstream for row in status.series if row.behind is None}
    if unknown:
        named = " ".join(sorted(unknown))
        yield f"to see the distance, run: patchmgr upstream fetch {named}"
    for found in status.applied:
        yield _applied_line(found)
        if view.is_all:
            yield from (f"  {s.value}  {clean(path)}" for path, s in found.files)
    if status.in_progress is not None:
        what = "; files to resolve:" if status.waiting else "; no file is left to resolve"
        yield f"rebase of {_unfinished(status)} in progress{what}"
        yield from (f"  {clean(item)}" for item in status.waiting)
        yield from (f"  resolved: {clean(item)}" for item in status.resolved)
        yield "continue with: patchmgr rebase --continue    (or --skip, --abort)"


def _last_sync(found: LastSync) -> str:
    """Return a line that says how long ago the last sync was, and what its result was."""
    hours = max(found.age, 0) // 3600
    age = counted(hours // 24, "day") if hours >= 48 else counted(hours, "hour")
    when = f"{age} ago" if hours else "within the last hour"
    return f"last sync {when}: {clean(found.words)} ({clean(found.remote)})"


def _status_summary(status: Status) -> str:
    """Return one line that says how many series are behind, and what is in progress."""
    behind = [row.behind for row in status.series]
    number = sum(bool(count) for count in behind)
    words = [f"{len(behind)} series" if behind else "no series yet"]
    words += [f"{number} behind upstream"] if number else []
    words += [f"{behind.count(None)} at an unknown distance"] if None in behind else []
    words += [f"{len(status.applied)} applied"] if status.applied else []
    if status.in_progress is not None:
        words.append(f"rebase of {_unfinished(status)} in progress")
    return ", ".join(words)


def _unfinished(status: Status) -> str:
    *words, onto = (status.in_progress or "").split(" ")
    return clean(" ".join((*words, short_ref(onto))))


def _applied_line(found: Verification) -> str:
    edited = [path for path, standing in found.files if standing.value != "patched"]
    if found.pushed is not None and not edited:
        how = f"{counted(found.pushed, 'patch')} pushed"
    elif edited:
        verb = "differs" if len(edited) == 1 else "differ"
        how = f"{counted(len(edited), 'file')} {verb} from what was applied"
    else:
        how = "all patches" if found.is_current else "an older state of the series"
    return f"{found.series} is applied in {clean(str(found.target))}: {how}"


def _status_row(row: SeriesStatus) -> tuple[str, ...]:
    if row.behind is None:
        behind = "distance unknown" if row.tip is None else "pin not in the store"
    elif row.behind == 0:
        behind = "up to date"
    else:
        count = counted(row.behind, row.unit.removesuffix("s"))
        behind = f"{count} behind {short_ref(str(row.tip))}"
    on = f"on {row.upstream} {short_ref(row.pin.ref)}"
    return row.name, on, counted(row.patches, "patch"), behind


def status_value(status: Status) -> dict[str, Any]:
    """Return the status as JSON data."""
    series = [
        fields(row, "name", "upstream", "patches", "follow_ups", "last_sync", "behind", "unit",
               "tip", base=pin_document(row.pin))
        for row in status.series
    ]  # fmt: skip
    applied = [
        {"series": one.series, "target": one.target, "current": one.is_current,
         "sound": one.is_sound}
        for one in status.applied
    ]  # fmt: skip
    in_progress = fields(status, "waiting", "resolved", about=status.in_progress)
    return {
        "workspace": status.root,
        "series": series,
        "applied": applied,
        "unfinished": None if status.in_progress is None else in_progress,
    }


def upstreaming_text(rows: Sequence[Upstreamed], view: View) -> Iterator[str]:
    """Yield the result of `status --upstreaming`: each patch and its next step, then totals."""
    counts = Counter("landed" if row.verdict is Verdict.ABSORBED else row.stance for row in rows)
    told = ", ".join(f"{count} {getattr(key, 'value', key)}" for key, count in counts.items())
    summary = f"{counted(len(rows), 'patch')}: {told}" if rows else "no patches yet"
    if view.is_line:
        yield summary
        return
    for series, group in groupby(rows, key=lambda row: row.series):
        shown = list(group)
        cells = [
            (r.stance.value, clean(r.patch), f"since {r.since}", clean(r.detail)) for r in shown
        ]
        yield series
        for row, line in zip(shown, table(cells), strict=True):
            yield f"  {line}"
            if row.next:
                yield f"    {clean(row.next)}"
    yield summary


def exported_text(done: Exported, view: View) -> Iterator[str]:
    """Yield the result of `export`: where it was written, and which patches were rewritten."""
    verb = view.verb("Would export", "Exported")
    what = f"{counted(len(done.patches), 'patch')} of {done.series} as {done.form}"
    write, delete = view.verb("to write", "written"), view.verb("to delete", "deleted")
    number = len(done.written)
    change = f"{counted(number, 'file')} {write}" if number else "nothing to write"
    if done.deleted:
        change += f", {len(done.deleted)} {delete}"
    yield f"{verb} {what} to {clean(str(done.out))} ({change})"
    rewritten = [patch.name for patch in done.patches if not patch.kept]
    if len(rewritten) > 1 and len(rewritten) == len(done.patches):
        yield "  rewritten  all of them"
    else:
        yield from (f"  rewritten  {clean(name)}" for name in rewritten)
    yield from (f"  left out   {clean(one.name)}: {clean(one.reason)}" for one in done.skipped)


def graph_text(patches: Sequence[GraphPatch]) -> Iterator[str]:
    """Yield one line per patch, each followed by one line for every patch that it needs."""
    for patch in patches:
        yield clean(patch.name)
        yield from (f"  needs {clean(n.patch)}  ({clean(_why(n))})" for n in patch.needs)


def graph_mermaid(patches: Sequence[GraphPatch]) -> Iterator[str]:
    """Yield a flow chart in Mermaid, with an arrow from each patch to the patches it needs."""
    numbers = {patch.name: number for number, patch in enumerate(patches, 1)}
    yield "flowchart BT"
    for patch in patches:
        yield f'  p{numbers[patch.name]}["{_label(patch.name)}"]'
        for need in patch.needs:
            ends = f'p{numbers[patch.name]} -->|"{_label(_why(need))}"|', numbers[need.patch]
            yield f"  {ends[0]} p{ends[1]}"


def _why(need: Need) -> str:
    return need.path or f"uses {need.symbol}"


def _label(text: str) -> str:
    return "".join(c if c.isalnum() or c in " ._-/" else f"#{ord(c)};" for c in clean(text))
