"""What all actors share: the simulation, whom work is handed to, and how they pause and ask."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from simulation.actors.people import REPORT, human
from simulation.habits import PULL, Focus
from simulation.oracle.ledger import ENDED, criteria_in
from simulation.requests import Answered, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.domain.access.principal import Principal
    from baton.domain.idempotency import IdempotencyKey
    from simulation.actors.workers import Hold
    from simulation.simulation import Simulation

MAX_AHEAD_SECONDS = 170_000
# By what a message is drawn to be. Two lists take labels that differ in case alone for one.
LABELS = {2: {"team": "blue"}, 3: {"team": "red", "urgent": ""}, 4: {"Team": "Blue", "team": "blue"}}


class NothingThere(Exception):
    """Of what the actor would do something with."""


class ActorContext:
    def __init__(self, sim: Simulation, targets: tuple[str | None, ...]) -> None:
        self.sim, self.targets = sim, targets
        self.habits, self.ledger = sim.habits, sim.oracle.ledger
        self.draw = sim.draw
        # Callbacks' tokens that workers wait for: with which wait of which task.
        self.callbacks: dict[str, tuple[str, int]] = {}
        # Claims that workers have, or had.
        self.holds: list[Hold] = []

    def rest(self, seconds: int) -> None:
        sim, habits = self.sim, self.habits
        if habits.is_hot:
            sim.sleep((1 + self.draw(20)) * habits.slowness / 1000)
        else:
            sim.sleep((1 + self.draw(seconds)) * (habits.tempo if self.draw(3) == 2 else 1))

    def ask(self, name: str, by: Principal, send: Callable[[IdempotencyKey | None], Any], **how: Any) -> Outcome:
        """``how``: as ``Lambdas.request`` takes it."""
        return self.sim.lambdas.request(name, by, send, **how)

    def person(self, name: str) -> Principal:
        """Where rights differ it is by a token, which may be over."""
        return self.sim.staff.principal(name) if self.habits.has_trust else human(name)

    def look(self, read: Callable[[], Any]) -> Any:
        """What a reading says, None where it doesn't answer or refuses."""
        outcome = self.ask("look", human(), lambda _once: read(), is_keyed=False, tries=1)
        return outcome.value if isinstance(outcome, Answered) else None

    def some_task(self, *states: str) -> str:
        """In one of the states, in any where none is named; mostly a late one. Raises ``NothingThere``."""
        found = [task_id for task_id, head in self.ledger.heads.items() if not states or head["state"] in states]
        if not found:
            raise NothingThere
        if self.draw(4):
            return found[-1 - self.draw(min(len(found), 3 if self.habits.is_hot else 8))]
        return self.sim.pick(found)

    def conversations(self) -> list[str]:
        """Their workflows."""
        begun = [body["metadata"]["workflow_id"] for body in self.ledger.bodies.values() if "input" in body]
        return list(dict.fromkeys(begun))

    def some_parent(self) -> str:
        """One that isn't over, and of which something came that isn't over either. Raises ``NothingThere``."""
        heads = self.ledger.heads
        parents = [head.get("parent_id") for head in heads.values() if head["state"] not in ENDED]
        found = [str(each) for each in parents if each and heads[each]["state"] not in ENDED]
        if not found:
            raise NothingThere
        return self.sim.pick(found[-8:])

    def target_beside(self, slug: str) -> str | None:
        """Whom that agent may hand work to."""
        return self.sim.pick([each for each in self.targets if each != slug] or [None])

    def message(self, target: str | None, **more: Any) -> dict[str, Any]:
        """A handoff's, now and then with labels, with a deadline or for later."""
        plain = {"target": {"agent": target, "reason": f"reason {self.draw(100_000)}"}, "summary": "s", **more}
        kind = 7 if self.habits.focus is Focus.WAITS and self.draw(3) == 2 else self.draw(10)
        ahead = 1 + self.draw(min(600 * self.habits.tempo, MAX_AHEAD_SECONDS))
        at = (self.sim.clock.now() + timedelta(seconds=ahead)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if kind == 7:
            plain["expectations"] = {"deadline": at, "fail_on_deadline": self.draw(2) == 1}
        if kind in LABELS:
            plain["metadata"] = {"labels": LABELS[kind]}
        if kind == 8:
            plain["metadata"] = {"not_before": at}
        if kind == 5 or (self.habits.focus is Focus.BOARD and self.draw(2)):
            plain |= {"auto_snapshot": True, "auto_memories": self.draw(4), "scope": self.sim.pick(["project", "src"])}
        if kind == 6 and target in PULL:
            plain["expectations"] = {"deliverables": [{"type": REPORT, "acceptance_criteria": ["c1", "c2"]}]}
        return plain

    def report_on(self, task_id: str, left_out: int = 0) -> dict[str, Any]:
        """A completion's report of the task's criteria, but for so many."""
        criteria = criteria_in(self.ledger.bodies.get(task_id, {}))
        reports = [{"criterion": each, "met": True} for each in criteria[left_out:]]
        return {"verification": {"acceptance_criteria_met": reports}} if reports else {}
