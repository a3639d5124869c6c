"""`files` and `changes`, and the patches around one: what patches and edits do to a checkout."""

from pathlib import Path

import pytest

from patchmgr.commands.applied import Listing, Mark, Row, neighbor
from tests.commands.desks import Hands, hands, made
from tests.commands.scenes import Stage, text
from tests.commands.test_refreshing import diff_of
from tests.tables import table


@pytest.fixture
def desk(stage: Stage) -> Hands:
    """Return a desk with three patches, two of them pushed, and edits of the upper one."""
    one = {"pkg/a.py": text(l10="one\n"), "new": "new\n"}
    two = {"pkg/a.py": text(l10="one\n", l40="two\n"), "pkg/b.py": None}
    found = made(stage, "looking", {"one": one, "two": two, "three": {"new": "three\n"}})
    found.run("goto", "two")
    found.write({"pkg/a.py": text(l10="one\n", l40="two\n", l50="edit\n"), "new": None})
    return found


@table(
    ("named", "printed"),
    {
        "top": ((), "~ pkg/a.py  (edited)\n- pkg/b.py\n- new  (edited)\n"),
        "below": (("one",), "+ new\n~ pkg/a.py\n"),
        "not-pushed": (("three",), "~ new\n"),
    },
)
def test_files_and_edits_have_a_sign(desk: Hands, named: tuple[str, ...], printed: str) -> None:
    assert desk.run("files", *named).out == printed


@table(
    ("line", "lines"),
    {
        "edits": ((), [b"-new", b"-line 50", b"+edit"]),
        "edits-of-a-path": (("new",), [b"-new"]),
        "a-patch-with-its-edits": (("--since", "two", "pkg/a.py"),
            [b"-line 40", b"+two", b"-line 50", b"+edit"]),
        "one-patch": (("--since", "one", "--until", "one"), [b"+new", b"-line 10", b"+one"]),
        "two-patches-of-a-path": (("--since", "one", "--until", "two", "pkg/a.py"),
            [b"-line 10", b"+one", b"-line 40", b"+two"]),
        "no-edits": (("pkg/b.py",), []),
        "what-takes-edits-back": (("-R",), [b"+new", b"-edit", b"+line 50"]),
    },
)  # fmt: skip
def test_changes_print_as_a_patch(desk: Hands, line: tuple[str, ...], lines: list[bytes]) -> None:
    done = desk.run("changes", *line)
    assert diff_of(b"diff --git \n" + done.out.encode()) == lines
    assert desk.run("changes", *line, "--json").json["diff"] == done.out


def test_what_is_looked_at_is_not_changed(desk: Hands) -> None:
    before = desk.look()
    desk.run("files", "--json")
    desk.run("changes", "--since", "one")
    assert desk.look() == before


@table(
    ("line", "message"),
    [
        (("changes", "--since", "three"), "three.patch is not pushed"),
        (("changes", "--since", "two", "--until", "one"), "two.patch is above one.patch"),
    ],
)
def test_changes_are_in_the_order_pushed(desk: Hands, line: tuple[str, ...], message: str) -> None:
    assert message in desk.run(*line, code=1).err


def test_without_a_pushed_patch_one_is_to_be_named(stage: Stage) -> None:
    empty = hands(stage, name="w")
    assert "no patch of w is pushed; name a patch" in empty.run("files", code=1).err
    assert empty.run("changes").out == ""


SERIES = Listing(
    "s",
    Path("checkout"),
    tuple(
        Row(name, number, mark, "", (), "no +x" if mark is Mark.HIDDEN else None)
        for number, (name, mark) in enumerate(
            [("a", Mark.TOP), ("b", Mark.HIDDEN), ("c", Mark.UNPUSHED), ("d", Mark.UNPUSHED)], 1
        )
    ),
)


@table(
    "given, step, expected",
    [(None, 1, "c"), ("a", 1, "c"), ("c", -1, "a"), ("b", 1, "c"), ("b", -1, "a"), ("c", 1, "d")],
)
def test_the_patch_before_or_after_is_shown(given: str | None, step: int, expected: str) -> None:
    assert neighbor(SERIES, given, step=step) == expected
