"""`apply`, `unapply` and `verify` on installed packages."""

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.commands.conftest import invoke
from tests.commands.every import restorer
from tests.commands.scenes import changed, picture, text, unchanged
from tests.commands.test_kills import old_or_new
from tests.commands.test_packages import Shop
from tests.commands.wheels import DEMO, House, environment, install, site_of, uninstall, wheel
from tests.conftest import Repository, once
from tests.tables import table

FIXES: list[Mapping[str, bytes | str | None]] = [
    {"demo/a.py": text(l30="ours\n")},
    {"demo/b.py": text(l7="ours\n"), "demo/new/deep.py": "new\n", "demo/gone.py": None},
    {"include/demo/x.h": text(l5="ours\n"), "csrc/k.cu": text(l5="ours\n")},
]
PATHS = ["demo/a.py", "demo/b.py", "demo/data/include/demo/x.h", "demo/gone.py", "demo/new/deep.py"]


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """Return an environment with demo 1.0 and a series of three patches on it."""
    shop = Shop(tmp_path, tmp_path / "workspace")
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "index").as_uri())
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    once("house", tmp_path, ("home", "index", "venv", "workspace"), lambda: settle(shop))
    return House(shop, site_of(tmp_path / "venv"))


def settle(shop: Shop) -> None:
    (shop.folder / "index").mkdir()
    for version in RELEASES:
        shop.offer(version, release(version))
    assert invoke("init", shop.root).code == 0
    shop.run("upstream", "add", "demo", "--package", "demo")
    shop.run("series", "new", "s", "--upstream", "demo", "--base", "v1.0")
    house = House(shop, environment(shop.folder / "venv"))
    house.series(*FIXES)
    install(house.site, "1.0", DEMO)


RELEASES = {
    "1.0": text(),
    "1.1": text(l2="theirs\n\n"),
    "1.2": text(l2="theirs\n\n", l30="ours\n"),
    "1.1.1": text(l30="theirs\n"),
}


def release(version: str) -> dict[str, str]:
    """Return the files of a release that the index has."""
    return {**DEMO, "demo/a.py": RELEASES[version]}


def test_files_are_patched_in_place_and_go_back_as_they_were(house: House) -> None:
    before = picture(house.site, without=())
    assert house.state() == "pristine"
    answer = house.run("apply", "--json").json
    assert answer["paths"] == PATHS
    assert answer["out_of_reach"] == [{"patch": "fix-3.patch", "path": "csrc/k.cu"}]
    assert answer["distribution"] == {"name": "demo", "version": "1.0"}
    assert house.read("demo/a.py") == text(l30="ours\n")
    assert house.read("demo/new/deep.py") == "new\n"
    assert house.read("demo/data/include/demo/x.h") == text(l5="ours\n")
    assert not (house.site / "demo/gone.py").exists()
    after = picture(house.site, without=(".patchmgr",))
    assert changed(before, after) == {*PATHS, "demo/new"}
    assert house.state() == "patched"
    assert "already" in house.run("apply").out
    assert picture(house.site, without=(".patchmgr",)) == after
    house.run("unapply")
    assert picture(house.site, without=()) == before
    assert house.state() == "pristine"


def test_an_interpreter_names_its_environment(house: House) -> None:
    for python in (house.python, house.python.parents[1]):
        line = ("s", "--python", python)
        assert "Applied 3 of 3 patches to 5 files of demo 1.0" in house.shop.run("apply", *line).out
        house.shop.run("verify", *line)
        house.shop.run("unapply", *line)


def test_a_folder_without_it_is_named_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(info(house))
    root = house.site.parents[2]
    monkeypatch.chdir(root)
    said = house.shop.run("verify", "s", "--python", f"../{root.name}", code=1).err
    assert said.count("site-packages") == 1


def test_nothing_that_is_installed_is_run(house: House) -> None:
    bomb = "import os; os.abort()\n"
    for name in ("bomb.pth", "sitecustomize.py"):
        (house.site / name).write_text(bomb)
    house.shop.run("apply", "s", "--python", house.python)
    house.shop.run("verify", "s", "--python", house.python)


