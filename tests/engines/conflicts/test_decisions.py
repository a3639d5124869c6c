"""A person's decisions: what they refer to, and when they apply again."""

from msgspec.structs import replace

from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.conflicts.decisions import (
    change_digest,
    is_there,
    passage,
    passage_of_place,
    whole_file,
)
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.differences import changed_blocks
from patchmgr.model.decision import Basis, Decision, Passage, Ruling
from patchmgr.model.outcome import How, PatchOutcome
from patchmgr.model.patch import Patch
from patchmgr.model.ports import Step
from tests.engines.absorption.test_proposal import ALIKE, BASE, MINE, OTHER, PATCH, source
from tests.engines.series import (
    File,
    Files,
    Result,
    Run,
    binary,
    deleted,
    difference,
    edited,
    executable,
    hunks_between,
    moved,
    patch_of,
    text,
)
from tests.tables import table

ALIKE_LINES = [line.encode() for line in ALIKE.splitlines(keepends=True)]


def found(onto: Files, *patches: Patch, base: Files = BASE) -> Basis | None:
    result = Run(base, onto).rebase(*(patches or (PATCH,)), asks=True)
    return result.outcomes[0].basis


def decided(
    basis: Basis | None,
    ruling: Ruling = Ruling.ABSORBED,
    *,
    by: str = "",
    pull: int | None = None,
) -> Decision:
    assert basis is not None
    return Decision(
        "s", "p", ruling, basis.change, basis.passages,
        by=by, commit="c7", subject="Upstream", pull=pull,
    )  # fmt: skip


def again(onto: Files, *decisions: Decision, patch: Patch = PATCH, base: Files = BASE) -> Result:
    return Run(base, onto).rebase(patch, asks=True, decisions=decisions)


def test_a_basis_refers_to_the_similar_text() -> None:
    content = source(l8=ALIKE)
    basis = found({"f.py": content})
    assert basis == Basis(change_digest(PATCH), (passage("f.py", content, ALIKE_LINES),))


def test_a_basis_refers_to_the_place_of_the_hunk_without_similar_text() -> None:
    content = source(l4=OTHER)
    basis = found({"f.py": content})
    lines = [line.encode() for line in OTHER.splitlines(keepends=True)]
    assert basis is not None
    assert basis.passages == (passage("f.py", content, lines),)


@table(
    ("patch", "onto", "passages"),
    {
        "deleted-upstream": (PATCH, {}, [whole_file("f.py", None)]),
        "deleted-by-us": (patch_of("p", deleted("f.py", source())), {"f.py": source(l4=OTHER)},
            [whole_file("f.py", source(l4=OTHER))]),
        "created-by-both": (difference("p", {}, {"g.py": b"ours\n"}),
            {"f.py": source(), "g.py": b"theirs\n"}, [whole_file("g.py", b"theirs\n")]),
    },
)  # fmt: skip
def test_basis_can_be_a_file(patch: Patch, onto: dict[str, File], passages: list[Passage]) -> None:
    basis = found(onto, patch)
    assert basis is not None
    assert list(basis.passages) == passages


def test_only_files_in_conflict_are_in_a_basis() -> None:
    base = {**BASE, "g.py": source()}
    patch = difference("p", base, {"f.py": source(l4=MINE), "g.py": source(l4=MINE)})
    basis = found({"f.py": source(l8=ALIKE), "g.py": source()}, patch, base=base)
    assert basis is not None
    assert [p.path for p in basis.passages] == ["f.py"]
    assert found({"f.py": source(), "g.py": source()}, patch, base=base) is None


