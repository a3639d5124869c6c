"""The files that upstream changed, which are searched for moved lines."""

from patchmgr.engines.moved.files import ChangedFiles, Versions, is_of, versions_of
from patchmgr.engines.series.fold import Overlay
from patchmgr.model.ports import Step
from patchmgr.model.snapshot import REGULAR, Entry
from tests.engines.ports import MemoryBlobs
from tests.engines.series import Upstream, link
from tests.tables import table


def test_a_language_is_searched_once_and_patched_files_are_current() -> None:
    blobs = MemoryBlobs()
    onto = Upstream(blobs, {"a.py": b"new\n", "b.py": b"there\n", "l.py": link(b"to")})
    before, after = Entry("100644", blobs.add(b"old\n")), onto.entry("a.py")
    there, to = onto.entry("b.py"), onto.entry("l.py")
    assert after and there and to
    asked: list[str] = []

    def find(language: str) -> tuple[Versions, bool]:
        asked.append(language)
        return {"b.py": (None, there), "a.py": (before, after), "l.py": (None, to)}, True

    side = Overlay(onto)
    files = ChangedFiles(find, blobs).on(side)
    assert asked == []
    assert [files.paths("Python") for _ in range(2)] == [["a.py", "b.py", "l.py"]] * 2
    assert asked == ["Python"]
    assert files.before("c.py") is None
    assert (files.before("a.py"), files.after("a.py")) == (b"old\n", b"new\n")
    assert files.after("a.py") is files.after("a.py")
    assert (files.before("b.py"), files.after("b.py")) == (None, b"there\n")
    assert (files.after("l.py"), files.after("c.py")) == (None, None)
    side.set("b.py", Entry("100644", blobs.add(b"carried\n")))
    assert files.after("b.py") == b"carried\n"


@table(
    ("language", "path", "is_so"),
    {
        "same": ("Python", "x/a.py", True),
        "another": ("Python", "a.pyx", False),
        "header": ("CUDA", "a.h", True),
        "family": ("C++", "a.cuh", True),
        "no-family": ("C++", "a.py", False),
        "text": ("Text", "a.txt", True),
        "unknown": ("other", "a.xyz", False),
    },
)
def test_languages(language: str, path: str, is_so: bool) -> None:
    assert is_of(language)(path) is is_so


@table(
    ("before", "after", "is_so"),
    {
        "came": (b"x\n", b"x\n  one(a)\ntwo(b)\n", True),
        "a-new-file": (None, b"one(a)\ntwo(b)\n", True),
        "came-in-part": (b"x\n", b"x\none(a)\n", False),
        "was-there": (b"one(a)\ntwo(b)\n", b"one(a)\ntwo(b)\nx\n", False),
    },
)
def test_a_file_that_gained_lines_is_found(before: bytes | None, after: bytes, is_so: bool) -> None:
    blobs = MemoryBlobs()
    old = None if before is None else Entry("100644", blobs.add(before))
    new = Entry("100644", blobs.add(after))
    files = ChangedFiles(lambda language: ({"b.py": (old, new)}, True), blobs)
    lines = frozenset((b"one(a)", b"two(b)"))
    assert files.gaining("a.py", lines) == (("b.py",) if is_so else ())
    assert files.gaining("b.py", lines) == ()


def test_of_files_that_gained_lines_those_with_most_neighboring_lines_are_returned() -> None:
    blobs = MemoryBlobs()
    texts = {"b.py": b"one(a)\nnear(b)\n", "c.py": b"one(a)\nnear(b)\nnext(c)\n"}
    versions = {path: (None, Entry("100644", blobs.add(text))) for path, text in texts.items()}
    files = ChangedFiles(lambda language: (versions, True), blobs)
    lines = frozenset((b"one(a)",))
    assert files.gaining("a.py", lines) == ("b.py", "c.py")
    assert files.gaining("a.py", lines, frozenset((b"near(b)",))) == ("b.py", "c.py")
    assert files.gaining("a.py", lines, frozenset((b"near(b)", b"next(c)"))) == ("c.py",)
    assert files.gaining("a.py", lines, frozenset((b"other(d)",))) == ()


@table(
    ("steps", "seen"),
    {
        "edited": ([{"b": "1"}, {"a": "2"}], [(1, "a", "2")]),
        "back": ([{"a": None}, {"a": "2"}], [(0, "a", None), (1, "a", "2")]),
        "moved": (
            [{"a": "1"}, {"a": None, "new": "1"}, {"new": "2"}],
            [(0, "a", "1"), (1, "new", "1"), (2, "new", "2")],
        ),
        "another-at-its-old-path": ([{"a": None, "new": "1"}, {"a": "2"}], [(0, "new", "1")]),
        "moved-back-and-again": (
            [{"a": None, "new": "1"}, {"a": "1", "new": None}, {"a": "2"}, {"a": None, "new": "2"}],
            [(0, "new", "1"), (1, "a", "1"), (2, "a", "2"), (3, "new", "2")],
        ),
    },
)
def test_a_file_is_followed_to_its_new_path(
    steps: list[dict[str, str | None]], seen: list[tuple[int, str, str | None]]
) -> None:
    def entry(blob: str | None) -> Entry | None:
        return None if blob is None else Entry(REGULAR, blob)

    made = [Step("c", "Work", "A", {p: entry(b) for p, b in each.items()}) for each in steps]
    home = "new" if any("new" in each for each in steps) else "a"
    assert [*versions_of(made, "a", home)] == [(n, path, entry(b)) for n, path, b in seen]
