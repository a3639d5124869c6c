"""The features of a candidate."""

from collections import Counter

from patchmgr.engines.merge.features import _share
from tests.tables import table


@table(
    ("left", "share"),
    {"every word": (2000, "all"), "all but one": (1999, "most"), "none": (0, "none")},
)
def test_one_missing_word_of_two_thousand_is_not_all(left: int, share: str) -> None:
    assert _share(Counter({"x": 2000}), Counter({"x": left})) == share
