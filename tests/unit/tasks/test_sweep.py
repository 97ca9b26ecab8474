"""The one loop over what is due: each reason, each once, and no task in the way of another
(docs/spec/lifecycle.md §5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast

import pytest

from baton.adapters.worker_threads import WorkerThreads
from baton.domain.agents.agent import Approval, Requeue, Runtime
from baton.domain.errors import Busy, Unknown
from baton.domain.task_state import State
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Flag
from baton.domain.tasks.transitions import Dispatch, create
from baton.domain.tasks.wake import EARLY_LOOK_SECONDS, notice_interval
from baton.ports.writes import OpenEscalation
from baton.services.access.change_settings import change_settings
from baton.services.agents.register_agent import register_agent
from baton.services.claims.claim_task import claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.runs.process_task import DispatchNotice, TimeBudget, process_task
from baton.services.tasks.approve_task import approve_task, approve_task_next
from baton.services.tasks.sweep import DueEntry, SweepReport, sweep
from baton.steps.claims.take_task import Claimer
from support.clock import NOON
from support.faults.hooked_store import HookedStore
from support.faults.threads import eager_switching
from support.values.changes import with_body
from support.values.tasks import CREATOR, SETTINGS, a_new_task
from support.worlds.runners import Recorder
from support.worlds.world import WORKSPACE, World, agent, human

DAY = 86_400


class HalfRead(HookedStore):
    """A part of what is due can't be read."""

    def due(self, now: datetime) -> Iterator[DueEntry]:
        yield from self.inner.queues.due(now)
        raise Busy


def run(world: World) -> SweepReport:
    this = sweep(world.deps)
    assert this.failed == 0
    return this


def work_for_runner(world: World, source: str = "scout") -> str:
    register_agent(world.deps, human(), source, {})
    answer = world.mark(agent(source), source_agent=source, target_agent="runner")
    assert answer.task_id
    return answer.task_id


def with_deadline(world: World, seconds: float, *, fail: bool, state: str = "needs") -> str:
    """A task with a deadline, which markers can't give one."""
    deadline = world.clock.now() + timedelta(seconds=seconds)
    new = a_new_task(deadline=deadline, fail_on_deadline=fail, created_at=world.clock.now())
    change = create(
        new, CREATOR, world.clock.now(), Dispatch(world.store.agents.roster(WORKSPACE).get("auditor"), SETTINGS)
    )
    direction = world.store.escalations.marker_inputs(WORKSPACE, ("scout", "auditor"), None)[1]
    assert direction is not None
    world.store.commit(WORKSPACE, with_body(change, {}), OpenEscalation(direction, new.id, new.created_at))
    if state != "needs":
        approve_task(world.deps, human(), new.id, None)
        world.clock.advance(3)
    if state == "claimed":
        world.claim()
    return new.id


# Leases


def test_nothing_is_due_and_nothing_is_looked_at(world: World) -> None:
    world.needing()
    world.clock.advance(400 * DAY)
    assert run(world) == SweepReport()


def test_a_lease_that_is_over_gives_the_task_back_with_its_recovery(world: World) -> None:
    task_id = world.claimed().details.task.id
    world.clock.advance(300, milliseconds=-1)
    assert run(world).looked_at == 0
    world.clock.advance(milliseconds=1)
    assert run(world).reasons == {"lease_over": 1}
    details = world.store.tasks.read(WORKSPACE, task_id)
    assert (details.task.state, details.task.claim, details.task.recoveries) == ("delegated", None, 1)
    assert details.recoveries[0].action == "re-queued to delegated, attempt 2 of 3"
    assert world.trail(task_id)[-2:] == ["heartbeat_lost", "requeued"]
    assert world.store.trail.events(WORKSPACE, task_id, 0, 100)[-1].principal_id == "sweeper"
    assert run(world).looked_at == 0, "once is enough"


def test_a_task_lost_three_times_waits_for_a_human_with_an_alert(world: World) -> None:
    task_id = world.ready()
    for _ in range(3):
        world.claim()
        world.clock.advance(300)
        run(world)
    task = world.task(task_id)
    assert (task.state, task.flags, task.fence) == ("needs", frozenset({Flag.ATTEMPTS_EXHAUSTED}), 3)
    assert [recovery.number for recovery in world.store.tasks.read(WORKSPACE, task_id).recoveries] == [1, 2, 3]
    world.clock.advance(400 * DAY)
    assert run(world).looked_at == 0


