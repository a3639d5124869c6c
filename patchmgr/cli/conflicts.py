"""`resolve` and the group `conflicts`: resolve conflicts, and keep and share the resolutions."""

from __future__ import annotations

import os
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from patchmgr import commands, render, services
from patchmgr.cli.rebasing import show_rebase
from patchmgr.cli.root import (
    MaybeName,
    answer,
    argument,
    end_if,
    never_with,
    only_with,
    open_session,
    option,
    say,
    say_next,
    say_raw,
    takes,
    view_of,
)
from patchmgr.errors import EXIT_CONFLICTS, EXIT_FINDINGS, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from patchmgr.commands.resolve import Resolver
    from patchmgr.model.recorded_conflict import Recorded
    from patchmgr.render.resolving import Pane
    from patchmgr.services.session import Session


Id = Annotated[str, argument("ID", "The id of a conflict, or the first characters of the id.")]


@takes("json")
def list_() -> None:
    """List the recorded conflicts and their resolutions.

    Example: patchmgr conflicts list
    """
    session = open_session()
    listed = commands.conflicts.list_conflicts(session)
    findings = services.decisions.list_findings(session.workspace)
    sources = session.workspace.sources()
    values = [render.recorded_conflicts.listed_value(one) for one in listed]
    text = render.recorded_conflicts.conflicts_text(listed, findings, view_of())
    text = chain(text, render.conflicts.sources_text(sources))
    answer({"conflicts": values, "findings": findings, "pulled": sources}, text)


@takes("json")
def show_(
    name: Id,
    format_: Annotated[
        str, option("--format terminal|markdown", "The output format.")
    ] = "terminal",
    full: Annotated[bool, option("--full", "Show the whole work order, however long.")] = False,
) -> None:
    """Show both sides of a conflict, and its resolution if it has one.

    A resolution is shown as a diff. A conflict in a rebase in progress is shown with its work
    order: the symbol in base, ours and theirs; the upstream commits that caused the conflict; later
    upstream commits to the file; the code that uses the symbol; earlier decisions on similar
    conflicts; the candidates; and what a resolution must satisfy. The work order is limited to 32
    kB unless you give --full.

    Example: patchmgr conflicts show 4f08e2008bf8

    Example: patchmgr conflicts show 4f08e2008bf8 --json
    """
    session = open_session()
    if services.decisions.is_finding(session.workspace, name):
        listed = services.decisions.list_findings(session.workspace, name)
        order = services.work_orders.work_order(session, listed[0].id, None)
        text = render.recorded_conflicts.conflicts_text((), listed, view_of())
        value: dict[str, Any] = {"conflicts": [], "findings": listed}
    else:
        found = commands.conflicts.show_conflict(session, name)
        order = services.work_orders.work_order(session, found.recorded[0].id, found.recorded[0])
        text = render.recorded_conflicts.conflict_text(found)
        value = render.recorded_conflicts.conflict_value(found)
    only_with("a rebase in progress", order, {"--format markdown": format_ == "markdown"})
    if order is not None:
        if not full:
            order, value = services.work_orders.shorter(order, value)
        if format_ == "markdown":
            text = iter(render.work_order.order_markdown(order).split("\n")[:-1])
        else:
            text = chain(text, render.work_order.order_text(order))
        value["work_order"] = render.work_order.order_value(order)
    answer({"work_order": None, **value}, text, pages=True)


@takes("dry_run", "json")
def conflicts_resolve(
    name: Id,
    file: Annotated[
        Path, argument("FILE", "A file with the resolved lines, or the whole resolved file.")
    ],
) -> None:
    """Record a resolution of a conflict.

    FILE contains the lines that replace the conflict, or is the whole resolved file.

    Example: patchmgr conflicts resolve 4f08e2008bf8 resolved.py
    """
    session = open_session()
    solved = commands.conflicts.resolve_conflict(session, name, file.absolute())
    _tell_solved(session, solved)


def _tell_solved(session: Session, solved: Sequence[Recorded]) -> None:
    answer(
        {"recorded": [render.recorded_conflicts.whole_value(one) for one in solved]},
        render.recorded_conflicts.solved_text(solved, view_of()),
    )
    say_next(session)


