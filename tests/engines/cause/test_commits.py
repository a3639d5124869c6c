"""Evidence and cause: which upstream commit a verdict comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.cause.commits import explain, explained_paths
from patchmgr.engines.cause.pulls import merged_pull, pull_number
from patchmgr.model.outcome import How, Sighting
from patchmgr.model.patch import FilePatch
from patchmgr.model.ports import Step
from tests.engines.ports import PlainMerge
from tests.engines.series import (
    File,
    Files,
    Run,
    Told,
    binary,
    created,
    deleted,
    edited,
    executable,
    link,
    moved,
    patch_of,
    text,
)
from tests.long import examples
from tests.tables import table

Story = Sequence[tuple[str, Mapping[str, "File | None"]]]

BASE = text("a b c d e f g h i j k l")
EARLY = text("a B c d e f g h i j k l")
LATE = text("a b c d e f g h i j K l")
BOTH = text("a B c d e f g h i j K l")
OTHER = text("a X c d e f g h i j k l")
THIRD = text("a Y c d e f g h i j k l")
PUSHED = text("n a b c d e f g h i j k l")
NEAR = text("a b c d E f g h i j k l")
ONE, TWO, NEW = text("1"), text("2"), text("new")

EDIT = edited("f", BASE, EARLY)
MODE = edited("f", BASE, executable(BASE))
RENAME = moved("f", "g", BASE, BASE)


@table(
    ("subject", "number"),
    {
        "at-the-end": ("Fix it (#12)", 12),
        "white-space-behind": ("Fix it (#12) \n", 12),
        "the-last": ("Fix (#1) it (#23)", 23),
        "none": ("Fix it", None),
        "in-the-middle": ("Fix (#12) it", None),
        "bare": ("Fix it #12", None),
        "no-number": ("Fix it (#)", None),
        "other-digits": ("Fix it (#१२)", None),
        "too-long": ("Fix it (#" + "9" * 9000 + ")", None),
    },
)
def test_a_pull_request_ends_the_subject(subject: str, number: int | None) -> None:
    assert pull_number(subject) == number


def _final(base: Files, story: Story) -> dict[str, File]:
    files = dict(base)
    for _, changes in story:
        for path, file in changes.items():
            if file is None:
                files.pop(path, None)
            else:
                files[path] = file
    return files


def _sighted(
    changes: Sequence[FilePatch],
    story: Story,
    renames: Mapping[str, str],
    before: Sequence[FilePatch] = (),
) -> tuple[str, list[str], list[str]]:
    """Return the last patch's verdict, and the subjects of its evidence and cause."""
    base: Files = {"f": BASE}
    run = Run(base, _final(base, story))
    below = [patch_of(f"below {n}", change) for n, change in enumerate(before)]
    result = run.rebase(*below, patch_of("p", *changes), renames=renames)
    outcome = run.explained(result, story)[-1]
    evidence = [sighting.subject for sighting in outcome.evidence]
    ids = {hunk.evidence for hunk in outcome.hunks} - {None}
    assert ids == {sighting.commit for sighting in outcome.evidence}
    return outcome.verdict.value, evidence, [sighting.subject for sighting in outcome.cause]


