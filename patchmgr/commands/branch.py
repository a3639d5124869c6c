"""`branch`: the buildable branch of a series on its pin, one commit a patch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from patchmgr.commands.carrying import Wishes, carry, items_of, touched_paths
from patchmgr.commands.session import Session, nobody, require_pin
from patchmgr.errors import PatchmgrError
from patchmgr.model.patch import COMMITTER_EMAIL
from patchmgr.plumbing.clones import Clone, open_clone
from patchmgr.plumbing.fast_import import write_commits
from patchmgr.plumbing.git_upstream import GitUpstream
from patchmgr.plumbing.objects import ObjectReader
from patchmgr.plumbing.stores import RefMove, adopt_pack, move_refs, references
from patchmgr.plumbing.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Built:
    """A built branch: where, under which name, its head, and the number of commits."""

    series: str
    repository: Path
    branch: str
    tag: str | None
    head: str
    base: str
    commits: int


def branch(
    session: Session,
    name: str,
    *,
    repository: Path | None,
    branch_name: str | None,
    tag: str | None,
    wishes: Wishes,
    is_forced: bool,
    is_dry_run: bool,
) -> Built:
    """Build the branch in the store, or put it into a clone without touching its work tree."""
    record = session.workspace.series_record(name)
    side = session.side_of(record)
    base = require_pin(side, record.pin)
    patches = session.workspace.patches(name)
    short = branch_name or f"patchmgr/{name}"
    with Workbench([side.store]) as bench:
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
            author=nobody(side, record.pin),
            wishes=wishes,
            progress=session.progress,
        )
        commits = write_commits(bench, base.commit, carried.drafts())
        head = commits[-1] if commits else base.commit
        built = Built(name, repository or side.store, short, tag, head, base.commit, len(commits))
        if is_dry_run:
            return built
        if repository is None:
            adopt_pack(side.store, bench.git_dir)
            _move(side.store, built, branch_name is None or is_forced)
        else:
            clone = open_clone(repository)
            _refuse(clone, built, is_forced)
            clone.take(bench.git_dir, head, base.commit)
            _move(clone.git_dir, built, is_forced)
    return built


def _refuse(clone: Clone, built: Built, is_forced: bool) -> None:
    """Refuse what would move a branch under a work tree or drop a person's commits."""
    full = f"refs/heads/{built.branch}"
    if full in clone.checked_out():
        raise PatchmgrError(
            "usage",
            f"{built.branch} is checked out in {clone.root}",
            ("give another name with --name, or use: patchmgr apply --to",),
        )
    for ref, commit in _moved(clone.git_dir, built):
        if commit is not None and not is_forced and not _is_ours(clone.git_dir, commit):
            raise PatchmgrError(
                "usage",
                f"{ref} in {clone.root} holds commits that patchmgr did not write",
                ("give another name with --name, or replace it with --force",),
            )


def _moved(git_dir: Path, built: Built) -> list[tuple[str, str | None]]:
    names = [f"refs/heads/{built.branch}"]
    if built.tag is not None:
        names.append(f"refs/tags/{built.tag}")
    return [(name, references(git_dir, name).get("")) for name in names]


def _is_ours(git_dir: Path, commit: str) -> bool:
    with ObjectReader(git_dir) as reader:
        found = reader.find(commit)
    marker = f"\ncommitter patchmgr <{COMMITTER_EMAIL}> ".encode()
    return found is not None and marker in found.content.split(b"\n\n", 1)[0]


def _move(git_dir: Path, built: Built, is_forced: bool) -> None:
    moves = []
    for name, old in _moved(git_dir, built):
        if (
            old is not None
            and old != built.head
            and not is_forced
            and name.startswith("refs/tags/")
        ):
            raise PatchmgrError("usage", f"{name} is there already", ("replace it with --force",))
        moves.append(RefMove(name, built.head, old))
    move_refs(git_dir, moves)
