"""The principal of a call. It is made from a token, never from a request's body (invariant 9)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from baton.domain import errors

ACT_AS = "act_as"
CONVERSE = "converse"
SCOPES = frozenset({ACT_AS, CONVERSE})
# Names of Baton's own parts in the trail. No token may have one of them.
SWEEPER = "sweeper"
PROCESS_TASK = "process-task"
SYNC_TRACKER = "sync-tracker"
JOINER = "joiner"
CALLBACK = "callback"
# The principal that long cursors are stored for. No token's name has a colon.
READER = "baton:reader"
_TRACKER = "notion:"
OWN_PARTS = frozenset({SWEEPER, PROCESS_TASK, SYNC_TRACKER, JOINER, CALLBACK})


class Kind(StrEnum):
    AGENT = "agent"
    HUMAN = "human"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller."""

    workspace: str
    kind: Kind
    id: str  # an agent's slug, or the name in the token of a human or service
    scopes: frozenset[str] = frozenset()
    # The token that was shown. It says nothing of who this is, and gives no right.
    token_id: str = field(default="", compare=False, repr=False)

    @property
    def is_human(self) -> bool:
        return self.kind is Kind.HUMAN

    @property
    def is_own_part(self) -> bool:
        """True for one of Baton's own parts, which no token can be."""
        return self.kind is Kind.SERVICE and self.id in OWN_PARTS

    @property
    def key(self) -> str:
        """A string that identifies the principal in its workspace, for comparisons and for keys."""
        return f"{self.kind}:{self.id}"

    def must_be_human(self, action: str) -> None:
        """Raises ``HumanNeeded`` for agents and services, whichever agent they act for (invariant 8)."""
        if not self.is_human:
            raise errors.HumanNeeded(action)

    def must_not_be_agent(self, action: str) -> None:
        if self.kind is Kind.AGENT:
            raise errors.HumanNeeded(action)

    def must_be_let_converse(self) -> None:
        """Raises ``ScopeNeeded`` for an agent without the scope ``converse``."""
        if self.kind is Kind.AGENT and CONVERSE not in self.scopes:
            raise errors.ScopeNeeded(CONVERSE)

    def acting_for(self, agent: str) -> str:
        """Returns ``agent`` if the principal may act for it. Raises ``NotYourAgent`` or ``ScopeNeeded``."""
        if self.kind is Kind.AGENT:
            if agent != self.id:
                raise errors.NotYourAgent(agent)
        elif ACT_AS not in self.scopes:
            raise errors.ScopeNeeded(ACT_AS)
        return agent


def system(workspace: str, name: str) -> Principal:
    """Returns the principal of one of ``OWN_PARTS``: a service that may act for every agent."""
    return Principal(workspace, Kind.SERVICE, name, frozenset({ACT_AS}))


def tracker_human(workspace: str, user_id: str) -> Principal:
    """Returns the principal of a person who acted in the tracker. No token's name has a colon."""
    return Principal(workspace, Kind.HUMAN, _TRACKER + user_id)


def is_tracker_human(principal_id: str) -> bool:
    return principal_id.startswith(_TRACKER)
