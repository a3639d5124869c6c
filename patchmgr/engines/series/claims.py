"""Check what `series.toml` claims about the branch: that a file or symbol has certain bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.engines.series.placement import split_lines
from patchmgr.model.check import Problem
from patchmgr.model.settings import ContentClaim

Read = Callable[[str], "bytes | None"]
"""A function that returns the content of the file at a path, or None if there is no file."""


def claimed_bytes(path: str, symbol: str | None, content: bytes | None) -> bytes | None:
    """Return the content of a file, or of a symbol if one is given, or None if it is missing."""
    if content is None or symbol is None:
        return content
    lines = split_lines(content)
    own = [lines[number - 1] for number in SymbolIndex(path, content).lines_of(symbol)]
    return b"".join(own) if own else None


def digest_of(content: bytes) -> str:
    """Return the sha256 of the content in hexadecimal, as in a claim in `series.toml`."""
    return hashlib.sha256(content).hexdigest()


def broken_claims(claims: Sequence[ContentClaim], pin: Read, head: Read) -> Iterator[Problem]:
    """Yield a problem for each claim in `series.toml` that is not true at the series' head."""
    for claim in claims:
        now = claimed_bytes(claim.path, claim.symbol, head(claim.path))
        if now is None:
            sentence = f"{claim} does not exist, although series.toml claims its content"
        elif claim.digest is not None:
            if digest_of(now) == claim.digest:
                continue
            sentence = (
                f"{claim} does not have the claimed bytes; its digest is sha256:{digest_of(now)}"
            )
        elif now == claimed_bytes(claim.path, claim.symbol, pin(claim.path)):
            continue
        else:
            sentence = f"{claim} is claimed to be as in upstream, but differs"
        yield Problem("claims", sentence, None, claim.path)