@takes("dry_run", "json")
def propose(
    name: Id,
    file: Annotated[
        Path | None,
        option("--file FILE", "Read the resolved file or the resolved lines from FILE."),
    ] = None,
    candidate: Annotated[
        int | None,
        option("--candidate N", "The number of a candidate that `conflicts show` lists.", min=1),
    ] = None,
    stdin: Annotated[bool, option("--stdin", "Read the resolution from standard input.")] = False,
    delete: Annotated[
        bool, option("--delete", "Resolve the conflict by deleting the file.")
    ] = False,
    accept: Annotated[
        Path | None,
        option("--accept FILE", "Record FILE as the resolution even if it fails a check."),
    ] = None,
    because: Annotated[str, option("--because TEXT", "The reason for accepting FILE.")] = "",
    by: Annotated[str | None, option("--by NAME", "Who proposes the resolution.")] = None,
    run: Annotated[bool, option("--run", "Also run the series' check commands.")] = False,
) -> None:
    """Check a proposed resolution, and save it if it passes.

    A saved proposal is used only after a person accepts it. The checks look for conflict markers,
    changes outside the conflict, errors in syntax and white space, lost changes of either side, and
    new conflicts and findings in a rebase that uses the resolution. Exit code 4 means that the
    resolution fails a check. A person may still record it with --accept and --because; a program
    may not.

    Example: patchmgr conflicts propose 4f08e2008bf8 --file solved.py --by agent

    Example: patchmgr conflicts propose 4f08e2008bf8 --accept solved.py --because "no longer used"
    """
    if sum((file is not None, candidate is not None, stdin, delete, accept is not None)) != 1:
        raise UsageError("give exactly one of --file, --candidate, --stdin, --delete and --accept")
    only_with("--accept", accept, {"--because": because})
    never_with("--accept", accept, {"--run": run})
    session = open_session()
    by = commands.propose.user_name(session) if by is None else by
    given = commands.propose.given(
        name, file=accept or file, candidate=candidate, is_deleted=delete
    )
    if accept is not None:
        proposed, made = commands.propose.accept_anyway(
            session, name, given, by=by, because=because
        )
        solved = render.recorded_conflicts.solved_text(made, view_of())
        recorded = [render.recorded_conflicts.whole_value(one) for one in made]
        told = chain(render.work_order.proposed_text(proposed), solved)
        answer(proposed, told, recorded=recorded)
        say_next(session)
    else:
        proposed = commands.propose.propose(session, name, given, by=by, runs=run)
        answer(proposed, render.work_order.proposed_text(proposed), recorded=[])
        end_if(not proposed.has_passed, EXIT_FINDINGS)


@takes("dry_run", "json")
def accept(
    name: Id,
    side: Annotated[
        str | None, argument("[ours|theirs|proposed]", "The side to record, or the proposal.")
    ] = None,
    because: Annotated[str, option("--because TEXT", "The reason for accepting a finding.")] = "",
) -> None:
    """Record one side, or the proposal, as the resolution.

    As in git rebase, ours is upstream's side, and theirs is the patch's side. A proposal is checked
    once more.

    A finding (from the audit, the ledger, or a condition that fails) is a conflict without text, so
    it has no sides. Accept it with --because; the same finding is then not reported again.

    Example: patchmgr conflicts accept 4f08e2008bf8 ours

    Example: patchmgr conflicts accept 91c0d2aa37e5 --because "the name is set by exec"
    """
    session = open_session()
    if services.decisions.is_finding(session.workspace, name) or because:
        if side is not None:
            raise UsageError("--because TEXT is for findings, and a finding has no sides")
        accepted = services.decisions.accept_finding(session, name, because=because)
        answer({"accepted": accepted}, render.recorded_conflicts.accepted_text(accepted, view_of()))
        say_next(session)
    elif side == "proposed":
        by = commands.propose.user_name(session)
        _tell_solved(session, commands.propose.accept_proposed(session, name, by=by))
    elif side in commands.conflicts.SIDES:
        _tell_solved(session, commands.conflicts.accept_side(session, name, side))
    else:
        hint = f"patchmgr conflicts accept {name} ours"
        problem = "" if side is None else f"{side} is not a side; "
        raise UsageError(f"{problem}name a side: ours (upstream's) or theirs (the patch's)", hint)


@takes("dry_run", "json")
def forget(name: Id) -> None:
    """Forget a recorded resolution or an accepted finding.

    Example: patchmgr conflicts forget 4f08e2008bf8
    """
    session = open_session()
    is_finding = services.decisions.is_finding(session.workspace, name)
    run = commands.conflicts.forget_conflict
    if is_finding:
        run = services.decisions.forget_finding
    names = run(session, name)
    answer({"forgotten": names}, render.recorded_conflicts.forgotten_text(names, view_of()))


@takes("dry_run", "json")
def learn(
    merge: Annotated[str, argument("MERGE", "A merge commit, or a range A..B.")],
    git: Annotated[Path, option("--git REPO", "The clone that contains MERGE.")],
    was: Annotated[
        str | None, option("--was OLD", "The head of the branch before the rebase that made A..B.")
    ] = None,
) -> None:
    """Learn resolutions from a finished merge or rebase.

    The merge or rebase may be in any clone.

    Example: patchmgr conflicts learn --git ~/src/vllm HEAD

    Example: patchmgr conflicts learn --git ~/src/vllm main..fork --was fork@{1}
    """
    session = open_session()
    learned = services.learning.learn_from(session, git.absolute(), merge, was=was)
    answer(
        {"merges": learned.merges, "files": render.recorded_conflicts.learned_value(learned)},
        render.recorded_conflicts.learned_text(learned, view_of()),
    )


