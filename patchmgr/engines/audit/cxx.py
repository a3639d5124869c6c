"""What C++ and CUDA code relies on, and the files that it includes no longer declare.

One side changes what files declare, the other one has new lines that use it: the series uses what
upstream changed, and upstream's new lines may use what the series changed. A name is certainly lost
where no code in any included file has it any more; without a compiler the rest is a warning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from posixpath import dirname, normpath
from typing import TYPE_CHECKING

from msgspec import Struct

from patchmgr.engines.audit.places import added_lines, written_path
from patchmgr.engines.audit.states import UNKNOWN, Files, States, Told
from patchmgr.engines.languages.cxx_tokens import UnclearSource
from patchmgr.engines.languages.names import CXX
from patchmgr.engines.languages.words import NAMES
from patchmgr.engines.text.differences import Block, changed_blocks
from patchmgr.model.audit import AuditFinding

if TYPE_CHECKING:
    from patchmgr.engines.languages.cxx_declarations import CxxFile, Declaration, Use

MOST_FILES = 400  # that one file includes, directly or not
HEAD = 12  # lines that a statement may begin before its change, or end behind it

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"\n]+)[>\"]", re.MULTILINE)
_OPENED = re.compile(rb"\b(?:using\s+namespace|namespace\s+\w+\s*=)\s+([\w:\s]+);")
_BLANKED = bytes(c if c in NAMES else 32 for c in range(256))

_SCOPES = frozenset({b"class", b"enum", b"extern", b"namespace", b"struct", b"union"})
_GENERATED = (".inc", ".def")  # of includes that a build makes


def cxx_faults(states: States) -> Iterator[Told]:
    """Tell what code relies on that its includes no longer declare, or declare otherwise."""
    carried = [path for path in states.carriers if path.endswith(CXX)]
    changed = [path for path in sorted(states.changed_upstream) if path.endswith(CXX)]
    if not carried or not changed:
        return
    roots = {path.partition("/")[0] for path in (*carried, *changed) if "/" in path}
    merged = _Reach(states.merged, roots)
    new = {path: lines for path in carried if (lines := added_lines(states, path))}
    before = {path: written_path(states, path) for path in new}
    series = _Side(states, _Reach(states.written, roots), merged, new, before, changed)
    yield from series.told()
    if any(states.onto.blob(path) is not None for path in carried):
        upstream = {path: _NEW for path in changed if states.merged.blob(path) is not None}
        yield from _Side(
            states, _Reach(states.onto, roots), merged, upstream, {}, carried, is_series=False
        ).told()


_NEW: Mapping[int, str] = {}
"""Stands for the lines of a file that are still to be compared."""


class _Reach:
    """The files of a state, as code in it finds them."""

    def __init__(self, files: Files, roots: Collection[str]) -> None:
        self.files = files
        self._roots = roots
        self._read: dict[str, CxxFile | None] = {}
        self._texts: dict[str, bytes | None] = {}
        self._words: dict[str, frozenset[bytes]] = {}
        self._closures: dict[str, tuple[frozenset[str], frozenset[str]]] = {}

    def read_ahead(self, paths: Collection[str]) -> None:
        """Bring files that will be read."""
        self.files.read_ahead(path for path in paths if path not in self._texts)

    def text(self, path: str) -> bytes | None:
        """Return a file, None where there is none."""
        if path not in self._texts:
            self._texts[path] = self.files.read(path)
        return self._texts[path]

    def words(self, path: str) -> frozenset[bytes]:
        """Return all words of a file, those of comments too."""
        if path not in self._words:
            self._words[path] = frozenset((self.text(path) or b"").translate(_BLANKED).split())
        return self._words[path]

    def code(self, path: str) -> CxxFile | None:
        """Return a file as code, None where it cannot be read."""
        if path not in self._read:
            from patchmgr.engines.languages.cxx_declarations import read_cxx

            text = self.text(path)
            try:
                unknown = text is None or text == UNKNOWN
                self._read[path] = None if unknown else read_cxx(text or b"")
            except (UnclearSource, RecursionError):
                self._read[path] = None
        return self._read[path]

    def declared(self, path: str, names: Collection[str]) -> Iterator[tuple[str, Declaration]]:
        """Yield what a file and all that it includes declare of some names, with their files."""
        for where in sorted(self.closure(path)[0]):
            words = self.words(where)
            if any(name.encode() in words for name in names):
                code = self.code(where)
                for one in code.declarations if code is not None else ():
                    if one.name in names:
                        yield where, one

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        tree = self.files.tree
        found: dict[str, list[str]] = {}
        for root in self._roots:
            for path in tree.files_below(root) if tree.is_directory(root) else ():
                found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    def found(self, path: str, name: str) -> list[str]:
        """Return the files that an include in a file may mean."""
        near = normpath(f"{dirname(path)}/{name}") if dirname(path) else normpath(name)
        if self.files.blob(near) is not None:
            return [near]
        plain = normpath(name)
        if self.files.blob(plain) is not None:
            return [plain]
        while plain.startswith("../"):
            plain = plain[3:]
        ends = self._by_name.get(plain.rpartition("/")[2], ())
        return [path for path in ends if f"/{path}".endswith(f"/{plain}")]

    def includes(self, path: str) -> Iterator[tuple[str, bool]]:
        """Yield what a file includes, and whether that is in quotes."""
        for quote, name in _INCLUDE.findall(self.text(path) or b""):
            yield name.decode("utf-8", "surrogateescape"), quote == b'"'

    def closure(self, path: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return a file with all that it includes, and the quoted names that are found nowhere.

        No files are returned where they are too many.
        """
        if path not in self._closures:
            seen = {path}
            lost: set[str] = set()
            level = [path]
            while level and len(seen) <= MOST_FILES:
                self.read_ahead(level)
                following: dict[str, None] = {}
                for at in level:
                    for name, is_quoted in self.includes(at):
                        paths = self.found(at, name)
                        lost.update(() if paths or not is_quoted else (name,))
                        following |= dict.fromkeys(paths)
                level = [one for one in following if one not in seen]
                seen.update(level)
            all_ = frozenset(seen) if len(seen) <= MOST_FILES else frozenset()
            self._closures[path] = all_, frozenset(lost)
        return self._closures[path]

    def tells_name(self, path: str, name: str, besides: Mapping[str, Collection[int]]) -> bool:
        """Say whether any code in reach of a file has a name, in other lines than some."""
        for where in self.closure(path)[0]:
            if name.encode() not in self.words(where):
                continue
            code = self.code(where)
            if code is None or name in code.in_directives:
                return True
            lines = besides.get(where, ())
            if any(t.text == name and t.line + 1 not in lines for t in code.tokens):
                return True
        return not self.closure(path)[0]


