"""Results that stay in the user's cache from run to run."""

from __future__ import annotations

from pathlib import Path

from patchmgr.plumbing.shelf import Shelf, key_of, program_key
from patchmgr.plumbing.stores import cache_folder
from tests.tables import table


def test_what_was_kept_is_there_again_and_what_nobody_asks_for_goes() -> None:
    first = Shelf("reports", "a series")
    first.keep("one", [1])
    first.keep("two", {"a": None})
    first.close()
    second = Shelf("reports", "a series")
    assert second.get("one") == [1] and second.get("three") is None
    second.close()
    third = Shelf("reports", "a series")
    assert (third.get("one"), third.get("two")) == ([1], None)
    assert Shelf("reports", "another").get("one") is None


@table("content", [b"", b"[1]", b"\xff", b"[" * 100_000], ids=len)
def test_a_broken_shelf_is_an_empty_one(content: bytes) -> None:
    shelf = Shelf("reports", "s")
    shelf.keep("one", 1)
    shelf.close()
    (file,) = (cache_folder() / "reports").iterdir()
    file.write_bytes(content)
    assert Shelf("reports", "s").get("one") is None


def test_a_shelf_that_cannot_be_written_is_no_fault() -> None:
    cache_folder().parent.mkdir(parents=True, exist_ok=True)
    cache_folder().write_text("a file where the folder would be")
    shelf = Shelf("reports", "s")
    shelf.keep("one", 1)
    shelf.close()
    assert Shelf("reports", "s").get("one") is None


def test_keys_tell_parts_apart_and_know_the_program(tmp_path: Path) -> None:
    assert key_of([b"ab", b"c"]) != key_of([b"a", b"bc"])
    (tmp_path / "a.py").write_text("x")
    before = program_key(tmp_path, "*.py")
    (tmp_path / "a.py").write_text("y")
    assert program_key(tmp_path, "*.py") != before