@table(
    ("place", "ruling", "by", "verdict"),
    {
        "absorbed-where-it-collides": ("l4", Ruling.ABSORBED, "", "absorbed"),
        "absorbed-where-it-merges": ("l8", Ruling.ABSORBED, "", "absorbed"),
        "needed-where-it-collides": ("l4", Ruling.NEEDED, "me", "conflict"),
        "needed-where-it-merges": ("l8", Ruling.NEEDED, "me", "unchanged"),
    },
)
def test_a_decision_settles_the_verdict(place: str, ruling: Ruling, by: str, verdict: str) -> None:
    onto = {"f.py": source(**{place: ALIKE})}
    result = again(onto, decided(found(onto), ruling, by=by))
    assert result.verdicts == [verdict]
    proposals = [conflict.proposal for conflict in result.outcomes[0].conflicts]
    assert proposals == [None] * (verdict == "conflict")
    told = f"a person decided: {ruling.value}" + (f" by {by}" if by else "")
    assert result.outcomes[0].reason == told
    if ruling is Ruling.ABSORBED:
        assert (result.answers(), result.files) == (["absorbed decided"], onto)


@table(
    ("onto", "verdict"),
    {
        "upstream-went-on": (source(l1=OTHER, l8=ALIKE), "absorbed"),
        "white-space": (source(l8=ALIKE.replace("    ", "\t")), "absorbed"),
        "text-changed": (source(l8=ALIKE.replace("40", "50")), "conflict"),
        "text-gone": (source(), "unchanged"),
    },
)
def test_a_decision_holds_as_long_as_upstream_has_the_text(onto: bytes, verdict: str) -> None:
    decision = decided(found({"f.py": source(l8=ALIKE)}))
    assert again({"f.py": onto}, decision).verdicts == [verdict]


def test_a_decision_applies_to_one_change_only() -> None:
    onto = {"f.py": source(l8=ALIKE)}
    decision = decided(found(onto))
    other = difference("p", BASE, {"f.py": source(l4=MINE + "    more()\n")})
    assert again(onto, decision, patch=other).verdicts != ["absorbed"]
    renamed = replace(PATCH, name="q")
    assert again(onto, decision, patch=renamed).verdicts == ["absorbed"]


def test_a_passage_is_found_in_a_moved_file() -> None:
    decision = decided(found({"f.py": source(l8=ALIKE)}))
    run = Run(BASE, {"g.py": source(l8=ALIKE)})
    result = run.rebase(PATCH, renames={"f.py": "g.py"}, asks=True, decisions=(decision,))
    assert result.verdicts == ["absorbed"]


def test_the_first_decision_that_holds_counts() -> None:
    onto = {"f.py": source(l8=ALIKE)}
    decision = decided(found(onto))
    elsewhere = replace(decision, passages=(whole_file("f.py", None),), ruling=Ruling.NEEDED)
    assert again(onto, elsewhere, decision).verdicts == ["absorbed"]


def test_a_decision_can_be_changed() -> None:
    onto = {"f.py": source(l8=ALIKE)}
    basis = found(onto)
    for ruling in Ruling:
        assert again(onto, decided(basis, ruling)).outcomes[0].basis == basis


def test_a_patch_that_upstream_is_known_to_have_needs_no_decision() -> None:
    onto = {"f.py": source(l8=ALIKE)}
    decision = decided(found(onto), Ruling.NEEDED)
    step = Step("c1", "Land", "", {})
    landed = Absorption(frozenset({0}), step, Event.LANDED, is_whole=True, how=How.EXACT)
    run = Run(BASE, onto)
    result = run.rebase(PATCH, asks=True, decisions=(decision,), known={"p": landed})
    assert result.answers() == ["absorbed exact"]


def told(decision: Decision) -> PatchOutcome:
    onto = {"f.py": source(l8=ALIKE)}
    run = Run(BASE, onto)
    result = run.rebase(PATCH, asks=True, decisions=(decision,))
    (outcome,) = run.explained(result, [("Theirs (#5)", onto)])
    return outcome


def test_the_commit_of_the_decision_is_the_evidence() -> None:
    basis = found({"f.py": source(l8=ALIKE)})
    (evidence,) = told(decided(basis, pull=12)).evidence
    assert (evidence.commit, evidence.subject, evidence.pull) == ("c7", "Upstream", 12)
    assert evidence.how is How.DECIDED
    (evidence,) = told(decided(basis)).evidence
    assert evidence.pull is None


