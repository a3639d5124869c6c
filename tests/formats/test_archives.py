import bz2
import gzip
import io
import lzma
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from typing import Any, BinaryIO

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.formats.archives import ArchiveFile, Limits, read_archive, read_sdist, read_wheel
from tests.tables import table


def member(name: str, content: bytes = b"", **fields: Any) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    info.mtime = 1_700_000_000
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tuple[tarfile.TarInfo, bytes]:
    return member(name, type=kind, linkname=target)


def tar(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, content in members:
            archive.writestr(info, content)
    return made.getvalue()


def zip_info(name: str, mode: int = 0o100644, **fields: Any) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, (2024, 2, 3, 4, 5, 6))
    info.external_attr = mode << 16
    info.create_system = 3
    for field, value in fields.items():
        setattr(info, field, value)
    return info


def found(raw: bytes, read: Callable[[BinaryIO], Any] = read_sdist) -> dict[str, tuple[str, bytes]]:
    files: list[ArchiveFile] = list(read(io.BytesIO(raw)))
    assert len({file.path for file in files}) == len(files)
    return {file.path: (file.mode, file.content) for file in files}


def refusal(raw: bytes, read: Callable[[BinaryIO], Any] = read_sdist) -> str:
    with pytest.raises(PatchmgrError) as caught:
        list(read(io.BytesIO(raw)))
    assert caught.value.kind == "bad-archive"
    assert "\n" not in caught.value.message
    return caught.value.message


PLAIN = (
    member("x-1/", type=tarfile.DIRTYPE),
    member("x-1/a.py", b"a\r\n"),
    member("x-1/run.sh", b"r", mode=0o750),
    member("x-1/sub/b", b"\0binary"),
)
EXPECTED = {
    "a.py": ("100644", b"a\r\n"),
    "run.sh": ("100755", b"r"),
    "sub/b": ("100644", b"\0binary"),
}


