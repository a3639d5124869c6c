"""`mcp`, driven by the SDK's own client: a read-only server changes nothing."""

import io
import json
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from patchmgr.cli import serving
from patchmgr.plumbing.programs import _GOOD, answer_of
from tests.commands.conftest import Scene, invoke
from tests.commands.scenes import unchanged
from tests.commands.test_propose import BOTH, collide

READING = {
    "status", "dry_run", "conflicts", "work_order", "propose", "audit", "report", "notes",
}  # fmt: skip
Call = Callable[..., Awaitable[Any]]
Talk = Callable[[Any, Call], Awaitable[None]]


async def connected(session: Any, talk: Talk) -> None:
    """Talk to a server that a client is connected to."""

    async def call(name: str, **arguments: Any) -> Any:
        done = await session.call_tool(name, arguments)
        text = getattr(done.content[0], "text", "")
        assert not done.is_error, text
        return json.loads(text)

    await talk(session, call)


def test_a_server_runs_nothing_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program starts it in the folder of a project, and any module there hid the real one."""
    invoke("init", tmp_path / "ws")
    for name in ("msgspec", "runpy", "re"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    is_good, printed = answer_of(tmp_path / "ws", ["status", "--json"])
    assert is_good, printed
    assert not (tmp_path / "ran").exists()


def serve(root: Path, talk: Talk, *options: str) -> None:
    """Start a server on a workspace, and talk to it."""
    pytest.importorskip("mcp.server.mcpserver")
    import anyio
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    line = ["-m", "patchmgr", "-C", str(root), "mcp", *options]
    server = StdioServerParameters(command=sys.executable, args=line, env=dict(os.environ))

    async def run() -> None:
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            await connected(session, talk)

    anyio.run(run)


def serve_here(scene: Scene, talk: Talk, *options: str) -> None:
    """Talk to a server in this process, where its commands run, too: it takes half the time."""
    served = pytest.importorskip("mcp.server.mcpserver").MCPServer
    import anyio
    from mcp.client import Client

    def answer_here(root: Path, words: Sequence[str], data: bytes = b"") -> tuple[bool, str]:
        with pytest.MonkeyPatch.context() as given:
            given.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            answer = invoke("-C", root, *words)
        return answer.code in _GOOD, answer.out or answer.err

    async def run() -> None:
        async with Client(made[0]) as client:
            await connected(client, talk)

    made: list[Any] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(served, "run", lambda server, transport: made.append(server))
        patched.setattr(serving, "answer_of", answer_here)
        scene.call("mcp", *options)
        anyio.run(run)


def test_a_read_only_server_shows_and_checks_and_changes_nothing(scene: Scene) -> None:
    name = collide(scene)
    with unchanged(scene.root, without=(".git", "lock", "log")):

        async def talk(session: Any, call: Call) -> None:
            assert {tool.name for tool in (await session.list_tools()).tools} == READING
            assert (await call("status"))["unfinished"]["about"]
            assert [one["id"] for one in (await call("conflicts"))["conflicts"]] == [name]
            order = (await call("work_order", id=name))["work_order"]
            assert order["regions"][0]["candidates"]
            made = await call("propose", id=name, by="agent", content=BOTH)
            assert (made["passed"], made["dry_run"]) == (True, True)
            made = await call("propose", id=name, by="agent", delete=True)
            assert made["failures"]
            for line in ("accept", "rebase", "continue_rebase"):
                assert (await session.call_tool(line, {"id": name})).is_error
            failed = await session.call_tool("dry_run", {"onto": "upstream/nosuch"})
            assert failed.is_error
            assert "no branch, tag or commit upstream/nosuch" in failed.content[0].text
            evil = {"id": "--accept=/etc/passwd", "by": "agent", "content": "x"}
            assert (await session.call_tool("propose", evil)).is_error
            nobody = {"id": name, "by": "", "content": "x"}  # not the person whom git knows
            assert (await session.call_tool("propose", nobody)).is_error

        serve_here(scene, talk)


def test_one_that_may_write_takes_what_passes(scene: Scene) -> None:
    name = collide(scene)

    async def talk(session: Any, call: Call) -> None:
        assert (await session.call_tool("accept", {"id": name})).is_error
        assert (await call("propose", id=name, by="agent", content=BOTH))["passed"]
        assert (await call("accept", id=name))["recorded"][0]["id"] == name
        assert (await call("continue_rebase"))["series"][0]["head"]

    serve_here(scene, talk, "--allow-write")


def test_it_is_talked_to_on_standard_streams(scene: Scene) -> None:
    name = collide(scene)

    async def talk(session: Any, call: Call) -> None:
        made = await call("propose", id=name, by="agent", content=BOTH)
        assert (made["passed"], made["dry_run"]) == (True, False)

    serve(scene.root, talk, "--allow-write")


def test_without_the_sdk_it_names_a_package(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("mcp", "mcp.server.mcpserver"):
        monkeypatch.setitem(sys.modules, module, None)
    answer = scene.call("mcp", code=1)
    assert "pip install 'mcp>=2'" in answer.err
