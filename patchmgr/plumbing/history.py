"""Upstream's changes to some paths between two commits, read with one `git log`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.engines.series.follow_ups import reverted
from patchmgr.formats.paths import parents_of
from patchmgr.model.ports import History, Named, Step
from patchmgr.model.snapshot import Changes, Entry
from patchmgr.plumbing import git_process

_RECORD = "\x01"
_ABSENT = "000000"
# With more paths, git is slow: it compares each entry of each tree with all paths.
_FEW_PATHS = 100
RAW_DIFF = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev")


BACK = "the last commit that both states have"


class GitHistory(Struct, frozen=True, dict=True):
    """The first-parent history of a git upstream, from the commit `base` to the commit `target`.

    If the target lacks commits of the base, the first step goes back to a commit that both have.
    """

    git_dir: Path
    base: str
    target: str

    def steps(self, paths: Sequence[str]) -> tuple[Step, ...]:
        """Return the commits that change any of the paths, oldest first."""
        return (*self._step_back(paths), *self._with_reverts(self._steps(paths)[1]))

    def _step_back(self, paths: Sequence[str]) -> Iterator[Step]:
        """Yield the step to the last commit that both states have, if it changes any path."""
        fork = self._fork
        changes = changes_between(self.git_dir, self.base, fork, *paths) if fork and paths else {}
        if fork and changes:
            after = {path: new for path, (_, new) in changes.items()}
            yield Step(fork, BACK, "", after, is_back=True)

    @cached_property
    def _fork(self) -> str | None:
        """The last commit of the target's first-parent history that the base contains.

        None if this is the base itself, or if there is no such commit.
        """
        if not self._counts[1]:
            return None
        arguments = ["rev-list", "--first-parent", "--parents", f"^{self.base}", self.target, "--"]
        rows = git_process.output(arguments, git_dir=self.git_dir).decode().splitlines()
        return next(iter(rows[-1].split()[1:]), None) if rows else self.target

    def every(self) -> tuple[Step, ...]:
        """Return all commits, oldest first."""
        return self._with_reverts(self._steps(None)[1])

    def inside(self, merge: str, paths: Sequence[str]) -> tuple[Step, ...]:
        """Return the commits of the branch that a merge commit merged, oldest first.

        The first step has no commit; it has the files that the branch changes, as they were before.
        """
        branch = replace(self, base=f"{merge}^1", target=f"{merge}^2")
        start, steps = branch._steps(paths)
        there = {p: start[p] for step in steps for p in step.changes if start[p] is not None}
        return (Step("", "", "", there), *steps) if steps else ()

    def _steps(self, paths: Sequence[str] | None) -> tuple[dict[str, Entry | None], list[Step]]:
        """Return the changed files as they were before the first commit, and the commits."""
        asked = paths if paths and len(paths) <= _FEW_PATHS else ()
        arguments = [
            "--literal-pathspecs", "log", "--first-parent", "-m", "--reverse", "--raw", "-z",
            "--no-abbrev", "--no-renames", "--no-color", "--stdin",
            f"--format=tformat:{_RECORD}%H%n%P%n%an%n%s%n%b",
        ]  # fmt: skip
        data = git_process.words([f"^{self.base}", self.target, "--", *asked])
        records = git_process.ask(self.git_dir, *arguments, data=data).split("\x00" + _RECORD)
        start, found = dict[str, Entry | None](), list[Step]()
        for record in filter(None, records):  # four lines, the body, a NUL, and the raw changes
            commit, parents, author, rest = record.removeprefix(_RECORD).split("\n", 3)
            message, _, raw = rest.partition("\x00")
            subject, _, body = message.partition("\n")
            after = dict[str, Entry | None]()
            for path, old, new in raw_changes(raw):
                after[path] = new
                start.setdefault(path, old)
            named, is_merge = reverted(subject, body), " " in parents
            found.append(Step(commit, subject, author, after, named, is_merge))
        return start, found if paths is None or asked else [*_touching(found, frozenset(paths))]

    def _with_reverts(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        merged = self._merged_reverts() if any(step.is_merge for step in steps) else {}
        return tuple(replace(s, reverts=(*merged.get(s.commit, s.reverts),)) for s in steps)

    def _merged_reverts(self) -> Mapping[str, Iterable[str]]:
        """Map each step to the commits and pull requests that its messages say it reverts.

        The messages of a merge are its own and those of the merged commits.
        """
        ends = self.base, (self.target,)
        messages = messages_with(self.git_dir, *ends, ("Revert", "revert"))
        told = {
            commit: names
            for commit, message in messages
            if (names := reverted(message.partition("\n")[0], message))
        }
        merges = merged_by(self.git_dir, self.base, self.target) if told else {}
        found = defaultdict[str, dict[str, None]](dict)
        for commit, names in told.items():
            # Reverting a commit of a merged branch reverts a part of that merge.
            every = (*names, *(merges[name] for name in names if name in merges))
            found[merges.get(commit, commit)].update(dict.fromkeys(every))
        return found

    @property
    def ends(self) -> tuple[str, ...]:
        """Return the ids of base and target, which together identify the history."""
        return self.base, self.target

    def before(self, commit: str) -> str:
        """Return a git revision that names the state directly before a commit."""
        return self.base if commit == self._fork else f"{commit}^1"

    def find(self, named: Named) -> tuple[str, str] | None:
        """Return the id and subject of the commit in this history that a header names, or None."""
        if named.pull is not None:
            return commit_of_pull(self.git_dir, self.base, self.target, named.pull)
        if named.commit is None:
            return None
        asked = ("rev-list", "--no-walk", "--format=%s", f"{named.commit}^{{commit}}", "--")
        printed = git_process.answer(self.git_dir, *asked, good=(0, 128))
        if printed is None:
            return None
        head, _, subject = printed.partition("\n")
        commit = head.removeprefix("commit ")
        inside = is_ancestor(self.git_dir, commit, self.target)
        inside = inside and not is_ancestor(self.git_dir, commit, self.base)
        return (commit, subject) if inside else None

    def distance(self) -> tuple[int, int]:
        """Return how many commits only the target contains, and how many only the base contains."""
        return self._counts

    @cached_property
    def _counts(self) -> tuple[int, int]:
        ends = f"{self.base}...{self.target}"
        arguments = ["rev-list", "--count", "--left-right", ends, "--"]
        back, count = git_process.ask(self.git_dir, *arguments).split()
        return int(count), int(back)


def merged_by(git_dir: Path, base: str, target: str) -> dict[str, str]:
    """Map each merged commit from base to target to the first-parent merge that brought it in."""
    printed = git_process.ask(git_dir, "rev-list", "--parents", f"^{base}", target)
    parents = {commit: rest for commit, *rest in map(str.split, printed.splitlines())}
    line, here = dict[str, str](), target
    while here in parents:
        line[here] = here
        here = next(iter(parents[here]), "")
    found = dict(line)
    for merge in reversed(line):
        rest = parents[merge][1:]
        while rest:
            commit = rest.pop()
            if commit in parents and commit not in found:
                found[commit] = merge
                rest += parents[commit]
    return {commit: merge for commit, merge in found.items() if commit not in line}


def commit_facts(git_dir: Path, commit: str) -> tuple[str, str, str]:
    """Return the subject, author and date (`2024-01-31`) of a commit."""
    options = ("-1", "--no-color", "--format=%an%n%cs%n%s")
    printed = git_process.ask(git_dir, "log", *options, commit, "--")
    author, date, subject = printed.rstrip("\n").split("\n", 2)
    return subject, author, date


def commit_of_pull(git_dir: Path, base: str, target: str, number: int) -> tuple[str, str] | None:
    """Return id and subject of a first-parent commit whose subject ends in `(#number)`, or None."""
    told = f"(#{number})"
    some = messages_with(git_dir, base, (target,), (told,), "--first-parent", form="%s")
    return next((one for one in some if one[1].rstrip().endswith(told)), None)


class KnownHistory:
    """A history that is read once, for a fixed set of paths.

    `prepare` is called with the steps read from upstream, and returns the steps to use.
    """

    def __init__(
        self,
        history: History,
        paths: Sequence[str],
        prepare: Callable[[Sequence[Step]], Sequence[Step]] = tuple,
    ) -> None:
        self._history = history
        self._prepare = prepare
        self._paths = frozenset(paths)
        self._steps: tuple[Step, ...] | None = None

    def steps(self, paths: Sequence[str]) -> tuple[Step, ...]:
        """Return the steps that change any of the paths, oldest first."""
        if not self._paths.issuperset(paths):
            return tuple(self._prepare(self._history.steps(paths)))
        if self._steps is None:
            self._steps = tuple(self._prepare(self._history.steps(sorted(self._paths))))
        wanted = frozenset(paths)
        return tuple(step for step in self._steps if not wanted.isdisjoint(step.changes))

    def before(self, commit: str) -> str:
        """Return the upstream state directly before a commit."""
        return self._history.before(commit)

    def inside(self, merges: Sequence[Step]) -> Mapping[str, Sequence[Step]]:
        """Map each merge commit to the steps of its branch, as `GitHistory.inside` returns them.

        A branch is left out if `prepare` changes its steps.
        """
        if not isinstance(self._history, GitHistory):
            return {}
        paths = sorted(self._paths)
        branches = {merge.commit: self._history.inside(merge.commit, paths) for merge in merges}
        ready = iter(self._prepare([*chain.from_iterable(branches.values())]))
        # With changed steps, a commit of another branch might be named as the evidence.
        return {m: steps for m, steps in branches.items() if (*islice(ready, len(steps)),) == steps}

    def known(self) -> tuple[Step, ...]:
        """Return the steps that change any path in the fixed set, oldest first."""
        return self.steps(tuple(self._paths))


class ReleaseHistory(Struct, frozen=True):
    """The releases of a package after the base and up to the target, in version order.

    If the target is older than the base, the target is the only version.
    """

    git_dir: Path
    base: str
    versions: tuple[str, ...]
    lookup: Callable[[str], tuple[str, str]]  # commit and subject of a version; may download it
    newer: int = 0  # the number of releases after an older target

    def steps(self, paths: Sequence[str]) -> tuple[Step, ...]:
        """Return the releases that change any of the paths, oldest first."""
        found: list[Step] = []
        before = self.base
        for version in self.versions:
            commit, subject = self.lookup(version)
            changes = changes_between(self.git_dir, before, commit, *paths)
            if changes:
                after = {path: new for path, (_, new) in changes.items()}
                found.append(Step(commit, subject, "", after))
            before = commit
        return tuple(found)

    @property
    def ends(self) -> tuple[str, ...]:
        """Return the base and the versions, which together identify the history."""
        return self.base, *self.versions

    def before(self, commit: str) -> str:
        """Return the commit of the release that precedes the given commit, or the base."""
        before = self.base
        for version in self.versions:
            found, _ = self.lookup(version)
            if found == commit:
                break
            before = found
        return before

    def find(self, named: Named) -> tuple[str, str] | None:
        """Return the commit and subject of the release that a header names, or None if absent."""
        if named.release is None or named.release not in self.versions or self.newer:
            return None
        return self.lookup(named.release)

    def distance(self) -> tuple[int, int]:
        """Return how many releases the target is after the base, and how many before it."""
        return (0, self.newer) if self.newer else (len(self.versions), 0)


def _touching(steps: Iterable[Step], paths: frozenset[str]) -> Iterator[Step]:
    """Yield the steps that change any of the paths or files below them, with only those changes."""
    for step in steps:
        changes = {path: entry for path, entry in step.changes.items() if _is_in(path, paths)}
        if changes:
            yield replace(step, changes=changes)


def _is_in(path: str, paths: frozenset[str]) -> bool:
    return path in paths or any(folder in paths for folder in parents_of(path))


def messages_with(
    git_dir: Path,
    base: str,
    tips: Sequence[str],
    words: Sequence[str],
    *options: str,
    form: str = "%B",
) -> tuple[tuple[str, str], ...]:
    """Return the id and message of each commit whose message contains one of the words.

    Without words, all commits are returned. The commits are those reachable from a tip, but not
    from the base. `form` is git's format of the message, such as `%s` for the subject.
    """
    arguments = [
        "log", "-z", "--no-color", f"--format=tformat:%H%n{form}", "--fixed-strings", *options,
        *(f"--grep={word}" for word in words), f"^{base}", *tips, "--",
    ]  # fmt: skip
    printed = git_process.ask(git_dir, *arguments)
    records = (record.partition("\n") for record in printed.split("\x00") if record)
    return tuple((commit, message) for commit, _, message in records)


_LANDED = re.compile(
    rf"^{_RECORD}(?:.*\(#(\d{{1,9}})\)|Merge pull request #(\d{{1,9}}) .*)$"
    r"|^See merge request \S*!(\d{1,9})$",
    re.MULTILINE,
)


def landed_pulls(git_dir: Path, tip: str) -> frozenset[int]:
    """Return the numbers of the pull requests that were merged in a tip's first-parent history."""
    form = f"--format={_RECORD}%s%n%b"
    printed = git_process.ask(git_dir, "log", "--first-parent", "--no-color", form, tip, "--")
    return frozenset(int(match[match.lastindex or 0]) for match in _LANDED.finditer(printed))


