"""`resolve`: resolve the conflicts of a rebase in progress interactively, at the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from msgspec import Struct, field

from patchmgr.commands.conflicts import forget_conflict
from patchmgr.commands.propose import accept_anyway, resolve_if_passed, user_name
from patchmgr.commands.rebase import (
    RebaseResult,
    continue_rebase,
    require_in_progress,
    skip_patch,
)
from patchmgr.engines.conflicts.ids import conflict_id, region_id
from patchmgr.engines.conflicts.work_order import in_place
from patchmgr.engines.text.marked import split_marked
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.shown import shown
from patchmgr.model.outcome import FileConflict, SeriesOutcome
from patchmgr.model.resolving import Choice, ChoiceKind, Choices, InFile, Resolving
from patchmgr.plumbing.durable import writes
from patchmgr.plumbing.programs import edited_text
from patchmgr.render.resolving import Pane, panes, result_pane
from patchmgr.services.decisions import accept_finding, forget_finding
from patchmgr.services.session import Session
from patchmgr.services.work_area import CHOICES, read_in_progress
from patchmgr.services.work_orders import open_conflicts

_SIDES = {
    "o": (ChoiceKind.OURS, "ours"),
    "t": (ChoiceKind.THEIRS, "theirs"),
    "b": (ChoiceKind.BOTH, "both"),
    "B": (ChoiceKind.BOTH_REVERSED, "both, theirs first"),
}
SLOW = {"a": "Checking …", "c": "Rebasing the series …"}
"""The messages that are shown while slow actions run, keyed by the key of the action."""


class _Kept(Struct, frozen=True):
    """Choices that are not accepted yet, saved for the next run of `resolve`."""

    choices: dict[str, Choice] = field(default_factory=dict)
    left_out: tuple[tuple[str, str], ...] = ()
    # by id of a region: an edited file with changes outside the region, too
    drafts: dict[str, bytes] = field(default_factory=dict)


class Keys(Struct, frozen=True):
    """A group of keys with the same kind of action."""

    names: str  # one character for each key
    words: str  # what the action is


class Resolver:
    """The state of `resolve`: the conflicts of a rebase in progress, and the action of each key."""

    def __init__(self, session: Session, series: str | None) -> None:
        self.session, self.series = session, series
        # runs a program that needs the terminal, such as an editor
        self.attend: Callable[[Callable[[], bytes]], bytes] = lambda run: run()
        self.state, self.drafts = Resolving(), dict[str, bytes]()
        self.outcomes: tuple[SeriesOutcome, ...] = ()
        # messages about the last key, and a question to the user, if any, for `answer`
        self.told: tuple[str, ...] = ()
        self.asks = ""
        # of the continued rebase; None if the user quit
        self.result: RebaseResult | None = None
        self.is_over = False
        self._load()

    def _load(self) -> None:
        workspace = self.session.workspace
        in_progress = read_in_progress(workspace)
        if self.series is not None:
            workspace.series_record(self.series)
        if in_progress is None or self.series not in (None, *in_progress.series):
            what = "" if in_progress is None else f" of {shown(str(self.series))}"
            hint = "start a rebase with: patchmgr rebase SERIES --onto REF"
            raise UsageError(f"no rebase{what} is in progress here", hint)
        names = [self.series] if self.series else in_progress.series
        found = [open_conflicts(self.session, in_progress, name) for name in names]
        kept = workspace.kept(CHOICES, _Kept) or _Kept()
        conflicts = tuple(one for _, each in found for one in each)
        patches = {one.patch for one in conflicts}
        left_out = tuple(one for one in kept.left_out if one in patches)
        self.outcomes, self.drafts = tuple(outcome for outcome, _ in found), dict(kept.drafts)
        state = Resolving(conflicts, kept.choices, left_out=left_out)
        self.state = state.at_next_left()

    def keys(self) -> Iterator[Keys]:
        """Yield the keys that are active now."""
        state = self.state
        if state.conflicts:
            yield from self._choosing()
            if len(state.places) > len(state.conflicts):
                yield Keys("jk", "next, previous region")
            if len(state.conflicts) > 1:
                yield Keys("np", "next, previous conflict")
        yield from [] if state.before is None else [Keys("u", "undo")]
        yield from [] if state.left else [Keys("c", "continue the rebase")]
        yield Keys("q", "quit")

    def _choosing(self) -> Iterator[Keys]:
        state, one = self.state, self.state.conflict
        if one.order.id not in state.accepted:
            if one.file is not None and one.patch not in state.left_out:
                known = {choice.taken for choice in self.offered()}
                yield from (
                    Keys(key, told) for key, (taken, told) in _SIDES.items() if taken in known
                )
                last = sum(choice.taken is ChoiceKind.CANDIDATE for choice in self.offered())
                yield from [Keys("123456789"[:last], "candidate")] if last else []
                yield Keys("e", "edit")
                yield Keys("a", "accept")
            if one.patch not in state.left_out:
                yield Keys("r", "accept with a reason")
            is_out = one.patch in state.left_out
            yield Keys("s", "do not skip the patch" if is_out else "skip the patch")

    def offered(self) -> tuple[Choice, ...]:
        """Return the texts that the user can choose for the current region; none for a finding."""
        file = self.state.conflict.file
        return () if file is None else offered(file, self.state.region)

    def panes(self) -> tuple[Pane, ...]:
        """Return the texts of the current region, to be displayed side by side."""
        regions = self.state.conflict.order.regions
        return panes(regions[self.state.region], self.state.choice) if regions else ()

    def result_pane(self) -> Pane | None:
        """Return the resolved text of the current region within its file, or None for a finding."""
        state = self.state
        if not state.conflicts or state.conflict.file is None:
            return None
        place = place_of(state.conflict.file, state.region, state.choices)
        return result_pane(state.conflict.order.regions[state.region], state.choice, place)

    def press(self, key: str) -> None:
        """Perform the action of a key, and set `told` to messages about the result."""
        self.told, self.asks = (), ""
        if not any(key in one.names for one in self.keys()):
            self.told = (f"{shown(key)} has no effect here",)
            return
        try:
            self._press(key)
        except PatchmgrError as fault:
            self.told = (fault.message, *fault.hints)

    def _press(self, key: str) -> None:
        if key in "np":
            self.state = self.state.moved(1 if key == "n" else -1, is_conflict=True)
        elif key in "jk":
            self.state = self.state.moved(1 if key == "j" else -1, is_conflict=False)
        elif key in _SIDES:
            self._choose(Choice(_SIDES[key][0]))
        elif key.isdigit():
            candidates = [one for one in self.offered() if one.taken is ChoiceKind.CANDIDATE]
            self._choose(candidates[int(key) - 1])
        elif key == "r":
            self._refuse_open()
            self.asks = "Why accept it? "
        elif key == "q":
            self.is_over = True
        else:
            {"e": self._edit, "a": self._accept, "s": self._leave_out, "u": self._undo,
             "c": self._go_on}[key]()  # fmt: skip

    def _choose(self, choice: Choice) -> None:
        self.state = self.state.chosen(choice)
        self._keep()

    def _keep(self) -> None:
        """Save the choices, in case the program is killed."""
        if not self.session.is_dry_run:
            require_in_progress(self.session)  # another terminal may have ended the rebase
            kept = _Kept(dict(self.state.choices), self.state.left_out, self.drafts)
            with writes(CHOICES, left="your choices are not saved"):
                self.session.workspace.keep(CHOICES, kept)

    def _edit(self) -> None:
        state, one = self.state, self.state.conflict
        assert one.file is not None and state.name is not None
        at = one.file, state.region, state.choices
        begun = self.drafts.pop(state.name, None) or opened_text(*at)
        name = PurePosixPath(one.order.new_path).name
        content = self.attend(lambda: edited_text(begun, name=name))
        choice = edited(*at, content)
        if choice is not None and choice.text != place_of(*at).text:
            self._choose(choice)
            return
        if choice is None:
            self.drafts[state.name] = content
            self.told = (
                "the text is not accepted, because lines outside the region were changed",
                "your text is kept; press e to open it again",
            )
        self._keep()

    def _refuse_open(self) -> None:
        left = self.state.open_regions(self.state.conflict)
        if left:
            where = ", ".join(str(number + 1) for number in left)
            of = len(self.state.conflict.order.regions)
            raise UsageError(
                "nothing is chosen yet" if of == 1 else f"nothing is chosen for region {where}"
            )

    def _accept(self) -> None:
        """Run all checks on the file, and record the resolution if it passes."""
        self._refuse_open()
        state, name, by = self.state, self.state.conflict.order.id, user_name(self.session)
        given = lambda file: content_of(file, state.choices)  # noqa: E731
        made = resolve_if_passed(self.session, name, given, by=by, who=by)
        if made.has_passed:
            self._note("passes every check")
            return
        told = (f"{one.check}: {one.text}" for one in made.failures)
        self.told = (
            "the text fails these checks:",
            *told,
            "change the text, or press r to accept it with a reason",
        )

    def answer(self, text: str) -> None:
        """Accept the current resolution or finding; `text` is the reason, and must not be blank."""
        self.asks, self.told = "", ("not accepted, because no reason was given",)
        if not text.strip():
            return
        state, one = self.state, self.state.conflict
        try:
            if one.file is None:
                accept_finding(self.session, one.order.id, because=text)
            else:
                given = lambda file: content_of(file, state.choices)  # noqa: E731
                by = user_name(self.session)
                accept_anyway(self.session, one.order.id, given, by=by, because=text)
            self._note("is accepted, with your reason")
        except PatchmgrError as fault:
            self.told = (fault.message, *fault.hints)

    def _note(self, words: str) -> None:
        path = shown(self.state.conflict.order.new_path)
        self.state = self.state.with_accepted()
        left = len(self.state.left)
        more = f"{left} left" if left else "no conflict is left; press c to continue the rebase"
        self.told = (f"{path} {words}; {more}",)

    def _leave_out(self) -> None:
        patch = self.state.conflict.patch
        self.state = self.state.with_left_out()
        how = (
            "left out when the rebase continues" if patch in self.state.left_out else "not left out"
        )
        self.told = (f"{shown(patch[1])} is {how}",)
        self._keep()

    def _undo(self) -> None:
        before, now = self.state.undone(), self.state
        for one in now.conflicts if not self.session.is_dry_run else ():
            if one.order.id in now.accepted and one.order.id not in before.accepted:
                forget = forget_finding if one.file is None else forget_conflict
                for name in [each.id for each in one.order.regions] or [one.order.id]:
                    forget(self.session, name)
        self.state = before
        self._keep()

    def _go_on(self) -> None:
        """Continue the rebase, and load the remaining conflicts."""
        skipped = self.state.left_out
        self.result = (
            skip_patch(self.session, skipped) if skipped else continue_rebase(self.session)
        )
        self.is_over = self.session.is_dry_run or not self.result.has_conflicts
        if not self.is_over:
            self._load()
            self.is_over = not self.state.conflicts
            self.told = (f"continued; conflicts left: {len(self.state.left)}",)


_SIDES_OF = {
    ChoiceKind.OURS: ("ours",),
    ChoiceKind.THEIRS: ("theirs",),
    ChoiceKind.BOTH: ("ours", "theirs"),
    ChoiceKind.BOTH_REVERSED: ("theirs", "ours"),
}


def offered(file: FileConflict, number: int) -> tuple[Choice, ...]:
    """Return the choices for a region of a conflict: ours, theirs, both, and the suggestions."""
    sides = (Choice(ChoiceKind.OURS), Choice(ChoiceKind.THEIRS))
    if file.marked is None:
        return sides
    known = file.suggestions[number] if number < len(file.suggestions) else ()
    split = split_marked(file.marked)
    candidates = (
        Choice(ChoiceKind.CANDIDATE, place, in_place(split, number, one.text))
        for place, one in enumerate(known, 1)
    )
    return (*sides, Choice(ChoiceKind.BOTH), Choice(ChoiceKind.BOTH_REVERSED), *candidates)


def text_of(file: FileConflict, number: int, choice: Choice) -> bytes | None:
    """Return the text that a choice gives a region, or None if the file is deleted."""
    if choice.taken in (ChoiceKind.EDITED, ChoiceKind.CANDIDATE):
        return choice.text
    if file.marked is None:
        return file.ours if choice.taken is ChoiceKind.OURS else file.theirs
    region = split_marked(file.marked).regions[number].region
    return b"".join(getattr(region, side) for side in _SIDES_OF[choice.taken])


def content_of(file: FileConflict, choices: Choices) -> bytes | None:
    """Return a file with the chosen texts, or markers where none is chosen; None to delete it."""
    if file.marked is None:
        name = conflict_id(file.base, file.ours, file.theirs, None)
        return text_of(file, 0, choices[name])
    return split_marked(file.marked).with_each(tuple(_parts(file, choices)))


def _parts(file: FileConflict, choices: Choices) -> list[bytes]:
    assert file.marked is not None
    found = list[bytes]()
    for number, one in enumerate(split_marked(file.marked).regions):
        choice = choices.get(region_id(*one.region.sides))
        found.append(one.raw if choice is None else text_of(file, number, choice) or b"")
    return found


def place_of(file: FileConflict, number: int, choices: Choices) -> InFile:
    """Return the text before a region, the text chosen for it (or None), and the text after it."""
    if file.marked is None:
        choice = choices.get(conflict_id(file.base, file.ours, file.theirs, None))
        return InFile(b"", None if choice is None else text_of(file, 0, choice), b"")
    split, parts = split_marked(file.marked), _parts(file, choices)
    before = [text + part for text, part in zip(split.texts, parts, strict=False)]
    behind = [part + text for part, text in zip(parts, split.texts[1:], strict=True)]
    has_choice = region_id(*split.regions[number].region.sides) in choices
    return InFile(
        b"".join(before[:number]) + split.texts[number],
        parts[number] if has_choice else None,
        split.texts[number + 1] + b"".join(behind[number + 1 :]),
    )


def opened_text(file: FileConflict, number: int, choices: Choices) -> bytes:
    """Return the text to open in an editor; regions without a choice have conflict markers."""
    if file.marked is not None:
        return content_of(file, choices) or b""
    text = place_of(file, number, choices).text
    sides = (text, file.theirs, file.ours, file.base)
    return next((side for side in sides if side is not None), b"")


def edited(file: FileConflict, number: int, choices: Choices, content: bytes) -> Choice | None:
    """Return the choice for one region from an edited file, or None if other lines changed, too."""
    place = place_of(file, number, choices)
    if not place.behind.endswith(b"\n") and not opened_text(file, number, choices).endswith(b"\n"):
        content = content.removesuffix(b"\n")  # editors add a line feed at the end
    has_room = len(content) >= len(place.before) + len(place.behind)
    if not (has_room and content.startswith(place.before) and content.endswith(place.behind)):
        return None
    return Choice(
        ChoiceKind.EDITED, 0, content[len(place.before) : len(content) - len(place.behind)]
    )
