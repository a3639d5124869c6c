"""Strings and operators of the series that name what upstream took away are told."""

from patchmgr.engines.audit.checks import CHECKS
from patchmgr.engines.audit.registries import lost_registrations
from patchmgr.model.audit import AuditFinding
from tests.engines.audit.audited import found
from tests.tables import table

MODELS = "import os\n\n\nclass Tiny:\n    pass\n\n\ndef make():\n    return Tiny()\n"
TABLE = (
    'TABLE = {\n    "a": ("os", "path"),\n    "b": ("os", "path"),\n    "c": ("os", "path"),\n}\n'
)
BINDINGS = """\
TORCH_LIBRARY(fast, m) {
  m.def("silu(Tensor x) -> Tensor");
  m.impl("silu", torch::kCUDA, &silu);
  m.def("norm(Tensor x) -> Tensor");
}
"""
BASE: dict[str, str] = {
    "pkg/models/tiny.py": MODELS,
    "pkg/table.py": TABLE,
    "csrc/bindings.cpp": BINDINGS,
    "pkg/ops.py": "import torch\n",
    "setup.cfg": "[options.entry_points]\nx =\n  a = os:path\n",
}

Files = dict[str, str | None]


def told_of(ours: Files, upstream: Files) -> tuple[AuditFinding, ...]:
    """Return what is found; files that a side does not name are as in base, None is not a file."""
    sides = ({**BASE, **side} for side in ({}, ours, upstream))
    files = ({p: t.encode() for p, t in side.items() if t is not None} for side in sides)
    return found([lost_registrations], *files)


def entry(line: str) -> Files:
    return {"pkg/table.py": TABLE.replace("}", f"    {line}\n}}")}


RENAMED: Files = {"pkg/models/tiny.py": MODELS.replace("Tiny", "Small")}
GONE: Files = {"pkg/models/tiny.py": None}
NAMES: dict[str, tuple[Files, Files, str]] = {
    "colon": (entry('"t": "pkg.models.tiny:Tiny",'), RENAMED, "Tiny"),
    "dots": (entry('"t": "pkg.models.tiny.Tiny",'), RENAMED, "Tiny"),
    "two strings": (entry('"t": ("tiny", "Tiny"),'), RENAMED, "Tiny"),
    "relative": (entry('"t": (".models.tiny", "Tiny"),'), RENAMED, "Tiny"),
    "module gone": (entry('"t": "pkg.models.tiny",'), GONE, "pkg.models.tiny"),
    "module gone, with a name": (entry('"t": "pkg.models.tiny:Tiny",'), GONE, "Tiny"),
    "an import, as for a mock": (
        entry('"t": "pkg.models.tiny.os",'),
        {"pkg/models/tiny.py": MODELS.replace("import os\n", "")},
        "os",
    ),
    "entry point": (
        {"setup.cfg": BASE["setup.cfg"] + "  t = pkg.models.tiny:Tiny\n"},
        RENAMED,
        "Tiny",
    ),
}


@table(("ours", "upstream", "symbol"), NAMES)
def test_a_string_naming_what_is_gone_is_told(ours: Files, upstream: Files, symbol: str) -> None:
    told = told_of(ours, upstream)
    assert [(one.symbol, one.is_certain) for one in told] == [(symbol, False)]


@table("name", {"a-function": "pkg.models.tiny.make", "a-method": "pkg.models.tiny.Tiny.run"})
def test_a_string_in_a_file_that_imports_the_module_is_told_once(name: str) -> None:
    line = f"import pkg.models.tiny\nmock.patch('{name}')\n"
    base = {"pkg/models/tiny.py": MODELS.replace("    pass", "    def run(self): ...").encode()}
    ours, gone = {**base, "test_a.py": line.encode()}, name.rpartition(".")[2].encode()
    upstream = {path: content.replace(gone, b"other") for path, content in base.items()}
    assert [one.kind for one in found(CHECKS, base, ours, upstream)] == ["registered"]


KEPT: dict[str, tuple[Files, Files]] = {
    "another name": (entry('"t": "pkg.models.tiny:make",'), RENAMED),
    "another module": (entry('"t": "lib.tiny:Tiny",'), RENAMED),
    "still imported": (entry('"t": "pkg.models.tiny:Tiny",'),
        {"pkg/models/tiny.py": "from pkg.small import Tiny\n"}),
    "now a package": (entry('"t": "pkg.models.tiny:Tiny",'),
        {"pkg/models/tiny.py": None, "pkg/models/tiny/__init__.py": MODELS}),
    "found when asked for": (entry('"t": "pkg.models.tiny:Tiny",'),
        {"pkg/models/tiny.py": "def __getattr__(name):\n    return name\n"}),
    "a plain word": (entry('"t": "tiny",'), RENAMED),
}  # fmt: skip


@table(("ours", "upstream"), KEPT)
def test_a_string_that_names_what_is_there_is_not_told(ours: Files, upstream: Files) -> None:
    assert not told_of(ours, upstream)


CALL: Files = {"pkg/new.py": "import torch\n\n\ndef f(x):\n    return torch.ops.fast.silu(x)\n"}


def test_an_operator_that_is_no_longer_registered_is_told() -> None:
    (told,) = told_of(CALL, {"csrc/bindings.cpp": BINDINGS.replace("silu", "swish")})
    assert (told.symbol, told.path, told.line) == ("silu", "pkg/new.py", 5)


@table(
    "upstream",
    {
        "another operator": {"csrc/bindings.cpp": BINDINGS.replace("norm", "rms_norm")},
        "moved": {"csrc/bindings.cpp": None, "csrc/ops/bindings.cu": BINDINGS},
        "another function": {"csrc/bindings.cpp": BINDINGS.replace("&silu", "&silu_forward")},
    },
)
def test_an_operator_that_is_registered_is_not_told(upstream: Files) -> None:
    assert not told_of(CALL, upstream)


def test_what_both_sides_register_is_told() -> None:
    line = '  m.def("gelu(Tensor x) -> Tensor");\n'
    ours: Files = {"csrc/more.cpp": f"TORCH_LIBRARY_FRAGMENT(fast, m) {{\n{line}}}\n"}
    theirs: Files = {"csrc/bindings.cpp": BINDINGS.replace("}\n", f"{line}}}\n")}
    assert [one.symbol for one in told_of(ours, theirs)] == ["gelu"]
    assert not told_of(ours, {"csrc/bindings.cpp": BINDINGS.replace("norm", "gelu_norm")})
