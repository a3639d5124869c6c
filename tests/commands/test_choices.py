"""What a file in conflict becomes by what a person chose."""

from patchmgr.commands.resolve import content_of, edited, offered, opened_text, place_of, text_of
from patchmgr.engines.conflicts.work_order import regions_of
from patchmgr.model.outcome import FileConflict, Reliability, Suggestion
from patchmgr.model.resolving import Choice, ChoiceKind, Choices
from tests.tables import table

HEAD, MIDDLE, TAIL = b"head\n", b"between\n", b"tail\n"


def marked(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    return b"<<<<<<< ours\n%b||||||| base\n%b=======\n%b>>>>>>> theirs\n" % (ours, base, theirs)


FIRST, SECOND = marked(b"a\n", b"a1\n", b"a2\n"), marked(b"", b"b1\n", b"b2\n")
CANDIDATE = Suggestion(b"between\nb12\n", Reliability("rule"))
TWO = FileConflict(
    "", "f", "f", "", b"", b"", b"", HEAD + FIRST + MIDDLE + SECOND + TAIL,
    suggestions=((), (CANDIDATE,)),
)  # fmt: skip
GONE = FileConflict("", "f", "f", "", b"old\n", None, b"new\n", None)
OURS, THEIRS, BOTH = Choice(ChoiceKind.OURS), Choice(ChoiceKind.THEIRS), Choice(ChoiceKind.BOTH)
MINE = Choice(ChoiceKind.EDITED, 0, b"mine\n")


def chosen(*choices: Choice | None, file: FileConflict = TWO) -> Choices:
    ids = [one.id for one in regions_of(file)]
    return {name: one for name, one in zip(ids, choices, strict=True) if one is not None}


@table(
    "choice, text",
    {
        "ours": (OURS, b"b1\n"),
        "theirs": (THEIRS, b"b2\n"),
        "both": (BOTH, b"b1\nb2\n"),
        "both, the other way round": (Choice(ChoiceKind.BOTH_REVERSED), b"b2\nb1\n"),
        "an edit": (MINE, b"mine\n"),
        "a candidate without the text around": (offered(TWO, 1)[-1], b"b12\n"),
    },
)
def test_a_choice_is_a_text(choice: Choice, text: bytes) -> None:
    assert text_of(TWO, 1, choice) == text


@table(
    "choices, content",
    {
        "nothing": (chosen(None, None), TWO.marked),
        "one": (chosen(OURS, None), HEAD + b"a1\n" + MIDDLE + SECOND + TAIL),
        "all": (chosen(THEIRS, BOTH), HEAD + b"a2\n" + MIDDLE + b"b1\nb2\n" + TAIL),
        "of another file": ({"000000000000": OURS}, TWO.marked),
    },
)
def test_a_file_has_what_was_chosen_and_markers_elsewhere(choices: Choices, content: bytes) -> None:
    assert content_of(TWO, choices) == opened_text(TWO, 0, choices) == content


def test_a_file_in_conflict_as_a_whole_is_one_of_its_sides() -> None:
    assert [one.taken for one in offered(GONE, 0)] == [ChoiceKind.OURS, ChoiceKind.THEIRS]
    assert content_of(GONE, chosen(OURS, file=GONE)) is None
    assert content_of(GONE, chosen(THEIRS, file=GONE)) == b"new\n"
    assert opened_text(GONE, 0, {}) == opened_text(GONE, 0, chosen(OURS, file=GONE)) == b"new\n"
    assert edited(GONE, 0, {}, b"other\n") == Choice(ChoiceKind.EDITED, 0, b"other\n")


def test_a_place_is_the_file_around_a_region() -> None:
    place = place_of(TWO, 1, chosen(OURS, None))
    assert (place.before, place.text, place.behind) == (HEAD + b"a1\n" + MIDDLE, None, TAIL)
    place = place_of(TWO, 0, chosen(OURS, THEIRS))
    assert (place.before, place.text, place.behind) == (HEAD, b"a1\n", MIDDLE + b"b2\n" + TAIL)


@table(
    "content, choice",
    {
        "the region": (HEAD + FIRST + MIDDLE + b"mine\n" + TAIL, MINE),
        "nothing of it": (HEAD + FIRST + MIDDLE + TAIL, Choice(ChoiceKind.EDITED, 0, b"")),
        "the line before": (HEAD + FIRST + b"other\nmine\n" + TAIL, None),
        "the line behind": (HEAD + FIRST + MIDDLE + b"mine\n", None),
        "the other region": (HEAD + b"a1\n" + MIDDLE + b"mine\n" + TAIL, None),
        "less than what is around": (b"tail\n", None),
    },
)
def test_an_edit_is_of_the_region_alone(content: bytes, choice: Choice | None) -> None:
    assert edited(TWO, 1, {}, content) == choice


def test_a_line_feed_that_an_editor_adds_is_no_edit() -> None:
    file = FileConflict("", "f", "f", "", b"", b"", b"", HEAD + FIRST + b"end")
    assert edited(file, 0, {}, HEAD + b"mine\nend\n") == MINE
