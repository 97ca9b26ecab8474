"""A notice comes: work is claimed, run and ended, and no loss, repeat or order of notices changes more than time."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.agents.agent import Approval, Runtime
from baton.domain.errors import Busy
from baton.ports.runs import RunFailed, RunSucceeded
from baton.services.access.change_settings import change_settings
from baton.services.agents.register_agent import register_agent
from baton.services.runs.process_task import MAX_OUTPUT_BYTES, DispatchNotice, NoticeOutcome, TimeBudget, process_task
from baton.services.tasks.approve_task import approve_task, approve_task_next
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from support.faults.hooked_store import HookedStore, LaggingStore
from support.faults.soak import scaled
from support.worlds.runners import Patient, Recorder, raising
from support.worlds.world import WORKSPACE, World, agent, human

HOUR = 3_600.0


def time_budget(lease_seconds: int = 150, time_left: Callable[[], float] = lambda: HOUR) -> TimeBudget:
    return TimeBudget(lease_seconds=lease_seconds, time_left=time_left)


def notify(
    world: World, task_id: str, runner: Any, slug: str = "runner", at: TimeBudget | None = None
) -> NoticeOutcome:
    return process_task(
        world.deps, runner, DispatchNotice(workspace=WORKSPACE, agent=slug, task_id=task_id), at or time_budget()
    )


def sources(world: World, count: int) -> list[str]:
    """That many agents, so that each can escalate to the runner once."""
    slugs = [f"source-{n:02d}" for n in range(count)]
    for slug in slugs:
        register_agent(world.deps, human(), slug, {})
    return slugs


def work_for_runner(world: World, source: str = "scout", priority: str = "low") -> str:
    answer = world.mark(agent(source), source_agent=source, target_agent="runner", task_priority=priority)
    assert answer.task_id
    world.clock.advance(milliseconds=1)
    return answer.task_id


# Notices and tasks


def test_a_notice_claims_runs_and_completes(world: World) -> None:
    task_id = work_for_runner(world)
    runner = Recorder(RunSucceeded({"answer": 42}))
    assert notify(world, task_id, runner) is NoticeOutcome.RAN
    details = world.store.tasks.read(WORKSPACE, task_id)
    assert (details.task.state, details.task.fence, details.output) == ("done", 1, {"answer": 42})
    (work,) = runner.works
    assert work.agent.slug == "runner"
    assert work.details.body is not None
    assert work.details.task.claim is not None
    assert work.details.task.claim.worker == "process-task"
    assert world.trail(task_id) == ["handoff_initiated", "approved", "handoff_received", "handoff_completed"]


def test_two_notices_two_tasks_the_second_more_urgent_and_both_run_without_the_sweeper(world: World) -> None:
    first = work_for_runner(world)
    second = work_for_runner(world, "auditor", "high")
    runner = Recorder()
    assert notify(world, first, runner) is NoticeOutcome.RAN
    assert runner.ran == [second], "the best one, not the one that was named"
    assert notify(world, second, runner) is NoticeOutcome.RAN
    assert runner.ran == [second, first]
    assert {world.task(each).fence for each in (first, second)} == {1}


@pytest.mark.parametrize("seed", range(scaled(5, 5)))
def test_twenty_notices_for_twenty_tasks_in_any_order_and_doubled_run_each_once(world: World, seed: int) -> None:
    tasks = [work_for_runner(world, source, "high" if n % 3 else "low") for n, source in enumerate(sources(world, 20))]
    notices = tasks * 2
    random.Random(seed).shuffle(notices)
    runner = Recorder()
    handled = [notify(world, task_id, runner) for task_id in notices]
    assert sorted(runner.ran) == sorted(tasks)
    assert handled == [NoticeOutcome.RAN] * 20 + [NoticeOutcome.NOTHING] * 20
    assert {world.task(task_id).state for task_id in tasks} == {"done"}
    assert {world.task(task_id).fence for task_id in tasks} == {1}


def test_a_notice_whose_task_was_taken_by_another_notice_still_runs_what_is_left(world: World) -> None:
    first, second = work_for_runner(world), work_for_runner(world, "auditor")
    runner = Recorder()
    for _ in range(2):
        assert notify(world, first, runner) is NoticeOutcome.RAN
    assert runner.ran == [first, second]


def test_where_the_index_lags_the_named_task_is_run() -> None:
    world = World(store=LaggingStore()).settle()
    task_id = work_for_runner(world)
    other = work_for_runner(world, "auditor")
    runner = Recorder()
    assert notify(world, task_id, runner) is NoticeOutcome.RAN
    assert runner.ran == [task_id]
    assert notify(world, task_id, runner) is NoticeOutcome.NOTHING
    assert notify(world, other, runner) is NoticeOutcome.RAN


def test_a_named_task_of_another_agent_is_not_run_under_this_name() -> None:
    world = World(store=LaggingStore()).settle()
    register_agent(world.deps, human(), "second", {"runtime": Runtime.RUN})
    task_id = work_for_runner(world)
    runner = Recorder()
    assert notify(world, task_id, runner, slug="second") is NoticeOutcome.NOTHING
    assert runner.works == []
    assert world.task(task_id).state == "delegated"


def test_tasks_for_next_are_never_run(world: World) -> None:
    register_agent(world.deps, human(), "runner", {"approval": Approval.MANUAL})
    task_id = work_for_runner(world)
    approve_task_next(world.deps, human(), task_id, None)
    runner = Recorder()
    for _ in range(2):
        assert notify(world, task_id, runner) is NoticeOutcome.NOTHING
        world.clock.advance(90_000)
    assert (runner.works, world.task(task_id).state) == ([], "next")


def test_work_that_nobody_approved_is_never_run(world: World) -> None:
    register_agent(world.deps, human(), "runner", {"approval": Approval.MANUAL})
    task_id = work_for_runner(world)
    runner = Recorder()
    assert notify(world, task_id, runner) is NoticeOutcome.NOTHING
    assert runner.works == []


@pytest.mark.parametrize("values", [{"active": False}, {"runtime": Runtime.PULL}])
def test_inactive_agents_and_those_that_pull_are_not_run(world: World, values: dict[str, Any]) -> None:
    task_id = work_for_runner(world)
    register_agent(world.deps, human(), "runner", values)
    runner = Recorder()
    assert notify(world, task_id, runner) is NoticeOutcome.NOTHING
    assert (runner.works, world.task(task_id).state) == ([], "delegated")


@pytest.mark.parametrize(("slug", "task_id"), [("nobody", "task_x"), ("runner", "task_x")])
def test_notices_for_agents_and_tasks_that_do_not_exist_may_go(world: World, slug: str, task_id: str) -> None:
    assert notify(world, task_id, Recorder(), slug=slug) is NoticeOutcome.NOTHING


def test_a_notice_of_another_workspace_runs_nothing_here(world: World) -> None:
    world.settle("other")
    task_id = work_for_runner(world)
    runner = Recorder()
    notice = DispatchNotice(workspace="other", agent="runner", task_id=task_id)
    assert process_task(world.deps, runner, notice, time_budget()) is NoticeOutcome.NOTHING
    assert runner.works == []


def test_a_notice_for_an_ended_task_is_only_acknowledged(world: World) -> None:
    task_id = work_for_runner(world)
    cancel_task(world.deps, human(), task_id, None)
    runner = Recorder()
    assert notify(world, task_id, runner) is NoticeOutcome.NOTHING
    assert runner.works == []


def test_a_notice_that_comes_too_early_is_sent_again_for_when_the_task_is_due(world: World) -> None:
    change_settings(world.deps, human(), {"dispatch_delay_seconds": 60})
    register_agent(world.deps, human(), "runner", {"approval": Approval.MANUAL})
    task_id = work_for_runner(world)
    approve_task(world.deps, human(), task_id, None)
    world.dispatch_queue.notices.clear()
    world.clock.advance(60, milliseconds=-1)
    runner = Recorder()
    notify(world, task_id, runner)
    assert world.dispatch_queue.notices == [(WORKSPACE, "runner", task_id, 1)]
    world.clock.advance(milliseconds=1)
    assert notify(world, task_id, runner) is NoticeOutcome.RAN


def test_forgotten_work_is_passed_on_with_one_notice(world: World) -> None:
    urgent = work_for_runner(world, priority="high")
    forgotten = [work_for_runner(world, source) for source in sources(world, 3)]
    world.clock.advance(29)
    world.dispatch_queue.notices.clear()
    notify(world, urgent, Recorder())
    assert world.dispatch_queue.notices == [], "their own notices may still come"
    world.clock.advance(2)
    notify(world, forgotten[0], Recorder())
    assert world.dispatch_queue.notices == [(WORKSPACE, "runner", forgotten[1], 0)]
    notify(world, forgotten[1], Recorder())
    world.dispatch_queue.notices.clear()
    notify(world, forgotten[2], Recorder())
    assert world.dispatch_queue.notices == [], "the last one finds nothing"


# What a runner may do


def test_a_runners_failure_is_the_tasks(world: World) -> None:
    task_id = work_for_runner(world)
    failure = {"type": "blocker", "description": "no access"}
    assert notify(world, task_id, Recorder(RunFailed(failure))) is NoticeOutcome.RAN
    details = world.store.tasks.read(WORKSPACE, task_id)
    assert (details.task.state, details.why) == ("failed", failure)


def test_a_retryable_failure_is_tried_again_after_its_backoff_by_its_own_notice(world: World) -> None:
    task_id = work_for_runner(world)
    world.dispatch_queue.notices.clear()
    runner = Recorder(RunFailed({"type": "timeout", "description": "slow"}, retryable=True))
    for attempt, delay in ((1, 5), (2, 20)):
        notify(world, task_id, runner)
        assert world.task(task_id).attempt == attempt
        assert world.dispatch_queue.notices.pop() == (WORKSPACE, "runner", task_id, delay)
        world.clock.advance(delay)
    notify(world, task_id, runner)
    assert (world.task(task_id).state, world.task(task_id).fence) == ("failed", 3)
    assert world.dispatch_queue.notices == []


@pytest.mark.parametrize(
    "error", [RuntimeError("secret"), ValueError("secret"), KeyError("secret"), RecursionError("secret")]
)
def test_a_runner_that_raises_has_failed_retryably_and_its_words_stay_inside(world: World, error: Exception) -> None:
    task_id = work_for_runner(world)
    assert notify(world, task_id, Recorder(raising(error))) is NoticeOutcome.RAN
    details = world.store.tasks.read(WORKSPACE, task_id)
    assert details.task.state == "delegated"
    assert details.why == {"type": "error", "description": "The run broke off inside of Baton."}
    assert "secret" not in repr(world.logged)


def test_an_output_at_the_limit_is_kept_and_one_byte_more_fails_for_good(world: World) -> None:
    for extra, state in ((0, "done"), (1, "failed")):
        task_id = work_for_runner(world, source=("scout", "auditor")[extra])
        notify(world, task_id, Recorder(RunSucceeded("é" * (MAX_OUTPUT_BYTES // 2 - 1) + "x" * extra)))
        assert world.task(task_id).state == state
    failure = world.store.tasks.read(WORKSPACE, task_id).why
    assert failure is not None
    assert failure["type"] == "validation"


@pytest.mark.parametrize("output", [float("nan"), {"x": float("inf")}, {1, 2}, "\ud800", object()])
def test_an_output_that_is_no_json_is_a_failure_not_a_lost_task(world: World, output: Any) -> None:
    task_id = work_for_runner(world)
    assert notify(world, task_id, Recorder(RunSucceeded(output))) is NoticeOutcome.RAN
    assert world.task(task_id).state == "delegated"
    assert world.task(task_id).has_failure


@pytest.mark.parametrize(
    "answer",
    [
        RunFailed({"type": "error", "description": "x" * (MAX_OUTPUT_BYTES + 1)}),
        RunFailed({"type": "error", "description": float("nan")}),
        RunFailed({"type": "error", "description": "\ud800"}),
        "not an answer at all",
    ],
)
def test_a_failure_that_can_not_be_kept_is_a_failure_not_a_lost_task(world: World, answer: Any) -> None:
    task_id = work_for_runner(world)
    assert notify(world, task_id, Recorder(answer)) is NoticeOutcome.RAN
    details = world.store.tasks.read(WORKSPACE, task_id)
    assert details.task.claim is None
    assert details.task.has_failure
    assert len(repr(details.failure)) < 1_000


@pytest.mark.parametrize("retryable", [True, False])
def test_a_failure_whose_words_the_guardrails_refuse_is_a_failure_without_them(world: World, retryable: bool) -> None:
    task_id = work_for_runner(world)
    said = {"type": "error", "description": "no access with ghp_" + "a1B2" * 9}
    assert notify(world, task_id, Recorder(RunFailed(said, retryable=retryable))) is NoticeOutcome.RAN
    details = world.store.tasks.read(WORKSPACE, task_id)
    assert (details.task.state, details.task.has_failure) == ("delegated" if retryable else "failed", True)
    assert "ghp_" not in repr(details)


def test_a_runner_cannot_choose_states_agents_or_limits(world: World) -> None:
    task_id = work_for_runner(world)
    said = {"state": "cancelled", "target_agent": "scout", "max_attempts": 99, "workspace": "other", "fence": 7}
    notify(world, task_id, Recorder(RunSucceeded(said)))
    task = world.task(task_id)
    assert (task.state, task.target_agent, task.max_attempts, task.fence) == ("done", "runner", 3, 1)
    assert world.store.tasks.read(WORKSPACE, task_id).output == said


# Time, heartbeats and lost claims


def test_heartbeats_keep_the_claim_while_the_runner_works() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    task_id = work_for_runner(world)
    runner = Patient()
    beats = 0

    def beat() -> None:
        nonlocal beats
        beats += 1
        world.clock.advance(0.02)  # so that a renewed lease is another one
        if beats < 3:
            store.before["renew"] = beat
        else:
            runner.finish.set()

    store.before["renew"] = beat
    assert notify(world, task_id, runner, at=time_budget(0)) is NoticeOutcome.RAN
    assert beats == 3
    assert world.task(task_id).state == "done"
    assert world.task(task_id).meta.version >= 5


def test_a_claim_lost_while_working_changes_nothing_and_the_notice_may_go() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    task_id = work_for_runner(world)

    def slow(work: Any) -> RunSucceeded:
        world.clock.advance(150)
        sweep(world.deps)
        return RunSucceeded({"too": "late"})

    assert notify(world, task_id, Recorder(slow)) is NoticeOutcome.LOST
    details = world.store.tasks.read(WORKSPACE, task_id)
    assert (details.task.state, details.output, details.task.fence) == ("delegated", None, 1)
    assert notify(world, task_id, Recorder()) is NoticeOutcome.RAN
    assert world.task(task_id).fence == 2


def test_a_heartbeat_tells_that_the_claim_is_lost_before_the_runner_is_done() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    task_id = work_for_runner(world)
    runner = Patient()
    store.before["renew"] = lambda: cancel_task(world.deps, human(), task_id, None)
    assert notify(world, task_id, runner, at=time_budget(0)) is NoticeOutcome.LOST
    assert world.task(task_id).state == "cancelled"
    runner.finish.set()


def test_one_heartbeat_that_meets_a_busy_store_does_not_end_the_work() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    task_id = work_for_runner(world)
    runner = Patient()

    def busy() -> None:
        store.before["renew"] = runner.finish.set
        raise Busy

    store.before["renew"] = busy
    assert notify(world, task_id, runner, at=time_budget(0)) is NoticeOutcome.RAN
    assert world.task(task_id).state == "done"


def test_when_the_functions_time_runs_out_the_task_is_given_back_to_be_tried_again(world: World) -> None:
    task_id = work_for_runner(world)
    runner = Patient()
    left = iter([HOUR, 10.0])
    assert notify(world, task_id, runner, at=time_budget(time_left=lambda: next(left))) is NoticeOutcome.RAN
    runner.finish.set()
    details = world.store.tasks.read(WORKSPACE, task_id)
    assert (details.task.state, details.task.attempt) == ("delegated", 1)
    assert details.failure is not None
    assert details.why is not None
    assert details.why["type"] == "timeout"


def test_a_function_with_too_little_time_left_claims_nothing_and_rings_again(world: World) -> None:
    task_id = work_for_runner(world)
    world.dispatch_queue.notices.clear()
    runner = Recorder()
    assert notify(world, task_id, runner, at=time_budget(time_left=lambda: 39.9)) is NoticeOutcome.LATER
    assert (runner.works, world.task(task_id).fence) == ([], 0)
    assert world.dispatch_queue.notices == [(WORKSPACE, "runner", task_id, 0)]
    assert notify(world, task_id, runner, at=time_budget(time_left=lambda: 40.0)) is NoticeOutcome.RAN


def test_a_store_that_does_not_answer_brings_the_notice_back() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    task_id = work_for_runner(world)

    def busy() -> None:
        raise Busy

    store.before["read_for_claim"] = busy
    with pytest.raises(Busy):
        notify(world, task_id, Recorder())
    assert notify(world, task_id, Recorder()) is NoticeOutcome.RAN
