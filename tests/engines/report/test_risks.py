"""New dependencies, binaries, variables and pins of a series."""

from patchmgr.engines.report.review import find_risks
from patchmgr.model.footprint import Area, Build, FileChange, FileFootprint, Kind, RiskKind
from tests.tables import table


def change(path: str, before: bytes | None, after: bytes | None) -> FileChange:
    return FileChange(path, None, None, "100644", before, after)


def file(path: str, language: str = "Text", *, is_binary: bool = False) -> FileFootprint:
    return FileFootprint(
        path, None, Kind.NEW, is_binary, language, Area.CODE, 1, 0, Build.NEITHER, ("a.patch",)
    )


def pins(language: str, after: bytes) -> list[str]:
    new, counts = change("x", None, after), file("x", language)
    found = find_risks([new], [counts], lambda words: frozenset())
    return [risk.what for risk in found if risk.kind is RiskKind.PIN]


@table(
    ("language", "line", "is_pin"),
    [
        ("Dockerfile", "FROM base:1.2", True),
        ("Dockerfile", "RUN make", False),
        ("Shell", "from pathlib import Path", False),
        ("Shell", "git clone --branch v1 url", True),
        ("CMake", "  GIT_TAG abc", True),
        ("CMake", "# GIT_TAG abc", False),
    ],
    ids=lambda value: str(value),
)
def test_a_line_that_pins_a_build_is_named(language: str, line: str, is_pin: bool) -> None:
    assert pins(language, line.encode()) == ([line.strip()] if is_pin else [])


PROJECT = b"""
[build-system]
requires = ["hatchling"]
[project]
dependencies = ["Old_Name>1", "new[extra]>=2"]
optional-dependencies = {more = ["third", 4]}
"""


@table(
    ("path", "before", "after", "risks"),
    {
        "runs": ("a/conftest.py", b"", b"", ["runs by being there: new"]),
        "paths": ("a.pth", b"", b"", ["runs by being there: new"]),
        "workflow": (".github/workflows/a.yml", b"", b"", ["runs by being there: new"]),
        "nothing": ("a/b.py", b"", b"", []),
        "deleted": ("setup.py", b"", None, ["runs by being there: new"]),
        "requirements": (
            "requirements-dev.txt",
            b"old-name\n",
            b"Old.Name>2\n# new\n-r x\nnew  # why\n",
            ["new dependency: new"],
        ),
        "project": ("pyproject.toml", b"x = (", PROJECT,
            ["new dependency: Old_Name>1", "new dependency: hatchling",
             "new dependency: new[extra]>=2", "new dependency: third"]),
        "broken project": ("pyproject.toml", PROJECT, b"x = (", []),
        "no tables": ("pyproject.toml", b"", b"project = 1\nbuild-system = 2\n", []),
        "no list": ("pyproject.toml", b"", b"[project]\ndependencies = 3\n", []),
    },
)  # fmt: skip
def test_risks_are_named(path: str, before: bytes, after: bytes | None, risks: list[str]) -> None:
    found = find_risks([change(path, before, after)], [file(path)], lambda words: frozenset())
    assert [f"{risk.kind.value}: {risk.what}" for risk in found] == risks


def test_a_binary_is_named_and_not_read() -> None:
    pin = b"GIT_TAG abc"
    counts = file("x", "CMake", is_binary=True)
    (risk,) = find_risks([change("x", None, pin)], [counts], lambda words: frozenset())
    assert risk.kind is RiskKind.BINARY


def test_new_environment_variables_are_named_once() -> None:
    texts = {
        "a.py": ("Python", b'os.getenv("KNOWN"); os.environ["NEW"]\n'),
        "b.cc": ("C++", b'std::getenv("NEW"); getenv(name); getenv( "OTHER" );\n'),
        "c.md": ("Markdown", b'getenv("TOLD")\n'),
        "d.py": ("Python", None),
    }
    changes = [change(path, b"", after) for path, (_, after) in texts.items()]
    files = [file(path, language) for path, (language, _) in texts.items()]
    found = find_risks(changes, files, lambda words: frozenset({"KNOWN"}))
    assert [(risk.path, risk.what) for risk in found] == [("a.py", "NEW"), ("b.cc", "OTHER")]
