"""Makes an escalation's task: for a marker that no rule prevents, or for one that a human releases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from baton.domain.access.principal import Principal
from baton.domain.escalations.business_days import next_business_day
from baton.domain.escalations.direction import Direction
from baton.domain.escalations.marker import Marker
from baton.domain.escalations.review import ESCALATION_CAP, Review, first_versions_of
from baton.domain.handoffs.handoff_draft import ROOT_DEPTH
from baton.domain.handoffs.handoff_message import HandoffMessage
from baton.domain.ids import handoff_id_of, workflow_id_of
from baton.domain.settings.settings import Settings
from baton.domain.task_state import State
from baton.domain.tasks.change import Change
from baton.domain.tasks.digests import message_digest
from baton.domain.tasks.task import Task, TaskMeta
from baton.domain.tasks.transitions import Dispatch, create
from baton.domain.tracker.page_sync import PageSync, opened
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from baton.ports.deps import Deps
from baton.ports.writes import OpenEscalation, Save, Write
from baton.steps.access.person_rights import with_present_approval
from baton.steps.memory.snapshots import with_snapshot

AT_ONCE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class EscalationDraft:
    """An escalation that isn't committed yet."""

    change: Change
    body: dict[str, Any]
    page_sync: PageSync | None = None  # None without a tracker
    circuit: TrackerCircuit | None = None  # the tracker's, if it was asked

    def writes(self, direction: Direction, *, ends_review: bool = False) -> list[Write]:
        """Task and direction are for one transaction: of two escalations that read the same direction, one wins."""
        task_id, at = self.change.task.id, self.change.task.created_at
        in_direction = OpenEscalation(direction, task_id, at, direction.forgettable(at), ends_review)
        sync = [Save(self.page_sync)] if self.page_sync else []
        return [replace(self.change, body=self.body), in_direction, *sync]


def open_escalation(
    deps: Deps,
    by: Principal,
    marker: Marker,
    settings: Settings,
    released: Review | None = None,
) -> EscalationDraft:
    """Returns the task of a marker, not committed yet. ``released``: the review that a human releases with it; without
    one, the page synchronisation is held for the caller, if the tracker circuit is closed."""
    now = deps.clock.now()
    task_id = deps.ids.new("task", now)
    new = Task(
        workspace=by.workspace,
        id=task_id,
        state=State.NEEDS,
        title=marker.title,
        kind="escalation",
        source_agent=marker.source.slug,
        target_agent=marker.target.slug,
        priority=marker.priority,
        due_date=next_business_day(now, settings.zone, settings.holidays),
        handoff_id=handoff_id_of(task_id),
        master_task_id=task_id,
        workflow_id=workflow_id_of(task_id),
        depth=ROOT_DEPTH,
        created_at=now,
        created_by=released.requested_by if released else by.key,
        max_attempts=settings.max_attempts,
        meta=TaskMeta(updated_at=now, mirrored=settings.tracker is not None),
    )
    body = {
        "handoff_id": new.handoff_id,
        "kind": "escalation",
        "text": marker.text,
        **marker.content,
        **with_snapshot(deps, by.workspace, HandoffMessage(more=marker.memory)).more,
    }
    target = with_present_approval(deps, marker.target)
    dispatch = Dispatch(target, settings, roster=deps.store.agents.roster(by.workspace))
    if released is not None:
        dispatch = replace(dispatch, authors=released.authors_for(by), came_as=released.service_version)
    change = create(new.changed(digest=message_digest(new, body)), by, now, dispatch)
    if settings.tracker is None:
        return EscalationDraft(change, body)
    circuit = deps.store.tracker.circuit(by.workspace) if released is None else None
    sender = deps.ids.new("send", now) if circuit is not None and not circuit.is_open(now) else None
    return EscalationDraft(change, body, opened(change.task, sender, AT_ONCE_SECONDS), circuit)


def review_of(deps: Deps, by: Principal, marker: Marker, now: datetime) -> Review:
    return Review(
        workspace=by.workspace,
        id=deps.ids.new("review", now),
        reason=ESCALATION_CAP,
        source_agent=marker.source.slug,
        target_agent=marker.target.slug,
        request=marker.request,
        requested_by=by.key,
        authors=by.authors,
        first_versions=first_versions_of(marker.target, 0),
        opened_at=now,
        last_at=now,
    )
