"""`audit`: a series on its pin, and any two trees of a repository."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from patchmgr.plumbing.git_upstream import GitUpstream
from tests.commands.conftest import Run, Scene
from tests.commands.test_rebase import Files, fork
from tests.conftest import Repository

TOOLS = "def load(path, strict=True):\n    return path\n"
USES = "from pkg.tools import load\n\n\ndef g(p):\n    return load(p, strict=False)\n"
NEEDY = "def load(path, device, strict=True):\n    return path\n"
BEFORE: Mapping[str, str | None] = {
    "pkg/__init__.py": "", "pkg/tools.py": TOOLS, "pkg/uses.py": USES,
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param(TOOLS.replace("load", "read"), "no longer works", id="renamed"),
        pytest.param(NEEDY, "is called without `device`", id="asks for more"),
        pytest.param("def load(:\n", "parses before the change, but not after", id="broken"),
        pytest.param(TOOLS.replace("strict=True", "strict=True, *, way=0"), None, id="optional"),
        pytest.param(TOOLS.replace("return path", "return str(path)"), None, id="within"),
    ],
)
def test_what_breaks_between_two_trees_is_told(
    scene: Scene, run: Run, change: str | Mapping[str, str], told: str | None
) -> None:
    changed = {"pkg/tools.py": change} if isinstance(change, str) else change
    old = scene.upstream.commit(BEFORE, "before")
    new = scene.upstream.commit({**BEFORE, **changed}, "after")
    line = ("audit", "--trees", old, new, "--repo", scene.upstream.root)
    shown = run(*line, code=0 if told is None else 4).out
    assert (told or "0 findings") in shown
    (audit,) = run(*line, "--json", code=0 if told is None else 4).json["audits"]
    assert audit["sound"] is (told is None)
    assert all(finding["patch"] is None for finding in audit["findings"])


def test_a_new_file_that_does_not_parse_is_a_warning(scene: Scene, run: Run) -> None:
    old = scene.upstream.commit(BEFORE, "before")
    new = scene.upstream.commit({**BEFORE, "tsconfig.json": "// why\n{}\n"}, "after")
    shown = run("audit", "--trees", old, new, "--repo", scene.upstream.root).out
    assert "the new file does not parse" in shown


def test_a_tree_that_is_not_there_is_named(scene: Scene, run: Run) -> None:
    scene.upstream.commit(BEFORE, "before")
    failed = run("audit", "--trees", "main", "nothing", "--repo", scene.upstream.root, code=2)
    assert "has no tree nothing" in failed.err


def test_a_series_that_uses_a_name_that_nothing_defines_is_told(scene: Scene) -> None:
    old = "import os\n\n\ndef f():\n    return os.sep\n"
    fork(scene, {"a.py": old.replace("sep", "sep + tail")}, on={"a.py": old})
    shown = scene.call("audit", "s", code=4)
    assert "`tail` is used, but nothing defines it any more." in shown.out
    checked = scene.call("check", "s", code=4)
    assert "failed  audit" in checked.out


def test_check_brings_what_a_partial_store_lacks(scene: Scene) -> None:
    fork(scene, {**BEFORE, "pkg/uses.py": USES}, on={**BEFORE, "pkg/uses.py": "x = 1\n"})
    assert "passed   imports" in scene.call("check", "s", "-v", code=4).out


@pytest.mark.parametrize("command", ["check s", "rebase s --onto upstream/main"])
def test_modules_that_a_partial_store_lacks_are_fetched_together(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    partial = Scene(Repository(tmp_path / "upstream"), tmp_path / "workspace", run)
    run("init", partial.root)
    partial.call("upstream", "add", "up", "--git", partial.upstream.root)
    modules = {f"m{n}.py": f"import os\n\nA{n} = {n}\n" for n in range(20)}
    uses = "import sys\n" + "".join(f"from m{n} import A{n}\n" for n in range(20))
    later: Files = {path: text + "B = 1\n" for path, text in modules.items()}
    fork(partial, {"t.py": uses}, on={"t.py": "import sys\n", **modules}, then=later)
    requests, transfer = list[object](), GitUpstream._transfer

    def counted(*given: Any, **named: Any) -> None:
        requests.append(given)
        transfer(*given, **named)

    monkeypatch.setattr(GitUpstream, "_transfer", counted)
    partial.call("upstream", "fetch")
    partial.call(*command.split(), code=4 if command == "check s" else 0)
    assert 1 < len(requests) < 8
