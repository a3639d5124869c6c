"""Tables of several targets, for a terminal and as Markdown."""

from patchmgr.cli.root import text_of
from patchmgr.model.outcome import PatchOutcome, SeriesOutcome, TargetOutcome, Verdict
from patchmgr.model.patch import Author
from patchmgr.model.upstream import Pin
from patchmgr.render.plans import after_targets, targets_text
from patchmgr.render.view import Detail, View
from tests.tables import table

NOBODY = Author("n", "e", "0 +0000")


def series(name: str, ref: str, verdicts: dict[str, Verdict], head: str | None) -> SeriesOutcome:
    patches = tuple(
        PatchOutcome(patch, "s", b"", NOBODY, verdict) for patch, verdict in verdicts.items()
    )
    base, onto = Pin("v1", "a" * 40, "b" * 40), Pin(ref, "c" * 40, "d" * 40)
    return SeriesOutcome(name, "up", base, onto, 1, head, "d" * 40, patches, (None,) * len(patches))


NAMES = ("one.patch", "t|o.patch", "x\x1b.patch")
CLEAN = dict(zip(NAMES, (Verdict.UNCHANGED, Verdict.ABSORBED, Verdict.SKIPPED), strict=True))
LEFT = dict(zip(NAMES, (Verdict.MODIFIED, Verdict.CONFLICT, Verdict.BLOCKED), strict=True))
MORE = {**LEFT, "one.patch": Verdict.CONFLICT}
TARGETS = (
    TargetOutcome("v2", (series("s", "v2", CLEAN, "e" * 40), series("t", "v2", {}, "c" * 40))),
    TargetOutcome("f" * 40, (series("s", "f" * 40, LEFT, None),)),
    TargetOutcome("v\u202e3", (series("s", "v\u202e3", MORE, None),)),
)

WIDE = """\
s: v1 -> 3 targets  (3 patches)
  patch          v2        ffffffffffff  v\\u202e3
  one.patch      same      modified      conflict
  t|o.patch      absorbed  conflict      conflict
  x\\u001b.patch  skipped   blocked       blocked

  v2            head eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee  1 unchanged, 1 absorbed, 1 skipped
  ffffffffffff  1 conflict, 1 blocked
  v\\u202e3      2 conflicts, 1 blocked

t: v1 -> 1 target  (0 patches)
  v2  head cccccccccccccccccccccccccccccccccccccccc  no patches
"""
NARROW = """\
s: v1 -> 3 targets  (3 patches)
  patch          v2
  one.patch      same
  t|o.patch      absorbed
  x\\u001b.patch  skipped

  patch          ffffffffffff
  one.patch      modified
  t|o.patch      conflict
  x\\u001b.patch  blocked

  patch          v\\u202e3
"""
MARKDOWN = """\
### s: v1 -\\> 3 targets  (3 patches)

| patch | v2 | ffffffffffff | v\\\\u202e3 |
|---|---|---|---|
| `one.patch` | same | modified | **conflict** |
| `t\\|o.patch` | absorbed | **conflict** | **conflict** |
| `x\\u001b.patch` | skipped | **blocked** | **blocked** |

- v2: head eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee  1 unchanged, 1 absorbed, 1 skipped
- ffffffffffff: 1 conflict, 1 blocked
- v\\\\u202e3: 2 conflicts, 1 blocked

### t: v1 -\\> 1 target  (0 patches)
"""


def test_a_table_has_a_row_a_patch_and_a_column_a_target() -> None:
    assert text_of(targets_text(TARGETS, "terminal", View(width=100))) == WIDE


@table("width", [1, 20])
def test_what_is_too_wide_goes_on_below(width: int) -> None:
    assert text_of(targets_text(TARGETS, "terminal", View(width=width))).startswith(NARROW)


def test_two_columns_fit_beside_each_other() -> None:
    shown = text_of(targets_text(TARGETS, "terminal", View(width=40)))
    assert "  patch          v2        ffffffffffff\n" in shown


def test_colors_are_for_terminals() -> None:
    shown = text_of(targets_text(TARGETS, "terminal", View(width=100, color=True)))
    row = "\x1b[32msame\x1b[0m      \x1b[33mmodified\x1b[0m      \x1b[1;31mconflict\x1b[0m\n"
    assert row in shown
    assert "\x1b" not in text_of(targets_text(TARGETS, "markdown", View(width=100, color=True)))


def test_markdown_is_a_table_too() -> None:
    assert text_of(targets_text(TARGETS, "markdown", View(width=10))).startswith(MARKDOWN)


def test_no_targets_are_no_text() -> None:
    assert text_of(targets_text((), "terminal", View(width=80))) == ""


@table(
    ("targets", "said"), [(TARGETS, "Conflicts on 2 of 3 targets."), (TARGETS[:1], "No conflict.")]
)
def test_what_is_left_is_said(targets: tuple[TargetOutcome, ...], said: str) -> None:
    assert after_targets(targets) == f"{said} Nothing was written: this was a dry run."


def test_what_stays_the_same_everywhere_is_counted() -> None:
    same = dict.fromkeys(("one.patch", "two.patch"), Verdict.UNCHANGED)
    found = (TargetOutcome("v2", (series("s", "v2", {**same, **LEFT}, None),)),)
    shown = text_of(targets_text(found, "terminal", View()))
    assert "two.patch" not in shown and "  1 patch unchanged on every target\n" in shown
    assert "  two.patch      same\n" in text_of(targets_text(found, "terminal", View(Detail.ALL)))
    line = "s: v1 -> 1 target  (4 patches): v2 1 conflict, 1 blocked\n"
    assert text_of(targets_text(found, "terminal", View(Detail.LINE))) == line