def test_the_pin_needs_no_index_and_no_store(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(house.shop.folder / "index")
    monkeypatch.setenv("XDG_CACHE_HOME", str(house.shop.folder / "another cache"))
    assert house.verdicts() == ["unchanged"] * 3
    assert house.read("demo/data/include/demo/x.h") == text(l5="ours\n")
    assert house.state() == "patched"


@pytest.mark.parametrize(
    ("version", "verdicts"),
    [
        ("1.0", ["unchanged", "unchanged", "unchanged"]),
        ("1.1", ["unchanged", "unchanged", "unchanged"]),
        ("1.2", ["absorbed", "unchanged", "unchanged"]),
    ],
)
def test_an_upgrade_needs_one_command(house: House, version: str, verdicts: list[str]) -> None:
    house.run("apply")
    install(house.site, version, release(version))
    fresh = picture(house.site, without=(".patchmgr",))
    # Installers know nothing of a file that a patch made: it is what is left.
    assert house.state() == "partly"
    told = house.run("apply", "--dry-run").out
    assert ("demo 1.2 already has 1 patch." in told) is ("absorbed" in verdicts)
    assert house.verdicts() == verdicts
    assert house.state() == "patched"
    assert house.read("demo/b.py") == text(l7="ours\n")
    assert "ours\n" in house.read("demo/a.py")
    if "absorbed" in verdicts:
        assert house.read("demo/a.py") == release(version)["demo/a.py"]
    house.run("unapply")
    left = changed(fresh, picture(house.site, without=()))
    assert left == {"demo/new", "demo/new/deep.py"}


def test_a_release_that_nobody_offers_is_compared_with_the_pin(house: House) -> None:
    files = {**DEMO, "demo/a.py": text(l2="mine\n"), "demo/more.py": "x\n"}
    install(house.site, "1.0.1+local", files)
    install(house.site, "1.9", files)
    answer = house.run("apply", "--json").json
    assert [patch["verdict"] for patch in answer["patches"]] == ["unchanged"] * 3
    assert "1.9" in answer["notes"][0]
    assert house.read("demo/a.py") == text(l2="mine\n", l30="ours\n")


def test_a_conflict_writes_nothing_and_shows_both_texts(house: House) -> None:
    install(house.site, "1.1.1", release("1.1.1"))
    with unchanged(house.site, without=()):
        answer = house.run("apply", "--show-conflicts", code=3)
        assert "nothing was written" in answer.out
        assert "theirs" in answer.out and "ours" in answer.out
    assert house.verdicts(code=3)[0] == "conflict"
    house.shop.run("decide", "fix-1.patch", "absorbed")
    assert house.verdicts() == ["absorbed", "unchanged", "unchanged"]


def test_what_a_person_said_holds_for_packages_too(house: House) -> None:
    source = house.shop.folder / "demo-1.1.1-py3-none-any.whl"
    source.write_bytes(wheel("1.1.1", release("1.1.1")))
    made = ("wheel", "s", "--from", source, "--out", house.shop.folder)
    house.shop.run(*made, code=3)
    house.shop.run("decide", "fix-1.patch", "absorbed")
    house.shop.run(*made)
    install(house.site, "1.1.1", release("1.1.1"))
    house.run("overlay", "--out", house.shop.folder / "overlay")


def test_a_finding_is_accepted_for_packages_too(house: House) -> None:
    older = {**DEMO, "demo/h.py": "def gone():\n    pass\n\n\ndef stays():\n    pass\n"}
    newer = {**older, "demo/h.py": "def stays():\n    pass\n"}
    fork = Repository(house.shop.folder / "user")
    fork.commit(older, "2.0")
    fork.git("tag", "base")
    fork.commit({"demo/user.py": "from demo.h import gone\n\ngone()\n"}, "user")
    house.shop.offer("2.0", older)
    house.shop.offer("2.1", newer)
    house.shop.run("drop", "1", "2", "3")
    house.shop.run("rebase", "s", "--onto", "v2.0")
    house.import_(fork)
    install(house.site, "2.1", newer)
    told = house.run("apply", code=3).out
    accept = told.partition("accept it with: patchmgr ")[2].partition(" --because")[0]
    house.shop.run(*accept.split(), "--because", "nobody imports it")
    assert house.verdicts() == ["unchanged"]


def test_a_changed_series_takes_the_old_out_and_puts_the_new_in(house: House) -> None:
    before = picture(house.site, without=())
    house.run("apply")
    house.series({"demo/a.py": text(l40="other\n")})
    assert house.state() == "outdated"
    assert house.verdicts() == ["unchanged"]
    assert changed(before, picture(house.site, without=(".patchmgr",))) == {"demo/a.py"}
    assert house.read("demo/a.py") == text(l40="other\n")
    house.run("unapply")
    assert picture(house.site, without=()) == before


def test_hard_links_into_a_cache_stay_as_they_were(house: House) -> None:
    cache = house.shop.folder / "uv-cache"
    cache.mkdir()
    for number, path in enumerate(sorted(p for p in house.site.rglob("*") if p.is_file())):
        os.link(path, cache / str(number))
    before = picture(cache)
    house.run("apply")
    assert picture(cache) == before
    house.run("unapply")
    assert picture(cache) == before


def test_modes_and_owners_stay(house: House) -> None:
    (house.site / "demo/a.py").chmod(0o640)
    owner = (1234, 4321) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(house.site / "demo/a.py", *owner)  # only root gives files away
    for command in ("apply", "unapply"):
        house.run(command)
        found = (house.site / "demo/a.py").stat()
        assert (stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid) == (0o640, *owner)


def test_a_rebuilt_wheel_that_has_the_patches_itself_is_left_as_it_is(house: House) -> None:
    house.run("apply")
    fixed = {path: change for fix in FIXES for path, change in fix.items()}
    install(house.site, "1.0", {p: c for p, c in {**DEMO, **fixed}.items() if isinstance(c, str)})
    with unchanged(house.site):
        assert house.state() == "replaced"
        house.run("unapply")
        assert house.verdicts() == ["absorbed"] * 3
        assert house.state() == "patched"
        house.run("unapply")


def test_what_python_compiled_of_a_changed_module_goes(house: House) -> None:
    cache = house.site / "demo/__pycache__"
    cache.mkdir()
    for name in ("a.cpython-311.pyc", "a.cpython-311.opt-1.pyc", "aa.cpython-311.pyc"):
        (cache / name).write_bytes(b"compiled")
    house.run("apply")
    assert [path.name for path in cache.iterdir()] == ["aa.cpython-311.pyc"]
    (cache / "a.cpython-311.pyc").write_bytes(b"compiled")
    house.run("unapply")
    assert [path.name for path in cache.iterdir()] == ["aa.cpython-311.pyc"]


@table(
    ("content", "is_applied"),
    {
        "edited before": ("mine\n", False),
        "edited": ("mine\n", True),
        "deleted": (None, True),
        "deleted before": (None, False),
    },
)
def test_an_edit_by_others_is_refused(house: House, content: str | None, is_applied: bool) -> None:
    if is_applied != (house.state() == "patched"):
        house.run("apply" if is_applied else "unapply")
    (house.site / "demo/a.py").unlink()
    if content is not None:
        (house.site / "demo/a.py").write_text(content)
    assert "demo/a.py" in house.refuses("apply")
    assert house.state() == "edited"
    assert "somebody else edited the files marked `edited`" in house.run("verify", code=4).out
    install(house.site, "1.0", DEMO)
    house.run("apply")
    assert house.state() == "patched"


def info(house: House) -> Path:
    """Return the folder of what installers say of the package."""
    return house.site / "demo-1.0.dist-info"


def put(house: House, path: str, content: str) -> None:
    """Write an installed file."""
    (house.site / path).parent.mkdir(exist_ok=True)
    (house.site / path).write_text(content)


def _editable(house: House) -> None:
    place = info(house) / "direct_url.json"
    place.write_text('{"url": "file:///src", "dir_info": {"editable": true}}')


def _editable_by_path(house: House) -> None:
    put(house, "demo.pth", "/src/demo\n")
    record = info(house) / "RECORD"
    record.write_text(record.read_text() + "demo.pth,,\n")


def _twice(house: House) -> None:
    shutil.copytree(info(house), house.site / "demo-1.1.dist-info")


def _shared(house: House) -> None:
    put(house, "other-3.dist-info/RECORD", "demo/a.py,,\n")


def _linked(house: House) -> None:
    away = house.shop.folder / "a.py"
    shutil.move(house.site / "demo/a.py", away)
    (house.site / "demo/a.py").symlink_to(away)


def _linked_folder(house: House) -> None:
    away = house.shop.folder / "demo-away"
    shutil.move(house.site / "demo", away)
    (house.site / "demo").symlink_to(away)


def _egg(house: House) -> None:
    shutil.rmtree(info(house))
    put(house, "demo-1.0-py3.11.egg", "PK")


def _egg_link(house: House) -> None:
    shutil.rmtree(info(house))
    put(house, "demo.egg-link", "/src/demo\n.\n")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_editable, "is an editable install"),
        (_editable_by_path, "is an editable install"),
        (_egg_link, "is an editable install"),
        (_twice, "is installed twice"),
        (_shared, "belongs to demo and to other-3"),
        (_linked, "is a symbolic link"),
        (_linked_folder, "leads through demo"),
        (lambda house: (info(house) / "RECORD").unlink(), "RECORD, which lists the files of"),
        (_egg, "which has no list of its files"),
        (lambda house: shutil.rmtree(info(house)), "demo is not installed in"),
        (lambda house: put(house, "demo/new/deep.py", "mine\n"), "neither from demo 1.0"),
        (lambda house: (info(house) / "RECORD").write_text('a\0b,x,\n"'), ""),
    ],
    ids=[
        "editable", "editable-by-path", "egg-link", "twice", "shared", "linked", "linked-folder",
        "no-record", "egg", "absent", "in-the-way", "forged-record",
    ],
)  # fmt: skip
def test_what_cannot_be_patched_safely_is_refused_with_advice(
    house: House, spoil: Callable[[House], object], words: str
) -> None:
    spoil(house)
    with unchanged(house.site, without=()):
        answer = house.run("apply", code=1)
        assert words in answer.err
        assert "hint: " in answer.err or not words


