"""Reviews, settings and tokens as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NotRequired

from typing_extensions import TypedDict

from api.tracker_views import TrackerSettingsView
from baton.domain.settings import SETTING_NAMES
from baton.domain.times import rfc3339
from rest.task_views import ChangedTask, when
from rest.trail_views import NoteView

if TYPE_CHECKING:
    from baton.domain.review import Review
    from baton.domain.settings import Settings
    from baton.domain.token import Token
    from baton.ports import Deps
    from baton.services.list_reviews import ReviewDetails
    from baton.services.verify_trail import Verdict
    from rest.pages import Listing

KindName = Literal["agent", "human", "service"]


class ReviewView(TypedDict):
    """A direction that reached its cap, or a chain that the loop guard stopped: by which ``rule``, after which
    ``chain`` of agents. ``request`` is the latest one, which a release creates; ``count``, how many there were.
    ``target_agent``: null for open work."""

    id: str
    state: Literal["open", "released"]
    reason: Literal["escalation_cap", "loop_guard"]
    rule: str | None
    chain: list[str]
    source_agent: str
    target_agent: str | None
    request: dict[str, Any]
    requested_by: str
    count: int
    opened_at: str
    last_at: str
    released_at: str | None
    released_by: str | None
    task_id: str | None
    task_url: str | None
    version: int


class WholeReview(ReviewView):
    """The review with the notes of its requests, newest first; ``next_cursor``: for more notes. ``handoff``: the whole
    message that a release hands off, for a chain that the loop guard stopped; null for an escalation, where ``request``
    is complete."""

    notes: list[NoteView]
    next_cursor: str | None
    handoff: dict[str, Any] | None


class ReleasedReview(ReviewView):
    task: ChangedTask


class ReviewPage(TypedDict):
    items: list[ReviewView]
    next_cursor: str | None


class GuardrailsView(TypedDict):
    """The limits on the content of handoffs, completions and the blackboard."""

    secrets: Literal["refuse", "mask", "off"]
    forbidden_patterns: list[str]
    max_text_characters: int
    max_items: int


class SettingsView(TypedDict):
    """``guardrails``: left out for callers that may not see them."""

    time_zone: str
    holidays: list[str]
    handoff_window_days: int
    escalation_cap: int
    breaker_scope: Literal["open", "any"]
    dispatch_delay_seconds: int
    unclaimed_alert_seconds: int
    waiting_alert_seconds: int
    max_attempts: int
    loop_guard: bool
    max_depth: int
    max_handoffs_per_workflow: int
    max_same_direction: int
    ping_pong_window: int
    root_handoffs_per_hour: int
    agents_read: Literal["own", "workspace"]
    requests_per_minute: int
    kept_bytes_per_minute: int
    kept_bytes_per_claim: int
    guardrails: NotRequired[GuardrailsView]
    tracker: TrackerSettingsView | None
    version: int


class TrailVerdict(TypedDict):
    """``broken_at``: the first invalid entry; ``problem``: what is wrong, in a sentence. ``head_hash``: of the last
    valid entry. Noted elsewhere, it proves that the entries up to it weren't rewritten. ``matches_task``: the trail
    agrees with the task as it is."""

    task_id: str
    intact: bool
    events: int
    broken_at: int | None
    problem: str | None
    head_hash: str | None
    matches_task: bool


class NewToken(TypedDict):
    """``token`` is never shown again."""

    token: str
    id: str
    kind: KindName
    subject: str
    scopes: list[str]
    created_at: str
    expires_at: str | None


class TokenView(TypedDict):
    id: str
    kind: KindName
    subject: str
    scopes: list[str]
    created_at: str
    created_by: str
    expires_at: str | None
    revoked_at: str | None
    revoked_by: str | None


class TokenPage(TypedDict):
    items: list[TokenView]
    next_cursor: str | None


class Health(TypedDict):
    status: Literal["ok"]


def review_view(deps: Deps, review: Review) -> ReviewView:
    reason: Any = review.reason
    return {
        "id": review.id,
        "state": "open" if review.is_open else "released",
        "reason": reason,
        "rule": review.rule,
        "chain": list(review.chain),
        "source_agent": review.source_agent,
        "target_agent": review.target_agent,
        "request": review.request,
        "requested_by": review.requested_by,
        "count": review.count,
        "opened_at": rfc3339(review.opened_at),
        "last_at": rfc3339(review.last_at),
        "released_at": when(review.released_at),
        "released_by": review.released_by,
        "task_id": review.task_id,
        "task_url": deps.task_url(review.task_id) if review.task_id else None,
        "version": review.version,
    }


def whole_review(deps: Deps, details: ReviewDetails, notes: Listing) -> WholeReview:
    handoff = None if details.draft is None else details.draft["message"]
    noted = {"notes": notes["items"], "next_cursor": notes["next_cursor"]}
    return {**review_view(deps, details.review), **noted, "handoff": handoff}  # type: ignore[typeddict-item]


def settings_view(settings: Settings, *, with_guardrails: bool = True) -> SettingsView:
    shown: Any = {name: getattr(settings, name) for name in (*SETTING_NAMES, "version")}
    shown["holidays"] = sorted(day.isoformat() for day in settings.holidays)
    shown["agents_read"] = settings.agents_read.value
    if with_guardrails:
        shown["guardrails"] = settings.guardrails.public()
    else:
        del shown["guardrails"]
    shown["tracker"] = settings.tracker.public() if settings.tracker else None
    view: SettingsView = shown
    return view


def trail_verdict(verdict: Verdict) -> TrailVerdict:
    return {
        "task_id": verdict.task_id,
        "intact": verdict.intact,
        "events": verdict.events,
        "broken_at": verdict.broken_at,
        "problem": verdict.problem,
        "head_hash": verdict.head_hash,
        "matches_task": verdict.matches_task,
    }


def new_token(token: Token, text: str) -> NewToken:
    return {
        "token": text,
        "id": token.id,
        "kind": token.kind.value,
        "subject": token.subject,
        "scopes": sorted(token.scopes),
        "created_at": rfc3339(token.created_at),
        "expires_at": when(token.expires_at),
    }


def token_view(token: Token) -> TokenView:
    return {
        "id": token.id,
        "kind": token.kind.value,
        "subject": token.subject,
        "scopes": sorted(token.scopes),
        "created_at": rfc3339(token.created_at),
        "created_by": token.created_by,
        "expires_at": when(token.expires_at),
        "revoked_at": when(token.revoked_at),
        "revoked_by": token.revoked_by,
    }
