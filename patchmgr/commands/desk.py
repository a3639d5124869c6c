"""The desk of an authoring command: a series, and the checkout where some of it is pushed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from patchmgr.commands.session import Session
from patchmgr.engines.layers import Ground, State
from patchmgr.engines.picking import pick
from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.patch import Patch
from patchmgr.model.series import SeriesFile
from patchmgr.model.snapshot import GITLINK, Entry
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.applied import Content, PushedPatch, Record
from patchmgr.plumbing.checkout import Checkout
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.sides import Side
from patchmgr.plumbing.stores import Resolved
from patchmgr.plumbing.workbench import Workbench


class Asked(Struct, frozen=True):
    """Where and how an authoring command is to work: the checkout, the series, and what is let."""

    to: Path | None = None
    series: str | None = None
    select: tuple[str, ...] = ()
    is_forced: bool = False
    is_dry_run: bool = False


class Desk(Struct, frozen=True):
    """A series as a command finds it, and what of it is pushed.

    `states` are the files before the first pushed patch and behind each, as differences from
    the pin, and `head` is the commit that is checked out. `floor` is the commit that the first
    patch is written on: the pin, or the head of the series below. `hidden` tells why a patch is
    not to be pushed; one that is pushed already is not hidden. Without a checkout nothing is
    pushed.
    """

    session: Session
    record: SeriesRecord
    side: Side
    pin: Resolved
    file: SeriesFile
    patches: Mapping[str, Patch]
    hidden: Mapping[str, str]
    selected: frozenset[str]
    bench: Workbench
    ground: Ground
    checkout: Checkout | None
    head: str
    applied: Record | None
    pushed: tuple[PushedPatch, ...]
    states: tuple[State, ...]
    floor: str

    @property
    def name(self) -> str:
        """Return the name of the series."""
        return self.record.name

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the pushed patches in order."""
        return tuple(patch.name for patch in self.pushed)

    @property
    def top(self) -> str | None:
        """Return the last pushed patch."""
        return self.pushed[-1].name if self.pushed else None

    @property
    def state(self) -> State:
        """Return what the pushed patches make of the pin."""
        return self.states[-1]

    @property
    def forced(self) -> str | None:
        """Return the top patch where it was forced and not refreshed since."""
        return self.top if self.pushed and self.pushed[-1].is_forced else None

    @property
    def rejects(self) -> tuple[str, ...]:
        """Return the files with hunks of the top patch that had no place."""
        return self.applied.rejects if self.applied is not None else ()

    def series(self, names: Sequence[str]) -> tuple[Patch, ...]:
        """Return patches by their names."""
        return tuple(self.patches[name] for name in names)

    def pick(self, given: str) -> str:
        """Return the patch that a person means; raise PatchmgrError "unknown-patch"."""
        return pick(given, self.file.names(), series=self.name)

    def pick_or_top(self, given: str | None) -> str:
        """Return the patch that a person means, the top unless it is named."""
        if given is not None:
            return self.pick(given)
        if self.top is None:
            raise PatchmgrError("no-patch", f"no patch of {self.name} is pushed; name one")
        return self.top

    def position(self, name: str) -> int:
        """Return the place (from 0) of a patch among the pushed ones."""
        if name not in self.names:
            raise PatchmgrError("no-patch", f"{shown(name)} is not pushed")
        return self.names.index(name)

    def refuse_hidden(self, *names: str) -> None:
        """Raise PatchmgrError "hidden-patch" where guards or conditions keep one of them out."""
        for name in names:
            if name in self.hidden:
                message = f"{shown(name)} is hidden: {self.hidden[name]}"
                raise PatchmgrError("hidden-patch", message, ("let it in with --select SYM",))

    def unpushed(self) -> tuple[str, ...]:
        """Return the patches that are still to be pushed, without hidden ones."""
        pushed = set(self.names)
        return tuple(n for n in self.file.names() if n not in pushed and n not in self.hidden)

    def need_checkout(self) -> Checkout:
        """Return the checkout; raise PatchmgrError "usage" where there is none."""
        if self.checkout is None:
            message = "name a checkout with --to CHECKOUT, or run this in one"
            raise PatchmgrError("usage", message)
        return self.checkout

    def content(self, path: str, state: State) -> Content | None:
        """Return a file of a state."""
        entry = self.ground.entry(state, path)
        return None if entry is None else Content(entry, self.read(path, entry))

    def read(self, path: str, entry: Entry) -> bytes:
        """Return a content; a submodule has none."""
        if entry.mode == GITLINK:
            problem = f"{shown(path)} is a submodule, which is not changed in a checkout"
            raise PatchmgrError("unsupported", problem)
        return self.bench.read(entry.blob)


def diff_digest(patch: Patch) -> str:
    """Return the sha256 of what a patch does; its header is none of it."""
    return hashlib.sha256(patch.diff + (b"-R" if patch.is_reversed else b"")).hexdigest()


def check_pin(desk: Desk, state: State) -> None:
    """Refuse a checkout whose commit has other files than the pin where patches touch them."""
    checkout = desk.need_checkout()
    head = desk.bench.tree(desk.head)
    if isinstance(desk.ground.pin, StoredTree) and head.id == desk.ground.pin.id:
        return
    for path in state:
        if head.entry(path) != desk.ground.pin.entry(path):
            raise _other_commit(desk, checkout, path)


def _other_commit(desk: Desk, checkout: Checkout, path: str) -> PatchmgrError:
    record, root = desk.record, checkout.root
    place = f"{shown(path)} in {root} is not that of"
    if record.on is not None:
        message = f"{place} the series {record.on}, which {record.name} stands on"
        branch = f"patchmgr branch {record.on} --repo {root}"
        hint = f"check that series out: {branch}, then git checkout patchmgr/{record.on}"
        return PatchmgrError("other-commit", message, (hint,))
    hints = (
        f"check out the pin: git -C {root} checkout {record.pin.commit}",
        "or bring the series onto another state: patchmgr rebase --onto REF",
    )
    return PatchmgrError("other-commit", f"{place} the pin {shown(record.pin.ref)}", hints)
