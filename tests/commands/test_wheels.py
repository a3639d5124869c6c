"""`wheel`: patched wheels."""

import hashlib
import json
import stat
import sys
import zipfile
from pathlib import Path

import pytest

from patchmgr import render
from patchmgr.commands.wheel import Wheel
from patchmgr.model.snapshot import EXECUTABLE, REGULAR
from patchmgr.plumbing.applied import content_of
from tests.commands.conftest import Answer
from tests.commands.scenes import one_line, text
from tests.commands.test_installs import RELEASES
from tests.commands.test_installs import house as house
from tests.commands.test_installs_table import forked
from tests.commands.wheels import DEMO, House, digest, uninstall, wheel


@pytest.fixture
def source(house: House) -> Path:
    """Return the wheel of demo 1.0."""
    place = house.shop.folder / "demo-1.0-py3-none-any.whl"
    place.write_bytes(wheel("1.0", DEMO))
    return place


def make(house: House, source: Path, *arguments: str, code: int = 0, out: str = "dist") -> Answer:
    line = ("wheel", "s", "--from", source, "--out", house.shop.folder / out)
    return house.shop.run(*line, *arguments, code=code)


def test_a_patched_wheel_has_a_version_and_a_record_of_its_own(house: House, source: Path) -> None:
    made = make(house, source, "--json").json
    version = made["version"]
    assert version.startswith("1.0+patchmgr.")
    assert made["out_of_reach"] == [{"patch": "fix-3.patch", "path": "csrc/k.cu"}]
    place = Path(made["wheel"])
    assert place.name == f"demo-{version}-py3-none-any.whl"
    with zipfile.ZipFile(place) as archive:
        assert archive.testzip() is None
        files = {name: archive.read(name) for name in archive.namelist()}
        assert {info.date_time for info in archive.infolist()} == {(2024, 1, 2, 3, 4, 6)}
    info = f"demo-{version}.dist-info"
    assert files["demo/a.py"].decode() == text(l30="ours\n")
    assert files["demo/data/include/demo/x.h"].decode() == text(l5="ours\n")
    assert files["demo/new/deep.py"] == b"new\n"
    assert "demo/gone.py" not in files
    metadata = f"Name: demo\nVersion: {version}\n\nVersion: none\n"
    assert files[f"{info}/METADATA"].decode().endswith(metadata)
    rows = files[f"{info}/RECORD"].decode().splitlines()
    wanted = {f"{name},{digest(content)},{len(content)}" for name, content in files.items()
              if not name.endswith("/RECORD")}  # fmt: skip
    assert set(rows) == {*wanted, f"{info}/RECORD,,"}
    assert len(rows) == len(files)


def test_metadata_of_what_a_package_vendors_is_part_of_it(house: House, source: Path) -> None:
    vendored = {"demo/_vendor/more-2.dist-info/RECORD": "", "demo/_vendor/more.py": "more\n"}
    source.write_bytes(wheel("1.0", {**DEMO, **vendored}))
    with zipfile.ZipFile(make(house, source, "--json").json["wheel"]) as archive:
        assert set(vendored) <= set(archive.namelist())


def test_the_same_wheel_and_series_give_the_same_bytes(house: House, source: Path) -> None:
    first = Path(make(house, source, "--json").json["wheel"]).read_bytes()
    second = Path(make(house, source, "--json", out="again").json["wheel"]).read_bytes()
    assert first == second
    house.series({"demo/a.py": text(l40="other\n")})
    assert make(house, source, "--json").json["version"] != "1.0"


def test_an_installed_wheel_is_verified_without_a_record(house: House, source: Path) -> None:
    made = make(house, source, "--json").json["wheel"]
    uninstall(house.site)
    with zipfile.ZipFile(made) as archive:
        archive.extractall(house.site)
    assert house.state() == "patched"
    assert house.verdicts("--dry-run") == ["absorbed"] * 3
    changed = house.site / "demo/a.py"
    kept = changed.read_text()
    changed.write_text("edited\n")
    assert house.state() == "edited"
    changed.write_text(kept)
    house.series({"demo/a.py": text(l40="other\n")})
    assert house.state() == "pristine"


def permissions(place: str | Path) -> dict[str, int]:
    """Return the permission bits of the members that are regular files."""
    with zipfile.ZipFile(place) as archive:
        modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
    return {name: stat.S_IMODE(mode) for name, mode in modes.items() if stat.S_ISREG(mode)}


