"""The one loop that looks at what is due (spec/lifecycle.md §5). Safe to run twice at once, and to stop anywhere."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from baton.domain.errors import Conflict
from baton.domain.principal import SWEEPER, system
from baton.domain.transitions import transition
from baton.domain.verbs import Sweep
from baton.services.change_task import commit, ring

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from baton.domain.agent import Agent
    from baton.domain.task import Task
    from baton.ports import Baton


@dataclass
class Round:
    """What one run of the sweeper saw. ``oldest_ready_seconds``: of the approved tasks that were due a look, how long
    the one that has waited longest could have been taken. ``complete``: False if time ran out; the next run resumes."""

    reasons: Counter[str] = field(default_factory=Counter)
    looked_at: int = 0
    failed: int = 0
    oldest_ready_seconds: float = 0.0
    complete: bool = True
    agents: dict[tuple[str, str], Agent | None] = field(default_factory=dict)
    rung: set[tuple[str, str]] = field(default_factory=set)


def sweep(baton: Baton, may_go_on: Callable[[], bool] = lambda: True) -> Round:
    """Looks at every task that is due, until none is left or ``may_go_on`` says that time is up."""
    this = Round()
    _ring_for_trackers(baton, this)
    for workspace, task_id in baton.store.due(baton.clock.now()):
        if not may_go_on():
            this.complete = False
            break
        this.looked_at += 1
        try:
            _look(baton, this, workspace, task_id)
        except Conflict:
            this.reasons["changed_meanwhile"] += 1
        except Exception as exc:  # noqa: BLE001 - one bad task never stops the rest; it is due again next round
            this.failed += 1
            baton.log("sweeping a task failed", action="sweep_failed", task_id=task_id, error=type(exc).__name__)
    return this


def _ring_for_trackers(baton: Baton, this: Round) -> None:
    """First, as it is one bell per workspace however much is due; a workspace is due until sync-tracker saw to it."""
    try:
        for workspace in baton.store.gates_due(baton.clock.now()):
            baton.tracker_bell.ring(workspace)
            this.reasons["tracker_due"] += 1
    except Exception as exc:  # noqa: BLE001 - it never stops the tasks
        this.failed += 1
        baton.log("ringing for the trackers failed", action="sweep_failed", error=type(exc).__name__)


def _look(baton: Baton, this: Round, workspace: str, task_id: str) -> None:
    task, _ = baton.store.load(workspace, task_id)
    now = baton.clock.now()
    if task.wake_at is None or task.wake_at > now:
        return  # the index lags: somebody has seen to it
    _measure(this, task, now)
    verb = Sweep(by=system(workspace, SWEEPER), agent=_target(baton, this, task))
    change = transition(task, verb, now)
    commit(baton, change)
    this.reasons.update(change.reasons)
    whose = (workspace, task.target_agent)
    if change.ring and whose not in this.rung:
        this.rung.add(whose)
        ring(baton, change.task)


def _target(baton: Baton, this: Round, task: Task) -> Agent | None:
    whose = (task.workspace, task.target_agent)
    if whose not in this.agents:
        this.agents[whose] = baton.store.agent(*whose)
    return this.agents[whose]


def _measure(this: Round, task: Task, now: datetime) -> None:
    if task.is_ready(now) and task.ready_at is not None:
        this.oldest_ready_seconds = max(this.oldest_ready_seconds, (now - task.ready_at).total_seconds())
