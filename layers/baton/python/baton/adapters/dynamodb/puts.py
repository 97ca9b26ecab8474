"""Writes of one item in a transaction, and the conditions that most of them share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Bar, Exclusive, Fitness, Item, ItemWrite, Refused
from baton.adapters.dynamodb.table import names_in, to_wire, update_request
from baton.domain import errors

# The item doesn't exist yet: a new task, the next event, an idempotency key used for the first time.
NOT_THERE_YET = "attribute_not_exists(#pk)"
# The item wasn't changed since it was read. On a task's HEAD this lets exactly one claimer win, and keeps a sweep that
# was decided before a heartbeat from ending the claim that the heartbeat kept alive: both raise the version.
VERSION_UNCHANGED = "#version = :seen"
VERSION_NOT_SET = "attribute_not_exists(#version)"
REFUSE_A_REPEAT = frozenset({NOT_THERE_YET, VERSION_UNCHANGED})


def put(
    item: Item,
    condition: str | None = None,
    refused: Refused = lambda: errors.Conflict("task"),
    fitness: Fitness = Fitness.NONE,
    bar: Bar | Exclusive | None = None,
    **values: Any,
) -> ItemWrite:
    request: Item = {"Item": to_wire(item)}
    if condition is not None:
        request |= {
            "ConditionExpression": condition,
            "ExpressionAttributeNames": names_in(condition),
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
    if values:
        request["ExpressionAttributeValues"] = to_wire({f":{name}": value for name, value in values.items()})
    return ItemWrite("Put", request, refused, fitness, bar, refuses_a_repeat=condition in REFUSE_A_REPEAT)


def update(key: keys.Key, sets: str, condition: str | None, values: Item, refused: Refused, **names: str) -> ItemWrite:
    """``names``: as for ``update_request``."""
    return ItemWrite("Update", update_request(key, sets, condition, values, **names), refused)


def put_first(item: Item) -> ItemWrite:
    """Puts an item that nobody finds before the rest of the commit is written, and that never changes. An attempt that
    arrives late puts the same once more."""
    return replace(put(item), comes_first=True)


def take_first(item: Item) -> ItemWrite:
    """The same for an item that takes the id of a new task: whoever finds that another commit has taken it is refused.
    It carries the token of its commit."""
    return replace(put(item, NOT_THERE_YET, fitness=Fitness.LASTING), comes_first=True)


def put_version(
    item: Item, version: int, what: str, fitness: Fitness = Fitness.NONE, bar: Bar | None = None
) -> ItemWrite:
    """Puts an item into its next version: it must be in the version before, or not exist if this is the first."""
    if version == 1:
        return put(item, NOT_THERE_YET, lambda: errors.Conflict(what), fitness, bar)
    return put(item, VERSION_UNCHANGED, lambda: errors.Conflict(what), fitness, bar, seen=version - 1)
