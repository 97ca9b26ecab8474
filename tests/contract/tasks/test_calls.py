"""What each verb costs: the calls at the choke point, and the notices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.table import to_wire
from baton.domain.access.principal import PrincipalKind
from baton.domain.access.token import credentials_from
from baton.domain.agents.agent import Runtime
from baton.domain.agents.liveness import MARKED_EVERY
from baton.domain.handoffs.workflow import JobKind
from baton.domain.idempotency import IdempotencyKey
from baton.domain.task_state import State
from baton.domain.tasks.calls import Seen, WorkerCall
from baton.domain.times import seconds
from baton.ports.handoffs import HandoffQuery
from baton.ports.store import Store
from baton.ports.writes import FinishJob
from baton.services.access.authenticate import admit
from baton.services.access.change_settings import change_settings
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.access.open_session import open_session
from baton.services.access.renew_session import renew_session
from baton.services.agents.register_agent import register_agent
from baton.services.claims.claim_task import claim_next, claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.renew_claim import renew_claim
from baton.services.escalations.create_handoff_marker import create_handoff_marker
from baton.services.escalations.release_review import release_review
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimed, Claimer
from support.clock import NOON
from support.faults.soak import scaled
from support.values.changes import a_claim, new, queued, stored, then, with_body
from support.values.runs import fill_runs
from support.values.task_items import a_job, fill_task_items, freed, told
from support.values.tasks import an_agent
from support.values.tokens import raise_config_version, who
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, agent, human, marker_body
from tools.bench.meter import Meter

AUDITOR = agent("auditor")


def idempotency_key(route: str = "/x", key: str = "key") -> IdempotencyKey:
    return IdempotencyKey(human(), route, key, "hash")


def spent(rig: Rig, act: Callable[[], Any]) -> list[str]:
    """Calls to the table, then notices, in a process that heard of the auditor within the minute: the first claim of a
    minute takes one more, as is said below."""
    rig.store.contacts.mark_contact(WORKSPACE, "auditor", rig.clock.now(), MARKED_EVERY)
    notices = len(rig.world.dispatch_queue.notices)
    calls = rig.requested(act)
    return calls + ["notify"] * (len(rig.world.dispatch_queue.notices) - notices)


def marked(rig: Rig, **changes: Any) -> Callable[[], Any]:
    return lambda: create_handoff_marker(rig.world.deps, human(), marker_body(**changes), idempotency_key())


def test_a_marker_that_makes_a_task_takes_two_calls(rig: Rig) -> None:
    assert spent(rig, marked(rig)) == ["batch_get_item", "put_item", "put_item", "transact_write_items"]


def test_a_process_reads_the_agents_once_and_again_after_any_of_them_has_changed(rig: Rig) -> None:
    """And the settings likewise, under one version."""
    unknown, made = ["get_item", "batch_get_item", "query"], ["batch_get_item", "put_item", "put_item"]

    def asked() -> list[str]:
        with rig.world.request():
            return rig.count(marked(rig))

    rig.store.forget_all()
    assert asked() == [*unknown, *made, "transact_write_items"]
    assert asked() == ["get_item", "batch_get_item"]
    register_agent(rig.other().deps, human(), "scout", {"description": "Watches."})
    assert asked() == [*unknown, "batch_get_item"]
    assert asked() == ["get_item", "batch_get_item"]
    change_settings(rig.other().deps, human(), {"escalation_cap": 3})
    assert asked() == ["get_item", "batch_get_item", "batch_get_item"], "the agents are as they were"


def test_a_marker_for_an_agent_that_is_run_takes_three_with_its_notice(rig: Rig) -> None:
    def standing() -> Any:
        return create_handoff_marker(
            rig.world.deps, agent("scout"), marker_body(target_agent="runner"), idempotency_key()
        )

    assert spent(rig, standing) == ["batch_get_item", "put_item", "put_item", "transact_write_items", "notify"]


def test_a_prevented_duplicate_takes_three_with_a_look_at_the_open_task(rig: Rig) -> None:
    rig.world.mark()
    assert spent(rig, marked(rig)) == ["batch_get_item", "batch_get_item", "transact_write_items"]


def test_a_marker_in_a_full_window_looks_at_what_has_ended_since_the_last_in_one_call(rig: Rig) -> None:
    change_settings(rig.world.deps, human(), {"escalation_cap": 20})
    for _ in range(20):
        cancel_task(rig.world.deps, human(), rig.world.needing(), None)
    assert spent(rig, marked(rig)) == ["batch_get_item", "batch_get_item", "transact_write_items"]
    again = IdempotencyKey(human(), "/x", "key-2", "hash")
    knock = spent(rig, lambda: create_handoff_marker(rig.world.deps, human(), marker_body(), again))
    assert knock == ["batch_get_item", "get_item", "transact_write_items"], "all twenty are known"


def test_a_text_takes_two(rig: Rig) -> None:
    assert len(spent(rig, marked(rig, create_task=False))) == 2


def test_a_repeat_takes_one(rig: Rig) -> None:
    marked(rig)()
    assert spent(rig, marked(rig)) == ["batch_get_item"]


def capped(rig: Rig) -> None:
    for _ in range(2):
        task_id = rig.world.mark().task_id
        assert task_id
        cancel_task(rig.world.deps, human(), task_id, None)


def test_a_capped_marker_takes_three_with_a_look_at_the_latest_end_and_the_next_knocks_three(rig: Rig) -> None:
    capped(rig)
    assert spent(rig, marked(rig)) == ["batch_get_item", "batch_get_item", "transact_write_items"]
    again = IdempotencyKey(human(), "/x", "key-2", "hash")
    knock = spent(rig, lambda: create_handoff_marker(rig.world.deps, human(), marker_body(), again))
    assert knock == ["batch_get_item", "get_item", "transact_write_items"]


def test_a_released_review_takes_five_with_its_notice(rig: Rig) -> None:
    capped(rig)
    review_id = rig.world.mark().review_id
    assert review_id
    assert len(spent(rig, lambda: release_review(rig.world.deps, human(), review_id, idempotency_key()))) <= 5


@pytest.mark.parametrize("key", [None, idempotency_key()])
@pytest.mark.parametrize(("runtime", "most"), [(Runtime.PULL, 2), (Runtime.RUN, 3)])
def test_an_approval_takes_two_and_a_notice(rig: Rig, key: IdempotencyKey | None, runtime: Runtime, most: int) -> None:
    register_agent(rig.world.deps, human(), "auditor", {"runtime": runtime})
    task_id = rig.world.needing()
    calls = spent(rig, lambda: approve_task(rig.world.deps, human(), task_id, Seen(1), key))
    assert len(calls) == most
    assert ("notify" in calls) == (runtime is Runtime.RUN)


@pytest.mark.parametrize("key", [None, idempotency_key()])
def test_claim_next_takes_three(rig: Rig, key: IdempotencyKey | None) -> None:
    rig.world.ready()
    claimer = Claimer(by=AUDITOR, agent="auditor", worker="w")
    calls = spent(rig, lambda: claim_next(rig.world.deps, claimer, key))
    assert calls == ["query", "batch_get_item", "put_item" if key is None else "transact_write_items"]


def test_claim_next_that_finds_nothing_takes_two(rig: Rig) -> None:
    """Its own queue and open work. The agent, which may have been switched off, is known under the version."""
    claimer = Claimer(by=AUDITOR, agent="auditor", worker="w")
    assert spent(rig, lambda: claim_next(rig.world.deps, claimer)) == ["query", "query"]


def test_claim_next_reads_none_of_its_agents_own_offers(rig: Rig) -> None:
    queued(rig.store, "task_1", target_agent=None, source_agent="auditor")
    claimer = Claimer(by=AUDITOR, agent="auditor", worker="w")
    assert spent(rig, lambda: claim_next(rig.world.deps, claimer)) == ["query", "query"]


def test_an_agents_first_claim_in_a_minute_marks_its_contact_too(rig: Rig) -> None:
    claimer = Claimer(by=AUDITOR, agent="auditor", worker="w")
    task_id = rig.world.ready()
    claims = {
        "by id": lambda: claim_task(rig.world.deps, claimer, task_id),
        "next": lambda: claim_next(rig.world.deps, claimer),
    }
    for claim in claims.values():
        assert rig.count(claim)[-1:] == ["put_item"]
        rig.clock.advance(59)
        assert "update_item" not in rig.count(lambda: claim_next(rig.world.deps, claimer))
        rig.clock.advance(1)


def test_a_claim_of_a_task_that_came_back_reads_why_too(rig: Rig) -> None:
    claimer = Claimer(by=AUDITOR, agent="auditor", worker="w")
    told = []

    def claim() -> None:
        claimed = claim_next(rig.world.deps, claimer)
        assert claimed is not None
        told.append([recovery.number for recovery in claimed.details.recoveries])

    rig.world.ready()
    for came_back in range(5):
        calls = spent(rig, claim)
        assert len([each for each in calls if each != "put_item"]) == (3 if came_back else 2)
        assert calls.count("put_item") <= 3, "what HEAD had before moves into a chunk now and then"
        rig.clock.advance(301)
        sweep(rig.world.deps)
        (task,) = rig.world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 1, None).items
        if task.state == "needs":
            approve_task(rig.world.deps, human(), task.id, None)
            rig.clock.advance(3)
    assert told == [[], [1], [1, 2], [1, 2, 3], [1, 2, 3, 4]]


def test_a_claim_by_id_takes_two(rig: Rig) -> None:
    task_id = rig.world.ready()
    claimer = Claimer(by=AUDITOR, agent="auditor", worker="w")
    assert len(spent(rig, lambda: claim_task(rig.world.deps, claimer, task_id))) == 2


@pytest.mark.parametrize("lease_seconds", [None, 600])
def test_a_heartbeat_is_one_call(rig: Rig, lease_seconds: int | None) -> None:
    claim = rig.world.claimed()
    rig.clock.advance(60)
    task_id = claim.details.task.id
    act = lambda: renew_claim(rig.world.deps, AUDITOR, task_id, claim.claim_id, lease_seconds)  # noqa: E731
    assert spent(rig, act) == ["update_item"]


END = {
    "complete": lambda w, c, k: complete_task(
        w.deps, WorkerCall(AUDITOR, c.details.task.id, c.claim_id, "h", k), CompletedWork(output={"x": 1})
    ),
    "fail": lambda w, c, k: fail_task(
        w.deps,
        WorkerCall(AUDITOR, c.details.task.id, c.claim_id, "h", k),
        FailedWork(failure={"type": "e"}, retryable=True),
    ),
    "release": lambda w, c, k: release_task(
        w.deps, WorkerCall(AUDITOR, c.details.task.id, c.claim_id, "h", k), ReleasedWork()
    ),
}


@pytest.mark.parametrize("verb", END)
@pytest.mark.parametrize("key", [None, idempotency_key()])
def test_ending_a_claim_takes_two(rig: Rig, verb: str, key: IdempotencyKey | None) -> None:
    claim: Claimed = rig.world.claimed()
    assert len(spent(rig, lambda: END[verb](rig.world, claim, key))) == 2


def test_who_calls_is_one_small_reading_before_all_others(rig: Rig) -> None:
    """Of a token that the process knows. One that it doesn't know is read: alone, and once more under the version."""
    _, text = issue_token(rig.world.deps, human(), TokenRequest(kind=PrincipalKind.SERVICE, subject="ci"))
    task_id = rig.world.needing()

    def asked(act: Callable[[Store], Any]) -> list[str]:
        def ask() -> None:
            act(admit(rig.world.deps, credentials_from(f"Bearer {text}"))[0].store)

        return rig.count(ask)

    rig.store.agents.roster(WORKSPACE)
    assert asked(lambda store: store.tasks.load(WORKSPACE, task_id)) == ["get_item", "get_item"]
    assert asked(lambda store: store.tasks.load(WORKSPACE, task_id)) == ["get_item", "get_item", "get_item"]
    assert asked(lambda store: store.tasks.load(WORKSPACE, task_id)) == ["get_item", "get_item"]
    assert asked(lambda store: store.agents.dispatch_inputs(WORKSPACE, "auditor")) == ["get_item"]
    assert asked(lambda store: store.claims.held(WORKSPACE, "auditor")) == ["get_item", "query"]
    assert asked(lambda store: store.tasks.read(WORKSPACE, task_id)) == ["get_item", "query"]
    assert asked(lambda _: None) == ["get_item"]
    assert spent(rig, lambda: who(rig.world.deps, "Bearer nonsense")) == []


