"""The constructed cases L and M: upstream moved what we change."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.commands.constructed import (
    Change,
    Files,
    Story,
    add,
    move,
    put,
    say,
    twenty,
)

pytestmark = pytest.mark.each_form  # each has its own way to find a function

FIX = put(10, 4, *(say(10, 4, variant=n) for n in (1, 2)))
SECOND = put(16, 5, say(16, 5, variant=1))


def chained(*changes: Change) -> Change:
    def change(files: Files) -> Files:
        for one in changes:
            files = one(files)
        return files

    return change


def _with(story: Story, *paths: str) -> None:
    for number, path in enumerate(paths, 1):
        story.files[path] = twenty(story.form, offset=60 + 20 * number)


def test_l_the_function_moved_to_another_file(story: Story) -> None:
    """L: upstream moved the function to another file that was there before."""
    _with(story, "b")
    story.patch(FIX)
    story.commit(7, move(10, "a", "b", before=90))
    told = story.rebase()
    assert told.verdicts() == ["modified"]
    assert told.hunks() == ["modified moved"]
    assert told.homes() == [story.path("b")]
    assert told.cause() == [7]
    assert told.tree == story.tree(b=FIX)


def test_l_the_function_moved_within_the_file(story: Story) -> None:
    """L: upstream moved the function to another place of the file."""
    story.patch(FIX)
    story.commit(7, _move_down)
    told = story.rebase()
    assert told.verdicts() == ["modified"]
    assert told.hunks() == ["modified moved"]
    assert told.cause() == [7]
    assert told.tree == story.tree(FIX)


def _move_down(files: Files) -> Files:
    document = files["a"]
    units = dict(document.units)
    lines = units.pop(10)
    placed = add(10, (), before=18)(replace(document, units=units))
    return {**files, "a": replace(placed, units={**placed.units, 10: lines})}


def test_m_two_functions_moved_to_two_files(story: Story) -> None:
    """M: upstream moved half of what we touch to each of two files."""
    _with(story, "b", "c")
    story.patch(FIX, SECOND)
    story.commit(7, chained(move(10, "a", "b", before=90), move(16, "a", "c", before=110)))
    told = story.rebase()
    assert told.verdicts() == ["modified"]
    assert told.hunks() == ["modified moved", "modified moved"]
    assert told.homes() == [story.path("b"), story.path("c")]
    assert told.cause() == [7]
    assert told.tree == story.tree(b=FIX, c=SECOND)
