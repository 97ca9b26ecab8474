"""What the bell asks of the table: of who waits by it, and of each change, whether anybody listens or not."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import pytest

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.domain.access.metering import BELL_POLLS_PER_MINUTE
from baton.domain.access.principal import Principal
from baton.domain.tasks.calls import WorkerCall
from baton.services.bell.ring import Bell, BellReport
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.tasks.approve_task import approve_task
from infra.bell_checks import WRITTEN
from listen import handler
from support.clock import FakeClock
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import TABLE
from support.published import Stream, bell_records
from support.values.tokens import bearer, give_token
from support.worlds.bell_room import HUMAN, FakeConnections
from support.worlds.world import World, agent
from tools.bench.meter import Meter, Usage

AUDITOR = agent("auditor")


class Metered:
    """A settled world in a process that knows it: what is asked of its table is counted."""

    def __init__(self) -> None:
        self.dynamo = FakeDynamo()
        self.meter, clock = Meter(self.dynamo), FakeClock()
        self.world = World(store=DynamoStore(Table(self.meter, TABLE, Patience(clock))), clock=clock).settle()
        self.stream, self.connections = Stream(self.dynamo), FakeConnections()
        self.open(AUDITOR, "warm=", "work:auditor")
        self.event("$disconnect", "warm=")

    def open(self, by: Principal, connection: str, topic: str) -> Usage:
        give_token(self.dynamo, by)
        self.connections.open.add(connection)
        headers = {"Authorization": bearer(by)}
        return self.event("$connect", connection, headers=headers, queryStringParameters={"listen": topic})

    def event(self, route: str, connection: str, status: int = 200, **more: Any) -> Usage:
        self.meter.taken()
        about = {"routeKey": route, "connectionId": connection, "requestId": "r1"}
        answer = handler.answered(self.world.deps, lambda: self.connections, {"requestContext": about, **more})
        assert answer["statusCode"] == status
        return self.meter.taken()

    def handoff(self) -> list[Usage]:
        """Of what is created, approved, claimed and completed: what ringing for each change takes."""
        world, found = self.world, list[Usage]()
        task_id = world.needing()
        found.append(self.rung())
        approve_task(world.deps, HUMAN, task_id, None)
        found.append(self.rung())
        world.clock.advance(3)
        claim = world.claim()
        found.append(self.rung())
        complete_task(world.deps, WorkerCall(AUDITOR, task_id, claim.claim_id, "h"), CompletedWork(output="Done"))
        found.append(self.rung())
        return found

    def looked(self, workspace: str, task_id: str, _seconds: int, number: int) -> Usage:
        self.meter.taken()
        Bell(self.world.deps, self.connections, BellReport()).look(workspace, task_id, number)
        return self.meter.taken()

    def rung(self) -> Usage:
        self.meter.taken()
        Bell(self.world.deps, self.connections, BellReport()).changed(bell_records(self.stream.waiting))
        self.stream.waiting.clear()
        return self.meter.taken()


@pytest.fixture
def metered() -> Metered:
    return Metered()


def units(usage: Usage) -> tuple[int, int, float, float]:
    return usage.reads, usage.writes, usage.all_write_units, usage.read_units


# Work that may be claimed: the settings say whether a rule holds an agent back.
RULES_READ = (4, 0, 0, 2.5)


def test_who_waits_by_the_bell_costs_what_is_documented(metered: Metered) -> None:
    """docs/cost.md reckons three cents a month with these."""
    assert units(metered.open(AUDITOR, "one=", "work:auditor")) == (4, 2, 4, 3)
    assert units(metered.event("$default", "one=")) == (6, 1, 1, 4.5)
    approve_task(metered.world.deps, HUMAN, metered.world.needing(), None)
    metered.meter.taken()
    assert units(metered.event("$default", "one=")) == (8, 1, 1, 5.5)  # and who else listens
    assert units(metered.event("$disconnect", "one=")) == (0, 1, 3, 0)


def test_changes_that_nobody_hears_of_cost_a_read_for_each_topic(metered: Metered) -> None:
    assert [units(each) for each in metered.handoff()] == [(2, 0, 0, 1), RULES_READ, *[(3, 0, 0, 1.5)] * 2]
    assert metered.world.looks.asked == []
    assert metered.connections.heard == []


def test_a_handoff_whose_worker_listens_costs_what_is_documented(metered: Metered) -> None:
    metered.open(AUDITOR, "one=", "work:auditor")
    approved = (10, 0, 0, 7.5)  # the settings' rules among them
    assert [units(each) for each in metered.handoff()] == [(2, 0, 0, 1), approved, *[(3, 0, 0, 1.5)] * 2]
    assert len(metered.connections.heard) == 1
    assert [units(metered.looked(*each)) for each in metered.world.looks.asked] == [(1, 0, 0, 1)] * 2


def test_all_that_the_bell_writes_is_in_the_partitions_that_its_roles_may_write(metered: Metered) -> None:
    """The roles' condition is IAM's own: a write elsewhere would be refused where it is deployed."""
    approve_task(metered.world.deps, HUMAN, metered.world.needing(), None)
    before = metered.dynamo.contents()
    metered.open(AUDITOR, "left=", "work:auditor")
    metered.open(AUDITOR, "gone=", "work:auditor")
    metered.event("$default", "gone=")
    metered.event("$disconnect", "left=")
    metered.world.clock.advance(60)
    metered.connections.open.clear()
    metered.rung()
    assert metered.world.store.bell.listener("gone=") is None
    written = {pk for (pk, sk), item in metered.dynamo.contents().items() if before.get((pk, sk)) != item}
    used = "WS#acme#USE#agent:auditor"
    assert written == {"BELL#left=", "BELL#gone=", used}
    assert all(any(fnmatchcase(each, like) for like in WRITTEN["Listen"]) for each in written)
    assert all(any(fnmatchcase(each, like) for like in WRITTEN["Ring"]) for each in written - {used})


def test_a_poll_over_the_rate_costs_a_bounded_number_of_units(metered: Metered) -> None:
    """The count, the pause in two minutes, and leaving both indexes; afterwards nothing but two reads."""
    metered.open(AUDITOR, "one=", "work:auditor")
    metered.open(AUDITOR, "two=", "work:auditor")
    for _ in range(BELL_POLLS_PER_MINUTE - 1):
        metered.event("$default", "one=")
    assert units(metered.event("$default", "one=", 429)) == (2, 4, 6, 2)
    assert units(metered.event("$default", "one=", 404)) == (1, 0, 0, 1)  # the connection is forgotten
    assert units(metered.event("$default", "two=", 429)) == (2, 1, 3, 2)  # the token's other connection, too
