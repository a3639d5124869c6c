import json
import socket
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from msgspec import Struct, field
from msgspec.structs import replace

from patchmgr.errors import PatchmgrError
from patchmgr.formats.git_urls import local_path
from patchmgr.formats.wheel_records import normalized_name
from patchmgr.plumbing.index_session import IndexSettings, with_login, without_login
from patchmgr.plumbing.package_index import Archive, Release, list_releases
from patchmgr.plumbing.package_upstream import final_between, newest_final
from tests.tables import table

A, B = "a" * 64, "b" * 64
NOON = 1704196800.0  # 2024-01-02, 12:00 UTC


class Server(Struct):
    """Pages by path, and what was asked for."""

    url: str = ""
    pages: dict[str, tuple[int, str, bytes]] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def page(self, path: str, text: str, kind: str = "text/html", status: int = 200) -> None:
        self.pages[path] = (status, kind, text.encode())

    def links(self, path: str, *names: str) -> None:
        self.page(path, "".join(f'<a href="{name}">{name}</a>' for name in names))


@pytest.fixture
def server(serve: Callable[[Callable[[BaseHTTPRequestHandler], None]], str]) -> Server:
    made = Server()

    def answer(request: BaseHTTPRequestHandler) -> None:
        made.asked.append((request.path, dict(request.headers)))
        status, kind, body = made.pages.get(request.path, (404, "text/plain", b""))
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    made.url = serve(answer)
    return made


def settings(index: str, *extra: str, find: tuple[str, ...] = ()) -> IndexSettings:
    return IndexSettings(index, extra, find, timeout=5)


def names(releases: tuple[Release, ...]) -> list[tuple[str, str]]:
    return [(release.version, release.archive.filename) for release in releases]


def refusal(package: str, found: IndexSettings) -> PatchmgrError:
    with pytest.raises(PatchmgrError) as caught:
        list_releases(package, found)
    assert "127.0.0.1" not in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.hints
    return caught.value


@table(
    ("name", "expected"),
    [("vllm", "vllm"), ("FlashInfer.Python", "flashinfer-python"), ("a_-.b", "a-b")],
)
def test_names_are_normalized(name: str, expected: str) -> None:
    assert normalized_name(name) == expected


def test_an_html_page_is_read(server: Server) -> None:
    server.page(
        "/simple/my-pkg/",
        f'<a href="../../files/my_pkg-1.0.tar.gz#sha256={A.upper()}">my_pkg-1.0.tar.gz</a>'
        f'<a href="/f/my_pkg-2.0.tar.gz?a=1&amp;b=2#sha256={B}" data-yanked="bad">'
        "my_pkg-2.0.tar.gz</a>"
        '<a href="/f/my_pkg-3.0.tar.gz#md5=12">my_pkg-3.0.tar.gz</a>',
    )
    assert list_releases("My.Pkg", settings(f"{server.url}/simple")) == tuple(
        Release(version, Archive(name, f"{server.url}/{place}/{url}", sha256, "sdist", is_yanked))
        for version, name, place, url, sha256, is_yanked in (
            ("1.0", "my_pkg-1.0.tar.gz", "files", "my_pkg-1.0.tar.gz", A, False),
            ("2.0", "my_pkg-2.0.tar.gz", "f", "my_pkg-2.0.tar.gz?a=1&b=2", B, True),
            ("3.0", "my_pkg-3.0.tar.gz", "f", "my_pkg-3.0.tar.gz", None, False),
        )
    )


