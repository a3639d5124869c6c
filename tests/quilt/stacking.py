"""quilt's `new`, `push`, `pop` and the lists, said to patchmgr."""

from __future__ import annotations

from collections.abc import Sequence

from tests.quilt.project import Options, Project, Stop
from tests.quilt.values import Answer
from tests.quilt.wording import failures, no_file


def new(project: Project, words: Sequence[str]) -> int:
    """Make a patch behind the top."""
    options = Options(words, "p:")
    project.look()
    given = options.rest[0].removeprefix(project.folders.prefix)
    name = project.folders.inside(given)
    if name in (*project.pushed, *project.left):
        raise Stop(f"Patch {project.shown(name)} exists already, please choose a new name")
    project.folders.name_bare(given)
    project.must(project.folders.desk("new", name))
    project.notes.files[name] = []
    project.say(f"Patch {project.shown(name)} is now on top")
    return 0


def push(project: Project, words: Sequence[str]) -> int:
    """Push patches, and say of each what `patch` would."""
    options = Options(words, "afqvm", ["fuzz=", "merge=", "leave-rejects", "color=", "refresh"])
    options.refuse("-m", "--fuzz", "--merge")
    if "-f" in options and "--refresh" in options:
        raise Stop("Options -f and --refresh are mutually exclusive")
    project.look()
    wanted = _wanted(project, options)
    if not project.left:
        shown = project.shown(project.top or "")
        raise Stop(f"File series fully applied, ends at patch {shown}", 2)
    for name in wanted:
        _push(project, name, options)
        if "--refresh" in options:
            _refresh(project, name)
        if "-q" not in options:
            project.say("")
    project.say(f"Now at patch {project.shown(wanted[-1])}")
    return 0


def _wanted(project: Project, options: Options) -> list[str]:
    if "-a" in options:
        return project.left
    if not options.rest:
        return project.left[:1]
    given = options.rest[0]
    if given.isdigit():
        if given == "0":
            raise Stop("No patch applied", 2)
        return project.left[: int(given)]
    name = project.find(given)
    if name in project.pushed:
        raise Stop(f"Patch {project.shown(name)} is currently applied", 2)
    return project.left[: project.left.index(name) + 1]


def _push(project: Project, name: str, options: Options) -> None:
    is_quiet, is_forced = "-q" in options, "-f" in options
    answer = project.folders.desk("push", name)
    message = answer.message
    if answer.kind == "bad-patch" and is_forced:
        answer = project.folders.desk("push", name, "--force")
    if answer.kind not in ("", "bad-patch"):
        project.fail(answer)
    project.say(f"Applying patch {project.shown(name)}")
    is_clean = not answer.code
    paths = project.paths(name)
    if is_clean or is_forced:
        project.notes.files[name] = paths
    if not paths:
        is_there = (project.folders.patches / project.folders.outside(name)).exists()
        how = "appears to be empty; applied" if is_there else "does not exist; applied empty patch"
        project.say(f"Patch {project.shown(name)} {how}")
    for path in paths:
        if not is_quiet:
            project.say(f"patching file {path}")
        if not is_clean:
            _tell_failures(project, name, path, message, options)
    if not is_clean:
        end = "Applied patch {} (forced; needs refresh)"
        raise Stop((end if is_forced else "Patch {} does not apply (enforce with -f)").format(
            project.shown(name)
        ))  # fmt: skip


def _tell_failures(project: Project, name: str, path: str, message: str, options: Options) -> None:
    is_forced = "-f" in options
    place = project.folders.root / f"{path}.rej"
    rejected = place.read_bytes() if is_forced and place.exists() else None
    if path not in _rejected(project, name, message) and rejected is None:
        return
    patch = project.patch(name)
    change = next(file for file in patch.files if file.path == path)
    if message.endswith(f": {path}: the file is not there") and not is_forced:
        project.say(no_file(change, patch.raw.decode(errors="surrogateescape")))
        return
    found = failures(change, message, rejected)
    for line in found.lines(is_quiet="-q" in options, is_forced=is_forced):
        project.say(line)


def _rejected(project: Project, name: str, message: str) -> list[str]:
    """Return the files with hunks that have no place, as a dry run says."""
    if project.top == name:
        return []
    answer = project.folders.desk("push", name, "--force", "--dry-run")
    document = answer.json
    return [path.removesuffix(".rej") for path in document.get("rejects", ())]


def _refresh(project: Project, name: str) -> None:
    from tests.quilt.contents import refresh_patch

    project.say(refresh_patch(project, name))


