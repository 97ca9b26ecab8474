"""A conversation as the list of a workspace has it: what never changes after its first message."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BegunConversation:
    """An entry of the list."""

    id: str  # of its workflow
    root_id: str  # the task of the first message
    begun_by: str  # the principal's key, such as ``human:alice``
