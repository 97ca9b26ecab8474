"""Writes of directions, and their conditions."""

from __future__ import annotations

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item, ItemWrite
from baton.adapters.dynamodb.puts import VERSION_NOT_SET, VERSION_UNCHANGED
from baton.adapters.dynamodb.table import to_wire
from baton.domain import errors, times
from baton.domain.escalations.direction import Direction
from baton.ports.writes import OpenEscalation, OpenReview


def _update_direction(direction: Direction, expression: str, names: Item, values: Item) -> ItemWrite:
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
    return ItemWrite("Update", request, lambda: errors.Conflict("direction"))


def open_escalation(opened: OpenEscalation) -> ItemWrite:
    direction, names = opened.direction, {"#escalations": "escalations"}
    values: Item = {}
    if direction.escalations:
        names["#id"] = opened.task_id
        sets, values[":at"] = "#escalations.#id = :at", times.to_ms(opened.at)
    else:
        sets, values[":first"] = "#escalations = :first", {opened.task_id: times.to_ms(opened.at)}
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


def open_review(opened: OpenReview) -> ItemWrite:
    return _update_direction(
        opened.direction,
        "SET #review = :review, #version = :next",
        {"#review": "review_id"},
        {":review": opened.review_id},
    )


def close_escalation(workspace: str, source: str, target: str, task_id: str) -> ItemWrite:
    request = {
        "Key": to_wire(keys.direction(workspace, source, target)._asdict()),
        "UpdateExpression": "ADD #closed :ended",
        "ExpressionAttributeNames": {"#closed": "closed"},
        "ExpressionAttributeValues": to_wire({":ended": frozenset({task_id})}),
    }
    return ItemWrite("Update", request, lambda: errors.Conflict("direction"))
