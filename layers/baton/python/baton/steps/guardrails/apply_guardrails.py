"""The workspace's guardrails, for use cases that don't read its settings otherwise."""

from __future__ import annotations

from typing import Any, TypeVar

from baton.domain.guardrails.guardrails import Guardrails, checked, checked_reason
from baton.domain.guardrails.secret_shapes import secrets_in
from baton.domain.handoffs import handoff_message
from baton.ports.deps import Deps

Reason = TypeVar("Reason", str, str | None)


def apply_guardrails(deps: Deps, workspace: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Returns ``payload`` after the guardrails. Its keys are the request's field names. One read; none if there is no
    text. Raises ``GuardrailRefused``."""
    if not any(_has_text(value) for value in payload.values()):
        return payload
    return checked(payload, deps.store.settings.of(workspace).guardrails, "")


def apply_guardrails_to_reason(deps: Deps, workspace: str, reason: Reason) -> Reason:
    """Returns the reason of a decision that stops something, or a mask if the guardrails refuse the reason. One read;
    none without a reason."""
    return checked_reason(reason, deps.store.settings.of(workspace).guardrails) if reason else reason


def checked_message(
    message: handoff_message.HandoffMessage, rules: Guardrails, at: str = ""
) -> handoff_message.HandoffMessage:
    """Returns the message after the guardrails. ``at``: its field in the request. Raises ``GuardrailRefused``."""
    return handoff_message.message_from(checked(message.plain(), rules, at))


def apply_guardrails_to_name(deps: Deps, workspace: str, field: str, name: str) -> str:
    """Returns the name that comes with every claim. The settings are read only if it looks like a secret. Raises
    ``GuardrailRefused``."""
    is_suspect = any(secrets_in(name, field))
    return str(apply_guardrails(deps, workspace, {field: name})[field]) if is_suspect else name


def _has_text(value: Any) -> bool:
    match value:
        case str():
            return bool(value)
        case dict():
            return bool(value)
        case list() | tuple():
            return any(map(_has_text, value))
        case _:
            return False
