"""Transactions: which items a commit writes, and under which conditions. The conditions are the safety of Baton; each
is a named sentence, and there are these few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.adapters.dynamodb import alert_items, items, keys, tracker_items
from baton.adapters.dynamodb.alert_writes import alert_counted
from baton.adapters.dynamodb.table import Item, Write, to_wire
from baton.adapters.dynamodb.told_items import told_item
from baton.adapters.dynamodb.tracker_writes import mirror_behind, page_reported, page_taken
from baton.domain.errors import Conflict, KeyTaken
from baton.domain.published import tellings
from baton.domain.times import to_ms
from baton.ports import (
    AlertCounted,
    AlertRaised,
    AlertSaved,
    Body,
    Closed,
    EndedClaim,
    GateSaved,
    MirrorBehind,
    MirrorOpened,
    MirrorSaved,
    Note,
    Opened,
    Output,
    PageReported,
    PageTaken,
    Remember,
    ReviewChanged,
    ReviewOpened,
    WebhookSaved,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from baton.domain.alert import Alert
    from baton.domain.change import Change
    from baton.domain.direction import Direction
    from baton.domain.errors import BatonError
    from baton.domain.review import Review
    from baton.domain.task import Task
    from baton.ports import Extra

# Nobody has written this item before: a new task, one more event, a key used for the first time.
NOT_THERE_YET = "attribute_not_exists(#pk)"
# Nobody has changed it since it was read. On a task's HEAD this is what lets exactly one claimer win, and what keeps a
# sweep that was decided before a heartbeat from ending the claim that the heartbeat kept alive: both raise the version.
VERSION_UNCHANGED = "#version = :seen"
VERSION_NOT_SET = "attribute_not_exists(#version)"


def task_writes(change: Change, token: str) -> list[Write]:
    """HEAD, the new events and what the change left beside. The first new event is the witness."""
    task = change.task
    writes = [_head(change, token)]
    writes += [put({**told_item(task, each), "written_by": token}, NOT_THERE_YET) for each in tellings(change)]
    if change.recovery is not None:
        writes.append(put(items.recovery_item(task, change.recovery)))
    if change.failure is not None:
        writes.append(put(items.payload_item(keys.beside(task.workspace, task.id, keys.FAILURE), change.failure)))
    if change.before is None:
        listings = keys.tasks_of_agent(task.workspace, task.target_agent), _day_of(task)
        writes += [put({"pk": listing, "sk": task.id}) for listing in listings]
    return writes


def extra_writes(workspace: str, task: Task | None, extra: Extra, token: str) -> list[Write]:
    match extra:
        case Body(content) if task is not None:
            return [put(items.payload_item(keys.beside(workspace, task.id, keys.BODY), content), NOT_THERE_YET)]
        case Output(content) if task is not None:
            return [put(items.payload_item(keys.beside(workspace, task.id, keys.OUTPUT), content))]
        case EndedClaim(claim_id, answer) if task is not None:
            return [put(items.remembered_item(keys.ended_claim(workspace, task.id, claim_id), answer))]
        case Remember(once, answer, forget_at):
            item = items.remembered_item(keys.once(workspace, once.digest), once.remember(answer))
            ttl = None if forget_at is None else to_ms(forget_at) // 1_000
            return [put({**item, "ttl": ttl, "written_by": token}, NOT_THERE_YET, KeyTaken)]
        case Note():
            return [put({**items.note_item(workspace, extra), "written_by": token})]
        case Opened():
            return [_opened(extra)]
        case Closed(source, target, task_id):
            return [_closed(workspace, source, target, task_id)]
        case ReviewOpened(review, direction):
            return [put_review(review, token), _review_opened(review, direction)]
        case ReviewChanged(review):
            return [put_review(review, token)]
        case AlertRaised(alert):
            return [_alert(alert, token), put({**_listed_alert(alert)._asdict(), "written_by": token})]
        case AlertSaved(alert):
            return [_alert(alert, token)]
        case AlertCounted(by, at):
            return [alert_counted(workspace, by, at)]
        case _:
            return [_tracker_write(workspace, task, extra, token)]


def _tracker_write(workspace: str, task: Task | None, extra: Extra, token: str) -> Write:
    stamp = {"written_by": token}
    match extra:
        case MirrorOpened(mirror) if task is not None:
            return put({**tracker_items.mirror_item(mirror), **stamp}, NOT_THERE_YET)
        case MirrorBehind(at) if task is not None:
            return mirror_behind(task, at)
        case PageReported(task_id, at):
            return page_reported(workspace, task_id, at)
        case PageTaken(page_id, task_id):
            return page_taken(workspace, page_id, task_id)
        case MirrorSaved(mirror):
            return put_version({**tracker_items.mirror_item(mirror), **stamp}, mirror.version, "mirror")
        case GateSaved(gate):
            return put_version({**tracker_items.gate_item(gate), **stamp}, gate.version, "gate")
        case WebhookSaved(webhook):
            return put_version({**tracker_items.webhook_item(webhook), **stamp}, webhook.version, "webhook")
        case _:
            raise TypeError(extra)


def put(
    item: Item,
    condition: str | None = None,
    refused: Callable[[], BatonError] = lambda: Conflict("task"),
    **values: Any,
) -> Write:
    request: Item = {"Item": to_wire(item)}
    if condition is not None:
        names = [name for name in ("pk", "version") if f"#{name}" in condition]
        request |= {
            "ConditionExpression": condition,
            "ExpressionAttributeNames": {f"#{name}": name for name in names},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
    if values:
        request["ExpressionAttributeValues"] = to_wire({f":{name}": value for name, value in values.items()})
    return Write("Put", request, refused)


def put_version(item: Item, version: int, what: str) -> Write:
    """An item in its next version: it must still be in the one before, or not exist if this is the first."""
    if version == 1:
        return put(item, NOT_THERE_YET, lambda: Conflict(what))
    return put(item, VERSION_UNCHANGED, lambda: Conflict(what), seen=version - 1)


def put_review(review: Review, token: str) -> Write:
    return put_version({**items.review_item(review), "written_by": token}, review.version, "manual review")


def witness(workspace: str, change: Change | None, extras: Sequence[Extra]) -> keys.Key:
    """The item that tells whether a commit was ours. Immutable where there is one such; a bare look of the sweeper has
    only HEAD, and may safely be done again."""
    if change is not None:
        task = change.task
        if change.events:
            return keys.event(workspace, task.id, change.events[0].seq)
        return keys.head(workspace, task.id)
    for extra in sorted(extras, key=lambda each: not isinstance(each, Note)):
        match extra:
            case Note(about, note_id):
                return keys.Key(keys.notes(workspace, about), note_id)
            case Remember(once):
                return keys.once(workspace, once.digest)
            case ReviewChanged(review) | ReviewOpened(review, _):
                return keys.Key(keys.reviews(workspace), review.id)
            case AlertRaised(alert):
                return _listed_alert(alert)
            case AlertSaved(alert):
                return keys.alert(workspace, alert.id)
            case MirrorSaved(mirror):
                return keys.beside(workspace, mirror.task_id, keys.MIRROR)
            case GateSaved():
                return keys.gate(workspace)
            case WebhookSaved():
                return keys.webhook(workspace)
            case _:
                continue
    raise ValueError("a commit without a change needs an extra that can be recognised")


def _alert(alert: Alert, token: str) -> Write:
    return put_version({**alert_items.alert_item(alert), "written_by": token}, alert.version, "alert")


def _listed_alert(alert: Alert) -> keys.Key:
    """Where its task's are found; and the witness of its raising: nobody changes it, whatever becomes of the alert."""
    return keys.Key(keys.alerts_of_task(alert.workspace, alert.task_id), alert.id)


