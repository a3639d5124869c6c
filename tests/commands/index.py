"""A package index in a folder, with releases that a test makes."""

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path


class Index:
    """A folder of folders of sdists, as pip takes one by `file://`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def release(self, package: str, version: str, files: Mapping[str, str]) -> None:
        """Add an sdist."""
        folder = self.root / package
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{package}-{version}"
        with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as archive:
            for path, content in files.items():
                info = tarfile.TarInfo(f"{name}/{path}")
                info.size = len(content)
                info.mtime = 1_700_000_000
                archive.addfile(info, io.BytesIO(content.encode()))
