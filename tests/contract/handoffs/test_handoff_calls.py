"""What the verbs of the handoff protocol cost: the calls at the choke point, and the notices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Approval, Runtime
from baton.domain.agents.liveness import MARKED_EVERY
from baton.domain.agents.route import Mode
from baton.domain.handoffs.callback import Callback
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import JoinRule, Policy
from baton.services.agents.change_route import change_route
from baton.services.agents.register_agent import register_agent
from baton.services.claims.claim_task import claim_next
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.delegate_task import branch_from, delegate_task
from baton.services.claims.fail_task import FailedWork, fail_task, reject_task
from baton.services.claims.join_branches import join_branches
from baton.services.claims.save_checkpoint import save_checkpoint
from baton.services.claims.transfer_task import transfer_task
from baton.services.claims.wait_for_callback import answer_callback, wait_for_callback
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.handoffs.retry_handoff import retry_handoff
from baton.services.handoffs.workflow_chain import workflow_chain
from baton.services.tasks.cancel_descendants import cancel_descendants
from baton.services.tasks.end_task import cancel_task
from baton.steps.claims.take_task import Claimed, Claimer
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, agent, human, service

AUDITOR = agent("auditor")
ONE, READ, MANY, PUT, WRITE = "get_item", "query", "batch_get_item", "put_item", "transact_write_items"


def spent(rig: Rig, act: Callable[[], Any]) -> list[str]:
    """Calls to the table, then notices."""
    for slug in ("auditor", "scout", "runner"):
        rig.store.contacts.mark_contact(WORKSPACE, slug, rig.clock.now(), MARKED_EVERY)
    notices = len(rig.world.dispatch_queue.notices)
    calls = rig.requested(act)
    return calls + ["notify"] * (len(rig.world.dispatch_queue.notices) - notices)


def asked(source: str, target: str | None, *, claim: Claimed | None = None, **more: Any) -> CreateHandoff:
    work_type, reason = more.pop("work_type", None), more.pop("reason", "Look at it")
    message = {"source": {"agent": source}, "target": {"agent": target, "reason": reason}, **more}
    return CreateHandoff(message=message_from(message), claim_id=claim.claim_id if claim else None, work_type=work_type)


def held(rig: Rig) -> Claimed:
    """The auditor's claim on a handoff of the human's."""
    create_handoff(rig.world.deps, human(), asked("alice", "auditor"))
    rig.clock.advance(3)
    return rig.world.claim()


def idempotency_key(by: Principal = AUDITOR) -> IdempotencyKey:
    return IdempotencyKey(by, "/handoffs", "key", "hash")


def test_a_handoff_to_a_named_agent_takes_at_most_four(rig: Rig) -> None:
    create = create_handoff
    root = spent(
        rig, lambda: create(rig.world.deps, agent("scout"), asked("scout", "auditor"), idempotency_key(agent("scout")))
    )
    assert root == [READ, MANY, PUT, PUT, WRITE]
    notified = spent(rig, lambda: create(rig.world.deps, agent("scout"), asked("scout", "runner")))
    assert notified == [READ, MANY, PUT, PUT, WRITE, "notify"]
    assert spent(rig, lambda: create(rig.world.deps, human(), asked("alice", "auditor"))) == [MANY, PUT, PUT, WRITE]
    for_it = spent(
        rig, lambda: create(rig.world.deps, service(), asked("auditor", "runner"), idempotency_key(service()))
    )
    assert for_it == [READ, MANY, PUT, PUT, WRITE, "notify"]


def test_a_child_under_a_claim_takes_no_more(rig: Rig) -> None:
    claim = held(rig)
    child = asked("auditor", "runner", claim=claim, context={"state": {"n": 1}})
    assert spent(rig, lambda: create_handoff(rig.world.deps, AUDITOR, child, idempotency_key())) == [
        READ,
        MANY,
        PUT,
        PUT,
        WRITE,
        "notify",
    ]


def test_a_handoff_by_its_work_type_takes_at_most_five(rig: Rig) -> None:
    values = {"agent": "runner", "mode": Mode.DISPATCH}
    change_route(rig.world.deps, human(), "audit", values)
    routed = asked("scout", None, work_type="audit")
    calls = spent(rig, lambda: create_handoff(rig.world.deps, agent("scout"), routed, idempotency_key(agent("scout"))))
    assert len(calls) <= 7, calls
    assert calls[-2:] == [WRITE, "notify"]


def test_an_open_handoff_takes_no_more(rig: Rig) -> None:
    calls = spent(rig, lambda: create_handoff(rig.world.deps, agent("scout"), asked("scout", None)))
    assert calls == [READ, MANY, PUT, PUT, WRITE]


def test_a_target_by_its_name_costs_its_direction(rig: Rig) -> None:
    by_name = asked("scout", "Client Repo Auditor")
    calls = spent(rig, lambda: create_handoff(rig.world.deps, agent("scout"), by_name))
    assert calls == [READ, MANY, MANY, PUT, PUT, WRITE]


def test_a_repeat_writes_nothing(rig: Rig) -> None:
    def create() -> Any:
        return create_handoff(
            rig.world.deps, agent("scout"), asked("scout", "auditor"), idempotency_key(agent("scout"))
        )

    create()
    assert spent(rig, create) == [READ, MANY, MANY]


@pytest.mark.parametrize("most", [None, 5])
def test_claim_next_that_looks_at_open_work_takes_four(rig: Rig, most: int | None) -> None:
    register_agent(rig.world.deps, human(), "checker", {"accepts": ("code",), "max_concurrent": most})
    register_agent(rig.world.deps, human(), "scout", {"accepts": ("text",)})
    claimer = Claimer(by=agent("checker"), agent="checker", worker="w")
    assert claim_next(rig.world.deps, claimer) is None, "its contact is marked"
    for type_ in ("text", "code"):
        context = {"artifacts": [{"type": type_}]}
        create_handoff(rig.world.deps, human(), asked("alice", None, context=context))
    rig.clock.advance(3)
    assert spent(rig, lambda: claim_next(rig.world.deps, claimer)) == [READ, READ, MANY, PUT if most is None else WRITE]


@pytest.mark.parametrize("is_lowered", [False, True])
def test_an_agent_at_its_limit_learns_so_without_taking_anything(rig: Rig, is_lowered: bool) -> None:
    """One whose limit was lowered doesn't try: it looks at what it holds."""
    register_agent(rig.world.deps, human(), "checker", {"max_concurrent": 2 if is_lowered else 1})
    register_agent(rig.world.deps, human(), "checker", {"max_concurrent": 1})
    claimer = Claimer(by=agent("checker"), agent="checker", worker="w")
    for _ in range(2):
        create_handoff(rig.world.deps, human(), asked("alice", "checker"))
        rig.clock.advance(3)
    assert claim_next(rig.world.deps, claimer) is not None
    calls = spent(rig, lambda: claim_next(rig.world.deps, claimer))
    assert calls.count(WRITE) == (0 if is_lowered else 1)
    assert len(calls) <= 6


