"""Every command where environment, configuration and folders are a stranger's: nothing of it runs.

PATCHMGR_LONG=1 asks every command; otherwise a few are asked.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from patchmgr.workspace import Workspace
from tests.commands.conftest import Answer, invoke
from tests.commands.every import ROWS, Place, Row, make_place
from tests.commands.scenes import Stage
from tests.conftest import Repository
from tests.long import LONG

_HOOKS = (
    "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "prepare-commit-msg",
    "commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-receive",
    "update", "post-receive", "post-update", "reference-transaction", "post-index-change",
    "post-rewrite", "pre-auto-gc", "fsmonitor-watchman", "proc-receive", "push-to-checkout",
)  # fmt: skip
_COMMANDS = (
    "core.fsmonitor", "core.pager", "core.editor", "core.askPass", "core.sshCommand",
    "core.gitProxy", "core.alternateRefsCommand", "diff.external", "diff.x.command",
    "diff.x.textconv", "filter.x.clean", "filter.x.smudge", "filter.x.process", "merge.x.driver",
    "gpg.program", "sequence.editor", "credential.helper", "pager.log", "interactive.diffFilter",
    "uploadpack.packObjectsHook", "alias.log", "alias.cat-file", "trailer.x.command",
    "remote.origin.uploadpack", "core.hooksPath",
)  # fmt: skip
_FLAGS = ("commit.gpgSign", "tag.gpgSign", "log.showSignature", "filter.x.required")
_PROGRAMS = ("git", "patch", "gpatch", "quilt", "ssh", "sh", "python", "python3", "less", "diff")


class Traps:
    """Programs that tell on who runs them, and settings that lead to them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.told = folder / "traps", folder / "told"
        self.folder.mkdir()
        self.tool = self.folder / "tool"
        self.write(self.tool)
        self.hooks = self.folder / "hooks"
        self.hooks.mkdir()
        for name in _HOOKS:
            self.write(self.hooks / name)
        self.attributes = self.folder / "attributes"
        self.attributes.write_text("* filter=x diff=x merge=x\n")

    def write(self, path: Path) -> None:
        """Write a program that tells."""
        path.write_text(f'#!/bin/sh\necho "$0 $*" >> {self.told}\nexit 1\n')
        path.chmod(0o755)

    def settings(self) -> dict[str, str]:
        """Return configuration by name: commands, and what makes git run them."""
        found = dict.fromkeys(_COMMANDS, str(self.tool)) | dict.fromkeys(_FLAGS, "true")
        return found | {"core.hooksPath": str(self.hooks)}

    def _settings(self) -> Iterator[tuple[str, str, str]]:
        for name, value in self.settings().items():
            section, *middle, key = name.split(".")
            yield f'{section} "{middle[0]}"' if middle else section, key, value

    def variables(self) -> dict[str, str]:
        """Return a hostile environment."""
        tool, nowhere = str(self.tool), str(self.folder / "nowhere")
        commands = (
            "GIT_EXTERNAL_DIFF", "GIT_PAGER", "PAGER", "GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR",
            "GIT_ASKPASS", "SSH_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EDITOR", "VISUAL",
            "EDITOR", "BROWSER", "LESSOPEN",
        )  # fmt: skip
        places = (
            "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_SHALLOW_FILE",
            "GIT_GRAFT_FILE", "GIT_EXEC_PATH", "GIT_ATTR_SOURCE",
        )  # fmt: skip
        traces = ("GIT_TRACE", "GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_TRACE_PACKET")
        others = {
            "GIT_NAMESPACE": "evil", "GIT_DEFAULT_HASH": "sha256", "GIT_ICASE_PATHSPECS": "1",
            "GIT_NOGLOB_PATHSPECS": "1", "GIT_REPLACE_REF_BASE": "refs/heads/",
            "GIT_TEMPLATE_DIR": str(self.folder), "GIT_DIFF_OPTS": "-u0",
            "GIT_ALLOW_PROTOCOL": "ext:file", "GIT_COMMITTER_DATE": "nonsense",
            "GIT_AUTHOR_IDENT": "x", "GIT_MERGE_VERBOSITY": "9", "PYTHONSTARTUP": tool,
            "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={tool}' 'diff.external={tool}'",
        }  # fmt: skip
        made = dict.fromkeys(commands, tool) | dict.fromkeys(places, nowhere)
        return made | dict.fromkeys(traces, str(self.told)) | others | self._counted()

    def _counted(self) -> dict[str, str]:
        found = {"GIT_CONFIG_COUNT": str(len(self.settings()))}
        for number, (name, value) in enumerate(self.settings().items()):
            found[f"GIT_CONFIG_KEY_{number}"], found[f"GIT_CONFIG_VALUE_{number}"] = name, value
        return found

    def plant(self, root: Path) -> None:
        """Spoil configuration, hooks and attributes of a clone, and put programs into it.

        Filters of a checkout's own configuration are its owner's, and git runs them; files whose
        attributes ask for one are refused (`test_attributes`).
        """
        private = root / ".git"
        with (private / "config").open("a") as file:
            for kind, name, value in self._settings():
                if not kind.startswith("filter"):
                    file.write(f"[{kind}]\n\t{name} = {value}\n")
        (private / "info").mkdir(exist_ok=True)
        (private / "info/attributes").write_text("* diff=x merge=x\n")
        (private / "info/exclude").write_text("".join(f"/{name}\n" for name in _PROGRAMS))
        (private / "hooks").mkdir(exist_ok=True)
        for name in _HOOKS:
            self.write(private / "hooks" / name)
        for name in _PROGRAMS:
            self.write(root / name)


