"""Git's own three-way text merge (merge-ort) through `git merge-tree`."""

from __future__ import annotations

from patchmgr.model.ids import blob_id
from patchmgr.model.merge import Clean, Conflicted, Merge
from patchmgr.plumbing import door
from patchmgr.plumbing.workbench import Workbench

_IDENT = b"patchmgr <patchmgr@localhost> 0 +0000"


class GitTextMerge:
    """Merges one file a call, as synthetic commits of a one-file tree on a workbench.

    This is what `git rebase` runs for a file, its histogram diff included; `git merge-file`
    cannot choose the algorithm before git 2.44.
    """

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._known: dict[tuple[str, str, str], Merge] = {}

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        """Merge two versions of a text over their base."""
        if ours == theirs or base == theirs:
            return Clean(ours)
        if base == ours:
            return Clean(theirs)
        key = (blob_id(base), blob_id(ours), blob_id(theirs))
        if key not in self._known:
            self._known[key] = self._merge(base, ours, theirs)
        return self._known[key]

    def _merge(self, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        root = self._commit(base, None, b"base")
        left, right = self._commit(ours, root, b"ours"), self._commit(theirs, root, b"theirs")
        is_clean, tree = self._ask(left, right)
        merged = self._read(tree)
        if is_clean:
            return Clean(merged)
        if b"\0" in base[:8000] or b"\0" in ours[:8000] or b"\0" in theirs[:8000]:
            return Conflicted(None)
        return Conflicted(_relabel(merged, {root: b"base", left: b"ours", right: b"theirs"}))

    def _commit(self, content: bytes, parent: str | None, message: bytes) -> str:
        write = self._bench.write_loose
        blob = write("blob", content)
        tree = write("tree", b"100644 file\0" + bytes.fromhex(blob))
        lines = [b"tree " + tree.encode()]
        if parent is not None:
            lines.append(b"parent " + parent.encode())
        lines += [b"author " + _IDENT, b"committer " + _IDENT, b"", message, b""]
        return write("commit", b"\n".join(lines))

    def _ask(self, left: str, right: str) -> tuple[bool, str]:
        # `merge-tree --stdin` would save the start of a process, but git 2.39 does not flush
        # its answers before its input ends.
        arguments = ["merge-tree", "--write-tree", "-z", "--no-messages", left, right]
        code, printed = door.run(arguments, git_dir=self._bench.git_dir, good=(0, 1))
        return code == 0, printed[:40].decode()

    def _read(self, tree: str) -> bytes:
        with_file = self._bench.reader.listing(tree)
        return self._bench.reader.blob(with_file["file"][1])


def _relabel(marked: bytes, labels: dict[str, bytes]) -> bytes:
    """Put readable labels behind the markers in place of synthetic commit ids."""
    for commit, label in labels.items():
        for marker in (b"<<<<<<< ", b"||||||| ", b">>>>>>> "):
            marked = marked.replace(marker + commit.encode(), marker + label)
    return marked
