"""Text merges: git's own, and those that it is spared."""

import random
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from patchmgr.engines.rebase.ladder import CARRIED_TEXT, judge_hunk
from patchmgr.engines.series.placement import apply_one
from patchmgr.engines.text import separate_changes
from patchmgr.engines.text.known_changes import surely_applies
from patchmgr.engines.text.separate_changes import Text, changes_between, merge_apart, merge_around
from patchmgr.model.merge import Clean, Conflicted
from patchmgr.model.patch import Hunk
from patchmgr.plumbing import git_process, text_merge
from patchmgr.plumbing.scratch_repository import Scratch
from patchmgr.plumbing.text_merge import GitTextMerge
from tests.engines.series import hunks_between

Three = tuple[bytes, bytes, bytes]
CASES = 400


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    store = tmp_path / "store.git"
    subprocess.run(["git", "init", "--quiet", "--bare", "--template=", str(store)], check=True)
    with Scratch([store]) as made:
        yield made


class Chance:
    """Texts of few different lines, and edits that copy, move and repeat them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def three(self) -> Three:
        choice, size = self._random, self._random.choice([5, 15, 40, 100])
        few = [b"a%d\n" % number for number in range(choice.choice([2, 4, 10]))]
        share = choice.random()
        base = [
            b"u%d\n" % number if choice.random() < share else choice.choice(few)
            for number in range(size)
        ]
        middle = size // 2
        if choice.random() < 0.7:
            ours = self._edited(base[:middle], few) + base[middle:]
            theirs = base[:middle] + self._edited(base[middle:], few)
        else:
            ours, theirs = self._edited(base, few), self._edited(base, few)
        return b"".join(base), b"".join(ours), b"".join(theirs)

    def _edited(self, lines: Sequence[bytes], few: Sequence[bytes]) -> list[bytes]:
        found, choice = list(lines), self._random
        for _ in range(choice.randint(1, 3)):
            at, size = choice.randrange(len(found) + 1), choice.randint(1, 6)
            block = found[at : at + size]
            edit = choice.randrange(4)
            if edit:
                del found[at : at + (0 if edit == 1 else size)]
            to = choice.randrange(len(found) + 1)
            found[to:to] = block if edit < 3 else choice.choices(few, k=size)
        return found


def apart(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    old, mine, wanted = Text(base), Text(ours), Text(theirs)
    return merge_apart(old, mine, wanted, changes_between(old, mine), changes_between(old, wanted))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_is_what_git_makes(scratch: Scratch, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    chance = Chance(seed)
    cases = [three for three in (chance.three() for _ in range(CASES)) if len(set(three)) == 3]
    found = {three: merge for three in cases if (merge := apart(*three)) is not None}
    assert len(found) > CASES / 4
    # What no single question may be spared: git answers them all at once.
    monkeypatch.setattr(text_merge, "merge_around", lambda *_: None)
    asked = GitTextMerge(scratch).merge_all(list(found))
    assert list(asked) == [Clean(merge) for merge in found.values()]


@pytest.mark.parametrize("near", [1, 3, 12])
def test_the_part_in_which_changes_touch_is_merged_as_in_the_whole(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch, near: int
) -> None:
    monkeypatch.setattr(separate_changes, "NEAR", near)
    chance, found = Chance(near), list[Three]()
    for _ in range(2 * CASES):
        # Far from all other edits, both sides change the same lines.
        one, other = chance.three(), chance.three()
        middle = b"".join(b"m%d\n" % number for number in range(20))
        base, ours, theirs = (a + middle + b for a, b in zip(one, other, strict=True))
        old, mine, wanted = Text(base), Text(ours), Text(theirs)
        changes = changes_between(old, mine), changes_between(old, wanted)
        merged = merge_around(old, mine, wanted, *changes)
        if merged is not None and merged[1] is not None and merged[1][0] != base:
            found.append((base, ours, theirs))
    assert len(found) > CASES / 16
    merges = GitTextMerge(scratch).merge_all(found)
    assert any(isinstance(merge, Conflicted) for merge in merges)
    monkeypatch.setattr(text_merge, "merge_around", lambda *_: None)
    assert merges == GitTextMerge(scratch).merge_all(found)


BASE = b"".join(b"line %d\n" % number for number in range(40))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the git commands that are run from now on."""
    git_process.git_words()  # is asked for once in a process
    found: list[str] = []
    run: Callable[..., tuple[int, bytes]] = git_process.run

    def noting(arguments: Sequence[str], **options: object) -> tuple[int, bytes]:
        found.append(arguments[0])
        return run(arguments, **options)

    monkeypatch.setattr(git_process, "run", noting)
    return found


@pytest.mark.parametrize("context", [0, 1, 3])
def test_git_carries_hunks(scratch: Scratch, monkeypatch: pytest.MonkeyPatch, context: int) -> None:
    chance, sure = Chance(context), list[tuple[bytes, bytes, Hunk, int]]()
    for _ in range(2 * CASES):
        base, ours, theirs = chance.three()
        for hunk in hunks_between(base, theirs, context):
            start = hunk.old_start - (hunk.old_count > 0)
            if surely_applies(base, ours, hunk, start):
                sure.append((base, ours, hunk, start))
    assert len(sure) > CASES / 8
    monkeypatch.setattr(text_merge, "merge_around", lambda *_: None)
    texts = [(base, ours, apply_one(base, hunk, at)) for base, ours, hunk, at in sure]
    merges = GitTextMerge(scratch).merge_all(texts)
    answers = [
        judge_hunk(ours, hunk, m) for (_, ours, hunk, _), m in zip(sure, merges, strict=True)
    ]
    assert answers == [CARRIED_TEXT] * len(sure)


def test_git_is_not_asked_about_changes_far_apart(scratch: Scratch, asked: list[str]) -> None:
    sides = BASE, BASE.replace(b"line 5\n", b"ours\n"), BASE.replace(b"line 30\n", b"theirs\n")
    both = sides[1].replace(b"line 30\n", b"theirs\n")
    assert GitTextMerge(scratch).merge(*sides) == Clean(both)
    assert asked == []


def test_git_is_asked_once_about_several_collisions(scratch: Scratch, asked: list[str]) -> None:
    texts = [
        (BASE, BASE.replace(line, b"ours\n"), BASE.replace(line, b"theirs\n"))
        for line in (b"line 5\n", b"line 9\n")
    ]
    text = GitTextMerge(scratch)
    merges = text.merge_all([*texts, texts[0]])
    assert all(isinstance(merge, Conflicted) and merge.marked for merge in merges)
    assert text.merge(*texts[1]) == merges[1]
    assert asked == ["merge-tree"]
