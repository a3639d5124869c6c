"""The blocks of `docs/images.md` do what the page says, with a package of the tests."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.conftest import invoke
from tests.commands.scenes import text
from tests.commands.test_installs import house as house
from tests.commands.wheels import DEMO, House, install, wheel

ROOT = Path(__file__).parents[2]
BLOCKS: list[tuple[str, str]] = re.findall(
    r"^```(\w+)\n(.*?)^```", (ROOT / "docs/images.md").read_text(), re.M | re.S
)
PATCHED = text(l30="ours\n")


def block(number: int, house: House, **more: str) -> str:
    """Return a block of the page, about the series, the package and the folders of a test."""
    names = {
        "vllm": "demo",
        "0.16.0": "1.0",
        " fixes ": " s ",
        "/opt/": f"{house.shop.folder}/opt/",
    }
    content = BLOCKS[number][1]
    for name, own in {**names, **more}.items():
        content = content.replace(name, own)
    return content


def shell(house: House, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script where `patchmgr` is this one, and `pip download` has upstream's wheel."""
    programs, place = house.shop.folder / "programs", house.shop.folder
    programs.mkdir(exist_ok=True)
    (place / "demo-1.0-py3-none-any.whl").write_bytes(wheel("1.0", DEMO))
    for name, line in {
        "patchmgr": f'PYTHONPATH={ROOT} exec {sys.executable} -m patchmgr "$@"',
        "pip": f"mkdir -p wheels && cp {place}/demo-1.0-py3-none-any.whl wheels",
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    return subprocess.run(
        ["sh", "-ec", f'PATH="{programs}:$PATH"\n{script}'],
        cwd=place, capture_output=True, text=True, check=False,
    )  # fmt: skip


def build(house: House, number: int) -> int:
    """Do what a Dockerfile says, up to the next stage; return the exit code that ends it."""
    opt = house.shop.folder / "opt"
    shutil.copytree(house.shop.root, opt / "patches", dirs_exist_ok=True)
    if not (opt / "app").exists():
        (opt / "app").symlink_to(house.site.parents[2])
    lines = block(number, house).partition("\n\n")[0].splitlines()
    commands = (line.split()[2:] for line in lines if line.startswith("RUN patchmgr "))
    return next((code for words in commands if (code := invoke(*words).code)), 0)


def test_two_lines_patch_an_image_once_and_again(house: House) -> None:
    assert [name for name, _ in BLOCKS] == ["dockerfile", "dockerfile", "sh", "toml", "sh"]
    assert len(block(0, house).splitlines()) == 2
    for number in (0, 0, 1):
        assert build(house, number) == 0
        assert house.read("demo/a.py") == PATCHED
    install(house.site, "1.0", DEMO)
    assert build(house, 0) == 0
    assert house.read("demo/a.py") == PATCHED


def test_a_conflict_and_an_edited_file_stop_the_build(house: House) -> None:
    install(house.site, "1.1.1", {**DEMO, "demo/a.py": text(l30="theirs\n")})
    assert build(house, 0) == 3
    assert house.read("demo/a.py") == text(l30="theirs\n")
    install(house.site, "1.0", DEMO)
    (house.site / "demo/a.py").write_text("edited\n")
    assert build(house, 1) == 1
    assert house.read("demo/a.py") == "edited\n"


def test_a_project_of_uv_has_the_patched_wheel(house: House) -> None:
    if shutil.which("uv") is None:
        pytest.skip("uv is not installed")
    folder = house.shop.folder
    shutil.copytree(house.shop.root, folder / "patches")
    done = shell(house, block(2, house))
    assert done.returncode == 0, done.stderr
    (made,) = (folder / "wheels").glob("demo-1.0+patchmgr.*.whl")
    (folder / "pyproject.toml").write_text(block(3, house, WHEEL=made.name))
    offline = f"export UV_OFFLINE=1 UV_PYTHON={sys.executable}\n"
    for _ in range(2):
        done = shell(house, offline + block(4, house))
        assert done.returncode == 0, done.stderr
    (installed,) = (folder / ".venv").glob("lib/python*/site-packages/demo/a.py")
    assert installed.read_text() == PATCHED
    again = made.read_bytes()
    made.unlink()
    assert shell(house, f"{offline}rm -r .venv\nuv sync --locked").returncode != 0
    assert shell(house, block(2, house)).returncode == 0
    assert made.read_bytes() == again
