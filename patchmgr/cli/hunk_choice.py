"""Ask for each hunk whether to take it, as `git add --patch` does; answers may come from a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from patchmgr import render
from patchmgr.cli.root import say, say_raw, wants_color

if TYPE_CHECKING:
    from patchmgr.engines.text.hunk_choice import Chooser, Offer

_HELP = (
    ("y", "put this hunk into {0}"),
    ("n", "do not put this hunk into {0}"),
    ("q", "quit; put neither this hunk nor any remaining hunk into {0}"),
    ("a", "put this hunk and all later hunks of the file into {0}"),
    ("d", "put neither this hunk nor any later hunk of the file into {0}"),
    ("s", "split this hunk into smaller hunks"),
    ("?", "print help"),
)


def chooser(into: str) -> Chooser:
    """Return a function that asks which hunks to put into the patch named `into`.

    For each question, the function reads one line from standard input.
    """
    from patchmgr.engines.text.hunk_choice import choose

    shown: list[str] = []

    def ask(offer: Offer, number: int, total: int, keys: str) -> str:
        if shown[-1:] != [offer.path]:
            shown.append(offer.path)
            say_raw(_painted(f"--- {render.escape.clean(offer.path)}"))
        say_raw(*(_painted(line) for line in render.rebase.content_lines(b"".join(offer.lines()))))
        prompt = f"({number}/{total}) Put this hunk into {into} [{','.join(keys)},?]? "
        while True:
            sys.stderr.write(prompt)
            sys.stderr.flush()
            line = sys.stdin.readline()
            key = line.strip().lower()[:1] if line else "q"
            if key and key in keys:
                return key
            for name, words in _HELP:
                if name in f"{keys}?":
                    say(f"{name} - {words.format(into)}")

    return lambda offers: choose(offers, ask)


def _painted(line: str) -> str:
    return render.rebase.painted_line(line, color=sys.stderr.isatty() and wants_color())
