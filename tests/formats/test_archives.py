from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from typing import Any, BinaryIO

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.formats.archives import ArchiveFile, Limits, read_sdist, read_wheel
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
    "pack",
    [
        pytest.param(bytes, id="plain tar"),
        pytest.param(gzip.compress, id="gzip"),
        pytest.param(bz2.compress, id="bzip2"),
        pytest.param(lzma.compress, id="xz"),
    ],
)
@table(
    "form",
    [
        pytest.param(tarfile.USTAR_FORMAT, id="ustar"),
        pytest.param(tarfile.GNU_FORMAT, id="gnu"),
        pytest.param(tarfile.PAX_FORMAT, id="pax"),
    ],
)
def test_an_sdist_gives_its_files_without_the_top_folder(
    form: int, pack: Callable[[bytes], bytes]
) -> None:
    assert found(pack(tar(*PLAIN, form=form))) == EXPECTED


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


@table("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT], ids=["gnu", "pax"])
@table(
    "name",
    [
        pytest.param(LONG, id="long"),
        pytest.param("ümlaut/日本", id="not ASCII"),
        pytest.param('quo"te\n new\tline', id="quotes and newlines"),
        pytest.param(b"latin-\xe9".decode("utf-8", "surrogateescape"), id="not UTF-8"),
        pytest.param(".github/workflows/x", id="begins like .git"),
        pytest.param("a..b/...", id="dots"),
        pytest.param("a:b", id="a colon"),
    ],
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
    [
        pytest.param({"path": "x-1/other"}, {"other": ("100644", b"c")}, id="path"),
        pytest.param({"path": "x-1/" + "p" * 300}, {"p" * 300: ("100644", b"c")}, id="long path"),
        pytest.param({"mtime": "12.75"}, {"a": ("100644", b"c")}, id="fraction of a second"),
        pytest.param({"comment": "x", "k": "a=b\nc"}, {"a": ("100644", b"c")}, id="unknown keys"),
    ],
)
def test_pax_records_are_followed(
    records: dict[str, str], expected: dict[str, tuple[str, bytes]]
) -> None:
    assert found(tar(member("x-1/a", b"c", pax_headers=records))) == expected


def test_a_size_in_an_extended_header_counts() -> None:
    extension = tarfile.TarInfo("x")
    extension.type = tarfile.XHDTYPE
    extension.size = len(b"9 size=3\n")
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
    [
        pytest.param("l", "a.py", id="beside"),
        pytest.param("sub/l", "../a.py", id="up"),
        pytest.param("sub/l", "./..//a.py", id="up with empty parts"),
        pytest.param("l", "nowhere/at/all", id="dangling"),
    ],
)
def test_a_link_inside_the_tree_is_kept(name: str, target: str) -> None:
    files = found(tar(*PLAIN, link(f"x-1/{name}", target)))
    assert files[name] == ("120000", target.encode())


