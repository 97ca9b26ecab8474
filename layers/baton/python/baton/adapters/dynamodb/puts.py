"""Writes of one item in a transaction, and the conditions that most of them share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.adapters.dynamodb.table import Item, Write, to_wire
from baton.domain.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.adapters.dynamodb.keys import Key
    from baton.domain.errors import BatonError

# The item doesn't exist yet: a new task, the next event, an idempotency key used for the first time.
NOT_THERE_YET = "attribute_not_exists(#pk)"
# The item wasn't changed since it was read. On a task's HEAD this lets exactly one claimer win, and keeps a sweep that
# was decided before a heartbeat from ending the claim that the heartbeat kept alive: both raise the version.
VERSION_UNCHANGED = "#version = :seen"
VERSION_NOT_SET = "attribute_not_exists(#version)"
_NAMES = ("pk", "version", "retry_id", "ttl", "next_id")


def put(
    item: Item,
    condition: str | None = None,
    refused: Callable[[], BatonError] = lambda: Conflict("task"),
    **values: Any,
) -> Write:
    request: Item = {"Item": to_wire(item)}
    if condition is not None:
        request |= {
            "ConditionExpression": condition,
            "ExpressionAttributeNames": {f"#{name}": name for name in _NAMES if f"#{name}" in condition},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
    if values:
        request["ExpressionAttributeValues"] = to_wire({f":{name}": value for name, value in values.items()})
    return Write("Put", request, refused)


def put_version(item: Item, version: int, what: str) -> Write:
    """Puts an item into its next version: it must be in the version before, or not exist if this is the first."""
    if version == 1:
        return put(item, NOT_THERE_YET, lambda: Conflict(what))
    return put(item, VERSION_UNCHANGED, lambda: Conflict(what), seen=version - 1)


def delete(key: Key) -> Write:
    """Deletes the item, existing or not."""
    return Write("Delete", {"Key": to_wire(key._asdict())}, lambda: Conflict("task"))
