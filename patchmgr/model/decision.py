"""What a person decided about a patch, and the text of upstream that it was about."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Ruling(str, Enum):
    """What a person can decide."""

    ABSORBED = "absorbed"
    NEEDED = "needed"


class Passage(Struct, frozen=True, order=True):
    """Lines of one upstream file, wherever they stand in it.

    `path` is the path that the patch names. The digest is of `lines` lines without white space,
    blank ones left out; of the whole file where `lines` is 0; empty where there is no file. The
    file has the lines `times` times.
    """

    path: str
    lines: int
    digest: str
    times: int = 1


class Finding(Struct, frozen=True):
    """What a person can decide about: a digest of the patch's change, and upstream's text."""

    change: str
    passages: tuple[Passage, ...]


class Decision(Struct, frozen=True):
    """A person's ruling on a patch, in force as long as change and passages are the same.

    `by` is what the person named as the reason, and `commit` and `pull` what that is upstream.
    """

    series: str
    patch: str
    ruling: Ruling
    change: str
    passages: tuple[Passage, ...]
    by: str = ""
    commit: str | None = None
    subject: str = ""
    pull: int | None = None
