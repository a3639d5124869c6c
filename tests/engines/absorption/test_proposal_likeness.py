"""What upstream has in other words, in text, Python and C++; each with what is something else."""

from dataclasses import dataclass

import pytest

from patchmgr.engines.absorption.proposal import Comparison
from patchmgr.engines.languages.symbols import SymbolIndex
from patchmgr.model.outcome import Resemblance
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
) -> Resemblance | None:
    (hunk,) = hunks_between(base, theirs)
    comparison = Comparison(form.path, base, ours)
    return comparison.find_resemblance(hunk, hunk.old_start - 1, is_clean=is_clean)


def passage(found: Resemblance | None) -> str:
    assert found is not None
    return found.upstream.decode()


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
    assert all(line in passage(found) for line in RENAMED[form].split("\n"))


@FORMS
@pytest.mark.parametrize("again", [MINE, RENAMED], ids=["same", "renamed"])
def test_what_is_said_again_near_a_clean_hunk_is_likely(form: Form, again: dict[Form, str]) -> None:
    base, theirs = lines_of(form), lines_of(form, first=MINE[form])
    ours = lines_of(form, second=again[form])
    found = likeness(form, base, theirs, ours, is_clean=True)
    if form is TEXT and again is RENAMED:
        assert found is not None  # a word of prose is no variable, but nearly all is the same
    assert all(line in passage(found) for line in again[form].split("\n"))


@FORMS
@pytest.mark.parametrize(
    ("first", "second", "is_clean"),
    [(OTHER, {}, False), ({}, OTHER, True), ({}, STEPS, True)],
    ids=["other-in-its-place", "other-beside", "steps-beside"],
)
def test_something_else_is_not(
    form: Form, first: dict[Form, str], second: dict[Form, str], is_clean: bool
) -> None:
    base, theirs = lines_of(form), lines_of(form, first=MINE[form])
    ours = lines_of(form, first=first.get(form, ""), second=second.get(form, ""))
    assert likeness(form, base, theirs, ours, is_clean=is_clean) is None


@FORMS
def test_the_same_in_another_function_only_is_not(form: Form) -> None:
    base, theirs = lines_of(form), lines_of(form, second=MINE[form])
    put = MINE[form].replace("\n", f"\n{form.indent}")
    last = STEPS[form].split("\n")[3]
    ours = base.replace(f"{last}\n".encode(), f"{put}\n{form.indent}{last}\n".encode(), 1)
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
    assert (found.line, passage(found).strip()) == (17, line)


def test_a_passage_begins_with_the_bracket_that_it_stands_in() -> None:
    base = lines_of(PYTHON)
    theirs = lines_of(PYTHON, first="plant.stop_all = plant.flush or plant.boiler_pressure > 9")
    ours = lines_of(
        PYTHON,
        first="leave(\n    plant.stop_all\n    or plant.flush\n    or plant.boiler_pressure > 9\n)",
    )
    found = likeness(PYTHON, base, theirs, ours, is_clean=False)
    assert passage(found).startswith("    leave(\n        plant.stop_all\n")


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
    assert "block.reset_hash()" in passage(found)


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
