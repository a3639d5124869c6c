"""The constructed cases (without N, O, P), and look-alikes that upstream does not have."""

from typing import Any

import pytest
from msgspec import Struct

from tests.commands.constructed import (
    Change,
    Edit,
    Files,
    Story,
    add,
    body,
    delete,
    forms,
    mention,
    move,
    put,
    rename,
    respace,
    say,
    twenty,
)
from tests.long import LONG

OLD = say(10, 4)
ONE, TWO, THREE = (say(10, 4, variant=n) for n in (1, 2, 3))
FIX = put(10, 4, ONE, TWO)
INSERT = put(10, 5, ONE, TWO, over=0)
REMOVE = put(10, 4, over=2)
SECOND = put(16, 5, say(16, 5, variant=1))
OTHER = put(7, 3, say(7, 3, variant=1), say(7, 3, variant=2))
UNDO = put(10, 4, OLD, over=2)
NEIGHBOUR = put(10, 3, say(10, 3, variant=1))
TEST = put(50, 3, say(50, 3, variant=1), say(50, 3, variant=2), over=0)
HERE, THERE = (put(unit, 4, ONE, TWO, over=0) for unit in (10, 16))
TWINS = [add(name, body(10), before=10) for name in ("twin_of_ten", "other_of_ten")]


def moved_apart(files: Files) -> Files:
    return move(16, "a", "c", before=110)(move(10, "a", "b", before=90)(files))


Edits = tuple[tuple[Edit, ...], dict[str, Edit]]


def edits(*first: Edit, **others: Edit) -> Edits:
    """Return edits of the first file, and of others by name."""
    return first, others


class Step(Struct, frozen=True):
    """A commit of upstream."""

    pull: int
    edits: Edits = ((), {})
    change: Change | None = None
    subject: str = "Rework"


def up(pull: int, *first: Edit, subject: str = "Rework", **others: Edit) -> Step:
    """Return a commit of upstream that edits the first file, and others by name."""
    return Step(pull, (first, others), subject=subject)


class Case(Struct, frozen=True):
    """What is played, and what the rebase says of it, commits by their pull request numbers.

    `carried` is what upstream's tree has of ours afterwards, None where that is not asked. The
    hunks of several patches are separated by `|`.
    """

    name: str
    patches: tuple[Edits, ...]
    upstream: tuple[Step, ...]
    verdicts: str
    hunks: str | None = None
    evidence: tuple[tuple[int, ...], ...] | None = None
    history: str | None = None
    cause: tuple[int, ...] | None = None
    homes: str = ""
    carried: Edits | None = ((), {})
    start: Edit | None = None
    more_files: tuple[str, ...] = ()
    in_each_form: bool = False


def case(name: str, *patches: Edit | Edits, then: list[Step], **told: Any) -> Case:
    """Return a case; evidence is that of one patch, or a list of that of each."""
    ours = tuple(patch if isinstance(patch, tuple) else edits(patch) for patch in patches)
    evidence = told.pop("evidence", None)
    if isinstance(evidence, tuple):
        evidence = [evidence]
    return Case(name, ours, tuple(then), evidence=evidence and tuple(evidence), **told)


EXACT: dict[str, Any] = {"hunks": "absorbed exact #7", "evidence": (7,)}
KINDS = {"replace": FIX, "insert": INSERT, "remove": REMOVE}
BACK = {FIX: (4, (4,), 2), INSERT: (5, (), 2), REMOVE: (4, (4, 5), 0)}


def back(fix: Edit) -> Edit:
    """Return what takes an edit back."""
    at, old, over = BACK[fix]
    return put(10, at, *(say(10, n) for n in old), over=over)


