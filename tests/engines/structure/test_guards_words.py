"""Whether a merge that is clean as text is worth a look."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest

from patchmgr.engines.structure import guards_lines
from patchmgr.engines.structure.guards_lines import growths
from patchmgr.engines.structure.sides import Texts
from tests.tables import table


def is_worth_a_look(texts: Texts, merged: str) -> bool:
    return guards_lines.is_worth_a_look(texts, growths(texts, merged))


BASE = "import os\n\n\ndef run(plant):\n    plant.start()\n    plant.stop()\n"


@table(
    ("upstream", "fork", "merged", "expected"),
    [
        pytest.param(
            BASE + "upstream_one = 1\n", "fork_one = 2\n" + BASE,
            "fork_one = 2\n" + BASE + "upstream_one = 1\n", False, id="nothing-in-common",
        ),
        pytest.param(
            BASE.replace("import os\n", ""), BASE + "os.sep\n",
            (BASE + "os.sep\n").replace("import os\n", ""), True, id="a-word-that-a-side-wiped-out",
        ),
        pytest.param(
            "new = 1\n" + BASE, BASE + "new = 2\n", "new = 1\n" + BASE + "new = 2\n", True,
            id="a-new-word-of-both",
        ),
        pytest.param(
            BASE.replace("run(plant)", "run(plant, level)"), BASE + "again = run\nrerun(1)\n",
            BASE.replace("run(plant)", "run(plant, level)") + "again = run\nrerun(1)\n", False,
            id="named-and-not-called",
        ),
        pytest.param(
            BASE + "def broken(\n", BASE.replace("os\n", "os, re\n"),
            BASE.replace("os\n", "os, re\n") + "def broken(\n", False, id="a-head-without-an-end",
        ),
    ],
)  # fmt: skip
def test_what_may_be_wrong_is_worth_a_look(
    upstream: str, fork: str, merged: str, expected: bool
) -> None:
    assert is_worth_a_look(Texts(BASE, upstream, fork), merged) is expected
    assert is_worth_a_look(Texts(BASE, fork, upstream), merged) is expected


WORDS = ["a", "b1", "f", "9z", "def f(a):", "def g(b):", "f(1)", "g(2, f(3))", "  a", "x = a", ""]


def edited(chance: random.Random, lines: list[str]) -> list[str]:
    found = list(lines)
    for _ in range(chance.randint(0, 2)):
        at = chance.randrange(len(found) + 1)
        if chance.random() < 0.5:
            found.insert(at, " ".join(chance.choices(WORDS, k=2)))
        else:
            del found[at : at + 1]
    return found


def counted(text: str) -> Counter[str]:
    return Counter(re.findall(r"\b[^\W\d]\w*", text))


def is_word_suspect(base: str, upstream: str, fork: str, merged: str) -> bool:
    """Say the same of words from counts of the whole texts."""
    old, mine, theirs, both = map(counted, (base, upstream, fork, merged))
    for word, count in both.items():
        sides = mine[word], theirs[word]
        fewest = min(sides)
        if fewest > 0 if not old[word] else fewest == 0:
            return True
        if old[word] and count == 1 and fewest > 1:
            return True
    return False


def test_a_word_is_looked_for_in_whole_texts() -> None:
    chance = random.Random(1)
    seen: Counter[bool] = Counter()
    for _ in range(3000):
        base = [" ".join(chance.choices(WORDS, k=2)) for _ in range(chance.randint(0, 6))]
        sides = [base, edited(chance, base), edited(chance, base)]
        texts = ["\n".join(lines) for lines in (*sides, edited(chance, chance.choice(sides)))]
        seen[is_word_suspect(*texts)] += 1
        if is_word_suspect(*texts):
            assert is_worth_a_look(Texts(*texts[:3]), texts[3])
    assert min(seen.values()) > 300
