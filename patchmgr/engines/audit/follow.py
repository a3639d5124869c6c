"""Rewrite a patch's imports of names that upstream moved to another module."""

from __future__ import annotations

import ast
import os.path
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.audit.interfaces import ChangedModules, named_imports, new_lines
from patchmgr.engines.audit.outline import Suspects
from patchmgr.engines.audit.places import source_path, upstream_path
from patchmgr.engines.audit.states import States, decoded
from patchmgr.engines.languages.file_types import PYTHON
from patchmgr.engines.rebase.rebase import Judged
from patchmgr.engines.rebase.work import FileResult
from patchmgr.engines.structure.guards_imports import resolves
from patchmgr.engines.structure.python_tree import module_of, parse_python
from patchmgr.model.audit import AuditFinding
from patchmgr.model.outcome import How, PatchOutcome, Verdict
from patchmgr.model.ports import Blobs
from patchmgr.model.snapshot import Entry

if TYPE_CHECKING:
    from patchmgr.engines.audit.python_names import Entity
    from patchmgr.engines.audit.python_uses import Pair

_WIDTH = 88


class Move(Struct, frozen=True):
    """An imported name that upstream moved to another module, and the commit that moved it."""

    module: str
    name: str
    to: str
    commit: str | None
    start: str = ""  # the file that the import itself moved from, if so

    def sentence(self) -> str:
        """Return a sentence that tells the user where the name is now imported from, and why."""
        now = f"`{self.name}` is now imported from `{self.to}`"
        if self.start:
            why = f"this relative import moved here from {self.start}"
            return f"{now} instead of `{self.module}`, because {why}."
        return f"{now}; upstream moved it from `{self.module}`."


Files = Mapping[str, Entry | None]


def follow_moved_names(
    judged: Sequence[Judged],
    changes: Files,
    states: States,
    blobs: Blobs,
    moves: Mapping[str, Sequence[Move]],
) -> tuple[tuple[Judged, ...], Files]:
    """Rewrite the series' imports of names that moved, and report each as a finding.

    `moves` maps each path of the result to the moves that concern its imports.
    """
    if not moves:
        return tuple(judged), changes
    found = dict(changes)
    patches = list(judged)
    for path, wanted in moves.items():
        lines = states.onto.read(upstream_path(states, path))
        for number, one in enumerate(patches):
            entry = (one.outcome.changes or {}).get(path) if one.outcome.is_carried else None
            if entry is None:
                continue
            text = rewritten(blobs.read(entry.blob), lines, wanted)
            if text is not None:
                there = Entry(entry.mode, blobs.add(text))
                patches[number] = _with(one, path, entry, there, wanted)
        last = found.get(path)
        text = None if last is None else rewritten(blobs.read(last.blob), lines, wanted)
        if last is not None and text is not None:
            found[path] = Entry(last.mode, blobs.add(text))
    return tuple(patches), found


def moves_in(states: States) -> dict[str, tuple[Move, ...]]:
    """Map each path of the result to the moved names that the series imports in that file.

    A name has moved if upstream moved its definition to exactly one other module, or if upstream's
    own files now import it from exactly one other module.
    """
    changed = ChangedModules(path for path in states.changed_upstream if path.endswith(PYTHON))
    found: dict[str, tuple[Move, ...]] = {}
    for path in states.carriers if changed.places else ():
        if not path.endswith(PYTHON):
            continue
        text = states.merged.text(path)
        imports = [(module, name) for _, module, name in changed.imports(path, text)]
        if source_path(states, path) != path:
            imports += [(m, n) for _, m, n in named_imports(text) if m.startswith(".")]
        if all(resolves(path, module, name, states.merged) for module, name in imports):
            continue
        lines = new_lines(text, states.onto.read(upstream_path(states, path)))
        moves = dict.fromkeys(_moves_in(states, path, Suspects(lines)))
        if moves:
            found[path] = tuple(moves)
    return found


