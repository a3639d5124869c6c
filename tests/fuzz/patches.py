"""Patches, mails and hunks from any bytes, and what must hold of them."""

from msgspec.structs import replace

from patchmgr.engines.series.placement import Applied, apply_hunks
from patchmgr.formats.binary import apply_delta
from patchmgr.formats.header_edits import HeaderEdit, edited_header
from patchmgr.formats.mailbox import canonical_header, slug
from patchmgr.formats.mboxes import is_talk, joinable, read_tags, split_mbox
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.predicates import read_conditions
from patchmgr.model.patch import Author, Hunk, Patch
from tests.fuzz.claims import all_inside, is_inside, let_in

_NOBODY = Author("Nobody", "nobody@example.org", "0 +0000")
_HUNKS = b"--- a/f\n+++ b/f\n"


def _read(raw: bytes) -> Patch | None:
    return let_in(lambda: parse_patch(raw, name="some.patch"))


def patch(raw: bytes) -> None:
    """A patch keeps its bytes and its paths stay inside; made canonical, it says the same."""
    found = _read(raw)
    if found is None:
        return
    assert raw.startswith(found.header + found.diff)
    all_inside(found.paths())
    assert is_inside(slug(found.subject))
    let_in(lambda: read_conditions(found))
    _check_canonical(found)


def _check_canonical(found: Patch) -> None:
    if b"\r\n" in found.raw:
        return
    author = found.author or _NOBODY
    author = author if author.date else replace(author, date=_NOBODY.date)
    header = canonical_header(found, author=author)
    again = _read(header + found.diff)
    assert again is not None, "a canonical patch can be read"
    assert again.files == found.files
    assert (again.subject, again.message) == (found.subject, found.message)
    assert canonical_header(again, author=author) == header


def header(raw: bytes) -> None:
    """An edit of a header is read back as it was given, and the author stays."""
    found = _read(raw + b"\n" + _HUNKS + b"@@ -1 +1 @@\n-a\n+b\n")
    if found is None:
        return
    edit = HeaderEdit(subject="area: new words", fields=(("Forwarded", "no"),))
    edited = let_in(lambda: edited_header(found, edit, nobody=_NOBODY))
    if edited is None:
        return
    again = let_in(lambda: parse_patch(edited + found.diff, name="some.patch"))
    if again is not None and found.author is not None:
        assert again.author is not None, "the author is lost"


def mailbox(raw: bytes) -> None:
    """The mails of a mailbox joined are the mailbox."""
    mails = split_mbox(raw)
    assert b"".join(mails) == raw
    assert len(joinable(mails)) == len(mails)
    for mail in mails[:20]:
        is_talk(mail)
        assert len(read_tags(mail).raw) <= len(mail)


def hunks(raw: bytes) -> None:
    """Hunks go where all their lines stand, or nowhere: taken back, the content is the old one."""
    content, _, rest = raw.partition(b"\n@@")
    found = _read(_HUNKS + b"@@" + rest)
    if found is None or len(found.files) != 1:
        return
    applied = apply_hunks(content, found.files[0].hunks)
    if not isinstance(applied, Applied):
        return
    pairs = zip(found.files[0].hunks, applied.positions, strict=True)
    back: list[Hunk] = []
    shift = 0
    for hunk, position in pairs:
        back.append(_turned(hunk, position + shift))
        shift += len(hunk.new()) - len(hunk.old())
    undone = apply_hunks(applied.content, back)
    assert isinstance(undone, Applied), "what was applied can be taken back"
    assert undone.content == content


def _turned(hunk: Hunk, position: int) -> Hunk:
    """Return the hunk that takes one back which was put at a line (from 0)."""
    signs = {b"+": b"-", b"-": b"+", b" ": b" "}
    lines = tuple(signs[line[:1]] + line[1:] for line in hunk.lines)
    start = position + (1 if hunk.new() else 0)
    return Hunk(start, len(hunk.new()), start, len(hunk.old()), b"", lines)


def delta(raw: bytes) -> None:
    """A binary delta makes a content or is refused."""
    old, _, instructions = raw.partition(b"\xff\xff")
    let_in(lambda: apply_delta(instructions, old))