class _Side(Struct, frozen=True):
    """The new lines of one side, by file, and the files that the other side changed."""

    states: States
    old: _Reach
    new: _Reach
    users: Mapping[str, Mapping[int, str]]
    before: Mapping[str, str]
    providers: Sequence[str]
    is_series: bool = True

    def told(self) -> Iterator[Told]:
        """Yield what the new lines rely on that is gone, or is otherwise."""
        if self.is_series:
            for path, lines in self.users.items():
                yield from self._lost_includes(path, lines)
        changed = self._changed()
        if not changed:
            return
        names = {name.encode("utf-8", "replace") for name in changed}
        for path in self.users:
            if not names.isdisjoint(self.new.words(path)):
                yield from self._in_file(path, changed)

    def _lines(self, path: str) -> Mapping[int, str]:
        """Return the new lines of a file, with the patch that each is of, if it is of one."""
        lines = self.users.get(path, _NEW)
        if lines is not _NEW or path not in self.users:
            return lines
        old, new = self.states.written.read(path) or b"", self.new.text(path) or b""
        blocks = changed_blocks(old.splitlines(keepends=True), new.splitlines(keepends=True))
        return {n + 1: "" for block in blocks for n in range(block.new_start, block.new_end)}

    def _changed(self) -> dict[str, list[str]]:
        """Return the names that are declared otherwise now, with the files that declared them."""
        wanted: set[bytes] = set()
        providers = [path for path in self.providers if self._is_other(path)]
        if self.is_series:
            reached = {one for p in self.users for one in self.old.closure(self._before(p))[0]}
            providers = [path for path in providers if path in reached]
            for path, some in self.users.items() if providers else ():
                lines = (self.new.text(path) or b"").splitlines()
                text = b"\n".join(lines[number - 1] for number in some)
                wanted.update(text.translate(_BLANKED).split())
        self.old.read_ahead(providers)
        self.new.read_ahead(providers)
        found = self._no_longer_reached(providers, wanted) if self.is_series else {}
        suspects = {path: names for path in providers if (names := self._suspects(path))}
        if suspects and not self.is_series:
            self.new.read_ahead(self.users)
            wanted.update(*(self.new.words(path) for path in self.users))
        for path, names in suspects.items():
            for name in self._redeclared(path, names & wanted):
                found.setdefault(name, []).append(path)
        return found

    def _no_longer_reached(
        self, providers: Sequence[str], wanted: Collection[bytes]
    ) -> dict[str, list[str]]:
        """Return by name the files that declare it, and that the users' includes led to before."""
        found: dict[str, list[str]] = {}
        if not any({*self.old.includes(p)} - {*self.new.includes(p)} for p in providers):
            return found
        lost: set[str] = set()
        for path in self.users:
            reached = self.new.closure(path)[0]
            lost.update(self.old.closure(self._before(path))[0] - reached if reached else ())
        for path in sorted(lost - {self._before(user) for user in self.users}):
            code = self.old.code(path) if not self.old.words(path).isdisjoint(wanted) else None
            for name in _by_name(code, wanted):
                found.setdefault(name, []).append(path)
        return found

    def _before(self, path: str) -> str:
        return self.before.get(path, path)

    def _is_other(self, path: str) -> bool:
        old, new = self.old.files.blob(path), self.new.files.blob(path)
        return old is not None and old != new

    def _suspects(self, path: str) -> set[bytes]:
        """Return the words of a file that are in statements that changed."""
        old, new = self.old.text(path) or b"", self.new.text(path)
        if new is None:
            return set(self.old.words(path))
        lines = old.splitlines(keepends=True)
        now = new.splitlines(keepends=True)
        blocks = changed_blocks(lines, now)
        text = b"".join(
            b"".join(lines[_start(lines, block.old_start) : _end(lines, block)]) for block in blocks
        )
        words = set(text.translate(_BLANKED).split())
        come = (line for block in blocks for line in now[block.new_start : block.new_end])
        is_wide = not words.isdisjoint(_SCOPES) or any(b"virtual" in line for line in come)
        return set(self.old.words(path)) if is_wide else words

    def _redeclared(self, path: str, names: Collection[bytes]) -> set[str]:
        """Return those of some names that a file declared, and does not declare alike now."""
        code = self.old.code(path) if names else None
        known = _by_name(code, names)
        if not known:
            return set()
        now = _by_name(self.new.code(path), names)
        return {name for name, shapes in known.items() if shapes != now.get(name)}

    def _in_file(self, path: str, changed: Mapping[str, Sequence[str]]) -> Iterator[Told]:
        from patchmgr.engines.languages.cxx_declarations import uses

        before = self._before(path)
        reached = self.old.closure(before)[0]
        names = {name: [c for c in where if c in reached] for name, where in changed.items()}
        names = {name: where for name, where in names.items() if where}
        lines = self._lines(path) if names else {}
        code = self.new.code(path) if lines else None
        if code is None:
            return
        found = [*uses(code, frozenset(names))]
        own = {(one.name, one.line) for one in code.declarations}
        local = {use.name for use in found if use.is_local and (use.name, use.line) not in own}
        done: set[str] = set()
        for use in found:
            if use.line not in lines or use.name in local or use.name in done:
                continue
            fault = _Fault(self, path, before, use, names[use.name][0], lines)
            definition = next(
                (one for one in code.declarations if (one.name, one.line) == (use.name, use.line)),
                None,
            )
            told = fault.of_use() if definition is None else fault.of_definition(definition)
            if told is not None:
                done.add(use.name)
                patch = lines[use.line] or self.states.carriers.get(names[use.name][0], "")
                yield patch, told

    def _lost_includes(self, path: str, lines: Mapping[int, str]) -> Iterator[Told]:
        before = self._before(path)
        for number, line in enumerate((self.new.text(path) or b"").splitlines(), 1):
            match = _INCLUDE.match(line) if number in lines else None
            if match is None:
                continue
            name = match[2].decode("utf-8", "surrogateescape")
            was = self.old.found(before, name)
            if not was or self.new.found(path, name) or not set(was) & set(self.providers):
                continue
            moved = self.new.found(path, name.rpartition("/")[2])
            text = f"`{name}` is not there any more"
            text += f"; `{moved[0]}` has its name" if moved else ""
            step = self.states.since(was[0], lambda content: content is None)
            commit = None if step is None else step.commit
            proposal = moved[0] if len(moved) == 1 else None
            yield (
                lines[number],
                AuditFinding("include", not moved, path, number, name, text, commit, proposal),
            )