def of_each_kind() -> list[Case]:
    """Return the cases that are played with a replacement, an insertion and a removal.

    Where time is short, each is played with one of them, and each of them is played.
    """
    found: list[Case] = []
    for number, (kind, fix) in enumerate(KINDS.items()):
        cases = [
            case(f"A {kind}: picked at shifted lines", fix, then=[up(7, fix)],
                 verdicts="absorbed", history="landed #7", **EXACT),
            case(f"C {kind}: inside a squash with edits here and in another file", fix,
                 then=[up(7, fix, SECOND, OTHER, n=put(50, 1, say(50, 1, variant=9)))],
                 verdicts="absorbed", **EXACT),
            case(f"G {kind}: landed with an edited neighbor", fix,
                 then=[up(7, fix, NEIGHBOUR)], verdicts="absorbed", **EXACT),
            case(f"G {kind}: landed, and the neighbor edited later", fix,
                 then=[up(7, fix), up(9, NEIGHBOUR)], verdicts="absorbed",
                 history="landed #7", **EXACT),
            *(case(f"I {kind}: landed, then reverted by {subject}", fix,
                   then=[up(7, fix), up(9, back(fix), subject=subject)], verdicts="unchanged",
                   hunks="unchanged text", history="landed #7, reverted #9", carried=edits(fix))
              for subject in ('Revert "Rework (#7)"', "Go another way")),
        ]  # fmt: skip
        if fix is not REMOVE:
            cases += [
                case(f"B {kind}: picked with other white space", fix,
                     then=[up(7, fix, respace(10, 5))], verdicts="absorbed",
                     hunks="absorbed whitespace #7", evidence=(7,)),
                case(f"K {kind}: the function deleted", fix, then=[up(7, delete(10))],
                     verdicts="conflict", hunks="conflict", cause=(7,), evidence=()),
            ]  # fmt: skip
        found += cases if LONG else cases[number :: len(KINDS)]
    return found


