"""Registered workers, and how the names that people and agents use find them."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from baton.domain.errors import HumanNeeded, InactiveAgent, InvalidInput, NameTaken, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from baton.domain.principal import Principal

MAX_AGENTS = 500
MAX_NAME = 100
MAX_ALIASES = 20
MAX_TYPES = 50
MAX_DESCRIPTION = 2_000


class Runtime(StrEnum):
    """Who takes the agent's work up: itself, over the API (``pull``), or Baton's process-task (``run``)."""

    PULL = "pull"
    RUN = "run"


class Approval(StrEnum):
    MANUAL = "manual"
    AUTO = "auto"


class Requeue(StrEnum):
    """Where a lost task goes: back where it came from (``same``), or to a human (``needs``)."""

    SAME = "same"
    NEEDS = "needs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    workspace: str
    slug: str
    name: str
    aliases: tuple[str, ...] = ()
    description: str = ""
    accepts: tuple[str, ...] = ()
    produces: tuple[str, ...] = ()
    runtime: Runtime = Runtime.PULL
    approval: Approval = Approval.MANUAL
    requeue: Requeue = Requeue.SAME
    active: bool = True
    version: int = 0
    created_at: datetime
    updated_at: datetime
    updated_by: str

    @property
    def is_run(self) -> bool:
        return self.runtime is Runtime.RUN

    @property
    def has_standing_approval(self) -> bool:
        return self.approval is Approval.AUTO

    @property
    def names(self) -> frozenset[str]:
        return frozenset({self.slug, self.name, *self.aliases})

    def must_be_active(self) -> Agent:
        if not self.active:
            raise InactiveAgent(self.slug)
        return self

    def changed(self, by: Principal, at: datetime, **values: Any) -> Agent:
        """A new version. A standing approval is a human's word on what that human saw (truth 8): a service can't give
        one, and a change by a service ends one."""
        if not by.is_human:
            if values.get("approval") is Approval.AUTO:
                raise HumanNeeded("give a standing approval (approval: auto)")
            values["approval"] = Approval.MANUAL
        after = replace(self, **values, version=self.version + 1, updated_at=at, updated_by=by.key)
        return replace(after, name=canonical(after.name), aliases=tuple(dict.fromkeys(map(canonical, after.aliases))))


def canonical(name: str) -> str:
    """Names are compared exactly after Unicode NFC and trimming (spec/marker.md §1)."""
    return unicodedata.normalize("NFC", name).strip()


@dataclass(frozen=True, slots=True)
class Roster:
    """All agents of a workspace. ``version`` rises with every change to any of them, so that two changes at once
    can't give one name to two agents."""

    agents: tuple[Agent, ...] = ()
    version: int = 0

    def __iter__(self) -> Iterator[Agent]:
        return iter(self.agents)

    def get(self, slug: str) -> Agent:
        """Raises ``Unknown``."""
        for agent in self.agents:
            if agent.slug == slug:
                return agent
        raise Unknown("agent")

    def active_named(self, name: str) -> Agent | None:
        """The active agent with this slug, name or alias."""
        wanted = canonical(name)
        return next((agent for agent in self.agents if agent.active and wanted in agent.names), None)

    def valid_names(self) -> str:
        """The names of the active agents, sorted, for the messages of spec/marker.md §1."""
        return ", ".join(sorted(agent.name for agent in self.agents if agent.active))

    def must_not_clash(self, agent: Agent) -> None:
        """Raises ``NameTaken`` if another agent already answers to one of this one's names."""
        for other in self.agents:
            shared = agent.names & other.names
            if shared and other.slug != agent.slug:
                raise NameTaken(min(shared), other.slug)


def check_names(field: str, values: tuple[str, ...], most: int) -> None:
    """Raises ``InvalidInput`` unless there are at most ``most`` values of 1-100 printable characters each."""
    if len(values) > most:
        raise InvalidInput(field, f"must have at most {most} entries")
    for value in values:
        name = canonical(value)
        if not 1 <= len(name) <= MAX_NAME or not name.isprintable():
            raise InvalidInput(field, f"must be 1 to {MAX_NAME} printable characters")
        if "," in name:
            raise InvalidInput(field, "must not contain a comma: names are listed with commas between them")
