"""What a change of the workspace does to a checkout in the same step."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.checkout import Checkout, Exchange
from patchmgr.plumbing.clones import open_clone
from patchmgr.plumbing.conversion import Content
from patchmgr.plumbing.work_tree import WorkFile


class Edit(Struct, frozen=True):
    """What a person made of a file since the last command: before, and as it is found."""

    path: str
    before: Content | None
    found: WorkFile | None


class CheckoutStep(Struct, frozen=True):
    """An exchange of files in a checkout that the command holds.

    `edits` are what a person did to the files that it is about: the log has them apart.
    """

    checkout: Checkout
    exchange: Exchange
    edits: tuple[Edit, ...] = ()

    @property
    def place(self) -> Path:
        """Return the folder of the checkout."""
        return self.checkout.root

    def prepare(self, decider: Path) -> str:
        """Write all of it beside and return its token."""
        return self.checkout.prepare(self.exchange, decider=decider)

    def finish(self, token: str) -> None:
        """Make it."""
        self.checkout.finish(token)

    def abandon(self) -> None:
        """Drop what was prepared."""
        self.checkout.abandon()


def finish_step(place: Path, token: str) -> None:
    """Finish a step after a crash; a checkout that is gone has nothing to be finished.

    The checkout looks for itself whether the change was decided.
    """
    with suppress(FileNotFoundError):
        if not place.is_dir():
            return
        try:
            checkout = Checkout(open_clone(place))
        except PatchmgrError:  # no repository any more
            return
        if checkout.is_interrupted:
            with checkout.held():
                checkout.recover()
