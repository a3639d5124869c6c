"""A program of the user's that resolves one conflict: a document in, a document out."""

from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing.git_process import search_path
from patchmgr.plumbing.throwaway import end_group

_PIECE = 1 << 16


class Resolver(Struct, frozen=True):
    """A command of the shell; it has so many seconds and may answer with so many bytes."""

    command: str
    seconds: float
    most: int = 1 << 25

    def ask(self, question: bytes) -> bytes:
        """Return what the program prints for a question on its standard input.

        It runs in an empty folder, with nothing of the user's environment but PATH; all that it
        started ends with it. Raises PatchmgrError "resolver-timeout", "resolver-too-large" and
        "resolver-failed".
        """
        with tempfile.TemporaryDirectory(prefix="patchmgr-resolver-") as folder:
            # A file, so that nobody has to be there to hand it on.
            with tempfile.TemporaryFile() as given:
                given.write(question)
                given.seek(0)
                process = subprocess.Popen(
                    ["sh", "-c", self.command],
                    cwd=folder,
                    env={
                        "PATH": search_path(), "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8"
                    },
                    stdin=given,
                    stdout=subprocess.PIPE,
                    start_new_session=True,
                )  # fmt: skip
            try:
                answer = b"".join(self._pieces(process))
                with suppress(subprocess.TimeoutExpired):
                    process.wait(1)
                code = process.poll()
            finally:
                end_group(process)
        if code != 0:
            how = "did not end" if code is None else f"ended with exit code {code}"
            raise PatchmgrError("resolver-failed", f"the resolver {how}")
        return answer

    def _pieces(self, process: subprocess.Popen[bytes]) -> Iterator[bytes]:
        assert process.stdout is not None
        end, size = time.monotonic() + self.seconds, 0
        with selectors.DefaultSelector() as selector, process.stdout:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                left = end - time.monotonic()
                if left <= 0 or not selector.select(left):
                    message = f"the resolver did not answer in {self.seconds:g} s"
                    raise PatchmgrError("resolver-timeout", message)
                piece = os.read(process.stdout.fileno(), _PIECE)
                if not piece:
                    return
                size += len(piece)
                if size > self.most:
                    message = f"the resolver printed more than {self.most} bytes"
                    raise PatchmgrError("resolver-too-large", message)
                yield piece
