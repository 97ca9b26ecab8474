"""A reply is lost, or a call fails: the caller still sees one success, and the store holds one effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import pytest

from baton.domain.agents.liveness import MARKED_EVERY
from baton.domain.agents.route import Mode
from baton.domain.errors import Busy, StaleClaim
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import replay
from baton.services.access.change_settings import change_settings
from baton.services.agents.change_route import change_route
from baton.services.agents.register_agent import register_agent
from baton.services.alerts.handle_alert import resolve_alert
from baton.services.claims.renew_claim import renew_claim
from baton.services.tasks.end_task import cancel_task
from support.faults.choke_point import at_call, comes_first, from_call, no_fault
from support.faults.soak import crossed, spread
from support.worlds.rig import Rig
from support.worlds.use_cases import AUDITOR, USE_CASES, UseCase, fingerprint, plain
from support.worlds.world import World, human

READ_FAULTS = ["timeout_after", "no_connection"]
WRITE_FAULTS = [*READ_FAULTS, "error_after", "timeout_before", "throttle"]
STAYING_FAULTS = ["timeout_after", "no_connection", "throttle"]
WRITES = {"put_item", "transact_write_items", "update_item"}
COMMITS = {"put_item", "transact_write_items"}
MOST_CALLS_MORE = 12
NOT_ONE_DECISION = ("heartbeat", "renewal", "sweep", "move of a mark", "complete and claim the next")


class RepeatableUseCase:
    """A use case on a table of its own, up to the moment before it is done; ``again`` goes back there."""

    def __init__(self, case: UseCase) -> None:
        self.rig, self.case = Rig().settle(), case
        self.given = case.prepare(self.rig.world)
        self.notices = len(self.rig.world.dispatch_queue.notices)
        # What becomes of the mark of a contact is nobody's concern (tests/unit/agents/test_liveness.py).
        self.rig.store.contacts.mark_contact("acme", "auditor", self.rig.clock.now(), MARKED_EVERY)
        self.again = self.rig.keep()
        self.again()

    @cached_property
    def undisturbed(self) -> tuple[Any, list[str]]:
        """The outcome and the calls."""
        self.again()
        answer = self.act()
        calls = list(self.rig.choked.calls)
        assert WRITES & set(calls), "nothing to lose"
        return self.outcome(answer), calls

    def act(self) -> Any:
        return self.case.act(self.rig.world, self.given)

    def outcome(self, answer: Any) -> tuple[Any, Counter[str], int]:
        """Everything that must be as if nothing had gone wrong. A heartbeat done twice is a heartbeat."""
        held = fingerprint(self.rig, versions=not self.case.beats)
        return plain(answer), held, len(self.rig.world.dispatch_queue.notices) - self.notices

    def check_trails(self) -> None:
        store = self.rig.world.store
        for task in store.lists.tasks_of_agent("acme", "auditor", 100, None).items:
            replayed = replay(store.trail.events("acme", task.id, 0, 100))
            assert (replayed.state, replayed.fence, replayed.attempt) == (task.state, task.fence, task.attempt)


@cache
def repeatable_of(name: str) -> RepeatableUseCase:
    """Returns one for all tests of this process: each begins with ``again``."""
    return RepeatableUseCase(USE_CASES[name])


def same(found: Any, expected: Any, where: str) -> None:
    assert found[0] == expected[0], where
    assert (found[1] - expected[1], expected[1] - found[1]) == (Counter(), Counter()), where
    assert found[2] == expected[2], where


@pytest.mark.parametrize("name", USE_CASES)
def test_one_fault_at_any_call_is_not_noticed(name: str) -> None:
    repeatable = repeatable_of(name)
    expected, calls = repeatable.undisturbed
    points = [
        (number, operation, fault)
        for number, operation in enumerate(calls, 1)
        for fault in (WRITE_FAULTS if operation in WRITES else READ_FAULTS)
    ]
    for number, operation, fault in spread(points, 7):
        repeatable.again()
        repeatable.rig.choked.plan = at_call(number, fault)
        where = f"{fault} at call {number}, {operation}"
        answer = repeatable.act()
        same(repeatable.outcome(answer), expected, where)
        repeatable.check_trails()


@pytest.mark.parametrize(("name", "fault"), crossed(list(USE_CASES), STAYING_FAULTS))
def test_a_fault_that_stays_is_busy_and_the_repeat_gets_the_first_answer(name: str, fault: str) -> None:
    case = USE_CASES[name]
    repeatable = repeatable_of(name)
    repeatable.again()
    untouched = fingerprint(repeatable.rig)
    expected, calls = repeatable.undisturbed
    for number in spread(range(1, len(calls) + 1), 4):
        repeatable.again()
        repeatable.rig.choked.plan = from_call(number, fault)
        where = f"{fault} from call {number} on, {calls[number - 1]}"
        with suppress(Busy):
            answer = repeatable.act()
            # Nothing but Busy, unless one task that fails doesn't stop the sweeper or a repeat was told that it is one.
            is_whole = fault == "timeout_after" and plain(answer) == expected[0]
            assert name.startswith("sweep") or is_whole or case.leaves_out, where
        assert len(repeatable.rig.choked.calls) <= len(calls) * MOST_CALLS_MORE, where
        repeatable.rig.choked.plan = no_fault
        if not case.keyed:  # without a key the caller can't tell; the store can
            assert fingerprint(repeatable.rig) in (expected[1], untouched), where
            continue
        try:
            found = repeatable.outcome(repeatable.act())
            assert found[0] == expected[0], where
        except case.repeat_may_raise:
            found = repeatable.outcome(None)
        assert (found[1] - expected[1], expected[1] - found[1]) == (Counter(), Counter()), where
        repeatable.check_trails()


@pytest.mark.parametrize("name", spread([name for name in USE_CASES if not name.startswith(NOT_ONE_DECISION)], 3))
def test_nobody_decides_again_while_the_witness_cannot_be_read(name: str) -> None:
    """Else a marker without a key would be told that it duplicates its own task."""
    repeatable = repeatable_of(name)
    expected, _ = repeatable.undisturbed
    repeatable.again()
    calls = repeatable.rig.choked.calls
    # A large output is put by itself, before what can be decided again.
    first = 2 if name.endswith("large output") else 1

    def plan(_number: int, operation: str) -> str | None:
        if operation in COMMITS and calls.count(operation) == first:
            return "timeout_after"
        return "no_connection" if operation == "get_item" and COMMITS & set(calls) else None

    repeatable.rig.choked.plan = plan
    with pytest.raises(Busy):
        repeatable.act()
    found = fingerprint(repeatable.rig)
    assert (found - expected[1], expected[1] - found) == (Counter(), Counter())


class Meanwhile:
    """Wraps a client: right after its first write, before anybody hears of it, somebody else does something."""

    def __init__(self, client: Any, act: Callable[[], Any]) -> None:
        self.client, self.act, self.done = client, act, False

    def __getattr__(self, operation: str) -> Any:
        call = getattr(self.client, operation)

        def meanwhile(**request: Any) -> Any:
            answer = call(**request)
            if operation in WRITES and not comes_first(operation, request) and not self.done:
                self.done = True
                self.act()
            return answer

        return meanwhile


def newest(world: World) -> str:
    task: Task = world.store.lists.tasks_of_day("acme", world.clock.now().date(), 1, None).items[0]
    return task.id


def cancelled(world: World, _: Any) -> None:
    cancel_task(world.deps, human(name="bob"), newest(world), "meanwhile")


def beaten_and_cancelled(world: World, given: Any) -> None:
    claim = world.task(newest(world)).claim
    assert claim
    renew_claim(world.deps, AUDITOR, newest(world), claim.claim_id, 1_000)
    cancelled(world, given)


def knocked(world: World, _: Any) -> None:
    world.mark(human(name="bob"))


def taken(world: World, _: Any) -> None:
    world.claim("runner")


def set_otherwise(world: World, _: Any) -> None:
    change_settings(world.deps, human(name="bob"), {"escalation_cap": 7})


def registered(slug: str) -> Callable[[World, Any], Any]:
    def act(world: World, _: Any) -> None:
        register_agent(world.deps, human(name="bob"), "bystander", {})
        register_agent(world.deps, human(name="bob"), slug, {"description": "by bob"})

    return act


def revoked(world: World, given: Any) -> None:
    token = world.store.tokens.token(given or world.store.tokens.listed("acme", 1, None).items[0].id)
    assert token
    world.store.tokens.save_revocation(replace(token, revoked_at=world.clock.now(), revoked_by="human:bob"))


def resolved(world: World, _: Any) -> None:
    for alert in world.store.alerts.newest("acme", 10, None).items:
        resolve_alert(world.deps, human(name="bob"), alert.id, "meanwhile")


def routed_otherwise(world: World, _: Any) -> None:
    for work_type in ("audit", "bystander"):
        change_route(world.deps, human(name="bob"), work_type, {"agent": "scout", "mode": Mode.MANUAL})


def all_moved_on(world: World, parent: Task) -> None:
    """The child is cancelled, the parent's claim is over, and the inbox is read."""
    cancel_task(world.deps, human(name="bob"), "task_child", "meanwhile")
    if not world.task(parent.id).is_ended:
        cancel_task(world.deps, human(name="bob"), parent.id, "meanwhile")
    world.store.inboxes.acknowledge("acme", "scout", ["inb_001"])


