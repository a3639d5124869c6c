"""What the tests of `import` share: sources on disk, and one call."""

from collections.abc import Mapping
from pathlib import Path

from tests.commands.conftest import Answer
from tests.commands.scenes import Stage, one_line, plant, unchanged

EDIT_A = "--- a/pkg/a.py\n+++ b/pkg/a.py\n@@ -1,2 +1,2 @@\n-line 0\n+zero\n line 1\n"
EDIT_B = EDIT_A.replace("a.py", "b.py")


def put(stage: Stage, name: str, content: bytes | str) -> Path:
    path = stage.folder / "sources" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def take(stage: Stage, *sources: str | Path, code: int = 0) -> Answer:
    return stage.run("import", "--series", "s", *sources, code=code)


def order(stage: Stage) -> str:
    return (stage.root / "series/s/series").read_text()


def refuses(stage: Stage, *sources: str | Path, code: int = 1) -> str:
    """Check that an import changes nothing; return the one line that says why."""
    with unchanged(stage.root):
        message = one_line(take(stage, *sources, code=code))
        assert one_line(take(stage, "--dry-run", *sources, code=code)) == message
    return message


def commits(
    stage: Stage, *changes: tuple[Mapping[str, bytes | str | None], str], at: str = "main"
) -> str:
    """Make commits on a detached HEAD of upstream, and return to main."""
    with stage.upstream.at("--detach", at):
        for files, message in changes:
            plant(stage.upstream, files, message)
        return stage.upstream.head()


def mailbox(*diffs: str) -> str:
    head = f"From {'0' * 40} Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nDate: @1 +0000\n"
    head = head.replace("Date: @1 +0000\n", "Date: Thu, 1 Jan 1970 00:00:01 +0000\n")
    return "".join(f"{head}Subject: mail {n}\n\n---\n{d}\n" for n, d in enumerate(diffs, 1))


def new_file(path: str) -> str:
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"  # noqa: E501
