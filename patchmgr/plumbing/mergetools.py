"""Run the editor of a person, and the merge tool that they configured for git."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.plumbing import git_process

_KEPT = ("GIT_EDITOR", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")
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


_SETTINGS = r"^(merge\.(tool|guitool|conflictstyle)|mergetool\..*|diff\.tool|difftool\..*)$"


class ToolFile(Struct, frozen=True):
    """A file to merge: its name, its sides (None: no such file), and what it is so far."""

    path: str
    base: bytes | None
    ours: bytes | None
    theirs: bytes | None
    merged: bytes | None


def configured_settings(folder: Path) -> tuple[tuple[str, str], ...]:
    """Return what the user's git has for merge tools in a folder, as names and values."""
    _, printed = git_process.run(
        ["config", "--null", "--get-regexp", _SETTINGS],
        cwd=folder,
        good=(0, 1),
        env=git_process.user_environment(),
    )
    rows = (row.partition("\n") for row in git_process.text(printed).split("\0")[:-1])
    # A name without a value is true, which git's own list does not say.
    return tuple((name, value if end else "true") for name, end, value in rows)


def run_tool(
    file: ToolFile, settings: tuple[tuple[str, str], ...], *, tool: str | None
) -> tuple[bool, bytes | None]:
    """Let git open the tool on a file; return whether it ended well, and the file then.

    The tool runs with the terminal and the environment of the user. The file is None where it
    was deleted.
    """
    with tempfile.TemporaryDirectory(prefix="patchmgr-mergetool-") as place:
        root = Path(place)
        git_dir = root / ".git"
        git_process.output(["init", "--quiet", "--template=", str(root)])
        for name, value in (("mergetool.keepBackup", "false"), *settings):
            git_process.output(["config", "--file", str(git_dir / "config"), "--add", name, value])
        rows = []
        for stage, content in enumerate((file.base, file.ours, file.theirs), 1):
            if content is not None:
                arguments = ["hash-object", "-w", "--stdin", "--no-filters"]
                blob = git_process.output(arguments, git_dir=git_dir, data=content).decode().strip()
                rows.append(f"100644 {blob} {stage}\t{file.path}\0")
        index = git_process.raw("".join(rows))
        git_process.output(
            ["update-index", "-z", "--index-info"], git_dir=git_dir, cwd=root, data=index
        )
        target = root / file.path
        if file.merged is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.merged)
        arguments = ["mergetool", "--no-prompt"]
        arguments += [f"--tool={tool}"] if tool is not None else []
        # The user's environment, less what names another repository.
        env = {k: v for k, v in os.environ.items() if k in _KEPT or not k.startswith("GIT_")}
        code = git_process.attended([*arguments, "--", file.path], cwd=root, env=env)
        return code == 0, target.read_bytes() if target.is_file() else None
