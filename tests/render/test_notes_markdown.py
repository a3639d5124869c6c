"""The note on a sync as Markdown."""

from msgspec.structs import replace

from patchmgr.model.notes import (
    Arrival,
    Carried,
    Dropped,
    GateLine,
    ResolvedFile,
    SubsystemArrivals,
    SyncNote,
)
from patchmgr.model.outcome import Reliability
from patchmgr.model.upstream import Pin
from patchmgr.render.notes import note_markdown, note_value
from tests.tables import table

OLD, NEW, HEAD = ("a" * 40, "b" * 40, "c" * 40)
CAME = Arrival("d" * 40, "Fix it (#12)", 12)
NOTE = SyncNote(
    series="s",
    base=Pin("v1", OLD, OLD),
    onto=Pin(NEW, NEW, NEW),
    upstream_commits=3,
    unit="commit",
    head=HEAD,
    old_head=OLD,
    is_dry_run=False,
    is_complete=True,
    patches=(Carried("a.patch", "Do a", "modified", ("text",)),),
    solved=(),
    dropped=(),
    brought=(),
    subsystems_by="folders",
    identical=(),
    changed=(),
    gates=(),
    preview=None,
    fallback=None,
)


def test_a_short_note_says_where_from_and_where_to() -> None:
    assert note_markdown(NOTE) == (
        "## Sync of `s`\n\n"
        f"3 upstream commits came in: from `v1` (`{OLD}`) to `{NEW}`\n\nHead `{HEAD}`\n\n"
        "1 patch: 1 modified.\n\n- modified: `a.patch`\n\n"
        "### Gates\n\nNo check of this state is recorded. Run: `patchmgr check`\n\n"
        f"### Tags\n\n- The old head is `{OLD}`\n"
    )


@table(
    ("note", "said"),
    {
        "dry run": (
            replace(NOTE, is_dry_run=True, head=None, old_head=None),
            "## What a sync would do to `s`",
        ),
        "incomplete": (replace(NOTE, is_complete=False), "no detailed record of that rebase"),
        "solved": (
            replace(
                NOTE,
                solved=(
                    ResolvedFile(
                        "a.patch", "a.py", "b.py", ("f", "g"), "both are in", False, (CAME,)
                    ),
                ),
            ),
            "- `a.py` → `b.py` in `f` `g` (`a.patch`): **both are in**; "
            "collided with #12 Fix it (`dddddddddddd`)",
        ),
        "solved without more": (
            replace(NOTE, solved=(ResolvedFile("a.patch", "a.py", "a.py", (), "by hand", False),)),
            "- `a.py` (`a.patch`): **by hand**\n"),
        "what the patch does": (
            replace(
                NOTE,
                solved=(
                    ResolvedFile(
                        "a.patch", "a.py", "a.py", (), "by hand", False, edits=("add `x|`",)
                    ),
                ),
            ),
            "- `a.py` (`a.patch`): **by hand**; the patch: add \\`x\\|\\`\n",
        ),
        "in part": (
            replace(NOTE, dropped=(Dropped("a.patch", "Do a", False, ("exact",), (CAME,)),)),
            "### Dropped, because upstream has the change\n\n"
            "- `a.patch` (in part) Do a (exact): #12 Fix it (`dddddddddddd`)"),
        "how sure": (
            replace(
                NOTE,
                dropped=(
                    Dropped(
                        "a.patch",
                        "Do a",
                        True,
                        ("exact", "history", "range"),
                        (CAME,),
                        (Reliability("history", 1199, 1204), Reliability("range")),
                    ),
                ),
            ),
            "- `a.patch` Do a (exact; history, right in 99.5 % of 1,204; range, not measured): ",
        ),
        "a proposal": (
            replace(
                NOTE,
                solved=(
                    ResolvedFile(
                        "a.patch",
                        "a.py",
                        "a.py",
                        (),
                        "open: proposed: absorbed",
                        True,
                        (),
                        Reliability("likely", 3, 4),
                    ),
                ),
            ),
            "- `a.py` (`a.patch`): **open: proposed: absorbed** (right in 75.0 % of 4)",
        ),
        "whole": (replace(NOTE, dropped=(Dropped("a.patch", "", True, (), ()),)),
            "### Dropped, and no upstream commit is known\n\n- `a.patch`\n"),
        "brought": (
            replace(NOTE, brought=(SubsystemArrivals("core", (replace(CAME, pull=None),)),)),
            "- **core**: 1 commit\n  - Fix it (#&#8203;12) (`dddddddddddd`)"),
        "kernels first": (
            replace(NOTE, identical=(("a.py", "Python"), ("b.cu", "CUDA"), ("c.py", "Python"))),
            "- CUDA, 1 file: `b.cu`\n- Python, 2 files: `a.py` `c.py`"),
        "warning": (replace(NOTE, warnings=("look at it",)), "### Warnings\n\n- look at it"),
        "gates": (replace(NOTE, gates=(GateLine("python", "failed", 2, "why"),)),
            "| python | failed | 2 | why |"),
        "tags": (replace(NOTE, preview="one", fallback="old"),
            f"- Preview tag `one` at `{HEAD}`\n- Fallback tag `old` at the old head"),
    },
)  # fmt: skip
def test_each_fact_has_its_words(note: SyncNote, said: str) -> None:
    assert said in note_markdown(note)


def test_a_dry_run_promises_no_gates_and_no_tags() -> None:
    text = note_markdown(replace(NOTE, is_dry_run=True, head=None, old_head=None))
    assert "###" not in text


def test_long_lists_are_folded_and_cut() -> None:
    long = replace(
        NOTE, brought=tuple(SubsystemArrivals(f"part {n}", (CAME,) * 9) for n in range(9))
    )
    text = note_markdown(long)
    assert "<summary>90 lines</summary>" in text
    short = note_markdown(long, limit=2000)
    assert len(short) <= 2000
    assert "Left out for lack of space: " in short


def test_the_document_says_how_sure_it_is() -> None:
    known = Reliability("history", 9, 10)
    solved = ResolvedFile("a.patch", "a.py", "a.py", (), "open", True, (), Reliability("likely"))
    dropped = Dropped("b.patch", "Do b", True, ("history",), (CAME,), (known,))
    value = note_value(replace(NOTE, solved=(solved,), dropped=(dropped,)))
    assert value["dropped"][0]["reliability"] == ({"rule": "history", "right": 9, "of": 10},)
    unknown = {"rule": "likely", "right": None, "of": None}
    assert value["conflicts"][0]["reliability"] == unknown
