"""Mails for git am: one file with all of them, or numbered files as git format-patch makes them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from patchmgr.formats.exports.form import Form, Item, Parcel, Pinned, is_mail
from patchmgr.formats.mboxes import joinable

_NUMBER = re.compile(r"^\d{4,}-")
_SUFFIX = re.compile(r"\.(?:patch|diff)$")


class Mailbox(Form, frozen=True):
    """`git am FILE`."""

    is_file: bool = True

    def kept(self, items: Sequence[Item], pinned: Pinned) -> tuple[bool, ...]:
        """Keep the mails that are found again in the mailbox."""
        return joinable([item.patch.raw if is_mail(item) else None for item in items])

    def files(self, parcels: Sequence[Parcel], pinned: Pinned) -> Mapping[str, bytes]:
        """Return the mailbox."""
        return {"": b"".join(parcel.content for parcel in parcels)}


class NumberedMails(Form, frozen=True):
    """`git am DIR/*`."""

    def files(self, parcels: Sequence[Parcel], pinned: Pinned) -> Mapping[str, bytes]:
        """Return a file a mail, whose names sort."""
        width = max(4, len(str(len(parcels))))
        return {
            f"{number:0{width}}-{_stem(parcel.item.patch.name)}.patch": parcel.content
            for number, parcel in enumerate(parcels, 1)
        }


def _stem(name: str) -> str:
    return _SUFFIX.sub("", _NUMBER.sub("", name.rpartition("/")[2])) or "patch"
