"""What upstream seems to have in other words becomes a conflict that shows both texts."""

import pytest

from patchmgr.engines.absorption.proposal import marked_spots
from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.conflicts.ids import conflict_regions
from patchmgr.engines.text.differences import Block
from patchmgr.engines.text.marked import sides_of
from patchmgr.model.outcome import FileConflict, How, PatchOutcome
from patchmgr.model.patch import Patch
from patchmgr.model.ports import Step
from tests.engines.ports import Binary, PlainMerge
from tests.engines.series import Files, Result, Run, difference, executable, link, text
from tests.tables import table

STEPS = [f"    step_{n}(plant)\n" for n in range(12)]
MINE = "    basin = plant.drain('sieve', 9)\n    if basin > 40: plant.ring(basin, 'bell')\n"
ALIKE = MINE.replace("basin", "trough")
OTHER = "    ladle = plant.cool('cellar', 3)\n    if ladle < 7: plant.call(ladle, 'smith')\n"


def written(**lines: str) -> str:
    """Return a function; `l4="x\\n"` puts text before a line."""
    body = list(STEPS)
    for name, put in sorted(lines.items(), key=lambda item: -int(item[0][1:])):
        body.insert(int(name[1:]), put)
    return "def run(plant):\n" + "".join(body)


def source(**lines: str) -> bytes:
    return written(**lines).encode()


BASE = {"f.py": source()}
PATCH = difference("p", BASE, {"f.py": source(l4=MINE)})


def rebased(
    onto: Files, *patches: Patch, asks: bool = True, base: Files = BASE, **known: Absorption
) -> Result:
    return Run(base, onto).rebase(*(patches or (PATCH,)), asks=asks, known=known)


def conflict_of(result: Result, number: int = 0) -> FileConflict:
    (conflict,) = result.outcomes[number].conflicts
    return conflict


def test_a_clean_hunk_that_says_the_same_again_is_a_conflict() -> None:
    ours = source(l8=ALIKE)
    result = rebased({"f.py": ours})
    assert result.verdicts == ["conflict"]
    assert result.answers() == ["conflict -"]
    conflict = conflict_of(result)
    assert conflict.reason == "upstream seems to have this in a different form"
    assert conflict.proposal == "absorbed"
    (both,) = conflict.resemblances
    assert (both.line, both.upstream.decode(), both.patch.decode()) == (10, ALIKE, MINE)
    assert conflict.marked is not None
    assert sides_of(conflict.marked)[1] == ours
    between = "".join(STEPS[4:8])
    regions = [[side.decode() for side in region] for region in conflict_regions(conflict.marked)]
    assert regions == [
        [(between + side).rstrip("\n") if n != 2 else side.rstrip("\n")
         for n, side in enumerate(("", ALIKE, MINE + between))]
    ]  # fmt: skip
    assert result.files == {"f.py": ours}


def test_nobody_is_asked_where_that_is_not_wanted() -> None:
    result = rebased({"f.py": source(l8=ALIKE)}, asks=False)
    assert result.verdicts == ["unchanged"]
    assert result.files == {"f.py": source(l4=MINE, l8=ALIKE)}


@table(
    "onto",
    {
        "something-else": {"f.py": source(l8=OTHER)},
        "nothing": {"f.py": source()},
        "in-another-file": {"f.py": source(), "g.py": source(l8=ALIKE)},
        "a-mode": {"f.py": executable(source())},
    },
)
def test_where_upstream_did_not_do_it_the_patch_is_carried(onto: Files) -> None:
    assert rebased(onto).verdicts == ["unchanged"]


@table(("text", "proposal", "alike"), [(ALIKE, "absorbed", [ALIKE]), (OTHER, None, [])])
def test_a_collision_proposes_the_like(text: str, proposal: str | None, alike: list[str]) -> None:
    conflict = conflict_of(rebased({"f.py": source(l4=text)}))
    assert (conflict.reason, conflict.proposal) == ("upstream changed the same lines", proposal)
    assert [both.upstream.decode() for both in conflict.resemblances] == alike


def test_a_proposal_speaks_for_all_hunks_in_conflict() -> None:
    patch = difference("p", BASE, {"f.py": source(l1="    first(1)\n", l9=MINE)})
    result = rebased({"f.py": source(l1="    other(2)\n", l11=ALIKE)}, patch)
    conflict = conflict_of(result)
    assert result.answers() == ["conflict -", "conflict -"]
    assert conflict.proposal is None
    assert [both.upstream.decode() for both in conflict.resemblances] == [ALIKE]
    assert conflict.marked is not None
    assert len(conflict_regions(conflict.marked)) == 2