def test_modes_are_those_of_the_series(house: House, source: Path) -> None:
    fork = forked(house)
    (fork.root / "demo/a.py").chmod(0o755)
    fork.commit({}, "mode")
    house.import_(fork)
    more = make(house, source, "--json").json
    assert (more["paths"], permissions(more["wheel"])["demo/a.py"]) == (["demo/a.py"], 0o755)
    fork.commit({"demo/new/tool.sh": "new\n", "demo/new/text.py": "new\n"}, "files")
    (fork.root / "demo/new/tool.sh").chmod(0o755)
    fork.commit({}, "mode of a new file")
    house.import_(fork)
    made = permissions(make(house, source, "--json").json["wheel"])
    assert made["demo/b.py"] == 0o644
    assert (made["demo/new/tool.sh"], made["demo/new/text.py"]) == (0o755, 0o644)
    (fork.root / "demo/new/tool.sh").chmod(0o644)
    fork.commit({}, "mode again")
    house.import_(fork)
    assert permissions(make(house, source, "--json").json["wheel"])["demo/new/tool.sh"] == 0o644


@pytest.mark.parametrize(("bits", "wanted"), [(0o755, 0o644), (0o775, 0o664), (0o700, 0o600)])
def test_a_mode_is_taken_away(house: House, source: Path, bits: int, wanted: int) -> None:
    with zipfile.ZipFile(source) as old:
        members = [(info, old.read(info)) for info in old.infolist()]
    with zipfile.ZipFile(source, "w") as new:
        for info, content in members:
            if info.filename == "demo/a.py":
                info.external_attr = (stat.S_IFREG | bits) << 16
            new.writestr(info, content)
    house.series({"demo/a.py": text(l30="ours\n")})
    plain = make(house, source, "--json").json
    assert permissions(plain["wheel"])["demo/a.py"] == bits  # the series does not change it
    change = {"demo/a.py": content_of(REGULAR, b"ours\n")}
    with Wheel(source) as opened:
        opened.write(house.shop.folder / "made.whl", "2", change)
        other = {"demo/a.py": content_of(EXECUTABLE, b"ours\n")}
        assert opened.local_version(other) != opened.local_version(change)
    assert permissions(house.shop.folder / "made.whl")["demo/a.py"] == wanted


def test_a_file_in_place_of_the_folder_is_refused(house: House, source: Path) -> None:
    (house.shop.folder / "dist").write_text("mine\n")
    for out in ("dist", "dist/more"):
        for more in ((), ("--dry-run",)):
            answer = make(house, source, *more, code=2, out=out)
            assert one_line(answer).endswith("dist is a file, not a folder")
    assert (house.shop.folder / "dist").read_text() == "mine\n"


def test_a_folder_that_cannot_be_made_is_named(house: House, source: Path) -> None:
    (house.shop.folder / "dist").symlink_to("nowhere")
    assert "cannot be written" in make(house, source, code=1).err


def installed(house: House, source: Path) -> None:
    """Install the patched wheel in place of demo 1.0."""
    made = make(house, source, "--json").json["wheel"]
    uninstall(house.site)
    with zipfile.ZipFile(made) as archive:
        archive.extractall(house.site)


def test_patches_of_the_same_line_are_verified_in_a_wheel(house: House, source: Path) -> None:
    first, second = {"demo/a.py": text(l30="44\n")}, {"demo/a.py": text(l30="444\n")}
    more = {"demo/new/deep.py": "new\n", "demo/gone.py": None}
    house.series(first, second, more)
    installed(house, source)
    assert house.state() == "patched"
    house.series(first, {"demo/a.py": text(l30="445\n")}, more)
    assert house.state() == "pristine"
    house.series(first, second)  # a patch is taken out, and the wheel still has it
    assert house.state() == "patched"


def test_a_wheel_of_a_series_that_only_deletes_is_verified(house: House, source: Path) -> None:
    house.series({"demo/gone.py": None, "csrc/k.cu": text(l5="ours\n")}, {"include/demo/y.h": None})
    installed(house, source)
    assert house.state() == "patched"
    house.series({"demo/gone.py": "ours\n"})
    assert "has none of the files" in one_line(house.run("verify", code=1))
    house.series({"demo/b.py": None})
    assert house.state() == "pristine"


@pytest.mark.parametrize("release", ["1.1", "1.2"])
def test_patches_of_one_line_are_verified_in_a_newer_wheel(house: House, release: str) -> None:
    source = house.shop.folder / f"demo-{release}-py3-none-any.whl"
    source.write_bytes(wheel(release, {**DEMO, "demo/a.py": RELEASES[release]}))
    house.series({"demo/b.py": text(l30="44\n")}, {"demo/b.py": text(l30="444\n")})
    installed(house, source)
    assert house.state() == "patched"


