"""Import, then export: patches that nothing rewrote leave as they came, byte for byte."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.commands.conftest import Run, Scene, borrowing
from tests.commands.scenes import Picture, picture
from tests.conftest import Make, Repository
from tests.long import LONG, crossed

HUGE = b"x" * 1_000_000
Files = Mapping[str, bytes | None]

# What one commit does to the files: (path, content or None); links and modes by their own rows.
BASE: Files = {
    "plain.txt": b"".join(b"line %d\n" % n for n in range(40)),
    "crlf.txt": b"one\r\ntwo\r\nthree\r\n",
    "latin.txt": b"caf\xe9\n",
    "open-end": b"no line feed",
    "data.bin": bytes(range(256)) * 4,
    "old/home.txt": b"".join(b"home %d\n" % n for n in range(40)),
    "tool.sh": b"#!/bin/sh\n",
    "goes.txt": b"",
    'quo"ted.txt': b"q\n",
    "\u00fcml\u00e4ut.txt": b"u\n",
    "with space.txt": b"s\n",
    "huge.txt": HUGE + b"\n",
}
COMMITS: Mapping[str, Files] = {
    "text": {"plain.txt": b"first\n" + b"".join(b"line %d\n" % n for n in range(40))},
    "binary: literal": {"new.bin": b"\x00\x01" * 300},
    "binary: delta": {"data.bin": bytes(range(256)) * 4 + b"\x00end"},
    "binary: gone": {"new.bin": None},
    "rename": {"old/home.txt": None, "new/home.txt": b"".join(b"home %d\n" % n for n in range(40))},
    "rename with an edit": {
        "new/home.txt": None,
        "new/house.txt": b"".join(b"home %d\n" % n for n in range(39)) + b"end\n",
    },
    "copy": {
        "plain.txt": b"".join(b"line %d\n" % n for n in range(40)),
        "copy.txt": b"first\n" + b"".join(b"line %d\n" % n for n in range(40)),
    },
    "mode": {},
    "mode with an edit": {"tool.sh": b"#!/bin/sh\necho\n"},
    "link": {},
    "link elsewhere": {},
    "file to link": {},
    "CR LF": {"crlf.txt": b"one\r\nTWO\r\nthree\r\n"},
    "CR LF at one line": {"plain.txt": b"mixed\r\nlines\n"},
    "Latin-1": {"latin.txt": b"caf\xe9\nth\xe9\n"},
    "S\u00fcbject \u65e5\u672c\n\nB\u00f6dy.": {"plain.txt": b"unicode\n"},
    "no last newline: both": {"open-end": b"no line feed!"},
    "no last newline: added": {"open-end": b"line feed\n"},
    "no last newline: taken": {"open-end": b"no line feed"},
    "empty file": {"empty.txt": b""},
    "empty file goes": {"goes.txt": None},
    "quoted path": {'quo"ted.txt': b"Q\n", "\u00fcml\u00e4ut.txt": b"U\n"},
    "path with a space": {"with space.txt": b"S\n", "a b/c d": b"new\n"},
    "huge line": {"huge.txt": HUGE + b"y\n"},
    "a text with From in it\n\nFrom here on\n\n-- \nnot a signature": {"plain.txt": b"from\n"},
    "dashes\n\nabove\n--\nbelow": {"plain.txt": b"dashes\n"},
}


def tell(repository: Repository) -> str:
    """Commit all kinds of changes, one each, and return the commit below them."""
    base = repository.commit(BASE, "base")
    for message, files in COMMITS.items():
        if message == "mode":
            (repository.root / "tool.sh").chmod(0o755)
        elif message == "mode with an edit":
            (repository.root / "tool.sh").chmod(0o644)
        elif message == "link":
            (repository.root / "link").symlink_to("plain.txt")
        elif message == "link elsewhere":
            (repository.root / "link").unlink()
            (repository.root / "link").symlink_to("copy.txt")
        elif message == "file to link":
            (repository.root / "copy.txt").unlink()
            (repository.root / "copy.txt").symlink_to("tool.sh")
        repository.commit(files, message)
    return base


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, str]:
    """Return an upstream with all kinds of changes on top of a commit; nobody writes to it."""
    repository = Repository(tmp_path_factory.mktemp("kinds") / "upstream")
    return repository, tell(repository)


@pytest.fixture
def told(upstream: tuple[Repository, str], tmp_path: Path, run: Run) -> tuple[Scene, str]:
    """Return a workspace on that upstream."""
    repository, base = upstream
    return borrowing(repository, tmp_path / "workspace", run), base


def out(scene: Scene, name: str) -> Path:
    return scene.root.parent / name


def export(scene: Scene, name: str, form: str, to: str) -> Picture:
    """Export a series, again over itself, and return what is there."""
    arguments = ("-C", scene.root, "export", name, "--as", form, "--out", out(scene, to))
    scene.run(*arguments)
    before = contents(out(scene, to))
    scene.run(*arguments)
    assert contents(out(scene, to)) == before
    return before


def contents(place: Path) -> Picture:
    return {"": ("file", 0, place.read_bytes())} if place.is_file() else picture(place)


def take(scene: Scene, name: str, base: str, *sources: str | Path) -> Path:
    scene.call("series", "new", name, "--upstream", "up", "--base", base)
    scene.call("import", "--series", name, *sources)
    return scene.root / "series" / name


# Git's own ways to write mails; the copies need -C, the ids are short without --full-index.
WAYS = {
    "as we do": ("--keep-subject", "--no-stat", "--no-signature", "--zero-commit", "--full-index"),
    "as git does": (),
    "copies, numbers, odd prefixes": ("-C", "-C", "--numbered", "--patience", "--signoff"),
}


def mails(repository: Repository, place: Path, commits: str, *options: str) -> list[Path]:
    """Let git write a mail a commit."""
    repository.git("format-patch", "--quiet", "--binary", "-M", *options, "-o", str(place), commits)
    return sorted(place.iterdir())


@pytest.mark.parametrize(("way", "form"), crossed(zip(WAYS.values()), ["quilt", "mbox", "git"]))
def test_mails_leave_as_they_came(told: tuple[Scene, str], form: str, way: tuple[str, ...]) -> None:
    scene, base = told
    sources = mails(scene.upstream, out(scene, "mails"), f"{base}..main", *way)
    series = take(scene, "s", base, *sources)
    names = (series / "series").read_text().splitlines()
    assert len(names) == len(COMMITS) == len(sources)
    came = [path.read_bytes() for path in sources]
    assert [(series / name).read_bytes() for name in names] == came
    left = export(scene, "s", form, "left")
    if form == "mbox":
        assert left[""][2] == b"".join(came)
    else:
        kept = [left[path][2] for path in sorted(left) if path != "series"]
        assert sorted(kept) == sorted(came)
    again = take(scene, "again", base, out(scene, "left"))
    assert [(again / name).read_bytes() for name in order(again)] == came
    assert export(scene, "again", form, "again") == left
    built = scene.call("branch", "again", "--json")
    assert stored(built.json["head"]) == scene.upstream.tree("main")


def stored(commit: str) -> str:
    """Return the tree of a commit in the one store there is."""
    stores = Path(os.environ["XDG_CACHE_HOME"]) / "patchmgr/stores"
    return Repository(next(stores.glob("*.git")), is_there=True).tree(commit)


def order(series: Path) -> list[str]:
    lines = (series / "series").read_text().splitlines()
    return [line.split()[0] for line in lines if line and line[0] != "#"]


def test_plain_diffs_leave_as_they_came(told: tuple[Scene, str]) -> None:
    """Each is a `pull/N.diff`: git's, and where it has only lines, GNU diff's."""
    scene, base = told
    place = out(scene, "pull")
    place.mkdir()
    commits = scene.upstream.git("rev-list", "--reverse", f"{base}..main").split()
    for number, commit in enumerate(commits, 1):
        diff = raw_diff(scene.upstream, f"{commit}^", commit, "--binary", "-M")
        (place / f"{number:03}.diff").write_bytes(diff)
    series = take(scene, "s", base, place)
    assert order(series) == sorted(path.name for path in place.iterdir())
    left = export(scene, "s", "quilt", "left")
    assert {name: left[name] for name in order(series)} == contents(place)


@pytest.mark.parametrize(
    "message",
    ["text", "binary: delta", "rename with an edit", "Latin-1", "quoted path", "huge line"],
)
def test_one_plain_diff_leaves_as_it_came(told: tuple[Scene, str], message: str) -> None:
    scene, base = told
    commits = scene.upstream.git("rev-list", "--reverse", f"{base}..main").split()
    commit = commits[list(COMMITS).index(message)]
    diff = raw_diff(scene.upstream, f"{commit}^", commit, "--binary")
    out(scene, "7.diff").write_bytes(diff)
    take(scene, "s", scene.upstream.git("rev-parse", f"{commit}^"), out(scene, "7.diff"))
    assert export(scene, "s", "diff", "8.diff")[""][2] == diff


def raw_diff(repository: Repository, *arguments: str) -> bytes:
    done = subprocess.run(
        ["git", "diff", *arguments], cwd=repository.root, capture_output=True, check=True
    )
    return done.stdout


TEXT_ONLY = [message for message in COMMITS if "binary" not in message]


@pytest.mark.parametrize("form", ["stgit", "gbp", *(["mbox", "git", "quilt"] if LONG else [])])
def test_what_is_rewritten_is_written_in_one_way(told: tuple[Scene, str], form: str) -> None:
    """A form's own output, taken in and exported again, stays: even what was rewritten once."""
    scene, base = told
    diffs = out(scene, "diffs")
    diffs.mkdir()
    commits = scene.upstream.git("rev-list", "--reverse", f"{base}..main").split()
    skipped = [n for n, message in enumerate(COMMITS) if message not in TEXT_ONLY]
    if form == "gbp":
        commits = commits[max(skipped) + 1 :]
        base = scene.upstream.git("rev-parse", f"{commits[0]}^")
    for number, commit in enumerate(commits, 1):
        diff = raw_diff(scene.upstream, f"{commit}^", commit, "--binary", "-M")
        (diffs / f"{number:04}-{number:02}.diff").write_bytes(diff)
    take(scene, "s", base, diffs)
    left = export(scene, "s", form, "left")
    take(scene, "again", base, out(scene, "left"))
    assert export(scene, "again", form, "again") == left
    built = scene.call("branch", "again", "--json")
    assert stored(built.json["head"]) == scene.upstream.tree("main")


