"""What audit and ledger found is kept, and asked for by all that it depends on."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from patchmgr.engines.audit.states import LACKS, AuditedPatch, Files, States, Told
from patchmgr.engines.series.fold import Overlay
from patchmgr.model.audit import AuditFinding
from patchmgr.model.snapshot import REGULAR, Entry
from patchmgr.plumbing.history import GitHistory, KnownHistory
from patchmgr.plumbing.objects import StoredTree
from patchmgr.services.carry import Auditor
from tests.engines.ports import MemoryBlobs, MemoryTree
from tests.tables import table

FOUND = ("a.patch", AuditFinding("removed", True, "a.py", 3, "f", "gone", "c" * 40, "g"))
MODE = REGULAR


class Known:
    """Answers in memory, as JSON has them."""

    def __init__(self) -> None:
        self._known: dict[tuple[str | bytes, ...], str] = {}

    def get(self, question: Iterable[str | bytes]) -> list[Any] | None:
        found = self._known.get(tuple(question))
        return None if found is None else [json.loads(found)]

    def put(self, question: Iterable[str | bytes], answer: Any) -> None:
        self._known[tuple(question)] = json.dumps(answer)


class Tree(MemoryTree):
    id = "t" * 40


class NoHistory:
    def steps(self, paths: object) -> tuple[()]:
        return ()

    def before(self, commit: str) -> str:
        return f"{commit}^"


def states(merged: str = "m", name: str = "a.patch", carrier: str = "a.patch") -> States:
    def side(blob: str) -> Files:
        tree = Overlay(Tree(MemoryBlobs(), {}))
        tree.set("a.py", Entry(MODE, blob))
        return Files(tree, lambda blob: b"")

    return States(
        side("b"), side("w"), side("o"), side(merged), (AuditedPatch(name, True, ()),),
        {"a.py": carrier}, frozenset(),
    )  # fmt: skip


def asked(known: Known, given: States, *, target: str = "2") -> int:
    """Ask for the findings, and return how often they were looked for."""
    calls: list[States] = []

    def check(states: States) -> Iterable[Told]:
        calls.append(states)
        return [FOUND]

    tree = cast(StoredTree, Tree(MemoryBlobs(), {}))
    history, way = GitHistory(Path(), "1", target), KnownHistory(NoHistory(), ())
    auditor = Auditor(tree, tree, history, way, known, (check,))
    assert auditor.begin(given)() == (FOUND,)
    assert auditor.ledger(given, (), (), MemoryBlobs()).is_balanced
    return len(calls)


def test_the_same_is_not_looked_for_twice() -> None:
    known = Known()
    assert [asked(known, states()), asked(known, states())] == [1, 0]


@table(
    "other",
    {
        "result": states(merged="n"),
        "patches": states(name="b.patch"),
        "carriers": states(carrier="b.patch"),
    },
)
def test_what_differs_is_looked_for(other: States) -> None:
    known = Known()
    assert [asked(known, states()), asked(known, other)] == [1, 1]


def test_another_way_is_another_question() -> None:
    known = Known()
    assert [asked(known, states()), asked(known, states(), target="3")] == [1, 1]


def test_nothing_is_kept_where_a_content_was_lacking() -> None:
    known, lacking = Known(), states()
    lacking.kept[LACKS] = True
    assert [asked(known, lacking), asked(known, states())] == [1, 1]