@table(
    "pack", {"plain tar": bytes, "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
)
@table(
    "form", {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}
)
def test_an_sdist_gives_its_files_below_the_top(form: int, pack: Callable[[bytes], bytes]) -> None:
    assert found(pack(tar(*PLAIN, form=form))) == EXPECTED


@table(
    ("names", "expected"),
    {
        "one folder": (["x-1/a", "x-1/b/c"], ["a", "b/c"]),
        "two folders": (["x/a", "y/b"], ["x/a", "y/b"]),
        "one file": (["a"], ["a"]),
    },
)
def test_any_archive_is_read_below_its_only_folder(names: list[str], expected: list[str]) -> None:
    assert list(found(tar(*map(member, names)), read_archive)) == expected


def test_a_zip_sdist_gives_its_files_with_modes_and_times() -> None:
    raw = zipped(
        (zip_info("x-1/"), b""),
        (zip_info("x-1/a.py"), b"a"),
        (zip_info("x-1/run.sh", 0o100755), b"r"),
        (zip_info("x-1/l", 0o120777), b"a.py"),
    )
    files = list(read_sdist(io.BytesIO(raw)))
    assert [(f.path, f.mode, f.content, f.mtime) for f in files] == [
        ("a.py", "100644", b"a", 1706933106),
        ("run.sh", "100755", b"r", 1706933106),
        ("l", "120000", b"a.py", 1706933106),
    ]


LONG = "d" * 120 + "/" + "f" * 120


@table("form", {"gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT})
@table(
    "name",
    {
        "long": LONG,
        "not ASCII": "ümlaut/日本",
        "quotes and newlines": 'quo"te\n new\tline',
        "not UTF-8": b"latin-\xe9".decode("utf-8", "surrogateescape"),
        "begins like .git": ".github/workflows/x",
        "dots": "a..b/...",
        "a colon": "a:b",
    },
)
def test_names_survive(name: str, form: int) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form, errors="surrogateescape") as archive:
        info, content = member(f"x-1/{name}", b"c")
        archive.addfile(info, io.BytesIO(content))
    assert found(made.getvalue()) == {name: ("100644", b"c")}


def test_a_zip_name_without_the_utf8_flag_is_the_bytes_it_is_made_of() -> None:
    raw = zipped((zip_info("x-1/\xe9"), b"c")).replace("é".encode(), b"\xc3\xff")
    flagless = bytearray(raw)
    for at in (raw.index(b"PK\3\4") + 6, raw.index(b"PK\1\2") + 8):
        flagless[at + 1] &= ~0x08
    assert list(found(bytes(flagless))) == [b"\xc3\xff".decode("utf-8", "surrogateescape")]


@table(
    ("records", "expected"),
    {
        "path": ({"path": "x-1/other"}, {"other": ("100644", b"c")}),
        "long path": ({"path": "x-1/" + "p" * 300}, {"p" * 300: ("100644", b"c")}),
        "fraction of a second": ({"mtime": "12.75"}, {"a": ("100644", b"c")}),
        "unknown keys": ({"comment": "x", "k": "a=b\nc"}, {"a": ("100644", b"c")}),
    },
)
def test_pax_records_count(records: dict[str, str], expected: dict[str, tuple[str, bytes]]) -> None:
    assert found(tar(member("x-1/a", b"c", pax_headers=records))) == expected


def test_a_size_in_an_extended_header_counts() -> None:
    extension = tarfile.TarInfo("x")
    extension.type = tarfile.XHDTYPE
    extension.size = len(b"9 size=3\n") + 3  # what follows are NUL bytes
    raw = extension.tobuf(tarfile.USTAR_FORMAT) + b"9 size=3\n".ljust(512, b"\0")
    raw += tarfile.TarInfo("x-1/a").tobuf(tarfile.USTAR_FORMAT) + b"abc".ljust(512, b"\0")
    assert found(raw) == {"a": ("100644", b"abc")}


def test_a_global_header_is_no_file() -> None:
    made = io.BytesIO()
    headers = {"comment": "0" * 40}
    with tarfile.open(fileobj=made, mode="w", pax_headers=headers) as archive:
        info, content = member("x-1/a", b"c")
        archive.addfile(info, io.BytesIO(content))
    assert found(made.getvalue()) == {"a": ("100644", b"c")}


@table(
    ("name", "target"),
    {
        "beside": ("l", "a.py"),
        "up": ("sub/l", "../a.py"),
        "up with empty parts": ("sub/l", "./..//a.py"),
        "dangling": ("l", "nowhere/at/all"),
    },
)
def test_a_link_inside_the_tree_is_kept(name: str, target: str) -> None:
    files = found(tar(*PLAIN, link(f"x-1/{name}", target)))
    assert files[name] == ("120000", target.encode())


@table("form", {"gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT})
def test_a_long_link_target_is_kept(form: int) -> None:
    target = "d/" * 100 + "f"
    assert found(tar(link("x-1/l", target), form=form)) == {"l": ("120000", target.encode())}


@table(
    ("name", "target"),
    {
        "up from the root": ("l", "../a"),
        "up too far": ("sub/l", "../../a"),
        "absolute": ("l", "/etc/passwd"),
        "drive": ("l", "C:/x"),
        "backslash": ("l", "sub\\..\\.."),
        "down and up": ("l", "sub/../../x"),
        "up behind a name, which may be a link itself": ("a/l", "../sub/../x"),
        "git directory": ("l", ".git/hooks/x"),
        "empty": ("l", ""),
        "NUL": ("l", "a\0b"),
    },
)
def test_a_link_out_of_the_tree_is_refused(name: str, target: str) -> None:
    member = zip_info(f"x-1/{name}", 0o120777), target.encode()
    assert "link that leads out of the archive" in refusal(zipped(member))


def test_a_hard_link_to_a_file_before_it_has_its_content_and_mode() -> None:
    hard = (link(f"x-1/{name}", "x-1/run.sh", tarfile.LNKTYPE) for name in ("h", "sub/h2"))
    raw = tar(*PLAIN, *hard)
    assert found(raw) == {**EXPECTED, "h": ("100755", b"r"), "sub/h2": ("100755", b"r")}


@table(
    "target",
    {
        "out": "../x",
        "absolute": "/etc/passwd",
        "missing": "x-1/missing",
        "a directory": "x-1/sub",
        "the top folder": "x-1",
        "outside the top folder": "other/a.py",
    },
)
def test_any_other_hard_link_is_refused(target: str) -> None:
    assert "hard link" in refusal(tar(*PLAIN, link("x-1/h", target, tarfile.LNKTYPE)))


@table(
    ("name", "reason"),
    {
        "absolute": ("/etc/x", "absolute path"),
        "parent": ("../x", "leads out"),
        "parent below": ("x-1/../../x", "leads out"),
        "parent last": ("x-1/..", "leads out"),
        "drive": ("C:/x", "absolute path"),
        "drive without slash": ("C:x", "absolute path"),
        "backslash": ("x-1\\a", "backslash"),
        "UNC": ("\\\\server\\share", "backslash"),
        "too long": ("x-1/" + "a/" * 3000 + "b", "too long a name"),
        ".git": ("x-1/.git/config", ".git directory"),
        ".git in disguise": ("x-1/.gi\u200ct/config", ".git directory"),
        "top folder": (".git/config", ".git directory"),
        "a second top folder": ("other/a", "outside the archive's top folder"),
    },
)
def test_an_unsafe_path_is_refused(name: str, reason: str) -> None:
    assert reason in refusal(tar(member("x-1/a", b""), member(name, b"")))
    assert reason in refusal(zipped(("x-1/a", b""), (zip_info(name), b"")))


def test_a_name_with_nul_is_refused() -> None:
    raw = zipped((zip_info("x-1/aQb"), b"")).replace(b"aQb", b"a\0b")
    assert "NUL" in refusal(raw)
    headers = {"path": "x-1/a\0b"}
    assert "NUL" in refusal(tar(member("x-1/c", b"", pax_headers=headers)))


def test_control_characters_are_not_printed() -> None:
    assert "\x1b" not in refusal(tar(member("x-1/a", b""), member("../\x1b[2J", b"")))


@table(
    "second",
    {
        "the same file": member("x-1/a.py", b"2"),
        "the same file spelled otherwise": member("x-1/./a.py", b"2"),
        "a directory for a file": member("x-1/a.py/", type=tarfile.DIRTYPE),
        "a file for a directory": member("x-1/sub", b"2"),
        "a link for a directory": link("x-1/sub", "a.py"),
        "a file below a file": member("x-1/a.py/b", b"2"),
    },
)
def test_two_members_in_one_place_are_refused(second: tuple[tarfile.TarInfo, bytes]) -> None:
    refusal(tar(*PLAIN, second))


def test_a_member_below_a_link_is_refused() -> None:
    raw = tar(link("x-1/l", "sub"), member("x-1/sub/b", b""), member("x-1/l/c", b""))
    assert "a file or a link as a parent folder" in refusal(raw)


def test_a_directory_may_be_there_twice() -> None:
    assert found(tar(*PLAIN, member("x-1/sub/", type=tarfile.DIRTYPE))) == EXPECTED


@table(
    "kind",
    {
        "character device": tarfile.CHRTYPE,
        "block device": tarfile.BLKTYPE,
        "pipe": tarfile.FIFOTYPE,
        "GNU sparse": b"S",
        "continued volume": b"M",
        "unknown": b"?",
    },
)
def test_a_special_member_is_refused(kind: bytes) -> None:
    assert "neither" in refusal(tar(*PLAIN, member("x-1/d", type=kind)))


@table("mode", [0o020644, 0o060644, 0o010644, 0o140644], ids=oct)
def test_a_special_zip_member_is_refused(mode: int) -> None:
    assert "neither" in refusal(zipped((zip_info("x-1/d", mode), b"")))


@table(
    "info",
    {
        "file": member("x-1", b"f"),
        "link": link("x-1", "."),
        "hard link": link("x-1", "x-1", tarfile.LNKTYPE),
    },
)
def test_a_top_folder_that_is_none_is_refused(info: tuple[tarfile.TarInfo, bytes]) -> None:
    assert "top folder" in refusal(tar(info))


def test_setuid_and_other_bits_do_not_matter() -> None:
    assert found(tar(member("x-1/s", b"", mode=0o4644))) == {"s": ("100644", b"")}
    assert found(tar(member("x-1/s", b"", mode=0o6701))) == {"s": ("100755", b"")}


EMPTY = [(f"x-1/{n}", b"") for n in range(4)]


@table(
    ("raw", "limits"),
    {
        "members": (tar(*PLAIN), Limits(members=3)),
        "members of a zip file": (zipped(*EMPTY), Limits(members=3)),
        "one file": (tar(*PLAIN), Limits(file_bytes=6)),
        "all files": (tar(*PLAIN), Limits(total_bytes=4 * 512)),
        "headers": (tar(*(member(*each) for each in EMPTY))[:2048], Limits(total_bytes=3 * 512)),
        "what follows": (tar(member("x-1/a")) + bytes(1 << 16), Limits(total_bytes=1 << 16)),
        "ratio": (gzip.compress(tar(*PLAIN)), Limits(free_bytes=1024, ratio=0)),
    },
)
def test_more_than_the_limits_is_refused(raw: bytes, limits: Limits) -> None:
    with pytest.raises(PatchmgrError, match="more than"):
        list(read_sdist(io.BytesIO(raw), limits=limits))


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    raw = zipped(*((f"x-1/{n}", bytes(1 << 20)) for n in range(4)))
    with pytest.raises(PatchmgrError, match="bomb"):
        list(read_sdist(io.BytesIO(raw), limits=Limits(free_bytes=1 << 20, ratio=2)))


@table(
    ("method", "said"),
    {
        "deflate": (zipfile.ZIP_DEFLATED, "Bad CRC-32"),
        "bzip2": (zipfile.ZIP_BZIP2, "is not compressed with deflate"),
        "lzma": (zipfile.ZIP_LZMA, "is not compressed with deflate"),
    },
)
def test_a_zip_member_unpacks_to_no_more_than_its_size(method: int, said: str) -> None:
    made, size = io.BytesIO(), (1 << 24).to_bytes(4, "little")
    with zipfile.ZipFile(made, "w", method) as archive:
        archive.writestr("x-1/a", bytes(1 << 24))
    raw = made.getvalue().replace(size, (10).to_bytes(4, "little"))
    tracemalloc.start()
    assert said in refusal(raw)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1 << 20


def test_a_header_may_not_claim_a_huge_size() -> None:
    huge = tarfile.TarInfo("x-1/huge")
    huge.size = 1 << 40
    raw = huge.tobuf(tarfile.GNU_FORMAT)
    assert "more than" in refusal(raw)


@table("kind", {"pax": tarfile.XHDTYPE, "gnu": tarfile.GNUTYPE_LONGNAME})
def test_an_extended_header_may_not_be_huge(kind: bytes) -> None:
    info = tarfile.TarInfo("x")
    info.type = kind
    info.size = 2 << 20
    assert "megabyte" in refusal(info.tobuf(tarfile.GNU_FORMAT) + bytes(2 << 20))


@table(
    ("body", "reason"),
    {
        "length beyond the end": (b"99 path=x\n", "broken extended header"),
        "no length": (b" path=x\n", "broken extended header"),
        "length is a word": (b"x path=x\n", "cannot be unpacked"),
        "negative length": (b"-9 path=x\n9 path=x\n", "broken extended header"),
        "no newline": (b"9 path=xy", "broken extended header"),
        "no value": (b"7 path\n", "broken extended header"),
        "a number without end": (
            b"32 mtime=9999999999999999999999\n", "broken extended header"
        ),
        "a negative size": (b"11 size=-5\n", "more than the limit"),
        "no number": (b"12 size=abc\n", "cannot be unpacked"),
        "sparse": (b"22 GNU.sparse.major=1\n", "is a sparse file"),
    },
)  # fmt: skip
def test_a_broken_extended_header_is_refused(body: bytes, reason: str) -> None:
    info = tarfile.TarInfo("x")
    info.type = tarfile.XHDTYPE
    info.size = len(body)
    padded = body + bytes(-len(body) % 512)
    raw = info.tobuf(tarfile.USTAR_FORMAT) + padded + tar(member("x-1/a", b""))
    assert reason in refusal(raw)


@table(
    "raw",
    {
        "empty": b"",
        "an empty tar file": bytes(1024),
        "no files": tar(member("x-1/", type=tarfile.DIRTYPE)),
        "an empty zip file": zipped(),
        "a web page": b"<html>not found</html>" * 100,
        "no zip file": b"PK\3\4 no zip file",
        "cut gzip": gzip.compress(tar(*PLAIN))[:100],
        "a wrong gzip checksum": gzip.compress(tar(*PLAIN))[:-8] + bytes(8),
        "cut tar": tar(*PLAIN)[: 512 * 3 + 100],
        "cut in a file": tar(member("x-1/a", b"c" * 600))[:600],
        "cut xz": lzma.compress(tar(*PLAIN))[:200],
        "cut zip": zipped(("x-1/a", b"c" * 99))[:60],
    },
)
def test_what_is_no_whole_archive_is_refused(raw: bytes) -> None:
    assert refusal(raw) == refusal(raw, read_archive)


def test_a_damaged_or_locked_zip_member_is_refused() -> None:
    raw = bytearray(zipped(("x-1/a", b"")))
    raw[raw.index(b"PK\1\2") + 8] |= 1
    assert "encrypted" in refusal(bytes(raw))
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as archive:
        archive.writestr("x-1/a", b"content")
    assert "unpacked" in refusal(stored.getvalue().replace(b"content", b"CONTENT"))


def test_a_month_that_is_none_counts_as_no_time() -> None:
    raw = zipped((zip_info("x-1/a"), b""))
    date = ((2024 - 1980) << 9 | 2 << 5 | 3).to_bytes(2, "little")
    broken = raw.replace(date, bytes(2))
    assert [file.mtime for file in read_sdist(io.BytesIO(broken))] == [0]


@table(
    ("name", "content", "path"),
    {
        "a module": ("x/a.py", b"a", "x/a.py"),
        "text in no known encoding": ("x/a.cuh", b"\xff text", "x/a.cuh"),
        "empty": ("x/LICENSE", b"", "x/LICENSE"),
        "purelib": ("x-1.data/purelib/x/b.py", b"b", "x/b.py"),
        "platlib": ("x-1.data/platlib/x/c.py", b"c", "x/c.py"),
        "scripts": ("x-1.data/scripts/run", b"r", None),
        "headers": ("x-1.data/headers/x.h", b"h", None),
        "metadata": ("x-1.dist-info/RECORD", b"r", None),
        "not the wheel's metadata": ("x/y.dist-info/z", b"r", "x/y.dist-info/z"),
        "a library": ("x/_C.so", b"elf", None),
        "a library with a version": ("x/libz.so.1.2", b"elf", None),
        "binary": ("x/table.bin", b"1\0", None),
        "NUL after the window": ("x/late.bin", b"1" * 8000 + b"\0", "x/late.bin"),
    },
)
def test_a_wheel_gives_the_text_it_installs(name: str, content: bytes, path: str | None) -> None:
    raw = zipped(("x/__init__.py", b""), (name, content))
    expected = {"x/__init__.py": ("100644", b"")}
    if path:
        expected[path] = ("100644", content)
    assert {p: ("100644", c) for p, (_, c) in found(raw, read_wheel).items()} == expected


def test_a_link_in_a_wheel_is_kept() -> None:
    raw = zipped((zip_info("x/l.so", 0o120777), b"a.py"))
    assert found(raw, read_wheel) == {"x/l.so": ("120000", b"a.py")}


@table(
    "members",
    {
        "parent": [("../x", b"")],
        "parent in the data folder": [("x-1.data/purelib/../x", b"")],
        "twice at one place": [("x.py", b""), ("x-1.data/purelib/x.py", b"")],
        "parent in what is left out": [("x-1.data/scripts/../../x", b"")],
    },
)
def test_a_hostile_wheel_is_refused(members: list[tuple[str, bytes]]) -> None:
    refusal(zipped(*members), read_wheel)


def test_the_file_stays_open_and_can_be_read_again() -> None:
    for raw in (tar(*PLAIN), gzip.compress(tar(*PLAIN)), zipped(("x-1/a", b""))):
        file = io.BytesIO(raw)
        assert list(read_sdist(file)) == list(read_sdist(file))
