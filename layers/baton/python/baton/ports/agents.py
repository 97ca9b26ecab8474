"""The store of agents, routes and tools."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Protocol

from baton.domain.access.workspace_change import WorkspaceChange
from baton.domain.agents.agent import Agent, Roster
from baton.domain.agents.guards import Guards
from baton.domain.agents.route import Route, RoutingTable
from baton.domain.agents.tool import Tool, Toolbox
from baton.domain.runs.run_profile import RunProfile
from baton.domain.settings.settings import Settings
from baton.ports.access import Recorded
from baton.ports.paging import Page


class AgentStore(Protocol):
    def roster(self, workspace: str) -> Roster:
        """Returns the workspace's present agents. One small read, of the version that every change of agents and
        settings raises, if this process has read them under it; no read if the request has read the version; else one
        or two reads more."""

    def agent(self, workspace: str, slug: str) -> Agent | None:
        """Returns one agent. Reads like ``roster``."""

    def dispatch_inputs(self, workspace: str, slug: str) -> tuple[Agent | None, Settings]:
        """Returns the agent and the workspace's settings, in one read."""

    def guards(self, workspace: str) -> Guards:
        """Returns the rules about handoffs, applied to the present agents. Reads like ``roster``."""

    def save_agent(
        self,
        agent: Agent,
        roster: Roster,
        profile: RunProfile | None = None,
        recorded: Recorded | None = None,
        settings_version: int | None = None,
    ) -> None:
        """Saves the agent in its next version, its profile if it changed, and the record of the change.

        Raises:
            Conflict: any agent changed since ``roster`` was read, or the settings aren't in ``settings_version``, and
                as ``Recorded`` says.
        """


class ContactStore(Protocol):
    """When each agent was last heard of."""

    def mark_contact(self, workspace: str, agent: str, now: datetime, every: timedelta) -> None:
        """Saves the time of the agent's last contact, unless the saved one is less than ``every`` old. At most one
        write, tried once; none if this process has tried within that time. May raise any error of a store: callers
        must be able to go on without it (``steps/agents/mark_contact.py``)."""

    def last_contact(self, workspace: str, agent: str) -> datetime | None:
        """Returns the saved time; None if there is none."""

    def last_contacts(self, workspace: str) -> dict[str, datetime]:
        """Returns the saved times of all agents of the workspace, by slug, in one read."""


class RouteStore(Protocol):
    def route(self, workspace: str, work_type: str) -> Route | None:
        """Returns the route; None if it doesn't exist or was deleted."""

    def table(self, workspace: str) -> RoutingTable:
        """Returns all routes of the workspace, in one read."""

    def save_route(self, route: Route, table: RoutingTable, change: WorkspaceChange | None = None) -> None:
        """Saves the route in its next version with the record of the change; every version is kept for good. Raises
        ``Conflict`` if any route changed since ``table`` was read."""


class ToolStore(Protocol):
    def toolbox(self, workspace: str) -> Toolbox:
        """Returns all tools of the workspace, in one read."""

    def listed_tools(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Returns tools by name. ``cursor``: any tool name; the tools after it. Reads at most 1 MB: a page may be
        shorter than ``limit`` and still have a cursor."""

    def named(self, workspace: str, names: Collection[str]) -> dict[str, Tool]:
        """Returns the tools that exist, by name, in one read."""

    def save_tool(self, tool: Tool, toolbox: Toolbox, change: WorkspaceChange | None = None) -> None:
        """Saves the tool in its next version with the record of the change. Raises ``Conflict`` if any tool changed
        since ``toolbox`` was read."""
