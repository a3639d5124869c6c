"""`help`: topics, commands, and man pages made of both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from patchmgr import __version__
from patchmgr.cli.root import Json, say, show
from patchmgr.errors import PatchmgrError

if TYPE_CHECKING:
    from patchmgr.model.manual import CommandPage, Entry

_EXAMPLE = re.compile(r"Example: ")


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
    from patchmgr.commands.manual import find_topic, topics
    from patchmgr.render.manual import topic_document, topic_text, topics_document, topics_text

    if not topic:
        show(topics_document(topics()) if json else topics_text(topics()))
        return
    commands = {" ".join(words[1:]): (command, words) for command, words in _walk(_root())}
    found = find_topic(" ".join(topic), sorted(commands))
    if found is not None:
        show(topic_document(found) if json else topic_text(found))
        return
    if json:
        raise PatchmgrError("usage", "--json is for topics: a command has --help")
    command, words = commands[" ".join(topic)]
    with type(context)(command, info_name=" ".join(words[1:]), parent=context.find_root()) as below:
        show(command.get_help(below) + "\n")


def _root() -> Any:
    """Return all commands: a run builds no more than the one that was typed."""
    from patchmgr.cli import app

    return typer.main.get_command(app)


def _write_manual(root: Any, folder: Path) -> None:
    from patchmgr.commands.manual import OURS, page_date, topics, write_pages
    from patchmgr.render.manual import Manual

    manual = Manual(__version__, page_date(), first_line=OURS.decode())
    pages = {f"patchmgr-{topic.name}.7": manual.topic_page(topic) for topic in topics()}
    pages["patchmgr.1"] = manual.main_page(page_of(root, ("patchmgr",)), topics())
    for command, words in _walk(root):
        page = page_of(command, words)
        pages[f"{page.name}.1"] = manual.command_page(page)
    write_pages(folder, pages)
    say(f"Wrote {len(pages)} pages into {folder}")


def _walk(command: Any, words: tuple[str, ...] = ("patchmgr",)) -> Iterator[tuple[Any, Any]]:
    """Yield each command that is not hidden, and what is typed for it."""
    for name, below in getattr(command, "commands", {}).items():
        if not below.hidden:
            yield below, (*words, name)
            yield from _walk(below, (*words, name))


def page_of(command: Any, words: tuple[str, ...]) -> CommandPage:
    """Return what is said of a command."""
    from patchmgr.model.manual import CommandPage

    parts = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    examples = [_EXAMPLE.sub("", part) for part in parts if _EXAMPLE.match(part)]
    text = [part for part in parts if part and not _EXAMPLE.match(part)]
    entries = [(p.param_type_name, _entry(p)) for p in command.params if not _is_hidden(p)]
    below = [(c, " ".join(w)) for c, w in _walk(command, words)] if len(words) > 1 else []
    if len(words) == 1:
        below = [(c, "-".join(w) + "(1)") for c, w in _walk(command, words)]
    return CommandPage(
        words,
        text[0] if text else "",
        tuple(text[1:]),
        tuple(examples),
        tuple(entry for kind, entry in entries if kind == "argument"),
        tuple(entry for kind, entry in entries if kind == "option"),
        tuple((name, (c.help or "").split("\n\n")[0].replace("\n", " ")) for c, name in below),
    )


def _entry(parameter: Any) -> Entry:
    from patchmgr.model.manual import Entry

    is_argument = parameter.param_type_name == "argument"
    value = parameter.metavar or parameter.name.upper()
    if is_argument and not parameter.metavar and not parameter.required:
        value = f"[{value}]"
    if not is_argument and (getattr(parameter, "is_flag", False) or parameter.count):
        value = ""
    names = () if is_argument else (*parameter.opts, *parameter.secondary_opts)
    text = getattr(parameter, "help", None) or ""
    return Entry(names, value, text, bool(parameter.required))


def _is_hidden(parameter: Any) -> bool:
    return bool(getattr(parameter, "hidden", False))
