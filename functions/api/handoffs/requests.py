"""The handoff message over HTTP (docs/spec/protocol.md §1), and the parts of it that other requests take. A message is
stored as it was sent: only the fields that were given, in the protocol's spelling."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, StringConstraints

from api.memory.requests import ScopePath
from baton.domain import times
from baton.domain.agents.agent import MAX_AGENTS
from baton.domain.handoffs import handoff_message
from baton.domain.memory.taken_along import MAX_MEMORIES
from baton.domain.tasks.calls import Seen
from rest import models

MAX_TEXT = 2_000
MAX_NAME = 100
MAX_LIST = 100
MAX_CRITERIA = 50
MAX_CRITERION = 500
MAX_LABELS = 50
MAX_NUMBER = 2**53
# The default of fields that were left out: nothing reads it.
LEFT_OUT: Any = None
IGNORED = "Computed by Baton: whatever is given is ignored."

Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
# Text that becomes a title must have a visible character. The blanks are listed, as regular expressions differ in \S.
Line = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT, pattern=models.SAYS_SOMETHING)]
Texts = Annotated[tuple[Text, ...], models.few(MAX_LIST)]
Criterion = Annotated[str, StringConstraints(min_length=1, max_length=MAX_CRITERION)]
Time = Annotated[models.Instant, PlainSerializer(times.rfc3339, return_type=str, when_used="json")]
Positive = Annotated[int, Field(ge=1, lt=MAX_NUMBER)]
AgentVersions = Annotated[
    dict[models.Slug, Positive], Field(max_length=MAX_AGENTS, json_schema_extra={"additionalProperties": False})
]
Label = Annotated[str, StringConstraints(min_length=1, max_length=63)]
Labels = Annotated[dict[Label, Annotated[str, StringConstraints(max_length=200)]], Field(max_length=MAX_LABELS)]
Ignored = Annotated[Any, Field(exclude=True, description=IGNORED)]
MemoryCount = Annotated[int, Field(ge=0, le=MAX_MEMORIES)]
PriorityWord = Literal["P0", "P1", "P2", "high", "medium", "low", "🔴 High", "🟡 Medium", "🟢 Low"]


def _without_reserved_names(variables: dict[str, Any]) -> dict[str, Any]:
    if any(name[:1] in {"", "_"} for name in variables):
        raise ValueError("must not have empty names, nor such that begin with _: those are Baton's")
    return variables


Variables = Annotated[
    dict[str, Any],
    AfterValidator(_without_reserved_names),
    Field(json_schema_extra={"propertyNames": {"pattern": "^[^_]"}}),
]


class Piece(models.Part):
    """Fields may be left out, but not null."""

    def given(self) -> dict[str, Any]:
        """Returns plain JSON, for storing."""
        return models.plain(self)


class Source(Piece):
    """``agent``: a slug, name or alias; left out, the caller. An agent is always itself; a service or human with the
    scope ``act_as`` names the agent that it acts for, any other principal itself."""

    agent: Name = LEFT_OUT
    agent_id: Name = LEFT_OUT
    phase: Name = LEFT_OUT


class Target(Piece):
    """``agent``: a slug, name or alias. Null or left out: routed by ``work_type``, else open work for any agent that
    declares the required types."""

    agent: Name | None = None
    reason: Line


class Result(Piece):
    description: Text = LEFT_OUT
    status: Literal["completed", "partial", "blocked", "failed"]
    artifacts: Texts = LEFT_OUT
    notes: Text = LEFT_OUT


class Project(Piece):
    name: Name = LEFT_OUT
    path: Text = LEFT_OUT
    tech_stack: Annotated[tuple[Name, ...], models.few(MAX_LIST)] = LEFT_OUT


class Artifact(Piece):
    """The target has to declare each ``type`` except ``decision`` among the types that it accepts."""

    type: Name
    path: Text = LEFT_OUT
    description: Text = LEFT_OUT
    content: Text = LEFT_OUT
    rationale: Text = LEFT_OUT


class Context(Piece):
    """At most 262,144 bytes together with the context of earlier handoffs. Where both have a value, this one counts."""

    project: Project = LEFT_OUT
    artifacts: Annotated[tuple[Artifact, ...], models.few(MAX_LIST)] = LEFT_OUT
    state: dict[str, Any] = LEFT_OUT
    relevant_memories: Texts = LEFT_OUT
    variables: Variables = LEFT_OUT


class Deliverable(Piece):
    """The target has to declare ``type`` among the types that it produces, and its completion has to report every
    criterion by its exact text."""

    type: Name
    description: Text
    files: Texts = LEFT_OUT
    acceptance_criteria: Annotated[tuple[Criterion, ...], models.few(MAX_CRITERIA)] = LEFT_OUT


class Expectations(Piece):
    """``fail_on_deadline``: the task fails when ``deadline`` passes, instead of only raising an alert."""

    deliverables: Annotated[tuple[Deliverable, ...], models.few(MAX_LIST)] = LEFT_OUT
    constraints: Texts = LEFT_OUT
    estimated_duration: Name = LEFT_OUT
    deadline: Time = LEFT_OUT
    fail_on_deadline: bool = LEFT_OUT


class Rollback(Piece):
    """``on_failure``: the agent that a failure goes back to, by default the source. ``failure_context``: what a
    failure's report should contain."""

    on_failure: Name = LEFT_OUT
    failure_context: Texts = LEFT_OUT
    checkpoint_id: models.Id = LEFT_OUT


