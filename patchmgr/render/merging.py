"""Merges of single files, the merge driver and the merge tool: what is said of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from patchmgr.model.outcome import How
from patchmgr.render.clean import clean, reliability_text
from patchmgr.render.machine import fields, suggestions_value

if TYPE_CHECKING:
    from patchmgr.commands.merge_driver import DriverChange
    from patchmgr.commands.merge_file import MergedFile
    from patchmgr.commands.mergetool import ToolResult


def merged_lines(merged: MergedFile) -> Iterator[str]:
    """Yield what a person should know of a merged file, a line each."""
    path = clean(merged.path)
    if merged.used:
        yield f"{path}: recorded: {', '.join(merged.used)}"
    if merged.how == How.FORMAT.value:
        yield f"{path}: format"
    elif merged.reliability:
        yield f"{path}: structural: {clean('; '.join(map(reliability_text, merged.reliability)))}"
    for warning in merged.warnings:
        yield f"warning: {path}: {clean(warning)}"
    if not merged.is_solved:
        what = "a binary conflict, ours is kept" if merged.is_binary else "conflicts are left"
        yield f"{path}: {what}"
    yield from (f"{path}: {clean(note)}" for note in merged.notes)


def merged_value(merged: MergedFile) -> dict[str, Any]:
    """Return a merged file in plain values."""
    return fields(
        merged,
        *("path", "how", "warnings", "reliability"),
        solved=merged.is_solved,
        recorded=merged.used,
        rules=[known.rule for known in merged.reliability],
        candidates=suggestions_value(merged.suggestions),
    )


def installation_text(driver: DriverChange, *, is_dry_run: bool) -> str:
    """Return what was written where, or taken away."""
    where = clean(str(driver.git_dir))
    if not driver.is_new:
        return f"There is {'a' if driver.settings else 'no'} driver in {where} already.\n"
    if not driver.settings:
        return f"{'Would take' if is_dry_run else 'Took'} the driver out of {where}\n"
    word = "Would write" if is_dry_run else "Wrote"
    lines = [f"{word} to {where}/config"]
    lines += [f"  {name} = {clean(value)}" for name, value in driver.settings]
    lines.append(f"{word} to {where}/info/attributes")
    lines += [f"  {line}" for line in driver.lines]
    return "".join(f"{line}\n" for line in lines)


def tool_lines(result: ToolResult, *, is_dry_run: bool) -> Iterator[str]:
    """Yield what became of each file, and what to do next."""
    if is_dry_run:
        yield from (f"Would open {clean(name)}" for name in (*result.solved, *result.left))
        return
    yield from (f"Resolved: {clean(name)}" for name in result.solved)
    yield from (f"Not resolved: {clean(name)}" for name in result.left)
    if not result.left:
        yield "Now run: patchmgr rebase --continue"
