import pytest

from patchmgr.engines.audit.interfaces import check_interfaces
from tests.engines.audit.audited import found
from tests.engines.series import Files
from tests.tables import table

SHOP = {
    "shop/__init__.py": "from .cart import Cart\n",
    "shop/cart.py": "class Cart: ...\nif True:\n    spare = 1\n",
    "shop/price.py": "def price(): ...\n",
    "src/lib/tool.py": "def hammer():\n    global nail\n",
}


@table(
    ("text", "merged", "said"),
    [
        pytest.param("from shop.cart import Cart\n", {}, (), id="resolves"),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "class Basket: ...\n"},
            ("from shop.cart import Cart",),
            id="name gone",
        ),
        pytest.param(
            "from .cart import Cart, spare\n",
            {"shop/cart.py": "class Cart: ...\n"},
            ("from .cart import spare",),
            id="relative",
        ),
        pytest.param(
            "import shop.price\n", {"shop/price.py": None}, ("import shop.price",), id="module gone"
        ),
        pytest.param("from shop import price\n", {}, (), id="submodule"),
        pytest.param("from . import price\n", {}, (), id="submodule, relative"),
        pytest.param("from lib.tool import hammer, nail\n", {}, (), id="below src"),
        pytest.param("from torch import nothing\n", {}, (), id="outside of the tree"),
        pytest.param("from shop.cart import never\n", {}, (), id="did not resolve before either"),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "from torch import *\n"},
            (),
            id="may come from a star",
        ),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "def __getattr__(name): ...\n"},
            (),
            id="may be made when asked for",
        ),
        pytest.param(
            "from shop.cart import Cart\n", {"shop/cart.py": "class (\n"}, (), id="not parsed"
        ),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "x = 1\nclass CartOf: ...\nclass Cart: ...\n"},
            (),
            id="below a longer name",
        ),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "@made\ndef make(\n    a,\n):\n    with a:\n        global Cart\n"},
            (),
            id="global in a block",
        ),
        pytest.param("from (\n", {"shop/cart.py": None}, (), id="text does not parse"),
        pytest.param("from ....shop import cart\n", {}, (), id="above the tree"),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "from .price import (\n    price,\n    Basket as Cart,  # it\n)\n"},
            (),
            id="imported under the name",
        ),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "from .price import (\n    Cart as Basket,\n)\n"},
            ("from shop.cart import Cart",),
            id="imported under another name",
        ),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "from .price import price  # Cart\n"},
            ("from shop.cart import Cart",),
            id="in a comment behind an import",
        ),
        pytest.param(
            "from shop.cart import Cart\n",
            {"shop/cart.py": "CartOf = 1\nif CartOf:\n    Cart = 2\n"},
            (),
            id="bound below a condition",
        ),
    ],
)
def test_an_import_that_resolved_before_is_said(
    text: str, merged: dict[str, str | None], said: tuple[str, ...]
) -> None:
    base: Files = {path: content.encode() for path, content in SHOP.items()}
    changed = {path: t for path, t in {**SHOP, **merged}.items() if t is not None}
    upstream = {path: content.encode() for path, content in changed.items()}
    findings = found([check_interfaces], base, {**base, "shop/use.py": text.encode()}, upstream)
    assert all(finding.kind == "removed" and finding.is_certain for finding in findings)
    assert tuple(finding.text.split("`")[1] for finding in findings) == said
