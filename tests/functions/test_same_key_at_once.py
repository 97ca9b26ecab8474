"""The same call under the same ``Idempotency-Key``, three times at once and once more later: one effect, and one answer
for all of them. "At once": the second and the third are run whole at every moment of the first, and between the
readings of any two items of one batch."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from baton.domain.access.principal import Principal
from baton.domain.errors import Conflict
from baton.ports.escalations import MarkerInputs
from baton.ports.handoffs import HandoffInputs
from baton.steps.claims.take_task import Claimed
from support.faults.call_hooks import CallHooks, Step
from support.faults.soak import spread
from support.gateway import Gateway, Reply
from support.values.bodies import BODIES
from support.worlds.notion_world import NotionWorld
from support.worlds.operations import OPERATIONS
from support.worlds.populated_workspace import populated_workspace
from support.worlds.world import World, agent, human

ALICE, SCOUT, AUDITOR = human(), agent("scout"), agent("auditor")
TITLE = "Handoff: Scout → Client Repo Auditor — 2026-11-16"


@dataclass(frozen=True)
class Call:
    by: Principal
    path: str
    body: Any = None


Prepared = Callable[[World, Gateway], Call]


def on_claim(verb: str, body: Any = None) -> Prepared:
    def prepared(world: World, _: Gateway) -> Call:
        claim: Claimed = world.claimed()
        sent = {**(body or {}), "claim_id": claim.claim_id}
        return Call(AUDITOR, f"/tasks/{claim.details.task.id}/{verb}", sent)

    return prepared


def at(path: str, body: Any, by: Principal = ALICE) -> Prepared:
    return lambda _world, _gateway: Call(by, path, body)


def claim_any(path: str) -> Prepared:
    def prepared(world: World, _: Gateway) -> Call:
        world.ready()
        return Call(AUDITOR, f"/agents/auditor/{path}", {"worker": "w"})

    return prepared


def withdrawals(_: World, gateway: Gateway) -> Call:
    for _number in range(3):
        gateway.post(SCOUT, "/blackboard", BODIES["create_entry"])
    return Call(ALICE, "/blackboard/withdrawals", BODIES["withdraw_entries"])


def decision(_: World, gateway: Gateway) -> Call:
    """One that replaces another."""
    body = {"entry_type": "decision", "summary": "One table", "rationale": "Fewer calls"}
    before = gateway.post(SCOUT, "/blackboard", body).json
    return Call(SCOUT, "/blackboard", {**body, "summary": "Two tables", "supersedes": before["id"]})


def several(world: World, _: Gateway) -> Call:
    """One that can be approved, and two that can't."""
    items = [{"task_id": "task_unknown"}, {"task_id": world.needing()}, {"task_id": approved_once(world)}]
    return Call(ALICE, "/approvals", {"items": items})


def approved_once(world: World) -> str:
    return world.mark(human(), target_agent="runner").task_id or ""


def tracker_import(world: World, _: Gateway) -> Call:
    assert isinstance(world, NotionWorld)
    by = world.notion.add_user(kind="bot", name="The old worker")
    created_at = world.clock.now() - timedelta(days=2)
    world.notion.add_page(world.tasks.data_source_id, title=TITLE, status=None, by=by, created_at=created_at)
    return Call(ALICE, "/tracker/import")


# Where the usual request wouldn't have every effect that the operation may have, or where it takes another world.
SPECIAL: dict[str, Prepared] = {
    "import_capabilities": at("/agents/import", {"agents": {"auditor": {"accepts": ["code"]}, "newcomer": {}}}),
    "claim_the_next": claim_any("claims"),
    "wait_for_a_claim": claim_any("claims/wait"),
    "create_entry": decision,
    "withdraw_entries": withdrawals,
    "approve_several": several,
    "complete": on_claim("complete", {"output": {"x": 1}}),
    "fail": on_claim("fail", {"failure": {"type": "error", "description": "x"}, "retryable": True}),
    "create_token": at("/tokens", {"kind": "agent", "subject": "scout"}),
    "import_from_the_tracker": tracker_import,
    "retry_the_tracker": at("/tracker/retry", {}),
}
TRACKED = {"import_from_the_tracker", "retry_the_tracker"}
# The secret is in one answer only: whoever comes second is told that it was.
SHOWN_ONCE = {"create_token": (409, "secret_already_shown")}
KEYED = {each.id: each for each in OPERATIONS if each.takes_key}


def test_every_special_case_is_an_operations_that_takes_a_key() -> None:
    assert SPECIAL.keys() - KEYED.keys() == set()


Inputs = TypeVar("Inputs")


