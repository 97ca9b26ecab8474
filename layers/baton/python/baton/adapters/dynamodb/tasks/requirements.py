"""Facts about a task that a commit requires, and their conditions."""

from __future__ import annotations

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.item_writes import Item, ItemWrite
from baton.adapters.dynamodb.puts import VERSION_UNCHANGED
from baton.adapters.dynamodb.table import update_request
from baton.domain import errors
from baton.domain.task_state import State
from baton.ports.writes import NotCancelled, UnderClaim, VersionUnchanged

# The claim that the decision was made under is still current.
CLAIM_IS_CURRENT = "#claim.#claim_id = :id"
# The lease doesn't get shorter. As with a heartbeat the version rises: no sweep that was decided before ends the claim.
NOT_SHORTER = "#claim.#expires_ms <= :expires_ms"
EXTENDED = (
    "#claim.#expires_ms = :expires_ms, #claim.#renewable_from_ms = :renewable_from_ms, "
    "#claim.#heartbeat_ms = :heartbeat_ms, #version = #version + :one"
)
# The task exists and isn't cancelled. Work below a cancelled task has to end.
IS_NOT_CANCELLED = "attribute_exists(#state) AND #state <> :cancelled"


def required(workspace: str, fact: UnderClaim | NotCancelled | VersionUnchanged) -> ItemWrite:
    match fact:
        case UnderClaim():
            return _under_claim(workspace, fact)
        case NotCancelled(task_id):
            return _check(workspace, task_id, IS_NOT_CANCELLED, {":cancelled": str(State.CANCELLED)})
        case VersionUnchanged(task_id, version):
            return _check(workspace, task_id, VERSION_UNCHANGED, {":seen": version})


def _check(workspace: str, task_id: str, condition: str, values: Item) -> ItemWrite:
    request = update_request(keys.head(workspace, task_id), "", condition, values)
    return ItemWrite("ConditionCheck", request, lambda: errors.Conflict("task"))


def _under_claim(workspace: str, under: UnderClaim) -> ItemWrite:
    """Checks the claim, counts the bytes kept under it, and extends it: it is one item of the transaction anyway."""
    condition, sets, values = CLAIM_IS_CURRENT, list[str](), Item({":id": under.claim_id})
    if under.kept_bytes:
        sets.append("#claim.#kept_bytes = if_not_exists(#claim.#kept_bytes, :none) + :more")
        values |= {":none": 0, ":more": under.kept_bytes}
    if under.extended is not None:
        condition = f"{CLAIM_IS_CURRENT} AND {NOT_SHORTER}"
        sets.append(EXTENDED)
        claim = items.claim_map(under.extended)
        values |= {f":{name}": claim[name] for name in ("expires_ms", "renewable_from_ms", "heartbeat_ms")}
        values[":one"] = 1
    update = f"SET {', '.join(sets)} REMOVE #fresh" if sets else ""
    request = update_request(keys.head(workspace, under.task_id), update, condition, values)
    return ItemWrite("Update" if sets else "ConditionCheck", request, lambda: errors.Conflict("claim"))
