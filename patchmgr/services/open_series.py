"""The series that a command works on: its pushed patches, and edits in the checkout."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from os.path import normpath
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from patchmgr.engines.series.forcing import force_patch
from patchmgr.engines.series.layers import Ground, State, fold_states
from patchmgr.engines.series.needs import missing_on
from patchmgr.engines.series.picking import pick
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.paths import check_path, refusal
from patchmgr.formats.shown import shown, typed
from patchmgr.model.patch import Patch
from patchmgr.model.snapshot import GITLINK, Entry
from patchmgr.plumbing.applied import Content, PushedPatch, Record, found_state
from patchmgr.plumbing.checkout import Checkout
from patchmgr.plumbing.checkout_changes import found_file
from patchmgr.plumbing.clones import open_clone
from patchmgr.plumbing.objects import StoredTree
from patchmgr.plumbing.scratch_repository import Scratch
from patchmgr.plumbing.text_merge import GitTextMerge
from patchmgr.services.checkouts import applied_now, only_series, pushed_targets, settled
from patchmgr.services.series import LoadedSeries, load_series, needed_blobs, touched_paths
from patchmgr.services.session import Session
from patchmgr.services.upstream_states import End, UpstreamStates


class CheckoutOptions(Struct, frozen=True):
    """The options shared by all commands that work on patches in a checkout."""

    to: Path | None = None  # the checkout
    series: str | None = None
    cwd: Path = Path()  # for relative paths of the user
    is_forced: bool = False


class OpenSeries(LoadedSeries, frozen=True, kw_only=True):
    """The series that a command works on, and its pushed patches."""

    session: Session
    options: CheckoutOptions
    by_name: Mapping[str, Patch]
    # the reason why each patch is left out; never a pushed one
    hidden: Mapping[str, str] = field(default_factory=dict)
    selected: frozenset[str]
    scratch: Scratch
    ground: Ground
    checkout: Checkout | None  # without one, no patch is pushed
    head: str  # the commit that is checked out
    applied: Record | None
    pushed: tuple[PushedPatch, ...] = ()
    # before the first pushed patch and after each, as differences from `parent`
    states: tuple[State, ...] = ({},)
    # the commit that the first patch applies to: the pin, or the head of the series below
    parent: str

    @property
    def name(self) -> str:
        """Return the name of the series."""
        return self.record.name

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the pushed patches, in order."""
        return tuple(patch.name for patch in self.pushed)

    @property
    def top(self) -> str | None:
        """Return the name of the last pushed patch, or None if no patch is pushed."""
        return self.pushed[-1].name if self.pushed else None

    @property
    def state(self) -> State:
        """Return the state after the last pushed patch."""
        return self.states[-1]

    @property
    def forced(self) -> str | None:
        """Return the top patch if it was pushed by force and not refreshed afterwards, or None."""
        return self.top if self.pushed and self.pushed[-1].is_forced else None

    @property
    def rejects(self) -> tuple[str, ...]:
        """Return the paths of the `.rej` files of the top patch."""
        return self.applied.rejects if self.applied is not None else ()

    def series(self, names: Sequence[str]) -> tuple[Patch, ...]:
        """Return the patches with the given names."""
        return tuple(self.by_name[name] for name in names)

    def pick(self, given: str) -> str:
        """Return the full name of a patch, given its name, the start of its name, or its number.

        Raises PatchmgrError "unknown-patch" if `given` matches no patch, or more than one.
        """
        return pick(given, self.file.names(), series=self.name)

    def pick_or_top(self, given: str | None) -> str:
        """Return the name that `pick` returns or, if `given` is None, the name of the top patch.

        Raises PatchmgrError "unknown-patch", or "no-patch" if no patch is pushed.
        """
        if given is not None:
            return self.pick(given)
        if self.top is None:
            raise PatchmgrError("no-patch", f"no patch of {self.name} is pushed; name a patch")
        return self.top

    def position(self, name: str) -> int:
        """Return the index of a pushed patch; raise PatchmgrError "no-patch" for other patches."""
        if name not in self.names:
            hint = f"to push it: patchmgr push {typed(name)}"
            raise PatchmgrError("no-patch", f"{shown(name)} is not pushed", hint)
        return self.names.index(name)

    def refuse_hidden(self, *names: str) -> None:
        """Raise PatchmgrError "hidden-patch" if guards or conditions hide one of the patches."""
        for name in names:
            if name in self.hidden:
                message = f"{shown(name)} is hidden: {self.hidden[name]}"
                is_selectable = self.file.line(name).refusal(self.selected) is not None
                edit = f"to change its conditions: patchmgr edit {typed(name)}"
                push = f"push it first: patchmgr push {typed(name)} --select SYM"
                hint = push if is_selectable else edit
                raise PatchmgrError("hidden-patch", message, hint)

    def unpushed(self) -> tuple[str, ...]:
        """Return the names of the patches that are neither pushed nor hidden, in series order."""
        pushed = set(self.names)
        return tuple(n for n in self.file.names() if n not in pushed and n not in self.hidden)

    def need_checkout(self) -> Checkout:
        """Return the checkout; raise PatchmgrError "usage" if there is none."""
        if self.checkout is None:
            raise UsageError("name a checkout with --to CHECKOUT, or run the command in a checkout")
        return self.checkout

    def content(self, path: str, state: State) -> Content | None:
        """Return a file as it is in a state of the series, or None if the state lacks the file."""
        entry = self.ground.entry(state, path)
        return None if entry is None else Content(entry, self.read(path, entry))

    def read(self, path: str, entry: Entry) -> bytes:
        """Return the content of a file; raise PatchmgrError "unsupported" for a submodule."""
        if entry.mode == GITLINK:
            problem = "is a submodule; patchmgr does not change submodules in a checkout"
            raise PatchmgrError("unsupported", f"{shown(path)} {problem}")
        return self.scratch.read(entry.blob)


