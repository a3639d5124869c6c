"""The schema of the JSON document of `rebase`; `UPDATE_GOLDEN=1` writes it anew."""

from __future__ import annotations

import json
import os
from pathlib import Path

from msgspec.json import schema

from patchmgr.model.documents import RebaseDocument

SCHEMA = Path(__file__).parents[2] / "docs" / "rebase.schema.json"


def test_the_schema_is_that_of_the_classes() -> None:
    written = json.dumps(schema(RebaseDocument), indent=1, sort_keys=True) + "\n"
    if "UPDATE_GOLDEN" in os.environ:
        SCHEMA.write_text(written)
    assert SCHEMA.read_text() == written