def test_a_file_outside_of_the_package_is_not_a_script(house: House, source: Path) -> None:
    house.series({"demo/a.py": text(l30="ours\n"), "scripts/go": "new\n"})
    installed(house, source)
    (record,) = house.site.glob("*.dist-info/RECORD")
    record.write_text(record.read_text() + f"../../../bin/go,{digest(b'run')},3\n")
    (house.site.parents[2] / "bin/go").write_text("run")
    assert house.state() == "patched"
    (house.site / "demo/a.py").write_text("edited\n")
    assert house.state() == "edited"


def test_an_edited_file_elsewhere_in_a_patched_wheel_is_named(house: House, source: Path) -> None:
    installed(house, source)
    (house.site / "demo/data/include/demo/x.h").write_text("edited\n")
    found = house.run("verify", "--json", code=4).json
    assert found["state"] == "edited"
    row = {"path": "demo/data/include/demo/x.h", "state": "edited"}
    assert row in found["files"]


def test_a_local_version_goes_on(house: House) -> None:
    source = house.shop.folder / "demo-1.0+cu129-py3-none-any.whl"
    source.write_bytes(wheel("1.0+cu129", DEMO))
    assert make(house, source, "--json").json["version"].startswith("1.0+cu129.patchmgr.")


def test_a_dry_run_and_a_conflict_write_nothing(house: House, source: Path) -> None:
    assert "Would write" in make(house, source, "--dry-run").out
    other = house.shop.folder / "demo-1.1.1-py3-none-any.whl"
    other.write_bytes(wheel("1.1.1", {**DEMO, "demo/a.py": text(l30="theirs\n")}))
    assert "nothing was written" in make(house, other, code=3).out
    assert not (house.shop.folder / "dist").exists()


def test_what_is_no_sound_wheel_is_refused(house: House, source: Path) -> None:
    raw = source.read_bytes()
    for name, content in {
        "demo-1.0.zip": raw,
        "other-1.0-py3-none-any.whl": wheel("1.0", DEMO, "other"),
        "demo-1.1-py3-none-any.whl": b"no zip",
    }.items():
        place = house.shop.folder / name
        place.write_bytes(content)
        answer = house.shop.run("wheel", "s", "--from", place, code=2 if "other" in name else 1)
        assert "hint: " in answer.err
    files = {**DEMO, "../evil.py": "x"}
    evil = house.shop.folder / "demo-1.2-py3-none-any.whl"
    evil.write_bytes(wheel("1.2", files))
    assert "leads out of the archive" in make(house, evil, code=1).err
    house.shop.run("wheel", "s", code=2)


def test_a_wheel_has_a_bill_of_materials_where_asked_for(house: House, source: Path) -> None:
    pytest.importorskip("cyclonedx")
    plain = make(house, source, "--json").json["version"]
    made = make(house, source, "--sbom", "--json").json
    assert made["version"] == plain  # it is of the code
    first = Path(made["wheel"]).read_bytes()
    again = make(house, source, "--sbom", "--json", out="b").json
    assert Path(again["wheel"]).read_bytes() == first
    path = f"demo-{plain}.dist-info/sboms/patchmgr.cdx.json"
    with zipfile.ZipFile(made["wheel"]) as archive:
        content = archive.read(path)
        record = archive.read(f"demo-{plain}.dist-info/RECORD").decode().splitlines()
    assert f"{path},{digest(content)},{len(content)}" in record
    (component,) = json.loads(content)["components"]
    assert component["purl"] == f"pkg:pypi/demo@{plain.replace('+', '%2B')}"
    (ancestor,) = component["pedigree"]["ancestors"]
    wheel_digest = hashlib.sha256(source.read_bytes()).hexdigest()
    assert (ancestor["version"], ancestor["hashes"][0]["content"]) == ("1.0", wheel_digest)
    order = "in their order: fix-1.patch, fix-2.patch, fix-3.patch"
    assert component["pedigree"]["notes"].endswith(order)


def test_a_library_is_missing(house: House, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(render, "cyclonedx", raising=False)
    for name in [n for n in sys.modules if n.startswith(("cyclonedx", "patchmgr.render.cyclo"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cyclonedx", None)
    for line in (
        ("report", "s", "--format", "cyclonedx"),
        ("wheel", "s", "--from", source, "--sbom"),
    ):
        said = house.shop.run(*line, code=1).err
        assert "needs the CycloneDX library" in said
        assert "pip install 'cyclonedx-python-lib>=8'" in said
