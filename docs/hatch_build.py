"""Puts the man pages into the wheel, made by the program as `patchmgr help --man` makes them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.utils import get_reproducible_timestamp


class Manual(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's own parameter
    """Writes the pages before the wheel is built, and takes them away afterwards."""

    folder = ""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the pages, and name their places below the prefix of an installation."""
        self.folder = tempfile.mkdtemp(prefix="patchmgr-man-")
        path = filter(None, (self.root, os.environ.get("PYTHONPATH")))
        settings = {
            "PYTHONPATH": os.pathsep.join(path),
            "SOURCE_DATE_EPOCH": str(get_reproducible_timestamp()),
        }
        command = [sys.executable, "-B", "-m", "patchmgr", "help", "--man", self.folder]
        subprocess.run(
            command, env={**os.environ, **settings}, stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        for page in sorted(Path(self.folder).iterdir()):
            build_data["shared_data"][str(page)] = f"share/man/man{page.suffix[1:]}/{page.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the pages."""
        shutil.rmtree(self.folder)
