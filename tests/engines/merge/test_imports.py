"""Faults in the imports of a candidate."""

from patchmgr.engines.merge.imports import FileImports, imported
from tests.tables import table


@table(
    "text, expected",
    [
        ("import a\nimport b.c, d as e\n", [("a", "a"), ("b.c", "b.c"), ("d", "e")]),
        ("from . import a\nfrom ..b import (\n    c,  # why, indeed\n    d as e,\n)\n",
         [(".", "a"), ("..b", "c"), ("..b", "e")]),
        ("from a import b, \\\n    c\n", [("a", "b"), ("a", "c")]),
        ("x = 'import'\nimportant = 1\n", []),
    ],
)  # fmt: skip
def test_imports_are_read_with_bound_names(text: str, expected: list[tuple[str, str]]) -> None:
    assert list(imported(text)) == expected


@table(
    "base, ours, theirs, candidate, fault",
    {
        "one name from two modules": (
            "", "from a import x\n", "from b import x\n", "from a import x\nfrom b import x\n",
            "imported twice",
        ),
        "two imports": (
            "import x\n", "import x\nimport y\n", "import x\nimport z\n",
            "import x\nimport y\nimport z\n", "",
        ),
        "twice on a side": (
            "", "try:\n    import x\nexcept E:\n    from y import x\n", "import z\n",
            "try:\n    import x\nexcept E:\n    from y import x\nimport z\n", "",
        ),
        "the file went into a folder": (
            "from .m import a\n", "from ..m import a\n", "from .m import a\nfrom .n import b\n",
            "from ..m import a\nfrom .n import b\n", "moved",
        ),
        "the package is elsewhere": (
            "from p.a import w\n", "from q.p.a import w\n",
            "from p.a import w\nfrom p.b import c\n",
            "from q.p.a import w\nfrom p.b import c\n", "moved",
        ),
        "another name takes the place of one, from another module": (
            "from p.u import a\n", "from p.v import b\n", "from p.u import a, c\n",
            "from p.v import b, c\n", "moved",
        ),
        "the names went into another module": (
            "from p_u import a\n", "from p_v import a\n", "from p_u import a, c\n",
            "from p_v import a, c\n", "",
        ),
        "other names went into another module": (
            "from . import a\nfrom .. import u\n", "from .c import a\nfrom . import u\n",
            "from . import u\n", "from .c import u\n", "moved",
        ),
        "the module itself": (
            "from .m import a\n", "from .n import a\n", "from .m import a\nfrom . import m\n",
            "from .n import a\nfrom . import m\n", "moved",
        ),
        "the package is still there": (
            "from p.a import w\n", "from p.z import w\n", "from p.a import w\nfrom p.b import c\n",
            "from p.z import w\nfrom p.b import c\n", "",
        ),
        "beside a module that went into a package": (
            "from m import a\nimport b\n", "from t.m import a\n",
            "from m import a\nfrom n import c\nimport os\n", "from n import c\n", "moved",
        ),
        "beside such a module, and of one that stays, the package, or the standard library": (
            "from m import a\nimport b\n", "from t.m import a\nimport b\n",
            "from m import a\nimport b.c\nimport os\nfrom t import d\n",
            "import b.c\nimport os\nfrom t import d\n", "",
        ),
        "made relative here, and put into a `try` there": (
            "from m import a\n", "from .m import a\n", "try:\n    from m import a\nexcept E: f()\n",
            "try:\n    from m import a\nexcept E: f()\n", "moved",
        ),
        "beside a relative one, and put into a `try` there": (
            "from m import a\n", "from .n import b\nfrom m import a\n",
            "try:\n    from m import a\nexcept E: f()\n",
            "from .n import b\ntry:\n    from m import a\nexcept E: f()\n", "",
        ),
        "one side does not import it any more": (
            "from m import a\n", "", "from n import a, b\n", "from n import a, b\n", "removed",
        ),
        "no longer imported is not moved": (
            "import p\n", "\n", "import p\nimport p.b\n", "import p.b\n", "",
        ),
    },
)  # fmt: skip
def test_faults_of_imports(base: str, ours: str, theirs: str, candidate: str, fault: str) -> None:
    assert FileImports(base, ours, theirs, "").fault(candidate) == fault


def test_imports_that_git_merged_outside_the_region_count() -> None:
    found = FileImports("", "from a import x\n", "from b import x\n", "from a import x\n")
    assert found.fault("from b import x\n") == "imported twice"
    old, new = "from p.a import x\n", "from p.a import y\n"
    found = FileImports(old, "from q import x\n", old + new, new)
    assert found.fault("from q import x\n") == "moved"