def diff_digest(patch: Patch) -> str:
    """Return the sha256 of a patch's diff, without its header."""
    return hashlib.sha256(patch.diff + (b"-R" if patch.is_reversed else b"")).hexdigest()


def check_pin(opened: OpenSeries, state: State) -> None:
    """Raise "other-commit" if HEAD and `opened.parent` differ in a file of `state`."""
    checkout = opened.need_checkout()
    head = opened.scratch.tree(opened.head)
    if isinstance(opened.ground.pin, StoredTree) and head.id == opened.ground.pin.id:
        return
    for path in state:
        if head.entry(path) != opened.ground.pin.entry(path):
            raise _other_commit(opened, checkout, path)


def _other_commit(opened: OpenSeries, checkout: Checkout, path: str) -> PatchmgrError:
    record, root = opened.record, checkout.root
    place = f"{shown(path)} in {root} differs from"
    if record.on is not None:
        message = f"{place} the series {record.on}, which {record.name} is based on"
        chosen = "".join(f" --select {typed(symbol)}" for symbol in sorted(opened.selected))
        branch = f"patchmgr branch {record.on} --repo {typed(root)}{chosen}"
        hint = f"check out {record.on} first: {branch}, then git checkout patchmgr/{record.on}"
        return PatchmgrError("other-commit", message, hint)
    hints = (
        f"check out the pin: git -C {typed(root)} checkout {record.pin.commit}",
        "or rebase the series onto another state: patchmgr rebase --onto REF",
    )
    return PatchmgrError("other-commit", f"{place} the pin {shown(record.pin.ref)}", *hints)


