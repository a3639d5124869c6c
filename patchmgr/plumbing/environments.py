"""Python environments, and the distributions installed in them.

Only the environment's interpreter is run, without `site`, so that no `.pth` file is executed. No
installed package is imported.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.json_text import parse_json
from patchmgr.formats.shown import typed
from patchmgr.formats.wheel_records import digests, normalized_name, parse_record

_ASK = """\
import json, os, site, sys, sysconfig
folder = os.path.dirname(sys.executable)
homes = [h for h in (folder, os.path.dirname(folder)) if os.path.exists(h + "/pyvenv.cfg")]
prefix = homes[0] if homes else sys.prefix
names = {"base": prefix, "platbase": prefix, "installed_base": prefix}
schemes = sysconfig.get_scheme_names()
plain = "venv" if "venv" in schemes else "posix_prefix"
default = getattr(sysconfig, "get_default_scheme", lambda: "posix_prefix")  # not in 3.9
scheme = plain if homes else default()
paths = [sysconfig.get_path(n, scheme, vars=names) for n in ("purelib", "platlib")]
own = [] if homes else [site.getusersitepackages()]
print(json.dumps({"prefix": prefix, "version": "%d.%d" % sys.version_info[:2],
 "sites": own + paths + site.getsitepackages([prefix]), "base": site.getsitepackages([sys.prefix]),
 "stdlib": sysconfig.get_path("stdlib"), "is_venv": bool(homes)}))
