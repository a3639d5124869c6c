"""`resolve` by plain prompts: keys from a pipe, and what they leave."""

import io
import os
import sys
from pathlib import Path

import pytest

from patchmgr.commands.resolve import Resolver
from patchmgr.services.work_area import CHOICES
from patchmgr.workspace import Workspace
from tests.commands.classes import leave
from tests.commands.conftest import Answer, Scene
from tests.commands.scenes import picture, unchanged
from tests.commands.test_propose import BOTH, THEIRS, collide
from tests.commands.test_rebase import Files, clash, text

TYPES = pytest.MonkeyPatch


def typed(scene: Scene, lines: str, monkeypatch: TYPES, *options: str, code: int = 0) -> Answer:
    """Run it with lines of keys, one word a line."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{one}\n" for one in lines.split())))
    return scene.call("resolve", *options, code=code)


def editor(scene: Scene, script: str, monkeypatch: TYPES) -> None:
    program = scene.root.parent / "editor"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("GIT_EDITOR", str(program))


def meta(scene: Scene, name: str) -> str:
    return (scene.root / "conflicts" / name / "meta.toml").read_text()


def content(scene: Scene, path: str = "a.py") -> str:
    scene.call("branch", "s", "--repo", scene.upstream.root, "--name", "made")
    return scene.upstream.git("show", f"made:{path}") + "\n"


def test_a_candidate_is_accepted_and_the_rebase_goes_on(scene: Scene, monkeypatch: TYPES) -> None:
    name = collide(scene)
    answer = typed(scene, "1 a c", monkeypatch)
    for told in (
        "conflict  fork-change-1.patch\n> 0/1 chosen a.py\n",
        "a.py: upstream changed the same lines  (conflict 1 of 1, in used)\n",
        "--- ours (upstream)\n+ y = first(x.upstream)\n",
        "--- theirs (the patch)\n+ y = first(x, mine=True)\n",
        "--- candidate 1: replay, not measured\n+ y = first(x.upstream, mine=True)\n",
        "--- result: candidate 1\n",
        "a.py passes every check; no conflict is left; press c to continue the rebase\n",
        "1-6 candidate",
    ):
        assert told in answer.err
    assert "  modified   fork-change-1.patch" in answer.out
    assert 'origin = "propose"\n' in meta(scene, name)
    assert content(scene) == BOTH


def test_what_fails_a_check_is_refused_and_stays_chosen(scene: Scene, monkeypatch: TYPES) -> None:
    name = collide(scene)
    with unchanged(scene.root):
        answer = typed(scene, "a t a c x", monkeypatch, code=3)
        assert "nothing is chosen yet\n" in answer.err
        told = "the text fails these checks:\nledger: it has none of upstream's changes here\n"
        assert told in answer.err
        assert "c has no effect here\n" in answer.err and "x has no effect here\n" in answer.err
        assert answer.err.endswith(
            "1 conflict left; your choices are saved\ncontinue with: patchmgr resolve\n"
        )
    assert "--- theirs (the patch)  (chosen)\n" in typed(scene, "q", monkeypatch, code=3).err
    answer = typed(scene, "r upstream-goes-back c", monkeypatch)
    assert 'because = "upstream-goes-back"\n' in meta(scene, name)
    assert content(scene) == THEIRS


def test_an_acceptance_is_undone_on_record_too(scene: Scene, monkeypatch: TYPES) -> None:
    name = collide(scene)
    answer = typed(scene, "1 a u", monkeypatch, code=3)
    assert "origin" not in meta(scene, name)
    assert "c continue" not in answer.err.rpartition("? ")[0].rpartition("o ours")[2]
    scene.rebase("--continue", code=3)
    typed(scene, "a c", monkeypatch)  # the choice was kept


def test_a_patch_is_skipped_with_the_rebase_not_before(scene: Scene, monkeypatch: TYPES) -> None:
    collide(scene)
    typed(scene, "s q", monkeypatch, code=3)
    typed(scene, "s q", monkeypatch, code=3)  # not after all
    assert "# skipped" not in (scene.root / "series/s/series").read_text()
    answer = typed(scene, "s c", monkeypatch)
    assert "fork-change-1.patch is left out when the rebase continues\n" in answer.err
    assert "# skipped on" in (scene.root / "series/s/series").read_text()


def test_an_edit_is_taken_for_its_region_alone(scene: Scene, monkeypatch: TYPES) -> None:
    collide(scene)
    rest = "/^<<<<<<< /d; /^||||||| /,/^=======/d; /^>>>>>>> /d; /y = first(x.upstream)/d"
    editor(scene, f"sed -i -e 's/^import os/import sys/; {rest}' \"$1\"", monkeypatch)
    answer = typed(scene, "e q", monkeypatch, code=3)
    assert "the text is not accepted, because lines outside the region were changed\n" in answer.err
    script = f"grep -q 'import sys' \"$1\" && sed -i -e 's/import sys/import os/; {rest}' \"$1\""
    united = "s/= first(x, mine/= first(x.upstream, mine/"
    editor(scene, f"{script}; sed -i -e '{united}' \"$1\"", monkeypatch)
    typed(scene, "e a c", monkeypatch)
    assert content(scene) == BOTH


def test_an_editor_that_fails_changes_nothing(scene: Scene, monkeypatch: TYPES) -> None:
    collide(scene)
    editor(scene, "exit 3", monkeypatch)
    answer = typed(scene, "1 e a", monkeypatch, code=3)
    assert "ended with exit code 3; nothing was changed\n" in answer.err
    assert "a.py passes every check" in answer.err


def test_several_patches_are_gone_through_one_by_one(scene: Scene, monkeypatch: TYPES) -> None:
    on: Files = {"a": text(), "b": text()}
    then: Files = {"a": text(l10="up\n", l40="up\n"), "b": text(l3="up\n")}
    first: Files = {"a": text(l10="one\n", l40="one\n")}
    later: Files = {"a": text(l10="later\n", l40="one\n")}
    clash(scene, first, {**first, "b": text(l3="two\n")}, later, on=on, then=then)
    answer = typed(scene, "o j o r why b a c", monkeypatch, code=3)
    assert "(conflict 1 of 2, region 2 of 2)" in answer.err
    assert "continued; conflicts left: 1\n" in answer.err
    assert "(conflict 1 of 1)" in answer.err
    assert typed(scene, "t r why c", monkeypatch).code == 0
    made = content(scene, "a")
    assert made == text(l10="later\n", l40="up\n")
    assert content(scene, "b") == text(l3="up\ntwo\n")


def test_what_has_no_text_is_accepted_with_a_reason(scene: Scene, monkeypatch: TYPES) -> None:
    leave(scene, "finding")
    before = picture(scene.root)
    answer = typed(scene, "a r it-is-made-elsewhere u", monkeypatch, code=3)
    assert "a has no effect here\n" in answer.err
    left = picture(scene.root)
    assert {path for path in left if left[path] != before.get(path)} <= {"conflicts/accepted.toml"}
    typed(scene, "r it-is-made-elsewhere c", monkeypatch)


@pytest.mark.parametrize("name", ["deleted upstream", "binary", "mode", "rename"])
def test_a_whole_file_is_a_side_with_a_reason(scene: Scene, name: str, monkeypatch: TYPES) -> None:
    leave(scene, name)
    answer = typed(scene, "b o a r upstream-knows c", monkeypatch)
    assert "b has no effect here\n" in answer.err and "the text fails these checks:\n" in answer.err


def test_a_dry_run_checks_and_keeps_nothing(scene: Scene, monkeypatch: TYPES) -> None:
    collide(scene)
    before = picture(scene.root)
    answer = typed(scene, "1 a u 1 a c", monkeypatch, "--dry-run", code=3)
    assert "a.py passes every check" in answer.err
    assert picture(scene.root) == before and not (scene.root / CHOICES).exists()


def test_without_a_rebase_it_says_how_one_begins(scene: Scene, monkeypatch: TYPES) -> None:
    answer = typed(scene, "q", monkeypatch, code=2)
    assert "no rebase is in progress here" in answer.err
    collide(scene)
    assert "there is no series x" in typed(scene, "q", monkeypatch, "x", code=2).err


def test_what_cannot_be_kept_is_told(scene: Scene, monkeypatch: TYPES) -> None:
    collide(scene)

    def refuse(workspace: Workspace, path: str, value: object) -> None:
        raise OSError(30, os.strerror(30))

    with monkeypatch.context() as patched:
        patched.setattr(Workspace, "keep", refuse)
        answer = typed(scene, "1 q", patched, code=3)
    assert f"{CHOICES} cannot be written: Read-only file system; your choices are" in answer.err


def test_a_rebase_that_another_terminal_ended_is_told(scene: Scene, monkeypatch: TYPES) -> None:
    collide(scene)
    press = Resolver.press

    def pressed(resolver: Resolver, key: str) -> None:
        if key == "1":
            scene.call("rebase", "--abort")
        press(resolver, key)

    monkeypatch.setattr(Resolver, "press", pressed)
    answer = typed(scene, "1 q", monkeypatch, code=2)
    assert answer.err.count("no rebase is in progress here") == 2 and "saved" not in answer.err
    assert not (scene.root / CHOICES).exists()


def test_choices_that_are_broken_are_none(scene: Scene, monkeypatch: TYPES) -> None:
    collide(scene)
    kept: Path = scene.root / CHOICES
    kept.write_text('{"choices": {"x": {"taken": "all"}}}')
    assert "> 0/1 chosen a.py\n" in typed(scene, "q", monkeypatch, code=3).err


def test_a_series_that_is_resolved_by_hand_goes_on(scene: Scene, monkeypatch: TYPES) -> None:
    collide(scene)
    (scene.root / ".patchmgr/rebase/s/fork-change-1.patch/a.py").write_text(BOTH)
    answer = typed(scene, "c", monkeypatch)
    assert "modified   fork-change-1.patch" in answer.out
    assert content(scene) == BOTH
