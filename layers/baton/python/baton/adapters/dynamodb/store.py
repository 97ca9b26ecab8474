"""The port ``Store``: parts by subject over one table. The parts say what is read, and in how many calls; ``writes``
says what is written under which conditions."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, Self

from botocore import exceptions

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.access.recorded_writes import recorded_writes
from baton.adapters.dynamodb.access.saved_views import SavedViews
from baton.adapters.dynamodb.access.sessions import Sessions
from baton.adapters.dynamodb.access.tokens import Tokens
from baton.adapters.dynamodb.access.uses import Uses
from baton.adapters.dynamodb.access.workspace_settings import WorkspaceSettings
from baton.adapters.dynamodb.agents.agents import Agents
from baton.adapters.dynamodb.agents.contacts import Contacts
from baton.adapters.dynamodb.agents.routing import Routing
from baton.adapters.dynamodb.agents.tools import Tools
from baton.adapters.dynamodb.agents.workspace_configs import WorkspaceConfigs
from baton.adapters.dynamodb.alerts.alerts import Alerts
from baton.adapters.dynamodb.bell.listeners import Listeners
from baton.adapters.dynamodb.changes.changes import Changes
from baton.adapters.dynamodb.claims.claims import Claims
from baton.adapters.dynamodb.conversations.conversation_reads import ConversationReads
from baton.adapters.dynamodb.escalations.escalations import Escalations
from baton.adapters.dynamodb.events.event_outbox import EventOutbox
from baton.adapters.dynamodb.events.watches import Watches
from baton.adapters.dynamodb.handoffs.inboxes import Inboxes
from baton.adapters.dynamodb.handoffs.workflows import Handoffs, Workflows
from baton.adapters.dynamodb.memory.entries import Entries
from baton.adapters.dynamodb.questions.questions import Questions
from baton.adapters.dynamodb.runs.runs import Runs
from baton.adapters.dynamodb.stats.day_stats import DayStats
from baton.adapters.dynamodb.table import ConditionFailed, Table
from baton.adapters.dynamodb.tasks.queues import Queues, TaskLists
from baton.adapters.dynamodb.tasks.task_reads import TaskReads
from baton.adapters.dynamodb.tasks.trail import TrailReads
from baton.adapters.dynamodb.tracker.tracker_reads import TrackerReads
from baton.adapters.dynamodb.writes import transaction
from baton.domain import errors
from baton.domain.handoffs.workflow import BackgroundJob
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.ports.writes import FinishJob, Write

# The port's classes are a part of a cold import that nothing runs.
if TYPE_CHECKING:
    from baton.ports.store import Store
else:
    Store = object

# The background job is still the one that was done: a new reason for it in the meantime is a new job.
STILL_THE_SAME = "#stamp = :stamp"


class DynamoStore(Store):
    def __init__(self, table: Table) -> None:
        self._table = table
        self.tasks, self.trail = TaskReads(table), TrailReads(table)
        self.queues, self.claims = Queues(table, self.tasks), Claims(table)
        self.workflows, self.inboxes, self.runs = Workflows(table), Inboxes(table), Runs(table)
        self.contacts, self.routes, self.tools = Contacts(table), Routing(table), Tools(table)
        self.sessions, self.uses, self.views = Sessions(table), Uses(table), SavedViews(table)
        self.alerts, self.tracker, self.memory = Alerts(table), TrackerReads(table), Entries(table)
        self.outbox, self.watches = EventOutbox(table, self.trail.rows), Watches(table)
        self.changes = Changes(table)
        self.bell, self.questions, self.stats = Listeners(table), Questions(table), DayStats(table)
        self.forget_all()

    def forget_all(self) -> None:
        """Makes the parts anew that keep what they have read, as a new process does."""
        self.lists = TaskLists(self._table, self.tasks)
        self.conversations = ConversationReads(self._table, self.tasks, self.workflows)
        self._use(WorkspaceConfigs(self._table))

    def _use(self, configs: WorkspaceConfigs) -> None:
        """Makes the parts that read agents and settings, or raise their version."""
        table, self._configs = self._table, configs
        self.agents, self.settings = Agents(table, configs, recorded_writes), WorkspaceSettings(table, configs)
        self.tokens, self.handoffs = Tokens(table, configs), Handoffs(table, configs)
        self.escalations = Escalations(table, configs)

    def must_answer(self) -> None:
        try:
            self._table.get(keys.token("nobody"))
        except (exceptions.ClientError, exceptions.BotoCoreError) as exc:
            raise errors.Busy from exc

    def at_one_version(self) -> Self:
        store = copy(self)
        store._use(self._configs.at_one_version())
        return store

    def read_anew(self) -> None:
        self._configs.read_anew()

    def commit(self, workspace: str, *writes: Write) -> None:
        items_written = transaction(workspace, writes)
        if items_written:
            self._table.write(items_written)
        for write in writes:
            if isinstance(write, FinishJob):
                self._remove_job(workspace, write.job)

    def saved_response(self, idempotency_key: IdempotencyKey) -> SavedResponse | None:
        return items.saved_response_from(
            self._table.get(keys.idempotency_key(idempotency_key.principal.workspace, idempotency_key.digest))
        )

    def _remove_job(self, workspace: str, job: BackgroundJob) -> None:
        """Takes the job out of its index. The item itself stays, for the next job's use: Baton has no permission to
        delete items."""
        key, sets = keys.job(workspace, job.kind, job.task_id), "REMOVE #stamp, #due_ms, #data, #wake_pk, #wake_sk"
        with suppress(ConditionFailed, errors.Busy):
            self._table.update(key, sets, STILL_THE_SAME, {":stamp": job.stamp})
