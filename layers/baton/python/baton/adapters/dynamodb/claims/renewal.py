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
CLAIM_IS_CURRENT = "#claim.#claim_id = :id AND #claim.#principal = :principal"
# The renewal wouldn't shorten the lease, and no deadline forbids to extend it.
EXTENDS = "#claim.#renewable_from_ms <= :now AND attribute_not_exists(#hard_deadline_ms)"
EXTENDS_TO = "#claim.#expires_ms <= :until AND attribute_not_exists(#hard_deadline_ms)"
# Every heartbeat raises the version, so a decision made on an older read is refused (docs/spec/lifecycle.md §3). The
# stream brings HEAD's latest events to the bus while it has ``fresh``, and a heartbeat adds none.
_BEAT = "#claim.#renewable_from_ms = :now, #claim.#heartbeat_ms = :now, #version = #version + :one REMOVE #fresh"
_EXTEND = f"SET #claim.#expires_ms = #claim.#lease_ms + :now, {_BEAT}"
_EXTEND_TO = f"SET #claim.#expires_ms = :until, #claim.#lease_ms = :lease, {_BEAT}"
_RACES = 5


def renew(table: Table, call: WorkerCall, now: datetime, lease_seconds: int | None) -> Claim:
    """Renews with one write. A second one follows only if the first is refused: for a task with a hard deadline, whose
    leases end with it at the latest, or if the lease would get shorter. Raises ``Busy`` after too many races."""
    by, claim_id, head = call.by, call.claim_id, keys.head(call.by.workspace, call.task_id)
    now_ms = times.to_ms(now)
    values: dict[str, Any] = {":id": claim_id, ":principal": by.key, ":now": now_ms, ":one": 1}
    if lease_seconds is None:
        update, extends = _EXTEND, EXTENDS
    else:
        update, extends = _EXTEND_TO, EXTENDS_TO
        values |= {":until": now_ms + lease_seconds * 1_000, ":lease": lease_seconds * 1_000}
    try:
        return items.claim_of(table.update(head, update, f"{CLAIM_IS_CURRENT} AND {extends}", values))
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
        values = {":id": claim_id, ":principal": by.key, ":now": now_ms, ":one": 1, ":seen": task.meta.version}
        values |= {":until": times.to_ms(renewed.expires_at), ":lease": renewed.lease_seconds * 1_000}
        try:
            return items.claim_of(table.update(head, _EXTEND_TO, f"{CLAIM_IS_CURRENT} AND {VERSION_UNCHANGED}", values))
        except ConditionFailed as failed:
            found = failed.item
    raise errors.Busy
