"""Let a person change a text in their editor."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from patchmgr.errors import PatchmgrError

_NAMED_BY = ("GIT_EDITOR", "VISUAL", "EDITOR")


def edited_text(text: bytes, *, name: str) -> bytes:
    """Open a text in the editor of the environment and return what it was left as.

    Raises PatchmgrError "editor" where the editor fails.
    """
    editor = next((os.environ[n] for n in _NAMED_BY if os.environ.get(n)), "vi")
    with tempfile.TemporaryDirectory(prefix="patchmgr-edit-") as folder:
        file = Path(folder) / name
        file.write_bytes(text)
        # As git does: what the variable holds is a command line of the shell.
        command = ["sh", "-c", f'{editor} "$@"', editor, str(file)]
        code = subprocess.run(command, check=False).returncode
        if code:
            message = f"the editor {editor} ended with {code}; nothing was changed"
            raise PatchmgrError("editor", message, ("set EDITOR to another one",))
        return file.read_bytes()