def test_a_session_is_read_as_a_token_is(rig: Rig) -> None:
    """Once the process knows it. Its own token is read after it, where either has to be read again."""
    wanted = TokenRequest(kind=PrincipalKind.HUMAN, subject="bob")
    token, token_text = issue_token(rig.world.deps, human(), wanted)
    _, session_text = open_session(rig.world.deps, token.principal)
    task_id = rig.world.needing()

    def asked(text: str) -> list[list[str]]:
        def ask() -> None:
            admit(rig.world.deps, credentials_from(f"Bearer {text}"))[0].store.tasks.load(WORKSPACE, task_id)

        return [rig.count(ask) for _ in range(4)]

    rig.store.agents.roster(WORKSPACE)
    by_token, by_session = asked(token_text), asked(session_text)
    assert by_session[2:] == by_token[2:] == [["get_item", "get_item"]] * 2
    assert by_session[:2] == [["get_item", *calls] for calls in by_token[:2]]


def test_a_renewal_is_one_write(rig: Rig) -> None:
    token, _ = issue_token(rig.world.deps, human(), TokenRequest(kind=PrincipalKind.HUMAN, subject="bob"))
    session, _ = open_session(rig.world.deps, token.principal)
    rig.clock.advance(60)
    assert spent(rig, lambda: renew_session(rig.world.deps, session.principal)) == [
        "get_item",
        "get_item",
        "update_item",
    ]


