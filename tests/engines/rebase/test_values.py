"""Values of the engines cannot be changed."""

from typing import Any

import msgspec
import pytest

from patchmgr.engines.rebase.ladder import Collided, Merged, Sides
from patchmgr.engines.rebase.rebase import Item, Judged
from tests.engines.series import Run, patch_of
from tests.tables import table

PATCH = patch_of("p")
VALUES = [
    Sides(None, None, None),
    Merged(None, ()),
    Collided("", None, ()),
    Item(PATCH),
    Judged(Run({}, {}).rebase(PATCH).outcomes[0]),
]


@table("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_cannot_be_changed(value: Any) -> None:
    for name in (field.name for field in msgspec.structs.fields(value)):
        with pytest.raises(AttributeError):
            setattr(value, name, None)
    assert not hasattr(value, "__dict__")
