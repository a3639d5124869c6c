"""`check`, `audit`, `notes`, `diff`, `why`, `doctor`: examine series, trees and stores."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from patchmgr import commands, render, services
from patchmgr.cli.root import (
    Given,
    MaybeName,
    Names,
    answer,
    argument,
    end_if,
    look_for_session,
    never_with,
    only_with,
    open_all_series,
    open_series,
    open_session,
    option,
    say,
    takes,
    view_of,
    write_file,
)
from patchmgr.errors import EXIT_FINDINGS, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patchmgr.model.check import Checked


@takes("select", "dry_run", "verbose", "quiet", "json")
def check(
    names: Names = None,
    run: Annotated[bool, option("--run", "Also run the series' check commands.")] = False,
    command: Annotated[
        list[str], option("--command NAME", "Run only this check command; repeatable.")
    ] = [],  # noqa: B006 - typer copies it
    workspace: Annotated[
        bool, option("--workspace", "Check only the files of the workspace itself.")
    ] = False,
    ledger: Annotated[
        bool, option("--ledger", "Check that a checkout or branch contains the series.")
    ] = False,
    to: Annotated[Path, option("--to CHECKOUT", "With --ledger: the checkout to check.")] = Path(),
    branch: Annotated[
        str | None,
        option("--branch NAME", "With --ledger: check a branch, not the checked-out files."),
    ] = None,
    junit: Annotated[
        Path | None, option("--junit FILE", "Also write the results as JUnit XML.")
    ] = None,
) -> None:
    """Check every patch; exit with code 4 if a check fails.

    Example: patchmgr check vllm --junit gates.xml

    Example: patchmgr check vllm --run --command build

    Example: patchmgr check vllm --ledger --to ../checkout
    """
    view = view_of()
    session, chosen = open_all_series(names)
    results: Sequence[Checked]
    own = {"--run": run, "--command": command}
    never_with("--ledger", ledger, own)
    only_with("--ledger", ledger, {"--to": to != Path(), "--branch": branch})
    others = {"SERIES": names, **own, "--ledger": ledger, "--select": Given.selected}
    never_with("--workspace", workspace, others)
    if workspace:
        results = [commands.check.check_files(session, name) for name in chosen]
    elif ledger:
        hold = commands.check.check_ledger
        results = [hold(session, name, to, branch=branch) for name in chosen]
    else:
        wanted = command if run or command else None
        results = [commands.check.check(session, name, wanted) for name in chosen]
    if junit is not None and not Given.is_dry_run:
        write_file(junit, render.checks.junit(results))
    is_sound = all(checked.is_sound for checked in results)
    text = chain.from_iterable(render.checks.checked_text(checked, view) for checked in results)
    values = [*map(render.checks.checked_value, results)]
    answer({"sound": is_sound, "series": values}, text)
    if not (is_sound or Given.wants_json or view.is_line):
        say(f"Checks failed for: {', '.join(one.series for one in results if not one.is_sound)}")
    end_if(not is_sound, EXIT_FINDINGS)


@takes("select", "quiet", "json")
def audit(
    names: Names = None,
    trees: Annotated[
        tuple[str, str] | None,
        option("--trees OLD NEW", "Audit the change from one tree to another."),
    ] = None,
    repo: Annotated[Path, option("--repo DIR", "The repository that contains the trees.")] = Path(),
) -> None:
    """Look for faults that a clean merge can hide.

    The exit code is 4 if a fault is certain.

    The faults are: undefined names; calls that do not match the signature; uses of something
    that was removed, renamed or moved; duplicate definitions; and lost tests. A rebase also runs
    the audit. Use this command for a series on its pin or, without a workspace, for any two trees.

    Example: patchmgr audit vllm

    Example: patchmgr audit --trees HEAD~1 HEAD --repo ~/src/vllm
    """
    never_with("--trees", trees, {"SERIES": names, "--select": Given.selected})
    only_with("--trees", trees, {"--repo": repo != Path()})
    if trees is not None:
        results = [commands.audit.audit_trees(repo.absolute(), *trees)]
    else:
        session, chosen = open_all_series(names)
        results = [commands.audit.audit_series(session, name) for name in chosen]
    answer(
        {"audits": [*map(render.checks.audited_value, results)]},
        render.checks.audited_text(results, view_of()),
    )
    end_if(not all(audited.is_sound for audited in results), EXIT_FINDINGS)


@takes("json")
def notes(
    name: MaybeName = None,
    from_: Annotated[
        str | None, option("--from REF|TAG", "The upstream state before the rebase.")
    ] = None,
    to: Annotated[
        str | None, option("--to REF|TAG", "The state after the rebase; default: the pin.")
    ] = None,
) -> None:
    """Write a note on what a rebase did, or would do.

    The note lists conflicts, dropped patches, upstream's changes, gates and tags.

    Without --from, the note describes the last rebase. With the pin as --from and a newer state as
    --to, it describes what a rebase would do.

    Example: patchmgr notes vllm --from v0.23.0 --to v0.24.0
    """
    found = commands.notes.note(*open_series(name), start=from_, end=to)
    answer({"series": render.notes.note_value(found)}, render.notes.note_markdown(found))


@takes("dry_run", "verbose", "quiet", "json")
def diff(
    name: MaybeName = None,
    from_: Annotated[str, option("--from TAG", "The earlier state of the series.")] = "",
    to: Annotated[
        str | None, option("--to TAG", "The later state; default: the series as it is now.")
    ] = None,
    repo: Annotated[Path | None, option("--repo DIR", "The clone to look up tags in.")] = None,
    lines: Annotated[bool, option("--lines", "Print the lines that differ.")] = False,
    hold: Annotated[
        list[str],
        option(
            "--hold PATH[::SYMBOL]", "Make `check` fail if this file or symbol changes; repeatable."
        ),
    ] = [],  # noqa: B006 - typer copies it
) -> None:
    """Compare two states of a series, patch by patch.

    The result for a patch is `byte-identical`, `position only` (only line numbers changed),
    `context only`, `changed`, `added` or `dropped`.

    To name a state, give a branch or tag that patchmgr made, or a commit on such a branch.

    Example: patchmgr diff vllm --from preview-1 --to preview-2
    """
    session = open_session()
    if not from_:
        raise UsageError("name the earlier state of the series with --from TAG")
    named = services.checkouts.only_series(session, name)
    found = commands.diff.diff(session, named, from_, to, repository=repo, holds=hold)
    answer(
        render.inspecting.compared_value(found),
        render.inspecting.compared_text(found, view_of(), shows_lines=lines),
        pages=True,
    )


@takes("select", "json")
def why(
    place: Annotated[str, argument("FILE:LINE")],
    series: Annotated[
        str | None, option("--series S", "The series that the branch is built from.")
    ] = None,
) -> None:
    """Show which patch of a series wrote a line.

    Example: patchmgr why vllm/platforms/cuda.py:87 --series vllm
    """
    session = open_session()
    path, _, number = place.rpartition(":")
    if not path or not number.isdecimal() or len(number) > 9:
        raise UsageError(f"{place} must have the form FILE:LINE")
    named = services.checkouts.only_series(session, series)
    origin = commands.why.why(session, named, path, int(number))
    answer(origin, render.inspecting.origin_text(origin))


@takes("dry_run", "json")
def doctor(
    repair: Annotated[bool, option("--repair", "Repair stores that are broken.")] = False,
    prune: Annotated[bool, option("--prune", "Delete leftover files and refs.")] = False,
) -> None:
    """Check the tools and stores; exit with code 4 if one is broken.

    Example: patchmgr doctor

    Example: patchmgr doctor --repair --prune --dry-run
    """
    session = look_for_session()
    is_dry_run = bool(Given.is_dry_run)
    found = commands.doctor.examine(session, repairs=repair, prunes=prune, is_dry_run=is_dry_run)
    is_sound = not any(one.health is commands.doctor.Health.BROKEN for one in found)
    answer(
        {"found": found, "sound": is_sound}, render.checks.doctor_text(found, color=view_of().color)
    )
    end_if(not is_sound, EXIT_FINDINGS)
