"""The handoff of Twining's tool, with its input and its output (docs/spec/memory.md §5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import StringConstraints
from typing_extensions import TypedDict

from api.handoffs import requests
from api.memory.requests import ScopePath
from baton.domain import times
from baton.domain.access.rights import Deed
from baton.domain.memory.scope import ROOT
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.services.handoffs.twining_handoff import TwiningHandoff, twining_handoff
from rest import answers, models, routing

routes = routing.Routes()


# A model that has nothing to say of a result sends an empty text.
Said = Annotated[str, StringConstraints(max_length=requests.MAX_TEXT)]


class TwiningResult(requests.Piece):
    description: Said
    status: Literal["completed", "partial", "blocked", "failed"]
    artifacts: requests.Texts = requests.LEFT_OUT
    notes: Said = requests.LEFT_OUT


class TwiningRequest(models.Body):
    """``target_agent``: left out, any agent that is able may claim it. ``auto_snapshot``: the newest active decisions,
    warnings and findings that the scope sees go with it. ``worker``: who hands over, as its claims name it: only its
    own claims count."""

    source_agent: requests.Name
    target_agent: requests.Name | None = None
    scope: ScopePath = ROOT
    summary: requests.Line
    results: Annotated[tuple[TwiningResult, ...], models.few(requests.MAX_LIST)]
    auto_snapshot: bool = True
    worker: models.Worker | None = None


class SnapshotSize(TypedDict):
    decisions: int
    warnings: int
    findings: int


class TwiningRecord(TypedDict):
    """``target_agent``: null if any agent may claim it."""

    id: str
    created_at: str
    source_agent: str
    target_agent: str | None
    scope: str
    summary: str
    result_count: int
    context_snapshot_size: SnapshotSize


class TwiningProblem(answers.Problem):
    """A refusal, with the field ``error`` that this route's callers expect beside ``code``."""

    error: str


def refused(answer: answers.Answer) -> answers.Answer:
    body = answer.body or {}
    return replace(answer, body={"error": body.get("detail", ""), **body})


@routes.post(
    "/twining-handoff",
    body=models.strict(TwiningRequest),
    answers={201: TwiningRecord},
    refused=refused,
    problem=TwiningProblem,
    deed=Deed.HAND_OFF,
)
def create_twining_handoff(deps: Deps, call: routing.Call[TwiningRequest, None]) -> answers.Answer:
    """Hand results over to an agent, or to any: with what the scope knows, and a status entry on the blackboard.

    It is a handoff as any other: to acknowledge it is to claim its task. If the source agent holds exactly one claim,
    the handoff belongs to it.
    """
    body = call.body
    asked = TwiningHandoff(**{**dict(body), "results": tuple(each.given() for each in body.results)})
    made = twining_handoff(deps, call.by, asked, call.idempotency_key)
    return answers.created(record(made), f"/handoffs/{made.task.handoff_id}")


def record(made: TaskDetails) -> TwiningRecord:
    task, body = made.task, made.body or {}
    snapshot: dict[str, Any] = body.get("snapshot") or {}
    return {
        "id": task.handoff_id,
        "created_at": times.rfc3339(task.created_at),
        "source_agent": task.source_agent,
        "target_agent": task.target_agent,
        "scope": body["scope"],
        "summary": body["summary"],
        "result_count": len(body["results"]),
        "context_snapshot_size": {
            "decisions": len(snapshot.get("decision_ids", ())),
            "warnings": len(snapshot.get("warning_ids", ())),
            "findings": len(snapshot.get("finding_ids", ())),
        },
    }