def test_a_completion_with_evidence_takes_two_and_one_that_goes_on_four(rig: Rig) -> None:
    deliverables = [{"type": "report", "description": "d", "acceptance_criteria": ["It is read"]}]
    made = create_handoff(
        rig.world.deps, human(), asked("alice", "auditor", expectations={"deliverables": deliverables})
    )
    rig.clock.advance(3)
    claim = rig.world.claim()
    report = {"verification": {"acceptance_criteria_met": [{"criterion": "It is read", "met": True}]}}

    def complete(claim: Claimed, said: dict[str, Any]) -> Callable[[], Any]:
        task_id = claim.details.task.id
        return lambda: complete_task(
            rig.world.deps,
            WorkerCall(AUDITOR, task_id, claim.claim_id, "h"),
            CompletedWork(output=None, completion=said),
        )

    assert made.task.id == claim.details.task.id
    assert spent(rig, complete(claim, report)) == [MANY, PUT]
    going_on = complete(held(rig), {"continuation": {"suggested_next": "runner", "reason": "Go on"}})
    assert spent(rig, going_on) == [MANY, MANY, PUT, PUT, WRITE, "notify"]


def test_a_failure_that_is_rolled_back_takes_at_most_four(rig: Rig) -> None:
    for end in ("fail", "reject"):
        claim = held(rig)
        task_id, request = claim.details.task.id, {"target_agent": "runner", "reason": "Yours"}

        def act(end: str = end, task_id: str = task_id, claim: Claimed = claim, request: Any = request) -> Any:
            if end == "reject":
                return reject_task(
                    rig.world.deps, WorkerCall(AUDITOR, task_id, claim.claim_id, "h"), "no", rollback_request=request
                )
            failure = {"type": "error", "description": "no", "partial_progress": {"completed": ["a"]}}
            return fail_task(
                rig.world.deps,
                WorkerCall(AUDITOR, task_id, claim.claim_id, "h"),
                FailedWork(failure=failure, rollback_request=request),
            )

        assert spent(rig, act) == [MANY, MANY, PUT, PUT, WRITE, "notify"]


