"""Comments between the items of a list, which belong to the item behind them, and at its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from patchmgr.engines.structure.python_tree import Unsure


class Leads:
    """The lines before items of lists, taken from the commas before them."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[Any, ...]] = {}

    def taken(self, nodes: Sequence[Any]) -> Sequence[Any]:
        """Return the items without the comments that stand before the next item."""
        bare = []
        for number, node in enumerate(nodes):
            lines = _lines(node)
            if not any(line.comment for line in lines):
                bare.append(node)
                continue
            if number == len(nodes) - 1:
                raise Unsure
            self._note(nodes[number + 1], lines)
            bare.append(_with_lines(node, ()))
        return bare

    def put_back(self, nodes: Sequence[Any]) -> Sequence[Any]:
        """Return the items with the comments again before their items."""
        done = []
        for node, after in zip(nodes, (*nodes[1:], None), strict=True):
            lines = self._lines.get(_name(after), ()) if after is not None else ()
            done.append(_with_lines(node, lines) if lines else node)
        if nodes and _name(nodes[0]) in self._lines:
            raise Unsure
        return done

    def _note(self, node: Any, lines: tuple[Any, ...]) -> None:
        said = [
            [line.comment and line.comment.value for line in x]
            for x in (lines, self._lines.get(_name(node), lines))
        ]
        if said[0] != said[1]:
            raise Unsure
        self._lines[_name(node)] = lines


def check_end(base: Any, upstream: Any, fork: Any) -> None:
    """Refuse a comment that the closing bracket has, where another item gets before it."""
    old = _end(base)
    for mine, other in ((_end(upstream), _end(fork)), (_end(fork), _end(upstream))):
        if mine[1] != old[1] and other[0] != old[0]:
            raise Unsure


def _end(node: Any) -> tuple[str, str]:
    """Return the last item of a list and the comment behind it, empty where there is none."""
    from patchmgr.engines.structure.python_lists import bare_code

    items: Any = getattr(node, "elements", getattr(node, "names", ()))
    last = [*items][-1:] if isinstance(items, list | tuple) else []
    return "".join(map(bare_code, last)), end_remark(node)


def end_remark(node: Any) -> str:
    """Return the comment behind the last item, where the bracket has it; else nothing."""
    from patchmgr.engines.structure.python_lists import remark_of

    brackets = getattr(node, "rpar", None)
    outer = brackets[:1] if isinstance(brackets, list | tuple) else [brackets]
    inner = [getattr(node, name, None) for name in ("rbracket", "rbrace")]
    spaces = [getattr(bracket, "whitespace_before", None) for bracket in (*inner, *outer)]
    return next(filter(None, map(remark_of, spaces)), "")


def _name(node: Any) -> str:
    from patchmgr.engines.structure.python_lists import key_of

    return key_of(node)


def _lines(node: Any) -> tuple[Any, ...]:
    space = getattr(getattr(node, "comma", None), "whitespace_after", None)
    return tuple(getattr(space, "empty_lines", ()))


def _with_lines(node: Any, lines: Sequence[Any]) -> Any:
    space: Any = getattr(getattr(node, "comma", None), "whitespace_after", None)
    if not hasattr(space, "empty_lines"):
        raise Unsure
    comma = node.comma.with_changes(whitespace_after=space.with_changes(empty_lines=lines))
    return node.with_changes(comma=comma)
