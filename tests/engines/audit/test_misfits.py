import ast

from patchmgr.engines.audit.name_faults import misfit
from tests.tables import table

ONE = "def sell(item, /, count, price=1, *, why, how=2):\n    ...\n\n\n"


@table(
    ("text", "said"),
    {
        "fits": (ONE + "sell(1, 2, why=3)\n", set()),
        "fits by name": (ONE + "sell(1, count=2, why=3)\n", set()),
        "cannot be told: positions": (ONE + "sell(*all)\n", set()),
        "cannot be told: names": (ONE + "sell(**all)\n", set()),
        "missing": (ONE + "sell(1, 2)\n", {"`sell` is called without `why`, which it needs."}),
        "too many": (ONE + "sell(1, 2, 3, 4, why=5)\n",
            {"`sell` is called with more arguments than it takes."}),
        "unknown name": (ONE + "sell(1, 2, why=3, who=4)\n",
            {"`sell` is called with `who`, which it does not take."}),
        "takes all": ("def sell(*a, **b): ...\nsell(1, c=2)\n", set()),
    },
)  # fmt: skip
def test_a_call_that_cannot_succeed_is_said(text: str, said: set[str]) -> None:
    function, call = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef) and isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    assert set(misfit(call.value, function.args, False, "sell")) == said
