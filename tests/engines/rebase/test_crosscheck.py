"""Warnings about files that merged without a conflict."""

from collections.abc import Callable, Sequence

from patchmgr.engines.audit.checks import CHECKS
from patchmgr.engines.audit.states import run_checks
from patchmgr.engines.rebase.crosscheck import Question, check_file, check_merged
from patchmgr.engines.structure.guards import suspect
from patchmgr.engines.structure.guards_lines import growths
from patchmgr.engines.structure.outdated_uses import outdated_uses
from patchmgr.engines.structure.sides import Texts
from patchmgr.errors import PatchmgrError
from tests.engines.audit.audited import audited
from tests.engines.ports import MemoryBlobs
from tests.engines.series import Files
from tests.tables import table

LINES = [f"value_{n} = {n}\n" for n in range(12)]
HELPER = "from pkg.tools import helper\n"


def module(*, top: str = "", bottom: str = "") -> bytes:
    return (top + "".join(LINES) + bottom).encode()


def at_once(questions: Sequence[Question]) -> Callable[[], Sequence[tuple[str, ...]]]:
    return lambda: [suspect(*question, names=False) for question in questions]


def warned(
    base: Files, ours: Files, upstream: Files, *, blobs: MemoryBlobs | None = None
) -> list[str]:
    """Return the warnings of a series of one patch."""
    _, states = audited(base, ours, upstream, blobs=blobs)
    told = list(run_checks(states, CHECKS))
    told += check_merged(states, suspect_all=at_once)(told)
    return [f"{finding.path}: {finding.text}" for _, finding in told]


NEEDY = b"def helper(way):\n    return 1\n"
TOOLS = b"def helper():\n    return 1\n"
RENAMED = b"def assist():\n    return 1\n"


@table(
    ("base", "ours", "upstream", "expected"),
    {
        "upstream-asks-for-more-than-we-give": ({"a.py": module(top=HELPER), "pkg/tools.py": TOOLS},
            {"a.py": module(top=HELPER, bottom="x = helper()\n"), "pkg/tools.py": TOOLS},
            {"a.py": module(top=HELPER), "pkg/tools.py": NEEDY},
            ["a.py: `helper` is called without `way`"]),
        "we-ask-for-more-than-upstream-gives": ({"a.py": module(top=HELPER), "pkg/tools.py": TOOLS},
            {"a.py": module(top=HELPER, bottom="x = 1\n"),
             "pkg/tools.py": b"def helper(way):\n    return 1\n"},
            {"a.py": module(top=HELPER + "y = helper()\n"), "pkg/tools.py": TOOLS},
            ["a.py: `helper` is called without `way`"]),
        "the-import-that-upstream-removed-comes-with-its-use": (
            {"a.py": module(top=HELPER), "pkg/tools.py": TOOLS},
            {"a.py": module(top=HELPER, bottom="x = helper()\n"), "pkg/tools.py": TOOLS},
            {"a.py": module(), "pkg/tools.py": TOOLS}, []),
        "upstream-renamed-what-we-import": ({"a.py": module(), "pkg/tools.py": TOOLS},
            {"a.py": module(bottom=HELPER), "pkg/tools.py": TOOLS},
            {"a.py": module(), "pkg/tools.py": RENAMED}, ["a.py: `from pkg.tools import helper`"]),
        "all-is-well": ({"a.py": module(), "pkg/tools.py": TOOLS},
            {"a.py": module(bottom=HELPER + "x = helper()\n"), "pkg/tools.py": TOOLS},
            {"a.py": module(top="import os\n\nos.sep\n"), "pkg/tools.py": TOOLS}, []),
        "no-python": ({"a.txt": module(top=HELPER)},
            {"a.txt": module(top=HELPER, bottom="x = helper()\n")}, {"a.txt": module()}, []),
        "a-conflict-is-not-looked-at": ({"a.py": module(top=HELPER), "pkg/tools.py": TOOLS},
            {"a.py": module(top=HELPER, bottom="x = helper()\n"), "pkg/tools.py": TOOLS},
            {"a.py": module(top=HELPER, bottom="y = helper()\n"), "pkg/tools.py": RENAMED}, []),
        "we-deleted-what-upstream-imports": ({"a.py": module(), "b.py": b"b = 1\n"},
            {"a.py": module(), "b.py": None},
            {"a.py": module(top="import b\n"), "b.py": b"b = 1\n"},
            ["a.py: `import b` no longer works"]),
    },
)  # fmt: skip
def test_suspicious_merges(base: Files, ours: Files, upstream: Files, expected: list[str]) -> None:
    ours = {path: content for path, content in ours.items() if content is not None}
    found = warned(base, ours, upstream)
    assert len(found) == len(expected)
    assert all(line.startswith(start) for line, start in zip(found, expected, strict=True))


