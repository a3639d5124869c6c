"""Object ids as git computes them."""

from __future__ import annotations

import hashlib

ZERO_ID = "0" * 40
EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def object_id(kind: str, content: bytes) -> str:
    """Return the id (40 hex digits) that git gives an object with this kind and content."""
    head = f"{kind} {len(content)}\0".encode()
    digest = hashlib.sha1(head, usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest()


def blob_id(content: bytes) -> str:
    """Return the id (40 hex digits) that git gives a blob with this content."""
    return object_id("blob", content)


def is_full_id(text: str) -> bool:
    """Return whether the text is a full lower-case object id (40 hex digits)."""
    return len(text) == 40 and all(c in "0123456789abcdef" for c in text)
