"""`report --compare BASE`: what a pull request of the patch repository changes of the footprint."""

from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt

from patchmgr.commands import report
from tests.commands.conftest import Scene
from tests.commands.test_rebase import Files, fork, text
from tests.conftest import Repository

CODE = "def used(x):\n    x += 1\n    return x\n"


@pytest.fixture
def own(scene: Scene) -> Repository:
    """Return the repository of a workspace with three patches, in a folder of it."""
    changes: tuple[Files, ...] = (
        {"a": text(l10="one\n")}, {"b": "<b>two</b> @all\n"}, {"c.py": CODE + "\n"},
    )  # fmt: skip
    fork(scene, *changes, on={"a": text(), "c.py": CODE}, then={"other": "x\n"})
    own = Repository(scene.root.parent)
    own.git("commit", "--quiet", "--allow-empty", "-m", "start")
    own.git("add", "workspace/series", "workspace/upstream.lock")
    own.git("commit", "--quiet", "-m", "patches")
    return own


def test_what_a_pull_request_changes_of_each_series(scene: Scene, own: Repository) -> None:
    folder = scene.root / "series/s"
    (folder / "series").write_text("fork-change-1.patch\nfork-change-3.patch\n")
    first, third = folder / "fork-change-1.patch", folder / "fork-change-3.patch"
    first.write_text(first.read_text().replace("+one\n", "+eins\n"))
    third.write_text(
        third.read_text().partition("diff --git")[0]
        + "diff --git a/c.py b/c.py\n--- a/c.py\n+++ b/c.py\n"
        "@@ -1,3 +1,3 @@\n def used(x):\n-    x += 1\n+    x += 2\n     return x\n"
    )
    (folder / "series.toml").write_text("[check]\nsign-off = true\n")
    scene.call("series", "new", "t", "--upstream", "up", "--base", "upstream/main")
    found = scene.call("report", "--compare", "HEAD", "--json").json
    assert found["since"] == {"ref": "HEAD", "commit": own.head()}
    one, other = found["series"]
    assert [(p["subject"], p["sameness"]) for p in one["patches"]] == [
        ("fork: change 1", "changed"), ("fork: change 3", "changed"), ("fork: change 2", "dropped"),
    ]  # fmt: skip
    assert {"-+one", "++eins"} <= {*one["patches"][0]["diff"]}
    assert (one["before"]["patches"], one["after"]["patches"]) == (3, 2)
    assert one["touched"] == [{"path": "c.py", "symbol": "used"}]
    assert one["left"] == [{"path": "b", "symbol": None}]
    assert (other["name"], other["before"], other["after"]["patches"]) == ("t", None, 0)
    shown = scene.call("report", "--compare", "HEAD").out
    assert shown.startswith("s: 3 patches: 2 changed, 1 dropped, since HEAD\n  before  3 patches,")
    assert "  newly touched      c.py: used\n  no longer touched  b\n" in shown
    assert "\nt: 0 patches: none, since HEAD\n  before  there is no such series\n" in shown
    page = scene.call("report", "s", "--compare", "HEAD", "--format", "markdown").out
    assert "\n- `c.py`: `used`\n" in page and "<summary>diff</summary>" in page
    assert "<h2>" in MarkdownIt().render(page)


def test_a_series_that_is_gone_is_told(scene: Scene, own: Repository) -> None:
    own.git("rm", "-rq", "workspace/series/s")
    lock = scene.root / "upstream.lock"
    lock.write_text(lock.read_text().partition("[series.")[0])
    (one,) = scene.call("report", "--compare", "HEAD", "--json").json["series"]
    assert (one["name"], one["after"]) == ("s", None)
    assert {p["sameness"] for p in one["patches"]} == {"dropped"}


def test_misuse(scene: Scene, own: Repository) -> None:
    for words, told in {
        ("--compare", "nowhere"): "has no commit nowhere",
        ("--compare=--all",): "has no commit --all",
        ("--compare", "HEAD~"): "HEAD~ has no workspace/upstream.lock",
        ("--compare", "HEAD", "--format", "html"): "not html",
        ("nope", "--compare", "HEAD"): "there is no series nope",
    }.items():
        assert told in scene.call("report", *words, code=2).err


def test_a_workspace_in_no_repository_is_refused(scene: Scene) -> None:
    answer = scene.call("report", "--compare", "HEAD", "--json", code=2).json
    assert "is not in a git repository" in answer["error"]["message"]


def test_no_process_is_forked_while_a_thread_starts_another(
    scene: Scene, own: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A fork keeps the pipe open through which subprocess waits for its child: a report hung.
    begun: list[str] = []

    def noted(name: str, begin: Callable[..., object]) -> Callable[..., object]:
        def begin_noted(*args: object, **options: object) -> object:
            begun.append(name)
            return begin(*args, **options)

        return begin_noted

    for name in ("in_processes", "ThreadCall"):
        monkeypatch.setattr(report, name, noted(name, getattr(report, name)))
    scene.call("report", "s")
    assert begun == ["in_processes", "ThreadCall"]


def test_an_empty_file_that_moves_is_a_deleted_and_a_new_one(scene: Scene) -> None:
    moved: Files = {"pkg/__init__.py": None, "src/__init__.py": ""}
    fork(scene, moved, on={"pkg/__init__.py": ""})
    assert "rename from pkg" in (scene.root / "series/s/fork-change-1.patch").read_text()
    files = scene.call("report", "--json").json["series"][0]["files"]
    assert [(file["path"], file["kind"]) for file in files] == [
        ("pkg/__init__.py", "deleted"), ("src/__init__.py", "new"),
    ]  # fmt: skip
