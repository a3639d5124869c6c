"""What must not matter does not: the same story told in another way has the same verdicts.

PATCHMGR_LONG=1 tells hundreds of stories in each way.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from patchmgr.model.outcome import How
from patchmgr.model.patch import Patch
from tests.engines.series import File, Files, Result, Run, difference
from tests.engines.tales import Changes, Tale, changed
from tests.long import LONG

STORIES = 500 if LONG else 4
VARIANTS: Mapping[str, tuple[str, ...]] = {
    "old": ("{0}_old(", "    {0}_value,", ")"),
    "ours": ("{0}_ours_one(", "    {0}_ours_two,", "        {0}_ours_three,", ")"),
    "half": ("{0}_ours_one(", "    {0}_value,", ")"),
    "more": ("{0}_ours_one(", "    {0}_ours_two,", "        {0}_ours_three,", "    {0}_more,", ")"),
    "theirs": ("{0}_theirs(", "    {0}_value,", ")"),
    "gone": (),
}
Place = tuple[str, int]
Chosen = Mapping[Place, str]


class Story(Struct, frozen=True):
    """Places in files, what each patch makes of some of them, and what upstream does by steps.

    `gaps` says how many lines stand before each place of a file. A step's place None is the
    whole file, deleted.
    """

    gaps: Mapping[str, Sequence[int]]
    ours: Sequence[Chosen]
    upstream: Sequence[Chosen]


class Telling(Struct, frozen=True):
    """How a story is told; `shift` is how many lines upstream alone adds at the top of files."""

    path: Callable[[str], str] = str
    indent: bytes = b"    "
    top: int = 0
    name: Callable[[int], str] = "p{}".format
    end: bytes = b"\n"
    pause: int = 0
    shift: int = 0


def written(story: Story, chosen: Chosen, telling: Telling, *, shift: int = 0) -> dict[str, File]:
    """Return the files where each place has the variant that was chosen for it."""
    found: dict[str, File] = {}
    for path, gaps in story.gaps.items():
        lines = [f"top_{n}" for n in range(telling.top + shift)]
        for number, gap in enumerate(gaps):
            lines += [f"    {path}_{number}_before_{n}" for n in range(gap)]
            variant = VARIANTS[chosen.get((path, number), "old")]
            lines += [line.format(f"{path}_{number}") for line in variant]
        lines += [f"{path}_end_{n}" for n in range(4)]
        content = "".join(f"{line}\n" for line in lines).encode()
        content = content.replace(b"    ", telling.indent).replace(b"\n", telling.end)
        found[telling.path(path)] = content
    return found


def told(story: Story, telling: Telling) -> Tale:
    """Return the tale of a story."""
    base = written(story, {}, telling)
    mine: dict[Place, str] = {}
    series: list[Changes | Patch] = []
    before: Files = base
    for number, chosen in enumerate(story.ours):
        mine.update(chosen)
        after = written(story, mine, telling)
        series.append(difference(telling.name(number), before, after))
        before = after
    return Tale(base, series, list(upstream_of(story, telling)))


def upstream_of(story: Story, telling: Telling) -> Iterator[tuple[str, Changes]]:
    """Yield upstream's steps."""
    theirs: dict[Place, str] = {}
    if telling.shift:
        yield "Unrelated", written(story, {}, telling, shift=telling.shift)
    for chosen in story.upstream:
        theirs.update(chosen)
        for number in range(telling.pause):
            yield "Unrelated", {"z": b"%d" % number}
        files = written(story, theirs, telling, shift=telling.shift)
        yield "Work", files


class Judgement(Struct, frozen=True):
    """What a rebase says: of each patch, of each hunk by file, and what the files are then.

    `rest` is the series on upstream's end. `is_proved` says that no verdict rests on what a
    commit seems to have been about, or took together: other cuts of the same changes may show or
    hide that.
    """

    patches: Sequence[str]
    hunks: Sequence[Counter[tuple[str, str]]]
    files: Files
    rest: Tale
    is_proved: bool

    @property
    def is_clean(self) -> bool:
        return not {"conflict", "blocked"} & set(self.patches)


def judged(tale: Tale, back: Callable[[str], str] = str) -> Judgement:
    """Rebase the series of a tale; `back` gives the paths their old names again."""
    found = tale.absorbed()
    patches = tale.patches()
    known = {patch.name: found[n] for n, patch in enumerate(patches) if n in found}
    end: Files = tale.base
    for _, changes in tale.upstream:
        end = changed(end, changes)
    run = Run(tale.base, end)
    result = run.rebase(*patches, known=known)
    hunks = [
        Counter((back(hunk.path), hunk.verdict.value) for hunk in outcome.hunks)
        for outcome in result.outcomes
    ]
    files = {back(path): file for path, file in result.files.items()}
    is_proved = {How.HISTORY, How.RANGE}.isdisjoint(item.how for item in found.values())
    rest = Tale(end, rest_of(run, result), ())
    return Judgement(result.verdicts, hunks, files, rest, is_proved)


def rest_of(run: Run, result: Result) -> list[Changes | Patch]:
    """Return what the carried patches change on the new side."""
    return [
        {
            path: None if entry is None else run.blobs.read(entry.blob)
            for path, entry in (outcome.changes or {}).items()
        }
        for outcome in result.outcomes
        if outcome.is_carried
    ]


PLACES = st.integers(0, 8)
# difflib pairs the longest run first: that is the head of a file, however it is told.
HEAD = 50


