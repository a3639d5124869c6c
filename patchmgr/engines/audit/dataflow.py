"""Find the definitions of variables that can reach each statement of a Python function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, reduce

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.structure.python_tree import (
    Function,
    bound_by,
    keyword_parameters,
    parameters,
    targets_of,
    walk,
)

MOST_STEPS = 20_000  # statements analyzed in a function, at most; those in loops count repeatedly
_KEPT = 4096  # nodes whose names are cached, because the body of a loop is analyzed twice

Reaching = Mapping[str, frozenset[int]]
"""Maps a name to the indices of the definitions that may have set its value."""

_Env = dict[str, frozenset[int]]
_NONE: frozenset[int] = frozenset()


class TooLong(Exception):
    """Raised when the analysis of a function takes too many steps."""


class Definition(Struct, frozen=True):
    """A definition of a variable: its text, its line, and the definitions that it depends on."""

    text: str
    line: int
    reads: Reaching
    is_parameter: bool = False


class Site(Struct, frozen=True):
    """A statement (without its body, if it has one), and the variables that it reads."""

    text: str
    first: int
    last: int
    reads: Reaching
    guards: tuple[str, ...]  # conditions and loops around it, outermost first
    computed: frozenset[str] = frozenset()  # names that enter an operation or condition
    guard_reads: tuple[Reaching, ...] = ()  # the definitions that each guard reads


class Flow(Struct, frozen=True):
    """The statements of a function in order, and the definitions of all its variables."""

    sites: tuple[Site, ...]
    definitions: tuple[Definition, ...]
    exits: tuple[Site, ...]  # each `if` whose body leaves the function or iteration
    names: frozenset[str]  # all names in the function


def flow_of(function: Function) -> Flow:
    """Return the statements of a function, and which definitions of variables reach each statement.

    Raises TooLong if the analysis takes more than MOST_STEPS steps.
    """
    reader = _Reader()
    reader.function(function, {})
    names = {
        str(value)
        for node in walk(function)
        for value in (getattr(node, key, None) for key in ("id", "attr", "arg"))
        if value is not None
    }
    sites, exits = tuple(reader.sites.values()), tuple(reader.exits.values())
    return Flow(sites, tuple(reader.definitions), exits, frozenset(names))


class _Reader:
    def __init__(self) -> None:
        self.definitions: list[Definition] = []
        self.sites: dict[int, Site] = {}
        self.exits: dict[int, Site] = {}
        self._numbers: dict[tuple[int, str], int] = {}
        self._steps = 0
        self._loops: list[list[_Env]] = []  # what is defined at each `break` or `continue`
        self._guards: tuple[str, ...] = ()
        self._guard_reads: tuple[Reaching, ...] = ()

    def function(self, node: Function, outer: _Env) -> None:
        """Record the statements and definitions of a function and its inner functions.

        `outer` has the definitions of an enclosing function that reach this one.
        """
        env = dict(outer)
        arguments = node.args
        for argument, default in (*parameters(arguments), *keyword_parameters(arguments)):
            text = "parameter" if default is None else f"parameter = {_source(default)}"
            self._define(env, argument.arg, argument, text, {})
        for rest in (arguments.vararg, arguments.kwarg):
            if rest is not None:
                self._define(env, rest.arg, rest, "parameters", {})
        loops, self._loops = self._loops, []
        self._block(node.body, env)
        self._loops = loops

    def _define(
        self, env: _Env, name: str, node: ast.AST, text: str, reads: Reaching, *,
        is_part: bool = False,
    ) -> None:  # fmt: skip
        number = self._numbers.setdefault((id(node), name), len(self.definitions))
        definition = Definition(text, getattr(node, "lineno", 0), reads, isinstance(node, ast.arg))
        self.definitions[number : number + 1] = [definition]
        env[name] = (env.get(name, _NONE) if is_part else _NONE) | {number}

    def _block(self, nodes: Sequence[ast.stmt], env: _Env | None) -> _Env | None:
        for node in nodes:
            if env is None:
                break
            self._steps += 1
            if self._steps > MOST_STEPS:
                raise TooLong
            env = self._statement(node, env)
        return env

    def _statement(self, node: ast.stmt, env: _Env) -> _Env | None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._define(env, node.name, node, "def", {})
                self.function(node, env)
            case ast.ClassDef():
                self._block(node.body, dict(env))
                self._define(env, node.name, node, "class", {})
            case ast.If():
                return self._if(node, env)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(node, env)
            case ast.Try():
                return self._try(node, env)
            case ast.With() | ast.AsyncWith():
                heads = [item.context_expr for item in node.items]
                reads = self._site(node, heads, env, end=heads[-1])
                for target in targets_of(node):
                    self._assign(env, target, f"with {' '.join(map(_source, heads))}", reads)
                return self._block(node.body, env)
            case ast.Match():
                return self._match(node, env)
            case ast.Return() | ast.Raise():
                self._site(node, [node], env)
                return None
            case ast.Break() | ast.Continue():
                if self._loops:
                    self._loops[-1].append(env)
                return None
            case ast.Assign():
                reads = self._site(node, [node], env)
                text = _source(node.value)
                values = _reads(node.value)
                for target in node.targets:
                    used = {name: reads[name] for name in reads if name in values}
                    self._assign(env, target, text, used)
            case ast.AnnAssign() if node.value is not None:
                reads = self._site(node, [node.target, node.value], env)
                self._assign(env, node.target, _source(node.value), reads)
            case ast.AugAssign():
                reads = self._site(node, [node], env, also=dotted(node.target))
                self._assign(env, node.target, _source(node), reads)
            case _:
                self._site(node, [node], env)
        return env

    def _assign(self, env: _Env, target: ast.expr, text: str, reads: Reaching) -> None:
        """Define the names in an assignment target, those in a tuple with their position."""
        if isinstance(target, (ast.Tuple, ast.List)):
            for place, part in enumerate(target.elts):
                self._assign(env, part, f"{text} [{place}]", reads)
            return
        if isinstance(target, ast.Starred):
            self._assign(env, target.value, text, reads)
            return
        if name := dotted(target):
            self._define(env, name, target, text, reads)
            return
        root = target
        while isinstance(root, (ast.Subscript, ast.Attribute)):
            root = root.value
            if name := dotted(root):
                text = f"{_source(target)} = {text}"
                self._define(env, name, target, text, reads, is_part=True)
                return

    def _site(
        self,
        node: ast.stmt,
        parts: Sequence[ast.AST],
        env: _Env,
        *,
        end: ast.AST | None = None,
        also: str = "",
        text: str = "",
    ) -> dict[str, frozenset[int]]:
        names = {name for part in parts for name in _reads(part)} | ({also} if also else set())
        reads = {name: env[name] for name in sorted(names) if name in env}
        last = getattr(end if end is not None else node, "end_lineno", None) or node.lineno
        shown = text or " ".join(_source(part) for part in parts)
        computed = {name for part in parts for name in _computed(part)}
        if isinstance(node, (ast.If, ast.While)):
            computed |= names
        used = frozenset(computed & reads.keys())
        around = self._guards, used, self._guard_reads
        self.sites[id(node)] = Site(shown, node.lineno, last, reads, *around)
        for part in parts:
            for inner in walk(part):
                if isinstance(inner, ast.NamedExpr):
                    self._define(env, inner.target.id, inner, _source(inner.value), reads)
        return reads

    def _guarded(
        self, guard: str, nodes: Sequence[ast.stmt], env: _Env, reads: Reaching | None = None
    ) -> _Env | None:
        around = self._guards, self._guard_reads
        self._guards = (*self._guards, guard)
        self._guard_reads = (*self._guard_reads, reads or {})
        after = self._block(nodes, env)
        self._guards, self._guard_reads = around
        return after

    def _if(self, node: ast.If, env: _Env) -> _Env | None:
        test = _source(node.test)
        reads = self._site(node, [node.test], env, end=node.test, text=f"if {test}")
        then = self._guarded(test, node.body, dict(env), reads)
        other: _Env | None = env
        if node.orelse:
            other = self._guarded(f"not ({test})", node.orelse, dict(env), reads)
        if then is None:
            last = node.end_lineno or node.lineno
            self.exits[id(node)] = replace(self.sites[id(node)], last=last)
        return _join(then, other)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, env: _Env) -> _Env | None:
        head = node.test if isinstance(node, ast.While) else node.iter
        guard = _source(head)
        self._loops.append([])
        before: _Env | None = env
        for _ in range(2):  # definitions at the end of the body reach its beginning
            at = dict(before or env)
            if isinstance(node, ast.While):
                self._site(node, [head], at, end=head, text=f"while {guard}")
            else:
                targets = _source(node.target)
                text = f"for {targets} in {guard}"
                reads = self._site(node, [head], at, end=head, text=text)
                self._assign(at, node.target, f"each of {guard}", reads)
            after = self._guarded(guard, node.body, dict(at))
            before = _join(before, after)
            for leaving in self._loops[-1]:
                before = _join(before, leaving)
        self._loops.pop()
        return self._block(node.orelse, before)

    def _try(self, node: ast.Try, env: _Env) -> _Env | None:
        body = self._block(node.body, dict(env))
        inside = _join(dict(env), body)
        ends = [self._block(node.orelse, body)]
        for handler in node.handlers:
            start = dict(inside or env)
            if handler.name:
                kind = "" if handler.type is None else _source(handler.type)
                self._define(start, handler.name, handler, f"except {kind}", {})
            ends.append(self._guarded("except", handler.body, start))
        after = reduce(_join, ends)
        final = self._block(node.finalbody, dict(after or inside or env))
        return None if after is None and node.handlers else final

    def _match(self, node: ast.Match, env: _Env) -> _Env | None:
        subject = _source(node.subject)
        reads = self._site(node, [node.subject], env, end=node.subject, text=f"match {subject}")
        after: _Env | None = env
        for case in node.cases:
            at = dict(env)
            pattern = _source(case.pattern)
            for inner in walk(case.pattern):
                for name in bound_by(inner):
                    self._define(at, name, inner, f"case {pattern} of {subject}", reads)
            after = _join(after, self._guarded(f"case {pattern}", case.body, at))
        return after


def _join(one: _Env | None, other: _Env | None) -> _Env | None:
    if one is None or other is None:
        return one if other is None else other
    return {name: one.get(name, _NONE) | other.get(name, _NONE) for name in {**one, **other}}


def dotted(node: ast.AST) -> str:
    """Return a name or a dotted name (`self.size`), or "" for any other expression."""
    if isinstance(node, ast.Attribute):
        outer = dotted(node.value)
        return f"{outer}.{node.attr}" if outer else ""
    return node.id if isinstance(node, ast.Name) else ""


@lru_cache(_KEPT)
def _source(node: ast.AST) -> str:
    return ast.unparse(node)


@lru_cache(_KEPT)
def _reads(part: ast.AST) -> frozenset[str]:
    """Return the names that an expression or a statement reads, including dotted names."""
    found: set[str] = set()
    bound: set[str] = set()
    for node in walk(part):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            found.add(dotted(node))
        elif isinstance(node, ast.comprehension):
            bound.update(n.id for n in walk(node.target) if isinstance(n, ast.Name))
        elif isinstance(node, ast.Lambda):
            bound.update(n.arg for n in walk(node.args) if isinstance(n, ast.arg))
    return frozenset(name for name in found - {""} if name.partition(".")[0] not in bound)


@lru_cache(_KEPT)
def _computed(part: ast.AST) -> frozenset[str]:
    """Return the names that are conditions, indices, or operands of operations or comparisons."""
    return frozenset(filter(None, map(dotted, _operands(part))))


def _operands(part: ast.AST) -> Iterator[ast.expr]:
    for node in walk(part):
        match node:
            case ast.BinOp():
                yield from (node.left, node.right)
            case ast.Compare():
                yield from (node.left, *node.comparators)
            case ast.BoolOp():
                yield from node.values
            case ast.UnaryOp():
                yield node.operand
            case ast.Subscript():
                yield node.slice
            case ast.Call(func=ast.Name(id="abs" | "len" | "max" | "min" | "range" | "sum")):
                yield from node.args
            case ast.IfExp():
                yield node.test
            case ast.AugAssign():
                yield from (node.target, node.value)
