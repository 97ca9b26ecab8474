"""The exact repeat of the verb that ended a claim gets the first answer (invariant 3), however long ago that was;
anything else under that claim is stale."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from baton.domain.access.principal import Principal
from baton.domain.errors import Busy, Conflict, CriteriaUnreported, KeyReused, StaleClaim, Unknown
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.handoffs.workflow import ClaimLateResult
from baton.domain.idempotency import REMEMBERED_FOR, IdempotencyKey
from baton.domain.tasks.calls import HumanCall, WorkerCall
from baton.domain.tasks.task import JoinRule, Policy
from baton.ports.details import TaskDetails
from baton.ports.writes import Insert
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.delegate_task import branch_from, delegate_task
from baton.services.claims.fail_task import FailedWork, fail_task, reject_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.save_checkpoint import save_checkpoint
from baton.services.claims.transfer_task import transfer_task
from baton.services.claims.wait_for_callback import answer_callback, wait_for_callback
from baton.services.tasks.end_task import cancel_task, resolve_task
from baton.services.tasks.sweep import sweep
from support.faults.hooked_store import HookedStore
from support.faults.soak import crossed
from support.worlds.team import HeldTask, Team, as_told
from support.worlds.world import WORKSPACE, World, agent, human

A, B, C = "anna", "bert", "carl"
TO_B = {"target": {"agent": B, "reason": "go on"}}
NO_DATA = {"type": "error", "description": "no data", "partial_progress": {"completed": ["half"], "incomplete": []}}

Send = Callable[[Any, HeldTask, str, "IdempotencyKey | None"], Any]


def complete(deps: Any, held: HeldTask, body: str, idempotency_key: IdempotencyKey | None) -> TaskDetails:
    wish = {"continuation": {"suggested_next": B, "reason": "go on"}, "notes": ["well done"]}
    return complete_task(
        deps, WorkerCall(*held.where, body, idempotency_key), CompletedWork(output={"said": body}, completion=wish)
    )


def fail(deps: Any, held: HeldTask, body: str, idempotency_key: IdempotencyKey | None) -> TaskDetails:
    return fail_task(
        deps,
        WorkerCall(*held.where, body, idempotency_key),
        FailedWork(failure=NO_DATA, rollback_request={"target_agent": B}),
    )


def delegate(deps: Any, held: HeldTask, body: str, idempotency_key: IdempotencyKey | None) -> TaskDetails:
    branches = [{"call_id": "b", **TO_B}]
    return delegate_task(
        deps, WorkerCall(*held.where, body, idempotency_key), list(map(branch_from, branches)), JoinRule(Policy.ALL)
    )


VERBS: dict[str, Send] = {
    "complete": complete,
    "fail": fail,
    "fail-retry": lambda deps, held, body, idempotency_key: fail_task(
        deps, WorkerCall(*held.where, body, idempotency_key), FailedWork(failure=NO_DATA, retryable=True)
    ),
    "reject": lambda deps, held, body, idempotency_key: reject_task(
        deps, WorkerCall(*held.where, body, idempotency_key), "not mine"
    ),
    "release": lambda deps, held, body, idempotency_key: release_task(
        deps, WorkerCall(*held.where, body, idempotency_key), ReleasedWork(reason="not now")
    ),
    "transfer": lambda deps, held, body, idempotency_key: transfer_task(
        deps, WorkerCall(*held.where, body, idempotency_key), message_from(TO_B)
    ),
    "delegate": delegate,
    "wait": lambda deps, held, body, idempotency_key: wait_for_callback(
        deps, WorkerCall(*held.where, body, idempotency_key), "interaction"
    ),
}


def key(by: Principal, name: str = "key-1", body: str = "h") -> IdempotencyKey:
    return IdempotencyKey(by, "/tasks/verb", name, body)


def seen(answer: Any) -> Any:
    """An answer as its caller sees it."""
    details, token = answer if isinstance(answer, tuple) else (answer, None)
    task = details.task
    return as_told(task), task.meta.version, details.output, details.completion, details.failure, token


def nothing(team: Team, held: HeldTask) -> None:
    pass


def time_goes_by(team: Team, held: HeldTask) -> None:
    team.later(90_000)
    sweep(team.deps)


def it_goes_on(team: Team, held: HeldTask) -> None:
    """Whatever became of it, it is worked on and ended by another claim, if it may be."""
    it_waits_no_more(team, held)
    if not team.task(held.task.id).is_ended:
        again = team.take(A, held.task.id)
        team.fail(again, description="another failure")


def much_happens(team: Team, held: HeldTask) -> None:
    """So much that what HEAD had is in a chunk."""
    it_waits_no_more(team, held)
    for number in range(6):
        if not team.task(held.task.id).is_ended:
            again = team.take(A, held.task.id)
            save_checkpoint(team.deps, WorkerCall(*again.where), f"step {number}", {})
            release_task(team.deps, WorkerCall(*again.where, f"{number}"), ReleasedWork(reason="once more"))
    now = team.task(held.task.id)
    assert now.meta.has_chunks is not now.is_ended


def it_waits_no_more(team: Team, held: HeldTask) -> None:
    task = team.task(held.task.id)
    if task.wait is not None and task.wait.what == "callback":
        _, token = wait_for_callback(team.deps, WorkerCall(*held.where, "h"), "interaction")
        answer_callback(team.deps, token, {"answer": 42})
    elif task.wait is not None:
        team.complete(team.take(B, task.wait.branches[0].task_id))
        sweep(team.deps)
    team.later(10)


def it_is_cancelled(team: Team, held: HeldTask) -> None:
    if not team.task(held.task.id).is_ended:
        cancel_task(team.deps, human(), held.task.id, None)


AFTER = [nothing, time_goes_by, it_goes_on, much_happens, it_is_cancelled]


# ``make test``: each verb with each event, one with a key and the next one without.
@pytest.mark.parametrize(
    ("verb", "meanwhile", "has_key"),
    [
        pytest.param(verb, meanwhile, has_key, id=f"{verb}-{meanwhile.__name__}-{has_key}")
        for (verb, meanwhile), has_key in crossed([*product(VERBS, AFTER)], [True, False])
    ],
)
def test_the_exact_repeat_gets_the_first_answer_and_leaves_nothing(
    verb: str, meanwhile: Callable[[Team, HeldTask], None], has_key: bool
) -> None:
    team = Team(A, B, C)
    held = team.begin(A)
    idempotency_key = key(held.by) if has_key else None
    first = VERBS[verb](team.deps, held, "h", idempotency_key)
    team.later()
    meanwhile(team, held)
    before = [(task, team.world.trail(task.id)) for task in team.tasks()]
    inboxes = [team.inbox(slug) for slug in (A, B, C)]
    for _ in range(2):
        assert seen(VERBS[verb](team.deps, held, "h", idempotency_key)) == seen(first)
    # With the key lost, or with a new one, it is still the repeat of what ended the claim.
    for other in (None, key(held.by, "key-2")):
        assert seen(VERBS[verb](team.deps, held, "h", other)) == seen(first)
    assert [(task, team.world.trail(task.id)) for task in team.tasks()] == before
    assert [team.inbox(slug) for slug in (A, B, C)] == inboxes
    assert team.world.store.trail.late_results(WORKSPACE, held.task.id) == ()


@pytest.mark.parametrize("meanwhile", [nothing, it_goes_on, much_happens], ids=lambda each: each.__name__)
@pytest.mark.parametrize("verb", VERBS)
def test_another_word_under_a_claim_that_is_over_is_stale(
    verb: str, meanwhile: Callable[[Team, HeldTask], None]
) -> None:
    team = Team(A, B, C)
    held = team.begin(A)
    VERBS[verb](team.deps, held, "h", key(held.by))
    team.later()
    meanwhile(team, held)
    before = team.tasks()
    with pytest.raises(StaleClaim):
        VERBS[verb](team.deps, held, "another body", None)
    with pytest.raises(KeyReused):
        VERBS[verb](team.deps, held, "another body", key(held.by, body="another body"))
    for name in set(VERBS) - {verb}:
        if {name, verb} <= {"fail", "fail-retry"} or {name, verb} <= {"delegate", "wait"}:
            continue  # one verb; its body would differ
        with pytest.raises(StaleClaim):
            VERBS[name](team.deps, held, "h", None)
    with pytest.raises(StaleClaim):
        save_checkpoint(team.deps, WorkerCall(*held.where), "step", {})
    for stranger in (agent(B), human(), agent(A, "globex")):
        with pytest.raises((StaleClaim, Unknown)):
            VERBS[verb](team.deps, HeldTask(stranger, held.task, held.claim_id), "h", None)
    assert team.tasks() == before
    # It was the holder who ended the claim: what is said besides is no result that came too late.
    assert team.world.store.trail.late_results(WORKSPACE, held.task.id) == ()


@pytest.mark.parametrize("meanwhile", [nothing, much_happens], ids=lambda each: each.__name__)
@pytest.mark.parametrize("verb", VERBS)
def test_after_a_week_the_repeat_is_stale(verb: str, meanwhile: Callable[[Team, HeldTask], None]) -> None:
    team = Team(A, B, C)
    held = team.begin(A)
    first = VERBS[verb](team.deps, held, "h", None)
    team.later()
    meanwhile(team, held)
    ended_at = (first[0] if isinstance(first, tuple) else first).task.meta.updated_at.replace(microsecond=0)
    left = (ended_at + REMEMBERED_FOR - team.world.clock.now()).total_seconds()
    team.later(left - 0.001)
    assert seen(VERBS[verb](team.deps, held, "h", None)) == seen(first)
    team.later(0.001)
    with pytest.raises(StaleClaim):
        VERBS[verb](team.deps, held, "h", None)
    assert team.world.store.trail.late_results(WORKSPACE, held.task.id) == ()


@pytest.mark.parametrize("meanwhile", [nothing, much_happens], ids=lambda each: each.__name__)
def test_a_result_for_a_claim_that_was_taken_over_is_kept_under_its_fence(
    meanwhile: Callable[[Team, HeldTask], None],
) -> None:
    team = Team(A, B)
    held = team.begin(A)
    team.later(90_000)
    again = team.take(A, held.task.id)
    assert (again.task.fence, again.by) == (2, held.by)
    if meanwhile is much_happens:
        release_task(team.deps, WorkerCall(*again.where, "h"), ReleasedWork())
    meanwhile(team, held)
    with pytest.raises(StaleClaim):
        complete(team.deps, held, "late", None)
    with pytest.raises((StaleClaim, Unknown)):
        complete(team.deps, HeldTask(agent(B), held.task, held.claim_id), "a stranger's", None)
    (late,) = team.world.store.trail.late_results(WORKSPACE, held.task.id)
    assert (late.claim_fence, late.agent, late.content["output"]) == (1, A, {"said": "late"})


@pytest.mark.parametrize("cut", ["lease", "cancel", "resolve"])
def test_a_result_that_comes_too_late_is_refused_and_the_first_is_kept(cut: str) -> None:
    team = Team(A, B)
    held = team.begin(A)
    if cut == "lease":
        time_goes_by(team, held)
    elif cut == "cancel":
        cancel_task(team.deps, human(), held.task.id, None)
    else:
        resolve_task(team.deps, HumanCall(human(), held.task.id), {"by": "hand"})
    for body in ("first", "second", "first"):
        with pytest.raises(StaleClaim):
            complete(team.deps, held, body, None)
    (late,) = team.world.store.trail.late_results(WORKSPACE, held.task.id)
    assert (late.claim_fence, late.agent, late.verb) == (1, A, "complete")
    assert late.content["output"] == {"said": "first"}
    if cut == "lease":
        again = team.take(A, held.task.id)
        team.later(300)
        sweep(team.deps)
        with pytest.raises(StaleClaim):
            fail(team.deps, again, "h", None)
        kept = team.world.store.trail.late_results(WORKSPACE, held.task.id)
        assert [(each.claim_fence, each.verb) for each in kept] == [(1, "complete"), (2, "fail")]


def test_a_secret_in_a_late_result_is_masked() -> None:
    team = Team(A)
    held = team.begin(A)
    cancel_task(team.deps, human(), held.task.id, None)
    with pytest.raises(StaleClaim):
        complete_task(team.deps, WorkerCall(*held.where, "h"), CompletedWork(output={"token": "ghp_" + "a1B2" * 9}))
    (late,) = team.world.store.trail.late_results(WORKSPACE, held.task.id)
    assert "ghp_" not in str(late.content)


@pytest.mark.parametrize(
    ("output", "is_kept"), [(list(range(20_000)), True), (["ghp_" + "a1B2" * 9] * 201, False)], ids=["long", "secrets"]
)
def test_a_late_result_is_stale_whatever_the_guardrails_would_say(output: list[Any], is_kept: bool) -> None:
    team = Team(A)
    held = team.begin(A)
    cancel_task(team.deps, human(), held.task.id, None)
    with pytest.raises(StaleClaim):
        complete_task(team.deps, WorkerCall(*held.where, "h"), CompletedWork(output=output))
    (late,) = team.world.store.trail.late_results(WORKSPACE, held.task.id)
    assert late.content == ({"output": output, "completion": {}} if is_kept else {"left_out": "secrets.github_token"})


# Evidence


def wanted(*criteria: str, more: tuple[str, ...] = ()) -> dict[str, Any]:
    deliverables = [
        {"type": "code", "description": "it", "acceptance_criteria": list(criteria)},
        {"type": "tests", "description": "its tests", "acceptance_criteria": list(more)},
    ]
    return {"expectations": {"deliverables": deliverables}}


def report(*said: tuple[str, bool]) -> dict[str, Any]:
    met = [{"criterion": criterion, "met": is_met, "evidence": "see the log"} for criterion, is_met in said]
    return {"verification": {"acceptance_criteria_met": met}}


GOOD, FAST = "All tests pass", "Answers within 1 s"


@pytest.mark.parametrize(
    ("said", "missing"),
    [
        ([], [GOOD, FAST]),
        ([(GOOD, True)], [FAST]),
        ([("all tests pass", True), (FAST, True)], [GOOD]),
        ([(GOOD + " ", True), (FAST, True)], [GOOD]),
        ([(GOOD + ".", True), (FAST, True)], [GOOD]),
        ([("something else", True)], [GOOD, FAST]),
    ],
)
def test_a_completion_without_a_report_of_every_criterion_is_refused(said: Any, missing: list[str]) -> None:
    team = Team(A, B)
    held = team.begin(A, **wanted(GOOD, FAST))
    with pytest.raises(CriteriaUnreported) as refused:
        team.complete(held, to=B, **report(*said))
    assert refused.value.fields["criteria"] == missing
    assert team.task(held.task.id) == held.task
    assert len(team.tasks()) == 1
    assert team.complete(held, **report((GOOD, True), (FAST, True))).task.state == "done"


@pytest.mark.parametrize(
    ("said", "status", "unmet"),
    [
        ([(GOOD, True), (FAST, True)], "success", None),
        ([(GOOD, True), (FAST, False)], "partial", 1),
        ([(GOOD, False), (FAST, False)], "partial", 2),
        ([(GOOD, True), (GOOD, False), (FAST, True)], "partial", 1),
        ([(GOOD, True), (FAST, True), ("unasked", False)], "partial", 1),
        ([(GOOD, True), (FAST, True), ("unasked", True)], "success", None),
    ],
)
def test_what_is_not_met_makes_it_partial_and_the_source_is_told(said: Any, status: str, unmet: int | None) -> None:
    team = Team(A, B)
    root = team.begin(A)
    # The same criterion of two deliverables is one.
    held = team.take(B, team.ask(B, under=root, **wanted(GOOD, FAST, more=(GOOD,))).task.id)
    done = team.complete(held, **report(*said))
    assert done.completion is not None
    assert (done.task.state, done.completion["status"]) == ("done", status)
    (message,) = team.inbox(A)
    assert (message["type"], message["task_id"], message["status"]) == ("handoff_completed", held.task.id, status)
    assert message.get("unmet") == unmet
    assert message["completion_id"] == done.completion["completion_id"]


class Crowded(HookedStore):
    """Keeping a late word meets somebody else's write, ``times`` times."""

    times = 0

    def commit(self, workspace: str, *writes: Any) -> None:
        if self.times and any(isinstance(each, Insert) and isinstance(each.value, ClaimLateResult) for each in writes):
            self.times -= 1
            raise Conflict("task")
        self.inner.commit(workspace, *writes)


def test_a_late_word_is_stale_though_its_keeping_meets_a_conflict() -> None:
    store = Crowded()
    team = Team(A, world=World(store=store))
    held = team.begin(A)
    cancel_task(team.deps, human(), held.task.id, None)
    store.times = 1
    with pytest.raises(StaleClaim):
        complete(team.deps, held, "first", None)
    assert len(team.world.store.trail.late_results(WORKSPACE, held.task.id)) == 1
    store.times = 1_000
    with pytest.raises(Busy):
        complete(team.deps, held, "first", None)
