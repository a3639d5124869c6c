"""The text that a decision is about."""

from __future__ import annotations

from msgspec.structs import replace

from patchmgr.engines.absorption.proposal import Comparison
from patchmgr.engines.conflicts.decisions import (
    change_digest,
    is_there,
    passage,
    passage_of_place,
    whole_file,
)
from patchmgr.model.decision import Passage
from patchmgr.model.patch import Patch
from tests.engines.series import (
    binary,
    difference,
    edited,
    executable,
    hunks_between,
    moved,
    patch_of,
    text,
)
from tests.tables import table

BASE = text("a b c d e f g h i j k l")


def patch(before: bytes, after: bytes) -> Patch:
    return difference("p.patch", {"f": before}, {"f": after})


@table(
    "other",
    {
        "shifted": patch(b"n\n" + BASE, text("n a b c d X f g h i j k l")),
        "context": patch(text("a b c Y e f g"), text("a b c Y X f g")),
        "header": replace(patch(BASE, BASE.replace(b"e", b"X")), subject="Other"),
    },
)
def test_the_same_change_has_one_digest(other: Patch) -> None:
    assert change_digest(patch(BASE, BASE.replace(b"e", b"X"))) == change_digest(other)


def test_other_changes_have_other_digests() -> None:
    after = BASE.replace(b"e", b"X")
    patches = [
        patch(BASE, after),
        patch(BASE, BASE.replace(b"e", b"Y")),
        patch(BASE, BASE.replace(b"f", b"X")),
        patch(after, BASE),
        difference("p", {"g": BASE}, {"g": after}),
        patch_of("p", edited("f", BASE, executable(after))),
        patch_of("p", moved("f", "g", BASE, after)),
        patch_of("p", binary("f", b"1", b"2")),
        patch_of("p", binary("f", b"1", b"3")),
        patch_of("p"),
    ]
    assert len({change_digest(each) for each in patches}) == len(patches)


CONTENT = b"def f():\n    one()\n\n    two()\n    three()\n"


@table(
    ("content", "found"),
    {
        "same": (CONTENT, True),
        "elsewhere-in-the-file": (b"# more\n" + CONTENT + b"# and more\n", True),
        "other-white-space": (b"  one()\n\n\n  two()\n", True),
        "edited": (CONTENT.replace(b"two", b"new"), False),
        "between": (CONTENT.replace(b"    two", b"    more()\n    two"), False),
        "empty": (b"", False),
        "no-file": (None, False),
    },
)  # fmt: skip
def test_a_passage_is_there_or_not(content: bytes | None, found: bool) -> None:
    wanted = passage("f", CONTENT, [b"    one()\n", b"\n", b"    two()\n"])
    assert wanted.lines == 2
    assert is_there(content, wanted) is found


def test_a_passage_must_be_there_as_often_as_it_was() -> None:
    twice = CONTENT + CONTENT
    wanted = passage("f", twice, [b"    one()\n"])
    assert wanted.times == 2
    assert is_there(twice, wanted)
    assert is_there(twice + CONTENT, wanted)
    assert not is_there(CONTENT, wanted)


def test_a_whole_file_or_its_absence_can_be_a_passage() -> None:
    absent, present = whole_file("f", None), whole_file("f", b"\0")
    assert absent == Passage("f", 0, "")
    assert is_there(None, absent) and not is_there(b"", absent)
    assert is_there(b"\0", present) and not is_there(b"\1", present) and not is_there(None, present)
    assert passage("f", b"\n", [b"\n"]) == whole_file("f", b"\n")


WORDS = "alpha_one beta_two gamma_six delta_ten epsilon_1 zeta_four eta_seven theta_8x"


@table(
    ("ours", "lines"),
    {
        "what-replaced-it": (WORDS.replace("delta_ten", "another"), "another"),
        "what-is-around-it": (
            WORDS.replace("delta_ten ", ""),
            "alpha_one beta_two gamma_six epsilon_1 zeta_four eta_seven",
        ),
        "what-is-around-a-brace": (
            WORDS.replace("delta_ten", "}"),
            "alpha_one beta_two gamma_six } epsilon_1 zeta_four eta_seven",
        ),
        "nothing-touches-it": (
            WORDS.replace("theta_8x", "other"),
            "alpha_one beta_two gamma_six delta_ten epsilon_1 zeta_four",
        ),
    },
)
def test_the_passage_of_a_place(ours: str, lines: str) -> None:
    base, theirs = text(WORDS), text(WORDS.replace("delta_ten", "mine_here"))
    (hunk,) = hunks_between(base, theirs, context=0)
    content = text(ours)
    found = passage_of_place("f", content, Comparison("f", base, content), hunk, 3)
    assert found == passage("f", content, [f"{word}\n".encode() for word in lines.split()])
