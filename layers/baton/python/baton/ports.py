"""What Baton needs from the outside. Each docstring is the contract: what may be taken, what is raised, what holds
after.

Every reading is strongly consistent unless it says otherwise. Every id given to a reading belongs to the workspace
given with it: another workspace's is unknown. Stores raise ``Busy`` when they don't answer within their bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from baton.domain.failure import failure_in
from baton.domain.metering import Meter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import date, datetime

    from baton.domain.agent import Agent, Roster
    from baton.domain.alert import Alert, AlertState
    from baton.domain.change import Change
    from baton.domain.direction import Direction
    from baton.domain.events import Event
    from baton.domain.gate import Gate
    from baton.domain.idempotency import Once, Remembered
    from baton.domain.mirror import Mirror, PageRef
    from baton.domain.page_news import Editor, Seen
    from baton.domain.principal import Principal
    from baton.domain.published import Notice, Telling
    from baton.domain.review import Review
    from baton.domain.route import Route, RoutingTable
    from baton.domain.run_profile import RunProfile
    from baton.domain.settings import Settings
    from baton.domain.sheet import Sheet
    from baton.domain.task import Claim, Recovery, Task
    from baton.domain.token import Token
    from baton.domain.tool import Tool, Toolbox
    from baton.domain.tracker import TrackerSettings
    from baton.domain.transcript import Entry, Usage
    from baton.domain.webhook import Webhook
    from baton.domain.workflow import (
        Checkpoint,
        DueErrand,
        Errand,
        Held,
        InboxItem,
        LateResult,
        Member,
        Roots,
    )

Json = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Dossier:
    """A task and what lies beside it. ``body`` is read only where it is asked for. ``failure``: the record of the
    latest one, in the shape of the message (docs/spec/protocol.md §5)."""

    task: Task
    body: dict[str, Any] | None = None
    output: Json = None
    completion: dict[str, Any] | None = None
    failure: dict[str, Any] | None = None
    brought: dict[str, Any] | None = None
    checkpoint: Checkpoint | None = None
    recoveries: tuple[Recovery, ...] = ()
    mirror: Mirror | None = None

    @property
    def why(self) -> dict[str, Any] | None:
        """What went wrong: ``{type, description, …}``."""
        return None if self.failure is None else failure_in(self.failure)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a handoff is decided on, as far as it is known before the reading."""

    agents: frozenset[str] = frozenset()
    work_type: str | None = None
    once: Once | None = None
    parent_id: str | None = None
    workflow_id: str | None = None
    roots: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """``handoffs``: how many the workflow has had, None where nobody has counted. ``parent``: with its body."""

    settings: Settings
    agents: Mapping[str, Agent]
    route: Route | None = None
    remembered: Remembered | None = None
    parent: Dossier | None = None
    handoffs: int | None = None
    roots: Roots | None = None


class MarkerFacts(NamedTuple):
    """What a marker is decided on. ``roster``: the version that the workspace's agents have now."""

    settings: Settings
    direction: Direction
    remembered: Remembered | None
    roster: int


@dataclass(frozen=True, slots=True)
class Skills:
    """What a claimer can do, as its queue tells it: a hint, checked again with the claim."""

    accepts: tuple[str, ...]
    produces: tuple[str, ...]
    max_concurrent: int | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """``requires``, ``source``: of open work, for claimers to choose by."""

    task_id: str
    ready_at: datetime
    requires: tuple[str, ...] = ()
    source: str = ""
    priority: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Page:
    """``cursor``: where the next page begins, None at the end."""

    items: tuple[Any, ...]
    cursor: str | None = None


# What may be written in the same transaction as a change of a task, or by itself.

# In one transaction, whatever it carries.
MAX_ITEMS = 100


@dataclass(frozen=True, slots=True)
class Body:
    """The handoff's payload, with a new task: never rewritten."""

    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Output:
    """``completion``: the message that came with it, if one did."""

    content: Json
    completion: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Remember:
    """Holds only if the key is new, or its answer over by the time of ``once``, else ``KeyTaken``. ``forget_at``: may
    be forgotten from then on; None leaves it to ``once``."""

    once: Once
    answer: dict[str, Any]
    forget_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class EndedClaim:
    """The answer to the verb that ended a claim, for its exact repeat (invariant 3)."""

    claim_id: str
    answer: Remembered


