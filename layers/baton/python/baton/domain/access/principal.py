"""The principal of a call. It is made from a token, never from a request's body (invariant 9)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from baton.domain import errors
from baton.domain.access.rights import USUAL_RIGHT, Deed, Right, may

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
_OPERATOR = "baton:operator"
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
    # The maker of the token, by their key. An agent's or a service's token has a person as its maker, who can act
    # with it.
    made_by: str = field(default="", compare=False, repr=False)
    # A person's right; the default is ``usual_right``. Agents and services have no right.
    right: Right | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "right", usual_right(self.scopes, self.right) if self.is_human else None)

    @property
    def is_human(self) -> bool:
        return self.kind is PrincipalKind.HUMAN

    @property
    def is_operator(self) -> bool:
        """True for the person who runs the deployment and has the table itself. No token's name has a colon."""
        return self.is_human and self.id == _OPERATOR

    @property
    def is_own_part(self) -> bool:
        """True for one of Baton's own parts, which no token can be."""
        return self.kind is PrincipalKind.SERVICE and self.id in OWN_PARTS

    @property
    def own_source(self) -> str:
        """The source of a handoff that names none: an agent's slug, else the key."""
        return self.id if self.kind is PrincipalKind.AGENT else self.key

    @property
    def key(self) -> str:
        """A string that identifies the principal in its workspace, for comparisons and for keys."""
        return f"{self.kind}:{self.id}"

    @property
    def authors(self) -> tuple[str, ...]:
        """The keys of the authors of its requests: its own key, and the key of the person who made an agent's or a
        service's token."""
        return (self.key, self.made_by) if self.made_by and not self.is_human else (self.key,)

    @property
    def is_session(self) -> bool:
        return self.session_of is not None

    @property
    def credential(self) -> dict[str, str]:
        """What a human showed: names are chosen by whoever makes a token, ids aren't. Empty where nothing was shown."""
        if not self.is_human or not self.token_id:
            return {}
        return {"token": self.session_of, "session": self.token_id} if self.session_of else {"token": self.token_id}

    def must_have(self, deed: Deed) -> None:
        """Checks the caller's right. Agents and services pass for deeds that aren't for people only: their scopes
        decide.

        Raises:
            HumanNeeded: the deed is for people only, and this is an agent or a service (invariant 8).
            RightNeeded: this is a person with a lower right.
        """
        if not self.is_human:
            if deed.is_for_people_only:
                raise errors.HumanNeeded(deed.value)
        elif not may(self.right, deed):
            raise errors.RightNeeded(deed.value, str(deed.least), str(self.right))

    def may_do(self, deed: Deed) -> bool:
        """True for a person with the right for the deed."""
        return may(self.right, deed)

    def must_not_be_agent(self, action: str) -> None:
        if self.kind is PrincipalKind.AGENT:
            raise errors.HumanNeeded(action)

    def must_have_act_as(self, action: str) -> None:
        """Raises ``HumanNeeded`` for agents, and ``ScopeNeeded`` for services without the scope ``act_as``."""
        self.must_not_be_agent(action)
        if not self.is_human and ACT_AS not in self.scopes:
            raise errors.ScopeNeeded(ACT_AS)

    def must_be_let_converse(self) -> None:
        """Raises ``ScopeNeeded`` for an agent without the scope ``converse``."""
        if self.kind is PrincipalKind.AGENT and CONVERSE not in self.scopes:
            raise errors.ScopeNeeded(CONVERSE)

    def acting_for(self, agent: str) -> str:
        """Returns ``agent`` if the principal may act for it. Nobody acts for a person or a service, whose key may be
        the source of a handoff. Raises ``NotYourAgent`` or ``ScopeNeeded``."""
        if ":" in agent or (self.kind is PrincipalKind.AGENT and agent != self.id):
            raise errors.NotYourAgent(agent)
        if self.kind is not PrincipalKind.AGENT and ACT_AS not in self.scopes:
            raise errors.ScopeNeeded(ACT_AS)
        return agent


def system(workspace: str, name: str) -> Principal:
    """Returns the principal of one of ``OWN_PARTS``: a service that may act for every agent."""
    return Principal(workspace, PrincipalKind.SERVICE, name, frozenset({ACT_AS}))


def operator(workspace: str) -> Principal:
    """Returns the principal of the person who runs the deployment, for the programs of ``tools/admin``."""
    return Principal(workspace, PrincipalKind.HUMAN, _OPERATOR, frozenset({ACT_AS}))


def principal_named(workspace: str, key: str) -> Principal:
    """Returns the principal with this key, as trails name it: without a token, a right or a scope."""
    kind, _, name = key.partition(":")
    return Principal(workspace, PrincipalKind(kind), name)


def usual_right(scopes: frozenset[str], right: Right | None = None) -> Right:
    """Returns ``right``, or the right of a human's token that names none: such a token with the scope ``act_as`` is an
    administrator's."""
    return right or (Right.ADMINISTRATOR if ACT_AS in scopes else USUAL_RIGHT)


def tracker_human(workspace: str, user_id: str, right: Right = USUAL_RIGHT) -> Principal:
    """Returns the principal of a person who acted in the tracker. No token's name has a colon."""
    return Principal(workspace, PrincipalKind.HUMAN, _TRACKER + user_id, right=right)


def is_tracker_human(principal_id: str) -> bool:
    return principal_id.startswith(_TRACKER)


def tracker_user(principal_id: str) -> str:
    """Returns the tracker's id of a person who acted there."""
    return principal_id.removeprefix(_TRACKER)