def test_the_other_hunks_of_the_file_are_merged() -> None:
    patch = difference("p", BASE, {"f.py": source(l1="    first(1)\n", l9=MINE)})
    result = rebased({"f.py": source(l11=ALIKE)}, patch)
    assert result.answers() == ["unchanged text", "conflict -"]
    conflict = conflict_of(result)
    assert conflict.marked is not None
    assert sides_of(conflict.marked)[1] == source(l1="    first(1)\n", l11=ALIKE)


def test_a_moved_file_is_looked_at_too() -> None:
    run = Run(BASE, {"g.py": source(l8=ALIKE)})
    result = run.rebase(PATCH, renames={"f.py": "g.py"}, asks=True)
    assert result.verdicts == ["conflict"]
    assert conflict_of(result).new_path == "g.py"


def test_what_is_left_of_a_partly_absorbed_patch_is_looked_at() -> None:
    step = Step("c1", "Land", "", {})
    found = Absorption(frozenset({0}), step, Event.LANDED, is_whole=False, how=How.EXACT)
    patch = difference("p", BASE, {"f.py": source(l1="    first(1)\n", l9=MINE)})
    result = rebased({"f.py": source(l1="    first(1)\n", l11=ALIKE)}, patch, p=found)
    assert result.answers() == ["absorbed exact", "conflict -"]
    (file,) = result.judged[0].files
    assert [one.hunk for one in file.proposals] == [1]


def test_links_and_files_that_go_are_not_looked_into() -> None:
    base: Files = {"f.py": link(b"a")}
    patch = difference("p", base, {"f.py": link(b"b")})
    result = rebased({"f.py": link(b"c")}, patch, base=base)
    assert conflict_of(result).reason == "upstream changed the same link"
    assert rebased(BASE, difference("p", BASE, {})).verdicts == ["unchanged"]


def test_binaries_are_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.engines.series.PlainMerge", Binary)
    conflict = conflict_of(rebased({"f.py": source(l4=ALIKE)}))
    assert conflict.reason == "both sides are binary"


def test_a_solved_alarm_is_carried_as_it_was_solved() -> None:
    run = Run(BASE, {"f.py": source(l8=ALIKE)})
    both = source(l4=MINE, l8=ALIKE)
    result = run.rebase(PATCH, asks=True, solved={("p", "f.py"): both})
    assert result.answers() == ["modified recorded"]
    assert result.files == {"f.py": both}


def explained(onto: Files, *story: tuple[str, Files]) -> PatchOutcome:
    run = Run(BASE, onto)
    (outcome,) = run.explained(run.rebase(PATCH, asks=True), story)
    return outcome


def test_the_commit_that_brought_the_text_is_named() -> None:
    onto = {"f.py": source(l1=OTHER, l8=ALIKE)}
    before = ("Before (#1)", {"f.py": source(l1=OTHER)})
    outcome = explained(onto, before, ("Ours in other words (#2)", onto), ("After (#3)", onto))
    (likely,) = outcome.likely
    assert (likely.commit, likely.pull) == ("commit Ours in other words (#2)", 2)
    assert likely.paths == ("f.py",)
    assert likely.confidence >= 0.8


def test_a_text_that_no_commit_brought_names_none() -> None:
    assert explained({"f.py": source(l8=ALIKE)}).likely == ()


def test_a_file_that_was_gone_in_between_had_no_text() -> None:
    onto = {"f.py": source(l8=ALIKE)}
    outcome = explained(onto, ("Drop", {"f.py": None}), ("Back (#7)", onto))  # type: ignore[dict-item]  # None: it is gone
    assert [likely.pull for likely in outcome.likely] == [7]


def test_one_commit_is_named_once_for_all_files() -> None:
    base = {"f.py": source(), "g.py": source()}
    patch = difference("p", base, {"f.py": source(l4=MINE), "g.py": source(l4=MINE)})
    onto = {"f.py": source(l8=ALIKE), "g.py": source(l4=MINE.replace("'bell'", "'horn'"))}
    run = Run(base, onto)
    (outcome,) = run.explained(run.rebase(patch, asks=True), [("Both", onto)])
    (likely,) = outcome.likely
    assert likely.paths == ("f.py", "g.py")
    shown = [both.confidence for c in outcome.conflicts for both in c.resemblances]
    assert likely.confidence == min(shown)


