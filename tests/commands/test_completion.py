"""Completion: what is offered where, through the protocol that the shells speak; and no noise."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from patchmgr import cli
from patchmgr.cli import completion
from tests.commands.conftest import _Stream
from tests.commands.scenes import Stage
from tests.tables import table

ROOT = Path(__file__).parents[2]
HOSTILE = [
    "$(id>pwned).patch", "`id`.patch", "a;b.patch", "a&b.patch", "a|b.patch", "q'q.patch",
    'q"q.patch', "st*r.patch", "wh?t.patch", "br[a].patch", "back\\slash.patch", "~home.patch",
    "!bang.patch", "a>b.patch", "{a,b}.patch", "x\u202egnp.patch", "bad\udcff.patch",
]  # fmt: skip


@pytest.fixture
def known(stage: Stage) -> Stage:
    """Return the stage with a second series, guards, and names that a shell must not get."""
    stage.run("upstream", "fetch", "up")
    stage.run("series", "new", "tail", "--upstream", "up", "--base", stage.base)
    lines = "".join(f"{name}\n" for name in HOSTILE) + "fine.patch #+sym #-less\n"
    path = stage.root / "series/tail/series"
    path.write_bytes(lines.encode("utf-8", "surrogateescape"))
    return stage


def ask(monkeypatch: pytest.MonkeyPatch, line: str, at: str = "") -> tuple[int, list[str], str]:
    """Ask as bash does what completes the last word; return exit code, names and stderr."""
    out, err = _Stream(), _Stream()
    with monkeypatch.context() as patched:
        patched.setenv("COMP_WORDS", line)
        patched.setenv("COMP_CWORD", at or str(line.count(" ")))
        patched.setenv(completion.VARIABLE, "complete_bash")
        patched.setattr(sys, "argv", ["patchmgr"])
        patched.setattr(sys, "stdout", out)
        patched.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as ended:
            cli.main()
    return int(ended.value.code or 0), out.text().split(), err.text()


FORKS = ["fork-one.patch", "fork-two.patch"]
ASKED = {
    "rebase ": ["s", "tail"],
    "rebase t": ["tail"],
    "rebase s ": ["tail"],
    "apply ": ["s", "tail"],
    "series show ": ["s", "tail"],
    "series graph ": ["s", "tail"],
    "plan ": ["s", "tail"],
    "forecast ": ["s", "tail"],
    "sync ": ["s", "tail"],
    "sync s --onto upstream/l": ["upstream/landed", "upstream/later"],
    "sync --pull-request g": ["gh", "glab"],
    "plan s --onto upstream/l": ["upstream/landed", "upstream/later"],
    "import --series ": ["s", "tail"],
    "series new x --on ": ["s", "tail"],
    "series new x --upstream ": ["up"],
    "upstream fetch ": ["up"],
    "rebase --onto upstream/l": ["upstream/landed", "upstream/later"],
    "rebase s --onto upstream/l": ["upstream/landed", "upstream/later"],
    "rebase --onto main..upstream/l": ["main..upstream/landed", "main..upstream/later"],
    "decide fork": FORKS,
    "decide ": [*FORKS, "fine.patch"],
    "decide --series s ": FORKS,
    "decide --series tail ": ["fine.patch"],
    "drop fork-one.patch fork": ["fork-two.patch"],
    "move fork-one.patch --after ": [*FORKS, "fine.patch"],
    "goto f": [*FORKS, "fine.patch"],
    "branch s --without ": FORKS,
    "apply --select ": ["less", "sym"],
    "export --as ": ["quilt", "mbox", "git", "gbp", "stgit", "patch-package", "diff", "yocto",
        "suse"],
    "export --as g": ["git", "gbp"],
    "report --format ": ["terminal", "markdown", "json", "html", "cyclonedx", "cyclonedx-1.5"],
    "decide fork-one.patch ": ["absorbed", "needed"],
    "merge-dr": ["merge-driver"],
    "conflicts forg": ["forget"],
    "--version rebas": ["rebase"],
    "rebase --ont": ["--onto"],
    "import x": [],
    "import --git ": [],
}  # fmt: skip


@table(("line", "wanted"), ASKED.items())
def test_what_is_offered(
    known: Stage, monkeypatch: pytest.MonkeyPatch, line: str, wanted: list[str]
) -> None:
    code, found, err = ask(monkeypatch, f"patchmgr -C {known.root} {line}")
    assert (code, found, err) == (0, wanted, "")


def test_tags_and_releases_and_conflicts(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.upstream.git("tag", "v1.0", stage.base)
    stage.run("upstream", "fetch", "up")
    stage.upstream.git("tag", "-d", "v1.0")
    assert ask(monkeypatch, f"patchmgr -C {stage.root} rebase --onto v")[1] == ["v1.0"]
    (stage.root / "conflicts/0123456789ab").mkdir(parents=True)
    asked = f"patchmgr -C {stage.root} conflicts show 01"
    assert ask(monkeypatch, asked)[1] == ["0123456789ab"]


def test_no_name_a_shell_reads_otherwise(known: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    _, found, _ = ask(monkeypatch, f"patchmgr -C {known.root} decide --series tail ")
    assert found == ["fine.patch"]


def test_the_named_workspace(known: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert ask(monkeypatch, "patchmgr rebase ")[1] == []
    monkeypatch.setenv("PATCHMGR_WORKSPACE", str(known.root))
    assert ask(monkeypatch, "patchmgr rebase ")[1] == ["s", "tail"]
    monkeypatch.delenv("PATCHMGR_WORKSPACE")
    monkeypatch.chdir(known.root / "series/s")
    assert ask(monkeypatch, "patchmgr rebase ")[1] == ["s", "tail"]
    assert ask(monkeypatch, f"patchmgr -C {tmp_path} rebase ")[1] == []


def test_a_checkout_leads_to_its_workspace(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    clone = stage.clone()
    stage.run("push", "--to", clone.root)
    monkeypatch.chdir(clone.root)
    assert ask(monkeypatch, "patchmgr goto fork")[1] == FORKS


BROKEN = {
    "lock": ("upstream.lock", b"["),
    "a newer lock": ("upstream.lock", b"format = 99\n"),
    "series": ("series/s/series", b"../../etc/passwd\n"),
    "bytes": ("upstream.lock", b"\xff\x00"),
}


@pytest.mark.parametrize(("path", "content"), BROKEN.values(), ids=BROKEN)
def test_a_broken_workspace_says_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, path: str, content: bytes
) -> None:
    (stage.root / path).write_bytes(content)
    for line in ("rebase ", "decide ", "rebase --onto "):
        _, found, err = ask(monkeypatch, f"patchmgr -C {stage.root} {line}")
        assert err == ""
        assert not set(found) & {"fork-one.patch", "../../etc/passwd"}


@table(
    ("words", "at"),
    [("patchmgr 'open", "1"), ("patchmgr x", "many"), ("", "0"), ("patchmgr \udcff", "1"),
     ("patchmgr -C /nowhere rebase ", "4"), ("patchmgr -C", "2"), ("patchmgr rebase", "-7")],
)  # fmt: skip
def test_a_line_that_makes_no_sense_says_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, words: str, at: str
) -> None:
    monkeypatch.chdir(stage.root)
    _, found, err = ask(monkeypatch, words, at)
    assert err == ""
    assert "Traceback" not in found


def call(command: list[str], **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command, capture_output=True, check=False, env={**os.environ, **environment}
    )


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a command `patchmgr` on PATH that runs this source."""
    place = tmp_path / "bin"
    place.mkdir()
    script = place / "patchmgr"
    line = f"PYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.quote(sys.executable)} -m patchmgr"
    script.write_text(f'#!/bin/sh\n{line} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")


SHELLS = {
    "bash": """
        eval "$(_PATCHMGR_COMPLETE=source_bash patchmgr)"
        COMP_WORDS=(patchmgr -C "$WORKSPACE" decide "") COMP_CWORD=4
        $(complete -p patchmgr | sed 's/.*-F \\([^ ]*\\) .*/\\1/') patchmgr
        printf '%s\\n' "${COMPREPLY[@]}"
    """,
    "zsh": """
        compdef() { handler=$1 }
        _arguments() { print -r -- "$1" | tr -d "'\\"()" | sed 's/^[*]: ://' }
        eval "$(_PATCHMGR_COMPLETE=source_zsh patchmgr)"
        words=(patchmgr -C "$WORKSPACE" decide "") CURRENT=5
        $handler
    """,
    "fish": """
        env _PATCHMGR_COMPLETE=source_fish patchmgr | source
        complete -C "patchmgr -C $WORKSPACE decide "
    """,
}


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize("shell", SHELLS)
def test_the_shells_themselves(known: Stage, shell: str) -> None:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed")
    bare = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = call([found, *bare, "-c", SHELLS[shell]], WORKSPACE=str(known.root), TERM="dumb")
    assert done.stderr == b""
    assert sorted(done.stdout.decode().split()) == ["fine.patch", *FORKS]
    assert not (known.root / "pwned").exists()