@table(
    ("changes", "story", "renames", "verdict", "evidence"),
    {
        "one-commit": ([EDIT], [("1", {"f": EARLY})], {}, "absorbed", ["1"]),
        "first-of-those-that-have-it": ([EDIT],
            [("1", {"f": LATE}), ("2", {"f": BOTH}), ("3", {"f": BOTH})], {}, "absorbed", ["2"]),
        "reverted-and-landed-again": ([EDIT],
            [("1", {"f": EARLY}), ("2", {"f": BASE}), ("3", {"f": EARLY})], {}, "absorbed", ["3"]),
        "other-files-do-not-count": ([EDIT], [("1", {"f": EARLY}), ("2", {"x": ONE})], {},
            "absorbed", ["1"]),
        "deleted-in-between": ([EDIT], [("1", {"f": None}), ("2", {"f": EARLY})], {}, "absorbed",
            ["2"]),
        "a-commit-a-hunk": ([edited("f", BASE, BOTH)], [("1", {"f": EARLY}), ("2", {"f": BOTH})],
            {}, "absorbed", ["1", "2"]),
        "partial": ([edited("f", BASE, BOTH)], [("1", {"f": EARLY})], {}, "partial", ["1"]),
        "deletion": ([deleted("f", BASE)], [("1", {"f": LATE}), ("2", {"f": None})], {}, "absorbed",
            ["2"]),
        "deleted-twice": ([deleted("f", BASE)],
            [("1", {"f": None}), ("2", {"f": ONE}), ("3", {"f": None})], {}, "absorbed", ["3"]),
        "creation": ([created("n", NEW)], [("1", {"n": ONE}), ("2", {"n": NEW})], {}, "absorbed",
            ["2"]),
        "creation-of-less-has-no-commit": ([created("n", b"")], [("1", {"n": ONE})], {}, "absorbed",
            []),
        "mode": ([MODE],
            [("1", {"f": LATE}), ("2", {"f": executable(LATE)}), ("3", {"f": executable(BASE)})],
            {}, "absorbed", ["2"]),
        "edit-and-mode-count-by-the-edit": ([edited("f", BASE, executable(EARLY))],
            [("1", {"f": EARLY}), ("2", {"f": executable(EARLY)})], {}, "absorbed", ["1"]),
        "mode-beside-an-edit": ([edited("f", BASE, executable(EARLY))],
            [("1", {"f": LATE}), ("2", {"f": executable(LATE)})], {}, "partial", ["2"]),
        "binary": ([binary("f", BASE, b"\0")], [("1", {"f": b"\1"}), ("2", {"f": b"\0"})], {},
            "absorbed", ["2"]),
        "binary-and-mode": ([replace(binary("f", BASE, b"\0"), new_mode="100755")],
            [("1", {"f": b"\0"}), ("2", {"f": executable(b"\0")})], {}, "absorbed", ["1"]),
        "rename": ([RENAME],
            [("1", {"f": LATE}), ("2", {"f": None, "g": LATE}), ("3", {"g": BASE})], {"f": "g"},
            "absorbed", ["2"]),
        "rename-and-edit-count-by-the-edit": ([moved("f", "g", BASE, EARLY)],
            [("1", {"f": EARLY}), ("2", {"f": None, "g": EARLY})], {"f": "g"}, "absorbed", ["1"]),
        "rename-beside-an-edit": ([moved("f", "g", BASE, EARLY)], [("1", {"f": None, "g": BASE})],
            {"f": "g"}, "partial", ["1"]),
        "rename-that-nobody-saw": ([moved("f", "g", BASE, EARLY)], [("1", {"f": None, "g": EARLY})],
            {}, "absorbed", ["1"]),
        "rename-and-mode": ([moved("f", "g", BASE, executable(BASE))],
            [("1", {"f": None, "g": BASE}), ("2", {"g": executable(BASE)})], {"f": "g"}, "absorbed",
            ["2"]),
        "after-a-move-only-the-new-home-counts": ([EDIT],
            [("1", {"f": None, "g": BASE}), ("2", {"g": EARLY}), ("3", {"f": ONE}),
             ("4", {"f": None})],
            {"f": "g"}, "absorbed", ["2"]),
        "moved-back-and-forth": ([EDIT],
            [("1", {"f": None, "g": EARLY}), ("2", {"f": BASE, "g": None}),
                              ("3", {"f": EARLY}), ("4", {"f": None, "g": EARLY})],
            {"f": "g"}, "absorbed", ["3"]),
        "copy": ([replace(moved("f", "g", BASE, EARLY), is_copy=True)],
            [("1", {"f": LATE}), ("2", {"g": EARLY}), ("3", {"f": BASE})], {}, "absorbed", ["2"]),
        "file-to-link": ([deleted("f", BASE), created("f", link(b"to"))],
            [("1", {"f": LATE}), ("2", {"f": link(b"to")})], {}, "absorbed", ["2"]),
        "unchanged": ([EDIT], [], {}, "unchanged", []),
    },
)  # fmt: skip
def test_evidence_is_the_first_commit_since_which_upstream_has_it(
    changes: Sequence[FilePatch],
    story: Story,
    renames: Mapping[str, str],
    verdict: str,
    evidence: list[str],
) -> None:
    found = _sighted(changes, story, renames)
    assert found[:2] == (verdict, evidence)