class _Fault(Struct, frozen=True):
    """A use of a name in a new line, and the file that declared it before the other side's work."""

    side: _Side
    path: str
    before: str
    use: Use
    provider: str
    lines: Mapping[int, str]

    def of_use(self) -> AuditFinding | None:
        """Return what is wrong with the use, if anything is."""
        name = self.use.name
        old = self._known(self.side.old, self.before)
        is_part = self.use.before in (".", "->")
        if not old or (is_part and not any(one.is_member for one in old)):
            return None
        new = self._known(self.side.new, self.path)
        if not new and not self.side.new.tells_name(self.path, name, {self.path: self.lines}):
            unknown = self.side.new.closure(self.path)[1]
            lost = unknown - self.side.old.closure(self.before)[1]
            unsure = any(one.is_member or one.kind == "namespace" for one in old)
            if any(name.endswith(_GENERATED) for name in unknown):
                return None
            is_there = name.encode() in self.side.new.words(self.provider)  # only not included
            is_certain = not is_part and not lost and not unsure and not is_there
            kind = old[0].kind
            text = f"the {kind} `{name}` of {self.provider} is in nothing that this file includes"
            return self._finding("removed", is_certain, text, old[0], lambda new: not new)
        return (
            self._enumerator(old, new)
            or self._scoped(old, new)
            or self._call(old, new)
            or self._template(old, new)
            or self._constructor(old, new)
            or self._abstract(old, new)
            or self._owner(old, new)
            or self._type(old, new)
        )

    def _known(self, reach: _Reach, path: str) -> list[Declaration]:
        return [one for _, one in reach.declared(path, (self.use.name,))]

    def _enumerator(
        self, old: Sequence[Declaration], new: Sequence[Declaration]
    ) -> AuditFinding | None:
        """Look at `Kind::A` where `Kind` is there and has no `A` any more."""
        owner = self.use.owner
        if not owner or not any(o.kind == "enumerator" and o.owners[-1:] == (owner,) for o in old):
            return None
        kinds = [one for _, one in self.side.new.declared(self.path, (owner,))]
        if len(kinds) != 1 or kinds[0].kind != "type":
            return None
        if any(one.owners[-1:] == (owner,) for one in new):
            return None
        text = f"`{owner}` has no `{self.use.name}` any more"
        gone = [one for one in old if one.owners[-1:] == (owner,)]
        return self._finding(
            "removed",
            True,
            text,
            gone[0],
            lambda now: not any(one.owners[-1:] == (owner,) for one in now),
        )

    def _scoped(
        self, old: Sequence[Declaration], new: Sequence[Declaration]
    ) -> AuditFinding | None:
        """Look at `A` alone where its enumeration became an `enum class`."""
        some = [*old, *new]
        if any(one.kind != "enumerator" for one in some) or any(one.is_scoped for one in old):
            return None
        owners = {one.owners[-1:] for one in new}
        if not new or not all(one.is_scoped for one in new) or (self.use.owner,) in owners:
            return None
        code = self.side.new.code(self.path)
        texts = [] if code is None else [token.text for token in code.tokens]
        if ("using", "enum") in pairwise(texts):
            return None
        text = f"`{self.use.name}` is only known as `{new[0].owners[-1]}::{self.use.name}` now"
        return self._finding(
            "removed", False, text, old[0], lambda now: any(one.is_scoped for one in now)
        )

    def _call(self, old: Sequence[Declaration], new: Sequence[Declaration]) -> AuditFinding | None:
        """Look at a call that fitted a declaration, and fits none now."""
        use = self.use
        kinds = {one.kind for one in (*old, *new)}
        if not use.is_call or not new or not kinds <= {"function", "macro"}:
            return None
        if self._apart(old) != self._apart(new):
            return None

        def fits(some: Sequence[Declaration]) -> bool:
            return any(one.takes(use.least, use.most) for one in some)

        is_member = any(one.is_member for one in (*old, *new))
        if fits(old) and not fits(new):
            text = f"this call of `{use.name}` has {_counted(use.least)}; it takes {_wanted(new)}"
            return self._finding(
                "signature", not is_member, text, old[0], lambda now: not fits(now)
            )
        if not fits(new) or len(old) != 1 or len(new) != 1 or old[0].owners != new[0].owners:
            return None
        places = self.side.new.declared(self.path, (use.name,))
        is_same_file = [where for where, _ in places] == [self.provider]
        change = _otherwise(old[0], new[0], use.most) if is_same_file else None
        if change is None:
            return None
        text = f"`{use.name}`, which is called here, {change}"
        return self._finding(
            "signature",
            False,
            text,
            old[0],
            lambda now: [one.parameters for one in now] == [new[0].parameters],
        )

    def _template(
        self, old: Sequence[Declaration], new: Sequence[Declaration]
    ) -> AuditFinding | None:
        """Look at the arguments of a type's template, where they were enough or not too many."""
        given = self.use.template
        if not new or {one.kind for one in (*old, *new)} != {"type"}:
            return None
        was, now = ({one.parameters is None for one in some} for some in (old, new))
        if {True} in (was, now) and was | now == {True, False} and was != now:
            if (given is None) != (now == {False}) or not self._is_named():
                return None
            text = f"`{self.use.name}` is {'a template' if given is None else 'no template'} now"
            return self._finding(
                "signature", False, text, old[0], lambda now: {o.type for o in now} != {""}
            )
        if given is None:
            return None

        def fits(some: Sequence[Declaration]) -> bool:
            return any(one.takes(given, given) for one in some)

        if not fits(old) or fits(new):
            return None
        text = f"`{self.use.name}` has {_counted(given)} here; its template takes {_wanted(new)}"
        return self._finding("signature", False, text, old[0], lambda now: not fits(now))

    def _is_named(self) -> bool:
        """Say whether the type's name stands for the type, and nothing is derived from a call."""
        code = self.side.new.code(self.path)
        after = "" if code is None else "".join(t.text for t in code.tokens[self.use.at + 1 :][:1])
        return after not in ("(", "{", "::") and self.use.before not in ("class", "struct", "using")

    def _constructor(
        self, old: Sequence[Declaration], new: Sequence[Declaration]
    ) -> AuditFinding | None:
        """Look at an object that is made with arguments that no constructor takes now."""
        from patchmgr.engines.languages.cxx_declarations import arguments_of_object

        name, code = self.use.name, self.side.new.code(self.path)
        made = None if code is None else arguments_of_object(code, self.use)
        was, now = (
            [one for one in some if one.kind == "function" and one.owners[-1:] == (name,)]
            for some in (old, new)
        )
        if made is None or not was or not now:
            return None
        if any("initializer_list" in p.type for one in now for p in one.parameters or ()):
            return None
        if not any(one.takes(made, made) for one in was) or any(o.takes(made, made) for o in now):
            return None
        text = f"`{name}` is made with {_counted(made)} here; it takes {_wanted(now)}"
        return self._finding(
            "signature",
            False,
            text,
            was[0],
            lambda some: not any(o.takes(made, made) for o in some),
        )

    def _abstract(
        self, old: Sequence[Declaration], new: Sequence[Declaration]
    ) -> AuditFinding | None:
        """Look at a type that lacks what its base has to be given now."""
        code = self.side.new.code(self.path)
        was, now = ({pure for one in some for pure in one.pure} for some in (old, new))
        lacking = now - was
        if code is None or not lacking:
            return None
        for mine in code.declarations:
            if self.use.name not in mine.bases or mine.line not in self.lines:
                continue
            own = {one.name for one in code.declarations if one.owners[-1:] == (mine.name,)}
            if lacks := sorted(lacking - own):
                text = f"`{mine.name}` has no `{lacks[0]}`, which `{self.use.name}` asks for now"
                return self._finding(
                    "signature",
                    False,
                    text,
                    old[0],
                    lambda some: any(lacks[0] in one.pure for one in some),
                )
        return None

    def _type(self, old: Sequence[Declaration], new: Sequence[Declaration]) -> AuditFinding | None:
        """Look at a variable of another type, at a value that is another one, or no constant."""
        from patchmgr.engines.languages.cxx_declarations import is_number

        if len(old) != 1 or len(new) != 1 or old[0].owners != new[0].owners:
            return None
        was, now, name = old[0], new[0], self.use.name
        if was.kind != now.kind or was.kind not in ("function", "variable"):
            return None
        is_made = self.use.is_call and self.use.before not in (";", "{", "}", ")", "else")
        if was.kind == "function" and not is_made:
            return None
        if was.is_constant and not now.is_constant and self.use.before in ("<", "[", "case"):
            text = f"`{name}` is no constant any more, and is used as one here"
        else:
            if was.type == now.type or not (was.type and now.type):
                return None
            if is_number(was.type) and is_number(now.type):
                return None
            does = "returns" if was.kind == "function" else "is of type"
            text = f"`{name}`, which is used here, {does} `{now.type}` now (it was `{was.type}`)"
        return self._finding(
            "signature", False, text, was, lambda some: [one.type for one in some] == [now.type]
        )

    @staticmethod
    def _apart(some: Sequence[Declaration]) -> bool:
        return any(one.is_member for one in some) and any(not one.is_member for one in some)

    def _owner(self, old: Sequence[Declaration], new: Sequence[Declaration]) -> AuditFinding | None:
        """Look at what went to another namespace."""
        use = self.use
        is_part = use.before in (".", "->")
        if new and {one.kind for one in (*old, *new)} == {"function"} and use.is_call:
            members = [{one.is_member for one in some} for some in (old, new)]
            if members == [{is_part}, {not is_part}] and not use.owner:
                owner = "::".join((*new[0].owners, use.name))
                text = f"`{use.name}` is `{owner}` now, and {'no' if is_part else 'a'} member"
                return self._finding(
                    "removed",
                    False,
                    text,
                    old[0],
                    lambda some: {o.is_member for o in some} != {is_part},
                )
        if not new or any(one.is_member or one.kind == "macro" for one in (*old, *new)):
            return None
        was, now = ({one.owners for one in some} for some in (old, new))
        if len(was) != 1 or len(now) != 1 or was == now or old[0].kind == "enumerator":
            return None
        (before,), (after,) = was, now
        code = self.side.new.code(self.path)
        known = {token.text for token in code.tokens} if code is not None else set()
        header = self.side.new.text(self.provider) or b""
        is_opened = bool(after) and after[-1].encode() in _opened(header)
        if use.owner:
            is_lost = before[-1:] == (use.owner,) != after[-1:]
        else:
            is_lost = bool(after) and after[-1] not in known
        if not is_lost or is_opened:
            return None
        text = f"`{use.name}` is `{'::'.join((*after, use.name))}` now"
        return self._finding(
            "removed", False, text, old[0], lambda some: {one.owners for one in some} == now
        )

    def of_definition(self, mine: Declaration) -> AuditFinding | None:
        """Look at a definition whose declaration is of another signature now."""
        if mine.kind != "function" or mine.parameters is None:
            return None
        if not mine.is_definition and not mine.is_override:
            return None
        types = [one.type for one in mine.parameters]

        def same(some: Sequence[Declaration]) -> bool:
            return any([p.type for p in one.parameters or ()] == types for one in some)

        old, new = (
            [
                one
                for where, one in reach.declared(path, (mine.name,))
                if where not in (self.path, self.before) and one.kind == "function"
            ]
            for reach, path in ((self.side.old, self.before), (self.side.new, self.path))
        )
        if mine.is_override and same(old) and not any(one.is_member for one in new):
            text = f"`{mine.name}` overrides what {self.provider} no longer has"
            return self._finding("removed", False, text, old[0], lambda now: not same(now))
        if not same(old) or same(new) or not new:
            return None
        text = f"`{mine.name}` is defined here, and {self.provider} declares it otherwise"
        return self._finding(
            "signature", False, text, old[0], lambda now: bool(now) and not same(now)
        )

    def _finding(
        self,
        kind: str,
        is_certain: bool,
        text: str,
        was: Declaration,
        is_so: Callable[[Sequence[Declaration]], bool],
    ) -> AuditFinding:
        """Return the finding, with the upstream step that made it so, and the likely new name."""
        proposal = self._proposal(was) if kind == "removed" else None
        if proposal is not None:
            text += f"; `{proposal}` is new there"
        step = self.side.states.since(
            self.provider if self.side.is_series else self.path,
            lambda content: self._holds(content, is_so),
        )
        commit = None if step is None else step.commit
        return AuditFinding(
            kind, is_certain, self.path, self.use.line, self.use.name, text, commit, proposal
        )

    def _holds(self, content: bytes | None, is_so: Callable[[Sequence[Declaration]], bool]) -> bool:
        from patchmgr.engines.languages.cxx_declarations import read_cxx

        if not self.side.is_series:
            return self.use.name.encode() in (content or b"")
        try:
            code = read_cxx(content or b"")
        except UnclearSource:
            return False
        return is_so([one for one in code.declarations if one.name == self.use.name])

    def _proposal(self, was: Declaration) -> str | None:
        """Return the one new name of the file that is declared as the lost one was."""
        before, after = self.side.old.code(self.provider), self.side.new.code(self.provider)
        if before is None or after is None:
            return None
        known = {one.name for one in before.declarations}
        shape = _shape(was)
        likely = {
            one.name for one in after.declarations if one.name not in known and _shape(one) == shape
        }
        return likely.pop() if len(likely) == 1 else None