def test_a_system_s_packages_need_an_option(house: House, tmp_path: Path) -> None:
    from patchmgr.plumbing.environments import Environment
    from patchmgr.services import installed

    marker = tmp_path / "EXTERNALLY-MANAGED"
    with pytest.MonkeyPatch.context() as patched:
        found = Environment((house.site,), marker, frozenset((house.site,)))
        patched.setattr(installed, "ask_environment", lambda python: found)
        line = ("apply", "s", "--python", "python3")
        answer = house.shop.run(*line, code=1)
        assert "is managed by the system" in answer.err
        assert "overlay s --python python3" in answer.err
        house.shop.run(*line, "--break-system-packages")


def test_links_to_a_cache_are_pristine_and_an_overlay_reads_them(house: House) -> None:
    cache = house.shop.folder / "uv-cache"
    for path in sorted((house.site / "demo").rglob("*.py")):
        place = cache / path.relative_to(house.site)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, place)
        path.symlink_to(place)
    with unchanged(house.site, without=()):
        assert house.state() == "pristine"
        answer = house.run("apply", code=1)
        assert "is a symbolic link" in answer.err
        assert f"overlay s --site {house.site}" in answer.err
        out = house.shop.folder / "overlay"
        assert house.run("overlay", "--out", out, "--json").json["paths"] == [
            "demo/a.py", "demo/b.py", "demo/new/deep.py",
        ]  # fmt: skip


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_tree_is_refused_with_the_overlay(house: House) -> None:
    house.site.chmod(0o555)
    try:
        assert "overlay s --site" in house.run("apply", code=1).err
    finally:
        house.site.chmod(0o755)


