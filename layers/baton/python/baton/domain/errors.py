"""Baton's errors. Each takes ids, builds its message and has a stable ``code``.

BatonError
├── InvalidInput          a field is invalid
│   ├── InvalidMarker     the same, in the exact sentence of docs/spec/marker.md §1
│   ├── TooLarge          a body or field is over its limit
│   ├── KeyReused         an Idempotency-Key was used with another body before
│   ├── UnknownAgent      a field names no registered agent
│   ├── TargetInactive    the target agent is switched off
│   ├── CapabilityMismatch · ClaimRequired
│   ├── CriteriaUnreported acceptance criteria without a report
│   └── GuardrailRefused  a guardrail of the workspace refuses the content
├── Forbidden
│   ├── TokenRefused      nobody is let in by this token
│   ├── CodeRefused       no session is opened by this code
│   ├── TokenNeeded       a session isn't enough
│   ├── HumanNeeded       only a human may do this
│   ├── RightNeeded       the person's right is too low
│   ├── NotYourAgent      the principal doesn't act for this agent
│   ├── ScopeNeeded       the token lacks a scope
│   ├── NotAsked          the question or the approval isn't this person's to decide
│   └── InactiveAgent     the calling agent, or the agent that is acted for, is switched off
├── Unknown               the workspace has no such thing
│   └── UnknownPerson     no token was ever issued to the person
├── Refused               the state doesn't allow it
│   ├── TaskEnded · NotAllowed · UndoWindowOver · RevisionChanged · AgentChanged
│   ├── StaleClaim · AlreadyClaimed · NotClaimable · ClaimOver · NobodyHolds · ClaimChanged
│   ├── VersionConflict · NameTaken · ReviewClosed · ReviewsAgentAway · SecretAlreadyShown
│   ├── LimitReached · TooManyAlerts
│   ├── ClaimFull         the claim has stored as many bytes as one may
│   ├── TooManyWaits      the task has waited for callbacks as often as one may
│   ├── AlreadyRetried · CallbackUsed · OwnHandoff · AtCapacity · ConversationBusy · ConversationMoved
│   ├── LoopTripped       the loop guard stopped a handoff
│   ├── NotASession · TooManySessions
│   ├── ChangeOver · ChangeOvertaken   a change of the workspace that waits for an administrator
│   ├── EntryClosed       the entry was replaced, withdrawn or deleted
│   ├── ToolSuspended     a service or member changed the tool's target: a human has to confirm the tool
│   ├── QuestionOver · ReceiptRefused · TooManyQuestions · ApprovalCounted
│   ├── ApprovalNeeded    approval rules hold the task back from the claiming agent
│   └── NoTracker · HandshakeClosed · WebhookInstalled · PageHeld
├── TooMany               a limit per caller
│   ├── RateLimited       of requests or bytes in a minute
│   ├── BoardRateLimited  of entries of the blackboard in an hour
│   └── TooManyPolls      of long polls that wait at once
├── BadSignature          the tracker didn't sign the delivery
├── ChangePending         the change of the workspace was stored, and waits for another administrator
├── Conflict              a concurrent change won: read and decide again
│   ├── SlotTaken         the same for a permit of the claiming agent
│   └── KeyTaken          the same for an idempotency key: a new read finds its saved response
├── Busy                  the store didn't answer, or there were too many conflicts: try again later
│   └── WrittenByNewer    the stored item is of a newer version of Baton: that one has to answer
├── ModelTrouble          a call of a model failed
│   ├── ModelAway         the model is throttled or down: try again later
│   │   └── ModelThrottled    it answers, and wants to be asked less often
│   └── ModelRefuses      the model refuses this request: a retry can't help
└── TrackerTrouble        a call of the tracker failed
    ├── TrackerAway       it is down or throttles: try again later, for all pages
    │   └── PageBusy      somebody else is changing this page
    ├── TrackerDenies     it refuses access, or the database: try again later, for all pages
    │   └── NotPermitted  access is granted, this operation isn't
    ├── PageRefused       it rejects this page's content: a retry can't help
    └── PageGone          the page is deleted, or no longer shared with Baton
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar


class BatonError(Exception):
    """``text``: the message of an error that always says the same."""

    code = "error"
    text = ""

    def __init__(self, message: str = "", **fields: Any) -> None:
        self.message = message or self.text
        super().__init__(self.message)
        self.fields = fields


class InvalidInput(BatonError):
    code = "invalid_input"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}", errors=[{"field": field, "message": message}])
        self.field = field

    def rename(self, names: Mapping[str, str]) -> None:
        """Replaces field names, for a request that calls them otherwise. ``names``: our name → the request's."""
        listed = [{**each, "field": names.get(each["field"], each["field"])} for each in self.fields["errors"]]
        self.field, self.fields["errors"] = listed[0]["field"], listed
        self.message = f"{self.field}: {listed[0]['message']}"


