import os
import subprocess
import sys
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.index_session import DEFAULT_INDEX, IndexSettings, read_settings


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home, a prefix and shared folders without settings."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setattr("patchmgr.plumbing.index_session._MACHINE", tmp_path / "etc")
    for folder in ("home/.config/pip", "home/.config/uv", "home/.pip", "prefix", "xdg/pip", "etc"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def variables(home: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(home / "home"), "XDG_CONFIG_DIRS": str(home / "xdg"), **more}


def test_nothing_said_means_the_documented_defaults(home: Path) -> None:
    assert read_settings(variables(home)) == IndexSettings(DEFAULT_INDEX)


@pytest.mark.parametrize(
    ("variable", "value", "field", "expected"),
    [
        ("PIP_INDEX_URL", "https://h/s/", "index_url", "https://h/s/"),
        ("PIP_EXTRA_INDEX_URL", "https://a  https://b", "extra_index_urls",
            ("https://a", "https://b")),
        ("PIP_FIND_LINKS", "/a /b", "find_links", ("/a", "/b")),
        ("PIP_CERT", "/c.pem", "cert", "/c.pem"),
        ("PIP_CLIENT_CERT", "/k.pem", "client_cert", "/k.pem"),
        ("PIP_PROXY", "http://p", "proxy", "http://p"),
        ("PIP_DEFAULT_TIMEOUT", "180", "timeout", 180.0),
        ("PIP_TIMEOUT", "2.5", "timeout", 2.5),
        ("PIP_TRUSTED_HOST", "a b:1", "trusted_hosts", ("a", "b:1")),
        ("PIP_NO_INDEX", "1", "index_url", ""),
        ("PIP_NO_INDEX", "0", "index_url", DEFAULT_INDEX),
        ("PIP_INDEX_URL", "", "index_url", DEFAULT_INDEX),
        ("UV_INDEX_URL", "https://u", "index_url", "https://u"),
        ("UV_DEFAULT_INDEX", "main=https://u", "index_url", "https://u"),
        ("UV_INDEX", "n=https://a https://b", "extra_index_urls", ("https://a", "https://b")),
        ("UV_EXTRA_INDEX_URL", "https://a", "extra_index_urls", ("https://a",)),
        ("UV_FIND_LINKS", "/a,/b", "find_links", ("/a", "/b")),
        ("UV_INSECURE_HOST", "a,b", "trusted_hosts", ("a", "b")),
        ("UV_NO_INDEX", "true", "index_url", ""),
        ("UV_OFFLINE", "1", "offline", True),
        ("UV_HTTP_TIMEOUT", "9", "timeout", 9.0),
        ("REQUESTS_CA_BUNDLE", "/r.pem", "cert", "/r.pem"),
        ("SSL_CERT_FILE", "/s.pem", "cert", "/s.pem"),
        ("SSL_CLIENT_CERT", "/k.pem", "client_cert", "/k.pem"),
    ],
)  # fmt: skip
def test_one_variable(home: Path, variable: str, value: str, field: str, expected: object) -> None:
    assert getattr(read_settings(variables(home, **{variable: value})), field) == expected


@pytest.mark.parametrize(
    ("files", "more", "expected"),
    [
        pytest.param({"etc/pip.conf": "m"}, {}, "m", id="machine"),
        pytest.param({"etc/pip.conf": "m", "xdg/pip/pip.conf": "x"}, {}, "m", id="xdg, weaker"),
        pytest.param({"etc/pip.conf": "m", "home/.pip/pip.conf": "h"}, {}, "h", id="old user file"),
        pytest.param({"home/.pip/pip.conf": "h", "home/.config/pip/pip.conf": "u"}, {}, "u",
            id="user file"),
        pytest.param({"home/.config/pip/pip.conf": "u", "prefix/pip.conf": "p"}, {}, "p",
            id="environment"),
        pytest.param({"prefix/pip.conf": "p", "c": "c"}, {"PIP_CONFIG_FILE": "c"}, "c", id="named"),
        pytest.param({"home/.pip/pip.conf": "h"}, {"PIP_CONFIG_FILE": "missing"}, "h",
            id="named but missing"),
        pytest.param({"etc/pip.conf": "m"}, {"PIP_CONFIG_FILE": os.devnull}, None, id="none"),
        pytest.param({"prefix/pip.conf": "p"}, {"PIP_INDEX_URL": "https://v"}, "v", id="variable"),
        pytest.param({"prefix/pip.conf": "p"}, {"UV_INDEX_URL": "https://v"}, "v",
            id="uv variable"),
        pytest.param({"prefix/pip.conf": "p", "home/.config/uv/uv.toml": "uv"}, {}, "p",
            id="pip before uv"),
        pytest.param({"home/.config/uv/uv.toml": "uv"}, {}, "uv", id="uv file"),
        pytest.param({"u.toml": "uv"}, {"UV_CONFIG_FILE": "u.toml"}, "uv", id="named uv file"),
        pytest.param({"home/.config/uv/uv.toml": "uv"}, {"UV_NO_CONFIG": "1"}, None,
            id="no uv file"),
    ],
)  # fmt: skip
def test_the_strongest_source_wins(
    home: Path, files: dict[str, str], more: dict[str, str], expected: str | None
) -> None:
    for name, host in files.items():
        text = f'index-url = "https://{host}"' if "toml" in name else f"index-url = https://{host}"
        section = "" if "toml" in name else "[global]\n"
        (home / name).write_text(section + text + "\n")
    paths = {name: str(home / value) for name, value in more.items() if "CONFIG_FILE" in name}
    found = read_settings(variables(home, **{**more, **paths}))
    assert found.index_url == (f"https://{expected}" if expected else DEFAULT_INDEX)


def test_pip_sections_and_key_spellings_are_followed(home: Path) -> None:
    (home / "home/.config/pip/pip.conf").write_text(
        "[global]\nINDEX_URL = https://a\ntimeout = 3\nextra-index-url =\n  https://b\n  https://c\n"
        "[install]\nindex-url = https://i\n[freeze]\ntimeout = 10\n"
    )
    found = read_settings(variables(home))
    assert found.index_url == "https://i"
    assert found.timeout == 3
    assert found.extra_index_urls == ("https://b", "https://c")


def test_files_agree_with_what_pip_shows(home: Path) -> None:
    pytest.importorskip("pip")
    (home / "home/.pip/pip.conf").write_text("[global]\nindex-url = https://old\ncert = /c\n")
    (home / "home/.config/pip/pip.conf").write_text(
        "[global]\nindex_url = https://new\nfind-links =\n  /a\n  /b c\n"
    )
    environ = variables(home, PATH=os.environ["PATH"], PIP_DISABLE_PIP_VERSION_CHECK="1")
    shown = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"],
        capture_output=True, text=True, check=True, env=environ,
    ).stdout  # fmt: skip
    told = dict(line.split("=", 1) for line in shown.splitlines())
    found = read_settings(environ)
    assert told["global.index-url"] == repr(found.index_url)
    assert told["global.cert"] == repr(found.cert)
    assert told["global.find-links"] == repr("\n/a\n/b c")
    assert found.find_links == ("/a", "/b", "c")


