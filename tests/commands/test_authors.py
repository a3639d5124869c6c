"""Who a commit is by, where a header says only a part of it."""

import pytest

from tests.commands.scenes import Stage

DIFF = """
--- a/plain.sh
+++ b/plain.sh
@@ -1 +1,2 @@
 #!/bin/sh
+ours
--- a/pkg/a.py
+++ b/pkg/a.py
@@ -30,3 +30,3 @@
 line 29
-line 30
+ours
 line 31
"""
PIN_DATE = "1700000000 +0000"


@pytest.mark.parametrize(
    ("header", "author"),
    [
        pytest.param(
            "Description: fix it\nAuthor: Joe Doe <joe@example.org>\n",
            f"Joe Doe <joe@example.org> {PIN_DATE}",
            id="DEP-3-names-no-date",
        ),
        pytest.param("Fix it.\n", f"patchmgr <patchmgr@localhost> {PIN_DATE}", id="nobody"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        "branch s",
        "rebase s --onto later",
        "edit why --subject words",
        "split why half --file plain.sh",
    ],
)
def test_an_unsaid_author_is_the_pins(empty: Stage, header: str, author: str, command: str) -> None:
    patch = empty.folder / "why.patch"
    patch.write_text(header + DIFF)
    empty.run("import", patch, "--series", "s")
    later = empty.upstream.git("rev-parse", "later")
    empty.run(*command.replace("later", later).split())
    clone = empty.clone()
    empty.run("branch", "s", "--repo", clone.root, "--name", "built")
    commit = clone.git("cat-file", "commit", "built")
    assert f"author {author}\ncommitter patchmgr <patchmgr@localhost> {PIN_DATE}" in commit
