"""Files of one patch that go together, and files that do not."""

from __future__ import annotations

from patchmgr.formats.sections import clash
from patchmgr.model.patch import FilePatch
from tests.tables import table


def files(*pairs: str) -> list[FilePatch]:
    """Make files of `old>new` and, for copies, `old=new`."""
    made = []
    for pair in pairs:
        old, new = pair.replace("=", ">").split(">")
        made.append(FilePatch(old or None, new or None, is_copy="=" in pair))
    return made


GOOD = {
    "nothing": [],
    "different files": ["a>a", "b>b", ">c", "d>"],
    "a change of type": ["a>", ">a"],
    "two renames that swap": ["a>b", "b>a"],
    "a rename, and a new file in its place": [">a", "a>b"],
    "copies of one file, which is edited, too": ["a=b", "a=c", "a>a"],
    "a file becomes a directory": ["a>", ">a/b"],
    "a directory becomes a file": [">a", "a/b>"],
    "names that begin alike": [">a", ">ab", ">a.b/c"],
}


@table("pairs", GOOD)
def test_these_files_go_together(pairs: list[str]) -> None:
    assert clash(files(*pairs)) is None


BAD = {
    "edited twice": (["a>a", "b>b", "a>a"], (2, "a second section for a")),
    "made twice": ([">a", ">a"], (1, "a second section for a")),
    "deleted twice": (["a>", "a>"], (1, "a second section for a")),
    "edited and deleted": (["a>a", "a>"], (1, "a second section for a")),
    "renamed twice": (["a>b", "a>c"], (1, "a second section for c")),
    "two renames to one": (["a>c", "b>c"], (1, "a second section for c")),
    "a copy onto an edited file": (["b>b", "a=b"], (1, "a second section for b")),
    "made before it is deleted": ([">a", "a>"], (1, "a is created before it is deleted")),
    "below a new file": ([">a", ">a/b"], (1, "a/b is below a, which is a file")),
    "below a link, the other way": ([">a/b/c", ">a"], (0, "a/b/c is below a, which is a file")),
    "below a renamed file": (["x>a/b", ">a/b/c/d"], (1, "a/b/c/d is below a/b, which is a file")),
}


@table(("pairs", "expected"), BAD)
def test_these_files_clash(pairs: list[str], expected: tuple[int, str]) -> None:
    assert clash(files(*pairs)) == expected
