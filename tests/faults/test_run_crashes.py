"""A process dies between any two calls to the outside while agents are run: the table's, the queue's or the model's.
No reply that was saved is paid for twice, no tool has its effect twice, and all ends as if nothing had happened
(docs/spec/tools.md §3)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pytest

from baton.domain.agents.needs_approval import NeedsApproval
from baton.domain.agents.tool import ToolMode, Variable
from baton.domain.errors import ModelAway
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.idempotency import IdempotencyKey
from baton.domain.questions.question import Outcome, Question
from baton.domain.runs.transcript import EntryKind, Usage
from baton.domain.tasks.event_type import EventType
from baton.domain.tasks.trail import replay
from baton.ports.runs import ModelReply, ModelRequest
from baton.services.conversations.converse import Opening, start_conversation
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.questions.answer_question import Answer
from support.faults.choke_point import Crash, at_call
from support.faults.soak import scaled, spread
from support.worlds.agent_runs import calls, says
from support.worlds.rig import Rig
from support.worlds.run_processes import PaidModel, RunProcesses, approved
from support.worlds.world import WORKSPACE, human

READS = {"get_item", "batch_get_item", "query"}
PAPER = (Variable(name="paper"),)


@dataclass(frozen=True)
class RunScenario:
    """``effects``: how many tasks there are in the end, and how many checkpoints."""

    script: Callable[[PaidModel, ModelRequest], ModelReply]
    prepare: Callable[[RunProcesses], Any]
    effects: tuple[int, int]
    ends: tuple[str, ...] = ("done",)
    people: Callable[[Question], Answer] = approved


def start(processes: RunProcesses) -> None:
    opening = Opening(agent="anna", message="Hello", context={})
    start_conversation(processes.world.deps, human(), opening, IdempotencyKey(human(), "/x", "key-1", "hash-1"))
    processes.clock.advance(3)


# What is prepared


def alone(processes: RunProcesses) -> None:
    processes.agents(anna={})
    processes.give("anna", tools=("save_checkpoint", "complete_task", "fail_task"))
    start(processes)


def routed(processes: RunProcesses) -> None:
    processes.agents(anna={}, bert={})
    processes.tool("to_bert", "bert", context_variables=PAPER)
    processes.give("anna", tools=("to_bert", "save_checkpoint"))
    start(processes)


def asking_two(processes: RunProcesses) -> None:
    processes.agents(anna={}, bert={}, carl={})
    processes.tool("ask_bert", "bert", mode=ToolMode.DELEGATE, context_variables=PAPER)
    processes.tool("ask_carl", "carl", mode=ToolMode.DELEGATE, context_variables=PAPER)
    processes.give("anna", tools=("ask_bert", "ask_carl", "save_checkpoint"))
    start(processes)


def on_approval(processes: RunProcesses) -> None:
    processes.agents(anna={}, bert={}, carl={})
    marked: dict[str, Any] = {"context_variables": PAPER, "needs_approval": NeedsApproval()}
    processes.tool("to_bert", "bert", **marked)
    processes.tool("ask_bert", "bert", mode=ToolMode.DELEGATE, **marked)
    processes.tool("ask_carl", "carl", mode=ToolMode.DELEGATE, **marked)
    processes.give("anna", tools=("to_bert", "ask_bert", "ask_carl", "save_checkpoint"))
    start(processes)


def with_criteria(processes: RunProcesses) -> None:
    processes.agents(anna={})
    processes.give("anna", tools=("complete_task",))
    wanted = {"deliverables": [{"type": "text", "description": "it", "acceptance_criteria": ["It is short"]}]}
    message = {
        "source": {"agent": "alice"},
        "target": {"agent": "anna", "reason": "write"},
        "summary": "Write it",
        "expectations": wanted,
    }
    create_handoff(processes.world.deps, human(), CreateHandoff(message=message_from(message)))
    processes.clock.advance(3)


# What people say


def changed(question: Question) -> Answer:
    return approved(question, arguments={"paper": "another"})


def refused(_: Question) -> Answer:
    return Answer(outcome=Outcome.REFUSED, reason="Not today")


# What the model says


def checkpoint(model: PaidModel, step: str = "half") -> ModelReply:
    return calls(("save_checkpoint", {"step_name": step, "state": {"paid": model.number}}), text="Wait.")


def answers(model: PaidModel, _: ModelRequest) -> ModelReply:
    return says(f"Hi, {model.number}.")


def checkpoints(model: PaidModel, request: ModelRequest) -> ModelReply:
    return checkpoint(model) if request.turn == 1 else answers(model, request)


def transfers(model: PaidModel, request: ModelRequest) -> ModelReply:
    if request.agent == "anna":
        half = {"step_name": "half", "state": {"paid": model.number}}
        return calls(("save_checkpoint", half), ("to_bert", {"paper": model.number}))
    return answers(model, request)


def delegates(model: PaidModel, request: ModelRequest) -> ModelReply:
    if request.agent == "anna" and request.turn == 1:
        given = {"paper": model.number}
        half = {"step_name": "half", "state": {"paid": model.number}}
        return calls(("ask_bert", given), ("save_checkpoint", half), ("ask_carl", given))
    return answers(model, request)


def tries_bert(model: PaidModel, request: ModelRequest) -> ModelReply:
    return transfers(model, request) if request.turn == 1 else answers(model, request)


def completes(model: PaidModel, request: ModelRequest) -> ModelReply:
    report = {"criterion": "It is short", "met": True, "evidence": model.number}
    reports = [report] if request.turn > 1 else []
    return calls(("complete_task", {"output": {"paid": model.number}, "acceptance_criteria_met": reports}))


def fails(model: PaidModel, _: ModelRequest) -> ModelReply:
    return calls(("fail_task", {"description": f"No, {model.number}", "blockers": ["a wall"], "questions": ["Why?"]}))


def out_of_time(model: PaidModel, request: ModelRequest) -> ModelReply:
    model.processes.time_left = 32.0
    return checkpoints(model, request)


def away(model: PaidModel, request: ModelRequest) -> ModelReply:
    if 2 <= model.asked <= 4:
        raise ModelAway("throttled")
    return checkpoints(model, request)


SCENARIOS = {
    "a plain answer": RunScenario(answers, alone, (1, 0)),
    "a checkpoint, then an answer": RunScenario(checkpoints, alone, (1, 1)),
    "a transfer": RunScenario(transfers, routed, (2, 1)),
    "two delegations": RunScenario(delegates, asking_two, (3, 1)),
    "a completion with evidence": RunScenario(completes, with_criteria, (1, 0)),
    "a failure": RunScenario(fails, alone, (1, 0), ("failed",)),
    "given back at the clock": RunScenario(out_of_time, alone, (1, 1)),
    "an approved transfer": RunScenario(transfers, on_approval, (2, 1)),
    "two approved delegations": RunScenario(delegates, on_approval, (3, 1), people=changed),
    "a refused transfer": RunScenario(tries_bert, on_approval, (1, 1), people=refused),
    "the model is away": RunScenario(away, alone, (1, 1)),
}


class RepeatableRun:
    """A scenario up to the moment at which its notices are answered; ``again`` goes back there, or plays it anew where
    that costs nothing."""

    def __init__(self, scenario: RunScenario, rig: Rig | None = None) -> None:
        self.scenario, self.rig = scenario, rig
        if self.rig:
            first = self._begun()
            self.bodies = [(message.body, message.visible_at) for message in first.queue.messages]
            self.restore = self.rig.keep()

    def again(self) -> RunProcesses:
        if self.rig is None:
            processes = self._begun()
            processes.calls.clear()
            return processes
        self.restore()
        processes = self._processes()
        for body, visible_at in self.bodies:
            processes.queue.send_message(MessageBody=body, DelaySeconds=0)
            processes.queue.messages[-1].visible_at = visible_at
        return processes

    def _begun(self) -> RunProcesses:
        processes = self._processes()
        self.scenario.prepare(processes)
        return processes

    def _processes(self) -> RunProcesses:
        processes = RunProcesses(self.scenario.script, self.rig)
        processes.people = self.scenario.people
        return processes

    def undisturbed(self) -> tuple[list[Any], list[str]]:
        """How it ends, and its calls to the outside."""
        processes = self.again()
        processes.play()
        made = list(processes.calls)
        check(processes, self.scenario, "undisturbed")
        assert set(processes.model.paid.values()) == {1}
        return processes.shape(), made


def check(processes: RunProcesses, scenario: RunScenario, where: str) -> None:
    """The promises about each task, after the quiet."""
    store, tasks = processes.world.store, processes.tasks()
    assert {str(task.state) for task in tasks} == set(scenario.ends) | ({"done"} if len(tasks) > 1 else set()), where
    assert (len(tasks), sum(task.checkpoints for task in tasks)) == scenario.effects, where
    assert processes.queue.messages == [], where
    for task in tasks:
        events = store.trail.events(WORKSPACE, task.id, 0, 1000)
        told = replay(events)
        assert (told.state, told.fence, told.checkpoints) == (task.state, task.fence, task.checkpoints), where
        check_transcript(processes, task.id, where)
        check_spending(processes, task, where)
        check_approvals(processes, task, where)
    keys = [(task.parent_id, task.call_id) for task in tasks if task.call_id]
    assert len(set(keys)) == len(keys), f"{where}: one child per call"


def check_transcript(processes: RunProcesses, task_id: str, where: str, *, is_whole: bool = True) -> None:
    entries = processes.world.store.runs.transcript(WORKSPACE, task_id)
    numbers = [number for entry in entries for number in range(entry.first, entry.last + 1)]
    assert numbers == list(range(1, len(numbers) + 1)), f"{where}: {numbers}"
    asked = [call["toolUseId"] for entry in entries for call in entry.calls]
    given = [call for entry in entries for block in entry.blocks if "toolResult" in block for call in entry.results]
    assert len(set(asked)) == len(asked), where
    results = [b["toolResult"]["toolUseId"] for e in entries for b in e.blocks if "toolResult" in b]
    assert len(set(results)) == len(results), f"{where}: two results for one call"
    assert set(results) <= set(asked), f"{where}: a result without its call"
    assert set(asked) == set(given) or not is_whole, f"{where}: a call without its result"
    turns = [entry.turn for entry in entries if entry.kind is EntryKind.REPLY]
    assert turns == list(range(1, len(turns) + 1)), where


def check_approvals(processes: RunProcesses, task: Any, where: str) -> None:
    """A call is asked about once, and each approval that was used has made one call."""
    asked = processes.world.store.questions.of_task(WORKSPACE, task.id)
    of_calls = [each.action.call_id for each in asked if each.action]
    assert len(set(of_calls)) == len(of_calls), f"{where}: asked twice"
    events = processes.world.store.trail.events(WORKSPACE, task.id, 0, 1000)
    used = sorted(each.data["question_id"] for each in events if each.type == EventType.APPROVAL_USED)
    assert used == sorted(each.id for each in asked if each.used_at), f"{where}: {used}"
    if asked and task.is_ended:
        made = [other for other in processes.tasks() if other.parent_id == task.id]
        assert len(made) == len(used), f"{where}: {len(made)} calls for {len(used)} approvals"


def check_spending(processes: RunProcesses, task: Any, where: str) -> None:
    """A reply is counted when it comes, and then saved; all replies cost the same. A workflow's usage is its tasks'."""
    store, workflow_id = processes.world.store, task.workflow_id
    mine, total = store.runs.usage(WORKSPACE, workflow_id, task.id)
    replies = [e for e in store.runs.transcript(WORKSPACE, task.id) if e.kind is EntryKind.REPLY]
    paid = sum(number for (task_id, _), number in processes.model.paid.items() if task_id == task.id)
    each = replies[0].usage.tokens if replies else 20
    assert len(replies) * each <= mine.tokens <= paid * each, where
    assert mine.model_calls >= paid >= len(replies), where
    members = [other for other in processes.tasks() if other.workflow_id == workflow_id]
    of_tasks = [store.runs.usage(WORKSPACE, workflow_id, other.id)[0] for other in members]
    assert total == reduce(Usage.plus, of_tasks), where


def check_paid(processes: RunProcesses, saved: set[tuple[str, int]], where: str) -> None:
    """One crash costs one reply at most, and none that was saved."""
    paid = processes.model.paid
    assert all(paid[each] == 1 for each in saved), f"{where}: a saved reply was asked for again"
    assert sum(paid.values()) <= len(paid) + 1, f"{where}: {paid}"
    assert set(paid) >= processes.saved(), where


def die_at(repeatable: RepeatableRun, number: int, fault: str, where: str) -> RunProcesses:
    """What is left of it when others have cleaned up."""
    processes = repeatable.again()
    processes.faults = at_call(number, fault)
    with pytest.raises(Crash):
        processes.play()
    saved = processes.saved()
    processes.revive()
    processes.quiet(30)
    check(processes, repeatable.scenario, where)
    check_paid(processes, saved, where)
    return processes


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_that_dies_anywhere(name: str) -> None:
    """At every thirtieth call, before one and after the next, and before and after each under ``make soak``."""
    repeatable = RepeatableRun(SCENARIOS[name])
    wanted, made = repeatable.undisturbed()
    assert {"converse", "commit", "read_for_claim"} <= set(made)
    points = [(*each, fault) for each in enumerate(made, 1) for fault in ("crash_before", "crash_after")]
    for number, operation, fault in spread(points, 61):
        where = f"{fault} at call {number}, {operation}"
        assert die_at(repeatable, number, fault, where).shape() == wanted, where


@pytest.mark.parametrize("name", ["a plain answer", "a checkpoint, then an answer"])
def test_a_run_that_dies_on_a_table(name: str) -> None:
    """After each call that leaves a mark outside: dying around a reading is dying after the mark before it."""
    repeatable = RepeatableRun(SCENARIOS[name], Rig())
    wanted, made = repeatable.undisturbed()
    for number, operation in spread([each for each in enumerate(made, 1) if each[1] not in READS], 7):
        where = f"crash_after call {number}, {operation}"
        assert die_at(repeatable, number, "crash_after", where).shape() == wanted, where


def overtaken_at(processes: RunProcesses, number: int) -> Callable[[int, str], None]:
    """At that call whoever makes it stands still for longer than a lease, while the next run does the work."""

    def plan(at: int, _: str) -> None:
        if at == number:
            processes.clock.advance(200)
            processes.sweep()
            processes.deliver_all()

    return plan


@pytest.mark.parametrize("name", ["an approved transfer", "two approved delegations", "a refused transfer"])
def test_a_run_that_is_overtaken_anywhere_calls_nothing_twice(name: str) -> None:
    repeatable = RepeatableRun(SCENARIOS[name])
    _, made = repeatable.undisturbed()
    for number, operation in spread(list(enumerate(made, 1)), 30):
        processes = repeatable.again()
        processes.faults = overtaken_at(processes, number)
        processes.play()
        processes.revive()
        processes.quiet(30)
        check(processes, repeatable.scenario, f"overtaken at call {number}, {operation}")


@pytest.mark.parametrize("seed", range(scaled(100, 33)))
def test_a_run_that_dies_again_and_again(seed: int) -> None:
    """However often it dies, each death costs one reply at most, and a task is done or a human sees it."""
    dice = random.Random(seed)
    repeatable = RepeatableRun(SCENARIOS[dice.choice(list(SCENARIOS))])
    processes = repeatable.again()
    deaths = 0
    for _ in range(60):
        processes.faults = at_call(len(processes.calls) + dice.randint(1, 40), "crash_after")
        try:
            processes.quiet(1)
        except Crash:
            deaths += 1
        saved = processes.saved()
        assert all(processes.model.paid[each] <= 1 + deaths for each in saved)
        processes.revive()
    processes.quiet(60)
    paid = processes.model.paid
    assert deaths > 0
    assert sum(paid.values()) <= len(paid) + deaths
    for task in processes.tasks():
        assert task.is_ended or task.flags or task.state == "waiting", seed
        check_transcript(processes, task.id, f"seed {seed}", is_whole=task.state == "done")
        check_spending(processes, task, f"seed {seed}")
        check_approvals(processes, task, f"seed {seed}")


LOST = [
    ("a checkpoint, then an answer", "timeout_after", True),
    ("a checkpoint, then an answer", "error_after", False),
    ("a transfer", "timeout_after", True),
    ("two delegations", "timeout_after", False),
    ("an approved transfer", "timeout_after", True),
    ("two approved delegations", "error_after", False),
]


@pytest.mark.parametrize(("name", "fault", "reads"), LOST)
def test_a_reply_that_is_lost_anywhere_is_not_noticed(name: str, fault: str, reads: bool) -> None:
    """Of the table or the queue: nothing is paid for twice, and all ends alike, without the sweeper."""
    repeatable = RepeatableRun(SCENARIOS[name], Rig())
    wanted, made = repeatable.undisturbed()
    left_out = {"converse"} if reads else {"converse", "send_message", *READS}
    for number, operation in spread([each for each in enumerate(made, 1) if each[1] not in left_out], 13):
        processes = repeatable.again()
        processes.faults = at_call(number, fault)
        where = f"{fault} at call {number}, {operation}"
        processes.play()
        check(processes, repeatable.scenario, where)
        assert set(processes.model.paid.values()) == {1}, where
        assert processes.shape() == wanted, where
