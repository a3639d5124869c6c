"""The full-screen view of `resolve`, built with Textual."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rich.text import Text
from textual.app import App, ComposeResult
from textual.containers import Container, VerticalScroll
from textual.events import Key, Print, Resize
from textual.widgets import Input, Static

from patchmgr.commands.resolve import SLOW, Keys, Resolver
from patchmgr.model.outcome import Verdict
from patchmgr.render.escape import clean, cut
from patchmgr.render.resolving import Pane, about_lines, key_lines, list_rows

_MOST_PANES = 12
_WIDE = 110  # columns; from this width on, the texts are shown side by side
_LIST = 36  # columns; the width of the list in that case
_STYLES = {
    Verdict.CONFLICT: "bold red",
    Verdict.BLOCKED: "red",
    Verdict.MODIFIED: "yellow",
    Verdict.PARTIAL: "yellow",
    Verdict.ABSORBED: "cyan",
    Verdict.UNCHANGED: "green",
}


class ResolverApp(App[None]):
    """The screen of `resolve`: the patches, a conflict, the last messages, and the keys."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [("ctrl+c", "quit", "Quit")]  # noqa: RUF012 - a class attribute for textual
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")]  # noqa: RUF012
    CSS = f"""
    #body {{ height: 1fr; layout: vertical; }}
    .-wide #body {{ layout: horizontal; }}
    #patches {{ height: auto; max-height: 5; border-bottom: solid $primary; }}
    .-wide #patches {{
        width: {_LIST}; height: 1fr; max-height: 100%; border-bottom: none;
        border-right: solid $primary;
    }}
    #work {{ height: 1fr; width: 1fr; }}
    #sides {{ layout: grid; grid-size: 1; grid-rows: auto; height: auto; }}
    .-wide #sides {{ grid-size: 3; }}
    .-wide .pane {{ padding: 0 1 1 0; }}
    #notes {{ height: auto; max-height: 7; border-top: solid $primary; }}
    #answer {{ display: none; }}
    Static {{ height: auto; }}
    """

    def __init__(self, resolver: Resolver) -> None:
        super().__init__()
        self.resolver = resolver
        self._is_busy = False
        resolver.attend = self._attend

    def compose(self) -> ComposeResult:
        """Yield the widgets of the screen; `_show` fills them after each key."""
        with Container(id="body"):
            with VerticalScroll(id="patches", can_focus=False):
                yield Static(id="list")
            with VerticalScroll(id="work"):
                yield Static(id="about")
                with Container(id="sides"):
                    yield from (Static(classes="pane") for _ in range(_MOST_PANES))
                yield Static(id="result")
        with VerticalScroll(id="notes", can_focus=False):
            yield Static(id="told")
        yield Input(id="answer", compact=True)
        yield Static(id="keys")

    def on_mount(self) -> None:
        """Show the first conflict, and focus its texts so that arrow keys scroll them."""
        self.begin_capture_print(self)
        self.query_one("#work").focus()
        self._show()

    def on_resize(self, event: Resize) -> None:
        """Redraw the screen at its new width, which is not known before this event."""
        self.call_later(self._show)

    def on_print(self, event: Print) -> None:
        """Show each text that is printed during slow work as a message on the screen."""
        if event.text.strip() and not event.text.startswith("\r"):  # a bar redraws itself
            self._say([*self.resolver.told, event.text.strip()])

    def on_key(self, event: Key) -> None:
        """Pass a key to the resolver; before slow work, show a message."""
        if isinstance(self.focused, Input) or self._is_busy or event.character is None:
            return
        key = event.character
        if not key.isprintable():
            return
        event.stop()
        if key in SLOW:
            self._begin(SLOW[key], lambda: self.resolver.press(key))
        else:
            self.resolver.press(key)
            self._after()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Pass the submitted line to the resolver."""
        self.query_one("#work").focus()
        self._begin("Checking …", lambda: self.resolver.answer(event.value))

    def _begin(self, words: str, work: Callable[[], None]) -> None:
        self._is_busy = True
        self._say([words])
        self.call_after_refresh(self._do, work)

    def _do(self, work: Callable[[], None]) -> None:
        work()
        self._after()
        self.call_later(self._end)

    def _end(self) -> None:
        self._is_busy = False  # keys pressed in the meantime are ignored

    def _attend(self, run: Callable[[], bytes]) -> bytes:
        with self.suspend():
            return run()

    def _after(self) -> None:
        if self.resolver.is_over:
            self.exit()
        else:
            self._show()

    def _say(self, lines: Iterable[str]) -> None:
        shown = [clean(line) for line in lines]
        self.query_one("#told", Static).update(Text("\n".join(shown)))
        self.query_one("#notes").display = bool(shown)

    def _show(self) -> None:
        resolver, state = self.resolver, self.resolver.state
        self._show_list()
        panes = resolver.panes() if state.conflicts else ()
        about = list(about_lines(state)) if state.conflicts else ["No conflict is left."]
        self.query_one("#about", Static).update(Text("\n".join(about)))
        for place, static in enumerate(self.query(".pane").results(Static)):
            static.display = place < len(panes)
            if place < len(panes):
                static.update(_pane_text(panes[place]))
        result = resolver.result_pane()
        self.query_one("#result").display = result is not None
        if result is not None:
            self.query_one("#result", Static).update(_pane_text(result))
        self._say([*resolver.told, *([resolver.asks] if resolver.asks else [])])
        answer = self.query_one("#answer", Input)
        answer.display = bool(resolver.asks)
        if resolver.asks:
            answer.value = ""
            answer.focus()
        keys = [*resolver.keys(), Keys("↑↓", "scroll")]
        if resolver.asks:
            keys = [Keys("⏎", "confirm; an empty line cancels")]
        lines = key_lines(keys, self.size.width)
        self.query_one("#keys", Static).update(Text("\n".join(lines), style="reverse"))

    def _show_list(self) -> None:
        width = _LIST - 3 if self.size.width >= _WIDE else self.size.width - 2
        text, at = Text(), 0
        for number, row in enumerate(list_rows(self.resolver.outcomes, self.resolver.state)):
            style = "reverse" if row.is_here else ""
            style = _STYLES.get(row.verdict, style) if row.verdict is not None else style
            text.append(f"{cut(row.text, width)}\n", style=style)
            at = number if row.is_here else at
        self.query_one("#list", Static).update(text)
        self.query_one("#patches").scroll_to(y=max(0, at - 2), animate=False)


def _pane_text(pane: Pane) -> Text:
    text = Text()
    text.append(
        f"{'● ' if pane.is_chosen else ''}{pane.title}\n",
        style="bold reverse" if pane.is_chosen else "bold underline",
    )
    for is_new, line in pane.lines:
        text.append(f"{'+' if is_new else ' '} {line}\n", style="green" if is_new else "")
    text.rstrip()
    return text


def run_app(resolver: Resolver) -> None:
    """Run the full-screen view until the rebase is finished or the user quits."""
    ResolverApp(resolver).run()
