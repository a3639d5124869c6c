"""What upstream redefined around a carried hunk is told; what does not matter to it is not."""

from msgspec.structs import replace

from patchmgr.engines.audit.meaning import changed_meaning
from patchmgr.engines.audit.states import run_checks
from patchmgr.model.audit import AuditFinding
from tests.engines.audit.audited import audited, found
from tests.engines.ports import MemoryBlobs
from tests.engines.series import Upstream
from tests.tables import table

FILLER = "".join(f"    log({n})\n" for n in range(8))
BASE = f"""\
def window(items, size, block, limit=8):
    count = len(items)
    start = max(count - size, 0)
    end = count + 1
{FILLER}
    for place in range(start, end, block):
        if place > 2:
            index = place // block
            use(index, mask=place < end)
"""
ADDED = "            index = place // block\n"


def told_of(base: str, ours: str, upstream: str) -> tuple[AuditFinding, ...]:
    files = ({"m.py": text.encode()} for text in (base, ours, upstream))
    return found([changed_meaning], *files)


def patched(line: str) -> str:
    return BASE.replace(ADDED, f"{ADDED}            {line}\n")


CASES = {
    "computes with it": ("index = index + end", ("count + 1", "count + right + 1"), "`end`"),
    "a minimum of it": ("index = min(index, end)", ("count + 1", "count"), "`end`"),
    "default": ("check(limit > index)", ("limit=8", "limit=16"), "now `16` (it was `8`)"),
    "condition": ("check(index)", ("place > 2", "place > 3"), "`place > 3`"),
    "loop": ("check(index)", ("end, block)", "end, 2 * block)"), "`range(start, end, 2 * block)`"),
}


@table(("line", "change", "said"), CASES)
def test_what_was_redefined_is_told(line: str, change: tuple[str, str], said: str) -> None:
    old, new = change
    assert old in BASE
    told = told_of(BASE, patched(line), BASE.replace(old, new))
    assert any(said in finding.text for finding in told)
    assert not any(finding.is_certain for finding in told)
    assert {patched(line).splitlines()[finding.line - 1].strip() for finding in told} == {line}


def test_a_byte_order_mark_hides_no_function() -> None:
    ours, theirs = patched("check(limit > index)"), BASE.replace("limit=8", "limit=16")
    (finding,) = told_of(*(f"\ufeff{text}" for text in (BASE, ours, theirs)))
    assert "now `16` (it was `8`)" in finding.text


QUIET = {
    "comment": ("check(index + end)", ("    end = count + 1", "    end = count + 1  # one more")),
    "layout": ("check(index + end)", ("count + 1", "(count +\n        1)")),
    "annotation": ("check(index + end)", ("end = count", "end: int = count")),
    "renamed": ("check(index + end)", ("count", "number")),
    "another name": ("check(index)", ("    end = count + 1\n", "    end = count + 1\n    x = 1\n")),
    "handed on": ("check(end)", ("end = count + 1", "end = count + 2")),
    "redefined before": ("end = 3; check(index + end)", ("    log(3)\n", "    log(end)\n")),
    "a default more": ("check(limit > index)", ("block, limit", "block=4, limit")),
    "another function": (
        "check(index + end)",
        ("def window", "def other(end=1): ...\n\n\ndef window"),
    ),
}


@table(("line", "change"), QUIET)
def test_what_is_the_same_for_the_patch_is_not_told(line: str, change: tuple[str, str]) -> None:
    old, new = change
    assert old in BASE
    assert not told_of(BASE, patched(line), BASE.replace(old, new))


TALLY = f"""\
def tally(items, skip, is_dry):
    is_full = len(items) > 3
{FILLER}
    for item in items:
        size = item.size
{FILLER.replace("    log", "        log")}
        if item is not None and size:
            use(item)
        elif not is_dry:
            keep(item)
        else:
            drop(item)
    if is_full:
        done(items)
    return items
"""
HEAD = "        size = item.size\n"
LEFT = {
    "a condition that is part of this one": ("if not size:\n            continue", None),
    "an `or` with this one": ("if skip or is_dry:\n            continue", "drop(item)"),
    "the contrary of the one above": ("if not is_dry:\n            return", "keep(item)"),
    "an `and` of what holds here": (
        "if item is not None and size:\n            raise E",
        "use(item)",
    ),
    "what does not hold here": ("if is_dry:\n            continue", None),
    "more than holds here": ("if is_dry and skip:\n            continue", None),
    "no way out": ("if is_dry:\n            log(0)", None),
}


