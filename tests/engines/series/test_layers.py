"""Patches as layers, applied to other states."""

from patchmgr.engines.series.layers import (
    Collision,
    Ground,
    fold_states,
    is_exact,
    lay_all,
    layers_of,
    sharers,
)
from patchmgr.model.snapshot import Entry
from tests.engines.ports import MemoryBlobs, MemoryTree, PlainMerge
from tests.engines.series import Files, difference, entry_of, executable, link, shown
from tests.tables import table

LINES = "".join(f"{letter}\n" for letter in "abcdefghij").encode()
PIN: Files = {"f": LINES, "other": LINES}


def changed(**lines: str) -> bytes:
    """Return the ten lines with some of them changed."""
    return b"".join(
        lines.get(x.decode().strip(), x.decode()).encode() for x in LINES.splitlines(True)
    )


def ground() -> Ground:
    blobs = MemoryBlobs()
    return Ground(MemoryTree(blobs, {p: shown(f) for p, f in PIN.items()}), blobs, PlainMerge())


STATES: dict[str, tuple[Files, ...]] = {
    "apart": ({**PIN, "f": changed(a="A\n")}, {**PIN, "f": changed(a="A\n", j="J\n")}),
    "files": ({**PIN, "new": b"1\n"}, {**PIN, "new": b"1\n", "other": b"x\n"}),
    "mode": ({**PIN, "f": changed(j="J\n")}, {**PIN, "f": executable(changed(j="J\n"))}),
    "same": ({**PIN, "f": changed(a="A\n")}, {**PIN, "f": changed(a="B\n")}),
    "made": ({**PIN, "new": b"1\n"}, {**PIN, "new": b"2\n"}),
    "gone": ({**PIN, "f": changed(a="A\n")}, {"other": LINES}),
    "link": ({**PIN, "f": link(b"x")}, {**PIN, "f": link(b"y")}),
    "above": ({"other": LINES}, {"other": LINES, "f/g": b"1\n"}),
}


@table(
    ("key", "reason"),
    [
        ("apart", None),
        ("files", None),
        ("mode", None),
        ("same", "both change the same lines of the file"),
        ("made", "both change the same lines of the file"),
        ("gone", "both change the same lines of the file"),
        ("link", "both change the same lines of the file"),
        ("above", "f is in the way"),
    ],
)
def test_two_layers_swap_places_or_conflict(key: str, reason: str | None) -> None:
    place = ground()
    first, second = STATES[key]
    patches = (difference("one", PIN, first), difference("two", first, second))
    states = fold_states(place, patches, {})
    layers = layers_of(place, ("one", "two"), states)
    found = lay_all(place, layers[::-1], {})
    if reason is not None:
        assert isinstance(found, Collision)
        assert (found.name, found.reason) == ("two", reason)
        return
    assert not isinstance(found, Collision)
    assert place.is_same(found[-1], states[-1])
    assert lay_all(place, layers, {}) == states


def test_a_change_that_is_already_applied_is_no_conflict() -> None:
    place = ground()
    assert isinstance(place.blobs, MemoryBlobs)
    state = {"f": entry_of(place.blobs, changed(a="A\n"))}
    layer = place.between("one", {}, state)
    assert lay_all(place, [layer, layer], {}) == ({}, state, state)


def test_an_exact_patch_turns_one_state_into_the_other() -> None:
    place = ground()
    patch = difference("one", PIN, {**PIN, "f": changed(a="A\n")})
    states = fold_states(place, (patch,), {})
    assert is_exact(place, patch, {}, states[1])
    assert not is_exact(place, patch, {}, {})
    assert not is_exact(place, patch, states[1], states[1])


def test_layers_that_share_a_path_are_found() -> None:
    place = ground()
    states: list[dict[str, Entry | None]] = [{}, {"f": None}, {"f": None, "other": None}]
    layers = layers_of(place, ("one", "two"), states)
    assert sharers(layers, "f", but="two") == ("one",)
    assert sharers(layers, "f", but="one") == ()