def page(rig: Rig) -> int:
    """The readings of the due pages alone: tasks, and workspaces whose tracker is due."""
    now = rig.clock.now()
    return len(rig.count(lambda: (list(rig.store.tracker.tracker_circuits_due(now)), list(rig.store.queues.due(now)))))


def test_a_swept_task_takes_four_beside_the_page(rig: Rig) -> None:
    rig.world.ready(target_agent="runner")
    claim = Claimer(by=agent("runner"), agent="runner", worker="w", lease_seconds=60)
    assert claim_next(rig.world.deps, claim)
    rig.clock.advance(61)
    base = page(rig)
    calls = spent(rig, lambda: sweep(rig.world.deps))
    assert calls[-1] == "notify"
    assert len(calls) - base <= 4


def test_more_swept_tasks_of_an_agent_take_two_each(rig: Rig) -> None:
    rig.plant(new(f"task_{n:02d}", state=State.DELEGATED, ready_at=NOON, wake_at=NOON) for n in range(20))
    base = page(rig)
    assert len(spent(rig, lambda: sweep(rig.world.deps))) - base <= 1 + 20 * 2


MANY = [f"task_{number:03d}" for number in range(100)]
EVERYTHING = HandoffQuery(
    agents=frozenset({"auditor", "scout"}),
    work_type="audit",
    idempotency_key=idempotency_key(),
    parent_id="task_1",
    workflow_id="wf_1",
    roots=("scout", "*"),
)
ONE_READING: dict[str, Callable[[Store], Any]] = {
    "a task and the first answer": lambda store: store.tasks.load(WORKSPACE, "task_1", idempotency_key()),
    "what a handoff is decided on": lambda store: store.handoffs.handoff_inputs(WORKSPACE, EVERYTHING),
    "a claim": lambda store: store.tasks.read_for_claim(WORKSPACE, "task_1"),
    "claims held": lambda store: store.claims.held(WORKSPACE, "auditor"),
    "slots taken": lambda store: store.claims.taken_slots(WORKSPACE, "auditor"),
    "skills and work": lambda store: list(store.queues.ready(WORKSPACE, "auditor", NOON)[1]),
    "open work": lambda store: list(store.queues.open_work(WORKSPACE, NOON)),
    "a hundred tasks": lambda store: store.tasks.many(WORKSPACE, MANY),
    "thirty tasks' papers": lambda store: store.tasks.outcomes(WORKSPACE, MANY[:33]),
    "forty bodies": lambda store: store.tasks.bodies(WORKSPACE, MANY[:40]),
    "checkpoints": lambda store: store.workflows.checkpoints(WORKSPACE, "wf_1", 50, None),
    "an errand": lambda store: store.queues.job(WORKSPACE, JobKind.JOIN, "task_1"),
    "late results": lambda store: store.trail.late_results(WORKSPACE, "task_1"),
    "a retry": lambda store: store.workflows.retry_of(WORKSPACE, "task_1"),
    "all tools": lambda store: store.tools.toolbox(WORKSPACE),
    "thirty tools": lambda store: store.tools.named(WORKSPACE, MANY[:30]),
    "a profile": lambda store: store.runs.profile(WORKSPACE, "run-1"),
    "a page of a transcript": lambda store: store.runs.entries(WORKSPACE, "task_1", 100, None),
    "a transcript": lambda store: store.runs.transcript(WORKSPACE, "task_1", 1),
    "what was spent": lambda store: store.runs.usage(WORKSPACE, "wf_1", "task_1"),
}


