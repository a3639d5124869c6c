"""What the proofs on hardware and the page of docs/history rest on, without a card and an index."""

import base64
import hashlib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from benchmarks.hardware.machine import last_json, overlay, run, unpack
from benchmarks.hardware.python_patches import Side
from benchmarks.history import _demoted, _table
from tests.tables import table


def wheel(path: Path, content: bytes, recorded: bytes) -> Path:
    digest = base64.urlsafe_b64encode(hashlib.sha256(recorded).digest()).rstrip(b"=").decode()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("p/a.py", content)
        archive.writestr("p-1.dist-info/RECORD", f"p/a.py,sha256={digest},1\np/RECORD,,\n")
    return path


def test_a_wheel_is_unpacked_where_its_files_are_what_record_says(tmp_path: Path) -> None:
    assert unpack(wheel(tmp_path / "p.whl", b"a\n", b"a\n"), tmp_path / "p") == 1
    with pytest.raises(SystemExit, match=r"p/a\.py is not what RECORD says"):
        unpack(wheel(tmp_path / "q.whl", b"b\n", b"a\n"), tmp_path / "q")


def test_files_are_laid_over_those_of_a_folder(tmp_path: Path) -> None:
    for side in ("tree", "files"):
        (tmp_path / side / "p").mkdir(parents=True)
        (tmp_path / side / "p" / "a.py").write_text(side)
    assert overlay(tmp_path / "tree", tmp_path / "files") == ["p/a.py"]
    assert (tmp_path / "tree/p/a.py").read_text() == "files"


@table(
    ("text", "expected"),
    {
        "nothing": ("", None),
        "words-only": ("building\ndone\n", None),
        "the-last": ('{"a": 1}\n{"a": 2}\nbye\n', {"a": 2}),
        "cut-in-the-middle": ('{"a": 1}\n{"a": ', {"a": 1}),
    },
)
def test_the_last_whole_document_counts(text: str, expected: Any) -> None:
    assert last_json(text) == expected


def test_what_was_said_before_a_time_limit_is_kept() -> None:
    done = run(("sh", "-c", "echo '{}'; sleep 5"), timeout=0.5)
    assert (done["code"], last_json(done["out"])) == (-1, {})
    assert done["errors"].endswith("stopped after 0 s")


def test_a_function_is_taken_alone_and_the_rest_is_a_mock(tmp_path: Path) -> None:
    text = (
        "import heavy\nclass A:\n    @heavy.up\n    def f(self, x: No): return len([x, heavy.y])\n"
    )
    (tmp_path / "a.py").write_text(text)
    assert Side(tmp_path).take("A", "f", {})["f"](None, 1) == 2
    assert Side(tmp_path).take("B", "f", {}) == {}


def carried(verdict: str, how: str = "text", reason: str = "") -> dict[str, Any]:
    hunk = {"how": how, "path": "a", "new_path": "b" if how == "moved" else "a"}
    patch = {"name": "p.patch", "verdict": verdict, "hunks": [hunk], "reason": reason}
    return {"rebase": {"patches": [patch]}}


def test_releases_with_one_fate_are_one_row() -> None:
    told = {
        "1": carried("unchanged"),
        "2": carried("unchanged", "identical"),
        "3": carried("modified", "moved"),
        "4": carried("absorbed", "decided", "by 7"),
    }
    assert list(_table(told))[2:] == [
        "| p | 1 to 2 | unchanged | |",
        "| p | 3 | modified | moved; now in `b` |",
        "| p | 4 | absorbed | decided; by 7 |",
        "",
    ]


def test_a_note_stands_below_its_release_without_lists_and_gates() -> None:
    note = "## Sync\n\nx\n\n### Dropped\n\n- p\n\n### Upstream commits\n\n- a\n\n### Gates\n\n"
    assert _demoted("s", "1", note) == "### s 1\n\nx\n\n#### Dropped\n\n- p\n"
