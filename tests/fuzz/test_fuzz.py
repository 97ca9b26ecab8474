"""Schemathesis against docs/openapi.json: no 5xx, no answer that isn't documented, nothing forbidden taken, nothing
allowed refused for its form, nothing without a token. A new route is tried as soon as it is in the document."""

from __future__ import annotations

import pytest

from fuzz.campaign import campaign
from support.worlds.operations import OPERATIONS, Operation


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_operation_is_as_documented(operation: Operation) -> None:
    campaign().try_alone(operation)


def test_sequences_of_operations_are_as_documented() -> None:
    campaign().try_together()
