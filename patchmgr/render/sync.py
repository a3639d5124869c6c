"""The result of `sync` as text, as the body of a pull request, as annotations and as a badge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from patchmgr.model.sync import PullCheck, PushStatus, Sync, SyncPreview
from patchmgr.model.upstream import Pin, UpstreamState
from patchmgr.model.work_order import WorkOrder
from patchmgr.render.escape import clean, counted
from patchmgr.render.inspecting import compared_text
from patchmgr.render.machine import fields, keys, series_document
from patchmgr.render.markdown_text import LIMIT, Page, code, fenced, fitting, text
from patchmgr.render.notes import note_markdown
from patchmgr.render.plans import plan_markdown, plan_text
from patchmgr.render.rebase import ledger_line, short_ref
from patchmgr.render.report_terminal import report_line
from patchmgr.render.view import View
from patchmgr.render.work_order import order_markdown, order_value

_SENTENCE = 100  # characters reserved for the sentence that says how much is left out
_PLAIN = View()
_AGAIN = (
    "Each run of `patchmgr sync` overwrites this branch, unless somebody else has pushed to it."
    " To continue from here, check out the branch and run `patchmgr rebase --onto REF`."
)


def sync_state(proposal: SyncPreview) -> str:
    """Return the result of a sync in one word: current, carried or conflicts."""
    plan = proposal.plan
    return "conflicts" if plan.has_conflicts else "carried" if plan.steps else "current"


def sync_title(proposal: SyncPreview) -> str:
    """Return the title of a sync's pull request: the series, and the state that it reached."""
    return f"{', '.join(map(clean, proposal.plan.series))}: {_words(proposal)}"


def _words(proposal: SyncPreview) -> str:
    onto, steps = _state(proposal.plan.onto), proposal.plan.steps
    if not proposal.plan.has_conflicts:
        return f"sync to {onto}" if steps else f"nothing to sync; already on {onto}"
    waiting = f"{counted(len(proposal.orders), 'conflict')} before {onto}"
    clean_steps = [step for step in steps if step.breaking is None]
    return f"sync to {_state(clean_steps[-1].onto)}, {waiting}" if clean_steps else waiting


def _state(state: UpstreamState) -> str:
    named = "" if state.ref == state.commit else f"{short_ref(state.ref)} "
    return f"{named}{state.commit[:12]}"


def sync_text(found: Sync, view: View) -> Iterator[str]:
    """Yield what a sync did, where the result was pushed, and what a person has to resolve."""
    yield sync_title(found.proposal)
    yield from list(plan_text(found.proposal.plan, view))[1:-1]
    yield from (f"  conflict {one.id}  {clean(_where(one))}" for one in found.proposal.orders)
    would = view.verb("would be ", "")
    words = {
        PushStatus.PUSHED: f"{would}pushed",
        PushStatus.SAME: "up to date",
        PushStatus.HELD: "not pushed, because others have pushed to it",
    }
    yield from (f"  {clean(one.name)}  {words[one.standing]}" for one in found.branches)
    pull = found.pull_request
    if pull is not None:
        number = "" if pull.number is None else f" {pull.number}"
        yield clean(f"  pull request{number}  {would}{pull.done}  {pull.url or pull.reason}")
    yield from (f"  {clean(check_words(check))}" for check in found.checks)


def _where(order: WorkOrder) -> str:
    return f"{order.series}/{order.patch}: {_what(order)}"


def _what(order: WorkOrder) -> str:
    return f"{order.new_path}: {order.reason}" if order.new_path else order.reason


