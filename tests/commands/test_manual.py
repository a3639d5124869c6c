"""`help`: topics that name what there is, commands with examples, man pages without a warning."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from patchmgr import cli
from patchmgr.commands.help import OURS, topics
from patchmgr.model.manual import Topic
from patchmgr.render.manual import page_of
from tests.commands.conftest import Run
from tests.commands.scenes import one_line
from tests.tables import table

ROOT: Any = typer.main.get_command(cli.app)


def walk(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, below in getattr(command, "commands", {}).items():
        yield (*words, name), below
        yield from walk(below, (*words, name))


COMMANDS = dict(walk(ROOT))
VISIBLE = {words: command for words, command in COMMANDS.items() if not command.hidden}
RUNNABLE = {words: c for words, c in VISIBLE.items() if not hasattr(c, "commands")}


def options(command: Any) -> set[str]:
    found = {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
    return found | {"--help", "-h"}


@table("words", RUNNABLE, ids="-".join)
def test_every_command_says_what_it_does_and_has_an_example(words: tuple[str, ...]) -> None:
    page = page_of(RUNNABLE[words], ("patchmgr", *words))
    assert page.summary.endswith(".")
    assert page.examples
    for example in page.examples:
        check_line(example)
        assert shlex.split(example, comments=True)[1:][: len(words)] == list(words)


def check_line(line: str) -> None:
    """Check that a command line names a command that there is, and options of it."""
    words = [w for w in shlex.split(line, comments=True) if w not in ("|", ">")]
    assert words[0] == "patchmgr", line
    rest = words[1:]
    while rest and rest[0] == "-C":
        rest = rest[2:]
    assert rest, line
    if rest[0].startswith("-"):
        assert rest[0] in options(ROOT), line
        return
    command, at = ROOT, 0
    while at < len(rest) and rest[at] in getattr(command, "commands", {}):
        command, at = command.commands[rest[at]], at + 1
    assert at, f"no command in: {line}"
    assert at == len(rest) or not hasattr(command, "commands"), f"no command {rest[at]}: {line}"
    for word in rest[at:]:
        if re.fullmatch(r"--?[a-zA-Z][\w-]*(=.*)?", word):
            assert word.partition("=")[0] in options(command), f"{word} in: {line}"


TOPICS = {topic.name: topic for topic in topics()}
ALL_OPTIONS = {name for command in (ROOT, *COMMANDS.values()) for name in options(command)}
OF_OTHERS = {"--keep-cr", "--series"}


@table("topic", TOPICS.values(), ids=TOPICS)
def test_a_topic_names_only_what_there_is(topic: Topic) -> None:
    lines = [line.strip() for line in topic.text.split("\n") if line.startswith("    patchmgr")]
    quoted = re.findall(r"`(patchmgr [^`]+)`", topic.text.replace("\n", " "))
    for line in [*lines, *quoted]:
        check_line(line)
    for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", topic.text):
        assert option in ALL_OPTIONS | OF_OTHERS, option
    for name in re.findall(r"patchmgr help ([a-z-]+)", topic.text):
        assert name in TOPICS


PAGES = [
    page
    for name in ("from-*.md", "troubleshooting.md")
    for page in sorted((Path(__file__).parents[2] / "docs").glob(name))
]


@table("page", PAGES, ids=lambda page: page.stem)
def test_a_page_for_newcomers_types_only_what_there_is(page: Path) -> None:
    text = page.read_text()
    fenced = re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in fenced for line in block.splitlines()]
    lines += re.findall(r"`(patchmgr [^`]+)`", re.sub(r"\s*\n", " ", text))
    typed = [part for line in lines for part in line.split(" && ") if part.startswith("patchmgr ")]
    assert len(typed) > 4
    for line in typed:
        check_line(re.sub(r"\$\([^)]*\)", "REF", line))


@table(
    "line",
    ["patchmgr rebas", "patchmgr rebase --ono x", "patchmgr series shw", "git am", "patchmgr"],
)
def test_the_check_sees_what_is_wrong(line: str) -> None:
    with pytest.raises(AssertionError):
        check_line(line)


@table("topic", TOPICS.values(), ids=TOPICS)
def test_a_topic_is_short_and_fits_a_terminal(topic: Topic) -> None:
    lines = topic.text.split("\n")
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100


def test_topics_are_listed_and_read(run: Run) -> None:
    listed = run("help").out
    for topic in TOPICS.values():
        assert re.search(rf"^  {topic.name} +{re.escape(topic.about)}$", listed, re.MULTILINE)
        answer = run("help", topic.name)
        assert answer.out == f"{topic.name}: {topic.about}\n\n{topic.text}"
        document = run("help", topic.name, "--json").json
        assert document["topic"]["about"] == topic.about
    assert [t["name"] for t in run("help", "--json").json["topics"]] == sorted(TOPICS)


def test_a_command_is_explained_by_its_own_help(run: Run) -> None:
    assert "Usage: " in run("help", "rebase").out
    shown = run("help", "series", "new").out
    assert "--upstream U" in shown
    assert "series new" in shown.split("\n")[0]
    error = run("help", "rebase", "--json", code=2).json["error"]
    assert "for a command, use --help" in error["message"]


@table(
    ("asked", "near"),
    [("conflits", "conflicts"), ("VERDICT", "verdicts"), ("rebse", "rebase"), ("zzz", "patchmgr")],
)
def test_an_unknown_topic_gets_the_nearest_names(run: Run, asked: str, near: str) -> None:
    answer = run("help", asked, code=2)
    assert one_line(answer) == f"there is no topic or command {asked}"
    assert near in answer.err.splitlines()[1]


def test_a_hostile_topic_reaches_no_terminal(run: Run) -> None:
    assert "\x1b" not in run("help", "\x1b[2Jx", code=2).err


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the man pages by file name."""
    from tests.commands.conftest import invoke

    folder = tmp_path_factory.mktemp("man")
    assert invoke("help", "--man", folder).code == 0
    return {page.name: page.read_bytes() for page in folder.iterdir()}


