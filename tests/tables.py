"""A table of cases that one test goes through: thousands of rows, and no work for each but its own.

What needs a fixture of its own in each row is `pytest.mark.parametrize`'s.
"""

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest

Test = Callable[..., None]
_Param = type(pytest.param())


def table(
    names: str | Sequence[str],
    rows: Iterable[Any] | Mapping[str, Any],
    *,
    ids: Iterable[object] | Callable[[Any], object] | None = None,
) -> Callable[[Test], Test]:
    """Run a test with each row, as parametrize does, and tell of all rows that fail, by name.

    Rows may have their names as keys.
    """
    if isinstance(rows, Mapping) and ids is None:
        rows, ids = rows.values(), rows
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    known = list(rows)
    labels = list(ids) if ids is not None and not callable(ids) else [None] * len(known)
    assert known
    assert len(labels) == len(known)

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def whole(**fixtures: Any) -> None:
            failed = []
            for label, row in zip(labels, known, strict=True):
                name, values = _of(row, label, one=len(keys) == 1)
                try:
                    test(**fixtures, **dict(zip(keys, values, strict=True)))
                except (Exception, pytest.fail.Exception):
                    shown = name or (
                        ", ".join(map(str, map(ids, values))) if callable(ids) else values
                    )
                    failed.append(f"[{shown}]\n{traceback.format_exc()}")
            if failed:
                told = "\n".join(failed)
                pytest.fail(f"{len(failed)} of {len(known)} rows fail\n{told}", pytrace=False)

        signature = inspect.signature(test)
        others = [one for name, one in signature.parameters.items() if name not in keys]
        assert len(others) == len(signature.parameters) - len(keys), "a column is no argument"
        vars(whole)["__signature__"] = signature.replace(parameters=others)
        return whole

    return decorate


def _of(row: Any, label: object, *, one: bool) -> tuple[object, Sequence[Any]]:
    """Return the name of a row, where it has one, and its values."""
    if isinstance(row, _Param):
        assert not row.marks
        return row.id or label, row.values
    return label, (row,) if one else row