CASES = [
    *of_each_kind(),
    case("D: landed, then the same line edited again", FIX,
         then=[up(7, FIX), up(9, put(10, 5, THREE))], verdicts="absorbed",
         hunks="absorbed history #7", evidence=(7,), history="landed #7, evolved #9"),
    case("D: landed, then the function deleted", FIX, then=[up(7, FIX), up(9, delete(10))],
         verdicts="absorbed", hunks="absorbed history #7", history="landed #7, gone #9"),
    case("E: one squash of our two patches, both on one line", put(10, 4, ONE), put(10, 4, TWO),
         then=[up(7, put(10, 4, TWO))], verdicts="absorbed absorbed",
         hunks="absorbed range #7|absorbed range #7", evidence=[(7,), (7,)]),
    case("F: one of our two hunks", edits(FIX, SECOND), then=[up(7, FIX)], verdicts="partial",
         hunks="absorbed exact #7, unchanged text", evidence=(7,), carried=edits(SECOND)),
    case("F: the other of our two hunks, with edits of upstream's", edits(FIX, SECOND),
         then=[up(7, SECOND, OTHER)], verdicts="partial",
         hunks="unchanged text, absorbed exact #7", evidence=(7,), carried=edits(FIX)),
    case("I: reverted in a commit that does other things, too", FIX,
         then=[up(7, FIX), up(9, UNDO, SECOND, OTHER, subject="Revert #7, and clean up")],
         verdicts="unchanged", history="landed #7, reverted #9", carried=edits(FIX)),
    case("I: landed, reverted, and landed once more", FIX,
         then=[up(7, FIX), up(9, UNDO, subject='Revert "Rework (#7)"'),
               up(11, FIX, subject="Reland")],
         verdicts="absorbed", hunks="absorbed exact #11", evidence=(11,)),
    *(case(f"J: our lines in function {unit} only", INSERT,
           then=[up(7, put(unit, 3, ONE, TWO, over=0))], verdicts="unchanged",
           hunks="unchanged text", evidence=(), carried=edits(INSERT))
      for unit in ((5, 9, 11, 14) if LONG else (9, 11))),
    case("L: the function moved to another file that was there before", FIX, in_each_form=True,
         more_files=("b",), then=[Step(7, change=move(10, "a", "b", before=90))],
         verdicts="modified", hunks="modified moved", cause=(7,), homes="b",
         carried=edits(b=FIX)),
    case("L: the function moved within the file", FIX, in_each_form=True,
         then=[Step(7, change=move(10, "a", "a", before=18))], verdicts="modified",
         hunks="modified moved", cause=(7,), carried=edits(FIX)),
    case("M: two functions moved to two files", edits(FIX, SECOND),
         more_files=("b", "c"), then=[Step(7, change=moved_apart)], verdicts="modified",
         hunks="modified moved, modified moved", cause=(7,), homes="b c",
         carried=edits(b=FIX, c=SECOND)),
    case("Q: upstream made the change that we undo", FIX, UNDO, then=[up(7, FIX)],
         verdicts="absorbed unchanged", hunks="absorbed exact #7", evidence=[(7,), ()],
         carried=edits(UNDO)),
    case("Q: upstream took back what we undo, and made the change again", UNDO, start=FIX,
         then=[up(7, UNDO, subject="Try without"), up(9, FIX, subject="Once more")],
         verdicts="unchanged", history="landed #7, reverted #9", carried=edits(UNDO)),
    case("Q: what we undo in one function, upstream also does in another", UNDO, start=FIX,
         then=[up(7, put(14, 4, ONE, TWO))], verdicts="unchanged", evidence=(),
         carried=edits(UNDO)),
    case("R: the test hunk landed, not the code hunk", edits(FIX, n=TEST), then=[up(7, n=TEST)],
         verdicts="partial", hunks="unchanged text, absorbed exact #7", evidence=(7,),
         carried=edits(FIX)),
    *(case(f"S: a copy of the function before function {before}", FIX,
           then=[up(7, add("twin_of_ten", body(10), before=before))], verdicts="unchanged",
           hunks="unchanged text", carried=edits(FIX))
      for before in ((10, 11, 4, 18) if LONG else (10, 4))),
    case("S: two copies of the function, and no original", FIX,
         then=[up(7, *TWINS, delete(10))], verdicts="conflict", hunks="conflict", carried=None),
    case("T: renamed and landed at once", FIX, then=[Step(7, change=rename("a", "m", FIX))],
         verdicts="absorbed", homes="m", **EXACT),
    case("T: renamed, then landed", FIX,
         then=[Step(5, change=rename("a", "m")), up(7, m=FIX)],
         verdicts="absorbed", homes="m", **EXACT),
    case("T: landed, then renamed", FIX, then=[up(5, FIX), Step(7, change=rename("a", "m"))],
         verdicts="absorbed", hunks="absorbed exact #5", evidence=(5,), homes="m"),
    # Look-alikes: what upstream does not have, though its lines say otherwise.
    case("an edited neighbor alone is drift", FIX,
         then=[up(7, put(10, 2, say(10, 2, variant=1)))], verdicts="modified",
         hunks="modified text", cause=(7,), carried=edits(FIX)),
    case("a rename alone is followed", FIX, then=[Step(7, change=rename("a", "m", SECOND))],
         verdicts="modified", hunks="modified moved", cause=(7,), homes="m",
         carried=edits(m=FIX)),
    case("the first half of an insertion is not the insertion", INSERT,
         then=[up(7, put(10, 5, ONE, over=0))], verdicts="modified",
         hunks="modified structural", cause=(7,), carried=edits(put(10, 6, TWO, over=0))),
    case("the second half of an insertion is not the insertion", INSERT,
         then=[up(7, put(10, 5, TWO, over=0))], verdicts="modified",
         hunks="modified structural", cause=(7,), carried=edits(put(10, 5, ONE, over=0))),
    case("the removal alone is not the replacement", FIX, then=[up(7, put(10, 4))],
         verdicts="conflict", cause=(7,)),
    case("another number is not our number", put(10, 4, ONE), then=[up(7, put(10, 4, TWO))],
         verdicts="conflict", cause=(7,)),
    case("our lines at another place of the function are not our change",
         put(10, 8, ONE, TWO, over=0), then=[up(7, put(10, 1, ONE, TWO, over=0))],
         verdicts="unchanged", evidence=(), carried=edits(put(10, 10, ONE, TWO, over=0))),
    case("an insertion into a deleted function is a conflict after edits of it", INSERT,
         then=[up(5, put(10, 1, THREE)), up(7, delete(10))], verdicts="conflict", cause=(7,)),
    case("a deletion that upstream did not do is carried", REMOVE,
         then=[up(7, SECOND, OTHER)], verdicts="unchanged", carried=edits(REMOVE)),
    case("a line that the file had elsewhere all along is no evidence", INSERT,
         start=put(5, 2, ONE, TWO, over=0), then=[up(7, SECOND)], verdicts="unchanged",
         evidence=(), carried=edits(INSERT)),
    case("one of two equal hunks is one hunk", edits(HERE, THERE), then=[up(7, THERE)],
         verdicts="partial", hunks="unchanged text, absorbed exact #7", carried=edits(HERE)),
    case("the same lines in another file are no evidence", INSERT,
         then=[up(7, n=put(50, 3, ONE, TWO, over=0))], verdicts="unchanged", evidence=(),
         carried=edits(INSERT)),
    case("a landing elsewhere with the removal here is not our change", FIX,
         then=[up(7, put(10, 4), put(16, 2, ONE, TWO, over=0))], verdicts="conflict",
         cause=(7,)),
    case("a do and an undo are carried where upstream has neither", FIX, UNDO,
         then=[up(7, SECOND)], verdicts="unchanged unchanged", evidence=[(), ()]),
    case("two patches of which one landed are told apart", FIX, SECOND, then=[up(7, SECOND)],
         verdicts="unchanged absorbed", hunks="unchanged text|absorbed exact #7",
         carried=edits(FIX)),
    case("a reverted half is carried, and the other half absorbed", edits(FIX, SECOND),
         then=[up(7, FIX, SECOND), up(9, UNDO)], verdicts="partial",
         hunks="unchanged text, absorbed history #7", carried=edits(FIX)),
]  # fmt: skip