class Torn(CallHooks):
    """Two readings in the place of one that names the key: ``step`` happens in between. ``key_first``: the key is read
    before it, and all else after it; or the other way round."""

    def __init__(self) -> None:
        super().__init__()
        self.step: Step | None = None
        self.key_first = True

    def load(self, workspace: str, task_id: str, idempotency_key: Any = None) -> Any:
        first, second = self._twice(lambda: self.inner.tasks.load(workspace, task_id, idempotency_key))
        return (second[0], first[1]) if self.key_first else (first[0], second[1])

    def handoff_inputs(self, workspace: str, wanted: Any) -> HandoffInputs:
        first, second = self._twice(lambda: self.inner.handoffs.handoff_inputs(workspace, wanted))
        key, others = (first, second) if self.key_first else (second, first)
        return replace(others, saved_response=key.saved_response)

    def marker_inputs(self, workspace: str, pair: Any, idempotency_key: Any) -> MarkerInputs:
        first, second = self._twice(lambda: self.inner.escalations.marker_inputs(workspace, pair, idempotency_key))
        key, others = (first, second) if self.key_first else (second, first)
        return others._replace(saved_response=key.saved_response)

    def _twice(self, read: Callable[[], Inputs]) -> tuple[Inputs, Inputs]:
        first = read()
        step, self.step = self.step, None
        self._do(step)
        return first, read()


@dataclass
class KeyedRequest:
    store: Any
    gateway: Gateway
    call: Call

    def send(self) -> Reply:
        headers = {"idempotency-key": "key-1", "x-request-id": "same"}
        return self.gateway.post(self.call.by, self.call.path, self.call.body, headers=headers)


def prepared_request(operation: str, store: Any) -> KeyedRequest:
    """The usual request is the one that ``test_authorization.py`` sends, by somebody who may."""
    if operation in SPECIAL:
        world = (NotionWorld if operation in TRACKED else World)(store=store).settle()
        gateway = Gateway(world.deps)
        call = SPECIAL[operation](world, gateway)
    else:
        there = populated_workspace().of_its_own(KEYED[operation], store)
        gateway, call = there.gateway, Call(there.who_may, there.path, there.body)
    store.begin()
    return KeyedRequest(store, gateway, call)


def exact(reply: Reply) -> tuple[int, str]:
    """With every number as it was written. The order of fields is no part of an answer: what is kept keeps none."""
    content = json.loads(reply.text, parse_int=str, parse_float=str)
    return reply.status, json.dumps(content, sort_keys=True)


def check(operation: str, request: KeyedRequest, replies: list[Reply], where: str) -> None:
    """One effect, as it is answered to everybody; and to whoever comes later."""
    replies.append(request.send())
    if operation in SHOWN_ONCE:
        status, code = SHOWN_ONCE[operation]
        refused = [each for each in replies if each.status == status]
        assert [each.code for each in refused] == [code] * (len(replies) - 1), where
        return
    assert {exact(each) for each in replies} == {exact(replies[0])}, where
    advice = "a request that does it is needed in SPECIAL here, or in tests/support/models/expected.py"
    assert replies[0].status < 300, f"{where}: {replies[0].text}; {advice}"


@pytest.mark.parametrize("operation", KEYED)
def test_three_at_once_and_one_later_get_one_answer(operation: str) -> None:
    alone = prepared_request(operation, CallHooks())
    alone.send()
    assert alone.store.calls
    for number, name in spread(list(enumerate(alone.store.calls, 1)), 5):
        here = prepared_request(operation, CallHooks())
        others: list[Reply] = []
        here.store.begin(before={number: lambda here=here, others=others: others.extend([here.send(), here.send()])})
        first = here.send()
        assert len(others) == 2
        check(operation, here, [first, *others], f"before call {number}, {name}")


@pytest.mark.parametrize("key_first", [True, False])
@pytest.mark.parametrize("operation", KEYED)
def test_it_does_not_matter_which_item_of_a_batch_is_read_first(operation: str, key_first: bool) -> None:
    store = Torn()
    here = prepared_request(operation, store)
    others: list[Reply] = []
    store.key_first, store.step = key_first, lambda: others.extend([here.send(), here.send()])
    first = here.send()
    check(operation, here, [first, *others], "between two items")


class Crowded(CallHooks):
    """From ``is_crowded`` on somebody else is always just writing the same."""

    is_crowded = False

    def commit(self, *given: Any) -> None:
        self._write(self.inner.commit, *given)

    def add_token(self, *given: Any) -> None:
        self._write(self.inner.tokens.add_token, *given)

    def save_people(self, *given: Any) -> None:
        self._write(self.inner.tokens.save_people, *given)

    def save_agent(self, *given: Any) -> None:
        self._write(self.inner.agents.save_agent, *given)

    def _write(self, write: Callable[..., None], *given: Any) -> None:
        if self.is_crowded:
            raise Conflict("item")
        write(*given)


@pytest.mark.parametrize("operation", KEYED)
def test_nobody_is_told_of_a_conflict_but_to_come_again(operation: str) -> None:
    """A worker who looks for work gets none: the next poll finds it."""
    store = Crowded()
    here = prepared_request(operation, store)
    store.is_crowded = True
    reply = here.send()
    if reply.status == 204:
        return
    if operation == "approve_several":  # each has an answer of its own
        assert {each["problem"]["code"] for each in reply.json["items"]} == {"busy"}
        return
    assert (reply.status, reply.code) == (503, "busy")
    assert int(reply.headers["Retry-After"]) >= 1
    store.is_crowded = False
    assert here.send().status < 300