def test_a_json_page_is_read(server: Server) -> None:
    file = {
        "filename": "p-1.0.tar.gz", "url": "../../files/p-1.0.tar.gz", "hashes": {"sha256": A},
        "size": 7, "upload-time": "2024-01-02T12:00:00Z", "yanked": "why",
    }  # fmt: skip
    later = {**file, "filename": "p-1.0-py3-none-any.whl", "upload-time": "2024-02-02T12:00:00Z"}
    page = {"meta": {"api-version": "1.1"}, "name": "p", "files": [file, later], "versions": ["1"]}
    kind = "application/vnd.pypi.simple.v1+json"
    server.page("/simple/p/", json.dumps(page), kind)
    (release,) = list_releases("p", settings(f"{server.url}/simple/"))
    url = f"{server.url}/files/p-1.0.tar.gz"
    assert release.archive == Archive("p-1.0.tar.gz", url, A, "sdist", True, 7, NOON)
    assert release.published == NOON
    accepted = server.asked[0][1]["Accept"]
    assert "application/vnd.pypi.simple.v1+json" in accepted
    assert "text/html" in accepted


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(["p-1.zip", "p-1.tar.gz", "p-1-py3-none-any.whl"], "p-1.tar.gz", id="sdist"),
        pytest.param(["p-1.zip", "p-1-py3-none-any.whl"], "p-1.zip", id="zip sdist"),
        pytest.param(["p-1-py2-none-any.whl", "p-1-py3-none-any.whl"], "p-1-py3-none-any.whl",
            id="py3"),
        pytest.param(["p-1-cp311-cp311-manylinux2014_x86_64.whl", "p-1-py2-none-any.whl"],
            "p-1-py2-none-any.whl", id="any platform"),
        pytest.param(
            ["p-1-cp311-cp311-manylinux2014_aarch64.whl", "p-1-cp311-cp311-win_amd64.whl",
             "p-1-cp311-cp311-manylinux_2_28_x86_64.whl",
             "p-1-cp310-cp310-manylinux_2_28_x86_64.whl"],
            "p-1-cp310-cp310-manylinux_2_28_x86_64.whl", id="manylinux on x86_64"),
        pytest.param(["p-1-cp311-cp311-win_amd64.whl", "p-1-cp311-cp311-macosx_11_0_arm64.whl"],
            "p-1-cp311-cp311-macosx_11_0_arm64.whl", id="alphabetical"),
    ],
)  # fmt: skip
def test_one_archive_a_version_is_chosen(server: Server, files: list[str], expected: str) -> None:
    for listed in (files, files[::-1]):
        server.links("/p/", *listed)
        assert names(list_releases("p", settings(server.url))) == [("1", expected)]


def test_releases_come_in_version_order_and_strangers_are_left_out(server: Server) -> None:
    server.links(
        "/my-p/",
        "my_p-1.10.tar.gz", "my_p-1.9.tar.gz", "my-p-1.9rc1.tar.gz", "My.P-2.0.dev1.tgz",
        "my_p-1!0.5.tar.gz", "my_p-1.9.post1.tar.bz2", "my_p-2.0+cu1.tar.xz",
        "other-1.0.tar.gz", "my_p_other-1.0.tar.gz", "my_p-extra-1.0.tar.gz", "my_p-x.tar.gz",
        "my_p-1.0.egg", "my_p-1.0.exe", "other-1-py3-none-any.whl", "my_p-1-py3.whl",
        "my_p-3.0.tar.gz.asc",
    )  # fmt: skip
    assert [r.version for r in list_releases("my-p", settings(server.url))] == [
        "1.9rc1", "1.9", "1.9.post1", "1.10", "2.0.dev1", "2.0+cu1", "1!0.5",
    ]  # fmt: skip


def test_versions_are_spelled_normally(server: Server) -> None:
    server.links("/p/", "p-v1.0-RC1.tar.gz", "p-01.0.1.tar.gz")
    assert [r.version for r in list_releases("p", settings(server.url))] == ["1.0rc1", "1.0.1"]


@pytest.mark.parametrize(
    ("refused", "left"),
    [
        ('href="p-1%0a.tar.gz"', "p-2.tar.gz"),
        ('href="..%2Fp-1.tar.gz"', "p-2.tar.gz"),
        ('href="-p-1.tar.gz"', "p-2.tar.gz"),
        ('href="p-1 .tar.gz"', "p-2.tar.gz"),
        ('href="file:///etc/p-1.tar.gz"', "p-2.tar.gz"),
        ('href="p-2.tar.gz" data-yanked=""', "p-2-py3-none-any.whl"),
    ],
    ids=["newline", "slash", "dash", "space", "local", "yanked"],
)
def test_another_archive_than_this_is_taken(server: Server, refused: str, left: str) -> None:
    server.page("/p/", f'<a {refused}>cut..&gt;</a><a href="{left}">cut..&gt;</a>')
    assert names(list_releases("p", settings(server.url))) == [("2", left)]