@pytest.mark.parametrize("name", ONE_READING)
def test_each_of_these_is_one_reading(rig: Rig, name: str) -> None:
    stored(rig.store)
    fill_task_items(rig.store)
    fill_runs(rig.store)
    assert len(rig.requested(lambda: ONE_READING[name](rig.store))) == 1


def test_a_workflow_is_two_readings_of_its_members_and_of_the_root_that_its_id_tells(rig: Rig) -> None:
    stored(rig.store, workflow_id="wf_t1")
    assert rig.count(lambda: rig.store.workflows.members(WORKSPACE, "wf_t1")) == ["query", "get_item"]
    assert rig.count(lambda: rig.store.workflows.members(WORKSPACE, "wf_1")) == ["query"]


def test_an_inbox_is_two_readings_and_one_for_each_hundred_tasks_more(rig: Rig) -> None:
    for number in range(150):
        told(rig.store, number)
    assert rig.requested(lambda: rig.store.inboxes.inbox(WORKSPACE, "scout", 50, None)) == ["query", "batch_get_item"]
    everything = rig.requested(lambda: rig.store.inboxes.inbox(WORKSPACE, "scout", 200, None))
    assert everything == ["query", "batch_get_item", "batch_get_item"]


def test_acknowledging_is_a_look_and_a_call_for_each_item_and_no_more_looks_than_gaps(rig: Rig) -> None:
    for number in range(40):
        told(rig.store, number)
    read = [f"inb_{number:03d}" for number in range(10)]
    assert rig.count(lambda: rig.store.inboxes.acknowledge(WORKSPACE, "scout", read)) == [
        "query",
        *["update_item"] * 10,
    ]
    assert rig.count(lambda: rig.store.inboxes.acknowledge(WORKSPACE, "scout", read)) == ["query"]
    apart = ["inb_010", "inb_039"]
    calls = rig.count(lambda: rig.store.inboxes.acknowledge(WORKSPACE, "scout", apart))
    assert calls == ["query", "update_item", "query", "update_item"]


