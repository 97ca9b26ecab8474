"""A chain of notices, each sent while the one before was handled: Lambda stops one of about 16 unless the function
allows it, and Baton's own bound is far behind that."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pytest
from aws_lambda_powertools.metrics import Metrics

from baton.adapters import message_depth
from baton.adapters.sqs import SqsDispatchQueue, SqsTrackerQueue
from baton.domain.agents.tool import ToolMode
from baton.domain.times import seconds
from baton.ports.deps import Deps
from baton.ports.runs import AgentRunner, RunInput, RunSucceeded
from baton.services.agents.register_agent import register_agent
from baton.services.conversations.converse import Opening, start_conversation
from baton.services.runs.process_task import TimeBudget
from baton.services.runs.run_agent import AgentLoop
from baton.services.tasks.sweep import sweep
from infra.template import load
from process_task.handler import DispatchNoticeHandler, answer_all
from support.clock import FakeClock
from support.context import FakeContext
from support.fakes.ports import FakeDeadLetters, FakeVisibility
from support.faults.soak import scaled
from support.sqs import sqs_batch
from support.worlds.agent_runs import AgentRuns, calls, says
from support.worlds.world import WORKSPACE, World, human

LAMBDAS_BOUND = 16
RUN_SECONDS = 20
UNDO_SECONDS = 3
A_HUNDRED, TASKS = 100, scaled(100, 3)
STOPPED = "Terminate"


@dataclass
class Message:
    due_at: datetime
    body: str
    counted: dict[str, Any]
    chain: int  # its number in its chain as Lambda counts, whatever the message says


@dataclass
class Chains:
    """The dispatch queue, the function behind it, and the sweeper each minute, in the time that they take. ``loop``:
    what Lambda does with a long chain, as in the function's property."""

    clock: FakeClock
    loop: str = "Allow"
    deps: Deps = field(init=False)
    runner: AgentRunner = field(init=False)
    waiting: list[Message] = field(default_factory=list)
    sent: list[Message] = field(default_factory=list)
    stopped: list[Message] = field(default_factory=list)
    chain: int = 0  # of what is handled now

    def __post_init__(self) -> None:
        self.next_sweep = self.clock.now() + seconds(60)

    def join(self, deps: Deps) -> Deps:
        self.deps = replace(deps, dispatch_queue=SqsDispatchQueue(self, "queue", deps.log))
        return self.deps

    def send_message(self, **request: Any) -> None:
        due_at = self.clock.now() + seconds(request["DelaySeconds"])
        message = Message(due_at, request["MessageBody"], request.get("MessageAttributes", {}), self.chain + 1)
        self.waiting.append(message)
        self.sent.append(message)

    def pass_time(self, length: float) -> None:
        """Everything that is due meanwhile happens at its time; called by a run, at the same time as the run."""
        until = self.clock.now() + seconds(length)
        while (due_at := min([self.next_sweep, *(each.due_at for each in self.waiting)])) <= until:
            self.clock.time = max(due_at, self.clock.now())
            self._happen()
        self.clock.time = max(until, self.clock.now())

    def until(self, is_over: Callable[[], bool]) -> float:
        """Returns how many seconds it took."""
        begun_at = self.clock.now()
        while not is_over():
            self.pass_time(1)
        return (self.clock.now() - begun_at).total_seconds()

    def _happen(self) -> None:
        chain, now = self.chain, self.clock.now()
        due = [each for each in self.waiting if each.due_at <= now]
        if due:
            self.waiting.remove(due[0])
            self.chain = due[0].chain
            Context().run(self.deliver, due[0])
        else:
            self.next_sweep = now + seconds(60)
            self.chain = 0
            Context().run(sweep, self.deps)
        self.chain = chain

    def deliver(self, message: Message) -> None:
        if self.loop == STOPPED and message.chain > LAMBDAS_BOUND:
            self.stopped.append(message)
            return
        time_budget = TimeBudget(lease_seconds=150, time_left=lambda: 90)
        queue = FakeDeadLetters(), FakeVisibility()
        handler = DispatchNoticeHandler(self.deps, self.runner, *queue, time_budget, Metrics())
        answer = answer_all(a_batch(message.body, message.counted), FakeContext(), handler)
        assert answer == {"batchItemFailures": []}


def a_batch(body: str, counted: dict[str, Any]) -> dict[str, Any]:
    """With the attributes as Lambda spells them."""
    batch = sqs_batch([body])
    batch["Records"][0]["messageAttributes"] = {
        name: {"dataType": each["DataType"], "stringValue": each["StringValue"]} for name, each in counted.items()
    }
    return batch


def counts(*messages: Message) -> list[int]:
    return [int(each.counted["hops"]["StringValue"]) if each.counted else 0 for each in messages]


def count(number: object) -> dict[str, Any]:
    return {"hops": {"DataType": "Number", "StringValue": str(number)}}


@dataclass
class Worker:
    """Each of its runs takes 20 s."""

    chains: Chains
    ran: list[str] = field(default_factory=list)

    def run(self, work: RunInput) -> RunSucceeded:
        self.chains.pass_time(RUN_SECONDS)
        self.ran.append(work.details.task.id)
        return RunSucceeded("done")


