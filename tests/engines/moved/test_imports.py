"""The imports and attributes that moved lines need."""

import pytest

from patchmgr.engines.moved.imports import Unsure, import_lines, missing_attribute, needed_imports
from patchmgr.engines.moved.units import Outline
from patchmgr.engines.text.differences import Run
from tests.engines.moved.relocations import Played, play
from tests.tables import table

BODY = b"""\
def weigh(plant, floor):
    level = plant.level(floor)
    if level > plant.limit:
        plant.stop("too high")
    return level * plant.scale
"""
REST = b"""\
def rinse(plant):
    plant.open("valve")
    plant.wait(30)
    plant.close("valve")
"""
FILLER = b"def drain(plant):\n    plant.drain(%s)\n\n\n" % b",\n        ".join(
    b"floor_%d" % number for number in range(9)
)
FIXED = BODY.replace(b"plant.limit:", b"clamp(plant.limit):")
START = b"import os\n\n\n"
USE = b"from works.tools import clamp\n"


def _carried(ours: bytes, old_head: bytes, home_head: bytes, *, fixed: bytes = FIXED) -> Played:
    """Rebase a patch onto a state with the function moved to another file."""
    old = {"a.py": old_head + FILLER + BODY + b"\n\n" + REST, "b.py": home_head}
    patched = ours + FILLER + fixed + b"\n\n" + REST
    new = {"a.py": old_head + FILLER + REST, "b.py": home_head + BODY}
    return play(old, patched, new, path="a.py")


@table(
    ("ours", "old", "home", "expected"),
    {
        "new-in-the-patch": (b"import os\n" + USE + b"\n\n", START, START,
            b"import os\n" + USE + b"\n\n"),
        "there-already": (b"import os\n" + USE + b"\n\n", START, b"import os\n" + USE + b"\n\n",
            b"import os\n" + USE + b"\n\n"),
        "of-the-old-file": (START + USE, START + USE, START, b"import os\n" + USE + b"\n\n"),
        "beside-its-module": (START + b"from works.tools import clamp as clamp\n", START,
            b"from works.tools import pin\nfrom zoo import ape\n\n\n",
            b"from works.tools import pin\nfrom works.tools import clamp as clamp\n"
            b"from zoo import ape\n\n\n"),
        "in-the-statement-of-its-module": (START + USE, START,
            b"from works.tools import (\n    Pin,\n    pin,\n)\n\n\n",
            b"from works.tools import (\n    Pin,\n    clamp,\n    pin,\n)\n\n\n"),
        "the-first-one": (START + USE, START, b'"""Homes."""\n\n\n',
                     b'"""Homes."""\nfrom works.tools import clamp\n\n\n'),
        "for-types": (b"if TYPE_CHECKING:\n    " + USE, START,
            b"import os\nif t.TYPE_CHECKING:\n    import a\n\n\n",
            b"import os\nif t.TYPE_CHECKING:\n    import a\n    " + USE + b"\n\n"),
        "a-module": (START + b"import clamp\n", START, b"from a import b\nimport os\n\n\n",
            b"from a import b\nimport os\nimport clamp\n\n\n"),
        "from-a-branch": (START + b"try:\n    from x import clamp\nexcept ImportError:\n    pass\n",
            START + b"try:\n    from x import clamp\nexcept ImportError:\n    pass\n", START,
            b"import os\nfrom x import clamp\n\n\n"),
        "relative-in-one-folder": (START + b"from .tools import clamp\n", START, START,
            b"import os\nfrom .tools import clamp\n\n\n"),
        "builtin-or-unknown": (START, START, START, START),
    },
)  # fmt: skip
def test_an_import_follows_its_use(ours: bytes, old: bytes, home: bytes, expected: bytes) -> None:
    played = _carried(ours, old, home)
    assert played.files["b.py"] == expected + FIXED
    assert (played.marked, played.reasons()) == ((), [])


