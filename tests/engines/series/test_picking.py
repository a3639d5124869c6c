"""The patch or the conflict that a word refers to."""

from patchmgr.engines.series.picking import matching, matching_ids
from tests.tables import table

NAMES = ("fix-a.patch", "fix-b.patch", "net/fix.diff", "0007-old.patch", "s/odd.patch", "3d.patch")


@table(
    ("given", "wanted"),
    {
        "name": ("fix-a.patch", ["fix-a.patch"]),
        "no-suffix": ("fix-a", ["fix-a.patch"]),
        "other-suffix": ("net/fix", ["net/fix.diff"]),
        "start": ("net", ["net/fix.diff"]),
        "start-of-several": ("fix", ["fix-a.patch", "fix-b.patch"]),
        "number": ("2", ["fix-b.patch"]),
        "number-before-start": ("3", ["net/fix.diff"]),
        "start-with-a-digit": ("3d", ["3d.patch"]),
        "number-too-high": ("7", []),
        "number-of-format-patch": ("0007", ["0007-old.patch"]),
        "zero": ("0", ["0007-old.patch"]),
        "as-printed": ("s/fix-a", ["fix-a.patch"]),
        "path": ("series/s/fix-a.patch", ["fix-a.patch"]),
        "start-of-path": ("series/s/net", ["net/fix.diff"]),
        "folder-named-as-the-series": ("s/odd", ["s/odd.patch"]),
        "other-series": ("t/fix-a", []),
        "no-name-either": ("s/", []),
        "no-name": ("series/s/", []),
        "empty": ("", []),
        "unknown": ("x", []),
    },
)
def test_a_word_refers_to_a_patch_by_name_number_or_start(given: str, wanted: list[str]) -> None:
    assert list(matching(given, NAMES, series="s")) == wanted


@table(
    ("given", "wanted"),
    [("4f08", ["4f08e2008bf8"]), ("4f0", []), ("", []), ("91c0", ["91c0d2aa37e5", "91c0ffffffff"])],
)
def test_a_conflict_is_found_by_the_start_of_its_id(given: str, wanted: list[str]) -> None:
    ids = ("4f08e2008bf8", "91c0d2aa37e5", "91c0ffffffff")
    assert list(matching_ids(given, ids)) == wanted