@contextmanager
def opened_series(
    session: Session,
    options: CheckoutOptions,
    *,
    only_reads: bool = False,
    at_any_place: bool = False,
) -> Iterator[OpenSeries]:
    """Open the series that a command works on, and lock the workspace and the checkout.

    With `only_reads`, nothing is locked; in a dry run, the checkout is not. The pushed patches must
    be the first ones of the series, unless `at_any_place`. Raises PatchmgrError "other-series" if
    another series is in the checkout, and "changed-patch" if a patch changed since it was pushed.
    """
    with nullcontext() if only_reads else session.writing():
        pushed = pushed_targets(session.workspace, options.series) if options.to is None else ()
        targets = [root for root, _ in pushed] if options.to is None else [options.to]
        if len(targets) != 1:
            with _opened(session, None, options) as opened:
                yield _with_pushed(opened, at_any_place=at_any_place)
            return
        checkout = Checkout(open_clone(targets[0]))
        with (
            settled(session, checkout, only_reads=only_reads),
            _opened(session, checkout, options) as opened,
        ):
            yield _with_pushed(opened, at_any_place=at_any_place)


@contextmanager
def _opened(
    session: Session, checkout: Checkout | None, options: CheckoutOptions
) -> Iterator[OpenSeries]:
    series = options.series
    head = "" if checkout is None else checkout.clone.head()
    applied = None if checkout is None else applied_now(checkout, head)
    is_other = applied is not None and series not in (None, applied.series)
    if checkout is not None and applied is not None and is_other and applied.pushed != ():
        raise PatchmgrError(
            "other-series",
            f"the series {applied.series} is applied in {checkout.root}",
            f"remove that series with: patchmgr unapply {applied.series}"
            f" --to {typed(checkout.root)}",
        )
    known = applied.series if applied is not None else None
    name = series or known or only_series(session)
    loaded = load_series(session, name)
    upstream = loaded.upstream
    lenders = [upstream.store] if checkout is None else [upstream.store, checkout.clone.git_dir]
    with Scratch(lenders) as scratch:
        selected = frozenset(session.selected or (applied.selected if applied is not None else ()))
        parent = _parent(session, loaded, scratch, selected)
        pin, paths = scratch.tree(loaded.base.commit), touched_paths(loaded.patches)
        upstream.try_fetch_objects(needed_blobs([pin], paths), scratch)
        opened = OpenSeries(
            **asdict(loaded),
            session=session,
            options=options,
            by_name={patch.name: patch for patch in loaded.patches},
            selected=selected,
            scratch=scratch,
            ground=Ground(scratch.tree(parent), scratch, GitTextMerge(scratch)),
            checkout=checkout,
            head=head,
            applied=applied,
            parent=parent,
        )
        yield replace(opened, hidden=_hidden(opened))


def _parent(
    session: Session, loaded: LoadedSeries, scratch: Scratch, selected: frozenset[str]
) -> str:
    """Return the commit that a series applies to: its pin, or the head of the series below."""
    if loaded.below is None:
        return loaded.base.commit
    from patchmgr.services.carry import CarryOptions
    from patchmgr.services.load import SeriesRun

    run = SeriesRun(session, CarryOptions(selected), scratch, UpstreamStates(session))
    return run.base_commit(loaded)[0]


def _hidden(opened: OpenSeries) -> dict[str, str]:
    """Map each hidden patch to the guard, group or condition that hides it, as a phrase."""
    refusals = ((line.name, line.refusal(opened.selected)) for line in opened.file.lines)
    hidden = {name: why for name, why in refusals if name is not None and why is not None}
    let_in = [patch for patch in opened.patches if patch.name not in hidden]
    end = End(opened.base, opened.scratch.tree(opened.base.commit))
    upstreams, upstream = UpstreamStates(opened.session), opened.record.upstream
    views = upstreams.views(upstream, opened.upstream, opened.scratch, patches=let_in, base=end)
    if views is not None:
        hidden.update(missing_on(let_in, views.base, views.states))
    return hidden