Where = Annotated[str, argument("URL|PATH", "A git repository.")]
Branch = Annotated[
    str | None, option("--branch BRANCH", "The branch; default: the repository's default branch.")
]


@takes("dry_run", "json")
def pull(where: Where, branch: Branch = None) -> None:
    """Fetch another workspace's resolutions, as proposals.

    Only the folder conflicts/ in the newest commit is fetched. A pulled resolution becomes a
    candidate for its conflict, and is shown with its source. `conflicts propose ID
    --candidate N` checks it, and `conflicts accept ID proposed` accepts it. Nothing is accepted
    automatically, unless `trusted` in series.toml names the source. Pulling from the same source
    again replaces what was pulled from it before.

    Example: patchmgr conflicts pull https://github.com/other/fork-patches
    """
    pulled = commands.sharing.pull(open_session(), where, branch=branch)
    answer(pulled, render.conflicts.pulled_text(pulled, view_of()))


@takes("dry_run", "json")
def push(where: Where, branch: Branch = None) -> None:
    """Share your resolutions with another workspace.

    This adds the resolutions of this workspace to the folder conflicts/ of a git repository, as one
    commit on a branch. Resolutions that the repository already has do not change.

    Example: patchmgr conflicts push git@github.com:we/resolutions --branch main
    """
    pushed = commands.sharing.push(open_session(), where, branch=branch)
    answer(pushed, render.conflicts.pushed_text(pushed, view_of()))


@takes("dry_run")
def resolve(name: MaybeName = None) -> None:
    """Resolve the conflicts of a rebase in the terminal.

    This lists the patches with their verdicts. For each conflict, it shows base, ours, theirs, the
    candidates (best first), what the patch is for, and the upstream commits that it conflicts with.
    Choose a text, or edit one. A text that passes every check of `conflicts propose` is accepted;
    any other text needs a reason. Your choices are kept when you quit. The full-screen view needs
    the Python package Textual. Without Textual, on a dumb terminal, or with input from a pipe, you
    are asked line by line, with the same keys.

    Example: patchmgr resolve

    Example: patchmgr resolve vllm
    """
    run = _full_screen() or _prompts
    resolver = commands.resolve.Resolver(open_session(), name)
    run(resolver)
    if resolver.result is not None:
        show_rebase(resolver.result, view_of(), (), shows_conflicts=False)
    else:
        commands.rebase.require_in_progress(resolver.session)
        say(*render.resolving.after_quitting(resolver.state))
        end_if(True, EXIT_CONFLICTS)


def _full_screen() -> Callable[[Resolver], None] | None:
    """Return the function that runs the full-screen view, or None if it cannot be used."""
    is_screen = sys.stdin.isatty() and sys.stdout.isatty()
    if not is_screen or os.environ.get("TERM", "dumb") == "dumb":
        return None
    try:
        from patchmgr.cli.resolver_app import run_app
    except ModuleNotFoundError:
        say("Using a plain prompt, because Textual is missing (pip install 'textual>=6').")
        return None
    return run_app


def _prompts(resolver: Resolver) -> None:
    """Ask for one key at a time, until the end of the input."""
    place: object = None
    while not resolver.is_over:
        here = resolver.state.conflicts and (resolver.state.conflicts, resolver.state.at)
        if here != place:
            say_raw(*_whole(resolver))
        elif not resolver.told:
            say_raw(*_result(resolver))
        place = here
        say(*resolver.told)
        if not resolver.asks:
            say_raw(*render.resolving.key_lines([*resolver.keys()], 79))
        sys.stderr.write(resolver.asks or "? ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            return
        if resolver.asks:
            resolver.answer(line.strip())
        else:
            resolver.press(line.strip()[:1] or " ")


def _whole(resolver: Resolver) -> Iterator[str]:
    yield ""
    for row in render.resolving.list_rows(resolver.outcomes, resolver.state):
        yield row.text
    if resolver.state.conflicts:
        yield from ("", *render.resolving.about_lines(resolver.state))
        for pane in resolver.panes():
            yield from _pane(pane)
        yield from _result(resolver)


def _result(resolver: Resolver) -> Iterator[str]:
    pane = resolver.result_pane()
    yield from _pane(pane) if pane is not None else ()


def _pane(pane: Pane) -> Iterator[str]:
    yield f"--- {pane.title}{'  (chosen)' if pane.is_chosen else ''}"
    yield from (f"{'+' if is_new else ' '} {line}" for is_new, line in pane.lines)
