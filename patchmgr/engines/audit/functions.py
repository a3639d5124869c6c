"""Find lines that no longer fit the function around them, in C, C++, CUDA, Go and Rust.

Such a line may use a variable that is gone or has another value, or it may now be inside another
`#if`. The texts are only split into words, so all findings are warnings.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from patchmgr.engines.audit.other_languages import has_word
from patchmgr.engines.audit.places import added_lines, patch_of_line, versions
from patchmgr.engines.audit.states import States, Told
from patchmgr.engines.languages.file_types import CXX, CXX_LANGUAGES, language
from patchmgr.formats.late_patterns import late_pattern
from patchmgr.model.audit import AuditFinding

_READ = frozenset({*CXX_LANGUAGES, "Go", "Rust"})
_NOT_CODE = late_pattern(rb"\"(?:\\.|[^\"\\\n])*\"|/\*(?:[^*]|\*(?!/))*\*/|//[^\n]*")
_VARIABLE = late_pattern(rb"(?<![\w.])(?<!->)(?<!::)[^\W\d]\w*(?![\w]|[ \t]*\()")
_NAME = late_pattern(rb"[^\W\d][\w:~]*")
_NO_TYPE = rb"(?!(?:return|case|goto|else|throw|new|delete|in|not|sizeof)\b)"
_BINDS = (
    rb"(?:(?<!\w)%b[^\W\d]\w*[>\])]?[ \t]+[*&]*|[\w>][*&]+[ \t]*|[>\]][ \t]+)%%b[ \t]*"
    rb"(?:=(?!=)|[;,)\[{]|:(?!:))|(?<!\w)%%b(?:[ \t]*,[ \t]*\w+)*[ \t]*:="
    rb"|[(,][ \t]*%%b[ \t]+[\w*\[]" % _NO_TYPE
)
_SETS = late_pattern(rb"(?<![\w.>])([^\W\d]\w*)[ \t]*(?::=|=(?!=))")
_ASSIGNS = rb"(?<![\w.>])%b[ \t]*(?::=|=(?!=))[ \t]*([^;\n]*)"
_IF = late_pattern(rb"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b[ \t]*(.*)")
_LONGEST = 60  # most characters shown of a value


class _Version:
    """A version of a file: its lines, and its functions without comments and strings.

    A function begins at any line that is not indented, so a method in the body of a class belongs
    to the class. This takes a tenth of the time that finding symbols takes.
    """

    def __init__(self, content: bytes) -> None:
        self.raw = content.split(b"\n")
        self.known = frozenset(self.raw)
        self._content = content

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines without comments and strings."""
        return _NOT_CODE.sub(_blank, self._content).split(b"\n")

    @cached_property
    def heads(self) -> list[bytes]:
        """The name of the function or type around each line."""
        found, name = [], b""
        for line in self.lines:
            if line[:1].strip(b" \t{}#)*&|") and not line.endswith(b":"):
                name = next(reversed(_NAME.findall(line.partition(b"(")[0])), name)
            found.append(name)
        return found

    @cached_property
    def functions(self) -> dict[bytes, bytes]:
        parts = defaultdict[bytes, list[bytes]](list)
        for name, line in zip(self.heads, self.lines, strict=True):
            parts[name].append(line)
        return {name: b"\n".join(some) for name, some in parts.items()}

    @cached_property
    def outside(self) -> bytes:
        """The lines that are not indented, which may define names that all functions use."""
        return b"\n".join(line for line in self.lines if line[:1] not in b" \t")


def _blank(found: re.Match[bytes]) -> bytes:
    return b'""' if found[0][:1] == b'"' else b"\n" * found[0].count(b"\n")


def check_functions(states: States) -> Iterator[Told]:
    """Find new lines whose variables, or whose `#if`, the other side of the merge changed."""
    for path in states.carriers:
        if language(path) not in _READ:
            continue
        contents = versions(states, path)
        if contents is None:
            continue
        base, ours, theirs, merged = map(_Version, contents)
        if path.endswith(CXX) and any(_IF.match(line) for line in base.known ^ theirs.known):
            yield from _moved_conditions(states, path, ours, merged)
        for one, other in ((theirs, ours), (ours, theirs)):
            who = "upstream" if one is theirs else "the series"
            for line, kind, name, text in _variables(base, one, other, merged, who):
                patch = patch_of_line(states, path, line)
                yield patch, AuditFinding(kind, False, path, line, name, text)


