"""The request and answer of docs/spec/marker.md, for docs/openapi.json. The domain checks them, in its own order."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from annotated_types import Ge, Le, MaxLen, MinLen
from typing_extensions import TypedDict

from baton.domain.escalations.marker import MAX_REASON, MAX_RELATIONS, MAX_URL
from baton.domain.memory.scope import MAX_SCOPE
from baton.domain.memory.taken_along import MAX_MEMORIES
from rest import answers

RelationIds = Annotated[list[str], MaxLen(MAX_RELATIONS)]


class MarkerRequest(TypedDict):
    """``source_agent`` and ``target_agent``: names, aliases or slugs of active agents. ``task_priority`` is required
    unless ``create_task`` is false. ``scope``, ``auto_snapshot`` and ``auto_memories``: what the task takes along of
    the memory, as with a handoff."""

    source_agent: str
    target_agent: str
    escalation_reason: Annotated[str, MaxLen(MAX_REASON)]
    source_digest_url: Annotated[str, MaxLen(MAX_URL)]
    create_task: NotRequired[bool]
    task_priority: NotRequired[
        Literal["🔴 High", "🟡 Medium", "🟢 Low", "high", "medium", "low", "P0", "P1", "P2"] | None
    ]
    client_relation_ids: NotRequired[RelationIds]
    project_relation_ids: NotRequired[RelationIds]
    scope: NotRequired[Annotated[str, MinLen(1), MaxLen(MAX_SCOPE)]]
    auto_snapshot: NotRequired[bool]
    auto_memories: NotRequired[Annotated[int, Ge(0), Le(MAX_MEMORIES)]]


class MarkerProblem(answers.Problem):
    """A refusal, with the two fields that this route's callers expect."""

    success: Literal[False]
    error: str


class DegradedCapability(TypedDict):
    capability: Literal["tracker"]
    status: Literal["pending", "denied", "error"]
    message: str


class MarkerView(TypedDict):
    """``handoff_block``: five lines, ready to paste. ``duplicate_prevented``: an open task exists already;
    ``escalation_capped``: a human has to release this one. The URLs are those of the tracker's pages if there are any,
    else Baton's; ``degraded_capabilities`` says why the page isn't there yet."""

    success: Literal[True]
    handoff_block: str
    task_created: bool
    task_url: str | None
    task_id: str | None
    tracker_page_id: str | None
    duplicate_prevented: bool
    existing_task_url: str | None
    escalation_capped: bool
    needs_manual_review: bool
    handoff_id: str | None
    degraded_capabilities: list[DegradedCapability]