def pop(project: Project, words: Sequence[str]) -> int:
    """Pop patches, and say of each what becomes of its files."""
    options = Options(words, "afRqv", ["refresh"])
    if "-f" in options and "--refresh" in options:
        raise Stop("Options -f and --refresh are mutually exclusive")
    project.look(only_pushed=True)
    going = _going(project, options)
    if not going:
        raise Stop("No patch removed", 2)
    for name in going:
        if "--refresh" in options:
            _refresh(project, name)
        pop_patch(project, name, is_quiet="-q" in options, is_forced="-f" in options)
        if "-q" not in options:
            project.say("")
    tell_top(project)
    return 0


def tell_top(project: Project) -> None:
    """Say what the top is now."""
    project.say(
        f"Now at patch {project.shown(project.top)}" if project.top else "No patches applied"
    )


def _going(project: Project, options: Options) -> list[str]:
    behind = list(reversed(project.pushed))
    if "-a" in options:
        return behind
    if not options.rest:
        return behind[:1]
    given = options.rest[0]
    if given.isdigit():
        return behind[: int(given)]
    return behind[: behind.index(project.find_pushed(given))]


def pop_patch(project: Project, name: str, *, is_quiet: bool, is_forced: bool = False) -> None:
    """Pop the top patch."""
    own = project.notes.files.get(name, ())
    signs = {path: sign for path, sign in project.files(name).items() if path in own}
    answer = _popped(project, name, is_forced=is_forced)
    if answer.kind in ("edited", "changed-patch"):
        raise Stop(
            f"Patch {project.shown(name)} does not remove cleanly (refresh it or enforce with -f)\n"
            "Hint: `quilt diff -z' will show the pending changes."
        )
    project.must(answer)
    project.forget(name)
    project.pushed.pop()
    shown = project.shown(name)
    project.say(
        f"Removing patch {shown}" if signs else f"Patch {shown} appears to be empty, removing"
    )
    for path, sign in signs.items() if not is_quiet else ():
        project.say(f"{'Removing' if sign == '+' else 'Restoring'} {path}")


def _popped(project: Project, name: str, *, is_forced: bool) -> Answer:
    """Pop, unless a file that quilt was told of has edits that the patch does not know."""
    added = project.known(project.notes.added.get(name, []))
    if added and not is_forced:
        answer = project.folders.desk("changes", *added)
        if not answer.code and answer.json["diff"]:
            return Answer(1, b'{"error": {"kind": "edited"}}', "")
    return project.folders.desk("pop", *(["--force"] if is_forced else []))


def series(project: Project, words: Sequence[str]) -> int:
    """List the patches, with -v how each stands."""
    options = Options(words, "v", ["color="])
    project.look()
    for name in (*project.pushed, *project.left):
        mark = "=" if name == project.top else "+" if name in project.pushed else " "
        project.say(f"{mark} {project.shown(name)}" if "-v" in options else project.shown(name))
    return 0


def top(project: Project, words: Sequence[str]) -> int:
    """Say what the top is."""
    project.look()
    project.say(project.shown(project.need_top()))
    return 0


def next_(project: Project, words: Sequence[str]) -> int:
    """Say what comes behind the top, or behind a patch."""
    return _neighbour(project, words, 1)


def previous(project: Project, words: Sequence[str]) -> int:
    """Say what comes before the top, or before a patch."""
    return _neighbour(project, words, -1)


def _neighbour(project: Project, words: Sequence[str], step: int) -> int:
    project.look()
    order = [*project.pushed, *project.left]
    start = project.find(words[0]) if words else project.top
    if start is None and step < 0:
        raise Stop("No patches applied")
    at = (order.index(start) if start is not None else -1) + step
    if 0 <= at < len(order):
        project.say(project.shown(order[at]))
        return 0
    return 1


def applied(project: Project, words: Sequence[str]) -> int:
    """List the pushed patches, up to one."""
    project.look()
    project.need_top()
    end = project.find_pushed(words[0] if words else None)
    for name in project.pushed[: project.pushed.index(end) + 1]:
        project.say(project.shown(name))
    return 0


def unapplied(project: Project, words: Sequence[str]) -> int:
    """List the patches that are not pushed, or those behind one."""
    project.look()
    order = [*project.pushed, *project.left]
    names = order[order.index(project.find(words[0])) + 1 :] if words else project.left
    for name in names:
        project.say(project.shown(name))
    return 0
