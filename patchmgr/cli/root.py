"""What commands share: common options, the session, output, messages and progress bars.

Results go to stdout; messages and progress bars go to stderr.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import time
from functools import cache
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from msgspec import Struct

from patchmgr import __version__, render, services
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.model.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from patchmgr.services.open_series import CheckoutOptions
    from patchmgr.services.session import Session

Verb = TypeVar("Verb", bound="Callable[..., None]")


def option(usage: str, about: str | None = None, **more: Any) -> Any:
    """Return a typer option; `usage` lists its names and its metavar, and `about` is its help."""
    words = usage.split(" ")
    names = [word for word in words if word.startswith("-")]
    metavar = " ".join(words[len(names) :]) or None
    if metavar is not None and CHOICE.fullmatch(metavar):
        more["callback"] = _one_of(names[0], metavar.split("|"))
    return typer.Option(*names, metavar=metavar, help=about, **more)


CHOICE = re.compile(r"[a-z][a-z0-9.-]*(?:\|[a-z][a-z0-9.-]*)+")
"""Matches the metavar of an option whose value is one of several words: `git|package`."""


def _one_of(name: str, words: list[str]) -> Callable[[str | None], str | None]:
    def checked(given: str | None) -> str | None:
        if given is not None and given not in words:
            either = f"{', '.join(words[:-1])} or {words[-1]}"
            raise UsageError(f"{name} must be {either}, not {given}")
        return given

    return checked


def only_with(other: str, is_given: object, options: Mapping[str, object]) -> None:
    """Raise PatchmgrError "usage" if one of the options was given without the option `other`.

    `options` maps the names of options and arguments to values that are false if not given.
    """
    for name, value in options.items():
        if value and not is_given:
            raise UsageError(f"{name} needs {other}")


def never_with(other: str, is_given: object, options: Mapping[str, object]) -> None:
    """Raise PatchmgrError "usage" if one of the options was given with the option `other`."""
    for name, value in options.items():
        if value and is_given:
            raise UsageError(f"{name} cannot be used with {other}")


def argument(usage: str | None, about: str | None = None) -> Any:
    """Return a typer argument; `usage` is its metavar, and `about` is its help text."""
    return typer.Argument(metavar=usage, help=about)


Confidence = Annotated[
    int | None,
    option(
        "--confidence PERCENT",
        "Use only merge rules that were right in PERCENT of cases or more.",
        min=50,
        max=100,
    ),
]
Names = Annotated[list[str] | None, argument("[SERIES]...")]
MaybeName = Annotated[str | None, argument("[SERIES]")]


class Given:
    """What the user typed for this run: -C, the words of the command, and common options.

    `session` is the session of the run, if the command has opened a workspace.
    """

    folder: Path | None = None
    line = "patchmgr"
    wants_json = is_verbose = is_quiet = wants_detail = False
    is_dry_run: bool | None = None  # None: the command has no --dry-run
    checkout: Path | None = None
    series: str | None = None
    selected: frozenset[str] = frozenset()
    session: Session | None = None


def noted(name: str, usage: str, about: str) -> Any:
    """Return an option whose value is also stored in the attribute `name` of `Given`."""

    def note(value: Any) -> Any:
        setattr(Given, name, value)
        if Given.is_verbose and Given.is_quiet:
            raise UsageError("--verbose and --quiet cannot be used together")
        return value

    return option(usage, about, callback=note)


def _select(symbols: list[str]) -> None:
    Given.selected = frozenset(symbols)


def _common(
    to: Annotated[
        Path | None,
        noted("checkout", "--to CHECKOUT", "The checkout; default: the one that you are in."),
    ] = None,
    series: Annotated[
        str | None, noted("series", "--series S", "The series; needed if there are several.")
    ] = None,
    select: Annotated[
        list[str],
        option(
            "--select SYM", "Select the guard symbol or group SYM; repeatable.", callback=_select
        ),
    ] = [],  # noqa: B006 - typer copies it
    dry_run: Annotated[
        bool, noted("is_dry_run", "--dry-run", "Show what would be done, but write nothing.")
    ] = False,
    verbose: Annotated[
        bool, noted("is_verbose", "--verbose -v", "Also list what is unchanged.")
    ] = False,
    every_patch: Annotated[
        bool, noted("is_verbose", "--verbose -v", "List every patch, however many there are.")
    ] = False,
    quiet: Annotated[
        bool, noted("is_quiet", "--quiet -q", "Print only one line per series.")
    ] = False,
    json: Annotated[bool, noted("wants_json", "--json", "Print one JSON document.")] = False,
) -> None:
    """Declare the options that `takes` adds to commands; their values are stored in `Given`."""


@cache
def common_options() -> dict[str, Any]:
    """Return the options that several commands share, as click's parameters, keyed by name."""
    app = typer.Typer(add_completion=False)
    app.command()(_common)
    found = {option.name: option for option in typer.main.get_command(app).params}
    for option in found.values():
        option.expose_value = False
    return found


