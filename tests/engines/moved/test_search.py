"""The unit that a moved unit has become."""

from collections import Counter

import pytest

from patchmgr.engines.moved.search import LARGEST_CONTENT, Home, Search, Unclear, likeness
from patchmgr.engines.moved.units import Outline
from tests.engines.moved.relocations import MemoryElsewhere, Texts
from tests.tables import table


def function(name: str, *numbers: int, indent: str = "") -> str:
    lines = [f"def {name}(plant, floor):", *(f"    plant.turn_{n}(floor)" for n in numbers)]
    return "".join(f"{indent}{line}\n" for line in lines)


def method(outer: str, name: str, *numbers: int) -> str:
    return f"class {outer}:\n" + function(name, *numbers, indent="    ")


def _found(base: str, own: str | None, elsewhere: Texts, old: Texts, name: str) -> str:
    """Return `path symbol` of a home, `?` and the reason if it is unclear, or `in place`."""
    outline = Outline("a.py", base.encode())
    there = None if own is None else Outline("a.py", own.encode())
    (unit,) = outline.named(name)
    search = Search(outline, there, MemoryElsewhere(old, elsewhere))
    found = search.home(unit)
    assert search.home(unit) is found
    if isinstance(found, Home):
        return f"{found.path} {found.unit.name}"
    return "in place" if found is None else f"? {found.reason}"


OWN = function("f", 1, 2, 3, 4, 5)
REST = function("rest", 20, 21, 22, 23, 24, 25, 26, 27)
B, C = "b.py", "c.py"
GONE = "? upstream's a.py no longer has f"
DELETED = "? upstream deleted the file with"


@table(
    ("own", "elsewhere", "expected"),
    {
        "same-name": (REST, {B: OWN}, "b.py f"),
        "half-of-it": (REST, {B: function("f", 1, 2, 3, 9, 9)}, "b.py f"),
        "less-than-half": (REST, {B: function("f", 1, 9, 8, 7, 6)},
            f"{GONE}; b.py has one of that name"),
        "other-name": (REST, {B: function("k", 1, 2, 3, 4, 5)}, "b.py k"),
        "other-name-less-alike": (REST, {B: function("k", 1, 2, 3, 4, 9)}, GONE),
        "in-a-class": (REST, {B: method("K", "f", 1, 2, 3, 4)}, "b.py K.f"),
        "two-alike": (REST, {B: OWN, C: OWN}, "? upstream has f in several places: b.py, c.py"),
        "two-nearly-alike": (REST, {B: OWN, C: function("f", 1, 2, 3, 4)},
            "? upstream has f in several places: b.py, c.py"),
        "one-better": (REST, {B: OWN, C: function("f", 1, 2, 3)}, "b.py f"),
        "others-of-no-concern": (REST, {B: OWN, C: REST}, "b.py f"),
        "nowhere": (REST, {}, GONE),
        "file-gone": (None, {B: OWN}, "b.py f"),
        "copied": (OWN + REST, {B: OWN}, "in place"),
        "moved-within-and-copied": (REST + OWN, {B: OWN}, "a.py f"),
        "rewritten-in-place": (function("f", 1, 9, 9, 9) + REST, {}, "in place"),
        "a-stub-stays": (function("f", 1) + REST, {B: OWN}, "b.py f"),
        "renamed": (function("k", 1, 2, 3, 4, 5) + REST, {}, "in place"),
        "renamed-and-moved": (REST + function("k", 1, 2, 3, 4, 5), {}, "a.py k"),
        "renamed-and-rewritten": (function("k", 1, 2, 3) + REST, {}, GONE),
        "another-language": (REST, {"b.txt": OWN}, GONE),
        "too-large": (REST, {B: OWN + "#" * LARGEST_CONTENT}, GONE),
        "everywhere": (REST, {f"{n}.py": OWN for n in range(9)},
            f"{GONE}; 0.py, 1.py, 2.py, and others have one of that name"),
        "grown": (REST, {B: function("f", *range(1, 6), *range(30, 60))}, "b.py f"),
        "inlined": (REST, {B: function("k", *range(1, 6), *range(30, 60))}, GONE),
        "a-container-by-name": (REST,
            {B: "def f(a):\n" + function("g", 1, 2, 3, 4, 5, indent="    ")}, "b.py f"),
        "a-container-by-another-name": (REST,
            {B: "def k(a):\n" + function("f", 1, 2, 3, 4, 5, indent="    ")}, "b.py k.f"),
    },
)  # fmt: skip
def test_most_similar_is_home(own: str | None, elsewhere: dict[str, str], expected: str) -> None:
    texts = {path: content.encode() for path, content in elsewhere.items()}
    assert _found(OWN + REST, own, texts, {}, "f") == expected


