"""Where the program does not run, and locales that Python takes for ASCII."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.conftest import invoke
from tests.commands.importing import commits
from tests.commands.scenes import Stage, one_line, picture
from tests.tables import table

_ROOT = Path(__file__).parents[2]


@table("arguments", [(), ("--help",), ("status",), ("apply", "--json")])
def test_windows_hears_of_wsl(monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    answer = invoke(*arguments)
    assert answer.code == 2
    said = answer.json["error"]["message"] if "--json" in arguments else one_line(answer)
    assert said == "patchmgr does not run natively on Windows; run it in WSL (wsl --install)"


def test_names_and_words_are_utf_8_in_the_c_locale_too(stage: Stage) -> None:
    head = commits(stage, ({"größe.txt": "ü\n"}, "größer"))
    box = stage.folder / "ü.mbox"
    box.write_bytes(stage.upstream.patches(f"{head}~1..{head}"))
    stage.clone("ö")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for line in ("--help", "import ../ü.mbox --series s", "apply s --to ../ö"):
        done = subprocess.run(
            [sys.executable, "-m", "patchmgr", *line.split()],
            cwd=stage.root, env={**environment, "PYTHONPATH": str(_ROOT)},
            capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    patches = (path.read_bytes() for path in (stage.root / "series/s").iterdir())
    assert any(rb"gr\303\266\303\237e.txt" in raw for raw in patches)


@pytest.mark.parametrize("names", [("PLAIN.sh",), ("new.txt", "New.txt")])
def test_paths_that_the_file_system_takes_for_one_are_refused_before_anything_is_written(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    diffs = (f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+{name}\n" for name in names)
    (stage.folder / "alike.patch").write_text("".join(diffs))
    stage.run("import", stage.folder / "alike.patch", "--series", "s")
    checkout = stage.clone()
    before = picture(checkout.root, without=())
    monkeypatch.setattr("patchmgr.plumbing.checkout_changes._holds_apart", lambda *names: False)
    for line in (("apply", "s"), ("apply", "s", "--commit"), ("push", "-a"), ("goto", "alike")):
        for more in ((), ("--dry-run",)):
            answer = stage.run(*line, *more, "--to", checkout.root, code=1)
            assert f"{names[-1]} " in one_line(answer)
            assert "would be one file in" in one_line(answer)
            assert picture(checkout.root, without=()) == before
