"""Invariant 10: nothing crosses a workspace. Invariant 5: a repeated verb gets its first answer. And what lists
show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Approval
from baton.domain.errors import HumanNeeded, KeyReused, RevisionChanged, TaskEnded, Unknown
from baton.domain.idempotency import IdempotencyKey
from baton.domain.task_state import State
from baton.domain.tasks.calls import HumanCall, Seen, WorkerCall
from baton.domain.tasks.transitions import Dispatch, create
from baton.ports.details import TaskDetails
from baton.services.agents.register_agent import register_agent
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.tasks.approve_task import approve_task, approve_task_next, undo_approval
from baton.services.tasks.end_task import cancel_task, resolve_task
from baton.services.tasks.list_tasks import TaskFilter, tasks_of_agent, tasks_of_day
from support.values.changes import with_body
from support.values.tasks import ACTING_SERVICE, SETTINGS, TARGET, a_new_task, an_agent
from support.worlds.world import WORKSPACE, World, agent, human

HumanVerb = Callable[..., TaskDetails]
VERBS: dict[str, HumanVerb] = {
    "approve": lambda b, by, i, idempotency_key=None: approve_task(b, by, i, None, idempotency_key),
    "approve-next": lambda b, by, i, idempotency_key=None: approve_task_next(b, by, i, None, idempotency_key),
    "undo": lambda b, by, i, idempotency_key=None: undo_approval(b, by, i, idempotency_key),
    "resolve": lambda b, by, i, idempotency_key=None: resolve_task(
        b, HumanCall(by, i, idempotency_key=idempotency_key), {"by": "hand"}, "done"
    ),
    "cancel": lambda b, by, i, idempotency_key=None: cancel_task(b, by, i, "no more", idempotency_key),
}


def prepared(world: World, verb: str) -> str:
    """A task that the verb fits."""
    return (world.mark(human()).task_id or "") if verb == "undo" else world.needing()


@pytest.mark.parametrize("verb", VERBS)
def test_another_workspaces_task_answers_like_one_that_does_not_exist(world: World, verb: str) -> None:
    world.settle("other")
    task_id = prepared(world, verb)
    before = world.store.tasks.read(WORKSPACE, task_id)
    messages = set()
    for asked in (task_id, "task_nope"):
        with pytest.raises(Unknown) as refused:
            VERBS[verb](world.deps, human("other"), asked)
        messages.add((refused.value.message, str(refused.value.fields)))
    assert len(messages) == 1
    assert world.store.tasks.read(WORKSPACE, task_id) == before


def test_an_id_that_exists_in_two_workspaces_is_two_tasks(world: World) -> None:
    for workspace in (WORKSPACE, "other"):
        new = a_new_task(workspace=workspace, kind="transfer")
        change = create(new, agent("scout", workspace), world.clock.now(), Dispatch(an_agent(), SETTINGS))
        world.store.commit(workspace, with_body(change, {"of": workspace}))
    cancel_task(world.deps, human("other"), "task_1", None)
    assert world.task("task_1").state == "needs"
    assert world.store.tasks.read(WORKSPACE, "task_1", with_body=True).body == {"of": WORKSPACE}
    assert [task.id for task in tasks_of_agent(world.deps, human(), TaskFilter(agent="auditor"), 10, None).items] == [
        "task_1"
    ]


@pytest.mark.parametrize("by", [TARGET, ACTING_SERVICE])
@pytest.mark.parametrize("verb", ["approve", "approve-next", "undo", "resolve", "cancel"])
def test_agents_and_services_never_decide_for_a_human(world: World, verb: str, by: Principal) -> None:
    task_id = prepared(world, verb)
    before = world.store.tasks.read(WORKSPACE, task_id)
    with pytest.raises(HumanNeeded):
        VERBS[verb](world.deps, by, task_id)
    assert world.store.tasks.read(WORKSPACE, task_id) == before


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_repeated_with_its_key_answers_as_the_first_time_and_happens_once(world: World, verb: str) -> None:
    task_id = prepared(world, verb)
    idempotency_key = IdempotencyKey(human(), f"/tasks/{task_id}/{verb}", "k", "h")
    first = VERBS[verb](world.deps, human(), task_id, idempotency_key)
    notices = list(world.dispatch_queue.notices)
    if not first.task.is_ended:
        cancel_task(world.deps, human(), task_id, None)
    trail = world.trail(task_id)
    again = VERBS[verb](world.deps, human(), task_id, idempotency_key)
    assert (again.task.state, again.task.meta.version, again.output) == (
        first.task.state,
        first.task.meta.version,
        first.output,
    )
    assert world.trail(task_id) == trail
    assert world.dispatch_queue.notices == notices
    with pytest.raises(KeyReused):
        VERBS[verb](world.deps, human(), task_id, IdempotencyKey(human(), idempotency_key.route, "k", "h2"))


def test_the_same_key_on_another_route_or_by_another_human_is_another_request(world: World) -> None:
    task_id = world.needing()
    cancel_task(world.deps, human(), task_id, None, IdempotencyKey(human(), f"/tasks/{task_id}/cancel", "k", "h"))
    with pytest.raises(TaskEnded):
        resolve_task(
            world.deps,
            HumanCall(human(), task_id, idempotency_key=IdempotencyKey(human(), f"/tasks/{task_id}/resolve", "k", "h")),
            None,
        )
    bob = human(name="bob")
    with pytest.raises(TaskEnded):
        cancel_task(world.deps, bob, task_id, None, IdempotencyKey(bob, f"/tasks/{task_id}/cancel", "k", "h"))


def test_a_refused_verb_leaves_its_key_free(world: World) -> None:
    task_id = world.needing()
    idempotency_key = IdempotencyKey(human(), f"/tasks/{task_id}/approve", "k", "h")
    with pytest.raises(RevisionChanged):
        approve_task(world.deps, human(), task_id, Seen(7), idempotency_key)
    assert approve_task(world.deps, human(), task_id, Seen(1), idempotency_key).task.state == "delegated"


def test_approving_rings_once_for_when_the_undo_window_is_over(world: World) -> None:
    register_agent(world.deps, human(), "runner", {"approval": Approval.MANUAL})
    task_id = world.needing(target_agent="runner")
    approve_task(world.deps, human(), task_id, None)
    assert world.dispatch_queue.notices == [(WORKSPACE, "runner", task_id, 3)]


def test_resolving_keeps_what_came_of_it_and_by_whom(world: World) -> None:
    claimed = world.claimed()
    task_id = claimed.details.task.id
    resolve_task(world.deps, HumanCall(human(), task_id), {"found": "elsewhere"}, "merged upstream")
    details = world.store.tasks.read(WORKSPACE, task_id)
    assert (details.task.state, details.output, details.task.claim) == ("done", {"found": "elsewhere"}, None)
    event = world.store.trail.events(WORKSPACE, task_id, 0, 100)[-1]
    assert (event.type, event.principal_kind, event.data["reason"]) == ("resolved", "human", "merged upstream")


# Lists


def made(world: World, many: int) -> list[str]:
    tasks = []
    for n in range(many):
        register_agent(world.deps, human(), f"s{n}", {})
        tasks.append(world.mark(human(), source_agent=f"s{n}").task_id or "")
        world.clock.advance(milliseconds=1)
    return tasks


def test_tasks_are_listed_newest_first_page_by_page(world: World) -> None:
    tasks = made(world, 7)
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(4):
        page = tasks_of_agent(world.deps, human(), TaskFilter(agent="auditor"), 2, cursor)
        seen += [task.id for task in page.items]
        cursor = page.cursor
    assert seen == tasks[::-1]
    assert cursor is None


def test_a_filter_finds_all_of_a_state_in_the_end(world: World) -> None:
    tasks = made(world, 25)
    for task_id in (tasks[3], tasks[11], tasks[24]):
        cancel_task(world.deps, human(), task_id, None)
    seen: list[str] = []
    cursor: str | None = None
    pages = 0
    while pages == 0 or cursor is not None:
        page = tasks_of_agent(
            world.deps, human(), TaskFilter(agent="auditor", states=frozenset({State.CANCELLED})), 2, cursor
        )
        assert len(page.items) <= 2
        seen += [task.id for task in page.items]
        cursor = page.cursor
        pages += 1
        assert pages < 30
    assert seen == [tasks[24], tasks[11], tasks[3]]


def test_a_days_tasks_are_those_created_on_it_in_utc(world: World) -> None:
    first = world.clock.now().date()
    (early,) = made(world, 1)
    world.clock.time = world.clock.time.replace(hour=23, minute=59, second=59, microsecond=999_000)
    late = world.mark(human(), source_agent="scout").task_id
    world.clock.advance(milliseconds=1)
    after = world.mark(human(), source_agent="runner").task_id

    def of(day: Any) -> list[str]:
        return [task.id for task in tasks_of_day(world.deps, human(), TaskFilter(day=day), 10, None).items]

    assert of(first) == [late, early]
    assert of(world.clock.now().date()) == [after]
    assert tasks_of_day(world.deps, human("other"), TaskFilter(day=first), 10, None).items == ()


def test_what_needs_a_human_is_listed_most_urgent_and_oldest_first(world: World) -> None:
    tasks = []
    for n, priority in enumerate(["low", "high", "low", "high"]):
        register_agent(world.deps, human(), f"s{n}", {})
        tasks.append(world.mark(agent(f"s{n}"), source_agent=f"s{n}", task_priority=priority).task_id)
        world.clock.advance(milliseconds=1)
    page = world.store.queues.needs(WORKSPACE, 3, None)
    rest = world.store.queues.needs(WORKSPACE, 3, page.cursor)
    assert [task.id for task in (*page.items, *rest.items)] == [tasks[1], tasks[3], tasks[0], tasks[2]]
    assert rest.cursor is None
    approve_task(world.deps, human(), tasks[1] or "", None)
    assert [task.id for task in world.store.queues.needs(WORKSPACE, 1, None).items] == [tasks[3]]


def test_an_output_is_answered_to_a_reader_as_it_was_given(world: World) -> None:
    claimed = world.claimed()
    output: dict[str, list[Any]] = {"deep": [{"é": [1, 2.5, None, True]}]}
    task_id = claimed.details.task.id
    complete_task(
        world.deps, WorkerCall(agent("auditor"), task_id, claimed.claim_id, "h"), CompletedWork(output=output)
    )
    output["deep"].append("changed afterwards")
    assert world.store.tasks.read(WORKSPACE, task_id).output == {"deep": [{"é": [1, 2.5, None, True]}]}
