"""The interfaces between the use cases and the outside: store, queues, bus, clock, ids, tracker, secrets. Each
docstring is the contract: the limits of its parameters, the errors raised, and the state afterwards.

Every read is strongly consistent unless its docstring says otherwise. Every id given to a read belongs to the workspace
given with it: an id of another workspace is unknown. Stores raise ``Busy`` when they don't answer within their time and
retry bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from baton.domain.access.metering import Meter
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.tasks.change import Change
from baton.domain.tasks.failure import failure_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import date, datetime

    from baton.domain.access.principal import Principal
    from baton.domain.access.settings import Settings
    from baton.domain.access.token import Token
    from baton.domain.agents.agent import Agent, Roster
    from baton.domain.agents.route import Route, RoutingTable
    from baton.domain.agents.tool import Tool, Toolbox
    from baton.domain.alerts.alert import Alert, AlertState
    from baton.domain.errors import BatonError
    from baton.domain.escalations.direction import Direction
    from baton.domain.escalations.review import Review
    from baton.domain.events.bus_events import BusEvent, OutboxEvent
    from baton.domain.handoffs.handoff_message import HandoffMessage
    from baton.domain.handoffs.workflow import (
        BackgroundJob,
        Checkpoint,
        HeldClaim,
        JobKind,
        LateResult,
        RootHandoffs,
        WorkflowMember,
    )
    from baton.domain.idempotency import IdempotencyKey, SavedResponse
    from baton.domain.runs.run_profile import RunProfile
    from baton.domain.runs.transcript import Entry, Usage
    from baton.domain.tasks.task import Claim, Recovery, Task
    from baton.domain.tasks.task_items import Note
    from baton.domain.tasks.trail import Event
    from baton.domain.tracker.page_changes import Editor, PageSnapshot
    from baton.domain.tracker.page_fields import PageFields
    from baton.domain.tracker.page_sync import PageRef, PageSync
    from baton.domain.tracker.tracker_circuit import TrackerCircuit
    from baton.domain.tracker.tracker_settings import TrackerSettings
    from baton.domain.tracker.webhook import Webhook

Json = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDetails:
    """A task with its items."""

    task: Task
    body: dict[str, Any] | None = None  # read only if asked for
    output: Json = None
    completion: dict[str, Any] | None = None
    # the record of the latest failure, in the shape of the message (docs/spec/protocol.md §5)
    failure: dict[str, Any] | None = None
    resume_payload: dict[str, Any] | None = None  # the resume payload
    checkpoint: Checkpoint | None = None
    recoveries: tuple[Recovery, ...] = ()
    page_sync: PageSync | None = None

    @property
    def message(self) -> HandoffMessage:
        """The body as a handoff's message; an empty one if it wasn't read."""
        return message_from(self.body)

    @property
    def why(self) -> dict[str, Any] | None:
        """The error of the latest failure: ``{type, description, …}``."""
        return None if self.failure is None else failure_in(self.failure)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffQuery:
    """Names the items that a new handoff is decided on, as far as they are known before the read."""

    agents: frozenset[str] = frozenset()
    work_type: str | None = None
    idempotency_key: IdempotencyKey | None = None
    parent_id: str | None = None  # the task that the handoff belongs to
    workflow_id: str | None = None
    roots: tuple[str, str] | None = None  # the direction of a root handoff: source and target slug


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffInputs:
    """The items that a new handoff is decided on."""

    settings: Settings
    agents: Mapping[str, Agent]
    route: Route | None = None
    saved_response: SavedResponse | None = None
    parent: TaskDetails | None = None  # the task that the handoff belongs to, with its body
    handoffs: int | None = None  # of the workflow so far; None if they were never counted
    roots: RootHandoffs | None = None  # the direction's root handoffs of the last hour


class MarkerInputs(NamedTuple):
    """The items that a marker is decided on."""

    settings: Settings
    direction: Direction
    saved_response: SavedResponse | None
    roster: int  # the present version of the workspace's agents


@dataclass(frozen=True, slots=True)
class Skills:
    """An agent's abilities as its queue index stores them. A hint: they are checked again with the claim."""

    accepts: tuple[str, ...]
    produces: tuple[str, ...]
    max_concurrent: int | None = None


