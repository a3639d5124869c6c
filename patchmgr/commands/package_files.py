"""The files of a repository beside those of a package that was made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from patchmgr.engines.installed_paths import InstalledPaths
from patchmgr.errors import PatchmgrError
from patchmgr.model.ids import blob_id
from patchmgr.model.patch import Patch
from patchmgr.model.snapshot import FILE_MODES, Entry
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.work_tree import WorkFile
from patchmgr.plumbing.workbench import Workbench

_TEXTS = (".py", ".pyi", ".txt", ".json", ".toml", ".yaml", ".yml", ".md", ".cfg", ".ini",
          ".h", ".hpp", ".cuh", ".cu", ".cpp", ".cc", ".c", ".inl", ".jinja", ".sh")  # fmt: skip

Read = Callable[[str], "WorkFile | None"]


class InRepository:
    """The files of a repository: those of its states, or what patches say of them.

    A package's file is one of them if it has that content in one of the states.
    """

    def __init__(self, trees: Sequence[StoredTree], patches: Iterable[Patch], read: Read) -> None:
        self._trees, self._read = trees, read
        self._named = {} if trees else _named(patches)
        self._installed: dict[str, str] = {}
        self._ids: dict[str, tuple[str, ...]] = {}

    @property
    def is_whole(self) -> bool:
        """Say whether all files are known."""
        return bool(self._trees)

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the names of the files that are in the folder itself."""
        if self._trees:
            return tuple(dict.fromkeys(n for tree in self._trees for n in tree.names(folder)))
        split = (path.rpartition("/") for path in self._named)
        return tuple(name for above, _, name in split if above == folder)

    def files(self) -> Iterable[str]:
        """Return the paths of all files that are known."""
        return dict.fromkeys(path for tree in self._trees for path in tree.files()) or self._named

    def is_same(self, path: str, place: str) -> bool:
        """Say whether the package has at the place what the repository has at the path."""
        found = self._blob(place)
        return bool(found) and any(found.startswith(known) for known in self._known(path))

    def _known(self, path: str) -> tuple[str, ...]:
        if path not in self._ids:
            entries = [tree.entry(path) for tree in self._trees]
            ids = {entry.blob for entry in entries if entry and entry.mode in FILE_MODES}
            self._ids[path] = tuple(ids or filter(None, [self._named.get(path)]))
        return self._ids[path]

    def _blob(self, place: str) -> str:
        """Return the id of a file of the package; "" where it is edited or cannot be read."""
        if place not in self._installed:
            found = _readable(self._read, place)
            self._installed[place] = "" if found is None else blob_id(found.content)
        return self._installed[place]


def _readable(read: Read, place: str) -> WorkFile | None:
    try:
        return read(place)
    except PatchmgrError:  # whether it matters is seen where it is to be patched
        return None


def _named(patches: Iterable[Patch]) -> dict[str, str]:
    """Return the ids, perhaps shortened, that files have before the first patch of them."""
    found: dict[str, str] = {}
    for patch in patches:
        for file in patch.files:
            if file.old_path is not None:
                found.setdefault(file.old_path, (file.old_id or "").strip("0"))
            elif file.new_path is not None:
                found.setdefault(file.new_path, "")
    return found


def installed_tree(
    bench: Workbench, base: StoredTree, layout: InstalledPaths, record: Iterable[str], read: Read
) -> dict[str, Entry | None]:
    """Return what makes a tree of the pin one of the package's texts, as far as it has them."""
    changes: dict[str, Entry | None] = {}
    places: dict[str, str] = {}
    for path in base.files():
        place = layout.find(path)
        if place is not None:
            places[place] = path
        elif layout.is_missed(path):
            changes[path] = None
    for place in record:
        at = places.get(place) or layout.path_of(place)
        if at is None or not place.endswith(_TEXTS):
            continue
        found, entry = _readable(read, place), base.entry(at)
        if found is not None and (entry is None or entry.blob != blob_id(found.content)):
            changes[at] = Entry(found.mode, bench.add(found.content))
    return changes
