"""Find names that upstream no longer has, in strings and registrations of the series.

Examples are `"package.module:Class"`, a table entry with a module and a class, and an operator that
C++ registers and Python calls. All findings are warnings, because the meaning of a string is only a
convention.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import partial

from patchmgr.engines.audit.places import AddedLine, all_added_lines
from patchmgr.engines.audit.python_modules import module_name
from patchmgr.engines.audit.states import Files, States, Told
from patchmgr.engines.languages.file_types import CXX, PYTHON
from patchmgr.model.audit import AuditFinding

_TEXT = (*PYTHON, ".toml", ".cfg", ".json", ".yaml", ".yml", ".ini")
_WORD = re.compile(rb"\w+")
_STRING = re.compile(rb"\"([\w.:/\-]{2,200})\"|'([\w.:/\-]{2,200})'")
_ENTRY = re.compile(rb"=[ \t]*([\w.]+:\w+)[ \t]*$")
_OPERATOR = re.compile(rb"\bops\.(\w+)\.(\w+)|\b_\w*C\w*\.(\w+)[ \t]*\(")
_DEFINES = re.compile(
    rb"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)",
    re.MULTILINE,
)
_IMPORT = re.compile(rb"^[ \t]*(?:from|import)\b[^(\n]*(?:\([^)]*\))?", re.MULTILINE)
_REGISTERED = re.compile(
    rb"""\.(?:def|impl)\(\s*"(?:\w+::)?(\w+)
       | \b\w*(?:custom_op|regist|REGIST|EXPORT)\w*\(\s*(?:\w+\s*=\s*)?["']?(?:\w+::)?(\w+)""",
    re.VERBOSE,
)
_IMPLEMENTED = re.compile(rb"\.impl\(\s*\"(?:\w+::)?(\w+)")
_SCHEMA = re.compile(rb"\.def\(\s*\"(?:\w+::)?(\w+)()")
_DEFINED = re.compile(
    rb"""\.def\(\s*"(?:\w+::)?(\w+) | @[\w.]*regist\w*\(\s*["']([\w.\-/]+)["']""", re.VERBOSE
)


def lost_registrations(states: States) -> Iterator[Told]:
    """Find lines of the series that mention a module or operator which upstream removed.

    Names that the series registers and upstream now registers as well are found, too.
    """
    lines = [*all_added_lines(states, (*_TEXT, *CXX))]
    if not lines or not states.changed_upstream:
        return
    yield from _lost_names(states, lines)
    yield from _lost_operators(states, lines)
    yield from _defined_twice(states, lines)


def _strings(line: AddedLine) -> list[str]:
    found = [one or other for one, other in _STRING.findall(line.text)]
    if not line.path.endswith(PYTHON):
        found += _ENTRY.findall(line.text)
    return [text.decode() for text in found]


def _lost_names(states: States, lines: Collection[AddedLine]) -> Iterator[Told]:
    """Find strings that name a module, or a name in a module, that upstream removed."""
    named = [(line, texts) for line in lines if (texts := _strings(line))]
    words = {word for _, texts in named for text in texts for word in re.split(r"[.:/]", text)}
    for path in sorted(states.changed_upstream):
        if not path.endswith(".py") or module_name(path).rpartition(".")[2] not in words:
            continue
        old, new = states.written.read(path), states.merged.read(path)
        if old is None or old == new:
            continue
        is_unsure = _other_form(states.merged, path) if new is None else _is_open(new)
        gone = set() if is_unsure else _names(old) - _names(new or b"")
        come = _defined(new or b"") - _defined(old)
        proposal = come.pop().decode() if len(come) == 1 else None
        for line, texts in named:
            for text, symbol in _names_in(texts, module_name(path)):
                is_module_gone = not symbol and new is None and not is_unsure
                if symbol.encode() not in gone and not is_module_gone:
                    continue
                lost = f"`{symbol}`, which {path} no longer has" if new is not None else path
                said = f"`{text}` names {lost}" + (", which is gone" if new is None else "")
                said += "" if proposal is None else f"; `{proposal}` is new there"
                commit = states.commit_since(path, partial(_lacks, symbol=symbol))
                place = (line.path, line.number, symbol or text)
                finding = AuditFinding("registered", False, *place, said, commit, proposal)
                yield line.patch, finding


def _lacks(content: bytes | None, symbol: str) -> bool:
    return content is None or (symbol != "" and symbol.encode() not in _names(content))


def _other_form(files: Files, path: str) -> bool:
    """Return whether a removed module is a package now, or a removed package is a module."""
    if path.endswith("/__init__.py"):
        return files.blob(path.removesuffix("/__init__.py") + ".py") is not None
    return files.exists(path.removesuffix(".py"))


def _names_in(texts: list[str], module: str) -> Iterator[tuple[str, str]]:
    """Yield (string, name) for each string of a line that refers to a module or to a name in it.

    The name is in the same string (`a.b.c` or `a.b:c`) or is the next string of the line. It is
    empty if the string names only the module.
    """
    for number, text in enumerate(texts):
        where, colon, name = text.partition(":")
        if colon and _is_of(where, module):
            yield text, name.partition(".")[0]
        elif not colon and _is_of(text, module):
            if "." in text:
                yield text, ""
            for other in texts[number + 1 : number + 2]:
                if other.isidentifier():
                    yield f"{text}.{other}", other
        elif not colon:
            where = text.rpartition(".")[0]
            while "." in where and not _is_of(where, module):
                where = where.rpartition(".")[0]
            names = text[len(where) + 1 :].split(".") if "." in where else ()
            yield from ((text, name) for name in names)


def _is_of(name: str, module: str) -> bool:
    return bool(name) and f".{module}".endswith(f".{name.lstrip('.')}")


def _defined(content: bytes) -> set[bytes]:
    """Return the names that a module and its classes define or assign."""
    return {one or other for one, other in _DEFINES.findall(content)}


def _names(content: bytes) -> set[bytes]:
    """Return the names that a module and its classes define, and all words in its imports."""
    return _defined(content).union(*map(_WORD.findall, _IMPORT.findall(content)))


def _is_open(content: bytes) -> bool:
    """Return whether a module may have names that its text does not show."""
    return b"__getattr__" in content or any(b"*" in line for line in _IMPORT.findall(content))


def _registered(
    files: Files, paths: Collection[str], pattern: re.Pattern[bytes]
) -> dict[bytes, str]:
    """Map each name that the files register to the path of a file that registers it."""
    return {
        one or other: path
        for path in paths
        for one, other in pattern.findall(files.read(path) or b"")
    }


def _lost_operators(states: States, lines: Collection[AddedLine]) -> Iterator[Told]:
    """Find operators that lines of the series call or implement and that nothing registers now."""
    called: dict[bytes, list[AddedLine]] = {}
    implemented: dict[bytes, list[AddedLine]] = {}
    for line in lines:
        if line.path.endswith(PYTHON):
            for _, operator, function in _OPERATOR.findall(line.text):
                called.setdefault(operator or function, []).append(line)
        for name in _IMPLEMENTED.findall(line.text):
            implemented.setdefault(name, []).append(line)
    yield from _unregistered(states, called, _REGISTERED, "called")
    yield from _unregistered(states, implemented, _SCHEMA, "implemented")


def _unregistered(
    states: States, named: Mapping[bytes, list[AddedLine]], pattern: re.Pattern[bytes], how: str
) -> Iterator[Told]:
    if not named:
        return
    paths = [  # only files that either side changed
        path
        for path in sorted({*states.changed_upstream, *states.carriers})
        if path.endswith((*CXX, *PYTHON))
    ]
    states.written.read_ahead(paths)
    states.merged.read_ahead(paths)
    # An unchanged file loses nothing, but it may register what another file no longer does.
    same = [path for path in paths if states.written.blob(path) == states.merged.blob(path)]
    other = sorted(set(paths).difference(same))
    old = _registered(states.written, other, pattern)
    known = named.keys() & old.keys()
    lost = known - _registered(states.merged, other, pattern).keys() if known else known
    for name in sorted(lost - _registered(states.merged, same, pattern).keys()) if lost else ():
        path, shown = old[name], name.decode()
        text = f"`{shown}` is {how} here, but {path} no longer registers it"
        commit = states.commit_since(path, partial(_registers_no, name=name, pattern=pattern))
        line = named[name][0]
        place = line.path, line.number, shown
        yield line.patch, AuditFinding("registered", False, *place, text, commit)


def _registers_no(content: bytes | None, name: bytes, pattern: re.Pattern[bytes]) -> bool:
    return all(name not in found for found in pattern.findall(content or b""))


def _defined_twice(states: States, lines: Collection[AddedLine]) -> Iterator[Told]:
    """Find names that lines of the series register and that upstream now registers as well."""
    mine: dict[bytes, AddedLine] = {}
    for line in lines:
        for one, other in _DEFINED.findall(line.text):
            mine.setdefault(one or other, line)
    if not mine:
        return
    ends = CXX if any(line.path.endswith(CXX) for line in mine.values()) else PYTHON
    paths = [path for path in sorted(states.changed_upstream) if path.endswith(ends)]
    old = _registered(states.base, paths, _DEFINED)
    new = _registered(states.onto, paths, _DEFINED)
    for name in sorted(mine.keys() & new.keys() - old.keys()):
        line, shown = mine[name], name.decode()
        text = f"`{shown}` is registered here, and now also by upstream in {new[name]}"
        yield line.patch, AuditFinding("registered", False, line.path, line.number, shown, text)
