"""The series of this repository on the releases that came after their pins."""

import os
import shutil
from pathlib import Path

import pytest

from tests.commands.conftest import invoke

pytestmark = [
    pytest.mark.index,
    pytest.mark.skipif(
        not os.environ.get("PATCHMGR_INDEX"), reason="PATCHMGR_INDEX=1 lets it download releases"
    ),
]
REPOSITORY = Path(__file__).parents[2]
_SETTINGS = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "HOME", "XDG_"))}

# What a maintainer found by hand, patch by patch. A conflict shows both texts. Three times a person
# is asked, or warned, about what the maintainer knew: upstream has tool-args (0.17.0) with one more
# condition, so it is proposed to drop it, and tools-first waits; from 0.21.0, upstream does what
# scale-skip does in other words, on a value that it computes in another way.
_GLM = "scale-skip arg-regex detail-regex tool-args tools-first"
TABLE = [
    ("vllm", "v0.24.0",
     "clamp deepgemm-on stale-hash delta-hook render marlin swa-clamp nvfp4-dtype stop-ids"
     " scale-view",
     "absorbed absorbed conflict modified modified modified unchanged unchanged unchanged"
     " conflict"),
    ("vllm", "v0.25.0",
     "clamp deepgemm-on stale-hash delta-hook render marlin swa-clamp nvfp4-dtype stop-ids"
     " scale-view",
     "absorbed absorbed conflict modified modified modified unchanged modified conflict conflict"),
    ("vllm-deepgemm", "v0.25.0", "deepgemm-off topk-off", "skipped absorbed"),
    ("vllm-deepgemm", "v0.27.1", "deepgemm-off topk-off", "unchanged absorbed"),
    ("vllm-deepgemm", "v0.28.0", "deepgemm-off topk-off", "skipped absorbed"),
    ("vllm-glm47", "v0.17.0", _GLM, "unchanged unchanged unchanged conflict blocked"),
    ("vllm-glm47", "v0.19.0", _GLM, "unchanged absorbed conflict conflict blocked"),
    ("vllm-glm47", "v0.20.2", _GLM, "unchanged absorbed conflict conflict blocked"),
    ("vllm-glm47", "v0.21.0", _GLM, "modified absorbed conflict conflict blocked"),
    ("flashinfer", "v0.6.13", "nvfp4-uint8 topk-last-out", "unchanged unchanged"),
    ("flashinfer", "v0.6.14", "nvfp4-uint8 topk-last-out", "unchanged conflict"),
]  # fmt: skip


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of this repository's workspace."""
    root = tmp_path_factory.mktemp("workspace")
    shutil.copy(REPOSITORY / "upstream.lock", root)
    for folder in ("series", "conflicts"):
        shutil.copytree(REPOSITORY / folder, root / folder)
    return root


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name, value in _SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "scenarios"))


@pytest.mark.parametrize(
    ("series", "onto", "patches", "verdicts"), TABLE, ids=[f"{row[0]}-{row[1]}" for row in TABLE]
)
def test_each_patch_meets_the_fate_that_a_maintainer_found(
    workspace: Path, series: str, onto: str, patches: str, verdicts: str
) -> None:
    answer = invoke("-C", workspace, "rebase", series, "--onto", onto, "--dry-run", "--json")
    (found,) = answer.json["series"]
    names = [patch["name"].removesuffix(".patch") for patch in found["patches"]]
    assert names == patches.split()
    assert [patch["verdict"] for patch in found["patches"]] == verdicts.split()
    if series == "vllm-glm47":
        assert found["patches"][3]["likely"][0]["confidence"] > 0.9
        assert ("`name`" in str(found["patches"][0]["warnings"])) is (onto == "v0.21.0")


def test_the_readme_shows_what_is_printed(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS")
    monkeypatch.chdir(workspace)
    text = (REPOSITORY / "README.md").read_text()
    shown = text[text.index("\nvllm: v0.23.0 -> v0.24.0") + 1 :].partition("```")[0]
    answer = invoke("rebase", "vllm", "--onto", "v0.24.0")
    told = answer.err.splitlines(keepends=True)
    progress = ("Downloading", "Importing")
    printed = answer.out + "".join(line for line in told if not line.startswith(progress))
    assert printed.splitlines() == shown.splitlines()
    assert answer.code == 3
