"""Puts what people have decided into the record of decisions. The stream does it with each event: the schedule, for an
event that the stream has missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baton.domain import errors
from baton.domain.events.bus_events import OutboxEvent, bus_event_id
from baton.domain.stats.decision import decision_in
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.system import Workers, in_turn


def record_decisions(
    deps: Deps, told: Sequence[OutboxEvent], tasks: Mapping[tuple[str, str], Task | None], workers: Workers = in_turn
) -> set[str]:
    """Returns the ids of the events that have to come again, as the table didn't answer. Never raises. One that can't
    be put at all is logged and passed over: the trail has it."""
    failed = workers(told, lambda each: _record(deps, each, tasks.get((each.workspace, each.task_id))))
    return {id_ for id_ in failed if id_ is not None}


def _record(deps: Deps, told: OutboxEvent, task: Task | None) -> str | None:
    id_ = bus_event_id(told.workspace, told.task_id, told.event.seq)
    try:
        decision = None if task is None else decision_in(told, task)
        if decision is not None:
            deps.store.stats.put_decision(decision)
    except errors.Busy as exc:
        if not isinstance(exc, errors.WrittenByNewer):
            return id_
    except Exception as exc:  # noqa: BLE001 - one that can't be told never stops the rest
        deps.log("a decision wasn't recorded", action="decision_unrecorded", event_id=id_, error=type(exc).__name__)
    return None
