"""Note on the patches of a series what upstream has of them already."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.commands.touched import touched_paths
from patchmgr.engines.absorbed_before import absorbed_before
from patchmgr.engines.absorption.find import find_absorbed
from patchmgr.engines.absorption.series import Folded, Series, Way
from patchmgr.engines.absorption.verdict import Absorption
from patchmgr.engines.fold import Overlay, step_patch
from patchmgr.engines.rebase import Item
from patchmgr.engines.relocation_files import ChangedFiles
from patchmgr.model.ports import Step
from patchmgr.plumbing.answers import Answers
from patchmgr.plumbing.diffs import changed_paths
from patchmgr.plumbing.history import KnownHistory
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.workbench import Workbench

FEWEST_KEPT = 24  # upstream steps; along a shorter way looking again costs less than asking


class Search(Struct, frozen=True):
    """The patches that upstream may have, what each does to its side, and upstream's way."""

    items: tuple[Item, ...]
    folded: tuple[Folded, ...]
    way: Way


def search_of(
    bench: Workbench,
    items: Sequence[Item],
    base: StoredTree,
    onto: StoredTree,
    renames: Mapping[str, str],
    history: KnownHistory,
) -> Search:
    """Return what is to be found: of patches that apply to the base, and are not refused."""
    kept = tuple(i for i in items if i.is_on_base and (i.refusal is None or i.steps is not None))
    paths = touched_paths([item.patch for item in kept])
    start = {path: base.entry(path) for path in paths}
    target = {path: onto.entry(renames.get(path, path)) for path in paths}
    steps = history.steps(tuple(dict.fromkeys((*paths, *renames.values()))))
    old = Overlay(base)
    folded = tuple(
        Folded(i.patch, i.steps or step_patch(old, i.patch, bench)) for i in (kept if steps else ())
    )

    def width(step: Step) -> int:
        return len(changed_paths(bench.git_dir, history.before(step.commit), step.commit))

    return Search(kept, folded, Way(start, target, renames, steps, width))


def with_absorbed(
    bench: Workbench,
    items: Sequence[Item],
    search: Search,
    before: Answers,
    elsewhere: ChangedFiles,
    on_search: Callable[[], None],
) -> tuple[Item, ...]:
    """Note on each patch what upstream has of it already.

    `on_search` is called before a search of many steps that no run before has made.
    """
    way = search.way
    if not way.steps:
        return tuple(items)

    def find() -> Mapping[int, Absorption]:
        if len(way.steps) >= FEWEST_KEPT:
            on_search()
        return find_absorbed(Series(search.folded, way, bench, elsewhere=elsewhere.gaining))

    about = (search.folded, way.start, way.target, sorted(way.homes.items()))
    few = len(way.steps) < FEWEST_KEPT
    found = find() if few else absorbed_before(before, about, way.steps, find)
    known = {
        id(item): replace(item, steps=search.folded[number].steps, absorption=found.get(number))
        for number, item in enumerate(search.items)
    }
    return tuple(known.get(id(item), item) for item in items)