class InvalidMarker(InvalidInput):
    """``message`` is a fixed sentence of create-handoff-marker's interface."""

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
    """``field``: the field that names the agent. ``agents``: active agents of the workspace, not necessarily all."""

    code = "unknown_agent"

    def __init__(self, agent: str, field: str = "agent", agents: Iterable[str] = ()) -> None:
        super().__init__(field, f"no agent {agent!r} is registered in this workspace")
        self.fields["agents"] = list(agents)


class TargetInactive(InvalidInput):
    """The target agent is switched off. If it is the caller: ``InactiveAgent``."""

    code = "inactive_agent"

    def __init__(self, agent: str, field: str = "agent") -> None:
        super().__init__(field, f"the agent {agent!r} is not active")


class CapabilityMismatch(InvalidInput):
    """``missing``: ``accepts:<type>`` and ``produces:<type>``; ``able``: agents that lack none, best match first."""

    code = "capability_mismatch"

    def __init__(self, agent: str | None, missing: tuple[str, ...], able: tuple[str, ...]) -> None:
        who = "No active agent" if agent is None else f"The agent {agent!r}"
        lacks = f"declares {', '.join(missing)}" if agent is None else f"doesn't declare {', '.join(missing)}"
        others = f"; these could take it: {', '.join(able)}" if able else ""
        super().__init__("target.agent", f"{who} {lacks}{others}")
        self.fields |= {"missing": list(missing), "able": list(able)}


class ClaimRequired(InvalidInput):
    """An agent that holds claims has to name the claim that a handoff belongs to: otherwise it could leave the chain by
    leaving out the field (docs/spec/protocol.md §1). A worker that names itself: only while it holds claims."""

    code = "claim_required"

    def __init__(self, agent: str, worker: str | None = None) -> None:
        who = agent if worker is None else f"worker {worker} of {agent}"
        others = "; if they are another worker's, name your own" if worker is None else ""
        super().__init__("claim_id", f"is required while {who} holds claims: name the one that this belongs to{others}")


class CriteriaUnreported(InvalidInput):
    """Nothing was changed: the claim is still valid."""

    code = "criteria_unreported"

    def __init__(self, criteria: tuple[str, ...]) -> None:
        message = "has to report every acceptance criterion, by its exact text"
        super().__init__("verification.acceptance_criteria_met", message)
        self.fields["criteria"] = list(criteria)


class GuardrailRefused(InvalidInput):
    """``rule``: the violated guardrail, such as ``secrets.github_token`` or ``forbidden_patterns[2]``; ``field``: where
    in the request. No message holds the text that was found."""

    code = "guardrail"

    def __init__(self, rule: str, field: str) -> None:
        super().__init__(field, f"is refused by the workspace's guardrail {rule}")
        self.rule = rule
        self.fields["rule"] = rule


class Forbidden(BatonError):
    code = "forbidden"


class TokenRefused(Forbidden):
    """Doesn't tell why: whoever shows the token may be a stranger."""

    code = "token_refused"
    text = "This token isn't valid: it was never issued, is over, or was revoked."


class CodeRefused(Forbidden):
    """Doesn't tell why: whoever shows the code may be a stranger."""

    code = "code_refused"
    text = "This code isn't valid: it was never made, was used, is over, or its token was revoked."


class TicketRefused(Forbidden):
    """Doesn't tell why: whoever shows the ticket may be a stranger."""

    code = "ticket_refused"
    text = "This ticket isn't valid: it was never made, was used, is over, or its token was revoked."


