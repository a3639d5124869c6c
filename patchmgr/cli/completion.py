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
from typing import Any, NoReturn

import typer

from patchmgr import services
from patchmgr.cli.root import CHOICE, Given

VARIABLE = "_PATCHMGR_COMPLETE"

# The kind of names that a metavar stands for.
_BY_METAVAR = {
    "SERIES": "series",
    "S": "series",
    "U": "upstreams",
    "PATCH": "patches",
    "REF": "refs",
    "REF|A..B": "refs",
    "REF|TAG": "refs",
    "SYM": "guards",
    "+SYM|-SYM": "signed guards",
    "ID": "conflicts",
}
# Parameters whose metavar does not determine the names, by command and parameter name.
_BY_NAME = {
    ("branch", "without"): "patches",
    ("show", "name"): "series",
    ("fetch", "names"): "upstreams",
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
    kind = _BY_METAVAR.get(key) or _BY_NAME.get((command or "", parameter.name or ""))
    if kind is None:
        return None
    return lambda ctx, param, start: list(_matching(ctx, param, start, kind))


def _forms(context: Any, parameter: Any, start: str) -> list[str]:
    from patchmgr.formats.exports import FORMS

    return [name for name in FORMS if name.startswith(start)]


def _matching(context: Any, parameter: Any, start: str, kind: str) -> Iterator[str]:
    """Yield the names that start with `start` and have not been typed yet; in A..B, complete B."""
    head, dots, tail = start.rpartition("..") if "A..B" in (parameter.metavar or "") else ("",) * 3
    wanted, before = (tail, head + dots) if dots else (start, "")
    for name in dict.fromkeys(_known(context, kind)):
        is_given = name in _listed(context.params.get(parameter.name))
        if name.startswith(wanted) and _PLAIN.fullmatch(name) and not is_given:
            yield before + name


def _known(context: Any, kind: str) -> Iterable[str]:
    given = context.find_root().params.get("folder") or os.environ.get("PATCHMGR_WORKSPACE")
    root = services.completion_names.workspace_around(Path(given or ".").expanduser())
    if root is None:
        return []
    # While click completes the value of an option, it has not yet assigned the earlier words.
    named = [Given.series, *map(context.params.get, _NAMED_SERIES)]
    about = [n for value in named for n in _listed(value)] + context.args
    return services.completion_names.names_of(kind, root, about)


def _listed(value: object) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [str(each) for each in values if each is not None]
