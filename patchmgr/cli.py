"""The command line: options to one command, its value to a renderer, and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from patchmgr import __version__
from patchmgr.errors import (
    EXIT_CONFLICTS,
    EXIT_FAULT,
    EXIT_FINDINGS,
    EXIT_INTERRUPTED,
    PatchmgrError,
)

if TYPE_CHECKING:
    from patchmgr.commands.carrying import Wishes
    from patchmgr.commands.session import Session

app = typer.Typer(
    name="patchmgr",
    help="Keep ordered patch series on pinned upstream commits, and carry them onto new ones.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
upstream_app = typer.Typer(
    help="Projects that are followed.", no_args_is_help=True, rich_markup_mode=None
)
series_app = typer.Typer(
    help="Ordered patches on one pin.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(upstream_app, name="upstream")
app.add_typer(series_app, name="series")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Do all but the writing.")]
Select = Annotated[
    list[str], typer.Option("--select", metavar="SYM", help="Select a guard symbol; repeatable.")
]
Names = Annotated[list[str] | None, typer.Argument(metavar="[SERIES]...")]
MaybeName = Annotated[str | None, typer.Argument(metavar="[SERIES]")]


# What a system may refuse at any time, and no program foresees.
_OF_THE_SYSTEM = (
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE,
    errno.ENFILE, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOMEM,
)  # fmt: skip


class _Options:
    """The options before the command."""

    folder: Path | None = None
    wants_json = False


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"patchmgr {__version__}")
        raise typer.Exit


@app.callback()
def _before(
    folder: Annotated[
        Path | None,
        typer.Option("-C", metavar="DIR", help="Work in this workspace.", show_default=False),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Keep ordered patch series on pinned upstream commits, and carry them onto new ones.

    Example: patchmgr rebase --onto upstream/main --dry-run
    """
    _Options.folder = folder


def _session(*, wants_json: bool = False) -> Session:
    from patchmgr.commands.session import Session
    from patchmgr.store import find_workspace
    from patchmgr.terminal import say, stderr_progress

    _Options.wants_json = wants_json
    named = _Options.folder or os.environ.get("PATCHMGR_WORKSPACE")
    start = Path(named) if named else Path.cwd()
    session = Session(find_workspace(start.absolute()), stderr_progress(), say)
    session.settle()
    return session


def _print(text: str) -> None:
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.flush()


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]")] = Path(), dry_run: DryRun = False
) -> None:
    """Make an empty workspace.

    Example: patchmgr init my-fork
    """
    from patchmgr.commands.workspaces import init as make

    made = make(folder.absolute(), is_dry_run=dry_run)
    _say(f"{'Would make' if dry_run else 'Made'} a workspace in {made}")