def test_the_agents_requeue_as_it_is_now_decides(world: World) -> None:
    task_id = world.claimed().details.task.id
    register_agent(world.deps, human(), "auditor", {"requeue": Requeue.NEEDS})
    world.clock.advance(300)
    run(world)
    assert world.task(task_id).state == "needs"


def test_a_claim_that_is_alive_is_moved_on_without_an_event(world: World) -> None:
    claimed = world.claimed()
    task_id = claimed.details.task.id
    world.clock.advance(299)
    renew_claim(world.deps, agent("auditor"), task_id, claimed.claim_id)
    trail = world.trail(task_id)
    world.clock.advance(1)
    this = run(world)
    assert (this.looked_at, this.reasons) == (1, {})
    task = world.task(task_id)
    assert task.claim is not None
    assert task.meta.wake_at == task.claim.expires_at == world.clock.now() + timedelta(seconds=299)
    assert world.trail(task_id) == trail
    assert run(world).looked_at == 0


# Not taken


def test_work_of_an_agent_that_baton_runs_is_announced_again_ever_more_rarely(world: World) -> None:
    change_settings(world.deps, human(), {"unclaimed_alert_seconds": 7 * DAY})
    task_id = work_for_runner(world)
    world.dispatch_queue.notices.clear()
    for seconds in (60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600):
        world.clock.advance(seconds, milliseconds=-1)
        assert run(world).looked_at == 0
        world.clock.advance(milliseconds=1)
        assert run(world).reasons == {"not_taken": 1}
        assert world.dispatch_queue.notices.pop() == (WORKSPACE, "runner", task_id, 0)
    assert world.dispatch_queue.notices == []
    assert world.trail(task_id) == ["handoff_initiated", "approved"]


@pytest.mark.parametrize(("rings", "seconds"), [(0, 60), (1, 120), (5, 1_920), (6, 3_600), (7, 3_600), (10_000, 3_600)])
def test_the_interval_doubles_from_a_minute_to_an_hour(rings: int, seconds: int) -> None:
    assert notice_interval(rings) == timedelta(seconds=seconds)


def test_a_claim_starts_the_ringing_afresh(world: World) -> None:
    task_id = work_for_runner(world)
    for seconds in (60, 120, 240):
        world.clock.advance(seconds)
        run(world)
    world.claim("runner")
    world.clock.advance(300)
    world.dispatch_queue.notices.clear()
    assert run(world).reasons == {"lease_over": 1}
    assert world.dispatch_queue.notices == [(WORKSPACE, "runner", task_id, 0)]
    world.clock.advance(60)
    assert run(world).reasons == {"not_taken": 1}


def test_one_notice_per_agent_and_round(world: World) -> None:
    tasks = [work_for_runner(world, f"s{n}") for n in range(5)]
    register_agent(world.deps, human(), "second", {"runtime": Runtime.RUN, "approval": Approval.AUTO})
    world.mark(agent("scout"), target_agent="second")
    world.dispatch_queue.notices.clear()
    world.clock.advance(60)
    assert run(world).reasons == {"not_taken": 6}
    assert sorted(notice[1] for notice in world.dispatch_queue.notices) == ["runner", "second"]
    assert next(notice[2] for notice in world.dispatch_queue.notices if notice[1] == "runner") in tasks


def test_the_same_agent_name_in_two_workspaces_gets_a_notice_in_each(world: World) -> None:
    world.settle("other")
    work_for_runner(world)
    world.mark(agent("scout", "other"), target_agent="runner")
    world.dispatch_queue.notices.clear()
    world.clock.advance(60)
    run(world)
    assert sorted(notice[0] for notice in world.dispatch_queue.notices) == [WORKSPACE, "other"]


def test_work_of_an_agent_that_pulls_wakes_for_the_alert_which_is_raised_once_and_then_daily(world: World) -> None:
    task_id = world.ready()
    world.clock.advance(EARLY_LOOK_SECONDS)
    assert (run(world).looked_at, run(world).looked_at) == (1, 0), "the early look finds nothing due and moves it on"
    world.clock.advance(3_600 - EARLY_LOOK_SECONDS, milliseconds=-1)
    assert run(world).looked_at == 0
    world.clock.advance(milliseconds=1)
    assert run(world).reasons == {"unclaimed_too_long": 1}
    assert world.task(task_id).flags == {Flag.UNCLAIMED}
    assert world.trail(task_id)[-1] == "alert_raised"
    for _ in range(3):
        world.clock.advance(DAY, milliseconds=-1)
        assert run(world).looked_at == 0
        world.clock.advance(milliseconds=1)
        again = run(world)
        assert (again.looked_at, again.reasons) == (1, {})
        assert again.oldest_ready_seconds == 0.0, "humans know of it: no alarm rings again each day"
    assert world.trail(task_id).count("alert_raised") == 1
    assert world.dispatch_queue.notices == []