@table(
    ("base", "name", "before", "after", "expected"),
    {
        "a-copy-before": (OWN, "f", OWN, OWN + REST, f"{DELETED} f; b.py has one of that name"),
        "others-before": (OWN, "f", REST, OWN + REST, "b.py f"),
        "another-of-its-name": (OWN, "f", function("f", 7, 8, 9), OWN, "b.py f"),
        "short-and-the-same": ("def f(a):\n    pass\n", "f", "", "def f(a):\n    pass\n", "b.py f"),
        "short-and-not-the-same": ("def f(a, b):\n    go(a)\n", "f", "",
            "def f(a, b):\n    go(b)\n", f"{DELETED} f; b.py has one of that name"),
        "short-and-of-a-class": ("def f(a, b):\n    go(a)\n", "f", "",
            "class K:\n    def f(a, b):\n        go(a)\n", f"{DELETED} f"),
        "rewritten-on-the-way": (method("K", "f", 1, 2, 3), "K.f", "", method("K", "f", 1, 8, 9, 7),
            f"{DELETED} K.f; b.py has one of that name"),
    },
)  # fmt: skip
def test_old_unit_is_no_home(base: str, name: str, before: str, after: str, expected: str) -> None:
    told = _found(base, None, {B: after.encode()}, {B: before.encode()}, name)
    assert told == expected


def test_a_short_symbol_is_in_place_if_its_name_is() -> None:
    assert _found("def f(a):\n    go(a)\n", "def f(a):\n    go(b)\n", {}, {}, "f") == "in place"


@table(
    ("paths", "expected"),
    [([B], "b.py has one of that name"), ([B, C], "b.py, c.py have one of that name")],
)
def test_a_rewritten_symbol_is_proposed_if_its_name_is_unique(
    paths: list[str], expected: str
) -> None:
    base = method("K", "f", *range(1, 9)).encode()
    changed = method("K", "f", 1, 2, 3, 4, 50, 51, 52, 53, 54).replace("plant, floor", "x").encode()
    outline = Outline("a.py", base)
    elsewhere = MemoryElsewhere({}, dict.fromkeys(paths, changed))
    found = Search(outline, None, elsewhere).home(outline.named("K.f")[0])
    assert isinstance(found, Unclear)
    assert found.reason == f"upstream deleted the file with K.f; {expected}"
    assert (found.likely and found.likely.path) == (B if paths == [B] else None)


def test_likeness() -> None:
    one, other = Counter([b"a", b"a", b"b"]), Counter([b"a", b"c"])
    assert likeness(one, other) == pytest.approx(1 / 3)
    assert likeness(Counter(), Counter()) == 1
    assert likeness(Counter(), one) == 0


def test_a_namesake_that_was_in_the_file_before_is_no_home() -> None:
    other = method("K", "f", 1, 2, 3, 4, 5)
    assert _found(OWN + other, other, {}, {}, "f") == GONE


def test_a_short_paragraph_is_found_only_in_its_own_file() -> None:
    content = b"one short line\n"
    outline = Outline("a.txt", content)
    (unit,) = outline.units
    elsewhere = MemoryElsewhere({}, {"b.txt": content})
    assert Search(outline, outline, elsewhere).home(unit) is None
    found = Search(outline, None, elsewhere).home(unit)
    assert found == Unclear("upstream deleted the file with these lines")