@dataclass(frozen=True, slots=True)
class Opened:
    """A new escalation in a direction, as ``direction`` was read: else ``Conflict``. ``forget`` names entries outside
    of every window. It also ends the direction's open review if ``ends_review``."""

    direction: Direction
    task_id: str
    at: datetime
    forget: tuple[str, ...] = ()
    ends_review: bool = False


@dataclass(frozen=True, slots=True)
class Closed:
    """An escalation's end. Never refused: it may be told any number of times."""

    source: str
    target: str
    task_id: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something said about a task or a manual review (``about``), beside it: it changes neither."""

    about: str
    id: str
    at: datetime
    by: str
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ReviewOpened:
    """A first refusal: as ``direction`` was read, else ``Conflict``."""

    review: Review
    direction: Direction


@dataclass(frozen=True, slots=True)
class ReviewChanged:
    """``review`` in its next version: else ``Conflict``."""

    review: Review


@dataclass(frozen=True, slots=True)
class AlertRaised:
    """A new alert. Never refused."""

    alert: Alert


@dataclass(frozen=True, slots=True)
class AlertCounted:
    """Another alert of a caller (its key) in an hour: holds only while there are fewer than ``MAX_PER_HOUR``, else
    ``TooManyAlerts``."""

    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class AlertSaved:
    """``alert`` in its next version: else ``Conflict``."""

    alert: Alert


@dataclass(frozen=True, slots=True)
class MirrorOpened:
    """With a new task: its row in the outbox to the tracker."""

    mirror: Mirror


@dataclass(frozen=True, slots=True)
class MirrorBehind:
    """With a change of a task that has a row: the page is to show it. Never refused, whoever holds the row."""

    at: datetime


@dataclass(frozen=True, slots=True)
class PageReported:
    """Somebody says that the page of ``task_id`` changed: it is to be looked at. Never refused."""

    task_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class MirrorSaved:
    """``mirror`` in its next version: else ``Conflict``."""

    mirror: Mirror


@dataclass(frozen=True, slots=True)
class PageTaken:
    """The page is this task's, and no other's: else ``PageHeld``."""

    page_id: str
    task_id: str


@dataclass(frozen=True, slots=True)
class GateSaved:
    """``gate`` in its next version: else ``Conflict``."""

    gate: Gate


@dataclass(frozen=True, slots=True)
class WebhookSaved:
    """``webhook`` in its next version: else ``Conflict``."""

    webhook: Webhook


@dataclass(frozen=True, slots=True)
class Also:
    """Another task's change in the same write, with what is written along with it; it holds as ``commit`` says."""

    change: Change
    extras: tuple[Extra, ...] = ()


@dataclass(frozen=True, slots=True)
class UnderClaim:
    """Holds only while the claim is the task's current one, else ``Conflict``: what was decided under it is decided
    again. ``kept_bytes``: so many more are counted on it; the task's version stays."""

    task_id: str
    claim_id: str
    kept_bytes: int = 0


@dataclass(frozen=True, slots=True)
class NotCancelled:
    """Holds only while the task isn't cancelled, else ``Conflict``: what would hang below it doesn't begin any more."""

    task_id: str


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Holds only while the task is in this version, else ``Conflict``: what was decided on it is decided again."""

    task_id: str
    version: int


@dataclass(frozen=True, slots=True)
class HandoffsCounted:
    """``number`` more of a workflow. ``start``: how many it has had if nobody has counted yet. Holds only if there are
    at most ``most`` then, else ``Conflict``. ``is_first``: holds only if nobody has counted yet, so that of all who
    begin a workflow of one name exactly one does."""

    workflow_id: str
    number: int
    start: int
    most: int
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class RootsCounted:
    """``roots`` in its next version: else ``Conflict``."""

    roots: Roots


@dataclass(frozen=True, slots=True)
class CheckpointKept:
    """Listed for good, and the task's latest one."""

    checkpoint: Checkpoint


@dataclass(frozen=True, slots=True)
class InboxPosted:
    item: InboxItem


@dataclass(frozen=True, slots=True)
class ErrandDue:
    """Replaces one of its kind for the same task. Never refused."""

    errand: DueErrand


@dataclass(frozen=True, slots=True)
class ErrandDone:
    """Takes it away if it is still the one that was read, else leaves it. Never refused. Done by itself after the rest
    of the write: should that be lost, the errand stays due and is run once more."""

    errand: DueErrand


