"""`refresh --auto`: each edit goes into the patch that wrote its lines."""

import pytest

from tests.commands.desks import Hands, made
from tests.commands.scenes import Stage, text
from tests.commands.test_refreshing import diff_of
from tests.tables import table

ONE = {"l10": "one\n"}
TWO = {**ONE, "l40": "two\n", "l41": "more\n"}


@pytest.fixture
def desk(stage: Stage) -> Hands:
    """Return a desk with three patches: two of one file, and one that makes a file."""
    one, two = {"pkg/a.py": text(**ONE)}, {"pkg/a.py": text(**TWO)}
    three = {"new": "three\n", "pkg/b.py": text(l5="three\n")}
    return made(stage, "distributing", {"one": one, "two": two, "three": three})


def test_each_edit_goes_where_its_lines_are_from(desk: Hands) -> None:
    end = {"pkg/a.py": text(l10="uno\n", l20="mine\n", l40="two\nand a half\n", l41="MORE\n"),
           "new": "drei\n"}  # fmt: skip
    desk.write({**end, "beside": "x\n"})
    before = desk.look()
    dry = desk.run("refresh", "--auto", "--dry-run").out
    assert desk.look() == before
    done = desk.run("refresh", "--auto").out
    assert done == dry.replace("Would refresh", "Refreshed")
    assert done == (
        "Refreshed one.patch: content changed\nRefreshed two.patch: content changed\n"
        "Refreshed three.patch: content changed\n"
        "Not in a patch yet: pkg/a.py:21  (upstream's lines)\n"
        "  to add a file to a patch: patchmgr refresh --patch PATCH PATH\n"
        "Left out, because git does not track them: beside\n"
        "  to include a file: patchmgr refresh PATH, or git add -N PATH\n"
    )
    assert desk.text("pkg/a.py") == end["pkg/a.py"]
    assert diff_of(desk.raw("one.patch")) == [b"-line 10", b"+uno"]
    assert diff_of(desk.raw("two.patch")) == [
        b"-line 40", b"-line 41", b"+two", b"+and a half", b"+MORE"
    ]  # fmt: skip
    assert b"+drei" in diff_of(desk.raw("three.patch"))
    assert desk.run("changes").out.count("diff --git ") == 1
    assert desk.run("refresh", "--auto").out.startswith("Not in a patch yet: pkg/a.py:21")
    desk.run("undo")
    assert desk.look()[0] == before[0]
    assert desk.text("pkg/a.py") == end["pkg/a.py"]


@table(
    ("files", "left"),
    {
        "upstream's": ({"pkg/a.py": text(**TWO, l0="x\n")}, "pkg/a.py:1  (upstream's lines)"),
        "beside a patch's": (
            {"pkg/a.py": text(**{**TWO, "l10": "one\nx\n"})}, "pkg/a.py:12  (upstream's lines)"
        ),
        "a new file": ({"new": None}, "new  (a deleted file)"),
        "of two patches": (
            {"pkg/a.py": text(**{**TWO, **{f"l{n}": None for n in range(10, 41)}})},
            "pkg/a.py:11  (lines of several patches)",
        ),
        "binary": ({"new": "\0"}, "new  (a binary file)"),
    },
)  # fmt: skip
def test_what_is_of_no_patch_stays(desk: Hands, files: dict[str, str | None], left: str) -> None:
    before = {name: desk.raw(name) for name in desk.order()}
    desk.run("pop", "-a", "--force")
    desk.run("push", "-a")
    desk.write(files)
    assert f"Not in a patch yet: {left}\n" in desk.run("refresh", "--auto").out
    assert {name: desk.raw(name) for name in desk.order()} == before


def test_an_edit_that_takes_a_patch_back_is_refused(desk: Hands) -> None:
    desk.write({"pkg/a.py": text(l40="two\n", l41="more\n")})
    before = desk.look()
    assert "one.patch would become empty" in desk.run("refresh", "--auto", code=1).err
    assert desk.look() == before


def test_only_the_files_that_are_named_are_looked_at(desk: Hands) -> None:
    desk.write({"pkg/a.py": text(**{**TWO, "l10": "uno\n"}), "new": "drei\n"})
    assert desk.run("refresh", "--auto", "new").out == "Refreshed three.patch: content changed\n"
    assert desk.run("refresh", "--auto").out == "Refreshed one.patch: content changed\n"
    assert desk.run("refresh", "--auto").out == "Nothing was edited.\n"
