"""A series' states and upstream's versions, side by side."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from patchmgr.engines.search import Timelines
from patchmgr.model.merge import Clean
from patchmgr.model.patch import FilePatch, Patch
from patchmgr.model.ports import Step
from patchmgr.model.snapshot import REGULAR, Entry
from tests.engines.series import File, binary, edited, link, moved, patch_of, text
from tests.engines.tales import Changes, Tale, swap

BASE = text("stay_one stay_two stay_three stay_four stay_five")
OURS = swap(BASE, ("stay_two", "stay_two ours_two"))
OTHER = swap(BASE, ("stay_five", "other_five"))
CLASH = swap(BASE, ("stay_two", "stay_two theirs_two"))


def blob(name: str | None) -> Entry | None:
    return None if name is None else Entry(REGULAR, name)


@pytest.mark.parametrize(
    ("changes", "homes", "versions"),
    [
        pytest.param([], {}, ["0"], id="no-steps"),
        pytest.param([{"z": "9"}], {}, ["0", "0"], id="another-path"),
        pytest.param([{"a": "1"}, {"z": "9"}, {"a": "2"}], {}, ["0", "1", "1", "2"], id="changes"),
        pytest.param([{"a": None}, {"a": "1"}], {}, ["0", None, "1"], id="deleted-and-back"),
        pytest.param(
            [{"a": "1"}, {"a": None, "b": "2"}, {"b": "3"}],
            {"a": "b"},
            ["0", "1", "2", "3"],
            id="moved",
        ),
        pytest.param(
            [{"b": "2"}, {"a": "9"}], {"a": "b"}, ["0", "2", "2"], id="another-at-the-old-path"
        ),
        pytest.param(
            [{"a": None}, {"b": "2"}], {"a": "b"}, ["0", None, "2"], id="moved-in-two-steps"
        ),
        pytest.param([{"b": "2"}, {"b": None}], {"a": "b"}, ["0", "2", None], id="moved-and-gone"),
    ],
)
def test_a_path_is_followed_through_steps(
    changes: list[Mapping[str, str | None]], homes: Mapping[str, str], versions: list[str | None]
) -> None:
    steps = [
        Step(f"c{number}", "Work", "A", {path: blob(name) for path, name in step.items()})
        for number, step in enumerate(changes)
    ]
    timelines = Timelines(steps, {"a": blob("0")}, homes)
    entries = [timelines.at("a", number) for number in range(-1, len(changes))]
    assert [entry and entry.blob for entry in entries] == versions
    moves = [n for n in range(len(changes)) if entries[n] != entries[n + 1]]
    assert [*timelines.moves()] == moves
    for number, touched in timelines.moves().items():
        assert touched == [("a", entries[number], entries[number + 1])]


def test_an_unknown_path_is_nowhere() -> None:
    assert Timelines([], {}, {}).at("a", -1) is None


RENAMED = patch_of("p", moved("a", "b", BASE, OURS))
COPIED = patch_of("p", moved("a", "b", BASE, OURS, is_copy=True))


@pytest.mark.parametrize(
    ("ours", "states"),
    [
        pytest.param([{"a": OURS}, {"a": OTHER}], {"a": [BASE, OURS, OTHER]}, id="edits"),
        pytest.param(
            [{"a": OURS}, {"n": OTHER}],
            {"a": [BASE, OURS, OURS], "n": [None, None, OTHER]},
            id="creation",
        ),
        pytest.param([{"a": None}], {"a": [BASE, None]}, id="deletion"),
        pytest.param([RENAMED], {"a": [BASE, None], "b": [None, OURS]}, id="rename"),
        pytest.param([COPIED], {"a": [BASE, BASE], "b": [None, OURS]}, id="copy"),
    ],
)
def test_a_file_has_a_state_after_each_patch(
    ours: list[Changes | Patch], states: Mapping[str, list[bytes | None]]
) -> None:
    search = Tale({"a": BASE}, ours, []).search()
    found = {
        path: [None if entry is None else search.blobs.read(entry.blob) for entry in entries]
        for path, entries in search.states.items()
    }
    assert found == states


@pytest.mark.parametrize(
    ("ours", "theirs", "is_no_op"),
    [
        pytest.param({"a": OURS}, {"a": OURS}, True, id="the-same"),
        pytest.param({"a": OURS}, {"a": BASE}, False, id="untouched"),
        pytest.param({"a": OURS}, {"a": OURS + b"more_lines\n"}, True, id="there-and-more"),
        pytest.param({"a": OURS}, {"a": OTHER}, False, id="something-else"),
        pytest.param({"a": OURS}, {"a": CLASH}, False, id="collides"),
        pytest.param({"a": OURS}, {"a": None}, False, id="gone"),
        pytest.param({"a": None}, {"a": None}, True, id="deleted-by-both"),
        pytest.param({"a": None}, {"a": OTHER}, False, id="deleted-by-us"),
        pytest.param({"n": OURS}, {"n": OURS}, True, id="created-by-both"),
        pytest.param({"n": OURS}, {"n": OTHER}, False, id="created-otherwise"),
        pytest.param({"a": link(b"there")}, {"a": link(b"there")}, True, id="link-by-both"),
        pytest.param({"l": link(b"there")}, {"l": link(b"elsewhere")}, False, id="other-link"),
        pytest.param({"a": OURS, "n": OURS}, {"a": OURS}, False, id="one-file-of-two"),
    ],
)
def test_a_patch_changes_something_in_a_version_or_not(
    ours: Changes, theirs: Changes, is_no_op: bool
) -> None:
    told = Tale({"a": BASE, "l": link(b"here")}, [ours], [("Work", theirs), ("Unrelated", {})])
    assert told.search().is_no_op(0, 0) is is_no_op


def test_a_patch_that_leaves_a_file_as_it_is_changes_nothing() -> None:
    told = Tale({"a": BASE}, [patch_of("p", FilePatch("a", "a"))], [("Work", {"a": OTHER})])
    assert told.search().is_no_op(0, 0)


@pytest.mark.parametrize(
    ("before", "after", "is_singular"),
    [
        pytest.param(BASE, OURS, True, id="a-new-line"),
        pytest.param(OURS, BASE, True, id="a-line-that-goes"),
        pytest.param(
            BASE, swap(BASE, ("stay_two", "stay_two stay_five")), False, id="stands-elsewhere"
        ),
        pytest.param(
            BASE + b"stay_one\n", BASE, False, id="goes-and-stands-elsewhere"
        ),
    ],
)  # fmt: skip
def test_a_patch_has_a_line_of_its_own_or_not(
    before: bytes, after: bytes, is_singular: bool
) -> None:
    assert Tale({"a": before}, [{"a": after}], []).search().is_singular(0) is is_singular


@pytest.mark.parametrize(
    ("ours", "survivors"),
    [
        pytest.param([{"a": OURS}], [1], id="one"),
        pytest.param([{"a": OURS}, {"a": BASE}], [0, 0], id="undone"),
        pytest.param(
            [{"a": OURS}, {"a": swap(OURS, ("ours_two", "ours_too"))}], [0, 1], id="superseded"
        ),
        pytest.param(
            [{"a": swap(BASE, ("stay_two", "ours_two"))}, {"a": OTHER}], [0, 2], id="replaced"
        ),
    ],
)
def test_lines_survive_to_the_end_of_the_series(ours: list[Changes], survivors: list[int]) -> None:
    search = Tale({"a": BASE}, ours, []).search()
    assert [search.survivors(patch) for patch in range(len(ours))] == survivors


def test_a_step_differs_from_the_one_before_by_telling_lines() -> None:
    other = swap(BASE, ("stay_two", "other_two }"))
    told = Tale({"a": BASE, "b": BASE}, [{"a": OURS}], [("W", {"a": other, "b": OURS})])
    search = told.search()
    expected = ({("a", b"other_two")}, {("a", b"stay_two")})
    assert tuple(map(set, search.difference(0))) == expected
    assert search.difference(0) is search.difference(0)
    assert not any(search.difference(1))


def test_a_version_is_known_by_its_number() -> None:
    told = Tale({"a": BASE}, [{"a": OURS}], [("W", {"a": OTHER})], jump={"a": OURS})
    search = told.search()
    contents = [search.version(n)["a"] for n in (-1, 0, search.end)]
    assert [search.blobs.read(e.blob) for e in contents if e] == [BASE, OTHER, OURS]
    assert search.view(0, 0) is search.view(0, 0)
    assert search.view(0, 0) is not search.view(0, 1)


@pytest.mark.parametrize(
    ("file", "lines", "raw"),
    [
        pytest.param(b"a b\nc", {b"ab", b"c"}, {b"a b", b"c"}, id="text"),
        pytest.param(link(b"a b"), set(), set(), id="link"),
        pytest.param(None, set(), set(), id="no-file"),
    ],
)
def test_a_version_is_read_as_lines(file: File | None, lines: set[bytes], raw: set[bytes]) -> None:
    search = Tale({"a": BASE}, [{"a": OURS}], [("W", {"a": file})]).search()
    assert search.lines(search.target["a"]) == lines
    assert search.raw_lines(search.target["a"]) == raw


def test_hunks_are_numbered_through_all_files_of_a_patch() -> None:
    two = swap(OURS, ("stay_five", "stay_five ours_five"))
    patch = patch_of("p", binary("b", b"\0old", b"\0new"), edited("a", BASE, two, context=0))
    search = Tale({"a": BASE, "b": b"\0old"}, [patch], []).search()
    entry = search.states["a"][0]
    merges = [search.alone(0, number, entry) for number in range(3)]
    alone = swap(BASE, ("stay_five", "stay_five ours_five"))
    assert merges == [None, Clean(OURS), Clean(alone)]
    assert search.alone(0, 1, None) is None
    assert [search.is_in(0, number, search.states["a"][1]) for number in range(3)] == [
        False, True, True,
    ]  # fmt: skip