class Partial(MemoryBlobs):
    """Blobs, one of which is missing."""

    def read(self, blob: str) -> bytes:
        content = super().read(blob)
        if content == LARGE:
            raise PatchmgrError("missing-object", "it is not at hand")
        return content


LARGE = b"data = 'large'\n"


@table(
    ("blobs", "expected"),
    {
        "not-at-hand": (Partial(), []),
        "at-hand": (
            MemoryBlobs(),
            ["a.py: `from large import thing` no longer works: `large` has no `thing`."],
        ),
    },
)
def test_a_file_with_missing_content_has_no_warning(
    blobs: MemoryBlobs, expected: list[str]
) -> None:
    base: Files = {"a.py": module(), "large.py": b"thing = 1\n"}
    ours: Files = {**base, "a.py": module(bottom="from large import thing\n")}
    upstream: Files = {"a.py": module(top="# important\nimportance = 1\n"), "large.py": LARGE}
    assert warned(base, ours, upstream, blobs=blobs) == expected


TAKE = b"""\
def take(count, size):
    count = int(count)
    total = count
    return total


def keep(size):
    if size:
        return size
    raise ValueError
"""
OURS = b"    total = count\n    if size:\n        raise ValueError\n"
THEIRS = b"def take(count, size):\n    if size:\n        return size\n"


@table("is_same", [True, False])
def test_a_condition_that_both_sides_add_is_a_finding_without_new_words(is_same: bool) -> None:
    ours = TAKE.replace(b"    total = count\n", OURS)
    upstream = TAKE.replace(b"def take(count, size):\n", THEIRS)
    upstream = upstream if is_same else upstream.replace(b"    if size:", b"    if count:", 1)
    _, states = audited({"a.py": TAKE}, {"a.py": ours}, {"a.py": upstream})
    found = check_merged(states, suspect_all=at_once)(())
    expected = "a.py: The code under the second `if size` is never reached."
    assert [f.sentence() for _, f in found] == ([expected] if is_same else [])
    assert not any(finding.is_certain for _, finding in found)


def test_a_name_that_the_audit_reports_is_not_reported_again() -> None:
    ours, upstream = (module(**{side: "def new():\n    pass\n"}) for side in ("top", "bottom"))
    _, states = audited({"a.py": module()}, {"a.py": ours}, {"a.py": upstream})
    (told,) = check_merged(states, suspect_all=at_once)(())
    assert not check_merged(states, suspect_all=at_once)([told])


def test_a_name_that_upstream_replaced_is_reported_once() -> None:
    base = "log.emit(1)\nlog.emit(2)\nlog.emit(3)\n" + "".join(LINES)
    sides = (base.replace("emit", "send"), base + "log.emit(4)\n")
    merged = sides[0] + "log.emit(4)\n"
    contents = (base.encode(), sides[0].encode(), sides[1].encode())
    expected = "`log.emit(4)` uses `emit` as it was before upstream changed every use of it."
    assert check_file(contents, merged.encode(), "a.py", suspect=suspect) == (expected,)
    _, states = audited(*({"a.py": one} for one in (contents[0], contents[2], contents[1])))
    assert [f.text for _, f in check_merged(states, suspect_all=at_once)(())] == [expected]


@table(
    ("name", "is_told"),
    {"a-word": ("batch", False), "a-name": ("batch_size", True), "a-class": ("BatchNorm", True)},
)
def test_a_word_of_prose_is_no_name(name: str, is_told: bool) -> None:
    logs = "".join(f"INFO {number}: the {name} is full\n" for number in range(3))
    base = logs + "".join(LINES)
    contents = (base.encode(), "".join(LINES).encode(), (base + f"Each {name} counts.\n").encode())
    merged = "".join(LINES) + f"Each {name} counts.\n"
    found = check_file(contents, merged.encode(), "guide.md", suspect=suspect)
    assert bool(found) is is_told
    assert check_file(contents, merged.encode(), "guide.c", suspect=suspect)


def test_a_warning_names_the_patch_that_it_is_about() -> None:
    old, new = "struct Args args{scale};\n", "struct Args args{scale, bias};\n"
    base = old + module().decode() + old
    first = base.replace(old, new)
    upstream = base.replace("value_9 = 9\n", f"value_9 = 9\n{old}")
    files = [{"a.cc": text.encode()} for text in (base, first, upstream)]
    second = {"a.cc": first.replace("value_5 = 5\n", "value_5 = 6\n").encode()}
    _, states = audited(*files, later=[second])
    [(patch, finding)] = check_merged(states, suspect_all=at_once)(())
    assert patch == "p"
    assert "although the patch replaced every copy of it" in finding.text


def test_a_file_that_upstream_moved_is_checked_too() -> None:
    base = b"int a = f(1);\n" + module() + b"int b = f(1);\n"
    ours = base.replace(b"value_5 = 5\n", b"value_5 = 5\nint c = f(2);\n")
    upstream = base.replace(b"f(1)", b"f(1, NULL)")
    files = {"m.c": base}, {"m.c": ours}, {"n.c": upstream}
    _, states = audited(*files, renames={"m.c": "n.c"})
    [(_, finding)] = check_merged(states, suspect_all=at_once)(())
    assert (finding.path, finding.symbol) == ("n.c", "int c = f(2);")


