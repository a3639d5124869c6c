"""Note on the patches of a series what upstream has of them already."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from patchmgr.commands.touched import touched_paths
from patchmgr.engines.absorbed_before import absorbed_before
from patchmgr.engines.absorption.find import find_absorbed
from patchmgr.engines.absorption.series import Folded, Series, Way
from patchmgr.engines.absorption.verdict import Absorption
from patchmgr.engines.fold import Overlay, step_patch
from patchmgr.engines.rebase import Item
from patchmgr.engines.relocation_files import ChangedFiles
from patchmgr.plumbing.answers import Answers
from patchmgr.plumbing.history import KnownHistory
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.workbench import Workbench

FEWEST_KEPT = 24  # upstream steps; along a shorter way looking again costs less than asking


def with_absorbed(
    bench: Workbench,
    items: Sequence[Item],
    base: StoredTree,
    onto: StoredTree,
    renames: Mapping[str, str],
    history: KnownHistory,
    before: Answers,
    elsewhere: ChangedFiles,
    on_search: Callable[[], None],
) -> tuple[Item, ...]:
    """Note on each patch what upstream has of it already.

    `on_search` is called before a search of many steps that no run before has made.
    """
    kept = [i for i in items if i.is_on_base and (i.refusal is None or i.steps is not None)]
    paths = touched_paths([item.patch for item in kept])
    start = {path: base.entry(path) for path in paths}
    target = {path: onto.entry(renames.get(path, path)) for path in paths}
    steps = history.steps(tuple(dict.fromkeys((*paths, *renames.values()))))
    if not steps:
        return tuple(items)
    old = Overlay(base)
    folded = [Folded(i.patch, i.steps or step_patch(old, i.patch, bench)) for i in kept]

    def find() -> Mapping[int, Absorption]:
        way = Way(start, target, renames, steps)
        return find_absorbed(Series(folded, way, bench, elsewhere=elsewhere.gaining))

    about = (folded, start, target, sorted(renames.items()))

    def find_anew() -> Mapping[int, Absorption]:
        on_search()
        return find()

    few = len(steps) < FEWEST_KEPT
    found = find() if few else absorbed_before(before, about, steps, find_anew)
    known = {
        id(item): replace(item, steps=folded[number].steps, absorption=found.get(number))
        for number, item in enumerate(kept)
    }
    return tuple(known.get(id(item), item) for item in items)