def test_a_text_in_a_file_that_an_earlier_patch_makes_is_traced() -> None:
    ours = source(l8=ALIKE)
    step = Step("c1", "Land", "", {})
    landed = Absorption(frozenset({0}), step, Event.LANDED, is_whole=True, how=How.EXACT)
    run = Run({}, {"f.py": ours})
    result = run.rebase(difference("made", {}, BASE), PATCH, asks=True, known={"made": landed})
    assert result.verdicts == ["absorbed", "conflict"]
    told = run.explained(result, [("Make it", BASE), ("Say it", {"f.py": ours})])
    assert [likely.subject for likely in told[1].likely] == ["Say it"]


LETTERS = text("a b c d e f g h i j k l")
WITH_U = text("a b c U d e f g h i j k l")
WITH_T = text("a b c d T e f g h i j k l")


def marked(
    base: bytes, ours: bytes, theirs: bytes, *spots: tuple[int, int, int, int]
) -> bytes | None:
    return marked_spots((base, ours, theirs), [Block(*spot) for spot in spots], PlainMerge())


def regions(content: bytes | None) -> list[list[str]]:
    assert content is not None
    return [
        [" ".join(side.decode().split()) for side in region] for region in conflict_regions(content)
    ]


@table(
    ("sides", "spots", "found"),
    {
        "between-two-lines": (
            (LETTERS, WITH_U, WITH_T), [(4, 4, 3, 4)], [["d", "U d", "d T"]]
        ),
        "at-the-start": (
            (LETTERS, text("U a b c d e f g h i j k l"), text("T a b c d e f g h i j k l")),
            [(0, 0, 0, 1)], [["", "U", "T"]],
        ),
        "at-the-end": (
            (LETTERS, text("a b c d e f g h i j k l U"), text("a b c d e f g h i j k T l")),
            [(11, 11, 12, 13)], [["l", "l U", "T l"]],
        ),
        "replaced-lines": (
            (LETTERS, text("a U c d e f g h i j k l"), text("a b T d e f g h i j k l")),
            [(2, 3, 1, 2)], [["b c", "U c", "b T"]],
        ),
        "two": (
            (LETTERS, text("a U b c d e f V g h i j k l"), text("a b T c d e f g S h i j k l")),
            [(2, 2, 1, 2), (7, 7, 7, 8)], [["b", "U b", "b T"], ["g", "V g", "g S"]],
        ),
        "two-near": (
            (LETTERS, text("a U b c V d e f g h i j k l"), text("a b T c d S e f g h i j k l")),
            [(2, 2, 1, 2), (4, 4, 4, 5)],
            [["b", "U b", "b T"], ["d", "V d", "d S"]],
        ),
        "two-in-one": (
            (LETTERS, text("a U b c d e f g h i j k l"), text("a b T c S d e f g h i j k l")),
            [(2, 2, 1, 2), (3, 3, 1, 2)], [["b c", "U b c", "b T c S"]],
        ),
    },
)  # fmt: skip
def test_the_region_holds_both_texts(
    sides: tuple[bytes, bytes, bytes],
    spots: list[tuple[int, int, int, int]],
    found: list[list[str]],
) -> None:
    content = marked(*sides, *spots)
    assert regions(content) == found
    assert content is not None
    assert sides_of(content)[1] == sides[1]


def test_all_else_is_merged() -> None:
    ours = text("a b c U d e f g h i j k X")
    theirs = text("Y b c d T e f g h i j k l")
    content = marked(LETTERS, ours, theirs, (4, 4, 3, 4))
    assert content is not None
    assert sides_of(content)[1] == text("Y b c U d e f g h i j k X")
    assert regions(content) == [["d", "U d", "d T"]]


def test_what_collides_elsewhere_stays_a_collision() -> None:
    content = marked(LETTERS, WITH_U.replace(b"k", b"x"), WITH_T.replace(b"k", b"y"), (4, 4, 3, 4))
    assert regions(content) == [["d", "U d", "d T"], ["k", "x", "y"]]


def test_a_side_without_a_last_line_feed_gets_one() -> None:
    content = marked(b"a", b"a\nu", b"t\na", (0, 0, 1, 2))
    assert content == (b"<<<<<<< ours\na\nu\n||||||| base\na\n=======\nt\na\n>>>>>>> theirs\n")


def test_binaries_are_not_shown() -> None:
    assert marked_spots((LETTERS, WITH_U, WITH_T), [Block(4, 4, 3, 4)], Binary()) is None