@st.composite
def stories(draw: st.DrawFn, *, is_straight: bool = False) -> Story:
    """Draw a story of two files; in a straight one neither side changes a place twice."""
    gaps = {path: draw(st.lists(PLACES, min_size=1, max_size=3)) for path in "ab"}
    for path in gaps:
        gaps[path][0] += HEAD
    places = st.sampled_from([(path, n) for path in gaps for n in range(len(gaps[path]))])
    mine = st.dictionaries(places, st.sampled_from(["ours", "more", "gone"]), min_size=1)
    step = st.dictionaries(places, st.sampled_from(list(VARIANTS)), min_size=1, max_size=4)
    ours = draw(st.lists(mine, min_size=1, max_size=3))
    upstream = draw(st.lists(step, min_size=2, max_size=4))
    if is_straight:
        return Story(gaps, straightened(ours), straightened(upstream))
    return Story(gaps, ours, upstream)


def straightened(steps: Sequence[Chosen]) -> list[Chosen]:
    """Return the steps with the first change of each place only."""
    done: set[Place] = set()
    found: list[Chosen] = []
    for step in steps:
        found.append({place: variant for place, variant in step.items() if place not in done})
        done |= step.keys()
    return [step for step in found if step]


def far(path: str) -> str:
    return f"far/away/{path}.py"


def swapped(path: str) -> str:
    return {"a": "y", "b": "x"}.get(path, path)


NEAR = {far("a"): "a", far("b"): "b", "y": "a", "x": "b"}
TELLINGS: Mapping[str, Telling] = {
    "paths": Telling(path=far),
    "paths in another order": Telling(path=swapped),
    "two spaces": Telling(indent=b"  "),
    "tabs": Telling(indent=b"\t"),
    "shifted": Telling(top=7),
    "shifted by upstream": Telling(shift=7),
    "names of patches": Telling(name=lambda n: f"{9 - n}-other.patch"),
    "CRLF": Telling(end=b"\r\n"),
    "a longer walk": Telling(pause=3),
}


@pytest.mark.parametrize("telling", list(TELLINGS.values()), ids=list(TELLINGS))
@settings(max_examples=STORIES)
@given(stories())
def test_the_way_it_is_told_changes_no_verdict(telling: Telling, story: Story) -> None:
    plain = judged(told(story, Telling()))
    other = judged(told(story, telling), lambda path: NEAR.get(path, path))
    assert other.patches == plain.patches
    assert other.hunks == plain.hunks


@settings(max_examples=STORIES)
@given(stories())
def test_the_order_of_files_in_a_patch_changes_nothing(story: Story) -> None:
    tale = told(story, Telling())
    turned = replace(tale, ours=[replace(p, files=p.files[::-1]) for p in tale.patches()])
    one, other = judged(tale), judged(turned)
    assert (other.patches, other.hunks) == (one.patches, one.hunks)
    assert other.files == one.files


IN_NO_STEP = Story(
    gaps={"a": [50], "b": [50]},
    ours=[{("a", 0): "more", ("b", 0): "ours"}],
    upstream=[{("b", 0): "more"}, {("a", 0): "half"}],
)
"""A step that has a hunk does not have the patch, which none of them has."""


@settings(max_examples=STORIES)
@given(stories(is_straight=True))
@example(IN_NO_STEP)
def test_a_straight_walk_in_one_step_changes_no_verdict(story: Story) -> None:
    whole = {place: variant for step in story.upstream for place, variant in step.items()}
    many, one = (judged(told(s, Telling())) for s in (story, replace(story, upstream=[whole])))
    if one.is_proved and many.is_proved:
        assert (one.patches, one.hunks) == (many.patches, many.hunks)


@settings(max_examples=STORIES)
@given(stories(is_straight=True))
def test_a_rebase_with_a_stop_on_the_way_ends_in_the_same_files(story: Story) -> None:
    tale = told(story, Telling())
    middle = len(tale.upstream) // 2
    direct, first = judged(tale), judged(replace(tale, upstream=tale.upstream[:middle]))
    if not first.is_clean:
        return
    second = judged(replace(first.rest, upstream=tale.upstream[middle:]))
    ways = (direct, first, second)
    if all(way.is_clean and way.is_proved for way in ways):
        assert second.files == direct.files


def test_the_stories_have_every_verdict() -> None:
    seen = {
        verdict
        for chosen in ({}, {("a", 0): "ours"}, {("a", 0): "theirs"})
        for verdict in judged(
            told(Story({"a": [6], "b": [6]}, [{("a", 0): "ours"}, {("a", 0): "more"}], [chosen]),
                 Telling())
        ).patches
    }  # fmt: skip
    assert seen == {"unchanged", "absorbed", "conflict", "blocked"}


def test_what_is_there_in_other_words_is_not_said_to_be_there_exactly() -> None:
    story = Story(
        {"a": [6, 0, 0]},
        [{("a", 0): "ours", ("a", 1): "ours"}],
        [{("a", 0): "ours", ("a", 1): "theirs"}, {("a", 2): "ours"}],
    )
    tale = told(story, Telling())
    assert tale.verdicts() == ["landed c0 history"]
    (wording,) = tale.absorbed()[0].wordings
    assert b"a_1_theirs(" in wording.upstream and b"a_1_ours_one(" in wording.patch


def test_a_removal_is_needed_where_what_it_removes_landed_later_than_its_neighbor() -> None:
    story = Story(
        {"a": [6], "b": [6]},
        [{("b", 0): "ours"}, {("a", 0): "ours"}, {("b", 0): "gone"}],
        [{("a", 0): "ours"}, {("b", 0): "ours"}],
    )
    assert judged(told(story, Telling())).patches == ["absorbed", "absorbed", "unchanged"]
