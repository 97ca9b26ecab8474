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


class PrincipalKind(StrEnum):
    AGENT = "agent"
    HUMAN = "human"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller."""

    workspace: str
    kind: PrincipalKind
    id: str  # an agent's slug, or the name in the token of a human or service
    scopes: frozenset[str] = frozenset()
    # The token that was shown. It says nothing of who this is, and gives no right.
    token_id: str = field(default="", compare=False, repr=False)
    session_of: str | None = field(default=None, compare=False, repr=False)  # the token that opened it, of a session

    @property
    def is_human(self) -> bool:
        return self.kind is PrincipalKind.HUMAN

    @property
    def is_own_part(self) -> bool:
        """True for one of Baton's own parts, which no token can be."""
        return self.kind is PrincipalKind.SERVICE and self.id in OWN_PARTS

    @property
    def key(self) -> str:
        """A string that identifies the principal in its workspace, for comparisons and for keys."""
        return f"{self.kind}:{self.id}"

    @property
    def is_session(self) -> bool:
        return self.session_of is not None

    @property
    def credential(self) -> dict[str, str]:
        """What a human showed: names are chosen by whoever makes a token, ids aren't. Empty where nothing was shown."""
        if not self.is_human or not self.token_id:
            return {}
        return {"token": self.session_of, "session": self.token_id} if self.session_of else {"token": self.token_id}

    def must_be_let_name(self, human: str) -> None:
        """Raises ``TokenNeeded`` for a session, and ``ScopeNeeded`` for another human's name, unless this is an
        administrator: a human whose token has the scope ``act_as``, as the first of a workspace has."""
        if self.is_session:
            raise errors.TokenNeeded("make a human's token")
        if human != self.id and ACT_AS not in self.scopes:
            raise errors.ScopeNeeded(ACT_AS)

    def must_be_human(self, action: str) -> None:
        """Raises ``HumanNeeded`` for agents and services, whichever agent they act for (invariant 8)."""
        if not self.is_human:
            raise errors.HumanNeeded(action)

    def must_not_be_agent(self, action: str) -> None:
        if self.kind is PrincipalKind.AGENT:
            raise errors.HumanNeeded(action)

    def must_read_all(self, action: str) -> None:
        """Raises ``HumanNeeded`` for agents, and ``ScopeNeeded`` for services without the scope ``act_as``."""
        self.must_not_be_agent(action)
        if not self.is_human and ACT_AS not in self.scopes:
            raise errors.ScopeNeeded(ACT_AS)

    def must_be_let_converse(self) -> None:
        """Raises ``ScopeNeeded`` for an agent without the scope ``converse``."""
        if self.kind is PrincipalKind.AGENT and CONVERSE not in self.scopes:
            raise errors.ScopeNeeded(CONVERSE)

    def acting_for(self, agent: str) -> str:
        """Returns ``agent`` if the principal may act for it. Raises ``NotYourAgent`` or ``ScopeNeeded``."""
        if self.kind is PrincipalKind.AGENT:
            if agent != self.id:
                raise errors.NotYourAgent(agent)
        elif ACT_AS not in self.scopes:
            raise errors.ScopeNeeded(ACT_AS)
        return agent


def system(workspace: str, name: str) -> Principal:
    """Returns the principal of one of ``OWN_PARTS``: a service that may act for every agent."""
    return Principal(workspace, PrincipalKind.SERVICE, name, frozenset({ACT_AS}))


def tracker_human(workspace: str, user_id: str) -> Principal:
    """Returns the principal of a person who acted in the tracker. No token's name has a colon."""
    return Principal(workspace, PrincipalKind.HUMAN, _TRACKER + user_id)


def is_tracker_human(principal_id: str) -> bool:
    return principal_id.startswith(_TRACKER)
