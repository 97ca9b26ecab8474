"""The types of a task's events. ``make openapi`` lists them in docs/events.md and docs/spec/protocol.md."""

from __future__ import annotations

from enum import StrEnum


class EventType(StrEnum):
    """What may be recorded. A stored event may be of a type that only a newer release knows: ``Event.type`` is a
    text. A stored name never changes."""

    sentence: str  # what the event tells, for who receives it

    def __new__(cls, name: str, sentence: str) -> EventType:
        member = str.__new__(cls, name)
        member._value_, member.sentence = name, sentence
        return member

    HANDOFF_INITIATED = "handoff_initiated", "The task begins: somebody handed it off"
    HANDOFF_IMPORTED = "handoff_imported", "The task begins: a human imported it from a page of the tracker"
    APPROVED = "approved", "A human or a standing approval let the work begin; `for` is `dispatch` or `next`"
    APPROVAL_UNDONE = "approval_undone", "A human took the approval back, or a service or member changed the agent"
    DEFERRED = "deferred", "A human hid the task from the queue until later"
    DISMISSED = "dismissed", "A human refused the task; it is cancelled"
    SPLIT = "split", "A human split the task: it is cancelled, and `parts` go on in its place"
    HANDOFF_RECEIVED = "handoff_received", "An agent claimed the task, or resumed its own claim of the fence `resumed`"
    CHECKPOINT_SAVED = "checkpoint_saved", "The worker saved progress; `kind` is `run_state` for a framework's run"
    HANDOFF_COMPLETED = "handoff_completed", "The worker did the work; `status` is `success` or `partial`"
    HANDOFF_TRANSFERRED = "handoff_transferred", "The worker handed the work on, and is done; `new_task_id` goes on"
    HANDOFF_FAILED = "handoff_failed", "The worker failed and there is no further attempt, or the deadline passed"
    HANDOFF_REJECTED = "handoff_rejected", "The worker refused the work"
    ROLLBACK_INITIATED = "rollback_initiated", "A new handoff, `handoff_id`, rolls back what failed or was rejected"
    RELEASED = "released", "The worker gave the task back, or a human took it back from the worker"
    REQUEUED = "requeued", "The task goes back after a failed attempt or a lost claim"
    HEARTBEAT_LOST = "heartbeat_lost", "The claim is lost: its lease is over"
    WAITING = "waiting", "The worker gave its claim up until `branches` have ended or a `callback` comes, as `for` says"
    RESUMED = "resumed", "The wait is over; `by` is `joined`, `callback`, `answered` or `timeout`"
    APPROVAL_GIVEN = "approval_given", "A human approved, and the rule of the settings asks for more of them"
    APPROVAL_WIDENED = "approval_widened", "Nobody decided in time, so that another `group` may, too"
    QUESTION_ASKED = "question_asked", "The worker asked people: to answer a question, or to approve an action"
    QUESTION_DECIDED = "question_decided", "A human answered, approved or refused; `outcome` says what became of it"
    QUESTION_EXPIRED = "question_expired", "Nobody decided in time: neither a yes nor a no"
    APPROVAL_REVOKED = "approval_revoked", "A human took the approval of an action back before it was used"
    APPROVAL_USED = "approval_used", "The worker began the action that was approved, once"
    RESOLVED = "resolved", "A human ended the task: the work was done elsewhere"
    CANCELLED = (
        "cancelled",
        "The task was cancelled: alone, along with `ancestor`, or as `overtaken_by` made it needless",
    )
    ALERT_RAISED = "alert_raised", "A human should look at the task; `flag` says why"
