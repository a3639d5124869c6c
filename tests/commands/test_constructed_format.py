"""N: upstream ran a formatter over the file; with its settings in the tree, and without."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from patchmgr.plumbing.formatter_tools import Toolbox
from tests.commands.conftest import Run, Scene
from tests.commands.constructed import Document, Form, Story, put, say, twenty
from tests.long import LONG

FIX = put(10, 4, say(10, 4, variant=1), say(10, 4, variant=2))


def _restyled(form: Form, style: Callable[[str], str]) -> Form:
    return replace(form, statements=(style(form.statements[0]),) * 2)


def _loose(line: str) -> str:
    return line.replace(" = ", "  =  ").replace(", ", " , ").replace("The ", "The   ")


def _tidy(line: str) -> str:
    return line.replace("  =  ", " = ").replace(" , ", ", ").replace("The   ", "The ")


def _formatted(document: Document) -> Document:
    units = {unit: tuple(map(_tidy, lines)) for unit, lines in document.units.items()}
    return replace(document, form=_restyled(document.form, _tidy), units=units)


def test_n_a_formatter_ran_over_the_file(story: Story) -> None:
    """N: upstream ran a formatter over the file."""
    loose = _restyled(story.form, _loose)
    story.files = {"a": twenty(loose), "n": twenty(loose, offset=40)}
    story.patch(FIX)
    story.upstream(7, _formatted)
    told = story.rebase()
    assert told.verdicts() == ["modified"]
    assert told.hunks() == ["modified format"]
    assert told.cause() == [7]


# With settings

_UNITS = """\
def weigh(plant, floor = 0):
    first  =  plant.weigh( 'a' )
    return first

def count(plant, floor = 0):
    total = sum( plant.parts,floor )
    {}
    return total

def drain(plant, floor = 0):
    plant.drain( {{'valve':1,'basin':2}} )
"""
_FORMATTED = """\
def weigh(plant, floor=0):
    first = plant.weigh("a")
    return first


def count(plant, floor=0):
    total = sum(plant.parts, floor)
    {}
    return total


def drain(plant, floor=0):
    plant.drain({{"valve": 1, "basin": 2}})
"""
_PYTHON = {
    "old": _UNITS.format("plant.seal( 'all',total )"),
    "ours": _UNITS.format("total = total*2\n    plant.seal( 'some',total )"),
    "new": _FORMATTED.format('plant.seal("all", total)'),
    "merged": _FORMATTED.format('total = total * 2\n    plant.seal("some", total)'),
}
_CXX_UNITS = """\
int weigh( Plant &plant ) {{ return plant.weigh( 1,2 ); }}
int count( Plant &plant )
{{
    int total=plant.parts( );
{}
    return total;
}}
"""
_CXX_FORMATTED = """\
int weigh(Plant& plant) {{ return plant.weigh(1, 2); }}
int count(Plant& plant) {{
  int total = plant.parts();
{}
  return total;
}}
"""
_CXX = {
    "old": _CXX_UNITS.format("    plant.seal( 1,total );"),
    "ours": _CXX_UNITS.format("    total=total*2;\n    plant.seal( 2,total );"),
    "new": _CXX_FORMATTED.format("  plant.seal(1, total);"),
    "merged": _CXX_FORMATTED.format("  total = total * 2;\n  plant.seal(2, total);"),
}

RUFF = {"pyproject.toml": "[tool.ruff]\nline-length = 100\n[tool.ruff.format]\n"}
BLACK = {"pyproject.toml": "[tool.black]\nline-length = 100\n"}
YAPF = {
    ".style.yapf": "[style]\nbased_on_style = google\n",
    "pyproject.toml": "[tool.ruff]\nline-length = 80\n",
    ".pre-commit-config.yaml": "repos:\n- repo: y\n  hooks:\n  - id: yapf\n  - id: ruff\n",
}
CLANG = {".clang-format": "BasedOnStyle: Google\nDerivePointerAlignment: false\n"}


def needs(tool: str) -> pytest.MarkDecorator:
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"
    return pytest.mark.skipif(
        shutil.which(tool, path=path) is None, reason=f"{tool} is not installed"
    )


def _rebased(scene: Scene, path: str, texts: dict[str, str], settings: dict[str, str]) -> Any:
    up = scene.upstream
    base = up.commit({path: texts["old"]}, "base")
    with up.at("-b", "fork"):
        up.commit({path: texts["ours"]}, "count: twice")
        patches = up.patches(f"{base}..fork")
    up.commit({path: texts["new"], **settings}, "Format everything (#7)")
    scene.series("s", base, patches)
    return scene.call("rebase", "s", "--onto", "upstream/main", "--json").json


FORMATTERS = [
    pytest.param(RUFF, "pkg/plant.py", _PYTHON, id="ruff", marks=needs("ruff")),
    pytest.param(BLACK, "pkg/plant.py", _PYTHON, id="black", marks=needs("black")),
    pytest.param(CLANG, "csrc/p.cu", _CXX, id="clang-format", marks=needs("clang-format")),
]


@pytest.mark.parametrize(("settings", "path", "texts"), FORMATTERS if LONG else FORMATTERS[1:])
def test_upstreams_own_formatter_formats_the_patch(
    scene: Scene, settings: dict[str, str], path: str, texts: dict[str, str]
) -> None:
    told = _rebased(scene, path, texts, settings)["series"][0]
    (patch,) = told["patches"]
    assert patch["verdict"] == "modified"
    assert {(hunk["verdict"], hunk["how"]) for hunk in patch["hunks"]} == {("modified", "format")}
    assert [cause["pull"] for cause in patch["cause"]] == [7]
    scene.upstream.commit({path: texts["merged"]}, "as it must be")
    assert told["tree"] == scene.upstream.tree()


def test_a_missing_one_is_named(scene: Scene, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Toolbox, "find", lambda tools, tool: None)
    up, path = scene.upstream, "pkg/plant.py"
    base = up.commit({path: "import one\n", "other.txt": "x\n", **YAPF}, "base")
    with up.at("-b", "fork"):
        up.commit({path: "import two as one\n"}, "two")
        patches = up.patches(f"{base}..fork")
    up.commit({path: "import three as one\n"}, "three")
    scene.series("s", base, patches)
    answer = run("-C", scene.root, "rebase", "s", "--onto", "upstream/main", code=3)
    told = "upstream formats its files with yapf, which is not on PATH: pip install yapf"
    assert (answer.out + answer.err).count(told) == 1


@pytest.mark.parametrize("tool", [pytest.param("ruff", marks=needs("ruff"))])
def test_merge_file_finds_settings_in_the_work_tree_around_it(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    for name, content in RUFF.items():
        (tmp_path / name).write_text(content)
    for name, side in zip(("base", "ours", "theirs"), ("old", "new", "ours"), strict=True):
        (tmp_path / name).write_text(_PYTHON[side])
    answer = run("merge-file", "base", "ours", "theirs", "--path", "pkg/plant.py", "-o", "out")
    assert answer.err == "pkg/plant.py: format\n"
    assert (tmp_path / "out").read_text() == _PYTHON["merged"]
    swapped = ("base", "theirs", "ours")
    run("merge-file", *swapped, "--path", "a.py", "--upstream", "theirs", "-o", "other")
    assert (tmp_path / "other").read_text() == _PYTHON["merged"]
