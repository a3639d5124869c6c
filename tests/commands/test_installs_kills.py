"""`apply` and `unapply` on a package, killed at every single file operation: old or new."""

from __future__ import annotations

import pytest

from tests.commands.conftest import invoke
from tests.commands.scenes import Picture, changed, picture, text
from tests.commands.test_installs import house as house
from tests.commands.test_kills import killed_everywhere, restorer
from tests.commands.wheels import DEMO, House, install

_SMALL = {"demo/a.py": text(l30="ours\n"), "demo/new/deep.py": "new\n", "demo/gone.py": None}


def look(house: House) -> Picture:
    """Return what an interpreter can see."""
    return picture(house.site, without=(".patchmgr",))


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
    reset = restorer(house.site)
    old, old_state = look(house), house.state()
    house.run(*command)
    new, new_state = look(house), house.state()
    seen = set()

    def check(at: int) -> bool:
        state, found = house.state(), look(house)
        assert found in (old, new), f"killed at {at}: {changed(found, new)}"
        assert state == (old_state if found == old else new_state), f"killed at {at}"
        seen.add("old" if found == old else "new")
        if found == old and at % 4 == 0:
            house.run(*command)
            assert look(house) == new, f"killed at {at}"
            return False
        return found == old

    killed_everywhere(
        lambda: invoke("-C", house.shop.root, command[0], "s", "--site", house.site, *command[1:]),
        reset=reset,
        check=check,
    )
    assert seen == {"old", "new"}
