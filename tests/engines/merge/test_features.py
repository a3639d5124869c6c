"""What a careful person would look at in a candidate, as small categories."""

from collections import Counter

from patchmgr.engines.merge.features import _share
from tests.tables import table


@table(
    ("left", "share"),
    {"every word": (2000, "all"), "all but one": (1999, "most"), "none": (0, "none")},
)
def test_a_candidate_without_one_of_two_thousand_words_has_not_all(left: int, share: str) -> None:
    assert _share(Counter({"x": 2000}), Counter({"x": left})) == share
