"""`report`: the change footprint of a series on its pin."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from patchmgr.commands.carrying import Wishes
from patchmgr.commands.judging import judging, words_of
from patchmgr.commands.prepared import in_place, prepare
from patchmgr.commands.review import review
from patchmgr.commands.session import Session
from patchmgr.commands.settings import read_settings
from patchmgr.engines.footprint import footprint
from patchmgr.engines.review import judge_of, texts_of, with_owners
from patchmgr.model.footprint import FileChange, Footprint
from patchmgr.model.outcome import Verdict
from patchmgr.model.snapshot import GITLINK, Entry
from patchmgr.plumbing.answers import Answers
from patchmgr.plumbing.diffs import changed_lines, numstat
from patchmgr.plumbing.fast_import import Draft, write_commits
from patchmgr.plumbing.history import renamed_paths
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.workbench import Workbench


def report(session: Session, name: str, *, wishes: Wishes) -> Footprint:
    """Return the footprint of a series as it stands."""
    ready = prepare(session, name)
    with in_place(session, ready, wishes) as placed:
        bench, carried, tree, base = placed.bench, placed.carried, placed.tree, placed.base
        draft = Draft(ready.author, b"footprint\n", carried.changes)
        head = write_commits(bench, base, [draft])[0]
        renames = {new: old for old, new in renamed_paths(bench.git_dir, base, head).items()}
        changes = _changes(bench, tree, carried.changes, renames)
        texts = texts_of(changes, changed_lines(bench.git_dir, base, head))
        own = read_settings(session.workspace, name).labels
        words = words_of(ready.record.upstream, own)
        answers = Answers()
        with judging(judge_of(changes, words), texts, answers) as judged:
            out = [o for o in carried.outcomes if o.verdict is Verdict.SKIPPED]
            skipped = {o.name: o.reason or "" for o in out}
            net = numstat(bench.git_dir, base, head)
            found = footprint(name, ready.record.pin, placed.patches, changes, net)
            looked = review(
                session,
                ready,
                bench,
                found,
                changes,
                sites=lambda: with_owners(found, judged()),
                answers=answers,
            )
            return replace(found, review=looked, skipped=tuple(skipped.items()))


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