def sync_markdown(
    proposal: SyncPreview, warnings: Sequence[str] = (), *, limit: int = LIMIT
) -> str:
    """Return the description of a sync's pull request, in at most `limit` characters."""
    plan, orders = proposal.plan, list(map(_order, proposal.orders))
    page = Page(limit)
    page.add(*(f"> **Warning**: {' '.join(map(text, one.split(' ')))}" for one in warnings))
    page.add(*([_AGAIN, _sums(proposal)] if plan.steps else [text(sync_title(proposal))]))
    plans = [plan_markdown(plan, has_commands=False)] if plan.steps else []
    page.blocks(plans, what="plans", share=0.3)
    notes = [note_markdown(one.note, limit=limit // 4) for one in proposal.carried]
    page.blocks(notes, what="notes", share=0.5)
    page.add("## What a person must resolve" * bool(orders))
    page.blocks(orders, what="work orders")
    return page.whole()


def _sums(proposal: SyncPreview) -> str:
    """Return the ledger of each rebase, and the footprint of each series before and after."""
    lines = [
        f"- {text(one.name)} to {text(short_ref(one.onto.ref))}: {ledger_line(one.ledger)}"
        for step in proposal.outcomes
        for one in step
        if one.ledger is not None
    ]
    for one in proposal.carried:
        before, after = (report_line(each, color=False).strip() for each in (one.before, one.after))
        lines += [f"- footprint before: {text(before)}", f"- footprint after: {text(after)}"]
    return "\n".join(lines)


def _order(order: WorkOrder) -> str:
    body = order_markdown(order).rstrip()
    told = f"- {code(order.id)} {text(_where(order))}"
    return f"{told}\n\n<details>\n<summary>work order</summary>\n\n{body}\n\n</details>"


def comment_markdown(proposal: SyncPreview, *, limit: int = LIMIT) -> str:
    """Return a comment that says which patches changed, and how, or "" if none changed."""
    lines = list[str]()
    for one in proposal.carried:
        if any(patch.is_other for patch in one.compared.patches):
            lines += compared_text(one.compared, _PLAIN, shows_lines=True)
    kept, rest = fitting(lines, limit - _SENTENCE, "lines")
    return f"{fenced(chr(10).join([*kept, *rest]))}\n" if lines else ""


def comment_mark(comment: str) -> str:
    """Return a hidden HTML mark that identifies the comment, or "" if there is no comment."""
    if not comment:
        return ""
    return f"<!-- patchmgr comment {hashlib.sha256(comment.encode()).hexdigest()[:16]} -->"


def check_markdown(check: PullCheck, series: str, pin: Pin) -> str:
    """Return a comment on a pull request that was opened before the pin moved."""
    state = text(_state(UpstreamState(pin.ref, pin.commit)))
    lines = [f"The base branch now has {code(series)} on {state}: {check_words(check)}.", ""]
    lines += [
        f"- {one.verdict.value} {code(one.name)}: {text(one.reason or '')}" for one in check.left
    ]
    command = code(f"patchmgr rebase {series} --onto {pin.commit[:12]}")
    merge = "merge the base with `git merge -X ours`, and run `patchmgr check`"
    return "\n".join([*lines, "", f"To update the pull request: {command}, commit, {merge}.", ""])


def check_words(check: PullCheck) -> str:
    """Return a phrase that says whether a pull request rebases cleanly onto the pin."""
    left = f"does not rebase cleanly: {counted(len(check.left), 'patch')} to resolve"
    words = (
        f"was not checked: {check.fault}"
        if check.fault
        else left
        if check.left
        else "rebases cleanly"
    )
    return f"pull request {check.number} ({check.head[:12]}) {words}"


def annotations_text(found: Sync) -> Iterator[str]:
    """Yield one line for each warning and conflict, in the form of a compiler's warnings."""
    # `.github/problem-matcher.json` turns these lines into annotations
    yield from (clean(f"patchmgr: warning: {warning}") for warning in found.warnings)
    for order in found.proposal.orders:
        place = f"series/{order.series}/{order.patch}:1"
        yield clean(f"{place}: warning: conflict {order.id}: {_what(order)}")


_COLORS = {"current": "brightgreen", "carried": "blue", "conflicts": "orange"}


def badge(proposal: SyncPreview, date: str) -> tuple[str, bytes]:
    """Return the state of a series after a sync, as a phrase and as JSON for a shields.io badge."""
    words = _words(proposal)
    value = {
        "schemaVersion": 1, "label": f"patchmgr {proposal.plan.series[0]}",
        "message": f"{words}, {date}", "color": _COLORS[sync_state(proposal)],
    }  # fmt: skip
    return words, json.dumps(value, sort_keys=True).encode() + b"\n"


def sync_value(found: Sync) -> dict[str, Any]:
    """Return the result of `sync` as JSON data, including the fields of its plan."""
    proposal = found.proposal
    return {
        **keys(proposal.plan),
        **fields(found, "branches", "pull_request", "warnings", "checks"),
        "state": sync_state(proposal),
        "outcomes": [[series_document(one) for one in step] for step in proposal.outcomes],
        "orders": [order_value(one) for one in proposal.orders],
    }
