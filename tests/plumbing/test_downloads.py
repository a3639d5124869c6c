import hashlib
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.model.progress import Progress
from patchmgr.plumbing.downloads import download
from patchmgr.plumbing.index_session import IndexSettings
from patchmgr.plumbing.package_index import Archive

CONTENT = bytes(range(256)) * 4096
SHA256 = hashlib.sha256(CONTENT).hexdigest()
NAME = "p-1.tar.gz"
PART = f"{NAME}.{SHA256[:12]}.part"
SETTINGS = IndexSettings(timeout=5)


class Server(Struct):
    """One file, and how the server misbehaves."""

    url: str = ""
    content: bytes = CONTENT
    status: int | None = None
    is_ranging: bool = True
    shift: int = 0
    cut_after: int | None = None
    encoding: str = ""
    has_length: bool = True
    ranges: list[str | None] = field(default_factory=list)
    logins: list[str | None] = field(default_factory=list)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "archives"
    made.mkdir()
    return made


@pytest.fixture
def server(serve: Callable[[Callable[[BaseHTTPRequestHandler], None]], str]) -> Server:
    made = Server()

    def answer(request: BaseHTTPRequestHandler) -> None:
        asked = request.headers.get("Range")
        made.ranges.append(asked)
        made.logins.append(request.headers.get("Authorization"))
        wanted = re.fullmatch(r"bytes=(\d+)-", asked or "")
        start = int(wanted[1]) if wanted and made.is_ranging else 0
        is_beyond = start >= len(made.content)
        status = made.status or (416 if is_beyond else 206 if start else 200)
        body = b"" if status >= 400 else made.content[start:]
        request.send_response(status)
        if status == 206:
            first, last = start + made.shift, len(made.content) - 1
            request.send_header("Content-Range", f"bytes {first}-{last}/{last + 1}")
        if made.has_length:
            request.send_header("Content-Length", str(len(body)))
        if made.encoding:
            request.send_header("Content-Encoding", made.encoding)
        request.end_headers()
        request.wfile.write(body[: made.cut_after])

    made.url = f"{serve(answer)}/{NAME}"
    return made


class Heard(Progress):
    """What a progress listener is told."""

    def __init__(self) -> None:
        self.labels: list[tuple[str, int | None]] = []
        self.amount = 0
        self.ended = 0

    def start(self, label: str, total: int | None) -> None:
        self.labels.append((label, total))
        self.amount = 0

    def advance(self, amount: int) -> None:
        self.amount += amount

    def done(self) -> None:
        self.ended += 1


def archive(url: str, sha256: str | None = SHA256) -> Archive:
    return Archive(NAME, url, sha256, "sdist")


def fetch(server: Server, folder: Path, sha256: str | None = SHA256) -> Path:
    return download(archive(server.url, sha256), folder, SETTINGS, progress=Progress())


def refusal(found: Archive, folder: Path, settings: IndexSettings = SETTINGS) -> PatchmgrError:
    with pytest.raises(PatchmgrError) as caught:
        download(found, folder, settings, progress=Progress())
    assert "127.0.0.1" not in caught.value.message
    assert "\n" not in caught.value.message
    return caught.value


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("sha256", [SHA256, None], ids=["with sha256", "without sha256"])
def test_a_file_is_brought_once(server: Server, folder: Path, sha256: str | None) -> None:
    heard = Heard()
    folder = folder / "made/here"
    found = download(archive(server.url, sha256), folder, SETTINGS, progress=heard)
    assert found == folder / NAME
    assert found.read_bytes() == CONTENT
    assert listing(folder) == [NAME]
    assert heard.labels == [(f"Downloading {NAME}", len(CONTENT))]
    assert (heard.amount, heard.ended) == (len(CONTENT), 1)
    assert fetch(server, folder, sha256) == found
    assert server.ranges == [None]


def test_a_wrong_file_in_the_cache_is_replaced(server: Server, folder: Path) -> None:
    (folder / NAME).write_bytes(b"something else")
    assert fetch(server, folder).read_bytes() == CONTENT


def test_a_wrong_sha256_leaves_nothing(server: Server, folder: Path) -> None:
    fault = refusal(archive(server.url, "0" * 64), folder)
    assert fault.kind == "checksum-mismatch"
    assert SHA256 in fault.message
    assert listing(folder) == []


def test_a_broken_run_is_gone_on_with(server: Server, folder: Path) -> None:
    heard = Heard()
    (folder / PART).write_bytes(CONTENT[:1000])
    found = download(archive(server.url), folder, SETTINGS, progress=heard)
    assert found.read_bytes() == CONTENT
    assert server.ranges == ["bytes=1000-"]
    assert heard.labels == [(f"Downloading {NAME}", len(CONTENT))]
    assert heard.amount == len(CONTENT)
    assert listing(folder) == [NAME]


def test_a_part_that_is_whole_needs_no_server(server: Server, folder: Path) -> None:
    (folder / PART).write_bytes(CONTENT)
    assert fetch(server, folder).read_bytes() == CONTENT
    assert server.ranges == []