def test_a_local_index_is_read_by_page_or_by_folder(tmp_path: Path) -> None:
    paged, bare = tmp_path / "paged index", tmp_path / "bare"
    (paged / "p").mkdir(parents=True)
    (paged / "p/index.html").write_text(f'<a href="../f/p-1.tar.gz#sha256={A}">p-1.tar.gz</a>')
    (bare / "p").mkdir(parents=True)
    (bare / "p/p-2.tar.gz").write_bytes(b"x")
    (bare / "p/folder-3.tar.gz").mkdir()
    for first, second in ((str(paged), bare.as_uri()), (paged.as_uri(), str(bare))):
        one, two = list_releases("P", settings(first, second))
        assert local_path(one.archive.url) == paged / "f/p-1.tar.gz"
        assert one.archive.sha256 == A
        assert two.archive.url == (bare / "p/p-2.tar.gz").as_uri()


def test_find_links_may_be_folders_pages_and_urls(server: Server, tmp_path: Path) -> None:
    (tmp_path / "p-1.tar.gz").touch()
    (tmp_path / "q-1.tar.gz").touch()
    page = tmp_path / "links.html"
    page.write_text('<a href="https://h/p-2.tar.gz">p</a>')
    server.links("/all", "p-3.tar.gz", "q-3.tar.gz")
    find = (str(tmp_path), page.as_uri(), f"{server.url}/all", str(tmp_path / "missing"))
    found = list_releases("p", settings("", find=find))
    assert [r.version for r in found] == ["1", "2", "3"]
    assert found[1].archive.url == "https://h/p-2.tar.gz"
    assert refusal("z", settings("", find=find)).kind == "unknown-package"


def test_candidates_of_all_indexes_are_merged(server: Server, tmp_path: Path) -> None:
    server.links("/one/p/", "p-1.tar.gz", "p-2-py3-none-any.whl")
    server.links("/two/p/", "p-1.tar.gz", "p-2.tar.gz")
    one, two = f"{server.url}/one", f"{server.url}/two"
    found = list_releases("p", settings(one, two, str(tmp_path / "gone")))
    assert [r.archive.url for r in found] == [f"{one}/p/p-1.tar.gz", f"{two}/p/p-2.tar.gz"]


def test_an_extra_index_that_fails_is_skipped(server: Server) -> None:
    server.links("/one/p/", "p-1.tar.gz")
    server.page("/two/p/", "", status=503)
    found = settings(f"{server.url}/one", f"{server.url}/two", refused())
    assert names(list_releases("p", found)) == [("1", "p-1.tar.gz")]


