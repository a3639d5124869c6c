"""The output of `--help` and `help`: grouped commands, usage lines as in git, and topics."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from inspect import getdoc
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from patchmgr import __version__, commands, render
from patchmgr.cli.root import (
    Given,
    answer,
    argument,
    common_options,
    never_with,
    only_with,
    option,
    say,
    show,
    takes,
)
from patchmgr.errors import UsageError

GROUPS = {
    "Start a workspace": "init upstream series import status",
    "Carry series to a newer upstream": "plan forecast rebase sync notes",
    "Resolve conflicts": "conflicts resolve mergetool decide mcp",
    "Publish": "branch export report diff why",
    "Check": "check audit doctor",
    "Apply to a checkout or an installed package": "apply unapply verify overlay wheel",
    "Work on patches in a checkout": ("new refresh push pop goto edit rename drop move fold split"),
    "Look at patches in a checkout": "show changes files applied unapplied top next prev",
    "Undo and redo": "log undo redo",
    "Merge without a series": "merge-file merge-driver",
    "Help": "help",
}
_EXAMPLE = "Example: "
_MORE = "For more about a command: patchmgr COMMAND --help. For topics: patchmgr help."


class _Helped:
    """A mixin that gives commands a help page with a plain usage line, and examples to copy."""

    help: str | None
    params: list[Any]

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, without loading pydantic to convert their values."""
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # a mixin
        _spare_pydantic(found)
        return found

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        pieces = ["[OPTIONS]", *(_argument(p) for p in self.params if _is_argument(p))]
        pieces += ["COMMAND ..."] if isinstance(self, TyperGroup) else []
        formatter.write_usage(command_line(ctx), " ".join(pieces))

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write the description of the command, then its examples."""
        parts = [" ".join(part.split()) for part in (self.help or "").split("\n\n")]
        for part in parts:
            if part and not part.startswith(_EXAMPLE):
                formatter.write_paragraph()
                with formatter.indentation():
                    formatter.write_text(part)
        examples = [part.removeprefix(_EXAMPLE) for part in parts if part.startswith(_EXAMPLE)]
        if examples:
            with formatter.section("Examples" if len(examples) > 1 else "Example"):
                formatter.write("".join(f"  {example}\n" for example in examples))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments with a description, the options and, in a group, the commands."""
        known = self.get_params(ctx)
        arguments = [(_argument(p), p.help) for p in known if _is_argument(p) and p.help]
        rows = [p.get_help_record(ctx) for p in known if not _is_argument(p)]
        for title, found in (("Arguments", arguments), ("Options", [r for r in rows if r])):
            if found:
                with formatter.section(title):
                    formatter.write_dl(found)
        if isinstance(self, TyperGroup):
            self.format_commands(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, and record the command for the hints in usage errors."""
        Given.line = command_line(ctx)
        return super().parse_args(ctx, args)  # type: ignore[misc, no-any-return]  # a mixin


def _spare_pydantic(parameters: Iterable[Any]) -> None:
    """Make parameters pass strings and paths to the command without loading pydantic.

    typer 0.29 loads pydantic to convert them. If another version of typer builds its parameters
    differently, nothing is changed.
    """
    for parameter in parameters:
        if getattr(parameter, "_runtime_param", ...) is None:
            parameter._runtime_param = _Late(parameter)


class _Late:
    """A converter of parameter values that loads typer's converter only if it is needed.

    Strings and paths do not need it.
    """

    def __init__(self, parameter: Any) -> None:
        self._parameter = parameter

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a parameter's value, converted to the type that the command declares."""
        is_many = param.multiple or param.nargs == -1
        if value is None:
            return () if is_many else None
        kind, is_plain = param.type_descriptor.annotation, _is_plain(param)
        if is_plain and kind is str and isinstance(value, str):
            return value
        if is_plain and kind == list[str] and is_many and not isinstance(value, str):
            return list(value)
        if is_plain and kind is Path and isinstance(value, str) and _is_free(value):
            return Path(value)
        self._parameter._runtime_param = None
        return self._parameter.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _is_plain(parameter: Any) -> bool:
    """Return whether a parameter takes a value as it is typed, without a check by typer."""
    info = parameter.type_descriptor.parameter_info
    wishes = ("parser", "click_type", "exists", "resolve_path", "writable", "path_type")
    return not any(getattr(info, wish, None) for wish in wishes)


def _is_free(path: str) -> bool:
    """Return whether a path is missing or readable, as typer requires."""
    return os.access(path, os.R_OK) or not os.path.lexists(path)


class Command(_Helped, TyperCommand):
    """A command with the help format of this module, and with the options that `takes` names."""

    def __init__(self, *arguments: Any, **given: Any) -> None:
        shared = [common_options()[name] for name in getattr(given["callback"], "takes", ())]
        super().__init__(*arguments, **{**given, "params": [*given["params"], *shared]})


class Group(_Helped, TyperGroup):
    """A group of commands, with the help format of this module.

    In the help of the program itself, commands are listed by purpose.
    """

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one line per visible command."""
        commands: Any = self.commands
        shown = dict(commands.outlines())
        groups = [("Commands", tuple(shown))] if ctx.parent else list(_grouped(shown))
        wide = max(map(len, shown), default=0)
        room = formatter.width - wide - 4
        for title, names in groups:
            with formatter.section(title):
                for name in names:
                    about = shown[name].get_short_help_str(room)
                    formatter.write(f"  {name.ljust(wide)}  {about}\n")
        if ctx.parent is None:
            formatter.write_paragraph()
            formatter.write_text(_MORE)


class Verbs(Mapping[str, Any]):
    """The commands of a group, each built when first needed, as building all takes 0.1 s.

    `verbs` maps names to functions or to groups. The help does not list the names in `hidden`.
    """

    def __init__(self, verbs: Mapping[str, Any], hidden: Container[str] = ()) -> None:
        self._verbs, self._hidden = verbs, hidden
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        verb = self._verbs[name]
        if name not in self._built and isinstance(verb, TyperGroup):
            self._built[name] = verb
        elif name not in self._built:
            app = typer.Typer(
                add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
            )
            app.command(name, cls=Command, hidden=name in self._hidden)(verb)
            self._built[name] = typer.main.get_command(app)
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._verbs)

    def __len__(self) -> int:
        return len(self._verbs)

    def outlines(self) -> Iterator[tuple[str, Any]]:
        """Yield each visible command: its name, and the command itself without its parameters."""
        for name, verb in self._verbs.items():
            if name not in self._hidden:
                is_group = isinstance(verb, TyperGroup)
                yield name, verb if is_group else TyperCommand(name, help=getdoc(verb))


def _grouped(names: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (title, names) for each group that contains some of `names`.

    Names that are in no group come last.
    """
    left = dict.fromkeys(names)
    for title, members in GROUPS.items():
        found = tuple(name for name in members.split() if name in left)
        for name in found:
            del left[name]
        if found:
            yield title, found
    if left:
        yield "More", tuple(left)


def command_line(ctx: Any) -> str:
    """Return the words that a user types to run a command, beginning with `patchmgr`."""
    words: list[str] = []
    while ctx.parent is not None:
        words.insert(0, ctx.info_name or "")
        ctx = ctx.parent
    return " ".join(("patchmgr", *words))


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _argument(parameter: Any) -> str:
    """Return an argument as the usage line shows it, in square brackets if it is optional."""
    name = parameter.metavar or parameter.name.upper()
    is_bare = re.fullmatch(r"\w+", name) and not parameter.required
    return f"[{name}]" if is_bare else str(name)


@takes("json")
def help_(
    context: typer.Context,
    topic: Annotated[list[str] | None, argument("[TOPIC]...", "A topic or a command.")] = None,
    man: Annotated[Path | None, option("--man DIR", "Write the man pages to this folder.")] = None,
    skill: Annotated[
        bool, option("--skill", "Print a topic as a skill file for an agent.")
    ] = False,
) -> None:
    """Explain a topic or a command, or list the topics.

    Example: patchmgr help conflicts

    Example: patchmgr help --man ~/.local/share/man/man1

    Example: patchmgr help agents --skill
    """
    never_with("--man", man, {"TOPIC": topic, "--json": Given.wants_json})
    only_with("TOPIC", topic, {"--skill": skill})
    if man is not None:
        _write_manual(_root(), man)
        return
    if not topic:
        every = commands.help.topics()
        values = [{"name": one.name, "about": one.about} for one in every]
        answer({"topics": values}, render.manual.topics_text(every))
        return
    known = {
        " ".join(words[1:]): (command, words) for command, words in render.manual.walk(_root())
    }
    found = commands.help.find_topic(" ".join(topic), sorted(known))
    if found is not None:
        if skill:
            show(render.manual.skill_text(found))
            return
        value = {"name": found.name, "about": found.about, "text": found.text}
        answer({"topic": value}, render.manual.topic_text(found))
        return
    if Given.wants_json or skill:
        raise UsageError("--json and --skill need a topic; for a command, use --help")
    command, words = known[" ".join(topic)]
    with type(context)(command, info_name=" ".join(words[1:]), parent=context.find_root()) as below:
        show(command.get_help(below) + "\n")


def _root() -> Any:
    """Build and return all commands; a normal run builds only the command that it needs."""
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
    say(f"Wrote {len(pages)} pages to {folder}")
