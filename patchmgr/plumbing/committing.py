"""Write annotated tags, and commits in the user's name, and update the refs of a remote."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.shown import shown
from patchmgr.model.patch import COMMITTER_EMAIL, COMMITTER_NAME, Author
from patchmgr.plumbing import git_process
from patchmgr.plumbing.clones import identity, missing_objects
from patchmgr.plumbing.objects import ObjectReader
from patchmgr.plumbing.scratch_repository import Scratch
from patchmgr.plumbing.stores import RefMove


def tag_object(name: str, commit: str, message: bytes, dated: Author) -> bytes:
    """Return the content of a tag object; patchmgr is the tagger, and `dated` gives the date."""
    tagger = f"{COMMITTER_NAME} <{COMMITTER_EMAIL}> {dated.date}"
    head = f"object {commit}\ntype commit\ntag {name}\ntagger {tagger}\n\n"
    return git_process.raw(head) + message


def write_tag(git_dir: Path, tag: bytes) -> None:
    """Write a tag object; the tagged commit must exist."""
    git_process.output(["mktag"], git_dir=git_dir, data=tag)


def remote_refs(git_dir: Path, remote: str, names: Sequence[str]) -> Mapping[str, str]:
    """Map the named refs of a remote to their ids; refs that do not exist are left out.

    Raises PatchmgrError "push" if the remote cannot be read.
    """
    printed = _ask(git_dir, remote, ["ls-remote", "--", remote, *names])
    rows = (line.split("\t") for line in git_process.lines(git_process.text(printed)))
    return {name: commit for commit, name in rows if name in names}


def fetch_ref(git_dir: Path, remote: str, name: str) -> None:
    """Fetch the objects of a remote's ref, but update no ref; a shallow clone stays shallow."""
    arguments = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"]
    arguments += ["--depth=1"] * (git_dir / "shallow").exists()
    _ask(git_dir, remote, [*arguments, "--recurse-submodules=no", "--", remote, name], "fetch from")


