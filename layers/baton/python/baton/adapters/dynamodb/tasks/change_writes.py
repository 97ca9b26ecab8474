"""The items of a task's change: HEAD with its new events, the claim's slot, what a new task begins with."""

from __future__ import annotations

from dataclasses import replace

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.conversations.conversation_items import begun_item
from baton.adapters.dynamodb.handoffs import handoff_items
from baton.adapters.dynamodb.item_writes import Fitness, Item, ItemWrite, KeyBar, StampedEvent, VersionBar
from baton.adapters.dynamodb.puts import NOT_THERE_YET, put, put_first, put_version, take_first
from baton.adapters.dynamodb.tasks.output_items import output_parts
from baton.adapters.dynamodb.tasks.task_items import body_item
from baton.adapters.dynamodb.trail_items import Appended, appended, beginning_item, chunk_item
from baton.domain import errors
from baton.domain.handoffs.handoff import begins_its_workflow
from baton.domain.tasks.change import Change
from baton.domain.tasks.task import Claim, Task

# No live claim holds the slot: it was never taken, or given back.
SLOT_IS_FREE = "attribute_not_exists(#pk) OR #free = :free"


def change_writes(change: Change, *, begins_alone: bool = False) -> list[ItemWrite]:
    """Returns the writes of HEAD and of the change's other items. ``begins_alone``: this is the commit's only new task.
    The items of such a task are put before the commit: nobody knows its id yet. The items of several new tasks are in
    the transaction, to save calls."""
    trail = appended(change)
    task, before = trail.task, change.before
    if change.output is not None and not change.ends:
        raise ValueError("an output without the end of its task")
    in_head, beside = ({}, None) if change.output is None else output_parts(task, change.output)
    begins_first = begins_alone and before is None and bool(change.events)
    inbox = None if change.inbox_id is None else keys.inbox_index_key(task, change.inbox_id)
    head = _head(change, trail, {**items.head_item(task, len(change.events), inbox), **in_head})
    writes = [_proving(head) if begins_first else head]
    if beside is not None:
        writes.append(put_first(beside))
    if before is None:
        writes += [*_beginning(trail, comes_first=begins_first), *_member(task, change.begun_by)]
        if change.body is not None:
            body = body_item(task, change.body)
            writes.append(put_first(body) if begins_alone else put(body, NOT_THERE_YET))
        labelled = dict.fromkeys(keys.tasks_of_label(task.workspace, label) for label in task.meta.labels)
        writes += [put_first(keys.Key(partition, task.id)._asdict()) for partition in labelled]
    elif trail.has_moved:
        writes.append(put_first(chunk_item(before)))
    if change.recovery is not None:
        writes.append(put(items.recovery_item(task, change.recovery)))
    if change.failure is not None:
        writes.append(put(items.failure_item(task, change.failure)))
    if change.resume_payload is not None:
        key = keys.task_item(task.workspace, task.id, keys.BROUGHT)
        waited = {} if before is None else {"agent": before.agent}
        writes.append(put(items.payload_item(key, {**waited, **change.resume_payload})))
    return writes + _slot_writes(change)


def _head(change: Change, trail: Appended, item: Item) -> ItemWrite:
    """The HEAD of an ended task has its output and its place in the inbox besides: nothing puts it again, so nothing
    loses them. The commit proof is the first of the new events. A sweep that changes nothing but its next wake time has
    only HEAD, and may safely be done again."""
    task, before = trail.task, change.before
    if before is not None and before.is_ended:
        raise ValueError(f"{task.id} has ended: its HEAD is never put again")
    head = put_version(item, task.meta.version, "task")
    if before is None:
        return head
    bar = VersionBar(keys.head(task.workspace, task.id), before.meta.version)
    if not change.events:
        return replace(head, fitness=Fitness.CHANGING, bar=bar)
    index = len(task.meta.tail) - len(change.events)
    event = StampedEvent(keys.trail(task.workspace, task.id), change.events[0].seq, index)
    return replace(head, fitness=Fitness.LASTING, bar=bar, event=event)


def _proving(head: ItemWrite) -> ItemWrite:
    """The HEAD of a task whose beginning has taken its id: it is the commit proof itself, and the bar."""
    return replace(head, fitness=Fitness.LASTING, bar=KeyBar(head.key), proves_by_presence=True)


def _beginning(trail: Appended, *, comes_first: bool) -> list[ItemWrite]:
    """The beginning of a new task takes its id before the rest is written. The beginnings of several tasks are in the
    transaction, to save the calls, and one of them fences it off."""
    if not trail.entries:
        return []
    item = beginning_item(trail.task, trail.entries)
    bar = KeyBar(keys.beginning(trail.task.workspace, trail.task.id))
    return [take_first(item) if comes_first else put(item, NOT_THERE_YET, fitness=Fitness.LASTING, bar=bar)]


def _member(task: Task, begun_by: str | None) -> list[ItemWrite]:
    """Returns a new task's entry in its workflow; none for a root, which the workflow's id names. The entry of a
    conversation's root also places it in the list of all conversations, as the entry never changes."""
    if begun_by is None and begins_its_workflow(task):
        return []
    key = keys.Key(keys.members(task.workspace, task.workflow_id), task.id)
    listed = {} if begun_by is None else begun_item(task, begun_by)
    return [put({**key._asdict(), "parent_id": task.parent_id, **listed})]


def _slot_writes(change: Change) -> list[ItemWrite]:
    """Returns the writes of a change of claim for an agent with a limit: the new claim takes a slot, the old one gives
    its slot back. Every commit of a task comes through here, so no command can forget them."""
    task, before = change.task, change.before
    was, now = before.claim if before else None, task.claim
    if (was and was.claim_id) == (now and now.claim_id):
        return []
    freed, taken = _slot_key(task, was), _slot_key(task, now)
    writes = []
    # The condition on HEAD's version says that the old claim still holds the slot that it gives back.
    if now is not None and taken is not None:
        slot = handoff_items.slot_item(task, now, taken)
        writes.append(put(slot) if taken == freed else put(slot, SLOT_IS_FREE, errors.SlotTaken, free=True))
    if freed is not None and freed != taken:
        writes.append(put(handoff_items.free_slot_item(freed)))
    return writes


def _slot_key(task: Task, claim: Claim | None) -> keys.Key | None:
    return None if claim is None or claim.slot is None else keys.slot(task.workspace, claim.agent, claim.slot)
