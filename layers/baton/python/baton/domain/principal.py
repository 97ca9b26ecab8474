"""Who is calling. Made by the authorizer from a token, never from anything that a body says (invariant 9)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from baton.domain.errors import HumanNeeded, NotYourAgent, ScopeNeeded

ACT_AS = "act_as"
CONVERSE = "converse"
SCOPES = frozenset({ACT_AS, CONVERSE})
# What the trail calls Baton's own parts. No token may be made in their names.
SWEEPER = "sweeper"
PROCESS_TASK = "process-task"
SYNC_TRACKER = "sync-tracker"
JOINER = "joiner"
CALLBACK = "callback"
# In whose name long cursors are kept. The colon keeps it apart from every token's.
READER = "baton:reader"
_TRACKER = "notion:"
OWN_PARTS = frozenset({SWEEPER, PROCESS_TASK, SYNC_TRACKER, JOINER, CALLBACK})


class Kind(StrEnum):
    AGENT = "agent"
    HUMAN = "human"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Principal:
    """``id`` is the agent's slug, or the name that a human or service was given with its token."""

    workspace: str
    kind: Kind
    id: str
    scopes: frozenset[str] = frozenset()

    @property
    def is_human(self) -> bool:
        return self.kind is Kind.HUMAN

    @property
    def is_own_part(self) -> bool:
        """One of Baton's own parts: no token is."""
        return self.kind is Kind.SERVICE and self.id in OWN_PARTS

    @property
    def key(self) -> str:
        """One string per principal inside its workspace, for comparing and for keys."""
        return f"{self.kind}:{self.id}"

    def must_be_human(self, action: str) -> None:
        """Raises ``HumanNeeded`` for agents and services, whoever they act for (invariant 8)."""
        if not self.is_human:
            raise HumanNeeded(action)

    def must_not_be_agent(self, action: str) -> None:
        if self.kind is Kind.AGENT:
            raise HumanNeeded(action)

    def must_be_let_converse(self) -> None:
        """Raises ``ScopeNeeded`` for agents that no human gave the scope."""
        if self.kind is Kind.AGENT and CONVERSE not in self.scopes:
            raise ScopeNeeded(CONVERSE)

    def acting_for(self, agent: str) -> str:
        """The agent that this principal may speak for; raises ``NotYourAgent`` or ``ScopeNeeded``."""
        if self.kind is Kind.AGENT:
            if agent != self.id:
                raise NotYourAgent(agent)
        elif ACT_AS not in self.scopes:
            raise ScopeNeeded(ACT_AS)
        return agent


def system(workspace: str, name: str) -> Principal:
    """A part of Baton itself (one of ``OWN_PARTS``): a service that may act for the agents it serves."""
    return Principal(workspace, Kind.SERVICE, name, frozenset({ACT_AS}))


def tracker_human(workspace: str, user_id: str) -> Principal:
    """A person who acted in the tracker. The colon keeps the name apart from every token's."""
    return Principal(workspace, Kind.HUMAN, _TRACKER + user_id)


def is_tracker_human(principal_id: str) -> bool:
    return principal_id.startswith(_TRACKER)
