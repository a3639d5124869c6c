"""Carries a series with text merges alone, and tells the verdicts: what the rest is held against.

    python text_only.py SERIES COMMIT

It runs in a workspace, and does what `patchmgr rebase --dry-run` does, but for upstream's
history, conflicts on record, formatters, structural merges, moved code and warnings. Moved files
are followed, as git follows them.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from patchmgr.engines.rebase.rebase import Judged, rebase_series
from patchmgr.engines.rebase.work import Tools, UpstreamRange
from patchmgr.model.progress import Progress
from patchmgr.plumbing.git_upstream import GitUpstream
from patchmgr.plumbing.renames import find_renames
from patchmgr.plumbing.scratch_repository import Scratch
from patchmgr.plumbing.text_merge import GitTextMerge
from patchmgr.services.carry import RebasedSeries, items_of
from patchmgr.services.load import CommitWriter
from patchmgr.services.series import load_series, needed_blobs, touched_paths
from patchmgr.services.session import Session
from patchmgr.workspace import find_workspace


def main() -> None:
    """Carry the series and print how many patches have which verdict."""
    gc.disable()  # the command line puts it off so far that it does not run either
    name, commit = sys.argv[1:]
    session = Session(find_workspace(Path.cwd()), Progress(), print)
    with session.writing():
        judged = carried_as_text(session, name, commit)
    counts = Counter(each.outcome.verdict.value for each in judged)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))
    gc.freeze()


def carried_as_text(session: Session, name: str, commit: str) -> Sequence[Judged]:
    """Return the patches as judged; the commits are written, too, and thrown away."""
    loaded = load_series(session, name)
    upstream, patches = loaded.upstream, loaded.patches
    assert isinstance(upstream, GitUpstream)
    target = upstream.resolve(commit)
    paths = touched_paths(patches)
    with Scratch([upstream.store]) as scratch:
        base, onto = scratch.tree(loaded.base.commit), scratch.tree(target.commit)
        upstream.try_fetch_objects(needed_blobs((base, onto), paths))
        tools = Tools(
            scratch, lambda path, text, line: None, loaded.author, text=GitTextMerge(scratch)
        )
        items = items_of(patches, loaded.file, ())
        renames = find_renames(scratch, base, onto, paths)
        judged, changes = rebase_series(items, UpstreamRange(base, onto, renames), tools)
        with CommitWriter(scratch, target.commit, wants_diffs=True) as writing:
            writing.start(RebasedSeries(judged, changes))
            writing.written()
    return judged


if __name__ == "__main__":
    main()
