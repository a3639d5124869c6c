"""`--help` and topic pages: commands in groups; wrong words point to the right page."""

import os
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main

from patchmgr import cli
from patchmgr.cli.helping import GROUPS
from patchmgr.commands.help import parse_topic
from patchmgr.model.manual import BlockKind, PageBlock
from tests.commands.conftest import Run, invoke
from tests.tables import table

ROOT: Any = typer.main.get_command(cli.app)


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_every_command_is_in_one_group_of_the_help(run: Run) -> None:
    named = " ".join(GROUPS.values()).split()
    assert sorted(named) == sorted(name for name, c in ROOT.commands.items() if not c.hidden)
    shown = run("--help").out.splitlines()
    assert [line[:-1] for line in shown if line[:-1] in GROUPS] == list(GROUPS)
    assert "More:" not in shown


@table("words", [(), ("series",), ("upstream",), ("conflicts",)], ids=str)
def test_a_summary_fits_a_line(run: Run, words: tuple[str, ...]) -> None:
    lines = run(*words, "--help").out.splitlines()
    assert not [line for line in lines if line.endswith("...") and "COMMAND" not in line]
    assert max(map(len, lines)) <= 80


def test_an_example_is_one_line_that_can_be_pasted(run: Run) -> None:
    shown = run("rebase", "--help").out
    assert "  patchmgr rebase vllm --onto v0.24.0..v0.28.0 --every release --dry-run\n" in shown
    assert shown.startswith("Usage: patchmgr rebase [OPTIONS] [SERIES]...\n")


@table(
    ("line", "near", "page"),
    [
        ("rebse", "Did you mean 'rebase'", "patchmgr"),
        ("--nope", "No such option: --nope", "patchmgr"),
        ("rebase --ontoo x", "No such option: --ontoo. Did you mean --onto?", "patchmgr rebase"),
        ("rebase --onto", "--onto", "patchmgr rebase"),
        ("series nwe", "Did you mean 'new'?", "patchmgr series"),
        ("series new", "Missing argument", "patchmgr series new"),
        ("series new x --bse v1", "Did you mean --base?", "patchmgr series new"),
        ("rebase --abort --skip", "give exactly one of --onto REF", "patchmgr rebase"),
        ("edit --author me", "--author must be written as", "patchmgr edit"),
    ],
)
def test_a_wrong_word_points_to_the_help_of_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, near: str, page: str
) -> None:
    monkeypatch.chdir(tmp_path)
    invoke("init", os.curdir)
    answer = invoke(*shlex.split(line))
    assert answer.code == 2
    message, *hints = answer.err.splitlines()
    assert near in message
    assert hints[-1] == f"  hint: {page} --help"


PAGE = """\
# some-topic: what it is about

Text of
two lines.

- one
  goes on
- two

    code `as` is
      indented

Last.
"""


def test_a_page_is_read() -> None:
    topic = parse_topic(PAGE)
    assert (topic.name, topic.about) == ("some-topic", "what it is about")
    assert topic.text == PAGE.partition("\n\n")[2]
    assert list(topic.blocks) == [
        PageBlock(BlockKind.TEXT, "Text of two lines."),
        PageBlock(BlockKind.ITEM, "one goes on"),
        PageBlock(BlockKind.ITEM, "two"),
        PageBlock(BlockKind.CODE, "code `as` is\n  indented"),
        PageBlock(BlockKind.TEXT, "Last."),
    ]


@table("text", ["", "some: text\n", "# Some: text\n", "# a b: c\n", "# a:b\n"])
def test_a_page_without_a_title_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="the title"):
        parse_topic(text)
