"""quilt's `add`, `refresh`, `diff`, `files`, `fold` and `edit`, said to patchmgr."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence

from tests.quilt.project import Options, Project, Stop
from tests.quilt.wording import Labels, quilt_diff

_FORMS = ("p:uU:cC:fz", ["no-timestamps", "no-index", "diffstat", "sort", "backup",
          "strip-trailing-whitespace", "diff-algorithm="])  # fmt: skip
_NOT_CANONICAL = ("-U", "-c", "-C", "--strip-trailing-whitespace", "--diffstat")


def add(project: Project, words: Sequence[str]) -> int:
    """Note that files belong to a patch from now on: what quilt keeps a copy for."""
    options = Options(words, "P:")
    project.look()
    name = project.find_pushed(options.given.get("-P"))
    code = 0
    for given in options.rest:
        text = _added(project, name, project.path(given))
        code = code or int(not text.startswith("File") or " added " not in text)
        project.say(text)
    return code


def _added(project: Project, name: str, path: str) -> str:
    folders = project.folders
    for place in (folders.patches, folders.control):
        below = os.path.relpath(place, folders.root)
        if path.startswith(f"{below}/"):
            return f"File {path} is located below {below}/"
    later = project.pushed[project.pushed.index(name) + 1 :]
    for each in later:
        if path in project.notes.watched(each):
            return f"File {path} modified by patch {project.shown(each)}"
    if path in project.notes.watched(name):
        return f"File {path} is already in patch {project.shown(name)}"
    project.notes.added.setdefault(name, []).append(path)
    return f"File {path} added to patch {project.shown(name)}"


def refresh(project: Project, words: Sequence[str]) -> int:
    """Take the edits of a patch's files into it."""
    words, fork = _with_fork(words)
    options = Options(words, *_FORMS)
    options.refuse(*_NOT_CANONICAL)
    project.look()
    name = project.find_pushed(options.rest[0] if options.rest else None)
    if fork is not None:
        name = _forked(project, name, fork)
        return 0 if refresh_patch(project, name) else 1
    if "--backup" in options:
        project.folders.back_up(name)
    if "-f" not in options and _later(project, name).intersection(project.notes.watched(name)):
        shown = project.shown(name)
        raise Stop(f"More recent patches modify files in patch {shown}. Enforce refresh with -f.")
    text = refresh_patch(project, name)
    project.say(text)
    return int(text.startswith("Nothing"))


def _with_fork(words: Sequence[str]) -> tuple[list[str], str | None]:
    forks = [word for word in words if word.startswith("-z")]
    return [word for word in words if word not in forks], forks[0][2:] if forks else None


def _forked(project: Project, name: str, wish: str) -> str:
    made = wish or next_name(project.folders.outside(name))
    project.folders.name_bare(made)
    inside = project.folders.inside(made)
    project.must(project.folders.desk("new", inside))
    project.notes.added[inside] = project.notes.watched(name)
    project.pushed.append(inside)
    project.say(f"Fork of patch {project.shown(name)} created as {project.shown(inside)}")
    return inside


def next_name(name: str) -> str:
    """Return the name that quilt gives a fork."""
    stem, dot, suffix = (
        name.rpartition(".") if name.endswith((".patch", ".diff")) else (name, "", "")
    )
    found = re.fullmatch(r"(.*)-(\d+)", stem)
    base, number = (found[1], int(found[2]) + 1) if found else (stem, 2)
    return f"{base}-{number}{dot}{suffix}"


def refresh_patch(project: Project, name: str) -> str:
    """Refresh a pushed patch and return quilt's words for what came of it."""
    shown = project.shown(name)
    paths = project.known(project.notes.watched(name))
    if not paths:
        return f"Nothing in patch {shown}"
    answer = project.folders.desk("refresh", "--patch", name, "--allow-empty", "--rewrite", *paths)
    document = project.must(answer).json
    files = project.paths(name)
    project.notes.files[name] = files
    if not files:
        return f"Nothing in patch {shown}"
    stored = project.folders.patches / project.folders.outside(name)
    is_same = not document["rewritten"] and stored.exists()
    return f"Patch {shown} is unchanged" if is_same else f"Refreshed patch {shown}"