@dataclass(frozen=True, slots=True)
class ReadyTask:
    """A task that is ready for a claim."""

    task_id: str
    ready_at: datetime
    requires: tuple[str, ...] = ()  # of open work: the claimers' filter
    source: str = ""  # of open work: the claimers' filter
    priority: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list."""

    items: tuple[Any, ...]
    cursor: str | None = None  # where the next page begins; None at the end


# The most items in one transaction.
MAX_ITEMS = 100

# Writes: each says how its value is written. The value is of a type that the store knows. The errors named here are
# raised by the commit, which then writes nothing. A ``Change`` of a task is a write too.


class Versioned(Protocol):
    @property
    def version(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Save:
    """The next version of a value; version 1 is its first. Raises ``Conflict`` if it isn't the next."""

    value: Versioned


@dataclass(frozen=True, slots=True)
class Insert:
    """A new value. Raises ``taken`` if there is one under its key already."""

    value: object
    taken: Callable[[], BatonError] | None = None  # None: ``Conflict``


@dataclass(frozen=True, slots=True)
class Put:
    """A value, whatever there was. Never refused."""

    value: object


@dataclass(frozen=True, slots=True)
class Replace:
    """The next value after ``seen``. Raises ``Conflict`` if the present one isn't ``seen``."""

    value: object
    seen: object  # None: there is none yet


@dataclass(frozen=True, slots=True)
class Add:
    """Counts ``number`` more. Raises ``Conflict``, or the counter's own error, if the count would be above ``most``."""

    counter: object
    number: int
    most: int


@dataclass(frozen=True, slots=True)
class UnderClaim:
    """The claim is the task's current one. The task's version stays."""

    task_id: str
    claim_id: str
    kept_bytes: int = 0  # added to the bytes counted on the claim


@dataclass(frozen=True, slots=True)
class NotCancelled:
    """The task isn't cancelled, so that no new task begins below a cancelled one."""

    task_id: str


@dataclass(frozen=True, slots=True)
class VersionUnchanged:
    """The task is in this version."""

    task_id: str
    version: int


@dataclass(frozen=True, slots=True)
class Require:
    """Writes nothing. Raises ``Conflict`` if the fact doesn't hold, so that the use case decides again."""

    fact: UnderClaim | NotCancelled | VersionUnchanged


@dataclass(frozen=True, slots=True)
class SaveResponse:
    """Saves the response under an idempotency key. Raises ``KeyTaken`` unless the key is new, or its saved response is
    expired at the time of ``idempotency_key``."""

    idempotency_key: IdempotencyKey
    answer: dict[str, Any]
    forget_at: datetime | None = None  # may be forgotten from then on; None: as ``idempotency_key`` says


@dataclass(frozen=True, slots=True)
class OpenEscalation:
    """A new escalation in a direction. Raises ``Conflict`` if the direction isn't as read."""

    direction: Direction  # as read
    task_id: str
    at: datetime
    forget: tuple[str, ...] = ()  # the entries that are outside of every window
    ends_review: bool = False  # also ends the direction's open review


@dataclass(frozen=True, slots=True)
class CloseEscalation:
    """The end of an escalation. Never refused; may be written any number of times."""

    source: str
    target: str
    task_id: str


@dataclass(frozen=True, slots=True)
class OpenReview:
    """The first refusal in a direction opens a review. Raises ``Conflict`` if the direction isn't as read."""

    direction: Direction  # as read
    review_id: str


@dataclass(frozen=True, slots=True)
class MakePageDue:
    """Makes a task's page due for synchronisation. Never refused, also while a sender holds it."""

    task_id: str
    at: datetime
    # The task's event that the page has to show. None: somebody changed the page, and it has to be looked at.
    shows: int | None = None


@dataclass(frozen=True, slots=True)
class AddUsage:
    """Adds usage to a task and to its workflow. Raises ``Conflict`` if the workflow's calls or tokens so far reach a
    limit."""

    workflow_id: str
    task_id: str
    usage: Usage
    most_calls: int | None = None  # limit of the workflow; None: no limit
    most_tokens: int | None = None  # limit of the workflow; None: no limit


@dataclass(frozen=True, slots=True)
class FinishJob:
    """Deletes a finished background job. A job that isn't the one that was read stays. Never refused. Runs by itself
    after the rest of the write: if it is lost, the job stays due and runs once more."""

    job: BackgroundJob


