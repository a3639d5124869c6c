"""Rewrite one `from` import with other names, on its libcst tree."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from patchmgr.engines.structure.python_leads import Leads, end_remark
from patchmgr.engines.structure.python_lists import bare_code, with_commas
from patchmgr.engines.structure.python_nodes import Frame
from patchmgr.engines.structure.python_tree import Statement, Unsure

if TYPE_CHECKING:
    import libcst as cst

LONGEST = 88  # columns, where a line of names gets longer than it was


def aliases_of(statement: Statement) -> Sequence[ast.alias]:
    """Return the imported names of an import."""
    assert isinstance(statement.node, (ast.Import, ast.ImportFrom))
    return statement.node.names


def with_only(statement: Statement, names: Collection[tuple[str, str]]) -> Statement:
    """Return the import with only these names, each with the name that it gets here."""
    module, node, old = _parsed(statement)
    leads = Leads()
    bare = leads.taken(old)
    kept = [a for a in bare if (a.evaluated_name, a.evaluated_alias or a.evaluated_name) in names]
    return _rewritten(statement, module, node, leads.put_back(with_commas(kept, bare, bare)))


def with_names_of(old: Statement, new: Statement) -> Statement:
    """Return the import with the names of another one, sorted where both were."""
    module, node, before = _parsed(old)
    more = _parsed(new)[2]
    leads = Leads()
    one, two = leads.taken(before), leads.taken(more)
    names = [*one, *two]
    for order in _ORDERS:
        if all(list(side) == sorted(side, key=order) for side in (one, two)):
            names.sort(key=order)
            break
    return _rewritten(old, module, node, leads.put_back(with_commas(names, one, two)))


def is_sorted(statement: Statement) -> bool:
    """Say whether the names of a `from` import are in some order."""
    names = list(_parsed(statement)[2])
    return any(names == sorted(names, key=order) for order in _ORDERS)


def _parsed(
    statement: Statement,
) -> tuple[cst.Module, cst.ImportFrom, Sequence[cst.ImportAlias]]:
    import libcst

    module = Frame("", "").module(statement.text.lstrip())
    line = module.body[0]
    node = line.body[0] if isinstance(line, libcst.SimpleStatementLine) else None
    if not isinstance(node, libcst.ImportFrom) or isinstance(node.names, libcst.ImportStar):
        raise Unsure
    return module, node, node.names


def _rewritten(
    statement: Statement,
    module: cst.Module,
    node: cst.ImportFrom,
    names: Sequence[cst.ImportAlias],
) -> Statement:
    import libcst

    assert not isinstance(node.names, libcst.ImportStar)
    if end_remark(node) and bare_code(node.names[-1]) != bare_code(names[-1]):
        raise Unsure
    changed = module.deep_replace(node, node.with_changes(names=names))
    assert isinstance(changed, libcst.Module)
    indent = statement.text[: len(statement.text) - len(statement.text.lstrip())]
    text = indent + changed.code
    if text.count("\n") == 1 and len(text) > max(LONGEST, len(statement.text)):
        text = _in_lines(text, indent) or text
    try:
        tree = ast.parse(text.lstrip()).body[0]
    except SyntaxError as error:  # the last name has a comma, and there are no brackets
        raise Unsure from error
    return replace(statement, text=text, node=tree)


def _in_lines(text: str, indent: str) -> str | None:
    """Return the import with a line for each name, None where it has brackets or a comment."""
    head, _, names = text.rstrip("\r\n").partition(" import ")
    if any(sign in names for sign in "(#\\"):
        return None
    end = text[len(text.rstrip("\r\n")) :]
    lines = [f"{indent}    {name.strip()},{end}" for name in names.split(",")]
    return f"{head} import ({end}{''.join(lines)}{indent}){end}"


def _order(alias: cst.ImportAlias) -> tuple[int, str, str]:
    """Order constants before classes before the rest, as isort does."""
    name = alias.evaluated_name
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name.lower(), name


def _plain_order(alias: cst.ImportAlias) -> tuple[int, str, str]:
    return 0, alias.evaluated_name, alias.evaluated_alias or ""


def _loose_order(alias: cst.ImportAlias) -> tuple[int, str, str]:
    return 0, alias.evaluated_name.lower(), alias.evaluated_name


_ORDERS = (_order, _plain_order, _loose_order)
