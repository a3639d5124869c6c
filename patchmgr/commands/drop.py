"""`drop`: remove patches from a series."""

from __future__ import annotations

from collections.abc import Sequence

from patchmgr.formats.series_files import without
from patchmgr.services.open_series import CheckoutOptions, opened_series
from patchmgr.services.revising import Revised, Revision, chain_of, restacked, revise, revised
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
        order = [name for name in chain.names if name not in names]
        states = restacked(opened, chain, order, same_end=False)
        pushed = [name for name in opened.names if name not in names]
        return revise(opened, opened.series(order), states, file=file, pushed=pushed)
