"""Heartbeats: the only change of a task that is a single update, so that a million live workers cost one write each a
beat."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.puts import VERSION_UNCHANGED
from baton.adapters.dynamodb.table import ConditionFailed, Table
from baton.domain import errors, times
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Claim

# The claim is still the current one, and the caller's own.
CLAIM_IS_CURRENT = "#claim.#id = :id AND #claim.#principal = :principal"
# The renewal wouldn't shorten the lease, and no deadline forbids to extend it.
EXTENDS = "#claim.#from <= :now AND attribute_not_exists(#hard)"
EXTENDS_TO = "#claim.#expires <= :until AND attribute_not_exists(#hard)"
_NAMES = {
    "#claim": "claim",
    "#id": "claim_id",
    "#principal": "principal",
    "#from": "renewable_from_ms",
    "#expires": "expires_ms",
    "#lease": "lease_ms",
    "#beat": "heartbeat_ms",
    "#hard": "hard_deadline_ms",
    "#version": "version",
    "#fresh": "fresh",  # the stream brings HEAD's latest events to the bus, and a heartbeat adds none
}
# Every heartbeat raises the version, so a decision made on an older read is refused (docs/spec/lifecycle.md §3).
_BEAT = "#claim.#from = :now, #claim.#beat = :now, #version = #version + :one REMOVE #fresh"
_RACES = 5


def renew(table: Table, call: WorkerCall, now: datetime, lease_seconds: int | None) -> Claim:
    """Renews with one write. A second one follows only if the first is refused: for a task with a hard deadline, whose
    leases end with it at the latest, or if the lease would get shorter. Raises ``Busy`` after too many races."""
    by, claim_id, head = call.by, call.claim_id, keys.head(call.by.workspace, call.task_id)
    now_ms = times.to_ms(now)
    values: dict[str, Any] = {":id": claim_id, ":principal": by.key, ":now": now_ms, ":one": 1}
    if lease_seconds is None:
        update, extends = f"SET #claim.#expires = #claim.#lease + :now, {_BEAT}", EXTENDS
    else:
        update, extends = f"SET #claim.#expires = :until, #claim.#lease = :lease, {_BEAT}", EXTENDS_TO
        values |= {":until": now_ms + lease_seconds * 1_000, ":lease": lease_seconds * 1_000}
    try:
        return _updated(table, head, update, f"{CLAIM_IS_CURRENT} AND {extends}", values)
    except ConditionFailed as failed:
        found = failed.item
    for _ in range(_RACES):
        if not found:
            raise errors.Unknown("task")
        task = items.task_from(found)
        claim = task.current_claim(claim_id, by)
        renewed = claim.renewed(now, lease_seconds, task.hard_deadline)
        if renewed == claim:
            return claim
        exact = {":id": claim_id, ":principal": by.key, ":now": now_ms, ":one": 1, ":seen": task.meta.version}
        exact |= {":until": times.to_ms(renewed.expires_at), ":lease": renewed.lease_seconds * 1_000}
        to_deadline = f"SET #claim.#expires = :until, #claim.#lease = :lease, {_BEAT}"
        try:
            return _updated(table, head, to_deadline, f"{CLAIM_IS_CURRENT} AND {VERSION_UNCHANGED}", exact)
        except ConditionFailed as failed:
            found = failed.item
    raise errors.Busy


def _updated(table: Table, head: keys.Key, update: str, condition: str, values: dict[str, Any]) -> Claim:
    names = {short: long for short, long in _NAMES.items() if short in f"{update} {condition} "}
    item = table.update(
        head,
        UpdateExpression=update,
        ConditionExpression=condition,
        ExpressionAttributeNames=names,
        ExpressionAttributeValues=values,
    )
    return items.claim_of(item)
