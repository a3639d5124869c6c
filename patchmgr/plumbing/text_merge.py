"""Git's own three-way text merge (merge-ort), through `git merge-tree`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from patchmgr.engines.text.known_changes import changes_of, text_of
from patchmgr.engines.text.separate_changes import merge_around
from patchmgr.model.merge import Clean, Conflicted, Merge
from patchmgr.model.ports import AnswerCache
from patchmgr.model.snapshot import blob_id
from patchmgr.plumbing import git_process
from patchmgr.plumbing.scratch_repository import Scratch

_MARKER = re.compile(rb"^([<|>]{7} )([0-9a-f]{4,40})(?=\r?$)", re.MULTILINE)
_NAME = "%06d"
_UNCOMPRESSED = {  # merged texts are read at once, and then deleted
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.looseCompression",
    "GIT_CONFIG_VALUE_0": "0",
}


class _Part(Struct, frozen=True):
    """The part of three texts that git has to merge, and the merged text before and after it."""

    key: tuple[str, ...]  # the ids of `sides`
    sides: tuple[bytes, bytes, bytes] | None  # None: nothing is left to merge
    before: bytes = b""
    after: bytes = b""

    def within(self, merge: Merge) -> Merge:
        """Return the result for the whole texts, given the result for the part (`merge`)."""
        if isinstance(merge, Clean):
            return Clean(self.before + merge.content + self.after)
        is_binary = merge.marked is None
        return merge if is_binary else Conflicted(self.before + (merge.marked or b"") + self.after)


class GitTextMerge:
    """Merges texts as the files of three temporary commits, as `git rebase` does.

    Git is not run if only one result is possible, or if `kept` has the result from an earlier run.
    """

    def __init__(self, scratch: Scratch, *, kept: AnswerCache | None = None) -> None:
        self._scratch = scratch
        self._kept = kept
        self._known: dict[tuple[str, ...], tuple[bool, str | None]] = {}  # by the ids of the texts

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        """Merge two versions of a text, given their common base."""
        return self.merge_all([(base, ours, theirs)])[0]

    def merge_all(self, texts: Sequence[tuple[bytes, bytes, bytes]]) -> tuple[Merge, ...]:
        """Merge several texts with one git process; each is given as base, ours and theirs."""
        found: list[Merge | None] = [_trivial(*sides) for sides in texts]
        keys = {
            n: tuple(map(self._scratch.name, texts[n]))
            for n, merge in enumerate(found)
            if merge is None
        }
        missing: dict[tuple[str, ...], _Part] = {}
        for number, key in keys.items():
            if key not in self._known and key not in missing:
                part = self._part(key, texts[number])
                merge = self._without_git(part)
                if merge is None:
                    missing[key] = part
                else:
                    self._know(key, part.within(merge))
        if missing:
            merges = self._merge([*missing.values()])
            for (key, part), merge in zip(missing.items(), merges, strict=True):
                self._know(key, part.within(merge))
                if self._kept is not None:
                    is_clean, content = _taken_apart(merge)
                    text = None if content is None else content.decode("latin-1")
                    self._kept.put(self._question(part.key), [is_clean, text])
        return tuple(
            self._recall(keys[number]) if merge is None else merge
            for number, merge in enumerate(found)
        )

    def _know(self, key: tuple[str, ...], merge: Merge) -> None:
        is_clean, content = _taken_apart(merge)
        self._known[key] = is_clean, None if content is None else self._scratch.add(content)

    def _recall(self, key: tuple[str, ...]) -> Merge:
        is_clean, blob = self._known[key]
        return _merge_of(is_clean, None if blob is None else self._scratch.read(blob))

    def _part(self, key: tuple[str, ...], sides: tuple[bytes, bytes, bytes]) -> _Part:
        """Return what git has to merge: the part in which the changes touch, or the whole."""
        base, ours, theirs = map(text_of, sides)
        left, right = (changes_of(sides[0], side) for side in sides[1:])
        around = merge_around(base, ours, theirs, left, right)
        if around is None:
            return _Part(key, sides)
        before, part, after = around
        key = () if part is None else tuple(map(blob_id, part))
        return _Part(key, part, before, after)

    def _without_git(self, part: _Part) -> Merge | None:
        if part.sides is None:
            return Clean(b"")
        found = None if self._kept is None else self._kept.get(self._question(part.key))
        if found is None:
            return None
        is_clean, text = found[0]
        return _merge_of(is_clean, None if text is None else text.encode("latin-1"))

    def _question(self, key: tuple[str, ...]) -> tuple[str, ...]:
        """Return everything that a merge depends on: the texts, and the version of git."""
        return ("text merge", git_process.git_words(), *key)

    def _merge(self, parts: Sequence[_Part]) -> list[Merge]:
        texts = [part.sides for part in parts if part.sides is not None]
        bases, ours, theirs = (
            [(part.key[n], sides[n]) for part, sides in zip(parts, texts, strict=True)]
            for n in range(3)
        )
        root = self._commit(bases, None, "base")
        left, right = self._commit(ours, root, "ours"), self._commit(theirs, root, "theirs")
        tree, conflicted = self._ask(left, right)
        labels = {root: b"base", left: b"ours", right: b"theirs"}
        listing = self._scratch.reader.listing(tree)
        merges: list[Merge] = []
        for number, sides in enumerate(texts):
            merged = self._scratch.reader.blob(listing[_NAME % number][1])
            if _NAME % number not in conflicted:
                merges.append(Clean(merged))
            elif any(b"\0" in side[:8000] for side in sides):
                merges.append(Conflicted(None))
            else:
                merges.append(Conflicted(_relabel(merged, labels)))
        return merges

    def _commit(self, blobs: Sequence[tuple[str, bytes]], parent: str | None, message: str) -> str:
        write, tree = self._scratch.write_loose, b""
        for number, (blob, content) in enumerate(blobs):
            write("blob", content, blob)
            tree += f"100644 {_NAME % number}".encode() + b"\0" + bytes.fromhex(blob)
        return self._scratch.write_commit(write("tree", tree), parent, message)

    def _ask(self, left: str, right: str) -> tuple[str, set[str]]:
        # `merge-tree --stdin` would save the start of a process, but git 2.39 does not flush
        # its answers before its input ends.
        git_process.require_git("merging texts")
        # `git merge-file` cannot choose the histogram diff before git 2.44.
        arguments = ["merge-tree", "--write-tree", "-z", "--no-messages", "--name-only"]
        _, printed = git_process.run(
            [*arguments, left, right],
            git_dir=self._scratch.git_dir,
            good=(0, 1),
            env=git_process.clean_environment(_UNCOMPRESSED),
        )
        tree, *names = printed.decode().rstrip("\0").split("\0")
        return tree, set(names)


def _taken_apart(merge: Merge) -> tuple[bool, bytes | None]:
    """Return whether a merge is clean, and its text; `_merge_of` makes the merge from these."""
    return (True, merge.content) if isinstance(merge, Clean) else (False, merge.marked)


def _merge_of(is_clean: bool, content: bytes | None) -> Merge:
    return Clean(content) if is_clean and content is not None else Conflicted(content)


def _trivial(base: bytes, ours: bytes, theirs: bytes) -> Merge | None:
    if theirs in (ours, base):
        return Clean(ours)
    return Clean(theirs) if base == ours else None


def _relabel(marked: bytes, labels: dict[str, bytes]) -> bytes:
    """Replace the commit ids after conflict markers, which git may abbreviate, with labels."""

    def label(match: re.Match[bytes]) -> bytes:
        found = next((w for c, w in labels.items() if c.startswith(match[2].decode())), match[2])
        return match[1] + found

    return _MARKER.sub(label, marked)
