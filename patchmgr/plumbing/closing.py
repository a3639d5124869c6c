"""The base class of objects that are closed at the end of a `with` block."""

from __future__ import annotations

from types import TracebackType
from typing import TypeVar

_Closing = TypeVar("_Closing", bound="Closing")


class Closing:
    """An object that holds files or processes until it is closed."""

    def __enter__(self: _Closing) -> _Closing:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the object, whether or not an error was raised."""
        self.close()

    def close(self) -> None:
        """Release the files and processes that the object holds."""
        raise NotImplementedError
