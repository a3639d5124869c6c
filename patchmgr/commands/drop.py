"""`drop`: remove patches from a series."""

from __future__ import annotations

from collections.abc import Sequence

from patchmgr.formats.series_files import without
from patchmgr.services.open_series import CheckoutOptions, opened_series
from patchmgr.services.revising import Revised, Revision, chain_of, restacked, revised, revision_of
from patchmgr.services.session import Session


def drop(session: Session, given: Sequence[str], options: CheckoutOptions) -> Revised:
    """Remove patches from a series; raise PatchmgrError "depends" if other patches need them."""
    with opened_series(session, options) as opened:
        names = {opened.pick(each) for each in given}
        file = without(opened.file, names)
        if names <= set(opened.hidden):
            gone = dict.fromkeys(sorted(names))
            return revised(opened, Revision(opened.names, opened.state, gone, file))
        chain = chain_of(opened)
        layers = [layer for layer in chain.layers if layer.name not in names]
        states = restacked(opened, chain, layers, same_end=False)
        pushed = [name for name in opened.names if name not in names]
        patches = opened.series([layer.name for layer in layers])
        revision = revision_of(opened, patches, states, file=file, pushed=pushed)
        return revised(opened, revision)
