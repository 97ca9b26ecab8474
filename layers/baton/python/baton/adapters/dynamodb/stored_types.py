"""The types of values that a commit stores: one row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.access.people_items import people_item
from baton.adapters.dynamodb.alerts.alert_items import alert_item, alert_listing
from baton.adapters.dynamodb.changes.change_items import change_item
from baton.adapters.dynamodb.handoffs import handoff_items
from baton.adapters.dynamodb.item_writes import Fitness, Item, ItemWrite
from baton.adapters.dynamodb.memory import entry_items
from baton.adapters.dynamodb.puts import put
from baton.adapters.dynamodb.questions import question_items
from baton.adapters.dynamodb.stats.decision_items import decision_item
from baton.adapters.dynamodb.tasks import task_items
from baton.adapters.dynamodb.tracker import tracker_items
from baton.domain.access.person import People
from baton.domain.access.workspace_change import WorkspaceChange
from baton.domain.alerts.alert import Alert
from baton.domain.conversations.conversation_thread import NextTask
from baton.domain.escalations.review import Review, ReviewRequest
from baton.domain.handoffs.workflow import BackgroundJob, Checkpoint, ClaimLateResult, RootHandoffs, RunState
from baton.domain.memory.entry import ChangedEntry, Entry
from baton.domain.memory.entry_pack import EntryPack, PackList
from baton.domain.questions.question import Question
from baton.domain.questions.standing_answer import LastApproval, LastRefusal, StandingAnswer
from baton.domain.runs.transcript import TaskEntry
from baton.domain.stats.decision import Decision
from baton.domain.tasks.task_items import Note, Retry
from baton.domain.tracker.page_sync import PageLink, PageSync
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from baton.domain.tracker.webhook import Webhook


def _nothing(_workspace: str, _value: Any) -> list[ItemWrite]:
    return []


@dataclass(frozen=True, slots=True)
class StoredType:
    """How values of a type are stored."""

    item: Callable[[str, Any], Item]  # with its key, from workspace and value
    name: str = "task"  # in a ``Conflict``
    fitness: Fitness = Fitness.NONE  # how fit the item is as the commit proof
    # The key is of a new id, which nothing else will ever use: the item can be barred.
    has_new_id: bool = False
    seen_by: str = ""  # the attribute that ``Replace`` compares
    # The attribute that names the owner: ``Insert`` lets the owner insert it again. An item without it has no owner.
    owner: str = ""
    beside: Callable[[str, Any], list[ItemWrite]] = _nothing  # what is always written with it


def _latest_checkpoint(workspace: str, checkpoint: Checkpoint) -> list[ItemWrite]:
    key = keys.task_item(workspace, checkpoint.task_id, keys.CHECKPOINT)
    return [put(handoff_items.checkpoint_item(key, checkpoint))]


def _entry_rows(_workspace: str, entry: Entry) -> list[ItemWrite]:
    return [put(row) for row in entry_items.row_items(entry)]


STORED: dict[type, StoredType] = {
    # of a task
    ClaimLateResult: StoredType(task_items.late_result_item, fitness=Fitness.LASTING),
    Retry: StoredType(task_items.retry_item, "retry", seen_by="retry_id"),
    NextTask: StoredType(task_items.next_task_item, "conversation", Fitness.CHANGING, seen_by="next_id"),
    Note: StoredType(items.note_item, "note", Fitness.LASTING, has_new_id=True),
    TaskEntry: StoredType(task_items.entry_item, "transcript", Fitness.LASTING, owner="fence"),
    # around tasks
    Checkpoint: StoredType(task_items.listed_checkpoint_item, fitness=Fitness.LASTING, beside=_latest_checkpoint),
    RunState: StoredType(task_items.run_state_item),
    BackgroundJob: StoredType(handoff_items.job_item, fitness=Fitness.CHANGING),
    RootHandoffs: StoredType(handoff_items.roots_item, "root handoffs", Fitness.CHANGING),
    # for humans
    Alert: StoredType(
        lambda _, alert: alert_item(alert), "alert", Fitness.CHANGING, beside=lambda _, alert: alert_listing(alert)
    ),
    Question: StoredType(lambda _, each: question_items.question_item(each), "question", Fitness.CHANGING),
    StandingAnswer: StoredType(
        lambda _, each: question_items.standing_answer_item(each), "standing answer", Fitness.CHANGING
    ),
    LastRefusal: StoredType(question_items.last_refusal_item, "last refusal", Fitness.CHANGING),
    LastApproval: StoredType(question_items.last_approval_item),
    People: StoredType(lambda _, people: people_item(people), "people", Fitness.CHANGING),
    WorkspaceChange: StoredType(lambda _, change: change_item(change), "change", Fitness.CHANGING),
    Review: StoredType(lambda _, review: items.review_item(review), "manual review", Fitness.CHANGING),
    Decision: StoredType(lambda _, decision: decision_item(decision)),
    ReviewRequest: StoredType(task_items.review_request_item),
    # of the shared memory
    Entry: StoredType(
        lambda _, entry: entry_items.entry_item(entry), "entry", Fitness.CHANGING, has_new_id=True, beside=_entry_rows
    ),
    ChangedEntry: StoredType(
        lambda _, changed: entry_items.changed_item(changed), fitness=Fitness.LASTING, has_new_id=True
    ),
    PackList: StoredType(lambda _, packs: entry_items.pack_list_item(packs), "packs", Fitness.CHANGING),
    EntryPack: StoredType(lambda _, pack: entry_items.pack_item(pack)),
    # of the tracker
    PageSync: StoredType(lambda _, sync: tracker_items.page_sync_item(sync), "mirror", Fitness.CHANGING),
    PageLink: StoredType(tracker_items.page_link_item, owner="task"),
    TrackerCircuit: StoredType(
        lambda _, circuit: tracker_items.tracker_circuit_item(circuit), "tracker circuit", Fitness.CHANGING
    ),
    Webhook: StoredType(lambda _, webhook: tracker_items.webhook_item(webhook), "webhook", Fitness.CHANGING),
}
