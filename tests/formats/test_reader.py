"""Lines of a patch file."""

from hypothesis import given
from hypothesis import strategies as st

from patchmgr.formats.reader import PatchReader, split_lines, unmangled_lines
from tests.tables import table


@given(st.binary())
def test_lines_joined_are_the_file(raw: bytes) -> None:
    assert b"".join(split_lines(raw)) == raw


@table(
    ("raw", "expected"),
    {
        "only newlines": (b"a\nb\x0bc\x85\rd\n", [b"a\n", b"b\x0bc\x85\rd\n"]),
        "CR LF everywhere": (b"a\r\nb\r\nc", [b"a\n", b"b\n", b"c"]),
        "CR LF in content": (b"a\r\nb\n", [b"a\r\n", b"b\n"]),
        "one CR only": (b"a\r\r\n", [b"a\r\n"]),
        "no newline": (b"a\r", [b"a\r"]),
        "nothing": (b"", []),
    },
)
def test_the_cr_of_a_mangled_file_is_not_read(raw: bytes, expected: list[bytes]) -> None:
    assert unmangled_lines(raw) == expected


def test_a_fault_in_a_file_that_git_left_in_conflict_says_so() -> None:
    reader = PatchReader("p", [b"a\n", b"<<<<<<< HEAD\n"], 0)
    assert reader.fault("it is wrong").hints == ("resolve the merge conflict in the file",)


def test_a_fault_names_patch_and_line_and_explains_a_stray_cr() -> None:
    reader = PatchReader("sub/\x1bx.patch", [b"a\n", b"b\r\n"], 1)
    error = reader.fault("it is wrong", "do this")
    assert error.kind == "bad-patch"
    assert error.message == "patch sub/\\x1bx.patch line 2: it is wrong"
    assert error.hints == ("do this", "the line ends in CR LF, but other lines of the file do not")
    assert reader.fault("it is wrong", at=0).hints == ()
    assert reader.fault("it is wrong", at=2).message.startswith("patch sub/\\x1bx.patch line 3")