def _head(change: Change, token: str) -> Write:
    item = items.head_item(change.task)
    stamp = {} if change.events else {"written_by": token}  # the first event is the witness where there is one
    return put_version({**item, **stamp}, change.task.version, "task")


def _day_of(task: Task) -> str:
    return keys.tasks_of_day(task.workspace, task.created_at.date())


def _update_direction(direction: Direction, expression: str, names: Item, values: Item) -> Write:
    """In its next version. An end that is told meanwhile touches only ``closed``, and so is never in the way."""
    is_new = direction.version == 0
    request = {
        "Key": to_wire(keys.direction(direction.workspace, direction.source, direction.target)._asdict()),
        "UpdateExpression": expression,
        "ConditionExpression": VERSION_NOT_SET if is_new else VERSION_UNCHANGED,
        "ExpressionAttributeNames": {"#version": "version", **names},
        "ExpressionAttributeValues": to_wire(
            {":next": direction.version + 1, **values, **({} if is_new else {":seen": direction.version})}
        ),
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    return Write("Update", request, lambda: Conflict("direction"))


def _opened(opened: Opened) -> Write:
    direction, names = opened.direction, {"#escalations": "escalations"}
    values: Item = {}
    if direction.escalations:
        names["#id"] = opened.task_id
        sets, values[":at"] = "#escalations.#id = :at", to_ms(opened.at)
    else:
        sets, values[":first"] = "#escalations = :first", {opened.task_id: to_ms(opened.at)}
    expression = f"SET {sets}, #version = :next"
    removed = [f"#escalations.#old{n}" for n in range(len(opened.forget))]
    names |= {f"#old{n}": task_id for n, task_id in enumerate(opened.forget)}
    if opened.ends_review:
        names["#review"] = "review_id"
        removed.append("#review")
    if removed:
        expression += f" REMOVE {', '.join(removed)}"
    if opened.forget:
        names["#closed"], values[":forgotten"] = "closed", frozenset(opened.forget)
        expression += " DELETE #closed :forgotten"
    return _update_direction(direction, expression, names, values)


def _review_opened(review: Review, direction: Direction) -> Write:
    return _update_direction(
        direction, "SET #review = :review, #version = :next", {"#review": "review_id"}, {":review": review.id}
    )


def _closed(workspace: str, source: str, target: str, task_id: str) -> Write:
    request = {
        "Key": to_wire(keys.direction(workspace, source, target)._asdict()),
        "UpdateExpression": "ADD #closed :ended",
        "ExpressionAttributeNames": {"#closed": "closed"},
        "ExpressionAttributeValues": to_wire({":ended": frozenset({task_id})}),
    }
    return Write("Update", request, lambda: Conflict("direction"))
