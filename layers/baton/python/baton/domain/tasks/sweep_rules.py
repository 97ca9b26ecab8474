"""The rules of the sweeper (docs/spec/lifecycle.md §4 and §5): a part of ``transitions``."""

from __future__ import annotations

from datetime import datetime

from baton.domain import times
from baton.domain.agents.agent import Requeue
from baton.domain.task_state import State
from baton.domain.tasks import commands
from baton.domain.tasks.change import CLEARED, TO_HUMAN, Change, EventRecorder, requeue
from baton.domain.tasks.event_type import EventType
from baton.domain.tasks.question_rules import expire_questions
from baton.domain.tasks.task import MAX_RELEASES, NEXT_STALE_AFTER, Claim, Flag, Recovery, Task
from baton.domain.tasks.wake import is_early, unclaimed_since


def sweep(task: Task, command: commands.Sweep, at: datetime) -> Change:
    """Applies everything that is due on the task, as one change. A change without events only updates ``wake_at`` and
    other bookkeeping: also of a task that was found early, on which nothing is due."""
    recorder = EventRecorder(task, task, command.by, at)
    if is_early(task, at):
        return recorder.end()
    reasons: list[str] = []
    if _deadline_passed(recorder):
        reasons.append("deadline_passed")
    if not recorder.task.is_ended:
        reasons += expire_questions(recorder, command.answers)
        look = _sweep_claimed if task.claim else _sweep_waiting if task.wait else _sweep_untaken
        reasons += look(recorder, command)
    return recorder.end(reasons=tuple(reasons))


def _deadline_passed(recorder: EventRecorder) -> bool:
    task = recorder.task
    if task.deadline is None or recorder.at < task.deadline or Flag.DEADLINE_PASSED in task.flags or task.is_ended:
        return False
    recorder.alert(Flag.DEADLINE_PASSED)
    if task.fail_on_deadline:
        failure = {"type": "timeout", "description": f"The deadline {times.rfc3339(task.deadline)} passed."}
        recorder.record(EventType.HANDOFF_FAILED, {"failure": failure}, state=State.FAILED, **CLEARED, has_failure=True)
        recorder.extras["failure"] = failure
    return True


def _sweep_claimed(recorder: EventRecorder, command: commands.Sweep) -> list[str]:
    claim = recorder.task.claim
    if claim is None or not claim.is_over(recorder.at):
        return []
    task = recorder.task
    counts = _counts_after(task, claim)
    flag = _used_up(task, claim)
    gives_up = flag is not None or (command.agent is not None and command.agent.requeue != Requeue.SAME)
    new_state = State.NEEDS if gives_up else task.origin or State.DELEGATED
    used_up = f"attempt {task.attempt} of {task.max_attempts} was the last"
    following = f"attempt {counts.get('attempt', task.attempt) + 1} of {task.max_attempts}"
    action = f"re-queued to {new_state}, {used_up if flag is Flag.ATTEMPTS_EXHAUSTED else following}"
    recovery = Recovery(
        number=task.recoveries + 1,
        at=recorder.at,
        reason=(
            f"lease of worker {claim.worker}, fence {claim.fence}, expired at {times.rfc3339(claim.expires_at)}, "
            + _last_word(claim)
        ),
        prior_agent=claim.agent,
        prior_worker=claim.worker,
        prior_fence=claim.fence,
        last_checkpoint_id=task.last_checkpoint_id,
        action=action,
    )
    recorder.record(EventType.HEARTBEAT_LOST, {"agent": claim.agent, "worker": claim.worker, "reason": recovery.reason})
    changes = {"recoveries": recovery.number, **counts}
    if gives_up:
        recorder.record(EventType.REQUEUED, {"action": action}, **TO_HUMAN, **changes)
    else:
        requeue(recorder, EventType.REQUEUED, {"action": action}, ready_at=recorder.at, **changes)
    if flag is not None:
        recorder.alert(flag)
    recorder.extras["recovery"] = recovery
    return ["lease_over"]


def _counts_after(task: Task, claim: Claim) -> dict[str, int]:
    """Returns the counts that a lost claim changes. One that nobody took up was no attempt: it counts as a release, so
    that a task that is claimed in vain again and again comes to a human."""
    return {"attempt": task.attempt - 1, "releases": task.releases + 1} if claim.is_unconfirmed else {}


