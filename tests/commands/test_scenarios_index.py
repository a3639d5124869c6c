"""The series of this repository on the releases that came after their pins."""

from __future__ import annotations

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

# What a maintainer found by hand, patch by patch. A conflict shows both texts.
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
    ("vllm-glm47", "v0.17.0", _GLM, "unchanged unchanged unchanged absorbed conflict"),
    ("vllm-glm47", "v0.19.0", _GLM, "unchanged absorbed conflict absorbed conflict"),
    ("vllm-glm47", "v0.20.2", _GLM, "unchanged absorbed conflict absorbed conflict"),
    ("vllm-glm47", "v0.21.0", _GLM, "conflict absorbed conflict absorbed conflict"),
    ("flashinfer", "v0.6.13", "nvfp4-uint8 topk-last-out", "unchanged unchanged"),
    ("flashinfer", "v0.6.14", "nvfp4-uint8 topk-last-out", "unchanged conflict"),
]  # fmt: skip


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of this repository's workspace."""
    root = tmp_path_factory.mktemp("workspace")
    shutil.copy(REPOSITORY / "upstream.lock", root)
    shutil.copytree(REPOSITORY / "series", root / "series")
    return root


@pytest.mark.parametrize(
    ("series", "onto", "patches", "verdicts"), TABLE, ids=[f"{row[0]}-{row[1]}" for row in TABLE]
)
def test_each_patch_meets_the_fate_that_a_maintainer_found(
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    series: str,
    onto: str,
    patches: str,
    verdicts: str,
) -> None:
    for name, value in _SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "scenarios"))
    answer = invoke("-C", workspace, "rebase", series, "--onto", onto, "--dry-run", "--json")
    (found,) = answer.json["series"]
    names = [patch["name"].removesuffix(".patch") for patch in found["patches"]]
    assert names == patches.split()
    assert [patch["verdict"] for patch in found["patches"]] == verdicts.split()