@table(
    ("changes", "story", "renames", "verdict", "cause"),
    {
        "one-commit": ([EDIT], [("1", {"f": OTHER})], {}, "conflict", ["1"]),
        "first-of-those-that-disturb": ([EDIT],
            [("1", {"f": LATE}), ("2", {"f": OTHER}), ("3", {"f": THIRD})], {}, "conflict", ["2"]),
        "taken-back-and-done-again": ([EDIT],
            [("1", {"f": OTHER}), ("2", {"f": BASE}), ("3", {"f": THIRD})], {}, "conflict", ["3"]),
        "drift": ([EDIT], [("1", {"f": PUSHED}), ("2", {"f": NEAR})], {}, "modified", ["2"]),
        "positions-only": ([EDIT], [("1", {"f": PUSHED})], {}, "unchanged", []),
        "deleted": ([EDIT], [("1", {"f": LATE}), ("2", {"f": None})], {}, "conflict", ["2"]),
        "type": ([EDIT], [("1", {"f": LATE}), ("2", {"f": link(b"to")})], {}, "conflict", ["2"]),
        "deletion": ([deleted("f", BASE)], [("1", {"x": ONE}), ("2", {"f": LATE})], {}, "conflict",
            ["2"]),
        "creation": ([created("n", NEW)], [("1", {"n": ONE}), ("2", {"n": TWO})], {}, "conflict",
            ["1"]),
        "a-folder-in-the-way-has-no-commit": ([created("n", NEW)], [("1", {"n/x": ONE})], {},
            "conflict", []),
        "mode-counts-any-change": ([MODE], [("1", {"f": LATE}), ("2", {"f": None})], {}, "conflict",
            ["1"]),
        "binary": ([binary("f", BASE, b"\0")], [("1", {"f": b"\1"})], {}, "conflict", ["1"]),
        "moved": ([EDIT], [("1", {"f": LATE}), ("2", {"f": None, "g": LATE})], {"f": "g"},
            "modified", ["2"]),
        "drifted-then-moved": ([EDIT], [("1", {"f": NEAR}), ("2", {"f": None, "g": NEAR})],
            {"f": "g"}, "modified", ["1"]),
        "mode-of-a-moved-file": ([MODE], [("1", {"f": None, "g": BASE})], {"f": "g"}, "modified",
            ["1"]),
        "both-rename": ([RENAME], [("1", {"f": None, "h": BASE})], {"f": "h"}, "conflict", ["1"]),
        "rename-there-mode-carried": ([moved("f", "g", BASE, executable(BASE))],
            [("1", {"f": None, "g": BASE})], {"f": "g"}, "modified", ["1"]),
        "copy": ([replace(moved("f", "g", BASE, EARLY), is_copy=True)],
            [("1", {"f": LATE}), ("2", {"g": ONE})], {}, "conflict", ["2"]),
        "a-commit-a-hunk": ([edited("f", BASE, BOTH)],
            [("1", {"f": text("a b c d e f g h i j Q l")}),
                      ("2", {"f": text("a X c d e f g h i j Q l")})],
            {}, "conflict", ["2", "1"]),
    },
)  # fmt: skip
def test_cause_is_the_first_commit_since_which_it_does_not_apply(
    changes: Sequence[FilePatch],
    story: Story,
    renames: Mapping[str, str],
    verdict: str,
    cause: list[str],
) -> None:
    found = _sighted(changes, story, renames)
    assert (found[0], found[2]) == (verdict, cause)


