import random
import re
from collections import Counter

from patchmgr.engines.structure import guards_lines
from patchmgr.engines.structure.guards import suspect, suspicions
from patchmgr.engines.structure.guards_flow import facts_of
from patchmgr.engines.structure.guards_lines import growths
from patchmgr.engines.structure.sides import Texts
from tests.tables import table

BASE = "import os\n\n\ndef open_shop(door):\n    return os.path.join(door, 'shop')\n"


def at_end(text: str) -> str:
    return BASE + text


@table(
    ("base", "upstream", "fork", "merged", "told"),
    {
        "definition twice": (
            BASE,
            at_end("\n\ndef sell(): ...\n"),
            at_end("\n\ndef sell(): ...\n"),
            at_end("\n\ndef sell(): ...\n\n\ndef sell(): ...\n"),
            "`sell` occurs more often than on either side.",
        ),
        "key twice": (
            "x = {'a': 1}\n",
            "x = {'a': 1, 'b': 2}\n",
            "x = {'b': 3, 'a': 1}\n",
            "x = {'b': 3, 'a': 1, 'b': 2}\n",
            "`b` is defined twice here, but not on either side.",
        ),
        "import twice": (
            "x()\n",
            "import re\nre.x()\n",
            "re.x()\nimport re\n",
            "import re\nimport re\nre.x()\n",
            "`re` is defined twice here, but not on either side.",
        ),
        "name without its import": (
            BASE,
            BASE.replace("import os\n", "").replace("os.path.join(door, 'shop')", "door"),
            at_end("\n\nhome = os.getcwd()\n"),
            "def open_shop(door):\n    return door\n\n\nhome = os.getcwd()\n",
            "`os` is used, but nothing defines it any more.",
        ),
        "attribute that upstream renamed": (
            "shop.old(1)\n",
            "shop.new(1)\n",
            "shop.old(1)\nshop.old(2)\n",
            "shop.new(1)\nshop.old(2)\n",
            "`old` is used, but upstream removed its last use.",
        ),
    },
)
def test_broken_merges_warn(base: str, upstream: str, fork: str, merged: str, told: str) -> None:
    assert told in suspect(Texts(base, upstream, fork), merged, "a.py")


@table(
    ("base", "upstream", "fork", "merged"),
    {
        "nothing changed": (BASE, BASE, BASE, BASE),
        "both add": ("a()\n", "a()\nb()\n", "c()\na()\n", "c()\na()\nb()\n"),
        "both remove": ("a()\nb()\n", "b()\n", "a()\n", ""),
        "one statement edited": ("f(a)\n", "f(b)\n", "f(a, c=1)\n", "f(b, c=1)\n"),
        "name bound anew": ("a(1)\n", "b(1)\n", "a(1)\na = 2\nc(a)\n", "b(1)\na = 2\nc(a)\n"),
        "method of a built-in type": (
            "a(t.get(1))\n", "a(t)\n", "a(t.get(1))\nb(t.get(2))\n", "a(t)\nb(t.get(2))\n",
        ),
        "sides do not parse either": ("a(\n", "b(\n", "c(\n", "d(\n"),
        "names may come from anywhere": (
            "from x import *\n", "from x import *\na()\n", "from x import *\nb()\n",
            "from x import *\nb()\na()\n",
        ),
        "module renamed": (
            "from .a import b\nb()\n", "from .a import b, c\nb(c)\n", "from ..a import b\nb()\n",
            "from ..a import b, c\nb(c)\n",
        ),
    },
)  # fmt: skip
def test_a_sound_merge_gets_no_warning(base: str, upstream: str, fork: str, merged: str) -> None:
    assert suspicions(base, upstream, fork, merged) == ()


def test_suspicions_are_sentences() -> None:
    upstream = BASE.replace("import os\n", "").replace("os.path.join(door, 'shop')", "door")
    merged = "def open_shop(door):\n    return door\n\n\nhome = os.getcwd()\n"
    found = suspect(Texts(BASE, upstream, at_end("\n\nhome = os.getcwd()\n")), merged, "a.py")
    assert found == ("`os` is used, but nothing defines it any more.",)


def test_a_local_variable_that_both_sides_add_is_suspicious() -> None:
    base = "def f(a):\n    b(a)\n    c(a)\n"
    upstream = base.replace("    b(a)\n", "    scale = 1\n    b(a)\n    print(scale)\n")
    fork = base.replace("    c(a)\n", "    scale = 2\n    c(a)\n    print(scale, 3)\n")
    merged = upstream.replace("    c(a)\n", "    scale = 2\n    c(a)\n    print(scale, 3)\n")
    (told,) = suspicions(base, upstream, fork, merged)
    assert told == "Both sides assign to a new variable `scale`."


def test_an_assigned_attribute_counts_as_a_bound_name() -> None:
    facts = facts_of("self.size = 1\nfor x in y: pass\n")
    assert facts is not None
    assert set(facts.bound) == {"size", "x"}


def is_worth_a_look(texts: Texts, merged: str) -> bool:
    return guards_lines.is_worth_a_look(texts, growths(texts, merged))


READ = "import os\n\n\ndef run(plant):\n    plant.start()\n    plant.stop()\n"


@table(
    ("upstream", "fork", "merged", "expected"),
    {
        "nothing-in-common": (
            READ + "upstream_one = 1\n", "fork_one = 2\n" + READ,
            "fork_one = 2\n" + READ + "upstream_one = 1\n", False,
        ),
        "a-word-that-a-side-wiped-out": (
            READ.replace("import os\n", ""), READ + "os.sep\n",
            (READ + "os.sep\n").replace("import os\n", ""), True,
        ),
        "a-new-word-of-both": (
            "new = 1\n" + READ, READ + "new = 2\n", "new = 1\n" + READ + "new = 2\n", True,
        ),
        "named-and-not-called": (
            READ.replace("run(plant)", "run(plant, level)"), READ + "again = run\nrerun(1)\n",
            READ.replace("run(plant)", "run(plant, level)") + "again = run\nrerun(1)\n", False,
        ),
        "a-head-without-an-end": (
            READ + "def broken(\n", READ.replace("os\n", "os, re\n"),
            READ.replace("os\n", "os, re\n") + "def broken(\n", False,
        ),
    },
)  # fmt: skip
def test_only_doubt_is_worth_a_look(upstream: str, fork: str, merged: str, expected: bool) -> None:
    assert is_worth_a_look(Texts(READ, upstream, fork), merged) is expected
    assert is_worth_a_look(Texts(READ, fork, upstream), merged) is expected


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
    """Return what `_is_word_suspect` should, from counts of the whole texts."""
    old, mine, theirs, both = map(counted, (base, upstream, fork, merged))
    for word, count in both.items():
        sides = mine[word], theirs[word]
        fewest = min(sides)
        if fewest > 0 if not old[word] else fewest == 0:
            return True
        if old[word] and count == 1 and fewest > 1:
            return True
    return False


def test_counting_changed_lines_finds_the_words_that_counting_whole_texts_finds() -> None:
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