# Stretches of public histories, by their last commit: more than 300 first-parent commits.
STRETCHES = [
    ("deepseek-ai+DeepGEMM", "54e22612409371d6364144b69086735beb54e98b"),
    ("flashinfer-ai+flashinfer", "fb28d7242b3506a2348265962041acc1fb56cca4"),
    ("local-inference-lab+vllm", "28be48fa944d8c58aeffd1ab1b56e27828c6b268"),
    ("local-inference-lab+vllm", "d037f7a61af2f04beef39b2216d79e574249cbd9"),
    ("neuralmagic+vllm", "017e9f4448b700e85ee16023287b025693c72b9e"),
    ("vllm-project+vllm-ascend", "182b75ea84ff13ece27b57391331ef8935410aea"),
]
LENGTH = 55


def stretch(mirror: Repository, tip: str) -> list[str]:
    """Return the commits of a stretch, newest first."""
    return mirror.git("rev-list", "--first-parent", f"--max-count={LENGTH}", tip).split()


@pytest.mark.mirrors
def test_the_stretches_are_three_hundred_different_commits(mirrors: Path) -> None:
    found: set[str] = set()
    for name, tip in STRETCHES:
        found.update(stretch(Repository(mirrors / name / "repo", is_there=True), tip))
    assert len(found) == len(STRETCHES) * LENGTH >= 300


