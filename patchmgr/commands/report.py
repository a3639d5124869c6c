"""`report`: the change footprint of a series on its pin."""

from __future__ import annotations

from collections.abc import Mapping

from patchmgr.commands.carrying import Wishes, carry, items_of, touched_paths
from patchmgr.commands.outlook import End, Outlook
from patchmgr.commands.session import Session, nobody, require_pin
from patchmgr.engines.footprint import footprint
from patchmgr.model.footprint import FileChange, Footprint
from patchmgr.model.outcome import Verdict
from patchmgr.model.snapshot import GITLINK, Entry
from patchmgr.plumbing.diffs import numstat, renamed_paths
from patchmgr.plumbing.fast_import import Draft, write_commits
from patchmgr.plumbing.git_upstream import GitUpstream
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.workbench import Workbench


def report(session: Session, name: str, *, wishes: Wishes) -> Footprint:
    """Return the footprint of a series as it stands."""
    record = session.workspace.series_record(name)
    side = session.side_of(record)
    base = require_pin(side, record.pin)
    patches = session.workspace.patches(name)
    author = nobody(side, record.pin)
    with Workbench([side.store]) as bench, Outlook(session) as outlook:
        tree = bench.tree(base.commit)
        if isinstance(side, GitUpstream):
            entries = [tree.entry(path) for path in touched_paths(patches)]
            side.try_fetch_objects({e.blob for e in entries if e is not None})
        items = items_of(patches, session.workspace.series_file(name), wishes.selected)
        carried = carry(
            bench,
            name,
            items,
            tree,
            tree,
            author=author,
            wishes=wishes,
            progress=session.progress,
            views=outlook.views(
                record.upstream, side, bench, patches=patches, base=End(base, tree)
            ),
        )
        draft = Draft(author, b"footprint\n", carried.changes)
        head = write_commits(bench, base.commit, [draft])[0]
        renames = renamed_paths(bench.git_dir, base.commit, head)
        changes = _changes(bench, tree, carried.changes, renames)
        skipped = {o.name for o in carried.outcomes if o.verdict is Verdict.SKIPPED}
        kept = [patch for patch in patches if patch.name not in skipped]
        net = numstat(bench.git_dir, base.commit, head)
        return footprint(name, record.pin, kept, changes, net)


def _changes(
    bench: Workbench,
    tree: StoredTree,
    changes: Mapping[str, Entry | None],
    renames: Mapping[str, str],
) -> tuple[FileChange, ...]:
    """Return the net change of each path; `renames` maps new path to old path."""

    def content(entry: Entry | None) -> bytes | None:
        if entry is None:
            return None
        return entry.blob.encode() if entry.mode == GITLINK else bench.read(entry.blob)

    found = []
    moved_away = set(renames.values())
    for path, after in sorted(changes.items()):
        if after is None and path in moved_away:
            continue
        source = renames.get(path)
        before = tree.entry(source or path)
        found.append(
            FileChange(
                path=path,
                renamed_from=source,
                old_mode=before.mode if before else None,
                new_mode=after.mode if after else None,
                before=content(before),
                after=content(after),
            )
        )
    return tuple(found)