def test_only_files_that_are_not_installed_are_out_of_reach(house: House) -> None:
    house.series({"csrc/k.cu": text(l5="ours\n")}, {"tests/new.py": "x\n"})
    assert "has none of the files" in house.refuses("apply")
    house.series({"csrc/k.cu": text(l5="ours\n")}, {"demo/a.py": text(l5="ours\n")})
    assert house.verdicts() == ["skipped", "unchanged"]
    assert "not in the package: csrc/k.cu" in house.run("unapply").err + house.run("apply").out


def test_a_path_map_says_where_files_are(house: House) -> None:
    house.series({"csrc/k.cu": text(l5="ours\n"), "csrc/new.cu": "new\n"})
    files = {**DEMO, "demo/kernels/k.cu": text()}
    install(house.site, "1.0", files)
    settings = house.shop.root / "series/s/series.toml"
    settings.write_text('[paths]\n"csrc/" = "demo/kernels/"\n')
    assert house.verdicts() == ["unchanged"]
    assert house.read("demo/kernels/k.cu") == text(l5="ours\n")
    assert house.read("demo/kernels/new.cu") == "new\n"
    settings.write_text('[paths]\n"csrc/" = "../evil/"\n')
    house.run("apply", code=1)
    settings.write_text("[paths\n")
    house.run("apply", code=1)


