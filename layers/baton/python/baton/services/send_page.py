"""A task's page in the tracker is made, and shows the task's present state. One sender per row at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from baton.domain.errors import Conflict, PageBusy, PageGone, PageHeld, PageRefused, TrackerTrouble, Unknown
from baton.domain.mirror import Sync
from baton.ports import MirrorSaved
from baton.services.page_delivery import Delivery, RowLost, Sent
from baton.services.tracker_gate import close_gate

if TYPE_CHECKING:
    from baton.domain.tracker import TrackerSettings
    from baton.ports import Baton, Dossier

SEND_SECONDS = 20.0
REACH_SECONDS = 5.0


def send_page(baton: Baton, settings: TrackerSettings, workspace: str, task_id: str) -> Sent | None:
    """None if there is nothing to send, or somebody else is at it. Raises ``TrackerTrouble`` where that concerns all
    pages; the row is put back then, and the gate closed."""
    try:
        dossier = baton.store.read(workspace, task_id, with_body=True)
    except Unknown:
        return None
    row, now = dossier.mirror, baton.clock.now()
    if row is None or not row.is_due(now):
        return None
    is_known = row.page is not None and row.sender is None  # nobody died while sending
    is_shown = is_known and not row.needs_a_look(dossier.task, settings.status_for(dossier.task.state))
    if is_shown:
        after = row.sent(dossier.task, row.looked, row.page_status, now, note=row.message)
    else:
        after = row.held(baton.ids.new("send", now), now, SEND_SECONDS)
    after = replace(after, version=row.version + 1)
    try:
        baton.store.commit(workspace, None, [MirrorSaved(after)])
    except Conflict:
        return None  # somebody else holds it; or it changed, and that change has rung
    if is_shown:
        return Sent(after.page, after.status, after.message)
    return deliver(baton, settings, replace(dossier, mirror=after), SEND_SECONDS)


def deliver(baton: Baton, settings: TrackerSettings, dossier: Dossier, budget_seconds: float) -> Sent:
    """For whoever holds the row. Raises what ``send_page`` does."""
    workspace, task_id = dossier.task.workspace, dossier.task.id
    delivery = Delivery(baton, settings, baton.trackers.of(workspace, settings, budget_seconds), dossier)
    try:
        return delivery.run()
    except (PageRefused, PageGone) as trouble:
        message = trouble.message
        delivery.let_go(lambda held: held.died(message))
        baton.log("the page was given up", action="page_dead", task_id=task_id, reason=trouble.code)
        return Sent(delivery.row.page, Sync(trouble.status), message)
    except TrackerTrouble as trouble:
        if _may_be_its_own(trouble) and delivery.row.failures and _answers(baton, settings, workspace):
            return _own_trouble(baton, delivery, trouble)
        _put_back(baton, delivery, trouble)
        raise
    except RowLost:
        return Sent(delivery.row.page, Sync.PENDING, "Somebody else is at it.")
    except PageHeld:
        return _without_page(baton, delivery)
    except Exception as exc:  # noqa: BLE001 - a bug of ours must not stop the other pages, nor make this one twice
        message = "Sending failed inside of Baton; it is tried again."
        delivery.let_go(lambda held: held.failed(baton.clock.now(), Sync.PENDING, message, unclear=True))
        baton.log("sending a page failed", action="page_failed", task_id=task_id, error=type(exc).__name__)
        return Sent(delivery.row.page, Sync.PENDING, message)


def _may_be_its_own(trouble: TrackerTrouble) -> bool:
    """A throttle is no page's; that somebody else is changing one is."""
    return trouble.retry_after is None or isinstance(trouble, PageBusy)


def _answers(baton: Baton, settings: TrackerSettings, workspace: str) -> bool:
    """Whether it is there for other pages; asked when one has failed before, so that it closes the gate for all only
    once."""
    try:
        baton.trackers.of(workspace, settings, REACH_SECONDS).reach()
    except TrackerTrouble:
        return False
    return True


def _own_trouble(baton: Baton, delivery: Delivery, trouble: TrackerTrouble) -> Sent:
    status, message, task_id = Sync(trouble.status), trouble.message, delivery.task.id
    delivery.let_go(lambda held: held.failed(baton.clock.now(), status, message, unclear=trouble.unclear))
    baton.log("a page has trouble of its own", action="page_in_trouble", task_id=task_id, reason=trouble.code)
    return Sent(delivery.row.page, status, message)


def _without_page(baton: Baton, delivery: Delivery) -> Sent:
    """The page that the tracker answered with is another task's."""
    message, now = "The page that Notion answered with is another task's; it is tried again.", baton.clock.now()
    delivery.row = replace(delivery.row, page=None)
    delivery.let_go(lambda held: replace(held, page=None).failed(now, Sync.ERROR, message, unclear=False))
    return Sent(None, Sync.ERROR, message)


def _put_back(baton: Baton, delivery: Delivery, trouble: TrackerTrouble) -> None:
    """A throttle is no page's fault. Anything else may be this one's, which then goes behind the others."""
    now, status = baton.clock.now(), Sync(trouble.status)
    gate = close_gate(baton, delivery.workspace, trouble)
    until = gate.closed_until or now
    if not _may_be_its_own(trouble):  # the gate's bell is this row's as well
        delivery.save(lambda held: held.put_off(until, status, trouble.message))
    else:
        delivery.let_go(lambda held: held.failed(now, status, trouble.message, unclear=trouble.unclear))
