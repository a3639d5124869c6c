"""`new`: create an empty patch on top of the pushed patches."""

from __future__ import annotations

import re
import time

from patchmgr.commands.edit import read_person
from patchmgr.engines.series.picking import file_name
from patchmgr.errors import UsageError
from patchmgr.formats.header_edits import new_header
from patchmgr.formats.series_files import with_appended, with_inserted
from patchmgr.model.patch import Author
from patchmgr.plumbing.clones import author_of
from patchmgr.services.open_series import CheckoutOptions, OpenSeries, opened_series
from patchmgr.services.revising import Revision, make, refuse_forced
from patchmgr.services.session import Session


def new_patch(
    session: Session,
    given: str,
    options: CheckoutOptions,
    *,
    subject: str,
    message: str,
    author: str,
) -> str:
    """Create an empty patch on top of the pushed patches, and return its name."""
    with opened_series(session, options) as opened:
        name = file_name(given)
        refuse_forced(opened)
        top, order = opened.top, opened.file.names()
        if top is None and order:
            file = with_inserted(opened.file, name, before=order[0])
        else:
            file = with_appended(opened.file, name, after=top)
        session.workspace.require_free(opened.name, name)
        writer = _author(opened, author)
        raw = new_header(subject or _words(name), message, writer)
        revision = Revision((*opened.names, name), opened.state, {name: raw}, file)
        opened.need_checkout()
        make(opened, revision)
        return name


def _words(name: str) -> str:
    stem = name.rpartition("/")[2].rpartition(".")[0]
    return re.sub(r"[-_]+", " ", stem).strip() or "patch"


def _author(opened: OpenSeries, given: str) -> Author:
    """Return the author of a new patch: the given one, or the user according to git."""
    known = author_of(opened.need_checkout().clone.private)
    if given:
        return Author(*read_person(given), known.date if known else f"{int(time.time())} +0000")
    if known is None:
        hints = ("patchmgr new --author 'Name <name@example.org>'", "or: git config user.name")
        raise UsageError("git does not know who you are", *hints)
    return known
