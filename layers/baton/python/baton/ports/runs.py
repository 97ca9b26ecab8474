"""The ports of running agents: a runner that does the work, models, and the store of profiles and transcripts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Agent
from baton.domain.idempotency import IdempotencyKey
from baton.domain.memory.snapshot import ClaimMemory
from baton.domain.runs.account import Accounts, Spending
from baton.domain.runs.run_profile import RunProfile
from baton.domain.runs.transcript import TaskEntry, TranscriptEntry, Usage
from baton.domain.tasks.calls import WorkerCall
from baton.ports.details import TaskDetails
from baton.ports.paging import Page
from baton.ports.writes import Write

Json = Any


@dataclass(frozen=True, slots=True)
class RunInput:
    """What a runner gets: the task under a live claim of ``by``'s, its payload, and why earlier attempts came back.
    ``time_left``: seconds until a runner should have stopped. ``memory``: what the handoff took along, read with the
    claim; None if it asked for none. ``sees_own``: its model sees the replies of its own agent alone."""

    details: TaskDetails
    agent: Agent
    by: Principal
    claim_id: str
    time_left: Callable[[], float]
    memory: ClaimMemory | None = None
    sees_own: bool = False

    def call(self, body_hash: str = "", idempotency_key: IdempotencyKey | None = None) -> WorkerCall:
        """Returns the run's call under its claim."""
        return WorkerCall(self.by, self.details.task.id, self.claim_id, body_hash, idempotency_key)


@dataclass(frozen=True, slots=True)
class RunSucceeded:
    """``completion``: the message that goes with it (docs/spec/protocol.md §4), for work whose criteria want a
    report."""

    output: Json
    completion: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class RunFailed:
    """``extra_writes``: written in the transaction that ends the attempt."""

    failure: dict[str, Any]
    retryable: bool = False
    extra_writes: tuple[Write, ...] = ()


class RunExit(StrEnum):
    """How a run left its task by itself: the claim is over."""

    ENDED = "ended"
    HANDED_ON = "handed_on"
    WAITS = "waits"
    GIVEN_BACK = "given_back"


RunResult = RunSucceeded | RunFailed | RunExit


class AgentRunner(Protocol):
    def run(self, work: RunInput) -> RunResult:
        """Does the work. May be called again for the same task after a crash. An exception counts as a retryable
        failure, except for ``StaleClaim``: another run has the task. The result is data: it can't choose states, agents
        or limits (invariant 9)."""


class StopReason(StrEnum):
    """Why a model stopped: those of Bedrock's Converse."""

    END_TURN = "end_turn"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    STOP_SEQUENCE = "stop_sequence"
    GUARDRAIL_INTERVENED = "guardrail_intervened"
    CONTENT_FILTERED = "content_filtered"
    MALFORMED_MODEL_OUTPUT = "malformed_model_output"
    MALFORMED_TOOL_USE = "malformed_tool_use"
    CONTEXT_WINDOW_EXCEEDED = "model_context_window_exceeded"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One call of a model, in the shape of Bedrock's Converse. ``messages``: ``{role, content: [block]}``; ``tools``:
    ``{name, description, input_schema}``; ``model``: the provider's id, empty for the adapter's own choice;
    ``max_tokens``: of the reply; ``seconds``: how long it may take in all. The rest says for whom."""

    system: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    model: str
    max_tokens: int
    seconds: float
    workspace: str
    agent: str
    task_id: str
    attempt: int
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """``blocks``: text, ``reasoningContent`` and ``toolUse`` (with ``input`` an object; where the model's own words for
    it are no object, ``input`` is empty and ``malformed`` holds their beginning). ``output``: what the reply comes to
    as a result where that is more than its text. ``scripted``: nobody thought about it."""

    blocks: tuple[dict[str, Any], ...]
    stop_reason: StopReason
    usage: Usage = field(default_factory=Usage)
    output: Json = None
    scripted: bool = False


class Model(Protocol):
    """One provider."""

    def converse(self, request: ModelRequest) -> ModelReply:
        """Asks once. Raises ``ModelAway`` if the model is throttled or down and may answer later, and ``ModelRefuses``
        if it would refuse every repeat too. Nothing of a request or a reply is logged."""


class Models(Protocol):
    def of(self, name: str) -> tuple[str, str, Model]:
        """Returns the provider, the model's id there, and the adapter, for ``<provider>[:<id>]`` or for an empty name,
        which stands for the deployment's default. Raises ``ModelRefuses`` for a provider that this deployment doesn't
        have."""


class RunStore(Protocol):
    """The data of agents that Baton runs."""

    def profile(self, workspace: str, agent: str) -> RunProfile:
        """Returns the agent's profile; the defaults if none was saved."""

    def transcript(self, workspace: str, task_id: str, after: int = 0) -> tuple[TranscriptEntry, ...]:
        """Returns the entries of a task's transcript that have a message and a number above ``after``, in order. One
        read; two or three if more than two entries are new."""

    def entries(self, workspace: str, task_id: str, limit: int, cursor: str | None) -> Page:
        """Returns a page of the transcript, in order: at most ``limit`` entries, as many as one answer of the table
        holds."""

    def take_transcript(self, workspace: str, task_id: str, fence: int, after: int = 0) -> tuple[TranscriptEntry, ...]:
        """Returns the transcript, as ``transcript`` does, for the run with this fence. From then on no run of a lower
        fence adds to it. One write, none if it has been taken with this fence before. Raises ``StaleClaim`` if a run of
        a higher fence has taken it, or ``Busy`` if earlier runs add too much meanwhile."""

    def keep_entry(self, workspace: str, of_task: TaskEntry) -> None:
        """Adds a run's entry to the transcript that the run has taken. Repeating it changes nothing. Raises
        ``StaleClaim`` if another run has taken the transcript, and ``TooLarge``."""

    def usage(self, workspace: str, workflow_id: str, task_id: str) -> tuple[Usage, Usage]:
        """Returns the usage so far of the task, and of its workflow. One read, two for a task whose account has
        moved."""

    def accounts(self, workspace: str, workflow_id: str, task_id: str, *, is_first_run: bool = False) -> Accounts:
        """Returns the accounts of the task and of its workflow: the usage so far, and what the run's next count needs.
        ``is_first_run``: nothing was counted for the task yet, so one item less is read."""

    def count(self, workspace: str, spending: Spending, seen: Accounts) -> Accounts:
        """Counts one step of a run, for its task and for its workflow at once, and returns the accounts after it. An
        attempt that arrives late is refused. Raises ``Conflict`` if the task's account isn't as seen, or if the
        workflow has reached one of the limits: the caller reads again and looks whether the step is counted."""
