"""Imports resolve in any folder of a repository that holds packages."""

from patchmgr.engines.structure.guards_imports import resolves
from tests.tables import table


class Files:
    """A tree of modules that bind `name`."""

    def __init__(self, *paths: str) -> None:
        self._paths = paths

    def exists(self, path: str) -> bool:
        return any(known == path or known.startswith(f"{path}/") for known in self._paths)

    def read(self, path: str) -> bytes | None:
        return b"name = 1\n" if path in self._paths else None


@table(
    ("path", "module", "is_there"),
    {
        "lib": ("lib/yaml/loader.py", "yaml.nodes", True),
        "src": ("src/pkg/a.py", "pkg.b", True),
        "tests-of-src": ("tests/test_a.py", "pkg.b", True),
        "a-root-of-its-own": ("deep/er/pkg/a.py", "pkg.c", True),
        "script": ("tools/run.py", "helper", True),
        "not-there": ("lib/yaml/loader.py", "yaml.none", False),
        "another-root": ("lib/yaml/loader.py", "pkg.c", False),
    },
)
def test_a_module_is_found_below_its_root(path: str, module: str, is_there: bool) -> None:
    tree = Files("lib/yaml/nodes.py", "src/pkg/b.py", "deep/er/pkg/c.py", "tools/helper.py")
    assert resolves(path, module, "name", tree) == is_there


def test_a_module_that_is_a_link_may_have_any_name() -> None:
    class Links(Files):
        def read(self, path: str) -> bytes | None:
            return None

    tree = Links("pkg/b.py")
    assert resolves("pkg/a.py", "pkg.b", "name", tree)
    assert not resolves("pkg/a.py", "pkg.c", "name", tree)
