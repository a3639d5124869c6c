"""Evidence and causes: the upstream commits that explain a verdict."""

from collections.abc import Iterator, Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.cause.commits import (
    AT_ONCE,
    PROBES,
    Version,
    each,
    explain,
    explained_paths,
    turning_point,
)
from patchmgr.engines.cause.pulls import merged_pull, pull_number
from patchmgr.model.merge import Merge
from patchmgr.model.outcome import How, PatchOutcome, UpstreamCommit
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
    entry_of,
    executable,
    link,
    moved,
    patch_of,
    patches_of,
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
    evidence = [one.subject for one in outcome.evidence]
    ids = {hunk.evidence for hunk in outcome.hunks} - {None}
    assert ids == {one.commit for one in outcome.evidence}
    return outcome.verdict.value, evidence, [one.subject for one in outcome.cause]


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
def test_evidence_is_the_first_commit_from_which_upstream_has_the_hunk(
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
def test_cause_is_the_first_commit_from_which_the_hunk_does_not_apply(
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
        "drift-beside-a-patch-below": (edited("f", BASE, EARLY),
            edited("f", EARLY, text("a B c D e f g h i j k l")),
            [("1", {"f": LATE}), ("2", {"f": text("a b c d e F g h i j K l")})], "modified", [],
            ["2"]),
        "conflict-beside-a-patch-below": (edited("f", BASE, EARLY),
            edited("f", EARLY, text("a B c d e F g h i j k l")),
            [("1", {"f": LATE}), ("2", {"f": text("a b c d e X g h i j K l")})], "conflict", [],
            ["2"]),
        "conflict-where-the-patch-below-deleted-a-line": (
            edited("f", BASE, text("a b c e f g h i j k l")),
            edited("f", text("a b c e f g h i j k l"), text("a b c e F g h i j k l")),
            [("1", {"f": LATE}), ("2", {"f": text("a b c d e X g h i j K l")})], "conflict", [],
            ["2"]),
        "absorbed-after-the-patch-below": (edited("f", BASE, EARLY), edited("f", EARLY, BOTH),
            [("1", {"f": EARLY}), ("2", {"f": BOTH})], "absorbed", ["2"], []),
        "absorbed-without-the-patch-below": (edited("f", BASE, EARLY), edited("f", EARLY, BOTH),
            [("1", {"f": LATE})], "absorbed", ["1"], []),
        "absorbed-where-the-patch-below-collided": (edited("f", BASE, EARLY),
            edited("f", EARLY, BOTH),
            [("1", {"f": text("a X c d e f g h i j K l")}), ("2", {"f": BOTH})], "absorbed", ["1"],
            []),
        "on-top-of-a-new-file": (created("n", BASE), edited("n", BASE, EARLY),
            [("1", {"n": BASE}), ("2", {"n": EARLY})], "blocked", [], []),
        "unchanged-on-top-of-a-new-file": (created("n", BASE), edited("n", BASE, EARLY),
            [("1", {"n": ONE}), ("2", {"n": BASE})], "unchanged", [], []),
    },
)  # fmt: skip
def test_earlier_patches_are_taken_into_account(
    below: FilePatch,
    change: FilePatch,
    story: Story,
    verdict: str,
    evidence: list[str],
    cause: list[str],
) -> None:
    assert _sighted([change], story, {}, [below]) == (verdict, evidence, cause)


def test_an_upstream_commit_names_commit_pull_author_and_all_paths() -> None:
    base: Files = {"f": BASE, "x": ONE, "y": ONE}
    onto: Files = {"f": BOTH, "x": TWO, "y": NEW}
    run = Run(base, onto)
    more = edited("x", ONE, TWO), edited("y", ONE, text("9"))
    patch = patch_of("p", edited("f", BASE, BOTH), *more)
    outcome = run.explained(run.rebase(patch), [("All at once (#7)", onto)])[0]
    subject = "All at once (#7)"
    commit = f"commit {subject}"
    evidence = UpstreamCommit(commit, subject, 7, How.EXACT, ("f", "x"), "A. Author")
    assert outcome.evidence == (evidence,)
    assert outcome.cause == (UpstreamCommit(commit, subject, 7, None, ("y",), "A. Author"),)
    assert [hunk.evidence for hunk in outcome.hunks] == [commit] * 3 + [None]