MOVED_ON: dict[str, Callable[[World, Any], None]] = {
    **dict.fromkeys([name for name in USE_CASES if name.startswith("marker")], cancelled),
    **dict.fromkeys(["duplicate", "duplicate without key", "capped", "capped without key", "capped again"], knocked),
    **dict.fromkeys(["approve", "approve without key", "approve-next", "undo"], cancelled),
    **dict.fromkeys([name for name in USE_CASES if name.startswith("claim")], beaten_and_cancelled),
    **dict.fromkeys(["fail and retry", "release", "release of a claim by a human", "release of a review"], cancelled),
    "closing of a review": knocked,
    "registration": registered("new"),
    "registration of a known agent": registered("auditor"),
    "registration from any version": registered("auditor"),
    "settings": set_otherwise,
    "settings from any version": set_otherwise,
    "token": revoked,
    "revocation": revoked,
    **dict.fromkeys([name for name in USE_CASES if name.startswith("alert")], resolved),
    **dict.fromkeys(["acknowledgement", "resolution"], resolved),
    **dict.fromkeys(["route", "route from any version", "removal of a route"], routed_otherwise),
    "sweep of a lost lease": taken,
    "shared write": all_moved_on,
    "shared write without a change": all_moved_on,
    "sweep of what nobody takes": resolved,
    "sweep by a claimer of what goes to a human": resolved,
}