def test_a_decision_without_a_commit_has_no_evidence() -> None:
    basis = found({"f.py": source(l8=ALIKE)})
    outcome = told(replace(decided(basis), commit=None))
    assert outcome.evidence == ()
    assert outcome.hunks[0].evidence is None


def test_a_patch_of_several_files_is_dropped_as_a_whole() -> None:
    base = {**BASE, "g.py": source()}
    files = {"f.py": source(l4=MINE), "g.py": source(l1=OTHER)}
    patch = patch_of("p", *(edited(path, source(), new) for path, new in files.items()))
    onto = {"f.py": source(l4=ALIKE), "g.py": source()}
    decision = decided(found(onto, patch, base=base))
    result = again(onto, decision, patch=patch, base=base)
    assert result.verdicts == ["absorbed"]
    assert result.files == onto


PASSAGES_BASE = text("a b c d e f g h i j k l")


def patch(before: bytes, after: bytes) -> Patch:
    return difference("p.patch", {"f": before}, {"f": after})


@table(
    "other",
    {
        "shifted": patch(b"n\n" + PASSAGES_BASE, text("n a b c d X f g h i j k l")),
        "context": patch(text("a b c Y e f g"), text("a b c Y X f g")),
        "header": replace(patch(PASSAGES_BASE, PASSAGES_BASE.replace(b"e", b"X")), subject="Other"),
    },
)
def test_equal_changes_have_equal_digests(other: Patch) -> None:
    change = patch(PASSAGES_BASE, PASSAGES_BASE.replace(b"e", b"X"))
    assert change_digest(change) == change_digest(other)


def test_different_changes_have_different_digests() -> None:
    after = PASSAGES_BASE.replace(b"e", b"X")
    patches = [
        patch(PASSAGES_BASE, after),
        patch(PASSAGES_BASE, PASSAGES_BASE.replace(b"e", b"Y")),
        patch(PASSAGES_BASE, PASSAGES_BASE.replace(b"f", b"X")),
        patch(after, PASSAGES_BASE),
        difference("p", {"g": PASSAGES_BASE}, {"g": after}),
        patch_of("p", edited("f", PASSAGES_BASE, executable(after))),
        patch_of("p", moved("f", "g", PASSAGES_BASE, after)),
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
        "what-is-around-it": (WORDS.replace("delta_ten ", ""),
            "alpha_one beta_two gamma_six epsilon_1 zeta_four eta_seven"),
        "what-is-around-a-brace": (WORDS.replace("delta_ten", "}"),
            "alpha_one beta_two gamma_six } epsilon_1 zeta_four eta_seven"),
        "nothing-touches-it": (WORDS.replace("theta_8x", "other"),
            "alpha_one beta_two gamma_six delta_ten epsilon_1 zeta_four"),
    },
)  # fmt: skip
def test_the_passage_of_a_hunk_is_the_upstream_text_at_its_place(ours: str, lines: str) -> None:
    base, theirs = text(WORDS), text(WORDS.replace("delta_ten", "mine_here"))
    (hunk,) = hunks_between(base, theirs, context=0)
    content = text(ours)
    blocks = changed_blocks(split_lines(base), split_lines(content))
    found = passage_of_place("f", content, blocks, hunk, 3)
    assert found == passage("f", content, [f"{word}\n".encode() for word in lines.split()])


def test_a_hunk_inside_rewritten_lines_is_placed_at_their_start() -> None:
    base, theirs = text(WORDS), text(WORDS.replace("delta_ten", "mine_here"))
    (hunk,) = hunks_between(base, theirs, context=2)
    content = text(WORDS.replace("alpha_one beta_two", "another"))
    blocks = changed_blocks(split_lines(base), split_lines(content))
    found = passage_of_place("f", content, blocks, hunk, 1)
    assert found == passage("f", content, [b"another\n", b"gamma_six\n", b"delta_ten\n"])
