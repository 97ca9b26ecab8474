"""The marks of claimed tasks in the queue index. A heartbeat doesn't move the mark, so that it costs one write. A
search that finds a mark whose lease isn't over moves it on (docs/what-is-stored.md §7)."""

from __future__ import annotations

from contextlib import suppress

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.table import ConditionFailed, Table
from baton.domain import times
from baton.domain.tasks.task import Task

# The claim and the end of its lease are those that were read: however late this write arrives, it says what is so. A
# commit that was decided before it may write the earlier mark again, which costs one look more.
LEASE_IS_AS_READ = "#claim.#claim_id = :id AND #claim.#expires_ms = :expires"


def move_mark(table: Table, task: Task) -> None:
    """Raises ``Busy``."""
    claim = task.claim
    if claim is None:
        return
    values = {
        ":id": claim.claim_id,
        ":expires": times.to_ms(claim.expires_at),
        ":mark": keys.claim_mark(claim, claim.expires_at),
    }
    sets = "SET #queue_sk = :mark REMOVE #fresh"  # as with a heartbeat, there are no new events to bring to the bus
    with suppress(ConditionFailed):
        table.update(keys.head(task.workspace, task.id), sets, LEASE_IS_AS_READ, values)
