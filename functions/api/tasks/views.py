"""The check of a task's trail, and its model calls, as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing_extensions import TypedDict

from baton.domain.runs.transcript import TranscriptEntry
from baton.services.tasks.verify_trail import TrailFindings
from rest import pages
from rest.shape import ViewShape


class TrailVerdict(TypedDict):
    """``broken_at``: the first invalid entry; ``problem``: what is wrong, in a sentence. ``head_hash``: of the last
    valid entry. Noted elsewhere, it proves that the entries up to it weren't rewritten. ``matches_task``: the trail
    agrees with the task as it is, and has the digests of its message, output, completion and questions.
    ``not_covered``: ids of questions of an earlier release. Their kind, end, tool, arguments, outcome and last decider
    are compared; their texts, addressees and answers have no digest. ``next_cursor``: continue with it; a trail has one
    after each 10,000 entries, and if the task changed meanwhile. ``matches_task`` counts in the last answer."""

    task_id: str
    intact: bool
    events: int
    broken_at: int | None
    problem: str | None
    head_hash: str | None
    matches_task: bool
    not_covered: list[str]
    next_cursor: str | None


class ModelCallView(TypedDict):
    """``at``: when the reply was there; ``turn``: its number in the task; ``agent``: who was run."""

    turn: int
    at: str
    agent: str
    input_tokens: int
    output_tokens: int
    stop_reason: str | None
    scripted: bool


ModelCalls = pages.of("ModelCalls", ModelCallView)
_MODEL_CALL = ViewShape(ModelCallView, TranscriptEntry, "input_tokens output_tokens")


def model_call_view(reply: TranscriptEntry) -> ModelCallView:
    used = reply.usage
    return _MODEL_CALL(reply, input_tokens=used.input_tokens, output_tokens=used.output_tokens)


trail_verdict = ViewShape(TrailVerdict, TrailFindings)
