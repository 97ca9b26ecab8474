"""The one loop that looks at what is due (docs/spec/lifecycle.md §5). Safe to run twice at once, and to stop
anywhere."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from baton.domain.errors import Conflict
from baton.domain.principal import SWEEPER, system
from baton.domain.transitions import transition
from baton.domain.verbs import Sweep
from baton.domain.workflow import Errand
from baton.services.cancel_descendants import cancel_descendants
from baton.services.change_task import commit, ring
from baton.services.join_branches import join_branches

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from baton.domain.agent import Agent, Roster
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
    rosters: dict[str, Roster] = field(default_factory=dict)
    bells: dict[tuple[str, str], tuple[int, Task]] = field(default_factory=dict)


def sweep(baton: Baton, may_go_on: Callable[[], bool] = lambda: True) -> Round:
    """Looks at every task that is due, until none is left or ``may_go_on`` says that time is up."""
    this = Round()
    _ring_for_trackers(baton, this)
    for workspace, task_id, errand in baton.store.due(baton.clock.now()):
        if not may_go_on():
            this.complete = False
            break
        this.looked_at += 1
        try:
            if errand is None:
                _look(baton, this, workspace, task_id)
            else:
                _run(baton, this, errand, workspace, task_id, may_go_on)
        except Conflict:
            this.reasons["changed_meanwhile"] += 1
        except Exception as exc:  # noqa: BLE001 - one bad task never stops the rest; it is due again next round
            this.failed += 1
            baton.log("sweeping a task failed", action="sweep_failed", task_id=task_id, error=type(exc).__name__)
    _ring(baton, this)
    return this


def _run(
    baton: Baton, this: Round, errand: Errand, workspace: str, task_id: str, may_go_on: Callable[[], bool]
) -> None:
    """What was left to do about a task, by whoever died over it or couldn't wait."""
    if errand is Errand.JOIN:
        this.reasons["joined"] += join_branches(baton, workspace, task_id)
    else:
        this.reasons["cascade_finished"] += cancel_descendants(baton, workspace, task_id, may_go_on)


def _ring(baton: Baton, this: Round) -> None:
    """One bell per agent, the lowest rank first: what unblocks others goes before what waits well."""
    for _, task in sorted(this.bells.values(), key=lambda bell: (bell[0], bell[1].priority, bell[1].id)):
        ring(baton, task)


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
    agent = _agent(baton, this, task)
    is_takeable = task.target_agent is not None or _is_takeable(baton, this, task)
    verb = Sweep(by=system(workspace, SWEEPER), agent=agent, is_takeable=is_takeable)
    change = transition(task, verb, now)
    commit(baton, change)
    this.reasons.update(change.reasons)
    if change.ring and agent is not None:
        rank = agent.dispatch_rank if task.dispatch_rank is None else task.dispatch_rank
        bell, whose = (rank, change.task), (workspace, agent.slug)
        this.bells[whose] = min(this.bells.get(whose, bell), bell, key=lambda each: (each[0], each[1].priority))


def _agent(baton: Baton, this: Round, task: Task) -> Agent | None:
    """Whoever holds it, or else its target."""
    slug = task.claim.agent if task.claim else task.target_agent
    if slug is None:
        return None
    whose = (task.workspace, slug)
    if whose not in this.agents:
        this.agents[whose] = baton.store.agent(*whose)
    return this.agents[whose]


def _is_takeable(baton: Baton, this: Round, task: Task) -> bool:
    if task.workspace not in this.rosters:
        this.rosters[task.workspace] = baton.store.roster(task.workspace)
    return bool(this.rosters[task.workspace].able(task.requires, task.source_agent))


def _measure(this: Round, task: Task, now: datetime) -> None:
    if task.is_ready(now) and task.ready_at is not None:
        this.oldest_ready_seconds = max(this.oldest_ready_seconds, (now - task.ready_at).total_seconds())