REST = "\nmore\n" * 4


def told(old: str, new: str, more: str, *, is_upstream: bool = True) -> list[tuple[str, str, str]]:
    """Return what is found if one side turns `old` into `new`, and the other adds `more`."""
    sides = new + REST, old + REST + more
    upstream, fork = sides if is_upstream else sides[::-1]
    merged = new + REST + more
    texts = Texts(old + REST, upstream, fork)
    return [*outdated_uses(texts, merged, growths(texts, merged))]


NAMES = {"mix", "get", "run", "view", "row", "put", "file", "scale"}


@table(
    "old, new, more",
    {
        "more": (
            "ops.mix(a, b)\n",
            "ops.mix(a,\n        b, self.bits)\n",
            "ops.mix(w['q'], w['g'])\n",
        ),
        "cxx": ("mix(a, b);\n", "mix(a, b, stream);\n", "    mix(f(c, d), e);\n"),
        "constant": ("x = get(a, None)\n", "x = get(a)\n", "y = get(b, None)\n"),
        "keyword": ("run(a, mode=1)\n", "run(a, kind=1)\n", "run(b, mode=2)\n"),
        "star": ("run(*a)\n", "run(a)\n", "run(*b)\n"),
        "called": (
            "view.next(1)\nview.last(2)\n" * 2,
            "view().next(1)\nview().last(2)\n" * 2,
            "view.next(3)\n",
        ),
        "index": ("row[1]\nrow[2]\n" * 2, "row.at(1)\nrow.at(2)\n" * 2, "row[5]\n"),
        "member": (
            "a->file = 1;\ny = a->file;\n" * 2,
            "set(1);\ny = a->get();\n" * 2,
            "a->file = 2;\n",
        ),
        "gone": (
            "x = scale\ny = [scale, 1, scale]\n",
            "x = size\ny = [size, 1, size]\n",
            "y = scale\n",
        ),
        "strings": ("put(',', \"(\")\n", "put(',', \"(\", 1)\n", "put(a)(b, '\\'')\nput(')', x)\n"),
    },
)
def test_a_use_of_a_form_replaced_everywhere_is_reported(old: str, new: str, more: str) -> None:
    line = more.strip().rpartition("\n")[2]
    (name,) = {name for name in NAMES if name in old}
    for who, is_upstream in (("upstream", True), ("the patch", False)):
        assert told(old, new, more, is_upstream=is_upstream) == [(line, name, who)]


@table(
    "old, new, more",
    {
        "upstream-has-one-still": (
            "mix(a, b)\nmix(c, d)\n",
            "mix(a, b, c)\nmix(c, d)\n",
            "mix(e, f)\n",
        ),
        "the-new-way": ("mix(a, b)\n", "mix(a, b, c)\n", "mix(e, f, g)\n"),
        "the-name-is-gone": ("mix(a, b)\n", "blend(a, b)\n", "mix(e, f)\n"),
        "other-values": ("mix(a, b)\n", "mix(c, d)\n", "mix(e, f)\n"),
        "laid-out": ("mix(a, b)\n", "mix(a,\n    b,  # both, (\n)\n", "mix(e, f)\n"),
        "order-of-keywords": ("run(a=1, b=2)\n", "run(b=2, a=3)\n", "run(a=4, b=5)\n"),
        "two-variables-are-no-habit": ("x = scale\ny = scale\n", "x = size\n", "z = scale\n"),
        "in-a-comment": ("# is scale\n// has scale\n", "# is size\n", "x = 1  # of scale\n"),
        "two-uses-of-a-local-name": ("row[1]\nrow[2]\n", "rows[1]\nrow = rows\n", "row[3]\n"),
        "one-attribute-is-no-habit": ("view.next(1)\n", "view().next(1)\n", "view.next(2)\n"),
        "another-name": ("mix(a, b)\n", "mix(a, b, c)\n", "remix(e, f)\nother.mix(e, f)\n"),
        "no-end": ("mix(a, b)\n", "mix(a, b, c)\n", "mix(e, f\n"),
        "keyword-of-the-language": ("x = a or (b, c)\n", "x = a or (b)\n", "y = d or (e, f)\n"),
    },
)
def test_a_use_in_a_current_form_is_not_reported(old: str, new: str, more: str) -> None:
    assert told(old, new, more) == []
    assert told(old, new, more, is_upstream=False) == []


def test_of_several_outdated_uses_the_first_in_order_is_reported() -> None:
    more = "".join(f"mix(w{number}, g)\n" for number in range(9))
    found = told("mix(a, b)\n", "mix(a, b, c)\n", more)
    assert found == [("mix(w0, g)", "mix", "upstream")]
