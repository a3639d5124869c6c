"""Convert parameters without pydantic, because pydantic takes as long to load as typer."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def spare_pydantic(parameters: Iterable[Any]) -> None:
    """Make parameters pass strings and paths to the command without loading pydantic.

    typer 0.29 loads pydantic to convert them. If another version of typer builds its parameters
    differently, nothing is changed.
    """
    for parameter in parameters:
        if getattr(parameter, "_runtime_param", ...) is None:
            parameter._runtime_param = _Late(parameter)


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