def diff(project: Project, words: Sequence[str]) -> int:
    """Print what a patch does, or what its files have that it does not."""
    short, long = _FORMS
    options = Options(words, short + "P:R", [*long, "combine=", "snapshot", "diff=", "color="])
    options.refuse(*_NOT_CANONICAL, "--snapshot", "--diff")
    project.look()
    name = project.find_pushed(options.given.get("-P"))
    reach, names = _reach(project, name, options)
    watched = list(dict.fromkeys(path for each in names for path in project.notes.watched(each)))
    asked = [project.path(each) for each in options.rest]
    later = _later(project, name)
    shadowed = [path for path in watched if path in later]
    if shadowed and not reach:
        watched = [path for path in watched if path not in later]
    paths = project.known([path for path in watched if not asked or path in asked])
    reach += ["--reverse"] if "-R" in options else []
    if paths:
        answer = project.must(project.folders.desk("changes", *reach, *paths))
        raw = answer.json["diff"].encode("utf-8", "surrogateescape")
        if b"GIT binary patch" in raw:
            raise Stop(f"Diff failed on file '{paths[0]}', aborting")
        project.write(quilt_diff(raw, _labels(project, name, options)))
    if shadowed:
        print(
            f"Warning: more recent patches modify files in patch {project.shown(name)}",
            file=sys.stderr,
        )
    return 0


def _later(project: Project, name: str) -> set[str]:
    behind = project.pushed[project.pushed.index(name) + 1 :]
    return {path for each in behind for path in project.notes.watched(each)}


def _reach(project: Project, name: str, options: Options) -> tuple[list[str], list[str]]:
    """Return patchmgr's options for what is looked at, and the patches whose files are."""
    if "-z" in options:
        return [], [name]
    first = name
    if "--combine" in options:
        wish = options.given["--combine"]
        first = project.pushed[0] if wish == "-" else project.find_pushed(wish)
    start, end = project.pushed.index(first), project.pushed.index(name)
    if start > end:
        raise Stop(f"Patch {project.shown(first)} not applied before patch {project.shown(name)}")
    until = [] if name == project.top else ["--until", name]
    return ["--since", first, *until], project.pushed[start : end + 1]


def _labels(project: Project, name: str, options: Options) -> Labels:
    form = options.given.get("-p")
    if form is None:
        form = str(project.line(name).strip)
    return Labels(form, project.folders.root.name, "--no-index" not in options)


def files(project: Project, words: Sequence[str]) -> int:
    """List the files of a patch, with -v what it does to each."""
    options = Options(words, "alv", ["combine="])
    options.refuse("-a", "-l", "--combine")
    project.look()
    name = project.find(options.rest[0]) if options.rest else project.need_top()
    signs = project.files(name)
    known = {*signs, *project.notes.watched(name)} if name in project.pushed else {*signs}
    for path in sorted(known):
        mark = signs.get(path, "~").replace("~", " ")
        project.say(f"{mark} {path}" if "-v" in options else path)
    return 0


def fold(project: Project, words: Sequence[str]) -> int:
    """Put a diff from standard input into the top patch."""
    options = Options(words, "Rqfp:")
    options.refuse("-R", "-f")
    project.look()
    name = project.need_top()
    raw = sys.stdin.buffer.read()
    strip = options.given.get("-p", "1")
    project.must(project.folders.desk("fold", "--diff", "-", "-p", strip, stdin=raw, is_here=True))
    project.watch(name)
    for path in _named_in(raw, int(strip)) if "-q" not in options else ():
        project.say(f"patching file {path}")
    return 0


def _named_in(raw: bytes, strip: int) -> list[str]:
    pairs = re.findall(rb"(?m)^--- (\S+).*\n\+\+\+ (\S+)", raw)
    names = [old if new == b"/dev/null" else new for old, new in pairs]
    return ["/".join(os.fsdecode(name).split("/")[strip:]) for name in names]


def edit(project: Project, words: Sequence[str]) -> int:
    """Add files and open them in the editor."""
    add(project, words)
    name = project.need_top()
    for given in words:
        path = project.path(given)
        subprocess.run(f"{os.environ['EDITOR']} {path}", shell=True, cwd=project.folders.root)
        if path in project.notes.added.get(name, ()) and not project.known([path]):
            project.notes.added[name].remove(path)
            project.say(f"File {path} removed from patch {project.shown(name)}")
    return 0


def revert(project: Project, words: Sequence[str]) -> int:
    """Give up edits of files: patchmgr says what they are, and git takes them back."""
    options = Options(words, "P:")
    project.look()
    name = project.find_pushed(options.given.get("-P"))
    for path in map(project.path, options.rest):
        edits = b""
        if project.known([path]):
            answer = project.must(project.folders.desk("changes", path))
            edits = answer.json["diff"].encode("utf-8", "surrogateescape")
        if not edits:
            project.say(f"File {path} is unchanged")
            continue
        project.folders.git("apply", "--reverse", "--whitespace=nowarn", data=edits)
        project.say(f"Changes to {path} in patch {project.shown(name)} reverted")
    return 0
