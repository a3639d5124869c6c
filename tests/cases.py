"""Cases in data files: texts with a title in front of each, `-- title` on a line of its own."""

from pathlib import Path


def sections(path: Path) -> dict[str, str]:
    """Return the texts of a file by their titles; empty lines before a title are no text."""
    _, *parts = f"\n{path.read_text(encoding='utf-8')}".split("\n-- ")
    found = {title: text for title, _, text in (part.partition("\n") for part in parts)}
    assert len(found) == len(parts), f"{path}: a title twice"
    return {title: text.rstrip("\n") + "\n" for title, text in found.items()}
