"""The page of a report: nothing from elsewhere, and readable without its pictures."""

import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from msgspec.json import decode, encode
from msgspec.structs import replace

from patchmgr.model.footprint import (
    ChangedSite,
    Gate,
    Hotspot,
    Reach,
    RecordedRebase,
    Review,
    Risk,
    RiskKind,
    Subsystem,
    Tally,
)
from patchmgr.model.outcome import ConflictKind, Reliability
from patchmgr.model.work_order import (
    OrderedCandidate,
    OrderedRegion,
    SideText,
    UpstreamChange,
    WorkOrder,
)
from patchmgr.render.markdown_text import LIMIT
from patchmgr.render.report_html import Box, report_html, squarified
from patchmgr.render.report_markdown import report_markdown
from patchmgr.render.report_terminal import report_terminal
from patchmgr.render.reports import review_value
from tests.render.test_report import PIN, empty, one, small
from tests.tables import table

HOSTILE = '</title><script>alert("x")</script>'
REVIEW = Review(
    parts_by="folders",
    parts=(Subsystem(Tally("pkg", 2, 0, 4, 1), Tally("pkg", 1, 0, 1, 0), 0, ("Python",)),
           Subsystem(Tally(HOSTILE, 1, 0, 1, 0), Tally(HOSTILE, 0, 0, 0, 0), 1, ("C",))),
    parts_of_patches=(("a.patch", (("pkg", 5),)), ("b.patch", ((HOSTILE, 1),))),
    sites=(
        ChangedSite("pkg/a.py", "A.f", 3, 3, False, HOSTILE, Reach.SHARED, (), "no gate"),
        ChangedSite(
            "pkg/a.py", None, 9, 9, True, "x", Reach.INERT, (Gate("model", "is_new()"),), "off"
        ),
    ),
    hotspots=(Hotspot("pkg/a.py", "A.f", 3, 9, ("a.patch",)),),
    window=300,
    risks=(Risk(RiskKind.ENVIRONMENT, "pkg/a.py", "APP_X"),),
    moments=(RecordedRebase("v2", 40, True, {"a.patch": "unchanged", "b.patch": "absorbed"},
                    {"b.patch": (Reliability("history", 9, 10),)}),),
)  # fmt: skip

WIDE = "wide " * 80
ORDER = WorkOrder(
    "0" * 12, ConflictKind.TEXT, "s", HOSTILE, HOSTILE, f"{HOSTILE}\n\n{HOSTILE}\n", HOSTILE,
    (("Field", HOSTILE),), f"{HOSTILE}{'w' * 200}", HOSTILE, HOSTILE, PIN, PIN,
    regions=(
        OrderedRegion(
            HOSTILE, 1, HOSTILE, SideText(9, f"same\n{HOSTILE}\n"), None,
            SideText(9, f"same\nmine {WIDE}\n"),
            (OrderedCandidate(1, f"same\n{HOSTILE}\x1b\n", Reliability(HOSTILE, 3, 4)),),
        ),
    ),
    causes=(UpstreamChange("1" * 40, HOSTILE, 7, HOSTILE, HOSTILE, f"+{HOSTILE}\n"),),
)  # fmt: skip


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "rect", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)


def page() -> tuple[str, _Reader]:
    text = report_html([replace(small(), review=REVIEW), one(), empty()], [ORDER])
    reader = _Reader()
    reader.feed(text)
    return text, reader


def test_the_page_is_well_formed_and_loads_nothing() -> None:
    text, reader = page()
    assert reader.faults == reader.open == []
    names = Counter(tag for tag, _ in reader.tags)
    assert not {"script", "link", "img", "iframe", "object"} & set(names)
    assert not re.search(r"url\(|@import|src=", text)
    assert [a for _, a in reader.tags for k in a if k.startswith("on")] == []
    assert HOSTILE not in text


def test_what_waits_stands_side_by_side_with_the_lines_that_differ() -> None:
    text, _ = page()
    region = text[text.index("<summary>Region 1") : text.index("<summary>Caused by upstream")]
    captions = re.findall("<figcaption>(.*)</figcaption>|<p>(.*)</p>", region)
    assert [name for both in captions for name in both if name][:3] == [
        "base", "ours: there is no such file", "theirs",
    ]  # fmt: skip
    assert "candidate 1: " in region and "right in 75.0 % of 4" in region
    marked = re.findall("<mark>(.*)</mark>", region)
    assert [line[:5] for line in marked] == ["&lt;/", "mine ", "&lt;/"]
    assert marked[2].endswith("\\u001b")
    assert "\\u000a" not in text  # the ends of lines are the page's


def test_a_rebase_on_record_says_how_often_such_verdicts_were_right() -> None:
    assert "b.patch on v2: absorbed (history, right in 90.0 % of 10)<" in page()[0]
    (moment,) = decode(encode(review_value(REVIEW)))["timeline"]
    assert moment["reliability"] == {"b.patch": [{"rule": "history", "right": 9, "of": 10}]}


def test_everything_has_a_name_and_an_order() -> None:
    _, reader = page()
    ids = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert next(attrs for tag, attrs in reader.tags if tag == "html")["lang"] == "en"
    for tag, attrs in reader.tags:
        if tag == "svg":
            assert attrs["role"] == "img"
            assert set(str(attrs["aria-labelledby"]).split()) <= set(ids)
        if tag == "th":
            assert attrs["scope"] == "col"
        if attrs.get("tabindex") == "0":
            assert attrs["role"] == "group" and attrs["aria-label"]
    tables = sum(tag == "table" for tag, _ in reader.tags)
    assert sum(tag == "caption" for tag, _ in reader.tags) == tables
    levels = [int(tag[1]) for tag, _ in reader.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_other_forms_say_the_same() -> None:
    found = replace(small(), review=REVIEW)
    markdown = report_markdown(found)
    assert "### Subsystems (by folders)" in markdown
    assert "**shared** (runs for everybody): 1 site" in markdown
    assert markdown.index("1 site shared") < markdown.index("1 site inert")
    assert "```mermaid" in markdown
    assert "environment variable: `APP_X`" in markdown
    assert len(report_markdown(found, limit=6000)) <= 6000 < LIMIT
    for width in (40, 100):
        for line in report_terminal(found, width=width, color=False).splitlines():
            assert len(line) <= width or line.startswith("on ")


def test_sites_are_counted_where_there_are_any() -> None:
    for sites, count in ((REVIEW.sites, 1), ((), 0)):
        found = replace(small(), review=replace(REVIEW, sites=sites))
        text = report_terminal(found, width=80, color=False)
        assert text.count("shared: runs for everybody") == count


@table("sizes", [[], [1], [6, 6, 4, 3, 2, 2, 1], [1000, 1, 1, 1]], ids=lambda s: str(len(s)))
def test_areas_are_the_numbers(sizes: list[float]) -> None:
    boxes = squarified(sizes, Box(0, 0, 60, 40))
    total = sum(sizes)
    for size, box in zip(sizes, boxes, strict=True):
        assert box.width * box.height == pytest.approx(2400 * size / total)
        assert box.x >= -1e-6 and box.x + box.width <= 60 + 1e-6
        assert box.y >= -1e-6 and box.y + box.height <= 40 + 1e-6
