"""`show`: show a patch file, or describe its edits."""

from __future__ import annotations

from contextlib import closing

from patchmgr.engines.series.fold import FileStep, step_patch
from patchmgr.model.edits import Edit, FileEdits
from patchmgr.model.patch import Patch
from patchmgr.plumbing.answer_cache import Answers
from patchmgr.plumbing.merge_process import StructureApart
from patchmgr.services.open_series import CheckoutOptions, OpenSeries, opened_series
from patchmgr.services.revising import chain_of
from patchmgr.services.session import Session


def shown_patch(session: Session, given: str | None, options: CheckoutOptions) -> Patch:
    """Return a patch of a series, by default the top."""
    with opened_series(session, options, only_reads=True, at_any_place=True) as opened:
        return opened.patches[opened.pick_or_top(given)]


def shown_edits(
    session: Session, given: str | None, options: CheckoutOptions
) -> tuple[Patch, tuple[FileEdits, ...]]:
    """Return a patch of a series (by default the top), and its edits to each file."""
    with opened_series(session, options, only_reads=True, at_any_place=True) as opened:
        patch = opened.patches[opened.pick_or_top(given)]
        chain = chain_of(opened)
        before = opened.ground.overlay(chain.states[chain.position(patch.name)])
        with closing(StructureApart(answers=Answers())) as structure:
            return patch, tuple(
                _file_edits(opened, step, structure)
                for step in step_patch(before, patch, opened.scratch)
            )


def _file_edits(opened: OpenSeries, step: FileStep, structure: StructureApart) -> FileEdits:
    change, path = step.change, step.change.path
    edits: list[Edit] = []
    if step.base is None:
        edits.append(Edit("", "add the file"))
    elif step.theirs is None:
        edits.append(Edit("", "delete the file"))
    else:
        if change.old_path != change.new_path:
            edits.append(Edit("", f"move it here from {change.old_path}"))
        if step.base.mode != step.theirs.mode:
            edits.append(Edit("", f"change its mode to {step.theirs.mode}"))
        texts = [opened.scratch.read(entry.blob) for entry in (step.base, step.theirs)]
        if change.binary is not None or any(b"\0" in text for text in texts):
            edits.append(Edit("", "replace its content, which is binary"))
        elif change.hunks:
            base, theirs = (text.decode("utf-8", "surrogateescape") for text in texts)
            edits += structure.edits([(base, theirs)], path)
    return FileEdits(path, tuple(edits))
