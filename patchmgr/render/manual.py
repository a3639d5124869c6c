"""Render the manual: help topics for a terminal, and man pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from datetime import date
from textwrap import wrap
from typing import Any

from patchmgr.model.manual import BlockKind, CommandPage, PageBlock, ParameterHelp, Topic
from patchmgr.render.view import table

_ESCAPES = {
    "\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti", '"': r"\(dq",
}  # fmt: skip
_WIDTH = 78
_EXAMPLE = re.compile(r"Example: ")
_IN_MAIN = {"exit-codes": "EXIT STATUS", "environment": "ENVIRONMENT"}


def topics_text(topics: Sequence[Topic]) -> Iterator[str]:
    """Yield the list of topics, one per line, and the command that prints a topic."""
    yield "Topics:"
    yield from table([(f"  {topic.name}", topic.about) for topic in topics])
    yield from ("", "Read one with: patchmgr help TOPIC")


def skill_text(topic: Topic) -> str:
    """Return a topic as a skill file for an agent, with its name and subject as front matter."""
    about = json.dumps(f"patchmgr, {topic.name}: {topic.about}")
    return f"---\nname: patchmgr-{topic.name}\ndescription: {about}\n---\n\n{topic.text}"


def topic_text(topic: Topic) -> str:
    """Return a topic as plain text."""
    return f"{topic.name}: {topic.about}\n\n{topic.text}"


class Manual:
    """Makes the man pages of one version of patchmgr, all with the same date."""

    def __init__(self, version: str, day: date, *, first_line: str) -> None:
        self._source = f"patchmgr {version}"
        self._day = day.isoformat()
        self._first = first_line

    def main_page(self, page: CommandPage, topics: Sequence[Topic]) -> bytes:
        """Return the page patchmgr(1): options, commands, topics, exit codes and variables."""
        lines = self._head(page.name, 1, page.summary)
        lines += [".SH SYNOPSIS", r".B patchmgr", r"[\-C \fIDIR\fP] \fICOMMAND\fP ..."]
        lines += [".SH DESCRIPTION", *_paragraphs(page.text or (page.summary,))]
        lines += [".SH OPTIONS", *_entries(page.options)]
        lines += [".SH COMMANDS", *_pairs(page.below)]
        about = [(f"patchmgr-{topic.name}(7)", topic.about) for topic in topics]
        lines += [".SH TOPICS", *_pairs(about)]
        for topic in topics:
            if topic.name in _IN_MAIN:
                lines += [f".SH {_IN_MAIN[topic.name]}", *_blocks(topic.blocks)]
        return self._page(lines)

    def command_page(self, page: CommandPage) -> bytes:
        """Return the man page of a command or a group of commands."""
        lines = self._head(page.name, 1, page.summary)
        lines += [".SH SYNOPSIS", *_synopsis(page)]
        lines += [".SH DESCRIPTION", *_paragraphs((page.summary, *page.text))]
        for title, entries in (("ARGUMENTS", page.arguments), ("OPTIONS", page.options)):
            if entries:
                lines += [f".SH {title}", *_entries(entries)]
        if page.below:
            lines += [".SH COMMANDS", *_pairs(page.below)]
        if page.examples:
            lines += [".SH EXAMPLES", *_code("\n".join(page.examples), is_first=True)]
        lines += [".SH SEE ALSO", r".BR patchmgr (1)"]
        return self._page(lines)

    def topic_page(self, topic: Topic) -> bytes:
        """Return the man page of a topic."""
        name = f"patchmgr-{topic.name}"
        lines = [*self._head(name, 7, topic.about), ".SH DESCRIPTION", *_blocks(topic.blocks)]
        return self._page([*lines, ".SH SEE ALSO", r".BR patchmgr (1)"])

    def _head(self, name: str, section: int, summary: str) -> list[str]:
        title = _escaped(name.upper())
        return [
            f'.TH {title} {section} {self._day} "{_escaped(self._source)}" "patchmgr manual"',
            ".SH NAME",
            _wrapped(rf"{_escaped(name)} \- {_escaped(summary.rstrip('.'))}"),
        ]

    def _page(self, lines: Sequence[str]) -> bytes:
        return "".join(f"{line}\n" for line in (self._first, *lines)).encode("ascii")


def _synopsis(page: CommandPage) -> list[str]:
    needed = [o for o in page.options if o.is_needed]
    parts = [rf"\fB{_escaped(o.names[0])}\fP \fI{_escaped(o.value)}\fP" for o in needed]
    parts += [r"[\fIOPTIONS\fP]"] if page.options else []
    parts += [rf"\fI{_escaped(a.value)}\fP" for a in page.arguments]
    parts += [r"\fICOMMAND\fP ..."] if page.below else []
    return [f".B {_escaped(' '.join(page.words))}", " ".join(parts) or r"\&"]


def _entries(entries: Sequence[ParameterHelp]) -> Iterator[str]:
    for entry in entries:
        names = ", ".join(rf"\fB{_escaped(name)}\fP" for name in entry.names)
        value = rf"\fI{_escaped(entry.value)}\fP" if entry.value else ""
        shown = " ".join(part for part in (names, value) if part)
        yield from (".TP", shown, _inline(entry.text) or r"\&")


def _pairs(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    for name, text in pairs:
        yield from (".TP", rf"\fB{_escaped(name)}\fP", _inline(text))


def _paragraphs(texts: Sequence[str]) -> Iterator[str]:
    for number, text in enumerate(texts):
        if number:
            yield ".PP"
        yield _inline(text)


def _blocks(found: Sequence[PageBlock]) -> Iterator[str]:
    for number, block in enumerate(found):
        yield from _block(block, is_first=number == 0)


def _block(block: PageBlock, *, is_first: bool) -> list[str]:
    if block.kind is BlockKind.CODE:
        return _code(block.text, is_first=is_first)
    if block.kind is BlockKind.ITEM:
        return [r".IP \(bu 2", _inline(block.text)]
    return [*([] if is_first else [".PP"]), _inline(block.text)]


def _code(text: str, *, is_first: bool = False) -> list[str]:
    lines = [_started(_escaped(line)) for line in text.split("\n")]
    return [*([] if is_first else [".PP"]), ".RS 4", ".nf", *lines, ".fi", ".RE"]


def _inline(text: str) -> str:
    """Return a text as roff, with the parts between backticks in bold."""
    parts = re.split(r"`([^`]*)`", text)
    made = (rf"\fB{_escaped(p)}\fP" if at % 2 else _escaped(p) for at, p in enumerate(parts))
    return _wrapped("".join(made))


def _wrapped(text: str) -> str:
    lines = wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join(_started(line) for line in lines)


def _started(line: str) -> str:
    """Return a line escaped so that roff does not read it as a request."""
    return rf"\&{line}" if line[:1] in (".", "'", "") else line


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(c) or (c if c < "\x7f" else f"\\[u{ord(c):04X}]") for c in text)


def walk(command: Any, words: tuple[str, ...] = ("patchmgr",)) -> Iterator[tuple[Any, Any]]:
    """Yield each visible command below `command`, with the words that run it."""
    for name, below in getattr(command, "commands", {}).items():
        if not below.hidden:
            yield below, (*words, name)
            yield from walk(below, (*words, name))


def page_of(command: Any, words: tuple[str, ...]) -> CommandPage:
    """Return the content of a command's man page, from its typer declaration."""
    parts = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    examples = [_EXAMPLE.sub("", part) for part in parts if _EXAMPLE.match(part)]
    text = [part for part in parts if part and not _EXAMPLE.match(part)]
    shown = [p for p in command.params if not getattr(p, "hidden", False)]
    entries = [(p.param_type_name, _entry(p)) for p in shown]
    below = [(c, " ".join(w)) for c, w in walk(command, words)] if len(words) > 1 else []
    if len(words) == 1:
        below = [(c, "-".join(w) + "(1)") for c, w in walk(command, words)]
    return CommandPage(
        words,
        text[0] if text else "",
        tuple(text[1:]),
        tuple(examples),
        tuple(entry for kind, entry in entries if kind == "argument"),
        tuple(entry for kind, entry in entries if kind == "option"),
        tuple((name, (c.help or "").split("\n\n")[0].replace("\n", " ")) for c, name in below),
    )


def _entry(parameter: Any) -> ParameterHelp:
    is_argument = parameter.param_type_name == "argument"
    value = parameter.metavar or parameter.name.upper()
    if is_argument and not parameter.metavar and not parameter.required:
        value = f"[{value}]"
    if not is_argument and (getattr(parameter, "is_flag", False) or parameter.count):
        value = ""
    names = () if is_argument else (*parameter.opts, *parameter.secondary_opts)
    text = getattr(parameter, "help", None) or ""
    return ParameterHelp(names, value, text, bool(parameter.required))
