"""The report in its three forms; `UPDATE_GOLDEN=1` writes the golden files anew."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

from markdown_it import MarkdownIt
from msgspec.structs import replace

from patchmgr.engines.report.footprint import footprint
from patchmgr.model.comparison import ComparedPatch, Sameness
from patchmgr.model.footprint import ComparedFootprint, FileChange, Footprint, Kind, PatchFootprint
from patchmgr.model.patch import BinaryChange, FilePatch, Hunk, Patch
from patchmgr.model.snapshot import EXECUTABLE, REGULAR
from patchmgr.model.upstream import Pin
from patchmgr.render.markdown_text import LIMIT
from patchmgr.render.report_markdown import MOST_SITES, report_markdown
from patchmgr.render.report_terminal import report_terminal
from patchmgr.render.reports import compared_markdown, reports_text
from patchmgr.render.view import View
from tests.engines.series import at
from tests.tables import table

GOLDEN = Path(__file__).parent / "golden"
IS_UPDATE = "UPDATE_GOLDEN" in os.environ
PIN = Pin("v0.23.0", "9aaf83ef502fc37bc647f6e474314d48ba36cd1c", "2" * 40)

CORE = b"""class Pool:
    def take(self):
        return 1

    def give(self):
        return 2
"""
CORE_AFTER = CORE.replace(b"1", b"self.first()") + b"\n    def first(self):\n        return 1\n"
CACHE = b"int f() {\n  return 1;\n}\n"


def hunk(old: int, new: int, *lines: bytes) -> Hunk:
    return at(old, *lines, new=new)


def patch(name: str, subject: str, *files: FilePatch) -> Patch:
    return Patch(name, b"", b"", b"", subject, b"", None, files, True)


def small() -> Footprint:
    """Return the footprint of a series that has one of each."""
    lines = (b"     def take(self):\n", b"-        return 1\n", b"+        return 0\n", b" \n")
    take = hunk(2, 2, *lines)
    again = hunk(3, 3, b"-        return 0\n", b"+        return self.first()\n")
    added = (b"+\n", b"+    def first(self):\n", b"+        return 1\n")
    first = hunk(6, 6, b"         return 2\n", *added)
    kernel = hunk(1, 1, b" int f() {\n", b"-  return 1;\n", b"+  return 2;\n", b" }\n")
    patches = (
        patch(
            "pool.patch",
            "pool: take @all `of` it | now (#12)",
            FilePatch("pkg/core/pool.py", "pkg/core/pool.py", hunks=(take,)),
            FilePatch("csrc/cache.cu", "csrc/cache.cu", hunks=(kernel,)),
            FilePatch(None, "pkg/passing.py", hunks=(hunk(0, 1, b"+x = 1\n"),)),
        ),
        patch(
            "first.patch",
            "pool: <b>first</b> \x1b[31mred",
            FilePatch("pkg/core/pool.py", "pkg/core/pool.py", hunks=(again, first)),
            FilePatch(None, "tests/test_pool.py", hunks=(hunk(0, 1, b"+def test(): pass\n"),)),
            FilePatch("pkg/passing.py", None, hunks=(hunk(1, 0, b"-x = 1\n"),)),
        ),
        patch(
            "rest.patch",
            "",
            FilePatch("docs/old.md", "docs/new|name.md"),
            FilePatch("logo.png", "logo.png", binary=BinaryChange("literal", b"")),
            FilePatch("run.sh", "run.sh", old_mode=REGULAR, new_mode=EXECUTABLE),
            FilePatch("pkg/gone.py", None, hunks=(hunk(1, 0, b"-x = 1\n"),)),
            FilePatch(None, "third_party/x/a.h", hunks=(hunk(0, 1, b"+int x;\n"),)),
            FilePatch(None, "pkg/data/\u202ea`.bin", binary=BinaryChange("literal", b"")),
        ),
    )
    changes = (
        FileChange("csrc/cache.cu", None, REGULAR, REGULAR, CACHE, CACHE.replace(b"1", b"2")),
        FileChange("docs/new|name.md", "docs/old.md", REGULAR, REGULAR, b"a\n", b"a\n"),
        FileChange("logo.png", None, REGULAR, REGULAR, b"\0", b"\1"),
        FileChange("pkg/core/pool.py", None, REGULAR, REGULAR, CORE, CORE_AFTER),
        FileChange("pkg/data/\u202ea`.bin", None, None, REGULAR, None, b"\0"),
        FileChange("pkg/gone.py", None, REGULAR, None, b"x = 1\n", None),
        FileChange("run.sh", None, REGULAR, EXECUTABLE, b"x\n", b"x\n"),
        FileChange("tests/test_pool.py", None, None, REGULAR, None, b"def test(): pass\n"),
        FileChange("third_party/x/a.h", None, None, REGULAR, None, b"int x;\n"),
    )
    net: dict[str, tuple[int, int] | None] = {
        "csrc/cache.cu": (1, 1), "docs/new|name.md": (0, 0), "logo.png": None,
        "pkg/core/pool.py": (4, 1), "pkg/data/\u202ea`.bin": None, "pkg/gone.py": (0, 1),
        "run.sh": (0, 0), "tests/test_pool.py": (1, 0), "third_party/x/a.h": (1, 0),
    }  # fmt: skip
    return told(footprint("pool-series", PIN, patches, changes, net))


def told(found: Footprint) -> Footprint:
    """Say of each edited file what the patch does there."""
    words = ("replace `1` with `2 | <b>` in Pool.take", *(f"add `{n}`" for n in range(12)))

    def of_patch(patch: PatchFootprint) -> PatchFootprint:
        files = (replace(f, edits=words) if f.kind is Kind.EDITED else f for f in patch.files)
        return replace(patch, files=tuple(files))

    return replace(found, patches=tuple(map(of_patch, found.patches)))


def one() -> Footprint:
    """Return the footprint of one patch on one file."""
    lines = (b"     def take(self):\n", b"-        return 1\n", b"+        return 0\n", b" \n")
    edit = FilePatch("pool.py", "pool.py", hunks=(hunk(2, 2, *lines),))
    change = FileChange("pool.py", None, REGULAR, REGULAR, CORE, CORE.replace(b"1", b"0"))
    given = patch("pool.patch", "pool: take none", edit)
    return footprint("one", PIN, (given,), (change,), {"pool.py": (1, 1)})


def large(patches: int, files: int) -> Footprint:
    """Return the footprint of many patches with many symbols and long names."""
    body = b"".join(b"def symbol_%d():\n    return 1\n" % n for n in range(60))
    paths = [f"pkg/{'deep/' * 8}module_{n}.py" for n in range(files)]
    lines = [line.replace(b"1", b"2") for line in body.splitlines(keepends=True)]
    both = [b"-" + line for line in body.splitlines(keepends=True)] + [b"+" + x for x in lines]
    edits = [FilePatch(p, p, hunks=(hunk(1, 1, *both),)) for p in paths]
    every = [
        patch(f"{n}-{'long-name-' * 12}.patch", f"{n} {'long @subject ' * 12}", edits[n % files])
        for n in range(patches)
    ]
    changes = [FileChange(p, None, REGULAR, REGULAR, body, b"".join(lines)) for p in paths]
    net: dict[str, tuple[int, int] | None] = dict.fromkeys(paths, (60, 60))
    return footprint("large", PIN, every, changes, net)


def empty() -> Footprint:
    return footprint("empty", PIN, (), (), {})


FORMS: dict[str, Callable[[Footprint], str]] = {
    "md": report_markdown,
    "txt": lambda found: report_terminal(found, width=80, color=False),
    "ansi": lambda found: report_terminal(found, width=50, color=True),
    "json": lambda found: reports_text([found], "json", View()),
}


@table("form", list(FORMS))
@table("given", {"small": small, "one": one, "empty": empty})
def test_a_report_is_as_the_golden_file_says(given: Callable[[], Footprint], form: str) -> None:
    shown = FORMS[form](given())
    golden = GOLDEN / f"report-{given.__name__}.{form}"
    if IS_UPDATE:
        golden.write_bytes(shown.encode())
    assert shown == golden.read_bytes().decode()


@table(("patches", "files"), [(10, 10), (400, 1), (60, 400), (150, 150)], ids=str)
def test_markdown_fits_a_pull_request_and_says_what_is_left_out(patches: int, files: int) -> None:
    page = report_markdown(large(patches, files))
    assert len(page) < LIMIT
    for what, number in (("patches", patches), ("files", files)):
        shown = _details(page, what)
        told = rf"\n\nLeft out for lack of space: (\d+) of (\d+) {what}\.\n"
        left_out = re.search(told, shown)
        rows = len(re.findall(r"^\| (?=[\d`])", shown, re.MULTILINE))
        assert rows + (int(left_out[1]) if left_out else 0) == number
        assert left_out is None or int(left_out[2]) == number
        assert rows > min(number, 10) / 2


def _details(page: str, what: str) -> str:
    blocks = page.split("<details>")[1:]
    return blocks[0] if what == "patches" else blocks[-1]


@table("limit", [1_500, 3_000, 10_000])
def test_a_lower_limit_holds_too(limit: int) -> None:
    assert len(report_markdown(large(60, 60), limit=limit)) <= limit


def test_a_row_names_many_symbols_and_counts_the_rest() -> None:
    page = report_markdown(large(1, 1))
    assert "and 54 more |" in page
    assert f"{60 - MOST_SITES} more |" in page


def test_markdown_is_a_page_without_foreign_markup() -> None:
    page = report_markdown(small())
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(page)
    inline = [child for token in tokens for child in token.children or ()]
    kinds = {child.type for child in inline}
    assert kinds <= {"text", "code_inline", "html_inline", "em_open", "em_close"} | {
        "strong_open",
        "strong_close",
        "softbreak",
        "text_special",
    }
    assert {child.content for child in inline if child.type == "html_inline"} == {"<br>"}
    blocks = {token.content.strip() for token in tokens if token.type == "html_block"}
    assert all(re.fullmatch(r"</?details>(\n<summary>.*</summary>)?", block) for block in blocks)
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert not re.search(r"@\w|#\d", page.replace("&#8203;", "\u200b"))


def test_tables_have_as_many_cells_as_columns() -> None:
    page = report_markdown(small())
    for shown in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in shown.splitlines()}) == 1


@table("given", [small, one])
def test_no_punctuation_touches_a_name(given: Callable[[], Footprint]) -> None:
    page = re.sub(r"(`+).+?\1", "§", report_markdown(given()))
    assert "§" in page
    assert not re.search(r"§[.,;:!?]|[(]§", page)


def test_a_terminal_line_is_never_wider_than_asked_for() -> None:
    found = small()
    wide = replace(found, patches=(replace(found.patches[0], subject="漢字" * 40),))
    for width in (40, 61, 100):
        first, base, *rest = report_terminal(wide, width=width, color=False).splitlines()
        assert PIN.commit in base
        for line in (first, *rest):
            assert sum(2 if ord(c) > 0x2E80 else 1 for c in line) <= width, line
    narrow, least = (report_terminal(wide, width=width, color=False) for width in (1, 40))
    assert narrow == least


def test_color_only_adds_color() -> None:
    plain = report_terminal(small(), width=80, color=False)
    painted = report_terminal(small(), width=80, color=True)
    assert "\x1b" not in plain
    assert re.sub("\x1b\\[[\\d;]*m", "", painted) == plain


def test_json_is_one_document_for_all_series() -> None:
    document = json.loads(reports_text([one(), empty()], "json", View()))
    assert (document["format"], document["command"]) == (1, "report")
    assert [series["name"] for series in document["series"]] == ["one", "empty"]
    assert json.loads(reports_text([], "json", View()))["series"] == []


HOSTILE = "</summary><script>x</script> @all"


def test_a_long_comparison_is_cut_and_says_so_and_foreign_text_is_text() -> None:
    diff = tuple(f"+{HOSTILE} ```" for _ in range(50))
    patches = tuple(
        ComparedPatch(f"{HOSTILE} {n}", Sameness.CHANGED, "p", "p", (), diff) for n in range(40)
    )
    found = ComparedFootprint("s", None, None, patches, ((HOSTILE, None),), (("a", HOSTILE),))
    page = compared_markdown(found, HOSTILE, limit=20_000)
    assert len(page) <= 20_000
    shown = page.count("<summary>diff</summary>")
    assert 0 < shown < 40
    left_out = f"{40 - shown} of 40 differences"
    assert page.endswith(f"Left out for lack of space: {left_out}.\n")
    outside = [line for line in page.splitlines() if not line.startswith(("+", "- `"))]
    assert not any("<script>" in line for line in outside if "`" not in line)