@table(
    ("ours", "home", "reason"),
    {
        "a-name-of-the-old-file": (START + b"clamp = max\n", START,
            "the patch uses clamp, which is not in b.py"),
        "a-function-of-the-patch": (START + b"def clamp(x):\n    return x\n", START,
            "the change uses clamp, which the patch adds elsewhere"),
        "for-types-without-a-block": (b"if TYPE_CHECKING:\n    " + USE, START,
            "the patch uses clamp, which is imported for type checkers only"),
        "a-broken-home": (START + USE, b"x = = 1\n\n\n", "the file does not parse"),
    },
)  # fmt: skip
def test_nothing_moves_if_an_import_cannot_move(ours: bytes, home: bytes, reason: str) -> None:
    played = _carried(ours, START, home)
    assert played.homes() == []
    assert f"{reason} -> b.py" in played.reasons()


LIST = b"from works.tools import (\n    ape,\n%s)\n\n\n"


@table(
    ("ours", "old", "stays"),
    {
        "a-line": (b"import os\n" + USE + b"\n\n", START, START),
        "in-a-list": (LIST % b"    clamp,\n", LIST % b"", LIST % b""),
        "in-a-statement": (b"from works.tools import ape, clamp\n\n\n",
            b"from works.tools import ape\n\n\n", b"from works.tools import ape\n\n\n"),
        "used-by-nobody": (b"import os\nfrom works import gnu\n\n\n", START,
            b"import os\nfrom works import gnu\n\n\n"),
        "used-here-as-well": (b"import os\n" + USE + b"\n\nX = clamp(1)\n\n\n",
            START + b"X = 1\n\n\n", b"import os\n" + USE + b"\n\nX = clamp(1)\n\n\n"),
    },
)  # fmt: skip
def test_an_import_of_moved_lines_moves_too(ours: bytes, old: bytes, stays: bytes) -> None:
    played = _carried(ours, old, START)
    assert played.files["a.py"] == stays + FILLER + REST
    assert (played.marked, played.reasons()) == ((), [])
    if stays == old:
        assert b"clamp" in played.files["b.py"].split(b"def ")[0]


def test_a_relative_import_does_not_change_its_folder() -> None:
    old = {"x/a.py": START + BODY + b"\n\n" + REST, "y/b.py": START}
    new = {"x/a.py": START + REST, "y/b.py": START + BODY}
    patched = START + b"from .tools import clamp\n" + FIXED + b"\n\n" + REST
    played = play(old, patched, new, path="x/a.py")
    assert played.homes() == []
    reason = "the patch uses clamp, which a relative import binds"
    assert f"{reason} -> y/b.py" in played.reasons()


def test_an_import_in_a_deleted_file_moves_with_its_use() -> None:
    old = {"a.py": START + BODY, "b.py": START}
    played = play(old, b"import os\n" + USE + b"\n\n" + FIXED, {"b.py": START + BODY}, path="a.py")
    assert played.files == {"b.py": b"import os\n" + USE + b"\n\n" + FIXED}
    assert played.reasons() == []


def test_an_unused_import_in_a_deleted_file_is_reported() -> None:
    head = START + b"".join(b"N%d = plant_number(%d)\n" % (n, n) for n in range(9)) + b"\n\n"
    old = {"a.py": head + BODY, "b.py": START}
    patched = head.replace(b"import os\n", b"import os\nimport sys\n") + BODY.replace(b"> ", b">= ")
    played = play(old, patched, {"b.py": START + BODY}, path="a.py")
    assert played.homes() == ["b.py weigh"]
    assert played.reasons() == ["no moved line uses what this hunk imports"]


def test_includes_follow() -> None:
    head, body = b"#include <a.h>\n\n", b"int weigh(int n) {\n  int m = scale(n);\n"
    body += b"  if (m > limit()) stop_the_plant();\n  return m * n;\n}\n"
    rest = b"\nint rinse(int n) {\n  return n + count_all(n);\n}\n"
    old = {"a.cc": head + body + rest, "b.cc": head}
    patched = b"#include <a.h>\n#include <c.h>\n\n" + body.replace(b"m >", b"c(m) >") + rest
    new = {"a.cc": head + rest, "b.cc": head + body}
    played = play(old, patched, new, path="a.cc")
    expected = b"#include <a.h>\n#include <c.h>\n\n" + body.replace(b"m >", b"c(m) >")
    assert played.files["b.cc"] == expected
    there = {**new, "b.cc": b"#include <c.h>\n" + head + body}
    played = play(old, patched, there, path="a.cc")
    assert played.files["b.cc"].count(b"c.h") == 1


