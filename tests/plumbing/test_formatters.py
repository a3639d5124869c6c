"""Which formatter a tree wants for a path, and what becomes of hostile settings."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.model.snapshot import SYMLINK
from patchmgr.plumbing.formatter_tools import Toolbox
from patchmgr.plumbing.formatters import (
    LARGEST_SETTINGS,
    TreeFormatter,
    read_table,
    tree_reader,
    work_tree_reader,
)
from tests.engines.ports import MemoryBlobs, MemoryTree

RUFF = "[tool.ruff]\nline-length = 70\n"
STYLED = RUFF + "[tool.ruff.format]\nquote-style = 'single'\n"
BLACK = "[tool.black]\nline-length = 99\n"
HOOKS = "repos:\n- repo: x\n  hooks:\n  - id: {}\n"


@pytest.fixture
def tools() -> Iterator[Toolbox]:
    with Toolbox() as made:
        yield made


def formatter(files: Mapping[str, str | bytes], tools: Toolbox) -> TreeFormatter:
    blobs = MemoryBlobs()
    contents = {p: c.encode() if isinstance(c, str) else c for p, c in files.items()}
    return TreeFormatter(tree_reader(MemoryTree(blobs, contents), blobs, lambda ids: None), tools)


@pytest.mark.parametrize(
    ("files", "path", "chosen"),
    [
        pytest.param({}, "a.py", [], id="nothing"),
        pytest.param({"pyproject.toml": STYLED}, "a/b.py", [("ruff", True)], id="ruff"),
        pytest.param({"pyproject.toml": RUFF}, "a.py", [("ruff", False)], id="ruff-lints-only"),
        pytest.param({"ruff.toml": "[format]\n"}, "a.pyi", [("ruff", True)], id="ruff-toml"),
        pytest.param(
            {"pyproject.toml": STYLED + BLACK},
            "a.py",
            [("ruff", True), ("black", True)],
            id="two",
        ),
        pytest.param(
            {"pyproject.toml": RUFF + BLACK},
            "a.py",
            [("black", True), ("ruff", False)],
            id="black-and-a-linter",
        ),
        pytest.param(
            {"pyproject.toml": STYLED + BLACK, ".pre-commit-config.yaml": HOOKS.format("black")},
            "a.py",
            [("black", True), ("ruff", True)],
            id="the-hook-comes-first",
        ),
        pytest.param(
            {".pre-commit-config.yaml": HOOKS.format("yapf")},
            "a.py",
            [("yapf", True)],
            id="a-hook-alone",
        ),
        pytest.param(
            {".pre-commit-config.yaml": HOOKS.format("ruff-format")},
            "a.py",
            [("ruff", True)],
            id="the-hook-of-ruff-alone",
        ),
        pytest.param({".style.yapf": "[style]\n"}, "a.py", [("yapf", True)], id="yapf"),
        pytest.param({"setup.cfg": "[yapf]\n"}, "a/b/c.py", [("yapf", True)], id="setup-cfg"),
        pytest.param({"a/.clang-format": "UseTab: Never"}, "a/b/c.cu", [("clang-format", True)],
                     id="clang-format"),
        pytest.param({"_clang-format": "UseTab: Never"}, "c.h", [("clang-format", True)],
                     id="the-other-name"),
        pytest.param({"a/.clang-format": "UseTab: Never"}, "b/c.cu", [], id="another-folder"),
        pytest.param({".clang-format": "BasedOnStyle: InheritParentConfig"}, "c.cu", [],
                     id="that-inherits"),
        pytest.param({"pyproject.toml": STYLED, ".clang-format": "UseTab: Never"}, "c.md", [],
                     id="another-language"),
        pytest.param({"pyproject.toml": STYLED + "\n" * LARGEST_SETTINGS}, "a.py", [], id="huge"),
        pytest.param({"pyproject.toml": b"\xff\0[[["}, "a.py", [], id="absurd"),
    ],
)  # fmt: skip
def test_the_tree_tells_the_formatter(
    files: dict[str, str | bytes], path: str, chosen: list[tuple[str, bool]], tools: Toolbox
) -> None:
    found = formatter(files, tools).chosen(path)
    assert [(one.tool, one.is_sure) for one in found] == chosen


@pytest.mark.parametrize(
    ("files", "length"),
    [
        pytest.param({"pyproject.toml": RUFF, "a/ruff.toml": "line-length = 50"}, 50, id="nearest"),
        pytest.param({"pyproject.toml": RUFF, "a/pyproject.toml": BLACK}, 70, id="of-its-own-tool"),
        pytest.param(
            {"a/ruff.toml": "line-length = 5", "a/.ruff.toml": "line-length = 6"}, 6, id="hidden"
        ),
        pytest.param({"pyproject.toml": RUFF, "a/ruff.toml": "extend = '../pyproject.toml'"}, 70,
                     id="extends"),
        pytest.param(
            {"pyproject.toml": RUFF,
             "a/ruff.toml": "extend = '../pyproject.toml'\nline-length = 60\n[format]\n"},
            60, id="extends-and-says-more",
        ),
        pytest.param({"a/ruff.toml": "extend = '/etc/passwd'"}, None, id="extends-a-file-outside"),
        pytest.param({"a/ruff.toml": "extend = '../../x.toml'", "x.toml": "line-length = 1"}, None,
                     id="extends-above-the-tree"),
        pytest.param({"a/ruff.toml": "extend = '~/x.toml'"}, None, id="extends-a-home"),
        pytest.param({"a/ruff.toml": "extend = '${HOME}/x.toml'"}, None, id="extends-a-variable"),
        pytest.param({"a/ruff.toml": "extend = ''"}, None, id="extends-nothing"),
        pytest.param({"a/ruff.toml": "extend = 3"}, None, id="extends-a-number"),
        pytest.param({"a/ruff.toml": "extend = 'ruff.toml'"}, None, id="extends-itself"),
    ],
)  # fmt: skip
def test_the_settings_of_ruff(files: dict[str, str], length: int | None, tools: Toolbox) -> None:
    found = next(c for c in formatter(files, tools).chosen("a/b.py") if c.tool == "ruff")
    assert read_table(found.settings)["tool"]["ruff"].get("line-length") == length


def test_a_link_is_no_settings_file(tools: Toolbox) -> None:
    blobs = MemoryBlobs()
    tree = MemoryTree(blobs, {"ruff.toml": b"[format]"}, {"ruff.toml": SYMLINK})
    made = TreeFormatter(tree_reader(tree, blobs, lambda ids: None), tools)
    assert made.chosen("a.py") == ()


def test_settings_that_nobody_has_are_not_there(tools: Toolbox) -> None:
    class Lacking(MemoryBlobs):
        def read(self, blob: str) -> bytes:
            raise PatchmgrError("missing-object", blob)

    brought: list[set[str]] = []
    tree = MemoryTree(MemoryBlobs(), {"ruff.toml": b"[format]"})
    made = TreeFormatter(tree_reader(tree, Lacking(), brought.append), tools)
    assert made.chosen("a.py") == ()
    assert len(brought) == 1


def test_missing_tools_are_noted_by_files(tools: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find", lambda tool: None)
    made = formatter({"pyproject.toml": RUFF + BLACK}, tools)
    assert made.styles("a.py") == made.styles("b.py") == made.styles("c.md") == ()
    assert tools.notes(("c.md", "d.py")) == ()
    (note,) = tools.notes(("a.py", "b.py"))
    assert note == "upstream formats its files with black, which is not on PATH: pip install black"


def test_settings_in_a_work_tree(tmp_path: Path) -> None:
    root = tmp_path / "clone"
    (root / "a").mkdir(parents=True)
    assert work_tree_reader(root / "a") is None
    (root / ".git").write_text("gitdir: elsewhere")
    (root / "ruff.toml").write_text("x")
    (tmp_path / "secret").write_text("s")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "folder").symlink_to(tmp_path)
    (root / "huge").write_bytes(b"x" * (LARGEST_SETTINGS + 1))
    read = work_tree_reader(root / "a")
    assert read is not None
    names = ("ruff.toml", "link", "folder/secret", "huge", "a", "none", "../secret", "a\0")
    assert [read(name) for name in names] == [b"x", *[None] * (len(names) - 1)]