def test_work_that_rested_is_rung_though_the_notices_of_the_day_were_lost_when_its_agent_began_to_run(
    world: World,
) -> None:
    task_id = world.ready()
    world.clock.advance(3_600)
    assert run(world).reasons == {"unclaimed_too_long": 1}
    register_agent(world.deps, human(), "auditor", {"runtime": Runtime.RUN})
    world.dispatch_queue.notices.clear()
    world.clock.advance(DAY)
    run(world)
    assert [notice[2] for notice in world.dispatch_queue.notices] == [task_id]
    world.dispatch_queue.notices.clear()
    world.clock.advance(3_600)
    run(world)
    assert [notice[2] for notice in world.dispatch_queue.notices] == [task_id], "until somebody takes it"


def test_a_claim_answers_the_alert_and_it_may_be_raised_again(world: World) -> None:
    task_id = world.ready()
    world.clock.advance(3_600)
    run(world)
    world.claim()
    assert world.task(task_id).flags == set()
    world.clock.advance(300)
    run(world)
    world.clock.advance(3_600)
    assert run(world).reasons == {"unclaimed_too_long": 1}


def test_work_that_baton_runs_raises_the_alert_once_and_is_announced_all_the_same(world: World) -> None:
    change_settings(world.deps, human(), {"unclaimed_alert_seconds": 90})
    task_id = work_for_runner(world)
    alerts = 0
    for _ in range(10):
        world.clock.advance(3_600)
        alerts += run(world).reasons["unclaimed_too_long"]
    assert alerts == 1
    assert world.trail(task_id).count("alert_raised") == 1


def test_the_alerts_time_is_to_the_millisecond_the_setting_at_the_approval(world: World) -> None:
    change_settings(world.deps, human(), {"unclaimed_alert_seconds": 100})
    task_id = world.ready()
    change_settings(world.deps, human(), {"unclaimed_alert_seconds": 5_000})
    world.clock.advance(100, milliseconds=-1)
    assert run(world).looked_at == 0
    world.clock.advance(milliseconds=1)
    assert run(world).reasons == {"unclaimed_too_long": 1}
    assert world.task(task_id).flags == {Flag.UNCLAIMED}


def test_work_whose_agent_was_switched_off_is_flagged_and_not_rung(world: World) -> None:
    task_id = work_for_runner(world)
    register_agent(world.deps, human(), "runner", {"active": False})
    world.dispatch_queue.notices.clear()
    world.clock.advance(60)
    assert run(world).reasons == {"undeliverable": 1}
    world.clock.advance(3_600)
    run(world)
    assert world.trail(task_id).count("alert_raised") == 2, "undeliverable once, unclaimed once"
    assert world.dispatch_queue.notices == []
    assert world.task(task_id).flags == {Flag.UNDELIVERABLE, Flag.UNCLAIMED}


def test_an_agent_that_is_back_is_notified_again(world: World) -> None:
    task_id = work_for_runner(world)
    register_agent(world.deps, human(), "runner", {"active": False})
    world.clock.advance(60)
    run(world)
    register_agent(world.deps, human(), "runner", {"active": True})
    world.dispatch_queue.notices.clear()
    world.clock.advance(120)
    assert run(world).reasons == {"not_taken": 1}
    assert world.dispatch_queue.notices == [(WORKSPACE, "runner", task_id, 0)]


# Next


def test_next_work_older_than_a_day_is_flagged_once_and_nothing_else(world: World) -> None:
    task_id = world.needing(target_agent="auditor")
    approve_task_next(world.deps, human(), task_id, None)
    world.clock.advance(DAY, milliseconds=-1)
    assert run(world).looked_at == 0
    world.clock.advance(milliseconds=1)
    assert run(world).reasons == {"next_stale": 1}
    task = world.task(task_id)
    assert (task.state, task.flags) == ("next", frozenset({Flag.NEXT_STALE}))
    world.clock.advance(400 * DAY)
    assert run(world).looked_at == 0
    assert world.dispatch_queue.notices == []


# Deadlines


@pytest.mark.parametrize("state", ["needs", "delegated", "claimed"])
def test_a_passed_deadline_raises_an_alert_once_and_changes_nothing_else(world: World, state: str) -> None:
    task_id = with_deadline(world, 100, fail=False, state=state)
    world.clock.time = NOON + timedelta(seconds=100, milliseconds=-1)
    assert run(world).looked_at == 0
    world.clock.advance(milliseconds=1)
    assert run(world).reasons == {"deadline_passed": 1}
    task = world.task(task_id)
    assert (task.state, task.flags) == (state, frozenset({Flag.DEADLINE_PASSED}))
    assert run(world).looked_at == 0


