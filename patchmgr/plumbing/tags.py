"""Annotated tags: objects made of the same bytes wherever they are made."""

from __future__ import annotations

import hashlib
from pathlib import Path

from patchmgr.model.patch import COMMITTER_EMAIL, COMMITTER_NAME, Author
from patchmgr.plumbing import door


def tag_object(name: str, commit: str, message: bytes, dated: Author) -> bytes:
    """Return a tag of a commit: the tagger is patchmgr, at the date of another's."""
    tagger = f"{COMMITTER_NAME} <{COMMITTER_EMAIL}> {dated.date}"
    head = f"object {commit}\ntype commit\ntag {name}\ntagger {tagger}\n\n"
    return door.raw(head) + message


def tag_id(tag: bytes) -> str:
    """Return the id of a tag object."""
    whole = f"tag {len(tag)}".encode() + b"\0" + tag
    return hashlib.sha1(whole, usedforsecurity=False).hexdigest()


def write_tag(git_dir: Path, tag: bytes) -> None:
    """Write a tag object; its commit must be there."""
    door.output(["mktag"], git_dir=git_dir, data=tag)