class TokenNeeded(Forbidden):
    code = "token_required"

    def __init__(self, action: str) -> None:
        super().__init__(f"A session may not {action}: a token of its human is needed.", action=action)


class HumanNeeded(Forbidden):
    code = "human_required"

    def __init__(self, action: str) -> None:
        super().__init__(f"Only a human may {action}.", action=action)


class RightNeeded(Forbidden):
    """``right``: the least right for the action; ``has``: the caller's."""

    code = "right_needed"

    def __init__(self, action: str, right: str, has: str) -> None:
        message = f"To {action} takes the right {right!r}, and this token has the right {has!r}."
        remedy = f"Ask an administrator of the workspace for a token with the right {right!r}."
        super().__init__(f"{message} {remedy}", action=action, right=right, has=has)


class NotAsked(Forbidden):
    """``asked``: the id of the change, alert, task or question. ``message``: why the person may not decide, and who
    may; it names no member of a group."""

    code = "not_asked"

    def __init__(self, asked: str, message: str) -> None:
        super().__init__(message, asked=asked)


class NotYourAgent(Forbidden):
    code = "not_your_agent"

    def __init__(self, agent: str) -> None:
        super().__init__(f"This token doesn't speak for the agent {agent!r}.", agent=agent)


class ScopeNeeded(Forbidden):
    code = "scope_required"

    def __init__(self, scope: str) -> None:
        super().__init__(f"This token lacks the scope {scope!r}.", scope=scope)


class InactiveAgent(Forbidden):
    """A human or service switched the agent off (``active: false``). A handoff to it raises ``TargetInactive``."""

    code = "inactive_agent"

    def __init__(self, agent: str) -> None:
        may = "it may release what it holds, fail it, and read its inbox"
        super().__init__(f"The agent {agent!r} is switched off: {may}.", agent=agent)


class Unknown(BatonError):
    """Also raised for an id of another workspace, so that a caller can't tell that it exists (invariant 10)."""

    code = "not_found"

    def __init__(self, what: str) -> None:
        super().__init__(f"No such {what}.")


class NoSuchAgent(Unknown):
    """A path names no agent. ``agents``: as of ``UnknownAgent``."""

    def __init__(self, agent: str, agents: Iterable[str]) -> None:
        BatonError.__init__(self, f"No agent {agent[:64]!r} is registered in this workspace.", agents=list(agents))


class UnknownPerson(Unknown):
    def __init__(self) -> None:
        remedy = "GET /tokens lists the names. A person of the tracker is notion:<id>."
        BatonError.__init__(self, f"No token was ever issued to a person of this name. {remedy}")


class Refused(BatonError):
    code = "refused"


class TaskEnded(Refused):
    code = "task_ended"

    def __init__(self, task_id: str, state: str) -> None:
        super().__init__(f"The task has ended ({state}); it never changes again.", task_id=task_id, state=str(state))


class NotAllowed(Refused):
    code = "not_allowed"

    def __init__(self, task_id: str, verb: str, state: str) -> None:
        message = f"A task in state {str(state)!r} can't take {str(verb)!r}."
        super().__init__(message, task_id=task_id, verb=str(verb), state=str(state))


class UndoWindowOver(Refused):
    code = "undo_window_over"

    def __init__(self, task_id: str) -> None:
        super().__init__("The undo window is over; cancel the task instead.", task_id=task_id)


class RevisionChanged(Refused):
    """Another content was seen than the task has. ``seen``: its revision, or its digest."""

    code = "revision_changed"

    def __init__(self, task_id: str, seen: int | str, revision: int, digest: str | None) -> None:
        if isinstance(seen, int):
            message = f"Revision {seen} was seen, but the content is at revision {revision}: look again."
        else:
            message = "What was seen isn't what the task asks for: look at the task again, and send its digest."
        super().__init__(message, task_id=task_id, seen=seen, revision=revision, digest=digest)