def _with_pushed(opened: OpenSeries, *, at_any_place: bool) -> OpenSeries:
    """Add the pushed patches; raise PatchmgrError if a patch has changed since it was pushed."""
    applied = opened.applied
    if applied is None or opened.checkout is None or applied.series != opened.name:
        return opened
    if applied.pushed is None:
        return _adopted(opened, opened.checkout, applied)
    names = tuple(patch.name for patch in applied.pushed)
    for patch in applied.pushed:
        found = opened.by_name.get(patch.name)
        if found is None or diff_digest(found) != patch.digest:
            what = "has been removed from the series" if found is None else "has changed"
            raise _changed(opened, f"{shown(patch.name)} {what} since it was pushed")
    if not at_any_place:
        _refuse_other_places(opened, names)
    hidden = {name: why for name, why in opened.hidden.items() if name not in names}
    states = _states(opened, applied.pushed)
    opened = replace(opened, hidden=hidden, pushed=applied.pushed, states=states)
    check_pin(opened, opened.state)
    return opened


def _refuse_other_places(opened: OpenSeries, pushed: Sequence[str]) -> None:
    """Raise PatchmgrError "changed-patch" unless the pushed patches are the first of the series."""
    hints = ("pop the patches with: patchmgr pop -a", "then push them again: patchmgr push -a")
    order = opened.file.names()
    if [name for name in order if name in pushed] != list(pushed):
        message = "the order of the series has changed since its patches were pushed"
        raise PatchmgrError("changed-patch", message, *hints)
    end = order.index(pushed[-1]) if pushed else 0
    for name in order[:end]:
        if name not in pushed and name not in opened.hidden:
            message = f"{shown(name)} is not pushed, but a later patch is"
            raise PatchmgrError("changed-patch", message, *hints)


def _states(opened: OpenSeries, pushed: Sequence[PushedPatch]) -> tuple[State, ...]:
    """Return the state before the first pushed patch, and the state after each pushed patch."""
    whole = [patch.name for patch in pushed if not patch.is_forced]
    states = fold_states(opened.ground, opened.series(whole), {})
    if len(whole) == len(pushed):
        return states
    side = opened.ground.overlay(states[-1])
    force_patch(side, opened.by_name[pushed[-1].name], opened.scratch)
    return (*states, dict(side.changes()))


def _changed(opened: OpenSeries, message: str) -> PatchmgrError:
    to = f"--to {typed(opened.need_checkout().root)}"
    hints = (
        f"remove all pushed patches: patchmgr unapply {opened.name} {to}",
        f"then push them again: patchmgr push -a --series {opened.name} {to}",
    )
    return PatchmgrError("changed-patch", message, *hints)


def _adopted(opened: OpenSeries, checkout: Checkout, applied: Record) -> OpenSeries:
    """Return a series that `apply` put into the checkout, with all its patches counted as pushed.

    Raises PatchmgrError if it was applied as commits, or if a file was edited since.
    """
    if applied.head is not None:
        message = f"the series {opened.name} is applied in {checkout.root} as commits"
        to = f"--to {typed(checkout.root)}"
        push = f"patchmgr push -a --series {opened.name} {to}"
        hint = f"patchmgr unapply {opened.name} {to}, then {push}"
        raise PatchmgrError("other-series", message, hint)
    names = [name for name in opened.file.names() if name not in opened.hidden]
    pushed = tuple(PushedPatch(name, diff_digest(opened.by_name[name])) for name in names)
    opened = replace(
        opened, pushed=pushed, states=fold_states(opened.ground, opened.series(names), {})
    )
    check_pin(opened, opened.state)
    made = {path: opened.content(path, opened.state) for path in opened.state}
    made = checkout.clone.conversion.to_work_tree(made)
    if {p: found_state(c) for p, c in made.items()} != {f.path: f.after for f in applied.files}:
        raise _changed(opened, f"files in {checkout.root} differ from the result of the patches")
    return opened


