"""The function checks the token itself, before anything else: no answer and no effect rests on what a process remembers
(docs/decisions/034-the-function-checks-the-token.md, docs/decisions/088-admission-is-one-step.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from baton.adapters.dynamodb import items
from baton.adapters.dynamodb.concurrent_calls import Calls, ConcurrentCalls, RunCalls, run_in_turn
from baton.adapters.dynamodb.patience import MOST_TRIES, Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table, to_wire
from baton.domain.access.principal import Principal
from baton.domain.access.token import Token, spell
from baton.domain.lru_cache import MAX_KEPT, LruCache
from baton.services.access.change_settings import change_settings
from baton.services.access.revoke_token import revoke_token
from support.clock import FakeClock
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.ports import FakeSecrets
from support.fakes.store import TABLE, InMemoryStore
from support.faults.choke_point import Choked, at_call, from_call
from support.gateway import Gateway, Reply, gateway_event, route_of
from support.values.tokens import bearer, give_token, given_key, raise_config_version, token_of, who
from support.worlds.world import World, agent, human, marker_body, service

ALICE, CI, AUDITOR = human(), service(), agent("auditor")
REFUSED = (403, "token_refused")


@dataclass
class Door:
    """A process whose calls to the table are counted, and another one on the same table."""

    together: RunCalls = run_in_turn

    def __post_init__(self) -> None:
        self.dynamo, self.clock = FakeDynamo(), FakeClock()
        self.other = World(store=InMemoryStore(self.dynamo), clock=self.clock).settle()
        self.choked = Choked(self.dynamo)
        store: Any = DynamoStore(Table(self.choked, TABLE, Patience(self.clock), together=self.together))
        self.world = World(store=store, clock=self.clock)
        self.secrets = FakeSecrets()
        self.gateway = Gateway(replace(self.world.deps, secrets=self.secrets))
        store.agents.roster("acme")
        self.choked.calls.clear()

    def send(self, by: Principal, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        """As the first, and so known by then."""
        return self.gateway.send(by, method, path, body, headers=headers)

    def known(self, by: Principal) -> Door:
        """This process has answered the caller before."""
        assert self.send(by, "GET", "/agents/auditor").status == 200
        self.choked.calls.clear()
        return self

    def change(self, by: Principal, **changes: Any) -> None:
        """What the table holds as the caller's token, from now on."""
        self.dynamo.put(to_wire(items.token_item(replace(token_of(by), **changes))))
        raise_config_version(self.dynamo, by.workspace)

    def revoke(self, by: Principal) -> None:
        self.change(by, revoked_at=self.clock.now(), revoked_by="human:bob")

    def kept(self) -> Any:
        return self.other.stored()


@pytest.fixture
def door() -> Door:
    return Door()


def outcome(reply: Reply) -> tuple[int, str]:
    return reply.status, reply.code


Ask = Callable[[Door, str], Reply]

KEY: dict[str, str] = {"idempotency-key": "k-1"}
# A request for each kind of call that may come first: a get, a batch, a query, an update, a write elsewhere, none.
FIRST: dict[str, tuple[Principal, Ask]] = {
    "get": (ALICE, lambda door, task_id: door.send(ALICE, "POST", f"/tasks/{task_id}/approve")),
    "batch": (ALICE, lambda door, task_id: door.send(ALICE, "POST", f"/tasks/{task_id}/approve", None, **KEY)),
    "batch of a marker": (
        CI,
        lambda door, _: door.send(CI, "POST", "/handoff-markers", marker_body(target_agent="runner")),
    ),
    "query": (ALICE, lambda door, task_id: door.send(ALICE, "GET", f"/tasks/{task_id}")),
    "query of an index": (ALICE, lambda door, _: door.send(ALICE, "GET", "/alerts")),
    "kill switch": (AUDITOR, lambda door, _: door.send(AUDITOR, "POST", "/agents/auditor/claims", {"worker": "w"})),
    "secret": (ALICE, lambda door, _: door.send(ALICE, "PUT", "/tracker/token", {"token": "ntn_" + "x" * 30})),
    "no call": (ALICE, lambda door, _: door.send(ALICE, "POST", "/handoffs", "{not json")),
    "no route": (ALICE, lambda door, _: door.send(ALICE, "GET", "/nowhere")),
    "no method": (ALICE, lambda door, _: door.send(ALICE, "DELETE", "/tasks")),
}


