"""A person's approvals and votes that may still be used. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class RestingKind(StrEnum):
    CHANGE = "change"  # that waits: they asked for it, or have approved it
    AGENT = "agent"  # a standing approval of an agent
    TOOL = "tool"  # a standing approval of the handoffs with a tool
    STANDING_ANSWER = "standing_answer"
    QUESTION = "question"  # a vote on a question or an action that is open
    ACTION = "action"  # the approval of an action that wasn't used
    HANDOFF = "handoff"  # a vote on a handoff that waits for more of them
    READY_WORK = "ready_work"  # the approval of ready work that rules hold back from an agent


@dataclass(frozen=True, slots=True, kw_only=True)
class RestingApproval:
    """``name``: of the agent or the tool. ``at``: when the person gave it;
    None for an approval of an earlier release. ``counts``: False once it has ended."""

    kind: RestingKind
    at: datetime | None
    counts: bool
    name: str | None = None
    task_id: str | None = None
    question_id: str | None = None
    standing_id: str | None = None
    change_id: str | None = None