@dataclass(frozen=True, slots=True)
class ClaimCut:
    """The claim of the changed task was ended by somebody else; so that a late word of its holder can be told from a
    stranger's."""

    claim: Claim


@dataclass(frozen=True, slots=True)
class LateKept:
    """The first late word under a claim stands: ``KeyTaken`` for another."""

    task_id: str
    claim_id: str
    result: LateResult


@dataclass(frozen=True, slots=True)
class RetryOpened:
    """``task_id`` (what was tried first, where retries are retried) is retried by ``retry_id``. Holds only if its
    latest retry is ``seen`` (None: none yet), else ``Conflict``."""

    task_id: str
    retry_id: str
    seen: str | None


@dataclass(frozen=True, slots=True)
class Followed:
    """The conversation that ``task_id`` held goes on with another task. Holds only if its next one is ``seen`` (None:
    none yet), else ``Conflict``."""

    task_id: str
    next_id: str
    seen: str | None = None


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """The whole of what a manual review would let through, beside it."""

    review_id: str
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class EntryKept:
    """Of a task's transcript: holds only if there is none with its number yet, else ``Conflict``."""

    task_id: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Spent:
    """``usage`` more of a task and of its workflow. ``most_calls``, ``most_tokens``: holds only if the workflow has had
    fewer calls and tokens before, else ``Conflict``; None for no limit."""

    workflow_id: str
    task_id: str
    usage: Usage
    most_calls: int | None = None
    most_tokens: int | None = None


Extra = (
    Body
    | EntryKept
    | Spent
    | Output
    | Remember
    | EndedClaim
    | Opened
    | Closed
    | Note
    | ReviewOpened
    | ReviewChanged
    | AlertRaised
    | AlertCounted
    | AlertSaved
    | MirrorOpened
    | MirrorBehind
    | PageReported
    | MirrorSaved
    | PageTaken
    | GateSaved
    | WebhookSaved
    | Also
    | UnderClaim
    | NotCancelled
    | Unchanged
    | HandoffsCounted
    | RootsCounted
    | CheckpointKept
    | InboxPosted
    | ErrandDue
    | ErrandDone
    | ClaimCut
    | LateKept
    | RetryOpened
    | Followed
    | ReviewRequest
)


