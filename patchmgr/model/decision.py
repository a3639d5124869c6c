"""What a person decided about a patch, and the text of upstream that it was about."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from msgspec import Meta, Struct

from patchmgr.model.operation import Commit

_Count = Annotated[int, Meta(ge=0)]
_Text = Annotated[str, Meta(min_length=1)]


class Ruling(str, Enum):
    """What a person can decide."""

    ABSORBED = "absorbed"
    NEEDED = "needed"


class Passage(Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """Lines of one upstream file, wherever they stand in it.

    `path` is the path that the patch names. The digest is of `lines` lines without white space,
    blank ones left out; of the whole file where `lines` is 0; empty where there is no file. The
    file has the lines `times` times.
    """

    path: str
    lines: _Count
    digest: Annotated[str, Meta(pattern=r"^([0-9a-f]{32})?\Z")]
    times: _Count = 1


class Finding(Struct, frozen=True):
    """What a person can decide about: a digest of the patch's change, and upstream's text."""

    change: str
    passages: tuple[Passage, ...]


_KEYS = {"ruling": "verdict", "passages": "text"}


class Decision(Struct, frozen=True, forbid_unknown_fields=True, rename=_KEYS):
    """A person's ruling on a patch, in force as long as change and passages are the same.

    `by` is what the person named as the reason, and `commit` and `pull` what that is upstream.
    Without passages it is about that commit: a later one that names what the patch is.
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
