"""Listening: a connection begins, asks what it has missed, and ends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from baton.domain import errors
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.access.token import digest
from baton.domain.bell.listener import MAX_OF_WORKSPACE, TICKET_SECONDS, Listener, Ticket, Topic, TopicKind
from baton.domain.bell.ring import FIRST_RUNG, opaque
from baton.ports.deps import Deps
from baton.services.access.limit_caller import bell_must_have_room
from baton.services.claims.candidates import Look, candidates
from baton.services.claims.claim_task import must_be_active
from baton.services.handoffs.read_inbox import must_be_let_read
from baton.steps.access.read_rights import ReadRights, readable_task
from baton.steps.agents.kill_switch import caller_must_be_on
from baton.steps.claims.take_task import Claimer


def must_be_let_listen(deps: Deps, by: Principal, topic: Topic) -> None:
    """Raises what refuses the principal the reads that a ring is about: ``InactiveAgent``, ``NotYourAgent``,
    ``ScopeNeeded``, ``HumanNeeded`` and ``Unknown``. Judged at the beginning, and again at each ring."""
    caller_must_be_on(deps, by)
    match topic.kind:
        case TopicKind.WORK:
            must_be_active(deps, by.workspace, by.acting_for(topic.name))
        case TopicKind.INBOX:
            must_be_let_read(deps, by, topic.name)
        case TopicKind.TASK:
            readable_task(deps, by, topic.name)
        case TopicKind.LISTS:
            if not ReadRights(deps, by).is_let:
                if by.kind is PrincipalKind.AGENT:
                    raise errors.HumanNeeded("listen to all lists")
                raise errors.ScopeNeeded("act_as")


def make_ticket(deps: Deps, by: Principal) -> tuple[Ticket, str]:
    """Returns the ticket and its text, which is never shown again. Raises ``TokenRefused`` for a caller without a
    token."""
    text = deps.ids.secret()
    expires_at = deps.clock.now() + timedelta(seconds=TICKET_SECONDS)
    ticket = Ticket(digest=digest(text), workspace=by.workspace, token_id=by.token_id, expires_at=expires_at)
    deps.store.bell.add_ticket(ticket)
    return ticket, text


def use_ticket(deps: Deps, text: str, connection_id: str) -> Principal:
    """Returns whom the ticket is of, to exactly one connection. Raises ``TicketRefused``, which doesn't tell why."""
    now = deps.clock.now()
    ticket = deps.store.bell.use_ticket(digest(text), connection_id, now)
    token = None if ticket is None else deps.store.tokens.token(ticket.token_id)
    if token is None or not token.is_active(now):
        raise errors.TicketRefused
    return token.principal


def begin_listening(deps: Deps, by: Principal, topic: Topic, connection_id: str) -> None:
    """Raises as ``must_be_let_listen``, and ``TooManyListeners``."""
    must_be_let_listen(deps, by, topic)
    limit = deps.store.settings.of(by.workspace).listeners_per_principal
    if deps.store.bell.count(by.workspace, limit, by.key) >= limit:
        raise errors.TooManyListeners(limit)
    if deps.store.bell.count(by.workspace, MAX_OF_WORKSPACE) >= MAX_OF_WORKSPACE:
        raise errors.TooManyListeners(MAX_OF_WORKSPACE)
    now = deps.clock.now()
    deps.store.bell.add_listener(
        Listener(connection_id=connection_id, topic=topic, by=by.key, token_id=by.token_id, since=now)
    )


def stop_listening(deps: Deps, connection_id: str) -> None:
    """Does nothing for one that doesn't listen. Raises ``Busy``."""
    deps.store.bell.remove_listener(connection_id)


@dataclass(frozen=True, slots=True)
class Missed:
    """What a listener to an agent's work should do. ``due_at``: when to look; of what is due later, a few are told."""

    topic: Topic
    due_at: datetime | None


def what_is_due(deps: Deps, connection_id: str) -> Missed:
    """Looks for a listener, so that a ring that was lost is made up for. Counts as a request of its principal. Raises
    ``Unknown`` for a connection that doesn't listen, ``RateLimited``, and the refusals of its principal; then it
    listens no longer."""
    listener = deps.store.bell.listener(connection_id)
    if listener is None:
        raise errors.Unknown("listener")
    token = deps.store.tokens.token(listener.token_id)
    try:
        if token is None or not token.is_active(deps.clock.now()):
            raise errors.TokenRefused
        bell_must_have_room(deps, token.principal, connection_id)
        must_be_let_listen(deps, token.principal, listener.topic)
    except (errors.Forbidden, errors.Unknown, errors.Refused, errors.TooMany):
        deps.store.bell.remove_listener(connection_id)
        raise
    if listener.topic.kind is not TopicKind.WORK:
        return Missed(listener.topic, None)
    claimer = Claimer(by=token.principal, agent=listener.topic.name, worker=connection_id)
    if next(candidates(deps, claimer, Look()), None) is not None:
        return Missed(listener.topic, deps.clock.now())
    due_at = deps.store.queues.next_due(listener.topic.workspace, listener.topic.name)
    is_told = due_at is not None and connection_id in _told_ahead(deps, listener.topic, due_at)
    return Missed(listener.topic, due_at if is_told else None)


def _told_ahead(deps: Deps, topic: Topic, due_at: datetime) -> list[str]:
    """Returns as many as a ring would reach, others for each time: if all were told when a lease ends, all would claim
    then."""
    first = deps.store.bell.listening(topic, FIRST_RUNG, opaque(due_at))
    left = FIRST_RUNG - len(first)
    return first + deps.store.bell.listening(topic, left) if left else first
