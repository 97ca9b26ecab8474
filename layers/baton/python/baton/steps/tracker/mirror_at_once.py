"""Creates a new task's page while its caller waits, for at most three seconds (docs/spec/marker.md §6). The task is
durable by then: a failure here costs only the page's address in the answer."""

from __future__ import annotations

from baton.domain import errors
from baton.domain.settings.settings import Settings
from baton.domain.tracker.page_sync import PageRef, Sync
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.steps.escalations.open_escalation import AT_ONCE_SECONDS, EscalationDraft
from baton.steps.tracker.page_delivery import PageResult
from baton.steps.tracker.send_page import deliver


def mirror_at_once(deps: Deps, settings: Settings, escalation: EscalationDraft) -> PageResult:
    """Never raises. If the page isn't there in time, sync-tracker keeps trying."""
    task, sync, circuit = escalation.change.task, escalation.page_sync, escalation.circuit
    if settings.tracker is None or sync is None or sync.sender is None:
        status = Sync.PENDING if circuit is None or circuit.status is Sync.OK else circuit.status
        return PageResult(None, status, (circuit and circuit.message) or "The tracker is asked later.")
    details = TaskDetails(task=task, body=escalation.body, page_sync=sync)
    try:
        return deliver(deps, settings.tracker, details, AT_ONCE_SECONDS)
    except errors.TrackerTrouble as trouble:
        return PageResult(None, Sync(trouble.status), trouble.message)
    except Exception as exc:  # noqa: BLE001 - the task exists, and the caller must get it
        error = type(exc).__name__
        deps.log("the page's outcome could not be saved", action="mirror_lost", task_id=task.id, error=error)
        return PageResult(None, Sync.PENDING, "The tracker is asked again.")


def page_of(deps: Deps, settings: Settings, workspace: str, task_id: str) -> PageRef | None:
    """Returns the task's page. No read without a tracker."""
    sync = deps.store.tracker.page_sync(workspace, task_id) if settings.tracker else None
    return sync.page if sync else None