class TaskMetadata(Piece):
    """``effort`` is information only. ``not_before``: the task can't be claimed before."""

    priority: PriorityWord = LEFT_OUT
    effort: Literal["S", "M", "L"] = LEFT_OUT
    labels: Labels = LEFT_OUT
    not_before: Time = LEFT_OUT


class Metadata(TaskMetadata):
    """``workflow_id``: the workflow that this belongs to; left out, a root begins a new one. An existing one may be
    named by humans and by the principal that began it."""

    workflow_id: models.Id = LEFT_OUT
    parent_handoff: Ignored = None
    depth: Ignored = None


class BudgetRequest(Piece):
    """For the whole workflow; below another budget it can only be smaller."""

    max_handoffs: Positive = LEFT_OUT
    max_model_calls: Positive = LEFT_OUT
    max_tokens: Positive = LEFT_OUT
    deadline: Time = LEFT_OUT


_ELSEWHERE = {
    "escalation": "escalations are made with POST /handoff-markers",
    "retry": "what has failed is tried again with POST /handoffs/{handoff_id}/retry",
}


def _creatable_kind(kind: Any) -> Any:
    if isinstance(kind, str) and kind in _ELSEWHERE:
        raise ValueError(_ELSEWHERE[kind])
    return kind


AskedKind = Annotated[Literal["transfer", "delegation", "continuation", "rollback"], BeforeValidator(_creatable_kind)]


class WithMemory(Piece):
    """``scope``: what part of the work it is about, a path such as ``src/auth``. ``auto_snapshot``: the newest active
    decisions, warnings and findings that the scope sees go with it, and its claimer is told what has changed since.
    ``auto_memories``: so many entries that fit the work best come with its claim."""

    scope: ScopePath = LEFT_OUT
    auto_snapshot: bool = LEFT_OUT
    auto_memories: MemoryCount = LEFT_OUT


class HandoffRequest(WithMemory):
    """``source``: left out, the caller. ``claim_id``: the claim that the handoff is made under; required of an agent
    while it holds any. ``worker``: who hands off, as its claims name it: then only its own claims have to be named.
    ``work_type``: if no target is named, the routes name it. ``scope``: what part of the work it is about, a path such
    as ``src/auth``. ``auto_snapshot``: the newest active decisions, warnings and findings that the scope sees go with
    it, and its claimer is told what has changed since. ``auto_memories``: so many entries that fit the work best come
    with its claim."""

    source: Source = LEFT_OUT
    target: Target
    summary: Line = LEFT_OUT
    results: Annotated[tuple[Result, ...], models.few(MAX_LIST)] = LEFT_OUT
    context: Context = LEFT_OUT
    expectations: Expectations = LEFT_OUT
    rollback: Rollback = LEFT_OUT
    metadata: Metadata = LEFT_OUT
    budget: BudgetRequest = LEFT_OUT
    kind: AskedKind = "transfer"
    claim_id: models.Id | None = None
    worker: models.Worker | None = None
    work_type: models.Slug | None = None
    handoff_id: Ignored = None
    timestamp: Ignored = None

    def message(self) -> handoff_message.HandoffMessage:
        """Returns the handoff message itself, without the request's other fields."""
        return handoff_message.message_from(
            models.without(models.plain(self), {"kind", "claim_id", "worker", "work_type"})
        )


class HandoffRetry(models.Body):
    """``agent_version``: the target's ``version``, once a human has looked at it. Needed if a service or a member has
    changed the agent since the task was approved. ``agent_versions``: for open work, the versions of the agents that
    rules hold back from it, by slug."""

    agent_version: Positive | None = None
    agent_versions: AgentVersions | None = None

    @property
    def looked_at(self) -> Seen:
        return Seen(agent_version=self.agent_version, agent_versions=self.agent_versions or {})
