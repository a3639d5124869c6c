"""Insert the commas and white space that the parts of a merged syntax node need."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from patchmgr.engines.merge.tree import Node

Nodes = Sequence[Node]


def spaced(parts: list[Node], base: Node, ours: Node, theirs: Node) -> list[Node]:
    """Return the parts of a merged syntax node, with commas and white space between them."""
    if base.kind == "list":
        is_long = [any("\n" in p.lead for p in node.parts) for node in (base, ours, theirs)]
        is_theirs = is_long[2] != is_long[0] == is_long[1] or not ours.parts
        return separated(parts, (theirs if is_theirs else ours).parts)
    firsts = {id(node.parts[0]): node for node in (base, ours, theirs) if node.parts}
    for n in range(1, len(parts)):
        side = firsts.get(id(parts[n]))
        if side is not None and not parts[n].lead:  # its white space is that of the statement
            parts[n] = replace(parts[n], lead=side.lead[len(side.lead.rstrip()) :])
        if base.kind == "code" and _runs_together(parts[n - 1].text, parts[n].whole):
            parts[n] = replace(parts[n], lead=" ")
    return parts


def _runs_together(before: str, after: str) -> bool:
    return before[-1:].isidentifier() and (after[:1].isalnum() or after[:1] == "_")


def separated(parts: Nodes, host: Nodes) -> list[Node]:
    """Return the items of a merged list, with commas and white space as in the list `host`."""
    if not host:
        return list(parts)
    done: list[Node] = []
    for n, part in enumerate(parts):
        is_last = n == len(parts) - 1
        has_comma = "," in part.tail
        if not is_last and not has_comma:
            part = replace(part, tail="," + part.tail)
        elif is_last and has_comma and "," not in host[-1].tail and not part.tail.strip(", "):
            part = replace(part, tail="")
        elif is_last and not has_comma and "," in host[-1].tail:
            part = replace(part, tail="," + part.tail)
        done.append(part if part.lead.strip() else replace(part, lead=_lead_in(host, part, n)))
    return done


def _lead_in(host: Nodes, part: Node, at: int) -> str:
    """Return the white space to put before an item, in the style of the list `host`."""
    if at == 0:
        return host[0].lead
    leads = {p.lead for p in host[1:] or host if not p.lead.strip()}
    if len(leads) == 1 and (len(host) > 1 or leads != {""}):
        return leads.pop()
    is_own = any(p.whole == part.whole for p in host)
    return part.lead if is_own else part.lead or " "
