"""How conflicts and their causes are shown."""

from collections.abc import Sequence

from patchmgr.model.outcome import (
    FileConflict,
    PatchOutcome,
    SeriesOutcome,
    UpstreamCommit,
    Verdict,
)
from patchmgr.model.patch import Author
from patchmgr.model.upstream import Pin
from patchmgr.render.conflicts import marked_text
from patchmgr.render.rebase import commit_line, patch_lines
from patchmgr.render.view import View
from tests.tables import table

MARKED = b"a\n<<<<<<< ours\nb\n||||||| base\nc\n=======\nd\n>>>>>>> theirs\r\n"


def cause(digit: str, subject: str, pull: int | None, *paths: str) -> UpstreamCommit:
    return UpstreamCommit(digit * 40, subject, pull, None, paths)


def outcome(causes: Sequence[UpstreamCommit], conflict: FileConflict) -> PatchOutcome:
    author = Author("n", "e", "0 +0000")
    return PatchOutcome(
        "p.patch", "Do it", b"", author, Verdict.CONFLICT, cause=tuple(causes),
        conflicts=(conflict,),
    )  # fmt: skip


@table(
    ("shown", "label"),
    {
        "unknown": ((), "v2 (cccccccccccc)"),
        "not-known": ((None,), "v2 (cccccccccccc)"),
        "pull": ((cause("1", "Move (#7)", 7, "f"),), "v2 (111111111111 Move, #7)"),
        "release": ((cause("1", "vllm 2.0", None, "f"),), "v2 (111111111111 vllm 2.0)"),
        "strange": ((cause("1", "\x1b(#1) y", None, "f"),), r"v2 (111111111111 \u001b(#1) y)"),
    },
)  # fmt: skip
def test_a_marker_names_its_commit(shown: tuple[UpstreamCommit | None, ...], label: str) -> None:
    conflict = FileConflict("1", "f", "new", "why", b"", b"", b"", MARKED, shown=shown)
    patch = outcome([cause("9", "the first to touch it", None, "f")], conflict)
    base, onto = Pin("v1", "b" * 40, "d" * 40), Pin("v2", "c" * 40, "d" * 40)
    series = SeriesOutcome("s", "up", base, onto, 1, None, "d" * 40, (patch,), (None,))
    lines = marked_text(series, patch, conflict).decode().split("\n")
    assert lines[1] == f"<<<<<<< {label}"
    assert lines[3] == "||||||| v1 (bbbbbbbbbbbb)"
    assert lines[7] == ">>>>>>> s/p.patch: Do it\r"


@table(
    ("one", "text"),
    {
        "pull": (cause("1", "Move it (#7)", 7), "#7 111111111111 Move it"),
        "space": (cause("1", "Move it (#7) ", 7), "#7 111111111111 Move it"),
        "release": (cause("1", "vllm 2.0", None), "111111111111 vllm 2.0"),
        "decided": (cause("1", "vllm 2.0", 7), "#7 111111111111 vllm 2.0"),
        "elsewhere": (cause("1", "(#7) first", None), "111111111111 (#7) first"),
        "control": (cause("1", "\x1b", None), r"111111111111 \u001b"),
    },
)
def test_a_commit_is_named_by_its_pull_request_first(one: UpstreamCommit, text: str) -> None:
    assert commit_line(one) == text
    conflict = FileConflict("1", "f", "f", "why", b"", b"", b"", MARKED)
    lines = list(patch_lines(outcome([one], conflict), View()))
    assert lines[1].strip() == f"since {text}"
