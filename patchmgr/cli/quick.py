"""Build only the part of the command line that a run needs."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.main import get_command, get_command_name

if TYPE_CHECKING:
    from typer.models import CommandInfo, TyperInfo

_WITH_VALUE = ("-C",)
_NO_COMMAND = "--version"  # needs no command
_HELP = ("-h", "--help")  # of the program; needs only the name and the first line of each command


def quick_command(app: typer.Typer, words: Sequence[str]) -> Callable[..., object]:
    """Return a callable that runs the command line.

    Only the command in `words` is built, or all commands if it is not certain which one that is.
    """
    is_completed = any(key.endswith("_COMPLETE") for key in os.environ)
    return _command(app, None if is_completed else _named(words))


@cache  # reading a signature takes as long as running a small command
def _command(app: typer.Typer, name: str | None) -> Callable[..., object]:
    command = get_command(_narrowed(app, name))
    _spare_pydantic(command)
    return command


def _narrowed(app: typer.Typer, name: str | None) -> typer.Typer:
    if name in _HELP:
        return _with(
            app, map(_named_only, app.registered_commands), map(_empty, app.registered_groups)
        )
    found = [each for each in app.registered_commands if _name(each) == name]
    groups = [each for each in app.registered_groups if each.name == name]
    if len(found) + len(groups) != 1 and name != _NO_COMMAND:
        return app
    return _with(app, found, groups)


def _with(
    app: typer.Typer, commands: Iterable[CommandInfo], groups: Iterable[TyperInfo]
) -> typer.Typer:
    small = copy.copy(app)
    small.registered_commands, small.registered_groups = list(commands), list(groups)
    return small


def _named_only(info: CommandInfo) -> CommandInfo:
    bare = copy.copy(info)
    bare.name, bare.help = _name(info), info.help or getdoc(info.callback)
    bare.callback = lambda: None
    return bare


def _empty(group: TyperInfo) -> TyperInfo:
    bare = copy.copy(group)
    if group.typer_instance is not None:
        bare.typer_instance = _with(group.typer_instance, (), ())
    return bare


def _named(words: Sequence[str]) -> str | None:
    """Return the command after the leading options, or None if that is not certain.

    For the help or the version of the program, the option that requests it is returned.
    """
    rest = iter(words or _HELP)
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, None)
        else:
            return word if word in (_NO_COMMAND, *_HELP) or not word.startswith("-") else None
    return None


def _name(info: CommandInfo) -> str:
    return info.name or get_command_name(info.callback.__name__ if info.callback else "")


def _spare_pydantic(command: Any) -> None:
    """Pass strings and paths to the command without loading pydantic.

    typer 0.29 loads pydantic to convert them, which takes as long as loading typer itself. If typer
    builds its parameters in another way, nothing is changed.
    """
    given = command.get_params

    def get_params(ctx: Any) -> Any:
        parameters = given(ctx)
        for parameter in parameters:
            if getattr(parameter, "_runtime_param", ...) is None:
                parameter._runtime_param = _Late(parameter)
        return parameters

    command.get_params = get_params
    for below in getattr(command, "commands", {}).values():
        _spare_pydantic(below)


class _Late:
    """A converter of parameter values that loads typer's converter only if it is needed.

    Strings and paths do not need it.
    """

    def __init__(self, parameter: Any) -> None:
        self._parameter = parameter

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a parameter's value, converted to the type that the command declares."""
        is_many = param.multiple or param.nargs == -1
        if value is None:
            return () if is_many else None
        kind, is_plain = param.type_descriptor.annotation, _is_plain(param)
        if is_plain and kind is str and isinstance(value, str):
            return value
        if is_plain and kind == list[str] and is_many and not isinstance(value, str):
            return list(value)
        if is_plain and kind is Path and isinstance(value, str) and _is_free(value):
            return Path(value)
        self._parameter._runtime_param = None
        return self._parameter.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _is_plain(parameter: Any) -> bool:
    """Return whether a parameter accepts every value of its type."""
    info = parameter.type_descriptor.parameter_info
    wishes = ("parser", "click_type", "exists", "resolve_path", "writable", "path_type")
    return not any(getattr(info, wish, None) for wish in wishes)


def _is_free(path: str) -> bool:
    """Return whether a path is missing or readable, as typer requires."""
    return os.access(path, os.R_OK) or not os.path.lexists(path)
