"""Round trips of small patches in installed packages, from the package index.

    python -m benchmarks.installs [--write] [--no-deps] [PACKAGE ...]

Each package is installed by pip in an environment of its own. A person's edits of its sdist (a
line in a function, the version string, a new module, a deleted file) become a series of patches,
which is applied to the package, verified, taken out, put back after a reinstall, and made an
overlay and a wheel. Every file is looked for where the installed copy of its content is.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.clones import output, quiet_environment
from benchmarks.pages import Section, tell, write
from patchmgr.formats.wheel_records import digests, parse_record
from patchmgr.plumbing.stores import store_path

SECTION = Section(
    about=__doc__ or "",
    repository="",
    begin="<!-- begin: python -m benchmarks.installs -->",
    end="<!-- end: installs -->",
    rounds=1,
)
PACKAGES = (
    "requests", "urllib3", "certifi", "idna", "charset-normalizer", "packaging", "python-dateutil",
    "six", "setuptools", "attrs", "click", "jinja2", "typing-extensions", "pluggy", "pyyaml",
    "rich", "httpx", "numpy", "transformers", "triton", "flashinfer-python",
    "sgl-deep-gemm", "vllm",
)  # fmt: skip
LARGE = ("numpy", "transformers", "triton", "flashinfer-python", "sgl-deep-gemm", "vllm")
"""What is installed without its dependencies, and so is not imported."""
_VERSION = re.compile(r"^__version__\s*(?::\s*str\s*)?=\s*[\"']([^\"']+)[\"']", re.MULTILINE)
_HERE = "patched_by_us"
_MODULES = 200  # that are looked at for a function to edit
_SETTINGS = ("PIP_", "XDG_CACHE_HOME", "SSL_", "REQUESTS_", "HTTP", "http", "NO_PROXY", "no_proxy")


class Wrong(Exception):
    """What was not as it has to be."""


@dataclass(slots=True)
class Trip:
    """One package in an environment, and a workspace with a series of patches for it."""

    package: str
    folder: Path
    environment: Mapping[str, str]
    has_deps: bool
    version: str = ""
    places: dict[str, str] = field(default_factory=dict)
    wanted: dict[str, bytes | None] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    modules: list[str] = field(default_factory=list)

    @property
    def python(self) -> Path:
        """Return the interpreter of the environment."""
        return self.folder / "venv/bin/python"

    @property
    def site(self) -> Path:
        """Return its folder of packages."""
        return next((self.folder / "venv").glob("lib/python*/site-packages"))

    @property
    def source(self) -> Path:
        """Return the folder of the unpacked sdist."""
        return self.folder / "source"

    def pip(self, *arguments: str) -> str:
        """Run pip on the environment."""
        line = [sys.executable, "-m", "pip", "--python", str(self.python), "-q", *arguments]
        return output(line, self.folder, self.environment)

    def install(self, *more: str) -> None:
        """Install the package, as it is on the index or as a wheel."""
        deps = [] if self.has_deps else ["--no-deps"]
        self.pip("install", *deps, *more)

    def run(self, command: str, *arguments: str | Path, code: int = 0) -> Any:
        """Run a command of patchmgr; return what its JSON holds."""
        line = [sys.executable, "-m", "patchmgr", "-C", str(self.folder / "workspace"), command]
        start = time.perf_counter()
        done = subprocess.run(
            [*line, *map(str, arguments), "--json"],
            env=dict(self.environment), capture_output=True, check=False,
        )  # fmt: skip
        self.seconds.setdefault(command, time.perf_counter() - start)
        if done.returncode != code:
            raise Wrong(f"{command} ends with {done.returncode}: {done.stdout!r} {done.stderr!r}")
        return json.loads(done.stdout) if done.stdout else None

    def at(self, command: str, *arguments: str | Path, code: int = 0) -> Any:
        """Run a command on the environment."""
        return self.run(command, "s", "--python", self.python, *arguments, code=code)

    def prepare(self) -> None:
        """Install the package, and make a series of what a person edits in its sdist."""
        line = [sys.executable, "-m", "venv", "--without-pip", str(self.folder / "venv")]
        output(line, self.folder, self.environment)
        self.install(self.package)
        record = self.record()
        self.version = record.parent.name.removesuffix(".dist-info").rpartition("-")[2]
        for words in (
            ("init", self.folder / "workspace"),
            ("upstream", "add", "u", "--package", self.package),
            ("series", "new", "s", "--upstream", "u", "--base", f"v{self.version}"),
        ):
            self.plain(*words)
        self.unpack()
        self.places = dict(self.pairs(digests(parse_record(record.read_bytes()))))
        self.edit()
        box = self.folder / "box.mbox"
        patches = ["git", "format-patch", "--stdout", "--no-renames", "base..HEAD"]
        box.write_text(output(patches, self.source, self.environment) + "\n")
        self.plain("import", box, "--series", "s")

    def plain(self, *words: str | Path) -> None:
        """Run a command that has no JSON."""
        where = self.folder / "workspace"
        at = ["-C", str(where)] if where.exists() else []
        line = [sys.executable, "-m", "patchmgr", *at, *map(str, words)]
        output(line, self.folder, self.environment)

    def record(self) -> Path:
        """Return the RECORD of the package."""
        wanted = re.sub(r"[-_.]+", "-", self.package).lower()
        for record in self.site.glob("*.dist-info/RECORD"):
            name = record.parent.name.removesuffix(".dist-info").rpartition("-")[0]
            if re.sub(r"[-_.]+", "-", name).lower() == wanted:
                return record
        raise Wrong("is not installed")

    def unpack(self) -> None:
        """Put the release, as it was imported, into a repository of its own."""
        os.environ["XDG_CACHE_HOME"] = self.environment["XDG_CACHE_HOME"]
        store = store_path("package", self.package)
        self.source.mkdir()
        ref = f"refs/upstream/releases/{self.version}"
        command = f'git --git-dir="{store}" archive {ref} | tar x'
        output(["sh", "-c", command], self.source, self.environment)
        for line in ("init -q", "add -Af", "commit -qm base", "tag base"):
            output(["git", *line.split()], self.source, self.environment)

    def pairs(self, record: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Yield each file of the sdist that is installed in one place, and where."""
        found: dict[tuple[str, str], list[str]] = {}
        for place, digest in record.items():
            found.setdefault((place.rpartition("/")[2], digest), []).append(place)
        sources: dict[tuple[str, str], list[str]] = {}
        for path in sorted(self.source.rglob("*")):
            if path.is_file() and not path.is_symlink() and ".git" not in path.parts:
                raw = hashlib.sha256(path.read_bytes()).digest()
                digest = "sha256=" + urlsafe_b64encode(raw).rstrip(b"=").decode()
                name = str(path.relative_to(self.source))
                sources.setdefault((path.name, digest), []).append(name)
        for key, paths in sources.items():
            places = found.get(key, [])
            if len(paths) == len(places) == 1:
                yield paths[0], places[0]

    def edit(self) -> None:
        """Make the edits, a commit each."""
        modules = sorted(path for path in self.places if path.endswith(".py"))
        edits = {path: text for path in modules[:_MODULES] if (text := self.with_line(path))}
        path = max(edits, key=lambda one: (len(edits[one]), one))
        self.commit(path, edits[path])
        versions = [p for p in modules if p != path and _VERSION.search(self.text(p))]
        if versions:
            first, text = versions[0], self.text(versions[0])
            self.commit(first, _VERSION.sub(f'__version__ = "{self.version}+ours"', text, count=1))
        beside, place = path.rpartition("/")[0], self.places[path].rpartition("/")[0]
        new = f"{beside}/{_HERE}.py".lstrip("/")
        self.places[new] = f"{place}/{_HERE}.py".lstrip("/")
        self.commit(new, "HERE = True\n")
        self.modules = [
            self.places[one].removesuffix(".py").replace("/", ".") for one in (path, new)
        ]
        data = [p for p in self.places if p.endswith((".typed", ".pyi", ".h", "__main__.py"))]
        if data:
            self.commit(data[0], None)

    def text(self, path: str) -> str:
        """Return a file of the sdist, as far as it is text."""
        return (self.source / path).read_bytes().decode("utf-8", "ignore")

    def with_line(self, path: str) -> str | None:
        """Return a module with a line more in its first function that has lines of its own."""
        raw = (self.source / path).read_bytes()
        try:
            text = raw.decode()
            tree = ast.parse(text)
        except (ValueError, SyntaxError):
            return None
        if "\r" in text or "\f" in text:
            return None
        lines = text.splitlines(keepends=True)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.body[0].lineno > node.lineno:
                last, at = node.body[-1], node.body[-1].lineno - 1
                if isinstance(last, ast.FunctionDef | ast.ClassDef) or ";" in lines[at]:
                    continue
                lines.insert(at, f"{' ' * last.col_offset}patched = True\n")
                return "".join(lines)
        return None

    def commit(self, path: str, text: str | None) -> None:
        """Commit an edit, and keep what the package has to have of it."""
        place = self.source / path
        if text is None:
            place.unlink()
        else:
            place.write_bytes(text.encode())
        self.wanted[self.places[path]] = None if text is None else text.encode()
        for line in (("add", "-Af"), ("commit", "-qm", f"edit of {path}")):
            output(["git", *line], self.source, self.environment)

    def go(self) -> None:
        """Apply, verify, take out, put back, overlay, wheel."""
        before = self.picture()
        self.at("verify", code=4)
        answer = self.at("apply")
        self.check_files(answer)
        if any(patch["verdict"] != "unchanged" for patch in answer["patches"]) or answer["notes"]:
            raise Wrong(f"verdicts: {answer['patches']} {answer['notes']}")
        self.check_imports()
        self.seconds.pop("verify")
        self.at("verify")
        if self.at("apply")["changed"]:
            raise Wrong("a second apply changes something")
        self.at("unapply")
        if self.picture() != before:
            raise Wrong("not as it was before")
        self.at("verify", code=4)
        self.check_overlay()
        self.at("apply")
        self.pip("install", "--no-deps", "--force-reinstall", f"{self.package}=={self.version}")
        self.at("verify", code=4)
        self.check_files(self.at("apply"))
        self.at("unapply")
        self.check_wheel()

    def check_files(self, answer: Mapping[str, Any]) -> None:
        """Raise Wrong unless the package has what the patches make, and nothing else."""
        if answer["out_of_reach"] or sorted(answer["paths"]) != sorted(self.wanted):
            raise Wrong(f"paths: {answer['paths']} and not {sorted(self.wanted)}")
        for path, content in self.wanted.items():
            place = self.site / path
            if (place.read_bytes() if place.exists() else None) != content:
                raise Wrong(f"{path} has another content")

    def check_imports(self, **more: str) -> None:
        """Import what was patched; let pip look at the environment."""
        if not self.has_deps:
            return
        line = [str(self.python), "-c", f"import {', '.join(self.modules)}"]
        output(line, self.folder, {**self.environment, **more})
        self.pip("check")

    def check_overlay(self) -> None:
        """Make an overlay and import what it has."""
        out = self.folder / "overlay"
        before = self.picture()
        made = self.at("overlay", "--out", out)
        wanted = {path for path, text in self.wanted.items() if text and path.endswith(".py")}
        if set(made["paths"]) != wanted:
            raise Wrong(f"overlay: {made['paths']} and not {sorted(wanted)}")
        self.check_imports(PYTHONPATH=str(out))
        if self.picture() != before:
            raise Wrong("an overlay changed the package")

    def check_wheel(self) -> None:
        """Make a wheel and install it."""
        wheels = self.folder / "wheels"
        line = ["-m", "pip", "-q", "download", "--no-deps", "--only-binary", ":all:", "-d"]
        output([sys.executable, *line, str(wheels), f"{self.package}=={self.version}"],
               self.folder, self.environment)  # fmt: skip
        (found,) = wheels.glob("*.whl")
        made = self.run("wheel", "s", "--from", found, "--out", self.folder / "dist")
        self.pip("install", "--no-deps", "--force-reinstall", made["wheel"])
        self.check_files(made)
        self.check_imports()

    def picture(self) -> dict[str, tuple[int, bytes]]:
        """Return all files of the environment with their modes and contents."""
        return {
            str(path): (path.stat().st_mode, hashlib.sha256(path.read_bytes()).digest())
            for path in self.site.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }

    def layout(self) -> str:
        """Return the folder of the sdist, and the one of the package, that most files are in."""
        path, place = next((p, q) for p, q in self.places.items() if q in self.wanted)
        one, other = path.split("/"), place.split("/")
        while one and other and one[-1] == other[-1]:
            one.pop()
            other.pop()
        words = ["/".join(parts) + "/" if parts else "" for parts in (one, other)]
        return "flat" if words == ["", ""] else f"`{words[0]}`" + (words[1] and f" → `{words[1]}`")


