"""Uses of a name as they were before the other side changed each of them."""

from __future__ import annotations

from patchmgr.engines.rebase.crosscheck import outdated_uses
from patchmgr.engines.structure.guards_lines import growths
from patchmgr.engines.structure.sides import Texts
from tests.tables import table

REST = "\nmore\n" * 4


def told(old: str, new: str, more: str, *, is_upstream: bool = True) -> list[str]:
    """Return what is told where one side turns `old` into `new`, and the other adds `more`."""
    sides = new + REST, old + REST + more
    upstream, fork = sides if is_upstream else sides[::-1]
    merged = new + REST + more
    texts = Texts(old + REST, upstream, fork)
    return [*outdated_uses(texts, merged, growths(texts, merged))]


@table(
    "old, new, more",
    [
        ("ops.mix(a, b)\n", "ops.mix(a,\n        b, self.bits)\n", "ops.mix(w['q'], w['g'])\n"),
        ("mix(a, b);\n", "mix(a, b, stream);\n", "    mix(f(c, d), e);\n"),
        ("x = get(a, None)\n", "x = get(a)\n", "y = get(b, None)\n"),
        ("run(a, mode=1)\n", "run(a, kind=1)\n", "run(b, mode=2)\n"),
        ("run(*a)\n", "run(a)\n", "run(*b)\n"),
        ("view.next(1)\nview.last(2)\n", "view().next(1)\nview().last(2)\n", "view.next(3)\n"),
        ("row[1]\nrow[2]\n", "row.at(1)\nrow.at(2)\n", "row[3]\n"),
        ("put(',', \"(\")\n", "put(',', \"(\", 1)\n", "put(a)(b, '\\'')\nput(')', x)\n"),
    ],
    ids=["more", "cxx", "constant", "keyword", "star", "called", "index", "strings"],
)
def test_a_use_as_it_was_before_a_side_changed_each_is_told(old: str, new: str, more: str) -> None:
    line, name = more.strip().rpartition("\n")[2], old.lstrip("xy= ").partition("(")[0]
    name = name.partition("[")[0].removesuffix(".next")
    for who, is_upstream in (("upstream", True), ("the patch", False)):
        said = f"`{line}` uses `{name}` as it was before {who} changed each use of it."
        assert told(old, new, more, is_upstream=is_upstream) == [said]


@table(
    "old, new, more",
    [
        ("mix(a, b)\nmix(c, d)\n", "mix(a, b, c)\nmix(c, d)\n", "mix(e, f)\n"),
        ("mix(a, b)\n", "mix(a, b, c)\n", "mix(e, f, g)\n"),
        ("mix(a, b)\n", "blend(a, b)\n", "mix(e, f)\n"),
        ("mix(a, b)\n", "mix(c, d)\n", "mix(e, f)\n"),
        ("mix(a, b)\n", "mix(a,\n    b,  # both, (\n)\n", "mix(e, f)\n"),
        ("run(a=1, b=2)\n", "run(b=2, a=3)\n", "run(a=4, b=5)\n"),
        ("view.next(1)\n", "view().next(1)\n", "view.next(2)\n"),
        ("mix(a, b)\n", "mix(a, b, c)\n", "remix(e, f)\nother.mix(e, f)\n"),
        ("mix(a, b)\n", "mix(a, b, c)\n", "mix(e, f\n"),
        ("x = a or (b, c)\n", "x = a or (b)\n", "y = d or (e, f)\n"),
    ],
    ids=[
        "upstream-has-one-still",
        "the-new-way",
        "the-name-is-gone",
        "other-values",
        "laid-out",
        "order-of-keywords",
        "one-attribute-is-no-habit",
        "another-name",
        "no-end",
        "keyword-of-the-language",
    ],
)
def test_nothing_is_told(old: str, new: str, more: str) -> None:
    assert told(old, new, more) == []
    assert told(old, new, more, is_upstream=False) == []


def test_of_several_uses_always_the_same_is_shown() -> None:
    more = "".join(f"mix(w{number}, g)\n" for number in range(9))
    assert "`mix(w0, g)`" in told("mix(a, b)\n", "mix(a, b, c)\n", more)[0]
