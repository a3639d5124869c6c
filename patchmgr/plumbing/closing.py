"""The base class of things that are closed at the end of a `with` block."""

from __future__ import annotations

from types import TracebackType
from typing import TypeVar

_Closing = TypeVar("_Closing", bound="Closing")


class Closing:
    """A thing that holds files or processes until it is closed."""

    def __enter__(self: _Closing) -> _Closing:
        """Return the thing itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it, whether or not an error was raised."""
        self.close()

    def close(self) -> None:
        """Release its files and processes."""
        raise NotImplementedError
