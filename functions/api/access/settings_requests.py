"""A change of the workspace's settings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from api.handoffs.requests import Name
from api.tracker import requests
from baton.domain.guardrails.guardrails import MAX_ITEMS, MAX_PATTERN, MAX_PATTERNS, MAX_TEXT, MIN_ITEMS, MIN_TEXT
from baton.domain.questions.approvers import MAX_NEEDED, MAX_PEOPLE
from baton.domain.settings.approval_rule import AFTER_SECONDS, MAX_GROUPS, MAX_MEMBERS, MAX_RULES, ApprovalRule
from baton.domain.settings.settings import BOUNDS, MAX_HOLIDAYS, AgentsRead
from rest import models

Pattern = Annotated[str, StringConstraints(min_length=1, max_length=MAX_PATTERN)]


Members = Annotated[tuple[models.Slug, ...], models.few(MAX_MEMBERS)]
Groups = Annotated[
    dict[models.Slug, Members], Field(max_length=MAX_GROUPS, json_schema_extra={"additionalProperties": False})
]
After = Annotated[int, Field(ge=AFTER_SECONDS[0], le=AFTER_SECONDS[1])]


def bounds(name: str) -> Any:
    low, high = BOUNDS[name]
    return Field(ge=low, le=high)


class GuardrailsRequest(models.Part):
    """Fields left out keep their value. ``secrets``: how a text with an apparent secret is handled.
    ``forbidden_patterns``: searched anywhere in a text, ignoring case; `*` is any run of characters, `?` one.
    ``max_text_characters``: of any single text; ``max_items``: of any single array or object."""

    secrets: Literal["refuse", "mask", "off"] = "refuse"
    forbidden_patterns: Annotated[tuple[Pattern, ...], models.few(MAX_PATTERNS)] = ()
    max_text_characters: Annotated[int, Field(ge=MIN_TEXT, le=MAX_TEXT)] = 0
    max_items: Annotated[int, Field(ge=MIN_ITEMS, le=MAX_ITEMS)] = 0


class ApprovalRuleRequest(models.Body):
    """The rule fits work by ``source``, ``target``, ``work_type``; left out, any. ``source``, ``target``: an agent's
    slug, name or alias; the slug is stored. ``tool``: the rule is for actions with this tool, and overrides the asker's
    choice of approvers; left out, it is for handoffs. ``people``, ``group``: who may approve; without both any human.
    ``needed``: how many of them. ``not_author``: the human who made the handoff doesn't count. After
    ``remind_after_seconds`` without a decision humans are alerted; after ``then_after_seconds`` ``then_group`` may
    decide, too; neither is for a rule with a ``tool``."""

    source: models.Slug | None = None
    target: models.Slug | None = None
    work_type: models.Slug | None = None
    tool: Name | None = None
    people: Annotated[tuple[models.Slug, ...], models.few(MAX_PEOPLE)] = ()
    group: models.Slug | None = None
    needed: Annotated[int, Field(ge=1, le=MAX_NEEDED)] = 1
    not_author: bool = False
    remind_after_seconds: After | None = None
    then_group: models.Slug | None = None
    then_after_seconds: After | None = None


class SettingsRequest(models.Changes):
    """Settings left out keep their value, those of ``guardrails`` and ``tracker`` too; null switches the tracker off.
    ``loop_guard``: whether handoffs that go round in circles are refused, by the limits below it. ``agents_read``:
    whether agents read only tasks that they take part in (`own`), or all of the `workspace`.
    ``listeners_per_principal``: connections to the bell. ``requests_per_minute``, ``kept_bytes_per_minute``: of one
    agent or service; five times as much for one human. ``kept_bytes_per_claim``: in checkpoints, run states and
    notes. ``polls_at_once``: of any one caller. ``cents_per_million_tokens``: a model's average price, for
    `GET /stats`; 0 for unknown. ``groups``: names of humans, by the group's: who may answer questions and approve.
    ``approval_rules``: the approvers of handoffs and actions; all that fit apply. ``version``: the version that the
    change is based on; any other current version refuses it."""

    time_zone: Annotated[str, StringConstraints(min_length=1, max_length=64)] = ""
    holidays: Annotated[frozenset[models.Day], models.few(MAX_HOLIDAYS)] = frozenset()
    handoff_window_days: Annotated[int, bounds("handoff_window_days")] = 0
    escalation_cap: Annotated[int, bounds("escalation_cap")] = 0
    breaker_scope: Literal["open", "any"] = "open"
    dispatch_delay_seconds: Annotated[int, bounds("dispatch_delay_seconds")] = 0
    unclaimed_alert_seconds: Annotated[int, bounds("unclaimed_alert_seconds")] = 0
    waiting_alert_seconds: Annotated[int, bounds("waiting_alert_seconds")] = 0
    max_attempts: Annotated[int, bounds("max_attempts")] = 0
    loop_guard: bool = True
    max_depth: Annotated[int, bounds("max_depth")] = 0
    max_handoffs_per_workflow: Annotated[int, bounds("max_handoffs_per_workflow")] = 0
    max_same_direction: Annotated[int, bounds("max_same_direction")] = 0
    ping_pong_window: Annotated[int, bounds("ping_pong_window")] = 0
    root_handoffs_per_hour: Annotated[int, bounds("root_handoffs_per_hour")] = 0
    agents_read: AgentsRead = AgentsRead.OWN
    listeners_per_principal: Annotated[int, bounds("listeners_per_principal")] = 0
    requests_per_minute: Annotated[int, bounds("requests_per_minute")] = 0
    kept_bytes_per_minute: Annotated[int, bounds("kept_bytes_per_minute")] = 0
    kept_bytes_per_claim: Annotated[int, bounds("kept_bytes_per_claim")] = 0
    polls_at_once: Annotated[int, bounds("polls_at_once")] = 0
    cents_per_million_tokens: Annotated[int, bounds("cents_per_million_tokens")] = 0
    groups: Groups = {}  # noqa: RUF012 - pydantic copies
    approval_rules: Annotated[tuple[ApprovalRuleRequest, ...], models.few(MAX_RULES)] = ()
    guardrails: GuardrailsRequest = GuardrailsRequest()
    tracker: requests.TrackerRequest | None = None

    def given(self) -> dict[str, Any]:
        rules = {"approval_rules": tuple(ApprovalRule(**each.model_dump()) for each in self.approval_rules)}
        given = super().given()
        return {**given, **rules} if "approval_rules" in given else given