class AgentChanged(Refused):
    """The approver hasn't seen the current target. ``about``: ``task_id``, ``retry_of``, ``review_id`` of a manual
    review, ``conversation_id`` of a message, or ``question_id`` (and ``task_id``) of a standing answer. ``change``: the
    service or member that has changed it since the task, request, last message or question came, and the fields; None
    if a version was named that it never had. ``versions``: for open work, the versions of its agents to send next, by
    slug."""

    code = "agent_changed"
    _CAME: ClassVar = {
        "review_id": "this request",
        "conversation_id": "the last message",
        "question_id": "this question",
    }

    def __init__(
        self,
        agent: str,
        version: int,
        change: tuple[str, tuple[str, ...]] | None,
        about: Mapping[str, str],
        versions: Mapping[str, int] | None = None,
    ) -> None:
        by, fields = change or ("", ())
        came = next((words for name, words in self._CAME.items() if name in about), "this task")
        what = f"{by} changed {agent} ({', '.join(fields)}) since {came} came" if change else f"{agent} is another"
        name = "agent_version" if versions is None else f"agent_versions.{agent}"
        message = f"{what}: look at the agent, and send its version as {name}."
        more = {} if versions is None else {"agent_versions": dict(versions)}
        super().__init__(message, **about, agent=agent, version=version, changed_by=by, fields=list(fields), **more)


class StaleClaim(Refused):
    """The claim isn't the current one, or not any more. Nothing was changed (invariant 3). ``task_id``: None if the
    request named only the claim."""

    code = "stale_claim"

    def __init__(self, task_id: str | None) -> None:
        super().__init__("This claim is no longer the current one; stop working on the task.", task_id=task_id)


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a claimed task, in the words of an answer."""

    agent: str
    worker: str
    fence: int
    claimed_at: str
    expires_at: str


class AlreadyClaimed(Refused):
    code = "already_claimed"

    def __init__(self, task_id: str, holder: Holder) -> None:
        # The worker's own word, which another agent reads: in quotation marks, none of which it can end.
        worker = " ".join(holder.worker.replace('"', "'").split())
        named = "" if holder.worker == holder.agent else f', worker "{worker}",'
        message = f"Claimed by {holder.agent}{named} since {holder.claimed_at}, until {holder.expires_at}."
        super().__init__(message, task_id=task_id, **asdict(holder))


class NotClaimable(Refused):
    code = "not_claimable"

    def __init__(self, task_id: str, state: str, ready_at: str | None) -> None:
        when = f" before {ready_at}" if ready_at else ""
        message = f"Can't be claimed in state {str(state)!r}{when}."
        super().__init__(message, task_id=task_id, state=str(state), ready_at=ready_at)


class ClaimOver(Refused):
    code = "claim_over"

    def __init__(self, task_id: str) -> None:
        super().__init__("The claim made with this Idempotency-Key is over; use a new key.", task_id=task_id)


class NobodyHolds(Refused):
    """There is no claim to release. ``seen``: the fence that the caller named. ``ended_by``: who ended that claim; None
    if the task's latest events don't tell."""

    code = "nobody_holds"

    def __init__(self, task_id: str, state: str, seen: int, ended_by: str | None) -> None:
        ended = f": {ended_by} ended claim {seen}" if ended_by else ""
        waits = " To stop the wait, cancel or resolve the task." if str(state) == "waiting" else ""
        message = f"Nobody holds the task, which is in state {str(state)!r}{ended}.{waits}"
        super().__init__(message, task_id=task_id, state=str(state), seen=seen, ended_by=ended_by)


class ClaimChanged(Refused):
    """Another claim than the one that was seen. Nothing was changed."""

    code = "claim_changed"

    def __init__(self, task_id: str, seen: int, fence: int, agent: str) -> None:
        message = f"Claim {seen} was seen, but {agent} holds the task under claim {fence}: look again."
        super().__init__(message, task_id=task_id, seen=seen, fence=fence, agent=agent, state="claimed")


class VersionConflict(Refused):
    code = "version_conflict"

    def __init__(self, what: str, version: int) -> None:
        super().__init__(f"The {what} is at version {version}: read it again.", version=version)


class NameTaken(Refused):
    code = "name_taken"

    def __init__(self, name: str, agent: str, taken: str | None = None) -> None:
        """``taken``: the agent's name that ``name`` looks like."""
        is_same = taken in {None, name}
        problem = f"{name!r} already names" if is_same else f"{name!r} looks like {taken!r}, which names"
        super().__init__(f"{problem} the agent {agent!r}.", name=name, agent=agent)


