"""Carries patch folders of other projects over the moves that their maintainers made.

    PATCHMGR_MIRRORS=<folder> python -m benchmarks.patch_folders [--only REGEX] [--out FILE]

Two kinds: a folder of patches against a pinned git commit (ollama, against llama.cpp), and recipes
that patch releases of a package (pyodide). A patch that a maintainer dropped was found where it is
called absorbed, or proposed; one that they kept is settled where it is carried. Beside it for the
first kind: `git am -3`, where what fails is skipped.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from benchmarks.clones import output, quiet_environment
from benchmarks.mirrored import mirrors_of
from benchmarks.pages import program, tell
from patchmgr.render.escape import share

FOLDER, UPSTREAM = "ollama+ollama", "unslothai+llama.cpp"
PATCHES, PIN_FILE, PIN = "llama/patches/", "Makefile.sync", r"^FETCH_HEAD=(\w+)"
RECIPES = ("pyodide+pyodide", "pyodide+pyodide-recipes")
_NUMBERED = re.compile(r"^(?:patches/)?\d+-")


class Move(Struct, frozen=True):
    """A series on one state of an upstream, and what its maintainers have on the next."""

    name: str
    upstream: tuple[str, ...]
    base: str
    target: str
    patches: Mapping[str, bytes]
    after: Mapping[str, bytes]
    mirror: Path | None = None

    def kept(self) -> Sequence[bool]:
        """Say by patch whether it is there after the move: by name, or by most of what it adds."""
        names = {bare(name) for name in self.after}
        added = [_added(content) for content in self.after.values()]
        return [
            bare(name) in names or any(2 * len(mine & other) > len(mine) for other in added)
            for name, content in self.patches.items()
            for mine in [_added(content)]
        ]


def _added(patch: bytes) -> frozenset[bytes]:
    lines = (line[1:].strip() for line in patch.splitlines() if re.match(rb"\+(?!\+\+)", line))
    return frozenset(line for line in lines if len(line) > 3)


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


def folder_moves(mirrors: Path) -> Iterator[Move]:
    """Yield the moves of the pin of a patch folder, newest first."""
    history, mirror = History(mirrors / FOLDER / "repo"), mirrors / UPSTREAM / "repo"
    upstream = History(mirror)
    log = history.run("log", "--first-parent", "--format=%H", "-GFETCH_HEAD=", "--", PIN_FILE)
    for commit in log.decode().split():
        pins = []
        for at in (f"{commit}^", commit):
            found = re.search(PIN, history.file(at, PIN_FILE).decode(), re.MULTILINE)
            full = upstream.run("rev-parse", "--verify", f"{found[1]}^{{commit}}") if found else b""
            pins.append(full.decode().strip())
        old, new = (
            history.run("ls-tree", "--name-only", at, PATCHES).decode().split()
            for at in (f"{commit}^", commit)
        )
        ahead = f"{pins[0]}..{pins[1]}"
        if all(pins) and int(upstream.run("rev-list", "--count", ahead) or 0) and old and new:
            before, after = (
                {Path(p).name: history.file(at, p) for p in sorted(paths) if p.endswith(".patch")}
                for at, paths in ((f"{commit}^", old), (commit, new))
            )
            where, name = ("--git", str(mirror), "--reference", str(mirror)), f"ollama-{commit[:9]}"
            yield Move(name, where, pins[0], pins[1], before, after, mirror)


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
    return Move(name, ("--package", package), base, target, before, after)


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


def carry(move: Move, place: Path, environment: Mapping[str, str]) -> list[Mapping[str, str]]:
    """Rebase a series and return by patch the verdict; raise SystemExit where a command fails."""
    root = series_of(move, place, environment)
    onto = ("rebase", "s", "--onto", move.target, "--dry-run", "--json")
    told = json.loads(output([*program(), *onto], root, environment, good=False))
    if "error" in told:
        raise SystemExit(f"error: {told['error']['message']}")
    return [
        {
            "patch": patch["name"],
            "verdict": patch["verdict"],
            "likely": "likely" if patch.get("likely") else "",
            "how": ",".join(sorted({hunk["how"] or "" for hunk in patch.get("hunks", ())})),
        }
        for patch in told["series"][0]["patches"]
    ]


def am(move: Move, place: Path, environment: Mapping[str, str]) -> Sequence[bool]:
    """Say by patch whether `git am -3` puts it onto the target; what fails is skipped."""
    clone = place / "clone"
    output(["git", "clone", "-qsn", str(move.mirror), str(clone)], place, environment)

    def git(*arguments: str) -> str:
        who = ("-c", "user.name=x", "-c", "user.email=x@x")
        return output(["git", "-C", str(clone), *who, *arguments], place, environment).strip()

    # What a mirror may lack is large, and none of the patches touches it: it is left out.
    git("read-tree", move.target)
    git("rm", "-rq", "--cached", "--ignore-unmatch", "models")
    git("checkout", "-q", "-f", git("commit-tree", "-m", "target", git("write-tree")))
    done = []
    for content in move.patches.values():
        line = ["git", "-C", str(clone), "-c", "user.name=x", "-c", "user.email=x@x", "am"]
        run = subprocess.run(
            [*line, "-q3"], input=content, capture_output=True, env=environment, check=False
        )
        done.append(run.returncode == 0)
        if run.returncode:
            output([*line, "--skip"], place, environment, good=False)
    return done


def main() -> None:
    """Carry every move and count what became of the patches."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--only", default="", help="moves whose name has this pattern")
    parser.add_argument("--count", type=int, default=10**6, help="moves at most")
    parser.add_argument("--out", type=Path, help="write one JSON line for each patch")
    options = parser.parse_args()
    mirrors = mirrors_of((FOLDER, UPSTREAM, *RECIPES))
    if mirrors is None:
        return
    counts: dict[str, Counter[str]] = {}
    moves = (m for kind in (folder_moves, recipe_moves) for m in kind(mirrors))
    some = [m for m in moves if re.search(options.only, m.name)][: options.count]
    lines: list[str] = []
    with tempfile.TemporaryDirectory(prefix="patchmgr-bench-") as folder:
        environment = quiet_environment(Path(folder) / "home")
        for number, move in enumerate(some):
            place = Path(folder) / str(number)
            place.mkdir()
            try:
                told = carry(move, place, environment)
                plain = am(move, place, environment) if move.mirror else None
            except SystemExit as fault:
                tell(f"{move.name}: left out: {_error(str(fault))}")
                continue
            kind = counts.setdefault("folder" if move.mirror else "recipes", Counter())
            _count(kind, move, told, plain)
            lines += [json.dumps({"move": move.name, **one}) for one in told]
            tell(f"{move.name}: {dict(kind)}")
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")
    for kind_name, kind in counts.items():
        print(_sentence(kind_name, kind))


