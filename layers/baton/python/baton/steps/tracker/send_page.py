"""Creates a task's page in the tracker, or updates it to the task's present state. One sender per page synchronisation
at a time."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from baton.domain import errors
from baton.domain.settings.tracker_settings import TrackerSettings
from baton.domain.tasks.task import Task
from baton.domain.tracker.page_sync import PageSync, Sync
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.writes import Save
from baton.steps.retrying import retry_on_conflict
from baton.steps.tracker.change_tracker_circuit import open_tracker_circuit
from baton.steps.tracker.page_delivery import PageResult, PageSender, RowLost

SEND_SECONDS = 20.0
REACH_SECONDS = 5.0


def send_page(deps: Deps, settings: TrackerSettings, workspace: str, task_id: str) -> PageResult | None:
    """Returns None if there is nothing to send, or if another sender holds the page synchronisation, which then learns
    of the task's change. Raises ``TrackerTrouble`` for trouble that concerns all pages, after the page is put off and
    the tracker circuit is opened; and ``Busy``."""

    def attempt() -> PageResult | TaskDetails | None:
        details, sync = _read(deps, workspace, task_id, with_body=True)
        return None if sync is None else _take(deps, settings, details, sync)

    try:
        taken = retry_on_conflict(deps, attempt)
    except errors.Unknown:
        return None
    return deliver(deps, settings, taken, SEND_SECONDS) if isinstance(taken, TaskDetails) else taken


def put_back(deps: Deps, workspace: str, task_id: str) -> None:
    """Notes that the page is due, for a notice that comes while the tracker can't be asked. Raises ``Busy``."""

    def attempt() -> None:
        details, sync = _read(deps, workspace, task_id)
        if sync is not None:
            _put_back(deps, details.task, sync)

    with suppress(errors.Unknown):
        retry_on_conflict(deps, attempt)


def _read(deps: Deps, workspace: str, task_id: str, *, with_body: bool = False) -> tuple[TaskDetails, PageSync | None]:
    """Raises ``Unknown``; and ``Conflict`` if a sender knew a later state of the task: it changed while it was read."""
    details = deps.store.tasks.read(workspace, task_id, with_body=with_body)
    sync = details.page_sync
    if sync is not None and sync.wanted > details.task.meta.seq:
        raise errors.Conflict("task")
    return details, sync


def _take(
    deps: Deps, settings: TrackerSettings, details: TaskDetails, sync: PageSync
) -> PageResult | TaskDetails | None:
    """Returns the task with its page synchronisation held by this process; the outcome if there is nothing to write;
    None if there is nothing to do. Raises ``Conflict``."""
    task, now = details.task, deps.clock.now()
    if sync.is_held(now):
        _put_back(deps, task, sync)
        return None
    if not sync.is_due(task, now):
        return None
    is_known = sync.page is not None and sync.sender is None  # no sender died with it
    if is_known and not sync.needs_a_look(task, settings):
        after = _save(deps, sync.sent(task, sync.looked, sync.page_status, now, note=sync.message))
        return PageResult(after.page, after.status, after.message)
    held = sync.wanting(task).held(deps.ids.new("send", now), now, SEND_SECONDS)
    return replace(details, page_sync=_save(deps, held))


def _put_back(deps: Deps, task: Task, sync: PageSync) -> None:
    """Raises ``Conflict``."""
    after = sync.put_back(task, deps.clock.now())
    if after is not None:
        _save(deps, after)


def _save(deps: Deps, sync: PageSync) -> PageSync:
    """Raises ``Conflict`` if it isn't as it was read."""
    after = replace(sync, version=sync.version + 1)
    deps.store.commit(sync.workspace, Save(after))
    return after


def deliver(deps: Deps, settings: TrackerSettings, details: TaskDetails, budget_seconds: float) -> PageResult:
    """Sends the page for the holder of the page synchronisation. Raises the errors of ``send_page``."""
    workspace, task_id = details.task.workspace, details.task.id
    delivery = PageSender(deps, settings, deps.trackers.of(workspace, settings, budget_seconds), details)
    try:
        return delivery.run()
    except (errors.PageRefused, errors.PageGone) as trouble:
        message = trouble.message
        delivery.let_go(lambda held: held.died(delivery.task, message))
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
    """True if the tracker answers for other pages. Asked when a page has failed before, so that one page opens the
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
    """Puts the page off, and opens the circuit. Rate limiting isn't the page's fault. Any other error may be this
    page's, which then goes behind the others."""
    now, status = deps.clock.now(), Sync(trouble.status)
    circuit = open_tracker_circuit(deps, delivery.workspace, trouble)
    until = circuit.open_until or now
    if not _may_concern_one_page(trouble):  # the circuit's notice covers this page too
        with suppress(RowLost):  # whoever has it by now puts it off as well
            delivery.save(lambda held: held.put_off(until, status, trouble.message))
    else:
        delivery.let_go(lambda held: held.failed(now, status, trouble.message, unclear=trouble.unclear))
