"""The tracker as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any, Literal, NotRequired, cast

from typing_extensions import TypedDict

from baton.domain import times
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.tracker.page_sync import PageSync
from baton.domain.tracker.webhook import HANDSHAKE, Webhook
from baton.ports.deps import Deps
from baton.ports.tracker import TrackerProblem
from baton.services.tracker.import_tracker import Imported
from baton.services.tracker.retry_tracker import Retried
from baton.services.tracker.tracker_health import TrackerReport
from rest.shape import ViewShape
from rest.tasks import views as task_views

WebhookState = Literal["none", "open", "expired", "installed", "verified"]
HOW = (
    "Within ten minutes, in Notion: in your connection's settings, under Webhooks, create a subscription with this URL "
    "and the page events. GET /tracker/webhook then shows the verification_token: paste it in Notion under Verify."
)


class PropertyNamesView(TypedDict):
    status: str
    priority: str
    due: str
    client: str
    project: str
    task_id: str


class StatusWordsView(TypedDict):
    needs: str
    delegated: str
    next: str
    claimed: str
    waiting: str
    done: str
    failed: str
    rejected: str
    cancelled: str


class PriorityWordsView(TypedDict):
    P0: str
    P1: str
    P2: str


class TrackerSettingsView(TypedDict):
    """``rights``: of people who act in the tracker; left out for callers that may not see them."""

    database: str
    properties: PropertyNamesView
    statuses: StatusWordsView
    priorities: PriorityWordsView
    closed_statuses: list[str]
    cancelled_statuses: list[str]
    rights: NotRequired[dict[str, Literal["reader", "member", "approver"]]]


class DeadPage(TypedDict):
    """``since``: when the task was created."""

    task_id: str
    status: Literal["dead"]
    message: str
    since: str
    url: str | None


class WebhookHealth(TypedDict):
    """``expired``: no handshake came within ten minutes. ``verified``: a delivery signed by Notion came."""

    state: WebhookState
    opened_at: str | None
    installed_at: str | None
    verified_at: str | None


class TrackerHealth(TypedDict):
    """``status``: of the latest attempt; the next is made at ``closed_until``. ``waiting``: pages that couldn't be sent
    yet, at most 1,000. ``dead``: the first 25 pages that were given up. ``last_reconciled_at``: people's changes in the
    tracker before then were handled."""

    configured: bool
    status: Literal["ok", "pending", "denied", "error"]
    message: str
    closed_until: str | None
    waiting: int
    dead: list[DeadPage]
    webhook: WebhookHealth
    last_reconciled_at: str | None


class ProblemView(TypedDict):
    """``about``: a property, the database or the token. An ``error`` keeps tasks from having pages, a ``warning`` keeps
    part of a task off its page."""

    about: str
    severity: Literal["error", "warning"]
    problem: str
    what_to_do: str


class TrackerCheck(TypedDict):
    """``ok``: no problem is an ``error``."""

    ok: bool
    problems: list[ProblemView]


class RetriedView(TypedDict):
    """``revived``: pages that had been given up, ``hurried``: pages that waited for a later moment. ``complete``: false
    if there are more than one call handles: call again."""

    revived: int
    hurried: int
    complete: bool


class SkippedPage(TypedDict):
    title: str
    reason: str


class ImportedView(TypedDict):
    """``opened``, ``closed``: pages that became tasks, open and ended ones. ``known``: pages that belong to a task
    already. ``skipped``: pages that look like handoffs but aren't. ``complete``: false if time ran out: call again."""

    opened: int
    closed: int
    known: int
    skipped: list[SkippedPage]
    complete: bool


class OpenedWebhook(TypedDict):
    """``url``: the address for Notion's handshake until ``expires_at``; never shown again."""

    url: str
    expires_at: str
    how: str


class WebhookView(TypedDict):
    """``verification_token``: to be pasted into Notion; shown to administrators from the handshake to the first signed
    delivery. Its holder can sign deliveries."""

    state: WebhookState
    opened_at: str
    expires_at: str
    installed_at: str | None
    verified_at: str | None
    verification_token: str | None


def health_view(health: TrackerReport, now: datetime) -> TrackerHealth:
    circuit, webhook = health.circuit, health.webhook
    status: Any = circuit.status.value
    return {
        "configured": health.is_configured,
        "status": status,
        "message": circuit.message,
        "closed_until": task_views.when(circuit.open_until) if health.is_open else None,
        "waiting": health.waiting,
        "dead": [_dead_page(sync) for sync in health.dead],
        "webhook": {
            "state": _state(webhook, now),
            "opened_at": task_views.when(webhook.opened_at) if webhook else None,
            "installed_at": task_views.when(webhook.installed_at) if webhook else None,
            "verified_at": task_views.when(webhook.verified_at) if webhook else None,
        },
        "last_reconciled_at": task_views.when(circuit.reconciled_at),
    }


_PROBLEM = ViewShape(ProblemView, TrackerProblem, "severity")


def check_view(problems: Iterable[TrackerProblem]) -> TrackerCheck:
    found = [_PROBLEM(each, severity=each.severity) for each in problems]
    return {"ok": all(each["severity"] != "error" for each in found), "problems": found}


retried_view = ViewShape(RetriedView, Retried)


def imported_view(imported: Imported) -> ImportedView:
    return cast(ImportedView, asdict(imported))


def opened_webhook(deps: Deps, webhook: Webhook, address: str) -> OpenedWebhook:
    return {
        "url": f"{deps.public_url}/notion/webhook/{address}",
        "expires_at": times.rfc3339(webhook.opened_at + HANDSHAKE),
        "how": HOW,
    }


_WEBHOOK = ViewShape(WebhookView, Webhook, "state expires_at verification_token")


def webhook_view(webhook: Webhook, by: Principal, now: datetime) -> WebhookView:
    return _WEBHOOK(
        webhook,
        state=_state(webhook, now),
        expires_at=times.rfc3339(webhook.opened_at + HANDSHAKE),
        verification_token=webhook.token if by.may_do(Deed.OPEN_WEBHOOK) and not webhook.verified_at else None,
    )


_DEAD_PAGE = ViewShape(DeadPage, PageSync, "status url")


def _dead_page(sync: PageSync) -> DeadPage:
    return _DEAD_PAGE(sync, status="dead", url=sync.page.url if sync.page else None)


def _state(webhook: Webhook | None, now: datetime) -> WebhookState:
    return cast(WebhookState, webhook.state(now) if webhook else "none")
