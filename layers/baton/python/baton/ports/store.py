"""All stores.

Every read is strongly consistent unless its docstring says otherwise. Every id given to a read belongs to the workspace
given with it: an id of another workspace is unknown. Stores raise ``Busy`` when they don't answer within their time and
retry bounds.
"""

from __future__ import annotations

from typing import Protocol

from baton.ports.access import ChangeStore, SessionStore, SettingsStore, TokenStore, UseStore, ViewStore
from baton.ports.agents import AgentStore, ContactStore, RouteStore, ToolStore
from baton.ports.alerts import AlertStore
from baton.ports.bell import BellStore
from baton.ports.claims import ClaimStore
from baton.ports.conversations import ConversationStore
from baton.ports.escalations import MarkerStore
from baton.ports.events import EventStore
from baton.ports.handoffs import HandoffStore, InboxStore, WorkflowStore
from baton.ports.memory import MemoryStore
from baton.ports.questions import QuestionStore
from baton.ports.queues import QueueStore
from baton.ports.runs import RunStore
from baton.ports.stats import StatsStore
from baton.ports.tasks import TaskListStore, TaskStore, TrailStore
from baton.ports.tracker import TrackerStore
from baton.ports.watches import WatchStore
from baton.ports.writes import CommitStore


class Store(CommitStore, Protocol):
    """One table: a part for each subject, and the commit that writes to all of them."""

    tasks: TaskStore
    trail: TrailStore
    lists: TaskListStore
    claims: ClaimStore
    queues: QueueStore
    handoffs: HandoffStore
    workflows: WorkflowStore
    inboxes: InboxStore
    conversations: ConversationStore
    escalations: MarkerStore
    agents: AgentStore
    contacts: ContactStore
    routes: RouteStore
    tools: ToolStore
    runs: RunStore
    alerts: AlertStore
    memory: MemoryStore
    tracker: TrackerStore
    outbox: EventStore
    watches: WatchStore
    stats: StatsStore
    bell: BellStore
    questions: QuestionStore
    settings: SettingsStore
    changes: ChangeStore
    tokens: TokenStore
    sessions: SessionStore
    uses: UseStore
    views: ViewStore

    def must_answer(self) -> None:
        """Reads one item that doesn't exist. Raises ``Busy`` whatever keeps the table from being read."""

    def at_one_version(self) -> Store:
        """Returns this store for one request: agents and settings are those of the version that it reads first, until
        ``read_anew``."""

    def read_anew(self) -> None:
        """Agents and settings that are read from now on are read anew: the request has waited, or a write of it was
        refused. Saving an agent or settings does it, too."""
