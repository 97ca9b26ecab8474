"""Writes of directions, and their conditions."""

from __future__ import annotations

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item, ItemWrite
from baton.adapters.dynamodb.puts import VERSION_NOT_SET, VERSION_UNCHANGED, update
from baton.domain import errors, times
from baton.domain.escalations.direction import Direction
from baton.ports.writes import CloseEscalation, EndReview, OpenEscalation, OpenReview


def open_escalation(opened: OpenEscalation) -> ItemWrite:
    direction, added = opened.direction, {opened.task_id: times.to_ms(opened.at)}
    return _next_version(direction, None if opened.ends_review else direction.review_id, added, opened.forget)


def open_review(opened: OpenReview) -> ItemWrite:
    return _next_version(opened.direction, opened.review_id)


def end_review(ended: EndReview) -> ItemWrite:
    return _next_version(ended.direction, None)


def close_escalation(workspace: str, closed: CloseEscalation) -> ItemWrite:
    key, ended = keys.direction(workspace, closed.source, closed.target), {":ended": frozenset({closed.task_id})}
    return update(key, "ADD #closed :ended", None, ended, lambda: errors.Conflict("direction"))


def _next_version(
    direction: Direction, review_id: str | None, added: dict[str, int] | None = None, forget: tuple[str, ...] = ()
) -> ItemWrite:
    """Writes the direction as it is then, on condition that it is as it was read. ``ended`` keeps which tasks are known
    to be closed, so that no ended task is read for the next decision. ``closed`` is of no version: an escalation whose
    page is closed meanwhile adds itself there, and so never conflicts."""
    condition = VERSION_UNCHANGED if direction.version else VERSION_NOT_SET
    seen = {":seen": direction.version} if direction.version else {}
    kept = [each for each in direction.escalations if each.task_id not in forget]
    told: Item = {
        "escalations": {each.task_id: times.to_ms(each.created_at) for each in kept} | (added or {}),
        "ended": frozenset(each.task_id for each in kept if each.closed),
        "review_id": review_id,
        "version": direction.version + 1,
    }
    key = keys.direction(direction.workspace, direction.source, direction.target)
    actions = {
        "SET": [f"#{name} = :{name}" for name, value in told.items() if value],
        "REMOVE": [f"#{name}" for name, value in told.items() if not value],
        "DELETE": ["#closed :forgotten"] if forget else [],
    }
    sets = " ".join(f"{action} {', '.join(parts)}" for action, parts in actions.items() if parts)
    values = {f":{name}": value for name, value in told.items() if value}
    forgotten = {":forgotten": frozenset(forget)} if forget else {}
    return update(key, sets, condition, values | seen | forgotten, lambda: errors.Conflict("direction"))
