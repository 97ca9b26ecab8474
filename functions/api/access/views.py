"""Settings and tokens as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from api.tracker import views
from baton.domain.access.token import Token
from baton.domain.settings.plain_settings import plain
from baton.domain.settings.settings import Settings
from rest import pages
from rest.shape import ViewShape

PrincipalKindName = Literal["agent", "human", "service"]
RightName = Literal["reader", "member", "approver", "administrator"]


class GuardrailsView(TypedDict):
    """The limits on the content of handoffs, completions and the blackboard."""

    secrets: Literal["refuse", "mask", "off"]
    forbidden_patterns: list[str]
    max_text_characters: int
    max_items: int


class ApprovalRuleView(TypedDict):
    """The approvers of the work that it fits; null fits any. ``tool``: of the actions that it is for; null: it is for
    handoffs."""

    source: str | None
    target: str | None
    work_type: str | None
    tool: str | None
    people: list[str]
    group: str | None
    needed: int
    not_author: bool
    remind_after_seconds: int | None
    then_group: str | None
    then_after_seconds: int | None


class SettingsView(TypedDict):
    """``groups``, ``approval_rules``, ``guardrails``, ``warnings``: left out for agents, and for services without the
    scope `act_as`. ``warnings``: a sentence for each rule that too few people can meet; left out for an earlier version
    of the settings."""

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
    groups: NotRequired[dict[str, list[str]]]
    approval_rules: NotRequired[list[ApprovalRuleView]]
    guardrails: NotRequired[GuardrailsView]
    warnings: NotRequired[list[str]]
    tracker: views.TrackerSettingsView | None
    version: int


class NewToken(TypedDict):
    """``token`` is never shown again. ``right``: of a human, else null."""

    token: str
    id: str
    kind: PrincipalKindName
    subject: str
    scopes: list[str]
    right: RightName | None
    created_at: str
    expires_at: str | None


class TokenView(TypedDict):
    """``right``: of a human, else null. ``session_of``: the token that a session was opened with; ``ends_at``: when it
    ends, however often it is renewed. Both are null for a token that isn't a session."""

    id: str
    kind: PrincipalKindName
    subject: str
    scopes: list[str]
    right: RightName | None
    created_at: str
    created_by: str
    expires_at: str | None
    revoked_at: str | None
    revoked_by: str | None
    session_of: str | None
    ends_at: str | None


_RULES = ("groups", "approval_rules", "guardrails")


def settings_view(settings: Settings, *, with_rules: bool = True, warnings: list[str] | None = None) -> SettingsView:
    shown: Any = {**plain(settings), "version": settings.version}
    if with_rules and warnings is not None:
        shown["warnings"] = warnings
    if not with_rules:
        shown = {name: value for name, value in shown.items() if name not in _RULES}
        if settings.tracker is not None:
            shown["tracker"] = {name: value for name, value in shown["tracker"].items() if name != "rights"}
    view: SettingsView = shown
    return view


TokenPage = pages.of("TokenPage", TokenView)
_NEW_TOKEN = ViewShape(NewToken, Token, "token")


def new_token(token: Token, text: str) -> NewToken:
    return _NEW_TOKEN(token, token=text)


token_view = ViewShape(TokenView, Token)
