"""Wheels that a test makes and installs by itself, and a package to patch."""

import base64
import functools
import hashlib
import io
import os
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.commands.conftest import Answer, invoke
from tests.commands.scenes import one_line, text, unchanged
from tests.commands.test_packages import Shop
from tests.conftest import Repository

DEMO: dict[str, str] = {
    "demo/__init__.py": "",
    "demo/a.py": text(),
    "demo/b.py": text(),
    "demo/gone.py": "gone\n",
    "include/demo/x.h": text(),
    "include/demo/y.h": "y\n",
    "csrc/k.cu": text(),
    "tests/test_a.py": "test\n",
}
_NOT_INSTALLED = ("csrc/", "tests/")


@functools.cache
def _mailbox(changes: tuple[tuple[tuple[str, bytes | str | None], ...], ...]) -> bytes:
    """Return the patches that make these changes of the package, one after the other."""
    with tempfile.TemporaryDirectory(prefix="patchmgr-fork-") as folder:
        fork = Repository(Path(folder) / "fork")
        base = fork.commit(dict(DEMO), "1.0")
        for number, change in enumerate(changes, 1):
            fork.commit(dict(change), f"fix {number}")
        return fork.patches(f"{base}..HEAD")


def in_wheel(path: str) -> str | None:
    """Return where the package installs a file of the repository."""
    if path.startswith(_NOT_INSTALLED):
        return None
    return f"demo/data/{path}" if path.startswith("include/") else path.removeprefix("src/")


def digest(content: bytes) -> str:
    raw = hashlib.sha256(content).digest()
    return "sha256=" + base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def wheel_files(version: str, files: Mapping[str, str], name: str = "demo") -> dict[str, bytes]:
    """Return all that a wheel holds, RECORD last."""
    info = f"{name}-{version}.dist-info"
    held = {
        place: content.encode()
        for path, content in files.items()
        if (place := in_wheel(path)) is not None
    }
    held[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nVersion: none\n".encode()
    )
    held[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    rows = [f"{path},{digest(content)},{len(content)}" for path, content in held.items()]
    held[f"{info}/RECORD"] = "".join(f"{r}\n" for r in [*rows, f"{info}/RECORD,,"]).encode()
    return held


def wheel(version: str, files: Mapping[str, str], name: str = "demo") -> bytes:
    """Return a wheel."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in wheel_files(version, files, name).items():
            info = zipfile.ZipInfo(path, (2024, 1, 2, 3, 4, 6))
            info.external_attr = 0o100644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return raw.getvalue()


def uninstall(site: Path, name: str = "demo") -> None:
    """Delete what RECORD lists, and folders that are empty then, as installers do."""
    for record in list(site.glob(f"{name}-*.dist-info/RECORD")):
        for line in record.read_text().splitlines():
            place = site / line.split(",")[0]
            place.unlink(missing_ok=True)
            for folder in place.parents:
                if folder == site:
                    break
                for compiled in (folder / "__pycache__").glob("*.pyc"):
                    compiled.unlink()
                if (folder / "__pycache__").is_dir():
                    (folder / "__pycache__").rmdir()
                if not any(folder.iterdir()):
                    folder.rmdir()


def install(site: Path, version: str, files: Mapping[str, str], name: str = "demo") -> None:
    """Install a wheel in place of another release, as pip does: each file is a new one."""
    uninstall(site, name)
    for path, content in wheel_files(version, files, name).items():
        place = site / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.write_bytes(content)


def environment(root: Path) -> Path:
    """Make an empty virtual environment without running anything; return its site-packages."""
    real = os.path.realpath(sys.executable)
    (root / "bin").mkdir(parents=True)
    (root / "bin/python").symlink_to(real)
    (root / "pyvenv.cfg").write_text(f"home = {os.path.dirname(real)}\n")
    site = site_of(root)
    site.mkdir(parents=True)
    return site


def site_of(root: Path) -> Path:
    """Return the site-packages of a virtual environment."""
    return root / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


@dataclass(frozen=True)
class House:
    """A workspace with the series `s` on demo 1.0, and an environment that has demo 1.0."""

    shop: Shop
    site: Path

    @property
    def python(self) -> Path:
        """Return the interpreter of the environment."""
        return self.site.parents[2] / "bin/python"

    def run(self, command: str, *arguments: str | Path, code: int = 0) -> Answer:
        """Run a command on the series and the environment."""
        line = (command, "s", "--site", self.site, *arguments)
        return self.shop.run(*line, code=code)

    def quietly(self, command: str, *arguments: str | Path) -> Answer:
        """Run a command, whatever its exit code."""
        return invoke("-C", self.shop.root, command, "s", "--site", self.site, *arguments)

    def refuses(self, command: str, *arguments: str | Path, code: int = 1) -> str:
        """Check that a command changes nothing; return the one line that says why."""
        with unchanged(self.site, without=()):
            return one_line(self.run(command, *arguments, code=code))

    def verdicts(self, *arguments: str | Path, code: int = 0) -> list[str]:
        """Apply and return the verdicts."""
        patches = self.run("apply", *arguments, "--json", code=code).json["patches"]
        return [patch["verdict"] for patch in patches]

    def state(self) -> str:
        """Return what `verify` says in a word."""
        answer = self.quietly("verify", "--json")
        found = answer.json
        assert answer.code == (0 if found["state"] == "patched" else 4)
        return str(found["state"])

    def read(self, path: str) -> str:
        """Return an installed file."""
        return (self.site / path).read_text()

    def series(self, *changes: Mapping[str, bytes | str | None]) -> None:
        """Make the series of these changes, a patch each."""
        self._import(_mailbox(tuple(tuple(change.items()) for change in changes)))

    def import_(self, fork: Repository) -> None:
        """Replace the patches of the series by the commits of a fork since its tag `base`."""
        self._import(fork.patches("base..HEAD"))

    def _import(self, patches: bytes) -> None:
        folder = self.shop.root / "series/s"
        for path in folder.glob("*.patch"):
            path.unlink()
        (folder / "series").write_text("")
        box = self.shop.folder / "box.mbox"
        box.write_bytes(patches)
        self.shop.run("import", box, "--series", "s")