@table("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT], ids=["gnu", "pax"])
def test_a_long_link_target_is_kept(form: int) -> None:
    target = "d/" * 100 + "f"
    assert found(tar(link("x-1/l", target), form=form)) == {"l": ("120000", target.encode())}


@table(
    ("name", "target"),
    [
        pytest.param("l", "../a", id="up from the root"),
        pytest.param("sub/l", "../../a", id="up too far"),
        pytest.param("l", "/etc/passwd", id="absolute"),
        pytest.param("l", "C:/x", id="drive"),
        pytest.param("l", "sub\\..\\..", id="backslash"),
        pytest.param("l", "sub/../../x", id="down and up"),
        pytest.param("a/l", "../sub/../x", id="up behind a name, which may be a link itself"),
        pytest.param("l", ".git/hooks/x", id="git directory"),
        pytest.param("l", "", id="empty"),
    ],
)
def test_a_link_out_of_the_tree_is_refused(name: str, target: str) -> None:
    assert "link out of the archive" in refusal(tar(*PLAIN, link(f"x-1/{name}", target)))


def test_a_hard_link_to_a_file_before_it_has_its_content_and_mode() -> None:
    raw = tar(
        *PLAIN,
        link("x-1/h", "x-1/run.sh", tarfile.LNKTYPE),
        link("x-1/sub/h2", "x-1/run.sh", tarfile.LNKTYPE),
    )
    assert found(raw) == {**EXPECTED, "h": ("100755", b"r"), "sub/h2": ("100755", b"r")}


@table(
    "target",
    [
        pytest.param("../x", id="out"),
        pytest.param("/etc/passwd", id="absolute"),
        pytest.param("x-1/missing", id="missing"),
        pytest.param("x-1/sub", id="a directory"),
        pytest.param("x-1", id="the top folder"),
        pytest.param("other/a.py", id="outside the top folder"),
    ],
)
def test_any_other_hard_link_is_refused(target: str) -> None:
    message = refusal(tar(*PLAIN, link("x-1/h", target, tarfile.LNKTYPE)))
    assert "hard link" in message


@table(
    "name",
    [
        pytest.param("/etc/x", id="absolute"),
        pytest.param("../x", id="parent"),
        pytest.param("x-1/../../x", id="parent below"),
        pytest.param("x-1/..", id="parent last"),
        pytest.param("C:/x", id="drive"),
        pytest.param("C:x", id="drive without slash"),
        pytest.param("x-1\\a", id="backslash"),
        pytest.param("\\\\server\\share", id="UNC"),
        pytest.param("x-1/" + "a/" * 3000 + "b", id="too long"),
        pytest.param("x-1/.git/config", id=".git"),
        pytest.param("x-1/.git", id=".git as a file"),
        pytest.param("x-1/sub/.GIT/config", id=".GIT"),
        pytest.param("x-1/.git /config", id=".git and a space"),
        pytest.param("x-1/.git. ./config", id=".git and dots"),
        pytest.param("x-1/git~1/config", id="short name"),
        pytest.param("x-1/GIT~1", id="short name in capitals"),
        pytest.param("x-1/.git::$INDEX_ALLOCATION/x", id="stream"),
        pytest.param("x-1/.gi\u200ct/config", id="HFS ignorable"),
        pytest.param(".git/config", id="top folder"),
        pytest.param("other/a", id="a second top folder"),
    ],
)
def test_an_unsafe_path_is_refused(name: str) -> None:
    assert "member" in refusal(tar(member("x-1/a", b""), member(name, b"")))
    assert "member" in refusal(zipped(("x-1/a", b""), (zip_info(name), b"")))


def test_a_name_with_nul_is_refused() -> None:
    raw = zipped((zip_info("x-1/aQb"), b"")).replace(b"aQb", b"a\0b")
    assert "NUL" in refusal(raw)
    headers = {"path": "x-1/a\0b"}
    assert "NUL" in refusal(tar(member("x-1/c", b"", pax_headers=headers)))


def test_control_characters_are_not_printed() -> None:
    assert "\x1b" not in refusal(tar(member("x-1/a", b""), member("../\x1b[2J", b"")))


@table(
    "second",
    [
        pytest.param(member("x-1/a.py", b"2"), id="the same file"),
        pytest.param(member("x-1/./a.py", b"2"), id="the same file spelled otherwise"),
        pytest.param(member("x-1/a.py/", type=tarfile.DIRTYPE), id="a directory for a file"),
        pytest.param(member("x-1/sub", b"2"), id="a file for a directory"),
        pytest.param(link("x-1/sub", "a.py"), id="a link for a directory"),
        pytest.param(member("x-1/a.py/b", b"2"), id="a file below a file"),
    ],
)
def test_two_members_in_one_place_are_refused(second: tuple[tarfile.TarInfo, bytes]) -> None:
    refusal(tar(*PLAIN, second))


def test_a_member_below_a_link_is_refused() -> None:
    raw = tar(link("x-1/l", "sub"), member("x-1/sub/b", b""), member("x-1/l/c", b""))
    assert "below a file or a link" in refusal(raw)


def test_a_directory_may_be_there_twice() -> None:
    assert found(tar(*PLAIN, member("x-1/sub/", type=tarfile.DIRTYPE))) == EXPECTED


@table(
    "kind",
    [
        pytest.param(tarfile.CHRTYPE, id="character device"),
        pytest.param(tarfile.BLKTYPE, id="block device"),
        pytest.param(tarfile.FIFOTYPE, id="pipe"),
        pytest.param(b"S", id="GNU sparse"),
        pytest.param(b"M", id="continued volume"),
        pytest.param(b"?", id="unknown"),
    ],
)
def test_a_special_member_is_refused(kind: bytes) -> None:
    assert "neither" in refusal(tar(*PLAIN, member("x-1/d", type=kind)))


@table("mode", [0o020644, 0o060644, 0o010644, 0o140644], ids=oct)
def test_a_special_zip_member_is_refused(mode: int) -> None:
    assert "neither" in refusal(zipped((zip_info("x-1/d", mode), b"")))


@table(
    "info",
    [member("x-1", b"f"), link("x-1", "."), link("x-1", "x-1", tarfile.LNKTYPE)],
    ids=["file", "link", "hard link"],
)
def test_a_top_folder_that_is_none_is_refused(info: tuple[tarfile.TarInfo, bytes]) -> None:
    assert "top folder" in refusal(tar(info))


def test_setuid_and_other_bits_do_not_matter() -> None:
    assert found(tar(member("x-1/s", b"", mode=0o4644))) == {"s": ("100644", b"")}
    assert found(tar(member("x-1/s", b"", mode=0o6701))) == {"s": ("100755", b"")}


@table(
    "limits",
    [
        pytest.param(Limits(members=3), id="members"),
        pytest.param(Limits(file_bytes=6), id="one file"),
        pytest.param(Limits(total_bytes=4 * 512), id="all files"),
        pytest.param(Limits(free_bytes=1024, ratio=0), id="ratio"),
    ],
)
def test_more_than_the_limits_is_refused(limits: Limits) -> None:
    raw = gzip.compress(tar(*PLAIN))
    with pytest.raises(PatchmgrError, match="more than"):
        list(read_sdist(io.BytesIO(raw), limits=limits))


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    raw = zipped(*((f"x-1/{n}", bytes(1 << 20)) for n in range(4)))
    with pytest.raises(PatchmgrError, match="bomb"):
        list(read_sdist(io.BytesIO(raw), limits=Limits(free_bytes=1 << 20, ratio=2)))


def test_a_header_may_not_claim_a_huge_size() -> None:
    huge = tarfile.TarInfo("x-1/huge")
    huge.size = 1 << 40
    raw = huge.tobuf(tarfile.GNU_FORMAT)
    assert "more than" in refusal(raw)


@table("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME], ids=["pax", "gnu"])
def test_an_extended_header_may_not_be_huge(kind: bytes) -> None:
    info = tarfile.TarInfo("x")
    info.type = kind
    info.size = 2 << 20
    assert "megabyte" in refusal(info.tobuf(tarfile.GNU_FORMAT) + bytes(2 << 20))


@table(
    "body",
    [
        pytest.param(b"99 path=x\n", id="length beyond the end"),
        pytest.param(b"x path=x\n", id="no length"),
        pytest.param(b"-9 path=x\n", id="negative length"),
        pytest.param(b"9 path=xy", id="no newline"),
        pytest.param(b"7 path\n", id="no value"),
        pytest.param(b"32 mtime=9999999999999999999999\n", id="a number without end"),
        pytest.param(b"12 size=abc\n", id="no number"),
        pytest.param(b"22 GNU.sparse.major=1\n", id="sparse"),
    ],
)
def test_a_broken_extended_header_is_refused(body: bytes) -> None:
    info = tarfile.TarInfo("x")
    info.type = tarfile.XHDTYPE
    info.size = len(body)
    padded = body + bytes(-len(body) % 512)
    raw = info.tobuf(tarfile.USTAR_FORMAT) + padded + tar(member("x-1/a", b""))
    refusal(raw)


@table(
    "raw",
    [
        pytest.param(b"", id="empty"),
        pytest.param(bytes(1024), id="an empty tar file"),
        pytest.param(tar(member("x-1/", type=tarfile.DIRTYPE)), id="no files"),
        pytest.param(zipped(), id="an empty zip file"),
        pytest.param(b"<html>not found</html>" * 100, id="a web page"),
        pytest.param(b"PK\3\4 no zip file", id="no zip file"),
        pytest.param(gzip.compress(tar(*PLAIN))[:100], id="cut gzip"),
        pytest.param(gzip.compress(tar(*PLAIN))[:-8] + bytes(8), id="a wrong gzip checksum"),
        pytest.param(tar(*PLAIN)[: 512 * 3 + 100], id="cut tar"),
        pytest.param(tar(member("x-1/a", b"c" * 600))[:600], id="cut in a file"),
        pytest.param(lzma.compress(tar(*PLAIN))[:200], id="cut xz"),
        pytest.param(zipped(("x-1/a", b"c" * 99))[:60], id="cut zip"),
    ],
)
def test_what_is_no_whole_archive_is_refused(raw: bytes) -> None:
    refusal(raw)


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
    broken = raw.replace(zipfile_date(2024, 2, 3), bytes(2))
    assert [file.mtime for file in read_sdist(io.BytesIO(broken))] == [0]


def zipfile_date(year: int, month: int, day: int) -> bytes:
    return ((year - 1980) << 9 | month << 5 | day).to_bytes(2, "little")


@table(
    ("name", "content", "path"),
    [
        pytest.param("x/a.py", b"a", "x/a.py", id="a module"),
        pytest.param("x/a.cuh", b"\xff text", "x/a.cuh", id="text in no known encoding"),
        pytest.param("x/LICENSE", b"", "x/LICENSE", id="empty"),
        pytest.param("x-1.data/purelib/x/b.py", b"b", "x/b.py", id="purelib"),
        pytest.param("x-1.data/platlib/x/c.py", b"c", "x/c.py", id="platlib"),
        pytest.param("x-1.data/scripts/run", b"r", None, id="scripts"),
        pytest.param("x-1.data/headers/x.h", b"h", None, id="headers"),
        pytest.param("x-1.dist-info/RECORD", b"r", None, id="metadata"),
        pytest.param("x/y.dist-info/z", b"r", "x/y.dist-info/z", id="not the wheel's metadata"),
        pytest.param("x/_C.so", b"elf", None, id="a library"),
        pytest.param("x/libz.so.1.2", b"elf", None, id="a library with a version"),
        pytest.param("x/table.bin", b"1\0", None, id="binary"),
        pytest.param("x/late.bin", b"1" * 8000 + b"\0", "x/late.bin", id="NUL after the window"),
    ],
)
def test_a_wheel_gives_the_text_that_it_installs(
    name: str, content: bytes, path: str | None
) -> None:
    raw = zipped(("x/__init__.py", b""), (name, content))
    expected = {"x/__init__.py": ("100644", b"")}
    if path:
        expected[path] = ("100644", content)
    assert {p: ("100644", c) for p, (_, c) in found(raw, read_wheel).items()} == expected


def test_a_link_in_a_wheel_is_kept() -> None:
    assert found(zipped((zip_info("x/l", 0o120777), b"a.py")), read_wheel) == {
        "x/l": ("120000", b"a.py")
    }


@table(
    "members",
    [
        pytest.param([("../x", b"")], id="parent"),
        pytest.param([("x-1.data/purelib/../x", b"")], id="parent in the data folder"),
        pytest.param([("x.py", b""), ("x-1.data/purelib/x.py", b"")], id="twice at one place"),
        pytest.param([("x-1.data/scripts/../../x", b"")], id="parent in what is left out"),
    ],
)
def test_a_hostile_wheel_is_refused(members: list[tuple[str, bytes]]) -> None:
    refusal(zipped(*members), read_wheel)


def test_the_file_stays_open_and_can_be_read_again() -> None:
    for raw in (tar(*PLAIN), gzip.compress(tar(*PLAIN)), zipped(("x-1/a", b""))):
        file = io.BytesIO(raw)
        assert list(read_sdist(file)) == list(read_sdist(file))
