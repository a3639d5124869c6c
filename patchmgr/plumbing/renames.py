"""Find where upstream moved files that a series needs, using git's measure of similarity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from patchmgr.formats.paths import refusal
from patchmgr.model.patch import own_author
from patchmgr.model.ports import History
from patchmgr.model.snapshot import EMPTY_BLOB, FILE_MODES
from patchmgr.plumbing import git_process
from patchmgr.plumbing.history import renamed_paths
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.scratch_repository import Draft, Scratch, write_commits

Bring = Callable[[set[str]], None]
_MOST_FILES = 500  # a folder with more files is not followed
_MOST_BROUGHT = 50  # if there are more new files, only some of their blobs are fetched


def find_renames(
    scratch: Scratch,
    base: StoredTree,
    onto: StoredTree,
    paths: Sequence[str],
    way: History | None = None,
    bring: Bring = lambda blobs: None,
) -> Mapping[str, str]:
    """Map the old path of each file that upstream moved to its new path.

    As in git, a file counts as moved if at least 50 % of its content is the same; an empty file
    moves only with its folder. If the two trees alone do not show that a file moved, it is followed
    through the history `way`. `bring` fetches blobs that the store lacks.
    """
    gone = [p for p in paths if base.entry(p) is not None and onto.entry(p) is None]
    found = _renamed(scratch, base, onto, gone, bring)
    if way is not None:
        lost = [path for path in gone if path not in found]
        found |= {
            p: home for p in lost if (home := _followed(scratch, way, p, onto, bring)) is not None
        }
    empty = [path for path in gone if path not in found and _is_empty(base, path)]
    with_folder = moved_folders(scratch, base, onto, empty, way, bring).items()
    return found | {old: new for old, new in with_folder if onto.entry(new) is not None}


def _followed(
    scratch: Scratch, way: History, path: str, onto: StoredTree, bring: Bring
) -> str | None:
    """Return a path's name at the end of the history, or None if a step deleted it for good."""
    home = path
    seen = {path}
    while onto.entry(home) is None:
        steps = way.steps((home,))
        last = next((s for s in reversed(steps) if s.changes.get(home, s) is None), None)
        if last is None:
            return None
        old = scratch.reader.commit(way.before(last.commit))
        if old is None:
            return None
        found = _renamed(scratch, scratch.tree(old), scratch.tree(last.commit), [home], bring)
        home = found.get(home, path)
        if home in seen:
            return None
        seen.add(home)
    return home


def moved_folders(
    scratch: Scratch,
    base: StoredTree,
    onto: StoredTree,
    created: Iterable[str],
    way: History | None = None,
    bring: Bring = lambda blobs: None,
) -> Mapping[str, str]:
    """Map the path of each file that patches create in a moved folder to its new path.

    A folder has moved if no file is left in it, and more than half of its files went to one new
    folder. Only files directly in the folder move with it.
    """
    found: dict[str, str] = {}
    known: dict[str, str | None] = {}
    for path in created:
        folder = path.rpartition("/")[0]
        if not folder or not base.is_directory(folder) or onto.is_directory(folder):
            continue
        if folder not in known:
            known[folder] = _new_folder(scratch, base, onto, folder, way, bring)
        new = known[folder]
        if new is not None and refusal(new + path[len(folder) :]) is None:
            found[path] = new + path[len(folder) :]
    return found


def _new_folder(
    scratch: Scratch,
    base: StoredTree,
    onto: StoredTree,
    folder: str,
    way: History | None,
    bring: Bring,
) -> str | None:
    files = [path for path in base.files_below(folder) if not _is_empty(base, path)]
    if len(files) > _MOST_FILES:
        return None
    votes: Counter[str] = Counter()
    for old, new in find_renames(scratch, base, onto, files, way, bring).items():
        rest = old[len(folder) :]
        votes[new.removesuffix(rest) if new.endswith(rest) else new.rpartition("/")[0]] += 1
    best, count = next(iter(votes.most_common(1)), ("", 0))
    return best if best and 2 * count > len(files) else None


def _renamed(
    scratch: Scratch, base: StoredTree, onto: StoredTree, gone: Sequence[str], bring: Bring
) -> dict[str, str]:
    """Map each deleted path that git detects as renamed to its new path."""
    if not gone:
        return {}
    line = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A"]
    added = git_process.fields(scratch.git_dir, *line, base.id, onto.id)
    old = {p: e for p in gone if (e := base.entry(p)) is not None and e.mode in FILE_MODES}
    fit = (path for path in added if refusal(path) is None)
    new = {p: e for p in fit if (e := onto.entry(p)) is not None and e.mode in FILE_MODES}
    # Fetch the new files that have the name of a deleted file, or all new files if there are few.
    names = {_name(path) for path in (new if len(new) <= _MOST_BROUGHT else old)}
    bring({e.blob for e in old.values()} | {e.blob for p, e in new.items() if _name(p) in names})
    present = present_blobs(scratch, [e.blob for e in (*old.values(), *new.values())])
    old, new = ({p: e for p, e in x.items() if e.blob in present} for x in (old, new))
    if not old or not new:
        return {}
    # The files must be at their real paths in the two trees: git first compares files that have
    # the same name.
    drafts = (
        Draft(own_author(), b"base\n", dict(old)),
        Draft(own_author(), b"onto\n", {**dict.fromkeys(old), **new}),
    )
    return renamed_paths(scratch.git_dir, *write_commits(scratch, None, drafts))


def _is_empty(tree: StoredTree, path: str) -> bool:
    entry = tree.entry(path)
    return entry is not None and entry.blob == EMPTY_BLOB


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def present_blobs(scratch: Scratch, blobs: Iterable[str]) -> set[str]:
    """Return the ids of those blobs that a temporary repository can read."""
    return {blob for blob, kind in scratch.reader.kinds(blobs).items() if kind == "blob"}
