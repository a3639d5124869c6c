"""Foreign text in Markdown."""

import html
import re

from markdown_it import MarkdownIt

from patchmgr.render.markdown_text import LONGEST, code, code_cell, text
from tests.tables import table

HOSTILE = [
    "plain",
    "a | b \\| c \\\\| d",
    "`code` ``more`` `",
    "``",
    " padded ",
    "<script>alert(1)</script> & &amp; &#64;",
    "*a* _b_ **c** ~~d~~ $e$ [f](g) ![h](i) [^1]",
    "@user @org/team a@b.org",
    "#1 (#12) gh-3 GH-4 org/repo#5",
    "https://example.org www.example.org :smile: a::b",
    "- item",
    "+ item",
    "# title",
    "=",
    "1. item",
    "12) item",
    "> quote",
    "back\\slash\\",
    "\x1b[31m\n\u202e\udcff",
    "",
]


def rendered(markdown: str) -> str:
    """Return the text of what a GFM parser shows, without what `text` puts in against links."""
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    return html.unescape(re.sub("<[^>]*>", "", page)).replace("\u200b", "")


@table("foreign", HOSTILE, ids=repr)
def test_text_shows_as_it_is(foreign: str) -> None:
    shown = rendered(f"| a |\n|---|\n| {text(foreign)} |\n")
    assert _squeezed(shown) == _squeezed("a" + _visible(foreign))
    assert _squeezed(rendered(text(foreign))) == _squeezed(_visible(foreign))


@table("foreign", HOSTILE, ids=repr)
def test_code_shows_as_it_is(foreign: str) -> None:
    shown = rendered(f"| a |\n|---|\n| {code_cell(foreign)} |\n")
    assert _squeezed(shown) == _squeezed("a" + _visible(foreign))
    assert _squeezed(rendered(f"x {code(foreign)}")) == _squeezed("x" + _visible(foreign))


def _visible(foreign: str) -> str:
    return (
        foreign.replace("\x1b", "\\u001b")
        .replace("\n", "\\u000a")
        .replace("\u202e", "\\u202e")
        .replace("\udcff", "\\xff")
    )


def _squeezed(shown: str) -> str:
    return re.sub(r"\s", "", shown)


@table(
    ("foreign", "expected"),
    [
        ("@user", "@&#8203;user"),
        ("fix (#12)", "fix (#&#8203;12)"),
        ("GH-12", "GH-&#8203;12"),
        ("https://x", "https:&#8203;//x"),
        ("www.x.org", "www&#8203;.x.org"),
        (":tada: x", ":&#8203;tada: x"),
        ("area: change", "area: change"),
        ("a #b @ c", "a #b @ c"),
        ("1.5 times", "1\\.5 times"),
    ],
)
def test_nothing_is_linked_and_nobody_told(foreign: str, expected: str) -> None:
    assert text(foreign) == expected


def test_what_is_too_long_is_cut() -> None:
    assert text("x" * 1000) == "x" * (LONGEST - 1) + "…"
    assert code("x" * LONGEST) == f"`{'x' * LONGEST}`"