def travel(package: str, *, has_deps: bool) -> tuple[str, bool]:
    """Return the row of a package, and whether all was as it has to be."""
    with tempfile.TemporaryDirectory(prefix="patchmgr-installs-") as folder:
        place = Path(folder)
        environment = quiet_environment(place / "home")
        environment |= {k: v for k, v in os.environ.items() if k.startswith(_SETTINGS)}
        environment["PYTHONPATH"] = str(Path(__file__).parents[1])
        trip = Trip(package, place, environment, has_deps)
        said = "as before"
        try:
            trip.prepare()
            trip.go()
        except (Wrong, SystemExit, ValueError) as fault:
            tell(f"{package}: {fault}")
            said = f"**wrong**: {str(fault)[:60]}"
        layout = trip.layout() if trip.wanted else ""
        times = [f"{trip.seconds.get(name, 0):.2f} s" for name in ("apply", "verify", "unapply")]
        row = [package, trip.version, layout, str(len(trip.wanted)), *times, said]
        return f"| {' | '.join(row)} |", said == "as before"


def main() -> None:
    """Measure, print, and write the section where that is asked for."""
    parser = argparse.ArgumentParser(description=SECTION.about.split("\n", 1)[0])
    parser.add_argument("package", nargs="*", help="all of the table, unless named")
    parser.add_argument("--no-deps", action="store_true", help="install no dependencies")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    options = parser.parse_args()
    rows = [
        "| package | release | sdist → package | files | `apply` | `verify` | `unapply` | after |",
        "|---|---|---|--:|--:|--:|--:|---|",
    ]
    is_right = True
    for package in options.package or PACKAGES:
        row, is_as_wished = travel(package, has_deps=not options.no_deps and package not in LARGE)
        tell(row)
        rows.append(row)
        is_right = is_right and is_as_wished
    text = "\n".join(rows)
    print(text)
    if options.write:
        write(SECTION, text)
    raise SystemExit(0 if is_right else 1)


if __name__ == "__main__":
    main()
