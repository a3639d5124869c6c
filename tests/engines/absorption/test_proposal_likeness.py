"""What upstream has in other words, in text, Python and C++; each with what is something else."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from patchmgr.engines.absorption.proposal import Comparison, Likeness, find_likeness
from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.engines.series.placement import split_lines
from tests.engines.series import hunks_between
from tests.tables import table


@dataclass(frozen=True)
class Form:
    """A language: the file's name, and a function as head, lines and foot."""

    path: str
    head: str
    indent: str
    foot: str

    def file(self, **bodies: str) -> bytes:
        """Return a file with a function a keyword; lines are given with the language's indent."""
        blocks = []
        for name, body in bodies.items():
            lines = (f"{self.indent}{line}" if line else "" for line in body.split("\n"))
            blocks.append("\n".join((self.head.format(name=name), *lines)) + "\n" + self.foot)
        return "\n".join(blocks).encode()


TEXT = Form("a.txt", "Chapter {name}\n--------", "", "")
PYTHON = Form("a.py", "def {name}(plant, floor):", "    ", "")
CXX = Form("a.cc", "int {name}(Plant& plant, int floor) {{", "  ", "}\n")


def likeness(
    form: Form, base: bytes, theirs: bytes, ours: bytes, *, is_clean: bool
) -> Likeness | None:
    (hunk,) = hunks_between(base, theirs)
    comparison = Comparison(form.path, base, ours)
    return find_likeness(comparison, hunk, hunk.old_start - 1, is_clean=is_clean)


def passage(ours: bytes, found: Likeness | None) -> str:
    assert found is not None
    return b"".join(split_lines(ours)[found.start : found.end]).decode()


STEPS = {
    TEXT: "Open the valve.\nWait for the gauge.\nClose the valve.\nWrite the report.",
    PYTHON: "plant.open('valve')\nplant.wait('gauge')\nplant.close('valve')\nreturn plant.report()",
    CXX: "plant.open(valve);\nplant.wait(gauge);\nplant.close(valve);\nreturn plant.report();",
}
MINE = {
    TEXT: "The basin must drain through sieve nine.\nWhere the basin overflows, ring bell forty.",
    PYTHON: "basin = plant.drain('sieve', 9)\nif basin > 40: plant.ring(basin, 'bell')",
    CXX: "int basin = drain(plant, sieve, 9);\nif (basin > 40) ring(bell, basin);",
}
RENAMED = {
    TEXT: "The trough must drain through sieve nine.\nWhere the trough overflows, ring bell forty.",
    PYTHON: "trough = plant.drain('sieve', 9)\nif trough > 40: plant.ring(trough, 'bell')",
    CXX: "int trough = drain(plant, sieve, 9);\nif (trough > 40) ring(bell, trough);",
}
OTHER = {
    TEXT: "The ladle must cool in the cellar.\nWhere it cracks, call the smith.",
    PYTHON: "ladle = plant.cool('cellar', 3)\nif ladle < 7: plant.call(ladle, 'smith')",
    CXX: "int ladle = cool(plant, cellar, 3);\nif (ladle < 7) call(smith, ladle);",
}
FORMS = pytest.mark.parametrize("form", [TEXT, PYTHON, CXX], ids=["text", "python", "cxx"])


def lines_of(form: Form, *, first: str = "", second: str = "") -> bytes:
    """Return a file with lines put before and behind the third step of a function."""
    steps = STEPS[form].split("\n")
    body = [*steps[:2], *first.split("\n"), steps[2], *second.split("\n"), steps[3]]
    return form.file(warm_up=STEPS[form], run=STEPS[form] + "\n" + "\n".join(filter(None, body)))


@FORMS
def test_the_same_with_another_variable_is_likely_where_it_collides(form: Form) -> None:
    base, theirs = lines_of(form), lines_of(form, first=MINE[form])
    ours = lines_of(form, first=RENAMED[form])
    found = likeness(form, base, theirs, ours, is_clean=False)
    assert found is not None and found.confidence >= 0.7
    assert all(line in passage(ours, found) for line in RENAMED[form].split("\n"))


@FORMS
def test_something_else_at_the_same_place_is_not(form: Form) -> None:
    base, theirs = lines_of(form), lines_of(form, first=MINE[form])
    ours = lines_of(form, first=OTHER[form])
    assert likeness(form, base, theirs, ours, is_clean=False) is None


