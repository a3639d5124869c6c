"""Conditions in headers: which patches the pin and the target need."""

from collections.abc import Mapping, Sequence

import pytest
from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.rebase.rebase import Item, rebase_series
from patchmgr.engines.rebase.work import Tools, UpstreamRange
from patchmgr.engines.series.needs import (
    Views,
    check_promise,
    check_upstreams,
    has_conditions,
    missing_on,
    place_items,
)
from patchmgr.errors import PatchmgrError
from patchmgr.model.outcome import PatchOutcome
from patchmgr.model.patch import FilePatch, Patch
from patchmgr.model.predicate import State
from patchmgr.model.snapshot import blob_id
from tests.engines.ports import MemoryBlobs, MemoryTree, PlainMerge
from tests.engines.series import NOBODY, created, difference, edited, moved, patch_of, text
from tests.tables import table

BASE = text("a b c d e f g h i j k l")
FIRST = text("a B c d e f g h i j k l")
BOTH = text("a B c d e f g h i j K l")
SECOND = text("a b c d e f g h i j K l")
OTHER = text("a X c d e f g h i j k l")


class NoStates:
    def state(self, upstream: str, ref: str | None) -> State:
        raise PatchmgrError("unknown-state", f"there is no {upstream}")


def said(patch: Patch, *, needed_when: str = "", ensures: str = "") -> Patch:
    """Return the patch with conditions in its header."""
    fields = {"Needed-When": needed_when, "Ensures": ensures}
    return replace(patch, fields={name: value for name, value in fields.items() if value})


class Carried(Struct, frozen=True):
    outcomes: tuple[PatchOutcome, ...]
    files: Mapping[str, bytes]

    @property
    def verdicts(self) -> list[str]:
        return [outcome.verdict.value for outcome in self.outcomes]

    @property
    def reasons(self) -> list[str | None]:
        return [outcome.reason for outcome in self.outcomes]


Files = Mapping[str, bytes]


def views_of(blobs: MemoryBlobs, base: Files, onto: Files) -> Views:
    return Views(
        State("up", "up v1", MemoryTree(blobs, base), blobs, "1"),
        State("up", "up v2", MemoryTree(blobs, onto), blobs, "2"),
        NoStates(),
    )


def carry(
    base: Files,
    onto: Files,
    patches: Sequence[Patch],
    *,
    refused: Sequence[str] = (),
    blobs: MemoryBlobs | None = None,
    stops: bool = False,
) -> Carried:
    """Place and rebase patches."""
    blobs = blobs or MemoryBlobs()
    views = views_of(blobs, base, onto)
    tools = Tools(blobs, lambda path, content, line: None, NOBODY, text=PlainMerge())
    items = [Item(patch, "a guard" if patch.name in refused else None) for patch in patches]
    placed = place_items(items, views, blobs)
    way = UpstreamRange(views.base.tree, views.onto.tree)
    judged, changes = rebase_series(placed, way, tools, stops_at_conflict=stops)
    files = {**onto, **{p: blobs.read(e.blob) for p, e in changes.items() if e is not None}}
    gone = {path for path, entry in changes.items() if entry is None}
    kept = {path: content for path, content in files.items() if path not in gone}
    return Carried(tuple(j.outcome for j in judged), kept)


def two(first: str = "", second: str = "", *, ensures: str = "") -> list[Patch]:
    """Return two patches of one file, the second on top of the first."""
    return [
        said(difference("p1", {"f": BASE}, {"f": FIRST}), needed_when=first, ensures=ensures),
        said(difference("p2", {"f": FIRST}, {"f": BOTH}), needed_when=second),
    ]


def test_items_without_conditions_stay_the_same() -> None:
    items = tuple(Item(patch) for patch in two())
    blobs = MemoryBlobs()
    assert place_items(items, views_of(blobs, {"f": BASE}, {"f": BASE}), blobs) == items


