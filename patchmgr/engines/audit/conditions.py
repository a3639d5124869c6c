"""Find lines of C, C++ and CUDA that upstream's changes moved into or out of an `#if`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from patchmgr.engines.audit.places import added_lines, versions
from patchmgr.engines.audit.states import States, Told
from patchmgr.engines.languages.file_types import CXX
from patchmgr.formats.late_patterns import late_pattern
from patchmgr.model.audit import AuditFinding

_IF = late_pattern(rb"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b[ \t]*(.*)")


def check_conditions(states: States) -> Iterator[Told]:
    """Find lines of the series that are now inside another `#if`, or no longer inside any."""
    for path in states.carriers:
        contents = versions(states, path) if path.endswith(CXX) else None
        if contents is None:
            continue
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
