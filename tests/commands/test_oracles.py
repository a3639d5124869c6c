"""Generated histories: where git or quilt carries a series cleanly, the trees are equal.

PATCHMGR_SEEDS=500 runs so many histories; docs/reliability.md has the figures of a long run.
"""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import Scene, invoke
from tests.commands.histories import Tale, tell
from tests.conftest import Repository

SEEDS = range(int(os.environ.get("PATCHMGR_SEEDS", "5")))


@pytest.fixture(params=SEEDS)
def told(request: Any, scene: Scene) -> tuple[Scene, str, str]:
    """Return a scene with the history of a number, the base and the target."""
    return played(scene, tell(request.param))


def played(scene: Scene, tale: Tale) -> tuple[Scene, str, str]:
    upstream = scene.upstream
    base = upstream.commit(tale.base, "base")
    with upstream.at("-b", "fork"):
        for number, files in enumerate(tale.ours):
            upstream.commit(files, f"fork: change {number}")
        scene.series("s", base, upstream.patches(f"{base}..fork"))
    for old, new in tale.moves.items():
        (upstream.root / new).parent.mkdir(parents=True, exist_ok=True)
        upstream.git("mv", old, new)
        upstream.commit({}, "upstream: moves a file")
    for number, files in enumerate(tale.theirs):
        upstream.commit(files, f"upstream: change {number}")
    return scene, base, upstream.head()


def rebased_by_git(upstream: Repository, base: str, onto: str) -> str | None:
    """Return the tree of `git rebase`, None where it stops."""
    upstream.git("checkout", "--quiet", "--detach", "fork")
    upstream.git("rebase", "--quiet", "--onto", onto, base, good=(0, 1))
    return _tree_or_none(upstream, "rebase-merge", "rebase")


def mailed_by_git(upstream: Repository, base: str, onto: str) -> str | None:
    """Return the tree of `git am -3`, None where it stops."""
    mails = upstream.patches(f"{base}..fork")
    upstream.git("checkout", "--quiet", "--detach", onto)
    upstream.git("am", "--quiet", "-3", "--keep-cr", data=mails, good=(0, 1, 128))
    return _tree_or_none(upstream, "rebase-apply", "am")


def _tree_or_none(upstream: Repository, left: str, verb: str) -> str | None:
    is_clean = not (upstream.root / ".git" / left).exists()
    tree = upstream.tree()
    if not is_clean:
        upstream.git(verb, "--abort")
    upstream.git("checkout", "--quiet", "--force", "main")
    return tree if is_clean else None


def test_where_git_is_clean_so_are_we_and_the_trees_are_equal(
    told: tuple[Scene, str, str], record_property: Callable[[str, str], None]
) -> None:
    scene, base, onto = told
    answer = invoke("-C", scene.root, "rebase", "s", "--onto", onto, "--dry-run", "--json")
    (series,) = answer.json["series"]
    for by_git in (rebased_by_git, mailed_by_git):
        wanted = by_git(scene.upstream, base, onto)
        record_property(by_git.__name__, "stopped" if wanted is None else "clean")
        if wanted is not None:
            assert (series["tree"], answer.code) == (wanted, 0), by_git.__name__


@pytest.mark.skipif(shutil.which("quilt") is None, reason="needs quilt")
def test_quilt_makes_the_same_trees_as_we_do(told: tuple[Scene, str, str], tmp_path: Path) -> None:
    scene, base, onto = told
    assert quilted(scene, base, tmp_path / "before") == built(scene)
    if invoke("-C", scene.root, "rebase", "s", "--onto", onto).code == 0:
        assert quilted(scene, onto, tmp_path / "after") == built(scene)


def built(scene: Scene) -> str:
    """Return the tree of the series' branch."""
    scene.call("branch", "s", "--repo", scene.upstream.root, "--name", "built")
    return scene.upstream.tree("built")


def quilted(scene: Scene, commit: str, place: Path) -> str:
    """Return the tree that quilt makes of the series on a commit."""
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(place), commit],
                   cwd=scene.upstream.root, check=True)  # fmt: skip
    patches = scene.root / "series/s"
    if any(not line.startswith("#") for line in (patches / "series").read_text().splitlines()):
        line = ["quilt", "--quiltrc", "-", "push", "-a", "-q"]
        environment = {**os.environ, "QUILT_PATCHES": str(patches)}
        subprocess.run(line, cwd=place, check=True, env=environment, capture_output=True)
    tree = Repository(place, is_there=True)
    tree.git("add", "--all", "--force", "--", ".", ":!.pc")
    return tree.git("write-tree")
