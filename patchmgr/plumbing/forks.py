"""Read from another repository: the commits of a fork or range, changed trees, StGit stacks."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.git_urls import is_same_repository
from patchmgr.formats.header_edits import message_lines
from patchmgr.formats.mail_text import decoded
from patchmgr.formats.mboxes import split_mbox
from patchmgr.formats.patch_package import PLACES, Stack, read_stack
from patchmgr.formats.shown import shown, typed
from patchmgr.model.patch import Author
from patchmgr.model.snapshot import FILE_MODES, Changes, Entry
from patchmgr.plumbing import git_process
from patchmgr.plumbing.clones import find_git_dir, private_git_dir
from patchmgr.plumbing.git_process import DIFF_FORM
from patchmgr.plumbing.history import RAW_DIFF, is_ancestor, raw_changes
from patchmgr.plumbing.objects import TREE_MODE, ObjectReader, object_named
from patchmgr.plumbing.scratch_repository import Scratch

MANY_MERGES = 8


class PastMerge(Struct, frozen=True):
    """Two commits that somebody merged in the past, and the resulting commit (`made`)."""

    base: str | None  # None: git finds it
    ours: str
    theirs: str
    made: str


class Clash(Struct, frozen=True):
    """A path that conflicts when a past merge is repeated, with its entries (None: no file)."""

    path: str
    base: Entry | None
    ours: Entry | None
    theirs: Entry | None
    made: Entry | None  # as the person committed it


def find_merges(repository: Path, name: str) -> tuple[Path, tuple[PastMerge, ...]]:
    """Return the repository's git directory, and the merge `name` or all merges in a range `A..B`.

    Raises PatchmgrError "unknown-ref" if there is no such commit or range, and "usage" if the
    commit does not have two parents.
    """
    _refuse_option(name)
    git_dir = find_git_dir(repository)
    is_range = ".." in name
    wanted = ["rev-list", "--parents", "--topo-order"]
    wanted += ["--merges"] if is_range else ["--no-walk"]
    code, printed = git_process.run(
        [*wanted, "--end-of-options", name, "--"],
        git_dir=private_git_dir(repository),
        cwd=git_dir,
        good=(0, 128),
    )
    if code:
        what = "range" if is_range else "commit"
        hint = f"to list the commits: git -C {typed(repository)} log --oneline --all"
        raise PatchmgrError("unknown-ref", f"{repository} has no {what} {shown(name)}", hint)
    rows = [line.split() for line in printed.decode().splitlines()]
    found = tuple(PastMerge(None, row[1], row[2], row[0]) for row in rows if len(row) == 3)
    if not is_range and not found:
        parents = len(rows[0]) - 1 if rows else 0
        reason = f"{shown(name)} must be a merge with two parents, but has {parents}"
        hint = "to learn from a rebase, add --was OLD, the head of the branch before it"
        raise UsageError(reason, hint)
    return git_dir, found


def find_rebased(repository: Path, name: str, was: str) -> tuple[Path, tuple[PastMerge, ...]]:
    """Return the repository's git directory, and each rebased commit of a branch as a past merge.

    `was` is the head of the branch before the rebase, and `name` is the range of the new commits.
    Old and new commits are matched by author, author date and subject; ambiguous ones are left out.
    """
    _refuse_option(was)
    _, end = range_ends(name)
    git_dir = find_git_dir(repository)
    new = _by_author([name], repository)
    old = _by_author([was, f"^{end}"], repository)
    found = [
        PastMerge(old[key][1], new[key][1], old[key][0], new[key][0])
        for key in new
        if key in old and old[key][0] != new[key][0]
    ]
    return git_dir, tuple(found)


def _refuse_option(name: str) -> None:
    if not name or name.startswith("-") or "\n" in name or "\0" in name:
        raise UsageError(f"{shown(name)} is neither a commit nor a range A..B")


def _by_author(revisions: Sequence[str], repository: Path) -> dict[bytes, tuple[str, str]]:
    """Map author, author date and subject to (commit, parent); ambiguous keys are left out."""
    git_dir = private_git_dir(repository)
    form = "--format=tformat:%H%x09%P%x09%an%x09%ae%x09%at%x09%s"
    code, printed = git_process.run(
        ["log", "--no-merges", "--reverse", "-z", form, "--end-of-options", *revisions, "--"],
        git_dir=git_dir,
        cwd=git_dir,
        good=(0, 128),
    )
    if code:
        message = f"{repository} has no commits {shown(' '.join(revisions))}"
        hint = f"to list the commits: git -C {typed(repository)} log --oneline --all"
        raise PatchmgrError("unknown-ref", message, hint)
    found: dict[bytes, tuple[str, str]] = {}
    doubled: set[bytes] = set()
    for row in printed.split(b"\0"):
        commit, _, rest = row.partition(b"\t")
        parent, _, key = rest.partition(b"\t")
        if len(parent) != 40:
            continue
        if key in found:
            doubled.add(key)
        found[key] = (commit.decode(), parent.decode())
    return {key: commits for key, commits in found.items() if key not in doubled}


_FOLDER = re.compile(rb"^git-subtree-dir: (.+?)/*$", re.M)


def subtree_folder(reader: ObjectReader, merge: str, side: str) -> str:
    """Return the folder into which a merge put the files of a parent, or "" for the root.

    `git subtree` and `git merge -s subtree` merge the history of another project. If the fork has
    changed that project's files, the folder is known only from the field of `git subtree`.
    """
    root, tree = reader.listing(reader.tree_of(merge)), reader.tree_of(side)
    own = reader.listing(tree).items()
    if 2 * len(own & root.items()) >= len(own):  # also if there are none
        return ""
    for commit in (side, merge):
        named = _FOLDER.search(read_commit_text(reader, commit).message)
        if named is not None:
            return git_process.text(named[1])
    return next((path for path, each in _folders(reader, root) if each == tree), "")


def _folders(
    reader: ObjectReader, root: Mapping[str, tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield the path and id of each folder below a tree."""
    left = [("", root)]
    while left:
        prefix, listing = left.pop()
        for name, (mode, each) in listing.items():
            if mode == TREE_MODE:
                yield f"{prefix}{name}", each
                left.append((f"{prefix}{name}/", reader.listing(each)))