@pytest.mark.parametrize(("case", "story"), forms(CASES), indirect=["story"])
def test_a_case_is_told_as_it_is(story: Story, case: Case) -> None:
    for number, path in enumerate(case.more_files, 1):
        story.files[path] = twenty(story.form, offset=60 + 20 * number)
    if case.start is not None:
        story.start(case.start)
    for ours, others in case.patches:
        story.patch(*ours, **others)
    for step in case.upstream:
        if step.change is not None:
            story.commit(step.pull, step.change)
        else:
            story.upstream(step.pull, *step.edits[0], subject=step.subject, **step.edits[1])
    told = story.rebase(code=3 if "conflict" in case.verdicts else 0)
    assert told.verdicts() == case.verdicts.split()
    for patch, hunks in enumerate(case.hunks.split("|") if case.hunks else ()):
        assert told.hunks(patch) == hunks.split(", ")
    for patch, pulls in enumerate(case.evidence or ()):
        assert told.evidence(patch) == list(pulls)
    if case.history is not None:
        assert told.history() == case.history.split(", ")
    if case.cause is not None:
        assert told.cause() == list(case.cause)
    if case.homes:
        assert told.homes() == [story.path(home) for home in case.homes.split()]
    if case.carried is not None:
        assert told.tree == story.tree(*case.carried[0], **case.carried[1])


def test_our_lines_in_a_comment_are_not_our_lines(story: Story) -> None:
    story.patch(INSERT)
    story.upstream(7, mention(10, 5, ONE, TWO))
    told = story.rebase()
    assert told.verdicts() == ["modified"]
    assert told.cause() == [7]
    assert told.tree == story.tree(INSERT)
