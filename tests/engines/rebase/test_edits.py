"""A person's changes to files outside of a conflict become part of the patch."""

from tests.engines.series import Files, Run, created, edited, patch_of, text
from tests.tables import table

BASE, OURS = text("a b c d e f g h"), text("a b c d e f g H")
MINE, BOTH = text("A b c d e f g h"), text("A b c d e f g H")
ONE = text("1")
PATCH = patch_of("p", created("n", ONE))


@table(
    ("edits", "onto", "verdict", "files"),
    {
        "beside-what-the-patch-does": ({"f": (BASE, MINE)}, {"f": BASE}, "modified", {"f": MINE}),
        "a-new-file": ({"m": (None, ONE)}, {"f": BASE}, "modified", {"f": BASE, "m": ONE}),
        "a-file-that-goes": ({"f": (BASE, None)}, {"f": BASE}, "modified", {}),
        "upstream-changed-it-since": ({"f": (BASE, MINE)}, {"f": OURS}, "modified", {"f": BOTH}),
        "upstream-changed-these-lines-since": ({"f": (BASE, MINE)}, {"f": text("X b c d e f g h")},
            "conflict", {"f": text("X b c d e f g h")}),
        "none-of-this-patch": ({}, {"f": BASE}, "unchanged", {"f": BASE}),
    },
)  # fmt: skip
def test_edits_are_carried_with_the_patch(
    edits: dict[str, tuple[bytes | None, bytes | None]], onto: Files, verdict: str, files: Files
) -> None:
    result = Run({"f": BASE}, onto).rebase(PATCH, edits={"p": edits})
    assert result.verdicts == [verdict]
    assert result.files == {**files, "n": ONE}
    assert set(result.outcomes[0].changes or {}) >= {"n", *(edits if verdict == "modified" else ())}


def test_an_absorbed_patch_with_a_persons_edits_is_partly_carried() -> None:
    result = Run({"f": BASE}, {"f": BASE, "n": ONE}).rebase(PATCH, edits={"p": {"f": (BASE, MINE)}})
    assert result.verdicts == ["partial"]
    assert set(result.outcomes[0].changes or {}) == {"f"}


def test_a_patch_in_conflict_lists_the_files_that_merged() -> None:
    patch = patch_of("p", edited("f", BASE, MINE), created("n", ONE))
    result = Run({"f": BASE}, {"f": text("X b c d e f g h")}).rebase(patch)
    (outcome,) = result.outcomes
    assert (outcome.is_carried, set(outcome.changes or {})) == (False, {"n"})
    (conflict,) = outcome.conflicts
    assert conflict.home == "f"
    assert [entry is not None for entry in conflict.stages] == [True, True, True]