@pytest.mark.parametrize("state", ["needs", "delegated", "claimed"])
def test_a_task_that_fails_on_its_deadline_fails_then_and_closes_its_direction(world: World, state: str) -> None:
    task_id = with_deadline(world, 100, fail=True, state=state)
    world.clock.time = NOON + timedelta(seconds=100, milliseconds=-1)
    assert run(world).looked_at == 0
    world.clock.advance(milliseconds=1)
    run(world)
    details = world.store.tasks.read(WORKSPACE, task_id)
    assert (details.task.state, details.task.claim) == ("failed", None)
    assert details.failure == {"type": "timeout", "description": "The deadline 2026-11-18T12:01:40.000Z passed."}
    assert world.trail(task_id)[-2:] == ["alert_raised", "handoff_failed"]
    assert world.direction().escalations[0].closed


def test_a_passed_deadline_is_told_once_though_the_task_is_looked_at_again(world: World) -> None:
    with_deadline(world, 100, fail=False, state="claimed")
    world.clock.advance(100)
    assert run(world).reasons == {"deadline_passed": 1}
    world.clock.advance(200)
    assert run(world).reasons == {"lease_over": 1}


def test_a_lost_claim_and_a_passed_deadline_are_seen_to_in_one_look(world: World) -> None:
    task_id = with_deadline(world, 200, fail=False, state="claimed")
    world.clock.advance(1_000)
    assert run(world).reasons == {"deadline_passed": 1, "lease_over": 1}
    assert world.task(task_id).state == "delegated"


# The round


def test_one_bad_task_never_stops_the_rest() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    tasks = [world.claimed("auditor").details.task.id]
    register_agent(world.deps, human(), "third", {})
    for slug in ("runner", "third"):
        made = world.mark(human(), source_agent=slug).task_id or ""
        world.clock.advance(3)
        assert world.claim().details.task.id == made
        tasks.append(made)
    world.clock.advance(300)

    def broken() -> None:
        raise RuntimeError("a bad task")

    store.before["load"] = broken
    this = sweep(world.deps)
    assert (this.failed, this.looked_at, this.complete) == (1, 3, True)
    assert this.reasons == {"lease_over": 2}
    assert [line["error"] for line in world.logged if line.get("action") == "sweep_failed"] == ["RuntimeError"]
    assert run(world).reasons == {"lease_over": 1}, "it is due again in the next round"
    assert {world.task(task_id).state for task_id in tasks} == {"delegated"}


def test_a_task_that_is_gone_is_a_failure_of_its_own() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    world.claimed()
    world.clock.advance(300)

    def gone() -> None:
        raise Unknown("task")

    store.before["load"] = gone
    assert sweep(world.deps).failed == 1


@pytest.mark.parametrize("moment", ["due", "load", "agent", "commit"])
def test_two_rounds_at_once_do_it_once(moment: str) -> None:
    store = HookedStore()
    world = World(store=store).settle()
    task_id = world.claimed().details.task.id
    world.clock.advance(300)
    rounds: list[SweepReport] = []
    store.before[moment] = lambda: rounds.append(sweep(world.deps))
    rounds.append(sweep(world.deps))
    assert sum(each.reasons["lease_over"] for each in rounds) == 1
    assert world.trail(task_id).count("requeued") == 1
    assert world.task(task_id).recoveries == 1
    assert sum(each.failed for each in rounds) == 0


def test_what_ended_since_the_index_named_it_is_left_alone() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    claimed = world.claimed()
    task_id = claimed.details.task.id
    world.clock.advance(300)
    store.before["commit"] = lambda: complete_task(
        world.deps,
        WorkerCall(agent("auditor"), task_id, claimed.claim_id, "h"),
        CompletedWork(output={"just": "in time"}),
    )
    assert sweep(world.deps).reasons == {"changed_meanwhile": 1}
    assert world.task(task_id).state == "done"


def test_it_stops_when_it_is_told_to_and_the_next_round_goes_on(world: World) -> None:
    tasks = [work_for_runner(world, f"s{n}") for n in range(5)]
    world.clock.advance(60)
    allowed = iter([True, True, False])
    this = sweep(world.deps, lambda: next(allowed))
    assert (this.complete, this.looked_at, this.reasons) == (False, 2, {"not_taken": 2})
    rest = run(world)
    assert (rest.complete, rest.looked_at) == (True, 3)
    assert len(tasks) == 5


