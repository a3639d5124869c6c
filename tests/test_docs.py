"""The documents quote messages that the program has, and name installations that work."""

import re
from pathlib import Path

import pytest

from benchmarks.rules import RULES
from patchmgr.engines.absorption.reliability import measured
from patchmgr.model.outcome import Reliability
from tests.tables import table

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/troubleshooting.md").read_text()
_QUOTED = re.compile(r"`([^`]+)`")
OF_TYPER = ("No such option: …", "No such command …")


@pytest.fixture(scope="module")
def said() -> str:
    """Return all of the program, with literals as one, and `…` for what is put into them."""
    sources = (path.read_text() for path in (ROOT / "patchmgr").rglob("*.py"))
    return re.sub(r"\{[^{}\"\n]*\}", "…", re.sub(r'"\s+f?"', "", "\n".join(sources)))


HEADINGS = [line for line in PAGE.splitlines() if line.startswith("### ")]
QUOTED = [message for line in HEADINGS for message in _QUOTED.findall(line)]


@table("message", [m for m in QUOTED if m not in OF_TYPER])
def test_a_message_that_is_explained_is_in_the_code(said: str, message: str) -> None:
    beginning = message.rstrip("…").rstrip()
    assert message in said or beginning in said


def test_every_heading_quotes_a_message_once() -> None:
    assert all(_QUOTED.search(line) for line in HEADINGS)
    assert len(QUOTED) == len(set(QUOTED)) > 30


FILES = [
    path
    for folder, suffixes in {
        "patchmgr": (".py", ".md"), "docs": (".md", ".yml"), ".github": (".yml",), "": (".md",),
    }.items()
    for path in sorted((ROOT / folder).glob("*" if not folder else "**/*"))
    if path.suffix in suffixes and path.is_file()
]  # fmt: skip


def test_patchmgr_is_on_no_package_index_and_nothing_says_so() -> None:
    asked = re.compile(r"pip install [^\n]*?[\"' ]patchmgr\b(?!\S* @ git\+)")
    wrong = [str(p.relative_to(ROOT)) for p in FILES if asked.search(f" {p.read_text()}")]
    assert wrong == []


def test_every_page_is_in_the_contents_of_the_site() -> None:
    contents = (ROOT / "docs/index.md").read_text()
    named = re.findall(r"^(?:.* <)?([\w-]+)>?$", contents, re.MULTILINE)
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    assert sorted(set(named) & pages) == sorted(pages)


def test_the_table_of_rules_is_that_of_the_program() -> None:
    page = (ROOT / "docs/benchmarks.md").read_text()
    section = page.partition("<!-- begin: python -m benchmarks.rules -->")[2].partition("<!-- end")
    table = section[0].partition("| rule | what it is for |")[2].splitlines()[2:]
    rows = [tuple(cell.strip() for cell in line.split("|")[1:3]) for line in table if line]
    assert rows == [(rule.name, rule.reason) for rule in RULES]


def test_the_shares_on_the_page_are_those_of_the_package() -> None:
    page = (ROOT / "docs/benchmarks.md").read_text()
    table = page.partition("| kind | right | of | share |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:4]] for line in table.splitlines()[2:]]
    shares = {kind: Reliability(kind, int(right), int(of)) for kind, right, of in rows}
    assert shares == measured()
