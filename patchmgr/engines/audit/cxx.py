"""Find uses of C++ and CUDA names that included files no longer declare, or declare differently.

No compiler confirms the findings, so most are warnings. A finding is definite if no included file
contains the name, if a function outside of a class now takes a different number of arguments, or if
an included file no longer exists.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

from msgspec import Struct

from patchmgr.engines.audit.cxx_includes import Includes, includes_in, read_code
from patchmgr.engines.audit.places import added_lines, merged_files, waiting_paths, written_path
from patchmgr.engines.audit.states import States, Told
from patchmgr.engines.languages.cxx_declarations import (
    CxxFile,
    Declaration,
    Mention,
    arguments_of_object,
    is_number,
    uses,
)
from patchmgr.engines.languages.file_types import CXX
from patchmgr.engines.languages.words import BLANKED
from patchmgr.engines.ledger.texts import lines_of
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.differences import Block, changed_blocks
from patchmgr.formats.late_patterns import late_pattern
from patchmgr.model.audit import AuditFinding

_OPENED = re.compile(rb"\b(?:using\s+namespace|namespace\s+\w+\s*=)\s+([\w:\s]+);")
# What seldom makes another type: `c10::optional` became `std::optional`, `at::` is in `torch::`.
_ALIKE = re.compile(
    r"\w+ :: |\b(?:struct|class|enum|__restrict__|__restrict|restrict)\b|\[ \[ .*? \] \]"
)
_GENERATED = (".inc", ".def")  # suffixes of included files that a build generates

Declared = Sequence[Declaration]


class Broken(Struct, frozen=True):
    """What is wrong with a use of a name. `was` is the old declaration if the name is gone."""

    text: str
    was: Declaration | None = None
    is_certain: bool = False


Found = Broken | None


class CxxUse(Struct, frozen=True):
    """A use of a C++ name in lines that one side of a merge added."""

    was: Includes  # reads the files of that side
    now: Includes  # reads the files of the result
    path: str
    before: str  # the path on that side
    provider: str  # declares the name on that side
    use: Mention
    lines: Collection[int]
    code: CxxFile
    commit_since: Callable[[str, Callable[[bytes | None], bool]], str | None]
    is_series: bool  # the series added the lines

    def fault(self) -> AuditFinding | None:
        """Return a finding if the use no longer fits the declaration of the name, or else None."""
        place = self.use.name, self.use.line
        for mine in self.code.declarations:
            if (mine.name, mine.line) == place:
                return self._told(partial(CxxUse._of_definition, mine=mine), *self._others(mine))
        name, is_part = self.use.name, self.use.before in (".", "->")
        old = [one for _, one in self.was.declared(self.before, name)]
        if not old or (is_part and not any(one.is_member for one in old)):
            return None
        if not is_part and {one.kind for one in old} == {"field"}:
            return None  # it may be a variable of a macro
        new = [one for _, one in self.now.declared(self.path, name)]
        found = (self._told(check, old, new) for check in _CHECKS)
        return next(filter(None, found), None)

    def _told(
        self, check: Callable[[CxxUse, Declared, Declared], Found], old: Declared, new: Declared
    ) -> AuditFinding | None:
        """Run a check; return its finding with the upstream commit that caused it, or None."""
        broken = check(self, old, new)
        if broken is None:
            return None
        name, proposal = self.use.name, None if broken.was is None else self._proposal(broken.was)

        def holds(content: bytes | None) -> bool:
            if not self.is_series:
                return name.encode() in (content or b"")
            code = read_code(content or b"")
            declared = () if code is None else code.declarations
            now = [one for one in declared if one.name == name]
            return code is not None and check(self, old, now) is not None

        commit = self.commit_since(self.provider if self.is_series else self.path, holds)
        text = broken.text if proposal is None else f"{broken.text}; `{proposal}` is new there"
        kind, place = "signature" if broken.was is None else "removed", (self.path, self.use.line)
        return AuditFinding(kind, broken.is_certain, *place, name, text, commit, proposal)

    def _gone(self, old: Declared, new: Declared) -> Found:
        """Check whether the name is gone: no included file, found or generated, can have it."""
        if new or self.now.contains_name(self.path, self.use.name, {self.path: self.lines}):
            return None
        unknown = self.now.closure(self.path)[1]
        if any(name.endswith(_GENERATED) for name in unknown):
            return None
        lost = unknown - self.was.closure(self.before)[1]
        unsure = any(one.is_member or one.kind == "namespace" for one in old)
        is_there = self.use.name.encode() in self.now.words(self.provider)  # but not included
        is_pasted = b"##" in (self.now.text(self.provider) or b"")  # a macro may make the name
        is_certain = not (self.use.before in (".", "->") or lost or unsure or is_there or is_pasted)
        what = f"the {old[0].kind} `{self.use.name}` of {self.provider}"
        return Broken(f"{what} is in none of the files that this one includes", old[0], is_certain)

    def _scoped(self, old: Declared, new: Declared) -> Found:
        """Check whether an unqualified enumerator now belongs to an `enum class`."""
        is_scoped = bool(new) and all(one.is_scoped for one in new)
        if {one.kind for one in (*old, *new)} != {"enumerator"} or not is_scoped:
            return None
        if any(one.is_scoped for one in old) or (self.use.owner,) in {o.owners[-1:] for o in new}:
            return None
        if ("using", "enum") in pairwise(token.text for token in self.code.tokens):
            return None
        text = f"`{self.use.name}` must now be written `{new[0].owners[-1]}::{self.use.name}`"
        return Broken(text, old[0])

    def _call(self, old: Declared, new: Declared) -> Found:
        """Check whether the arguments of a call still fit the declaration."""
        use = self.use
        kinds = {one.kind for one in (*old, *new)}
        if not use.is_call or not new or not kinds <= {"function", "macro"}:
            return None
        if _is_mixed(old) != _is_mixed(new):
            return None
        is_member = any(one.is_member for one in (*old, *new))
        if _takes(old, use.least, use.most) and not _takes(new, use.least, use.most):
            text = f"this call of `{use.name}` has {_counted(use.least)}; it takes {_wanted(new)}"
            return Broken(text, is_certain=not is_member)
        if not _takes(new, use.least, use.most) or not _is_same_one(old, new):
            return None
        if [where for where, _ in self.now.declared(self.path, use.name)] != [self.provider]:
            return None
        change = _otherwise(old[0], new[0], use.most)
        if change is None:
            return None
        return Broken(f"`{use.name}`, which is called here, {change}")

    def _template(self, old: Declared, new: Declared) -> Found:
        """Check whether a type still takes the template arguments that it is used with."""
        given, name = self.use.template, self.use.name
        if not new or {one.kind for one in (*old, *new)} != {"type"}:
            return None
        if given is None or not _takes(old, given, given) or _takes(new, given, given):
            return None
        text = f"`{name}` has {_counted(given)} here, but its template takes {_wanted(new)}"
        return Broken(text)

    def _constructor(self, old: Declared, new: Declared) -> Found:
        """Check whether a constructor still takes as many arguments as an object is made with."""
        name, made = self.use.name, arguments_of_object(self.code, self.use)
        was, now = (
            [one for one in some if one.kind == "function" and one.owners[-1:] == (name,)]
            for some in (old, new)
        )
        if made is None or not was or not now:
            return None
        if any("initializer_list" in p.type for one in now for p in one.parameters or ()):
            return None
        if not _takes(was, made, made) or _takes(now, made, made):
            return None
        given = _counted(made)
        return Broken(f"`{name}` is constructed with {given} here, but takes {_wanted(now)}")

    def _owner(self, old: Declared, new: Declared) -> Found:
        """Check whether the name moved to another namespace."""
        use = self.use
        if not new or any(one.is_member or one.kind == "macro" for one in (*old, *new)):
            return None
        was, now = ({one.owners for one in some} for some in (old, new))
        if len(was) != 1 or len(now) != 1 or was == now or old[0].kind == "enumerator":
            return None
        (before,), (after,) = was, now
        if use.owner:
            is_lost = before[-1:] == (use.owner,) != after[-1:]
        else:
            is_lost = bool(after) and after[-1] not in {token.text for token in self.code.tokens}
        if not is_lost or (after and after[-1].encode() in _opened(self.now.text(self.provider))):
            return None
        return Broken(f"`{use.name}` is now `{'::'.join((*after, use.name))}`", old[0])

    def _others(self, mine: Declaration) -> tuple[Declared, Declared]:
        """Return the declarations of a function in other files, before and after the merge."""
        old, new = (
            [
                one
                for where, one in reach.declared(path, mine.name)
                if where not in (self.path, self.before) and one.kind == "function"
            ]
            for reach, path in ((self.was, self.before), (self.now, self.path))
        )
        return old, new

    def _of_definition(self, old: Declared, new: Declared, *, mine: Declaration) -> Found:
        """Check whether the definition of a function still fits its declarations elsewhere."""
        if mine.kind != "function" or mine.parameters is None or not mine.is_definition:
            return None
        types = [one.type for one in mine.parameters]
        had, has = (
            any([p.type for p in one.parameters or ()] == types for one in some)
            for some in (old, new)
        )
        if not had or has or not new:
            return None
        return Broken(f"`{mine.name}` is defined here, but {self.provider} declares it differently")

    def _proposal(self, was: Declaration) -> str | None:
        """Return the new name that replaces the lost one, or None if no single name fits.

        The two names must be declared in the same way.
        """
        before, after = self.was.code(self.provider), self.now.code(self.provider)
        if before is None or after is None:
            return None
        known = {one.name for one in before.declarations}
        fresh = (one for one in after.declarations if one.name not in known)
        likely = {one.name for one in fresh if _shape(one) == _shape(was)}
        return likely.pop() if len(likely) == 1 else None


_CHECKS = (
    CxxUse._gone,
    CxxUse._scoped,
    CxxUse._call,
    CxxUse._template,
    CxxUse._constructor,
    CxxUse._owner,
)


def _takes(some: Declared, least: int, most: int) -> bool:
    return any(one.takes(least, most) for one in some)


def _is_mixed(some: Declared) -> bool:
    return len({one.is_member for one in some}) == 2


def _is_same_one(old: Declared, new: Declared) -> bool:
    """Return whether a name was and is declared only once, in the same namespace or class."""
    return len(old) == 1 and len(new) == 1 and old[0].owners == new[0].owners


def _opened(text: bytes | None) -> set[bytes]:
    """Return the words in the names of all namespaces that a header imports or aliases."""
    found = _OPENED.findall(text or b"")
    return {word for names in found for word in names.translate(BLANKED).split()}


def _shape(one: Declaration) -> tuple[object, ...]:
    types = None if one.parameters is None else tuple(p.type for p in one.parameters)
    return one.kind, one.owners, types


def _counted(number: int) -> str:
    return f"{number} argument" if number == 1 else f"{number} arguments"


def _wanted(some: Declared) -> str:
    """Return how many arguments the declarations accept, as a phrase (`2 or 3 to 4`)."""
    each = (one.parameters or () for one in some)
    found = {(sum(not p.has_default for p in given), len(given)) for given in each}
    words = (f"{least}" if least == most else f"{least} to {most}" for least, most in sorted(found))
    return " or ".join(words)


def _otherwise(old: Declaration, new: Declaration, given: int) -> str | None:
    """Describe how the first `given` parameters changed, or return None if they did not."""
    if old.parameters is None or new.parameters is None or old.is_template or new.is_template:
        return None
    before, after = old.parameters[:given], new.parameters[:given]
    was, now = ([one.name for one in some] for some in (before, after))
    if was != now and sorted(was) == sorted(now) and all(was):
        return f"now takes its arguments in another order: {', '.join(now)}"
    for number, (one, other) in enumerate(zip(before, after, strict=False), 1):
        was_type, type_now = (_ALIKE.sub("", some.type).strip() for some in (one, other))
        is_alike = was_type == type_now or (is_number(was_type) and is_number(type_now))
        if one.type and other.type and not is_alike:
            return f"now takes `{other.type}` as argument {number} (it was `{one.type}`)"
    return None


HEAD = 12  # lines of a statement before, or after, a change in it, at most
_SCOPES = frozenset({b"class", b"enum", b"extern", b"namespace", b"struct", b"union"})


def cxx_faults(states: States) -> Iterator[Told]:
    """Find uses of C++ names that the included files no longer declare, or declare differently."""
    carried = [path for path in states.carriers if path.endswith(CXX)]
    changed = [path for path in sorted(states.changed_upstream) if path.endswith(CXX)]
    if waiting := waiting_paths(states) if changed else ():
        changed = [path for path in changed if path not in waiting]
    if not carried or not changed:
        return
    roots = {path.partition("/")[0] for path in (*carried, *changed) if "/" in path}
    written, onto, merged = (
        Includes(files, roots) for files in (states.written, states.onto, states.merged)
    )
    ours = {path: lines for path in carried if (lines := added_lines(states, path))}
    before = {path: written_path(states, path) for path in ours}
    yield from _Side(states, written, merged, ours, before, changed).told()
    if any(states.onto.blob(path) is not None for path in carried):
        theirs = {path: None for path in changed if states.merged.blob(path) is not None}
        yield from _Side(states, onto, merged, theirs, {}, carried, is_series=False).told()


class _Side(Struct, frozen=True):
    """The new lines of one side of a merge, and the files that the other side changed."""

    states: States
    was: Includes
    now: Includes
    # by file, the patch that added each line (None: found by comparison when needed)
    users: Mapping[str, Mapping[int, str] | None]
    before: Mapping[str, str]  # its paths on this side, where different
    providers: Sequence[str]
    is_series: bool = True

    def told(self) -> Iterator[Told]:
        """Yield a finding for each added line that uses a removed or changed declaration."""
        for path, lines in self.users.items():
            yield from self._lost_includes(path, lines or {})
        changed = self._changed()
        names = {name.encode("utf-8", "replace") for name in changed}
        for path in self.users if changed else ():
            if not names.isdisjoint(self.now.words(path)):
                yield from self._in_file(path, changed)

    def _lost_includes(self, path: str, lines: Mapping[int, str]) -> Iterator[Told]:
        texts = (lines_of(self.now.text(path)) if lines else None) or []
        for number in sorted(lines):
            for name in includes_in(texts[number - 1]):
                was = self.was.found(self.before.get(path, path), name)
                if set(was).isdisjoint(self.providers) or self.now.found(path, name):
                    continue
                moved = self.now.found(path, name.rpartition("/")[2])
                text = f"`{name}` no longer exists"
                text += f"; `{moved[0]}` has the same name" if moved else ""
                commit = self.states.commit_since(was[0], lambda content: content is None)
                proposal = moved[0] if len(moved) == 1 else None
                place = path, number, name
                found = AuditFinding("include", not moved, *place, text, commit, proposal)
                yield lines[number], found

    def _changed(self) -> dict[str, list[str]]:
        """Map each name whose declaration changed to the files that declared it."""
        providers = [path for path in self.providers if self._is_other(path)]
        said = {path: self._words(path, some) for path, some in self.users.items() if some}
        wanted = defaultdict[str, set[bytes]](set)
        for user, words in said.items():
            for path in self._reached_before(user).intersection(providers):
                wanted[path] |= words
        if self.is_series:
            providers = [path for path in providers if path in wanted]
        self.was.read_ahead(providers)
        self.now.read_ahead(providers)
        every = set[bytes]().union(*said.values())
        found = self._no_longer_reached(providers, every) if self.is_series else {}
        suspects = {path: names for path in providers if (names := self._suspects(path))}
        if suspects and not self.is_series:
            self.now.read_ahead(self.users)
            every = set[bytes]().union(*map(self.now.words, self.users))
            wanted |= dict.fromkeys(suspects, every)
        for path, names in suspects.items():
            used = names & wanted[path]
            known = _by_name(self.was.declarations(path), used) if used else {}
            now = _by_name(self.now.declarations(path), used) if known else {}
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
        """Map each name in `wanted` to the files that declare it and are no longer included."""
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
                for name in _by_name(self.was.declarations(path), wanted):
                    found.setdefault(name, []).append(path)
        return found

    def _suspects(self, path: str) -> frozenset[bytes]:
        """Return the words in a file's changed statements.

        If a namespace or a class changed, all words of the file are returned.
        """
        old, new = (split_lines(reach.text(path) or b"") for reach in (self.was, self.now))
        if self.now.text(path) is None:
            return self.was.words(path)
        blocks = changed_blocks(old, new)
        changed = (line for block in blocks for line in old[_start(old, block) : _end(old, block)])
        words = frozenset(b"".join(changed).translate(BLANKED).split())
        return words if words.isdisjoint(_SCOPES) else self.was.words(path)

    def _in_file(self, path: str, changed: Mapping[str, Sequence[str]]) -> Iterator[Told]:
        reached = self._reached_before(path)
        names = {
            name: there[0]
            for name, where in changed.items()
            if (there := [provider for provider in where if provider in reached])
        }
        lines = self._lines(path) if names else {}
        words = self._words(path, lines)
        wanted = frozenset(name for name in names if name.encode() in words)
        code = self.now.code(path) if wanted else None
        if code is None:
            return
        found = [*uses(code, wanted)]
        own = {(one.name, one.line) for one in code.declarations}
        # A name that the file itself declares is not the name that the other side changed.
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

    def _words(self, path: str, numbers: Iterable[int]) -> set[bytes]:
        lines = lines_of(self.now.text(path)) or []
        return {*b"\n".join(lines[n - 1] for n in numbers).translate(BLANKED).split()}

    def _lines(self, path: str) -> Mapping[int, str]:
        """Map the number of each new line of a file to its patch (empty for upstream's lines)."""
        lines = self.users[path]
        if lines is not None:
            return lines
        old, new = self.states.written.read(path) or b"", self.now.text(path) or b""
        blocks = changed_blocks(split_lines(old), split_lines(new))
        return {n + 1: "" for block in blocks for n in range(block.new_start, block.new_end)}


def _start(lines: Sequence[bytes], block: Block) -> int:
    """Return the index of the first line of the statement in which a changed block begins."""
    first = block.old_start
    while first > max(0, block.old_start - HEAD) and not _ends(lines[first - 1]):
        first -= 1
    return first


def _end(lines: Sequence[bytes], block: Block) -> int:
    """Return the index after the last line of the statement in which a changed block ends."""
    last = block.old_end
    most = min(len(lines), last + HEAD)
    while last < most and (last == block.old_start or not _ends(lines[last - 1])):
        last += 1
    return last


def _ends(line: bytes) -> bool:
    """Return whether a line ends a statement, judged by its last character."""
    line = line.partition(b"//")[0].strip()
    return not line or line.endswith((b";", b"{", b"}", b":")) or line[:1] == b"#"


def _by_name(
    declarations: Sequence[Declaration], names: Collection[bytes]
) -> dict[str, set[object]]:
    """Map each name in `names` to the properties of its declarations in a file, for comparison."""
    found: dict[str, set[object]] = {}
    for one in declarations:
        if one.name.encode("utf-8", "replace") in names:
            shape = one.kind, one.owners, one.parameters, one.is_scoped
            found.setdefault(one.name, set()).add(shape)
    return found


_IF = late_pattern(rb"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b[ \t]*(.*)")


def check_conditions(states: States) -> Iterator[Told]:
    """Find lines of the series that are now inside another `#if`, or no longer inside any."""
    for path, contents in merged_files(states, CXX):
        base, ours, theirs, merged = (content.split(b"\n") for content in contents)
        if any(_IF.match(line) for line in {*base} ^ {*theirs}):
            yield from _in_file(states, path, ours, merged)


def _in_file(
    states: States, path: str, ours: Sequence[bytes], merged: Sequence[bytes]
) -> Iterator[Told]:
    before, after = _conditions(ours), _conditions(merged)
    places = {line: number for number, line in enumerate(ours)}
    was, now = Counter(ours), Counter(merged)
    told: set[tuple[bytes, ...]] = set()
    for number, patch in added_lines(states, path).items():
        line = merged[number - 1]
        if was[line] != 1 or now[line] != 1 or not line.strip() or _IF.match(line):
            continue
        old, new = before[places[line]], after[number - 1]
        if old != new and new not in told:
            told.add(new)
            shown = [b", ".join(each).decode("utf-8", "replace") for each in (old, new)]
            where = f"now inside `{shown[1]}`" if new else "no longer inside an `#if`"
            text = f"this line is {where}" + (f" (it was inside `{shown[0]}`)" if old else "")
            yield patch, AuditFinding("meaning", False, path, number, None, text)


def _conditions(lines: Sequence[bytes]) -> list[tuple[bytes, ...]]:
    """Return the preprocessor conditions around each line, except a header's include guard."""
    found: list[tuple[bytes, ...]] = []
    around: list[bytes] = []
    for number, line in enumerate(lines, 1):
        directive = _IF.match(line) if b"#" in line else None
        if directive is not None:
            kind, condition = directive[1], b" ".join(directive[2].split())
            if kind not in (b"if", b"ifdef", b"ifndef"):
                before = around.pop() if around else b""
                condition = b"of " + before if kind == b"else" else condition
            if kind != b"endif":
                is_guard = (
                    kind == b"ifndef" and b"#define " + condition in lines[number : number + 1]
                )
                around.append(b"" if is_guard else b"#%b %b" % (kind, condition))
        found.append(tuple(filter(None, around)))
    return found
