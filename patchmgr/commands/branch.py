"""`branch`: build the branch of a series on its pin, with one commit for each patch."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict, replace

from patchmgr.commands.series import series_graph
from patchmgr.engines.series.picking import SUFFIX, pick
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.shown import shown, typed
from patchmgr.model.patch import COMMITTER_EMAIL, COMMITTER_NAME
from patchmgr.model.snapshot import ZERO_ID, object_id
from patchmgr.plumbing.clones import Clone, open_clone
from patchmgr.plumbing.committing import (
    UserIdentity,
    as_mine,
    push_refs,
    remote_refs,
    tag_object,
    write_tag,
)
from patchmgr.plumbing.git_upstream import check_url
from patchmgr.plumbing.namespaces import claim
from patchmgr.plumbing.objects import ObjectReader, object_named
from patchmgr.plumbing.stores import RefMove, adopt_pack, is_ref_name, move_refs
from patchmgr.services.carry import CarryOptions
from patchmgr.services.checkouts import series_digest
from patchmgr.services.load import series_at_pin
from patchmgr.services.published import (
    Published,
    is_own_commit,
    read_published,
    remember_published,
    tag_message,
)
from patchmgr.services.series import tell_strays
from patchmgr.services.session import Session
from patchmgr.services.syncs import read_syncs
from patchmgr.workspace import Workspace


class Built(Published, frozen=True):
    """A built branch."""

    commits: int  # how many
    remote: str | None = None  # the remote or URL to which the branch was pushed


class Publication(Struct, frozen=True):
    """Where and how to publish a branch."""

    repository: Path | None = None  # the clone to build the branch in; None for the store
    name: str | None = None
    tag: str | None = None
    mine: UserIdentity = UserIdentity()  # which parts of the user's identity go into the commits
    remote: str | None = None  # the remote or URL to push the branch to
    is_forced: bool = False  # may replace branches and tags that patchmgr did not make


def mine_of(committer: str | None, *, signs_off: bool, signs: bool) -> UserIdentity:
    """Return what the options add to the commits: the committer, a sign-off, a signature."""
    if committer not in (None, "me"):
        raise UsageError(f"--committer must be 'me', not {committer}")
    return UserIdentity(committer == "me", signs_off, signs)


def left_out(
    session: Session, series: str, *, without: Sequence[str], only: Sequence[str]
) -> dict[str, str]:
    """Return the patches that `--without` or `--only` exclude, each with the reason.

    Both options name patches and groups. Patches that those in `only` depend on are kept, too.
    """
    if not without and not only:
        return {}
    workspace = session.workspace
    names = workspace.series_file(series).names()
    groups = workspace.settings(series).groups

    def members(given: str) -> Sequence[str]:
        if given not in groups:
            return (pick(given, names, series=series, what="patch or group"),)
        tell_strays(session, series, (given,))
        return [n for n in names if not {n, n.removesuffix(SUFFIX)}.isdisjoint(groups[given])]

    unwanted = {name for given in without for name in members(given)}
    wanted = {name for given in only for name in members(given)}
    if only and wanted <= unwanted:
        raise UsageError("--only and --without leave no patch")
    if wanted:
        wanted |= _needed(session, series, wanted, unwanted)
    found = {}
    for name in names:
        if name in unwanted:
            found[name] = "left out by --without"
        elif only and name not in wanted:
            found[name] = "left out by --only"
    return found


def _needed(
    session: Session, series: str, wanted: Collection[str], unwanted: Collection[str]
) -> set[str]:
    """Return the other patches that those in `wanted` need, and tell the user why."""
    found: set[str] = set()
    for patch in reversed(series_graph(session, series)):
        for need in patch.needs if patch.name in wanted or patch.name in found else ():
            if need.patch not in {*wanted, *unwanted, *found}:
                found.add(need.patch)
                name, user, why = shown(need.patch), shown(patch.name), need.path or need.symbol
                session.say(f"Including {name}, which {user} needs for {why}")
    return found


def branch(
    session: Session, name: str, wanted: Publication, *, left_out: Mapping[str, str]
) -> Built:
    """Build the branch of a series in the store or in a clone, and push it if requested.

    `left_out` gives the reason for each patch that is left out. The work tree does not change.
    """
    tag = wanted.tag
    record = session.workspace.series_record(name)
    # First: if the series changes meanwhile, the tag must not name the checks of the new state.
    digest, upstream = series_digest(session, record, session.selected), session.upstream_of(record)
    short = wanted.name or f"patchmgr/{name}"
    clone = None if wanted.repository is None else open_clone(wanted.repository)
    git_dir = upstream.store if clone is None else clone.git_dir
    place = _Place(session.workspace, git_dir, clone, wanted.is_forced)
    names = _refs(short, tag)
    at = None if clone is None else clone.checked_out().get(names[0])
    if at is not None:
        raise UsageError(
            f"{short} is checked out in {shown(at)}",
            f"choose another name with --name, or detach it: git -C {typed(at)} checkout --detach",
        )
    options = CarryOptions(session.selected, left_out={name: left_out})
    with series_at_pin(session, name, options) as at_pin:
        scratch, loaded, base = at_pin.scratch, at_pin.loaded, at_pin.loaded.base
        commits = at_pin.commits()
        if wanted.mine.is_asked:
            config = None if clone is None else clone.private
            commits = as_mine(scratch, base.commit, commits, wanted.mine, config)
        head = commits[-1] if commits else base.commit
        where = upstream.store if clone is None else clone.root
        now = place.value(names[0])
        keeps = tag is not None or not place.is_ours(now)
        old = _old_head(session, place, name, now, head) if keeps else None
        fallback = None if old is None else f"{short}-fallback-{old[:12]}"
        remote = check_remote(wanted.remote, clone)
        published = Published(name, str(where), short, tag, fallback, head, base.commit)
        built = Built(**asdict(published), commits=len(commits), remote=remote)
        moves = _branch_move(place, names[0], now, head)
        made = b""
        if tag is not None:
            told = tag_message(session, loaded, at_pin.carried.outcomes, digest)
            made = tag_object(tag, head, told, loaded.author)
            moves += _tag_move(place, names[1], head, made)
        if fallback is not None and place.value(f"refs/tags/{fallback}") is None:
            moves.append(RefMove(f"refs/tags/{fallback}", old, ZERO_ID))
        pushes = _pushes(place, published, remote, moves)
        if session.is_dry_run:
            if clone is not None:
                clone.can_take(scratch.git_dir, base.commit)
            return built
        if clone is None:
            adopt_pack(upstream.store, scratch.git_dir)
        else:
            clone.take(scratch.git_dir, head, base.commit, bring=upstream.try_fetch_objects)
        if tag is not None:
            write_tag(place.git_dir, made)
        if remote is not None and pushes:
            bring = upstream.try_fetch_objects if clone is None else None
            push_refs(place.git_dir, remote, pushes, bring=bring)
        # First, so that a branch with the user's own commits is known if the run ends in between.
        remember_published(session.workspace, published)
        place.move(moves)
    return built


def check_remote(remote: str | None, clone: Clone | None) -> str | None:
    """Return the remote or URL to push to; raise PatchmgrError if it is not valid."""
    if remote is None:
        return None
    if remote.startswith("-") or not remote:
        raise UsageError(f"{shown(remote)} is not the name or URL of a remote")
    try:
        # without a clone, only a URL is valid
        return remote if clone is not None else check_url(remote)
    except PatchmgrError as fault:
        hint = "the name of a remote needs the clone that defines it: --repo DIR"
        raise PatchmgrError(fault.kind, fault.message, hint) from fault


def _pushes(
    place: _Place, built: Published, remote: str | None, moves: Sequence[RefMove]
) -> list[RefMove]:
    """Plan the updates of refs in a remote.

    Unless `place.is_forced`, raises PatchmgrError "usage" if patchmgr did not make a ref there, or
    if a tag there would move.
    """
    if remote is None:
        return []
    wanted = {f"refs/heads/{built.branch}": built.head}
    wanted |= {move.name: str(move.new) for move in moves}
    if built.tag is not None:
        name = f"refs/tags/{built.tag}"
        wanted.setdefault(name, place.value(name) or built.head)
    there = remote_refs(place.git_dir, remote, tuple(wanted))
    found = []
    for name, new in wanted.items():
        old = there.get(name)
        if old == new:
            continue
        is_branch = not name.startswith("refs/tags/")
        is_ours = old is None or (is_branch and place.has_made(old))
        if not is_ours and not place.is_forced:
            short = name.split("/", 2)[2]
            raise UsageError(
                f"{shown(remote)} has {shown(short)} at {str(old)[:12]}, which patchmgr did not put"
                " there",
                f"look at that commit: git fetch {shown(remote)} {shown(short)}",
                "choose another name, or use --force to overwrite",
            )
        found.append(RefMove(name, new, old))
    return found


def _old_head(
    session: Session, place: _Place, series: str, old: str | None, head: str
) -> str | None:
    """Return the head that the new head replaces, or None if it replaces none."""
    # in a store, the rebase has already moved the branch
    if old in (None, head) and place.clone is None:
        syncs = read_syncs(session.workspace, series)
        old = next((one.old_head for one in syncs if not one.is_dry_run), None)
    if old is None or old == head:
        return None
    with ObjectReader(place.git_dir) as reader:
        return reader.commit(old)


class _Place(Struct, frozen=True):
    """The repository in which the branch is built: a store, or a user's clone."""

    workspace: Workspace
    git_dir: Path
    clone: Clone | None
    is_forced: bool  # may replace branches and tags that patchmgr did not make

    def value(self, name: str) -> str | None:
        """Return the id of the object that a ref points to, or None if the ref is missing."""
        return object_named(self.git_dir, self.workspace.ref_at(self.git_dir, name))

    def has_made(self, commit: str) -> bool:
        """Return whether patchmgr made a commit, perhaps with the user as its committer."""
        with ObjectReader(self.git_dir) as reader:
            found = reader.find(commit)
        is_published = any(one.head == commit for one in read_published(self.workspace))
        return is_published or (found is not None and is_own_commit(found.content))

    def is_ours(self, head: str | None) -> bool:
        """Return whether a branch may be replaced without --force.

        It may if it does not exist yet (`head` is None), is in the store, or was made by patchmgr.
        """
        return head is None or self.clone is None or self.has_made(head)

    def move(self, moves: Sequence[RefMove]) -> None:
        if self.clone is None:
            claim(self.workspace.root)
        named = [replace(m, name=self.workspace.ref_at(self.git_dir, m.name)) for m in moves]
        move_refs(self.git_dir, named)