@FORMS
@pytest.mark.parametrize("again", [MINE, RENAMED], ids=["same", "renamed"])
def test_what_is_said_again_beside_a_clean_hunk_is_likely(
    form: Form, again: dict[Form, str]
) -> None:
    base, theirs = lines_of(form), lines_of(form, first=MINE[form])
    ours = lines_of(form, second=again[form])
    found = likeness(form, base, theirs, ours, is_clean=True)
    if form is TEXT and again is RENAMED:
        assert found is not None  # a word of prose is no variable, but nearly all is the same
    assert all(line in passage(ours, found) for line in again[form].split("\n"))


@FORMS
@pytest.mark.parametrize("other", [OTHER, STEPS], ids=["other", "steps"])
def test_something_else_beside_a_clean_hunk_is_not(form: Form, other: dict[Form, str]) -> None:
    base, theirs = lines_of(form), lines_of(form, first=MINE[form])
    ours = lines_of(form, second=other[form])
    assert likeness(form, base, theirs, ours, is_clean=True) is None


@FORMS
def test_the_same_in_another_function_only_is_not(form: Form) -> None:
    base, theirs = lines_of(form), lines_of(form, second=MINE[form])
    put = MINE[form].replace("\n", f"\n{form.indent}")
    ours = base.replace(
        STEPS[form].split("\n")[3].encode() + b"\n",
        f"{put}\n{form.indent}{STEPS[form].split(chr(10))[3]}\n".encode(),
        1,
    )
    assert likeness(form, base, theirs, ours, is_clean=True) is None


