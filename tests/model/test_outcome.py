"""What is carried, counted and left for a person."""

from patchmgr.model.outcome import PatchOutcome, SeriesOutcome, Verdict
from patchmgr.model.patch import Author
from patchmgr.model.upstream import Pin
from tests.tables import table

NOBODY = Author("Nobody", "nobody@example.org", "0 +0000")
PIN = Pin("v1", "1" * 40, "2" * 40)


def series(words: str) -> SeriesOutcome:
    """Return a series with one patch a verdict."""
    patches = tuple(
        PatchOutcome(f"p{number}", "", b"", NOBODY, Verdict(word))
        for number, word in enumerate(words.split())
    )
    commits = (None,) * len(patches)
    return SeriesOutcome("s", "u", PIN, PIN, 0, None, PIN.tree, patches, commits)


@table("verdict", list(Verdict), ids=lambda verdict: verdict.value)
def test_carried_patches_have_a_commit(verdict: Verdict) -> None:
    (patch,) = series(verdict.value).patches
    assert patch.is_carried is (verdict.value in ("unchanged", "modified", "partial"))


@table(
    ("words", "has_conflicts"),
    {
        "empty": ("", False),
        "all-done": ("unchanged modified partial absorbed skipped", False),
        "conflict": ("unchanged conflict", True),
        "blocked": ("blocked unchanged", True),
    },
)
def test_conflicts_and_what_they_block_are_left(words: str, has_conflicts: bool) -> None:
    assert series(words).has_conflicts is has_conflicts


def test_verdicts_are_counted() -> None:
    outcome = series("absorbed unchanged absorbed")
    assert [outcome.count(Verdict(word)) for word in ("absorbed", "unchanged", "partial")] == [
        2, 1, 0
    ]  # fmt: skip