@pytest.mark.parametrize("name", MOVED_ON)
def test_a_lost_reply_is_a_success_though_others_have_moved_on(name: str) -> None:
    repeatable = repeatable_of(name)
    _, calls = repeatable.undisturbed
    repeatable.again()
    answer = repeatable.act()
    MOVED_ON[name](repeatable.rig.other(), repeatable.given)
    expected = repeatable.outcome(answer)
    first_write = 1 + min(calls.index(each) for each in (WRITES - {"put_item"}) & set(calls) or {"put_item"})
    repeatable.again()
    rig = repeatable.rig
    rig.choked.plan = at_call(first_write, "timeout_after")
    rig.choked.client = Meanwhile(rig.choked.client, lambda: MOVED_ON[name](rig.other(), repeatable.given))
    same(repeatable.outcome(repeatable.act()), expected, name)
    repeatable.check_trails()


@pytest.mark.parametrize("name", ["heartbeat", "heartbeat with lease", "heartbeat to a deadline"])
def test_a_heartbeat_whose_reply_was_lost_learns_that_its_claim_has_ended_since(name: str) -> None:
    repeatable = repeatable_of(name)
    repeatable.again()
    rig = repeatable.rig
    rig.choked.plan = lambda _n, op: "timeout_after" if op in WRITES and len(rig.choked.calls) <= 2 else None
    rig.choked.client = Meanwhile(rig.choked.client, lambda: cancelled(rig.other(), None))
    with pytest.raises(StaleClaim):
        repeatable.act()
