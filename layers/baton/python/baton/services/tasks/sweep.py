"""The loop that handles every due task (docs/spec/lifecycle.md §5). Safe to run twice at once, and to stop anywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from baton.domain import errors
from baton.domain.access.principal import SWEEPER, system
from baton.domain.agents.agent import Agent, Roster
from baton.domain.handoffs.workflow import JobKind
from baton.domain.tasks import commands
from baton.domain.tasks.task import Task
from baton.domain.tasks.transitions import transition
from baton.domain.tasks.wake import is_early, is_resting
from baton.ports.deps import Deps
from baton.ports.system import Workers, in_turn
from baton.services.claims.join_branches import join_branches
from baton.services.tasks.cancel_descendants import cancel_descendants
from baton.steps.questions.answers_of import answers_of
from baton.steps.tasks.change_task import commit, notify_agent

DueEntry = tuple[str, str, JobKind | None]
Notice = tuple[int, Task]


@dataclass
class SweepReport:
    """The results of one run of the sweeper, or of its look at one entry."""

    reasons: Counter[str] = field(default_factory=Counter)
    looked_at: int = 0
    failed: int = 0
    # Of the due, approved tasks: the longest time that one could have been claimed. One that humans were told of by its
    # flag doesn't count again each day.
    oldest_ready_seconds: float = 0.0
    complete: bool = True  # False if time ran out, or a part of what is due can't be read; the next run resumes
    notices: dict[tuple[str, str], Notice] = field(default_factory=dict)

    def add(self, look: SweepReport) -> None:
        self.reasons.update(look.reasons)
        self.looked_at += look.looked_at
        self.failed += look.failed
        self.oldest_ready_seconds = max(self.oldest_ready_seconds, look.oldest_ready_seconds)
        for key, notice in look.notices.items():
            self.notices[key] = min(self.notices.get(key, notice), notice, key=_urgency)


@dataclass(frozen=True, slots=True)
class _Round:
    """What all looks of a run share. Two that need an agent at once may both read it."""

    deps: Deps
    may_go_on: Callable[[], bool]
    agents: dict[tuple[str, str], Agent | None] = field(default_factory=dict)
    rosters: dict[str, Roster] = field(default_factory=dict)


def sweep(deps: Deps, may_go_on: Callable[[], bool] = lambda: True, workers: Workers = in_turn) -> SweepReport:
    """Handles every due task, until none is left or ``may_go_on`` returns False. Begins with the longest due, so that
    what a run leaves is where the next one begins."""
    report, round_ = SweepReport(), _Round(deps, may_go_on)
    _notify_trackers(deps, report)
    for look in workers(_due(round_, report), lambda entry: _look(round_, entry)):
        report.add(look)
    _notify_agents(deps, report)
    return report


def _due(round_: _Round, report: SweepReport) -> Iterator[DueEntry]:
    """Yields what is due while there is time. What can't be read is a failure of the run, and stops nothing else."""
    try:
        for entry in round_.deps.store.queues.due(round_.deps.clock.now()):
            if not round_.may_go_on():
                report.complete = False
                return
            yield entry
    except errors.Busy as exc:
        report.complete = False
        report.failed += 1
        round_.deps.log("what is due can't be read", action="sweep_failed", error=type(exc).__name__)


def _look(round_: _Round, entry: DueEntry) -> SweepReport:
    """Handles one entry. Never raises: one bad task never stops the rest, and is due again in the next run."""
    look, (workspace, task_id, job_kind) = SweepReport(looked_at=1), entry
    try:
        if job_kind is None:
            _sweep_task(round_, look, workspace, task_id)
        else:
            _run_job(round_, look, entry)
    except errors.Conflict:
        look.reasons["changed_meanwhile"] += 1
    except Exception as exc:  # noqa: BLE001 - the edge of one look
        look.failed += 1
        round_.deps.log("sweeping a task failed", action="sweep_failed", task_id=task_id, error=type(exc).__name__)
    return look


def _run_job(round_: _Round, look: SweepReport, entry: DueEntry) -> None:
    """Runs a task's background job that a crash or a lack of time left."""
    workspace, task_id, job_kind = entry
    if job_kind is JobKind.JOIN:
        look.reasons["joined"] += join_branches(round_.deps, workspace, task_id)
    else:
        look.reasons["cascade_finished"] += cancel_descendants(round_.deps, workspace, task_id, round_.may_go_on)


def _urgency(notice: Notice) -> tuple[int, str]:
    rank, task = notice
    return rank, task.priority


def _notify_agents(deps: Deps, report: SweepReport) -> None:
    """Sends one dispatch notice per agent, the lowest rank first: a task that unblocks others before a task that can
    wait."""
    for _, task in sorted(report.notices.values(), key=lambda notice: (*_urgency(notice), notice[1].id)):
        notify_agent(deps, task)


def _notify_trackers(deps: Deps, report: SweepReport) -> None:
    """Runs first, as it sends one notice per workspace however much is due. A workspace is due until sync-tracker has
    handled it."""
    try:
        for workspace in deps.store.tracker.tracker_circuits_due(deps.clock.now()):
            deps.tracker_queue.notify(workspace)
            report.reasons["tracker_due"] += 1
    except Exception as exc:  # noqa: BLE001 - trackers never stop the tasks
        report.failed += 1
        deps.log("notifying sync-tracker failed", action="sweep_failed", error=type(exc).__name__)


def _sweep_task(round_: _Round, look: SweepReport, workspace: str, task_id: str) -> None:
    deps = round_.deps
    task, _ = deps.store.tasks.load(workspace, task_id)
    now = deps.clock.now()
    if task.meta.wake_at is None or task.meta.wake_at > now:
        return  # the index lags: the task was handled since
    _measure(look, task, now)
    agent = _agent(round_, task)
    is_takeable = task.target_agent is not None or _is_takeable(round_, task)
    answers = answers_of(deps, task, now)
    command = commands.Sweep(by=system(workspace, SWEEPER), agent=agent, is_takeable=is_takeable, answers=answers)
    change = transition(task, command, now)
    commit(deps, change, notifies=False)
    look.reasons.update(change.reasons)
    if "due" in change.reasons:
        deps.looks.look(workspace, task.id)  # no event tells of it
    if change.notifies and agent is not None:
        rank = agent.dispatch_rank if task.dispatch_rank is None else task.dispatch_rank
        look.notices[(workspace, agent.slug)] = (rank, change.task)


def _agent(round_: _Round, task: Task) -> Agent | None:
    """The agent that holds the claim, or else the target."""
    slug = task.claim.agent if task.claim else task.target_agent
    if slug is None:
        return None
    key = (task.workspace, slug)
    if key not in round_.agents:
        round_.agents[key] = round_.deps.store.agents.agent(*key)
    return round_.agents[key]


def _is_takeable(round_: _Round, task: Task) -> bool:
    if task.workspace not in round_.rosters:
        round_.rosters[task.workspace] = round_.deps.store.agents.roster(task.workspace)
    return bool(round_.rosters[task.workspace].able(task.requires, task.source_agent))


def _measure(look: SweepReport, task: Task, now: datetime) -> None:
    if task.is_ready(now) and task.ready_at is not None and not is_early(task, now) and not is_resting(task):
        look.oldest_ready_seconds = (now - task.ready_at).total_seconds()
