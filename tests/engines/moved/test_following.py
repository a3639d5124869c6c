"""A file whose hunks belong to several places, merged there."""

from __future__ import annotations

from collections.abc import Mapping

from patchmgr.engines.moved.following import Followed, MovedInput, follow_hunks
from patchmgr.engines.rebase.ladder import Collided, Merged, Sides, merge_file
from patchmgr.engines.series.placement import Applied, apply_hunks
from patchmgr.model.snapshot import Entry
from tests.engines.moved.relocations import MemoryElsewhere
from tests.engines.ports import MemoryBlobs, PlainMerge
from tests.engines.series import File, entry_of, executable, hunks_between, link, shown
from tests.tables import table


def function(name: str, changed: Mapping[int, str] | None = None) -> bytes:
    lines = [f"    plant.turn_{name}_{n}(floor)" for n in range(12)]
    for number, line in (changed or {}).items():
        lines[number] = f"    plant.{line}(floor)"
    return "\n".join([f"def {name}(plant, floor):", *lines, "", "", ""]).encode()


F, G, H, K = (function(name) for name in "fghk")
F_OURS, G_OURS = function("f", {3: "ours"}), function("g", {3: "ours"})
BASE = F + G + H


class Played:
    """One file of a patch, against a new side."""

    def __init__(
        self,
        new: Mapping[str, File],
        *,
        old: Mapping[str, File] | None = None,
        patched: File = F_OURS + G_OURS + H,
        busy: tuple[str, ...] = (),
    ) -> None:
        blobs, text = MemoryBlobs(), PlainMerge()
        before = {"a.py": BASE, **(old or {})}
        files = {path: entry_of(blobs, file) for path, file in new.items()}
        base, theirs = entry_of(blobs, before["a.py"]), entry_of(blobs, patched)
        hunks = hunks_between(shown(before["a.py"]), shown(patched))
        applied = apply_hunks(shown(before["a.py"]), hunks)
        assert isinstance(applied, Applied)
        sides = Sides(base, files.get("a.py"), theirs, hunks, applied.positions)
        self.climbed: list[str] = []

        def climb(path: str, part: Sides) -> Merged | Collided:
            self.climbed.append(path)
            return merge_file(part, blobs=blobs, text=text)

        first = climb("a.py", sides)
        assert isinstance(first, Collided)
        self.first = first
        elsewhere = MemoryElsewhere(
            {path: shown(file) for path, file in before.items()},
            {path: shown(file) for path, file in new.items()},
        )
        side = MovedInput(elsewhere, files.get, busy, climb, blobs)
        self.found = follow_hunks("a.py", sides, first, home="a.py", side=side)
        self.blobs = blobs

    def followed(self) -> Followed:
        assert isinstance(self.found, Followed)
        return self.found

    def reason(self) -> str:
        assert isinstance(self.found, Collided)
        assert (self.found.answers, self.found.marked) == (self.first.answers, self.first.marked)
        return self.found.reason

    def answers(self) -> list[str]:
        found = self.followed()
        return [f"{v.value} {how.value if how else '-'}" for v, how in found.answers]

    def texts(self) -> dict[str, bytes]:
        return {path: self.text(entry) for path, entry in self.followed().changes.items()}

    def text(self, entry: Entry) -> bytes:
        return self.blobs.read(entry.blob)


def test_hunks_go_to_two_files() -> None:
    played = Played({"a.py": H, "b.py": K + F, "c.py": executable(G + K)})
    assert played.texts() == {"b.py": K + F_OURS, "c.py": G_OURS + K}
    assert played.answers() == ["modified moved"] * 2
    assert [place.path for place in played.followed().places.values()] == ["b.py", "c.py"]
    assert played.followed().collision is None
    assert played.followed().changes["c.py"].mode == "100755"
    assert played.climbed == ["a.py", "b.py", "c.py"]


def test_what_stays_is_merged_as_before() -> None:
    played = Played({"a.py": G + H, "b.py": K + F})
    assert played.texts() == {"a.py": G_OURS + H, "b.py": K + F_OURS}
    assert played.answers() == ["modified moved", "unchanged text"]


