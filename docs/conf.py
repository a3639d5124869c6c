"""The pages of docs/ as a site: sphinx-build --fail-on-warning docs build/site."""

from __future__ import annotations

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

project = "patchmgr"
copyright = "the patchmgr authors"
extensions = ["myst_parser"]
exclude_patterns = ["history"]
html_theme = "furo"
html_title = "patchmgr"
html_show_sphinx = False
html_copy_source = False
# A link to a heading is checked as the one to a page is.
myst_heading_anchors = 4
# Commands with their output are no language.
highlight_language = "none"


def setup(app: Sphinx) -> None:
    """Let a diagram stand as it is written: nothing of another server draws it."""
    app.add_lexer("mermaid", TextLexer)