def _start(lines: Sequence[bytes], number: int) -> int:
    """Return where the statement begins that goes on at a line."""
    first = number
    while first > max(0, number - HEAD):
        if _ends(lines[first - 1]):
            break
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
    found: dict[str, set[object]] = {}
    for one in code.declarations if code is not None else ():
        if one.name.encode("utf-8", "replace") in names:
            found.setdefault(one.name, set()).add(_facts(one))
    return found


def _facts(one: Declaration) -> tuple[object, ...]:
    shape = one.kind, one.owners, one.parameters, one.is_scoped
    return *shape, one.type, one.is_constant, one.pure


def _opened(text: bytes) -> set[bytes]:
    """Return the namespaces that a header opens, or gives a second name."""
    return {word for names in _OPENED.findall(text) for word in names.translate(_BLANKED).split()}


def _shape(one: Declaration) -> tuple[object, ...]:
    types = None if one.parameters is None else tuple(p.type for p in one.parameters)
    return one.kind, one.owners, types


def _counted(number: int) -> str:
    return f"{number} argument" if number == 1 else f"{number} arguments"


def _wanted(some: Sequence[Declaration]) -> str:
    counts = sorted({len(one.parameters or ()) for one in some})
    return " or ".join(map(str, counts))


def _otherwise(old: Declaration, new: Declaration, given: int) -> str | None:
    """Say what differs in the parameters that a call gives, None where it takes them as before."""
    if old.parameters is None or new.parameters is None:
        return None
    before, after = old.parameters[:given], new.parameters[:given]
    names = [[one.name for one in some] for some in (before, after)]
    if names[0] != names[1] and sorted(names[0]) == sorted(names[1]) and all(names[0]):
        return f"takes its arguments in another order now: {', '.join(names[1])}"
    for number, (was, now) in enumerate(zip(before, after, strict=False), 1):
        if was.type == now.type or (was.is_number and now.is_number):
            continue
        if was.type and now.type:
            return f"takes `{now.type}` as its argument {number} now (it was `{was.type}`)"
    return None