@pytest.mark.parametrize("first", FIRST)
def test_a_revoked_token_is_refused_with_the_next_request_before_anything_is_done(door: Door, first: str) -> None:
    by, ask = FIRST[first]
    task_id = door.other.needing()
    door.known(by)
    door.revoke(by)
    before, secrets = door.kept(), repr(vars(door.secrets))
    reply = ask(door, task_id)
    assert outcome(reply) == REFUSED
    assert door.choked.calls == ["get_item", "get_item"], "the version, and the token as that has changed: nothing else"
    assert (door.kept(), repr(vars(door.secrets))) == (before, secrets)
    door.choked.calls.clear()
    assert outcome(ask(door, task_id)) == REFUSED
    assert door.choked.calls == ["get_item"], "and it is no longer known"


def the_last_first(calls: Calls) -> None:
    for call in reversed(calls):
        call()


@pytest.mark.parametrize("together", [the_last_first, ConcurrentCalls(1)])
@pytest.mark.parametrize("first", FIRST)
def test_the_order_of_calls_that_dont_wait_for_each_other_changes_no_answer(first: str, together: RunCalls) -> None:
    by, ask = FIRST[first]
    replies = []
    for order in (run_in_turn, together):
        door = Door(order)
        task_id = door.other.needing()
        replies.append((ask(door.known(by), task_id).status, sorted(door.choked.calls)))
    assert replies[0] == replies[1]


@pytest.mark.parametrize("first", FIRST)
def test_who_calls_is_read_before_anything_else(door: Door, first: str) -> None:
    by, ask = FIRST[first]
    task_id = door.other.needing()
    reply = ask(door.known(by), task_id)
    assert reply.status >= 400 if first.startswith("no ") else reply.status < 300
    assert door.choked.calls[:2] == ["get_item", "get_item"], "the version, and the token under it for the first time"
    door.choked.calls.clear()
    ask(door, task_id)
    assert door.choked.calls[0] == "get_item", "the version alone"


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("fault", ["throttle", "timeout_before", "no_connection"])
def test_a_token_that_can_not_be_read_is_busy_and_nothing_is_done(door: Door, first: str, fault: str) -> None:
    by, ask = FIRST[first]
    task_id = door.other.needing()
    door.known(by)
    before, secrets = door.kept(), repr(vars(door.secrets))
    door.choked.plan = from_call(1, fault)
    reply = ask(door, task_id)
    assert outcome(reply) == (503, "busy")
    assert "Retry-After" in reply.headers
    assert set(door.choked.calls) == {"get_item"}, "one reading"
    assert 3 < len(door.choked.calls) <= MOST_TRIES
    assert (door.kept(), repr(vars(door.secrets))) == (before, secrets)


def test_a_reading_that_fails_once_is_tried_again(door: Door) -> None:
    task_id = door.other.needing()
    door.known(ALICE).choked.plan = at_call(1, "throttle")
    assert door.send(ALICE, "POST", f"/tasks/{task_id}/approve").status == 200


def test_a_token_ends_with_its_time_although_the_process_knows_it(door: Door) -> None:
    door.change(ALICE, expires_at=door.clock.now() + timedelta(seconds=60))
    door.known(ALICE)
    door.clock.advance(60, milliseconds=-1)
    assert door.send(ALICE, "GET", "/agents/auditor").status == 200
    door.clock.advance(milliseconds=1)
    assert outcome(door.send(ALICE, "GET", "/agents/auditor")) == REFUSED
    assert outcome(door.send(ALICE, "GET", "/nowhere")) == REFUSED


@pytest.mark.parametrize(
    "other", [{"workspace": "other"}, {"subject": "bob"}, {"kind": AUDITOR.kind}, {"scopes": frozenset()}]
)
def test_a_token_of_somebody_else_by_now_is_that_ones(door: Door, other: dict[str, Any]) -> None:
    """No token changes its principal. If one did, nothing would be done as the one that it was."""
    door.known(ALICE)
    door.change(ALICE, **other)
    assert who(door.gateway.deps, bearer(ALICE)) == replace(token_of(ALICE), **other).principal


def test_a_secret_that_was_right_is_no_longer(door: Door) -> None:
    door.known(ALICE)
    door.change(ALICE, digest="0" * 64)
    assert outcome(door.send(ALICE, "GET", "/nowhere")) == REFUSED