@table(
    ("below", "change", "story", "verdict", "evidence", "cause"),
    {
        "drift-beside-a-patch-below": (
            edited("f", BASE, EARLY),
            edited("f", EARLY, text("a B c D e f g h i j k l")),
            [("1", {"f": LATE}), ("2", {"f": text("a b c d e F g h i j K l")})],
            "modified",
            [],
            ["2"],
        ),
        "conflict-beside-a-patch-below": (
            edited("f", BASE, EARLY),
            edited("f", EARLY, text("a B c d e F g h i j k l")),
            [("1", {"f": LATE}), ("2", {"f": text("a b c d e X g h i j K l")})],
            "conflict",
            [],
            ["2"],
        ),
        "absorbed-after-the-patch-below": (
            edited("f", BASE, EARLY),
            edited("f", EARLY, BOTH),
            [("1", {"f": EARLY}), ("2", {"f": BOTH})],
            "absorbed",
            ["2"],
            [],
        ),
        "absorbed-without-the-patch-below": (
            edited("f", BASE, EARLY),
            edited("f", EARLY, BOTH),
            [("1", {"f": LATE})],
            "absorbed",
            ["1"],
            [],
        ),
        "absorbed-where-the-patch-below-collided": (
            edited("f", BASE, EARLY),
            edited("f", EARLY, BOTH),
            [("1", {"f": text("a X c d e f g h i j K l")}), ("2", {"f": BOTH})],
            "absorbed",
            ["1"],
            [],
        ),
        "on-top-of-a-new-file": (
            created("n", BASE),
            edited("n", BASE, EARLY),
            [("1", {"n": BASE}), ("2", {"n": EARLY})],
            "blocked",
            [],
            [],
        ),
        "unchanged-on-top-of-a-new-file": (
            created("n", BASE),
            edited("n", BASE, EARLY),
            [("1", {"n": ONE}), ("2", {"n": BASE})],
            "unchanged",
            [],
            [],
        ),
    },
)
def test_patches_below_are_thought_away(
    below: FilePatch,
    change: FilePatch,
    story: Story,
    verdict: str,
    evidence: list[str],
    cause: list[str],
) -> None:
    assert _sighted([change], story, {}, [below]) == (verdict, evidence, cause)


def test_a_sighting_names_commit_pull_author_and_all_paths() -> None:
    base: Files = {"f": BASE, "x": ONE, "y": ONE}
    onto: Files = {"f": BOTH, "x": TWO, "y": NEW}
    run = Run(base, onto)
    patch = patch_of(
        "p", edited("f", BASE, BOTH), edited("x", ONE, TWO), edited("y", ONE, text("9"))
    )
    outcome = run.explained(run.rebase(patch), [("All at once (#7)", onto)])[0]
    subject = "All at once (#7)"
    commit = f"commit {subject}"
    assert outcome.evidence == (Sighting(commit, subject, 7, How.EXACT, ("f", "x"), "A. Author"),)
    assert outcome.cause == (Sighting(commit, subject, 7, None, ("y",), "A. Author"),)
    assert [hunk.evidence for hunk in outcome.hunks] == [commit] * 3 + [None]


def test_only_what_did_not_come_through_unchanged_is_looked_up() -> None:
    base: Files = {"f": BASE, "g": BASE, "x": ONE}
    run = Run(base, {"h": BASE, "g": BASE, "x": TWO})
    result = run.rebase(
        patch_of("p1", edited("f", BASE, EARLY)),
        patch_of("p2", edited("g", BASE, EARLY)),
        patch_of("p3", edited("x", ONE, TWO)),
        renames={"f": "h"},
    )
    assert explained_paths(result.judged) == ("f", "h", "x")


def test_without_anything_to_explain_history_is_not_asked() -> None:
    run = Run({"f": BASE}, {"f": BASE})
    result = run.rebase(patch_of("p", EDIT))
    told = Told(run.blobs, [("1", {"f": OTHER})])
    after = explain(result.judged, told, {}, blobs=run.blobs, text=PlainMerge())
    assert after == result.judged
    assert told.asked == []


def test_what_history_landed_and_what_the_target_has_are_told_apart() -> None:
    run = Run({"f": BASE, "x": ONE}, {"f": OTHER, "x": TWO})
    landing = Step("1" * 40, "Land it", "A. Author", {})
    known = Absorption(frozenset({0}), landing, Event.EVOLVED, is_whole=False)
    patch = patch_of("p", EDIT, edited("x", ONE, TWO))
    result = run.rebase(patch, known={"p": known})
    (outcome,) = run.explained(result, [("1", {"f": OTHER}), ("2", {"x": TWO})])
    assert [hunk.evidence for hunk in outcome.hunks] == ["1" * 40, "commit 2"]