def merge_again(scratch: Scratch, past: PastMerge) -> Iterator[Clash]:
    """Repeat a past merge with git, and yield a Clash for each path that conflicts."""
    git_process.require_git("repeating a merge")
    ours, theirs = past.ours, past.theirs
    if past.base is not None:
        # git 2.39 has no --merge-base, so merge two commits that have these trees, and whose parent
        # is the base.
        ours, theirs = (_on(scratch, side, past.base) for side in (ours, theirs))
    arguments = ["merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs]
    code, printed = git_process.run(arguments, git_dir=scratch.git_dir, good=(0, 1))
    if code == 0:
        return
    made = scratch.tree(past.made)
    stages: dict[str, dict[int, Entry]] = {}
    for row in git_process.text(printed).split("\0")[1:]:
        facts, tab, path = row.partition("\t")
        if tab:
            mode, blob, stage = facts.split(" ")
            stages.setdefault(path, {})[int(stage)] = Entry(mode, blob)
    for path, sides in stages.items():
        yield Clash(path, sides.get(1), sides.get(2), sides.get(3), made.entry(path))


def merged_tree(git_dir: Path, ours: str, theirs: str) -> str | None:
    """Return the tree id of the merge that git makes of two commits, or None if they conflict."""
    options = ("--write-tree", "-z", "--no-messages")
    printed = git_process.answer(git_dir, "merge-tree", *options, ours, theirs)
    return None if printed is None else printed.partition("\0")[0]


def _on(scratch: Scratch, commit: str, base: str) -> str:
    tree = scratch.reader.tree_of(commit)
    return base if commit == base else scratch.write_commit(tree, base, "side")


def is_plain(clash: Clash) -> bool:
    """Return whether the path is a regular file in every commit that contains it."""
    entries = (clash.base, clash.ours, clash.theirs, clash.made)
    return all(entry is None or entry.mode in FILE_MODES for entry in entries)


# Options for everything that the repository's configuration (format.*, i18n.*) could change.
_FORM = (
    "--stdout", "--keep-subject", "--no-stat", "--no-signature", "--no-zero-commit",
    "--binary", "--no-encode-email-headers", "--no-thread", "--no-attach", "--no-cover-letter",
    "--no-base", "--topo-order", "--no-notes", "--no-from", "--no-to", "--no-cc",
    "--no-add-header", "--no-signoff", "--encoding=UTF-8", "-O/dev/null", "--suffix=.patch",
    "--pretty=mboxrd", *DIFF_FORM,
)  # fmt: skip
_LACKS = re.compile("unable to read|bad object|could not fetch")
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)  # no line of a diff begins like this