def test_the_uv_file_is_read(home: Path) -> None:
    (home / "home/.config/uv/uv.toml").write_text(
        'find-links = ["wheels dir", "https://f"]\nallow-insecure-host = ["h"]\noffline = true\n'
        '[[index]]\nname = "one"\nurl = "https://one"\n'
        '[[index]]\nurl = "https://main"\ndefault = true\n'
        '[[index]]\nname = "cpu"\nurl = "https://cpu"\nexplicit = true\n'
        '[pip]\nextra-index-url = ["https://two"]\n'
    )
    more = {"UV_INDEX_ONE_USERNAME": "me", "UV_INDEX_ONE_PASSWORD": "p@ss"}
    found = read_settings(variables(home, **more))
    assert found.index_url == "https://main"
    assert found.extra_index_urls == ("https://me:p%40ss@one", "https://two")
    assert found.find_links == (str(home / "home/.config/uv/wheels dir"), "https://f")
    assert found.trusted_hosts == ("h",)
    assert found.offline


def test_named_indexes_get_their_credentials(home: Path) -> None:
    more = {"UV_INDEX": "my-one=https://one", "UV_INDEX_MY_ONE_PASSWORD": "secret"}
    assert read_settings(variables(home, **more)).extra_index_urls == ("https://:secret@one",)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("home/.config/pip/pip.conf", "index-url = x"),
        ("home/.config/pip/pip.conf", "[global]\ntimeout = soon"),
        ("home/.config/uv/uv.toml", "index = ["),
        ("home/.config/uv/uv.toml", "index = [{}]"),
        ("home/.config/uv/uv.toml", 'index = ["x"]'),
    ],
    ids=["no section", "no number", "no TOML", "no url", "no table"],
)
def test_a_file_that_cannot_be_read_is_named(home: Path, name: str, text: str) -> None:
    (home / name).write_text(text)
    with pytest.raises(PatchmgrError) as caught:
        read_settings(variables(home))
    assert caught.value.kind == "bad-settings"
    assert caught.value.hints


def test_settings_do_not_show_credentials(home: Path) -> None:
    names = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_PROXY")
    found = read_settings(variables(home, **dict.fromkeys(names, "https://me:secret@h/s")))
    assert "secret" not in repr(found)


def test_a_tilde_in_find_links_is_the_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home / "home"))
    found = read_settings(variables(home, PIP_FIND_LINKS="~/wheels"))
    assert found.find_links == (str(home / "home/wheels"),)


def test_each_index_counts_once() -> None:
    settings = IndexSettings("https://a/", ("https://b", "https://a"))
    assert settings.index_urls() == ("https://a", "https://b")
