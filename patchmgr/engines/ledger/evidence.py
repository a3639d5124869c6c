"""What upstream is said to have of the patches: in its files, or in a cited commit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from patchmgr.engines.ledger.account import Account, Part, Told, fault, number_of, quoted
from patchmgr.engines.ledger.claims import Fate
from patchmgr.engines.ledger.diffs import Hunk
from patchmgr.engines.ledger.texts import (
    IMPORT,
    REMARK,
    Words,
    squeezed,
    squeezed_counts,
    words_of,
)

_TRAILING = re.compile(rb"\s+(?:#|//)\s.*")


class Evidence(Struct, frozen=True):
    """What nobody has of hunks that upstream is said to have, without layout and remarks.

    `numbers` count the added and the removed lines that were looked for. `lacks` are added
    lines that are nowhere, `still` removed ones that are there as before.
    """

    patch: str
    path: str
    numbers: tuple[int, int]
    lacks: tuple[bytes, ...]
    still: tuple[bytes, ...]


def evidence_of(account: Account) -> Iterator[Evidence]:
    """Look for what upstream is said to have: in its files, and in the cited commits."""
    by_patch: dict[str, list[Part]] = {}
    for part in account.parts:
        if Fate.UPSTREAM in part.fates:
            by_patch.setdefault(part.patch.name, []).append(part)
    if not by_patch or account.is_unreadable():
        return
    account.written_end()
    written = {squeezed(line) for lines in account.end.values() for line in lines or ()}
    here, before = (
        sum((squeezed_counts(side.read(path) or b"") for path in account.paths), Counter[bytes]())
        for side in (account.onto, account.base)
    )
    for name, parts in by_patch.items():
        hunks = [h for part in parts for h, fate in part.hunks() if fate is Fate.UPSTREAM]
        added = _telling(line for hunk in hunks for line in hunk.only(b"+"))
        removed = _telling(line for hunk in hunks for line in hunk.only(b"-"))
        # What a later patch of the series replaced need not be there.
        lacks = {line for line in added - removed if line in written and not here[line]}
        still = {
            line
            for line in removed - added
            if line not in written and here[line] >= before[line] > 0
        }
        if lacks or still:
            lacks, still = _beyond_cited(account, parts[0], lacks, still)
            lacks -= _within_longer(account, parts[0], hunks, lacks)
        yield Evidence(
            name,
            parts[0].diff.path,
            (len(added), len(removed)),
            _as_written(hunks, b"+", lacks),
            _as_written(hunks, b"-", still),
        )


def _cited_steps(account: Account, part: Part) -> list[tuple[bytes, bytes]]:
    """Return what the cited commits of a patch made of the files."""
    asked = ((commit, path) for commit in part.patch.cited for path in account.paths)
    return [step for commit, path in asked for step in account.cited(commit, path)]


def _beyond_cited(
    account: Account, part: Part, lacks: set[bytes], still: set[bytes]
) -> tuple[set[bytes], set[bytes]]:
    """Take away what upstream has in another layout, and what a cited commit did."""
    told = {squeezed(line) for text in part.patch.reworded for line in text.split(b"\n")}
    steps = _cited_steps(account, part)
    texts = [squeezed(account.onto.read(path) or b"") for path in account.paths]
    texts += [squeezed(new) for _, new in steps]
    gone = {
        line
        for old, new in (steps if still else ())
        for line in squeezed_counts(old) - squeezed_counts(new)
    }
    lacks = {line for line in lacks - told if not any(line in text for text in texts)}
    return lacks, still - told - gone


def _within_longer(
    account: Account, part: Part, hunks: Sequence[Hunk], lacks: set[bytes]
) -> set[bytes]:
    """Return the lines of which a new line of upstream has every word, and more.

    A set on one line, to which upstream added ours and others, is such a one.
    """
    if not lacks:
        return set()
    sides = account.base, account.onto
    ends = [tuple(side.read(path) or b"" for side in sides) for path in account.paths]
    longer: list[Words] = []
    for old, new in (*ends, *_cited_steps(account, part)):
        known = set(old.split(b"\n"))
        longer += [words_of([line]) for line in new.split(b"\n") if line not in known]
    wanted = {squeezed(line): words_of([line]) for h in hunks for line in h.only(b"+")}
    return {
        line for line in lacks & wanted.keys() if any(not wanted[line] - words for words in longer)
    }


def _telling(lines: Iterable[bytes]) -> Counter[bytes]:
    """Count lines without their layout; remarks and lines of hardly a word are left out.

    So are imports: the same names may be imported in other statements, and the audit resolves them.
    """
    found = (
        squeezed(_TRAILING.sub(b"", line))
        for line in lines
        if not REMARK.match(line) and not IMPORT.match(line)
    )
    return Counter(line for line in found if len(line) > 2)


def _as_written(hunks: Iterable[Hunk], kind: bytes, wanted: set[bytes]) -> tuple[bytes, ...]:
    """Return the lines of a kind whose text without layout is among some."""
    lines = {squeezed(line): line for hunk in hunks for line in hunk.only(kind)} if wanted else {}
    return tuple(line for key, line in lines.items() if key in wanted)


def unproved(evidence: Sequence[Evidence]) -> Iterator[Told]:
    """Judge what upstream is said to have, patch by patch.

    Upstream lands patches with changes of the review: what it left out of one that it has for the
    most part is told, and no more. Where it lacks most of a patch, that is no absorption.
    """
    for name in dict.fromkeys(one.patch for one in evidence):
        found = [one for one in evidence if one.patch == name]
        lacks = [line for one in found for line in one.lacks]
        still = [line for one in found for line in one.still]
        if not lacks and not still:
            continue
        added, removed = (sum(sides) for sides in zip(*(o.numbers for o in found), strict=True))
        told = [
            f"{verb} {number_of(len(lines), 'line')} that the patch {did}: {quoted(lines)}"
            for verb, lines, did in (("lacks", lacks, "adds"), ("still has", still, "removes"))
            if lines
        ]
        is_certain = 2 * len(lacks) > added or 2 * len(still) > removed
        first = next(one for one in found if one.lacks or one.still)
        text = f"this counts as absorbed, but upstream {'; it '.join(told)}"
        yield name, fault(first.path, 0, text, is_certain=is_certain)
