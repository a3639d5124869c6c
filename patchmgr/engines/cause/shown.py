"""Which upstream steps wrote what a conflict shows of upstream, and what they had in between."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from patchmgr.engines.absorption.likeness import Comparison, Likeness, find_likeness
from patchmgr.engines.cause.search import Version, text_of, with_below
from patchmgr.engines.rebase.ladder import CONFLICT
from patchmgr.engines.rebase.rebase import FileResult
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.marked import split_marked
from patchmgr.engines.text.telling import bare, is_telling
from patchmgr.model.outcome import FileConflict
from patchmgr.model.ports import Blobs, Step, TextMerge

_PARTS = re.compile(rb"[A-Z]?[a-z]{2,}|[A-Z]{2,}|[0-9]+")
# Versions of a file that a hunk is compared with: the first that disturbs it, and some behind. A
# comparison takes 30 ms for a file of 2,000 lines.
MOST_VERSIONS = 3


def shown_from(
    conflict: FileConflict, versions: Sequence[Version], blobs: Blobs
) -> tuple[Step | None, ...]:
    """Return the step that wrote upstream's text of each region, None where none is known.

    A conflict without regions has one: the last step that touched the file.
    """
    if conflict.marked is None:
        return (versions[-1].step,) if len(versions) > 1 else (None,)
    texts = [text_of(version.entry, blobs) or b"" for version in versions]
    return tuple(_writer(part, versions, texts) for part in _parts(conflict.marked))


def _parts(marked: bytes) -> Iterator[bytes]:
    """Yield upstream's lines of each region; lines that tell nothing have those around them."""
    found = split_marked(marked)
    before = b""
    for number, region in enumerate(found.regions):
        before += found.texts[number]
        part = region.region.ours
        if any(is_telling(bare(line)) for line in split_lines(part)):
            yield part
        else:
            behind = split_lines(found.texts[number + 1])
            yield b"".join((*split_lines(before)[-1:], part, *behind[:1]))
        before += part


def _writer(part: bytes, versions: Sequence[Version], texts: Sequence[bytes]) -> Step | None:
    """Return the step since which upstream has some lines, as it has them at the end."""
    first = len(texts)
    while first and part in texts[first - 1]:
        first -= 1
    return versions[first].step if 0 < first < len(texts) else None


def nearer_likeness(
    result: FileResult,
    number: int,
    since: Step | None,
    versions: Sequence[Version],
    blobs: Blobs,
    text: TextMerge,
) -> tuple[Step, bytes, Likeness] | None:
    """Return the step whose file seems to have a hunk in other words, though the target has not.

    What upstream landed in other words, and then rewrote, is nearest to the hunk right after it
    landed. Asked about are the versions from the one `since` which the hunk does not apply.
    """
    content = text_of(result.step.base, blobs)
    if since is None or content is None or result.answers[number] != CONFLICT:
        return None
    hunk, position = result.step.change.hunks[number], result.step.positions[number]
    pristine = text_of(versions[0].entry, blobs)
    steps, texts = _between(since, versions, blobs)
    if pristine not in (None, content):
        assert pristine is not None
        texts = [found or b"" for found in with_below(pristine, texts, content, text)]
    new = _word_parts(hunk.added_text()) - _word_parts(content)
    for step, ours in zip(steps, texts, strict=True):
        if new and new.isdisjoint(_word_parts(ours)):
            continue  # it brought none of the words that the patch brings
        comparison = Comparison(result.home, content, ours)
        found = find_likeness(comparison, hunk, position, is_clean=False)
        if found is not None:
            return step, ours, found
    return None


def _word_parts(text: bytes) -> frozenset[bytes]:
    """Return the words that names are made of."""
    return frozenset(part.lower() for part in _PARTS.findall(text))


def _between(
    since: Step, versions: Sequence[Version], blobs: Blobs
) -> tuple[list[Step], list[bytes]]:
    """Return a step and some of those behind it, without the last, each with the file after it."""
    steps = [version.step for version in versions]
    start = steps.index(since) if since in steps else len(steps)
    later = versions[start:-1]
    count = min(MOST_VERSIONS, len(later))
    some = [later[number * len(later) // count] for number in range(count)]
    texts = [(version.step, text_of(version.entry, blobs)) for version in some]
    found = [(step, ours) for step, ours in texts if step is not None and ours is not None]
    return [step for step, _ in found], [ours for _, ours in found]
