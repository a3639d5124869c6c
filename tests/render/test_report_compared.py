"""`report --compare` as Markdown for a pull request."""

from __future__ import annotations

from patchmgr.model.comparison import ComparedPatch, Sameness
from patchmgr.model.footprint import ComparedFootprint
from patchmgr.render.reports import compared_markdown

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
