"""What upstream has, or seems to have, says how often such a verdict was right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from patchmgr.engines.absorption.reliability import measured
from tests.commands.constructed import PYTHON, Say, Story, put, say

if TYPE_CHECKING:
    from tests.commands.conftest import Scene

FIX = put(10, 4, say(10, 4, variant=1), say(10, 4, variant=2))


def known(rule: str) -> dict[str, Any]:
    found = measured().get(rule)
    numbers = (None, None) if found is None else (found.right, found.of)
    return {"rule": rule, "right": numbers[0], "of": numbers[1]}


def note_of(scene: Scene, told: dict[str, Any]) -> dict[str, Any]:
    ends = ("--from", told["base"]["ref"], "--to", told["onto"]["ref"])
    note: dict[str, Any] = scene.call("notes", "s", *ends, "--json").json["series"]
    return note


def _with_local(name: str) -> Any:
    lines = Say(name, "weigh", "hinge", 10400), Say(name, "drain", "crate", 10420)
    return put(10, 5, *lines, over=0)


def test_an_absorbed_patch_says_it_in_rebase_notes_and_report(scene: Scene) -> None:
    story = Story(scene, PYTHON)
    story.patch(FIX)
    story.upstream(7, FIX)
    told = story.rebase().series
    (patch,) = told["patches"]
    (evidence,) = patch["evidence"]
    assert evidence["reliability"] == known(evidence["how"])
    note = note_of(scene, told)
    assert [one["reliability"] for one in note["dropped"]] == [[known(evidence["how"])]]
    (series,) = scene.call("report", "s", "--json").json["series"]
    (moment,) = series["timeline"]
    assert moment["reliability"] == {patch["name"]: [known(evidence["how"])]}


def test_a_proposal_says_it(scene: Scene) -> None:
    story = Story(scene, PYTHON)
    story.patch(_with_local("limit"))
    story.upstream(7, _with_local("bound"))
    told = story.rebase(code=3).series
    (patch,) = told["patches"]
    assert [likely["reliability"] for likely in patch["likely"]] == [known("likely")]
    note = note_of(scene, told)
    assert [one["reliability"] for one in note["conflicts"]] == [known("likely")]