def _error(output: str) -> str:
    found = re.search(r"(?:error|fatal):[^\n]*", output)
    return found[0] if found else output.strip()[-150:]


def _count(
    kind: Counter[str], move: Move, told: Sequence[Mapping[str, str]], plain: Sequence[bool] | None
) -> None:
    for number, (is_kept, one) in enumerate(zip(move.kept(), told, strict=True)):
        name = one["patch"]
        verdict = one["verdict"]
        kind["patches"] += 1
        kind["dropped"] += not is_kept
        if verdict == "absorbed":
            kind["found" if not is_kept else "false"] += 1
            if is_kept:
                tell(f"  false? {move.name} {name} {one['how']}")
        elif not is_kept:
            kind["proposed"] += bool(one["likely"])
            tell(f"  not found: {move.name} {name} {verdict} {one['likely']}")
        is_carried = verdict in ("unchanged", "modified", "partial")
        kind["settled"] += is_carried if is_kept else verdict == "absorbed"
        if plain is not None:
            kind["am"] += plain[number] if is_kept else 0


def _sentence(name: str, kind: Counter[str]) -> str:
    return (
        f"{name}: {kind['patches']} patches, {kind['dropped']} dropped by their maintainers: "
        f"{kind['found']} found ({share(kind['found'], kind['dropped'])}), {kind['proposed']} more"
        f" proposed; {kind['false']} called absorbed that were kept; settled "
        f"{share(kind['settled'], kind['patches'])}, git am -3 {kind['am']}"
    )


if __name__ == "__main__":
    main()
