"""Every refusal that Baton makes. Each takes ids, builds its message and has a stable ``code``.

BatonError
├── InvalidInput          a field is wrong
│   ├── InvalidMarker     the same, with the source document's exact sentence (spec/marker.md §1)
│   ├── TooLarge          a body or field is over its limit
│   ├── UnknownAgent      no such agent, where one has to be named
│   ├── TargetInactive    it is there, but gets no work
│   └── KeyReused         an Idempotency-Key came with another body
├── Forbidden
│   ├── HumanNeeded       only a human may do this
│   ├── NotYourAgent      an agent acts only as itself
│   └── ScopeNeeded       the token lacks a scope
├── Unknown               no such thing in this workspace
├── Refused               the thing is in a state that doesn't allow it
│   ├── TaskEnded · NotAllowed · UndoWindowOver · RevisionChanged
│   ├── StaleClaim · AlreadyClaimed · NotClaimable · ClaimOver · InactiveAgent
│   ├── VersionConflict · NameTaken · ReviewClosed · SecretAlreadyShown · LimitReached · TooManyAlerts
│   └── NoTracker · HandshakeClosed · WebhookInstalled · PageHeld
├── BadSignature          a delivery that the tracker didn't sign
├── Conflict              somebody else changed it first: read again and decide again
│   └── KeyTaken          the same, where it was an earlier call with the same key: reading again finds its answer
├── Busy                  the store didn't answer, or too many changed the same thing: try again later
└── TrackerTrouble        what came of asking the tracker
    ├── TrackerAway       it doesn't answer, or asks to be left alone: later, for all pages
    │   └── PageBusy      somebody else is changing that very page
    ├── TrackerDenies     it doesn't let us in, or to the database: later, for all pages
    │   └── NotPermitted  it lets us in, but not do this
    ├── PageRefused       it doesn't take this page, and never will as it is
    └── PageGone          the page isn't there any more, or not shared with us
"""

from __future__ import annotations

from typing import Any


class BatonError(Exception):
    code = "error"

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields


class InvalidInput(BatonError):
    code = "invalid_input"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}", errors=[{"field": field, "message": message}])
        self.field = field


class InvalidMarker(InvalidInput):
    """``message`` is the sentence that callers of create-handoff-marker know, word for word."""

    code = "invalid_marker"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(field, message)
        self.message = message


class TooLarge(InvalidInput):
    code = "too_large"


class KeyReused(InvalidInput):
    code = "idempotency_key_reused"

    def __init__(self) -> None:
        super().__init__("Idempotency-Key", "was used before with another body; send a new key with a new request")


class UnknownAgent(InvalidInput):
    """``field``: where it was named."""

    code = "unknown_agent"

    def __init__(self, agent: str, field: str = "agent") -> None:
        super().__init__(field, f"no agent {agent!r} is registered in this workspace")


class TargetInactive(InvalidInput):
    """``InactiveAgent`` is the same, said to the agent itself."""

    code = "inactive_agent"

    def __init__(self, agent: str, field: str = "agent") -> None:
        super().__init__(field, f"the agent {agent!r} is not active")


class Forbidden(BatonError):
    code = "forbidden"


class HumanNeeded(Forbidden):
    code = "human_required"

    def __init__(self, action: str) -> None:
        super().__init__(f"Only a human may {action}.", action=action)


class NotYourAgent(Forbidden):
    code = "not_your_agent"

    def __init__(self, agent: str) -> None:
        super().__init__(f"This token doesn't speak for the agent {agent!r}.", agent=agent)


class ScopeNeeded(Forbidden):
    code = "scope_required"

    def __init__(self, scope: str) -> None:
        super().__init__(f"This token lacks the scope {scope!r}.", scope=scope)


class Unknown(BatonError):
    """Also the answer for another workspace's id: the two can't be told apart (truth 10)."""

    code = "not_found"

    def __init__(self, what: str) -> None:
        super().__init__(f"No such {what}.")


class Refused(BatonError):
    code = "refused"


class TaskEnded(Refused):
    code = "task_ended"

    def __init__(self, task_id: str, state: str) -> None:
        super().__init__(f"The task has ended ({state}); it never changes again.", task_id=task_id, state=state)


class NotAllowed(Refused):
    code = "not_allowed"

    def __init__(self, task_id: str, verb: str, state: str) -> None:
        super().__init__(f"A task in state {state!r} can't take {verb!r}.", task_id=task_id, verb=verb, state=state)


class UndoWindowOver(Refused):
    code = "undo_window_over"

    def __init__(self, task_id: str) -> None:
        super().__init__("The undo window is over; cancel the task instead.", task_id=task_id)


class RevisionChanged(Refused):
    code = "revision_changed"

    def __init__(self, task_id: str, seen: int, current: int) -> None:
        message = f"Revision {seen} was seen, but the content is at revision {current}: look again."
        super().__init__(message, task_id=task_id, seen=seen, revision=current)


