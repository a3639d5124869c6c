"""`resolve`: resolve conflicts at the terminal, in a full-screen view or with plain prompts."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from patchmgr import commands, render
from patchmgr.cli.rebasing import show_rebase
from patchmgr.cli.root import DryRun, MaybeName, end_if, open_session, say, say_raw, view_of
from patchmgr.errors import EXIT_CONFLICTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from patchmgr.commands.resolve import Resolver
    from patchmgr.render.resolving import Pane


def resolve(name: MaybeName = None, dry_run: DryRun = False) -> None:
    """Resolve the conflicts of a rebase in the terminal.

    This lists the patches with their verdicts. For each conflict, it shows base, ours, theirs, the
    candidates (best first), what the patch is for, and the upstream commits that the patch collides
    with. Choose a text, or edit one. A text that passes every check of `conflicts propose` is
    accepted; any other text needs a reason. Your choices are kept when you quit. The full-screen
    view needs the Python package Textual. Without Textual, on a dumb terminal, or with input from a
    pipe, you are asked line by line, with the same keys.

    Example: patchmgr resolve

    Example: patchmgr resolve vllm
    """
    run = _full_screen() or _prompts
    resolver = commands.resolve.Resolver(open_session(), name)
    run(resolver)
    if resolver.result is not None:
        show_rebase(resolver.result, view_of(), (), shows_conflicts=False)
        return
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