def test_a_new_header_goes_beside_the_others(house: House) -> None:
    house.series({"include/demo/z.h": "z\n"})
    house.run("apply")
    assert house.read("demo/data/include/demo/z.h") == "z\n"


def test_a_dry_run_writes_nothing(house: House) -> None:
    before = picture(house.site, without=())
    assert "Would apply 3 of 3 patches to 5 files" in house.run("apply", "--dry-run").out
    assert picture(house.site, without=()) == before
    house.run("apply")
    before = picture(house.site, without=())
    house.run("unapply", "--dry-run")
    assert picture(house.site, without=()) == before


def test_another_series_is_not_put_on_top(house: House) -> None:
    house.run("apply")
    line = ("series", "new", "t", "--upstream", "demo", "--base", "v1.0")
    house.shop.run(*line)
    answer = house.shop.run("apply", "t", "--site", house.site, code=2)
    assert "the series s is applied to demo" in answer.err


def test_a_series_of_the_same_name_in_another_workspace_is_another_one(house: House) -> None:
    house.run("apply")
    kept = picture(house.site, without=())
    root = house.shop.folder / "another"
    assert invoke("init", root).code == 0
    other = House(Shop(house.shop.folder, root), house.site)
    other.shop.run("upstream", "add", "demo", "--package", "demo")
    other.shop.run("series", "new", "s", "--upstream", "demo", "--base", "v1.0")
    other.series({"demo/a.py": text(l40="other\n")})
    for command in ("apply", "unapply"):
        answer = other.run(command, code=2)
        assert f"the series s of the workspace {house.shop.root} is applied to demo" in answer.err
        assert picture(house.site, without=()) == kept
    assert f"patchmgr -C {house.shop.root} unapply s --site {house.site}" in answer.err
    other.shop.run("import", "--series", "s", "--site", house.site, code=2)
    house.run("unapply")
    other.run("apply")
    assert house.read("demo/a.py") == text(l40="other\n")


def test_a_copy_of_a_workspace_has_the_same_series(house: House) -> None:
    house.run("apply")
    root = house.shop.folder / "another"
    shutil.copytree(house.shop.root, root)
    other = House(Shop(house.shop.folder, root), house.site)
    assert other.state() == "patched"
    assert "already" in other.run("apply").out
    other.series(*FIXES[:2], {"include/demo/x.h": text(l5="more\n")})
    other.run("apply")
    assert house.read("demo/data/include/demo/x.h") == text(l5="more\n")
    shutil.rmtree(root)
    house.series({"demo/a.py": text(l40="other\n")})
    house.run("apply")  # the workspace that applied it is gone, as after a move
    assert house.read("demo/a.py") == text(l40="other\n")
    house.run("unapply")


