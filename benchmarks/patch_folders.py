"""Carries patch folders of other projects over the moves that their maintainers made.

    PATCHMGR_MIRRORS=<folder> python -m benchmarks.patch_folders [--only REGEX] [--out FILE]

Two kinds: a folder of patches against a pinned git commit, and recipes that patch releases of a
package (pyodide). A patch that a maintainer dropped was found where it is called absorbed, or
proposed; one that they kept is settled where it is carried. Beside it for the first kind:
`git am -3`, where what fails is skipped.

`--out FILE` keeps one JSON line for each patch; moves that it has are not run again. `--write` puts
the table of all moves in it into docs/benchmarks.md. Repositories that are missing are left out.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

import msgspec
from msgspec import Struct

from benchmarks.clones import output, quiet_environment
from benchmarks.mirrored import mirrors_of
from benchmarks.pages import Section, program, tell, write
from patchmgr.formats.mboxes import split_mbox
from patchmgr.formats.series_files import parse_series
from patchmgr.render.escape import share

SECTION = Section(
    __doc__ or "", "", "<!-- begin: python -m benchmarks.patch_folders -->",
    "<!-- end: patch folders -->", 1,
)  # fmt: skip
RECIPES = ("pyodide+pyodide", "pyodide+pyodide-recipes")
SETTLING = 14 * 24 * 3600  # seconds in which maintainers drop what they left at the move
_NUMBERED = re.compile(r"^(?:patches/)?\d+-")


class Move(Struct, frozen=True):
    """A series on one state of an upstream, and what its maintainers have on the next."""

    kind: str
    name: str
    upstream: tuple[str, ...]
    base: str
    target: str
    patches: Mapping[str, bytes]
    after: Mapping[str, bytes]
    mirror: Path | None = None

    def kept(self, patches: Mapping[str, bytes]) -> Sequence[bool]:
        """Say by patch of the series whether it is there after the move."""
        mails = [mail for content in self.after.values() for mail in split_mbox(content)]
        changed = [_changed(mail) for mail in mails]
        return [self._is_kept(name, content, changed) for name, content in patches.items()]

    def _is_kept(self, name: str, content: bytes, changed: Sequence[frozenset[bytes]]) -> bool:
        """Say whether the name of a patch is there after the move, or most lines of it and a mail.

        One of several mails in a file is kept if the file has most of its lines.
        """
        mine = _changed(content)
        if any(2 * len(mine & other) > len(mine | other) for other in changed):
            return True
        files = (n for n, whole in self.patches.items() if content.strip() in whole)
        source = next(files, name)
        is_part = source != name and len(split_mbox(self.patches[source])) > 1
        return any(
            not is_part or 2 * len(mine & _changed(whole)) > len(mine)
            for other, whole in self.after.items()
            if bare(source).endswith(bare(other)) or bare(other).endswith(bare(source))
        )


def _changed(patch: bytes) -> frozenset[bytes]:
    lines = re.findall(rb"^[+-](?!\+\+ |-- |-$).*", patch, re.MULTILINE)
    found = (line[:1] + line[1:].strip() for line in lines)
    return frozenset(line for line in found if len(line) > 4)


class History:
    """A bare git directory to read files of commits from."""

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir

    def run(self, *arguments: str) -> bytes:
        """Return what git prints, nothing where it fails."""
        line = ["git", f"--git-dir={self.git_dir}", *arguments]
        return subprocess.run(line, capture_output=True, check=False).stdout

    def file(self, commit: str, path: str) -> bytes:
        """Return a file of a commit, empty where there is none."""
        return self.run("cat-file", "blob", f"{commit}:{path}")

    def commit(self, name: str) -> str:
        """Return the id of a commit, empty where there is none."""
        return self.run("rev-parse", "--verify", "-q", f"{name}^{{commit}}").decode().strip()


Names = Callable[[History, str], Sequence[str]]
"""Return the paths of the patches in a commit, in the order of the series."""


def in_folder(folder: str) -> Names:
    """Return a reader of all patches of a folder, by name."""

    def names(history: History, commit: str) -> Sequence[str]:
        paths = history.run("ls-tree", "--name-only", commit, f"{folder}/").decode().split()
        return [path for path in sorted(paths) if path.endswith(".patch")]

    return names


def listed(path: str, pattern: str) -> Names:
    """Return a reader of the patches that a file beside them lists."""

    def names(history: History, commit: str) -> Sequence[str]:
        found = re.findall(pattern, history.file(commit, path).decode(), re.MULTILINE)
        return [str(PurePosixPath(path).parent / name) for name in found]

    return names


class Folder(Struct, frozen=True):
    """A folder of patches against a pinned commit of a git upstream.

    `pin` is found in `pin_file` and put into `form`; without it the file is a submodule.
    """

    kind: str
    repository: str
    upstream: str
    pin_file: str
    names: Names
    pin: str = ""
    form: str = "{}"

    def moves(self, mirrors: Path) -> Iterator[Move]:
        """Yield the moves of the pin, newest first."""
        history, mirror = (History(mirrors / n / "repo") for n in (self.repository, self.upstream))
        log = history.run("log", "--first-parent", "--format=%H", "--", self.pin_file)
        where = ("--git", str(mirror.git_dir), "--reference", str(mirror.git_dir))
        newest = "HEAD"
        for commit in log.decode().split():
            after = self._settled(history, commit, newest)
            base, target = (
                mirror.commit(pin) if (pin := self._pinned(history, at)) else ""
                for at in (f"{commit}^", commit)
            )
            newest = f"{commit}^"
            ahead = mirror.run("rev-list", "--count", f"{base}..{target}") if base and target else 0
            old, new = (self._patches(history, at) for at in (f"{commit}^", after))
            if int(ahead or 0) and old and new:
                name = f"{self.upstream.partition('+')[2]}-{commit[:9]}"
                yield Move(self.kind, name, where, base, target, old, new, mirror.git_dir)

    def _pinned(self, history: History, commit: str) -> str:
        """Return what a commit pins, empty where it pins nothing."""
        if not self.pin:
            return history.run("rev-parse", "-q", "--verify", f"{commit}:{self.pin_file}").decode()[
                :40
            ]
        text = history.file(commit, self.pin_file).decode()
        found = re.search(self.pin, text, re.MULTILINE)
        return self.form.format(found[1]) if found else ""

    def _patches(self, history: History, commit: str) -> Mapping[str, bytes]:
        paths = self.names(history, commit)
        return {PurePosixPath(path).name: history.file(commit, path) for path in paths}

    def _settled(self, history: History, commit: str, newest: str) -> str:
        """Return the last commit before the next move, two weeks later at most."""
        end = int(history.run("log", "-1", "--format=%ct", commit)) + SETTLING
        log = history.run("log", "--first-parent", "--format=%ct %H", f"{commit}..{newest}")
        later = [line.split() for line in log.decode().splitlines()]
        return next((one for time, one in later if int(time) <= end), commit)


FOLDERS = (
    Folder(
        "ollama: llama.cpp", "ollama+ollama", "unslothai+llama.cpp", "Makefile.sync",
        in_folder("llama/patches"), r"^FETCH_HEAD=(\w+)",
    ),
    Folder(
        "SONiC: FRR", "sonic-net+sonic-buildimage", "FRRouting+frr", "src/sonic-frr/frr",
        listed("src/sonic-frr/patch/series", r"^(\S+\.patch)"),
    ),
    Folder(
        "Qubes OS: Xen", "QubesOS+qubes-vmm-xen", "xen-project+xen", "version",
        listed("xen.spec.in", r"^Patch\d+:\s*(\S+)"), r"(\S+)", "RELEASE-{}",
    ),
    *(
        Folder(
            f"EKS Anywhere: {name}", "aws+eks-anywhere-build-tooling", f"kubernetes-sigs+{name}",
            f"projects/kubernetes-sigs/{name}/GIT_TAG",
            in_folder(f"projects/kubernetes-sigs/{name}/patches"), r"(\S+)",
        )
        for name in ("image-builder", "cluster-api")
    ),
)  # fmt: skip


def recipe_moves(mirrors: Path) -> Iterator[Move]:
    """Yield the moves of recipes that patch a release, one for each package and pair of them."""
    seen: set[tuple[str, str]] = set()
    for name in RECIPES:
        history = History(mirrors / name / "repo")
        log = history.run(
            "log", "--first-parent", "--no-renames", "--format=C %H", "--name-only",
            "--", "packages/*/meta.yaml",
        )  # fmt: skip
        commit = ""
        for line in log.decode().splitlines():
            commit = line[2:] if line.startswith("C ") else commit
            if line.startswith("packages/"):
                move = _recipe_move(history, commit, line)
                if move is not None and (move.name, move.target) not in seen:
                    seen.add((move.name, move.target))
                    yield move


def _recipe_move(history: History, commit: str, path: str) -> Move | None:
    old, new = (history.file(at, path).decode() for at in (f"{commit}^", commit))
    versions = [
        re.search(r"^\s+version:\s*[\"']?([\w.]+)", text, re.MULTILINE) for text in (old, new)
    ]
    urls = [re.search(r"pypi|pythonhosted", text) for text in (old, new)]
    names = [re.findall(r"-\s*(patches/\S+)", text) for text in (old, new)]
    if not all(versions) or not all(urls) or not names[0]:
        return None
    base, target = (found[1] for found in versions if found)
    package, folder = path.split("/")[1], path.rpartition("/")[0]
    before, after = (
        {Path(n).name: history.file(at, f"{folder}/{n}") for n in some}
        for at, some in zip((f"{commit}^", commit), names, strict=True)
    )
    if base == target or not all(before.values()):
        return None
    name = f"{package}-{base}-{target}"
    where = ("--package", package)
    return Move("pyodide: packages", name, where, base, target, before, after)


def bare(name: str) -> str:
    """Return the name of a patch without its number."""
    return _NUMBERED.sub("", name).removeprefix("patches/")


def series_of(move: Move, place: Path, environment: Mapping[str, str]) -> Path:
    """Return a workspace with the patches as the series `s`."""
    root, folder = place / "workspace", place / "patches"
    folder.mkdir(parents=True)
    for name, content in move.patches.items():
        (folder / name).write_bytes(content)
    (folder / "series").write_text("".join(f"{name}\n" for name in move.patches))

    for words in (
        ("init", str(root)),
        ("-C", str(root), "upstream", "add", "up", *move.upstream),
        ("-C", str(root), "series", "new", "s", "--upstream", "up", "--base", move.base),
        ("-C", str(root), "import", str(folder), "--series", "s"),
    ):
        output([*program(), *words], place, environment)
    return root


class Outcome(Struct, frozen=True):
    """What became of one patch: with its maintainers, with patchmgr, and with `git am -3`."""

    kind: str
    move: str
    patch: str
    is_kept: bool
    verdict: str
    is_likely: bool
    how: str
    commits: tuple[str, ...]
    am: str = ""

    @property
    def is_settled(self) -> bool:
        """Say whether patchmgr did what the maintainers did."""
        is_carried = self.verdict in ("unchanged", "modified", "partial")
        return is_carried if self.is_kept else self.verdict == "absorbed"

    @property
    def is_settled_by_am(self) -> bool:
        """Say whether git did: it says nothing of a patch whose whole change is there."""
        return self.am == ("applied" if self.is_kept else "empty")


def carry(move: Move, place: Path, environment: Mapping[str, str]) -> list[Outcome]:
    """Rebase a series and return what became of each patch; raise SystemExit if a command fails."""
    root = series_of(move, place, environment)
    series = parse_series((root / "series/s/series").read_bytes()).names()
    patches = {name: (root / "series/s" / name).read_bytes() for name in series}
    by_git = [""] * len(series)
    if move.mirror is not None:
        mails = place / "mails"
        words = ("export", "s", "--as", "git", "--out", str(mails))
        output([*program(), *words], root, environment)
        contents = [path.read_bytes() for path in sorted(mails.glob("*.patch"))]
        by_git = list(WorkTree(move.mirror, place, environment).am(contents, move.target))
    kept = move.kept(patches)
    onto = ("rebase", "s", "--onto", move.target, "--dry-run", "--json")
    told = json.loads(output([*program(), *onto], root, environment, good=False))
    if "error" in told:
        raise SystemExit(f"error: {told['error']['message']}")
    return [
        Outcome(
            move.kind,
            move.name,
            patch["name"],
            is_kept,
            patch["verdict"],
            bool(patch.get("likely")),
            ",".join(sorted({hunk["how"] or "" for hunk in patch.get("hunks", ())})),
            tuple(one["commit"] or "" for one in patch.get("evidence", ())),
            am,
        )
        for patch, is_kept, am in zip(told["series"][0]["patches"], kept, by_git, strict=True)
    ]


class WorkTree:
    """A clone of a mirror, without the large files that the mirror lacks."""

    def __init__(self, mirror: Path, place: Path, environment: Mapping[str, str]) -> None:
        self.folder, self.environment = place / "clone", environment
        output(["git", "clone", "-qsn", str(mirror), str(self.folder)], place, environment)

    def git(self, *arguments: str, stdin: bytes = b"") -> bytes | None:
        """Run git with a name to commit with; return what it prints, None where it fails."""
        done = subprocess.run(
            ["git", "-c", "user.name=x", "-c", "user.email=x@x", *arguments], cwd=self.folder,
            input=stdin, capture_output=True, env=self.environment, check=False,
        )  # fmt: skip
        return None if done.returncode else done.stdout

    def check_out(self, commit: str) -> None:
        """Put the files of a commit into the work tree, as a commit without parents."""
        files = (self.git("ls-tree", "-r", "-z", commit) or b"").split(b"\0")[:-1]
        ids = b"".join(line.split()[2] + b"\n" for line in files)
        known = (self.git("cat-file", "--batch-check", stdin=ids) or b"").splitlines()
        there = (f for f, one in zip(files, known, strict=True) if not one.endswith(b"missing"))
        self.git("read-tree", "--empty")
        self.git("update-index", "-z", "--index-info", stdin=b"\0".join((*there, b"")))
        tree = (self.git("write-tree") or b"").decode().strip()
        made = (self.git("commit-tree", "-m", "upstream", tree) or b"").decode().strip()
        self.git("checkout", "-q", "-f", made)
        self.git("clean", "-qfdx")

    def am(self, patches: Iterable[bytes], target: str) -> Iterator[str]:
        """Yield by patch what `git am -3` does on the target; what fails is skipped."""
        self.check_out(target)
        head = self.git("rev-parse", "HEAD")
        for content in patches:
            before, done = head, self.git("am", "-q3", stdin=content)
            if done is None:
                self.git("am", "--skip")
            head = self.git("rev-parse", "HEAD")
            yield "failed" if done is None else "empty" if head == before else "applied"


def moves_of(mirrors: Path) -> Iterator[Move]:
    """Yield the moves of all projects whose repositories are there."""
    for folder in FOLDERS:
        if mirrors_of((folder.repository, folder.upstream)):
            yield from folder.moves(mirrors)
    if mirrors_of(RECIPES):
        yield from recipe_moves(mirrors)


def main() -> None:
    """Carry every move and count what became of the patches."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--only", default="", help="moves whose name has this pattern")
    parser.add_argument("--count", type=int, default=10**6, help="moves of each project at most")
    parser.add_argument("--out", type=Path, help="one JSON line for each patch, to go on from")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    options = parser.parse_args()
    mirrors = mirrors_of(())
    assert mirrors is not None
    kept = options.out.read_bytes().splitlines() if options.out and options.out.exists() else []
    done = [msgspec.json.decode(line, type=Outcome) for line in kept]
    known, counts = {one.move for one in done}, defaultdict[str, int](int)
    with tempfile.TemporaryDirectory(prefix="patchmgr-bench-") as folder:
        environment = quiet_environment(Path(folder) / "home")
        for move in (m for m in moves_of(mirrors) if re.search(options.only, m.name)):
            counts[move.kind] += 1
            if move.name in known or counts[move.kind] > options.count:
                continue
            with tempfile.TemporaryDirectory(dir=folder) as place:
                try:
                    found = carry(move, Path(place), environment)
                except SystemExit as fault:
                    tell(f"{move.name}: left out: {_error(str(fault))}")
                    continue
            done += found
            tell(f"{move.name}: {row(found)}")
            for one in found:
                if (one.verdict == "absorbed") == one.is_kept:
                    tell(f"  {'false?' if one.is_kept else 'not found:'} {one.patch} {one.verdict}")
            if options.out:
                with options.out.open("ab") as file:
                    file.writelines(msgspec.json.encode(one) + b"\n" for one in found)
    text = "\n".join(table(done))
    print(text)
    if options.write:
        write(SECTION, text)


