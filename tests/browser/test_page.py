"""The page of a report in a real browser, and the Markdown of one in GitHub's own renderer.

The tools are not those of the fast tests. Chromium, Node.js, and the packages playwright-core and
axe-core in the folder that PATCHMGR_NODE_MODULES names; cmark-gfm. What is missing is named where
a test is skipped. PATCHMGR_PAGES may name a folder of reports (`*.html`, `*.md`) to look at, too;
PATCHMGR_PICTURES one for the screenshots.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from patchmgr.render.markdown_text import LIMIT
from patchmgr.render.report_html import report_html
from patchmgr.render.report_markdown import report_markdown
from tests.render.test_report import empty, one, small
from tests.render.test_report_html import ORDER, REVIEW

pytestmark = pytest.mark.browser
SCRIPT = Path(__file__).with_name("page.cjs")
NODE_MODULES = os.environ.get("PATCHMGR_NODE_MODULES", "")
PICTURES = os.environ.get("PATCHMGR_PICTURES", "")
PAGES = os.environ.get("PATCHMGR_PAGES", "")
GIVEN = sorted(Path(PAGES).iterdir()) if PAGES else []
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="module")
def tools() -> tuple[str, str]:
    """Return node and a browser, or skip and say what is missing."""
    node = shutil.which("node")
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    packages = [Path(NODE_MODULES, name) for name in ("playwright-core", "axe-core")]
    missing = [what for what, there in (("node", node), ("chromium", browser)) if not there]
    if not NODE_MODULES or not all(map(Path.is_dir, packages)):
        missing.append("PATCHMGR_NODE_MODULES with playwright-core and axe-core")
    if missing or node is None or browser is None:
        pytest.skip(f"no browser test: {', '.join(missing)} is missing")
    return node, browser


def looks_at(page: Path, tools: tuple[str, str], pictures: Path | None) -> list[dict[str, Any]]:
    command = [tools[0], str(SCRIPT), str(page), tools[1], NODE_MODULES]
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        command.append(str(pictures))
    done = subprocess.run(command, capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def pages(folder: Path) -> list[Path]:
    own = folder / "report.html"
    own.write_text(report_html([replace(small(), review=REVIEW), one(), empty()], [ORDER]))
    return [own, *(path for path in GIVEN if path.suffix == ".html")]


def test_a_page_is_accessible_quiet_and_fits(tmp_path: Path, tools: tuple[str, str]) -> None:
    for page in pages(tmp_path):
        pictures = Path(PICTURES, page.stem) if PICTURES else None
        found = looks_at(page, tools, pictures)
        assert [look["name"] for look in found][:2] == ["light", "dark"]
        for look in found:
            where = f"{page.name}, {look['name']}"
            assert look["violations"] == [], where
            assert look["elsewhere"] == look["messages"] == [], where
            for wide, room in (look["width"], look["opened"]):
                assert wide <= room, where
        steps = found[0]["keyboard"]["steps"]
        assert steps[0]["tag"] == "A" and found[0]["keyboard"]["opened"]
        assert all(step["shown"] and step["outline"] for step in steps)


def rendered(markdown: str) -> str:
    program = shutil.which("cmark-gfm")
    if program is None:
        pytest.skip("no Markdown test: cmark-gfm is missing")
    extensions = ("table", "strikethrough", "autolink", "tagfilter")
    options = ["--unsafe", *(word for name in extensions for word in ("-e", name))]
    done = subprocess.run(
        [program, *options], input=markdown.encode(), capture_output=True, check=True, timeout=60
    )
    return done.stdout.decode()


class Tables(HTMLParser):
    """Counts the cells of each row of each table, and collects the text outside of code."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[int]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag not in ("br", "hr", "img", "input"):
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append(0)
        elif tag in ("td", "th"):
            self.tables[-1][-1] += 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"{tag} closes nothing"

    def handle_data(self, data: str) -> None:
        if not {"code", "pre"} & set(self.open):
            self.text += data


def test_markdown_renders_as_it_is_meant(tmp_path: Path) -> None:
    texts = [report_markdown(replace(small(), review=REVIEW)), report_markdown(empty())]
    texts += [path.read_text() for path in GIVEN if path.suffix == ".md"]
    for text in texts:
        assert len(text) < LIMIT
        reader = Tables()
        html = rendered(text)
        reader.feed(html)
        assert reader.open == []
        rules = len(re.findall(r"^\|[ :|-]+\|$", text, re.M))
        assert len(reader.tables) == rules
        for table in reader.tables:
            assert len(set(table)) == 1
        assert "|--" not in reader.text and "```" not in reader.text and "**" not in reader.text
        assert html.count("<details>") == text.count("<details>") == html.count("</details>")
        assert html.count("language-mermaid") == text.count("```mermaid")
