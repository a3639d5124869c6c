"""`edit` and `rename`: change the header or the name of a patch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from patchmgr.engines.series.needs import check_upstreams
from patchmgr.engines.series.picking import file_name
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.header_edits import HeaderEdit, check_fields, edited_header
from patchmgr.formats.mail_text import parse_person
from patchmgr.formats.patch_files import parse_listed
from patchmgr.formats.series_files import renamed
from patchmgr.formats.series_settings import with_renamed
from patchmgr.formats.shown import shown
from patchmgr.model.patch import Patch
from patchmgr.plumbing.durable import replace_file
from patchmgr.plumbing.programs import edited_text
from patchmgr.services.decisions import renamed_files
from patchmgr.services.open_series import CheckoutOptions, OpenSeries, opened_series
from patchmgr.services.revising import Revision, make
from patchmgr.services.session import Session
from patchmgr.services.work_area import refuse_needed
from patchmgr.workspace import PRIVATE


class Edited(Struct, frozen=True, rename={"is_changed": "changed"}):
    """The result of `edit` or `rename`; `is_changed` is true if anything changed."""

    series: str
    patch: str
    old_name: str
    subject: str
    is_changed: bool


def header_edit(
    subject: str | None, message: str | None, *, author: str | None, fields: Sequence[str]
) -> HeaderEdit:
    """Return the edit that the options ask for; raise a "usage" error if an option is malformed."""
    person = None if author is None else read_person(author)
    return HeaderEdit(subject, message, person, tuple(map(_field, fields)))


def read_person(author: str) -> tuple[str, str]:
    """Return the name and address in --author; raise PatchmgrError "usage" if it is malformed."""
    person = parse_person(author)
    if person is None:
        raise UsageError("--author must be written as: Name <name@example.org>")
    return person


def _field(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise UsageError(f"--field must be written as NAME=VALUE, not {text!a}")
    return name, value


def edit(
    session: Session, given: str | None, edit_: HeaderEdit, options: CheckoutOptions
) -> Edited:
    """Change the header of a patch, by default the top; an empty `edit_` opens an editor."""
    with opened_series(session, options) as opened:
        patch = opened.by_name[opened.pick_or_top(given)]
        if edit_ == HeaderEdit():
            header = edited_text(patch.header, name="header.txt")
            if not header.strip():
                raise UsageError("the header is empty, so nothing was changed")
        else:
            header = edited_header(patch, edit_, nobody=opened.author)
        new = _checked(opened, patch, header)
        check_fields(new, dict(edit_.fields))
        is_changed = new.raw != patch.raw
        if is_changed:
            make(opened, Revision(opened.names, opened.state, {patch.name: new.raw}))
            _name_lost_fields(session, patch, new, dict(edit_.fields))
        return Edited(opened.name, patch.name, patch.name, new.subject, is_changed)


def _name_lost_fields(session: Session, old: Patch, new: Patch, asked: Mapping[str, str]) -> None:
    kept = {name.lower() for name in (*new.fields, *asked)}
    lost = [name for name in old.fields if name.lower() not in kept]
    if lost:
        session.say(f"The old text also had these fields, which are gone: {shown(', '.join(lost))}")


def _checked(opened: OpenSeries, patch: Patch, header: bytes) -> Patch:
    """Return the patch with a new header; save an invalid header, and raise "bad-patch"."""
    if header and not header.endswith(b"\n"):
        header += b"\n"
    line = opened.file.line(patch.name)
    try:
        new = parse_listed(header + patch.raw[len(patch.header) :], line)
        problem = None if new.files == patch.files else "it would change what the patch does"
        if new.conditions:
            check_upstreams((new,), opened.session.workspace.lock().upstreams)
    except PatchmgrError as fault:
        problem = fault.message
    if problem is None:
        return new
    kept = opened.session.workspace.root / PRIVATE / "header.txt"
    replace_file(kept, header)
    message = f"the text is not a valid header for {shown(patch.name)}: {problem}"
    raise PatchmgrError("bad-patch", message, f"your text is kept in {kept}")


def rename(session: Session, given: str | None, new: str, options: CheckoutOptions) -> Edited:
    """Rename a patch in the series, in its groups, and in the decisions about it."""
    with opened_series(session, options) as opened:
        old, name = opened.pick_or_top(given), file_name(new)
        patch = opened.by_name[old]
        if name == old:
            return Edited(opened.name, name, old, patch.subject, False)
        file = renamed(opened.file, old, name)
        refuse_needed(session.workspace, opened.name, old)
        session.workspace.require_free(opened.name, name)
        pushed = tuple(name if each == old else each for each in opened.names)
        raws = {old: None, name: patch.raw}
        forced = name if opened.forced == old else None
        others = _renamed_elsewhere(opened, old, name)
        make(opened, Revision(pushed, opened.state, raws, file, forced=forced, others=others))
        return Edited(opened.name, name, old, patch.subject, True)


def _renamed_elsewhere(opened: OpenSeries, old: str, new: str) -> dict[str, bytes | None]:
    """Return the other workspace files that name a patch, with the new name in them."""
    workspace, series = opened.session.workspace, opened.name
    found = renamed_files(workspace, (series, old), (series, new))
    path = f"series/{series}/series.toml"
    if workspace.settings(series).groups:
        raw = workspace.read(path)
        changed = with_renamed(raw, old, new, series=series)
        if changed != raw:
            found[path] = changed
    return found