def _refs(branch: str, tag: str | None) -> tuple[str, ...]:
    """Return the full names of the refs of a branch and a tag; raise "usage" if git refuses one."""
    names = [f"refs/heads/{branch}"] + ([] if tag is None else [f"refs/tags/{tag}"])
    for given, full in zip((branch, tag), names, strict=False):
        if str(given).startswith("-") or given == "HEAD" or not is_ref_name(full):
            raise UsageError(f"{shown(str(given))} is not a valid branch or tag name")
    return tuple(names)


def _branch_move(place: _Place, name: str, old: str | None, head: str) -> list[RefMove]:
    """Plan the update of the branch.

    Raises PatchmgrError "usage" if it would drop a person's commits, unless `place.is_forced`.
    """
    if old == head:
        return []
    if not place.is_ours(old) and not place.is_forced:
        raise _in_the_way(place, name, "holds commits that patchmgr did not write")
    return [RefMove(name, head, old or ZERO_ID)]


def _tag_move(place: _Place, name: str, head: str, tag: bytes) -> list[RefMove]:
    """Plan the update of a tag; a tag that patchmgr made on the same commit is replaced."""
    new, old = object_id("tag", tag), place.value(name)
    if old in (new, head):
        return []
    if old is not None and not place.is_forced and not _is_our_tag(place.git_dir, old, head):
        raise _in_the_way(place, name, "already exists")
    return [RefMove(name, new, old or ZERO_ID)]


def _in_the_way(place: _Place, name: str, why: str) -> PatchmgrError:
    where = place.clone.root if place.clone is not None else place.git_dir
    return UsageError(
        f"{name} in {where} {why}", "choose another name, or use --force to overwrite"
    )


def _is_our_tag(git_dir: Path, tag: str, head: str) -> bool:
    """Return whether a tag was made by patchmgr and is on the given commit."""
    with ObjectReader(git_dir) as reader:
        found = reader.find(tag)
    if found is None or found.kind != "tag":
        return False
    top = found.content.split(b"\n\n", 1)[0]
    tagger = f"\ntagger {COMMITTER_NAME} <{COMMITTER_EMAIL}> ".encode()
    return top.startswith(f"object {head}\n".encode()) and tagger in top
