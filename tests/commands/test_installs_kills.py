"""`apply` and `unapply` on a package, killed at every single file operation: old or new."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import invoke
from tests.commands.every import restorer
from tests.commands.scenes import picture, text
from tests.commands.test_installs import house as house
from tests.commands.test_kills import old_or_new
from tests.commands.wheels import DEMO, House, install

_SMALL = {"demo/a.py": text(l30="ours\n"), "demo/new/deep.py": "new\n", "demo/gone.py": None}


@pytest.mark.parametrize(
    ("before", "command"),
    [
        pytest.param((), ("apply",), id="apply"),
        pytest.param((), ("apply", "--warn-at-start"), id="apply-warn"),
        pytest.param(("apply",), ("unapply",), id="unapply"),
        pytest.param(("apply", "series"), ("apply",), id="exchange"),
        pytest.param(("apply", "reinstall"), ("apply",), id="reinstalled"),
    ],
)
def test_a_killed_command_leaves_a_package_old_or_new(
    house: House, before: tuple[str, ...], command: tuple[str, ...]
) -> None:
    house.series(_SMALL)
    cache = house.site / "demo/__pycache__"
    for step in before:
        if step == "apply":
            house.run("apply")
        elif step == "series":
            house.series({**_SMALL, "demo/a.py": text(l40="other\n")})
        else:
            install(house.site, "1.0", DEMO)
    cache.mkdir()
    (cache / "a.cpython-311.pyc").write_bytes(b"compiled")
    line: tuple[str | Path, ...] = (command[0], "s", "--site", house.site, *command[1:])
    seen = old_or_new(
        lambda: invoke("-C", house.shop.root, *line),
        look=lambda: (house.state(), picture(house.site, without=(".patchmgr",))),
        reset=restorer(house.site),
    )
    assert seen == {"old", "new"}