def _variables(
    base: _Version, side: _Version, other: _Version, merged: _Version, who: str
) -> Iterator[tuple[int, str, str, str]]:
    """Yield (line, kind, name, sentence) for new lines of `other` that use what `side` changed.

    A value that the series changes is changed on purpose, and so is not reported.
    """
    removed, added = (b"\n".join(a.known - b.known) for a, b in ((base, side), (side, base)))
    changed = set(_VARIABLE.findall(removed))
    again = set(_SETS.findall(removed)).intersection(_SETS.findall(added))
    told: set[tuple[bytes, bytes]] = set()
    for number, raw in enumerate(merged.raw, 1):
        if raw in side.known or raw in base.known or changed.isdisjoint(_VARIABLE.findall(raw)):
            continue
        line, head = merged.lines[number - 1], merged.heads[number - 1]
        was, now, mine = (each.functions.get(head, b"") for each in (base, side, other))
        names = changed.intersection(_VARIABLE.findall(line)) if was and now and mine else ()
        for name in sorted(name for name in names if (head, name) not in told):
            shown = name.decode("utf-8", "replace")
            if not (has_word(name, now) or has_word(name, side.outside)):
                if _is_bound_by(name, was) and not _is_bound_by(name, line):
                    told.add((head, name))
                    text = f"`{shown}` is used here, but {who} no longer has it in"
                    yield number, "removed", shown, f"{text} `{head.decode()}`."
            elif who == "upstream" and name in again and _computes(line, name):
                old, value, own = (_values(text, name) for text in (was, now, mine))
                if len(old) == len(value) == 1 and value != old == own:
                    told.add((head, name))
                    text = f"`{shown}`, which this line reads, is now `{value[0]}`"
                    yield number, "meaning", shown, f"{text} (it was `{old[0]}`)"


def _is_bound_by(name: bytes, text: bytes) -> bool:
    return re.search(_BINDS.replace(b"%b", name), text) is not None


def _values(text: bytes, name: bytes) -> list[str]:
    """Return the values that a function assigns to a variable."""
    found = (b" ".join(value.split()) for value in re.findall(_ASSIGNS % name, text))
    return [value.decode("utf-8", "replace")[:_LONGEST] for value in found]


def _computes(line: bytes, name: bytes) -> bool:
    """Return whether a line uses a name as an operand or an index, and not only passes it on."""
    sign = rb"[-+*/%%<>=&|\[!^]"
    return re.search(rb"%b[ \t]*\b%b\b|\b%b[ \t]*%b" % (sign, name, name, sign), line) is not None


def _moved_conditions(
    states: States, path: str, ours: _Version, merged: _Version
) -> Iterator[Told]:
    """Find lines of the series that are now inside another `#if`, or no longer inside any."""
    before, after = _conditions(ours.raw), _conditions(merged.raw)
    places = {line: number for number, line in enumerate(ours.raw)}
    was, now = Counter(ours.raw), Counter(merged.raw)
    told: set[tuple[bytes, ...]] = set()
    for number, patch in added_lines(states, path).items():
        line = merged.raw[number - 1]
        if was[line] != 1 or now[line] != 1 or not line.strip() or _IF.match(line):
            continue
        old, new = before[places[line]], after[number - 1]
        if old != new and new not in told:
            told.add(new)
            shown = [b", ".join(each).decode("utf-8", "replace") for each in (old, new)]
            text = (
                f"this line is now inside `{shown[1]}`"
                if new
                else "this line is no longer inside an `#if`"
            )
            text += f" (it was inside `{shown[0]}`)" if old else ""
            yield patch, AuditFinding("meaning", False, path, number, None, text)


def _conditions(lines: Sequence[bytes]) -> list[tuple[bytes, ...]]:
    """Return the preprocessor conditions around each line, without the guard of a header."""
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
