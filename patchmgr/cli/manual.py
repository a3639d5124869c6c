"""`help`: topics, commands, and man pages made of both."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from patchmgr import __version__, commands, render
from patchmgr.cli.root import Json, answer, say, show
from patchmgr.errors import PatchmgrError


def help_(
    context: typer.Context,
    topic: Annotated[
        list[str] | None, typer.Argument(metavar="[TOPIC]...", help="A topic or a command.")
    ] = None,
    man: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write man pages into this folder.")
    ] = None,
    json: Json = False,
) -> None:
    """Explain a topic or a command; without one, list topics.

    Example: patchmgr help conflicts

    Example: patchmgr help --man ~/.local/share/man/man1
    """
    if man is not None:
        if topic:
            raise PatchmgrError("usage", "--man writes all pages: leave the topic out")
        _write_manual(_root(), man)
        return
    if not topic:
        every = commands.help.topics()
        values = [{"name": one.name, "about": one.about} for one in every]
        answer("help", None, render.manual.topics_text(every), topics=values)
        return
    known = {
        " ".join(words[1:]): (command, words) for command, words in render.manual.walk(_root())
    }
    found = commands.help.find_topic(" ".join(topic), sorted(known))
    if found is not None:
        value = {"name": found.name, "about": found.about, "text": found.text}
        answer("help", None, render.manual.topic_text(found), topic=value)
        return
    if json:
        raise PatchmgrError("usage", "--json is for topics: a command has --help")
    command, words = known[" ".join(topic)]
    with type(context)(command, info_name=" ".join(words[1:]), parent=context.find_root()) as below:
        show(command.get_help(below) + "\n")


def _root() -> Any:
    """Return all commands: a run builds no more than the one that was typed."""
    from patchmgr.cli import app

    return typer.main.get_command(app)


def _write_manual(root: Any, folder: Path) -> None:
    manual = render.manual.Manual(
        __version__, commands.help.page_date(), first_line=commands.help.OURS.decode()
    )
    pages = {
        f"patchmgr-{topic.name}.7": manual.topic_page(topic) for topic in commands.help.topics()
    }
    pages["patchmgr.1"] = manual.main_page(
        render.manual.page_of(root, ("patchmgr",)), commands.help.topics()
    )
    for command, words in render.manual.walk(root):
        page = render.manual.page_of(command, words)
        pages[f"{page.name}.1"] = manual.command_page(page)
    commands.help.write_pages(folder, pages)
    say(f"Wrote {len(pages)} pages into {folder}")
