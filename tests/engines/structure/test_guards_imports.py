from dataclasses import dataclass

import pytest

from patchmgr.engines.structure.guards_imports import unresolved_imports

LINKS = ("shop/cart.pyi",)  # a file that cannot be read


@dataclass(frozen=True)
class Files:
    files: dict[str, str]

    def exists(self, path: str) -> bool:
        return (
            path in LINKS
            or path in self.files
            or any(name.startswith(f"{path}/") for name in self.files)
        )

    def read(self, path: str) -> bytes | None:
        text = self.files.get(path)
        return None if text is None else text.encode()


FORK = Files(
    {
        "shop/__init__.py": "from .cart import Cart\n",
        "shop/cart.py": "class Cart: ...\nif True:\n    spare = 1\n",
        "shop/price.py": "def price(): ...\n",
        "src/lib/tool.py": "def hammer():\n    global nail\n",
    }
)


@pytest.mark.parametrize(
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
            {"shop/cart.py": "from .price import *\n"},
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
    files = {path: t for path, t in {**FORK.files, **merged}.items() if t is not None}
    assert unresolved_imports("shop/use.py", text, Files(files), sides=(FORK,)) == said
