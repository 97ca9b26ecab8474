"""Writes of directions and manual reviews, and their conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.puts import VERSION_NOT_SET, VERSION_UNCHANGED, put, put_version
from baton.adapters.dynamodb.table import Item, Write, to_wire
from baton.domain.errors import Conflict
from baton.domain.times import to_ms
from baton.ports import EscalationClosed, EscalationOpened, ReviewChanged, ReviewOpened, ReviewRequest

if TYPE_CHECKING:
    from baton.domain.escalations.direction import Direction
    from baton.domain.escalations.review import Review

MarkerExtra = EscalationOpened | EscalationClosed | ReviewOpened | ReviewChanged | ReviewRequest


def marker_writes(workspace: str, extra: MarkerExtra, token: str) -> list[Write]:
    match extra:
        case EscalationOpened():
            return [_opened(extra)]
        case EscalationClosed(source, target, task_id):
            return [_closed(workspace, source, target, task_id)]
        case ReviewOpened(review, direction):
            return [_review(review, token), _review_opened(review, direction)]
        case ReviewChanged(review):
            return [_review(review, token)]
        case ReviewRequest(review_id, content):
            return [put(items.payload_item(keys.review_request(workspace, review_id), content))]


def _review(review: Review, token: str) -> Write:
    return put_version({**items.review_item(review), "written_by": token}, review.version, "manual review")


def _update_direction(direction: Direction, expression: str, names: Item, values: Item) -> Write:
    """Puts the direction into its next version. An escalation that ends meanwhile changes only ``closed``, and so never
    conflicts."""
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


def _opened(opened: EscalationOpened) -> Write:
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
