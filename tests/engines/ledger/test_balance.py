"""The ledger: right results balance, and no line is lost, doubled or out of order unnoticed."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import unified_diff

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.ledger.balance import balance
from patchmgr.engines.ledger.claims import Claimed, Fate, FileClaim
from patchmgr.engines.ledger.diffs import read_diffs
from patchmgr.model.audit import Ledger, Sums
from patchmgr.model.snapshot import blob_id
from tests.long import examples
from tests.tables import table

TEXT, OTHERWISE, PERSON = Fate.TEXT, Fate.OTHERWISE, Fate.PERSON
UPSTREAM, CONFLICT, GIVEN_UP = Fate.UPSTREAM, Fate.CONFLICT, Fate.GIVEN_UP


class Files(Struct, frozen=True):
    """One state of some files."""

    files: Mapping[str, str | None]

    def blob(self, path: str) -> str | None:
        content = self.read(path)
        return None if content is None else blob_id(content)

    def read(self, path: str) -> bytes | None:
        content = self.files.get(path)
        return None if content is None else content.encode()


def diff(old: str | None, new: str | None, path: str = "f.py") -> bytes:
    """Return what git would print for one file, without ids."""
    kind = ""
    if old is None:
        kind = "new file mode 100644\n"
    elif new is None:
        kind = "deleted file mode 100644\n"
    sides = ("a", old), ("b", new)
    old_name, name = ("/dev/null" if text is None else f"{side}/{path}" for side, text in sides)
    before, after = ((text or "").splitlines(True) for _, text in sides)
    lines = unified_diff(before, after, old_name, name)
    body = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
    return f"diff --git a/{path} b/{path}\n{kind}{body}".encode()


def patch(
    old: str | None, new: str | None, fate: Fate = TEXT, path: str = "f.py", name: str = "p"
) -> Claimed:
    """Return a patch of one file, all of whose hunks had one fate."""
    text = diff(old, new, path)
    hunks = max(1, text.count(b"\n@@ "))
    return Claimed(name, text, (FileClaim(path, (path,), (fate,) * hunks),))


def ledger(
    patches: Sequence[Claimed],
    base: str | None,
    onto: str | None,
    result: str | None,
    cited: Mapping[str, tuple[bytes, bytes]] | None = None,
) -> Ledger:
    """Return the ledger of a series on one file."""

    def commits(commit: str, path: str) -> tuple[tuple[bytes, bytes], ...]:
        return ((cited or {})[commit],)

    states = (Files({"f.py": text}) for text in (base, onto, result))
    return balance(patches, *states, cited=commits)


def told(found: Ledger) -> list[str]:
    return [fault.text for _, fault in found.faults]


BASE = "a\nb\nc\nd\ne\nf\ng\nh\n"
OURS = "a\nB\nc\nd\ne\nf\ng\nh\n"
PATCHED = "a\nb\nc\nd\ne\nf\nG\ng2\nh\n"
BOTH = "a\nB\nc\nd\ne\nf\nG\ng2\nh\n"


BESIDE = "x\n1\n2\n3\n4\nend\n", "1\n2\n3\nx\n4\nend\n", "x\n1\n2\n3\nx\n4\nEND\n"
SUMS = {
    "a text merge": (BASE, OURS, PATCHED, BOTH, Sums(carried=2), Sums(carried=1)),
    "what both changed alike is upstream's": (BASE, OURS, BOTH, BOTH, Sums(2, 1), Sums(1, 1)),
    "both add a line, upstream removes its like": (
        *BESIDE, "1\n2\n3\nx\n4\nEND\n", Sums(1, 1), Sums(carried=1)),
}  # fmt: skip


@table(("base", "ours", "theirs", "result", "added", "removed"), SUMS)
def test_a_right_merge_balances(
    base: str, ours: str, theirs: str, result: str, added: Sums, removed: Sums
) -> None:
    found = ledger([patch(base, theirs)], base, ours, result)
    assert found.is_balanced
    assert (found.added, found.removed) == (added, removed)


WRONG = {
    "the patch's line is lost": ("a\nB\nc\nd\ne\nf\nG\nh\n", "lacks 1 line that the patches add"),
    "the patch's line is double": (BOTH.replace("G\n", "G\nG\n"), "1 line more"),
    "its removed line is there": (BOTH.replace("G\n", "G\ng\n"), "still has 1 line"),
    "upstream's line is lost": (BOTH.replace("B\n", ""), "lacks 1 line from upstream"),
    "upstream's line is undone": (BOTH.replace("B\n", "b\n"), "lacks 1 line from upstream"),
    "upstream's line is double": (BOTH.replace("B\n", "B\nB\n"), "1 line more"),
    "two lines change places": (BOTH.replace("d\ne\n", "e\nd\n"), "in an order"),
    "the patch's lines change places": (BOTH.replace("G\ng2\n", "g2\nG\n"), "in an order"),
    "an alien line is there": (BOTH.replace("d\n", "d\nx\n"), "1 line more"),
    "a blank line is lost elsewhere": (BOTH.replace("d\n", "d\n\n"), "1 line more"),
    "nothing was done": (OURS, "lacks 2 lines that the patches add"),
    "the file is gone": (None, "lacks"),
}


@table(("result", "sentence"), WRONG.values(), ids=WRONG)
def test_a_wrong_merge_does_not_balance(result: str | None, sentence: str) -> None:
    found = ledger([patch(BASE, PATCHED)], BASE, OURS, result)
    assert not found.is_balanced
    assert sentence in told(found)[0]
    assert found.faults[0][0] == "p"


def test_an_empty_file_that_upstream_took_goes_with_a_later_patch() -> None:
    patches = [patch(None, "", UPSTREAM), patch("", None)]
    assert ledger(patches, None, "", None).is_balanced
    assert "an empty file" in told(ledger(patches[1:], "", "", ""))[0]


def test_a_later_patch_takes_back_what_an_earlier_one_added() -> None:
    series = [patch(BASE, PATCHED), patch(PATCHED, BASE, name="q")]
    found = ledger(series, BASE, OURS, OURS)
    assert found.is_balanced
    assert (found.added.carried, found.removed.carried) == (3, 3)


NOT_CARRIED = {
    "absorbed": (UPSTREAM, BOTH, BOTH, Sums(upstream=2), True),
    "absorbed, layout changed": (UPSTREAM, BOTH.replace("G", "  G  ,"), None, Sums(upstream=2),
        True),
    "absorbed, but nobody has it": (UPSTREAM, OURS, OURS, Sums(upstream=2), False),
    "in conflict": (CONFLICT, OURS, OURS, Sums(conflict=2), True),
    "given up": (GIVEN_UP, OURS, OURS, Sums(given_up=2), True),
    "given up, and upstream's line with it": (GIVEN_UP, OURS, BASE, Sums(given_up=2), False),
}  # fmt: skip


@table(("fate", "onto", "result", "added", "is_balanced"), NOT_CARRIED.values(), ids=NOT_CARRIED)
def test_what_is_not_carried_is_nowhere_in_the_result(
    fate: Fate, onto: str, result: str | None, added: Sums, is_balanced: bool
) -> None:
    one = patch(BASE.replace("g", "ggg"), PATCHED.replace("G", "GGGG").replace("g2", "ggg2"), fate)
    base, onto, result = (
        (t or onto).replace("G", "GGGG").replace("g2", "ggg2").replace("\ng\n", "\nggg\n")
        for t in (BASE, onto, result)
    )
    found = ledger([one], base, onto, result)
    assert (found.added, found.is_balanced) == (added, is_balanced)


def test_a_cited_commit_is_evidence_though_upstream_changed_it_since() -> None:
    old, new = "def a():\n    pass\n", "def a():\n    return first_answer\n"
    onto = "def a():\n    return second_answer\n"
    one = patch(old, new, UPSTREAM)
    cited = Claimed(one.name, one.diff, one.claims, cited=("c1",))
    assert not ledger([one], old, onto, onto).is_balanced
    assert ledger([cited], old, onto, onto, {"c1": (old.encode(), new.encode())}).is_balanced


def test_a_line_of_the_base_that_a_later_patch_brings_back_is_upstreams_to_change() -> None:
    """Pull request 19268 of astral-sh/uv does that with a version, which upstream raises later."""
    old, new, onto = "version = 'first'\n", "version = 'second'\n", "version = 'third'\n"
    series = [patch(old, new, UPSTREAM), patch(new, old, UPSTREAM, name="q")]
    assert ledger(series, old, onto, onto).faults == ()
    assert not ledger(series[:1], old, onto, onto).is_balanced


def test_a_removal_that_upstream_did_not_make_is_none() -> None:
    old = "def a():\n    first_call()\n    second_call()\n    third_call()\n"
    new = "def a():\n    third_call()\n"
    onto = old.replace("third", "fourth")
    found = ledger([patch(old, new, UPSTREAM)], old, onto, onto)
    assert not found.is_balanced
    assert "has 2 lines that the patch removes" in told(found)[0]
    assert ledger([patch(old, new, UPSTREAM)], old, new, new).is_balanced


def test_little_that_upstream_left_out_is_told_and_no_more() -> None:
    old = "start\n"
    new = "start\nfirst_line\nsecond_line\nthird_line\n"
    onto = "start\nfirst_line\nsecond_line\n"
    found = ledger([patch(old, new, UPSTREAM)], old, onto, onto)
    assert found.is_balanced
    assert told(found) == [
        "this counts as absorbed, but upstream lacks 1 line that the patch adds: `third_line`"
    ]


def test_what_a_person_is_told_in_other_words_is_no_fault() -> None:
    old, new, onto = "start\n", "start\nfirst_line\n", "start\nanother_line\n"
    one = patch(old, new, UPSTREAM)
    known = Claimed(one.name, one.diff, one.claims, reworded=(b"first_line\n",))
    assert not ledger([one], old, onto, onto).is_balanced
    assert ledger([known], old, onto, onto).faults == ()


CALL = "import os\n\n\ndef a():\n    call(first, second)\n    return 1\n"
CALL_OURS = (
    "import os\n\n\ndef a():\n    call(\n        first,\n        second,\n    )\n    return 1\n"
)
CALL_PATCHED = CALL.replace("second)", "second, third)")
CALL_BOTH = CALL_OURS.replace("        second,\n", "        second,\n        third,\n")

LAID_OUT = {
    "as upstream lays it out": (CALL_BOTH, True),
    "a word is lost": (CALL_OURS, False),
    "a word is double": (CALL_BOTH.replace("third", "third, third"), False),
    "upstream's word is lost": (CALL_BOTH.replace("        first,\n", ""), False),
    "a line elsewhere is lost": (CALL_BOTH.replace("    return 1\n", ""), False),
    "a line elsewhere is moved": (
        CALL_BOTH.replace("    return 1\n", "").replace("def a", "    return 1\ndef a"), False,
    ),
}  # fmt: skip


@table(("result", "is_balanced"), LAID_OUT.values(), ids=LAID_OUT)
def test_layout_is_free_where_a_formatter_had_a_hand_in_it(result: str, is_balanced: bool) -> None:
    one = patch(CALL, CALL_PATCHED, OTHERWISE)
    assert ledger([one], CALL, CALL_OURS, result).is_balanced is is_balanced
    assert not ledger([patch(CALL, CALL_PATCHED)], CALL, CALL_OURS, result).is_balanced


def test_imports_are_names() -> None:
    base = "from m import a\n\nx = a\n"
    theirs = "from m import a, c\n\nx = a\ny = c\n"
    ours = "from m import a, b\n\nx = a, b\n"
    result = "from m import a, b, c\n\nx = a, b\ny = c\n"
    one = patch(base, theirs, OTHERWISE)
    assert ledger([one], base, ours, result).is_balanced
    lost = result.replace(", c", "").replace("y = c", "y = _")
    assert not ledger([one], base, ours, lost).is_balanced


def test_what_a_patch_defines_is_named_where_it_is_lost() -> None:
    base = "x = 1\n"
    theirs = "x = 1\n\n\ndef test_one():\n    pass\n\n\nclass Two:\n    pass\n"
    found = ledger([patch(base, theirs)], base, "x = 2\n", "x = 2\n")
    assert "test test_one" in told(found)[0]
    assert "class Two" in told(found)[0]


def test_a_person_may_give_lines_up() -> None:
    found = ledger([patch(BASE, PATCHED, PERSON)], BASE, OURS, "a\nB\nc\nd\ne\nf\nG\nperson\nh\n")
    assert found.is_balanced
    assert found.added == Sums(carried=1, given_up=1)


def test_text_that_moves_to_another_file_is_summed_there() -> None:
    unit = "def moved():\n    one()\n    two()\n"
    new = unit.replace("two()", "two()\n    three()")
    text = diff(f"x = 1\n\n\n{unit}", f"x = 1\n\n\n{new}", "a.py")
    claim = FileClaim("a.py", ("a.py", "b.py"), (OTHERWISE,))
    base = Files({"a.py": f"x = 1\n\n\n{unit}"})
    onto = Files({"a.py": "x = 1\n", "b.py": f"import os\n\n\n{unit}"})
    right = Files({"a.py": "x = 1\n", "b.py": f"import os\n\n\n{new}"})
    one = Claimed("p", text, (claim,))
    assert balance([one], base, onto, right, cited=lambda commit, path: ()).is_balanced
    assert not balance([one], base, onto, onto, cited=lambda commit, path: ()).is_balanced


FILES = {
    "made": (None, "a\nb\n"),
    "deleted": ("a\nb\n", None),
    "made, with lines that are alike": (None, "\nx\n\ny\n\n"),
}


@table(("old", "new"), FILES.values(), ids=FILES)
def test_files_come_and_go(old: str | None, new: str | None) -> None:
    one = patch(old, new)
    assert ledger([one], old, old, new).is_balanced
    assert not ledger([one], old, old, old).is_balanced


def test_lines_between_lines_that_are_alike_may_not_change_places() -> None:
    base, theirs = "a\n\nb\n", "a\n\nx\n\ny\n\nb\n"
    ours = "A\n\nb\n"
    one = patch(base, theirs)
    assert ledger([one], base, ours, "A\n\nx\n\ny\n\nb\n").is_balanced
    assert not ledger([one], base, ours, "A\n\ny\n\nx\n\nb\n").is_balanced


def test_a_hunk_whose_numbers_are_off_is_at_the_end_if_nothing_follows_it() -> None:
    base = "".join(f"{name}\n\nok\n}}\n\n" for name in "abcdefgh").removesuffix("\n")
    theirs = base + "\nnew\n\nlast\n}\n"
    one = patch(base, theirs)
    number = base.count("\n") - 2
    assert b"@@ -%d,3" % number in one.diff
    off = replace(one, diff=one.diff.replace(b"@@ -%d,3" % number, b"@@ -%d,3" % (number - 17)))
    ours = base.replace("a\n", "A\n").replace("c\n", "c\nC\n")
    assert told(ledger([off], base, ours, ours + "\nnew\n\nlast\n}\n")) == []


def test_lines_that_a_patch_moves_are_in_order_where_upstream_renames_the_file() -> None:
    base = "one\ntwo\nthree\nfour\nfive\nsix\n"
    moved = "one\nfive\ntwo\nthree\nfour\nsix\n"
    claim = FileClaim("f.c", ("f.c", "f.cpp"), (OTHERWISE, OTHERWISE))
    one = Claimed("p", _two_hunks(base, moved), (claim,))
    states = (
        Files({"f.c": base}),
        Files({"f.cpp": base.replace("six", "seven")}),
        Files({"f.cpp": moved.replace("six", "seven")}),
    )
    assert told(balance([one], *states, cited=lambda *_: ())) == []


def _two_hunks(old: str, new: str) -> bytes:
    lines = unified_diff(old.splitlines(True), new.splitlines(True), "a/f.c", "b/f.c", n=0)
    return f"diff --git a/f.c b/f.c\n{''.join(lines)}".encode()


def test_a_file_that_a_patch_renames_is_held_to_what_upstream_made_of_it() -> None:
    head = b"diff --git a/f.py b/g.py\nsimilarity index 90%\nrename from f.py\nrename to g.py\n"
    for old, new, result in ((BASE, BASE, OURS), (BASE, PATCHED, BOTH)):
        hunks = diff(old, new).partition(b"\n")[2].replace(b"b/f.py", b"b/g.py")
        one = Claimed("p", head + hunks, (FileClaim("g.py", ("f.py", "g.py"), (TEXT,)),))
        for made in (result, result.replace("d\ne\n", "e\nd\n"), result.replace("B", "b")):
            states = Files({"f.py": old}), Files({"f.py": OURS}), Files({"g.py": made})
            found = balance([one], *states, cited=lambda commit, path: ())
            assert found.is_balanced is (made == result), told(found)


DIFFS = {
    "plain": (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", [("x", "x", 1)]),
    "plain, with times": (
        b"--- a/x\t2026-01-01\n+++ b/x\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n", [("x", "x", 1)],
    ),
    "quoted": (
        b'diff --git "a/\\303\\244" "b/\\303\\244"\n--- "a/\\303\\244"\n+++ "b/\\303\\244"\n'
        b"@@ -0,0 +1 @@\n+a\n", [("ä", "ä", 1)],
    ),
    "renamed": (
        b"diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n"
        b"--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", [("x", "y", 1)],
    ),
    "a mode alone": (b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", [("x", "x", 0)]),
    "lines that look like headers": (
        b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n \n-- \n2.39\n",
        [("x", "x", 1)],
    ),
    "two files": (
        b"diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
        b"diff --git a/y b/y\nnew file mode 100644\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+a\n",
        [("x", None, 1), (None, "y", 1)],
    ),
}  # fmt: skip


@table(("text", "expected"), DIFFS.values(), ids=DIFFS)
def test_it_reads_patches(text: bytes, expected: list[tuple[str | None, str | None, int]]) -> None:
    assert [(d.old, d.new, len(d.hunks)) for d in read_diffs(text)] == expected


def test_the_claims_tell_how_many_folders_are_off_the_paths() -> None:
    text = diff(BASE, PATCHED).replace(b"a/f.py", b"f.py").replace(b"b/f.py", b"f.py")
    one = Claimed("p", text, (FileClaim("f.py", ("f.py",), (TEXT,)),))
    assert ledger([one], BASE, OURS, BOTH).is_balanced
    assert not ledger([one], BASE, OURS, OURS).is_balanced


def test_a_reversed_patch_is_read_the_other_way() -> None:
    one = Claimed("p", diff(PATCHED, BASE), is_reversed=True)
    assert ledger([one], BASE, OURS, BOTH).is_balanced


# --- a line deleted, doubled or moved at random ---

WORDS = ("", "", "}", "    return x", "    pass", "else:")


def made_up(rng: random.Random) -> tuple[str, str, str, str]:
    """Return base, upstream, the series and the right result, with many lines that are alike."""

    def line() -> str:
        return rng.choice(WORDS) if rng.random() < 0.4 else f"line_{rng.randrange(10_000)}"

    sides: list[list[str]] = [[], [], [], []]
    for _ in range(rng.randrange(4, 12)):
        for side in sides:
            side.append("")
        same = [line() for _ in range(rng.randrange(1, 6))]
        for side in sides:
            side += same
        old, new = ([line() for _ in range(rng.randrange(4))] for _ in range(2))
        who = rng.choice(("upstream", "patch", "both", "nobody"))
        sides[0] += old
        sides[1] += new if who in ("upstream", "both") else old
        sides[2] += new if who in ("patch", "both") else old
        sides[3] += old if who == "nobody" else new
        sides = [[*side, f"between_{len(sides[0])}"] for side in sides]
    base, ours, theirs, result = ("".join(f"{li}\n" for li in side) for side in sides)
    return base, ours, theirs, result


def spoilt(rng: random.Random, text: str) -> str:
    """Return a text with one line deleted, doubled or moved."""
    lines = text.splitlines(True)
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.choice(("delete", "double", "swap", "move"))
    if kind == "delete":
        del lines[at]
    elif kind == "double":
        lines.insert(at, lines[at])
    elif kind == "swap":
        to = min(at + 1, len(lines) - 1)
        lines[at], lines[to] = lines[to], lines[at]
    else:
        lines.insert(to, lines.pop(at))
    return "".join(lines)


def adds_both(base: str, ours: str, theirs: str, result: str, wrong: str) -> bool:
    """Say whether a result only has an empty line twice that each side adds: that may be right."""
    lines = [Counter(text.split("\n")) for text in (base, ours, theirs, result, wrong)]
    added = [side - lines[0] for side in lines[1:3]]
    return lines[4] - lines[3] == {"": 1} and not lines[3] - lines[4] and all(a[""] for a in added)


@table("seed", range(examples(24)))
def test_a_line_deleted_doubled_or_moved_at_random_is_noticed(seed: int) -> None:
    rng = random.Random(seed)
    missed = []
    count = 0
    while count < 100:
        base, ours, theirs, result = made_up(rng)
        if base == theirs:
            continue
        one = patch(base, theirs)
        assert not ledger([one], base, ours, result).faults
        for _ in range(5):
            wrong = spoilt(rng, result)
            if wrong != result and not adds_both(base, ours, theirs, result, wrong):
                count += 1
                if not ledger([one], base, ours, wrong).faults:
                    missed.append((base, ours, theirs, result, wrong))
    assert not missed


STRUCTURAL = (
    "import os\n\nLIMITS = {\n    'a': 1,\n}\n\n\ndef one():\n    first(1)\n    return last\n",
    "import os\n\nLIMITS = {\n    'a': 1,\n    'ours': 2,\n}\n\n\ndef one():\n    zeroth(0)\n"
    "    first(1)\n    return last\n",
    "import os\n\nLIMITS = {\n    'a': 1,\n    'theirs': 3,\n}\n\n\ndef one():\n    first(1)\n"
    "    second(2)\n    third(3)\n    return last\n",
    "import os\n\nLIMITS = {\n    'a': 1,\n    'ours': 2,\n    'theirs': 3,\n}\n\n\ndef one():\n"
    "    zeroth(0)\n    first(1)\n    second(2)\n    third(3)\n    return last\n",
)


def test_so_it_is_in_the_result_of_a_structural_merge() -> None:
    base, ours, theirs, result = STRUCTURAL
    one = patch(base, theirs, OTHERWISE)
    assert ledger([one], base, ours, result).faults == ()
    lines = result.splitlines(True)
    for at, line in enumerate(lines):
        if line.strip(" \n{}[]()"):
            for wrong in ([*lines[:at], *lines[at + 1 :]], [*lines[:at], line, *lines[at:]]):
                assert not ledger([one], base, ours, "".join(wrong)).is_balanced, line


def test_a_place_laid_out_anew_may_get_a_line_that_stands_elsewhere() -> None:
    middle, last = "one\ntwo\nthree\nfour\nfive\nsix\n", "g(int x,\n  int b, int c, int d);\n"
    base = "f(int a, int b,\n  int c);\n" + middle + last
    ours = "f(int a,\n  int b, int c);\n" + middle + last
    theirs = "f(int a, int b,\n  int c, int d);\n" + middle + last
    result = "f(int a,\n  int b, int c, int d);\n" + middle + last
    assert ledger([patch(base, theirs, OTHERWISE)], base, ours, result).faults == ()
    moved = result.replace("three\nfour\n", "four\nthree\n")
    assert not ledger([patch(base, theirs, OTHERWISE)], base, ours, moved).is_balanced


def test_a_place_is_laid_out_anew_in_a_file_that_upstream_moved_too() -> None:
    middle, kept = "one\ntwo\nthree\n", "T *r = get();\n"
    base = f"{kept}int b    = r->b();\nint a    = f(b);\n{middle}"
    theirs = f"{kept}check(r);\nint b = r->b();\nint a = f(b);\n{middle}"
    ours = base.replace("T *r =", "T *r     =").replace("int ", "long ")
    result = theirs.replace("int ", "long ")
    claim = FileClaim("a.cc", ("a.cc", "b.cc"), (OTHERWISE,))
    one = Claimed("p", diff(base, theirs, "a.cc"), (claim,))
    states = Files({"a.cc": base}), Files({"b.cc": ours})
    for text, is_right in ((result, True), (result.replace("one\ntwo\n", "two\none\n"), False)):
        found = balance([one], *states, Files({"b.cc": text}), cited=lambda commit, path: ())
        assert found.is_balanced is is_right


def test_what_both_sides_add_alike_is_there_once_with_the_dots_in_it() -> None:
    base = "one\na.b.c()\nd.e.f()\nload({})\nlast\n"
    ours = base.replace("load({})", "load({'key': self.get('option')})")
    theirs = "one\nwrite({'key': self.get('option')})\nlast\n"
    one = patch(base, theirs, OTHERWISE)
    assert ledger([one], base, ours, theirs).faults == ()
    for wrong in (ours, theirs.replace("one\n", ""), theirs.replace("write", "load")):
        assert not ledger([one], base, ours, wrong).is_balanced


def test_what_both_sides_add_alike_in_two_places_is_there_twice() -> None:
    base = "A = [\n    'a',\n    'b',\n]\nmid = 1\nmore = 2\nother = 3\nB = [\n    'c',\n]\n"
    theirs = base.replace("    'b',", "    'x',\n    'b',")
    ours = base.replace("    'c',", "    \"x\",\n    'c',")
    both = theirs.replace("    'c',", "    \"x\",\n    'c',")
    one = patch(base, theirs, OTHERWISE)
    assert ledger([one], base, ours, both).faults == ()
    for lost in (ours, theirs):
        lacks = "the result lacks 1 word that the patches add: `x`"
        assert lacks in told(ledger([one], base, ours, lost))
    gone = patch(both, ours, OTHERWISE)
    assert ledger([gone], both, theirs, base).faults == ()
    still = "the result still has 1 word that the patches remove: `x`"
    assert still in told(ledger([gone], both, theirs, theirs))


def test_what_upstream_changed_alike_as_it_moved_the_place_is_there_once() -> None:
    first = "def f(a):\n    one = a + 1\n    two = one * 3\n    return two\n"
    rest = "".join(f"\n\ndef g{n}(b):\n    return b - {n}\n" for n in range(6))
    alike = first.replace("one * 3", "one * 3 + extra")
    wanted = alike.replace("a + 1", "a + more")
    ours, made = (f"{rest}\n\n{text}" for text in (alike, wanted))
    one = patch(first + rest, wanted + rest, OTHERWISE)
    assert ledger([one], first + rest, ours, made).faults == ()
    assert not ledger([one], first + rest, ours, ours).is_balanced


def test_a_value_may_go_to_a_new_name_where_upstream_has_another_for_the_old_one() -> None:
    for begin, end in (("(\n    ", "\n)\n"), ("", "\n")):
        base = f"import os\n\nfirst = {begin}aaa111{end}other = 1\n"
        ours = base.replace("aaa111", "bbb222")
        theirs = ours.replace("other", f"second = {begin}aaa111{end}other")
        one = patch(base, theirs, OTHERWISE)
        assert (b"-    aaa111" in one.diff, b"-first = aaa111" in one.diff) == (False, not begin)
        assert ledger([one], base, ours, theirs).faults == ()
        for wrong in (theirs + f"third = {begin}aaa111{end}", theirs.replace("other = 1\n", "")):
            assert not ledger([one], base, ours, wrong).is_balanced


def test_an_empty_file_may_go_where_upstream_has_one() -> None:
    head = b"diff --git a/f.py b/g.py\nsimilarity index 100%\nrename from f.py\nrename to g.py\n"
    move = Claimed("p", head, (FileClaim("g.py", ("f.py", "g.py"), (TEXT,)),))
    states = Files({}), Files({"g.py": ""}), Files({"g.py": ""})
    assert balance([patch(None, ""), move], *states, cited=lambda commit, path: ()).is_balanced
