"""The shape's fields, which make a test's answer look like Baton's (``baton_client.genuine``)."""

from __future__ import annotations

from typing import Any

from baton_client.answer_shapes import NAMES
from baton_client.genuine import answers_of


def completed(method: str, path: str, status: int, body: Any) -> Any:
    """Returns the body with the fields that the operation's answer always has, None where the test has no value."""
    shape = (answers_of(method, path.partition("?")[0]) or {}).get(status)
    return dict.fromkeys(NAMES.get(shape or "", "").split()) | body
