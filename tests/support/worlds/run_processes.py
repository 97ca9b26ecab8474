"""Processes with agents that Baton runs. A call of the model is one more call to the outside, at which a process may
die."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from baton.domain.agents.agent import Runtime
from baton.domain.errors import StaleClaim
from baton.domain.questions.question import Outcome, Question
from baton.domain.runs.transcript import EntryKind
from baton.domain.tasks.task import Task
from baton.ports.runs import Model, ModelReply, ModelRequest, RunExit, RunFailed, RunInput, RunSucceeded
from baton.services.agents.define_tool import define_tool
from baton.services.agents.register_agent import register_agent
from baton.services.questions.answer_question import Answer, answer_question
from baton.services.runs.process_task import DispatchNotice, TimeBudget, process_task
from baton.services.runs.run_agent import AgentLoop
from support.clock import NOON, FakeClock
from support.fakes.provider_rules import check_request
from support.fakes.store import InMemoryStore
from support.faults.choke_point import Crash, Plan, no_fault
from support.worlds.processes import LEASE_SECONDS, FakeQueue, Processes
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, human

PLENTY = 900.0


def approved(question: Question, **said: Any) -> Answer:
    assert question.action is not None
    return Answer(outcome=Outcome.APPROVED, digest=question.action.digest, **said)


# What differs between two runs of the same story.
_CHANCE = re.compile(r"(task|call|chk|ho)_\w+|paid \d+")

Script = Callable[["PaidModel", ModelRequest], ModelReply]


class PaidModel:
    """Answers by a script of (agent, turn), and counts its replies. Each reply has its number, which tells two replies
    to the same turn apart."""

    def __init__(self, processes: RunProcesses, script: Script) -> None:
        self.processes, self.script = processes, script
        self.paid: Counter[tuple[str, int]] = Counter()
        self.asked = 0

    def of(self, name: str) -> tuple[str, str, Model]:
        return "paid", name, self

    def converse(self, request: ModelRequest) -> ModelReply:
        self.processes.at_call("converse", before=True)
        check_request(request)
        self.asked += 1
        reply = self.script(self, request)
        self.paid[request.task_id, request.turn] += 1
        self.processes.at_call("converse", before=False)
        return reply

    @property
    def number(self) -> str:
        return f"paid {sum(self.paid.values()) + 1}"


class RunProcesses(Processes):
    """A crash ends the whole process: no thread calls anything more until ``revive``. Without a ``rig``, every call of
    the store counts as one call to the outside."""

    def __init__(self, script: Script, rig: Rig | None = None) -> None:
        if rig is None:
            self._begin_in_memory()
        else:
            super().__init__(rig)
            self.unharmed: Any = rig.other_store
        self.faults: Plan = no_fault
        self.plan = self._fault
        self.is_dead = False
        self.model = PaidModel(self, script)
        self.loop = AgentLoop(self.world.deps, self.model)
        self.time_left = PLENTY
        self.people: Callable[[Question], Answer] = approved

    def _begin_in_memory(self) -> None:
        self.clock, self.calls = FakeClock(), []
        self.queue, self.unharmed = FakeQueue(self.clock), InMemoryStore()
        self._begin(self._wrapped(self.unharmed))

    def _fault(self, number: int, operation: str) -> str | None:
        if self.is_dead:
            return "crash_before"
        fault = self.faults(number, operation)
        self.is_dead = fault is not None and fault.startswith("crash")
        return fault

    def at_call(self, operation: str, *, before: bool) -> None:
        """A call to the outside that no client makes."""
        if before:
            self.calls.append(operation)
            self._here = self._fault(len(self.calls), operation)
        if self._here == ("crash_before" if before else "crash_after"):
            raise Crash(operation)

    def deliver_all(self) -> None:
        """People answer all that they are asked, at once. The process of their request may die too."""
        super().deliver_all()
        while asked := self.world.store.questions.open_questions(WORKSPACE, 10, None).items:
            for each in asked:
                answer_question(self.world.deps, human(), each.task_id, each.id, self.people(each))
                if self.is_dead:
                    raise Crash
            super().deliver_all()

    def run(self, work: RunInput) -> RunSucceeded | RunFailed | RunExit:
        """Runs as a runner does. If the working thread dies, the waiting one must not wait for ever."""
        try:
            return self.loop.run(work)
        except Crash:
            raise StaleClaim(work.details.task.id) from None

    def deliver(self) -> bool:
        message = self.queue.receive()
        if message is None:
            return False
        self.time_left = PLENTY
        time_budget = TimeBudget(lease_seconds=LEASE_SECONDS, time_left=lambda: self.time_left)
        process_task(self.world.deps, self, DispatchNotice(**json.loads(message.body)), time_budget)
        if self.is_dead:
            raise Crash
        if message in self.queue.messages:  # a run that was overtaken finds it answered
            self.queue.messages.remove(message)
        return True

    def revive(self) -> None:
        self.faults, self.is_dead = no_fault, False

    def play(self) -> None:
        """Plays all deliveries, minute by minute, without the sweeper, which isn't needed without faults."""
        for _ in range(20):
            self.deliver_all()
            if not self.queue.messages:
                return
            self.clock.advance(20)

    def open_work(self) -> list[Any]:
        return [task for task in self.tasks() if task.state in {"delegated", "claimed", "waiting"}]

    # Preparing

    def agents(self, **agents: dict[str, Any]) -> None:
        for slug in agents:
            register_agent(self.world.deps, human(), slug, {"runtime": Runtime.RUN, "name": slug.title()})

    def tool(self, name: str, target: str, **values: Any) -> None:
        values = {"description": f"Hands over to {target}.", "target_agent": target, **values}
        define_tool(self.world.deps, human(), name, values)

    def give(self, slug: str, **values: Any) -> None:
        register_agent(self.world.deps, human(), slug, values)

    # Looking, past the faults

    def saved(self) -> set[tuple[str, int]]:
        """Returns the replies that were kept, by task and turn."""
        return {
            (task.id, entry.turn)
            for task in self.unharmed.lists.tasks_of_day(WORKSPACE, NOON.date(), 100, None).items
            for entry in self.unharmed.runs.transcript(WORKSPACE, task.id)
            if entry.kind is EntryKind.REPLY
        }

    def shape(self) -> list[Any]:
        """Returns the outcome of everything, without what depends on chance or a crash."""
        return sorted((self._shape(task) for task in self.tasks()), key=repr)

    def _shape(self, task: Task) -> Any:
        store = self.world.store
        kept = store.tasks.read(WORKSPACE, task.id)
        entries = store.runs.transcript(WORKSPACE, task.id)
        said: list[tuple[Any, ...]] = []
        for entry in entries:
            of = (str(entry.kind), entry.agent, entry.turn)
            # What was kept before a wait for people, and what came after it, are one answer.
            before = said.pop()[3] if said and said[-1][:3] == of else ()
            said.append((*of, (*before, *entry.blocks)))
        told = [(str(each.type), each.text, each.data) for entry in entries for each in entry.more_messages]
        failure = (kept.failure or {}).get("failure")
        # A run that goes on after people have answered waits for nobody.
        waits = None if task.asked else task.waits
        stands = [task.target_agent, str(task.kind), str(task.state), task.checkpoints, waits, sorted(task.flags)]
        return json.loads(_CHANCE.sub(r"\1", json.dumps([*stands, said, told, kept.output, failure])))
