"""`refresh --interactive` and `split --interactive`: hunks by keys from a pipe."""

import io
import sys

import pytest

from patchmgr.engines.text.hunk_choice import Offer, choose, offers_of, with_taken
from tests.commands.conftest import Answer
from tests.commands.desks import Hands, made
from tests.commands.scenes import Stage, text
from tests.commands.test_refreshing import diff_of

EDITS = {"l10": "one\n", "l12": "two\n", "l40": "three\n"}


@pytest.fixture
def desk(stage: Stage) -> Hands:
    return made(stage, "choosing", {"one": {"pkg/a.py": text(**EDITS), "new": "new\n"}})


def typed(
    desk: Hands, keys: str, *line: str, monkeypatch: pytest.MonkeyPatch, code: int = 0
) -> Answer:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{key}\n" for key in keys)))
    return desk.run(*line, code=code)


def test_refresh_takes_the_chosen_hunks(desk: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    edited = text(**EDITS, l20="mine\n", l50="later\n")
    desk.write({"pkg/a.py": edited, "new": None})
    answer = typed(desk, "n?yn", "refresh", "-i", monkeypatch=monkeypatch)
    assert "s - split" not in answer.err
    assert "(2/3) Put this hunk into the top patch [y,n,a,d,q,?]? " in answer.err
    diff = diff_of(desk.raw("one.patch"))
    assert (b"+mine" in diff, b"+later" in diff, b"+new" in diff) == (True, False, True)
    assert desk.text("pkg/a.py") == edited
    assert not (desk.root / "new").exists()
    assert "later" in desk.run("changes").out


def test_split_takes_the_chosen_hunks(desk: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    before = desk.look()[0]
    line = ("split", "one", "two", "-p")
    typed(desk, "ysyn", *line, "--dry-run", monkeypatch=monkeypatch)
    assert desk.look()[0] == before
    typed(desk, "ysyn", *line, monkeypatch=monkeypatch)
    assert diff_of(desk.raw("two.patch")) == [b"+new", b"-line 10", b"+one"]
    assert diff_of(desk.raw("one.patch")) == [
        b"-line 12", b"+two", b"-line 40", b"+three"
    ]  # fmt: skip
    assert desk.text("pkg/a.py") == text(**EDITS)


@pytest.mark.parametrize("keys", ["yny", "na", "d", "snyq", "ssnyy", "yq"])
def test_keys_are_those_of_git(stage: Stage, keys: str) -> None:
    edited = text(**EDITS, l11="near\n", l50="later\n", l14="l\n")
    clone = stage.clone()
    (clone.root / "pkg/a.py").write_text(edited)
    lines = "".join(f"{key}\n" for key in keys)
    clone.git("-c", "diff.context=3", "add", "--patch", data=lines.encode())
    offers, left = offers_of("pkg/a.py", text().encode(), edited.encode()), iter(f"{keys}q")

    def ask(offer: Offer, number: int, total: int, known: str) -> str:
        return next(key for key in left if key in known)

    blocks = [block for offer in choose(offers, ask) for block in offer.blocks]
    taken = with_taken(offers[0].old, offers[0].new, blocks)
    assert clone.git("show", ":pkg/a.py") == taken.decode().strip()


def test_nothing_chosen_is_nothing_to_split(desk: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = typed(desk, "q", "split", "one", "two", "-i", monkeypatch=monkeypatch, code=2)
    assert "nothing to split" in answer.err
