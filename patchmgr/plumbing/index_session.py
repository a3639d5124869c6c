"""Access to a package index with the settings of pip and uv; error messages never name a host."""

from __future__ import annotations

import configparser
import os
import re
import sys
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from msgspec import Struct
from requests import Response, Session, exceptions
from urllib3.exceptions import HTTPError

from patchmgr import __version__
from patchmgr.errors import PatchmgrError
from patchmgr.formats import toml_text

DEFAULT_INDEX = "https://pypi.org/simple"
DEFAULT_TIMEOUT = "15"
_MACHINE = Path("/etc")
_Source = Mapping[str, tuple[str, ...]]
_LISTS = frozenset({"extra-index-url", "find-links", "trusted-host"})
_PIP_SECTIONS = ("global", "download", "install")
_UV_VARIABLES = {
    "UV_INDEX_URL": "index-url",
    "UV_DEFAULT_INDEX": "index-url",
    "UV_EXTRA_INDEX_URL": "extra-index-url",
    "UV_INDEX": "extra-index-url",
    "UV_FIND_LINKS": "find-links",
    "UV_NO_INDEX": "no-index",
    "UV_OFFLINE": "offline",
    "UV_HTTP_TIMEOUT": "timeout",
    "UV_INSECURE_HOST": "trusted-host",
    "SSL_CLIENT_CERT": "client-cert",
}
_CERTIFICATES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")
_NAMED_INDEX = re.compile(r"([\w.-]+)=(.+)")


class IndexSettings(Struct, frozen=True):
    """The indexes to search for releases, and how to access them."""

    index_url: str = DEFAULT_INDEX  # "": only `find_links` may be used
    extra_index_urls: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    cert: str | None = None  # a file or folder (None: that of requests)
    client_cert: str | None = None
    proxy: str | None = None
    timeout: float = float(DEFAULT_TIMEOUT)
    trusted_hosts: tuple[str, ...] = ()
    offline: bool = False

    # Locations may contain credentials, which are never printed.
    def __repr__(self) -> str:
        return "IndexSettings()"

    def index_urls(self) -> tuple[str, ...]:
        """Return the URLs of all indexes without duplicates, the main index first."""
        urls = (self.index_url, *self.extra_index_urls)
        return tuple(dict.fromkeys(url.rstrip("/") for url in urls if url))

    def trusts(self, url: str) -> bool:
        """Return whether pip's --trusted-host lists the URL's host, with or without its port."""
        host = urlsplit(url).netloc.rpartition("@")[2]
        return not {host, host.partition(":")[0]}.isdisjoint(self.trusted_hosts)


def read_settings(environ: Mapping[str, str]) -> IndexSettings:
    """Return the user's index settings, from pip's and uv's variables and then from their files.

    Raises PatchmgrError "bad-settings" for a file that cannot be read, or for a timeout that is not
    a number.
    """
    named = [(name, text) for name, text in environ.items() if name.startswith("PIP_")]
    pip = _source((_pip_key(name[4:]), text) for name, text in named)
    # No file in the current folder: a workspace must not choose where code comes from.
    sources = (pip, _uv_variables(environ), _pip_files(environ), _uv_file(environ))
    known = ChainMap(*map(dict, sources))
    has_index = not _is_true(_one(known, "no-index"))
    timeout = _one(known, "timeout") or _one(known, "default-timeout") or DEFAULT_TIMEOUT
    try:
        seconds = float(timeout)
    except ValueError as fault:
        raise _bad(f"the timeout of the package index, {timeout!a}, is not a number") from fault
    certificates = [environ[name] for name in _CERTIFICATES if environ.get(name)]
    return IndexSettings(
        index_url=_one(known, "index-url") or DEFAULT_INDEX if has_index else "",
        extra_index_urls=known.get("extra-index-url", ()) if has_index else (),
        find_links=tuple(map(os.path.expanduser, known.get("find-links", ()))),
        cert=_one(known, "cert") or next(iter(certificates), None),
        client_cert=_one(known, "client-cert") or None,
        proxy=_one(known, "proxy") or None,
        timeout=seconds,
        trusted_hosts=known.get("trusted-host", ()),
        offline=_is_true(_one(known, "offline")),
    )


def _one(known: _Source, key: str) -> str:
    return next(iter(known.get(key, ())), "")


def _is_true(word: str) -> bool:
    return word.lower() in {"1", "true", "t", "yes", "y", "on"}


def _bad(message: str) -> PatchmgrError:
    return PatchmgrError(
        "bad-settings", message, "correct the setting; to see pip's settings: pip config list"
    )