def range_patches(repository: Path, commits: str) -> tuple[list[bytes], dict[str, str]]:
    """Return the mails of the commits in a range `A..B`, oldest first, and committer dates by id.

    Raises PatchmgrError "usage" if the repository does not exist or `commits` is not a range, and
    "unknown-ref" if an end of the range does not exist.
    """
    git_dir = find_git_dir(repository)
    span = "..".join(commit_named(end, repository) for end in range_ends(commits))
    return range_mails(git_dir, span), commit_dates(git_dir, span)


@contextmanager
def with_fetch_hint(repository: Path, commits: str) -> Iterator[None]:
    """Add a hint to an error about a missing object: how to fetch it into a partial clone."""
    try:
        yield
    except PatchmgrError as fault:
        if fault.kind != "missing-object" and not _LACKS.search(fault.message):
            raise
        shows = f"git -C {typed(repository)} log -p -m {typed(commits)}"
        hint = f"if it is a partial clone, fetch what is missing: {shows} > /dev/null"
        raise PatchmgrError("missing-object", fault.message, hint, *fault.hints) from fault


def range_mails(git_dir: Path, *revisions: str) -> list[bytes]:
    """Return a mail for each commit, oldest first, except merges and empty commits.

    Lines of a message that git would take for a header or for a diff are quoted with `> `.
    """
    # Not in the repository, whose info/attributes may say that a text file is binary, and not in
    # the current folder, which git would take for the work tree, with its attributes.
    with (
        tempfile.TemporaryDirectory(prefix="patchmgr-range-") as folder,
        Scratch([git_dir], folder=Path(folder)) as scratch,
    ):
        if (git_dir / "shallow").exists():
            shutil.copy(git_dir / "shallow", scratch.git_dir)
        line = ["format-patch", *_FORM, *revisions, "--"]
        box = git_process.output(line, git_dir=scratch.git_dir, cwd=scratch.git_dir)
    mails = [_QUOTED.sub(rb"\1", mail) for mail in split_mbox(box) if mail.strip()]
    line = ["rev-list", "--no-walk=unsorted", "--no-commit-header", "--format=%b%x00", "--stdin"]
    ids = b"".join(mail.split(b" ", 2)[1] + b"\n" for mail in mails)
    texts = git_process.output(line, git_dir=git_dir, data=ids).split(b"\0\n")
    return list(map(_with_quoted_text, mails, texts))


def _with_quoted_text(mail: bytes, text: bytes) -> bytes:
    """Quote the lines of a mail's message (`text`) that git would read as a header or a diff."""
    size = len(text.rstrip().split(b"\n")) if text.strip() else 0
    head, gap, rest = mail.partition(b"\n\n")
    lines = rest.split(b"\n")
    if size:
        lines[:size] = message_lines(b"\n".join(lines[:size]))
    return head + gap + b"\n".join(lines)


def range_ends(commits: str) -> tuple[str, str]:
    """Return both ends of a range `A..B`; raise PatchmgrError "usage" for any other text."""
    _refuse_option(commits)
    first, dots, last = commits.partition("..")
    if not dots or not first or not last or last.startswith("."):
        raise UsageError(f"{shown(commits)} is not a range A..B")
    return first, last


def commit_dates(git_dir: Path, *revisions: str, form: str = "%ci") -> dict[str, str]:
    """Map commit ids to committer dates in git's format `form` (`2024-01-31 12:00:00 +0100`)."""
    # --no-walk applies to single commits only; git still walks a range.
    arguments = ["rev-list", "--no-walk", "--no-commit-header", f"--format=%H {form}", "--stdin"]
    printed = git_process.ask(git_dir, *arguments, data=git_process.words(revisions))
    return dict(line.split(" ", 1) for line in printed.splitlines())


def tree_named(git_dir: Path, name: str) -> str:
    """Return the tree id of a commit, tag, branch or tree, or raise an "unknown-ref" error."""
    tree = object_named(git_dir, f"{name}^{{tree}}")
    if tree is None:
        raise PatchmgrError("unknown-ref", f"{git_dir} has no tree {shown(name)}")
    return tree