def push_refs(
    git_dir: Path,
    remote: str,
    moves: Sequence[RefMove],
    *,
    bring: Callable[[set[str]], None] | None = None,
) -> None:
    """Update all refs on a remote, or none.

    `bring` fetches objects that the remote needs and the store lacks. Raises PatchmgrError "push"
    if a ref on the remote no longer has its old id.
    """
    leases = [f"--force-with-lease={move.name}:{move.old or ''}" for move in moves]
    specs = [f"{move.new}:{move.name}" for move in moves]
    atomic = ["--atomic"] if len(moves) > 1 else []
    arguments = ["push", "--quiet", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"]
    arguments += ["--no-signed", *atomic, *leases, "--", remote, *specs]
    try:
        _ask(git_dir, remote, arguments)
    except PatchmgrError as fault:
        # The store lacks most of upstream's file contents, which a remote behind upstream needs.
        lacked = _lacked(git_dir, remote, moves) if bring and _LACKS in fault.message else set()
        if not bring or not lacked:
            raise
        bring(lacked)
        _ask(git_dir, remote, arguments)


_LACKS = "unable to read"


def _lacked(git_dir: Path, remote: str, moves: Sequence[RefMove]) -> set[str]:
    """Return the objects that the push needs and the repository lacks."""
    printed = git_process.text(_ask(git_dir, remote, ["ls-remote", "--", remote]))
    with ObjectReader(git_dir) as reader:
        known = reader.kinds({line.partition("\t")[0] for line in git_process.lines(printed)})
    # The list would hold all of upstream's old file contents.
    if not known:
        return set()
    ends = "".join([*(f"{move.new}\n" for move in moves), *(f"^{name}\n" for name in known)])
    return missing_objects(git_dir, ends)


def _ask(
    git_dir: Path, remote: str, arguments: Sequence[str], what: str = "read or move refs of"
) -> bytes:
    env = git_process.user_environment()
    asked = ["config", "--get", f"remote.{remote}.url"]
    is_named = git_process.run(asked, git_dir=git_dir, good=(0, 1), env=env)[0] == 0
    # The URL of a configured remote may be a path relative to the work tree.
    cwd = git_dir.parent if is_named and git_dir.name == ".git" else None
    try:
        return git_process.run(arguments, git_dir=git_dir, cwd=cwd, env=env)[1]
    except PatchmgrError as fault:
        if fault.kind != "git":
            raise
        # A store has the contents of few upstream files.
        lacks = (
            "bring the remote up to date with upstream, or push from a clone that has all contents:"
            " patchmgr branch SERIES --repo CLONE --push REMOTE"
        )
        raise PatchmgrError(
            "push",
            f"cannot {what} {shown(remote)}: {fault.message}",
            *((lacks,) if _LACKS in fault.message else ()),
            "no ref was moved, here or on the remote; check: git remote -v, git ls-remote REMOTE",
        ) from fault


# GnuPG needs these to find its agent, and the agent needs them to ask for the passphrase.
_FOR_GPG = ("GNUPGHOME", "GPG_TTY", "PINENTRY_USER_DATA")
_PERSON = re.compile(rb"(.*?) ?<(.*?)> (\d+ [-+]\d{4})")


class UserIdentity(Struct, frozen=True):
    """Which parts of the user's identity go into commits.

    With none, all users get the same commit ids.
    """

    is_committer: bool = False
    signs_off: bool = False
    signs: bool = False

    @property
    def is_asked(self) -> bool:
        """Return whether any part of the user's identity is to go into the commits."""
        return self.is_committer or self.signs_off or self.signs


def as_mine(
    scratch: Scratch, base: str, commits: Sequence[str], mine: UserIdentity, config: Path | None
) -> tuple[str, ...]:
    """Rewrite commits with the user's identity; the first new commit has the parent `base`.

    Returns the new ids. `config` is the repository whose configuration gives the user's name and
    signing settings (None: the user's global configuration). Raises PatchmgrError "identity" or
    "signing".
    """
    asked = config or scratch.git_dir
    who = identity(asked, "COMMITTER")
    if who is None:
        hint = 'git config --global user.name "A. Name"; git config --global user.email a@b.org'
        raise PatchmgrError("identity", "git does not know who you are", hint)
    key = _key(asked, who) if mine.signs else ""
    found: list[str] = []
    for commit in commits:
        content = _edited(scratch, commit, found[-1] if found else base, who, mine)
        if mine.signs:
            found.append(_signed(scratch, content, asked, key))
        else:
            found.append(scratch.write_loose("commit", content))
    if not found:
        return ()
    # Only packs are moved to a store.
    pack = str(scratch.git_dir / "objects" / "pack" / "pack")
    git_process.ask(scratch.git_dir, "pack-objects", "--quiet", pack, data=git_process.words(found))
    return tuple(found)


def _edited(scratch: Scratch, commit: str, parent: str, who: str, mine: UserIdentity) -> bytes:
    old = scratch.reader.find(commit)
    assert old is not None
    head, _, message = old.content.partition(b"\n\n")
    head = re.sub(rb"(?m)^parent [0-9a-f]+$", b"parent " + parent.encode(), head, count=1)
    if mine.is_committer:
        line = b"committer " + git_process.raw(who)
        head = re.sub(rb"(?m)^committer .*$", lambda match: line, head, count=1)
    if mine.signs_off:
        name = who[: who.rindex(">") + 1]
        message = git_process.output(
            ["interpret-trailers", "--no-divider", "--if-exists", "addIfDifferent",
             "--trailer", f"Signed-off-by: {name}"],
            git_dir=scratch.git_dir, data=message,
        )  # fmt: skip
    return head + b"\n\n" + message


def _key(config: Path, who: str) -> str:
    """Return the key for git's option -S: "" if git's settings name a key, or the user's email."""
    for setting, ssh in (("user.signingkey", None), ("gpg.format", b"ssh")):
        arguments = ["config", "--get", setting]
        _, printed = git_process.run(
            arguments, git_dir=config, good=(0, 1), env=git_process.user_environment()
        )
        if printed.strip() and printed.strip() == (ssh or printed.strip()):
            return ""
    # Without it, git would look for the key of the committer, which is patchmgr.
    return who[who.rindex("<") + 1 : who.rindex(">")]


def _signed(scratch: Scratch, content: bytes, config: Path, key: str) -> str:
    """Write a commit with the user's signature into the temporary repository, and return its id."""
    head, _, message = content.partition(b"\n\n")
    fields = dict(line.split(b" ", 1) for line in head.split(b"\n"))
    env = {name: os.environ[name] for name in _FOR_GPG if name in os.environ}
    env["GIT_OBJECT_DIRECTORY"] = str(scratch.git_dir / "objects")
    for role in ("author", "committer"):
        match = _PERSON.fullmatch(fields[role.encode()])
        assert match is not None
        for part, value in zip(("NAME", "EMAIL", "DATE"), match.groups(), strict=True):
            at = "@" if part == "DATE" else ""
            env[f"GIT_{role.upper()}_{part}"] = at + git_process.text(value)
    tree, parent = fields[b"tree"].decode(), fields[b"parent"].decode()
    arguments = ["-c", "i18n.commitEncoding=UTF-8", "commit-tree", f"-S{key}", "-p", parent]
    try:
        _, printed = git_process.run(
            [*arguments, "-F", "-", tree],
            git_dir=config,
            data=message,
            env=git_process.user_environment(env),
        )
    except PatchmgrError as fault:
        raise PatchmgrError(
            "signing",
            f"git cannot sign the commit: {fault.message.rpartition(': ')[2]}",
            "set the key: git config user.signingkey KEY",
            "if it is an SSH key: git config gpg.format ssh",
        ) from fault
    return printed.decode().strip()
