"""quilt's `delete`, `rename`, `import`, `header` and `fork`, said to patchmgr."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.quilt.folders import SERIES
from tests.quilt.project import Options, Project, Stop
from tests.quilt.stacking import pop_patch, tell_top


def delete(project: Project, words: Sequence[str]) -> int:
    """Take a patch out of the series; its file stays where quilt has it, unless -r is given."""
    options = Options(words, "nr", ["backup"])
    options.refuse("--backup")
    project.look()
    name = _doomed(project, options)
    if name in project.pushed:
        if name != project.top:
            raise Stop(f"Patch {project.shown(name)} is currently applied")
        pop_patch(project, name, is_quiet=True)
        tell_top(project)
    project.must(project.folders.desk("drop", name))
    if "-r" in options:
        (project.folders.patches / project.folders.outside(name)).unlink(missing_ok=True)
    project.say(f"Removed patch {project.shown(name)}")
    return 0


def _doomed(project: Project, options: Options) -> str:
    if options.rest:
        name = project.find(options.rest[0])
        if name in project.pushed and name != project.top:
            raise Stop(f"Patch {project.shown(name)} is currently applied")
        return name
    if "-n" not in options:
        return project.need_top()
    if not project.left:
        raise Stop("No next patch")
    return project.left[0]


def rename(project: Project, words: Sequence[str]) -> int:
    """Give a patch another name."""
    options = Options(words, "P:")
    project.look()
    old = project.find(options.given["-P"]) if "-P" in options else project.need_top()
    given = options.rest[0].removeprefix(project.folders.prefix)
    new = project.folders.inside(given)
    before = project.shown(old)
    if new in (*project.pushed, *project.left):
        shown = project.shown(new)
        raise Stop(f"Patch {shown} exists already, please choose a different name")
    _renamed(project, old, given)
    place = project.folders.patches / before.removeprefix(project.folders.prefix)
    place.unlink(missing_ok=True)
    project.say(f"Patch {before} renamed to {project.shown(new)}")
    return 0


def _renamed(project: Project, old: str, given: str) -> str:
    new = project.folders.inside(given)
    project.must(project.folders.desk("rename", old, new))
    project.folders.name_bare(given)
    for notes in (project.notes.files, project.notes.added):
        if old in notes:
            notes[new] = notes.pop(old)
    return new


def fork(project: Project, words: Sequence[str]) -> int:
    """Go on with the top patch under another name; quilt keeps the file of the old one."""
    from tests.quilt.contents import next_name

    project.look()
    old = project.need_top()
    before = project.shown(old)
    given = words[0] if words else next_name(project.folders.outside(old))
    new = _renamed(project, old, given)
    project.say(f"Fork of patch {before} created as {project.shown(new)}")
    return 0


def import_(project: Project, words: Sequence[str]) -> int:
    """Put patch files behind the top."""
    options = Options(words, "p:RP:fd:")
    if options.given.get("-d", "n") != "n":
        raise Stop("patchmgr has nothing for -d o and -d a")
    project.look()
    place = len(project.pushed)
    for given in options.rest:
        place += _imported(project, given, place, options)
    return 0


def _imported(project: Project, given: str, place: int, options: Options) -> int:
    """Import one file and return how many patches more there are before the next one's place."""
    folders = project.folders
    source = folders.cwd / given
    if not source.is_file():
        raise Stop(f"Patch {given} does not exist")
    name = options.given.get("-P", os.path.basename(given))
    shown, stored = project.shown(name), folders.patches / name
    inside, order = folders.inside(name), [*project.pushed, *project.left]
    is_there, is_own = stored.exists(), stored.exists() and stored.samefile(source)
    if is_own and inside in order:
        raise Stop(f"Patch {shown} already exists in series.")
    if is_there and not is_own and "-f" not in options:
        raise Stop(f"Patch {shown} exists. Replace with -f.")
    if inside in order:
        place = order.index(inside)
        _drop(project, inside)
    _bring(project, source, name, place, options)
    if is_own:
        project.say(f"Importing patch {shown}")
    elif is_there:
        project.say(f"Replacing patch {shown} with new version")
    else:
        project.say(f"Importing patch {given} (stored as {shown})")
    return int(inside not in order)


def _drop(project: Project, name: str) -> None:
    if name in project.pushed:
        raise Stop(f"Patch {project.shown(name)} is applied")
    project.must(project.folders.desk("drop", name))
    project.left.remove(name)


def _bring(project: Project, source: Path, name: str, place: int, options: Options) -> None:
    folders = project.folders
    how = ["-p", options.given["-p"]] if "-p" in options else []
    how += ["-R"] if "-R" in options else []
    done = folders.patchmgr("import", str(source), *how, "--series", SERIES, "--json")
    made = project.must(done).json["patches"][0]["name"]
    folders.name_bare(name)
    if made != folders.inside(name):
        project.must(folders.desk("rename", made, folders.inside(name)))
    order = [*project.pushed, *project.left]
    if place < len(order):
        project.must(folders.desk("move", folders.inside(name), "--before", order[place]))
    project.left.insert(place - len(project.pushed), folders.inside(name))


def header(project: Project, words: Sequence[str]) -> int:
    """Print the header of a patch, or change it in an editor that is told what to do."""
    options = Options(
        words, "are", ["backup", "strip-diffstat", "strip-trailing-whitespace", "dep3"]
    )
    options.refuse("--strip-diffstat", "--strip-trailing-whitespace", "--dep3")
    project.look()
    name = project.find(options.rest[0]) if options.rest else project.need_top()
    if not {"-a", "-r", "-e"} & options.given.keys():
        project.write(project.must(project.folders.desk("show", name)).json["header"].encode())
        return 0
    if "-e" in options:
        project.must(project.folders.desk("edit", name))
        return 0
    if "--backup" in options:
        project.folders.back_up(name)
    sign, words_ = (">>", "Appended text to") if "-a" in options else (">", "Replaced")
    with tempfile.NamedTemporaryFile() as text:
        text.write(sys.stdin.buffer.read())
        text.flush()
        script = f'f() {{ cat {shlex.quote(text.name)} {sign} "$1"; }}; f'
        project.must(project.folders.desk("edit", name, env={"GIT_EDITOR": script}))
    project.say(f"{words_} header of patch {project.shown(name)}")
    return 0