Write = (
    Change
    | Save
    | Insert
    | Put
    | Replace
    | Add
    | Require
    | SaveResponse
    | OpenEscalation
    | OpenReview
    | CloseEscalation
    | MakePageDue
    | AddUsage
    | FinishJob
)


class TaskStore(Protocol):
    """Tasks, their trails, and everything that is written with them."""

    def load(
        self, workspace: str, task_id: str, idempotency_key: IdempotencyKey | None = None
    ) -> tuple[Task, SavedResponse | None]:
        """Returns the task, and the response saved under ``idempotency_key``. One read. Raises ``Unknown``."""

    def read(self, workspace: str, task_id: str, *, with_body: bool = False) -> TaskDetails:
        """Returns the task with its items, as of one moment per item. One read. Raises ``Unknown``."""

    def read_for_claim(self, workspace: str, task_id: str, agent: str) -> tuple[TaskDetails, Agent | None]:
        """Returns the task with every item that its claimer needs, and the agent's present state. One read, and one
        more for a task that was recovered more often than it has attempts. Raises ``Unknown``."""

    def read_for_dispatch(self, workspace: str, task_id: str, agent: str) -> tuple[Task | None, Agent | None]:
        """Returns the task and the agent of a dispatch notice. One read."""

    def commit(self, workspace: str, *writes: Write) -> None:
        """Commits all writes or none, in one transaction of at most ``MAX_ITEMS`` items, each written once. Raises
        ``ValueError`` beyond that, and ``TooLarge``, which names the field, for an item larger than the store allows.
        A ``Change`` of a task raises ``Conflict`` if the task's version isn't that of ``change.before`` (or if the id
        exists, for a new task). Each other write adds its own conditions. A claim that a change begins is listed by
        ``held`` for its agent until its end. Raises ``SlotTaken`` if another claim holds the claim's ``slot``. A
        success is applied exactly once, repeated and unclear attempts included."""

    def renew(
        self, workspace: str, task_id: str, claim_id: str, by: Principal, now: datetime, lease_seconds: int | None
    ) -> Claim:
        """Extends the claim's lease by the rule of ``Claim.renewed``, in one write. The task's version rises if the
        claim changed (a repeat within its millisecond may raise it too). Raises ``StaleClaim`` if the claim isn't the
        current one of ``by``, and ``Unknown``."""

    def ended_claim(self, workspace: str, task_id: str, claim_id: str) -> SavedResponse | Claim | None:
        """Returns the ``EndedClaim``'s response, or the claim of ``ClaimEndedByOther``."""

    def held(self, workspace: str, agent: str) -> tuple[HeldClaim, ...]:
        """Returns the agent's live claims, of every principal."""

    def late_results(self, workspace: str, task_id: str, limit: int = 100, after: int = 0) -> tuple[LateResult, ...]:
        """Returns the late results of claims with a fence above ``after``, by fence."""

    def retry_of(self, workspace: str, task_id: str) -> str | None:
        """Returns the id of the latest retry of the task."""

    def saved_response(self, idempotency_key: IdempotencyKey) -> SavedResponse | None:
        """Returns the response saved by ``SaveResponse``."""

    def ready(self, workspace: str, agent: str, now: datetime) -> tuple[Skills | None, Iterator[ReadyTask]]:
        """Returns the agent's abilities (None if they aren't known) and its ready tasks, best first: by priority, then
        by ready time. Lags: every task must be checked by the condition of the write. One read for about 25 tasks."""

    def open_work(self, workspace: str, now: datetime) -> Iterator[ReadyTask]:
        """Returns ready open work, in the same way. The caller checks who may claim it."""

    def needs(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Returns tasks that wait for a human's approval, the most urgent and oldest first. The index lags, the tasks
        don't: tasks that have moved on since are left out."""

    def due(self, now: datetime) -> Iterator[tuple[str, str, JobKind | None]]:
        """Yields ``(workspace, task_id, None)`` for tasks whose ``wake_at`` has passed, or with the kind of the task's
        background job that is due: claims first, then jobs, the longest due first within a shard. Lags. Reads page by
        page, and only items that are due."""

    def job(self, workspace: str, kind: JobKind, task_id: str) -> BackgroundJob | None:
        """Returns the background job of that kind that is due for the task, if any."""

    def events(self, workspace: str, task_id: str, after: int, limit: int) -> tuple[Event, ...]:
        """Returns the events with a number above ``after``, in order."""

    def notes(self, workspace: str, about: str, limit: int, cursor: str | None = None) -> tuple[Note, ...]:
        """Returns the newest notes about a task or review, newest first. ``cursor``: any note id; the notes before
        it."""

    def tasks(self, workspace: str, task_ids: Sequence[str]) -> dict[str, Task]:
        """Returns the tasks that exist, by id. One read per hundred."""

    def talk(self, workspace: str, task_ids: Sequence[str]) -> tuple[dict[str, Task], dict[str, str]]:
        """Returns the tasks that exist, by id, and the next task of each conversation that was continued. One read
        per fifty, as of one moment per item."""

    def outcomes(self, workspace: str, task_ids: Sequence[str]) -> dict[str, TaskDetails]:
        """Returns tasks with output, completion and failure, without their other items. One read per about thirty."""

    def bodies(self, workspace: str, task_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Returns the tasks' bodies, by task id."""

    def workflow(self, workspace: str, workflow_id: str) -> tuple[WorkflowMember, ...]:
        """Returns every task of a workflow, in the order of their ids."""

    def checkpoints(self, workspace: str, workflow_id: str, limit: int, cursor: str | None) -> Page:
        """Returns the workflow's checkpoints, newest first. ``cursor``: any checkpoint id; the
        checkpoints before it."""

    def inbox(self, workspace: str, agent: str, limit: int, cursor: str | None) -> Page:
        """Returns the items that the agent hasn't acknowledged, oldest first."""

    def acknowledge(self, workspace: str, agent: str, ids: Sequence[str]) -> None:
        """Removes items from the inbox; unknown ids are ignored. At most 100."""

    def tasks_of_agent(self, workspace: str, agent: str, limit: int, cursor: str | None) -> Page:
        """Returns tasks whose target is the agent, newest first."""

    def tasks_of_day(self, workspace: str, day: date, limit: int, cursor: str | None) -> Page:
        """Returns tasks created on a day (UTC), newest first."""


class HandoffStore(Protocol):
    def handoff_inputs(self, workspace: str, wanted: HandoffQuery) -> HandoffInputs:
        """Returns the items that ``wanted`` names, in one read, without those that don't exist. A direction without
        root handoffs gets an empty count, at version 0."""


class MarkerStore(Protocol):
    def marker_inputs(
        self, workspace: str, pair: tuple[str, str] | None, idempotency_key: IdempotencyKey | None
    ) -> MarkerInputs:
        """Returns the items that a marker is decided on, in one read. ``pair``: source and target slug; None: the
        direction in the answer means nothing."""

    def review(self, workspace: str, review_id: str) -> Review:
        """Returns the review. Raises ``Unknown``."""

    def reviews(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Returns manual reviews, newest first."""

    def review_request(self, workspace: str, review_id: str) -> dict[str, Any] | None:
        """Returns the ``ReviewRequest``'s content."""


class AgentStore(Protocol):
    def roster(self, workspace: str) -> Roster:
        """Returns the workspace's present agents. One small read if this process has read them before and none has
        changed since, else two."""

    def known_roster(self, workspace: str) -> Roster:
        """Returns the agents as this process last read them, without a read; the first time like ``roster``. A decision
        on them holds only if the present version, read afterwards, is still the same."""

    def agent(self, workspace: str, slug: str) -> Agent | None:
        """Returns one agent."""

    def dispatch_inputs(self, workspace: str, slug: str) -> tuple[Agent | None, Settings]:
        """Returns the agent and the workspace's settings, in one read."""

    def save_agent(self, agent: Agent, roster: Roster, profile: RunProfile | None = None) -> None:
        """Saves the agent in its next version, and its profile if it changed. Raises ``Conflict`` if any agent changed
        since ``roster`` was read."""

    def mark_contact(self, workspace: str, agent: str, now: datetime) -> None:
        """Saves the time of the agent's last contact, unless the saved one is less than a minute old. At most one
        write, tried once; none if this process has tried within the minute. May raise any error of a store: callers
        must be able to go on without it (``steps/agents/mark_contact.py``)."""

    def last_contact(self, workspace: str, agent: str) -> datetime | None:
        """Returns the saved time; None if there is none."""

    def last_contacts(self, workspace: str) -> dict[str, datetime]:
        """Returns the saved times of all agents of the workspace, by slug, in one read."""


class AlertStore(Protocol):
    def alert(self, workspace: str, alert_id: str) -> Alert:
        """Returns the alert. Raises ``Unknown``."""

    def alerts(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Returns all alerts, newest first."""

    def alerts_of_task(self, workspace: str, task_id: str, limit: int, cursor: str | None) -> Page:
        """Returns the alerts about a task, newest first."""

    def unresolved_alerts(self, workspace: str, state: AlertState, limit: int, cursor: str | None) -> Page:
        """Returns open or acknowledged alerts, newest first, and reads no others. The index lags, the alerts don't:
        alerts that have moved on since are left out."""


class RouteStore(Protocol):
    def route(self, workspace: str, work_type: str) -> Route | None:
        """Returns the route; None if it doesn't exist or was deleted."""

    def routes(self, workspace: str) -> RoutingTable:
        """Returns all routes of the workspace, in one read."""

    def save_route(self, route: Route, table: RoutingTable) -> None:
        """Saves the route in its next version; every version is kept for good. Raises ``Conflict`` if any route changed
        since ``table`` was read."""


class ToolStore(Protocol):
    def toolbox(self, workspace: str) -> Toolbox:
        """Returns all tools of the workspace, in one read."""

    def listed_tools(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Returns tools by name. ``cursor``: any tool name; the tools after it. Reads at most 1 MB: a page may be
        shorter than ``limit`` and still have a cursor."""

    def tools(self, workspace: str, names: Collection[str]) -> dict[str, Tool]:
        """Returns the tools that exist, by name, in one read."""

    def save_tool(self, tool: Tool, toolbox: Toolbox) -> None:
        """Saves the tool in its next version. Raises ``Conflict`` if any tool changed since ``toolbox`` was read."""


class RunStore(Protocol):
    """The data of agents that Baton runs."""

    def profile(self, workspace: str, agent: str) -> RunProfile:
        """Returns the agent's profile; the defaults if none was saved."""

    def transcript(self, workspace: str, task_id: str, after: int = 0) -> tuple[Entry, ...]:
        """Returns the entries of a task's transcript that have a message and a number above ``after``, in order."""

    def usage(self, workspace: str, workflow_id: str, task_id: str) -> tuple[Usage, Usage]:
        """Returns the usage so far of the task, and of its workflow. One read."""


class SettingsStore(Protocol):
    def settings(self, workspace: str) -> Settings:
        """Returns the settings; the defaults, at version 0, if none were saved."""

    def save_settings(self, workspace: str, settings: Settings, by: Principal, at: datetime) -> None:
        """Saves the settings in their next version. Raises ``Conflict`` if it isn't the next."""


@dataclass(frozen=True, slots=True)
class PollPermit:
    """A principal's permit for one long poll."""

    workspace: str
    by: str  # the principal's key
    slot: int
    id: str  # the holder: the slot may have been given to another poll since


class UseStore(Protocol):
    """A principal's usage across all processes: requests per minute, and long polls at the same time."""

    def count_use(self, by: Principal, minute: int, requests: int, size: int) -> tuple[int, int]:
        """Adds requests and bytes to the principal's count of a minute (numbered since 1970), and returns both counts.
        At most one write, tried once. May raise any error of a store, and may have counted all the same. The count is
        deleted some time after the minute."""

    def begin_poll(self, by: Principal, permit_id: str, now: datetime, until: datetime) -> PollPermit:
        """Returns one of the principal's ``MAX_POLLS`` permits, held until ``until`` or ``end_poll``: never more of
        them at once. One write, or a few if other polls of the principal wait. Raises ``TooManyPolls`` with the time
        when the first permit becomes free."""

    def end_poll(self, permit: PollPermit) -> None:
        """Frees the permit. Does nothing if another poll holds the slot by now. One write."""


class TokenStore(Protocol):
    def token(self, token_id: str) -> Token | None:
        """Returns the token, found by its id alone: the caller's workspace isn't known before."""

    def add_token(self, token: Token, idempotency_key: IdempotencyKey | None = None) -> None:
        """Saves a new token. Raises ``KeyTaken``."""

    def save_revocation(self, token: Token) -> None:
        """Saves ``revoked_at`` and ``revoked_by``. The first revocation stands."""

    def tokens(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Returns the workspace's tokens, newest first."""

    def saved_response(self, idempotency_key: IdempotencyKey) -> SavedResponse | None:
        """Returns the response saved with a token."""


class TrackerStore(Protocol):
    """The page synchronisations, and the tracker's state."""

    def page_sync(self, workspace: str, task_id: str) -> PageSync | None:
        """Returns a task's page synchronisation."""

    def page_syncs(self, workspace: str, task_ids: Sequence[str]) -> dict[str, PageSync]:
        """Returns the page synchronisations of the tasks that have one, by task id. At most 100, in one read."""

    def page_syncs_due(self, workspace: str, now: datetime) -> Iterator[str]:
        """Yields tasks whose page may have to be synchronised, the longest due first. Lags, and may name a task whose
        synchronisation is held."""

    def count_waiting_page_syncs(self, workspace: str, limit: int) -> int:
        """Returns how many page synchronisations are waiting, counted up to ``limit``. Lags."""

    def dead_page_syncs(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Returns page synchronisations that were given up. The index lags, the items don't."""

    def page_holders(self, workspace: str, page_ids: Sequence[str]) -> dict[str, str]:
        """Returns the task id by page id, for the pages that belong to a task. At most 100."""

    def circuit(self, workspace: str) -> TrackerCircuit:
        """Returns the tracker circuit; one that allows calls, at version 0, if none was saved."""

    def tracker_circuits_due(self, now: datetime) -> Iterator[str]:
        """Yields workspaces whose tracker is due for a check. Lags."""

    def webhook(self, workspace: str) -> Webhook | None:
        """Returns the workspace's webhook, also if it was taken down."""


@dataclass(frozen=True, slots=True)
class PendingEvent:
    """A pending event: an entry of a trail that the bus hasn't accepted."""

    workspace: str
    task_id: str
    seq: int
    at: datetime  # pending since then
    outbox_event: OutboxEvent | None  # None if it can't be read


class EventStore(Protocol):
    """The outbox of events. Every entry of every trail is in it from its own transaction until ``mark_sent``."""

    def pending_events(self, until: datetime) -> Iterator[Sequence[PendingEvent]]:
        """Yields the pending events, page by page: those pending since ``until`` or earlier that aren't put off beyond
        it, in order within a task. The index lags, but an event that was marked before its page was read is left out.
        Reads only items that are due."""

    def heads(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Task]:
        """Returns the tasks, by workspace and id. At most 100, in one read. Tasks that can't be read are left out."""

    def mark_sent(self, workspace: str, task_id: str, seq: int) -> None:
        """Marks an event as accepted by the bus. May be repeated any number of times. Raises ``Busy``."""

    def put_off(self, workspace: str, task_id: str, seq: int, until: datetime) -> None:
        """Hides an event from every ``pending_events`` before ``until``. Does nothing if the event was marked
        meanwhile. Raises ``Busy``."""


class Store(
    TaskStore,
    HandoffStore,
    MarkerStore,
    AgentStore,
    AlertStore,
    RouteStore,
    ToolStore,
    RunStore,
    SettingsStore,
    UseStore,
    TokenStore,
    TrackerStore,
    EventStore,
    Protocol,
):
    """All stores: one table."""


class DispatchQueue(Protocol):
    def notify(self, workspace: str, agent: str, task_id: str, delay_seconds: int = 0) -> None:
        """Sends a dispatch notice to process-task: the agent has work. Never raises. A notice may be lost, doubled,
        late or out of order; the sweeper sends it again (invariant 12)."""


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The bus's answer. An id in neither set: the bus was out of reach, and may have accepted the event all the
    same."""

    accepted: frozenset[str] = frozenset()
    refused: Mapping[str, str] = field(default_factory=dict)  # id → the bus's error


class Bus(Protocol):
    def publish(self, notices: Sequence[BusEvent]) -> PublishResult:
        """Publishes events, in this order as far as the bus keeps one. Never raises. Each event is accepted or refused
        by itself."""


class DeadLetters(Protocol):
    def give_up(self, body: str, reason: str) -> None:
        """Moves a message that can never be handled to the queue that alarms humans. Raises ``Busy``."""


class Clock(Protocol):
    def now(self) -> datetime:
        """Returns the time: aware, UTC, whole milliseconds. May be wrong by minutes: versions and fences decide, not
        clocks."""

    def sleep(self, seconds: float) -> None:
        """Only for jittered retries and long polls."""


class Ids(Protocol):
    def new(self, prefix: str, at: datetime) -> str:
        """Returns a new sortable id (``deps.domain.ids``)."""

    def secret(self) -> str:
        """Returns 64 hexadecimal characters from the operating system's random source."""


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A page as it was written."""

    page: PageRef
    status: str | None  # the page's present status; None if it has none
    without: tuple[str, ...] = ()  # the parts that were left out, in words, with what to do about each
    is_denied: bool = False  # some parts were left out because they aren't shared with us


@dataclass(frozen=True, slots=True)
class TrackerProblem:
    """A problem of a tracker's configuration."""

    about: str  # the property, database or token
    severity: str  # ``error``: tasks can't be mirrored; ``warning``: a part of them is left out
    problem: str
    what_to_do: str


class Tracker(Protocol):
    """One workspace's tracker, for one session: it sends no request after its time budget. Every call may raise
    ``TrackerAway`` (``unclear`` if the request may have taken effect or still may), ``TrackerDenies``, ``PageRefused``
    and ``PageGone``. Unknown or missing properties are no errors: they are left out, and ``WrittenPage`` lists them."""

    def create(self, page_fields: PageFields) -> WrittenPage:
        """Creates a new page, also if the task has one already. Never repeated by itself once the tracker may have
        received it."""

    def find(self, page_fields: PageFields) -> tuple[PageRef, ...]:
        """Returns pages that may have been created for the task, the likeliest first. They may be other tasks'
        pages."""

    def update(self, page_id: str, page_fields: PageFields) -> WrittenPage:
        """Writes the task's state to the page. Idempotent."""

    def comment(self, page_id: str, text: str, *, unless_there: bool) -> None:
        """Adds a comment. ``unless_there``: checks first whether the page has it already."""

    def tasks_named(self, page_id: str) -> frozenset[str]:
        """Returns the ids of the tasks that the page's body names."""

    def reach(self) -> None:
        """Raises ``TrackerTrouble`` if the tracker can't be used for any page."""

    def look(self, page_id: str) -> PageSnapshot:
        """Returns the page's present state."""

    def who(self, user_id: str) -> Editor:
        """Returns the user. An unknown user is not a person."""

    def changed_since(self, since: datetime) -> Iterator[PageSnapshot]:
        """Yields pages of the database that were edited since, the longest ago first, without those in its trash."""

    def created_since(self, since: datetime, title: str) -> Iterator[PageSnapshot]:
        """Yields pages of the database that were created since and whose title begins with ``title``, the oldest
        first."""

    def problems(self) -> tuple[TrackerProblem, ...]:
        """Returns every problem of the database as it is configured. Never raises: a tracker that doesn't answer is a
        problem too."""


class Trackers(Protocol):
    @property
    def name(self) -> str:
        """The tracker's name in texts for people."""

    def of(self, workspace: str, settings: TrackerSettings, budget_seconds: float) -> Tracker:
        """Returns the workspace's tracker. Sends no request yet, and never raises."""


class TrackerQueue(Protocol):
    def notify(self, workspace: str, task_id: str | None = None, delay_seconds: int = 0) -> None:
        """Sends a dispatch notice to sync-tracker: a page is to be written or looked at, this task's first. Never
        raises. A notice may be lost, doubled, late or out of order; the sweeper sends it again."""


class CallbackKey(Protocol):
    def get(self) -> bytes:
        """Returns the deployment's secret, from which the addresses of callbacks are derived. Raises ``Busy``."""


class Secrets(Protocol):
    """The trackers' tokens, one per workspace."""

    def put(self, workspace: str, token: str) -> None:
        """Replaces the present token. Raises ``Busy``."""

    def get(self, workspace: str, *, afresh: bool = False) -> str | None:
        """Returns the token, which may be a few minutes old unless ``afresh``. Raises ``Busy``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """All ports, wired once per process by ``bootstrap``."""

    store: Store
    dispatch_queue: DispatchQueue
    clock: Clock
    ids: Ids
    trackers: Trackers
    tracker_queue: TrackerQueue
    secrets: Secrets
    callback_key: CallbackKey
    public_url: str
    log: Callable[..., None] = field(repr=False)
    meter: Meter = field(default_factory=Meter, repr=False)

    def task_url(self, task_id: str) -> str:
        return f"{self.public_url}/tasks/{task_id}"