def _moves_in(states: States, path: str, lines: Suspects) -> Iterator[Move]:
    # These modules are loaded late, because most rebases do not need them.
    from patchmgr.engines.audit import new_names, python_uses, use_faults

    pair = use_faults.pairs_of(states)(path, True)
    if pair.now.module is None:
        return
    for use in python_uses.uses_of(pair.now.module, lines):
        node = use.node
        if not isinstance(node, ast.ImportFrom):
            continue
        module = module_of(node)
        if node.level and pair.now.path != pair.then.path:
            yield from _left_behind(node, module, pair)
            continue
        for fault in use_faults.faults_of(use, pair):
            name = fault.symbol.rpartition(".")[2]
            if fault.kind == "removed" and (to := _new_home(states, fault.old, module, name, pair)):
                yield Move(module, name, to, new_names.since_gone(states, fault.old, fault.symbol))


def _left_behind(node: ast.ImportFrom, module: str, pair: Pair) -> Iterator[Move]:
    """Yield a move for each relative import that resolves only from a file's old path."""
    start, state = pair.then.path, pair.now.state
    place = state.place(start, module)
    for alias in node.names:
        name = "" if alias.name == "*" else alias.name
        is_here, is_there = (
            state.imported(path, module, name).what not in ("absent", "gone")
            for path in (pair.now.path, start)
        )
        if is_there and not is_here:
            yield Move(module, alias.name, _relative(pair.now.path, place), None, start)


def _relative(path: str, place: str) -> str:
    """Return the relative module name by which the file at `path` imports the module at `place`."""
    module = place.removesuffix(".py").removesuffix(".pyi").removesuffix("/__init__")
    parts = os.path.relpath(f"/{module}", f"/{os.path.dirname(path)}").split("/")
    above = parts.count("..")
    return "." * (above + 1) + ".".join(part for part in parts[above:] if part != ".")


def _new_home(states: States, old: Entity, module: str, name: str, pair: Pair) -> str | None:
    """Return the only module that provides a name now, or None if there is none or several."""
    from patchmgr.engines.audit.new_names import module_of, moved_to, reexported_from, root_of

    root = root_of(_file_of(old), module)

    def named(place: str) -> str:
        if module.startswith("."):
            return _relative(pair.now.path, place)
        return module_of(place if place.endswith(".py") else f"{place}/__init__.py", root)

    home = reexported_from(old, name, pair.now.state)
    votes = {named(home)} if home else set[str]()
    for written, place in () if home else _new_imports(states, module, name, pair):
        votes.add(named(place) if "." in (written[:1], module[:1]) else written)
    if not votes and (home := moved_to(states, old, name, pair.now.state)):
        # A folder such as `third_party` beside a package may be installed inside it, under another
        # name. So only a module of the package that had the definition can surely be imported.
        was, now = (module_of(path, root).split(".") for path in (_file_of(old), home))
        votes = {named(home)} if was[0] == now[0] else set()
    to = votes.pop() if len(votes) == 1 else ""
    found = pair.now.state.imported(pair.now.path, to, name).what
    return to if to and found not in ("gone", "absent", "unknown") else None


def _file_of(found: Entity) -> str:
    return "" if found.module is None else found.module.path


def _new_imports(states: States, module: str, name: str, pair: Pair) -> Iterator[tuple[str, str]]:
    """Yield (module as written, its path) for upstream's new imports of a name from `module`."""
    then, now = pair.then.state, pair.now.state
    gone = then.place(pair.then.path, module)
    word = name.encode()
    for path in sorted(states.changed_upstream):
        if not path.endswith(PYTHON):
            continue
        old, new = states.base.read(path), states.onto.read(path)
        if old is None or new is None or word not in old or word not in new:
            continue
        before = named_imports(decoded(old))
        if not any(n == name and then.place(path, m) == gone for _, m, n in before):
            continue
        for _, m, n in named_imports(decoded(new)):
            place = now.place(path, m) if n == name else ""
            if place and place != gone:
                yield m, place


def rewritten(content: bytes, upstream: bytes | None, moves: Sequence[Move]) -> bytes | None:
    """Rewrite the moved imports in lines that upstream lacks; return None if no line has one."""
    text = content.decode("utf-8", "surrogateescape")
    tree = parse_python(text)
    if tree is None or "\r" in text:
        return None
    own = new_lines(text, upstream)
    lines = text.split("\n")
    to = {(move.module, move.name): move.to for move in moves}
    found = False
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    for node in sorted(nodes, key=lambda n: n.lineno, reverse=True):
        end = node.end_lineno or node.lineno
        is_own = not own.isdisjoint(range(node.lineno, end + 1))
        new = _statement(node, lines[node.lineno - 1 : end], to) if is_own else None
        if new is not None:
            lines[node.lineno - 1 : end] = new
            found = True
    return "\n".join(lines).encode("utf-8", "surrogateescape") if found else None


