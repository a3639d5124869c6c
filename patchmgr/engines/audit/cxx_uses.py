"""What is wrong with a use of a name in C++: it is gone, or is declared otherwise now."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise

from msgspec import Struct

from patchmgr.engines.audit.cxx_includes import Reach, read_code
from patchmgr.engines.languages.cxx_declarations import (
    CxxFile,
    Declaration,
    Use,
    arguments_of_object,
    is_number,
)
from patchmgr.engines.languages.words import BLANKED
from patchmgr.model.audit import AuditFinding

_OPENED = re.compile(rb"\b(?:using\s+namespace|namespace\s+\w+\s*=)\s+([\w:\s]+);")
_GENERATED = (".inc", ".def")  # of includes that a build makes

Declared = Sequence[Declaration]
Found = AuditFinding | None


class CxxUse(Struct, frozen=True):
    """A use of a name in one of the new `lines` of a file, and the file that declared the name.

    `was` and `now` are the files that the new lines were written for, and those of the result;
    `before` is where the file was. `is_series` says that upstream changed the declaration.
    """

    was: Reach
    now: Reach
    path: str
    before: str
    provider: str
    use: Use
    lines: Collection[int]
    code: CxxFile
    commit_since: Callable[[str, Callable[[bytes | None], bool]], str | None]
    is_series: bool

    def fault(self) -> Found:
        """Return what is wrong with the use, if anything is."""
        place = self.use.name, self.use.line
        for mine in self.code.declarations:
            if (mine.name, mine.line) == place:
                return self._of_definition(mine)
        name, is_part = self.use.name, self.use.before in (".", "->")
        old = [one for _, one in self.was.declared(self.before, name)]
        if not old or (is_part and not any(one.is_member for one in old)):
            return None
        new = [one for _, one in self.now.declared(self.path, name)]
        if not new and not self.now.tells_name(self.path, name, {self.path: self.lines}):
            return self._gone(old)
        for check in _CHECKS:
            if (found := check(self, old, new)) is not None:
                return found
        return None

    def _gone(self, old: Declared) -> Found:
        """Look at a name that no file in reach has any more."""
        unknown = self.now.closure(self.path)[1]
        if any(name.endswith(_GENERATED) for name in unknown):
            return None
        lost = unknown - self.was.closure(self.before)[1]
        unsure = any(one.is_member or one.kind == "namespace" for one in old)
        is_there = self.use.name.encode() in self.now.words(self.provider)  # only not included
        is_certain = not (self.use.before in (".", "->") or lost or unsure or is_there)
        what = f"the {old[0].kind} `{self.use.name}` of {self.provider}"
        text = f"{what} is in nothing that this file includes"
        return self._removed(text, old[0], lambda now: not now, is_certain=is_certain)

    def _enumerator(self, old: Declared, new: Declared) -> Found:
        """Look at `Kind::A` where `Kind` is there and has no `A` any more."""
        owner = self.use.owner

        def within(some: Declared) -> list[Declaration]:
            return [one for one in some if owner and one.owners[-1:] == (owner,)]

        if within(new) or "enumerator" not in {one.kind for one in within(old)}:
            return None
        if [one.kind for _, one in self.now.declared(self.path, owner)] != ["type"]:
            return None
        text = f"`{owner}` has no `{self.use.name}` any more"
        return self._removed(text, within(old)[0], lambda now: not within(now), is_certain=True)

    def _scoped(self, old: Declared, new: Declared) -> Found:
        """Look at `A` alone where its enumeration became an `enum class`."""
        is_scoped = bool(new) and all(one.is_scoped for one in new)
        if {one.kind for one in (*old, *new)} != {"enumerator"} or not is_scoped:
            return None
        if any(one.is_scoped for one in old) or (self.use.owner,) in {o.owners[-1:] for o in new}:
            return None
        if ("using", "enum") in pairwise(token.text for token in self.code.tokens):
            return None
        text = f"`{self.use.name}` is only known as `{new[0].owners[-1]}::{self.use.name}` now"
        return self._removed(text, old[0], lambda now: any(one.is_scoped for one in now))

    def _call(self, old: Declared, new: Declared) -> Found:
        """Look at a call that fitted a declaration, and fits none now."""
        use = self.use
        kinds = {one.kind for one in (*old, *new)}
        if not use.is_call or not new or not kinds <= {"function", "macro"}:
            return None
        if _is_mixed(old) != _is_mixed(new):
            return None
        is_member = any(one.is_member for one in (*old, *new))
        if _takes(old, use.least, use.most) and not _takes(new, use.least, use.most):
            text = f"this call of `{use.name}` has {_counted(use.least)}; it takes {_wanted(new)}"
            return self._changed(
                text, lambda now: not _takes(now, use.least, use.most), is_certain=not is_member
            )
        if not _takes(new, use.least, use.most) or not _is_same_one(old, new):
            return None
        if [where for where, _ in self.now.declared(self.path, use.name)] != [self.provider]:
            return None
        change = _otherwise(old[0], new[0], use.most)
        if change is None:
            return None
        text = f"`{use.name}`, which is called here, {change}"
        return self._changed(text, lambda now: [o.parameters for o in now] == [new[0].parameters])

    def _template(self, old: Declared, new: Declared) -> Found:
        """Look at the arguments of a type's template, where they were enough or not too many."""
        given, name = self.use.template, self.use.name
        if not new or {one.kind for one in (*old, *new)} != {"type"}:
            return None
        was, now = ({one.parameters is None for one in some} for some in (old, new))
        if {True} in (was, now) and was != now and len(was | now) == 2:
            if (given is None) != (now == {False}) or not self._is_named():
                return None
            text = f"`{name}` is {'a template' if given is None else 'no template'} now"
            return self._changed(text, lambda now: {one.type for one in now} != {""})
        if given is None or not _takes(old, given, given) or _takes(new, given, given):
            return None
        text = f"`{name}` has {_counted(given)} here; its template takes {_wanted(new)}"
        return self._changed(text, lambda now: not _takes(now, given, given))

    def _is_named(self) -> bool:
        """Say whether the type's name stands for the type, and nothing is derived from a call."""
        after = "".join(t.text for t in self.code.tokens[self.use.at + 1 : self.use.at + 2])
        return after not in ("(", "{", "::") and self.use.before not in ("class", "struct", "using")

    def _constructor(self, old: Declared, new: Declared) -> Found:
        """Look at an object that is made with arguments that no constructor takes now."""
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
        text = f"`{name}` is made with {_counted(made)} here; it takes {_wanted(now)}"
        return self._changed(text, lambda some: not _takes(some, made, made))

    def _abstract(self, old: Declared, new: Declared) -> Found:
        """Look at a type that lacks what its base has to be given now."""
        was, now = ({pure for one in some for pure in one.pure} for some in (old, new))
        for mine in self.code.declarations if now - was else ():
            if self.use.name not in mine.bases or mine.line not in self.lines:
                continue
            own = {one.name for one in self.code.declarations if one.owners[-1:] == (mine.name,)}
            if lacks := min(now - was - own, default=""):
                text = f"`{mine.name}` has no `{lacks}`, which `{self.use.name}` asks for now"
                return self._changed(text, lambda some: any(lacks in one.pure for one in some))
        return None

    def _owner(self, old: Declared, new: Declared) -> Found:
        """Look at what went to another namespace, or into a class, or out of one."""
        use, is_part = self.use, self.use.before in (".", "->")
        if new and {one.kind for one in (*old, *new)} == {"function"} and use.is_call:
            members = [{one.is_member for one in some} for some in (old, new)]
            if members == [{is_part}, {not is_part}] and not use.owner:
                owner = "::".join((*new[0].owners, use.name))
                text = f"`{use.name}` is `{owner}` now, and {'no' if is_part else 'a'} member"
                return self._removed(text, old[0], lambda o: {x.is_member for x in o} != {is_part})
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
        text = f"`{use.name}` is `{'::'.join((*after, use.name))}` now"
        return self._removed(text, old[0], lambda some: {one.owners for one in some} == now)

    def _type(self, old: Declared, new: Declared) -> Found:
        """Look at a variable of another type, at a value that is another one, or no constant."""
        was, now, name = old[0], new[0] if new else old[0], self.use.name
        if not _is_same_one(old, new) or was.kind != now.kind:
            return None
        is_made = self.use.is_call and self.use.before not in (";", "{", "}", ")", "else")
        if was.kind != "variable" and not (was.kind == "function" and is_made):
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
        return self._changed(text, lambda some: [one.type for one in some] == [now.type])

    def _of_definition(self, mine: Declaration) -> Found:
        """Look at a definition whose declaration is of another signature now."""
        is_looked_at = mine.is_definition or mine.is_override
        if mine.kind != "function" or mine.parameters is None or not is_looked_at:
            return None
        types = [one.type for one in mine.parameters]

        def same(some: Declared) -> bool:
            return any([p.type for p in one.parameters or ()] == types for one in some)

        old, new = (
            [
                one
                for where, one in reach.declared(path, mine.name)
                if where not in (self.path, self.before) and one.kind == "function"
            ]
            for reach, path in ((self.was, self.before), (self.now, self.path))
        )
        if not same(old):
            return None
        if mine.is_override and not any(one.is_member for one in new):
            text = f"`{mine.name}` overrides what {self.provider} no longer has"
            return self._removed(text, old[0], lambda now: not same(now))
        if same(new) or not new:
            return None
        text = f"`{mine.name}` is defined here, and {self.provider} declares it otherwise"
        return self._changed(text, lambda now: bool(now) and not same(now))

    def _removed(
        self, text: str, was: Declaration, is_so: Callable[[Declared], bool], *,
        is_certain: bool = False,
    ) -> AuditFinding:  # fmt: skip
        """Return that a name is gone, with the one new name that is declared as it was."""
        proposal = self._proposal(was)
        text += "" if proposal is None else f"; `{proposal}` is new there"
        return self._finding("removed", text, is_so, is_certain, proposal)

    def _changed(
        self, text: str, is_so: Callable[[Declared], bool], *, is_certain: bool = False
    ) -> AuditFinding:
        return self._finding("signature", text, is_so, is_certain)

    def _finding(
        self, kind: str, text: str, is_so: Callable[[Declared], bool], is_certain: bool,
        proposal: str | None = None,
    ) -> AuditFinding:  # fmt: skip
        """Return the finding, with the upstream step since which it is so."""

        def holds(content: bytes | None) -> bool:
            if not self.is_series:
                return self.use.name.encode() in (content or b"")
            code = read_code(content or b"")
            return code is not None and is_so(
                [one for one in code.declarations if one.name == self.use.name]
            )

        commit = self.commit_since(self.provider if self.is_series else self.path, holds)
        place = self.path, self.use.line, self.use.name
        return AuditFinding(kind, is_certain, *place, text, commit, proposal)

    def _proposal(self, was: Declaration) -> str | None:
        """Return the one new name of the file that is declared as the lost one was."""
        before, after = self.was.code(self.provider), self.now.code(self.provider)
        if before is None or after is None:
            return None
        known = {one.name for one in before.declarations}
        fresh = (one for one in after.declarations if one.name not in known)
        likely = {one.name for one in fresh if _shape(one) == _shape(was)}
        return likely.pop() if len(likely) == 1 else None


