"""What C++ and CUDA code relies on, and the files that it includes no longer declare.

One side changes what files declare, the other one has new lines that use it: the series uses what
upstream changed, and upstream's new lines may use what the series changed. A name is certainly lost
where no code in any included file has it any more; without a compiler the rest is a warning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from patchmgr.engines.audit.cxx_includes import Reach, includes_in
from patchmgr.engines.audit.cxx_uses import CxxUse
from patchmgr.engines.audit.places import added_lines, written_path
from patchmgr.engines.audit.states import States, Told
from patchmgr.engines.languages.cxx_declarations import CxxFile, uses
from patchmgr.engines.languages.names import CXX
from patchmgr.engines.languages.words import BLANKED
from patchmgr.engines.text.differences import Block, changed_blocks
from patchmgr.model.audit import AuditFinding

HEAD = 12  # lines that a statement may begin before its change, or end behind it
_SCOPES = frozenset({b"class", b"enum", b"extern", b"namespace", b"struct", b"union"})


def cxx_faults(states: States) -> Iterator[Told]:
    """Tell what code relies on that its includes no longer declare, or declare otherwise."""
    carried = [path for path in states.carriers if path.endswith(CXX)]
    changed = [path for path in sorted(states.changed_upstream) if path.endswith(CXX)]
    if not carried or not changed:
        return
    roots = {path.partition("/")[0] for path in (*carried, *changed) if "/" in path}
    written, onto, merged = (
        Reach(files, roots) for files in (states.written, states.onto, states.merged)
    )
    ours = {path: lines for path in carried if (lines := added_lines(states, path))}
    before = {path: written_path(states, path) for path in ours}
    yield from _Side(states, written, merged, ours, before, changed).told()
    if any(states.onto.blob(path) is not None for path in carried):
        theirs = {path: None for path in changed if states.merged.blob(path) is not None}
        yield from _Side(states, onto, merged, theirs, {}, carried, is_series=False).told()


class _Side(Struct, frozen=True):
    """The new lines of one side, by file, and the files that the other side changed.

    Lines are given with their patches; those of upstream (None) are still to be compared. `before`
    says where a file was on the side, if that was elsewhere.
    """

    states: States
    was: Reach
    now: Reach
    users: Mapping[str, Mapping[int, str] | None]
    before: Mapping[str, str]
    providers: Sequence[str]
    is_series: bool = True

    def told(self) -> Iterator[Told]:
        """Yield what the new lines rely on that is gone, or is otherwise."""
        for path, lines in self.users.items():
            yield from self._lost_includes(path, lines or {})
        changed = self._changed()
        names = {name.encode("utf-8", "replace") for name in changed}
        for path in self.users if changed else ():
            if not names.isdisjoint(self.now.words(path)):
                yield from self._in_file(path, changed)

    def _lost_includes(self, path: str, lines: Mapping[int, str]) -> Iterator[Told]:
        texts = (self.now.text(path) or b"").splitlines() if lines else []
        for number in sorted(lines):
            for name, _ in includes_in(texts[number - 1]):
                was = self.was.found(self.before.get(path, path), name)
                if set(was).isdisjoint(self.providers) or self.now.found(path, name):
                    continue
                moved = self.now.found(path, name.rpartition("/")[2])
                text = f"`{name}` is not there any more"
                text += f"; `{moved[0]}` has its name" if moved else ""
                commit = self.states.commit_since(was[0], lambda content: content is None)
                proposal = moved[0] if len(moved) == 1 else None
                place = path, number, name
                found = AuditFinding("include", not moved, *place, text, commit, proposal)
                yield lines[number], found

    def _changed(self) -> dict[str, list[str]]:
        """Return the names that are declared otherwise now, with the files that declared them."""
        wanted: set[bytes] = set()
        providers = [path for path in self.providers if self._is_other(path)]
        if self.is_series:
            reached = {one for path in self.users for one in self._reached_before(path)}
            providers = [path for path in providers if path in reached]
            for path, some in self.users.items() if providers else ():
                lines = (self.now.text(path) or b"").splitlines()
                text = b"\n".join(lines[number - 1] for number in some or ())
                wanted.update(text.translate(BLANKED).split())
        self.was.read_ahead(providers)
        self.now.read_ahead(providers)
        found = self._no_longer_reached(providers, wanted) if self.is_series else {}
        suspects = {path: names for path in providers if (names := self._suspects(path))}
        if suspects and not self.is_series:
            self.now.read_ahead(self.users)
            wanted.update(*(self.now.words(path) for path in self.users))
        for path, names in suspects.items():
            known = _by_name(self.was.code(path), names & wanted) if names & wanted else {}
            now = _by_name(self.now.code(path), names & wanted) if known else {}
            for name in known:
                if known[name] != now.get(name):
                    found.setdefault(name, []).append(path)
        return found

    def _reached_before(self, path: str) -> frozenset[str]:
        return self.was.closure(self.before.get(path, path))[0]

    def _is_other(self, path: str) -> bool:
        old, new = self.was.files.blob(path), self.now.files.blob(path)
        return old is not None and old != new

    def _no_longer_reached(
        self, providers: Sequence[str], wanted: Collection[bytes]
    ) -> dict[str, list[str]]:
        """Return by name the files that declare it, and that the users' includes led to before."""
        found: dict[str, list[str]] = {}
        texts = ((self.was.text(path), self.now.text(path)) for path in providers)
        if not any({*includes_in(old)} - {*includes_in(new)} for old, new in texts):
            return found
        lost: set[str] = set()
        for path in self.users:
            reached = self.now.closure(path)[0]
            lost.update(self._reached_before(path) - reached if reached else ())
        for path in sorted(lost - {self.before.get(user, user) for user in self.users}):
            if not self.was.words(path).isdisjoint(wanted):
                for name in _by_name(self.was.code(path), wanted):
                    found.setdefault(name, []).append(path)
        return found

    def _suspects(self, path: str) -> frozenset[bytes]:
        """Return the words of a file that are in statements that changed."""
        old, new = ((reach.text(path) or b"").splitlines(True) for reach in (self.was, self.now))
        if self.now.text(path) is None:
            return self.was.words(path)
        blocks = changed_blocks(old, new)
        changed = (line for block in blocks for line in old[_start(old, block) : _end(old, block)])
        words = frozenset(b"".join(changed).translate(BLANKED).split())
        come = (line for block in blocks for line in new[block.new_start : block.new_end])
        is_wide = not words.isdisjoint(_SCOPES) or any(b"virtual" in line for line in come)
        return self.was.words(path) if is_wide else words

    def _in_file(self, path: str, changed: Mapping[str, Sequence[str]]) -> Iterator[Told]:
        reached = self._reached_before(path)
        names = {
            name: there[0]
            for name, where in changed.items()
            if (there := [provider for provider in where if provider in reached])
        }
        lines = self._lines(path) if names else {}
        code = self.now.code(path) if lines else None
        if code is None:
            return
        found = [*uses(code, frozenset(names))]
        own = {(one.name, one.line) for one in code.declarations}
        # What the file declares for itself is not the other side's.
        done = {use.name for use in found if use.is_local and (use.name, use.line) not in own}
        for use in found:
            if use.line not in lines or use.name in done:
                continue
            provider, before = names[use.name], self.before.get(path, path)
            fault = CxxUse(
                self.was, self.now, path, before, provider, use, lines, code,
                self.states.commit_since, self.is_series,
            ).fault()  # fmt: skip
            if fault is not None:
                done.add(use.name)
                yield lines[use.line] or self.states.carriers.get(provider, ""), fault

    def _lines(self, path: str) -> Mapping[int, str]:
        """Return the new lines of a file, with the patch that each is of, if it is of one."""
        lines = self.users[path]
        if lines is not None:
            return lines
        old, new = self.states.written.read(path) or b"", self.now.text(path) or b""
        blocks = changed_blocks(old.splitlines(True), new.splitlines(True))
        return {n + 1: "" for block in blocks for n in range(block.new_start, block.new_end)}


