"""What lies beside a task and around a workflow: it is read as it was written, and by whoever it is for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from baton.domain.errors import KeyTaken, Unknown
from baton.domain.escalations.review import ReviewRequest
from baton.domain.handoffs.workflow import (
    BackgroundJob,
    ClaimLateResult,
    HandoffCount,
    JobKind,
    RootHandoffs,
    WorkflowMember,
)
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.domain.task_state import State
from baton.domain.tasks.change import Change
from baton.domain.tasks.task import Branch, Policy, Wait
from baton.domain.tasks.task_items import Retry
from baton.domain.times import seconds
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffInputs, HandoffQuery
from baton.ports.paging import Page
from baton.ports.store import Store
from baton.ports.writes import Add, FinishJob, Insert, Put, Replace, Save, SaveResponse, Write
from support.clock import NOON
from support.values.changes import claimed, new, plant, queued, stored, then, with_body, with_output
from support.values.records import a_note, a_review, a_route
from support.values.task_items import a_checkpoint, a_job, a_late_result, freed, holding, told
from support.values.tasks import MS, an_agent
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, human

Plant = Callable[[Iterable[Change]], object]
ONCE = IdempotencyKey(human(), "/x", "key", "hash")
FAILURE = {"type": "error", "description": "broke"}


def test_a_task_survives_with_all_that_a_handoff_gives_it(store: Store) -> None:
    wait = Wait(
        number=2,
        since=NOON,
        alert_at=NOON + seconds(60),
        policy=Policy.QUORUM,
        quorum=1,
        branches=(Branch(call_id="a", task_id="task_2"), Branch(call_id="b", task_id="task_3")),
    )
    values: dict[str, Any] = {
        "target_agent": None,
        "requires": ("accepts:code",),
        "work_type": "audit",
        "dispatch_rank": 7,
        "not_before": NOON,
        "join_parent": "task_0",
        "call_id": "c",
        "successors": ("task_4",),
        "retry_of": "task_5",
        "checkpoints": 3,
        "last_checkpoint_id": "chk_3",
        "waits": 2,
        "wait": wait,
        "parked": True,
    }
    task = stored(store, **values)
    assert store.tasks.load(WORKSPACE, "task_1")[0] == task
    callback = replace(wait, policy=Policy.ALL, quorum=None, branches=(), interaction_id="call 7", until=NOON)
    change = then(task, wait=callback)
    store.commit(WORKSPACE, change)
    assert store.tasks.load(WORKSPACE, "task_1")[0] == change.task


# One task


def test_a_task_is_read_with_its_body_or_with_the_first_answer(store: Store) -> None:
    change = new()
    store.commit(WORKSPACE, with_body(change, {"text": "x"}), SaveResponse(ONCE, {"n": 1}))
    assert store.tasks.read(WORKSPACE, "task_1", with_body=True) == TaskDetails(task=change.task, body={"text": "x"})
    assert store.tasks.load(WORKSPACE, "task_1") == (change.task, None)
    assert store.tasks.load(WORKSPACE, "task_1", ONCE) == (change.task, SavedResponse("hash", {"n": 1}))
    assert store.tasks.load(WORKSPACE, "task_1", replace(ONCE, key="other")) == (change.task, None)
    with pytest.raises(Unknown):
        store.tasks.load(WORKSPACE, "task_2", ONCE)


def test_a_task_without_a_body_has_none(store: Store) -> None:
    stored(store)
    assert store.tasks.read(WORKSPACE, "task_1", with_body=True).body is None
    assert store.tasks.bodies(WORKSPACE, ["task_1"]) == {}


def test_a_completion_lies_with_its_output(store: Store) -> None:
    completion = {"completion_id": "comp_1", "notes": ["é"], "verification": {"tests_passing": None}}
    task = claimed(store)
    store.commit(WORKSPACE, with_output(then(task, state=State.DONE, claim=None), None, completion))
    read = store.tasks.read(WORKSPACE, "task_1")
    assert (read.output, read.completion) == (None, completion)


def test_the_next_claimer_finds_what_was_brought_and_the_latest_checkpoint(store: Store) -> None:
    task = holding(store, "task_1")
    for number in (1, 2):
        store.commit(
            WORKSPACE,
            then(task, checkpoints=number, last_checkpoint_id=a_checkpoint(number).id),
            Put(a_checkpoint(number)),
        )
        task = store.tasks.load(WORKSPACE, "task_1")[0]
    for results in ([1], [2, None]):
        back = then(task, state=State.DELEGATED, claim=None, ready_at=NOON, waits=1)
        store.commit(WORKSPACE, replace(back, resume_payload={"results": results}))
        task = back.task
    for read in (store.tasks.read(WORKSPACE, "task_1"), store.tasks.read_for_claim(WORKSPACE, "task_1")):
        assert (read.resume_payload, read.checkpoint) == ({"agent": task.agent, "results": [2, None]}, a_checkpoint(2))
    fresh = stored(store, "task_2")
    assert store.tasks.read(WORKSPACE, "task_2") == TaskDetails(task=fresh)
    assert store.tasks.read_for_claim(WORKSPACE, "task_2") == TaskDetails(task=fresh)


def test_the_claimers_reading_shows_nothing_that_only_an_ended_task_has(store: Store) -> None:
    task = claimed(store)
    store.commit(WORKSPACE, with_output(then(task, state=State.DONE, claim=None), 1, {"notes": []}))
    details = store.tasks.read_for_claim(WORKSPACE, "task_1")
    assert (details.output, details.completion, details.page_sync) == (None, None, None)


def test_late_words_are_kept_once_per_claim_in_the_order_of_their_fences(store: Store) -> None:
    stored(store)
    assert store.trail.late_results(WORKSPACE, "task_1") == ()
    for fence in (11, 2, 1):
        store.commit(WORKSPACE, Insert(ClaimLateResult("task_1", f"clm_{fence}", a_late_result(fence)), KeyTaken))
    with pytest.raises(KeyTaken):
        store.commit(
            WORKSPACE, Insert(ClaimLateResult("task_1", "clm_2", replace(a_late_result(2), verb="fail")), KeyTaken)
        )
    store.commit(WORKSPACE, Insert(ClaimLateResult("task_10", "clm_1", a_late_result(1)), KeyTaken))
    assert store.trail.late_results(WORKSPACE, "task_1") == tuple(map(a_late_result, (1, 2, 11)))
    assert [event.seq for event in store.trail.events(WORKSPACE, "task_1", 0, 10)] == [1]


def test_the_latest_retry_is_known(store: Store) -> None:
    assert store.workflows.retry_of(WORKSPACE, "task_0") is None
    store.commit(WORKSPACE, new("task_1"), Replace(Retry("task_0", "task_1"), None))
    store.commit(WORKSPACE, new("task_2"), Replace(Retry("task_0", "task_2"), Retry("task_0", "task_1")))
    assert store.workflows.retry_of(WORKSPACE, "task_0") == "task_2"
    assert store.workflows.retry_of(WORKSPACE, "task_1") is None


# Errands


def due(store: Store) -> list[tuple[str, str, JobKind | None]]:
    return list(store.queues.due(NOON))


@pytest.mark.parametrize("kind", JobKind)
def test_an_errand_is_due_until_it_is_done(store: Store, kind: JobKind) -> None:
    stored(store)
    job = a_job(kind)
    store.commit(WORKSPACE, Put(job))
    assert store.queues.job(WORKSPACE, kind, "task_1") == job
    assert due(store) == [(WORKSPACE, "task_1", kind)]
    store.commit(WORKSPACE, FinishJob(job))
    assert store.queues.job(WORKSPACE, kind, "task_1") is None
    assert due(store) == []
    store.commit(WORKSPACE, FinishJob(job))
    store.commit(WORKSPACE, Put(replace(job, stamp="stamp_2")))
    assert due(store) == [(WORKSPACE, "task_1", kind)]


def test_a_new_reason_is_not_done_with_the_old_one(store: Store) -> None:
    first, second = a_job(), BackgroundJob(kind=JobKind.JOIN, task_id="task_1", stamp="stamp_2", at=NOON - MS, data={})
    store.commit(WORKSPACE, Put(first))
    store.commit(WORKSPACE, Put(second))
    change = new("task_2")
    store.commit(WORKSPACE, change, FinishJob(first), new("task_3"), FinishJob(first))
    assert store.queues.job(WORKSPACE, JobKind.JOIN, "task_1") == second
    assert sorted(store.tasks.many(WORKSPACE, ["task_2", "task_3"])) == ["task_2", "task_3"], (
        "nothing was refused for it"
    )
    assert due(store) == [(WORKSPACE, "task_1", JobKind.JOIN)]


def test_errands_of_two_kinds_and_of_two_tasks_are_apart(store: Store) -> None:
    errands = [a_job(kind, task_id) for kind in JobKind for task_id in ("task_1", "task_2")]
    store.commit(WORKSPACE, *map(Put, errands))
    store.commit(WORKSPACE, FinishJob(errands[0]))
    assert sorted(due(store), key=str) == sorted(((WORKSPACE, e.task_id, e.kind) for e in errands[1:]), key=str)


def test_an_errand_done_within_another_tasks_change_is_done(store: Store) -> None:
    store.commit(WORKSPACE, Put(a_job()), Put(a_job(JobKind.CASCADE)))
    extras: list[Write] = [FinishJob(a_job()), new("task_3"), FinishJob(a_job(JobKind.CASCADE))]
    store.commit(WORKSPACE, new("task_2"), *extras)
    assert due(store) == []


def test_errands_are_due_in_time_after_claims_and_before_everything_else(store: Store) -> None:
    for number in range(8):
        stored(store, f"task_other_{number}", wake_at=NOON - seconds(9))
        claimed(store, f"task_claimed_{number}", wake_at=NOON)
        store.commit(WORKSPACE, Put(a_job(task_id=f"task_{number}", at=NOON - seconds(5))))
    store.commit(WORKSPACE, Put(a_job(task_id="task_soon", at=NOON + MS)))
    found = due(store)
    assert len(found) == 24
    kinds = [
        "claimed" if "claimed" in task_id else "other" if "other" in task_id else "errand" for _, task_id, _ in found
    ]
    assert kinds == ["claimed"] * 8 + ["errand"] * 8 + ["other"] * 8
    assert (WORKSPACE, "task_soon", JobKind.JOIN) in store.queues.due(NOON + MS)


def test_an_errand_and_the_task_itself_are_due_apart(store: Store) -> None:
    stored(store, wake_at=NOON)
    store.commit(WORKSPACE, Put(a_job()))
    assert due(store) == [(WORKSPACE, "task_1", JobKind.JOIN), (WORKSPACE, "task_1", None)]
    assert store.tasks.read(WORKSPACE, "task_1").task.meta.wake_at == NOON


# Many tasks


def test_many_are_read_by_id_each_once_and_unknown_ones_left_out(store: Store) -> None:
    changes = [new(f"task_{number:03d}", title=f"title {number}") for number in range(120)]
    plant(store, changes)
    made = {change.task.id: change.task for change in changes}
    ids = [*made, "task_000", "task_unknown"]
    assert store.tasks.many(WORKSPACE, ids) == made
    assert store.tasks.outcomes(WORKSPACE, ids) == {task_id: TaskDetails(task=task) for task_id, task in made.items()}
    for read in (store.tasks.many, store.tasks.outcomes, store.tasks.bodies):
        assert read(WORKSPACE, []) == {}


def test_papers_are_output_completion_and_failure_and_nothing_else(store: Store) -> None:
    task = holding(store, "task_1")
    store.commit(
        WORKSPACE,
        with_body(replace(then(task, title="x"), failure=FAILURE, resume_payload={"x": 1}), {"text": "x"}),
    )
    task = store.tasks.load(WORKSPACE, "task_1")[0]
    done = then(task, state=State.DONE, claim=None, has_output=True)
    store.commit(WORKSPACE, with_output(done, {"x": 1}, {"notes": []}), Put(a_checkpoint()))
    expected = TaskDetails(task=done.task, output={"x": 1}, completion={"notes": []}, failure=FAILURE)
    assert store.tasks.outcomes(WORKSPACE, ["task_1"]) == {"task_1": expected}


def test_many_big_bodies_are_all_read(store: Store) -> None:
    """A batch answers with at most 16 MB."""
    ids = [f"task_{number:02d}" for number in range(45)]
    made = [with_body(new(task_id), {"text": "x" * 380_000, "of": task_id}) for task_id in ids]
    for start in range(0, 45, 10):
        store.commit(WORKSPACE, *made[start : start + 10])
    found = store.tasks.bodies(WORKSPACE, [*ids, "task_00", "task_unknown"])
    assert [body["of"] for body in found.values()] == list(found) == ids


# Around a workflow


def test_a_workflow_is_all_of_its_tasks_in_the_order_of_their_ids(store: Store) -> None:
    stored(store, "task_2", parent_id="task_1")
    ended = stored(store, "task_1")
    store.commit(WORKSPACE, then(ended, state=State.DONE))
    queued(store, "task_3", parent_id="task_1", target_agent=None)
    stored(store, "task_4", workflow_id="wf_10")
    expected = (WorkflowMember("task_1", None), WorkflowMember("task_2", "task_1"), WorkflowMember("task_3", "task_1"))
    assert store.workflows.members(WORKSPACE, "wf_1") == expected
    assert store.workflows.members(WORKSPACE, "wf_0") == ()


def test_a_root_that_its_workflows_id_tells_is_a_member_without_an_item(rig: Rig) -> None:
    stored(rig.store, "task_1", workflow_id="wf_t1")
    assert not [item for item in rig.items() if "#WORKFLOW#" in item["pk"]["S"]]
    assert rig.store.workflows.members(WORKSPACE, "wf_t1") == (WorkflowMember("task_1", None),)
    stored(rig.store, "task_0", workflow_id="wf_t1", parent_id="task_1")
    expected = (WorkflowMember("task_0", "task_1"), WorkflowMember("task_1", None))
    assert rig.store.workflows.members(WORKSPACE, "wf_t1") == expected


@pytest.mark.parametrize(
    "of_another", [{"workflow_id": "wf_9"}, {"parent_id": "task_0"}, {"workflow_id": "wf_9", "parent_id": "task_0"}, {}]
)
def test_a_task_of_that_name_in_another_place_is_no_root_of_the_workflow(store: Store, of_another: Any) -> None:
    stored(store, "task_1", **{"workflow_id": "wf_t1", **of_another})
    member = WorkflowMember("task_1", of_another.get("parent_id"))
    for workflow_id in ("wf_1", "wf_9", "wf_t1", "named_wf_t1"):
        expected = (member,) if workflow_id == of_another.get("workflow_id", "wf_t1") else ()
        assert store.workflows.members(WORKSPACE, workflow_id) == expected


Post = Callable[[Store, int], object]
Read = Callable[[Store, int, str | None], Page]
PAGES: dict[str, tuple[Post, Read, bool]] = {
    "checkpoints": (
        lambda store, n: store.commit(WORKSPACE, Put(a_checkpoint(n, task_id=f"task_{n % 2}"))),
        lambda store, limit, cursor: store.workflows.checkpoints(WORKSPACE, "wf_1", limit, cursor),
        True,
    ),
    "inbox": (
        lambda store, n: told(store, n),
        lambda store, limit, cursor: store.inboxes.inbox(WORKSPACE, "scout", limit, cursor),
        False,
    ),
}


@pytest.mark.parametrize("kind", PAGES)
@pytest.mark.parametrize("limit", [1, 3, 10, 11, 12])
def test_pages_together_are_the_whole(store: Store, kind: str, limit: int) -> None:
    post, read, newest_first = PAGES[kind]
    for number in (3, 1, 2, *range(4, 12)):
        post(store, number)
    found: list[int] = []
    page = read(store, limit, None)
    while True:
        assert 0 < len(page.items) <= limit
        found += [int(item.id[-2:]) for item in page.items]
        if page.cursor is None:
            break
        page = read(store, limit, page.cursor)
    assert found == sorted(range(1, 12), reverse=newest_first)


@pytest.mark.parametrize("kind", PAGES)
def test_an_empty_page_is_empty(store: Store, kind: str) -> None:
    assert PAGES[kind][1](store, 10, None) == Page(())


def test_a_checkpoint_is_listed_for_good_and_its_tasks_latest_beside_it(store: Store) -> None:
    stored(store)
    for number in (1, 2):
        store.commit(WORKSPACE, Put(a_checkpoint(number)))
    store.commit(WORKSPACE, Put(a_checkpoint(3, workflow_id="wf_10", task_id="task_9")))
    assert store.workflows.checkpoints(WORKSPACE, "wf_1", 10, None).items == (a_checkpoint(2), a_checkpoint(1))
    assert store.tasks.read(WORKSPACE, "task_1").checkpoint == a_checkpoint(2)


def test_what_is_acknowledged_is_in_the_inbox_no_more(store: Store) -> None:
    _, second, _, fourth, fifth = (told(store, number) for number in range(1, 6))
    others = told(store, 1, "scout-2")
    assert store.inboxes.acknowledge(WORKSPACE, "scout", ["inb_001", "inb_003", "inb_001", "inb_999"]) == ("inb_999",)
    assert store.inboxes.acknowledge(WORKSPACE, "scout", ["inb_001"]) == ("inb_001",)
    assert store.inboxes.acknowledge(WORKSPACE, "scout", []) == ()
    assert store.inboxes.inbox(WORKSPACE, "scout", 10, None).items == (second, fourth, fifth)
    assert store.inboxes.inbox(WORKSPACE, "scout-2", 10, None).items == (others,)
    assert store.inboxes.inbox(WORKSPACE, "human:alice", 10, None).items == ()


def test_a_hundred_messages_are_acknowledged_at_once(store: Store) -> None:
    for number in range(120):
        told(store, number)
    with pytest.raises(ValueError, match="101 ids"):
        store.inboxes.acknowledge(WORKSPACE, "scout", [f"inb_{number:03d}" for number in range(101)])
    store.inboxes.acknowledge(WORKSPACE, "scout", [f"inb_{number:03d}" for number in range(100)])
    assert [item.id for item in store.inboxes.inbox(WORKSPACE, "scout", 100, None).items] == [
        f"inb_{number:03d}" for number in range(100, 120)
    ]


def test_what_a_review_would_let_through_lies_whole_beside_it(store: Store) -> None:
    review = a_review(rule="ping_pong", chain=("scout", "auditor", "scout"), target_agent=None)
    assert store.escalations.review_request(WORKSPACE, review.id) is None
    store.commit(WORKSPACE, Save(review), Put(ReviewRequest(review.id, {"n": 1})), Insert(a_note()))
    again = replace(review, version=2, count=2)
    store.commit(WORKSPACE, Save(again), Put(ReviewRequest(review.id, {"n": [2, None]})), Insert(a_note(2)))
    assert store.escalations.review(WORKSPACE, review.id) == again
    assert store.escalations.review_request(WORKSPACE, review.id) == {"n": [2, None]}
    assert store.escalations.reviews(WORKSPACE, 10, None).items == (again,)


def test_a_handoff_is_decided_on_what_there_is(store: Store) -> None:
    settings = store.settings.of(WORKSPACE)
    agents = frozenset({"auditor", "scout"})
    wanted = HandoffQuery(
        agents=agents,
        work_type="audit",
        idempotency_key=ONCE,
        parent_id="task_1",
        workflow_id="wf_1",
        roots=("scout", "*"),
    )
    nothing = HandoffInputs(settings=settings, agents={}, roots=RootHandoffs("scout", "*"))
    assert store.handoffs.handoff_inputs(WORKSPACE, wanted) == nothing
    assert store.handoffs.handoff_inputs(WORKSPACE, HandoffQuery()) == HandoffInputs(settings=settings, agents={})
    for slug in ("auditor", "bystander"):
        store.agents.save_agent(an_agent(slug), store.agents.roster(WORKSPACE))
    route = a_route(work_type="audit")
    store.routes.save_route(route, store.routes.table(WORKSPACE))
    change, roots = new(), RootHandoffs("scout", "*", (NOON,), 1)
    counted: list[Any] = [Add(HandoffCount("wf_1", 0), 1, 9), Save(roots), SaveResponse(ONCE, {"n": 1})]
    store.commit(WORKSPACE, with_body(change, {"text": "x"}), *counted)
    expected = HandoffInputs(
        settings=settings,
        agents={"auditor": an_agent()},
        route=route,
        saved_response=SavedResponse("hash", {"n": 1}),
        parent=TaskDetails(task=change.task, body={"text": "x"}),
        handoffs=1,
        roots=roots,
    )
    assert store.handoffs.handoff_inputs(WORKSPACE, wanted) == expected
    removed = replace(route, version=2, removed=True)
    store.routes.save_route(removed, store.routes.table(WORKSPACE))
    assert store.handoffs.handoff_inputs(WORKSPACE, wanted) == replace(expected, route=None)


SHARED: dict[str, tuple[Callable[[Store, Any], object], Callable[[Store], Any]]] = {
    "checkpoint": (
        lambda store, value: store.commit(WORKSPACE, new(), Put(a_checkpoint(state=value))),
        lambda store: store.workflows.checkpoints(WORKSPACE, "wf_1", 1, None).items[0].state,
    ),
    "latest checkpoint": (
        lambda store, value: store.commit(WORKSPACE, new(), Put(a_checkpoint(state=value))),
        lambda store: getattr(store.tasks.read(WORKSPACE, "task_1").checkpoint, "state", None),
    ),
    "errand": (
        lambda store, value: store.commit(WORKSPACE, Put(replace(a_job(), data=value))),
        lambda store: getattr(store.queues.job(WORKSPACE, JobKind.JOIN, "task_1"), "data", None),
    ),
    "late result": (
        lambda store, value: store.commit(
            WORKSPACE,
            new(),
            Insert(ClaimLateResult("task_1", "clm_1", replace(a_late_result(), content=value)), KeyTaken),
        ),
        lambda store: store.trail.late_results(WORKSPACE, "task_1")[0].content,
    ),
    "what was brought": (
        lambda store, value: store.commit(WORKSPACE, replace(new(), resume_payload=value)),
        lambda store: store.tasks.read(WORKSPACE, "task_1").resume_payload,
    ),
    "completion": (
        lambda store, value: store.commit(WORKSPACE, with_output(new(state=State.DONE), 1, value)),
        lambda store: store.tasks.outcomes(WORKSPACE, ["task_1"])["task_1"].completion,
    ),
    "review request": (
        lambda store, value: store.commit(WORKSPACE, Put(ReviewRequest("review_01", value)), Insert(a_note())),
        lambda store: store.escalations.review_request(WORKSPACE, "review_01"),
    ),
    "body": (
        lambda store, value: store.commit(WORKSPACE, with_body(new(), value)),
        lambda store: store.tasks.read(WORKSPACE, "task_1", with_body=True).body,
    ),
    "bodies": (
        lambda store, value: store.commit(WORKSPACE, with_body(new(), value)),
        lambda store: store.tasks.bodies(WORKSPACE, ["task_1"])["task_1"],
    ),
    "parent's body": (
        lambda store, value: store.commit(WORKSPACE, with_body(new(), value)),
        lambda store: getattr(
            store.handoffs.handoff_inputs(WORKSPACE, HandoffQuery(parent_id="task_1")).parent, "body", None
        ),
    ),
}


@pytest.mark.parametrize("kind", SHARED)
def test_changing_what_was_given_or_got_changes_nothing(store: Store, kind: str) -> None:
    write, read = SHARED[kind]
    given: dict[str, Any] = {"list": [1, {"é": None, "big": 10**40, "third": 1 / 3}]}
    wanted = deepcopy(given)
    write(store, given)
    given["list"].clear()
    for _ in range(2):
        found = read(store)
        assert found == wanted
        found["list"].clear()


def test_a_task_that_comes_and_goes_leaves_its_workflow_as_it_was(store: Store) -> None:
    task = holding(store, "task_1")
    freed(store, freed(store, task, state=State.NEEDS), state=State.DONE)
    assert store.workflows.members(WORKSPACE, "wf_1") == (WorkflowMember("task_1", None),)