LATER = difference("p2", {"f": BASE}, {"f": SECOND})
NEEDS = {
    "not-needed-on-the-target": ({"f": BASE, "old": b""}, {"f": BASE}, two("path old"),
        "skipped unchanged", "not needed: there is no old in up v2", {"f": SECOND}),
    "needed-on-neither-so-no-part-of-the-series": ({"f": BASE}, {"f": BASE},
        [said(difference("p1", {"f": OTHER}, {"f": FIRST}), needed_when="path never"), LATER],
        "skipped unchanged", "not needed: there is no never in up v2", {"f": SECOND}),
    "needed-on-the-target-and-the-next-knows-nothing-of-it": ({"f": BASE}, {"f": BASE, "new": b""},
        [said(difference("p1", {"f": BASE}, {"f": FIRST}), needed_when="path new"), LATER],
        "unchanged unchanged", None, {"f": BOTH, "new": b""}),
    "the-next-builds-on-what-is-left-out": ({"f": BASE, "old": b""}, {"f": BASE},
        [two("path old")[0], difference("p2", {"f": FIRST}, {"f": FIRST.replace(b"B", b"C")})],
        "skipped conflict", "not needed: there is no old in up v2", {"f": BASE}),
    "the-next-follows-a-move-that-is-left-out": ({"f": BASE, "old": b""}, {"f": BASE},
        [said(patch_of("p1", moved("f", "g", BASE, BASE)), needed_when="path old"),
         difference("p2", {"g": BASE}, {"g": SECOND})],
        "skipped modified", "not needed: there is no old in up v2", {"f": SECOND}),
}  # fmt: skip
ENSURES = {
    "upstream-ensures-it": ({"f": BASE}, {"f": OTHER}, two(ensures='pattern "^[BX]$" in f'),
        "skipped unchanged",
        'up v2 already satisfies Ensures: line 2 of f in up v2 matches "^[BX]$"',
        {"f": OTHER.replace(b"k", b"K")}),
    "a-kept-promise": ({"f": BASE}, {"f": BASE.replace(b"e", b"Z")},
        two(ensures='pattern "^B$" in f'), "modified unchanged", None,
        {"f": BOTH.replace(b"e", b"Z")}),
    "a-broken-promise": ({"f": BASE}, {"f": BASE}, two(ensures="path d/new"), "conflict unchanged",
        "does not satisfy Ensures: there is no d/new in up v2 with the patch", {"f": BOTH}),
    "a-broken-promise-of-what-landed": ({"f": BASE}, {"f": FIRST}, two(ensures="path d/new"),
        "conflict unchanged",
        "does not satisfy Ensures: there is no d/new in up v2 with the patch", {"f": BOTH}),
    "in-conflict-anyway-and-not-asked": ({"f": BASE}, {"f": OTHER}, two(ensures="path new"),
        "conflict unchanged", None, {"f": OTHER.replace(b"k", b"K")}),
}  # fmt: skip


@table(("base", "onto", "patches", "verdicts", "reason", "files"), {**NEEDS, **ENSURES})
def test_a_condition_decides_whether_a_patch_is_carried_and_gives_the_reason(
    base: Files, onto: Files, patches: list[Patch], verdicts: str, reason: str | None, files: Files
) -> None:
    done = carry(base, onto, patches)
    assert done.verdicts == verdicts.split()
    assert done.reasons[0] == reason
    assert done.files == files


def with_ids(patch: Patch, old: bytes | None) -> Patch:
    """Return the patch with the id of its old side in the index line."""
    name = None if old is None else blob_id(old)
    files = tuple(replace(change, old_id=name) for change in patch.files)
    return replace(patch, files=files)


def test_a_patch_that_does_not_fit_its_pin_is_merged_from_the_version_it_names() -> None:
    older, now = text("z b c d e f g h i j k l"), text("a b c d e f g h i j k l")
    changed = text("z b c d e f g h i j K l")
    blobs = MemoryBlobs()
    blobs.add(older)
    patch = with_ids(difference("p", {"f": older}, {"f": changed}, context=12), older)
    patch = said(patch, needed_when="path new")
    done = carry({"f": now}, {"f": now, "new": b""}, [patch], blobs=blobs)
    assert done.verdicts == ["modified"]
    assert done.files["f"] == SECOND


def test_a_file_that_a_patch_creates_may_exist_at_the_pin() -> None:
    patch = said(patch_of("p", created("n", b"ours\n")), needed_when="path new")
    there = carry({"n": b"ours\n"}, {"n": b"ours\n", "new": b""}, [patch])
    assert there.verdicts == ["absorbed"]


@table("names", {"no-id": None, "unknown-id": b"not in the store"})
def test_a_needed_patch_that_fits_no_version_is_a_conflict(names: bytes | None) -> None:
    patch = difference("p", {"f": OTHER}, {"f": FIRST})
    patch = said(with_ids(patch, names), needed_when="path new")
    other = difference("q", {"f": BASE}, {"f": SECOND})

    class Blobs(MemoryBlobs):
        def read(self, blob: str) -> bytes:
            try:
                return super().read(blob)
            except KeyError as fault:
                raise PatchmgrError("missing-object", "gone") from fault

    done = carry({"f": BASE}, {"f": BASE, "new": b""}, [patch, other], blobs=Blobs())
    assert done.verdicts == ["conflict", "unchanged"]
    assert done.reasons[0] == (
        "p does not apply: f: hunk 1 at line 1: its lines were not found; "
        "on up v1 the patch is not needed: there is no new in up v1"
    )
    stopped = carry({"f": BASE}, {"f": BASE, "new": b""}, [patch, other], blobs=Blobs(), stops=True)
    assert stopped.verdicts == ["conflict", "blocked"]


