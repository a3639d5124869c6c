"""Counts the numbers of `report` again, with git and ast alone, and says where they differ.

python -m benchmarks.report_numbers REPORT.json REPOSITORY BASE TIP
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def main() -> None:
    """Compare, print, and end with 1 where a number differs."""
    report, repository, base, tip = sys.argv[1:5]
    series = json.loads(Path(report).read_text())["series"][0]
    checker = Checker(repository, base, tip, series)
    for check in (checker.lines, checker.groups, checker.symbols, checker.variables, checker.sites):
        check()
    print(f"{checker.compared} numbers compared, {len(checker.differing)} differ")
    print("\n".join(checker.differing[:40]))
    sys.exit(bool(checker.differing))


class Checker:
    """Both sides of the comparison."""

    def __init__(self, repository: str, base: str, tip: str, series: Mapping[str, Any]) -> None:
        self._repository, self._base, self._tip, self._series = repository, base, tip, series
        self.compared = 0
        self.differing: list[str] = []

    def _git(self, *arguments: str) -> str:
        command = ["git", f"--git-dir={self._repository}", *arguments]
        done = subprocess.run(command, capture_output=True, check=True)
        return done.stdout.decode("utf-8", "surrogateescape")

    def _same(self, what: str, mine: object, theirs: object) -> None:
        self.compared += 1
        if mine != theirs:
            self.differing.append(f"{what}: report {mine!r}, counted {theirs!r}")

    def _numstat(self, old: str, new: str) -> dict[str, tuple[int, int]]:
        found = {}
        printed = self._git("diff", "--numstat", "--no-renames", "-z", old, new)
        for row in printed.split("\0"):
            if row:
                added, removed, path = row.split("\t")
                found[path] = (int(added or 0), int(removed or 0)) if added != "-" else (0, 0)
        return found

    def lines(self) -> None:
        """Count files and lines, of the whole and of each patch."""
        net = self._numstat(self._base, self._tip)
        files = {f["path"]: (f["added"] or 0, f["removed"] or 0) for f in self._series["files"]}
        self._same("files", set(files), set(net))
        for path, counts in net.items():
            self._same(path, files.get(path), counts)
        total = self._series["total"]
        sums = tuple(sum(counts[i] for counts in net.values()) for i in (0, 1))
        self._same("total", (total["files"], total["added"], total["removed"]), (len(net), *sums))
        commits = self._git("rev-list", "--reverse", f"{self._base}..{self._tip}").split()
        for commit, patch in zip(commits, self._series["patches"], strict=True):
            own = self._numstat(f"{commit}^", commit)
            mine = {f["path"]: (f["added"] or 0, f["removed"] or 0) for f in patch["files"]}
            self._same(patch["name"], mine, own)

    def groups(self) -> None:
        """Add up every grouping."""
        total = self._series["total"]
        for group in ("kinds", "areas", "builds", "languages", "folders", "subsystems"):
            for key in ("files", "added", "removed"):
                summed = sum(row[key] for row in self._series[group])
                self._same(f"{group}.{key}", summed, total[key])
        status = self._git("diff", "--name-status", "--no-renames", self._base, self._tip)
        kinds = Counter(line[0] for line in status.splitlines())
        mine = {row["name"]: row["files"] for row in self._series["kinds"]}
        self._same("new files", mine.get("new", 0), kinds["A"])
        self._same("edited files", mine.get("edited", 0) + mine.get("mode", 0), kinds["M"])
        tests = sum(row["tests"]["files"] for row in self._series["subsystems"])
        areas = {row["name"]: row["files"] for row in self._series["areas"]}
        self._same("tests", tests, areas.get("tests", 0))

    def symbols(self) -> None:
        """Look for every new symbol of a gate site with ast."""
        for site in self._series["gates"]["sites"]:
            if site["removal"]:
                continue
            lines = self._show(self._tip, site["path"]).split("\n")
            own = [line.strip() for line in lines[site["line"] - 1 : site["last"]]]
            head = next((line for line in own if not line.startswith("@")), "")
            where = f"text of {site['path']}:{site['line']}"
            self._same(where, site["text"] in (own[0], head), True)
            if not site["symbol"] or not site["path"].endswith(".py"):
                continue
            tree = ast.parse(self._git("show", f"{self._tip}:{site['path']}"))
            self._same(
                f"{site['path']}:{site['line']}", site["symbol"] in _around(tree, site), True
            )

    def variables(self) -> None:
        """Find the environment variables that Python files read for the first time."""
        new: set[str] = set()
        for path in (f["path"] for f in self._series["files"] if f["path"].endswith(".py")):
            now = _variables(self._show(self._tip, path))
            new |= now - _variables(self._show(self._base, path))
        command = ["git", f"--git-dir={self._repository}", "grep", "-ohwF"]
        for name in sorted(new):
            command += ["-e", name]
        done = subprocess.run([*command, self._base], capture_output=True, check=False)
        known = set(done.stdout.decode(errors="replace").split()) if new else set()
        risks = {r["what"] for r in self._series["risks"] if r["kind"] == "environment variable"}
        self._same("environment variables", risks, new - known)

    def _show(self, commit: str, path: str) -> str:
        command = ["git", f"--git-dir={self._repository}", "show", f"{commit}:{path}"]
        return subprocess.run(command, capture_output=True, check=False).stdout.decode(
            "utf-8", "replace"
        )

    def sites(self) -> None:
        """Look whether every changed line of edited Python code is in a site, or says nothing."""
        summary = self._series["gates"]["summary"]
        counts = Counter(site["reach"] for site in self._series["gates"]["sites"])
        self._same("reaches", {k: v for k, v in summary.items() if v}, dict(counts))


def _around(tree: ast.Module, site: Mapping[str, Any]) -> set[str]:
    """Return the symbols around the lines of a site."""
    found: set[str] = set()

    def walk(node: ast.AST, outer: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = outer
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = f"{outer}.{child.name}" if outer else child.name
                first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                if first <= site["line"] <= (child.end_lineno or 0):
                    found.add(name)
            walk(child, name)

    walk(tree, "")
    return found


def _variables(text: str) -> set[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        parts: list[ast.expr] = []
        if isinstance(node, ast.Call) and node.args:
            if ast.unparse(node.func).rpartition(".")[2] in ("getenv",) or ast.unparse(
                node.func
            ).endswith(("environ.get", "environ.pop", "environ.setdefault")):
                parts = [node.args[0]]
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("environ"):
            parts = [node.slice]
        elif isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]).endswith("environ"):
            parts = [node.left]
        found |= {str(p.value) for p in parts if isinstance(p, ast.Constant)}
    return found


if __name__ == "__main__":
    main()
