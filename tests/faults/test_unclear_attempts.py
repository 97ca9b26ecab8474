"""A request that arrives late: its sender has given up on it, and its repeat met somebody else's write. What is decided
then is all that ever happens, however late the first one comes after all."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, ReadTimeoutError

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.domain.access.principal import PrincipalKind
from baton.domain.agents.liveness import MARKED_EVERY
from baton.domain.errors import BatonError, Busy
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.runs.transcript import Usage
from baton.domain.task_state import State
from baton.domain.tasks.calls import WorkerCall
from baton.ports.writes import AddUsage, Require, UnderClaim
from baton.services.access.change_settings import change_settings
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.conversations.converse import Opening, start_conversation
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.tasks.add_note import add_note
from baton.steps.retrying import retry_on_conflict
from support.fakes.fake_dynamo import refusal
from support.faults.choke_point import comes_first
from support.faults.soak import crossed
from support.worlds.notion_world import NotionWorld
from support.worlds.rig import Rig
from support.worlds.use_cases import AUDITOR, USE_CASES, UseCase, fingerprint
from support.worlds.world import World, human

CONFLICT = {
    "put_item": refusal("TransactionConflictException", "put_item"),
    "transact_write_items": refusal(
        "TransactionCanceledException", "transact_write_items", CancellationReasons=[{"Code": "TransactionConflict"}]
    ),
}


def asked(source: str, claim_id: str | None = None) -> CreateHandoff:
    handoff = {"source": {"agent": source}, "target": {"agent": "runner", "reason": "do it"}}
    return CreateHandoff(message=message_from(handoff), claim_id=claim_id)


def hand_off_under_claim(world: World, claim: Any) -> Any:
    return create_handoff(world.deps, AUDITOR, asked("auditor", claim.claim_id))


def another_before(world: World) -> Any:
    claim = world.claimed()
    hand_off_under_claim(world, claim)  # so that the workflow's count exists
    return claim


def count_a_call(world: World, claim: Any) -> None:
    task = claim.details.task
    spent = AddUsage(task.workflow_id, task.id, Usage(model_calls=1))
    under = Require(UnderClaim(task.id, claim.claim_id))
    retry_on_conflict(world.deps, lambda: world.store.commit(task.workspace, under, spent))


WITHOUT_KEY: dict[str, UseCase] = {
    "handoff by a human": UseCase(lambda _: None, lambda w, _: create_handoff(w.deps, human(), asked("alice"))),
    "handoff under a claim": UseCase(another_before, hand_off_under_claim),
    "conversation": UseCase(
        lambda _: None,
        lambda w, _: start_conversation(w.deps, human(), Opening(agent="runner", message="Hello", context={})),
    ),
    "note": UseCase(
        World.claimed,
        lambda w, c: add_note(w.deps, WorkerCall(AUDITOR, c.details.task.id, c.claim_id), "half of it is done"),
    ),
    "token without key": UseCase(
        lambda _: None, lambda w, _: issue_token(w.deps, human(), TokenRequest(kind=PrincipalKind.SERVICE, subject="x"))
    ),
    "model call": UseCase(World.claimed, count_a_call),
    # These are one update, which may arrive twice (tests/faults/test_lost_replies.py, tests/contract/claims).
    **{
        name: case
        for name, case in USE_CASES.items()
        if not name.startswith(("heartbeat", "renewal", "move of a mark"))
    },
}


class Wire:
    """The first transaction of its own is under way and unheard of; ``refusals`` of its repeats meet a conflict.
    ``arrive``: it comes after all."""

    def __init__(self, rig: Rig, refusals: int = 1) -> None:
        self.rig, self.refusals = rig, refusals
        self.held: dict[str, Any] | None = None
        self.operation = ""
        self.count = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rig.raw, name)

    def put_item(self, **request: Any) -> Any:
        if comes_first("put_item", request):
            return self.rig.raw.put_item(**request)
        return self._held_or_done("put_item", request)

    def transact_write_items(self, **request: Any) -> Any:
        return self._held_or_done("transact_write_items", request)

    def _held_or_done(self, operation: str, request: dict[str, Any]) -> Any:
        self.count += 1
        if self.held is None:
            self.held, self.operation = request, operation
            raise ReadTimeoutError(endpoint_url="http://127.0.0.1/")
        if self.count <= 1 + self.refusals:
            raise CONFLICT[operation]
        return getattr(self.rig.raw, operation)(**request)

    def arrive(self) -> None:
        assert self.held is not None
        with suppress(ClientError):
            getattr(self.rig.raw, self.operation)(**self.held)


def on_the_wire(case: UseCase, kind: type[Wire] = Wire) -> tuple[Rig, World, Any, Wire]:
    rig = Rig().settle()
    given = case.prepare(rig.world)
    rig.store.contacts.mark_contact("acme", "auditor", rig.clock.now(), MARKED_EVERY)
    wire = kind(rig)
    world = World(store=DynamoStore(Table(wire, rig.table, Patience(rig.clock))), clock=rig.clock)
    return rig, world, given, wire


class ThrottledWire(Wire):
    """Its first repeat is throttled before it meets the conflict, which doesn't make the first one forgotten."""

    def _held_or_done(self, operation: str, request: dict[str, Any]) -> Any:
        if self.count == 1:
            self.count += 1
            self.refusals += 1
            raise refusal("ThrottlingException", operation, status=400, message="injected")
        return super()._held_or_done(operation, request)


