"""Requests to a package index: certificates, credentials, and errors that name no host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

from patchmgr import __version__
from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.index_settings import IndexSettings

if TYPE_CHECKING:
    from requests import Response, Session

_HINTS = (
    "check the network, and index and certificates with `pip config list`",
    "run the command again: what is in the cache is kept",
)


def local_path(location: str) -> Path | None:
    """Return the path that a plain path or a file: URL names, None for a remote location."""
    if location.startswith("file:"):
        return Path(unquote(urlsplit(location).path))
    return None if "://" in location else Path(location)


def without_login(url: str, settings: IndexSettings) -> str:
    """Return the URL without the credentials that are those of a configured index."""
    parts = urlsplit(url)
    if "@" not in parts.netloc or parts.netloc not in _logins(settings).values():
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def with_login(url: str, settings: IndexSettings) -> str:
    """Return the URL with the credentials of the configured index on the same host, if any."""
    parts = urlsplit(url)
    login = _logins(settings).get((parts.scheme, parts.netloc))
    return urlunsplit(parts._replace(netloc=login)) if login else url


def _logins(settings: IndexSettings) -> dict[tuple[str, str], str]:
    """Return the network locations with credentials by scheme and host."""
    found: dict[tuple[str, str], str] = {}
    for url in (*settings.index_urls(), *settings.find_links):
        parts = urlsplit(url) if "://" in url else None
        if parts and "@" in parts.netloc:
            found.setdefault((parts.scheme, parts.netloc.rpartition("@")[2]), parts.netloc)
    return found


@contextmanager
def open_session() -> Iterator[Session]:
    """Open a session; credentials of .netrc hold as requests has it."""
    import requests

    with requests.Session() as session:
        session.headers["User-Agent"] = f"patchmgr/{__version__}"
        yield session


@contextmanager
def answer(
    session: Session, url: str, *, settings: IndexSettings, headers: Mapping[str, str], what: str
) -> Iterator[Response]:
    """Ask for a URL and stream the answer, whatever its status.

    Raises PatchmgrError "unreachable-upstream" where nobody answers, also while the body is
    read; `what` is what was asked for, in words that are shown.
    """
    import requests
    import urllib3
    from requests.utils import get_auth_from_url

    target = with_login(url, settings)
    login = get_auth_from_url(target)
    # Given with each request: requests lets variables override what a session says.
    proxies = {"http": settings.proxy, "https": settings.proxy} if settings.proxy else None
    verify = False if _is_trusted(url, settings) else settings.cert or True
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
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as fault:
        raise unreachable(what, _reason(fault)) from None


def _is_trusted(url: str, settings: IndexSettings) -> bool:
    host = urlsplit(url).netloc.rpartition("@")[2]
    return host in settings.trusted_hosts or host.partition(":")[0] in settings.trusted_hosts


def unreachable(what: str, reason: str) -> PatchmgrError:
    """Return the error for an index that does not give what was asked for."""
    return PatchmgrError("unreachable-upstream", f"no answer for {what}: {reason}", _HINTS)


def _reason(fault: Exception) -> str:
    """Say what went wrong without the URL that requests puts into its messages."""
    import requests
    import urllib3

    reasons = {
        requests.exceptions.SSLError: "the certificate of the package index is not trusted",
        requests.exceptions.ProxyError: "the proxy does not answer",
        requests.exceptions.Timeout: "the package index is too slow",
        requests.exceptions.ConnectionError: "the package index does not answer",
        requests.exceptions.ChunkedEncodingError: "the connection broke",
        urllib3.exceptions.HTTPError: "the connection broke",
    }
    for kind, reason in reasons.items():
        if isinstance(fault, kind):
            return reason
    if isinstance(fault, OSError) and not isinstance(fault, requests.RequestException):
        return fault.strerror or "a certificate file is missing"
    return f"the package index cannot be asked ({type(fault).__name__})"
