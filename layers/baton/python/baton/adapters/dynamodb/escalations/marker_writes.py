"""Writes of directions, and their conditions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item, ItemWrite
from baton.adapters.dynamodb.puts import VERSION_NOT_SET, VERSION_UNCHANGED, update
from baton.domain import errors, times
from baton.domain.escalations.direction import Direction
from baton.ports.writes import EndReview, OpenEscalation, OpenReview


def _update_direction(direction: Direction, clauses: Clauses) -> ItemWrite:
    """Puts the direction into its next version. An escalation whose page is closed meanwhile changes only ``closed``,
    and so never conflicts."""
    is_new = direction.version == 0
    condition = VERSION_NOT_SET if is_new else VERSION_UNCHANGED
    seen = {} if is_new else {":seen": direction.version}
    key = keys.direction(direction.workspace, direction.source, direction.target)
    values = {":next": direction.version + 1, **clauses.values, **seen}
    return update(key, clauses.expression, condition, values, lambda: errors.Conflict("direction"), **clauses.names)


@dataclass(frozen=True, slots=True)
class Clauses:
    """What an update of a direction does besides raising its version."""

    sets: list[str] = field(default_factory=list)
    removes: list[str] = field(default_factory=list)
    deletes: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    values: Item = field(default_factory=dict)

    @property
    def expression(self) -> str:
        parts = {"SET": [*self.sets, "#version = :next"], "REMOVE": self.removes, "DELETE": self.deletes}
        return " ".join(f"{action} {', '.join(done)}" for action, done in parts.items() if done)


def open_escalation(opened: OpenEscalation) -> ItemWrite:
    direction, clauses = opened.direction, Clauses()
    names, values = clauses.names, clauses.values
    if direction.escalations:
        names["id"] = opened.task_id
        clauses.sets.append("#escalations.#id = :at")
        values[":at"] = times.to_ms(opened.at)
    else:
        clauses.sets.append("#escalations = :first")
        values[":first"] = {opened.task_id: times.to_ms(opened.at)}
    _keep_ends(direction, clauses, opened.forget)
    if opened.forget:
        names |= {f"old{n}": task_id for n, task_id in enumerate(opened.forget)}
        values[":forgotten"] = frozenset(opened.forget)
        clauses.removes.extend(f"#escalations.#old{n}" for n in range(len(opened.forget)))
        clauses.deletes.append("#closed :forgotten")
    if opened.ends_review:
        clauses.removes.append("#review_id")
    return _update_direction(direction, clauses)


def open_review(opened: OpenReview) -> ItemWrite:
    clauses = Clauses(["#review_id = :review"], values={":review": opened.review_id})
    _keep_ends(opened.direction, clauses)
    return _update_direction(opened.direction, clauses)


def end_review(ended: EndReview) -> ItemWrite:
    clauses = Clauses(removes=["#review_id"])
    _keep_ends(ended.direction, clauses)
    return _update_direction(ended.direction, clauses)


def _keep_ends(direction: Direction, clauses: Clauses, forget: Collection[str] = ()) -> None:
    """Keeps which tasks are known to be closed, so that no ended task is read for the next decision. ``ended`` is
    written whole: unlike ``closed`` it changes with the version only."""
    ended = frozenset(e.task_id for e in direction.escalations if e.closed).difference(forget)
    if ended:
        clauses.sets.append("#ended = :ended")
        clauses.values[":ended"] = ended
    elif forget:
        clauses.removes.append("#ended")


def close_escalation(workspace: str, source: str, target: str, task_id: str) -> ItemWrite:
    key, ended = keys.direction(workspace, source, target), {":ended": frozenset({task_id})}
    return update(key, "ADD #closed :ended", None, ended, lambda: errors.Conflict("direction"))