def takes(*names: str) -> Callable[[Verb], Verb]:
    """Return a decorator that gives a command the named common options, after its own options."""

    def with_options(verb: Verb) -> Verb:
        vars(verb)["takes"] = names
        return verb

    return with_options


def _print_version(context: typer.Context, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        typer.echo(f"patchmgr {__version__}")
        raise typer.Exit


def before(
    folder: Annotated[
        Path | None, option("-C DIR", "Use the workspace in DIR.", show_default=False)
    ] = None,
    version: Annotated[
        bool, option("--version", "Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Keep ordered patch series on pinned upstream commits, and carry them onto new ones.

    Example: patchmgr rebase --onto upstream/main --dry-run
    """
    Given.folder = folder


def open_session(*, settles: bool = True) -> Session:
    """Open the workspace that -C or PATCHMGR_WORKSPACE names.

    Without them, it is the workspace around the current folder or, in a checkout with pushed
    patches, the workspace that is recorded in the checkout. With `settles`, an interrupted
    operation is finished first.
    """
    cwd = Path.cwd()
    return _open(
        named_workspace() or services.completion_names.workspace_around(cwd) or cwd, settles=settles
    )


def look_for_session() -> Session | None:
    """Open the workspace that `open_session` would open, or return None if there is none.

    An interrupted operation stays as it is.
    """
    try:
        return open_session(settles=False)
    except PatchmgrError as fault:
        if fault.kind != "no-workspace" or named_workspace() is not None:
            raise
    return None


def open_series(name: str | None) -> tuple[Session, str]:
    """Open the workspace; return its session and the named series, or the only series."""
    session = open_session()
    return session, services.checkouts.only_series(session, name)


def open_all_series(names: list[str] | None) -> tuple[Session, list[str]]:
    """Open the workspace; return its session and the named series, by default all series."""
    session = open_session()
    return session, names or sorted(session.workspace.lock().series)


def open_checkout_series(*, begins: bool = False, **how: Any) -> tuple[Session, CheckoutOptions]:
    """Open the workspace for a command on a checkout; return the session and the options.

    Without --to, the checkout is the one around the current folder. If patches are pushed in it,
    its record names the workspace. With `begins`, the checkout need not have a record yet.
    """
    named, cwd = named_workspace(), Path.cwd()
    target = None if Given.checkout is None else Path(os.path.abspath(Given.checkout))
    start, checkout = services.checkouts.find_place(cwd=cwd, named=named, to=target, begins=begins)
    return _open(start), services.open_series.CheckoutOptions(checkout, Given.series, cwd, **how)


def named_workspace() -> Path | None:
    """Return the folder that -C or PATCHMGR_WORKSPACE names, or None."""
    named = Given.folder or os.environ.get("PATCHMGR_WORKSPACE")
    return Path(named) if named else None


def _open(start: Path, *, settles: bool = True) -> Session:
    session = _session(Path(os.path.realpath(start)))
    if settles:
        session.settle()
    if Given.selected and (unknown := Given.selected - session.workspace.symbols()):
        say(f"warning: no guard or group is named {' or '.join(sorted(unknown))}")
    return session


def open_root(root: Path) -> Session:
    """Open the workspace whose root is this folder, and return its session."""
    return _session(root, is_root=True)


def _session(place: Path, *, is_root: bool = False) -> Session:
    """Open the workspace that contains `place` or, with `is_root`, the one at `place`."""
    from patchmgr.workspace import Workspace, find_workspace

    words = shlex.join(sys.argv[1:])
    if is_root:
        opened = Workspace(place, command=words)
    else:
        opened = find_workspace(place, command=words, is_dry_run=bool(Given.is_dry_run))
    progress = stderr_progress()
    Given.session = session = services.session.Session(
        opened, progress, progress.tell, Given.selected, Given.wants_json or Given.wants_detail
    )
    return session


def view_of() -> render.view.View:
    """Return the view for results, given --verbose, --quiet and what the terminal supports."""
    kinds = render.view.Detail
    detail = kinds.ALL if Given.is_verbose else kinds.LINE if Given.is_quiet else kinds.CHANGES
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = get_terminal_size().columns if has_width else render.view.UNLIMITED
    return render.view.View(detail, width, wants_color(), bool(Given.is_dry_run))


def near_path(path: Path) -> Path:
    """Return the path relative to the current folder, or as it was given if that is shorter."""
    return Path(min(os.path.relpath(path), str(path), key=len))


def show(result: str | Iterable[str]) -> None:
    """Print a result, given as text or as lines without newlines, to stdout."""
    text = text_of(result)
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.flush()


def text_of(result: str | Iterable[str]) -> str:
    """Join lines into one string, with a newline after each; return a string unchanged."""
    return result if isinstance(result, str) else "".join(f"{line}\n" for line in result)


def answer(
    value: Struct | Mapping[str, Any],
    text: str | Iterable[str],
    *,
    pages: bool = False,
    **more: Any,
) -> None:
    """Print a result as `text` or, with --json, as a document with its fields and those in `more`.

    If the command has the option --dry-run, the document says whether it was given. With `pages`,
    the text goes through the pager on a terminal.
    """
    if Given.wants_json:
        command = Given.line.removeprefix("patchmgr ")
        marks = {} if Given.is_dry_run is None else {"dry_run": Given.is_dry_run}
        show(render.machine.document(command, marks, value, more))
    elif pages:
        show_pages(text_of(text))
    else:
        show(text)


def end_if(is_so: object, code: int) -> None:
    """End the run with exit code `code` if `is_so` is true."""
    if is_so:
        raise typer.Exit(code)


def show_pages(text: str) -> None:
    """Print a long result; on a terminal, use the pager."""
    if not sys.stdout.isatty():
        show(text)
        return
    from patchmgr.plumbing.programs import page

    page(text.encode("utf-8", "backslashreplace"))


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file that the user named, completely or not at all."""
    from patchmgr.plumbing.outputs import write_output

    if isinstance(content, str):
        content = content.encode("utf-8", "backslashreplace")
    write_output(path, content)


def show_diff(header: bytes, diff: bytes) -> None:
    """Print a patch's header and diff, colored and escaped on a terminal, or else as raw bytes."""
    if not sys.stdout.isatty():
        sys.stdout.buffer.write(header + diff)
        sys.stdout.flush()
        return
    show_pages(render.rebase.diff_text(header, diff, color=view_of().color))


def say_next(session: Session) -> None:
    """Tell the user how to continue the rebase, if one is in progress."""
    if not Given.wants_json and services.work_area.read_in_progress(session.workspace):
        say("A rebase is in progress. To continue it: patchmgr rebase --continue")


def say(*lines: str) -> None:
    """Print lines to stderr, with unsafe characters escaped."""
    say_raw(*map(render.escape.clean, lines))


def say_raw(*lines: str) -> None:
    """Print lines to stderr as they are; the caller must escape unsafe characters."""
    sys.stderr.writelines(f"{line}\n" for line in lines)


class _Task(Struct):
    label: str
    total: int | None
    count: int = 0

    def bar(self, width: int) -> str:
        if not self.total:
            return f"{self.label} {self.count or ''}"
        done = min(1.0, self.count / self.total)
        filled = int(done * width)
        return f"{self.label} [{'#' * filled}{'.' * (width - filled)}] {done:4.0%}"


class StderrProgress(Progress):
    """Progress on stderr: a bar or, without bars, one line for each large task of known size."""

    def __init__(self, *, shows_bar: bool) -> None:
        self._shows_bar = shows_bar
        self._tasks: list[_Task] = []  # each is a part of the one before
        self._drawn = 0.0

    def start(self, label: str, total: int | None) -> None:
        """Begin a task of `total` units, or of unknown size if `total` is None."""
        self._tasks.append(_Task(label, total))
        self._draw()
        if not self._shows_bar and total is not None and total > _LARGE:
            say(f"{label} ({total / 1e6:.1f} MB)")

    def advance(self, amount: int) -> None:
        """Count `amount` more units of the task as done, and redraw the bar."""
        self._tasks[-1].count += amount
        if time.monotonic() - self._drawn > 0.05:
            self._draw()

    def _draw(self) -> None:
        if self._shows_bar:
            self._drawn = time.monotonic()
            bars = ", ".join(one.bar(24 // len(self._tasks)) for one in self._tasks)
            sys.stderr.write(f"{_CLEAR}{bars[: get_terminal_size().columns - 1]}")
            sys.stderr.flush()

    def done(self) -> None:
        """End the task, and remove its bar."""
        self._tasks.pop()
        self._clear()
        if self._tasks:
            self._draw()

    def _clear(self) -> None:
        if self._shows_bar:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()

    def tell(self, line: str) -> None:
        """Print a line to stderr, above the bar if there is one."""
        if self._tasks:
            self._clear()
        say(line)
        if self._tasks:
            self._draw()


_CLEAR = "\r\x1b[K"
_LARGE = 1_000_000


def stderr_progress() -> StderrProgress:
    """Return the progress display of this run, with bars if stderr is a terminal."""
    return StderrProgress(shows_bar=sys.stderr.isatty() and os.environ.get("TERM") != "dumb")


def wants_color() -> bool:
    """Return whether stdout is a terminal that supports color, and NO_COLOR is not set."""
    is_wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return is_wanted and sys.stdout.isatty()