@table(
    ("path", "content", "lines"),
    {
        "python": ("a.py", b"x()\nimport a\nfrom b import (\n    c,\n)\nx = 1\n", {1, 2, 3, 4}),
        "empty": ("a.py", b"", set()),
        "inner": ("a.py", b"def f():\n    import a\n", set()),
        "c++": ("a.cc", b"#include <a>\n#define include\n # include <b>\n", {0, 2}),
        "text": ("a.txt", b"import a\n", set()),
    },
)  # fmt: skip
def test_imports_are_found(path: str, content: bytes, lines: set[int]) -> None:
    assert import_lines(Outline(path, content)) == lines


def test_plain_text_needs_no_imports() -> None:
    text = Outline("a.txt", b"a\n")
    assert needed_imports(text, text, text, added=[b"clamp\n"], around=b"") == ()


@table(
    "line",
    {
        "attribute": b"    x = plant.clamp(1)\n",
        "keyword": b"    stop(clamp=1)\n",
        "string-and-comment": b"    stop('clamp')  # clamp\n",
        "assigned": b"    clamp = 1\n",
    },
)
def test_an_attribute_keyword_or_assigned_name_needs_no_import(line: bytes) -> None:
    theirs, home = Outline("a.py", USE), Outline("b.py", START)
    assert needed_imports(home, theirs, home, added=[line], around=b"") == ()
    wanted = (Run(1, (), (USE,)),)
    assert needed_imports(home, theirs, home, added=[b"    clamp(1)\n"], around=b"") == wanted
    assert needed_imports(home, theirs, home, added=[b" clamp(1)\n"], around=b"clamp(2)") == ()


def test_the_imports_of_a_file_that_does_not_parse_are_unsure() -> None:
    broken = Outline("a.py", b"import (\n")
    with pytest.raises(Unsure):
        needed_imports(broken, broken, broken, added=[b"clamp()\n"], around=b"")


@table(
    ("home", "added", "missing"),
    {
        "there": (b"self.level = 1\n", b"    self.level += 2\n", None),
        "missing": (b"x = 1\n", b"    stop(self.level)\n", "level"),
        "of-the-class": (b"x = 1\n", b"    stop(cls.level)\n", "level"),
        "bound-by-the-patch": (b"x = 1\n", b"    self.level = 2\n", None),
        "of-another": (b"x = 1\n", b"    stop(plant.level)\n", None),
        "in-a-comment": (b"x = 1\n", b"    stop()  # self.level\n", None),
    },
)
def test_a_missing_attribute_is_found(home: bytes, added: bytes, missing: str | None) -> None:
    assert missing_attribute(Outline("a.py", home), [added]) == missing
    assert missing_attribute(Outline("a.cc", home), [added]) is None
    assert missing_attribute(Outline("a.py", home), [added], frozenset({"level"})) is None


def _method(name: bytes) -> bytes:
    lines = BODY.replace(b"(plant,", b"(self, plant,").splitlines(keepends=True)
    return b"class %s:\n" % name + b"".join(b"    " + line for line in lines)


@table(("name", "is_carried"), [(b"Works", True), (b"Mill", False)])
def test_an_attribute_is_not_missing_in_the_same_class(name: bytes, is_carried: bool) -> None:
    own = _method(b"Works")
    old = {"a.py": START + own, "b.py": START}
    patched = START + own.replace(b"plant.limit:", b"self.bound:")
    played = play(old, patched, {"a.py": START, "b.py": START + _method(name)}, path="a.py")
    assert bool(played.homes()) is is_carried
    reasons = [] if is_carried else ["the patch uses bound, which is not in b.py -> b.py"]
    assert played.reasons() == reasons
