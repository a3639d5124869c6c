"""A person's decision about a patch, and the upstream text on which the decision is based."""

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
    """Lines of an upstream file, recognized by their content wherever they are in the file."""

    path: str  # the one that the patch names
    lines: _Count  # how many, without blank ones; 0 for the whole file
    # of the lines, without white space; empty if the file does not exist
    digest: Annotated[str, Meta(pattern=r"^([0-9a-f]{32})?\Z")]
    times: _Count = 1  # how often the file contains the lines


class Basis(Struct, frozen=True):
    """The basis of a decision: a digest of the patch's change, and passages of upstream's text."""

    change: str
    passages: tuple[Passage, ...]


_KEYS = {"ruling": "verdict", "passages": "text"}


class Decision(Struct, frozen=True, forbid_unknown_fields=True, rename=_KEYS):
    """A person's decision about a patch, valid while the patch and the passages stay the same."""

    series: _Text
    patch: str
    ruling: Ruling
    change: Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
    # () if the person only knows of `commit`, which refers to the patch's upstream commit
    passages: tuple[Passage, ...]
    by: str = ""  # the reason in the person's words
    commit: Commit | None = None  # the upstream commit that the reason names
    subject: str = ""
    pull: _Count | None = None  # the number of the pull request that the reason names
