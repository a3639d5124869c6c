"""Upstream messages that refer to the commits that patches come from."""

from collections.abc import Mapping

from msgspec.structs import replace

from patchmgr.engines.series.follow_ups import follow_ups, indexed, landed, names_of, searched
from tests.engines.series import patch_of
from tests.tables import table

ID, LATER = "a1" * 20, "b2" * 20
FORGE = "https://forge.example/o/r.git"
BACKPORT = {"Origin": f"backport, {ID}"}

TOLD = [
    (BACKPORT, f'Repair\n\nFixes: {ID[:12]} ("it")', ["fixes"]),
    (BACKPORT, f"Repair\n\nThis reverts commit {ID}.", ["reverts"]),
    (BACKPORT, f"it\n\n(cherry picked from commit {ID})", ["brings"]),
    (BACKPORT, f"it\n\n* Fix https://forge.example/o/r/commit/{ID[:9]}", ["fixes"]),
    (BACKPORT, f"it\n\nFix https://forge.example/p/q/commit/{ID[:9]}", []),
    (BACKPORT, f"it\n\nAs {ID} has it", []),
    (BACKPORT, f"it\n\nFixes: {ID[:6]}", []),
    (BACKPORT, f"it\n\nFixes: {LATER}", []),
    (BACKPORT, f"it\n\nFixes: {ID[:12]}\n\nThis reverts commit {ID}.", ["fixes"]),
    ({"Git-commit": ID}, f"it\n\nFixes: {ID[:12]}", ["fixes"]),
    ({"Upstream-Status": f"Backport [{ID}]"}, f"it\n\nFixes: {ID[:12]}", ["fixes"]),
    ({"Imported-From": ID}, f"it\n\nFixes: {ID[:12]}", ["fixes"]),
    ({"Forwarded": "https://forge.example/o/r/pull/7"}, "x\n\nReverts o/r#7", ["reverts"]),
    ({"Forwarded": "#7"}, "x\n\nReverts #7", ["reverts"]),
    ({"Forwarded": "#7"}, "x\n\nReverts p/q#7", []),
    ({"Forwarded": "#7"}, "x\n\nReverts #77", []),
    ({"Forwarded": "#7"}, 'Revert "it (#7)" (#8)', ["reverts"]),
    ({"Forwarded": "#7"}, 'Revert "Revert "it (#7)" (#8)" (#9)', []),
    ({"Forwarded": "#7"}, "[Bugfix] Fixes 7 errors", []),
    ({}, f"it\n\nFixes: {ID[:12]}", []),
]


@table(("fields", "message", "kinds"), TOLD)
def test_follow_ups_are_found(fields: Mapping[str, str], message: str, kinds: list[str]) -> None:
    patch = replace(patch_of("p"), fields=fields)
    assert [one.kind for one in follow_ups([patch], [(LATER, message)], FORGE)] == kinds
    words = searched(names_of(patch, FORGE))
    assert not kinds or any(word in message for word in words)


def test_a_cherry_pick_of_a_cherry_pick_refers_to_the_first_commit() -> None:
    message = f"it\n\n(cherry picked from commit {ID})\n".encode()
    patch = replace(patch_of("p"), fields={"Imported-From": "c3" * 20}, message=message)
    (found,) = follow_ups([patch], [(LATER, f"Repair it\n\nFixes: {ID[:12]}")], None)
    assert (found.commit, found.of, found.subject) == (LATER, ID[:12], "Repair it")


@table(
    ("fields", "subject", "is_found"),
    [
        (BACKPORT, "it", True),
        ({"Imported-From": ID[:12]}, "it", True),
        ({"Origin": f"backport, {ID[:12]}{'0' * 28}"}, "it", False),
        ({"Forwarded": "#7"}, "it (#7)", True),
        ({"Forwarded": "#7"}, "it (#77)", False),
        ({"Forwarded": "#7"}, "it, after #7", False),
        ({"Bug": "#7"}, "it (#7)", False),
        ({}, "it", False),
    ],
)
def test_a_landed_commit_is_found(fields: Mapping[str, str], subject: str, is_found: bool) -> None:
    patch = replace(patch_of("p"), fields=fields)
    found = landed(patch, indexed([(LATER, "other"), (ID, subject)]), FORGE)
    assert found == ((ID, subject) if is_found else None)


def test_a_follow_up_that_the_series_carries_is_not_reported() -> None:
    first = replace(patch_of("p"), fields=BACKPORT)
    second = replace(patch_of("q"), fields={"Origin": f"backport, {LATER}"})
    told = [(LATER, f"Repair\n\nFixes: {ID[:12]}")]
    assert [*follow_ups([first, second], told, None)] == []
