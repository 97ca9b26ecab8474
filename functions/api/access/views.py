"""Settings and tokens as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from api.tracker import views
from baton.domain.access.token import Token
from baton.domain.settings.settings import SETTING_NAMES, Settings
from rest import pages
from rest.shape import ViewShape

PrincipalKindName = Literal["agent", "human", "service"]


class GuardrailsView(TypedDict):
    """The limits on the content of handoffs, completions and the blackboard."""

    secrets: Literal["refuse", "mask", "off"]
    forbidden_patterns: list[str]
    max_text_characters: int
    max_items: int


class ApprovalRuleView(TypedDict):
    """Who has to approve the handoffs that it fits; null fits any."""

    source: str | None
    target: str | None
    work_type: str | None
    people: list[str]
    group: str | None
    needed: int
    not_author: bool
    remind_after_seconds: int | None
    then_group: str | None
    then_after_seconds: int | None


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
    listeners_per_principal: int
    requests_per_minute: int
    kept_bytes_per_minute: int
    kept_bytes_per_claim: int
    polls_at_once: int
    cents_per_million_tokens: int
    groups: dict[str, list[str]]
    approval_rules: list[ApprovalRuleView]
    guardrails: NotRequired[GuardrailsView]
    tracker: views.TrackerSettingsView | None
    version: int


class NewToken(TypedDict):
    """``token`` is never shown again."""

    token: str
    id: str
    kind: PrincipalKindName
    subject: str
    scopes: list[str]
    created_at: str
    expires_at: str | None


class TokenView(TypedDict):
    """``session_of``: the token that a session was opened with; ``ends_at``: when it ends, however often it is renewed.
    Both are null for a token that isn't a session."""

    id: str
    kind: PrincipalKindName
    subject: str
    scopes: list[str]
    created_at: str
    created_by: str
    expires_at: str | None
    revoked_at: str | None
    revoked_by: str | None
    session_of: str | None
    ends_at: str | None


def settings_view(settings: Settings, *, with_guardrails: bool = True) -> SettingsView:
    shown: Any = {name: getattr(settings, name) for name in (*SETTING_NAMES, "version")}
    shown["holidays"] = sorted(day.isoformat() for day in settings.holidays)
    shown["agents_read"] = settings.agents_read.value
    shown["groups"] = {name: list(members) for name, members in sorted(settings.groups.items())}
    shown["approval_rules"] = [rule.public() for rule in settings.approval_rules]
    if with_guardrails:
        shown["guardrails"] = settings.guardrails.public()
    else:
        del shown["guardrails"]
    shown["tracker"] = settings.tracker.public() if settings.tracker else None
    view: SettingsView = shown
    return view


TokenPage = pages.of("TokenPage", TokenView)
_NEW_TOKEN = ViewShape(NewToken, Token, "token")


def new_token(token: Token, text: str) -> NewToken:
    return _NEW_TOKEN(token, token=text)


token_view = ViewShape(TokenView, Token)