def test_the_commit_inside_of_a_merge_is_named_with_the_pull_request_of_the_merge() -> None:
    run = Run({"f": BASE}, {"f": OTHER})
    merge = Step("1" * 40, "Merge pull request #7 from them/it", "M. Erger", {}, is_merge=True)
    inner = Step("2" * 40, "Land it", "A. Author", {})
    known = Absorption(frozenset({0}), merge, Event.EVOLVED, is_whole=True, inner=inner)
    result = run.rebase(patch_of("p", EDIT), known={"p": known})
    (outcome,) = run.explained(result, [("1", {"f": OTHER})])
    assert outcome.evidence == (Sighting("2" * 40, "Land it", 7, How.HISTORY, ("f",), "A. Author"),)
    assert outcome.hunks[0].evidence == "2" * 40
    assert outcome.history[0] == ("1" * 40, "landed")


@table(
    ("subject", "number"),
    {
        "github": ("Merge pull request #12 from them/it", 12),
        "short": ("Merge #12: say it", 12),
        "of-a-repository": ("Merge bitcoin/bitcoin#12: say it", 12),
        "branch": ("Merge branch 'fix-#12'", None),
        "later": ("Say it, as in Merge #12", None),
    },
)
def test_a_pull_request_begins_the_subject_of_its_merge(subject: str, number: int | None) -> None:
    assert merged_pull(subject) == number


@table("content", [NEW, OTHER], ids=["recorded", "decided"])
def test_what_a_person_solved_is_explained_where_upstream_disturbed_it(content: bytes) -> None:
    run = Run({"f": BASE}, {"f": OTHER})
    result = run.rebase(patch_of("p", EDIT), solved={("p", "f"): content})
    outcome = run.explained(result, [("1", {"f": LATE}), ("2", {"f": OTHER})])[0]
    assert outcome.evidence == ()
    assert [sighting.subject for sighting in outcome.cause] == (["2"] if content == NEW else [])


def test_a_patch_on_a_solved_creation_is_explained_by_the_file_upstream() -> None:
    run = Run({}, {"n": OTHER})
    patches = [patch_of("p1", created("n", BASE)), patch_of("p2", edited("n", BASE, EARLY))]
    result = run.rebase(*patches, solved={("p1", "n"): text("a z c d e f g h i j k l")})
    assert result.verdicts == ["modified", "conflict"]
    outcomes = run.explained(result, [("1", {"n": BASE}), ("2", {"n": OTHER})])
    assert [sighting.subject for sighting in outcomes[1].cause] == ["2"]


def test_a_blocked_patch_is_left_as_it_is() -> None:
    run = Run({"f": BASE, "x": ONE}, {"f": OTHER, "x": TWO})
    blocked = patch_of("p2", edited("f", EARLY, BASE), edited("x", ONE, TWO))
    result = run.rebase(patch_of("p1", EDIT), blocked)
    explained = run.explained(result, [("1", {"f": OTHER, "x": TWO})])
    assert [sighting.subject for sighting in explained[0].cause] == ["1"]
    assert explained[1] == result.outcomes[1]


WORDS = st.lists(st.sampled_from("ab"), max_size=5).map(lambda words: text(" ".join(words)))
FILES = st.one_of(WORDS, WORDS.map(executable), st.just(link(b"a")))
STORY = st.lists(
    st.dictionaries(st.sampled_from("fg"), st.none() | FILES, min_size=1, max_size=2), max_size=4
)


@settings(deadline=None, max_examples=examples(300))
@given(WORDS, WORDS, STORY, st.booleans(), st.booleans())
def test_what_explains_is_always_one_of_the_commits(
    old: bytes, new: bytes, changes: list[dict[str, File | None]], is_rename: bool, is_moved: bool
) -> None:
    base: Files = {"f": old}
    story = [(str(number), files) for number, files in enumerate(changes)]
    onto = _final(base, story)
    run = Run(base, onto)
    moves = {"f": "g"} if is_moved and "f" not in onto and "g" in onto else {}
    change = moved("f", "g", old, new) if is_rename else edited("f", old, new)
    result = run.rebase(patch_of("p", change), renames=moves)
    (outcome,) = run.explained(result, story)
    known = {subject for subject, _ in story}
    assert {sighting.subject for sighting in (*outcome.evidence, *outcome.cause)} <= known
    if outcome.verdict.value == "unchanged":
        assert outcome.evidence == outcome.cause == ()
    if outcome.evidence:
        assert outcome.verdict.value in ("absorbed", "partial", "conflict")
