"""Every target of the fuzzer on its seeds, on what was once found, and on a few mutations."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.mutations import mutated
from tests.fuzz.seeds import SEEDS, seeds
from tests.fuzz.targets import TARGETS
from tests.long import examples
from tests.tables import table


def test_every_target_has_seeds() -> None:
    assert SEEDS.keys() == TARGETS.keys()


def test_the_shares_of_the_long_job_are_whole() -> None:
    for is_parser in (True, False):
        shares = [t.share for t in TARGETS.values() if t.is_parser is is_parser]
        assert sum(shares) == pytest.approx(1)


@table("name", list(TARGETS))
def test_a_target_holds_on_what_is_known(name: str) -> None:
    for raw in seeds(name):
        TARGETS[name].check(raw)


@table("name", list(TARGETS))
def test_a_target_holds_on_mutations(name: str) -> None:
    known = seeds(name)

    @settings(deadline=None, max_examples=examples(80))
    @given(st.data())
    def check(data: st.DataObject) -> None:
        TARGETS[name].check(mutated(data, known))

    check()
