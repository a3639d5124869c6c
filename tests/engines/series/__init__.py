"""Makes patches from two states of files, and rebases series in memory."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.engines.absorption.verdict import Absorption
from patchmgr.engines.cause.commits import explain, explained_paths
from patchmgr.engines.rebase.rebase import Item, Judged, rebase_series
from patchmgr.engines.rebase.work import Edits, Tools, UpstreamRange
from patchmgr.engines.series.fold import Overlay, step_patch
from patchmgr.engines.series.placement import split_lines
from patchmgr.model.decision import Decision
from patchmgr.model.outcome import PatchOutcome, Verdict
from patchmgr.model.patch import Author, BinaryChange, FilePatch, Hunk, Patch
from patchmgr.model.ports import Step
from patchmgr.model.snapshot import EXECUTABLE, GITLINK, REGULAR, SYMLINK, ZERO_ID, Entry, blob_id
from tests.engines.ports import MemoryBlobs, MemoryTree, PlainMerge

Special = tuple[str, bytes]
File = bytes | Special
Files = Mapping[str, File]

NOBODY = Author("Nobody", "nobody@example.org", "0 +0000")


def text(lines: str) -> bytes:
    """Return a text with one line for each word."""
    return b"".join(word.encode() + b"\n" for word in lines.split())


def executable(content: bytes) -> Special:
    return EXECUTABLE, content


def link(target: bytes) -> Special:
    return SYMLINK, target


def submodule(digit: str) -> Special:
    """Return a submodule whose commit id is one hex digit, forty times."""
    return GITLINK, digit.encode() * 40


def _mode(file: File) -> str:
    return REGULAR if isinstance(file, bytes) else file[0]


def shown(file: File) -> bytes:
    if isinstance(file, bytes):
        return file
    return b"Subproject commit %s\n" % file[1] if file[0] == GITLINK else file[1]


class Upstream(MemoryTree):
    """A tree of files, some of which are links or have a mode."""

    def __init__(self, blobs: MemoryBlobs, files: Files) -> None:
        super().__init__(blobs, {})
        self._entries = {path: entry_of(blobs, file) for path, file in files.items()}


def entry_of(blobs: MemoryBlobs, file: File) -> Entry:
    if isinstance(file, bytes):
        return Entry(REGULAR, blobs.add(file))
    mode, content = file
    return Entry(mode, content.decode() if mode == GITLINK else blobs.add(content))


def at(line: int, *lines: bytes, new: int | None = None) -> Hunk:
    """Return a hunk at an old line; its lines start with ` `, `-` or `+`."""
    old_count = sum(line[:1] != b"+" for line in lines)
    new_count = sum(line[:1] != b"-" for line in lines)
    return Hunk(line, old_count, line if new is None else new, new_count, b"", lines)


def hunks_between(before: bytes, after: bytes, context: int = 3) -> tuple[Hunk, ...]:
    """Return the hunks of the two texts as difflib finds them."""
    old, new = split_lines(before), split_lines(after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    groups = matcher.get_grouped_opcodes(context) if before != after else ()
    return tuple(_hunk(old, new, group) for group in groups)


def _hunk(
    old: list[bytes], new: list[bytes], group: Sequence[tuple[str, int, int, int, int]]
) -> Hunk:
    lines: list[bytes] = []
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            lines += [b" " + line for line in old[i1:i2]]
        else:
            lines += [b"-" + line for line in old[i1:i2]]
            lines += [b"+" + line for line in new[j1:j2]]
    (_, i1, _, j1, _), (_, _, i2, _, j2) = group[0], group[-1]
    old_count, new_count = i2 - i1, j2 - j1
    old_start, new_start = i1 + (old_count > 0), j1 + (new_count > 0)
    return Hunk(old_start, old_count, new_start, new_count, b"", tuple(lines))


def edited(path: str, old: File, new: File, *, context: int = 3) -> FilePatch:
    hunks = hunks_between(shown(old), shown(new), context)
    # Without context, an insertion at the top applies only if the patch names the file's content.
    known = None if context else blob_id(shown(old))
    return FilePatch(path, path, _mode(old), _mode(new), hunks=hunks, old_id=known)


def created(path: str, new: File) -> FilePatch:
    return FilePatch(None, path, None, _mode(new), hunks=hunks_between(b"", shown(new)))


def deleted(path: str, old: File) -> FilePatch:
    return FilePatch(path, None, _mode(old), None, hunks=hunks_between(shown(old), b""))


def moved(old_path: str, path: str, old: File, new: File, *, is_copy: bool = False) -> FilePatch:
    hunks = hunks_between(shown(old), shown(new))
    return FilePatch(old_path, path, _mode(old), _mode(new), is_copy=is_copy, hunks=hunks)


def binary(path: str, old: bytes | None, new: bytes | None) -> FilePatch:
    """Return a binary change with both contents; None stands for no file."""
    return FilePatch(
        path if old is not None else None,
        path if new is not None else None,
        old_id=ZERO_ID if old is None else blob_id(old),
        new_id=ZERO_ID if new is None else blob_id(new),
        binary=BinaryChange("literal", new or b""),
    )


def patch_of(name: str, *files: FilePatch, author: Author | None = NOBODY) -> Patch:
    return Patch(name, b"", b"", b"", f"Do {name}", b"Do it\n", author, files, is_mailbox=True)


def patches_of(*changes: FilePatch | Sequence[FilePatch]) -> list[Patch]:
    """Return patches `p1`, `p2` and so on; each changes one or several files."""
    files = ((one,) if isinstance(one, FilePatch) else one for one in changes)
    return [patch_of(f"p{number}", *of_one) for number, of_one in enumerate(files, 1)]


def difference(name: str, before: Files, after: Files, context: int = 3) -> Patch:
    """Return the patch from one state to another; a change of type is a deletion and a creation."""
    return patch_of(name, *_changes(before, after, context))


def _changes(before: Files, after: Files, context: int) -> Iterator[FilePatch]:
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old is not None and new is not None and kind(old) == kind(new):
            if old != new:
                yield edited(path, old, new, context=context)
            continue
        if old is not None:
            yield deleted(path, old)
        if new is not None:
            yield created(path, new)


def kind(file: File) -> str:
    mode = _mode(file)
    return REGULAR if mode == EXECUTABLE else mode


class Result(Struct, frozen=True):
    """The result of a rebase; `files` are all files after it."""

    judged: tuple[Judged, ...]
    changes: Mapping[str, Entry | None]
    files: Files

    @property
    def outcomes(self) -> tuple[PatchOutcome, ...]:
        return tuple(judged.outcome for judged in self.judged)

    @property
    def verdicts(self) -> list[str]:
        return [outcome.verdict.value for outcome in self.outcomes]

    def answers(self, number: int = 0) -> list[str]:
        """Return the verdict on each hunk of a patch and how it was reached, as words."""
        hunks = self.outcomes[number].hunks
        return [f"{h.verdict.value} {h.how.value if h.how else '-'}" for h in hunks]

    def reasons(self, number: int = 0) -> list[str]:
        return [conflict.reason for conflict in self.outcomes[number].conflicts]


class Told(Struct, frozen=True):
    """An upstream history: the subject of each commit, and the files after it (None: deleted)."""

    blobs: MemoryBlobs
    story: Sequence[tuple[str, Mapping[str, File | None]]]
    asked: list[str] = field(default_factory=list)

    def before(self, commit: str) -> str:
        return f"{commit}^"

    def steps(self, paths: Sequence[str]) -> tuple[Step, ...]:
        self.asked.extend(paths)
        found: list[Step] = []
        for subject, files in self.story:
            changes = {
                path: None if file is None else entry_of(self.blobs, file)
                for path, file in files.items()
                if path in paths
            }
            if changes:
                found.append(Step(f"commit {subject}", subject, "A. Author", changes))
        return tuple(found)


class Run:
    """Rebases patches from base onto a target, all in memory."""

    def __init__(self, base: Files, onto: Files) -> None:
        self.blobs = MemoryBlobs()
        self.base, self.onto = base, onto
        self.heard: list[str] = []
        self.asked: list[tuple[str, bytes, int]] = []

    def rebase(
        self,
        *patches: Patch,
        renames: Mapping[str, str] | None = None,
        arrivals: Mapping[str, str] | None = None,
        refused: Mapping[str, str] | None = None,
        known: Mapping[str, Absorption] | None = None,
        solved: Mapping[tuple[str, str], bytes | None] | None = None,
        solved_on: Mapping[tuple[str, str], bytes] | None = None,
        stops: bool = False,
        is_folded: bool = False,
        asks: bool = False,
        decisions: tuple[Decision, ...] = (),
        edits: Mapping[str, Mapping[str, tuple[bytes | None, bytes | None]]] | None = None,
    ) -> Result:
        tools = Tools(
            blobs=self.blobs,
            text=PlainMerge(),
            symbol_at=self._symbol_at,
            nobody=NOBODY,
            solved=solved or {},
            solved_on={place: (ours, None) for place, ours in (solved_on or {}).items()},
            on_patch=self.heard.append,
            asks=asks,
            edits={patch: self._edits(found) for patch, found in (edits or {}).items()},
        )
        refused, known = refused or {}, known or {}
        items = [
            Item(patch, refused.get(patch.name), known.get(patch.name), decisions=decisions)
            for patch in patches
        ]
        base, onto = Upstream(self.blobs, self.base), Upstream(self.blobs, self.onto)
        way = UpstreamRange(base, onto, renames or {}, arrivals or {})
        given = self._folded(items) if is_folded else items
        judged, changes = rebase_series(given, way, tools, stops_at_conflict=stops)
        return Result(judged, changes, self._files(changes))

    def _edits(self, edits: Mapping[str, tuple[bytes | None, bytes | None]]) -> Edits:
        def entry(content: bytes | None) -> Entry | None:
            return None if content is None else Entry(REGULAR, self.blobs.add(content))

        return {path: (entry(old), entry(new)) for path, (old, new) in edits.items()}

    def _folded(self, items: Sequence[Item]) -> list[Item]:
        """Compute the steps of each item that is not left out."""
        side = Overlay(Upstream(self.blobs, self.base))
        return [
            replace(item, steps=step_patch(side, item.patch, self.blobs))
            if item.refusal is None
            else item
            for item in items
        ]

    def explained(
        self, result: Result, story: Sequence[tuple[str, Mapping[str, File | None]]]
    ) -> tuple[PatchOutcome, ...]:
        """Add evidence and causes from a history to a result."""
        tree = Upstream(self.blobs, self.base)
        start = {path: tree.entry(path) for path in explained_paths(result.judged)}
        history = Told(self.blobs, story)
        told = explain(result.judged, history, start, blobs=self.blobs, text=PlainMerge())
        return tuple(judged.outcome for judged in told)

    def _symbol_at(self, path: str, content: bytes, line: int) -> str | None:
        self.asked.append((path, content, line))
        return f"line {line}"

    def _files(self, changes: Mapping[str, Entry | None]) -> Files:
        files = dict(self.onto)
        for path, entry in changes.items():
            if entry is None:
                files.pop(path, None)
            elif entry.mode == REGULAR:
                files[path] = self.blobs.read(entry.blob)
            elif entry.mode == GITLINK:
                files[path] = (GITLINK, entry.blob.encode())
            else:
                files[path] = (entry.mode, self.blobs.read(entry.blob))
        return files


def replayed(result: Result) -> dict[str, Entry | None]:
    """Return what the commits of the carried patches change, one after the other."""
    made: dict[str, Entry | None] = {}
    for outcome in result.outcomes:
        made.update(outcome.changes or {})
    return made


def carried(outcomes: Collection[PatchOutcome]) -> set[Verdict]:
    return {outcome.verdict for outcome in outcomes if outcome.is_carried}
