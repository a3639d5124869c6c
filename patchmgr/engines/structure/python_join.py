"""Join what both sides insert at one place: members, imports, independent statements."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from patchmgr.engines.merge.tree import lines_of
from patchmgr.engines.structure.python_imports import join_imports
from patchmgr.engines.structure.python_names import acted_on, bound_names, used_names
from patchmgr.engines.structure.python_tokens import are_alike, is_part_of, likeness, tokens_of
from patchmgr.engines.structure.python_tree import Statement, Unsure

SIMILAR = 0.7
SHORT = 12  # tokens
Run = Sequence[Statement]


def join_statements(upstream: Run, fork: Run) -> tuple[str, Run]:
    """Return the rule and the joined statements."""
    texts = ["".join(s.whole for s in run) for run in (upstream, fork)]
    lines = [[x for x in lines_of(text) if x.strip()] for text in texts]
    if is_part_of((), lines[1], lines[0]):
        return "absorbed", upstream
    if is_part_of((), lines[0], lines[1]):
        return "absorbed", fork
    if all(isinstance(s.node, (ast.Import, ast.ImportFrom)) for s in (*upstream, *fork)):
        return "imports", join_imports(upstream, fork)
    if any(_is_similar(a, b) for a in upstream for b in fork):
        raise Unsure
    if all(s.key[0] == "def" for s in (*upstream, *fork)):
        return "members", [*fork, *upstream]
    if _main_of(upstream) or _main_of(fork):
        return _main_last(upstream, fork)
    return _independent(upstream, fork)


def _is_similar(one: Statement, other: Statement) -> bool:
    if one.key[0] == other.key[0] == "def":
        return one.key == other.key or likeness(tokens_of(one.text), tokens_of(other.text)) > 0.9
    if one.key[0] == other.key[0] == "assign" and not _is_long(one):
        return are_alike(one.key[1], other.key[1])
    return likeness(tokens_of(one.text), tokens_of(other.text)) > SIMILAR


def _is_long(statement: Statement) -> bool:
    return len(tokens_of(statement.text)) > SHORT


def _main_of(run: Run) -> bool:
    return any(s.text.startswith("if __name__") for s in run)


def _main_last(upstream: Run, fork: Run) -> tuple[str, Run]:
    if _main_of(upstream) and _main_of(fork):
        raise Unsure
    return "members", [*upstream, *fork] if _main_of(fork) else [*fork, *upstream]


def _independent(upstream: Run, fork: Run) -> tuple[str, Run]:
    bound = bound_names(upstream), bound_names(fork)
    used = used_names(upstream), used_names(fork)
    if bound[0] & (bound[1] | used[1]) or bound[1] & used[0]:
        raise Unsure
    mine, other = acted_on(upstream), acted_on(fork)
    if any(len(mine[name] | other[name]) > 1 for name in mine.keys() & other.keys()):
        raise Unsure  # the same method registers things, another one may depend on the order
    ends = (ast.Return, ast.Raise, ast.Continue, ast.Break)
    if any(isinstance(s.node, ends) for s in (*upstream, *fork)):
        raise Unsure
    return "independent", [*fork, *upstream]