def test_an_interpreter_warns_at_its_start_if_asked(house: House) -> None:
    before = picture(house.site, without=())
    line = ("s", "--python", house.python)
    house.shop.run("apply", *line, "--warn-at-start")
    assert house.state() == "patched"
    start = [str(house.python), "-c", "pass"]
    assert subprocess.run(start, capture_output=True, check=True).stderr == b""
    assert "already" in house.run("apply").out
    install(house.site, "1.0", DEMO)
    said = subprocess.run(start, capture_output=True, check=True).stderr.decode()
    assert "4 of 5 files of demo have changed since the series s was applied" in said
    house.shop.run("apply", *line)
    assert subprocess.run(start, capture_output=True, check=True).stderr == b""
    house.run("unapply")
    assert picture(house.site, without=()) == before


def test_an_option_without_its_place_is_a_usage_error(house: House) -> None:
    house.shop.run("apply", "s", "--python", "x", "--site", house.site, code=2)
    house.shop.run("apply", "s", "--to", house.site, "--site", house.site, code=2)
    house.shop.run("verify", "s", code=2)
    house.shop.run("apply", "s", "--python", house.shop.folder / "nothing", code=1)
    house.shop.run("apply", "s", "--site", house.shop.folder / "nothing", code=1)


def test_status_tells_of_packages(house: House) -> None:
    house.run("apply")
    (row,) = house.shop.run("status", "--json").json["applied"]
    assert (row["series"], row["sound"]) == ("s", True)
    assert str(house.site) in house.shop.run("status").out
    install(house.site, "1.1", release("1.1"))
    (row,) = house.shop.run("status", "--json").json["applied"]
    assert row["sound"] is False
    shutil.rmtree(house.site)
    assert house.shop.run("status", "--json").json["applied"] == []


def test_a_record_or_a_journal_of_a_stranger_reaches_nothing_else(house: House) -> None:
    mine = house.shop.folder / "mine"
    mine.write_text("mine\n")
    house.run("apply")
    private = house.site / ".patchmgr/demo"
    record = (private / "applied.json").read_text()
    (private / "applied.json").write_text(record.replace("demo/a.py", "../../../../mine"))
    for command in ("verify", "unapply", "apply"):
        assert "../../../../mine" in house.run(command, code=1).err
    (private / "applied.json").write_text(record)
    journal: dict[str, object] = {
        "phase": "moving", "made": [], "files": [["../../../../mine", None, None, None]],
        "record": None, "head": ["", ""], "index": {}, "hidden": [],
    }  # fmt: skip
    for row in (journal, {**journal, "phase": "staging", "made": ["../x"]}):
        (private / "journal.json").write_text(json.dumps(row))
        assert "the record of applied patches" in house.run("verify", code=1).err
    assert mine.read_text() == "mine\n"


def test_a_workspace_that_cannot_be_written_is_enough(house: House) -> None:
    before = picture(house.shop.root)
    house.run("apply")
    house.run("verify")
    assert changed(before, picture(house.shop.root)) == set()


def test_a_series_on_git_goes_into_a_package_by_its_tags(house: House) -> None:
    git = Repository(house.shop.folder / "git")
    for version in ("1.0", "1.2"):
        git.commit(dict(release(version)), version)
        git.git("tag", f"v{version}")
    house.shop.run("upstream", "add", "both", "--package", "demo", "--git", git.root)
    house.shop.run("series", "new", "g", "--upstream", "both", "--base", "v1.0")
    git.git("checkout", "--quiet", "-b", "fork", "v1.0")
    git.commit({"demo/a.py": text(l30="ours\n")}, "fix a")
    git.commit({"demo/b.py": text(l30="ours\n")}, "fix b")
    box = house.shop.folder / "g.mbox"
    box.write_bytes(git.patches("v1.0..fork"))
    house.shop.run("import", box, "--series", "g")
    line = ("apply", "g", "--site", house.site, "--json")
    assert [p["verdict"] for p in house.shop.run(*line).json["patches"]] == ["unchanged"] * 2
    install(house.site, "1.2", release("1.2"))
    patches = house.shop.run(*line).json["patches"]
    assert [p["verdict"] for p in patches] == ["absorbed", "unchanged"]
    assert patches[0]["evidence"][0]["subject"] == "1.2"


