"""Count what a series changes of its upstream."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from patchmgr.engines.languages.names import is_test, is_third_party, language, needs_rebuild
from patchmgr.engines.series.touches import Step, Walk
from patchmgr.model.footprint import (
    Area,
    Build,
    FileChange,
    FileFootprint,
    Footprint,
    Kind,
    PatchFile,
    PatchFootprint,
    Tally,
)
from patchmgr.model.patch import FilePatch, Patch
from patchmgr.model.snapshot import FILE_MODES
from patchmgr.model.upstream import Pin

Net = Mapping[str, tuple[int, int] | None]


def footprint(
    series: str, pin: Pin, patches: Sequence[Patch], changes: Sequence[FileChange], net: Net
) -> Footprint:
    """Return the footprint of a series: `patches` in order, and the squashed `changes`.

    `net` has what `git diff --numstat` counts from the pin to the head, None for a binary,
    by the path of each change that is one; a missing path is a KeyError.
    """
    by_path = _patches_by_path(patches)
    real = [change for change in changes if not _is_passing(change, net)]
    files = tuple(_file(change, net, by_path) for change in real)
    walk = Walk(changes)
    ends = {path for change in real for path in (change.path, change.renamed_from)}
    return Footprint(
        series,
        pin,
        files=files,
        patches=tuple(_patch(patch, walk.step(patch)) for patch in patches),
        total=_tally("total", files),
        kinds=_tallies(files, lambda f: f.kind.value, order=[k.value for k in Kind]),
        areas=_tallies(files, lambda f: f.area.value, order=[a.value for a in Area]),
        builds=_tallies(files, lambda f: f.build.value, order=[b.value for b in Build]),
        languages=_tallies(files, lambda f: _own(f, f.language)),
        folders=_tallies(files, folder_rule(files)),
        passing=tuple(sorted(path for path in by_path if path not in ends)),
    )


def folder_rule(files: Sequence[FileFootprint]) -> Callable[[FileFootprint], str]:
    """Return the rule that puts a file in a folder: its top folder, `.` for none.

    A top folder with more than half of all files is split one level deeper.
    """
    tops = [_top(f.path, 1) for f in files if f.area is not Area.THIRD_PARTY]
    split = next((top for top in set(tops) if tops.count(top) * 2 > len(files)), None)

    def rule(file: FileFootprint) -> str:
        top = _top(file.path, 1)
        return _own(file, top if top != split else _top(file.path, 2))

    return rule


def _top(path: str, levels: int) -> str:
    return "/".join(path.split("/")[:-1][:levels]) or "."


def _own(file: FileFootprint, name: str) -> str:
    return file.area.value if file.area is Area.THIRD_PARTY else name


def _patches_by_path(patches: Sequence[Patch]) -> dict[str, tuple[str, ...]]:
    """Return the names of the patches that touch each path."""
    by_path: dict[str, tuple[str, ...]] = {}
    for patch in patches:
        for path in patch.paths():
            by_path[path] = (*by_path.get(path, ()), patch.name)
    return by_path


def _is_passing(change: FileChange, net: Net) -> bool:
    """Say whether the path ends as it began."""
    is_in_place = change.renamed_from is None and change.old_mode == change.new_mode
    return is_in_place and _is_same(change, net)


def _is_same(change: FileChange, net: Net) -> bool:
    if change.before is None and change.after is None:
        return net.get(change.path, (0, 0)) == (0, 0)
    return change.before == change.after


def _kind(change: FileChange, net: Net) -> Kind:
    if change.old_mode is None:
        return Kind.NEW
    if change.new_mode is None:
        return Kind.DELETED
    if change.renamed_from is not None:
        return Kind.RENAMED
    return Kind.MODE if _is_same(change, net) else Kind.EDITED


def _file(change: FileChange, net: Net, by_path: Mapping[str, tuple[str, ...]]) -> FileFootprint:
    counts = net[change.path]
    added, removed = counts if counts is not None else (0, 0)
    is_plain = {change.old_mode, change.new_mode} <= {*FILE_MODES, None}
    content = change.before if change.after is None else change.after
    spoken = language(change.path, content) if is_plain else language("")
    return FileFootprint(
        change.path,
        change.renamed_from,
        kind=_kind(change, net),
        is_binary=counts is None,
        language=spoken,
        area=_area(change.path),
        build=_build(change.path, spoken),
        added=added,
        removed=removed,
        patches=_touching(change, by_path),
    )


def _touching(change: FileChange, by_path: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    here = by_path.get(change.path, ())
    if change.renamed_from is None:
        return here
    return tuple(dict.fromkeys((*by_path.get(change.renamed_from, ()), *here)))


def _area(path: str) -> Area:
    if is_third_party(path):
        return Area.THIRD_PARTY
    return Area.TESTS if is_test(path) else Area.CODE


def _build(path: str, spoken: str) -> Build:
    if needs_rebuild(path):
        return Build.REBUILD
    return Build.PYTHON if spoken == "Python" else Build.NEITHER


def _patch(patch: Patch, steps: Sequence[Step]) -> PatchFootprint:
    return PatchFootprint(patch.name, patch.subject, tuple(_patch_file(step) for step in steps))


def _patch_file(step: Step) -> PatchFile:
    change = step.change
    content = step.before if change.new_path is None else step.after
    return PatchFile(
        change.path,
        change.old_path if change.is_rename else None,
        kind=_patch_kind(change),
        is_binary=change.binary is not None,
        is_upstream=step.is_upstream,
        language=language(change.path, content),
        area=_area(change.path),
        added=sum(hunk.added() for hunk in change.hunks),
        removed=sum(hunk.removed() for hunk in change.hunks),
        touches=step.touches,
    )


def _patch_kind(change: FilePatch) -> Kind:
    if change.old_path is None or change.is_copy:
        return Kind.NEW
    if change.new_path is None:
        return Kind.DELETED
    if change.is_rename:
        return Kind.RENAMED
    return Kind.EDITED if change.hunks or change.binary is not None else Kind.MODE


def _tally(name: str, files: Sequence[FileFootprint]) -> Tally:
    return Tally(
        name,
        files=len(files),
        binaries=sum(f.is_binary for f in files),
        added=sum(f.added for f in files),
        removed=sum(f.removed for f in files),
    )


def _tallies(
    files: Sequence[FileFootprint],
    key: Callable[[FileFootprint], str],
    *,
    order: Sequence[str] = (),
) -> tuple[Tally, ...]:
    """Group the files: in the given order, else with most changed lines first."""
    groups: dict[str, list[FileFootprint]] = {}
    for file in files:
        groups.setdefault(key(file), []).append(file)
    tallies = [_tally(name, group) for name, group in groups.items()]
    if order:
        return tuple(sorted(tallies, key=lambda t: order.index(t.name)))
    return tuple(sorted(tallies, key=lambda t: (-t.added - t.removed, -t.files, t.name)))