def _start(lines: Sequence[bytes], block: Block) -> int:
    """Return where the statement begins that goes on at a block of lines."""
    first = block.old_start
    while first > max(0, block.old_start - HEAD) and not _ends(lines[first - 1]):
        first -= 1
    return first


def _end(lines: Sequence[bytes], block: Block) -> int:
    """Return where the statement ends that a block of lines is in, or that its end begins."""
    last = block.old_end
    most = min(len(lines), last + HEAD)
    while last < most and (last == block.old_start or not _ends(lines[last - 1])):
        last += 1
    return last


def _ends(line: bytes) -> bool:
    """Say whether no statement goes on behind a line, as far as its end tells."""
    line = line.partition(b"//")[0].strip()
    return not line or line.endswith((b";", b"{", b"}", b":")) or line[:1] == b"#"


def _by_name(code: CxxFile | None, names: Collection[bytes]) -> dict[str, set[object]]:
    """Return what a file declares of some names, as others see it."""
    found: dict[str, set[object]] = {}
    for one in code.declarations if code is not None else ():
        if one.name.encode("utf-8", "replace") in names:
            shape = one.kind, one.owners, one.parameters, one.is_scoped
            found.setdefault(one.name, set()).add((*shape, one.type, one.is_constant, one.pure))
    return found