def _error(said: str) -> str:
    found = re.search(r"(?:error|fatal):[^\n]*", said)
    return found[0] if found else said.strip()[-150:]


def table(done: Sequence[Outcome]) -> Iterator[str]:
    """Yield a row for each project."""
    yield (
        "| project: upstream | moves | patches | dropped by their maintainers | of these absorbed "
        "| proposed | absorbed, though kept | settled | `git am -3` |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for kind in dict.fromkeys(one.kind for one in done):
        some = [one for one in done if one.kind == kind]
        yield f"| {kind} | {len({one.move for one in some})} | {row(some)} |"
    yield f"| all | {len({one.move for one in done})} | {row(done)} |"


def row(some: Sequence[Outcome]) -> str:
    """Return the counts of some patches, as cells of the table."""
    dropped = [one for one in some if not one.is_kept]
    found = sum(one.verdict == "absorbed" for one in dropped)
    likely = sum(one.is_likely and one.verdict != "absorbed" for one in dropped)
    is_asked = all(one.am for one in some)
    cells: Iterable[object] = (
        len(some),
        len(dropped),
        f"{found} ({share(found, len(dropped))})" if dropped else 0,
        likely,
        sum(one.is_kept and one.verdict == "absorbed" for one in some),
        share(sum(one.is_settled for one in some), len(some)),
        share(sum(one.is_settled_by_am for one in some), len(some)) if is_asked else "not run",
    )
    return " | ".join(map(str, cells))


if __name__ == "__main__":
    main()