class StaleClaim(Refused):
    """The claim is not, or no longer, the current one. Nothing was changed (truth 3)."""

    code = "stale_claim"

    def __init__(self, task_id: str) -> None:
        super().__init__("This claim is no longer the current one; stop working on the task.", task_id=task_id)


class AlreadyClaimed(Refused):
    code = "already_claimed"

    def __init__(self, task_id: str, agent: str, expires_at: str) -> None:
        super().__init__(f"Claimed by {agent}.", task_id=task_id, agent=agent, expires_at=expires_at)


class NotClaimable(Refused):
    code = "not_claimable"

    def __init__(self, task_id: str, state: str, ready_at: str | None) -> None:
        when = f" before {ready_at}" if ready_at else ""
        super().__init__(f"Can't be claimed in state {state!r}{when}.", task_id=task_id, state=state, ready_at=ready_at)


class ClaimOver(Refused):
    code = "claim_over"

    def __init__(self, task_id: str) -> None:
        super().__init__("The claim made with this Idempotency-Key is over; use a new key.", task_id=task_id)


class InactiveAgent(Refused):
    code = "inactive_agent"

    def __init__(self, agent: str) -> None:
        super().__init__(f"The agent {agent!r} is not active.", agent=agent)


class VersionConflict(Refused):
    code = "version_conflict"

    def __init__(self, what: str, version: int) -> None:
        super().__init__(f"The {what} is at version {version}: read it again.", version=version)


class NameTaken(Refused):
    code = "name_taken"

    def __init__(self, name: str, agent: str) -> None:
        super().__init__(f"{name!r} already names the agent {agent!r}.", name=name, agent=agent)


class ReviewClosed(Refused):
    code = "review_closed"

    def __init__(self, review_id: str) -> None:
        super().__init__("This manual review was released before.", review_id=review_id)


class SecretAlreadyShown(Refused):
    code = "secret_already_shown"

    def __init__(self, token_id: str) -> None:
        super().__init__("The token was made before and its secret was shown then.", token_id=token_id)


class LimitReached(Refused):
    code = "limit_reached"

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"A workspace holds at most {limit} {what}.", limit=limit)


class TooManyAlerts(Refused):
    """``retry_after``: in seconds."""

    code = "too_many_alerts"

    def __init__(self, limit: int, retry_after: int) -> None:
        message = f"At most {limit} alerts an hour are taken from one caller."
        super().__init__(message, limit=limit, retry_after=retry_after)


class Conflict(BatonError):
    code = "conflict"

    def __init__(self, what: str) -> None:
        super().__init__(f"The {what} changed meanwhile.")


class KeyTaken(Conflict):
    code = "key_taken"

    def __init__(self) -> None:
        super().__init__("idempotency key")


class Busy(BatonError):
    code = "busy"

    def __init__(self, message: str = "Baton is busy; the same request may be sent again.") -> None:
        super().__init__(message, retry_after=1)


class NoTracker(Refused):
    code = "no_tracker"

    def __init__(self) -> None:
        super().__init__("No tracker is configured: PUT /workspace/settings with a tracker.database first.")


class HandshakeClosed(Refused):
    code = "handshake_closed"

    def __init__(self) -> None:
        super().__init__("No handshake is open here; a human opens one with POST /tracker/webhook.")


class WebhookInstalled(Refused):
    code = "webhook_installed"

    def __init__(self) -> None:
        super().__init__("A webhook is installed; DELETE /tracker/webhook first to replace it.")


class BadSignature(BatonError):
    code = "bad_signature"

    def __init__(self) -> None:
        super().__init__("The X-Notion-Signature doesn't match the body.")


class PageHeld(Refused):
    code = "page_held"

    def __init__(self) -> None:
        super().__init__("The tracker's page is another task's.")


class TrackerTrouble(BatonError):
    """``status``: how it is told to callers of spec/marker.md §6. ``unclear``: what was asked for may have happened, or
    happen yet. ``retry_after``: in seconds, if the tracker said."""

    code = "tracker_trouble"
    status = "pending"

    def __init__(self, message: str, *, unclear: bool = False, retry_after: float | None = None) -> None:
        fields = {} if retry_after is None else {"retry_after": max(1, round(retry_after))}
        super().__init__(message, **fields)
        self.unclear = unclear
        self.retry_after = retry_after


class TrackerAway(TrackerTrouble):
    code = "tracker_away"


class PageBusy(TrackerAway):
    """Somebody else is changing that very page."""

    code = "page_busy"


class TrackerDenies(TrackerTrouble):
    code = "tracker_denies"
    status = "denied"


class NotPermitted(TrackerDenies):
    code = "not_permitted"


class PageRefused(TrackerTrouble):
    code = "page_refused"
    status = "error"


class PageGone(TrackerTrouble):
    code = "page_gone"
    status = "denied"
