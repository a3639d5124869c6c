"""The ledger: every line that a patch adds or removes is accounted for, and so is upstream's text.

This module shares no code with the engine that made the result. It has its own small reader of
patches on purpose: a fault in the engine's reader must not be hidden by the same fault here. It
reads the patch files, the two upstream states, the result, and the diffs of the upstream commits
that were cited. What the engine says became of a hunk (`Fate`) only says what to prove:

- *Carried as text.* Let B be the file on the pin, S the series on it, U upstream's file and R the
  result. A merge replaces separate ranges of lines, so for every pair of neighbouring lines its
  numbers must obey R - U = S - B, up to what both sides changed alike. This holds however a diff
  aligns the lines. Lines whose text no patch adds or removes must be in R exactly as they are in
  U, in their order, and lines that were added together are together: so nothing of upstream is
  lost, doubled or reordered either.
- *Carried by other means* (a formatter, a structural merge, a move). Here the layout is free: white
  space, line breaks, commas, parentheses, quotes and backslashes do not count. The words obey the
  same equation, and the lines that both R and U have once are in the same order. What the patch
  defines, R defines. An import that code needs in its new home may come with it.
- *Solved by a person.* What the patch adds and the result lacks was given up.
- *Upstream has it.* Each added line is in upstream's file, by its words, or a cited commit brought
  it. Each removed line is gone, or a cited commit took it away.
- *Given up*: the result has nothing of it. *In conflict*: there is no result of these files yet,
  and they are held to it in the run that has the person's resolution.

Files are summed together where a patch, or upstream, moves text from one to the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from patchmgr.engines.ledger.account import Account, Group, Part, Told
from patchmgr.engines.ledger.claims import CARRIED, Cited, Claim, Claimed, Fate, State
from patchmgr.engines.ledger.diffs import Diff, read_diffs
from patchmgr.engines.ledger.evidence import Evidence, evidence_of, unproved
from patchmgr.engines.ledger.words import faults_by_words, give_up
from patchmgr.model.audit import Ledger, Sums

_STRIPS = (1, 0, 2, 3)


def balance(
    patches: Sequence[Claimed], base: State, onto: State, result: State, *, cited: Cited
) -> Ledger:
    """Account for each line of the patches, which are written against base, on onto."""
    added, removed = Counter[Fate](), Counter[Fate]()
    faults: list[Told] = []
    evidence: list[Evidence] = []
    for group in _groups(patches):
        account = Account(group, base, onto, result, cited)
        fates = {fate for part in group.parts for fate in part.fates}
        found = account.close()
        if found and Fate.PERSON in fates:
            give_up(account)
        elif found and Fate.OTHERWISE in fates:
            faults += faults_by_words(account)
        else:
            faults += found
        evidence += evidence_of(account)
        added.update(account.added)
        removed.update(account.removed)
    faults += unproved(evidence)
    return Ledger(_sums(added), _sums(removed), tuple(faults))


def _sums(count: Mapping[Fate, int]) -> Sums:
    carried = sum(count[fate] for fate in CARRIED)
    return Sums(carried, count[Fate.UPSTREAM], count[Fate.CONFLICT], count[Fate.GIVEN_UP])


def _groups(patches: Sequence[Claimed]) -> list[Group]:
    by_path: dict[str, Group] = {}
    for patch in patches:
        claims = list(patch.claims)
        for diff in _read(patch):
            claim = next((c for c in claims if c.path == diff.path), None)
            if claim is None:
                claim = Claim(diff.path, (), (patch.rest,))
            else:
                claims.remove(claim)
            paths = dict.fromkeys(p for p in (diff.old, diff.new, *claim.homes) if p)
            group = _joined(by_path, paths)
            group.parts.append(Part(patch, diff, claim.fates or (patch.rest,)))
    order = {id(patch): number for number, patch in enumerate(patches)}
    groups = list({id(group): group for group in by_path.values()}.values())
    for group in groups:
        group.parts.sort(key=lambda part: order[id(part.patch)])
    return groups


def _read(patch: Claimed) -> list[Diff]:
    """Read a patch with as many folders off its paths as its claims say."""
    paths = {claim.path for claim in patch.claims}
    for strip in _STRIPS:
        found = read_diffs(patch.diff, strip=strip, is_reversed=patch.is_reversed)
        if not paths or any(diff.path in paths for diff in found):
            return found
    return read_diffs(patch.diff, is_reversed=patch.is_reversed)


def _joined(by_path: dict[str, Group], paths: Iterable[str]) -> Group:
    paths = tuple(paths)
    found = list({id(by_path[p]): by_path[p] for p in paths if p in by_path}.values())
    group = found[0] if found else Group()
    for other in found[1:]:
        group.parts += other.parts
        group.paths |= other.paths
    group.paths |= dict.fromkeys(paths)
    by_path.update(dict.fromkeys(group.paths, group))
    return group
