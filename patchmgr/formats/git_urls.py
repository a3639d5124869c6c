"""Determine which URLs git can fetch without running a program, and which mean local paths."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

SCHEMES = ("https://", "http://", "ssh://", "git://", "file://")
_SCP_LIKE = re.compile(r"([A-Za-z0-9_.][A-Za-z0-9_.-]*@)?[A-Za-z0-9_.][A-Za-z0-9_.-]*:(?!//)")


def url_problem(url: str) -> str | None:
    """Return why a URL is refused, or None if it may be passed to git."""
    if url.startswith("-") or any(c in url for c in "\n\r\0"):
        return "is not a URL of a git repository"
    if url.startswith(SCHEMES):
        return None
    # `helper::address` and unknown schemes make git run `git-remote-<name>` from PATH
    # (gitremote-helpers(7)).
    if "::" in url.split("/", 1)[0]:
        return "names a transport that runs a command"
    if "://" in url:
        return "has a scheme that is not supported"
    return None


def is_scp_like(url: str) -> bool:
    """Return whether a URL is written in git's short form for ssh, `host:path`."""
    return _SCP_LIKE.match(url) is not None


def local_path(location: str) -> Path | None:
    """Return the path that a plain path or a `file:` URL refers to, or None for any other URL."""
    if location.startswith("file:"):
        return Path(unquote(urlsplit(location).path))
    return None if "://" in location else Path(location)


def is_same_repository(one: str, other: str) -> bool:
    """Return whether two URLs name the same repository, whatever their protocols."""
    return _address(one) == _address(other)


def _address(url: str) -> str:
    path = url.replace(":", "/", 1) if is_scp_like(url) else url.partition("://")[2] or url
    host, slash, rest = path.partition("/")
    return f"{host.rpartition('@')[2]}{slash}{rest.rstrip('/').removesuffix('.git').rstrip('/')}"