def find_stack(repository: Path, branch: str | None) -> tuple[Path, Stack]:
    """Return a repository's git directory, and the StGit stack of a branch (None: the current one).

    Raises PatchmgrError "usage" if the branch has no stack.
    """
    git_dir = find_git_dir(repository)
    name = branch or _checked_out(repository)
    for place in reversed(PLACES):
        what = f"refs/{place.format(branch=name)}"
        code, printed = git_process.run(["cat-file", "blob", what], git_dir=git_dir, good=(0, 128))
        if code == 0:
            return git_dir, read_stack(printed)
    hint = f"to see which branches have a stack: stg -C {typed(repository)} branch --list"
    raise UsageError(f"branch {name} in {repository} has no StGit stack", hint)


def _checked_out(repository: Path) -> str:
    asked = ["symbolic-ref", "--quiet", "--short", "HEAD"]
    code, printed = git_process.run(asked, cwd=repository, good=(0, 1, 128))
    if code:
        message = f"{repository} has no branch checked out"
        raise UsageError(message, "name the branch: --stgit REPO BRANCH")
    return git_process.text(printed).strip("\n")


# As some old tools wrote it: the date may be missing or before 1970, and its zone may be wrong.
_AUTHOR = re.compile(rb"(.*?) ?<(.*?)>(?: (\d+)(?: ([-+]\d{4})(?!\d))?)?.*")


def commit_named(name: str, repository: Path) -> str:
    """Return the id of the commit with this name; raise PatchmgrError "unknown-ref" if unknown."""
    commit = object_named(private_git_dir(repository), f"{name}^{{commit}}")
    if commit is None:
        hint = f"list the branches: git -C {typed(repository)} branch --all"
        raise PatchmgrError("unknown-ref", f"{repository} has no commit {shown(name)}", hint)
    return commit


def followed(git_dir: Path, name: str) -> tuple[str | None, str | None]:
    """Return the remote URL and the remote branch that a local branch tracks; None if unknown."""
    arguments = ["rev-parse", "--verify", "--quiet", "--symbolic-full-name", name]
    full = git_process.answer(git_dir, *arguments, good=(0, 1, 128)) or ""
    remotes = git_process.lines(git_process.ask(git_dir, "remote"))
    for remote in sorted(remotes, key=len, reverse=True):
        prefix = f"refs/remotes/{remote}/"
        if full.startswith(prefix):
            branch = full.removeprefix(prefix)
            return _setting(git_dir, f"remote.{remote}.url"), None if branch == "HEAD" else branch
    local = full.removeprefix("refs/heads/")
    if local == full:
        return None, None
    remote = _setting(git_dir, f"branch.{local}.remote") or "."
    if remote == ".":
        return None, local
    merged = _setting(git_dir, f"branch.{local}.merge") or f"refs/heads/{local}"
    return _setting(git_dir, f"remote.{remote}.url"), merged.removeprefix("refs/heads/")


def fetched_tip(git_dir: Path, url: str, branch: str | None) -> str | None:
    """Return the commit of a remote's branch as a clone last fetched it, or None if unknown.

    `branch` may be None for the remote's default branch.
    """
    # `git remote add` does not record which branch is the default
    names = (branch,) if branch is not None else ("HEAD", "main", "master")
    for remote in git_process.lines(git_process.ask(git_dir, "remote")):
        known = _setting(git_dir, f"remote.{remote}.url")
        if known is not None and is_same_repository(known, url):
            refs = (f"refs/remotes/{remote}/{name}^{{commit}}" for name in names)
            return next(filter(None, (object_named(git_dir, ref) for ref in refs)), None)
    return None


def _setting(git_dir: Path, name: str) -> str | None:
    return git_process.answer(git_dir, "config", "--get", name)


def own_commits(
    git_dir: Path, heads: Sequence[str], excluded: Sequence[str], *options: str
) -> dict[str, tuple[str, ...]]:
    """Map each commit reachable from `heads` but not `excluded`, oldest first, to its parents.

    `options` of `git rev-list` may limit the commits.
    """
    data = git_process.words([*heads, *(f"^{commit}" for commit in excluded)])
    arguments = ["rev-list", "--topo-order", "--reverse", "--parents", *options, "--stdin"]
    rows = git_process.ask(git_dir, *arguments, data=data).splitlines()
    return {commit: tuple(parents) for commit, *parents in map(str.split, rows)}