def _statement(
    node: ast.ImportFrom, lines: Sequence[str], to: Mapping[tuple[str, str], str]
) -> list[str] | None:
    """Return the lines that replace an import of moved names, or None to leave it alone."""
    module = module_of(node)
    gone = [a for a in node.names if (module, a.name) in to]
    kept = [a for a in node.names if a not in gone]
    indent = lines[0][: node.col_offset]
    if not gone or indent.strip() or ";" in lines[-1]:
        return None
    homes = {to[module, alias.name] for alias in gone}
    if not kept and len(homes) == 1:
        head = re.sub(r"from\s+[.\w]+\s+import", f"from {homes.pop()} import", lines[0], count=1)
        return [head, *lines[1:]]
    if any("#" in line for line in lines):
        return None
    new: list[str] = []
    if kept:
        words = {_said(alias) for alias in gone}
        rest = [line for line in lines if line.strip().rstrip(",") not in words]
        is_listed = len(lines) - len(rest) == len(gone) and len(rest) > 2
        new += rest if is_listed else _import(indent, module, kept)
    for home in sorted(homes):
        new += _import(indent, home, [a for a in gone if to[module, a.name] == home])
    return new


def _said(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _import(indent: str, module: str, names: Sequence[ast.alias]) -> list[str]:
    said = [_said(alias) for alias in names]
    line = f"{indent}from {module} import {', '.join(said)}"
    if len(line) <= _WIDTH:
        return [line]
    return [
        f"{indent}from {module} import (", *(f"{indent}    {name}," for name in said), f"{indent})"
    ]  # fmt: skip


def _with(one: Judged, path: str, old: Entry, new: Entry, moves: Sequence[Move]) -> Judged:
    """Return the patch with a new version of a file, and report the moves followed in it."""
    outcome = replace(
        one.outcome, changes={**(one.outcome.changes or {}), path: new}, reuses_diff=False
    )
    results = tuple(
        replace(r, changes={**r.changes, path: new}) if r.changes.get(path) == old else r
        for r in one.files
    )
    for move in moves:
        outcome = _told(outcome, one.files, path, move)
    return replace(one, outcome=outcome, files=results)


def _told(
    outcome: PatchOutcome, files: Sequence[FileResult], path: str, move: Move
) -> PatchOutcome:
    """Mark as moved the hunks that add the import, and add the move to the patch's findings."""
    said = re.escape(move.name).encode()
    word = re.compile(said if move.name == "*" else rb"\b%b\b" % said)
    bringing = {
        (change.path, number)
        for change in (result.step.change for result in files if path in result.changes)
        for number, hunk in enumerate(change.hunks)
        if any(_brings(line, word) for line in hunk.lines)
    }
    if not bringing:
        return outcome
    numbers = [number for result in files for number in range(len(result.answers))]
    hunks = [
        replace(hunk, verdict=Verdict.MODIFIED, how=How.MOVED)
        if (hunk.path, number) in bringing and hunk.verdict in (Verdict.UNCHANGED, Verdict.MODIFIED)
        else hunk
        for hunk, number in zip_longest(outcome.hunks, numbers[: len(outcome.hunks)])
    ]
    verdict = Verdict.MODIFIED if outcome.verdict is Verdict.UNCHANGED else outcome.verdict
    about = move.name, move.sentence(), move.commit, move.to
    finding = AuditFinding("followed", False, path, 0, *about)
    return replace(
        outcome,
        hunks=tuple(hunks),
        verdict=verdict,
        findings=(*outcome.findings, finding),
        warnings=(*outcome.warnings, finding.sentence()),
    )


def _brings(line: bytes, word: re.Pattern[bytes]) -> bool:
    """Return whether a line of a hunk adds an import of the name `word`, or a part of one."""
    text = line[1:].strip()
    is_import = b"import" in text or text[-1:] in (b",", b")")
    return line[:1] == b"+" and is_import and word.search(text) is not None