def _source(pairs: Iterable[tuple[str, str]]) -> _Source:
    """Return the settings that have a value; later pairs override earlier ones."""
    split = {key: tuple(text.split()) if key in _LISTS else (text,) for key, text in pairs if text}
    return {key: words for key, words in split.items() if words}


def _pip_key(name: str) -> str:
    return name.lower().replace("_", "-").removeprefix("--")


def _pip_files(environ: Mapping[str, str]) -> _Source:
    """Return the settings in pip's files: site overrides user, which overrides global."""
    found: dict[str, dict[str, str]] = {section: {} for section in _PIP_SECTIONS}
    for path in _pip_paths(environ):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, ValueError) as fault:
            raise _bad(f"pip's configuration file {path} cannot be read") from fault
        for section in found:
            if parser.has_section(section):
                pairs = parser[section].items()
                found[section].update((_pip_key(key), text) for key, text in pairs)
    return _source(pair for section in _PIP_SECTIONS for pair in found[section].items())


def _pip_paths(environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files that pip reads, lowest precedence first (pip._internal.configuration)."""
    chosen = environ.get("PIP_CONFIG_FILE", "")
    if chosen == os.devnull:
        return
    for folder in _shared_folders(environ, "pip"):
        yield folder / "pip.conf"
    yield _MACHINE / "pip.conf"
    if not (chosen and Path(chosen).exists()):
        yield _home(environ) / ".pip" / "pip.conf"
        yield _user_folder(environ, "pip") / "pip.conf"
    yield Path(sys.prefix, "pip.conf")
    if chosen:
        yield Path(chosen)


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or Path.home())


def _user_folder(environ: Mapping[str, str], tool: str) -> Path:
    """Return the folder of a tool's user settings, as platformdirs finds it."""
    on_mac = _home(environ) / "Library" / "Application Support" / tool
    if sys.platform == "darwin" and on_mac.is_dir():
        return on_mac
    return Path(environ.get("XDG_CONFIG_HOME") or _home(environ) / ".config") / tool


def _shared_folders(environ: Mapping[str, str], tool: str) -> list[Path]:
    """Return the folders of a tool's settings for all users, in the order of XDG_CONFIG_DIRS."""
    if sys.platform == "darwin":
        return [Path("/Library/Application Support", tool)]
    listed = environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    return [Path(folder, tool) for folder in listed.split(os.pathsep) if folder]


def _uv_variables(environ: Mapping[str, str]) -> _Source:
    found: dict[str, tuple[str, ...]] = {}
    for name, key in _UV_VARIABLES.items():
        text = environ.get(name, "")
        text = text.replace(",", " ") if key in ("find-links", "trusted-host") else text
        if key in _LISTS:
            words = tuple(_index_url(word, environ) for word in text.split())
            found[key] = words + found.get(key, ())
        elif text:
            found[key] = (_index_url(text, environ),)
    return {key: words for key, words in found.items() if words}


def _index_url(word: str, environ: Mapping[str, str]) -> str:
    """Return the URL in `name=url` with the credentials of `name`, or any other word unchanged."""
    named = _NAMED_INDEX.fullmatch(word)
    if named is None or "/" in named[1]:
        return word
    return _with_login(named[2], named[1], environ)


def _with_login(url: str, name: str, environ: Mapping[str, str]) -> str:
    prefix = "UV_INDEX_" + re.sub(r"\W", "_", name).upper()
    user = environ.get(f"{prefix}_USERNAME", "")
    secret = environ.get(f"{prefix}_PASSWORD", "")
    if not (user or secret) or "://" not in url:
        return url
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{quote(user, safe='')}:{quote(secret, safe='')}@{rest}"


def _uv_file(environ: Mapping[str, str]) -> _Source:
    """Return the settings in uv's file for the user, or else in its file for the system."""
    if _is_true(environ.get("UV_NO_CONFIG", "")):
        return {}
    folders = [_user_folder(environ, "uv"), *_shared_folders(environ, "uv"), _MACHINE / "uv"]
    chosen = environ.get("UV_CONFIG_FILE")
    paths = [Path(chosen)] if chosen else [folder / "uv.toml" for folder in folders]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        return {}
    try:
        table = toml_text.loads(path.read_text("utf-8"))
        return _uv_settings(table, path.parent, environ)
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as fault:
        raise _bad(f"uv's configuration file {path} cannot be read") from fault


def _uv_settings(table: Mapping[str, Any], folder: Path, environ: Mapping[str, str]) -> _Source:
    merged = {**table.get("pip", {}), **table}
    found: dict[str, list[str]] = {}
    for index in merged.get("index", []):
        if index.get("explicit"):  # only for packages that a project names
            continue
        key = "index-url" if index.get("default") else "extra-index-url"
        url = _with_login(index["url"], index.get("name", ""), environ)
        found.setdefault(key, []).append(url)
    names = {"allow-insecure-host": "trusted-host", "no-index": "no-index", "offline": "offline"}
    for name in dict.fromkeys((*_UV_VARIABLES.values(), *names)):
        told = merged.get(name)
        words = told if isinstance(told, list) else [] if told is None else [told]
        found.setdefault(names.get(name, name), []).extend(str(word) for word in words)
    for key in ("index-url", "extra-index-url", "find-links"):
        # A relative path is relative to the folder of the settings file.
        words = found.get(key, [])
        found[key] = [word if "://" in word else str(folder / word) for word in words]
    return {key: tuple(words) for key, words in found.items() if words}


_HINTS = (
    "check the network, and the index and certificates with `pip config list`",
    "run the command again: finished downloads stay in the cache",
)


def without_login(url: str, settings: IndexSettings) -> str:
    """Return the URL, without its credentials if they are those of a configured index."""
    parts = urlsplit(url)
    if "@" not in parts.netloc or parts.netloc not in _logins(settings).values():
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def with_login(url: str, settings: IndexSettings) -> str:
    """Return the URL with the credentials, if any, of a configured index on the same host."""
    parts = urlsplit(url)
    login = _logins(settings).get((parts.scheme, parts.netloc))
    return urlunsplit(parts._replace(netloc=login)) if login else url


def _logins(settings: IndexSettings) -> dict[tuple[str, str], str]:
    """Map (scheme, host) of each location with credentials to its `USER:PASSWORD@HOST`."""
    found: dict[tuple[str, str], str] = {}
    for url in (*settings.index_urls(), *settings.find_links):
        parts = urlsplit(url) if "://" in url else None
        if parts and "@" in parts.netloc:
            found.setdefault((parts.scheme, parts.netloc.rpartition("@")[2]), parts.netloc)
    return found


@contextmanager
def open_session() -> Iterator[Session]:
    """Yield an HTTP session, which reads .netrc as the requests library does."""
    with Session() as session:
        session.headers["User-Agent"] = f"patchmgr/{__version__}"
        yield session


@contextmanager
def answer(
    session: Session, url: str, *, settings: IndexSettings, headers: Mapping[str, str], what: str
) -> Iterator[Response]:
    """Request a URL, and yield the response as a stream, whatever its status.

    `what` names the request in error messages. Raises PatchmgrError "unreachable-upstream" if the
    server does not respond or the connection is lost.
    """
    target = with_login(url, settings)
    parts = urlsplit(target)
    login = unquote(parts.username or ""), unquote(parts.password or "")
    # Not set for the session: the requests library lets variables override a session's settings.
    proxies = {"http": settings.proxy, "https": settings.proxy} if settings.proxy else None
    verify = False if settings.trusts(url) else settings.cert or True
    try:
        with session.get(
            target,
            auth=login if any(login) else None,
            headers=dict(headers),
            timeout=settings.timeout,
            stream=True,
            verify=verify,
            proxies=proxies,
            cert=settings.client_cert,
        ) as response:
            yield response
    except _FAILURES as fault:
        raise unreachable(what, _reason(fault)) from None


def unreachable(what: str, reason: str) -> PatchmgrError:
    """Return the error for a package index that did not send `what`."""
    return PatchmgrError("unreachable-upstream", f"{what} cannot be fetched: {reason}", *_HINTS)


_REASONS: Mapping[type[Exception], str] = {
    exceptions.SSLError: "the certificate of the server is not trusted",
    exceptions.ProxyError: "the proxy does not answer",
    exceptions.Timeout: "the server did not answer in time",
    exceptions.ConnectionError: "the server does not answer",
    exceptions.ChunkedEncodingError: "the connection was lost",
    HTTPError: "the connection was lost",
}
_FAILURES: tuple[type[Exception], ...] = (*_REASONS, OSError, ValueError)


def _reason(fault: Exception) -> str:
    """Return what went wrong, without the URL that requests puts into its messages."""
    for kind, reason in _REASONS.items():
        if isinstance(fault, kind):
            return reason
    if isinstance(fault, OSError) and type(fault).__module__ != "requests.exceptions":
        return fault.strerror or "a certificate file is missing"
    return f"the request failed ({type(fault).__name__})"
