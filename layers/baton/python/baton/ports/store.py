"""All stores.

Every read is strongly consistent unless its docstring says otherwise. Every id given to a read belongs to the workspace
given with it: an id of another workspace is unknown. Stores raise ``Busy`` when they don't answer within their time and
retry bounds.
"""

from __future__ import annotations

from typing import Protocol

from baton.ports import runs
from baton.ports.access import SessionStore, SettingsStore, TokenStore, UseStore
from baton.ports.agents import AgentStore, RouteStore, ToolStore
from baton.ports.alerts import AlertStore
from baton.ports.claims import ClaimStore
from baton.ports.conversations import ConversationStore
from baton.ports.escalations import MarkerStore
from baton.ports.events import EventStore
from baton.ports.handoffs import HandoffStore, WorkflowStore
from baton.ports.memory import MemoryStore
from baton.ports.queues import QueueStore
from baton.ports.tasks import TaskListStore, TaskStore
from baton.ports.tracker import TrackerStore
from baton.ports.watches import WatchStore
from baton.ports.writes import CommitStore


class Store(
    CommitStore,
    TaskStore,
    TaskListStore,
    ClaimStore,
    QueueStore,
    HandoffStore,
    WorkflowStore,
    ConversationStore,
    MarkerStore,
    AgentStore,
    AlertStore,
    RouteStore,
    ToolStore,
    runs.RunStore,
    SettingsStore,
    UseStore,
    TokenStore,
    SessionStore,
    TrackerStore,
    EventStore,
    WatchStore,
    MemoryStore,
    Protocol,
):
    """All stores: one table."""
