"""What is wrong with the uses of names in some lines, by what both states understand of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from patchmgr.engines.audit.call_faults import call_faults, decorator_faults
from patchmgr.engines.audit.class_faults import (
    abstract_faults,
    attribute_override_faults,
    base_faults,
    override_faults,
)
from patchmgr.engines.audit.interfaces import Lines, named_imports
from patchmgr.engines.audit.name_faults import (
    attribute_faults,
    import_faults,
    named_faults,
    star_faults,
    text_faults,
)
from patchmgr.engines.audit.new_names import new_name, since_gone, since_signed
from patchmgr.engines.audit.places import patch_of_line, source_path, waiting_paths
from patchmgr.engines.audit.python_modules import LARGEST, Function, Parser, module_name
from patchmgr.engines.audit.python_names import ENDS, PythonState
from patchmgr.engines.audit.python_uses import Fault, Pair, PairedUse, Use, uses_of
from patchmgr.engines.audit.result_faults import (
    arity_faults,
    handler_faults,
    protocol_faults,
    result_faults,
    type_faults,
)
from patchmgr.engines.audit.states import Files, States, Told
from patchmgr.engines.structure.guards_imports import places
from patchmgr.model.audit import AuditFinding

# Breakages, as griffe names them, that no use of a name shows.
_HARMLESS = frozenset({
    "Attribute value was changed", "Attribute types are incompatible",
    "Return types are incompatible", "Parameter default was changed",
})  # fmt: skip

# What is looked at in a node that uses names, by the kinds of it.
_CHECKS: tuple[tuple[tuple[type[ast.AST], ...], Callable[[Any, PairedUse], Iterator[Fault]]], ...]
_CHECKS = (
    ((ast.ImportFrom, ast.Import), import_faults),
    ((ast.Attribute,), attribute_faults),
    ((ast.Call,), call_faults),
    ((ast.Call,), result_faults),
    ((ast.Call,), type_faults),
    ((ast.Call, ast.With, ast.For, ast.Subscript), protocol_faults),
    ((ast.Call,), named_faults),
    ((ast.Constant,), text_faults),
    ((ast.ClassDef,), base_faults),
    ((ast.ClassDef,), abstract_faults),
    (Function, override_faults),
    ((ast.ClassDef, *Function), decorator_faults),
    ((ast.Assign,), arity_faults),
    ((ast.Assign, ast.AnnAssign), attribute_override_faults),
    ((ast.Try,), handler_faults),
)


def faults_in(states: States, reach: Sequence[Lines]) -> Iterator[Told]:
    """Yield what is wrong with the uses in some lines of some files, with the patch."""
    waiting = waiting_paths(states)
    _read_ahead(states, [path for path, _, _ in reach])
    pair_of = pairs_of(states)
    for path, lines, is_ours in reach:
        pair = None if path in waiting else pair_of(path, is_ours)
        if pair is None or pair.now.module is None:
            continue
        uses = uses_of(pair.now.module.node, sorted(lines))
        faults = [fault for use in uses for fault in faults_of(use, pair)]
        told: set[tuple[str, str]] = set()
        for fault in (*faults, *star_faults(pair, lines)):
            homes = {e.module.path for e in (fault.old, fault.new) if e.module is not None}
            if (fault.text, fault.kind) not in told and homes.isdisjoint(waiting):
                told.add((fault.text, fault.kind))
                if patch := _patch_of(states, path, fault, is_ours=is_ours):
                    yield patch, _finding(states, path, fault, pair, is_ours=is_ours)


def pairs_of(states: States) -> Callable[[str, bool], Pair]:
    """Return what pairs a file of the result, by its path, with the side of the lines.

    That is the series, or else upstream.
    """
    parser = states.kept.setdefault("python", Parser())
    assert isinstance(parser, Parser)
    sides = states.merged, states.written, states.onto
    merged, written, onto = (PythonState(files, parser) for files in sides)

    def pair_of(path: str, is_ours: bool) -> Pair:
        if is_ours:
            then = written.reader(source_path(states, path))
            return Pair(merged.reader(path), then, states.changed_upstream)
        return Pair(merged.reader(path), onto.reader(path), frozenset(states.carriers))

    return pair_of


def faults_of(use: Use, pair: Pair) -> Iterator[Fault]:
    """Yield what is wrong with a use in the result, and was right on its side."""
    at = PairedUse(pair.now, pair.then, pair.changed, use)
    for kinds, check in _CHECKS:
        if isinstance(use.node, kinds):
            yield from check(use.node, at)


def _read_ahead(states: States, paths: Sequence[str]) -> None:
    """Bring at once the modules that files import, where upstream changed them."""
    wanted = {
        f"{stem}{end}"
        for path in paths
        for _, module, name in named_imports(_text(states.merged, path))
        for place in places(path, module)
        for stem in (place, f"{place}/{name}")
        for end in ENDS
    }
    for files in (states.merged, states.written):
        files.read_ahead(wanted & states.changed_upstream)


def _text(files: Files, path: str) -> str:
    return (files.read(path) or b"").decode("utf-8", "surrogateescape")


def _finding(states: States, path: str, fault: Fault, pair: Pair, *, is_ours: bool) -> AuditFinding:
    commit = proposal = None
    is_removed = fault.kind == "removed"
    if is_removed:
        proposal = new_name(states, fault.old, fault.new, fault.symbol, pair.now.state)
    if is_ours and is_removed:
        commit = since_gone(states, fault.old, fault.symbol)
    elif is_ours:
        commit = since_signed(states, fault.new)
    text = fault.text if is_ours else f"{fault.text} The series changed that."
    if proposal:
        text += f" It may be `{proposal}` now."
    where = (path, fault.line, fault.symbol)
    return AuditFinding(fault.kind, fault.is_certain, *where, text, commit, proposal)


def _patch_of(states: States, path: str, fault: Fault, *, is_ours: bool) -> str:
    """Return the patch that brought the line of a use, or took away what upstream's line uses."""
    if is_ours:
        lines = (states.merged.read(path) or b"").split(b"\n")
        return patch_of_line(states, path, lines[fault.line - 1].strip())
    home = fault.old.module.path if fault.old.module is not None else path
    node = fault.old.node
    lines = (states.onto.read(home) or b"").split(b"\n")
    line = lines[node.lineno - 1].strip() if isinstance(node, ast.stmt) else b""
    return patch_of_line(states, home, line, sign=b"-") or states.carriers.get(path, "")


def broken_names(states: States, path: str) -> frozenset[str]:
    """Return what the series removes from a module, or what it changes the signature of."""
    import griffe  # it takes longer to load than all checks that do without it

    old, new = states.base.read(path), states.written.read(path)
    if old is None or max(len(old), len(new or b"")) > LARGEST:
        return frozenset()
    try:
        before, after = (
            griffe.visit(module_name(path), Path(path), (text or b"").decode("utf-8", "replace"))
            for text in (old, new)
        )
        found = list(griffe.find_breaking_changes(before, after))
    except Exception:  # a source that the library does not expect: nothing is known of it
        return frozenset()
    names = {each.obj.name for each in found if each.kind.value not in _HARMLESS}
    if new is None:
        names.add(path.removesuffix("/__init__.py").rpartition("/")[2].partition(".")[0])
    return frozenset(names)
