"""Creates a new task's page while its caller waits, for at most three seconds (docs/spec/marker.md §6). The task is
durable by then: a failure here costs only the page's address in the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.errors import TrackerTrouble
from baton.domain.mirror import PageRef, Sync
from baton.ports import Dossier
from baton.services.open_escalation import AT_ONCE_SECONDS
from baton.services.page_delivery import Sent
from baton.services.send_page import deliver

if TYPE_CHECKING:
    from baton.domain.settings import Settings
    from baton.ports import Baton
    from baton.services.open_escalation import Escalation


def mirror_at_once(baton: Baton, settings: Settings, escalation: Escalation) -> Sent:
    """Never raises. If the page isn't there in time, sync-tracker keeps trying."""
    task, sync, circuit = escalation.change.task, escalation.mirror, escalation.gate
    if settings.tracker is None or sync is None or sync.sender is None:
        status = Sync.PENDING if circuit is None or circuit.status is Sync.OK else circuit.status
        return Sent(None, status, (circuit and circuit.message) or "The tracker is asked later.")
    dossier = Dossier(task=task, body=escalation.body, mirror=sync)
    try:
        return deliver(baton, settings.tracker, dossier, AT_ONCE_SECONDS)
    except TrackerTrouble as trouble:
        return Sent(None, Sync(trouble.status), trouble.message)
    except Exception as exc:  # noqa: BLE001 - the task exists, and the caller must get it
        error = type(exc).__name__
        baton.log("the page's outcome could not be saved", action="mirror_lost", task_id=task.id, error=error)
        return Sent(None, Sync.PENDING, "The tracker is asked again.")


def page_of(baton: Baton, settings: Settings, workspace: str, task_id: str) -> PageRef | None:
    """Returns the task's page. No read without a tracker."""
    sync = baton.store.mirror(workspace, task_id) if settings.tracker else None
    return sync.page if sync else None
