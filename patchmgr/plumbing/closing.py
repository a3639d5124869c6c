"""A protocol for things that are closed at the end of a `with` block."""

from __future__ import annotations

from types import TracebackType
from typing import TypeVar

_Closing = TypeVar("_Closing", bound="Closing")


class Closing:
    """Something that holds files or processes until it is closed."""

    def __enter__(self: _Closing) -> _Closing:
        """Return the very thing."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it, whatever happened."""
        self.close()

    def close(self) -> None:
        """Release what it holds."""
        raise NotImplementedError
