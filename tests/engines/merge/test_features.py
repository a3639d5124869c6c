"""What is known of a region and of a candidate."""

from __future__ import annotations

from patchmgr.engines.merge.features import words_in
from patchmgr.engines.merge.languages import language_of
from tests.tables import table


@table(
    ("path", "text", "names"),
    {
        "a comment": ("a.py", "# the time\nb(c)  # don't\n", "b c"),
        "a string of words": ("a.py", 'b("the time", "key", f"the {c}")\n', "b f key the c"),
        "a docstring": ("a.py", 'def f():\n    """The time."""\n', "def f"),
        "a comment of C": (
            "a.cc",
            'b("//c"); // the "time"\nd(1\'000); /* no */ e();\n',
            "b c d e",
        ),
        "a text": ("a.md", "# the time\n", "the time"),
    },
)
def test_comments_and_strings_of_words_have_no_names(path: str, text: str, names: str) -> None:
    assert sorted(words_in((text, "", ""), language_of(path)).base) == sorted(names.split())