def test_only_files_with_changed_verdicts_are_looked_up() -> None:
    base: Files = {"f": BASE, "g": BASE, "x": ONE}
    run = Run(base, {"h": BASE, "g": BASE, "x": TWO})
    edits = edited("f", BASE, EARLY), edited("g", BASE, EARLY), edited("x", ONE, TWO)
    result = run.rebase(*patches_of(*edits), renames={"f": "h"})
    assert explained_paths(result.judged) == ("f", "h", "x")


def test_history_is_not_read_if_there_is_nothing_to_explain() -> None:
    run = Run({"f": BASE}, {"f": BASE})
    result = run.rebase(patch_of("p", EDIT))
    told = Told(run.blobs, [("1", {"f": OTHER})])
    after = explain(result.judged, told, {}, blobs=run.blobs, text=PlainMerge())
    assert after == result.judged
    assert told.asked == []


def test_evidence_from_history_and_from_the_target_is_kept_apart() -> None:
    run = Run({"f": BASE, "x": ONE}, {"f": OTHER, "x": TWO})
    landing = Step("1" * 40, "Land it", "A. Author", {})
    known = Absorption(frozenset({0}), landing, Event.EVOLVED, is_whole=False)
    patch = patch_of("p", EDIT, edited("x", ONE, TWO))
    result = run.rebase(patch, known={"p": known})
    (outcome,) = run.explained(result, [("1", {"f": OTHER}), ("2", {"x": TWO})])
    assert [hunk.evidence for hunk in outcome.hunks] == ["1" * 40, "commit 2"]


def test_the_commit_inside_a_merge_has_the_pull_request_of_the_merge() -> None:
    run = Run({"f": BASE}, {"f": OTHER})
    merge = Step("1" * 40, "Merge pull request #7 from them/it", "M. Erger", {}, is_merge=True)
    inner = Step("2" * 40, "Land it", "A. Author", {})
    known = Absorption(frozenset({0}), merge, Event.EVOLVED, is_whole=True, inner=inner)
    result = run.rebase(patch_of("p", EDIT), known={"p": known})
    (outcome,) = run.explained(result, [("1", {"f": OTHER})])
    evidence = UpstreamCommit("2" * 40, "Land it", 7, How.HISTORY, ("f",), "A. Author")
    assert outcome.evidence == (evidence,)
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


@table("content", {"recorded": NEW, "decided": OTHER})
def test_a_persons_resolution_has_the_cause_of_its_conflict(content: bytes) -> None:
    run = Run({"f": BASE}, {"f": OTHER})
    result = run.rebase(patch_of("p", EDIT), solved={("p", "f"): content})
    outcome = run.explained(result, [("1", {"f": LATE}), ("2", {"f": OTHER})])[0]
    assert outcome.evidence == ()
    assert [one.subject for one in outcome.cause] == (["2"] if content == NEW else [])


def test_a_patch_on_a_resolved_new_file_is_explained_by_upstreams_file() -> None:
    run = Run({}, {"n": OTHER})
    patches = [patch_of("p1", created("n", BASE)), patch_of("p2", edited("n", BASE, EARLY))]
    result = run.rebase(*patches, solved={("p1", "n"): text("a z c d e f g h i j k l")})
    assert result.verdicts == ["modified", "conflict"]
    outcomes = run.explained(result, [("1", {"n": BASE}), ("2", {"n": OTHER})])
    assert [one.subject for one in outcomes[1].cause] == ["2"]


def test_a_blocked_patch_is_not_explained() -> None:
    run = Run({"f": BASE, "x": ONE}, {"f": OTHER, "x": TWO})
    blocked = patch_of("p2", edited("f", EARLY, BASE), edited("x", ONE, TWO))
    result = run.rebase(patch_of("p1", EDIT), blocked)
    explained = run.explained(result, [("1", {"f": OTHER, "x": TWO})])
    assert [one.subject for one in explained[0].cause] == ["1"]
    assert explained[1] == result.outcomes[1]


WORDS = st.lists(st.sampled_from("ab"), max_size=5).map(lambda words: text(" ".join(words)))
FILES = st.one_of(WORDS, WORDS.map(executable), st.just(link(b"a")))
STORY = st.lists(
    st.dictionaries(st.sampled_from("fg"), st.none() | FILES, min_size=1, max_size=2), max_size=4
)


