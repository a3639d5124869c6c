"""Types the commands of docs/maintaining-a-fork.md, in their order, on small repositories."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.conftest import invoke
from tests.commands.index import Index
from tests.commands.wheels import environment, install, site_of, wheel
from tests.conftest import Repository

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/maintaining-a-fork.md").read_text()
URL = "https://github.com/deepseek-ai/DeepGEMM"
_ROW = re.compile(r"\| (.+) \| `(.+)` \|")
_FILE = re.compile(r"# (series/\S+/series\.toml)")
_EXIT = re.compile(r"exit (\d)")


def steps() -> Iterator[tuple[str, str]]:
    """Yield commands with what is said of them, and texts of files with their paths."""
    file, held = "", ""
    for before, line in zip(["", *PAGE.splitlines()], PAGE.splitlines(), strict=False):
        if row := _ROW.fullmatch(line):
            yield row[2], row[1]
        if before == "```toml" and (named := _FILE.fullmatch(line)):
            file = named[1]
        elif file and line == "```":
            yield held, file
            file = held = ""
        elif file:
            held += f"{line}\n"


def module(**edits: str) -> str:
    """Return forty assignments; `v7="x"` gives one another value."""
    return "".join(f"v{n} = {edits.get(f'v{n}', n)}\n" for n in range(40))


SHOW = "from flashinfer import v30\n\nprint(v30)\n"


def branched(fork: Repository, base: str, *changes: tuple[str, dict[str, str]]) -> bytes:
    """Commit changes on a state, each with its subject, and return them as a mailbox."""
    fork.git("checkout", "--quiet", "-B", "sm120", base)
    for subject, files in changes:
        fork.commit(dict(files), subject)
    return fork.patches(f"{base}..HEAD")


def clone(upstream: Repository, place: Path) -> Repository:
    upstream.git("clone", "--quiet", str(upstream.root), str(place))
    return Repository(place, is_there=True)


@pytest.fixture
def home(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home with the clones, mailboxes, environment and wheel that the page speaks of."""
    deepgemm, vllm = Repository(tmp_path / "DeepGEMM"), Repository(tmp_path / "vllm")
    tags = []
    for version, files in {"v2.0.0": {"gemm.py": module()}, "v2.1.0": {"sm120.hpp": "x\n"}}.items():
        tags.append(deepgemm.commit(dict(files), version))
        deepgemm.git("tag", version)
    texts = {"a.py": module(), "b.py": module(), "c.py": module()}
    first = {f"vllm/{name}": content for name, content in texts.items()}
    for version, changed in {
        "v0.23.0": {**first, "cmake/external_projects/deepgemm.cmake": f"GIT_TAG {tags[0]}\n"},
        "v0.24.0": {
            "vllm/a.py": module(v9="'upstream'"),
            "cmake/external_projects/deepgemm.cmake": f"GIT_TAG {tags[1]}\n",
        },
    }.items():
        vllm.commit(dict(changed), version)
        vllm.git("tag", version)
    made = clone(vllm, own_home / "src/vllm")
    branched(
        made, "v0.23.0",
        ("bound", {"vllm/a.py": module(v9="'ours'")}),
        ("deepgemm-off", {"vllm/b.py": module(v20="False")}),
        ("trace", {"vllm/c.py": module(v30="'trace'")}),
    )  # fmt: skip
    glm = clone(made, tmp_path / "glm")
    box = branched(glm, "origin/sm120", ("glm", {"vllm/c.py": module(v30="'trace'", v3="'glm'")}))
    (own_home / "glm.mbox").write_bytes(box)
    box = branched(
        clone(deepgemm, own_home / "src/DeepGEMM"), "v2.1.0", ("fix", {"gemm.py": module(v1="2")})
    )
    (own_home / "deepgemm.mbox").write_bytes(box)
    index, inits = Index(tmp_path / "index"), {}
    for version, edits in {"0.6.12": {}, "0.6.13": {"v2": "13"}}.items():
        inits[version] = {"flashinfer/__init__.py": module(**edits), "flashinfer/__main__.py": SHOW}
        index.release("flashinfer-python", version, inits[version])
    fork = Repository(tmp_path / "flashinfer")
    base = fork.commit(dict(inits["0.6.12"]), "0.6.12")
    box = branched(fork, base, ("last", {"flashinfer/__init__.py": module(v30="'last'")}))
    (own_home / "flashinfer.mbox").write_bytes(box)
    monkeypatch.setenv("PIP_INDEX_URL", index.root.as_uri())
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    install(environment(own_home / "venv"), "0.6.12", inits["0.6.12"], "flashinfer_python")
    name = "flashinfer_python-0.6.12-py3-none-any.whl"
    (own_home / name).write_bytes(wheel("0.6.12", inits["0.6.12"], "flashinfer_python"))
    return own_home


def typed(line: str, folder: Path) -> tuple[int, str]:
    """Run a line, in this process where it is patchmgr's alone; return exit code and output."""
    if line.startswith("patchmgr "):
        answer = invoke(*shlex.split(line)[1:])
        return answer.code, answer.out + answer.err
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, check=False)
    return done.returncode, (done.stdout + done.stderr).decode()


def test_all_that_a_maintainer_types(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = home / "bin/patchmgr"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {sys.executable} -m patchmgr "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    said: dict[str, str] = {}
    for text, about in steps():
        if about.startswith("series/"):
            (home / "fork" / about).write_text(text)
            continue
        line = text.replace("~/", f"{home}/").replace(URL, str(home.parent / "DeepGEMM"))
        if "-m pip install" in line:
            newer = {"flashinfer/__init__.py": module(v2="13"), "flashinfer/__main__.py": SHOW}
            install(site_of(home / "venv"), "0.6.13", newer, "flashinfer_python")
            continue
        code, said[text] = typed(line, home / "fork")
        wanted = _EXIT.search(about)
        assert code == (int(wanted[1]) if wanted else 0), f"{text}\n{said[text]}"
        monkeypatch.chdir(home / "fork")
    assert len(said) > 40
    for command, words in SAID.items():
        assert words in said[command], f"{command}\n{said[command]}"
    shown = PAGE.partition("```\nDEEPGEMM_COMMIT")[2].partition("```")[0].splitlines()
    for expected, line in zip(shown, said["patchmgr status --build-env"].splitlines(), strict=True):
        assert re.fullmatch(".*" + re.escape(expected).replace("…", ".+"), line), line


SAID = {
    'eval "$(patchmgr status --build-env)" && echo "$DEEPGEMM_SRC_DIR"': "/home/src/DeepGEMM\n",
    "patchmgr rebase vllm --onto v0.24.0 --dry-run": "not needed: there is sm120.hpp in deepgemm",
    "patchmgr rebase --continue": "1 absorbed, 2 skipped",
    "git -C ~/src/vllm tag --list 'sm120-next-fallback-*'": "sm120-next-fallback-",
    "PYTHONPATH=~/overlay ~/venv/bin/python -m flashinfer show-config": "last\n",
}