def changes_between(git_dir: Path, old: str, new: str, *paths: str) -> Changes:
    """Map each path that differs between two trees or commits to its old and its new entry."""
    asked, wanted = paths if len(paths) <= _FEW_PATHS else (), frozenset(paths)
    arguments = ["--literal-pathspecs", *RAW_DIFF, old, new, "--", *asked]
    rows = raw_changes(git_process.ask(git_dir, *arguments))
    found = {path: (before, after) for path, before, after in rows}
    return found if asked or not paths else {p: found[p] for p in found if _is_in(p, wanted)}


def raw_changes(printed: str) -> Iterator[tuple[str, Entry | None, Entry | None]]:
    """Yield the path, the old entry and the new entry of each change in git's `--raw -z` output."""
    fields = printed.split("\x00")
    for meta, path in zip(fields[0::2], fields[1::2], strict=False):
        old_mode, new_mode, old, new, _ = meta.lstrip("\n:").split(" ")
        yield path, _entry(old_mode, old), _entry(new_mode, new)


def _entry(mode: str, blob: str) -> Entry | None:
    return None if mode == _ABSENT else Entry(mode, blob)


def renamed_paths(git_dir: Path, old: str, new: str) -> dict[str, str]:
    """Map the old path of each renamed file (not empty, at least 50 % similar) to its new path."""
    # As git's merge does.
    arguments = ["diff-tree", "-r", "-z", "--name-status", "--find-renames=50%", "-l0"]
    arguments += ["--no-rename-empty", "--diff-filter=R", old, new]
    fields = git_process.ask(git_dir, *arguments).split("\x00")
    return dict(zip(fields[1::3], fields[2::3], strict=False))


def is_ancestor(git_dir: Path, old: str, new: str) -> bool:
    """Return whether the commit `old` is `new` or an ancestor of it."""
    arguments = ["merge-base", "--is-ancestor", old, new]
    return git_process.run(arguments, git_dir=git_dir, good=(0, 1, 128))[0] == 0
