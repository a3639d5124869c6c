"""Rebases of whole series in memory."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from patchmgr.engines.absorption.verdict import Absorption, Event
from patchmgr.engines.languages.symbols import enclosing_symbol
from patchmgr.engines.rebase.rebase import Item, leave_out, patch_verdict, rebase_series
from patchmgr.engines.rebase.work import Tools, UpstreamRange
from patchmgr.errors import PatchmgrError
from patchmgr.model.decision import Decision, Ruling
from patchmgr.model.outcome import How, HunkOutcome, Verdict
from patchmgr.model.patch import Author, FilePatch, Patch
from patchmgr.model.ports import Step
from tests.engines.ports import MemoryBlobs, MemoryTree, PlainMerge
from tests.engines.series import (
    NOBODY,
    Files,
    Result,
    Run,
    at,
    created,
    deleted,
    difference,
    edited,
    executable,
    link,
    moved,
    patch_of,
    patches_of,
    replayed,
    text,
)
from tests.long import examples
from tests.tables import table

BASE = text("a b c d e f g h i j k l")
EARLY = text("a B c d e f g h i j k l")
LATE = text("a b c d e f g h i j K l")
BOTH = text("a B c d e f g h i j K l")
OTHER = text("a X c d e f g h i j k l")
ONE, TWO, NEW = text("1"), text("2"), text("new")


def series(*states: Files, context: int = 3) -> list[Patch]:
    """Return the patches from each state to the next."""
    return [
        difference(f"p{number}", old, new, context)
        for number, (old, new) in enumerate(pairwise(states), 1)
    ]


def test_each_merge_base_is_the_series_so_far() -> None:
    base, onto = text("a b c d e"), text("a x c d e")
    first, second = text("a x c d e"), text("a x y c d e")
    patch = patch_of("p", edited("f", base, text("a y c d e")))
    alone = Run({"f": base}, {"f": onto}).rebase(patch)
    assert alone.verdicts == ["conflict"]
    both = Run({"f": base}, {"f": onto}).rebase(*series({"f": base}, {"f": first}, {"f": second}))
    assert both.verdicts == ["absorbed", "unchanged"]
    assert both.answers(1) == ["unchanged identical"]
    assert both.files == {"f": second}


def test_a_patch_on_top_of_an_absorbed_creation_is_carried() -> None:
    patches = series({}, {"n": BASE}, {"n": EARLY})
    result = Run({}, {"n": BASE}).rebase(*patches)
    assert result.verdicts == ["absorbed", "unchanged"]
    assert [outcome.is_carried for outcome in result.outcomes] == [False, True]
    assert list(result.outcomes[1].changes or {}) == ["n"]


def test_a_patch_that_another_one_reverts_leaves_no_change() -> None:
    patches = series({"f": BASE}, {"f": EARLY}, {"f": BASE})
    result = Run({"f": BASE}, {"f": BASE, "n": ONE}).rebase(*patches)
    assert result.verdicts == ["unchanged", "unchanged"]
    assert result.changes == {}


@table(
    ("patches", "base", "onto", "renames", "verdicts", "files"),
    {
        "rename-map-is-followed-by-all": (series({"f": BASE}, {"f": EARLY}, {"f": BOTH}),
            {"f": BASE}, {"g": BASE}, {"f": "g"}, ["modified", "modified"], {"g": BOTH}),
        "the-series-renames": (
            patches_of(moved("f", "m", BASE, BASE), edited("m", BASE, EARLY)),
            {"f": BASE}, {"f": LATE}, {}, ["unchanged", "unchanged"], {"m": BOTH}),
        "both-rename-alike": (
            patches_of(moved("f", "m", BASE, BASE), edited("m", BASE, EARLY)),
            {"f": BASE}, {"m": LATE}, {"f": "m"}, ["absorbed", "unchanged"], {"m": BOTH}),
        "a-new-file-at-the-old-path-is-another": (
            patches_of(moved("f", "m", BASE, BASE), created("f", NEW), edited("f", NEW, ONE)),
            {"f": BASE}, {"m": BASE}, {"f": "m"}, ["absorbed", "unchanged", "unchanged"],
            {"m": BASE, "f": ONE}),
        "deleted-at-its-new-home-and-made-anew": (
            patches_of(deleted("f", BASE), created("f", NEW), edited("f", NEW, ONE)),
            {"f": BASE}, {"m": BASE}, {"f": "m"}, ["conflict", "blocked", "blocked"], {"m": BASE}),
        "a-copy-leaves-its-source-at-its-new-home": (
            patches_of(moved("f", "c", BASE, BASE, is_copy=True), edited("f", BASE, EARLY)),
            {"f": BASE}, {"m": BASE}, {"f": "m"}, ["unchanged", "modified"],
            {"c": BASE, "m": EARLY}),
    },
)  # fmt: skip
def test_moves_are_followed(
    patches: list[Patch],
    base: Files,
    onto: Files,
    renames: Mapping[str, str],
    verdicts: list[str],
    files: Files,
) -> None:
    result = Run(base, onto).rebase(*patches, renames=renames)
    assert result.verdicts == verdicts
    assert result.files == files


ADDED = patches_of(created("d/n", BASE), edited("d/n", BASE, EARLY))
BROUGHT = [patch_of("p1", moved("f", "d/n", BASE, BASE)), *ADDED[1:]]


@table(
    ("patches", "onto", "verdicts", "files"),
    {
        "new": (ADDED, {}, ["modified", "modified"], {"e/n": EARLY}),
        "there": (ADDED, {"e/n": BASE}, ["absorbed", "modified"], {"e/n": EARLY}),
        "renamed": (BROUGHT, {"f": LATE}, ["modified", "modified"], {"e/n": BOTH}),
    },
)
def test_a_new_file_moves_with_its_folder(
    patches: list[Patch], onto: Files, verdicts: list[str], files: Files
) -> None:
    result = Run({"f": BASE} if "f" in onto else {}, onto).rebase(*patches, arrivals={"d/n": "e/n"})
    assert result.verdicts == verdicts
    assert result.files == files


def test_a_file_that_a_person_resolved_at_another_path_is_followed() -> None:
    patches = patches_of(moved("f", "m", BASE, EARLY), edited("m", EARLY, BOTH))
    run = Run({"f": BASE}, {"h": BASE})
    result = run.rebase(*patches, renames={"f": "h"}, solved={("p1", "m"): EARLY})
    assert result.verdicts == ["modified", "modified"]
    assert result.answers(1) == ["modified moved"]
    assert result.files == {"h": BOTH}


def _blocking() -> list[Patch]:
    return patches_of(
        (edited("f", BASE, EARLY), created("n", NEW)),
        edited("x", ONE, TWO),
        (edited("f", EARLY, BOTH), edited("y", ONE, TWO)),
        edited("n", NEW, ONE),
        (moved("f", "m", BOTH, BOTH), edited("y", TWO, NEW)),
        edited("m", BOTH, LATE),
        edited("y", NEW, ONE),
    )


def test_a_conflict_blocks_its_lines_and_nothing_else() -> None:
    base: Files = {"f": BASE, "x": ONE, "y": ONE}
    result = Run(base, {**base, "f": OTHER}).rebase(*_blocking())
    assert result.verdicts == ["conflict", *["unchanged"] * 4, "blocked", "unchanged"]
    blocked = result.outcomes[5]
    assert blocked.reason == "p1 left these lines of m in conflict"
    assert result.files == {"m": text("a X c d e f g h i j K l"), "n": ONE, "x": TWO, "y": ONE}
    assert (blocked.hunks, blocked.changes, blocked.is_carried) == ((), {}, False)


@table("stops", [False, True])
def test_without_the_conflict_nothing_is_blocked(stops: bool) -> None:
    base: Files = {"f": BASE, "x": ONE, "y": ONE}
    result = Run(base, base).rebase(*_blocking(), stops=stops)
    assert set(result.verdicts) == {"unchanged"}
    assert result.files == {"m": LATE, "n": ONE, "x": TWO, "y": ONE}


def test_a_rebase_can_stop_at_the_first_conflict() -> None:
    base: Files = {"f": BASE, "x": ONE, "y": ONE}
    run = Run(base, {**base, "f": OTHER})
    result = run.rebase(*_blocking(), refused={"p4": "guard #+a"}, stops=True)
    assert result.verdicts == ["conflict", *["blocked"] * 6]
    (reason,) = {o.reason for o in result.outcomes[1:]}
    assert reason == "not tried, because the rebase stopped at p1"
    assert result.files == {**base, "f": OTHER, "n": NEW}
    assert run.heard == [f"p{number}" for number in range(1, 8)]


def test_a_guard_keeps_a_patch_out_of_both_sides() -> None:
    patches = series({"f": BASE}, {"f": EARLY}, {"f": BOTH})
    result = Run({"f": BASE}, {"f": OTHER}).rebase(*patches, refused={"p1": "guard #-a"})
    assert result.verdicts == ["skipped", "unchanged"]
    assert result.outcomes[0].reason == "guard #-a"
    assert result.files == {"f": text("a X c d e f g h i j K l")}


@table(
    ("base", "onto", "is_told"),
    {
        "changed-by-upstream": (BASE, OTHER, True),
        "landed": (BASE, EARLY, True),
        "changed-elsewhere": (BASE, LATE, False),
        "unchanged": (BASE, BASE, False),
        "did-not-apply-before": (OTHER, LATE, False),
    },
)
def test_a_guarded_patch_that_no_longer_applies_gets_a_warning(
    base: bytes, onto: bytes, is_told: bool
) -> None:
    (patch,) = series({"f": BASE}, {"f": EARLY})
    (outcome,) = Run({"f": base}, {"f": onto}).rebase(patch, refused={"p1": "guard"}).outcomes
    assert bool(outcome.warnings) is is_told


@table("refused", {"all": {}, "guarded": {"p1": "guard #-a"}})
def test_patches_with_precomputed_steps_give_the_same_result(refused: Mapping[str, str]) -> None:
    patches = series({"f": BASE}, {"f": EARLY}, {"f": BOTH})
    run = Run({"f": BASE}, {"f": OTHER})
    again = run.rebase(*patches, refused=refused, is_folded=True)
    assert again == run.rebase(*patches, refused=refused)


def test_a_patch_that_needs_a_skipped_patch_is_a_bad_patch() -> None:
    patches = series({}, {"f": BASE}, {"f": EARLY})
    with pytest.raises(PatchmgrError, match="p2 does not apply: f: the file does not exist"):
        Run({}, {}).rebase(*patches, refused={"p1": "guard #-a"})


def test_a_patch_that_does_not_apply_to_its_base_is_an_error() -> None:
    with pytest.raises(PatchmgrError) as caught:
        Run({"f": ONE}, {"f": EARLY}).rebase(patch_of("p", edited("f", BASE, EARLY)))
    assert caught.value.kind == "bad-patch"


def test_a_patch_without_files_is_carried_as_it_is() -> None:
    result = Run({"f": ONE}, {"f": TWO}).rebase(patch_of("p"))
    assert result.verdicts == ["unchanged"]
    assert result.outcomes[0].changes == {}
    assert result.outcomes[0].reuses_diff


def test_an_outcome_keeps_author_and_message() -> None:
    someone = Author("Some One", "one@example.org", "1700000000 +0100")
    patches = [
        patch_of("p1", created("n", NEW), author=someone),
        patch_of("p2", edited("n", NEW, ONE), author=None),
        patch_of("p3", author=None),
    ]
    result = Run({}, {}).rebase(*patches, refused={"p3": "no"})
    assert [outcome.author for outcome in result.outcomes] == [someone, NOBODY, NOBODY]
    first = result.outcomes[0]
    assert (first.name, first.subject, first.message) == ("p1", "Do p1", b"Do it\n")


@table(
    ("change", "path", "lines", "asked"),
    {
        "edit": (edited("f", BASE, BOTH), "f", [1, 8], [2, 11]),
        "no-context": (edited("f", BASE, LATE, context=0), "f", [11], [11]),
        "shifted": (FilePatch("f", "f", hunks=(at(1, b" j\n", b"+J\n", b" k\n"),)), "f", [1], [11]),
        "behind-a-removal": (
            FilePatch("f", "f", hunks=(at(1, b"-a\n"), at(11, b"-k\n", b"+K\n", new=10))),
            "f",
            [1, 10],
            [1, 10],
        ),
        "deletion": (deleted("f", BASE), "f", [0], [1]),
        "creation": (created("n", BASE), "n", [1], [1]),
        "rename": (moved("f", "g", BASE, EARLY), "g", [1], [2]),
        "empty-file": (created("n", b""), "n", [0], []),
        "mode": (edited("f", BASE, executable(BASE)), "f", [0], []),
    },
)
def test_symbols_are_looked_up_at_the_first_changed_line(
    change: FilePatch, path: str, lines: list[int], asked: list[int]
) -> None:
    run = Run({"f": BASE}, {"f": BASE})
    result = run.rebase(patch_of("p", change))
    hunks = result.outcomes[0].hunks
    assert [hunk.line for hunk in hunks] == lines
    assert {hunk.symbol for hunk in hunks} <= {None, *(f"line {line}" for line in asked)}
    assert [line for _, _, line in run.asked] == asked
    assert {hunk.path for hunk in hunks} == {path}


@table(
    ("onto", "symbol"),
    {"moved-down": (b"new\n" + BASE, "line 3"), "there-twice": (b"B\n" + BASE, "line 2")},
)
def test_the_symbol_in_a_moved_file_is_that_at_the_new_path(onto: bytes, symbol: str) -> None:
    run = Run({"f": BASE}, {"g": onto})
    result = run.rebase(patch_of("p", edited("f", BASE, EARLY)), renames={"f": "g"})
    (hunk,) = result.outcomes[0].hunks
    assert (hunk.new_path, hunk.symbol) == ("g", symbol)


RENDER = b"""\
class Serving:
    def check(self, request):
        return request

    def render(self, request):
        limit = self.limit
        sampled = self.sample(request)
        return sampled
