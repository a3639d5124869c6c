"""The schema of the JSON document of `rebase`; `UPDATE_GOLDEN=1` writes it anew."""

import json
import os
from inspect import cleandoc
from pathlib import Path
from typing import Any

from msgspec.json import schema

from patchmgr.model.documents import RebaseDocument

SCHEMA = Path(__file__).parents[2] / "docs" / "rebase.schema.json"


def plain(value: Any) -> Any:
    """Return a schema in the form that does not depend on the release of msgspec.

    From 0.23 on, msgspec removes the indentation of descriptions and adds `propertyNames`.
    """
    if isinstance(value, str):
        return cleandoc(value)
    if isinstance(value, list):
        return [plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {key: plain(one) for key, one in value.items() if key != "propertyNames"}


def test_the_schema_is_that_of_the_classes() -> None:
    written = json.dumps(plain(schema(RebaseDocument)), indent=1, sort_keys=True) + "\n"
    if "UPDATE_GOLDEN" in os.environ:
        SCHEMA.write_text(written)
    assert SCHEMA.read_text() == written
