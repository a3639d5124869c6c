"""The three versions of a file that a structural merge takes."""

from __future__ import annotations

from msgspec import Struct

LARGEST = 2 << 20
"""A text with more characters than this is not merged or checked by structure.

The size decides, never the time that a merge takes. A Python file of a sixth of this size takes six
seconds to merge, and more on a busy machine.
"""


class Texts(Struct, frozen=True):
    """The base, upstream and fork (patched) versions of a file that git leaves in conflict.

    Line endings are not changed, and bytes that are not UTF-8 are surrogate escapes.
    """

    base: str
    upstream: str
    fork: str

    def sides(self) -> tuple[str, str, str]:
        """Return the three versions of the file: base, upstream and fork."""
        return self.base, self.upstream, self.fork
