"""Inputs to begin with: small, of our own making, each with something that a parser looks at.

Texts are the files of `corpus`, and what the long job once found those of `found`.
"""

import gzip
import io
import random
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent


def _tar(form: int) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as archive:
        for name, content in (("x-1/a.py", b"a\n"), ("x-1/" + "long" * 30 + "/b", b"b")):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("x-1/l")
        link.type, link.linkname = tarfile.SYMTYPE, "a.py"
        archive.addfile(link)
    return made.getvalue()


def _zip() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/a.py", b"a\n" * 20)
        archive.writestr("x-1.dist-info/RECORD", b"x/a.py,,\n")
    return made.getvalue()


def _rows(seed: str) -> tuple[bytes, ...]:
    """Return rows of choices for the targets that read any bytes as choices."""
    chooser = random.Random(seed)
    return tuple(chooser.randbytes(size) for size in (8, 24, 64, 120, 200))


def _files(folder: Path) -> tuple[bytes, ...]:
    """Return the contents of the files of a folder, by name."""
    return tuple(file.read_bytes() for file in sorted(folder.glob("*")))


SEEDS: Mapping[str, Sequence[bytes]] = {
    **{folder.name: _files(folder) for folder in sorted((HERE / "corpus").iterdir())},
    "archive": (
        _tar(tarfile.PAX_FORMAT), _tar(tarfile.GNU_FORMAT), gzip.compress(_tar(0), 9, mtime=0),
        _zip(),
    ),
    **{name: _rows(name) for name in ("ladder", "memory", "rebase", "absorption", "structure")},
}  # fmt: skip


def seeds(name: str) -> tuple[bytes, ...]:
    """Return the inputs of a target: its seeds, then what the long job once found."""
    return (*SEEDS[name], *_files(HERE / "found" / name))
