"""`help`: topics, commands, and man pages made of both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from patchmgr import __version__, commands, render
from patchmgr.cli.root import Json, answer, say, show
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
    if not topic:
        every = commands.help.topics()
        values = [{"name": one.name, "about": one.about} for one in every]
        answer("help", None, render.manual.topics_text(every), topics=values)
        return
    known = {" ".join(words[1:]): (command, words) for command, words in _walk(_root())}
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
    pages["patchmgr.1"] = manual.main_page(page_of(root, ("patchmgr",)), commands.help.topics())
    for command, words in _walk(root):
        page = page_of(command, words)
        pages[f"{page.name}.1"] = manual.command_page(page)
    commands.help.write_pages(folder, pages)
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