class ReviewClosed(Refused):
    """``state``: ``released`` or ``closed``. ``ended_by``: who did it."""

    code = "review_closed"

    def __init__(self, review_id: str, state: str, ended_by: str | None) -> None:
        message = f"This manual review was {state!s} before, by {ended_by}."
        super().__init__(message, review_id=review_id, state=str(state), ended_by=ended_by)


class ReviewsAgentAway(Refused):
    """A release gives the work only to the agent that its manual review names."""

    code = "inactive_agent"

    def __init__(self, agent: str, review_id: str) -> None:
        remedy = "switch it on or register it, and release again; or close the review and hand off again"
        super().__init__(f"No active agent is named {agent!r}: {remedy}.", agent=agent, review_id=review_id)


class SecretAlreadyShown(Refused):
    code = "secret_already_shown"

    def __init__(self, token_id: str) -> None:
        super().__init__("The token was made before and its secret was shown then.", token_id=token_id)


class ChangePending(BatonError):
    """No refusal: the change was stored, and waits for another administrator. ``change``: the stored change."""

    code = "change_pending"

    def __init__(self, change: Any) -> None:
        super().__init__("The change waits for another administrator.", change_id=change.id)
        self.change = change


class ChangeOver(Refused):
    """``state``: of the change now."""

    code = "change_over"

    def __init__(self, change_id: str, state: str) -> None:
        remedy = "nothing is left to decide. Ask for it again if it is still needed."
        if state == "pending":
            remedy = "another administrator has to approve it first."
        message = f"The change is {state}: {remedy}"
        super().__init__(message, change_id=change_id, state=state)


class ChangeOvertaken(Refused):
    """The workspace isn't as it was when the change was asked for."""

    code = "change_overtaken"

    def __init__(self, change_id: str, name: str) -> None:
        message = f"{name} has changed since the change was asked for. Refuse the change, and ask for it again."
        super().__init__(message, change_id=change_id, name=name)


class NotASession(Refused):
    code = "not_a_session"
    text = "This token isn't a session's: it is good until it expires or is revoked."


class TooManySessions(Refused):
    code = "too_many_sessions"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"A token has at most {limit} sessions at once: end one, or wait until one is over.", limit=limit
        )


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


class TooMany(BatonError):
    """A limit per caller is reached: try again later. ``retry_after``: in whole seconds, 1 or more."""

    code = "rate_limited"

    def __init__(self, message: str, retry_after: int, **fields: Any) -> None:
        super().__init__(message, retry_after=max(1, retry_after), **fields)


class RateLimited(TooMany):
    """``limit``: the setting that was exceeded, or ``all`` if the counter of all processes refuses the caller."""

    def __init__(self, limit: str, retry_after: int) -> None:
        super().__init__("This caller asks for more than its workspace allows in a minute.", retry_after, limit=limit)


class BoardRateLimited(TooMany):
    """``limit``: ``entries_per_hour`` or ``entry_bytes_per_hour``."""

    def __init__(self, limit: str, most: int, retry_after: int) -> None:
        what = "entries" if limit == "entries_per_hour" else "bytes of entries"
        super().__init__(
            f"At most {most:,} {what} of one poster in an hour. Say more in fewer entries, or post again later.",
            retry_after,
            limit=limit,
        )


class TooManyPolls(TooMany):
    code = "too_many_polls"

    def __init__(self, whose: str, limit: int, retry_after: int) -> None:
        super().__init__(f"At most {limit} long polls of {whose} wait at once.", retry_after, limit=limit)


class TooManyListeners(TooMany):
    """A poll is open to whoever is refused."""

    code = "too_many_listeners"

    def __init__(self, limit: int) -> None:
        super().__init__(f"At most {limit} connections listen at once.", 60, limit=limit)


class AtCapacity(Refused):
    code = "at_capacity"

    def __init__(self, agent: str, limit: int) -> None:
        super().__init__(f"{agent} holds as many claims as it may ({limit}).", agent=agent, max_concurrent=limit)


