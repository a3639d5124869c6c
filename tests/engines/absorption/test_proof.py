"""What may not be dropped is not, and what upstream really has is found."""

import pytest

from patchmgr.engines.absorption.proof import Drop, Text, checked, why_needed
from patchmgr.engines.rebase.ladder import (
    ABSORBED_EXACT,
    CONFLICT,
    SAME_LINES,
    Answer,
    Collided,
    Merged,
    Sides,
)
from patchmgr.engines.series.placement import PatchedFile
from patchmgr.model.outcome import Verdict
from tests.engines.drops import STORIES, Story, judged
from tests.engines.ports import MemoryBlobs, PlainMerge
from tests.engines.series import entry_of, hunks_between
from tests.tables import table

TOLD = [
    pytest.param(story, id=f"{kind}-{story.id}") for kind, told in STORIES.items() for story in told
]
DROPPED = (Verdict.ABSORBED, Verdict.PARTIAL)


@table("story", TOLD)
def test_what_upstream_does_not_have_is_not_dropped(story: Story) -> None:
    outcome = judged(story.path, story.base, story.ours, story.upstream)
    assert outcome.verdict not in DROPPED, [hunk.how for hunk in outcome.hunks]


@table("story", TOLD)
def test_what_upstream_really_has_is_dropped(story: Story) -> None:
    outcome = judged(story.path, story.base, story.ours, story.truly)
    assert outcome.verdict is Verdict.ABSORBED, [c.reason for c in outcome.conflicts]


CALLED = "plan(\n    alpha,\n    beta,\n{}    last,\n)\n"
OPEN = "def f():\n    first_call()\n{}    last_call()\n"
SET = "known = {{\n    'alpha',\n    'beta',\n{}    'last',\n}}\n"


def why(path: str, base: str, theirs: str, ours: str) -> str | None:
    """Return why the hunk between two texts is needed, None where nothing says so."""
    (hunk,) = hunks_between(base.encode(), theirs.encode())
    position = hunk.old_start - (hunk.old_count > 0)
    file = PatchedFile(path, base.encode(), theirs.encode(), (hunk,), (position,))
    return why_needed(Drop(file, ours.encode(), 0))


def added(path: str, frame: str, theirs: str, ours: str) -> str | None:
    return why(path, *(frame.format(x) for x in ("", theirs, ours)))


@table(
    ("path", "frame", "theirs", "ours", "is_needed"),
    {
        "an-end-as-the-one-before": (
            "a.py", "def f():\n    go()\n    return 1\n\n\n{}# End\n",
            "def g():\n    run()\n    return 1\n\n\n",
            "def g():\n    run()\n    stop()\n    return 1\n\n\n", False,
        ),
        "argument": ("a.py", CALLED, "    x_1,\n", "    y_1,\n    x_1,\n", True),
        "keyword-arguments": (
            "a.py", CALLED, "    x=x_1,\n    y=y_1,\n", "    y=y_1,\n    x=x_1,\n", False,
        ),
        "assignments-in-a-call-of-another-language": (
            "a.cpp", CALLED, "    x=x_1,\n    y=y_1,\n", "    y=y_1,\n    x=x_1,\n", True,
        ),
        "defaults": (
            "a.py", "def " + CALLED, "    x=x_1,\n    y=y_1,\n", "    y=y_1,\n    x=x_1,\n", True,
        ),
        "set": ("a.py", SET, "    'x',\n    'y',\n", "    'y',\n    'x',\n", False),
        "dict": ("a.py", SET, "    'x': 1,\n    'y': 2,\n", "    'y': 2,\n    'x': 1,\n", True),
        "braces": ("a.cpp", SET, "    'x',\n    'y',\n", "    'y',\n    'x',\n", True),
        "exported": (
            "a.py", SET.replace("{{", "[").replace("}}", "]").replace("known", "__all__"),
            "    'x',\n    'y',\n", "    'y',\n    'x',\n", False,
        ),
        "imported-names": (
            "a.py", "from a import (\n    alpha,\n    beta,\n{}    last,\n)\n",
            "    x,\n    y,\n", "    y,\n    x,\n", False,
        ),
        "imports": (
            "a.py", OPEN, "    import x\n    import y\n", "    import y\n    import x\n", False,
        ),
        "statements": (
            "a.py", OPEN, "    call_x()\n    call_y()\n", "    call_y()\n    call_x()\n", True,
        ),
        "argument-beside-the-bracket": (
            "a.cpp", "void f() {{\n  run(alpha,\n{}      last);\n}}\n", "      x_1,\n",
            "      y_1,\n      x_1,\n", True,
        ),
        "space-in-a-call": ("a.py", OPEN, "    call_x( 1 )\n", "    call_x(1)\n", False),
        "string": ("a.py", OPEN, "    call('1 ')\n", "    call('1')\n", True),
    },
)  # fmt: skip
def test_order_and_white_space_are_free_where_the_language_says_so(
    path: str, frame: str, theirs: str, ours: str, is_needed: bool
) -> None:
    assert (added(path, frame, theirs, ours) is not None) is is_needed


@table(
    ("theirs", "ours", "expected"),
    {
        "short": ("    b()\n    call_x()\n", "    call_x()\n", "upstream lacks b()"),
        "with-other-words": ("    call(x)\n", "    call(x, y)\n", None),
        "in-another-order": ("    call(x, y)\n", "    call(y, x)\n", "upstream lacks call(x, y)"),
        "without-a-word": ("    {\n    call_x()\n", "    call_x()\n", None),
    },
)
def test_a_short_line_is_missing_too(theirs: str, ours: str, expected: str | None) -> None:
    assert added("a.py", OPEN, theirs, ours) == expected


