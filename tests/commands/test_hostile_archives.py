"""Archives from a stranger, by each way in which one comes: refused, or of no harm.

PATCHMGR_LONG=1 asks by each way about each; otherwise about a few.
"""

import gzip
import hashlib
import io
import tarfile
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.commands.scenes import unchanged
from tests.commands.test_installs import house as house
from tests.commands.wheels import DEMO, House, wheel_files
from tests.long import LONG


@dataclass(frozen=True)
class Evil:
    """A member of an archive: a file, or a link to `target`, or of another kind of tar's."""

    name: str
    content: bytes = b"x\n"
    target: str = ""
    kind: bytes = tarfile.REGTYPE


LINK, HARD, DEVICE, PIPE = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE
# What both kinds of archive can have, below their top folder.
MEMBERS: Mapping[str, Sequence[Evil]] = {
    "parent": [Evil("demo/../../../outside/x")],
    "a git folder": [Evil("demo/.git/hooks/post-checkout")],
    "a git folder in disguise": [Evil("demo/.GIT/config")],
    "a short name": [Evil("git~1/config")],
    "backslash": [Evil("demo\\..\\..\\x")],
    "twice": [Evil("demo/x.py", b"1\n"), Evil("demo/x.py", b"2\n")],
    "below a file": [Evil("demo/x.py"), Evil("demo/x.py/y.py")],
    "a link out": [Evil("demo/l", target="../../../outside", kind=LINK)],
    "a link to the root": [Evil("demo/l", target="/etc", kind=LINK)],
    "below a link": [Evil("demo/l", target=".", kind=LINK), Evil("demo/l/x.py")],
}
# A name is no harm in the store: where a patch has one of these, it is refused.
HARMLESS: Mapping[str, Sequence[Evil]] = {
    "ours": [Evil(".patchmgr/journal.json")],
    "a drive": [Evil("demo/C:/x")],
    "control": [Evil("demo/\x1b[2Jx.py")],
    "a link for .gitmodules": [Evil(".gitmodules", target="x", kind=LINK)],
    "a dash": [Evil("-rf")],
}
BOMB = {"a bomb": [Evil("demo/zeros.py", b"0" * (300 << 20))]} if LONG else {}
TAR_ONLY: Mapping[str, Sequence[Evil]] = {
    "a hard link out": [Evil("demo/h", target="../outside/secret", kind=HARD)],
    "a device": [Evil("demo/d", kind=DEVICE)],
    "a pipe": [Evil("demo/p", kind=PIPE)],
}


def sdist(version: str, members: Sequence[Evil]) -> bytes:
    """Return an sdist with members as they are."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for member in (Evil("PKG-INFO", b"Name: demo\n"), Evil("demo/a.py"), *members):
            info = tarfile.TarInfo(f"demo-{version}/{member.name}")
            info.type, info.linkname = member.kind, member.target
            if member.kind == tarfile.REGTYPE:
                info.size = len(member.content)
            archive.addfile(info, io.BytesIO(member.content))
    return gzip.compress(raw.getvalue(), 1, mtime=0)


def wheel(version: str, members: Sequence[Evil]) -> bytes:
    """Return a wheel with members as they are, beside those of a good one."""
    raw = io.BytesIO()
    good = [Evil(path, content) for path, content in wheel_files(version, DEMO).items()]
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for member in (*good, *members):
            info = zipfile.ZipInfo(member.name, (2024, 1, 2, 3, 4, 6))
            info.external_attr = (0o120777 if member.kind == LINK else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a name that is there twice
                archive.writestr(info, member.target.encode() or member.content)
    return raw.getvalue()


def offer(house: House, name: str, raw: bytes) -> None:
    """Put an archive on the index."""
    place = house.shop.folder / "index/demo"
    (place / name).write_bytes(raw)
    link = f'<a href="{name}#sha256={hashlib.sha256(raw).hexdigest()}">{name}</a>\n'
    with (place / "index.html").open("a") as page:
        page.write("\n" + link)


def refuses(house: House, *words: str, code: int = 1) -> None:
    """Check that a command says in a line what is wrong, and changes nothing anywhere."""
    without = ("cache",)
    with unchanged(house.shop.folder, without=without):
        answer = house.shop.run(*words, code=code)
        first = answer.err.splitlines()[-1]
        assert "\x1b" not in answer.err and answer.err.count("patchmgr: ") == 1, first


def some(members: Mapping[str, Sequence[Evil]]) -> list[Any]:
    """Return all of them, or a few."""
    found = [pytest.param(evil, id=name) for name, evil in members.items()]
    return found if LONG else found[::6]


@pytest.mark.parametrize("members", some({**MEMBERS, **TAR_ONLY, **BOMB}))
def test_a_hostile_sdist_is_no_upstream(house: House, members: Sequence[Evil]) -> None:
    offer(house, "demo-9.0.tar.gz", sdist("9.0", members))
    refuses(house, "rebase", "s", "--onto", "v9.0")
    refuses(house, "series", "new", "t", "--upstream", "demo", "--base", "v9.0")


@pytest.mark.parametrize("members", some({**MEMBERS, **BOMB}))
def test_a_hostile_wheel_is_no_upstream_nor_patched(house: House, members: Sequence[Evil]) -> None:
    name, raw = "demo-9.0-py3-none-any.whl", wheel("9.0", members)
    offer(house, name, raw)
    refuses(house, "rebase", "s", "--onto", "v9.0")
    (house.shop.folder / name).write_bytes(raw)
    out = str(house.shop.folder / "dist")
    refuses(house, "wheel", "s", "--from", str(house.shop.folder / name), "--out", out)


@pytest.mark.parametrize("members", some({**HARMLESS, "nothing": []}))
@pytest.mark.parametrize("kind", ["sdist", "wheel"])
def test_a_name_alone_is_no_harm(house: House, members: Sequence[Evil], kind: str) -> None:
    shop = house.shop
    name = "demo-9.0.tar.gz" if kind == "sdist" else "demo-9.0-py3-none-any.whl"
    offer(house, name, (sdist if kind == "sdist" else wheel)("9.0", members))
    with unchanged(shop.folder, without=("cache", "workspace")):
        for line in ("series new t --upstream demo --base v9.0", "report t", "status"):
            assert "\x1b" not in shop.run(*line.split()).out
        rebased = shop.run("rebase", "s", "--onto", "v9.0", code=3)
        assert "\x1b" not in rebased.out + rebased.err