"""
_PATIENCE = 30  # seconds
_INHERITS = re.compile(r"^\s*include-system-site-packages\s*=\s*true\s*$", re.I | re.M)
_KINDS = ("dist-info", "egg-info", "egg", "egg-link")


class Environment(Struct, frozen=True):
    """The folders in which a Python environment keeps packages."""

    sites: tuple[Path, ...]
    owner: Path | None = None  # the EXTERNALLY-MANAGED file, if there is one
    managed: frozenset[Path] = frozenset()  # sites of the system's package manager


class Distribution(Struct, frozen=True):
    """An installed distribution."""

    name: str  # normalized
    version: str
    site: Path  # paths in RECORD are relative to it
    info: str
    record: Mapping[str, str]  # digests by path


def ask_environment(python: str) -> Environment:
    """Run an interpreter and return the package folders of its environment.

    `python` is a path, a name on PATH, or the folder of an environment. Raises PatchmgrError
    "environment" if it cannot be run.
    """
    given = Path(python)
    found = str(given / "bin/python") if given.is_dir() else shutil.which(python)
    if found is None:
        raise PatchmgrError("environment", f"{python} is not a Python interpreter", *_NAME_ONE)
    try:
        done = subprocess.run(
            [found, "-I", "-S", "-c", _ASK], capture_output=True, check=True, timeout=_PATIENCE
        )
        answer = parse_json(done.stdout)
        sites = [Path(path) for path in answer["sites"] if path]
        prefix, stdlib = Path(answer["prefix"]), Path(answer["stdlib"])
        managed = [] if answer["is_venv"] else list(sites)
        if answer["is_venv"] and _INHERITS.search((prefix / "pyvenv.cfg").read_text()):
            managed += [Path(path) for path in answer["base"]]
            sites += managed
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as fault:
        message = f"{python} does not behave like a Python interpreter"
        raise PatchmgrError("environment", message, *_NAME_ONE) from fault
    marker = stdlib / "EXTERNALLY-MANAGED"
    owner = marker if managed and marker.exists() else None
    each: dict[Path, Path] = {}
    for site in sites:  # two paths may be the same folder, such as `a/../b/lib` and `b/lib`
        each.setdefault(site.resolve(), site)
    return Environment(tuple(each.values()), owner, frozenset(managed))


_NAME_ONE = ("name the interpreter of an environment, such as .venv/bin/python",)


def site_environment(site: Path) -> Environment:
    """Return an environment with only this folder; raise "environment" if it does not exist."""
    if not site.is_dir():
        raise PatchmgrError("environment", f"there is no folder {site}")
    return Environment((site,))


def find_distribution(environment: Environment, package: str) -> Distribution:
    """Return the installed distribution of a package.

    Raises PatchmgrError "not-installed" if there is none, and "environment" if the package is
    installed twice or as an egg, is an editable install, or has no RECORD.
    """
    wanted = normalized_name(package)
    found = [path for site in environment.sites for path in _named(site, wanted)]
    infos = [path for path in found if path.name.endswith(".dist-info")]
    if not infos:
        raise _not_found(environment, package, found)
    first = infos[0]
    if any(other.parent == first.parent for other in infos[1:]):
        raise PatchmgrError(
            "environment",
            f"{package} is installed twice in {first.parent}: {', '.join(i.name for i in infos)}",
            "install it again, so that only one copy is left",
        )
    return _read(first, package)


def _named(site: Path, wanted: str) -> Iterator[Path]:
    try:
        names = sorted(path.name for path in site.iterdir())
    except OSError:
        return
    for name in names:
        stem, dot, kind = name.rpartition(".")
        named = stem if kind == "egg-link" else stem.partition("-")[0]
        if dot and kind in _KINDS and normalized_name(named) == wanted:
            yield site / name


def _not_found(environment: Environment, package: str, others: list[Path]) -> PatchmgrError:
    if not others:
        where = ", ".join(str(site) for site in environment.sites)
        return PatchmgrError(
            "not-installed",
            f"{package} is not installed in {where}",
            f"name the interpreter of the environment that contains {package}: --python EXE",
        )
    if others[0].suffix == ".egg-link":
        return _editable(package, others[0].read_text("utf-8", "replace").partition("\n")[0])
    return PatchmgrError(
        "environment",
        f"{package} is installed as {others[0].name}, which has no list of its files",
        *_from_wheel(package),
    )


def _from_wheel(package: str) -> tuple[str, ...]:
    return (
        f"install it from a wheel: pip install --force-reinstall --no-deps {package}",
        f"if the system's package manager installed {package}, use a virtual environment instead",
    )


def _read(info: Path, package: str) -> Distribution:
    try:
        raw = (info / "RECORD").read_bytes()
        head = (info / "METADATA").read_text("utf-8", "replace").partition("\n\n")[0]
    except OSError as fault:
        raise PatchmgrError(
            "environment",
            f"{info}/RECORD, which lists the files of {package}, cannot be read",
            *_from_wheel(package),
        ) from fault
    found = re.search(r"^Version:\s*(\S+)", head, re.MULTILINE)
    version = found[1] if found else info.name.removesuffix(".dist-info").rpartition("-")[2]
    record = digests(parse_record(raw))
    place = ""
    try:
        origin = parse_json((info / "direct_url.json").read_bytes())
        is_editable = bool(origin.get("dir_info", {}).get("editable"))
        place = str(origin.get("url", "")).removeprefix("file://")
    except (OSError, ValueError, AttributeError):
        is_editable = False
    is_editable = is_editable or any(p.startswith("__editable__") for p in record)
    for path in record:
        if path.endswith(".pth") and "/" not in path and not is_editable:
            lines: list[str] = []
            with suppress(OSError):
                lines = (info.parent / path).read_text("utf-8", "replace").splitlines()
            place = next((line for line in lines if line.startswith("/")), "")
            is_editable = bool(place)
    if is_editable:
        raise _editable(package, place)
    return Distribution(normalized_name(package), version, info.parent, info.name, record)


def _editable(package: str, place: str) -> PatchmgrError:
    where = typed(place.strip()) if place.strip() else "CHECKOUT"
    return PatchmgrError(
        "environment",
        f"{package} is an editable install, whose files are in a checkout",
        f"name the checkout instead: --to {where} (with apply, verify or unapply)",
    )


def other_owners(distribution: Distribution, paths: Iterable[str]) -> Mapping[str, str]:
    """Map each of the paths that another distribution lists to the name of that distribution."""
    needles = {path: (path + ",").encode("utf-8", "surrogateescape") for path in paths}
    found: dict[str, str] = {}
    for record in sorted(distribution.site.glob("*.dist-info/RECORD")) if needles else ():
        if record.parent.name == distribution.info:
            continue
        try:
            raw = b"\n" + record.read_bytes()
        except OSError:
            continue
        for path, needle in needles.items():
            if b"\n" + needle in raw:
                found[path] = record.parent.name.removesuffix(".dist-info")
    return found
