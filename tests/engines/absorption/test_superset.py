"""Supersets, and the members of displays."""

from patchmgr.engines.absorption.superset import is_superset
from patchmgr.engines.conflicts.ids import conflict_regions
from patchmgr.model.outcome import How
from tests.engines.ports import judged_alone
from tests.engines.series import at, hunks_between
from tests.tables import table


def inside(lines: str) -> bytes:
    """Return a text with lines between others."""
    return f"def f():\n    start()\n{lines}    end()\n".encode()


def judged(base: str, theirs: str, ours: str) -> How | None:
    """Return how a hunk between the texts is absorbed, None where it is not."""
    (hunk,) = hunks_between(inside(base), inside(theirs))
    answer = judged_alone(inside(base), inside(ours), hunk, hunk.old_start - 1)
    return answer[1] if answer[0].value == "absorbed" else None


SET = "    known = {\n        ALPHA,\n    }\n"


def members(*names: str) -> str:
    return SET.replace("ALPHA,", "\n        ".join(f"{name}," for name in ("ALPHA", *names)))


def row(*names: str, brackets: str = "{}") -> str:
    return f"    known = {brackets[0]}{', '.join(('ALPHA', *names))}{brackets[1]}\n"


@table(
    ("base", "theirs", "ours"),
    {
        "ours-first": (members(), members("BETA"), members("BETA", "GAMMA")),
        "ours-last": (members(), members("BETA"), members("GAMMA", "BETA")),
        "around": (members(), members("BETA", "DELTA"), members("BETA", "GAMMA", "DELTA")),
        "one-line": (row(), row("BETA"), row("BETA", "GAMMA")),
        "one-line-last": (row(), row("BETA"), row("GAMMA", "BETA")),
        "one-line-made-many": (row(), row("BETA"), members("BETA", "GAMMA")),
        "many-made-one-line": (members(), members("BETA"), row("BETA", "GAMMA")),
        "argument-before": ("    f(ALPHA)\n", "    f(x, ALPHA)\n", "    f(x, ALPHA, GAMMA)\n"),
        "import": ("    from a import x\n", "    from a import x, z\n",
            "    from a import x, y, z\n"),
        "argument": ("    f(ALPHA)\n", "    f(ALPHA, BETA)\n", "    f(ALPHA, BETA, GAMMA)\n"),
        "without-brackets": ("    import a\n", "    import a, b\n", "    import a, b, c\n"),
        "nested": ("    x = [f(ALPHA), {ALPHA: [1]}]\n", "    x = [f(ALPHA), {ALPHA: [1, 2]}]\n",
            "    x = [f(ALPHA), {ALPHA: [1, 2, 3]}]\n"),
        "lines": ("    one()\n", "    one()\n    two()\n", "    one()\n    two()\n    three()\n"),
    },
)  # fmt: skip
def test_what_is_among_more_is_a_superset(base: str, theirs: str, ours: str) -> None:
    assert judged(base, theirs, ours) is How.SUPERSET


@table(
    ("base", "theirs", "ours"),
    {
        "another-member": (members(), members("BETA"), members("GAMMA")),
        "other-order": (members(), members("BETA", "DELTA"), members("DELTA", "GAMMA", "BETA")),
        "we-remove": (members("BETA"), members(), members("GAMMA")),
        "we-remove-on-one-line": (row("BETA"), row(), row("BETA", "GAMMA")),
        "one-line-other": (row(), row("BETA"), row("GAMMA")),
        "brackets": (row(), row("BETA"), row("BETA", "GAMMA", brackets="[]")),
        "place": ("    f(ALPHA)\n", "    f(ALPHA, BETA)\n", "    f(ALPHA, GAMMA, BETA)\n"),
        "wrapped": ("    x = ALPHA\n", "    x = f(ALPHA)\n", "    x = g(ALPHA)\n"),
        "unbalanced": ("    x = ALPHA\n", "    x = f(ALPHA)\n", "    x = f(ALPHA\n"),
        "between-brackets-of-other-lines": ("    ALPHA) + f(x\n", "    ALPHA, BETA) + f(x\n",
            "    ALPHA, BETA, GAMMA) + f(x\n"),
        "we-replace": ("    x, y\n", "    x, z\n", "    x, y, z, u\n"),
        "a-list-begins-above": ("    x) {\n", "    x, y) {\n", "    z, x, y) {\n"),
        "lines-in-other-order": ("    one()\n", "    one()\n    two()\n    three()\n",
            "    one()\n    three()\n    two()\n"),
        "too-long": ("    one()\n" * 250, "    one()\n" * 249 + "    one(2)\n",
            "    one()\n" * 249 + "    one(2, 3)\n" * 220),
    },
)  # fmt: skip
def test_other_collisions_are_none(base: str, theirs: str, ours: str) -> None:
    assert judged(base, theirs, ours) is not How.SUPERSET


def test_a_last_line_without_a_line_feed_is_the_same_line() -> None:
    base, theirs, ours = b"a\n", b"a\nbeta()", b"a\nbeta()\ngamma()\n"
    (hunk,) = hunks_between(base, theirs)
    marked = b"a\n<<<<<<< ours\nbeta()\ngamma()\n||||||| base\n=======\nbeta()\n>>>>>>> theirs\n"
    assert is_superset(ours, marked, hunk)


@table(
    "marked",
    {
        "no-collision": b"a\n",
        "more-elsewhere": b"x\n<<<<<<< ours\nb\nc\n||||||| base\n=======\nb\n>>>>>>> theirs\n",
        "empty": b"a\n<<<<<<< ours\n||||||| base\n=======\nb\n>>>>>>> theirs\n",
    },
)
def test_the_rest_of_the_merge_must_be_upstreams_own(marked: bytes) -> None:
    (hunk,) = hunks_between(b"a\n", b"a\nb\n")
    ours = b"a\nb\nc\n" if conflict_regions(marked)[:1] != ((b"", b"", b"b"),) else b"a\n"
    assert not is_superset(ours, marked, hunk)


def test_a_hunk_that_adds_nothing_is_none() -> None:
    marked = b"a\n<<<<<<< ours\nc\n||||||| base\nb\n=======\n>>>>>>> theirs\n"
    assert not is_superset(b"a\nc\n", marked, at(1, b" a\n", b"-b\n"))
