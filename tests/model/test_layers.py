"""Who may import whom."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.tables import table

ROOT = Path(__file__).parents[2]
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "patchmgr").rglob("*.py"))

# Each layer with those that it may import besides itself; the names of top-level modules are
# layers of their own.
BELOW = {
    "model": set(),
    "errors": set(),
    "formats": {"model", "errors"},
    "engines": {"model", "errors", "formats"},
    "render": {"model", "errors"},
    "plumbing": {"model", "errors", "formats", "engines", "render"},
    "workspace": {"model", "errors", "formats", "engines", "render", "plumbing"},
    "services": {"model", "errors", "formats", "engines", "render", "plumbing", "workspace"},
    "commands": {
        "model", "errors", "formats", "engines", "render", "plumbing", "workspace", "services",
    },
}  # fmt: skip
# A renderer names the result that it shows; it does not load the command for it.
AS_TYPE = {"render": {"commands", "services"}}
TOP = {"cli", "__main__", "__init__"}
OWNERS = {"subprocess": "plumbing", "git": "plumbing", "gitdb": "plumbing", "typer": "cli"}
PLAIN = {"model", "errors"}


def _layer(module: str) -> str:
    return module.split("/")[1].removesuffix(".py")


def _imports(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """Yield every imported name, inside of functions too, and whether only types need it."""
    waiting = [(tree, False)]
    while waiting:
        node, is_type = waiting.pop()
        if isinstance(node, ast.Import):
            yield from ((alias.name, is_type) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from ((f"{node.module}.{alias.name}", is_type) for alias in node.names)
        elif isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            waiting += [(inner, True) for inner in node.body]
            waiting += [(inner, is_type) for inner in node.orelse]
        elif not isinstance(node, ast.expr):
            waiting += [(inner, is_type) for inner in ast.iter_child_nodes(node)]


def _faults(module: str, source: str) -> list[str]:
    layer = _layer(module)
    faults: list[str] = []
    for name, is_type in _imports(ast.parse(source)):
        package, _, rest = name.partition(".")
        owner = OWNERS.get(package, layer)
        if owner != layer:
            faults.append(f"{module} imports {package}")
        below = {layer, "__version__", *BELOW.get(layer, ())}
        below |= AS_TYPE.get(layer, set()) if is_type else set()
        if package == "patchmgr" and layer not in TOP and rest.split(".")[0] not in below:
            faults.append(f"{module} imports {name}")
    return faults


@table("module", MODULES)
def test_a_module_imports_its_own_layer_and_those_below(module: str) -> None:
    assert _faults(module, (ROOT / module).read_text()) == []


@table("module", [m for m in MODULES if _layer(m) in PLAIN])
def test_values_need_nothing_but_what_makes_them(module: str) -> None:
    names = _imports(ast.parse((ROOT / module).read_text()))
    packages = {name.split(".")[0] for name, _ in names}
    assert packages <= {
        "__future__", "collections", "enum", "hashlib", "msgspec", "patchmgr", "typing"
    }  # fmt: skip


@table(
    ("module", "source", "is_fault"),
    [
        ("patchmgr/engines/x.py", "from patchmgr.model.snapshot import blob_id", False),
        ("patchmgr/engines/x.py", "from patchmgr.formats.binary import apply_binary", False),
        ("patchmgr/engines/x.py", "from patchmgr.plumbing import git_process", True),
        ("patchmgr/engines/x.py", "def f():\n    import subprocess", True),
        ("patchmgr/formats/x.py", "from patchmgr.engines.series.fold import Overlay", True),
        ("patchmgr/render/x.py", "import patchmgr.formats.binary", True),
        ("patchmgr/render/x.py", "from patchmgr.commands.apply import Application", True),
        ("patchmgr/render/x.py", "if TYPE_CHECKING:\n    import patchmgr.commands", False),
        ("patchmgr/render/x.py", "if TYPE_CHECKING:\n    import patchmgr.workspace", True),
        ("patchmgr/render/x.py", "if TYPE_CHECKING:\n    pass\nelse:\n    import typer", True),
        ("patchmgr/model/x.py", "from patchmgr import errors", True),
        ("patchmgr/plumbing/x.py", "import git.repo\nimport subprocess", False),
        ("patchmgr/plumbing/x.py", "from patchmgr import workspace", True),
        ("patchmgr/commands/x.py", "from patchmgr.workspace import Workspace", False),
        ("patchmgr/commands/x.py", "import typer", True),
        ("patchmgr/commands/x.py", "from patchmgr.cli import main", True),
        ("patchmgr/cli/x.py", "import typer\nfrom patchmgr.commands import rebase", False),
        ("patchmgr/cli/x.py", "import git", True),
        ("patchmgr/workspace.py", "import typer", True),
    ],
)
def test_the_walk_sees_what_it_should(module: str, source: str, is_fault: bool) -> None:
    assert bool(_faults(module, source)) is is_fault
