"""Facts about a task that a commit requires, and their conditions."""

from __future__ import annotations

from typing import Any

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import ItemWrite
from baton.adapters.dynamodb.puts import VERSION_UNCHANGED
from baton.adapters.dynamodb.table import to_wire
from baton.domain import errors
from baton.domain.tasks.task import State
from baton.ports.writes import NotCancelled, UnderClaim, VersionUnchanged

# The claim that the decision was made under is still current.
CLAIM_IS_CURRENT = "#claim.#id = :id"
# The task exists and isn't cancelled. Work below a cancelled task has to end.
IS_NOT_CANCELLED = "attribute_exists(#state) AND #state <> :cancelled"


def required(workspace: str, fact: UnderClaim | NotCancelled | VersionUnchanged) -> ItemWrite:
    match fact:
        case UnderClaim():
            return _under_claim(workspace, fact)
        case NotCancelled(task_id):
            names, values = {"#state": "state"}, {":cancelled": str(State.CANCELLED)}
            return _check(workspace, task_id, IS_NOT_CANCELLED, names, values)
        case VersionUnchanged(task_id, version):
            return _check(workspace, task_id, VERSION_UNCHANGED, {"#version": "version"}, {":seen": version})


def _check(workspace: str, task_id: str, condition: str, names: dict[str, str], values: dict[str, Any]) -> ItemWrite:
    request = {
        "Key": to_wire(keys.head(workspace, task_id)._asdict()),
        "ConditionExpression": condition,
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": to_wire(values),
    }
    return ItemWrite("ConditionCheck", request, lambda: errors.Conflict("task"))


def _under_claim(workspace: str, under: UnderClaim) -> ItemWrite:
    """Checks the claim, and counts the bytes kept under it: either way it is one item of the transaction."""
    names, values = {"#claim": "claim", "#id": "claim_id"}, {":id": under.claim_id}
    check = _check(workspace, under.task_id, CLAIM_IS_CURRENT, names, values)
    if not under.kept_bytes:
        return ItemWrite(check.kind, check.request, lambda: errors.Conflict("claim"))
    request = {
        **check.request,
        "UpdateExpression": "SET #claim.#kept = if_not_exists(#claim.#kept, :none) + :more REMOVE #fresh",
        "ExpressionAttributeNames": {**names, "#kept": "kept_bytes", "#fresh": "fresh"},
        "ExpressionAttributeValues": to_wire({**values, ":none": 0, ":more": under.kept_bytes}),
    }
    return ItemWrite("Update", request, lambda: errors.Conflict("claim"))
