"""Facts about a task that a commit requires, and their conditions."""

from __future__ import annotations

from typing import Any

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.item_writes import ItemWrite
from baton.adapters.dynamodb.puts import VERSION_UNCHANGED
from baton.adapters.dynamodb.table import to_wire
from baton.domain import errors
from baton.domain.task_state import State
from baton.ports.writes import NotCancelled, UnderClaim, VersionUnchanged

# The claim that the decision was made under is still current.
CLAIM_IS_CURRENT = "#claim.#id = :id"
# The lease doesn't get shorter. As with a heartbeat the version rises: no sweep that was decided before ends the claim.
NOT_SHORTER = "#claim.#expires <= :expires_ms"
EXTENDED = (
    "#claim.#expires = :expires_ms, #claim.#from = :renewable_from_ms, #claim.#beat = :heartbeat_ms, "
    "#version = #version + :one"
)
EXTENDED_NAMES = {
    "#expires": "expires_ms",
    "#from": "renewable_from_ms",
    "#beat": "heartbeat_ms",
    "#version": "version",
}
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
    """Checks the claim, counts the bytes kept under it, and extends it: it is one item of the transaction anyway."""
    condition, sets = CLAIM_IS_CURRENT, list[str]()
    names, values = {"#claim": "claim", "#id": "claim_id"}, {":id": under.claim_id}
    more: dict[str, Any] = {}
    if under.kept_bytes:
        sets.append("#claim.#kept = if_not_exists(#claim.#kept, :none) + :more")
        names["#kept"] = "kept_bytes"
        more |= {":none": 0, ":more": under.kept_bytes}
    if under.extended is not None:
        condition = f"{CLAIM_IS_CURRENT} AND {NOT_SHORTER}"
        sets.append(EXTENDED)
        names |= EXTENDED_NAMES
        claim = items.claim_map(under.extended)
        more |= {f":{name}": claim[name] for name in ("expires_ms", "renewable_from_ms", "heartbeat_ms")} | {":one": 1}
    check = _check(workspace, under.task_id, condition, names, {**values, **more})
    if not sets:
        return ItemWrite(check.kind, check.request, lambda: errors.Conflict("claim"))
    update = {"UpdateExpression": f"SET {', '.join(sets)} REMOVE #fresh"}
    request = {**check.request, **update, "ExpressionAttributeNames": {**names, "#fresh": "fresh"}}
    return ItemWrite("Update", request, lambda: errors.Conflict("claim"))