def write_commit_graph(scratch: Scratch, merges: Sequence[str]) -> None:
    """Write a commit-graph, so that git finds the merge bases of many merges faster."""
    if len(merges) < MANY_MERGES:
        return
    data = git_process.words(merges)
    arguments = ["commit-graph", "write", "--stdin-commits", "--no-progress"]
    # It only saves time, and git refuses it for a shallow clone.
    # Each of namecoin-core's 800 merges takes 0.5 s without it and 0.03 s with it.
    git_process.run(arguments, git_dir=scratch.git_dir, data=data, good=(0, 1, 128))


def newest(git_dir: Path, commits: Sequence[str]) -> tuple[str, ...]:
    """Return the commits in the list that are not ancestors of another commit in it."""
    if len(set(commits)) == 1:
        return (commits[0],)
    return tuple(git_process.ask(git_dir, "merge-base", "--independent", *commits).split())


def parents_of(git_dir: Path, commit: str) -> list[str]:
    """Return the ids of the parents of a commit."""
    return git_process.ask(git_dir, "rev-list", "--no-walk", "--parents", commit).split()[1:]


def own_range(git_dir: Path, head: str, tip: str) -> tuple[str, list[str]]:
    """Return the commit where a branch left upstream, and the branch's non-merge commits, in order.

    Raises PatchmgrError "usage" if the branch and upstream have no common history.
    """
    other = tip
    if is_ancestor(git_dir, head, tip):  # only then is there a merge to search for
        arguments = ["rev-list", "--reverse", "--ancestry-path", "--merges", "--first-parent"]
        merges = git_process.ask(git_dir, *arguments, f"{head}..{tip}").split()
        other = f"{merges[0]}^1" if merges else tip
    base = git_process.answer(git_dir, "merge-base", other, head)
    if base is None:
        raise UsageError(f"commit {head[:12]} has no history in common with upstream")
    arguments = ["rev-list", "--reverse", "--no-merges", f"{base}..{head}"]
    return base, git_process.ask(git_dir, *arguments).split()


def own_line(own: Mapping[str, Sequence[str]], head: str) -> tuple[str, str] | None:
    """Return the commit where a branch left upstream, and the branch's first commit.

    `own` is the result of `own_commits`. Returns None if the branch has merges, a commit without
    parents, or no commits.
    """
    first, at = None, head
    while at in own:
        if len(own[at]) != 1:
            return None
        first, at = at, own[at][0]
    return None if first is None else (at, first)


def tree_changes(git_dir: Path, pairs: Sequence[tuple[str, str]]) -> tuple[Changes, ...]:
    """Return a map from each changed path to its old and new entry, one map per pair of trees."""
    data = git_process.words(map(" ".join, pairs))
    printed = git_process.ask(git_dir, *RAW_DIFF, "--stdin", data=data)
    found: list[dict[str, tuple[Entry | None, Entry | None]]] = []
    fields = printed.split("\0")
    for at in range(0, len(fields), 2):
        found.extend({} for _ in range(fields[at].count("\n")))  # git prints a line for each pair
        meta = fields[at].rpartition("\n")[2]
        for path, before, after in raw_changes("\0".join([meta, *fields[at + 1 : at + 2]])):
            found[-1][path] = before, after
    return tuple(found)


class CommitText(Struct, frozen=True):
    """The author and the message of a commit."""

    author: Author
    message: bytes

    @property
    def subject(self) -> str:
        """Return the first line of the message, with leading blank lines skipped."""
        return git_process.text(self.message.lstrip(b"\n").split(b"\n", 1)[0])


def read_commit_text(reader: ObjectReader, commit: str) -> CommitText:
    """Return the author and message of a commit; the message is converted to UTF-8 if needed."""
    found = reader.find(commit)
    assert found is not None
    head, _, message = found.content.partition(b"\n\n")
    lines = (line.partition(b" ") for line in head.split(b"\n"))
    fields = {name: value for name, _, value in lines}
    encoding = fields.get(b"encoding", b"UTF-8").decode("ascii", "replace")
    author = fields.get(b"author", b"")
    match = _AUTHOR.fullmatch(author)
    name, email, seconds, zone = match.groups() if match else (author, b"", None, None)
    date = b"%s %s" % (seconds or b"0", zone or b"+0000")
    return CommitText(
        Author(_decoded(name, encoding), _decoded(email, encoding), date.decode()),
        git_process.raw(_decoded(message, encoding)),
    )


def _decoded(raw: bytes, encoding: str) -> str:
    try:
        return decoded(raw, encoding)
    except PatchmgrError:
        return git_process.text(raw)
