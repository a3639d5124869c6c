"""What comes to a store is whole on disk before git finds it there."""

from __future__ import annotations

from pathlib import Path

from patchmgr.plumbing.stores import adopt_pack
from tests.plumbing.power_cut import Disk, needs_proc

PACK = {f"objects/pack/pack-1.{suffix}": suffix.encode() for suffix in ("pack", "rev", "idx")}


@needs_proc
def test_a_power_cut_leaves_no_index_without_its_whole_pack(tmp_path: Path) -> None:
    (tmp_path / "scratch/objects/pack").mkdir(parents=True)
    (tmp_path / "store").mkdir()
    disk = Disk(tmp_path)

    def fetch() -> None:
        for name, content in PACK.items():
            with open(tmp_path / "scratch" / name, "wb") as file:
                file.write(content)
        adopt_pack(tmp_path / "store", tmp_path / "scratch")

    found = [
        {name: state.get(f"store/{name}") for name in PACK}
        for state in (*disk.left_during(fetch), *disk.left())
        if "store/objects/pack/pack-1.idx" in state
    ]
    assert found and all(each == PACK for each in found)
