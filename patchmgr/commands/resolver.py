"""`rebase --resolver`: ask a program about each conflict, and record answers that pass."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from patchmgr.commands.propose import Given, candidate_of, resolve_if_passed, user_name
from patchmgr.commands.rebase import RebaseResult, continue_rebase
from patchmgr.errors import PatchmgrError
from patchmgr.model.work_order import Failure, WorkOrder
from patchmgr.plumbing.programs import ResolverProgram
from patchmgr.render.machine import document
from patchmgr.render.work_order import order_value
from patchmgr.services.memory import Memory
from patchmgr.services.session import Session
from patchmgr.services.work_area import is_unresolved, waiting_files
from patchmgr.services.work_orders import work_order

_LONGEST_NAME = 100
_HELP = "to see what an answer looks like: patchmgr help agents"


class Asked(Struct, frozen=True, rename={"is_taken": "taken"}):
    """The result of asking a program about a conflict."""

    id: str
    series: str
    patch: str
    path: str
    is_taken: bool  # the program's answer was recorded
    failures: tuple[Failure, ...] = ()  # checks that the answer failed
    error: str | None = None  # the kind of error if the program itself failed
    message: str = ""


class _Answer(Struct, frozen=True, forbid_unknown_fields=True):
    """A program's answer: a text, the number of a candidate, or a deletion of the file."""

    content: str | None = None
    candidate: int | None = None
    delete: bool = False


def resolve_all(
    session: Session, result: RebaseResult, command: str, *, seconds: int
) -> tuple[RebaseResult, tuple[Asked, ...]]:
    """Ask a program about each open conflict, and continue the rebase as long as answers pass.

    The program may take `seconds` for each conflict.
    """
    told, resolver = dict[str, Asked](), ResolverProgram(command, seconds)
    while result.has_conflicts:
        new = [name for name in _waiting(session) if name not in told]
        told |= {name: _asked(session, name, resolver) for name in new}
        if not any(told[name].is_taken for name in new):
            break
        result = continue_rebase(session)
    return result, tuple(told.values())


def _waiting(session: Session) -> Iterator[str]:
    """Yield the ids of unresolved conflicts of the rebase in progress, one for each region."""
    memory = Memory(session.workspace)
    for item in waiting_files(session.workspace):
        known = memory.get(item.conflict)
        if known is not None and is_unresolved(session.workspace, item):
            for name in known.parts or (known.id,):
                part = memory.get(name)
                if part is not None and part.resolution is None:
                    yield name


def _asked(session: Session, name: str, resolver: ResolverProgram) -> Asked:
    order = work_order(session, name, Memory(session.workspace).get(name))
    if order is None:
        return Asked(
            name, "", "", "", False, message="it was resolved together with another conflict"
        )
    where = (name, order.series, order.patch, order.path)
    session.say(f"Asking about {order.series}/{order.patch}: {order.path}")
    question = document("rebase --resolver", {"work_order": order_value(order)}).encode()
    try:
        given = _given(resolver.ask(question), order)
        by = resolver.command.split()[0][:_LONGEST_NAME]
        made = resolve_if_passed(session, name, given, by=by, who=user_name(session))
    except PatchmgrError as fault:
        if not fault.kind.startswith(("resolver-", "solved-otherwise")):
            raise
        return Asked(*where, False, error=fault.kind, message=fault.message)
    return Asked(*where, made.has_passed, made.failures)


def _given(raw: bytes, order: WorkOrder) -> Given:
    """Parse an answer; raise PatchmgrError "resolver-answer" if it is malformed."""
    try:
        said = msgspec.json.decode(raw, type=_Answer)
        content = None if said.content is None else said.content.encode()
    except (msgspec.DecodeError, UnicodeError, RecursionError) as fault:
        raise PatchmgrError(
            "resolver-answer", f"the resolver's answer cannot be read: {fault}", _HELP
        ) from fault
    if (said.content is not None) + (said.candidate is not None) + said.delete != 1:
        message = "the resolver must answer with exactly one of content, candidate and delete"
        raise PatchmgrError("resolver-answer", message, _HELP)
    number = said.candidate
    if number is None:
        return lambda conflict: content
    known = len(order.regions[0].candidates) if len(order.regions) == 1 else 0
    if not 1 <= number <= known:
        raise PatchmgrError(
            "resolver-answer",
            f"the resolver chose candidate {number}, but the number of candidates is {known}",
            _HELP,
        )
    return lambda conflict: candidate_of(conflict, order.id, number)
