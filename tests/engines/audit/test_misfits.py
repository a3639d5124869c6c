import ast

import pytest

from patchmgr.engines.audit.use_faults import misfit
from tests.tables import table

ONE = "def sell(item, /, count, price=1, *, why, how=2):\n    ...\n\n\n"


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
        pytest.param("def sell(*a, **b): ...\nsell(1, c=2)\n", set(), id="takes all"),
    ],
)
def test_a_call_that_cannot_succeed_is_said(text: str, said: set[str]) -> None:
    function, call = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef) and isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    assert set(misfit(call.value, function.args, False, "sell")) == said