def test_every_command_and_topic_has_a_page(pages: dict[str, bytes]) -> None:
    wanted = {f"patchmgr-{'-'.join(words)}.1" for words in VISIBLE}
    wanted |= {f"patchmgr-{name}.7" for name in TOPICS} | {"patchmgr.1"}
    assert set(pages) == wanted
    assert all(page.startswith(OURS) for page in pages.values())


def test_the_page_of_a_command_has_all_of_it(pages: dict[str, bytes]) -> None:
    for words, command in RUNNABLE.items():
        page = pages[f"patchmgr-{'-'.join(words)}.1"].decode().replace("\\-", "-")
        for name in {n for n in options(command) if n[0] == "-"} - {"--help", "-h"}:
            assert f"\\fB{name}\\fP" in page, (words, name)
        assert ".SH EXAMPLES" in page
    main = pages["patchmgr.1"].decode().replace("\\-", "-")
    assert all(f"\\fBpatchmgr-{'-'.join(words)}(1)\\fP" in main for words in VISIBLE)
    assert ".SH EXIT STATUS" in main
    assert ".SH ENVIRONMENT" in main


CHECKERS = {"mandoc": ("mandoc", "-T", "lint"), "groff": ("groff", "-ww", "-z", "-man", "-Tutf8")}


@pytest.mark.parametrize("checker", CHECKERS.values(), ids=CHECKERS)
def test_pages_are_clean(pages: dict[str, bytes], checker: tuple[str, ...], tmp_path: Path) -> None:
    if shutil.which(checker[0]) is None:
        pytest.skip(f"{checker[0]} is not installed")
    for name, page in pages.items():
        (tmp_path / name).write_bytes(page)
    names = sorted(pages)
    done = subprocess.run([*checker, *names], cwd=tmp_path, capture_output=True, check=False)
    assert (done.stdout + done.stderr).decode() == ""


def test_pages_are_reproducible(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    for _ in range(2):
        run("help", "--man", tmp_path / "man")
        page = (tmp_path / "man/patchmgr-rebase.1").read_text()
        assert ".TH PATCHMGR\\-REBASE 1 1970-01-02 " in page


def test_pages_replace_nothing_of_somebody_else(run: Run, tmp_path: Path) -> None:
    (tmp_path / "patchmgr.1").write_text("mine\n")
    assert "already exists" in one_line(run("help", "--man", tmp_path, code=1))
    assert [path.name for path in tmp_path.iterdir() if path.suffix] == ["patchmgr.1"]