def refused() -> str:
    """Return the URL of a port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def test_a_package_that_nobody_lists_is_unknown(server: Server, tmp_path: Path) -> None:
    assert refusal("nope", settings(server.url, str(tmp_path))).kind == "unknown-package"


def test_a_known_package_may_have_no_releases(server: Server) -> None:
    server.links("/p/")
    assert list_releases("p", settings(server.url)) == ()


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_an_index_that_does_not_answer_well_is_unreachable(server: Server, status: int) -> None:
    server.page("/p/", "secret", status=status)
    fault = refusal("p", settings(server.url))
    assert fault.kind == "unreachable-upstream"
    assert str(status) in fault.message


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("application/vnd.pypi.simple.v1+json", "{"),
        ("application/vnd.pypi.simple.v1+json", '{"meta": {}}'),
        ("application/pdf", "x"),
        ("text/html", '<meta name="pypi:repository-version" content="99.0">'),
    ],
    ids=["cut JSON", "other JSON", "no page", "a later format"],
)
def test_an_answer_that_is_no_page_is_an_error(server: Server, kind: str, text: str) -> None:
    server.page("/p/", text, kind)
    assert refusal("p", settings(server.url)).kind == "unreachable-upstream"


def test_a_refused_connection_is_unreachable_and_hides_credentials() -> None:
    url = refused().replace("://", "://me:secret@")
    for found in (settings(url), settings("", url)):
        fault = refusal("p", found)
        assert fault.kind == "unreachable-upstream"
        assert "secret" not in f"{fault.message}{fault.hints}{fault.__cause__}"


def test_a_missing_local_index_or_certificate_is_unreachable(tmp_path: Path) -> None:
    uncertain = replace(settings("https://127.0.0.1:1"), cert=str(tmp_path / "missing.pem"))
    for found in (settings(str(tmp_path / "missing")), uncertain):
        assert refusal("p", found).kind == "unreachable-upstream"


def test_offline_asks_no_server(server: Server, tmp_path: Path) -> None:
    server.links("/p/", "p-1.tar.gz")
    found = replace(settings(server.url), offline=True)
    assert refusal("p", found).kind == "offline"
    (tmp_path / "p-2.tar.gz").touch()
    left = list_releases("p", replace(found, find_links=(str(tmp_path),)))
    assert names(left) == [("2", "p-2.tar.gz")]
    assert not server.asked


def test_the_settings_proxy_is_asked(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", refused())
    server.links("http://index.invalid/p/", "p-1.tar.gz")
    found = replace(settings("http://index.invalid"), proxy=server.url)
    assert names(list_releases("p", found)) == [("1", "p-1.tar.gz")]


@table(
    ("url", "expected"),
    [
        ("https://h/x", True),
        ("https://me:pw@h:1/x", True),
        ("https://p:8443/x", True),
        ("https://p/x", False),
        ("https://other/x", False),
    ],
)
def test_only_trusted_hosts_go_without_a_certificate(url: str, expected: bool) -> None:
    assert IndexSettings("", trusted_hosts=("h", "p:8443")).trusts(url) is expected


def test_credentials_are_sent_and_never_kept(server: Server) -> None:
    server.links("/s/p/", "/f/p-1.tar.gz", "http://other/p-2.tar.gz")
    index = server.url.replace("://", "://me:p%40ss@") + "/s"
    one, two = list_releases("p", settings(index))
    assert server.asked[0][1]["Authorization"] == "Basic bWU6cEBzcw=="
    assert one.archive.url == f"{server.url}/f/p-1.tar.gz"
    assert with_login(one.archive.url, settings(index)).startswith("http://me:p%40ss@127.0.0.1")
    assert with_login(two.archive.url, settings(index)) == two.archive.url
    assert without_login("http://x:y@z/", settings(index)) == "http://x:y@z/"


@table(
    ("versions", "yanked", "expected"),
    {
        "pre-releases": (["1.0", "1.1", "2.0rc1", "2.0.dev3"], [], "1.1"),
        "post-release": (["1.0", "1.1.post1"], [], "1.1.post1"),
        "yanked": (["1.0", "1.1"], ["1.1"], "1.0"),
        "all yanked": (["1.0", "1.1"], ["1.0", "1.1"], "1.1"),
        "no final": (["1.0rc1"], [], None),
        "none": ([], [], None),
    },
)
def test_newest_final_release(versions: list[str], yanked: list[str], expected: str | None) -> None:
    archive = Archive("x.tar.gz", "", None, "sdist")
    releases = [Release(v, replace(archive, yanked=v in yanked)) for v in versions]
    found = newest_final(releases)
    assert (found.version if found else None) == expected


@table(
    ("published", "expected"),
    {
        "in order": ({"1.0": 1, "1.1": 2, "2.0": 3, "2.1": 4}, ["1.1", "2.0"]),
        "times unknown": ({"1.0": None, "1.1": None, "2.0": None, "2.1": None}, ["1.1", "2.0"]),
        "one unknown": ({"1.0": 1, "1.1": None, "2.0": 3, "2.1": 4}, ["1.1", "2.0"]),
        "after a higher one": ({"1.0": 1, "1.1": 2, "1.2": 4, "2.0": 3, "2.1": 5}, ["1.1", "2.0"]),
        "after the end": ({"1.0": 1, "1.1": 9, "2.0": 3, "2.1": 4, "2.0.1": 5}, ["2.0"]),
        "the end unknown": ({"1.0": 1, "1.1": 9, "2.0": 3, "2.1": None}, ["2.0"]),
        "a higher pre-release": ({"1.0": 1, "1.1": 3, "2.0rc1": 2, "2.1": 4}, ["1.1"]),
        "one above the end": ({"1.0": 1, "1.1": 3, "2.1": 4, "3.0": 2}, ["1.1"]),
        "base published late": ({"1.0": 9, "1.1": 2, "2.0": 3, "2.1": 4}, ["1.1", "2.0"]),
    },
)
def test_releases_of_a_maintenance_branch_are_not_between(
    published: dict[str, float | None], expected: list[str]
) -> None:
    assert final_between(published, "1.0", "2.1") == tuple(expected)