class ClaimFull(Refused):
    """A retry can't help. A new claim's count begins at 0."""

    code = "claim_full"

    def __init__(self, limit: int) -> None:
        message = (
            f"This claim has kept as much in checkpoints and notes as it may ({limit} bytes): end it, or release it."
        )
        super().__init__(message, limit=limit)


class TooManyWaits(Refused):
    """A retry can't help: the count is of the task's whole life."""

    code = "too_many_waits"

    def __init__(self, task_id: str, limit: int) -> None:
        message = (
            f"This task has waited {limit} times, and may wait no more: complete it with what there is, fail it with "
            "what it still waits for, or hand the rest on as a new task."
        )
        super().__init__(message, task_id=task_id, limit=limit)


class OwnHandoff(Refused):
    code = "own_handoff"

    def __init__(self, task_id: str) -> None:
        super().__init__("The agent that handed this off can't take it itself.", task_id=task_id)


class AlreadyRetried(Refused):
    code = "already_retried"

    def __init__(self, handoff_id: str, task_id: str) -> None:
        message = f"A retry of it is under way ({task_id}); retry that one once it has ended."
        super().__init__(message, handoff_id=handoff_id, task_id=task_id)


class QuestionOver(Refused):
    code = "question_over"

    def __init__(self, question_id: str, outcome: str) -> None:
        super().__init__(f"The question {question_id} is {outcome}.", question_id=question_id, outcome=outcome)


class TooManyQuestions(Refused):
    code = "too_many_questions"

    def __init__(self, task_id: str, most_open: int, most: int) -> None:
        message = f"{task_id} has {most_open} open questions, or has asked {most} in all: no task may have more."
        super().__init__(message, task_id=task_id, limit=most_open)


class ApprovalCounted(Refused):
    code = "approval_counted"

    def __init__(self, task_id: str, needed: int) -> None:
        message = (
            f"Your approval of {task_id} counts already. It needs {needed} people: somebody else has to approve it."
        )
        super().__init__(message, task_id=task_id, needed=needed)


@dataclass(frozen=True, slots=True)
class LackingApproval:
    """The requirement of one rule, and its approvals so far. ``of``: the people and groups that it names, in words."""

    needed: int
    of: str
    given: list[str]

    def __str__(self) -> str:
        given = f"approved by {', '.join(self.given)}" if self.given else "nobody of them has approved"
        return f"{self.needed} of {self.of} ({given})"


class ApprovalNeeded(Refused):
    """``lacks``: each requirement of a rule that isn't met; empty for a claimer who may not read rules."""

    code = "approval_needed"

    def __init__(self, task_id: str, agent: str, lacks: list[LackingApproval]) -> None:
        needs = f"It needs the approval of {', and of '.join(map(str, lacks))}. " if lacks else ""
        message = (
            f"Rules of the settings hold {task_id} back from {agent}. {needs}People approve it on the console's page "
            f"Approvals, or with: baton tasks approve {task_id}. Claim it after that."
        )
        super().__init__(message, task_id=task_id, agent=agent, lacks=[asdict(each) for each in lacks])


class ReceiptRefused(Refused):
    code = "receipt_refused"

    def __init__(self, question_id: str, why: str, **fields: str) -> None:
        super().__init__(f"The approval {question_id} allows nothing: {why}.", question_id=question_id, **fields)


class CallbackUsed(Refused):
    """A callback's address accepts one answer, and none after the wait."""

    code = "callback_used"
    text = "This callback was answered before, or nobody waits for it any more."


class ConversationBusy(Refused):
    """The agent is still answering the last message, and answers one at a time."""

    code = "conversation_busy"

    def __init__(self, conversation_id: str, task_id: str, state: str) -> None:
        message = (
            f"The conversation's last message is still being answered ({task_id} is {state}). Try again after that."
        )
        super().__init__(message, conversation_id=conversation_id, task_id=task_id, state=state)


class ConversationMoved(Refused):
    """The conversation has messages that the author of the new one hasn't read. ``agent``: the agent that holds it."""

    code = "conversation_moved"

    def __init__(self, conversation_id: str, agent: str | None) -> None:
        held = f", and {agent} holds it" if agent else ""
        message = f"The conversation has new messages{held}: read them, and send your message again."
        super().__init__(message, conversation_id=conversation_id, agent=agent)