@pytest.mark.parametrize("token_id", [token_of(ALICE).id, "nosuchtoken"])
def test_a_wrong_secret_and_an_unknown_id_cost_one_reading_and_say_the_same(door: Door, token_id: str) -> None:
    """Whether or not the process knows the token: nothing is taken from what it remembers."""
    door.known(ALICE)
    replies = [with_header(door, f"Bearer {spell(token_id, 'f' * 64)}", path) for path in ("/tasks", "/nowhere")]
    assert {reply["statusCode"] for reply in replies} == {403}
    assert door.choked.calls == ["get_item", "get_item"]
    assert "nosuchtoken" not in repr(replies)
    assert token_of(ALICE).id not in repr(replies)


@pytest.mark.parametrize("header", ["", "   ", None])
def test_without_a_token_nothing_is_read_and_no_route_is_told(door: Door, header: str | None) -> None:
    for path in ("/tasks", "/nowhere", "/handoffs"):
        assert with_header(door, header, path)["statusCode"] == 401
    assert with_header(door, "Bearer nonsense", "/nowhere")["statusCode"] == 403
    assert door.choked.calls == []


def test_nobody_drains_the_bucket_of_a_caller_whose_secret_they_do_not_have(door: Door) -> None:
    door.known(ALICE)
    for _ in range(100):
        with_header(door, f"Bearer {spell(token_of(ALICE).id, 'f' * 64)}", "/tasks")
    assert door.gateway.deps.meter.use_of(ALICE, door.clock.now()).requests <= 2


def test_a_caller_over_its_limit_whose_token_is_revoked_is_told_only_that(door: Door) -> None:
    change_settings(door.other.deps, ALICE, {"requests_per_minute": 100})
    door.known(AUDITOR)
    while door.send(AUDITOR, "GET", "/agents/auditor").status != 429:
        pass
    door.revoke(AUDITOR)
    assert outcome(door.send(AUDITOR, "GET", "/agents/auditor")) == REFUSED


def test_a_revocation_while_the_request_runs_is_as_if_it_came_after(door: Door) -> None:
    """The token was good when it was read; what comes after its reading is decided as before."""
    task_id = door.other.needing()
    door.known(ALICE)
    calls = door.choked.calls

    def plan(number: int, operation: str) -> None:
        if operation == "put_item":
            door.revoke(ALICE)

    door.choked.plan = plan
    assert door.send(ALICE, "POST", f"/tasks/{task_id}/approve").status == 200
    assert calls.count("put_item") == 1
    assert outcome(door.send(ALICE, "GET", "/agents/auditor")) == REFUSED


def test_a_revocation_by_another_process_is_seen_with_the_next_request(door: Door) -> None:
    made = door.gateway.post(ALICE, "/tokens", {"kind": "human", "subject": "bob"}).json
    header = f"Bearer {made['token']}"
    assert with_header(door, header, "/tasks")["statusCode"] == 200
    assert with_header(door, header, "/tasks")["statusCode"] == 200
    revoke_token(door.other.deps, ALICE, made["id"])
    assert with_header(door, header, "/tasks")["statusCode"] == 403


def test_a_process_keeps_the_tokens_that_it_saw_last() -> None:
    known: LruCache[str, Token] = LruCache()
    for number in range(MAX_KEPT):
        known.keep(f"made{number:08d}", made(f"made{number:08d}"))
    assert known.get("made00000000") is not None
    known.keep("onemoretoken", made("onemoretoken"))
    assert known.get("made00000001") is None, "the least recently used"
    assert known.get("made00000000") is not None
    assert known.get("onemoretoken") is not None


def test_a_token_that_the_process_does_not_know_is_read_by_itself(door: Door) -> None:
    give_token(door.dynamo, ALICE)
    door.world.store.forget_all()  # type: ignore[attr-defined]
    assert door.send(ALICE, "GET", "/agents/auditor").status == 200
    assert door.choked.calls[0] == "get_item"
    assert door.dynamo.item(given_key(ALICE)) is not None


def made(token_id: str) -> Token:
    return replace(token_of(ALICE), id=token_id)


def with_header(door: Door, header: str | None, path: str) -> dict[str, Any]:
    event = gateway_event(None, "GET", path, headers=None if header is None else {"authorization": header})
    return door.gateway.handle(route_of("GET", path), event)
