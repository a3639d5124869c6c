"""A person's decision about a patch, and the upstream text that it rests on."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from msgspec import Meta, Struct

from patchmgr.model.operation import Commit

_Count = Annotated[int, Meta(ge=0)]
_Text = Annotated[str, Meta(min_length=1)]


class Ruling(str, Enum):
    """The possible decisions of a person."""

    ABSORBED = "absorbed"
    NEEDED = "needed"


class Passage(Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """Lines of an upstream file, wherever they are in it.

    `path` is the path that the patch names. The digest covers `lines` lines, without white space
    and blank lines. If `lines` is 0, it covers the whole file; it is empty if there is no file.
    `times` counts how often the file has the lines.
    """

    path: str
    lines: _Count
    digest: Annotated[str, Meta(pattern=r"^([0-9a-f]{32})?\Z")]
    times: _Count = 1


class Finding(Struct, frozen=True):
    """The subject of a decision: a digest of the patch's change, and upstream's text."""

    change: str
    passages: tuple[Passage, ...]


_KEYS = {"ruling": "verdict", "passages": "text"}


class Decision(Struct, frozen=True, forbid_unknown_fields=True, rename=_KEYS):
    """A person's decision about a patch; it holds while the change and the passages are the same.

    `by` is the reason as the person gave it; `commit` and `pull` are the upstream objects that it
    names. A decision without passages is about that commit: a later one that names the upstream
    commit of the patch.
    """

    series: _Text
    patch: str
    ruling: Ruling
    change: Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
    passages: tuple[Passage, ...]
    by: str = ""
    commit: Commit | None = None
    subject: str = ""
    pull: _Count | None = None
