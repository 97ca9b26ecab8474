"""The rules of the sweeper (docs/spec/lifecycle.md §4 and §5): a part of ``transitions``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.change import OVER, TO_HUMAN, Change, Story, put_back
from baton.domain.task import MAX_RELEASES, NEXT_STALE_AFTER, Flag, Recovery, State, Task
from baton.domain.times import rfc3339
from baton.domain.wake import unclaimed_since

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain import verbs


def sweep(task: Task, verb: verbs.Sweep, at: datetime) -> Change:
    """Applies everything that is due on the task, as one change. A change without events only updates ``wake_at`` and
    other bookkeeping."""
    story = Story(task, task, verb.by, at)
    reasons: list[str] = []
    if _deadline_passed(story):
        reasons.append("deadline_passed")
    if not story.task.is_ended:
        look = _sweep_claimed if task.claim else _sweep_waiting if task.wait else _sweep_untaken
        reasons += look(story, verb)
    return story.end(reasons=tuple(reasons))


def _deadline_passed(story: Story) -> bool:
    task = story.task
    if task.deadline is None or story.at < task.deadline or Flag.DEADLINE_PASSED in task.flags or task.is_ended:
        return False
    story.alert(Flag.DEADLINE_PASSED)
    if task.fail_on_deadline:
        failure = {"type": "timeout", "description": f"The deadline {rfc3339(task.deadline)} passed."}
        story.tell("handoff_failed", {"failure": failure}, state=State.FAILED, **OVER, has_failure=True)
        story.extras["failure"] = failure
    return True


def _sweep_claimed(story: Story, verb: verbs.Sweep) -> list[str]:
    claim = story.task.claim
    if claim is None or not claim.is_over(story.at):
        return []
    task = story.task
    exhausted = task.attempt >= task.max_attempts
    gives_up = exhausted or (verb.agent is not None and verb.agent.requeue == "needs")
    new_state = State.NEEDS if gives_up else task.origin or State.DELEGATED
    used_up = f"attempt {task.attempt} of {task.max_attempts} was the last"
    action = f"re-queued to {new_state}, " + (
        used_up if exhausted else f"attempt {task.attempt + 1} of {task.max_attempts}"
    )
    recovery = Recovery(
        number=task.recoveries + 1,
        at=story.at,
        reason=(
            f"lease of worker {claim.worker}, fence {claim.fence}, expired at {rfc3339(claim.expires_at)}, "
            f"last heartbeat {rfc3339(claim.heartbeat_at)}"
        ),
        prior_agent=claim.agent,
        prior_worker=claim.worker,
        prior_fence=claim.fence,
        last_checkpoint_id=task.last_checkpoint_id,
        action=action,
    )
    story.tell("heartbeat_lost", {"agent": claim.agent, "worker": claim.worker, "reason": recovery.reason})
    changes = {"recoveries": recovery.number}
    if gives_up:
        story.tell("requeued", {"action": action}, **TO_HUMAN, **changes)
    else:
        put_back(story, "requeued", {"action": action}, ready_at=story.at, **changes)
    if exhausted:
        story.alert(Flag.ATTEMPTS_EXHAUSTED)
    story.extras["recovery"] = recovery
    return ["lease_over"]


def _sweep_waiting(story: Story, verb: verbs.Sweep) -> list[str]:  # noqa: ARG001 - as its siblings
    """Resumes a task whose callback timed out, with an empty resume payload, and counts that as a release: a wait uses
    no attempt, so only this count ends a task that waits in vain again and again. Joins check the branches."""
    wait = story.task.wait
    if wait is None:
        return []
    if wait.until is not None and story.at >= wait.until:
        story.alert(Flag.CALLBACK_MISSED)
        data = {"by": "timeout", "wait": wait.number}
        releases = story.task.releases + 1
        if releases >= MAX_RELEASES:
            story.tell("resumed", data, **TO_HUMAN, wait=None, releases=releases)
            story.alert(Flag.RELEASED_TOO_OFTEN)
        else:
            put_back(story, "resumed", data, ready_at=story.at, wait=None, releases=releases)
        story.extras["brought"] = {
            "wait": wait.number,
            "callback": None,
            "interaction_id": wait.interaction_id,
            "timed_out": True,
        }
        return ["callback_missed"]
    if story.at >= wait.alert_at and Flag.WAITING not in story.task.flags:
        story.alert(Flag.WAITING)
        return ["waiting_too_long"]
    return []


def _sweep_untaken(story: Story, verb: verbs.Sweep) -> list[str]:
    task, reasons = story.task, []
    if task.parked and task.hidden_until is not None and story.at >= task.hidden_until:
        reasons.append("due")  # its queue shows it from now on
    if task.state is State.NEXT and task.ready_at and story.at >= task.ready_at + NEXT_STALE_AFTER:
        story.alert(Flag.NEXT_STALE)
        reasons.append("next_stale")
    if not task.is_ready(story.at):
        return reasons
    agent = verb.agent
    if not _has_taker(task, verb):
        story.alert(Flag.UNDELIVERABLE)
        reasons.append("undeliverable")
    elif agent is not None:
        story.task = story.task.changed(runtime=agent.runtime)
        if agent.is_run:
            story.extras["ring"] = True
            reasons.append("not_taken")
    too_old = unclaimed_since(task)
    if too_old is not None and story.at >= too_old and Flag.UNCLAIMED not in story.task.flags:
        story.alert(Flag.UNCLAIMED)
        reasons.append("unclaimed_too_long")
    story.task = story.task.changed(rings=task.rings + 1)
    return reasons


def _has_taker(task: Task, verb: verbs.Sweep) -> bool:
    if task.target_agent is None:
        return verb.is_takeable
    return verb.agent is not None and verb.agent.active and not verb.agent.lacks(task.requires)