@pytest.mark.parametrize(("name", "kind"), crossed(list(WITHOUT_KEY), [Wire, ThrottledWire]))
def test_a_request_that_arrives_after_the_answer_does_nothing(name: str, kind: type[Wire]) -> None:
    rig, world, given, wire = on_the_wire(WITHOUT_KEY[name], kind)
    with suppress(BatonError):
        WITHOUT_KEY[name].act(world, given)
    assert wire.held is not None
    assert wire.count > 2 or kind is Wire
    before = fingerprint(rig)
    wire.arrive()
    assert fingerprint(rig) == before


def test_one_call_makes_one_task() -> None:
    case = WITHOUT_KEY["handoff under a claim"]
    rig, world, given, wire = on_the_wire(case)
    made = case.act(world, given)
    wire.arrive()
    shown = rig.world.store.workflows.members("acme", made.task.workflow_id)
    children = [each.task_id for each in shown if each.parent_id == given.details.task.id]
    assert len(children) == 2
    assert made.task.id in children
    listed = {task.id for task in rig.world.store.lists.tasks_of_day("acme", rig.clock.now().date(), 100, None).items}
    assert listed == {*children, given.details.task.id}, "what keeps the late one away is shown to nobody"


def test_what_arrives_between_the_refusal_and_the_next_decision_is_the_answer() -> None:
    """The bar comes too late, and finds the task there."""

    class Arriving(Wire):
        def update_item(self, **request: Any) -> Any:
            self.arrive()
            return self.rig.raw.update_item(**request)

    case = WITHOUT_KEY["handoff by a human"]
    rig, world, given, wire = on_the_wire(case, Arriving)
    made = case.act(world, given)
    assert wire.count == 2
    listed = {task.id for task in rig.world.store.lists.tasks_of_day("acme", rig.clock.now().date(), 100, None).items}
    assert listed == {made.task.id}


def test_nobody_decides_again_while_the_attempt_cannot_be_barred() -> None:
    class Deaf(Wire):
        def update_item(self, **_: Any) -> Any:
            raise ReadTimeoutError(endpoint_url="http://127.0.0.1/")

    case = WITHOUT_KEY["handoff by a human"]
    _, world, given, wire = on_the_wire(case, Deaf)
    with pytest.raises(Busy):
        case.act(world, given)
    assert wire.count == 2


THROTTLE = refusal("ThrottlingException", "transact_write_items")


@pytest.mark.parametrize("before", [(), (THROTTLE,), (ConnectTimeoutError(endpoint_url="http://127.0.0.1/"),)])
def test_a_refusal_after_nothing_unclear_costs_nothing_more(before: tuple[Exception, ...]) -> None:
    class Refused(Wire):
        def transact_write_items(self, **request: Any) -> Any:
            troubles = [*before, CONFLICT["transact_write_items"]]
            self.count += 1
            if self.count <= len(troubles):
                raise troubles[self.count - 1]
            return self.rig.raw.transact_write_items(**request)

        def update_item(self, **_: Any) -> Any:
            raise AssertionError("nothing is unclear")

    case = WITHOUT_KEY["handoff by a human"]
    _, world, given, wire = on_the_wire(case, Refused)
    case.act(world, given)
    assert wire.count == len(before) + 2


class Unheard(Wire):
    """Its transaction is under way, and nobody can look whether it was applied."""

    def put_item(self, **request: Any) -> Any:
        return self.rig.raw.put_item(**request)

    def get_item(self, **request: Any) -> Any:
        if self.held is not None:
            raise ReadTimeoutError(endpoint_url="http://127.0.0.1/")
        return self.rig.raw.get_item(**request)


@pytest.mark.parametrize("minutes", [1, 12])
def test_a_tracker_that_a_late_request_switches_on_is_listened_to(minutes: int) -> None:
    """Before it arrives sync-tracker finds no tracker, and clears the wake-up if that is due."""
    rig = Rig()
    world = NotionWorld(store=rig.store, clock=rig.clock).settle()
    on, task_id = {"tracker": {"database": world.tasks.id}}, world.needing()
    change_settings(world.deps, human(), {"tracker": None})
    wire = Unheard(rig)
    store = DynamoStore(Table(wire, rig.table, Patience(rig.clock)))
    with pytest.raises(Busy):
        change_settings(replace(world.deps, store=store), human(), on)
    world.minutes(minutes)
    wire.arrive()
    change_settings(world.deps, human(), on)
    world.notion.edit(world.page(task_id).id, by=world.notion.person, status="Done")
    world.minutes(25)
    assert world.task(task_id).state is State.DONE