def test_what_upstream_has_at_the_new_home_is_absorbed() -> None:
    played = Played({"a.py": G + H, "b.py": K + F_OURS})
    assert played.answers() == ["absorbed exact", "unchanged text"]


def test_one_collision_is_at_its_new_home() -> None:
    other = function("g", {3: "theirs"})
    played = Played({"a.py": H, "b.py": K + F, "c.py": other + K})
    found = played.followed()
    assert found.collision is not None
    path, sides, collided = found.collision
    assert (path, collided.reason) == ("c.py", "upstream changed the same lines")
    assert sides.base and sides.ours and sides.theirs
    sides_texts = [played.text(entry) for entry in (sides.base, sides.ours, sides.theirs)]
    assert sides_texts == [G + K, other + K, G_OURS + K]
    assert played.texts() == {"b.py": K + F_OURS}
    assert played.answers() == ["modified moved", "conflict -"]


def test_two_collisions_are_one_of_the_old_file() -> None:
    new = {"b.py": K + function("f", {3: "x"}), "c.py": function("g", {3: "y"}) + K}
    assert Played({"a.py": H, **new}).reason() == "upstream moved these lines to b.py, c.py"


def test_a_hunk_without_home_keeps_the_file_in_conflict() -> None:
    played = Played({"b.py": K + F})
    assert played.reason() == "upstream moved these lines to b.py; upstream deleted the file with g"
    played = Played({"a.py": H, "b.py": K + F})
    assert played.followed().collision is not None
    assert played.answers() == ["modified moved", "conflict -"]
    reason = "upstream changed the same lines; upstream's a.py no longer has g"
    assert played.followed().collision[2].reason == reason  # type: ignore[index]


def test_a_deleted_symbol_is_named() -> None:
    reason = "upstream's a.py no longer has f; upstream's a.py no longer has g"
    assert Played({"a.py": H}).reason() == reason


def test_a_home_that_is_changed_as_well_is_left_alone() -> None:
    new = {"a.py": G + H, "b.py": K + F}
    reason = "upstream moved these lines to b.py, which the patch changes as well"
    assert Played(new, busy=("b.py",)).reason() == reason
    assert Played(new, busy=("a.py", "c.py")).answers()[0] == "modified moved"


@table(
    ("new", "patched", "old"),
    {
        "in-place": (function("f", {3: "x"}) + G + H, F_OURS + G + H, BASE),
        "with-a-mode": (H, executable(F_OURS + G + H), BASE),
        "a-link-upstream": (link(b"to"), F_OURS + G + H, BASE),
        "links": (link(b"x"), link(b"y"), link(b"z")),
        "binary": (b"1\0", b"2\0", b"3\0"),
    },
)
def test_what_does_not_move_stays_in_conflict(new: File, patched: File, old: File) -> None:
    played = Played({"a.py": new, "b.py": K + F}, old={"a.py": old}, patched=patched)
    assert played.found == played.first


def test_an_import_of_a_deleted_file_counts_as_moved() -> None:
    head = b"import os\n\n\n"
    patched = b"import os\nimport sys\n\n\n" + function("f", {9: "stop(sys.argv)"}).replace(
        b"plant.stop", b"stop"
    )
    played = Played({"b.py": head + F}, old={"a.py": head + F, "b.py": head}, patched=patched)
    assert set(played.answers()) == {"modified moved"}
    assert b"import sys" in played.texts()["b.py"]


def test_a_hunk_of_two_symbols_is_as_bad_as_its_worse_part() -> None:
    f, g = (b"".join(function(name).splitlines(keepends=True)[:9]) for name in "fg")
    f_ours, g_ours = f.replace(b"turn_f_7(", b"ours("), g.replace(b"turn_g_0(", b"ours(")
    told: list[list[str]] = []
    for home in (g, g_ours, g.replace(b"turn_g_0(", b"theirs(")):
        new = {"b.py": K + f, "c.py": K + home}
        played = Played(new, old={"a.py": f + g}, patched=f_ours + g_ours)
        assert played.texts()["b.py"] == K + f_ours
        told.append(played.answers())
    assert told == [["modified moved"], ["modified moved"], ["conflict -"]]