BLOCK = OPEN.format("    check_size(256)\n    check_scale(scale)\n")
FEW = OPEN.format("    check_size(512)\n")
GONE = OPEN.format("")


@table(
    ("ours", "expected"),
    {
        "one-left": (FEW, "upstream rewrote the lines that the patch deletes: check_size(512)"),
        "all-there": (
            BLOCK, "upstream still has the lines that the patch deletes: check_scale(scale)",
        ),
        "gone": (GONE, None),
        "something-unlike-it": (OPEN.format("    other()\n"), None),
        "moved": (
            GONE + "\n\ndef g():\n    check_size(256)\n    check_scale(scale)\n",
            "upstream still has the lines that the patch deletes: check_scale(scale)",
        ),
    },
)  # fmt: skip
def test_a_deletion_is_in_where_nothing_is_left(ours: str, expected: str | None) -> None:
    assert why("a.py", BLOCK, GONE, ours) == expected


def held(base: str, theirs: str, ours: str, *answers: Answer) -> Merged | Collided:
    """Return what is made of a merge that gave the answers and upstream's text."""
    blobs = MemoryBlobs()
    old, mine, new = (entry_of(blobs, text.encode()) for text in (base, ours, theirs))
    hunks = hunks_between(base.encode(), theirs.encode())
    positions = tuple(hunk.old_start - 1 for hunk in hunks)
    sides = Sides(old, mine, new, hunks, positions, path="a.py")
    return checked(sides, Merged(mine, answers), blobs=blobs, text=PlainMerge())


def test_a_refuted_hunk_is_a_conflict_that_shows_both_texts() -> None:
    found = held(BLOCK, GONE, FEW, ABSORBED_EXACT)
    assert isinstance(found, Collided)
    assert found.answers == (CONFLICT,)
    assert found.reason == "upstream rewrote the lines that the patch deletes: check_size(512)"
    assert found.marked is not None
    shown = found.marked.split(b"<<<<<<<")[1]
    assert shown.split(b"|||||||")[0].endswith(b"\n    check_size(512)\n")


def test_a_conflict_about_deleted_lines_says_what_became_of_them() -> None:
    blobs = MemoryBlobs()
    old, mine, new = (entry_of(blobs, text.encode()) for text in (BLOCK, FEW, GONE))
    hunks = hunks_between(BLOCK.encode(), GONE.encode())
    sides = Sides(old, mine, new, hunks, (0,), path="a.py")
    for reason, prefix in ((SAME_LINES, ""), ("another reason", "another reason; ")):
        collided = Collided(reason, b"marked", (CONFLICT,))
        found = checked(sides, collided, blobs=blobs, text=PlainMerge())
        assert isinstance(found, Collided)
        assert found.marked == b"marked"
        assert found.reason.startswith(f"{prefix}upstream rewrote the lines that the patch deletes")


def test_a_refuted_hunk_is_marked_beside_a_conflict() -> None:
    space = "".join(f"# {n}\n" for n in range(9))
    blobs = MemoryBlobs()
    texts = [f"{one}{space}a = {n}\n".encode() for n, one in enumerate((BLOCK, FEW, GONE))]
    old, mine, new = (entry_of(blobs, text) for text in texts)
    hunks = hunks_between(texts[0], texts[2])
    sides = Sides(old, mine, new, hunks, tuple(h.old_start - 1 for h in hunks), path="a.py")
    collided = Collided("they differ", b"marked", (ABSORBED_EXACT, CONFLICT))
    found = checked(sides, collided, blobs=blobs, text=PlainMerge())
    assert isinstance(found, Collided)
    assert found.reason.startswith("they differ; upstream rewrote the lines")
    assert found.marked is not None
    assert found.marked.count(b"<<<<<<<") == len(found.answers) == 2


def test_what_is_really_there_stays_absorbed() -> None:
    found = held(BLOCK, GONE, GONE + "x\n", ABSORBED_EXACT)
    assert isinstance(found, Merged)
    assert found.answers == (ABSORBED_EXACT,)


@table(
    ("ours", "is_needed"),
    {
        "on-the-function": ("def f():\n    a\n\n@d\ndef g():\n    b\n", False),
        "on-the-function-with-another": (
            "def f():\n    a\n\n@d\n@e(\n    1,\n)\nasync def g(x):\n    b\n",
            False,
        ),
        "on-another": ("def f():\n    a\n\n@d\ndef h():\n    c\n\ndef g():\n    b\n", True),
    },
)
def test_a_decorator_belongs_to_its_function(ours: str, is_needed: bool) -> None:
    base = "def f():\n    a\n\ndef g():\n    b\n"
    found = why("a.py", base, base.replace("def g", "@d\ndef g"), ours)
    assert found == ("upstream has @d in another block" if is_needed else None)


@table(
    ("text", "quoted"),
    {
        "a comment": (b"a /* b\nc */\nd\n", {1: b"*/"}),
        "a long string": (b'a = """b\n/* c\n"""\nd\n', {1: b'"""', 2: b'"""'}),
        "no end": (b"a\n/* b\nc\n", {2: b"*/"}),
        "many without an end": (b"/* a\n" * 20_000, dict.fromkeys(range(1, 20_000), b"*/")),
        "a pattern for files": (b'a = "**/*.py"\nb\n', {}),
    },
)
def test_lines_in_comments_and_strings_are_quoted(text: bytes, quoted: dict[int, bytes]) -> None:
    found = Text(text)
    assert {n: mark for n, mark in found.quoted.items() if n < len(found.lines)} == quoted