class TaskStore(Protocol):
    """Tasks, their trails and whatever is written along with them."""

    def load(self, workspace: str, task_id: str, once: Once | None = None) -> tuple[Task, Remembered | None]:
        """The task, and the answer that ``once`` was given before. One reading. Raises ``Unknown``."""

    def read(self, workspace: str, task_id: str, *, with_body: bool = False) -> Dossier:
        """The task with everything beside it, as of one moment per item. One reading. Raises ``Unknown``."""

    def read_for_claim(self, workspace: str, task_id: str, agent: str) -> tuple[Dossier, Agent | None]:
        """The task with all that its claimer needs, and the agent as it is now. One reading, and one more for a task
        that came back oftener than it has attempts. Raises ``Unknown``."""

    def read_bell(self, workspace: str, task_id: str, agent: str) -> tuple[Task | None, Agent | None]:
        """The task and the agent that a bell names, in one reading."""

    def commit(self, workspace: str, change: Change | None, extras: Sequence[Extra] = ()) -> None:
        """All of it or nothing, in one write of at most ``MAX_ITEMS``, each once: else ``ValueError``. What makes an
        item larger than the store takes is ``TooLarge``, named by its field. With a change,
        holds only if the task's version is still that of ``change.before`` (or if it is new), else ``Conflict``; the
        extras say what else they hold on. A claim that the change begins is ``held`` by its agent, and no more so with
        its end; taking a ``slot`` that another claim holds is ``SlotTaken``. After a success, repeated or unclear
        attempts included, there is exactly one effect."""

    def renew(
        self, workspace: str, task_id: str, claim_id: str, by: Principal, now: datetime, lease_seconds: int | None
    ) -> Claim:
        """Extends the claim as ``Claim.renewed`` says and raises the task's version if that changed the claim (a repeat
        within its millisecond may raise it too), in one write. Raises ``StaleClaim`` if it isn't the current one of
        ``by``. Raises ``Unknown``."""

    def ended_claim(self, workspace: str, task_id: str, claim_id: str) -> Remembered | Claim | None:
        """The answer kept by ``EndedClaim``, or the claim kept by ``ClaimCut``."""

    def held(self, workspace: str, agent: str) -> tuple[Held, ...]:
        """The agent's live claims, by whoever made them."""

    def late_results(self, workspace: str, task_id: str, limit: int = 100, after: int = 0) -> tuple[LateResult, ...]:
        """What was kept by ``LateKept`` of claims with a fence above ``after``, by that fence."""

    def retry_of(self, workspace: str, task_id: str) -> str | None:
        """The latest task that was opened as a retry of this one."""

    def remembered(self, once: Once) -> Remembered | None:
        """The answer kept by ``Remember``."""

    def ready(self, workspace: str, agent: str, now: datetime) -> tuple[Skills | None, Iterator[Ready]]:
        """What the agent can do (None if it isn't known), and the tasks for it, best first: priority, then ready time.
        Lags; what it names must be checked by the condition of the write. One reading for about 25 of them."""

    def open_work(self, workspace: str, now: datetime) -> Iterator[Ready]:
        """The same for open work: who may take it is for the caller to see."""

    def needs(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Tasks that wait for a human's approval, most urgent and oldest first. Finding them lags, what is shown of
        them doesn't: those that have moved on meanwhile are left out."""

    def due(self, now: datetime) -> Iterator[tuple[str, str, Errand | None]]:
        """``(workspace, task_id, None)`` of tasks whose ``wake_at`` has come, or with the errand that is due about the
        task: claims first, then errands, the longest due first within a shard. Lags. Reads page by page, and nothing
        that isn't due."""

    def errand(self, workspace: str, kind: Errand, task_id: str) -> DueErrand | None:
        """The one that is due, if any."""

    def events(self, workspace: str, task_id: str, after: int, limit: int) -> tuple[Event, ...]:
        """The entries after ``after``, in order."""

    def notes(self, workspace: str, about: str, limit: int, cursor: str | None = None) -> tuple[Note, ...]:
        """The newest notes about a task or review, newest first. ``cursor``: a note's id, any; those before it."""

    def tasks(self, workspace: str, task_ids: Sequence[str]) -> dict[str, Task]:
        """Those that exist, by id; one reading for a hundred."""

    def talk(self, workspace: str, task_ids: Sequence[str]) -> tuple[dict[str, Task], dict[str, str]]:
        """The same, and which task each was ``Followed`` by; one reading for fifty, as of one moment per item."""

    def papers(self, workspace: str, task_ids: Sequence[str]) -> dict[str, Dossier]:
        """Tasks with output, completion and failure, but nothing else; one reading for about thirty."""

    def bodies(self, workspace: str, task_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Their bodies, by task."""

    def workflow(self, workspace: str, workflow_id: str) -> tuple[Member, ...]:
        """Every task of a workflow, in the order of their ids."""

    def checkpoints(self, workspace: str, workflow_id: str, limit: int, cursor: str | None) -> Page:
        """Those kept by ``CheckpointKept``, newest first. ``cursor``: a checkpoint's id, any; those before it."""

    def inbox(self, workspace: str, agent: str, limit: int, cursor: str | None) -> Page:
        """What the agent hasn't acknowledged, oldest first."""

    def acknowledge(self, workspace: str, agent: str, ids: Sequence[str]) -> None:
        """They are in the inbox no more; unknown ones never were. At most 100."""

    def tasks_of_agent(self, workspace: str, agent: str, limit: int, cursor: str | None) -> Page:
        """Tasks whose target is the agent, newest first."""

    def tasks_of_day(self, workspace: str, day: date, limit: int, cursor: str | None) -> Page:
        """Tasks created on a day (UTC), newest first."""


class HandoffStore(Protocol):
    def handoff_facts(self, workspace: str, wanted: Wanted) -> Facts:
        """All that is wanted, in one reading; what doesn't exist is left out. Where nobody has begun a workflow yet,
        the wanted roots are none at version 0."""


class MarkerStore(Protocol):
    def marker_facts(self, workspace: str, pair: tuple[str, str] | None, once: Once | None) -> MarkerFacts:
        """What a marker is decided on, in one reading. ``pair``: source and target slug; without one, the direction
        says nothing."""

    def review(self, workspace: str, review_id: str) -> Review:
        """Raises ``Unknown``."""

    def reviews(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Manual reviews, newest first."""

    def review_request(self, workspace: str, review_id: str) -> dict[str, Any] | None:
        """What was kept by ``ReviewRequest``."""


class AgentStore(Protocol):
    def roster(self, workspace: str) -> Roster:
        """All agents of the workspace as they are now. In one small reading where this process has read them before
        and none has changed since, else in two."""

    def known_roster(self, workspace: str) -> Roster:
        """The agents as this process has read them last, without any reading; the first time as ``roster``. What is
        decided on it holds only if the present version, read afterwards, is still that one."""

    def agent(self, workspace: str, slug: str) -> Agent | None:
        """One agent."""

    def dispatch_facts(self, workspace: str, slug: str) -> tuple[Agent | None, Settings]:
        """The agent and the workspace's settings, in one reading."""

    def save_agent(self, agent: Agent, roster: Roster, profile: RunProfile | None = None) -> None:
        """The agent in its next version, and its profile where that changed. Raises ``Conflict`` if any agent changed
        since ``roster`` was read."""

    def mark_contact(self, workspace: str, agent: str, now: datetime) -> None:
        """Keeps that the agent was heard of, unless a mark is less than a minute old. At most one write, tried once,
        and none where this process has tried within the minute. May raise whatever a store may: who marks must be
        ready to go on without (``services/mark_contact.py``)."""

    def last_contact(self, workspace: str, agent: str) -> datetime | None:
        """The last mark; None if there is none."""

    def last_contacts(self, workspace: str) -> dict[str, datetime]:
        """All marks of the workspace, by slug, in one reading."""


class AlertStore(Protocol):
    def alert(self, workspace: str, alert_id: str) -> Alert:
        """Raises ``Unknown``."""

    def alerts(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """All alerts, newest first."""

    def alerts_of_task(self, workspace: str, task_id: str, limit: int, cursor: str | None) -> Page:
        """Those about a task, newest first."""

    def unresolved_alerts(self, workspace: str, state: AlertState, limit: int, cursor: str | None) -> Page:
        """Open or acknowledged ones, newest first, without reading any others. Finding them lags, what is shown of them
        doesn't: those that have moved on meanwhile are left out."""


class RouteStore(Protocol):
    def route(self, workspace: str, work_type: str) -> Route | None:
        """None where there is none, or none any more."""

    def routes(self, workspace: str) -> RoutingTable:
        """All routes of the workspace, in one reading."""

    def save_route(self, route: Route, table: RoutingTable) -> None:
        """The route in its next version, which is kept for good. Raises ``Conflict`` if any route changed since
        ``table`` was read."""


class ToolStore(Protocol):
    def toolbox(self, workspace: str) -> Toolbox:
        """All tools of the workspace, in one reading."""

    def listed_tools(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """By name; ``cursor``: a tool's name, any; those after it. At most 1 MB is read: a page may be shorter than
        ``limit`` and still have a cursor."""

    def tools(self, workspace: str, names: Collection[str]) -> dict[str, Tool]:
        """Those of the names that there are, in one reading."""

    def save_tool(self, tool: Tool, toolbox: Toolbox) -> None:
        """The tool in its next version. Raises ``Conflict`` if any tool changed since ``toolbox`` was read."""


class RunStore(Protocol):
    """What belongs to the running of agents."""

    def profile(self, workspace: str, agent: str) -> RunProfile:
        """The defaults where nothing was set."""

    def transcript(self, workspace: str, task_id: str, after: int = 0) -> tuple[Entry, ...]:
        """A task's entries that have a message with a number above ``after``, in order."""

    def usage(self, workspace: str, workflow_id: str, task_id: str) -> tuple[Usage, Usage]:
        """What the task has spent so far, and its workflow. One reading."""


class SettingsStore(Protocol):
    def settings(self, workspace: str) -> Settings:
        """The defaults, at version 0, where nothing was set."""

    def save_settings(self, workspace: str, settings: Settings, by: Principal, at: datetime) -> None:
        """The settings in their next version, else ``Conflict``."""


@dataclass(frozen=True, slots=True)
class PollPermit:
    """Held by one long poll of a principal (its key). ``id``: whose it is, should it have been given to another
    since."""

    workspace: str
    by: str
    slot: int
    id: str


class UseStore(Protocol):
    """What a principal asks for, whichever processes it asks: how much in a minute, how many long polls at once."""

    def count_use(self, by: Principal, minute: int, requests: int, size: int) -> tuple[int, int]:
        """So many more requests and bytes of the principal in a minute (counted since 1970); and how many it is with
        them. At most one write, tried once: it may raise whatever a store may, and may have been counted all the same.
        Forgotten some time after the minute."""

    def begin_poll(self, by: Principal, permit_id: str, now: datetime, until: datetime) -> PollPermit:
        """One of the principal's ``MAX_POLLS`` permits, held until ``until`` or ``end_poll``: never more of them at
        once. In one write, or a few where others of the principal wait. Raises ``TooManyPolls``, with when the first
        of them will be free."""

    def end_poll(self, permit: PollPermit) -> None:
        """It is free again; nothing, if somebody else holds it by now. One write."""


class TokenStore(Protocol):
    def token(self, token_id: str) -> Token | None:
        """Found by id alone: the caller's workspace isn't known before."""

    def add_token(self, token: Token, once: Once | None = None) -> None:
        """Raises ``KeyTaken``."""

    def save_revocation(self, token: Token) -> None:
        """Writes ``revoked_at`` and ``revoked_by``; the first revocation stands."""

    def tokens(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """The workspace's tokens, newest first."""

    def remembered(self, once: Once) -> Remembered | None:
        """The answer kept with a token."""


class TrackerStore(Protocol):
    """The outbox to the tracker, and what is known of it."""

    def mirror(self, workspace: str, task_id: str) -> Mirror | None:
        """A task's row."""

    def mirrors(self, workspace: str, task_ids: Sequence[str]) -> dict[str, Mirror]:
        """The rows of those that have one, by task; at most 100, in one reading."""

    def mirrors_due(self, workspace: str, now: datetime) -> Iterator[str]:
        """Tasks whose rows may have something to send, the longest due first. Lags, and may name a row that is held."""

    def mirrors_waiting(self, workspace: str, limit: int) -> int:
        """How many rows wait to be sent, counted up to ``limit``. Lags."""

    def dead_mirrors(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Rows that were given up. Finding them lags, what is shown of them doesn't."""

    def page_holders(self, workspace: str, page_ids: Sequence[str]) -> dict[str, str]:
        """Page id → the task whose page it is; at most 100. Others are left out."""

    def gate(self, workspace: str) -> Gate:
        """An open one, at version 0, where nothing was saved."""

    def gates_due(self, now: datetime) -> Iterator[str]:
        """Workspaces whose tracker is to be seen to. Lags."""

    def webhook(self, workspace: str) -> Webhook | None:
        """The workspace's webhook, taken down ones included."""


@dataclass(frozen=True, slots=True)
class Unsent:
    """An entry of a trail that the bus hasn't taken. ``at``: since when. ``telling``: None if it can't be read."""

    workspace: str
    task_id: str
    seq: int
    at: datetime
    telling: Telling | None


class EventStore(Protocol):
    """The outbox of events: every entry of every trail is in it from its own transaction on, until ``mark_sent``."""

    def unsent(self, until: datetime) -> Iterator[Sequence[Unsent]]:
        """Page by page what is in it since ``until`` or earlier and not put off beyond, of one task in order. Finding
        them lags; none is shown that was marked before its page was read. Reads nothing that isn't due."""

    def heads(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Task]:
        """The tasks named by workspace and id, at most 100, in one reading. Those that can't be read are left out."""

    def mark_sent(self, workspace: str, task_id: str, seq: int) -> None:
        """The bus has it. May be said any number of times. Raises ``Busy``."""

    def put_off(self, workspace: str, task_id: str, seq: int, until: datetime) -> None:
        """Not shown again by an ``unsent`` of before ``until``. Nothing if it was marked meanwhile. Raises ``Busy``."""


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
    """The whole of it: one table."""


class Doorbell(Protocol):
    def ring(self, workspace: str, agent: str, task_id: str, delay_seconds: int = 0) -> None:
        """Tells process-task that the agent has work. Never raises: a bell may be lost, doubled, late or out of order,
        and the sweeper rings again (invariant 12)."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Ids of what the bus took, and of what it refused with its word for why. In neither: it was out of reach, and may
    have taken it all the same."""

    accepted: frozenset[str] = frozenset()
    refused: Mapping[str, str] = field(default_factory=dict)


class Bus(Protocol):
    def publish(self, notices: Sequence[Notice]) -> Delivery:
        """Tells whoever listens outside, in this order as far as the bus keeps one. Never raises; each notice is taken
        or refused by itself."""


class DeadLetters(Protocol):
    def give_up(self, body: str, reason: str) -> None:
        """Puts a message that can never be handled where humans are alarmed about it. Raises ``Busy``."""


class Clock(Protocol):
    def now(self) -> datetime:
        """Aware, UTC, whole milliseconds. May be wrong by minutes: versions and fences decide, not clocks."""

    def sleep(self, seconds: float) -> None:
        """Only for jittered retries and long polls."""


class Ids(Protocol):
    def new(self, prefix: str, at: datetime) -> str:
        """A new sortable id (``baton.domain.ids``)."""

    def secret(self) -> str:
        """64 hexadecimal characters from the operating system's randomness."""


@dataclass(frozen=True, slots=True)
class Made:
    """A page as it was written. ``status``: what its status says now, None if it has none. ``without``: what had to be
    left out, in words, with what to do about it; ``is_denied``: some of it because it isn't shared with us."""

    page: PageRef
    status: str | None
    without: tuple[str, ...] = ()
    is_denied: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong with a tracker. ``about``: the property, database or token; ``severity``: an ``error``
    keeps tasks from being mirrored, a ``warning`` leaves something of them out."""

    about: str
    severity: str
    problem: str
    what_to_do: str


class Tracker(Protocol):
    """One workspace's tracker, for one errand: it asks for nothing after its budget. Every call may raise
    ``TrackerAway`` (``unclear`` if the effect may have happened or may yet), ``TrackerDenies``, ``PageRefused`` and
    ``PageGone``. Unknown or missing properties are no errors: they are left out, and ``Made`` says so."""

    def create(self, sheet: Sheet) -> Made:
        """A new page, whoever else has made one: never repeated by itself once it may have been heard."""

    def find(self, sheet: Sheet) -> tuple[PageRef, ...]:
        """Pages that may have been made for the task, the likeliest first. They may be other tasks' pages."""

    def update(self, page_id: str, sheet: Sheet) -> Made:
        """The page shows the task's state. Writing it twice is writing it once."""

    def comment(self, page_id: str, text: str, *, unless_there: bool) -> None:
        """``unless_there``: looks first whether it says so already."""

    def tasks_named(self, page_id: str) -> frozenset[str]:
        """The tasks that the page's body names."""

    def reach(self) -> None:
        """Raises ``TrackerTrouble`` if it is there for no page."""

    def look(self, page_id: str) -> Seen:
        """The page as it is now."""

    def who(self, user_id: str) -> Editor:
        """Unknown ones are no persons."""

    def changed_since(self, since: datetime) -> Iterator[Seen]:
        """Pages of the database that were edited since, the longest ago first; not those in its trash."""

    def created_since(self, since: datetime, title: str) -> Iterator[Seen]:
        """Pages of the database that were made since and whose title begins with ``title``, the oldest first."""

    def problems(self) -> tuple[Problem, ...]:
        """Everything that is wrong with the database as it is configured; raises nothing but ``TrackerAway``."""


class Trackers(Protocol):
    def of(self, workspace: str, settings: TrackerSettings, budget_seconds: float) -> Tracker:
        """Asks for nothing yet, and raises nothing."""


class TrackerBell(Protocol):
    def ring(self, workspace: str, task_id: str | None = None, delay_seconds: int = 0) -> None:
        """Tells sync-tracker that there is something to send or to look at, for this task first. Never raises: a bell
        may be lost, doubled, late or out of order, and the sweeper rings again."""


class CallbackKey(Protocol):
    def get(self) -> bytes:
        """What only this deployment holds: callbacks' addresses are derived from it. Raises ``Busy``."""


class Secrets(Protocol):
    """Where the trackers' tokens are kept, one per workspace."""

    def put(self, workspace: str, token: str) -> None:
        """Replaces the present one. Raises ``Busy``."""

    def get(self, workspace: str, *, afresh: bool = False) -> str | None:
        """May be a few minutes old unless ``afresh``. Raises ``Busy``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baton:
    """Everything that a use case may need, wired once per process by ``bootstrap``."""

    store: Store
    doorbell: Doorbell
    clock: Clock
    ids: Ids
    trackers: Trackers
    tracker_bell: TrackerBell
    secrets: Secrets
    callback_key: CallbackKey
    public_url: str
    log: Callable[..., None] = field(repr=False)
    meter: Meter = field(default_factory=Meter, repr=False)

    def task_url(self, task_id: str) -> str:
        return f"{self.public_url}/tasks/{task_id}"
