"""The workspace's guardrails for what is said where its settings aren't read anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.guardrails import checked
from baton.domain.secret_shapes import secrets_in

if TYPE_CHECKING:
    from baton.ports import Baton

Message = dict[str, Any]


def guarded(baton: Baton, workspace: str, said: Message) -> Message:
    """``said``, by the names that the request has for it, as far as the rules let it in. One reading, and none where
    nothing is said. Raises ``GuardrailRefused``."""
    if not any(_has_text(value) for value in said.values()):
        return said
    return checked(said, baton.store.settings(workspace).guardrails, "")


def guarded_name(baton: Baton, workspace: str, field: str, name: str) -> str:
    """For a name that comes with every claim: the settings are read only if it looks like a secret. Raises
    ``GuardrailRefused``."""
    is_suspect = any(secrets_in(name, field))
    return str(guarded(baton, workspace, {field: name})[field]) if is_suspect else name


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