def test_a_change_without_a_mode_takes_the_mode_of_the_present_file() -> None:
    blobs = MemoryBlobs()
    blobs.add(OTHER)
    for path in ("f", "gone"):
        change = FilePatch(path, path, hunks=edited(path, OTHER, FIRST).hunks)
        patch = said(with_ids(patch_of("p", change), OTHER), needed_when="path new")
        done = carry({"f": BASE}, {"f": OTHER, "new": b""}, [patch], blobs=blobs)
        assert done.verdicts == ["unchanged" if path == "f" else "conflict"]


def test_a_guard_comes_first_and_conditions_are_not_evaluated() -> None:
    patches = two("path x of nobody")
    done = carry({"f": BASE}, {"f": BASE}, [patches[0]], refused=["p1"])
    assert done.reasons == ["a guard"]
    mixed = [patches[0], said(difference("p2", {"f": BASE}, {"f": SECOND}), needed_when="path f")]
    done = carry({"f": BASE}, {"f": BASE}, mixed, refused=["p1"])
    assert done.verdicts == ["skipped", "unchanged"]


def test_ensures_sees_folders_that_the_patch_creates_and_removes() -> None:
    patch = patch_of("p", moved("old/f", "new/f", BASE, FIRST))
    for ensures, verdict in {
        "path new and no path old": "unchanged",
        "path new/f and no path old/f": "unchanged",
        "path new and path old": "conflict",
    }.items():
        done = carry({"old/f": BASE}, {"old/f": BASE}, [said(patch, ensures=ensures)])
        assert done.verdicts == [verdict]


def test_the_pin_and_the_target_may_be_one() -> None:
    blobs = MemoryBlobs()
    views = views_of(blobs, {"f": BASE}, {})
    views = replace(views, onto=views.base)
    patches = two("path f", "path x")
    placed = place_items([Item(patch) for patch in patches], views, blobs)
    assert [item.refusal for item in placed] == [None, "not needed: there is no x in up v1"]
    assert [item.is_on_base for item in placed] == [True, False]


def test_an_error_names_the_patch() -> None:
    blobs = MemoryBlobs()
    views = views_of(blobs, {"f": BASE}, {"f": BASE})
    with pytest.raises(PatchmgrError, match=r"^patch p1: there is no nobody") as caught:
        place_items([Item(p) for p in two("path x of nobody")], views, blobs)
    assert caught.value.kind == "unknown-state"


def test_a_malformed_condition_in_any_header_is_an_error() -> None:
    assert not has_conditions(two())
    assert has_conditions(two("", "path x"))
    with pytest.raises(PatchmgrError, match=r"^patch p2 Needed-When column 1: "):
        has_conditions(two("path x", "bad"))


def test_unknown_upstreams_are_refused() -> None:
    check_upstreams(two("path x of up", ensures="path x"), {"up"})
    with pytest.raises(PatchmgrError, match=r"^patch p2 names an unknown upstream: down") as caught:
        check_upstreams(two("path x of up", "not (path x or path x of down)"), {"up"})
    assert caught.value.exit_code == 1


def test_patches_that_a_state_does_not_need_are_listed() -> None:
    blobs = MemoryBlobs()
    views = views_of(blobs, {"f": BASE}, {"f": FIRST})
    found = missing_on(two("path x", "path f"), views.onto, views.states)
    assert found == {"p1": "not needed: there is no x in up v2"}


def test_ensures_is_checked_on_a_tree() -> None:
    blobs = MemoryBlobs()
    views = views_of(blobs, {"f": BASE}, {"f": BASE})
    patch = two(ensures='pattern "B" in f')[0]
    check_promise(patch, MemoryTree(blobs, {"f": FIRST}), views)
    with pytest.raises(PatchmgrError, match=r"^patch p1 does not satisfy Ensures: no line"):
        check_promise(patch, MemoryTree(blobs, {"f": BASE}), views)


def test_all_patches_that_are_not_left_out_have_their_steps() -> None:
    blobs = MemoryBlobs()
    views = views_of(blobs, {"f": BASE}, {"f": BASE})
    placed = place_items([Item(patch) for patch in two("", "path f")], views, blobs)
    assert all(item.steps for item in placed)
