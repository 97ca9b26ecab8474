"""create-handoff-marker: the request, its refusals and the marker block (docs/spec/marker.md §1 to §3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from baton.domain import errors
from baton.domain.agents.agent import Agent, Roster
from baton.domain.handoffs.handoff_message import title_of
from baton.domain.memory.scope import parse_scope
from baton.domain.memory.taken_along import ASKING, AUTO_MEMORIES, AUTO_SNAPSHOT, MAX_MEMORIES, SCOPE
from baton.domain.one_line import one_line
from baton.domain.priority import PRIORITIES, Priority

MAX_REASON = 2_000
# As many characters as let HEAD stay within one KB once the task is approved: a write unit of each change.
MAX_REASON_IN_TITLE = 64
MAX_URL = 2_000
MAX_RELATIONS = 100
NO_URL = "source_digest_url must be an http or https URL"
FIELDS = (
    "source_agent",
    "target_agent",
    "escalation_reason",
    "source_digest_url",
    "create_task",
    "task_priority",
    "client_relation_ids",
    "project_relation_ids",
    *ASKING,
)
# In either case, with or without dashes: the forms of a page's id in Notion's API and URLs.
_PAGE_ID = re.compile(r"[0-9a-fA-F]{8}(-?)[0-9a-fA-F]{4}\1[0-9a-fA-F]{4}\1[0-9a-fA-F]{4}\1[0-9a-fA-F]{12}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """A valid request."""

    source: Agent
    target: Agent
    reason: str
    digest_url: str
    create_task: bool
    priority: Priority  # used with ``create_task`` only
    client_relation_ids: tuple[str, ...] = ()
    project_relation_ids: tuple[str, ...] = ()
    memory: Mapping[str, Any] = field(
        default_factory=dict
    )  # what it asks to take along; used with ``create_task`` only

    @property
    def block(self) -> str:
        """The block: five lines, ready to paste. No value can add a line."""
        return "\n".join(
            (
                f"Escalated To: {one_line(self.target.name)}",
                f"Escalation Reason: {one_line(self.reason)}",
                f"Escalation Owner: {one_line(self.target.name)}",
                "Handoff Complete: No",
                f"Source: {one_line(self.digest_url)}",
            )
        )

    @property
    def request(self) -> dict[str, Any]:
        """The request in normal form: ``parse_marker`` accepts it."""
        return {**self.content, **self.memory}

    @property
    def content(self) -> dict[str, Any]:
        """The request without what it asks of the memory."""
        return {
            "source_agent": self.source.name,
            "target_agent": self.target.name,
            "escalation_reason": self.reason,
            "source_digest_url": self.digest_url,
            "create_task": self.create_task,
            "task_priority": str(self.priority),
            "client_relation_ids": list(self.client_relation_ids),
            "project_relation_ids": list(self.project_relation_ids),
        }

    @property
    def title(self) -> str:
        """The reason's beginning: two escalations of a direction are told apart by it."""
        return title_of(self.reason, MAX_REASON_IN_TITLE) or f"Escalation from {self.source.name}"

    @property
    def text(self) -> str:
        return f"Escalation from {self.source.name}. Reason: {self.reason}. Source digest: {self.digest_url}"


def parse_marker(body: Mapping[str, Any], roster: Roster) -> Marker:
    """Checks in the order of docs/spec/marker.md §1. Raises ``InvalidMarker`` for the first failure."""
    source = _agent(body, "source_agent", roster)
    target = _agent(body, "target_agent", roster)
    reason, digest_url = body.get("escalation_reason"), body.get("source_digest_url")
    if _is_missing(reason) or _is_missing(digest_url):
        field = "escalation_reason" if _is_missing(reason) else "source_digest_url"
        raise errors.InvalidMarker(field, "escalation_reason and source_digest_url are required")
    create_task, priority = body.get("create_task", True), body.get("task_priority")
    if create_task is not False and _is_missing(priority):
        raise errors.InvalidMarker("task_priority", "task_priority is required when create_task is true")
    _no_unknown_fields(body)
    if source.slug == target.slug:
        raise errors.InvalidMarker("target_agent", "source_agent and target_agent must differ")
    return Marker(
        source=source,
        target=target,
        reason=_text("escalation_reason", reason, MAX_REASON),
        digest_url=_url(_text("source_digest_url", digest_url, MAX_URL)),
        create_task=_boolean("create_task", create_task),
        priority=_priority(priority),
        client_relation_ids=_relations("client_relation_ids", body),
        project_relation_ids=_relations("project_relation_ids", body),
        memory={name: _MEMORY[name](name, body[name]) for name in ASKING if name in body},
    )


def _agent(body: Mapping[str, Any], field: str, roster: Roster) -> Agent:
    value = body.get(field)
    agent = roster.active_named(value) if isinstance(value, str) else None
    if agent is None:
        shown = "" if value is None else one_line(str(value))[:200]
        raise errors.InvalidMarker(field, f"Invalid {field}: {shown}. Valid names: {roster.valid_names()}")
    return agent


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _no_unknown_fields(body: Mapping[str, Any]) -> None:
    unknown = sorted(set(body) - set(FIELDS))
    if unknown:
        name = one_line(unknown[0])[:100]
        raise errors.InvalidMarker(name, f"{name} is not a field of a handoff marker")


def _text(field: str, value: object, most: int) -> str:
    if not isinstance(value, str):
        raise errors.InvalidMarker(field, f"{field} must be a string")
    text = value.strip()
    if len(text) > most:
        raise errors.InvalidMarker(field, f"{field} must be at most {most} characters")
    return text


def _url(text: str) -> str:
    try:
        parts = urlsplit(text)
        well_formed = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port)
    except ValueError as exc:
        raise errors.InvalidMarker("source_digest_url", NO_URL) from exc
    if not well_formed or any(c.isspace() or not c.isprintable() for c in text):
        raise errors.InvalidMarker("source_digest_url", NO_URL)
    return text


def _boolean(field: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise errors.InvalidMarker(field, f"{field} must be true or false")
    return value


def _scope(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise errors.InvalidMarker(field, f"{field} must be a string")
    try:
        return parse_scope(value, field)
    except errors.InvalidInput as exc:
        raise errors.InvalidMarker(field, exc.message.replace(":", "", 1)) from exc


def _memories(field: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_MEMORIES:
        raise errors.InvalidMarker(field, f"{field} must be a whole number from 0 to {MAX_MEMORIES}")
    return value


_MEMORY = {SCOPE: _scope, AUTO_SNAPSHOT: _boolean, AUTO_MEMORIES: _memories}


def _priority(value: object) -> Priority:
    if _is_missing(value):
        return Priority.P2
    if not isinstance(value, str) or value not in PRIORITIES:
        raise errors.InvalidMarker("task_priority", f"task_priority must be one of: {', '.join(PRIORITIES)}")
    return PRIORITIES[value]


def _relations(field: str, body: Mapping[str, Any]) -> tuple[str, ...]:
    values = body.get(field, [])
    if not isinstance(values, list):
        raise errors.InvalidMarker(field, f"{field} must be an array of Notion page ids")
    if len(values) > MAX_RELATIONS:
        raise errors.InvalidMarker(field, f"{field} must have at most {MAX_RELATIONS} entries")
    for value in values:
        if not isinstance(value, str) or not _PAGE_ID.match(value):
            raise errors.InvalidMarker(
                field, f"{field} must hold Notion page ids (32 hexadecimal digits, dashed or not)"
            )
    return tuple(dict.fromkeys(value.replace("-", "").lower() for value in values))