"""
LOGGED = RENDER.replace(b"        sampled", b"        log(request)\n        sampled")
TAKEN_OUT = RENDER.replace(b"        limit = self.limit\n", b"")
RENAMED = RENDER.replace(b"class Serving", b"class Renderer")
# Another method has the patch's line already.
LOGS = RENAMED.replace(b"        return request", b"        log(request)\n        return request")


@pytest.mark.parametrize(
    ("ours", "onto", "symbol"),
    [
        pytest.param(LOGGED, RENAMED, "Renderer.render", id="renamed-class"),
        pytest.param(LOGGED, LOGS, "Renderer.render", id="another-method-has-the-line"),
        pytest.param(TAKEN_OUT, RENAMED, "Renderer.render", id="nothing-is-added"),
        pytest.param(
            LOGGED, RENAMED.replace(b"def render", b"def run"), "Renderer.run", id="renamed-method"
        ),
        pytest.param(LOGGED, RENDER, "Serving.render", id="the-same"),
    ],
)
def test_a_moved_method_keeps_its_name_in_its_new_class(
    monkeypatch: pytest.MonkeyPatch, ours: bytes, onto: bytes, symbol: str
) -> None:
    monkeypatch.setattr(Run, "_symbol_at", staticmethod(enclosing_symbol))
    run = Run({"f.py": RENDER}, {"g.py": onto})
    result = run.rebase(patch_of("p", edited("f.py", RENDER, ours)), renames={"f.py": "g.py"})
    assert [hunk.symbol for hunk in result.outcomes[0].hunks] == [symbol]


LANDING = Step("1" * 40, "Land it", "A. Author", {})
LATER = Step("2" * 40, "Change it", "A. Author", {})


@table(
    ("known", "verdict", "answers", "files", "history"),
    {
        "whole": (Absorption(frozenset({0, 1}), LANDING, Event.EVOLVED, is_whole=True, since=LATER),
            "absorbed", ["absorbed history"] * 2, {"f": OTHER, "x": ONE},
            (("1" * 40, "landed"), ("2" * 40, "evolved"))),
        "one-hunk": (Absorption(frozenset({0}), LANDING, Event.LANDED, is_whole=False), "partial",
            ["absorbed history", "unchanged identical"], {"f": OTHER, "x": TWO},
            (("1" * 40, "landed"),)),
        "taken-back": (
            Absorption(frozenset(), LANDING, Event.REVERTED, is_whole=False, since=LATER),
            "conflict", ["conflict -", "unchanged identical"], {"f": OTHER, "x": TWO},
            (("1" * 40, "landed"), ("2" * 40, "reverted"))),
        "nothing-known": (None, "conflict", ["conflict -", "unchanged identical"],
            {"f": OTHER, "x": TWO}, ()),
    },
)  # fmt: skip
def test_hunks_that_history_absorbed_are_left_out(
    known: Absorption | None,
    verdict: str,
    answers: list[str],
    files: Files,
    history: tuple[tuple[str, str], ...],
) -> None:
    run = Run({"f": BASE, "x": ONE}, {"f": OTHER, "x": ONE})
    patch = patch_of("p", edited("f", BASE, EARLY), edited("x", ONE, TWO))
    result = run.rebase(patch, known={} if known is None else {"p": known})
    assert result.verdicts == [verdict]
    assert result.answers() == answers
    assert result.files == files
    assert result.outcomes[0].history == history
    explained = run.explained(result, [("Disturb it", {"f": OTHER})])[0]
    is_known = known is not None and known.hunks
    assert [s.subject for s in explained.evidence] == (["Land it"] if is_known else [])
    assert [s.subject for s in explained.cause] == ([] if is_known else ["Disturb it"])


def _hunk(verdict: Verdict) -> HunkOutcome:
    return HunkOutcome("f", "f", 1, None, verdict, None)


@table(
    ("words", "has_conflict", "verdict"),
    {
        "none": ("", False, "unchanged"),
        "unchanged": ("unchanged unchanged", False, "unchanged"),
        "modified": ("unchanged modified", False, "modified"),
        "some-absorbed": ("unchanged absorbed", False, "partial"),
        "partial-before-modified": ("modified absorbed", False, "partial"),
        "all-absorbed": ("absorbed absorbed", False, "absorbed"),
        "conflict-before-partial": ("absorbed conflict", False, "conflict"),
        "conflict-before-modified": ("modified conflict", False, "conflict"),
        "conflict-of-a-file": ("absorbed", True, "conflict"),
        "conflict-without-hunks": ("", True, "conflict"),
    },
)
def test_hunks_decide_the_verdict_on_a_patch(words: str, has_conflict: bool, verdict: str) -> None:
    hunks = [_hunk(Verdict(word)) for word in words.split()]
    assert patch_verdict(hunks, has_conflict=has_conflict).value == verdict


@table(
    ("refused", "onto", "verdicts"),
    {
        "skipped-first": ({"p2": "no"}, OTHER, ["conflict", "skipped"]),
        "blocked-before-conflict": ({}, OTHER, ["conflict", "blocked"]),
        "neither": ({}, EARLY, ["absorbed", "unchanged"]),
    },
)
def test_skipped_and_blocked(refused: Mapping[str, str], onto: bytes, verdicts: list[str]) -> None:
    patches = series({"f": BASE}, {"f": EARLY}, {"f": text("a B Q d e f g h i j k l")})
    result = Run({"f": BASE}, {"f": onto}).rebase(*patches, refused=refused)
    assert result.verdicts == verdicts


WORDS = st.lists(st.sampled_from("ab"), max_size=5).map(lambda words: text(" ".join(words)))
CONTENTS = st.builds(lambda content, tail: content + tail, WORDS, st.sampled_from([b"", b"a"]))
FILE = st.one_of(CONTENTS, CONTENTS.map(executable), st.sampled_from([link(b"a"), link(b"b")]))
PATHS = st.sampled_from(["a", "b", "c", "d/a", "d/b", "d"])
STATES = st.dictionaries(PATHS, FILE, max_size=4).filter(lambda f: "d" not in f or not _below_d(f))
SERIES = st.lists(STATES, min_size=2, max_size=5)
RENAMES = st.dictionaries(PATHS, PATHS, max_size=2)


def _below_d(files: Files) -> bool:
    return any(path.startswith("d/") for path in files)


def _check(result: Result) -> None:
    """Check what is true of every rebase."""
    assert not ("d" in result.files and _below_d(result.files))
    for judged in result.judged:
        outcome = judged.outcome
        if outcome.verdict in (Verdict.ABSORBED, Verdict.SKIPPED, Verdict.BLOCKED):
            assert outcome.changes == {}
        elif outcome.is_carried and judged.files:
            assert outcome.changes
        if outcome.verdict is Verdict.BLOCKED:
            assert outcome.reason
        elif judged.files:
            assert len(outcome.hunks) == sum(len(file.answers) for file in judged.files)
        assert bool(outcome.conflicts) is (outcome.verdict is Verdict.CONFLICT)
    if not {Verdict.CONFLICT, Verdict.BLOCKED} & {o.verdict for o in result.outcomes}:
        made = replayed(result)
        assert {p: e for p, e in made.items() if p in result.changes} == result.changes


@settings(deadline=None)
@given(SERIES, st.integers(0, 3))
def test_a_rebase_onto_the_same_base_changes_nothing(states: Sequence[Files], context: int) -> None:
    patches = series(*states, context=context)
    result = Run(states[0], states[0]).rebase(*patches)
    assert result.files == states[-1]
    assert set(result.verdicts) == {"unchanged"}
    assert all(outcome.reuses_diff for outcome in result.outcomes)
    _check(result)


@settings(deadline=None)
@given(SERIES, st.integers(0, 3))
def test_a_series_loses_a_patch_upstream_has(states: Sequence[Files], context: int) -> None:
    assume(states[0] != states[1])
    patches = series(*states, context=context)
    result = Run(states[0], states[1]).rebase(*patches)
    assert result.verdicts == ["absorbed", *["unchanged"] * (len(states) - 2)]
    assert result.files == states[-1]
    _check(result)


@settings(deadline=None)
@given(st.lists(st.tuples(FILE, FILE), min_size=1, max_size=5), st.data())
def test_absorbed_one_by_one(pairs: Sequence[tuple[bytes, bytes]], data: st.DataObject) -> None:
    assume(all(old != new for old, new in pairs))
    taken = data.draw(st.sets(st.sampled_from(range(len(pairs)))))
    base: dict[str, bytes] = {f"f{n}": old for n, (old, _) in enumerate(pairs)}
    onto = base | {f"f{n}": pairs[n][1] for n in taken}
    states = [base]
    for number, (_, new) in enumerate(pairs):
        states.append(states[-1] | {f"f{number}": new})
    result = Run(base, onto).rebase(*series(*states))
    expected = ["absorbed" if n in taken else "unchanged" for n in range(len(pairs))]
    assert result.verdicts == expected
    assert result.files == states[-1]


@settings(deadline=None, max_examples=examples(300))
@given(SERIES, STATES, RENAMES, st.integers(0, 3), st.booleans())
def test_any_rebase_is_consistent(
    states: Sequence[Files], onto: Files, renames: Mapping[str, str], context: int, stops: bool
) -> None:
    moves = {old: new for old, new in renames.items() if old not in onto and new in onto}
    run = Run(states[0], onto)
    result = run.rebase(*series(*states, context=context), renames=moves, stops=stops)
    _check(result)


@settings(deadline=None, max_examples=examples(300))
@given(SERIES, STATES, STATES, st.booleans(), st.data())
def test_foreign_and_solved_patches_never_break(
    states: Sequence[Files], base: Files, onto: Files, has_empty: bool, data: st.DataObject
) -> None:
    patches = data.draw(st.permutations(series(*states)))
    if has_empty:
        patches.append(patch_of("empty"))
    keys = st.tuples(st.sampled_from([*(patch.name for patch in patches), "other"]), PATHS)
    solved = data.draw(st.dictionaries(keys, st.none() | CONTENTS, max_size=4))
    with suppress(PatchmgrError):
        _check(Run(base, onto).rebase(*patches, solved=solved))


@settings(deadline=None, max_examples=examples(200))
@given(STATES, STATES, st.permutations(["a", "b", "c", "e"]), st.booleans())
def test_renames_keep_files(base: Files, extra: Files, names: Sequence[str], is_copy: bool) -> None:
    changes = [
        replace(moved(old, new, base[old], base[old]), is_copy=is_copy and new not in base)
        for old, new in zip(["a", "b", "c"], names, strict=False)
        if old in base and old != new
    ]
    onto = {**base, **extra}
    assume("d" not in onto or not _below_d(onto))
    assume(len(set(onto.values())) == len(onto))
    try:
        result = Run(base, onto).rebase(patch_of("p", *changes))
    except PatchmgrError:
        return
    _check(result)
    if onto == base:
        copies = [base[c.old_path] for c in changes if c.is_copy and c.old_path]
        kept = sorted([*base.values(), *copies], key=repr)
        assert sorted(result.files.values(), key=repr) == kept
        assert result.verdicts == ["unchanged"]


LANDED = Absorption(
    frozenset({0}), Step("c1", "Land", "", {}), Event.LANDED, is_whole=True, how=How.EXACT
)
RENAME = moved("f", "m", BASE, BASE)
COPY = moved("f", "m", BASE, BASE, is_copy=True)


@table(
    ("dropped", "onto", "renames", "verdict", "after"),
    {
        "not-moved": (RENAME, {"f": BASE}, {}, "modified", {"f": EARLY}),
        "moved-elsewhere": (RENAME, {"h": BASE}, {"f": "h"}, "modified", {"h": EARLY}),
        "moved-alike": (RENAME, {"m": BASE}, {"f": "m"}, "unchanged", {"m": EARLY}),
        "moved-alike-and-nobody-saw-it": (RENAME, {"m": BASE}, {}, "unchanged", {"m": EARLY}),
        "both-are-there": (RENAME, {"f": BASE, "m": BASE}, {}, "unchanged",
            {"f": BASE, "m": EARLY}),
        "copy-not-there": (COPY, {"f": BASE}, {}, "conflict", {"f": BASE}),
        "copied": (COPY, {"f": BASE, "m": BASE}, {}, "unchanged", {"f": BASE, "m": EARLY}),
    },
)  # fmt: skip
def test_a_file_whose_dropped_move_upstream_lacks_is_where_it_was(
    dropped: FilePatch, onto: Files, renames: Mapping[str, str], verdict: str, after: Files
) -> None:
    patches = patches_of(dropped, edited("m", BASE, EARLY))
    result = Run({"f": BASE}, onto).rebase(*patches, renames=renames, known={"p1": LANDED})
    assert result.verdicts == ["absorbed", verdict]
    assert result.files == after


@table("before", {"first": (), "behind-an-absorbed-one": ("p0",)})
@table(
    ("names", "onto", "verdicts"),
    {
        "of-a-carried-patch": ("p1", {"x": ONE}, ["unchanged", "unchanged"]),
        "of-one-in-conflict": ("p1", {"x": NEW}, ["conflict", "absorbed"]),
        "of-one-that-upstream-has": ("p1", {"x": TWO}, ["absorbed", "absorbed"]),
        "of-another-patch": ("other", {"x": ONE}, ["unchanged", "absorbed"]),
    },
)
def test_a_patch_that_removes_lines_of_a_carried_patch_is_carried(
    names: str, onto: Files, verdicts: list[str], before: Sequence[str]
) -> None:
    patches = [patch_of(name, created("n", NEW)) for name in before]
    patches += patches_of(edited("x", ONE, TWO), edited("f", BASE, EARLY))
    run = Run({"f": BASE, "x": ONE}, {"f": BASE, "n": NEW, **onto})
    known = {"p2": replace(LANDED, undoes={0: frozenset({names})})}
    result = run.rebase(*patches, known=known)
    assert result.verdicts[-2:] == verdicts


def test_a_partly_blocked_patch_drops_no_hunks() -> None:
    part = replace(LANDED, is_whole=False)
    patches = patches_of(
        edited("f", BASE, executable(EARLY)),
        (edited("f", executable(EARLY), executable(BOTH)), edited("x", ONE, TWO)),
    )
    run = Run({"f": BASE, "x": ONE}, {"f": OTHER, "x": ONE})
    result = run.rebase(*patches, known={"p2": part})
    assert result.verdicts == ["conflict", "blocked"]
    assert result.files == {"f": OTHER, "x": TWO}


def test_a_move_in_conflict_is_not_followed() -> None:
    patches = patches_of(moved("f", "m", BASE, EARLY), edited("m", EARLY, BOTH))
    run = Run({"f": BASE}, {"h": OTHER})
    result = run.rebase(*patches, renames={"f": "h"}, known={"p2": LANDED})
    assert result.verdicts == ["conflict", "absorbed"]
    assert [hunk.new_path for hunk in result.outcomes[1].hunks] == ["m"]


@table("way", {"goes-first": 1, "comes-first": -1})
def test_a_path_that_one_file_leaves_is_free_for_another(way: int) -> None:
    files = (RENAME, created("f", NEW))[::way]
    result = Run({"f": BASE}, {"f": BASE}).rebase(patch_of("p", *files))
    assert result.verdicts == ["unchanged"]
    assert result.files == {"f": NEW, "m": BASE}


def test_a_rebase_continues_after_a_conflict_unless_asked_to_stop() -> None:
    blobs = MemoryBlobs()
    base, onto = (MemoryTree(blobs, {"f": f, "x": ONE}) for f in (BASE, OTHER))
    patches = patches_of(edited("f", BASE, EARLY), edited("x", ONE, TWO))
    tools = Tools(blobs, lambda path, content, line: None, NOBODY, text=PlainMerge())
    judged, _ = rebase_series([Item(patch) for patch in patches], UpstreamRange(base, onto), tools)
    assert [one.outcome.verdict.value for one in judged] == ["conflict", "unchanged"]


def test_a_file_whose_skipped_move_upstream_lacks_is_where_it_was() -> None:
    blobs = MemoryBlobs()
    base = MemoryTree(blobs, {"f": BASE})
    items = [Item(patch_of("p1", RENAME)), Item(patch_of("p2", edited("m", BASE, EARLY)))]
    placed = leave_out(items, {"p1": "skipped"}, base, blobs)
    tools = Tools(blobs, lambda path, content, line: None, NOBODY, text=PlainMerge())
    judged, changes = rebase_series(placed, UpstreamRange(base, base), tools)
    assert [one.outcome.verdict.value for one in judged] == ["skipped", "modified"]
    assert list(changes) == ["f"]


def test_a_person_decides_about_a_patch_as_a_whole() -> None:
    patch = patch_of("p", edited("f", BASE, EARLY))
    run = Run({"f": BASE}, {"f": OTHER})
    basis = run.rebase(patch).outcomes[0].basis
    assert basis is not None
    decision = Decision("s", "p", Ruling.ABSORBED, basis.change, basis.passages, commit="c7")
    (judged,) = run.rebase(patch, decisions=(decision,)).judged
    assert judged.absorption is not None
    assert judged.absorption.hunks == {0}
    assert judged.absorption.is_whole


def test_a_file_that_upstream_changed_further_is_not_in_the_changes() -> None:
    patch = patch_of("p", edited("f", BASE, EARLY), edited("x", ONE, TWO))
    result = Run({"f": BASE, "x": ONE}, {"f": BOTH, "x": ONE}).rebase(patch)
    assert result.verdicts == ["partial"]
    assert list(result.outcomes[0].changes or {}) == ["x"]


def test_later_patches_build_on_a_patch_that_is_left_out() -> None:
    blobs = MemoryBlobs()
    base, onto = MemoryTree(blobs, {"f": BASE}), MemoryTree(blobs, {"f": OTHER})
    patches = [
        patch_of("one", edited("f", BASE, EARLY)),
        patch_of("guarded", edited("f", OTHER, BASE)),
        patch_of("two", edited("f", EARLY, BOTH)),
    ]
    items = [Item(patches[0]), Item(patches[1], "a guard"), Item(patches[2])]
    placed = leave_out(items, {"one": "skipped", "guarded": "skipped"}, base, blobs)
    assert [item.refusal for item in placed] == ["skipped", "a guard", None]
    assert placed[1].steps is None
    tools = Tools(blobs, lambda path, content, line: None, NOBODY, text=PlainMerge())
    judged, changes = rebase_series(placed, UpstreamRange(base, onto), tools)
    assert [one.outcome.verdict.value for one in judged] == ["skipped", "skipped", "unchanged"]
    entry = changes["f"]
    assert entry is not None
    assert blobs.read(entry.blob) == text("a X c d e f g h i j K l")


def test_steps_are_computed_only_if_a_patch_is_left_out() -> None:
    blobs = MemoryBlobs()
    base = MemoryTree(blobs, {"f": BASE})
    items = (Item(patch_of("one", edited("f", BASE, EARLY))),)
    assert leave_out(items, {}, base, blobs) == items
    (placed,) = leave_out(items, {"other": "skipped"}, base, blobs)
    assert placed.refusal is None
    assert placed.steps is not None
    (again,) = leave_out((placed,), {"one": "skipped"}, base, blobs)
    assert again == replace(placed, refusal="skipped")