def test_what_an_uninstall_leaves_can_be_taken_out(house: House) -> None:
    house.run("apply", "--warn-at-start")
    uninstall(house.site)
    start = [str(house.python), "-c", "pass"]
    said = subprocess.run(start, capture_output=True, check=True, text=True).stderr
    assert "of demo have changed since" in said
    house.run("verify", code=1)
    house.run("unapply")
    assert set(picture(house.site, without=("__pycache__",))) == set()
    house.run("unapply", code=1)


@pytest.mark.parametrize("content", ["new\n", "theirs\n"])
def test_an_added_file_that_another_package_owns_by_now_stays(house: House, content: str) -> None:
    house.series({"demo/n.py": "new\n"})
    house.run("apply")
    put(house, "demo/n.py", content)
    put(house, "other-3.dist-info/RECORD", "demo/n.py,,\n")
    house.run("unapply")
    assert house.read("demo/n.py") == content


def test_a_place_that_cannot_be_written_is_told_of_the_overlay(house: House) -> None:
    (house.site / ".patchmgr").write_text("in the way")
    answer = house.run("apply", code=1)
    assert "overlay s --site" in answer.err


def forget_hashes(record: Path) -> None:
    lines = record.read_text().splitlines()
    record.write_text("".join(f"{line.split(',')[0]},,\n" for line in lines))


def test_a_record_without_hashes_is_told_by_versions(house: House) -> None:
    before = picture(house.site, without=())
    forget_hashes(house.site / "demo-1.0.dist-info/RECORD")
    assert house.state() == "pristine"
    house.run("apply")
    assert house.state() == "patched"
    house.run("unapply")
    assert changed(before, picture(house.site, without=())) == {"demo-1.0.dist-info/RECORD"}
    house.run("apply")
    install(house.site, "1.2", release("1.2"))
    forget_hashes(house.site / "demo-1.2.dist-info/RECORD")
    assert house.verdicts() == ["absorbed", "unchanged", "unchanged"]
    assert house.state() == "patched"
    (house.site / "demo/b.py").write_text("mine\n")
    assert house.state() == "edited"


_SMALL = {"demo/a.py": text(l30="ours\n"), "demo/new/deep.py": "new\n", "demo/gone.py": None}


@pytest.mark.parametrize(
    ("before", "command"),
    [
        pytest.param((), ("apply",), id="apply"),
        pytest.param((), ("apply", "--warn-at-start"), id="apply-warn"),
        pytest.param(("apply",), ("unapply",), id="unapply"),
        pytest.param(("apply", "series"), ("apply",), id="exchange"),
        pytest.param(("apply", "reinstall"), ("apply",), id="reinstalled"),
    ],
)
def test_a_killed_command_leaves_a_package_old_or_new(
    house: House, before: tuple[str, ...], command: tuple[str, ...]
) -> None:
    house.series(_SMALL)
    cache = house.site / "demo/__pycache__"
    for step in before:
        if step == "apply":
            house.run("apply")
        elif step == "series":
            house.series({**_SMALL, "demo/a.py": text(l40="other\n")})
        else:
            install(house.site, "1.0", DEMO)
    cache.mkdir()
    (cache / "a.cpython-311.pyc").write_bytes(b"compiled")
    line: tuple[str | Path, ...] = (command[0], "s", "--site", house.site, *command[1:])
    seen = old_or_new(
        lambda: invoke("-C", house.shop.root, *line),
        look=lambda: (house.state(), picture(house.site, without=(".patchmgr",))),
        reset=restorer(house.site),
    )
    assert seen == {"old", "new"}
