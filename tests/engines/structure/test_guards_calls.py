import pytest

from patchmgr.engines.structure.guards_calls import misfits
from tests.tables import table

ONE = "def sell(item, /, count, price=1, *, why, how=2):\n    ...\n\n\n"
METHOD = "class Shop:\n    def sell(self, item): ...\n    def run(self):\n        "


@table(
    ("text", "said"),
    [
        pytest.param(ONE + "sell(1, 2, why=3)\n", set(), id="fits"),
        pytest.param(ONE + "sell(1, count=2, why=3)\n", set(), id="fits by name"),
        pytest.param(ONE + "sell(*all)\n", set(), id="cannot be told: positions"),
        pytest.param(ONE + "sell(**all)\n", set(), id="cannot be told: names"),
        pytest.param(
            ONE + "sell(1, 2)\n", {"`sell` is called without `why`, which it needs."}, id="missing"
        ),
        pytest.param(
            ONE + "sell(1, 2, 3, 4, why=5)\n",
            {"`sell` is called with more arguments than it takes."},
            id="too many",
        ),
        pytest.param(
            ONE + "sell(1, 2, why=3, who=4)\n",
            {"`sell` is called with `who`, which it does not take."},
            id="unknown name",
        ),
        pytest.param(ONE + "sell = other\nsell()\n", set(), id="bound anew"),
        pytest.param("@wrapped\n" + ONE + "sell()\n", set(), id="decorated"),
        pytest.param(ONE + ONE + "sell()\n", set(), id="defined twice"),
        pytest.param("def sell(*a, **b): ...\nsell(1, c=2)\n", set(), id="takes all"),
        pytest.param(METHOD + "self.sell(1)\n", set(), id="method fits"),
        pytest.param(METHOD + "other.sell()\n", set(), id="method of another"),
        pytest.param(METHOD + "sell()\n", set(), id="a function of its name"),
        pytest.param(
            METHOD + "self.sell()\n",
            {"`sell` is called without `item`, which it needs."},
            id="method misfits",
        ),
        pytest.param("def (\n", set(), id="does not parse"),
    ],
)
def test_a_call_that_cannot_succeed_is_said(text: str, said: set[str]) -> None:
    assert misfits(text) == said