def test_a_run_begins_where_the_last_one_ended(world: World) -> None:
    tasks = []
    for number in range(12):
        tasks.append(work_for_runner(world, f"s{number:02d}"))
        world.clock.advance(1)
    world.clock.advance(60)
    for done in (3, 6, 9):
        allowed = iter([True, True, True, False])
        sweep(world.deps, partial(next, allowed))
        assert [task_id for _, task_id, _ in world.store.queues.due(world.clock.now())] == tasks[done:]


def test_a_part_that_cannot_be_read_leaves_the_run_unfinished_and_the_rest_done(world: World) -> None:
    found = [work_for_runner(world, f"s{number}") for number in range(3)]
    world.clock.advance(60)
    this = sweep(replace(world.deps, store=cast("Any", HalfRead(world.store))))
    assert (this.complete, this.failed, this.looked_at, this.reasons) == (False, 1, len(found), {"not_taken": 3})
    assert [line["error"] for line in world.logged if line.get("action") == "sweep_failed"] == ["Busy"]


def test_the_oldest_work_is_told_of_by_an_unfinished_run_too(world: World) -> None:
    work_for_runner(world, "s1")
    world.clock.advance(3_600)
    this = sweep(replace(world.deps, store=cast("Any", HalfRead(world.store))))
    assert (this.complete, this.oldest_ready_seconds) == (False, 3_600.0)


def test_several_looks_at_once_do_each_task_once(world: World) -> None:
    tasks = [work_for_runner(world, f"s{number:02d}") for number in range(30)]
    world.clock.advance(60)
    before = len(world.dispatch_queue.notices)
    with eager_switching():
        this = sweep(world.deps, workers=WorkerThreads(8))
    assert (this.looked_at, this.failed, this.complete, this.reasons) == (30, 0, True, {"not_taken": 30})
    assert {world.task(each).meta.version for each in tasks} == {world.task(tasks[0]).meta.version}
    assert len(world.dispatch_queue.notices) == before + 1, "one notice for the agent"


def test_leases_come_before_everything_else(world: World) -> None:
    work_for_runner(world, "s1")
    world.clock.advance(3)
    claimed = world.claimed()
    world.clock.advance(300)
    allowed = iter([True, False])
    assert sweep(world.deps, lambda: next(allowed)).reasons == {"lease_over": 1}
    assert world.task(claimed.details.task.id).state == "delegated"


def test_a_round_tells_how_long_the_oldest_has_waited(world: World) -> None:
    work_for_runner(world, "s1")
    world.clock.advance(30)
    work_for_runner(world, "s2")
    world.clock.advance(60)
    assert run(world).oldest_ready_seconds == 90.0


def test_every_workspace_is_swept(world: World) -> None:
    world.settle("other")
    world.claimed()
    made = world.mark(human("other")).task_id
    world.clock.advance(3)
    by = agent("auditor", "other")
    claim_task(world.deps, Claimer(by=by, agent="auditor", worker="w"), made or "")
    world.clock.advance(300)
    assert run(world).reasons == {"lease_over": 2}
    assert world.task(made or "", "other").state == "delegated"


def test_after_any_loss_of_notices_everything_accepted_still_runs(world: World) -> None:
    """Invariant 12: with every notice lost, the sweeper's alone bring all work to its end."""
    tasks = [work_for_runner(world, f"s{n}") for n in range(8)]
    world.dispatch_queue.notices.clear()
    runner = Recorder()
    for _ in range(200):
        world.clock.advance(60)
        run(world)
        if world.dispatch_queue.notices:
            workspace, slug, task_id, _ = world.dispatch_queue.notices.pop(0)
            notice = DispatchNotice(workspace=workspace, agent=slug, task_id=task_id)
            process_task(world.deps, runner, notice, TimeBudget(lease_seconds=150, time_left=lambda: 900.0))
    assert {world.task(task_id).state for task_id in tasks} == {State.DONE}
    assert sorted(runner.ran) == sorted(tasks)


def test_what_a_lagging_index_shows_too_late_is_left_as_it_is() -> None:
    class Lagging(HookedStore):
        def due(self, now: datetime) -> Iterator[tuple[str, str, None]]:
            yield WORKSPACE, task_id, None

    world = World(store=Lagging()).settle()
    task_id = work_for_runner(world)
    before = world.task(task_id)
    assert run(world).reasons.total() == 0
    assert world.task(task_id) == before