def a_backlog(tasks: int, loop: str = "Allow") -> tuple[Chains, Worker]:
    """Of an agent that does one thing at a time."""
    world = World().settle()
    chains = Chains(world.clock, loop)
    chains.runner = worker = Worker(chains)
    chains.join(world.deps)
    register_agent(world.deps, human(), "runner", {"max_concurrent": 1})
    for number in range(tasks):
        start_conversation(chains.deps, human(), Opening(agent="runner", message=f"Number {number}", context={}))
    return chains, worker


def test_a_backlog_that_drains_isnt_stopped_half_way() -> None:
    """With Lambda's detection as the template sets it."""
    process_task = load()["Resources"]["ProcessTask"]["Properties"]
    chains, worker = a_backlog(TASKS, process_task.get("RecursiveLoop", STOPPED))
    took = chains.until(lambda: len(worker.ran) == TASKS)
    assert len(set(worker.ran)) == TASKS
    assert took <= UNDO_SECONDS + TASKS * RUN_SECONDS + 1
    assert max(each.chain for each in chains.sent) > LAMBDAS_BOUND


def test_a_chain_that_lambda_stops_costs_time_and_loses_nothing() -> None:
    chains, worker = a_backlog(A_HUNDRED, STOPPED)
    took = chains.until(lambda: len(worker.ran) == A_HUNDRED)
    assert len(set(worker.ran)) == A_HUNDRED
    assert chains.stopped
    assert took > 2 * A_HUNDRED * RUN_SECONDS


def test_a_message_counts_those_that_led_to_it() -> None:
    chains, worker = a_backlog(5)
    chains.until(lambda: len(worker.ran) == 5)
    assert counts(*chains.sent) == [each.chain - 1 for each in chains.sent]
    assert max(counts(*chains.sent)) >= 4


def test_at_the_bound_a_message_is_sent_and_behind_it_only_the_sweepers() -> None:
    for first, goes_on in ((message_depth.MAX_MESSAGE_DEPTH - 1, True), (message_depth.MAX_MESSAGE_DEPTH, False)):
        chains, worker = a_backlog(2)
        (chains.waiting[0].counted, _), sent = (count(first), chains.waiting.pop()), len(chains.sent)
        chains.until(lambda ran=worker.ran: len(ran) == 1)  # type: ignore[misc] # bound to this round's
        assert counts(*chains.sent[sent:]) == [message_depth.MAX_MESSAGE_DEPTH] * goes_on * len(chains.sent[sent:])
        assert bool(chains.sent[sent:]) is goes_on
        if not goes_on:
            chains.until(lambda ran=worker.ran: len(ran) == 2)  # type: ignore[misc]
            assert counts(chains.sent[sent]) == [0], "the sweeper's begins anew"


@pytest.mark.parametrize("text", ["", "-1", "1.5", "many", "٣", "9" * 40])
def test_a_count_that_nobody_can_read_is_none(text: str) -> None:
    with message_depth.handling(a_batch("{}", count(text))["Records"][0]):
        assert message_depth.depth_attribute() == {"MessageAttributes": count(1)}


@pytest.mark.parametrize("record", [{}, {"messageAttributes": None}, {"messageAttributes": {"reason": {}}}])
def test_a_message_without_a_count_is_the_first_of_its_chain(record: dict[str, Any]) -> None:
    with message_depth.handling(record):
        assert message_depth.depth_attribute() == {"MessageAttributes": count(1)}
    assert message_depth.depth_attribute() == {}


def test_a_delegation_is_three_hops() -> None:
    """To the delegate, back to the task that waits for it, and on to the agent that goes on."""
    agents: dict[str, dict[str, Any]] = {"anna": {"tools": ("ask_bert",)}, "bert": {}}
    ask = calls(("ask_bert", {}))
    agent_runs = AgentRuns(agents, {"anna": [ask, says("Thanks")], "bert": [says("Here")]})
    agent_runs.tool("ask_bert", "bert", mode=ToolMode.DELEGATE)
    agent_runs.open()
    chains = Chains(agent_runs.world.clock)
    agent_runs.deps = chains.join(agent_runs.deps)
    chains.runner = AgentLoop(chains.deps, agent_runs.model)
    task = agent_runs.start("anna", until_quiet=False)
    chains.until(lambda: agent_runs.task(task.id).is_ended)
    to = [json.loads(each.body)["agent"] for each in chains.sent]
    assert list(zip(to, counts(*chains.sent), strict=True)) == [("anna", 0), ("bert", 1), ("anna", 2), ("anna", 3)]


def test_the_trackers_notices_are_counted_and_bounded_too() -> None:
    sent: list[dict[str, Any]] = []

    class Queue:
        def send_message(self, **request: Any) -> None:
            sent.append(request)

    logged: list[str] = []
    queue = SqsTrackerQueue(Queue(), "queue", lambda _, **fields: logged.append(str(fields["action"])))

    for counted in ({}, count(message_depth.MAX_MESSAGE_DEPTH - 1), count(message_depth.MAX_MESSAGE_DEPTH)):
        with message_depth.handling(a_batch("{}", counted)["Records"][0]):
            queue.notify(WORKSPACE, "task_1")
    assert [each["MessageAttributes"] for each in sent] == [count(1), count(message_depth.MAX_MESSAGE_DEPTH)]
    assert logged == ["tracker_bell_withheld"]
