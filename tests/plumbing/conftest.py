"""What touches the machine has a home of its own, and asks a server of its own."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

Answer = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture(autouse=True)
def own_home(hermetic: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a home, and a cache, of its own, and no proxy."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", "/nonexistent")
    return hermetic


@contextmanager
def _serving(answer: Answer) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], str]]:
    """Return a function that starts a server for the time of the test, and gives its URL."""
    with ExitStack() as stack:
        yield lambda answer: stack.enter_context(_serving(answer))