def edited_files(
    opened: OpenSeries, only: Sequence[str] = (), *, is_told: bool = False
) -> dict[str, Entry | None]:
    """Return the files that differ from the state after the last pushed patch, keyed by path.

    The files compared are those that git tracks, that were added with `git add` or that a patch
    created, or else `only` the named files and folders ("": the top folder). Unsafe names are left
    out, and reported unless `is_told`. Raises PatchmgrError "usage" if a named file does not exist.
    """
    checkout = opened.need_checkout()
    candidates = {*checkout.clone.changed_paths(), *opened.state}
    if only:
        named = {path for path in only if path and not checkout.tree.is_folder(path)}
        below = {p for folder in set(only) - named for p in _files_below(opened, folder)}
        candidates = {p for p in candidates if is_in(p, only)} | named | below
    unsafe = sorted(path for path in candidates if refusal(path) and path not in only)
    if unsafe and not is_told:
        names = ", ".join(map(shown, unsafe))
        opened.session.say(f"Left out, because a patch cannot have such names: {names}")
    found = _entries_now(opened, sorted(candidates - set(opened.rejects) - set(unsafe)))
    found = {p: e for p, e in found.items() if e != opened.ground.entry(opened.state, p)}
    for path in filter(None, only):
        entry = opened.ground.entry(opened.state, path)
        if entry is not None and entry.mode == GITLINK:
            opened.read(path, entry)
        is_known = path in found or opened.ground.pin.entry(path) is not None
        is_known = is_known or any(path in state for state in opened.states)
        if not is_known and not any(is_in(p, (path,)) for p in candidates - {path}):
            raise UsageError(f"there is no file {shown(path)} in {checkout.root}")
    return found


def _entries_now(opened: OpenSeries, paths: Sequence[str]) -> dict[str, Entry | None]:
    """Store files of the checkout as git would, and return their entries, keyed by path."""
    checkout = opened.need_checkout()
    files = {check_path(path, what="The path"): found_file(checkout, path) for path in paths}
    now = checkout.clone.conversion.as_git(
        files,
        lambda: {path: opened.content(path, opened.state) for path in (*paths, *opened.state)},
        opened.applied,
    )
    for content in now.values():
        if content is not None:
            opened.scratch.add(content.content)
    return {path: content.entry if content else None for path, content in now.items()}


def _files_below(opened: OpenSeries, folder: str) -> set[str]:
    """Return the untracked files below a folder, except those in nested repositories."""
    files = (p for p in opened.need_checkout().clone.untracked() if not p.endswith("/"))
    return {path for path in files if is_in(path, (folder,))}


def is_in(path: str, places: Collection[str]) -> bool:
    """Return whether `places` contains the path or a folder above it; "" is the top folder."""
    return any(not place or path == place or path.startswith(place + "/") for place in places)


def untracked_files(opened: OpenSeries, but: Collection[str] = ()) -> tuple[str, ...]:
    """Return the files that git neither tracks nor ignores and that no pushed patch created."""
    known = {*opened.state, *opened.rejects, *but}
    return tuple(p for p in opened.need_checkout().clone.untracked() if p not in known)


def paths_of(opened: OpenSeries, given: Sequence[str]) -> tuple[str, ...]:
    """Convert paths that the user gave to paths relative to the checkout's top folder ("").

    Raises PatchmgrError "usage" for a path outside the checkout.
    """
    root, cwd = opened.need_checkout().root, opened.options.cwd
    start = cwd if cwd.is_relative_to(root) else root
    found = []
    for name in given:
        if not name:  # as git says of an empty pathspec: a variable of a script may be unset
            raise UsageError("the empty string is not a path; for the current folder, use .")
        whole = Path(normpath(start / name))
        if not whole.is_relative_to(root):
            raise UsageError(f"{shown(name)} is not a path below {root}")
        path = "" if whole == root else whole.relative_to(root).as_posix()
        found.append(path and check_path(path, what="The path"))
    return tuple(found)
