"""Series on the releases of a package, from a package index on this disk."""

import gzip
import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.commands.conftest import Answer, checked, invoke
from tests.commands.scenes import one_line, text, unchanged
from tests.conftest import Repository, once


def sdist(version: str, files: Mapping[str, str]) -> bytes:
    """Return an sdist of `demo`, the same bytes for the same files; a minor release is a day."""
    raw = io.BytesIO()
    whole = {**files, "PKG-INFO": f"Metadata-Version: 2.1\nName: demo\nVersion: {version}\n"}
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for path, content in whole.items():
            member = tarfile.TarInfo(f"demo-{version}/{path}")
            member.size, member.mtime = len(content.encode()), 1_600_000_000 + _age(version)
            archive.addfile(member, io.BytesIO(content.encode()))
    return gzip.compress(raw.getvalue(), mtime=0)


def _age(version: str) -> int:
    return sum(86_400 * int(part) for part in version.split(".")[1:2] if part.isdigit())


@dataclass(frozen=True)
class Shop:
    """An index that has releases of `demo`, and a workspace that follows it."""

    folder: Path
    root: Path

    def offer(self, version: str, files: Mapping[str, str]) -> str:
        """Put a release on the index; return its sha256."""
        place = self.folder / "index/demo"
        place.mkdir(parents=True, exist_ok=True)
        raw = sdist(version, files)
        (place / f"demo-{version}.tar.gz").write_bytes(raw)
        links = [
            f'<a href="{path.name}#sha256={hashlib.sha256(path.read_bytes()).hexdigest()}">'
            f"{path.name}</a>"
            for path in sorted(place.glob("*.tar.gz"))
        ]
        (place / "index.html").write_text("\n".join(links))
        return hashlib.sha256(raw).hexdigest()

    def run(self, *arguments: str | Path, code: int = 0) -> Answer:
        """Run a command in the workspace and check its exit code."""
        return checked("-C", self.root, *arguments, code=code)

    def refuses(self, *arguments: str | Path, code: int = 1) -> str:
        """Check that a command changes nothing; return the one line that says why."""
        with unchanged(self.root):
            return one_line(self.run(*arguments, code=code))


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Return three releases, of which the second has another line and the third our fix."""
    found = Shop(tmp_path, tmp_path / "workspace")
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "index").as_uri())
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")

    def make() -> None:
        found.offer("1.0", {"demo/a.py": text(), "demo/b.py": text()})
        found.offer("1.1", {"demo/a.py": text(l2="theirs\n\n"), "demo/b.py": text()})
        ours = {"demo/a.py": text(l2="theirs\n\n", l30="ours\n"), "demo/b.py": text()}
        found.offer("1.2", ours)
        found.offer("2.0rc1", {"demo/a.py": "all new\n"})
        assert invoke("init", found.root).code == 0
        found.run("upstream", "add", "demo", "--package", "demo")

    once("shop", tmp_path, SHOP, make)
    return found


SHOP = ("home", "index", "workspace")


def fork(shop: Shop) -> None:
    """Make a series of two patches on 1.0."""
    once("shop with a series", shop.folder, ("home", "workspace"), lambda: _fork(shop))


def _fork(shop: Shop) -> None:
    upstream = Repository(shop.folder / "fork")
    upstream.commit({"demo/a.py": text(), "demo/b.py": text()}, "1.0")
    upstream.commit({"demo/a.py": text(l30="ours\n")}, "fix a")
    upstream.commit({"demo/b.py": text(l7="ours\n")}, "fix b")
    box = shop.folder / "box.mbox"
    box.write_bytes(upstream.patches("HEAD~2..HEAD"))
    shop.run("series", "new", "s", "--upstream", "demo", "--base", "v1.0")
    shop.run("import", box, "--series", "s")


def test_a_series_goes_from_release_to_release(shop: Shop) -> None:
    fork(shop)
    shown = shop.run("series", "show", "s", "--json").json["series"]["base"]
    assert (shown["ref"], shown["archive"]) == ("v1.0", "demo-1.0.tar.gz")
    first = shop.run("rebase", "s", "--onto", "1.1", "--json").json["series"][0]
    assert [patch["verdict"] for patch in first["patches"]] == ["unchanged", "unchanged"]
    assert first["upstream_commits"] == 1
    built = shop.run("branch", "s", "--json").json
    assert built["head"] == first["head"]
    assert "1 release behind v1.2" in shop.run("status").out
    second = shop.run("rebase", "s", "--onto", "upstream/main", "--json").json["series"][0]
    assert [patch["verdict"] for patch in second["patches"]] == ["absorbed", "unchanged"]
    assert second["onto"]["ref"] == "v1.2"
    assert second["patches"][0]["evidence"][0]["subject"] == "demo 1.2"
    assert "up to date" in shop.run("status").out


def test_another_cache_gives_the_same_commits(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    fork(shop)
    first = shop.run("rebase", "s", "--onto", "v1.1", "--dry-run", "--json").json
    head = shop.run("branch", "s", "--json").json["head"]
    monkeypatch.setenv("XDG_CACHE_HOME", str(shop.folder / "another cache"))
    assert shop.run("branch", "s", "--json").json["head"] == head
    assert shop.run("rebase", "s", "--onto", "v1.1", "--dry-run", "--json").json == first


def test_the_release_goes_along_into_a_clone_and_a_checkout_takes_the_patches(shop: Shop) -> None:
    fork(shop)
    clone = Repository(shop.folder / "clone")
    clone.commit({"demo/a.py": text(), "demo/b.py": text(), "tests/x": "only in git\n"}, "git")
    head = shop.run("branch", "s", "--repo", clone.root, "--json").json["head"]
    assert clone.git("rev-parse", "patchmgr/s") == head
    clone.git("fsck", "--strict", "--no-dangling")
    with unchanged(clone.root):
        shop.run("apply", "s", "--to", clone.root)
        assert (clone.root / "demo/a.py").read_text() == text(l30="ours\n")
        shop.run("unapply", "s", "--to", clone.root)


def test_fetch_brings_the_newest_final_release(shop: Shop) -> None:
    answer = shop.run("upstream", "fetch", "--json").json["upstreams"]
    line = ("series", "new", "t", "--upstream", "demo", "--dry-run", "--base")
    assert answer[0]["commit"] in shop.run(*line, "upstream/main").err
    assert "v1.2" in shop.run(*line, "upstream/main").err
    assert "v2.0rc1" in shop.run(*line, "2.0rc1").err


def test_an_unknown_release_gets_the_nearest(shop: Shop) -> None:
    line = ("series", "new", "t", "--upstream", "demo", "--base")
    assert one_line(shop.run(*line, "v1.3", code=2)) == "demo has no release v1.3"
    assert "v1.2" in shop.run(*line, "v1.3", code=2).err
    shop.run("upstream", "add", "none", "--package", "nothing-of-that-name")
    none = ("series", "new", "t", "--upstream", "none", "--base", "v1")
    assert "no package index lists" in shop.refuses(*none)


def test_no_other_archive(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    fork(shop)
    shop.offer("1.0", {"demo/a.py": text(l30="evil\n"), "demo/b.py": text()})
    clone = Repository(shop.folder / "clone")
    clone.commit({"demo/a.py": text(), "demo/b.py": text()})
    extra = shop.folder / "extra.diff"
    extra.write_text("--- a/demo/a.py\n+++ b/demo/a.py\n@@ -1 +1 @@\n-line 0\n+zero\n")
    lines: tuple[tuple[str | Path, ...], ...] = (
        ("rebase", "s", "--onto", "v1.1", "--dry-run"),
        ("branch", "s"),
        ("report", "s"),
        ("import", extra, "--series", "s", "--dry-run"),
        ("apply", "s", "--to", clone.root, "--dry-run"),
    )
    for line in lines:
        shop.run(*line)  # what the store has already is the pinned one
    monkeypatch.setenv("XDG_CACHE_HOME", str(shop.folder / "another cache"))
    for line in lines:
        message = shop.refuses(*line)
        assert "demo-1.0.tar.gz of demo is not the archive that upstream.lock pins" in message
        assert shop.run(*line, "--json", code=1).json["error"]["kind"] == "checksum-mismatch"


def test_an_archive_that_is_not_what_the_index_says_is_refused(shop: Shop) -> None:
    archive = shop.folder / "index/demo/demo-1.1.tar.gz"
    archive.write_bytes(sdist("1.1", {"demo/a.py": "evil\n"}))
    line = ("series", "new", "t", "--upstream", "demo", "--base", "v1.1")
    assert "sha256" in shop.refuses(*line)
    fork(shop)
    assert "sha256" in shop.refuses("rebase", "s", "--onto", "v1.1")


def test_a_lock_with_another_sha256_or_tree_is_refused(shop: Shop) -> None:
    fork(shop)
    lock = shop.root / "upstream.lock"
    good = lock.read_text()
    for key in ("sha256", "tree", "commit"):
        value = good.split(f'{key} = "')[1].split('"')[0]
        lock.write_text(good.replace(value, "1" * len(value)))
        for line in (("branch", "s"), ("rebase", "s", "--onto", "v1.1")):
            shop.refuses(*line)


def test_an_index_that_is_not_there(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    fork(shop)
    shutil.move(shop.folder / "index", shop.folder / "away")
    assert "demo" in shop.refuses("upstream", "fetch")
    assert "demo" in shop.refuses("rebase", "s", "--onto", "v1.1")
    shop.run("status")
    shop.run("branch", "s")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("PIP_RETRIES", "0")
    error = shop.run("upstream", "fetch", "--json", code=1).json["error"]
    assert error["kind"] == "unreachable-upstream"


def test_an_upstream_with_both_has_its_releases_and_its_branches(shop: Shop) -> None:
    git = Repository(shop.folder / "git")
    base = git.commit({"demo/a.py": text(), "demo/b.py": text()}, "git")
    shop.run("upstream", "add", "both", "--package", "demo", "--git", git.root)
    shop.run("series", "new", "g", "--upstream", "both", "--base", "upstream/main")
    assert base in (shop.root / "upstream.lock").read_text()
    shop.run("upstream", "fetch", "both")
    shop.run("branch", "g")


def test_a_decision_names_a_pull_request_that_a_release_has(shop: Shop) -> None:
    fork(shop)
    shop.offer("1.1.1", {"demo/a.py": text(l30="theirs\n"), "demo/b.py": text()})
    onto = ("rebase", "s", "--onto", "v1.1.1", "--dry-run", "--json")
    shop.run(*onto, code=3)
    shop.run("decide", "fix-a.patch", "absorbed", "--by", "#12")
    first = shop.run(*onto).json["series"][0]["patches"][0]
    (evidence,) = first["evidence"]
    assert (evidence["subject"], evidence["pull"], evidence["how"]) == ("demo 1.1.1", 12, "decided")


def test_hotspots_of_a_package_are_counted_from_release_to_release(shop: Shop) -> None:
    fork(shop)
    shop.run("rebase", "s", "--onto", "v1.2", "--dry-run")
    hotspots = json.loads(shop.run("report", "s", "--json").out)["series"][0]["hotspots"]
    assert (hotspots["window"], hotspots["step"]) == (2, "upstream release")
    counts = {hot["path"]: hot["file_commits"] for hot in hotspots["symbols"]}
    assert counts == {"demo/a.py": 2, "demo/b.py": 0}
    assert "the last 2 upstream releases" in shop.run("report", "s", "--format", "markdown").out


def test_notes_tell_of_a_sync_between_releases(shop: Shop) -> None:
    fork(shop)
    shop.run("rebase", "s", "--onto", "v1.1")
    for ends in (("--from", "v1.0", "--to", "v1.1"), ("--from", "v1.0"), ()):
        told = shop.run("notes", "s", *ends).out
        assert "1 upstream release came in: from `v1.0`" in told
        assert "demo 1.1" in told


def test_a_release_that_has_a_patch_brought_more_than_that(shop: Shop) -> None:
    fork(shop)
    note = shop.run("notes", "s", "--from", "v1.0", "--to", "v1.2", "--json").json["series"]
    assert [one["by"][0]["subject"] for one in note["dropped"]] == ["demo 1.2"]
    subjects = [one["subject"] for group in note["brought"] for one in group["commits"]]
    assert subjects == ["demo 1.1", "demo 1.2"]


def test_a_patch_without_a_date_has_that_of_the_release_that_it_is_on(shop: Shop) -> None:
    fork(shop)
    plain = shop.folder / "plain.diff"
    plain.write_text("--- a/demo/b.py\n+++ b/demo/b.py\n@@ -1 +1 @@\n-line 0\n+zero\n")
    shop.run("import", plain, "--series", "s")
    head = shop.run("rebase", "s", "--onto", "v1.1", "--json").json["series"][0]["head"]
    assert shop.run("branch", "s", "--json").json["head"] == head
