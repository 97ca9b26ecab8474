"""Creates a task's page in the tracker, or updates it to the task's present state. One sender per page synchronisation
at a time."""

from __future__ import annotations

from dataclasses import replace

from baton.domain import errors
from baton.domain.tracker.page_sync import Sync
from baton.domain.tracker.tracker_settings import TrackerSettings
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.writes import Save
from baton.steps.tracker.change_tracker_circuit import trip_tracker_circuit
from baton.steps.tracker.page_delivery import PageResult, PageSender, RowLost

SEND_SECONDS = 20.0
REACH_SECONDS = 5.0


def send_page(deps: Deps, settings: TrackerSettings, workspace: str, task_id: str) -> PageResult | None:
    """Returns None if there is nothing to send, or if another sender holds the page synchronisation. Raises
    ``TrackerTrouble`` for trouble that concerns all pages, after the page is put off and the tracker circuit is
    tripped."""
    try:
        details = deps.store.read(workspace, task_id, with_body=True)
    except errors.Unknown:
        return None
    sync, now = details.page_sync, deps.clock.now()
    if sync is None or not sync.is_due(now):
        return None
    is_known = sync.page is not None and sync.sender is None  # no sender died with it
    is_shown = is_known and not sync.needs_a_look(details.task, settings.status_for(details.task.state))
    if is_shown:
        after = sync.sent(details.task, sync.looked, sync.page_status, now, note=sync.message)
    else:
        after = sync.held(deps.ids.new("send", now), now, SEND_SECONDS)
    after = replace(after, version=sync.version + 1)
    try:
        deps.store.commit(workspace, Save(after))
    except errors.Conflict:
        return None  # another sender holds it; or it was changed, and that change has sent a notice
    if is_shown:
        return PageResult(after.page, after.status, after.message)
    return deliver(deps, settings, replace(details, page_sync=after), SEND_SECONDS)


def deliver(deps: Deps, settings: TrackerSettings, details: TaskDetails, budget_seconds: float) -> PageResult:
    """Sends the page for the holder of the page synchronisation. Raises the errors of ``send_page``."""
    workspace, task_id = details.task.workspace, details.task.id
    delivery = PageSender(deps, settings, deps.trackers.of(workspace, settings, budget_seconds), details)
    try:
        return delivery.run()
    except (errors.PageRefused, errors.PageGone) as trouble:
        message = trouble.message
        delivery.let_go(lambda held: held.died(message))
        deps.log("the page was given up", action="page_dead", task_id=task_id, reason=trouble.code)
        return PageResult(delivery.row.page, Sync(trouble.status), message)
    except errors.TrackerTrouble as trouble:
        if _may_concern_one_page(trouble) and delivery.row.failures and _is_reachable(deps, settings, workspace):
            return _page_trouble(deps, delivery, trouble)
        _requeue(deps, delivery, trouble)
        raise
    except RowLost:
        return PageResult(delivery.row.page, Sync.PENDING, "Somebody else is at it.")
    except errors.PageHeld:
        return _without_page(deps, delivery)
    except Exception as exc:  # noqa: BLE001 - a bug of ours must not stop the other pages, nor create this one twice
        message = "Sending failed inside of Baton; it is tried again."
        delivery.let_go(lambda held: held.failed(deps.clock.now(), Sync.PENDING, message, unclear=True))
        deps.log("sending a page failed", action="page_failed", task_id=task_id, error=type(exc).__name__)
        return PageResult(delivery.row.page, Sync.PENDING, message)


def _may_concern_one_page(trouble: errors.TrackerTrouble) -> bool:
    """True if the error may concern this page only. Rate limiting never does; an edit conflict does."""
    return trouble.retry_after is None or isinstance(trouble, errors.PageBusy)


def _is_reachable(deps: Deps, settings: TrackerSettings, workspace: str) -> bool:
    """True if the tracker answers for other pages. Asked when a page has failed before, so that one page trips the
    circuit for all only once."""
    try:
        deps.trackers.of(workspace, settings, REACH_SECONDS).reach()
    except errors.TrackerTrouble:
        return False
    return True


def _page_trouble(deps: Deps, delivery: PageSender, trouble: errors.TrackerTrouble) -> PageResult:
    status, message, task_id = Sync(trouble.status), trouble.message, delivery.task.id
    delivery.let_go(lambda held: held.failed(deps.clock.now(), status, message, unclear=trouble.unclear))
    deps.log("a page has trouble of its own", action="page_in_trouble", task_id=task_id, reason=trouble.code)
    return PageResult(delivery.row.page, status, message)


def _without_page(deps: Deps, delivery: PageSender) -> PageResult:
    """Puts the page off: the tracker answered with another task's page."""
    now = deps.clock.now()
    message = f"The page that {deps.trackers.name} answered with is another task's; it is tried again."
    delivery.row = replace(delivery.row, page=None)
    delivery.let_go(lambda held: replace(held, page=None).failed(now, Sync.ERROR, message, unclear=False))
    return PageResult(None, Sync.ERROR, message)


def _requeue(deps: Deps, delivery: PageSender, trouble: errors.TrackerTrouble) -> None:
    """Puts the page off, and trips the circuit. Rate limiting isn't the page's fault. Any other error may be this
    page's, which then goes behind the others."""
    now, status = deps.clock.now(), Sync(trouble.status)
    circuit = trip_tracker_circuit(deps, delivery.workspace, trouble)
    until = circuit.closed_until or now
    if not _may_concern_one_page(trouble):  # the circuit's notice covers this page too
        delivery.save(lambda held: held.put_off(until, status, trouble.message))
    else:
        delivery.let_go(lambda held: held.failed(now, status, trouble.message, unclear=trouble.unclear))