def _last_word(claim: Claim) -> str:
    if claim.is_unconfirmed:
        return "no word of it ever came"
    return f"last heartbeat {times.rfc3339(claim.heartbeat_at)}"


def _used_up(task: Task, claim: Claim) -> Flag | None:
    """Returns why the task goes to a human after its claim was lost; None if it may be claimed again."""
    if claim.is_unconfirmed:
        return Flag.RELEASED_TOO_OFTEN if task.releases + 1 >= MAX_RELEASES else None
    return Flag.ATTEMPTS_EXHAUSTED if task.attempt >= task.max_attempts else None


def _sweep_waiting(recorder: EventRecorder, command: commands.Sweep) -> list[str]:  # noqa: ARG001 - as its siblings
    """Resumes a task whose callback timed out, with an empty resume payload, and counts that as a release: a wait uses
    no attempt, so only this count ends a task that waits in vain again and again. Joins check the branches."""
    wait = recorder.task.wait
    if wait is None:
        return []
    if wait.until is not None and recorder.at >= wait.until:
        recorder.alert(Flag.CALLBACK_MISSED)
        data = {"by": "timeout", "wait": wait.number}
        releases = recorder.task.releases + 1
        if releases >= MAX_RELEASES:
            recorder.record(EventType.RESUMED, data, **TO_HUMAN, wait=None, releases=releases)
            recorder.alert(Flag.RELEASED_TOO_OFTEN)
        else:
            requeue(recorder, EventType.RESUMED, data, ready_at=recorder.at, wait=None, releases=releases)
        recorder.extras["resume_payload"] = {
            "wait": wait.number,
            "callback": None,
            "interaction_id": wait.interaction_id,
            "timed_out": True,
        }
        return ["callback_missed"]
    if recorder.at >= wait.alert_at and Flag.WAITING not in recorder.task.flags:
        recorder.alert(Flag.WAITING)
        return ["waiting_too_long"]
    return []


def _sweep_untaken(recorder: EventRecorder, command: commands.Sweep) -> list[str]:
    task, reasons = recorder.task, _wait_for_approval(recorder)
    if task.meta.parked and task.hidden_until is not None and recorder.at >= task.hidden_until:
        reasons.append("due")  # its queue shows it from now on
    if task.state is State.NEXT and task.ready_at and recorder.at >= task.ready_at + NEXT_STALE_AFTER:
        recorder.alert(Flag.NEXT_STALE)
        reasons.append("next_stale")
    if not task.is_ready(recorder.at):
        return reasons
    agent = command.agent
    if not _has_taker(task, command):
        recorder.alert(Flag.UNDELIVERABLE)
        reasons.append("undeliverable")
    elif agent is not None:
        recorder.task = recorder.task.changed(runtime=agent.runtime)
        if agent.is_run:
            recorder.extras["notifies"] = True
            reasons.append("not_taken")
    too_old = unclaimed_since(task)
    if too_old is not None and recorder.at >= too_old and Flag.UNCLAIMED not in recorder.task.flags:
        recorder.alert(Flag.UNCLAIMED)
        reasons.append("unclaimed_too_long")
    recorder.task = recorder.task.changed(rings=task.meta.rings + 1)
    return reasons


def _wait_for_approval(recorder: EventRecorder) -> list[str]:
    """Alerts humans of a handoff that nobody has decided on, and then lets the next group decide, too."""
    task, at = recorder.task, recorder.at
    if task.state is not State.NEEDS or task.approval is None:
        return []
    reasons = []
    if task.approval.remind_at is not None and task.approval.remind_at <= at:
        flags, data = task.flags | {Flag.APPROVAL_OVERDUE}, {"flag": str(Flag.APPROVAL_OVERDUE)}
        recorder.record(EventType.ALERT_RAISED, data, flags=flags, approval=task.approval.reminded(at))
        reasons.append("approval_overdue")
    approval = recorder.task.approval
    while approval is not None and approval.then_at is not None and approval.then_at <= at:
        approval, group = approval.widened(at)
        recorder.record(EventType.APPROVAL_WIDENED, {"group": group}, approval=approval)
        reasons.append("approval_widened")
    return reasons


def _has_taker(task: Task, command: commands.Sweep) -> bool:
    if task.target_agent is None:
        return command.is_takeable
    return command.agent is not None and command.agent.active and not command.agent.lacks(task.requires)