Hostile = Callable[[pytest.MonkeyPatch, Place, Traps], None]


def _environment(patched: pytest.MonkeyPatch, place: Place, traps: Traps) -> None:
    for name, value in traps.variables().items():
        patched.setenv(name, value)


def _clones(patched: pytest.MonkeyPatch, place: Place, traps: Traps) -> None:
    """Make checkout and workspace clones that came with settings of their own."""
    Repository(place.stage.root)
    for root in (place.checkout.root, place.stage.root):
        traps.plant(root)
        patched.chdir(root)


def _path(patched: pytest.MonkeyPatch, place: Place, traps: Traps) -> None:
    """Let PATH look into the folder where one is, as an empty part of it does."""
    _clones(patched, place, traps)
    patched.setenv("PATH", os.pathsep.join(("", ".", os.environ["PATH"], "")))


WAYS: dict[str, Hostile] = {"environment": _environment, "clones": _clones, "PATH": _path}
FEW = ("rebase s --onto {later}", "apply s --to {checkout} --commit")
ASKED = [row for row in ROWS if LONG or (row.line in FEW and row.state == "plain")]


@contextmanager
def hostile(way: Hostile, place: Place, traps: Traps) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        way(patched, place, traps)
        yield


def ask(place: Place, row: Row, way: Hostile, traps: Traps) -> Answer:
    words = place.words(row.line)
    with hostile(way, place, traps):
        return invoke("-C", place.stage.root, *words)


@pytest.mark.parametrize("way", list(WAYS.values()), ids=list(WAYS))
@pytest.mark.parametrize("row", ASKED, ids=[f"{row.state}: {row.line}" for row in ASKED])
def test_nothing_of_a_stranger_s_runs(stage: Stage, row: Row, way: Hostile) -> None:
    place = make_place(stage, row.state)
    traps = Traps(stage.folder)
    answer = ask(place, row, way, traps)
    assert answer.code == row.code, answer.err
    assert not traps.told.exists(), traps.told.read_text()


def test_the_traps_work(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    place, traps = make_place(stage, "plain"), Traps(stage.folder)
    _clones(monkeypatch, place, traps)
    place.checkout.git("commit", "--quiet", "--allow-empty", "-m", "x", good=(0, 1, 128))
    assert traps.told.exists()


def test_too_little_memory_is_no_bug(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Workspace, "lock", fail)
    answer = stage.run("status", code=1)
    assert answer.err == "patchmgr: there is not enough memory\n"


def test_a_parent_that_ignores_sigchld_hides_no_exit_code(stage: Stage) -> None:
    ignore = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN);"
    start = f"{ignore} os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    line = [sys.executable, "-c", start, "-m", "patchmgr", "-C", str(stage.root)]
    for words in (
        ["branch", "s", "--repo", str(stage.clone().root)],
        ["rebase", "s", "--onto", "upstream/landed"],
    ):
        done = subprocess.run([*line, *words], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


def test_a_deleted_folder_is_told_as_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    answer = invoke("status")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("patchmgr: the current folder no longer exists\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full is needed")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_document_that_cannot_be_written_is_an_error(stage: Stage, unbuffered: str) -> None:
    line = [sys.executable, "-m", "patchmgr", "-C", str(stage.root), "status", "--json"]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            line, stdout=full, stderr=subprocess.PIPE, check=False, env=environment
        )
    assert (done.returncode, done.stderr) == (1, b"patchmgr: No space left on device\n")
