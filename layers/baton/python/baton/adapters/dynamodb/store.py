"""The port ``Store`` over one table. ``writes`` says what is written under which conditions; the base classes say what
is read, and in how many calls."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.access.token_checks import TokenChecks
from baton.adapters.dynamodb.access.uses import Uses
from baton.adapters.dynamodb.access.workspace_settings import WorkspaceSettings
from baton.adapters.dynamodb.agents.contacts import Contacts
from baton.adapters.dynamodb.agents.routing import Routing
from baton.adapters.dynamodb.agents.tools import Tools
from baton.adapters.dynamodb.alerts.alerts import Alerts
from baton.adapters.dynamodb.claims.marks import move_mark
from baton.adapters.dynamodb.claims.renewal import renew
from baton.adapters.dynamodb.conversations.conversation_reads import ConversationReads
from baton.adapters.dynamodb.events.event_outbox import EventOutbox
from baton.adapters.dynamodb.events.watches import Watches
from baton.adapters.dynamodb.memory.entries import Entries
from baton.adapters.dynamodb.runs.runs import Runs
from baton.adapters.dynamodb.table import ConditionFailed
from baton.adapters.dynamodb.tasks.queues import QueueReads
from baton.adapters.dynamodb.tracker.tracker_reads import TrackerReads
from baton.adapters.dynamodb.writes import transaction
from baton.domain import errors
from baton.domain.escalations.direction import NO_PAIR
from baton.domain.escalations.review import Review
from baton.domain.handoffs.workflow import BackgroundJob
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Claim, Task
from baton.ports.escalations import MarkerInputs
from baton.ports.paging import Page
from baton.ports.writes import FinishJob, Write

# The background job is still the one that was done: a new reason for it in the meantime is a new job.
STILL_THE_SAME = "#stamp = :stamp"


class DynamoStore(
    QueueReads,
    ConversationReads,
    TrackerReads,
    Alerts,
    Routing,
    Tools,
    Runs,
    Uses,
    EventOutbox,
    Watches,
    Entries,
    WorkspaceSettings,
    TokenChecks,
    Contacts,
):
    # Writing

    def commit(self, workspace: str, *writes: Write) -> None:
        items_written = transaction(workspace, writes)
        if items_written:
            self._table.write(items_written)
        for write in writes:
            if isinstance(write, FinishJob):
                self._remove_job(workspace, write.job)

    def renew(self, call: WorkerCall, now: datetime, lease_seconds: int | None) -> Claim:
        return renew(self._table, call, now, lease_seconds)

    def move_mark(self, task: Task) -> None:
        move_mark(self._table, task)

    def _remove_job(self, workspace: str, job: BackgroundJob) -> None:
        """Takes the job out of its index. The item itself stays, for the next job's use: Baton has no permission to
        delete items."""
        with suppress(ConditionFailed, errors.Busy):
            self._table.update(
                keys.job(workspace, job.kind, job.task_id),
                UpdateExpression="REMOVE #stamp, #due, #data, #shard, #place",
                ConditionExpression=STILL_THE_SAME,
                ExpressionAttributeNames={
                    "#stamp": "stamp",
                    "#due": "due_ms",
                    "#data": "data",
                    "#shard": "wake_pk",
                    "#place": "wake_sk",
                },
                ExpressionAttributeValues={":stamp": job.stamp},
            )

    # Markers

    def marker_inputs(
        self, workspace: str, pair: tuple[str, str] | None, idempotency_key: IdempotencyKey | None
    ) -> MarkerInputs:
        direction_key = keys.direction(workspace, *pair) if pair else None
        once_key = keys.idempotency_key(workspace, idempotency_key.digest) if idempotency_key else None
        config = self.config(workspace)
        found = self._table.get_many([key for key in (direction_key, once_key) if key])
        direction = found.get(direction_key) if direction_key else None
        return MarkerInputs(
            settings=config.settings,
            direction=items.direction_from(workspace, *(pair or NO_PAIR), direction),
            saved_response=items.saved_response_from(found.get(once_key)) if once_key else None,
        )

    def review(self, workspace: str, review_id: str) -> Review:
        item = self._table.get(keys.Key(keys.reviews(workspace), review_id))
        if item is None:
            raise errors.Unknown("manual review")
        return items.review_from(item)

    def reviews(self, workspace: str, limit: int, cursor: str | None) -> Page:
        found, cursor = self._newest(keys.reviews(workspace), limit, cursor)
        return Page(tuple(map(items.review_from, found)), cursor)
