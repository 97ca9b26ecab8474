"""A process dies between any two calls to the outside while agents are run: the table's, the queue's or the model's.
No reply that was saved is paid for twice, no tool has its effect twice, and all ends as if nothing had happened
(docs/spec/tools.md §3)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from baton.domain.errors import ModelAway
from baton.domain.events import replay
from baton.domain.idempotency import Once
from baton.domain.tool import ToolMode, Variable
from baton.domain.transcript import EntryKind
from baton.run_ports import Reply, Request
from baton.services.converse import Opening, start_conversation
from baton.services.create_handoff import Asked, create_handoff
from support.faults import Crash
from support.rig import Rig
from support.run_office import PaidModel, RunOffice
from support.studio import calls, says
from support.world import WORKSPACE, human

READS = {"get_item", "batch_get_item", "query"}
PAPER = (Variable(name="paper"),)


@dataclass(frozen=True)
class Story:
    """``effects``: how many tasks there are in the end, and how many checkpoints."""

    script: Callable[[PaidModel, Request], Reply]
    prepare: Callable[[RunOffice], Any]
    effects: tuple[int, int]
    ends: tuple[str, ...] = ("done",)


def start(office: RunOffice) -> None:
    opening = Opening(agent="anna", message="Hello", context={})
    start_conversation(office.world.baton, human(), opening, Once(human(), "/x", "key-1", "hash-1"))
    office.clock.advance(3)


# What is prepared


def alone(office: RunOffice) -> None:
    office.agents(anna={})
    office.give("anna", tools=("save_checkpoint", "complete_task", "fail_task"))
    start(office)


def routed(office: RunOffice) -> None:
    office.agents(anna={}, bert={})
    office.tool("to_bert", "bert", context_variables=PAPER)
    office.give("anna", tools=("to_bert", "save_checkpoint"))
    start(office)


def asking_two(office: RunOffice) -> None:
    office.agents(anna={}, bert={}, carl={})
    office.tool("ask_bert", "bert", mode=ToolMode.DELEGATE, context_variables=PAPER)
    office.tool("ask_carl", "carl", mode=ToolMode.DELEGATE, context_variables=PAPER)
    office.give("anna", tools=("ask_bert", "ask_carl", "save_checkpoint"))
    start(office)


def with_criteria(office: RunOffice) -> None:
    office.agents(anna={})
    office.give("anna", tools=("complete_task",))
    wanted = {"deliverables": [{"type": "text", "description": "it", "acceptance_criteria": ["It is short"]}]}
    message = {
        "source": {"agent": "alice"},
        "target": {"agent": "anna", "reason": "write"},
        "summary": "Write it",
        "expectations": wanted,
    }
    create_handoff(office.world.baton, human(), Asked(message=message))
    office.clock.advance(3)


# What the model says


def checkpoint(model: PaidModel, step: str = "half") -> Reply:
    return calls(("save_checkpoint", {"step_name": step, "state": {"paid": model.number}}), text="Wait.")


def answers(model: PaidModel, _: Request) -> Reply:
    return says(f"Hi, {model.number}.")


def checkpoints(model: PaidModel, request: Request) -> Reply:
    return checkpoint(model) if request.turn == 1 else answers(model, request)


def transfers(model: PaidModel, request: Request) -> Reply:
    if request.agent == "anna":
        half = {"step_name": "half", "state": {"paid": model.number}}
        return calls(("save_checkpoint", half), ("to_bert", {"paper": model.number}))
    return answers(model, request)


def delegates(model: PaidModel, request: Request) -> Reply:
    if request.agent == "anna" and request.turn == 1:
        given = {"paper": model.number}
        half = {"step_name": "half", "state": {"paid": model.number}}
        return calls(("ask_bert", given), ("save_checkpoint", half), ("ask_carl", given))
    return answers(model, request)


def completes(model: PaidModel, request: Request) -> Reply:
    report = {"criterion": "It is short", "met": True, "evidence": model.number}
    reports = [report] if request.turn > 1 else []
    return calls(("complete_task", {"output": {"paid": model.number}, "acceptance_criteria_met": reports}))


def fails(model: PaidModel, _: Request) -> Reply:
    return calls(("fail_task", {"description": f"No, {model.number}", "blockers": ["a wall"], "questions": ["Why?"]}))


def out_of_time(model: PaidModel, request: Request) -> Reply:
    model.office.time_left = 32.0
    return checkpoints(model, request)


def away(model: PaidModel, request: Request) -> Reply:
    if 2 <= model.asked <= 4:
        raise ModelAway("throttled")
    return checkpoints(model, request)


STORIES = {
    "a plain answer": Story(answers, alone, (1, 0)),
    "a checkpoint, then an answer": Story(checkpoints, alone, (1, 1)),
    "a transfer": Story(transfers, routed, (2, 1)),
    "two delegations": Story(delegates, asking_two, (3, 1)),
    "a completion with evidence": Story(completes, with_criteria, (1, 0)),
    "a failure": Story(fails, alone, (1, 0), ("failed",)),
    "given back at the clock": Story(out_of_time, alone, (1, 1)),
    "the model is away": Story(away, alone, (1, 1)),
}


class Scene:
    """A story up to the moment at which its bells are answered; ``again`` goes back there, or tells it anew where that
    costs nothing."""

    def __init__(self, story: Story, rig: Rig | None = None) -> None:
        self.story, self.rig = story, rig
        if self.rig:
            first = self._begun()
            self.bodies = [(message.body, message.visible_at) for message in first.queue.messages]
            self.restore = self.rig.keep()

    def again(self) -> RunOffice:
        if self.rig is None:
            office = self._begun()
            office.calls.clear()
            return office
        self.restore()
        office = RunOffice(self.story.script, self.rig)
        for body, visible_at in self.bodies:
            office.queue.send_message(MessageBody=body, DelaySeconds=0)
            office.queue.messages[-1].visible_at = visible_at
        return office

    def _begun(self) -> RunOffice:
        office = RunOffice(self.story.script, self.rig)
        self.story.prepare(office)
        return office

    def undisturbed(self) -> tuple[list[Any], list[str]]:
        """How it ends, and its calls to the outside."""
        office = self.again()
        office.play()
        made = list(office.calls)
        check(office, self.story, "undisturbed")
        assert set(office.model.paid.values()) == {1}
        return office.shape(), made


def check(office: RunOffice, story: Story, where: str) -> None:
    """The promises about each task, after the quiet."""
    store, tasks = office.world.store, office.tasks()
    assert {str(task.state) for task in tasks} == set(story.ends) | ({"done"} if len(tasks) > 1 else set()), where
    assert (len(tasks), sum(task.checkpoints for task in tasks)) == story.effects, where
    assert office.queue.messages == [], where
    for task in tasks:
        events = store.events(WORKSPACE, task.id, 0, 1000)
        told = replay(events)
        assert (told.state, told.fence, told.checkpoints) == (task.state, task.fence, task.checkpoints), where
        check_transcript(office, task.id, where)
        check_spending(office, task, where)
    keys = [(task.parent_id, task.call_id) for task in tasks if task.call_id]
    assert len(set(keys)) == len(keys), f"{where}: one child per call"


def check_transcript(office: RunOffice, task_id: str, where: str, *, is_whole: bool = True) -> None:
    entries = office.world.store.transcript(WORKSPACE, task_id)
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


def check_spending(office: RunOffice, task: Any, where: str) -> None:
    mine, _ = office.world.store.usage(WORKSPACE, task.workflow_id, task.id)
    replies = [e for e in office.world.store.transcript(WORKSPACE, task.id) if e.kind is EntryKind.REPLY]
    assert mine.tokens == sum(entry.usage.tokens for entry in replies), where
    paid = sum(number for (task_id, _), number in office.model.paid.items() if task_id == task.id)
    assert mine.model_calls >= paid >= len(replies), where


def check_paid(office: RunOffice, saved: set[tuple[str, int]], where: str) -> None:
    """One crash costs one reply at most, and none that was saved."""
    paid = office.model.paid
    assert all(paid[each] == 1 for each in saved), f"{where}: a saved reply was asked for again"
    assert sum(paid.values()) <= len(paid) + 1, f"{where}: {paid}"
    assert set(paid) >= office.saved(), where


def at(number: int, fault: str) -> Callable[[int], str | None]:
    return lambda n: fault if n == number else None


def die_at(scene: Scene, number: int, fault: str, where: str) -> RunOffice:
    """What is left of it when others have cleaned up."""
    office = scene.again()
    office.faults = at(number, fault)
    with pytest.raises(Crash):
        office.play()
    saved = office.saved()
    office.revive()
    office.quiet(30)
    check(office, scene.story, where)
    check_paid(office, saved, where)
    return office


@pytest.mark.parametrize("name", STORIES)
def test_a_run_that_dies_anywhere(name: str) -> None:
    scene = Scene(STORIES[name])
    wanted, made = scene.undisturbed()
    assert {"converse", "commit", "read_bell"} <= set(made)
    for number, operation in enumerate(made, 1):
        for fault in ("crash_before", "crash_after"):
            where = f"{fault} at call {number}, {operation}"
            assert die_at(scene, number, fault, where).shape() == wanted, where


@pytest.mark.parametrize("name", ["a plain answer", "a checkpoint, then an answer"])
def test_a_run_that_dies_on_a_table(name: str) -> None:
    """After each call that leaves a mark outside: dying around a reading is dying after the mark before it."""
    scene = Scene(STORIES[name], Rig())
    wanted, made = scene.undisturbed()
    for number, operation in enumerate(made, 1):
        if operation not in READS:
            where = f"crash_after call {number}, {operation}"
            assert die_at(scene, number, "crash_after", where).shape() == wanted, where


@pytest.mark.parametrize("seed", range(40))
def test_a_run_that_dies_again_and_again(seed: int) -> None:
    """However often it dies, each death costs one reply at most, and a task is done or a human sees it."""
    dice = random.Random(seed)
    scene = Scene(STORIES[dice.choice(list(STORIES))])
    office = scene.again()
    deaths = 0
    for _ in range(60):
        office.faults = at(len(office.calls) + dice.randint(1, 40), "crash_after")
        try:
            office.quiet(1)
        except Crash:
            deaths += 1
        saved = office.saved()
        assert all(office.model.paid[each] <= 1 + deaths for each in saved)
        office.revive()
    office.quiet(60)
    paid = office.model.paid
    assert deaths > 0
    assert sum(paid.values()) <= len(paid) + deaths
    for task in office.tasks():
        assert task.is_ended or task.flags or task.state == "waiting", seed
        check_transcript(office, task.id, f"seed {seed}", is_whole=task.state == "done")
        check_spending(office, task, f"seed {seed}")


LOST = [
    ("a checkpoint, then an answer", "timeout_after", True),
    ("a checkpoint, then an answer", "error_after", False),
    ("a transfer", "timeout_after", True),
    ("two delegations", "timeout_after", False),
]


@pytest.mark.parametrize(("name", "fault", "reads"), LOST)
def test_a_reply_that_is_lost_anywhere_is_not_noticed(name: str, fault: str, reads: bool) -> None:
    """Of the table or the queue: nothing is paid for twice, and all ends alike, without the sweeper."""
    scene = Scene(STORIES[name], Rig())
    wanted, made = scene.undisturbed()
    for number, operation in enumerate(made, 1):
        if operation == "converse" or (operation in READS | {"send_message"} and not reads):
            continue
        office = scene.again()
        office.faults = at(number, fault)
        where = f"{fault} at call {number}, {operation}"
        office.play()
        check(office, scene.story, where)
        assert set(office.model.paid.values()) == {1}, where
        assert office.shape() == wanted, where
