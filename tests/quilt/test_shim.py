"""A session of quilt's, with patchmgr behind it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


class Person:
    """Somebody in a plain folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def quilt(self, *words: str, stdin: bytes = b"") -> str:
        """Run quilt and return all that it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "tests.quilt.shim", *words],
            cwd=self.root, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
        )  # fmt: skip
        return done.stdout.decode()


@pytest.fixture
def person(tmp_path: Path) -> Person:
    """Return somebody in a folder with patches."""
    (tmp_path / "work/patches").mkdir(parents=True)
    return Person(tmp_path / "work")


def test_a_patch_is_made_popped_and_pushed_on_other_files(person: Person) -> None:
    file = person.root / "f"
    file.write_text("one\n")
    assert person.quilt("series") == "No series file found\n"
    assert person.quilt("new", "p") == "Patch patches/p is now on top\n"
    assert person.quilt("add", "f") == "File f added to patch patches/p\n"
    file.write_text("two\n")
    assert person.quilt("refresh") == "Refreshed patch patches/p\n"
    assert person.quilt("pop") == ("Removing patch patches/p\nRestoring f\n\nNo patches applied\n")
    assert file.read_text() == "one\n"
    file.write_text("other\n")
    assert "Hunk #1 FAILED at 1." in person.quilt("push")
    file.write_text("one\n")
    assert person.quilt("push", "-q") == "Applying patch patches/p\nNow at patch patches/p\n"
    assert b"+two" in (person.root / "patches/p").read_bytes()
