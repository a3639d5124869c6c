"""`why`: find the patch that wrote a line of the branch."""

from __future__ import annotations

from msgspec import Struct

from patchmgr.engines.languages.symbols import enclosing_symbol
from patchmgr.engines.series.fold import Overlay
from patchmgr.engines.series.placement import split_lines
from patchmgr.engines.text.origins import origins
from patchmgr.errors import UsageError
from patchmgr.formats.shown import shown
from patchmgr.model.patch import Patch
from patchmgr.model.snapshot import file_content
from patchmgr.services.load import series_at_pin
from patchmgr.services.session import Fetching, Session


class LineOrigin(Struct, frozen=True):
    """A line of a file, and the patch that wrote it."""

    path: str
    line: int
    text: str
    symbol: str | None  # the symbol that contains the line
    patch: str | None  # None if upstream wrote the line
    subject: str
    reason: str  # the description in the patch's header


def why(session: Session, name: str, path: str, line: int) -> LineOrigin:
    """Return the patch that wrote a line of a file on the branch. Lines are counted from 1."""
    with series_at_pin(session, name, must_apply=False) as at_pin:
        loaded = at_pin.loaded
        state, read = Overlay(at_pin.tree), Fetching(loaded.upstream, at_pin.scratch.read).read
        patches = {patch.name: patch for patch in loaded.patches}
        carried = [outcome for outcome in at_pin.carried.outcomes if outcome.is_carried]
        homes = [path]
        for outcome in reversed(carried):
            homes.append(_before(patches[outcome.name], homes[-1]))
        start = state.entry(homes.pop())
        versions: list[tuple[str | None, bytes]] = [(None, file_content(start, read) or b"")]
        for outcome, home in zip(carried, reversed(homes), strict=True):
            for changed, entry in (outcome.changes or {}).items():
                state.set(changed, entry)
                if changed == home:
                    versions.append((outcome.name, file_content(entry, read) or b""))
        last = state.entry(path)
        if last is None:
            raise UsageError(f"the branch of the series has no file {shown(path)}")
        content = file_content(last, read) or b""
    lines = [line.removesuffix(b"\n") for line in split_lines(content)]
    if not 1 <= line <= len(lines):
        raise UsageError(f"{shown(path)} ends at line {len(lines)}")
    owner = origins(versions)[line - 1]
    patch = patches.get(owner) if owner is not None else None
    fields = {} if patch is None else patch.fields
    reason = next((fields[key] for key in ("Description", "Symptom") if key in fields), "")
    text = lines[line - 1].decode("utf-8", "surrogateescape")
    symbol = enclosing_symbol(path, content, line)
    return LineOrigin(path, line, text, symbol, owner, patch.subject if patch else "", reason)


def _before(patch: Patch, path: str) -> str:
    """Return the path that a file had before a patch, which may have renamed it."""
    moved = (change for change in patch.files if change.is_rename and change.new_path == path)
    return next((str(change.old_path) for change in moved), path)