@settings(deadline=None, max_examples=examples(300))
@given(WORDS, WORDS, STORY, st.booleans(), st.booleans())
def test_evidence_and_cause_are_always_commits_of_the_history(
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
    assert {one.subject for one in (*outcome.evidence, *outcome.cause)} <= known
    if outcome.verdict.value == "unchanged":
        assert outcome.evidence == outcome.cause == ()
    if outcome.evidence:
        assert outcome.verdict.value in ("absorbed", "partial", "conflict")


def versions(count: int) -> tuple[Version, ...]:
    """Return the base, and a version after each of some steps."""
    steps = [Step(str(number), "", "", {}) for number in range(1, count)]
    return (Version(None, "f", None), *(Version(step, "f", None) for step in steps))


def number(version: Version) -> int:
    return int(version.step.commit) if version.step is not None else 0


def found(states: Sequence[bool]) -> str | None:
    step = turning_point(versions(len(states)), each(lambda version: states[number(version)]))
    return None if step is None else step.commit


@table(
    ("states", "commit"),
    {
        "only-the-base": ("-", None),
        "always": ("x", None),
        "always-and-after": ("xx", None),
        "the-first": ("-x", "1"),
        "the-last": ("---x", "3"),
        "in-between": ("--xx", "2"),
        "taken-back": ("-x--", None),
        "taken-back-and-done-again": ("-x-x", "3"),
        "not-in-between": ("x-x", "2"),
        "the-last-of-many": ("-" * 90 + "x", "90"),
        "the-first-of-many": ("-" + "x" * 90, "1"),
        "in-between-of-many": ("-" * 40 + "x" * 60, "40"),
        "not-at-the-end-of-many": ("x" * 90 + "-", None),
    },
)
def test_the_commit_from_which_a_test_passes_is_found(states: str, commit: str | None) -> None:
    assert found([state == "x" for state in states]) == commit


def test_no_versions_give_no_commit() -> None:
    assert turning_point((), each(lambda version: True)) is None


@given(st.lists(st.booleans(), min_size=1, max_size=PROBES))
def test_among_few_versions_the_last_turning_point_is_found(states: list[bool]) -> None:
    after = [n for n, state in enumerate(states) if not state]
    last = max(after, default=-1) + 1
    assert found(states) == (str(last) if 0 < last < len(states) else None)


@given(st.lists(st.booleans(), min_size=1, max_size=300))
def test_among_many_versions_a_turning_point_is_found(states: list[bool]) -> None:
    step = found([*states, True])
    if step is not None:
        at = int(step)
        assert ([*states, True][at], states[at - 1]) == (True, False)
    assert found([*states, False]) is None


@given(st.integers(1, 5000), st.data())
def test_few_versions_are_tested(count: int, data: st.DataObject) -> None:
    turn = data.draw(st.integers(0, count))
    rounds: list[int] = []

    def claims(asked: Sequence[Version]) -> Iterator[bool]:
        rounds.append(len(asked))
        return (number(version) >= turn for version in asked)

    step = turning_point(versions(count + 1), claims)
    assert (step.commit if step else "0") == str(turn)
    assert max(rounds) <= AT_ONCE
    most = 1 + (count >= PROBES) + (count > PROBES**2) + (count > PROBES**3)
    assert len(rounds) <= most * (PROBES // AT_ONCE + 1)


class CountingMerge(PlainMerge):
    """Counts the calls that merge several texts, and the texts."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def merge_all(self, texts: Sequence[tuple[bytes, bytes, bytes]]) -> Sequence[Merge]:
        self.calls.append(len(texts))
        return super().merge_all(texts)


def _long_story(count: int, breaks: int) -> tuple[list[tuple[str, dict[str, bytes]]], bytes]:
    """Return a history of one file that breaks a patch of line b at a step."""
    lines = "a {b} c d e f g h i j k l m n o p"
    story = [
        (str(n), {"f": text(f"{lines.format(b='B' if n >= breaks else 'b')} {'z ' * n}")})
        for n in range(1, count + 1)
    ]
    return story, text(lines.format(b="b"))


@table(("count", "breaks"), [(3, 2), (16, 16), (60, 1), (60, 44), (200, 133)])
def test_the_merges_of_one_round_are_one_call(count: int, breaks: int) -> None:
    story, base = _long_story(count, breaks)
    run = Run({"f": base}, {"f": story[-1][1]["f"]})
    change = edited("f", base, base.replace(b"b\n", b"ours\n"))
    result = run.rebase(patch_of("p", change))
    merge = CountingMerge()
    start = {"f": entry_of(run.blobs, base)}
    told = Told(run.blobs, story)
    (judged,) = explain(result.judged, told, start, blobs=run.blobs, text=merge)
    assert [one.subject for one in judged.outcome.cause] == [str(breaks)]
    asked = [calls for calls in merge.calls if calls]
    rounds = 1 if count < PROBES else 2
    assert len(asked) <= 2 * rounds + 1
    assert max(asked) <= PROBES + 1


LINES = [b"line_%d = value(%d)\n" % (n, n) for n in range(30)]


def _with(**changes: bytes) -> bytes:
    """Return the lines with some of them, as `n4`, replaced."""
    lines = list(LINES)
    for name, line in changes.items():
        lines[int(name[1:])] = line
    return b"".join(lines)


SHOWN_BASE = _with()
SHOWN_ONE = b"line_4 = first(upstream)\n"
SHOWN_TWO = b"line_4 = second(upstream)\n"
FAR = b"line_28 = far(away)\n"
OURS = _with(n4=b"line_4 = patched(value)\n")


def _explained(story: list[bytes | None]) -> PatchOutcome:
    end = {} if story[-1] is None else {"f.py": story[-1]}
    run = Run({"f.py": SHOWN_BASE}, end)
    result = run.rebase(patch_of("p", edited("f.py", SHOWN_BASE, OURS)), asks=True)
    steps = [(f"{n} (#{n})", {"f.py": content}) for n, content in enumerate(story, 1)]
    return run.explained(result, steps)[0]


@table(
    ("story", "cause", "shown"),
    {
        "one": ([_with(n4=SHOWN_ONE)], 1, 1),
        "written-again": ([_with(n4=SHOWN_ONE), _with(n4=SHOWN_TWO)], 1, 2),
        "far-change-since": ([_with(n4=SHOWN_ONE), _with(n4=SHOWN_ONE, n28=FAR)], 1, 1),
        "far-change-before": ([_with(n28=FAR), _with(n4=SHOWN_ONE, n28=FAR)], 2, 2),
        "deleted": ([_with(n4=SHOWN_ONE), _with(n4=b"")], 1, 2),
        "file-deleted": ([_with(n4=SHOWN_ONE), None], 1, 2),
    },
)
def test_a_conflict_names_its_commits(story: list[bytes | None], cause: int, shown: int) -> None:
    told = _explained(story)
    assert [one.pull for one in told.cause] == [cause]
    (conflict,) = told.conflicts
    assert [None if one is None else one.pull for one in conflict.shown] == [shown]


GUARD = b"    if plant.level > plant.highest_level:\n        raise PlantOverflow(plant.level)\n"
SAME = b"    if plant.level >= plant.highest_level:\n        raise PlantOverflow(plant.floor)\n"
BODY = b"def fill(plant):\n    plant.open_valve()\n%s    plant.add(plant.flow)\n    return plant\n"
MOVED = b"def fill(plant):\n    plant.check_everything()\n    plant.pour()\n    return plant\n"


STEP = Step("commit 1 (#1)", "1 (#1)", "A. Author", {})
BACK = Absorption(frozenset(), STEP, Event.REVERTED, is_whole=False)


@table(
    ("story", "known", "likely"),
    {
        "landed-in-other-words-then-rewritten": ([BODY % SAME, MOVED], {}, [1]),
        "then-reverted": ([BODY % SAME, MOVED], {"p": BACK}, []),
        "something-else": ([BODY % b"    plant.wait()\n", MOVED], {}, []),
    },
)
def test_a_similar_text_in_an_earlier_version_is_found(
    story: list[bytes], known: Mapping[str, Absorption], likely: list[int]
) -> None:
    before, after = BODY % b"", BODY % GUARD
    run = Run({"f.py": before}, {"f.py": story[-1]})
    result = run.rebase(patch_of("p", edited("f.py", before, after)), asks=True, known=known)
    assert result.verdicts == ["conflict"]
    steps = [(f"{n} (#{n})", {"f.py": content}) for n, content in enumerate(story, 1)]
    told = run.explained(result, steps)[0]
    assert [one.pull for one in told.likely] == likely
    (conflict,) = told.conflicts
    assert conflict.proposal == ("absorbed" if likely else None)
    assert [one.commit for one in conflict.resemblances] == [f"commit {n} (#{n})" for n in likely]
