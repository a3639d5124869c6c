"""The dependencies between patches; patches that do not depend on each other can swap places."""

from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines.series.layers import (
    Collision,
    Ground,
    Layer,
    State,
    dependencies,
    lay_all,
    layers_of,
)
from patchmgr.model.series import Need
from tests.engines.ports import MemoryBlobs, MemoryTree, PlainMerge
from tests.engines.series import Files, entry_of, shown
from tests.tables import table

LINES = b"".join(b"%d\n" % n for n in range(12))
PIN: Files = {"a.py": LINES, "b.py": LINES, "c.cc": LINES}


def at(line: int, new: bytes, content: bytes = LINES) -> bytes:
    """Return a text with one of its lines replaced."""
    lines = content.splitlines(True)
    lines[line] = new
    return b"".join(lines)


def laid(states: list[Files]) -> tuple[Ground, tuple[Layer, ...], list[State]]:
    """Return the layers p1, p2, ... between consecutive states, of which the first is the pin."""
    blobs = MemoryBlobs()
    ground = Ground(MemoryTree(blobs, {p: shown(f) for p, f in PIN.items()}), blobs, PlainMerge())
    known: list[State] = [
        {
            p: entry_of(blobs, f) if (f := files.get(p)) is not None else None
            for p in {**PIN, **files}
        }
        for files in states
    ]
    return ground, layers_of(ground, [f"p{n}" for n in range(1, len(states))], known), known


@table(
    ("states", "expected"),
    {
        "other files": ([{"a.py": at(1, b"x\n")}, {"b.py": at(1, b"y\n")}], {}),
        "apart in a file": (
            [{"a.py": at(1, b"x\n")}, {"a.py": at(9, b"y\n", at(1, b"x\n"))}], {}
        ),
        "the same line": (
            [{"a.py": at(1, b"x\n")}, {"a.py": at(1, b"y\n")}], {"p2": (Need("p1", "a.py"),)}
        ),
        "a new file": (
            [{"d.py": b"x = 1\n"}, {"d.py": b"x = 2\n"}], {"p2": (Need("p1", "d.py"),)}
        ),
        "a name": (
            [{"a.py": at(1, b"def made_it(): pass\n")}, {"b.py": at(1, b"made_it()\n")}],
            {"p2": (Need("p1", symbol="made_it"),)},
        ),
        "a name in another language": (
            [{"a.py": at(1, b"def made_it(): pass\n")}, {"c.cc": at(1, b"made_it();\n")}], {}
        ),
        "a word that many methods have": (
            [{"a.py": at(1, b"    def make_it(self): pass\n")}, {"b.py": at(1, b"make_it()\n")}], {}
        ),
        "a name that was there": (
            [{"a.py": at(1, b"def made_it(): pass\n")},
             {"a.py": at(1, b"def made_it(): return\n")},
             {"b.py": at(1, b"made_it()\n")}],
            {"p2": (Need("p1", "a.py"),), "p3": (Need("p1", symbol="made_it"),)},
        ),
        "what another one needs is not said again": (
            [{"a.py": at(1, b"x\n")}, {"a.py": at(1, b"y\n")}, {"a.py": at(1, b"z\n")}],
            {"p2": (Need("p1", "a.py"),), "p3": (Need("p2", "a.py"),)},
        ),
    },
)  # fmt: skip
def test_dependencies_are_found(states: list[Files], expected: dict[str, tuple[Need, ...]]) -> None:
    whole = [PIN]
    for changes in states:
        whole.append({**whole[-1], **changes})
    ground, layers, known = laid(whole)
    found = dependencies(ground, layers, known)
    assert {name: needs for name, needs in found.items() if needs} == expected
    assert list(found) == [layer.name for layer in layers]


CHANGES = st.lists(
    st.tuples(st.sampled_from(["a.py", "b.py"]), st.integers(0, 11), st.sampled_from("xyz")),
    min_size=2,
    max_size=7,
)


@given(CHANGES, st.randoms(use_true_random=False))
def test_orders_that_keep_needs_agree(changes: list[tuple[str, int, str]], random: object) -> None:
    states: list[Files] = [PIN]
    for path, line, new in changes:
        before = states[-1][path]
        assert isinstance(before, bytes)
        states.append({**states[-1], path: at(line, new.encode() + b"\n", before)})
    ground, layers, known = laid(states)
    found = dependencies(ground, layers, known)
    order: list[Layer] = []
    left = list(layers)
    while left:
        there = {layer.name for layer in order}
        ready = [x for x in left if all(need.patch in there for need in found[x.name])]
        order.append(random.choice(ready))  # type: ignore[attr-defined]
        left.remove(order[-1])
    end = lay_all(ground, order, known[0])
    assert not isinstance(end, Collision)
    assert ground.is_same(end[-1], known[-1])
