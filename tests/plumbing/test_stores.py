"""What comes to a store is whole on disk before git finds it there; no link leads out of it."""

import fcntl
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from hashlib import sha256
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.model.progress import Progress
from patchmgr.model.upstream import Upstream
from patchmgr.plumbing.committing import remote_refs
from patchmgr.plumbing.git_upstream import GitUpstream
from patchmgr.plumbing.namespaces import claim
from patchmgr.plumbing.objects import ObjectReader
from patchmgr.plumbing.operation_log import ContentStore
from patchmgr.plumbing.stores import adopt_pack, borrow, create_store, lenders, references
from tests.conftest import Make
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


class Shown(Progress):
    def __init__(self) -> None:
        self.labels: list[str] = []

    def start(self, label: str, total: int | None) -> None:
        self.labels.append(label)


def test_a_second_fetch_into_a_store_waits(make_repository: Make, tmp_path: Path) -> None:
    repository = make_repository("upstream")
    commit = repository.commit({"a": "1\n"})
    store = create_store(tmp_path / "store.git")
    first = os.open(store, os.O_RDONLY)
    fcntl.flock(first, fcntl.LOCK_EX)
    with ObjectReader(store) as reader, ThreadPoolExecutor() as pool:
        upstream = Upstream("up", "git", git=repository.root.as_uri())
        shown = Shown()
        second = pool.submit(GitUpstream(upstream, reader, shown).fetch)
        with pytest.raises(TimeoutError):
            second.result(0.3)
        assert shown.labels == ["Waiting for another fetch of up"]
        os.close(first)
        assert second.result(60) == commit


@pytest.mark.parametrize("end", ["\u2028x", "\x85x", "\u2029x"])
def test_a_ref_is_not_taken_for_another(make_repository: Make, tmp_path: Path, end: str) -> None:
    """Whoever may push a branch `main<U+2028>x` could have it fetched as `main`."""
    made = make_repository("upstream")
    main = made.commit({"a": "1\n"})
    made.git("tag", "v1")
    with made.at("-b", f"main{end}"):
        other = made.commit({"a": "2\n"})
        made.git("tag", f"v1{end}")
    store = create_store(tmp_path / "cache" / f"store{end}.git")
    borrow(store, made.root)
    with ObjectReader(store) as reader:
        url = f"file://{made.root}"
        assert GitUpstream(Upstream("u", "git", url), reader, Progress()).fetch() == main
    wanted = {"main": main, f"main{end}": other}
    assert references(store, "refs/upstream/heads/") == wanted
    assert remote_refs(store, url, ["refs/tags/v1"]) == {"refs/tags/v1": main}
    assert lenders(store) == [str(made.root / ".git/objects")]


def test_a_shallow_clone_lends_nothing(make_repository: Make) -> None:
    lender, store = make_repository("lender"), make_repository("store").root / ".git"
    (lender.root / ".git/shallow").write_text(f"{lender.commit({})}\n")
    with pytest.raises(PatchmgrError, match="is a shallow clone"):
        borrow(store, lender.root)
    assert lenders(store) == []
    (lender.root / ".git/shallow").unlink()
    borrow(store, lender.root)
    borrow(store, lender.root)
    assert lenders(store) == [str(lender.root / ".git/objects")]


@pytest.mark.parametrize(
    ("link", "write"),
    [
        pytest.param(".patchmgr", claim, id="id-of-a-workspace"),
        pytest.param(
            f".patchmgr/{sha256(b'x').hexdigest()[:2]}",
            lambda root: ContentStore(root, ".patchmgr").keep(b"x"),
            id="content-of-the-log",
        ),
    ],
)
def test_no_link_is_followed(tmp_path: Path, link: str, write: Callable[[Path], object]) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    outside.mkdir()
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(outside)
    with pytest.raises(PatchmgrError, match="symbolic link"):
        write(root)
    assert list(outside.iterdir()) == []
