from __future__ import annotations

import random
from collections import Counter

import pytest

from patchmgr.engines.name_counts import NameCounts


@pytest.mark.parametrize("seed", range(20))
def test_names_are_counted_as_if_each_text_were_the_first(seed: int) -> None:
    chance = random.Random(seed)
    words = [b"a", b"b1", b"_c", "d\u00e9".encode(), b"a.b1", b"(_c)", b"", b"a\tb1"]
    lines = [b" ".join(chance.choices(words, k=3)) + b"\n" for _ in range(20)]
    counts = NameCounts()
    for _ in range(12):
        for _ in range(chance.choice((0, 1, 3, 40))):
            lines[chance.randrange(20)] = b" ".join(chance.choices(words, k=3)) + b"\n"
        assert +counts.of(lines) == +NameCounts().of(lines)


def test_what_was_counted_before_stays_as_it_was() -> None:
    counts = NameCounts()
    first = counts.of([b"x\n"] * 9 + [b"y\n", b"u\n", b"v\n"])
    second = counts.of([b"x\n"] * 9 + [b"z\n", b"u\n", b"v\n"])
    assert first == Counter({b"x": 9, b"y": 1, b"u": 1, b"v": 1})
    assert (second[b"y"], second[b"z"]) == (0, 1)
