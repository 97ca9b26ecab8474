"""Many at once on the local engine: one wins, and everybody is told so."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest
from botocore.exceptions import ClientError

from baton.domain.access.principal import PrincipalKind
from baton.domain.errors import BatonError
from baton.domain.idempotency import IdempotencyKey
from baton.services.claims.claim_task import claim_next, claim_task
from baton.services.escalations.create_handoff_marker import MarkerAnswer, create_handoff_marker
from baton.steps.claims.take_task import Claimer
from support.faults.soak import scaled
from support.worlds.deployed import Deployed
from support.worlds.tenant import Tenant, marker_body

CLIENTS = 16
ROUNDS = 20
MANY = scaled(64, 4)
Answer = TypeVar("Answer")


@pytest.fixture(scope="module")
def deployed(at_the_gateway: Deployed) -> Deployed:
    return at_the_gateway


@pytest.fixture(scope="module", autouse=True)
def an_engine_that_can_be_trusted(deployed: Deployed) -> None:
    """Whatever is shown below is worth nothing on an engine that lets two conditional writes of one item both win."""
    wins: Counter[int] = Counter()

    def put(number: int, round_: int) -> None:
        try:
            deployed.dynamo.update_item(
                TableName=deployed.stack.table,
                Key={"pk": {"S": "SELF-CHECK"}, "sk": {"S": "SELF-CHECK"}},
                UpdateExpression="SET #round = :round, #winner = :winner",
                ConditionExpression="attribute_not_exists(#round) OR #round < :round",
                ExpressionAttributeNames={"#round": "round", "#winner": "winner"},
                ExpressionAttributeValues={":round": {"N": str(round_)}, ":winner": {"N": str(number)}},
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
        else:
            wins[round_] += 1

    in_rounds(CLIENTS, ROUNDS, put)
    assert wins == dict.fromkeys(range(ROUNDS), 1)
    key = {"pk": {"S": "SELF-CHECK"}, "sk": {"S": "SELF-CHECK"}}
    deployed.dynamo.delete_item(TableName=deployed.stack.table, Key=key)


def in_rounds(threads: int, rounds: int, act: Callable[[int, int], Any]) -> None:
    """Every thread acts once per round, all of them at the same moment."""
    barrier = threading.Barrier(threads)

    def play(number: int) -> None:
        for round_ in range(rounds):
            barrier.wait(60)
            act(number, round_)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(play, range(threads)))


def at_once(threads: int, act: Callable[[int], Answer]) -> list[Answer]:
    """What every thread is answered."""
    barrier = threading.Barrier(threads)

    def play(number: int) -> Answer:
        barrier.wait(60)
        return act(number)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(play, range(threads)))


@pytest.fixture
def many(tenant: Tenant) -> tuple[Tenant, list[str]]:
    """Tasks that the reviewer may claim."""
    return tenant, tenant.unrung(scaled(300, 60), "reviewer")


def test_of_sixteen_claimers_exactly_one_gets_each_task(many: tuple[Tenant, list[str]]) -> None:
    tenant, task_ids = many
    deps, by = tenant.deployed.deps, tenant.principal(PrincipalKind.AGENT, "reviewer")
    winners: list[tuple[str, int]] = []
    losers: Counter[str] = Counter()

    def claim(number: int, round_: int) -> None:
        claimer = Claimer(by=by, agent="reviewer", worker=f"w-{number}", lease_seconds=43_200)
        try:
            claimed = claim_task(deps, claimer, task_ids[round_])
        except BatonError as error:
            losers[error.code] += 1
        else:
            assert claimed.details.task.claim
            winners.append((task_ids[round_], claimed.details.task.claim.fence))

    in_rounds(CLIENTS, len(task_ids), claim)
    assert sorted(winners) == sorted((task_id, 1) for task_id in task_ids)
    assert losers == {"already_claimed": (CLIENTS - 1) * len(task_ids)}
    for task_id in task_ids:
        events = deps.store.trail.events(tenant.name, task_id, 0, 10)
        assert [event.seq for event in events] == [1, 2, 3]  # no gaps
        task, _ = deps.store.tasks.load(tenant.name, task_id)
        assert (task.fence, task.attempt, task.meta.version) == (1, 1, 2)


def test_sixteen_workers_share_a_queue_without_taking_anything_twice(many: tuple[Tenant, list[str]]) -> None:
    tenant, task_ids = many
    deps, by = tenant.deployed.deps, tenant.principal(PrincipalKind.AGENT, "reviewer")

    def work(number: int) -> list[str]:
        claimer, taken = Claimer(by=by, agent="reviewer", worker=f"w-{number}", lease_seconds=43_200), []
        while claimed := claim_next(deps, claimer):
            taken.append(claimed.details.task.id)
        return taken

    taken = [task_id for each in at_once(CLIENTS, work) for task_id in each]
    assert sorted(taken) == sorted(task_ids)


def asked_at_once(
    tenant: Tenant, body: dict[str, Any], idempotency_key: IdempotencyKey | None = None
) -> list[MarkerAnswer]:
    by = tenant.principal(PrincipalKind.AGENT, "scout")
    return at_once(MANY, lambda _: create_handoff_marker(tenant.deployed.deps, by, body, idempotency_key))


def test_of_many_markers_in_one_direction_exactly_one_creates(tenant: Tenant) -> None:
    answers = asked_at_once(tenant, marker_body())
    (created,) = {answer.task_id for answer in answers if answer.task_id}
    assert Counter(answer.duplicate_of for answer in answers) == {None: 1, created: MANY - 1}
    assert [task["id"] for task in tenant.human.get("/tasks?agent=reviewer")["items"]] == [created]
    assert len(tenant.human.get(f"/tasks/{created}/notes?limit=100")["items"]) == MANY - 1  # nothing said is lost


def test_many_markers_with_one_key_are_one_marker(tenant: Tenant) -> None:
    idempotency_key = IdempotencyKey(
        tenant.principal(PrincipalKind.AGENT, "scout"), "POST /handoff-markers", "key-1", "hash"
    )
    answers = asked_at_once(tenant, marker_body(), idempotency_key)
    assert all(answer == answers[0] for answer in answers)
    assert [task["id"] for task in tenant.human.get("/tasks?agent=reviewer")["items"]] == [answers[0].task_id]
    assert tenant.human.get(f"/tasks/{answers[0].task_id}/notes")["items"] == []


def test_many_in_a_row_each_closed_at_once_create_two(tenant: Tenant) -> None:
    deps, by = tenant.deployed.deps, tenant.principal(PrincipalKind.AGENT, "scout")
    answers = []
    for _ in range(MANY):
        answers.append(create_handoff_marker(deps, by, marker_body()))
        if answers[-1].task_id:
            tenant.scout.post(f"/tasks/{answers[-1].task_id}/cancel")
    assert [bool(answer.task_id) for answer in answers] == [True] * 2 + [False] * (MANY - 2)
    assert len({answer.review_id for answer in answers[2:]}) == 1


def test_of_five_markers_over_http_exactly_one_creates(tenant: Tenant) -> None:
    responses = at_once(5, lambda _: tenant.scout.send("POST", "/handoff-markers", marker_body()))
    assert Counter(response.status_code for response in responses) == {201: 1, 200: 4}
    (created,) = [response.json()["task_url"] for response in responses if response.status_code == 201]
    assert {response.json()["existing_task_url"] for response in responses} == {None, created}


def test_five_requests_over_http_with_one_key_get_one_answer(tenant: Tenant) -> None:
    responses = at_once(5, lambda _: tenant.scout.send("POST", "/handoff-markers", marker_body(), key="key-1"))
    assert [response.status_code for response in responses] == [201] * 5
    assert {response.text for response in responses} == {responses[0].text}


def test_of_five_claimers_over_http_exactly_one_gets_the_task(tenant: Tenant) -> None:
    task_id = tenant.approved()
    responses = at_once(5, lambda n: tenant.reviewer.send("POST", f"/tasks/{task_id}/claim", {"worker": f"w-{n}"}))
    assert Counter(response.status_code for response in responses) == {200: 1, 409: 4}
    assert tenant.task(task_id)["claim"]["fence"] == 1
