"""Shell completion: print the possible values of a parameter, but never a message.

The metavar of a parameter determines these values.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from patchmgr import services
from patchmgr.cli.root import CHOICE, Given

if TYPE_CHECKING:
    from patchmgr.services.completion_names import Candidates

VARIABLE = "_PATCHMGR_COMPLETE"

Names = Callable[["Candidates"], Iterable[str]]

_BY_METAVAR: dict[str, Names] = {
    "SERIES": lambda known: known.series(),
    "S": lambda known: known.series(),
    "U": lambda known: known.upstreams(),
    "PATCH": lambda known: known.patches(),
    "REF": lambda known: known.refs(),
    "REF|A..B": lambda known: known.refs(),
    "REF|TAG": lambda known: known.refs(),
    "SYM": lambda known: known.guards(),
    "+SYM|-SYM": lambda known: (s + n for n in known.guards() for s in "+-"),
    "ID": lambda known: known.conflicts(),
}
# Parameters whose metavar does not determine the values, by command and parameter name.
_BY_NAME: dict[tuple[str, str], Names] = {
    ("branch", "without"): lambda known: known.patches(),
    ("show", "name"): lambda known: known.series(),
    ("fetch", "names"): lambda known: known.upstreams(),
}
# Names without characters that are special in a shell; no other name is completed.
_PLAIN = re.compile(r"[\w@%+,./-]+")
_NAMED_SERIES = ("series", "name", "names")


def is_asked() -> bool:
    """Return whether a shell runs the program to get completions or the completion script."""
    return VARIABLE in os.environ


def answer(app: typer.Typer) -> NoReturn:
    """Print the completions that the shell asks for; if an error occurs, print nothing."""
    code: object = 1
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            command = typer.main.get_command(app)
            _set_completion(command)
            command(prog_name="patchmgr", complete_var=VARIABLE, standalone_mode=False)
    except SystemExit as end:
        code = end.code
    except (Exception, KeyboardInterrupt):  # the shell would offer the message as a value
        sys.exit(1)
    sys.stdout.buffer.write(printed.getvalue().encode("utf-8", "replace"))
    sys.stdout.flush()
    sys.exit(code if isinstance(code, int) else 0)


def _set_completion(command: Any) -> None:
    """Set the completion of each parameter of a command and of its subcommands."""
    for parameter in command.params:
        names = _names(command.name, parameter)
        if names is not None:
            # The public argument `shell_complete` of click's parameters sets this attribute.
            parameter._custom_shell_complete = names
    for below in getattr(command, "commands", {}).values():
        _set_completion(below)


def _names(command: str | None, parameter: Any) -> Callable[[Any, Any, str], list[str]] | None:
    metavar = re.sub(r"\.\.\.$|[][]", "", (parameter.metavar or "").replace("]...", "]"))
    if CHOICE.fullmatch(metavar):
        choices = metavar.split("|")
        return lambda ctx, param, start: [word for word in choices if word.startswith(start)]
    if parameter.name == "form":
        return _forms
    key = "PATCH" if parameter.name == "patch" else metavar
    names = _BY_METAVAR.get(key) or _BY_NAME.get((command or "", parameter.name or ""))
    if names is None:
        return None
    return lambda ctx, param, start: list(_matching(ctx, param, start, names))


def _forms(context: Any, parameter: Any, start: str) -> list[str]:
    from patchmgr.formats.exports import FORMS

    return [name for name in FORMS if name.startswith(start)]


def _matching(context: Any, parameter: Any, start: str, names: Names) -> Iterator[str]:
    """Yield the names that start with `start` and have not been typed yet; in A..B, complete B."""
    head, dots, tail = start.rpartition("..") if "A..B" in (parameter.metavar or "") else ("",) * 3
    wanted, before = (tail, head + dots) if dots else (start, "")
    for name in dict.fromkeys(_known(context, names)):
        is_given = name in _listed(context.params.get(parameter.name))
        if name.startswith(wanted) and _PLAIN.fullmatch(name) and not is_given:
            yield before + name


def _known(context: Any, names: Names) -> list[str]:
    given = context.find_root().params.get("folder") or os.environ.get("PATCHMGR_WORKSPACE")
    root = services.completion_names.workspace_around(Path(given or ".").expanduser())
    if root is None:
        return []
    # While click completes the value of an option, it has not yet assigned the earlier words.
    named = [Given.series, *map(context.params.get, _NAMED_SERIES)]
    about = [n for value in named for n in _listed(value)] + context.args
    return list(names(services.completion_names.Candidates(root, about)))


def _listed(value: object) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [str(each) for each in values if each is not None]
