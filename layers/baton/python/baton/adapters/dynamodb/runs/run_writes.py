"""Writes of a run, and their conditions: usage."""

from __future__ import annotations

from dataclasses import asdict

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item, ItemWrite, Marker, MarkerBar
from baton.adapters.dynamodb.table import to_wire
from baton.domain import errors
from baton.ports.writes import AddUsage

# The workflow has budget left, or nothing was spent yet and the budget isn't zero: agents that hand work to each other
# can't spend without end.
HAS_CALLS_LEFT = "#calls < :most_calls"
HAS_CALLS_LEFT_OR_IS_NEW = "(attribute_not_exists(#calls) OR #calls < :most_calls)"
HAS_TOKENS_LEFT = "#tokens < :most_tokens"
HAS_TOKENS_LEFT_OR_IS_NEW = "(attribute_not_exists(#tokens) OR #tokens < :most_tokens)"

# The transaction wasn't fenced off: usage that arrives late isn't counted twice.
ISNT_BARRED = "attribute_not_exists(#barred)"

_ADDS = "ADD #calls :calls, #input :input, #output :output"
_NAMES = {"#calls": "model_calls", "#input": "input_tokens", "#output": "output_tokens"}


def usage_writes(workspace: str, spent: AddUsage) -> list[ItemWrite]:
    return [_by_task(workspace, spent), _by_workflow(workspace, spent)]


def _by_task(workspace: str, spent: AddUsage) -> ItemWrite:
    """Counts the task's usage. This item is the commit marker where the commit has no better one. The task's next
    spending rewrites it; until then nothing is counted twice, and after that DynamoDB itself still knows the
    transaction by its token, for ten minutes."""
    key = keys.usage_of_task(workspace, spent.task_id)
    request = {
        "Key": to_wire(key._asdict()),
        "UpdateExpression": f"{_ADDS} SET #written_by = :written_by",
        "ConditionExpression": ISNT_BARRED,
        "ExpressionAttributeNames": {**_NAMES, "#written_by": "written_by"},
        "ExpressionAttributeValues": to_wire(_added(spent)),
    }
    return ItemWrite("Update", request, lambda: errors.Conflict("task"), Marker.CHANGING, MarkerBar(key))


def _by_workflow(workspace: str, spent: AddUsage) -> ItemWrite:
    """Counts the workflow's usage. ``tokens`` is the sum, for the condition, which can't add."""
    conditions = _conditions(spent)
    limits = {":most_calls": spent.most_calls, ":most_tokens": spent.most_tokens}
    request: Item = {
        "Key": to_wire(keys.usage_of_workflow(workspace, spent.workflow_id)._asdict()),
        "UpdateExpression": f"{_ADDS}, #tokens :tokens",
        "ExpressionAttributeNames": {**_NAMES, "#tokens": "tokens"},
        "ExpressionAttributeValues": to_wire({**_added(spent), ":tokens": spent.usage.tokens, **limits}),
    }
    if conditions:
        request["ConditionExpression"] = " AND ".join(conditions)
    return ItemWrite("Update", request, lambda: errors.Conflict("workflow"))


def _conditions(spent: AddUsage) -> list[str]:
    conditions = []
    if spent.most_calls is not None:
        conditions.append(HAS_CALLS_LEFT_OR_IS_NEW if spent.most_calls > 0 else HAS_CALLS_LEFT)
    if spent.most_tokens is not None:
        conditions.append(HAS_TOKENS_LEFT_OR_IS_NEW if spent.most_tokens > 0 else HAS_TOKENS_LEFT)
    return conditions


def _added(spent: AddUsage) -> Item:
    added = asdict(spent.usage)
    return {f":{short[1:]}": added[name] for short, name in _NAMES.items()}