@table("case", list(LEFT))
def test_a_line_that_upstream_leaves_out_is_told(case: str) -> None:
    added, dead = LEFT[case]
    upstream = TALLY.replace(HEAD, f"{HEAD}        {added}\n")
    for line in ("use(item)", "keep(item)", "drop(item)"):
        if case == "what does not hold here" and line == "drop(item)":
            continue
        ours = TALLY.replace(f"            {line}\n", f"            {line}\n            more(0)\n")
        told = told_of(TALLY, ours, upstream)
        assert ["only reached if" in finding.text for finding in told] == [True] * (line == dead)


@table(
    ("now", "guard", "is_told"),
    [
        ("is_small = len(items) <= 3", "not is_small", False),
        ("is_small = not len(items) > 3", "is_small", True),
        ("is_full = not len(items) > 3", "is_full", True),
        ("is_full = len(items) > 3", "is_full", False),
        ("is_large = len(items) > 3", "is_large", False),
        ("is_full = len(items) > 3 or skip", "is_full", False),
    ],
)
def test_a_condition_that_was_turned_round_is_told(now: str, guard: str, is_told: bool) -> None:
    ours = TALLY.replace("        done(items)\n", "        done(items)\n        more(0)\n")
    upstream = TALLY.replace("is_full = len(items) > 3", now).replace("if is_full:", f"if {guard}:")
    told = told_of(TALLY, ours, upstream)
    assert ["the condition around" in finding.text for finding in told] == [True] * is_told


STATEMENTS = {
    "with": ("with open(name) as end:\n        pass", "with open(other) as end:\n        pass"),
    "while": ("end = 0\n    while end < 3:\n        end += step",
        "end = 0\n    while end < 3:\n        end += 2"),
    "try": ("try:\n        end = size\n    except E as f:\n        end = 0",
        "try:\n        end = size\n    except E as f:\n        end = 1"),
    "match": ("match size:\n        case [end, *rest]:\n            pass",
        "match size:\n        case {'a': end}:\n            pass"),
    "tuple": ("end, rest = size", "rest, end = size"),
    "attribute": ("end = self.size = size", "end = self.size = size + 1"),
    "part": ("end = [0]\n    end[0] = 1", "end = [0]\n    end[0] = 2"),
    "walrus": ("log(end := size)", "log(end := size + 1)"),
    "inner function": ("end = size\n    def inner():\n        return 1",
        "end = size + 1\n    def inner():\n        return 1"),
    "leaves the loop": ("for end in size:\n        break", "for end in sizes:\n        break"),
}  # fmt: skip


@table(("old", "new"), STATEMENTS)
def test_every_kind_of_definition_is_followed(old: str, new: str) -> None:
    head = "class C:\n    async def f(self, size, sizes, step, other, name):\n"
    fill = "        log()\n" * 6 + "        mark(7)\n"

    def made(body: str, line: str = "") -> str:
        body = body.replace("\n", "\n    ")
        return f"{head}        {body}\n{fill}{line}        return 1\n"

    told = told_of(made(old), made(old, "        check(end + 1)\n"), made(new))
    assert [finding.symbol for finding in told] == ["end"]


@table(
    "broken",
    {
        "syntax": "def f(:\n",
        "brackets": "def f(a):\n" + "    (" * 300,
        "deep": "def f(a):\n    x = a" + "".join(f"[{'-' * 9000}1]"),
    },
)
def test_a_text_that_cannot_be_read_is_left_alone(broken: str) -> None:
    lines = [f"    l{n} = 1\n" for n in range(9)]
    base = broken + "\n" + "".join(lines)
    ours, theirs = base + "    y = 2\n", base.replace("l0 = 1", "l0 = 2")
    assert not told_of(base, ours, theirs)


def test_a_way_out_that_a_person_writes_once_more_is_no_finding() -> None:
    out = "        if item.done:\n            return\n"
    texts = (TALLY, TALLY.replace(HEAD, f"{HEAD}{out}"), TALLY.replace("> 3", "> 4"))
    base, ours, upstream = ({"m.py": text.encode()} for text in texts)
    blobs = MemoryBlobs()
    _, states = audited(base, ours, upstream, blobs=blobs)
    twice = texts[2].replace(HEAD, f"{out}{HEAD}").replace("    if is_full", f"{out}    if is_full")
    merged = replace(states.merged, tree=Upstream(blobs, {"m.py": twice.encode()}))
    assert run_checks(replace(states, merged=merged), [changed_meaning]) == ()