class EntryClosed(Refused):
    """The decision that was to be replaced doesn't stand any more. ``superseded_by``: what replaced it, if anything."""

    code = "entry_closed"

    def __init__(self, entry_id: str, end: str, superseded_by: str | None) -> None:
        message = f"The entry was {end}: read it, and what has replaced it, before you replace that."
        super().__init__(message, entry_id=entry_id, end=str(end), superseded_by=superseded_by)


class ToolSuspended(Refused):
    code = "tool_suspended"

    def __init__(self, tool: str, reason: str) -> None:
        super().__init__(f"The tool {tool!r} {reason}. Only a human can resume it.", tool=tool)


class LoopTripped(Refused):
    """``chain``: the agents, from the root on; ``review_id``: the manual review that a human may release."""

    code = "loop_guard"

    def __init__(self, rule: str, message: str, chain: tuple[str, ...], review_id: str | None = None) -> None:
        super().__init__(message, rule=rule, chain=list(chain), review_id=review_id)
        self.rule, self.chain = rule, chain


def refusal_from(kind: str, message: str, fields: Mapping[str, Any]) -> BatonError:
    """Restores a saved refusal: ``kind`` is the name of its class, ``Refused`` if there is none."""
    refusal = BatonError.__new__(_class_of(kind, BatonError) or Refused)
    BatonError.__init__(refusal, message, **fields)
    for name in ("field", "rule", "chain"):  # attributes of some classes
        if name in fields:
            setattr(refusal, name, fields[name])
    return refusal


def _class_of(kind: str, under: type[BatonError]) -> type[BatonError] | None:
    if under.__name__ == kind:
        return under
    return next(filter(None, (_class_of(kind, each) for each in under.__subclasses__())), None)


class Conflict(BatonError):
    code = "conflict"

    def __init__(self, what: str) -> None:
        super().__init__(f"The {what} changed meanwhile.")


class SlotTaken(Conflict):
    code = "slot_taken"

    def __init__(self) -> None:
        super().__init__("permit")


class KeyTaken(Conflict):
    code = "key_taken"

    def __init__(self) -> None:
        super().__init__("idempotency key")


class Busy(BatonError):
    code = "busy"

    def __init__(self, message: str = "Baton is busy; the same request may be sent again.") -> None:
        super().__init__(message, retry_after=1)


class WrittenByNewer(Busy):
    """While two versions run side by side, or after a return to the older one."""

    def __init__(self) -> None:
        super().__init__("A newer version of Baton has written this; the same request may be sent again.")


class NoTracker(Refused):
    code = "no_tracker"
    text = "No tracker is configured: PUT /workspace/settings with a tracker.database first."


class HandshakeClosed(Refused):
    code = "handshake_closed"
    text = "No handshake is open here; a human opens one with POST /tracker/webhook."


class WebhookInstalled(Refused):
    code = "webhook_installed"
    text = "A webhook is installed; DELETE /tracker/webhook first to replace it."


class BadSignature(BatonError):
    code = "bad_signature"
    text = "The X-Notion-Signature doesn't match the body."


class PageHeld(Refused):
    code = "page_held"
    text = "The tracker's page is another task's."


class NoRoom(Refused):
    code = "no_room"
    text = "The tracker's page has as many reports as are kept."


class ModelTrouble(BatonError):
    code = "model_trouble"


class ModelAway(ModelTrouble):
    """``retry_after``: in seconds, if the provider gave it."""

    code = "model_away"

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelThrottled(ModelAway):
    """No outage: it is waited for, and opens no circuit."""

    code = "model_throttled"


class ModelRefuses(ModelTrouble):
    """``type``: the failure's type (docs/spec/protocol.md §5). ``retryable``: another attempt may succeed."""

    code = "model_refuses"

    def __init__(self, message: str, *, type: str = "error", retryable: bool = False, **fields: Any) -> None:  # noqa: A002 - the field's word
        super().__init__(message, **fields)
        self.type = type
        self.retryable = retryable


class TrackerTrouble(BatonError):
    """``status``: as callers see it (docs/spec/marker.md §6). ``unclear``: the request may have taken effect, or may
    yet. ``retry_after``: in seconds, if the tracker gave it."""

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
    """Somebody else is changing the page."""

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
