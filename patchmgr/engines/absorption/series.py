"""A series as weaves, and upstream's versions of its files on the way to the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from patchmgr.engines.absorption.effect import Count, Effect, Fate, HunkId, effect
from patchmgr.engines.absorption.weave import Node, Weave, bare, is_telling
from patchmgr.engines.placement import split_lines
from patchmgr.engines.atoms import Folded
from patchmgr.engines.search import Timelines
from patchmgr.model.ports import Blobs, Step
from patchmgr.model.snapshot import FILE_MODES, Entry

Versions = Mapping[str, "Entry | None"]


class Series:
    def __init__(self, folded: Sequence[Folded], start: Versions, target: Versions, homes: Mapping[str, str], steps: Sequence[Step], blobs: Blobs) -> None:
        self.folded, self.start, self.target, self.blobs = tuple(folded), start, target, blobs
        self.timelines = Timelines(steps, start, homes)
        self.end = len(steps)
        self.weaves: dict[str, Weave] = {}
        self.plain: dict[HunkId, tuple[str, Entry | None]] = {}  # hunks without lines: path, result
        self.paths_of: list[frozenset[str]] = []
        self.size: list[int] = []
        self.hunk_paths: dict[HunkId, str] = {}
        self._ours = {}
        self._at_base = {}
        self._effects: dict[tuple[str, str | None], Effect] = {}
        for patch, item in enumerate(self.folded):
            self._weave(patch, item)

    def _weave(self, patch: int, item: Folded) -> None:
        number = 0
        for step in item.steps:
            change = step.change
            path = change.path
            if change.old_path is not None and change.new_path != change.old_path and not change.is_copy:
                self._weave_of(change.old_path).take_all(patch, -1)
        for step in item.steps:
            change = step.change
            path = change.path
            is_text = change.hunks and self._is_text(step.base) and self._is_text(step.theirs) and not change.binary
            if change.new_path is None:
                # the deletion's own hunks are what take_all has noted as -1
                self.hunk_paths[patch, number] = path
                for node in self.weaves[path].nodes if path in self.weaves else ():
                    node.events = [(p, number if p == patch and h == -1 else h) for p, h in node.events]
            else:
                if step.base is not None and change.new_path != change.old_path and self._is_text(step.base):
                    weave = self._weave_of(path)
                    if not any(n.is_alive(patch - 1) for n in weave.nodes):
                        for line in split_lines(self.blobs.read(step.base.blob)):
                            weave.nodes.append(Node(line, bare(line), False, [(patch - 1, -2)]))
                        weave.last = patch
                        weave.__dict__.pop("runs", None)
                if is_text:
                    self._weave_of(path).apply(patch, number, change.hunks, step.positions)
                    for n in range(len(change.hunks)):
                        self.hunk_paths[patch, number + n] = path
            if not is_text or not change.hunks:
                if change.new_path is not None or (patch, number) not in self.hunk_paths:
                    self.plain[patch, number] = (path, step.theirs)
                    self.hunk_paths[patch, number] = path
            number += max(1, len(change.hunks))
        self.size.append(number)
        self.paths_of.append(frozenset(s.change.path for s in item.steps))

    def _is_text(self, entry: Entry | None) -> bool:
        return entry is None or (entry.mode in FILE_MODES and b"\0" not in self.blobs.read(entry.blob)[:8000])

    def _weave_of(self, path: str) -> Weave:
        if path not in self.weaves:
            self.weaves[path] = Weave(self.text(self.start.get(path)))
        return self.weaves[path]

    def text(self, entry: Entry | None) -> bytes | None:
        if entry is None or entry.mode not in FILE_MODES:
            return None
        return self.blobs.read(entry.blob)

    def version(self, path: str, number: int) -> Entry | None:
        return self.target.get(path) if number == self.end else self.timelines.at(path, number)

    def effect(self, path: str, number: int) -> Effect:
        entry = self.version(path, number)
        key = (path, None if entry is None else entry.blob)
        if key not in self._effects:
            weave = self.weaves[path]
            if path not in self._at_base:
                base = effect(weave, self.text(self.start.get(path)), frozenset())
                self._at_base[path] = frozenset(k for k, fate in base.fates.items() if fate is Fate.FOUND)
            self._effects[key] = effect(weave, self.text(entry), self._at_base[path])
        return self._effects[key]

    def count(self, hunk: HunkId, number: int) -> Count:
        path = self.hunk_paths[hunk]
        if hunk in self.plain or path not in self.weaves:
            return Count()
        return self.effect(path, number).counts.get(hunk, Count())

    def added(self, hunk: HunkId, number: int) -> Count:
        path = self.hunk_paths[hunk]
        if hunk in self.plain or path not in self.weaves:
            return Count()
        return self.effect(path, number).added.get(hunk, Count())

    def hunks(self, patch: int):
        return [(patch, n) for n in range(self.size[patch])]

    def patch_count(self, patch: int, number: int) -> Count:
        return sum((self.count(h, number) for h in self.hunks(patch)), Count())

    @cached_property
    def wanted(self) -> Mapping[str, tuple[Mapping[bytes, tuple[int, ...]], Mapping[bytes, tuple[int, ...]]]]:
        """by path: telling lines put in / taken out -> patches."""
        found = {}
        for path, weave in self.weaves.items():
            into, out = {}, {}
            for node in weave.nodes:
                if not is_telling(node.key): continue
                for number, (patch, hunk) in enumerate(node.events):
                    if hunk < 0: continue
                    puts_in = node.is_base == (number % 2 == 1)
                    (into if puts_in else out).setdefault(node.key, set()).add(patch)
            found[path] = (into, out)
        return found

    def file_count(self, h, k):
        return sum((self.count(g, k) for g in self.hunks(h[0]) if self.hunk_paths[g] == self.hunk_paths[h]), Count())

    def distinct(self, patch):
        return sum(patch in owners for into, out in self.wanted.values() for side in (into, out) for owners in side.values())

    def traffic(self):
        """per patch: came {step: n}, left {step: n}"""
        came = [{} for _ in self.folded]
        left = [{} for _ in self.folded]
        known = {}
        def scan(path, entry):
            if entry is None or entry.mode not in FILE_MODES: return frozenset(), frozenset()
            key = (path, entry.blob)
            if key not in known:
                lines = frozenset(self.blobs.read(entry.blob).translate(None, b" \t\r\f\v").split(b"\n"))
                into, out = self.wanted[path]
                known[key] = (lines & into.keys(), lines & out.keys())
            return known[key]
        for number, moved in self.timelines.moves().items():
            for path, before, after in moved:
                if path not in self.wanted: continue
                into, out = self.wanted[path]
                (i0, o0), (i1, o1) = scan(path, before), scan(path, after)
                for lines, owners, box in ((i1 - i0, into, came), (o0 - o1, out, came), (i0 - i1, into, left), (o1 - o0, out, left)):
                    for line in lines:
                        for p in owners[line]:
                            box[p][number] = box[p].get(number, 0) + 1
        return came, left

    def news(self, number: int):
        """telling lines (path, line) that a step added and removed in the series' paths"""
        added, removed = set(), set()
        for path in self.weaves:
            before, after = self.version(path, number - 1), self.version(path, number)
            if before != after:
                old = frozenset((self.text(before) or b"").translate(None, b" \t\r\f\v").split(b"\n"))
                new = frozenset((self.text(after) or b"").translate(None, b" \t\r\f\v").split(b"\n"))
                added |= {(path, x) for x in new - old if is_telling(x)}
                removed |= {(path, x) for x in old - new if is_telling(x)}
        return added, removed

    def is_ours(self, number: int) -> bool:
        if number in self._ours: return self._ours[number]
        added, _ = self.news(number)
        ours = sum(line in self.wanted[path][0] for path, line in added)
        self._ours[number] = ours >= 0.5 * len(added)
        return self._ours[number]