@pytest.mark.parametrize(
    ("part", "misbehaviour", "ranges"),
    [
        pytest.param(CONTENT[:9], {"is_ranging": False}, ["bytes=9-"], id="no ranges"),
        pytest.param(CONTENT + b"x", {}, [f"bytes={len(CONTENT) + 1}-", None], id="too long"),
        pytest.param(CONTENT[:9], {"shift": 1}, ["bytes=9-", None], id="another range"),
        pytest.param(b"damaged", {}, ["bytes=7-", None], id="a damaged part"),
    ],
)
def test_a_part_that_does_not_fit_is_brought_anew(
    server: Server,
    folder: Path,
    part: bytes,
    misbehaviour: dict[str, int],
    ranges: list[str | None],
) -> None:
    for name, value in misbehaviour.items():
        setattr(server, name, value)
    (folder / PART).write_bytes(part)
    assert fetch(server, folder).read_bytes() == CONTENT
    assert server.ranges == ranges
    assert listing(folder) == [NAME]


def test_a_broken_connection_is_taken_up_while_more_arrives(server: Server, folder: Path) -> None:
    server.cut_after = 400_000
    assert fetch(server, folder).read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=400000-", "bytes=800000-"]


def test_without_a_length_a_cut_is_seen_by_the_sha256(server: Server, folder: Path) -> None:
    server.cut_after, server.has_length = 400_000, False
    found = replace(archive(server.url), size=len(CONTENT))
    assert download(found, folder, SETTINGS, progress=Progress()).read_bytes() == CONTENT


def test_what_arrived_before_a_failure_is_kept(server: Server, folder: Path) -> None:
    (folder / PART).write_bytes(CONTENT[:1000])
    server.cut_after = 0
    assert refusal(archive(server.url), folder).kind == "unreachable-upstream"
    assert (folder / PART).read_bytes() == CONTENT[:1000]
    server.status = 503
    assert "503" in refusal(archive(server.url), folder).message
    server.cut_after, server.status = None, None
    assert fetch(server, folder).read_bytes() == CONTENT


def test_without_a_sha256_nothing_is_kept_or_gone_on_with(server: Server, folder: Path) -> None:
    server.cut_after = 1000
    assert refusal(archive(server.url, None), folder).kind == "unreachable-upstream"
    assert listing(folder) == []
    (folder / f"{NAME}.unchecked.part").write_bytes(b"from another file")
    server.cut_after = None
    assert fetch(server, folder, None).read_bytes() == CONTENT
    assert set(server.ranges) == {None}


@pytest.mark.parametrize("status", [404, 403, 500, 206, 416])
def test_a_bad_answer_is_unreachable(server: Server, folder: Path, status: int) -> None:
    server.status, server.shift = status, 5
    fault = refusal(archive(server.url), folder)
    assert (fault.kind, str(status) in fault.message) == ("unreachable-upstream", True)
    assert listing(folder) == []


def test_an_encoded_answer_is_kept_as_it_is(server: Server, folder: Path) -> None:
    server.encoding = "gzip"
    assert fetch(server, folder).read_bytes() == CONTENT


def test_a_refused_connection_is_unreachable(folder: Path) -> None:
    fault = refusal(archive("http://127.0.0.1:9/x"), folder)
    assert fault.kind == "unreachable-upstream"
    assert NAME in fault.message
    assert fault.hints


def test_offline_uses_only_what_is_there(server: Server, folder: Path) -> None:
    offline = replace(SETTINGS, offline=True)
    assert refusal(archive(server.url), folder, offline).kind == "offline"
    (folder / NAME).write_bytes(CONTENT)
    found = download(archive(server.url), folder, offline, progress=Progress())
    assert found.read_bytes() == CONTENT


def test_a_local_archive_is_copied(folder: Path) -> None:
    source = folder / "local files" / NAME
    source.parent.mkdir()
    source.write_bytes(CONTENT)
    offline = replace(SETTINGS, offline=True)
    for number, url in enumerate((source.as_uri(), str(source))):
        found = download(archive(url), folder / str(number), offline, progress=Progress())
        assert found.read_bytes() == CONTENT
    assert refusal(archive(source.as_uri(), "0" * 64), folder).kind == "checksum-mismatch"
    source.unlink()
    assert refusal(archive(source.as_uri()), folder).kind == "unreachable-upstream"
    assert listing(folder) == ["0", "1", "local files"]


@pytest.mark.parametrize("name", ["../p-1.tar.gz", "/p", "a/b", "", "-p", "p\n", ".p"])
def test_an_unsafe_file_name_is_refused(folder: Path, name: str) -> None:
    assert refusal(replace(archive("x"), filename=name), folder).kind == "bad-archive"


def test_a_folder_that_cannot_be_written_is_reported(server: Server, folder: Path) -> None:
    (folder / "file").touch()
    assert refusal(archive(server.url), folder / "file").kind == "cache"


def test_a_full_disk_is_no_fault_of_the_index(folder: Path, server: Server) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full")
    (folder / f"{NAME}.unchecked.part").symlink_to(full)
    fault = refusal(archive(server.url, None), folder)
    assert fault.kind == "cache"


def test_two_runs_at_once_bring_it_once(server: Server, folder: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: fetch(server, folder).read_bytes(), range(4)))
    assert found == [CONTENT] * 4
    assert server.ranges == [None]
    assert listing(folder) == [NAME]


def test_credentials_of_the_index_go_to_its_host_only(server: Server, folder: Path) -> None:
    base = server.url.rpartition("/")[0]
    mine = replace(SETTINGS, index_url=base.replace("://", "://me:pw@"))
    other = replace(SETTINGS, index_url="http://me:pw@127.0.0.2")
    for number, settings in enumerate((mine, other)):
        download(archive(server.url), folder / str(number), settings, progress=Progress())
    assert server.logins == ["Basic bWU6cHc=", None]
