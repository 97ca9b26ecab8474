"""The loop that handles every due task (docs/spec/lifecycle.md §5). Safe to run twice at once, and to stop anywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from baton.domain import errors
from baton.domain.access.principal import SWEEPER, system
from baton.domain.agents.agent import Agent, Roster
from baton.domain.handoffs.workflow import JobKind
from baton.domain.tasks import commands
from baton.domain.tasks.task import Task
from baton.domain.tasks.transitions import transition
from baton.domain.tasks.wake import is_early
from baton.ports.deps import Deps
from baton.services.claims.join_branches import join_branches
from baton.services.tasks.cancel_descendants import cancel_descendants
from baton.steps.tasks.change_task import commit_undispatched, notify_agent


@dataclass
class SweepReport:
    """The results of one run of the sweeper."""

    reasons: Counter[str] = field(default_factory=Counter)
    looked_at: int = 0
    failed: int = 0
    oldest_ready_seconds: float = 0.0  # of the due, approved tasks: the longest time that one could have been claimed
    complete: bool = True  # False if time ran out; the next run resumes
    agents: dict[tuple[str, str], Agent | None] = field(default_factory=dict)
    rosters: dict[str, Roster] = field(default_factory=dict)
    notices: dict[tuple[str, str], tuple[int, Task]] = field(default_factory=dict)


def sweep(deps: Deps, may_go_on: Callable[[], bool] = lambda: True) -> SweepReport:
    """Handles every due task, until none is left or ``may_go_on`` returns False."""
    round_ = SweepReport()
    _notify_trackers(deps, round_)
    for workspace, task_id, job_kind in deps.store.due(deps.clock.now()):
        if not may_go_on():
            round_.complete = False
            break
        round_.looked_at += 1
        try:
            if job_kind is None:
                _sweep_task(deps, round_, workspace, task_id)
            else:
                _run_job(deps, round_, job_kind, (workspace, task_id), may_go_on)
        except errors.Conflict:
            round_.reasons["changed_meanwhile"] += 1
        except Exception as exc:  # noqa: BLE001 - one bad task never stops the rest; it is due again next round
            round_.failed += 1
            deps.log("sweeping a task failed", action="sweep_failed", task_id=task_id, error=type(exc).__name__)
    _notify_agents(deps, round_)
    return round_


def _run_job(
    deps: Deps, round_: SweepReport, job_kind: JobKind, of: tuple[str, str], may_go_on: Callable[[], bool]
) -> None:
    """Runs a task's background job that a crash or a lack of time left."""
    workspace, task_id = of
    if job_kind is JobKind.JOIN:
        round_.reasons["joined"] += join_branches(deps, workspace, task_id)
    else:
        round_.reasons["cascade_finished"] += cancel_descendants(deps, workspace, task_id, may_go_on)


def _notify_agents(deps: Deps, round_: SweepReport) -> None:
    """Sends one dispatch notice per agent, the lowest rank first: a task that unblocks others before a task that can
    wait."""
    for _, task in sorted(round_.notices.values(), key=lambda notice: (notice[0], notice[1].priority, notice[1].id)):
        notify_agent(deps, task)


def _notify_trackers(deps: Deps, round_: SweepReport) -> None:
    """Runs first, as it sends one notice per workspace however much is due. A workspace is due until sync-tracker has
    handled it."""
    try:
        for workspace in deps.store.tracker_circuits_due(deps.clock.now()):
            deps.tracker_queue.notify(workspace)
            round_.reasons["tracker_due"] += 1
    except Exception as exc:  # noqa: BLE001 - trackers never stop the tasks
        round_.failed += 1
        deps.log("notifying sync-tracker failed", action="sweep_failed", error=type(exc).__name__)


def _sweep_task(deps: Deps, round_: SweepReport, workspace: str, task_id: str) -> None:
    task, _ = deps.store.load(workspace, task_id)
    now = deps.clock.now()
    if task.wake_at is None or task.wake_at > now:
        return  # the index lags: the task was handled since
    _measure(round_, task, now)
    agent = _agent(deps, round_, task)
    is_takeable = task.target_agent is not None or _is_takeable(deps, round_, task)
    command = commands.Sweep(by=system(workspace, SWEEPER), agent=agent, is_takeable=is_takeable)
    change = transition(task, command, now)
    commit_undispatched(deps, change)
    round_.reasons.update(change.reasons)
    if change.notifies and agent is not None:
        rank = agent.dispatch_rank if task.dispatch_rank is None else task.dispatch_rank
        notice, key = (rank, change.task), (workspace, agent.slug)
        round_.notices[key] = min(round_.notices.get(key, notice), notice, key=lambda each: (each[0], each[1].priority))


def _agent(deps: Deps, round_: SweepReport, task: Task) -> Agent | None:
    """The agent that holds the claim, or else the target."""
    slug = task.claim.agent if task.claim else task.target_agent
    if slug is None:
        return None
    key = (task.workspace, slug)
    if key not in round_.agents:
        round_.agents[key] = deps.store.agent(*key)
    return round_.agents[key]


def _is_takeable(deps: Deps, round_: SweepReport, task: Task) -> bool:
    if task.workspace not in round_.rosters:
        round_.rosters[task.workspace] = deps.store.roster(task.workspace)
    return bool(round_.rosters[task.workspace].able(task.requires, task.source_agent))


def _measure(round_: SweepReport, task: Task, now: datetime) -> None:
    if task.is_ready(now) and task.ready_at is not None and not is_early(task, now):
        round_.oldest_ready_seconds = max(round_.oldest_ready_seconds, (now - task.ready_at).total_seconds())
