"""What questions to people ask of the table (docs/cost.md). What has none pays nothing for them: golden files show the
requests of all other verbs, and tests/contract/test_client_calls.py counts theirs."""

from __future__ import annotations

from typing import Any

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.domain.access.principal import PrincipalKind
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.tasks.sweep import sweep
from support.clock import FakeClock
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import TABLE
from support.gateway import Gateway
from support.values.tokens import give_token
from support.worlds.world import World, agent, human
from tools.bench.meter import Meter

ACTION = {"kind": "action", "text": "It broke", "tool": "refund", "arguments": {"amount": 100, "to": "Ada"}}


class MeteredDesk:
    """A worker's claim, in a process that knows the workspace."""

    def __init__(self) -> None:
        self.dynamo = FakeDynamo()
        self.meter, clock = Meter(self.dynamo), FakeClock()
        self.world = World(store=DynamoStore(Table(self.meter, TABLE, Patience(clock))), clock=clock).settle()
        self.gateway = Gateway(self.world.deps)
        for each in (human(), agent("auditor")):
            give_token(self.dynamo, each)
        issue_token(self.world.deps, human(), TokenRequest(kind=PrincipalKind.HUMAN, subject=human().id))
        claimed = self.world.claimed()
        self.claim_id, self.path = claimed.claim_id, f"/tasks/{claimed.details.task.id}"
        self.worked("notes", text="warm")

    def worked(self, verb: str, **body: Any) -> Any:
        return self.sent(agent("auditor"), f"{self.path}/{verb}", {"claim_id": self.claim_id, **body})

    def answered(self, question: Any, **said: Any) -> Any:
        body = {"outcome": "approved", "digest": question["digest"], **said}
        return self.sent(human(), f"{self.path}/questions/{question['id']}/answer", body)

    def sent(self, by: Any, path: str, body: Any) -> Any:
        self.meter.taken()
        reply = self.gateway.post(by, path, body)
        assert reply.status in {200, 201}, reply.text
        return reply.json

    def units(self) -> tuple[float, float]:
        """Read and write units since the last request began."""
        used = self.meter.taken()
        return used.read_units, used.write_units


def test_what_asking_deciding_and_using_cost() -> None:
    desk = MeteredDesk()
    asked = desk.worked("ask", **ACTION)
    found = {"ask": desk.units()}
    approved = desk.answered(asked)
    found["answer"] = desk.units()
    desk.worked(f"questions/{asked['id']}/use", digest=approved["approved_digest"])
    found["use"] = desk.units()
    second = desk.worked("ask", **ACTION)
    desk.worked("wait-for-answers", questions=[second["id"]])
    found["wait"] = desk.units()
    desk.answered(second)
    found["answer that brings the task back"] = desk.units()
    assert found == {
        "ask": (7, 8),
        "answer": (4, 12),
        "use": (6, 6),
        "wait": (3, 5),
        "answer that brings the task back": (5, 10),
    }


def test_three_days_without_an_answer_cost_nothing_but_the_items() -> None:
    """The sweeper's rounds cost what they do where nothing waits."""
    waiting, idle = MeteredDesk(), MeteredDesk()
    asked = waiting.worked("ask", kind="text", text="Which?", until="2026-11-28T12:00:00Z")
    waiting.worked("wait-for-answers", questions=[asked["id"]])
    idle.worked("complete", output="done")
    found = []
    for desk in (waiting, idle):
        desk.world.clock.advance(25 * 3_600)
        sweep(desk.world.deps)  # alerts people, once, of what waits for a day
        desk.units()
        for _ in range(3 * 24):
            desk.world.clock.advance(3_600)
            sweep(desk.world.deps)
        found.append(desk.units())
    assert found[0] == found[1]
