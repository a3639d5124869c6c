"""A person's decision about a patch, and the upstream text that the decision rests on."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from msgspec import Meta, Struct

from patchmgr.model.operation import Commit

_Count = Annotated[int, Meta(ge=0)]
_Text = Annotated[str, Meta(min_length=1)]


class Ruling(str, Enum):
    """The decisions that a person can make about a patch."""

    ABSORBED = "absorbed"
    NEEDED = "needed"


class Passage(Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """Lines of an upstream file, recognized by their content wherever they are in the file.

    `path` is the path that the patch names. `lines` is the number of lines, and `digest` is their
    digest; blank lines do not count, and the digest ignores white space. If `lines` is 0, `digest`
    is that of the whole file, or empty if the file does not exist. `times` is how many times the
    file contains the lines.
    """

    path: str
    lines: _Count
    digest: Annotated[str, Meta(pattern=r"^([0-9a-f]{32})?\Z")]
    times: _Count = 1


class Finding(Struct, frozen=True):
    """What a decision rests on: a digest of the patch's change, and passages of upstream's text."""

    change: str
    passages: tuple[Passage, ...]


_KEYS = {"ruling": "verdict", "passages": "text"}


class Decision(Struct, frozen=True, forbid_unknown_fields=True, rename=_KEYS):
    """A person's decision about a patch, valid while the patch and the passages stay the same.

    `by` is the reason in the person's words. `commit` and `pull` are the upstream commit and pull
    request that the reason names. A decision without passages says that the person knows of
    `commit`, a later upstream commit that refers to the upstream commit of the patch.
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
