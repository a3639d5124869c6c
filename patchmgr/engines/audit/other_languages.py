"""Find names that one side of a merge removed and the other side newly uses.

Code in languages other than Python and C++ is only split into words, so all findings are warnings.
A word that one side removed from several lines of a file counts as a name even in YAML, INI files
and templates.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct

from patchmgr.engines.audit.interfaces import new_lines
from patchmgr.engines.audit.places import added_lines, base_path, upstream_path, written_path
from patchmgr.engines.audit.states import Files, States, Told
from patchmgr.engines.languages.file_types import CXX, language
from patchmgr.engines.ledger.texts import lines_of
from patchmgr.formats.late_patterns import late_pattern
from patchmgr.model.audit import AuditFinding

_NOT_CODE = frozenset({
    "CSS", "HTML", "INI", "Jinja", "JSON", "Jupyter", "Markdown", "Patch", "Python",
    "reStructuredText", "SQL", "Text", "TOML", "XML", "YAML", "other",
})  # fmt: skip
_WORD = late_pattern(rb"[^\W\d]\w{2,}")
_DEFINED = late_pattern(
    rb"""^[ \t]*(?:[a-z]+(?:\([^)\n]*\))?[ \t]+)*?
    (?:class|enum|fn|func|function|interface|macro|macro_rules!|message|mod|module|option
    |proc|protocol|rpc|service|struct|sub|trait|type|union)\b
    [ \t(]*(?:\([^)\n]*\)[ \t]*)?(\w{3,})([^\n]*)
    |^(?:export[ \t]+)?(?:pub[ \t]+)?(?:const|let|static|val|var)[ \t]+(?:mut[ \t]+)?(\w{3,})
    |^(?:export[ \t]+)?(\w{3,})[ \t]*(?:[?:]?=(?!=)|\(\)[ \t]*\{)""",
    re.MULTILINE | re.VERBOSE,
)
_LOCAL = late_pattern(
    rb"""^[ \t]+(?:[}(]?[ \t]*(?:if|for|else|switch|while)\b[ \t(]*)*
    (?:(?:const|let|local|my|val|var)[ \t]+(?:mut[ \t]+)?)?
    (\w+(?:,[ \t]*\w+)*)[ \t]*(?::[^=\n]+)?:?=(?!=)""",
    re.MULTILINE | re.VERBOSE,
)
_PARAMETER = late_pattern(rb"[(,][ \t]*(?:mut[ \t]+)?(\w{3,})(?=[ \t:])")
_TEXT = late_pattern(rb"\"[^\"$\n]*\"|'[^'$\n]*'")
_REMARK = late_pattern(rb"[ \t]*(?://|\#(?!\[)|/?\*|--)")
_ASIDE = late_pattern(rb"//[^\n]*|(?<!\S)\#[^\n]*")
_ALSO_WITHIN = frozenset({"INI", "Jinja", "YAML"})
_FEWEST = 2  # lines that show that a word is a name
_MOST_BESIDE = 200  # files in the folders that are searched for a name, at most


def check_other_languages(states: States) -> Iterator[Told]:
    """Warn of uses of names that the other side of the merge removed everywhere."""
    ours = [path for path in states.carriers if _is_code(path)]
    languages = {language(path) for path in ours}
    theirs = [path for path in sorted(states.changed_upstream) if language(path) in languages]
    within = [
        path
        for path in states.carriers
        if path in states.changed_upstream and language(path) in _ALSO_WITHIN
    ]
    if not theirs and not within:
        return
    side = _Side(states, states.onto, _homes(states, states.onto, theirs, ours))
    for path in (*ours, *within):
        added = added_lines(states, path)
        for line, name, home in side.lost(path, added):
            text = f"`{name}` is used here, but upstream no longer has it in {home}."
            commit = states.commit_since(home, partial(_lacks, name.encode()))
            yield added[line], AuditFinding("removed", False, path, line, name, text, commit)
    side = _Side(states, states.written, _homes(states, states.written, ours, theirs))
    for path in (*theirs, *within):
        text, own = states.merged.text(path), states.written.read(written_path(states, path))
        for line, name, home in side.lost(path, new_lines(text, own)):
            said = f"`{name}` is used here, but the series removes it from {home}."
            patch = states.carriers.get(home) or states.carriers.get(path, "")
            yield patch, AuditFinding("removed", False, path, line, name, said)


def _is_code(path: str) -> bool:
    return language(path) not in _NOT_CODE and not path.endswith(CXX)


class _Side(Struct, frozen=True):
    """The files of one side of the merge, and the names that it removed."""

    states: States
    changed: Files
    homes: Mapping[bytes, str]  # the file that defined each removed name

    def lost(self, path: str, lines: Collection[int]) -> Iterator[tuple[int, str, str]]:
        """Yield (line, name, old file) for each use of a removed name in the given lines."""
        merged = self.states.merged.read(path) or b""
        texts = lines_of(merged) or []
        used: dict[bytes, int] = {}
        for number in sorted(lines, reverse=True):
            used |= dict.fromkeys(_words(code_of(texts[number - 1])), number)
        base = self.states.base.read(base_path(self.states, path)) or b""
        is_ours = self.changed is self.states.written
        place = (written_path if is_ours else upstream_path)(self.states, path)
        now = self.changed.read(place) or b""
        lost = b"\n".join({*(lines_of(base) or ())} - {*(lines_of(now) or ())})
        gone = {name for name in used.keys() & _words(lost) if not has_word(name, now)}
        wanted = gone | (used.keys() & self.homes.keys())
        if not wanted:
            return
        others = b"\n".join(text for n, text in enumerate(texts, 1) if n not in lines)
        wanted = wanted - _words(others) - _defined(merged) - _locals(merged)
        gone &= _locals(base) | _repeated(base)
        for name in sorted(wanted & (gone | self.homes.keys())):
            home = place if name in gone else self.homes[name]
            if name in gone or not self._is_beside(name, (path, home)):
                yield used[name], name.decode("utf-8", "replace"), home

    def _is_beside(self, name: bytes, paths: Sequence[str]) -> bool:
        """Return whether a name occurs, or may occur, in another file in the folders of `paths`."""
        files = self.states.merged
        beside = [
            each
            for folder in {path.rpartition("/")[0] for path in paths}
            for each in files.tree.files_below(folder)
            if each.rpartition("/")[0] == folder and each not in paths and _is_code(each)
        ]
        if len(beside) > _MOST_BESIDE:
            return True
        files.read_ahead(beside)
        return any(name in _words(files.read(each)) for each in beside)


def _homes(
    states: States, changed: Files, paths: Sequence[str], users: Sequence[str]
) -> Mapping[bytes, str]:
    """Map each name that a side removed from its files to the file that defined the name.

    Names that `users`, the files of the other side, define themselves are left out.
    """
    for files in (states.base, changed):
        files.read_ahead(paths)
    found = {name: path for path in paths for name in _defined(states.base.read(path))}
    for path in paths:
        for name in _words(changed.read(path)) & found.keys():
            del found[name]
    for path in users if found else ():
        for name in _defined(states.merged.read(path)) & found.keys():
            del found[name]
    return found


def _words(content: bytes | None) -> set[bytes]:
    return set(_WORD.findall(content or b""))


def code_of(line: bytes) -> bytes:
    """Return a line without its strings and comments."""
    return b"" if _REMARK.match(line) else _ASIDE.sub(b"", _TEXT.sub(b"''", line))


def _repeated(content: bytes | None) -> set[bytes]:
    """Return the words in at least two lines of a file, outside of strings and comments."""
    lines = (set(_WORD.findall(code_of(line))) for line in lines_of(content) or ())
    counted = Counter(word for words in lines for word in words)
    return {word for word, count in counted.items() if count >= _FEWEST}


def _defined(content: bytes | None) -> set[bytes]:
    """Return the names of the functions, types and top-level variables that a file defines."""
    every = _DEFINED.findall(content or b"")
    return {name for one, _, two, three in every for name in (one, two, three) if name}


def _locals(content: bytes | None) -> set[bytes]:
    found = {name for names in _LOCAL.findall(content or b"") for name in _WORD.findall(names)}
    heads = (head for _, head, _, _ in _DEFINED.findall(content or b""))
    return found.union(*map(_PARAMETER.findall, heads))


def has_word(name: bytes, content: bytes) -> bool:
    """Return whether a name occurs in a file's content as a whole word."""
    return name in content and re.search(rb"(?<!\w)%b(?!\w)" % name, content) is not None


def _lacks(name: bytes, content: bytes | None) -> bool:
    return name not in _words(content)