def test_a_transfer_takes_four_and_ten_branches_no_more(rig: Rig) -> None:
    register_agent(rig.world.deps, human(), "runner", {"runtime": Runtime.PULL, "approval": Approval.AUTO})
    claim = held(rig)
    on = {"target": {"agent": "runner", "reason": "Yours"}}
    task_id = claim.details.task.id
    transfer = spent(
        rig, lambda: transfer_task(rig.world.deps, WorkerCall(AUDITOR, task_id, claim.claim_id, "h"), message_from(on))
    )
    assert transfer == [MANY, MANY, PUT, PUT, WRITE]
    claim = held(rig)
    branches = [{"call_id": f"c{n}", "target": {"agent": "runner", "reason": f"Part {n}"}} for n in range(10)]

    def delegate() -> Any:
        task_id = claim.details.task.id
        return delegate_task(
            rig.world.deps,
            WorkerCall(AUDITOR, task_id, claim.claim_id, "h", idempotency_key()),
            list(map(branch_from, branches)),
            JoinRule(Policy.ALL),
        )

    assert spent(rig, delegate) == [MANY, MANY, WRITE]
    task_id = claim.details.task.id
    assert len(spent(rig, lambda: join_branches(rig.world.deps, WORKSPACE, task_id))) <= 3


def test_waiting_for_the_outside_takes_two_and_its_answer_two(rig: Rig) -> None:
    claim = held(rig)
    task_id = claim.details.task.id
    wait = spent(rig, lambda: wait_for_callback(rig.world.deps, WorkerCall(AUDITOR, task_id, claim.claim_id, "h"), "i"))
    assert wait == [MANY, PUT]
    token = Callback(WORKSPACE, task_id, 1).token(rig.world.deps.callback_key.get())
    assert spent(rig, lambda: answer_callback(rig.world.deps, token, {"x": 1})) == [ONE, WRITE]


def test_a_checkpoint_takes_two(rig: Rig) -> None:
    claim = held(rig)
    task_id = claim.details.task.id
    calls = spent(
        rig,
        lambda: save_checkpoint(
            rig.world.deps,
            WorkerCall(AUDITOR, task_id, claim.claim_id, idempotency_key=idempotency_key()),
            "half",
            {"n": 1},
        ),
    )
    assert calls == [MANY, WRITE]


def test_a_retry_takes_a_handful(rig: Rig) -> None:
    claim = held(rig)
    task_id = claim.details.task.id
    failure = {"type": "error", "description": "no"}
    fail_task(rig.world.deps, WorkerCall(AUDITOR, task_id, claim.claim_id, "h"), FailedWork(failure=failure))
    assert len(spent(rig, lambda: retry_handoff(rig.world.deps, human(), task_id, idempotency_key(human())))) <= 7


def test_what_cancelling_a_tree_costs_grows_with_what_is_open_and_nothing_else(rig: Rig) -> None:
    claim = held(rig)
    for number in range(3):
        child = asked("auditor", "scout", claim=claim, summary=f"Part {number}", reason=f"Part {number}")
        create_handoff(rig.world.deps, AUDITOR, child)
    task_id = claim.details.task.id
    calls = spent(rig, lambda: cancel_task(rig.world.deps, human(), task_id, None))
    assert calls.count(WRITE) + calls.count("put_item") == 4  # each of them
    assert len(calls) <= 19, calls
    assert spent(rig, lambda: cancel_descendants(rig.world.deps, WORKSPACE, task_id)) == ["get_item"]


def test_a_chain_of_thirty_handoffs_is_read_in_three(rig: Rig) -> None:
    claim = held(rig)
    for number in range(29):
        child = asked("auditor", "scout", claim=claim, reason=f"Part {number}")
        create_handoff(rig.world.deps, AUDITOR, child)
    workflow_id = claim.details.task.workflow_id
    assert len(spent(rig, lambda: workflow_chain(rig.world.deps, human(), workflow_id))) <= 3