@upstream_app.command("add")
def upstream_add(
    name: str,
    git: Annotated[
        str | None, typer.Option(metavar="URL", help="URL or path of a git repository.")
    ] = None,
    package: Annotated[
        str | None, typer.Option(metavar="NAME", help="A package on the index.")
    ] = None,
    track: Annotated[
        str | None, typer.Option(metavar="git|package", help="What a bare name means.")
    ] = None,
    branch: Annotated[str | None, typer.Option(metavar="B", help="The branch to track.")] = None,
    reference: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Borrow the objects of this clone.")
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Follow a project: a git repository, a package, or both.

    Example: patchmgr upstream add vllm --package vllm
    """
    from patchmgr.commands.workspaces import add_upstream
    from patchmgr.model.upstream import Upstream

    if track not in (None, "git", "package"):
        raise PatchmgrError("usage", f"--track is git or package, not {track}")
    kind = track or ("git" if git is not None else "package")
    wanted = Upstream(name, kind, git, package, branch)
    added = add_upstream(_session(), wanted, reference=reference, is_dry_run=dry_run)
    _say(f"{'Would follow' if dry_run else 'Following'} {added.name} by {added.track}")


@upstream_app.command("list")
def upstream_list(json: Json = False) -> None:
    """List the projects that are followed.

    Example: patchmgr upstream list
    """
    from patchmgr.render.listings import upstreams_document, upstreams_text

    lock = _session(wants_json=json).workspace.lock()
    _print(upstreams_document(lock) if json else upstreams_text(lock))


@upstream_app.command("fetch")
def upstream_fetch(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...")] = None,
    ref: Annotated[
        list[str] | None, typer.Option(metavar="REF", help="Bring this branch or release, too.")
    ] = None,
    json: Json = False,
) -> None:
    """Bring what is tracked: a branch and all tags, or the newest release.

    Example: patchmgr upstream fetch vllm --ref v0.24.0
    """
    from patchmgr.commands.workspaces import fetch_upstreams
    from patchmgr.render.listings import fetched_document, fetched_text

    fetched = fetch_upstreams(_session(wants_json=json), names or (), refs=ref or ())
    _print(fetched_document(fetched) if json else fetched_text(fetched))


@series_app.command("new")
def series_new(
    name: str,
    upstream: Annotated[str, typer.Option(metavar="U", help="The upstream to stand on.")],
    base: Annotated[str, typer.Option(metavar="REF", help="The state to pin.")],
    on: Annotated[str | None, typer.Option(metavar="SERIES", help="Stand on this series.")] = None,
    dry_run: DryRun = False,
) -> None:
    """Make an empty series on an upstream state.

    Example: patchmgr series new vllm --upstream vllm --base v0.23.0
    """
    from patchmgr.commands.workspaces import new_series

    record = new_series(_session(), name, upstream=upstream, base=base, on=on, is_dry_run=dry_run)
    _say(f"{'Would make' if dry_run else 'Made'} {name} on {record.pin.ref} ({record.pin.commit})")


@series_app.command("list")
def series_list(json: Json = False) -> None:
    """List the series.

    Example: patchmgr series list
    """
    from patchmgr.commands.workspaces import list_series
    from patchmgr.render.listings import series_list_document, series_list_text

    views = list_series(_session(wants_json=json))
    _print(series_list_document(views) if json else series_list_text(views))


@series_app.command("show")
def series_show(name: str, json: Json = False) -> None:
    """Show a series: its pin, and every patch with its header.

    Example: patchmgr series show vllm
    """
    from patchmgr.commands.workspaces import show_series
    from patchmgr.render.listings import series_document, series_text

    view = show_series(_session(wants_json=json), name)
    _print(series_document(view) if json else series_text(view))


@app.command("import")
def import_(
    sources: Annotated[list[str] | None, typer.Argument(metavar="SOURCE...")] = None,
    series: Annotated[str, typer.Option(metavar="S", help="The series to append to.")] = "",
    git: Annotated[
        Path | None, typer.Option(metavar="REPO", help="SOURCE is a range A..B of this repository.")
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Append patches: mailboxes, diffs, quilt directories, or the commits of a range.

    Example: patchmgr import --git ~/src/vllm v0.23.0..my-branch --series vllm
    """
    from patchmgr.commands.apply import only_series
    from patchmgr.commands.imports import import_patches
    from patchmgr.render.listings import imported_document, imported_text

    session = _session(wants_json=json)
    named = only_series(session, [series] if series else [])
    given = sources or []
    if git is not None and len(given) != 1:
        raise PatchmgrError("usage", "--git REPO needs exactly one range A..B")
    imported = import_patches(
        session,
        [] if git is not None else [Path(source) for source in given],
        series=named,
        git=(git, given[0]) if git is not None else None,
        is_dry_run=dry_run,
    )
    show = imported_document if json else imported_text
    _print(show(imported, named, dry_run))


@app.command()
def rebase(
    names: Names = None,
    onto: Annotated[
        list[str], typer.Option(metavar="REF|A..B", help="The state to carry onto; repeatable.")
    ] = [],  # noqa: B006 - typer copies it
    every: Annotated[
        str | None,
        typer.Option(metavar="release|N", help="Of a range, each release or Nth commit."),
    ] = None,
    dry_run: DryRun = False,
    stop_at_conflict: Annotated[
        bool, typer.Option("--stop-at-conflict", help="Try nothing after the first conflict.")
    ] = False,
    continue_: Annotated[
        bool, typer.Option("--continue", help="Finish with the conflicts that were solved.")
    ] = False,
    abort: Annotated[bool, typer.Option("--abort", help="Forget an unfinished rebase.")] = False,
    show_conflicts: Annotated[
        bool, typer.Option("--show-conflicts", help="Print the conflicts in git's markers.")
    ] = False,
    format_: Annotated[
        str, typer.Option("--format", metavar="terminal|markdown", help="The form of a table.")
    ] = "terminal",
    select: Select = [],  # noqa: B006 - typer copies it
    json: Json = False,
) -> None:
    """Carry series onto a new upstream state; without names, every series.

    REF is upstream/main, upstream/BRANCH, a tag or release, or a commit id. With --dry-run,
    several of them, or a range with --every, give a table: patch by target.

    Example: patchmgr rebase vllm --onto v0.24.0 --dry-run

    Example: patchmgr rebase vllm --onto v0.24.0..v0.28.0 --every release --dry-run
    """
    from patchmgr.commands.carrying import Wishes
    from patchmgr.commands.rebase import abort_rebase, continue_rebase
    from patchmgr.commands.rebase import rebase as run

    session = _session(wants_json=json)
    if sum((bool(onto), continue_, abort)) != 1:
        raise PatchmgrError("usage", "give one of --onto REF, --continue and --abort")
    if abort:
        abort_rebase(session, is_dry_run=dry_run)
        _say("Forgot the unfinished rebase.")
        return
    has_table_options = every is not None or format_ != "terminal"
    if has_table_options or len(onto) > 1 or ".." in "".join(onto):
        wishes = Wishes(frozenset(select), stop_at_conflict, names_symbols=json)
        _rebase_table(session, names or [], onto, every, wishes, dry_run, json, format_)
        return
    if continue_:
        result = continue_rebase(session, is_dry_run=dry_run, names_symbols=json)
    else:
        wishes = Wishes(frozenset(select), stop_at_conflict, names_symbols=json)
        result = run(session, names or (), onto=onto[0], wishes=wishes, is_dry_run=dry_run)
    _show_rebase(result, wants_json=json, shows_conflicts=show_conflicts)


def _rebase_table(
    session: Session,
    names: list[str],
    onto: list[str],
    every: str | None,
    wishes: Wishes,
    dry_run: bool,
    json: bool,
    form: str,
) -> None:
    from shutil import get_terminal_size

    from patchmgr.commands.rebase_table import read_targets, rebase_onto_many
    from patchmgr.render.machine import targets_document
    from patchmgr.render.targets import after_targets, targets_text
    from patchmgr.terminal import wants_colour

    if form not in ("terminal", "markdown"):
        raise PatchmgrError("usage", f"--format is terminal or markdown, not {form}")
    if not onto:
        raise PatchmgrError("usage", "--every and --format go with --onto")
    targets = read_targets(onto, every)
    if not dry_run:
        raise PatchmgrError("usage", "a table of several targets needs --dry-run")
    outcomes = rebase_onto_many(session, names, targets=targets, wishes=wishes)
    if json:
        _print(targets_document(outcomes))
    else:
        width = get_terminal_size((100, 24)).columns
        _print(targets_text(outcomes, form, width=width, colour=wants_colour()))
        _say(after_targets(outcomes))
    if any(outcome.has_conflicts for outcome in outcomes):
        raise typer.Exit(EXIT_CONFLICTS)


@app.command()
def decide(
    patch: Annotated[str | None, typer.Argument(metavar="PATCH")] = None,
    verdict: Annotated[str | None, typer.Argument(metavar="absorbed|needed")] = None,
    by: Annotated[
        str, typer.Option(metavar="PR|COMMIT|TEXT", help="What upstream did it, or why.")
    ] = "",
    series: Annotated[str | None, typer.Option(metavar="S", help="The series of PATCH.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List what is decided.")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Forget what is decided.")] = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Say of a patch that the last rebase left in conflict whether upstream has it.

    Later runs use the answer as long as the text of upstream that it is about is still there.

    Example: patchmgr decide stale-hash.patch absorbed --by 45939
    """
    from patchmgr.commands.decide import decide as run
    from patchmgr.commands.decide import forget as take_back
    from patchmgr.commands.decide import read_decisions
    from patchmgr.model.decision import Ruling
    from patchmgr.render.decisions import decided_document, decided_text, decisions_text

    session = _session(wants_json=json)
    if list_:
        if patch is not None or verdict is not None or forget:
            raise PatchmgrError("usage", "--list stands alone")
        known = read_decisions(session.workspace)
        _print(decided_document(known, (), is_dry_run=False) if json else decisions_text(known))
        return
    rulings = {ruling.value: ruling for ruling in Ruling}
    if patch is None or (verdict in rulings) is forget:
        raise PatchmgrError(
            "usage",
            "name a patch, and say absorbed or needed",
            ("patchmgr decide PATCH absorbed --by PR", "or: patchmgr decide PATCH --forget"),
        )
    if forget:
        decided = take_back(session, patch, series=series, is_dry_run=dry_run)
    else:
        ruling = rulings[str(verdict)]
        decided = run(session, patch, ruling, series=series, by=by, is_dry_run=dry_run)
    if json:
        _print(decided_document(decided.added, decided.removed, is_dry_run=dry_run))
    else:
        _print(decided_text(decided.added, decided.removed, is_dry_run=dry_run))


def _show_rebase(result: object, *, wants_json: bool, shows_conflicts: bool) -> None:
    from patchmgr.commands.rebase import RebaseResult
    from patchmgr.render.conflicts import conflicts_text
    from patchmgr.render.machine import rebase_document
    from patchmgr.render.terminal import after_rebase, rebase_text
    from patchmgr.terminal import wants_colour

    assert isinstance(result, RebaseResult)
    if wants_json:
        _print(rebase_document(result.series, is_dry_run=result.is_dry_run))
    else:
        for outcome in result.series:
            _print(rebase_text(outcome, colour=wants_colour()))
            if shows_conflicts:
                _print(conflicts_text(outcome))
        for line in after_rebase(
            result.series,
            is_dry_run=result.is_dry_run,
            work=result.work,
            waiting=result.waiting,
        ):
            _say(line)
    if result.has_conflicts:
        raise typer.Exit(EXIT_CONFLICTS)


@app.command()
def apply(
    name: MaybeName = None,
    to: Annotated[Path | None, typer.Option(metavar="CHECKOUT", help="A git checkout.")] = None,
    commit: Annotated[bool, typer.Option("--commit", help="Make one commit a patch.")] = False,
    select: Select = [],  # noqa: B006 - typer copies it
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Apply a series to a git checkout, all of it or nothing.

    Example: patchmgr apply vllm --to ~/src/vllm --commit
    """
    from patchmgr.commands.apply import apply_to_checkout, only_series
    from patchmgr.commands.carrying import Wishes
    from patchmgr.render.applications import application_document, application_text
    from patchmgr.terminal import wants_colour

    session = _session(wants_json=json)
    named = only_series(session, [name] if name else [])
    wishes = Wishes(frozenset(select))
    done = apply_to_checkout(
        session, named, _target(to), commits=commit, wishes=wishes, is_dry_run=dry_run
    )
    if json:
        _print(application_document(done, is_dry_run=dry_run))
    else:
        _print(application_text(done, is_dry_run=dry_run, colour=wants_colour()))
    if done.has_conflicts:
        raise typer.Exit(EXIT_CONFLICTS)


def _target(to: Path | None) -> Path:
    if to is None:
        raise PatchmgrError("usage", "name the checkout with --to CHECKOUT")
    return to.absolute()


@app.command()
def unapply(
    name: MaybeName = None,
    to: Annotated[Path | None, typer.Option(metavar="CHECKOUT", help="A git checkout.")] = None,
    dry_run: DryRun = False,
) -> None:
    """Take a series out of a checkout again.

    Example: patchmgr unapply vllm --to ~/src/vllm
    """
    from patchmgr.commands.apply import only_series, unapply_from_checkout

    session = _session()
    named = only_series(session, [name] if name else [])
    paths = unapply_from_checkout(session, named, _target(to), is_dry_run=dry_run)
    _say(f"{'Would restore' if dry_run else 'Restored'} {len(paths)} files in {to}")


@app.command()
def verify(
    name: MaybeName = None,
    to: Annotated[Path | None, typer.Option(metavar="CHECKOUT", help="A git checkout.")] = None,
    select: Select = [],  # noqa: B006 - typer copies it
    json: Json = False,
) -> None:
    """Say whether a series is in a checkout, file by file; exit 4 where it is not.

    Example: patchmgr verify vllm --to ~/src/vllm
    """
    from patchmgr.commands.apply import only_series
    from patchmgr.commands.targets import verify_checkout
    from patchmgr.render.applications import verification_document, verification_text

    session = _session(wants_json=json)
    named = only_series(session, [name] if name else [])
    found = verify_checkout(session, named, _target(to), selected=select)
    _print(verification_document(found) if json else verification_text(found))
    if not found.is_sound:
        raise typer.Exit(EXIT_FINDINGS)


@app.command()
def branch(
    name: MaybeName = None,
    repo: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Put it into this clone.")
    ] = None,
    branch_name: Annotated[str | None, typer.Option("--name", metavar="BRANCH")] = None,
    tag: Annotated[str | None, typer.Option(metavar="TAG", help="Tag the head, too.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is not ours.")] = False,
    select: Select = [],  # noqa: B006 - typer copies it
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Build the branch of a series on its pin, one commit a patch.

    Example: patchmgr branch vllm --repo ~/src/vllm --name my-fork
    """
    from patchmgr.commands.apply import only_series
    from patchmgr.commands.branch import branch as build
    from patchmgr.commands.carrying import Wishes
    from patchmgr.render.applications import built_document, built_text

    session = _session(wants_json=json)
    built = build(
        session,
        only_series(session, [name] if name else []),
        repository=None if repo is None else repo.absolute(),
        branch_name=branch_name,
        tag=tag,
        wishes=Wishes(frozenset(select)),
        is_forced=force,
        is_dry_run=dry_run,
    )
    _print(
        built_document(built, is_dry_run=dry_run) if json else built_text(built, is_dry_run=dry_run)
    )


@app.command()
def report(
    names: Names = None,
    format_: Annotated[
        str, typer.Option("--format", metavar="terminal|markdown|json", help="The form.")
    ] = "terminal",
    json: Json = False,
    select: Select = [],  # noqa: B006 - typer copies it
) -> None:
    """Report the change footprint: files, lines, languages, tests apart, per folder and patch.

    Example: patchmgr report vllm --format markdown
    """
    from patchmgr.commands.carrying import Wishes
    from patchmgr.commands.report import report as measure
    from patchmgr.render.reports import reports_text

    form = "json" if json else format_
    if form not in ("terminal", "markdown", "json"):
        raise PatchmgrError("usage", f"--format is terminal, markdown or json, not {form}")
    session = _session(wants_json=form == "json")
    chosen = names or sorted(session.workspace.lock().series)
    wishes = Wishes(frozenset(select))
    footprints = [measure(session, name, wishes=wishes) for name in chosen]
    from patchmgr.terminal import wants_colour

    _print(reports_text(footprints, form, colour=wants_colour()))


@app.command()
def status(json: Json = False) -> None:
    """Say where every series stands.

    Example: patchmgr status
    """
    from patchmgr.commands.status import status as look
    from patchmgr.render.listings import status_document, status_text

    found = look(_session(wants_json=json))
    _print(status_document(found) if json else status_text(found))


def main() -> NoReturn:
    """Run the command line; the one place where errors become exit codes."""
    _Options.wants_json = "--json" in sys.argv
    try:
        code = app(standalone_mode=False)
    except PatchmgrError as error:
        code = _fail(error)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as fault:  # the boundary: usage errors of typer, else our own fault
        code = _usage_or_fault(fault)
    if code == EXIT_INTERRUPTED:  # typer makes this code of an interrupt, too
        _say("\nInterrupted. Nothing is half done.")
    sys.exit(code if isinstance(code, int) else 0)


def _fail(error: PatchmgrError) -> int:
    if _Options.wants_json:
        from patchmgr.render.machine import error_document

        _print(error_document(error))
        return error.exit_code
    from patchmgr.render.clean import clean

    _say(f"patchmgr: {clean(error.message)}")
    for hint in error.hints:
        _say(f"  hint: {clean(hint)}")
    return error.exit_code


def _usage_or_fault(fault: Exception) -> int:
    message = getattr(fault, "format_message", None)
    if message is not None:
        return _fail(PatchmgrError("usage", str(message()), ("patchmgr --help",)))
    if isinstance(fault, OSError) and fault.errno in _OF_THE_SYSTEM:
        kind = "no-space" if fault.errno in (errno.ENOSPC, errno.EDQUOT) else "system"
        where = f"{fault.filename}: " if fault.filename else ""
        return _fail(PatchmgrError(kind, f"{where}{fault.strerror}"))
    import platform
    import traceback

    versions = f"patchmgr {__version__}, Python {platform.python_version()}, {platform.platform()}"
    _say(f"patchmgr: a fault of the program. Please report this with what follows.\n{versions}")
    _say(traceback.format_exc())
    return EXIT_FAULT