@pytest.mark.mirrors
@pytest.mark.parametrize(("name", "tip"), STRETCHES)
def test_real_patches_leave_as_they_came(
    name: str,
    tip: str,
    mirrors: Path,
    tmp_path: Path,
    run: Run,
    make_repository: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mirror = Repository(mirrors / name / "repo", is_there=True)
    monkeypatch.setenv("GIT_NO_LAZY_FETCH", "1")
    listed = stretch(mirror, tip)
    base = mirror.git("rev-parse", f"{listed[-1]}^")
    place = tmp_path / "came"
    place.mkdir()
    for number, commit in enumerate(reversed(listed), 1):
        for suffix, content in as_somebody_sends_it(mirror, commit, number):
            (place / f"{number:04}-{commit[:12]}{suffix}").write_bytes(content)
    came = [path.read_bytes() for path in sorted(place.iterdir())]
    scene = borrowing(mirror, tmp_path / "workspace", run)
    series = take(scene, "s", base, place)
    assert [(series / name).read_bytes() for name in order(series)] == came
    left = export(scene, "s", "quilt", "quilt")
    assert [left[name][2] for name in order(series)] == came
    for form in ("quilt", "mbox", "git"):
        left = export(scene, "s", form, f"{form}-1")
        again = take(scene, f"{form}-series", base, out(scene, f"{form}-1"))
        assert export(scene, f"{form}-series", form, f"{form}-2") == left
        assert len(order(again)) == len(came)
    built = scene.call("branch", "s", "--json").json
    assert stored(built["head"]) == mirror.tree(tip)
    print(f"{name}: {len(came)} patches, {sum(map(len, came))} bytes")


def as_somebody_sends_it(
    mirror: Repository, commit: str, number: int
) -> Iterator[tuple[str, bytes]]:
    """Yield a commit as a mail of git's or of ours, or as a diff; merges are diffs."""
    is_merge = " " in mirror.git("rev-list", "--no-walk", "--parents", commit).partition(" ")[2]
    if is_merge or number % 3 == 0:
        diff = raw_diff(mirror, "--binary", "-M", f"{commit}^", commit)
        if diff:
            yield ".diff", diff
        return
    options = WAYS["as we do"] if number % 3 == 1 else WAYS["as git does"]
    line = ["git", "format-patch", "--stdout", "--binary", "-M", *options, "-1", commit]
    done = subprocess.run(line, cwd=mirror.root, capture_output=True, check=True)
    if done.stdout:
        yield ".patch", done.stdout