def test_an_errand_done_is_one_call_beside_the_rest(rig: Rig) -> None:
    stored(rig.store)
    fill_task_items(rig.store)
    done = FinishJob(a_job())
    assert rig.count(lambda: rig.store.commit(WORKSPACE, done)) == ["update_item"]
    both = rig.count(lambda: rig.store.commit(WORKSPACE, new("task_9"), done))
    assert both == ["put_item", "transact_write_items", "update_item"]


def test_claims_and_workflows_cost_an_item_each(rig: Rig) -> None:
    """HEAD and its entry in its workflow, after the trail's beginning; then HEAD alone, which tells by its place in a
    queue who holds it."""
    task = new("task_1", state=State.DELEGATED, ready_at=NOON).task
    sizes = []
    for act in (
        lambda: rig.store.commit(WORKSPACE, with_body(new("task_1", state=State.DELEGATED, ready_at=NOON), {})),
        lambda: rig.store.commit(WORKSPACE, then(task, state=State.CLAIMED, claim=a_claim(), fence=1)),
        lambda: freed(rig.store, rig.store.tasks.load(WORKSPACE, "task_1")[0]),
    ):
        rig.raw.largest_transaction = 0
        act()
        sizes.append(rig.raw.largest_transaction)
    assert sizes == [2, 0, 0]