_CHECKS = (
    CxxUse._enumerator, CxxUse._scoped, CxxUse._call, CxxUse._template, CxxUse._constructor,
    CxxUse._abstract, CxxUse._owner, CxxUse._type,
)  # fmt: skip


def _takes(some: Declared, least: int, most: int) -> bool:
    return any(one.takes(least, most) for one in some)


def _is_mixed(some: Declared) -> bool:
    return len({one.is_member for one in some}) == 2


def _is_same_one(old: Declared, new: Declared) -> bool:
    """Say whether a name was declared once, and is so now, in the same namespaces and types."""
    return len(old) == 1 and len(new) == 1 and old[0].owners == new[0].owners


def _opened(text: bytes | None) -> set[bytes]:
    """Return the namespaces that a header opens, or gives a second name."""
    found = _OPENED.findall(text or b"")
    return {word for names in found for word in names.translate(BLANKED).split()}


def _shape(one: Declaration) -> tuple[object, ...]:
    types = None if one.parameters is None else tuple(p.type for p in one.parameters)
    return one.kind, one.owners, types


def _counted(number: int) -> str:
    return f"{number} argument" if number == 1 else f"{number} arguments"


def _wanted(some: Declared) -> str:
    return " or ".join(map(str, sorted({len(one.parameters or ()) for one in some})))


def _otherwise(old: Declaration, new: Declaration, given: int) -> str | None:
    """Say what differs in the parameters that a call gives, None where it takes them as before."""
    if old.parameters is None or new.parameters is None:
        return None
    before, after = old.parameters[:given], new.parameters[:given]
    was, now = ([one.name for one in some] for some in (before, after))
    if was != now and sorted(was) == sorted(now) and all(was):
        return f"takes its arguments in another order now: {', '.join(now)}"
    for number, (one, other) in enumerate(zip(before, after, strict=False), 1):
        is_alike = one.type == other.type or (is_number(one.type) and is_number(other.type))
        if one.type and other.type and not is_alike:
            return f"takes `{other.type}` as its argument {number} now (it was `{one.type}`)"
    return None