@FORMS
@pytest.mark.parametrize("is_clean", [True, False], ids=["clean", "conflict"])
def test_symbols_are_not_read_for_words_that_upstream_lacks(
    form: Form, is_clean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, theirs = lines_of(form), lines_of(form, first=MINE[form])
    ours = lines_of(form, first=OTHER[form], second=OTHER[form])
    monkeypatch.delattr(SymbolIndex, "at")
    assert likeness(form, base, theirs, ours, is_clean=is_clean) is None


@FORMS
def test_a_hunk_that_only_removes_asks_nothing(form: Form) -> None:
    base, theirs = lines_of(form, first=MINE[form]), lines_of(form)
    ours = lines_of(form, first=RENAMED[form])
    assert likeness(form, base, theirs, ours, is_clean=False) is None


LOADER = """\
for name, weight in weights:
    if is_missing(name):
        continue

    param = params[name]
    load(param, weight)"""
GUARD = """\
    # KV scales are loaded below.
    if name.endswith(".kv_scale") and name not in params:
        continue"""
REMAPPED = """\
    name = remap_kv_scale_name(name, params)
    if name is None:
        continue"""


def loader(before: str = "", after: str = "", extra: str = "") -> bytes:
    head, tail = LOADER.split("\n\n")
    first, test, way = head.split("\n")
    body = "\n".join(part for part in (first, before, test, way, extra, after) if part)
    return PYTHON.file(load_weights=f"{body}\n\n{tail}")


def test_a_second_guard_is_likely_though_it_merges() -> None:
    base, theirs, ours = loader(), loader(after=GUARD), loader(before=REMAPPED)
    found = likeness(PYTHON, base, theirs, ours, is_clean=True)
    assert passage(ours, found) == "".join(f"    {line}\n" for line in REMAPPED.split("\n"))


@table(
    "upstream",
    {
        "no-word-in-common": "    if is_old(name):\n        continue",
        "another-constant": '    if name.endswith(".q_scale"):\n        continue',
        "another-way-out": (
            "    name = remap_kv_scale_name(name, params)\n    if name is None:\n        return"
        ),
        "another-suite": (
            "    for kv_scale in name:\n        if name is None:\n            continue"
        ),
        "no-guard": "    name = remap_kv_scale_name(name, params)",
    },
)
def test_another_guard_beside_ours_is_not(upstream: str) -> None:
    base, theirs, ours = loader(), loader(after=GUARD), loader(before=upstream)
    assert likeness(PYTHON, base, theirs, ours, is_clean=True) is None


def test_the_more_alike_of_two_guards_is_shown() -> None:
    weaker = "    if skips_scales(name):\n        continue"
    for before in (f"{weaker}\n{REMAPPED}", f"{REMAPPED}\n{weaker}"):
        base, theirs, ours = loader(), loader(after=GUARD), loader(before=before)
        found = likeness(PYTHON, base, theirs, ours, is_clean=True)
        assert "remap_kv_scale_name" in passage(ours, found)


def test_what_upstream_put_into_another_function_is_no_second_guard() -> None:
    base, theirs = loader(), loader(after=GUARD)
    elsewhere = PYTHON.file(other=REMAPPED.replace("    ", "").replace("continue", "    return"))
    ours = elsewhere + loader()
    assert likeness(PYTHON, base, theirs, ours, is_clean=True) is None
    found = likeness(PYTHON, base, theirs, elsewhere + loader(before=REMAPPED), is_clean=True)
    assert found is not None and found.start > len(elsewhere.splitlines())


def test_a_guard_in_cxx_is_found_too() -> None:
    def file(before: str = "", after: str = "") -> bytes:
        lines = (before, "if (is_missing(name)) {\n  return;\n}", after, "load(params[name]);")
        return CXX.file(load=STEPS[CXX] + "\n" + "\n".join(line for line in lines if line))

    mine = 'if (ends_with(name, "kv_scale") && !params.count(name)) {\n  return;\n}'
    theirs = "name = remap_kv_scale(name, params);\nif (name.empty()) {\n  return;\n}"
    found = likeness(CXX, file(), file(after=mine), file(before=theirs), is_clean=True)
    assert "remap_kv_scale" in passage(file(before=theirs), found)


POOL = """\
def evict(self, block):
    if self.cache.pop(block.hash, block.number) is None:
        # not in the cache
        return False

    block.reset_hash()

    self.events.append(Removed(block.hash, medium=GPU, group=self.group))
    return True
"""
POOL_MINE = POOL.replace(
    "        return False\n", "        block.reset_hash()\n        return False\n"
)
POOL_THEIRS = """\
def remove_hashes(self, block):
    removed = []
    if self.cache.pop(block.hash, block.number) is not None:
        removed.append(block.hash)
    block.reset_hash()
    return removed


def emit(self, hashes):
    for hash in hashes:
        self.events.append(Removed(hash, medium=GPU, group=self.group))


def evict(self, block):
    removed = remove_hashes(self, block)
    if not removed:
        return False
    emit(self, removed)
    return True
"""


def test_a_place_that_moved_into_a_new_function_is_followed() -> None:
    base, theirs, ours = (text.encode() for text in (POOL, POOL_MINE, POOL_THEIRS))
    found = likeness(PYTHON, base, theirs, ours, is_clean=False)
    assert "block.reset_hash()" in passage(ours, found)


@table(
    "ours",
    {
        "not-called": POOL_THEIRS.replace("= remove_hashes(", "= drop_hashes("),
        "without-ours": POOL_THEIRS.replace("    block.reset_hash()\n", ""),
        "without-the-surroundings": (
            "def forget(self, block):\n    block.reset_hash()\n\n\n"
            "def evict(self, block):\n    forget(self, block)\n    return True\n"
        ),
        "no-new-function": (
            POOL.replace(
                "    if self.cache.pop(block.hash, block.number) is None:\n", "    if x:\n"
            )
        ),
    },
)
def test_another_function_is_not_followed(ours: str) -> None:
    base, theirs = POOL.encode(), POOL_MINE.encode()
    assert likeness(PYTHON, base, theirs, ours.encode(), is_clean=False) is None


def test_surroundings_that_say_nothing_prove_nothing() -> None:
    base = b"def f(x):\n    y = x\n    return y\n"
    theirs = b"def f(x):\n    y = x\n    x.go()\n    return y\n"
    ours = b"def g(x):\n    x.go()\n    y = x\n    return y\n\n\ndef f(x):\n    return g(x)\n"
    assert likeness(PYTHON, base, theirs, ours, is_clean=False) is None


def test_imports_and_trifles_ask_nothing() -> None:
    base = PYTHON.file(run=STEPS[PYTHON])
    for line in ("import deepest_of_all_caves", "", "x"):
        theirs = base.replace(b"    plant.wait", f"    {line}\n    plant.wait".encode())
        ours = base.replace(b"    plant.close", f"    {line}\n    plant.close".encode())
        assert likeness(PYTHON, base, theirs, ours, is_clean=True) is None
        assert likeness(PYTHON, base, theirs, ours, is_clean=False) is None


def test_words_that_the_file_has_everywhere_say_nothing() -> None:
    known = "\n".join(f"plant.drain(plant, {n}, floor)" for n in range(9))
    base = PYTHON.file(run=known, stop=known, wait=known)
    more = b"    plant.drain(plant, 3, floor) or plant.drain(plant, 4, floor)\n"
    theirs = base.replace(b"    plant.drain(plant, 3,", more + b"    plant.drain(plant, 3,", 1)
    ours = base.replace(b"    plant.drain(plant, 5,", more + b"    plant.drain(plant, 5,", 1)
    assert likeness(PYTHON, base, theirs, ours, is_clean=True) is None


def test_the_same_words_in_another_order_are_no_proof_for_a_clean_hunk() -> None:
    base = lines_of(PYTHON)
    mine = "a1 = alpha(beta)\nb1 = gamma(delta)\nc1 = epsilon(zeta)\nd1 = eta(theta)"
    theirs = lines_of(PYTHON, first=mine)
    ours = lines_of(PYTHON, second="\n".join(mine.split("\n")[::-1]))
    assert likeness(PYTHON, base, theirs, ours, is_clean=True) is None


def test_of_equal_texts_the_nearest_is_shown() -> None:
    steps = "\n".join(f"plant.step_{n}('pause')" for n in range(30))
    line = "plant.flush('boiler', pressure=9)"

    def file(*at: int) -> bytes:
        lines = steps.split("\n")
        for place in sorted(at, reverse=True):
            lines.insert(place, line)
        return PYTHON.file(run="\n".join(lines))

    ours = file(2, 14, 28)
    found = likeness(PYTHON, file(), file(16), ours, is_clean=False)
    assert found is not None
    assert (found.start, found.end) == (16, 17)


def test_a_passage_begins_with_the_bracket_that_it_stands_in() -> None:
    base = lines_of(PYTHON)
    theirs = lines_of(PYTHON, first="plant.stop_all = plant.flush or plant.boiler_pressure > 9")
    ours = lines_of(
        PYTHON,
        first="leave(\n    plant.stop_all\n    or plant.flush\n    or plant.boiler_pressure > 9\n)",
    )
    found = likeness(PYTHON, base, theirs, ours, is_clean=False)
    assert passage(ours, found).startswith("    leave(\n        plant.stop_all\n")


def test_a_hunk_inside_of_what_upstream_rewrote_is_placed_at_its_start() -> None:
    base = lines_of(PYTHON)
    theirs = base.replace(
        b"plant.wait('gauge')\n    plant.close", b"plant.hold(7)\n    plant.close"
    )
    assert theirs != base
    comparison = Comparison("a.py", base, base.replace(b"plant.", b"mill."))
    assert comparison.in_ours(2) == 1
    assert comparison.in_ours(1) == 1


BELL = (
    "if plant.basin and plant.level > 40:\n    bell = Bell(kind='overflow', floor=floor)\n"
    "    plant.ring(bell, 'basin')"
)
WORDINGS: dict[str, tuple[str, str, bool]] = {
    "more-conditions": ("plant.level > 40", "plant.level > 40 and state.is_on", True),
    "a-longer-path": ("floor=floor", "floor=plant.here(floor)", True),
    "another-name": ("bell", "gong", False),
    "another-number": ("40", "41", False),
    "turned-round": ("plant.basin and", "not plant.basin and", False),
    "another-comparison": ("plant.level > 40", "plant.level < 40", False),
    "another-string": ("'overflow'", "' overflow'", False),
    "a-word-less": ("plant.basin and ", "", False),
    "much-more": (
        "kind=",
        "".join(f"place{n}=plant.at({n}), " for n in range(12)) + "kind=",
        False,
    ),
}


def inside(form: Form, *lines: str) -> bytes:
    """Return a file with lines put behind the second step of its function."""
    steps = STEPS[form].split("\n")
    return form.file(run="\n".join([*steps[:2], *lines, *steps[2:]]))


@table(("old", "new", "is_whole"), WORDINGS.values(), ids=WORDINGS)
def test_a_later_wording_has_each_word_in_its_order(old: str, new: str, is_whole: bool) -> None:
    base, theirs = inside(PYTHON), inside(PYTHON, BELL)
    ours = inside(PYTHON, BELL.replace(old, new), "plant.note(floor)")
    found = likeness(PYTHON, base, theirs, ours, is_clean=False)
    assert (found is not None and found.is_whole) is is_whole


def test_what_is_carried_cleanly_is_never_whole() -> None:
    theirs = inside(PYTHON, BELL)
    found = likeness(PYTHON, inside(PYTHON), theirs, theirs, is_clean=True)
    assert found is not None and not found.is_whole


def test_words_of_a_text_are_never_whole() -> None:
    lines = [f"Ring the bell of basin {n} where the gauge is above mark {n}{n}." for n in range(3)]
    ours = inside(TEXT, *lines, "And more.")
    found = likeness(TEXT, inside(TEXT), inside(TEXT, *lines), ours, is_clean=False)
    assert found is not None and not found.is_whole