def sweep_cost(tasks: int) -> tuple[list[str], float, int]:
    """Calls, capacity and items of sweeping three due tasks among ``tasks`` of all kinds that aren't."""
    rig = Rig().settle()
    kinds: list[dict[str, Any]] = [
        {"state": State.DONE},
        {"state": State.DELEGATED, "ready_at": NOON, "wake_at": NOON + seconds(60)},
        {"state": State.NEEDS},
        {"state": State.CLAIMED, "wake_at": NOON + seconds(1)},
    ]
    rig.plant(new(f"task_{n:05d}", **kinds[n % len(kinds)]) for n in range(tasks))
    rig.plant(new(f"task_due_{n}", state=State.DELEGATED, ready_at=NOON, wake_at=NOON) for n in range(3))
    meter = Meter(rig.choked.client)
    rig.choked.client = meter
    calls = spent(rig, lambda: sweep(rig.world.deps))
    usage = meter.taken()
    return calls, usage.read_units, usage.found


def test_sweeping_costs_the_same_in_a_small_and_in_a_big_table() -> None:
    small, big = sweep_cost(100), sweep_cost(scaled(10_000))
    assert small == big
    assert small[2] <= 3 * 3, "due entries, their HEADs, their agent: nothing else was looked at"


def test_a_marker_costs_as_few_readings_among_five_hundred_agents_as_among_three(rig: Rig) -> None:
    """Those that take long to read: hundreds of units of capacity, were they all read each time."""
    marked(rig)()
    types = tuple(f"type-{number}-{'x' * 40}" for number in range(40))
    for number in range(497):
        slug = f"agent-{number:03d}"
        rig.raw.put(to_wire(items.agent_item(an_agent(slug, name=slug, accepts=types, produces=types))))
    version = rig.other_store.agents.roster(WORKSPACE).version + 1
    rig.raw.put(to_wire({**keys.roster(WORKSPACE)._asdict(), "version": version}))
    raise_config_version(rig.raw, WORKSPACE)
    rig.choked.client = meter = Meter(rig.choked.client)
    marked(rig)()
    assert meter.taken().read_units > 400
    assert len(rig.store.agents.roster(WORKSPACE).agents) == 500
    assert meter.taken().read_units == 1
    with rig.world.request():
        marked(rig)()
    assert meter.taken().read_units == 3, "the version of agents and settings, the direction, the key"


def test_no_transaction_comes_near_the_limit(rig: Rig) -> None:
    """The longest: a human releases a capped escalation. (A Scan is refused by the client that counts.)"""
    rig.raw.largest_transaction = 0
    capped(rig)
    review_id = rig.world.mark().review_id
    assert review_id
    release_review(rig.world.deps, human(), review_id, idempotency_key())
    assert rig.raw.largest_transaction == 5
