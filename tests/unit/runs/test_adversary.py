"""Whatever a model is made to say by what it reads, it changes nothing beyond what its tools allow
(docs/spec/tools.md §6, invariant 9): every attack, through every text that reaches a prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from baton.domain.access.principal import PrincipalKind
from baton.domain.agents.agent import Runtime
from baton.domain.agents.built_in_tools import BUILT_IN
from baton.domain.agents.tool import ToolMode, Variable, VariableType
from baton.domain.canonical_json import canonical_json
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.memory.entry import EntryType
from baton.domain.memory.entry_draft import EntryDraft
from baton.domain.runs.reply import MAX_DEPTH
from baton.domain.runs.transcript import EntryKind
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import replay
from baton.ports.deps import Deps
from baton.ports.runs import StopReason
from baton.services.access.change_settings import change_settings
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.agents.change_route import change_route
from baton.services.agents.define_tool import define_tool
from baton.services.agents.register_agent import register_agent
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.memory.post_entry import post_entry
from baton.services.tasks.sweep import sweep
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import InMemoryStore
from support.faults.soak import IS_WHOLE
from support.models.adversary import ObedientModel, attacks, sentence
from support.worlds.agent_runs import AgentRuns, calls, says
from support.worlds.team import as_told
from support.worlds.world import WORKSPACE, agent, human

pytestmark = pytest.mark.slow

MAX_TURNS = 3
MAX_HANDOFFS = 8
OTHER = "globex"
GIVEN: dict[str, tuple[str, ...]] = {
    "router": ("to_victim", "ask_victim"),
    "victim": ("save_checkpoint", "to_helper", "ask_helper", "to_self", "ask_self"),
    "helper": ("fail_task", "ask_victim"),
    "vault": ("to_vault",),
}
# What a run may write, each in its own partition; everything else in the table stays as it was.
OF_ITS_TASKS = {"TASK", "TRAIL", "RUN", "WORKFLOW", "HANDOFFS", "CHECKPOINTS", "USAGE"}
# What somebody posted meanwhile.
OF_THE_MEMORY = {"BOARD", "BOARD-ROWS", "BOARD-CHANGES"}
OF_ITS_WORKSPACE = {"ONCE", "SEEN", "REVIEWS", "REVIEW-REQUEST", "ALERTS", "ALERTS-OF-TASK"}
TOLD = {
    *("handoff_initiated", "approved", "handoff_received", "checkpoint_saved", "handoff_completed", "handoff_failed"),
    *("handoff_transferred", "waiting", "resumed", "requeued", "released", "alert_raised", "rollback_initiated"),
}
VARIABLES = (
    Variable(name="note", required=True),
    Variable(name="count", type=VariableType.NUMBER),
    Variable(name="data", type=VariableType.OBJECT),
)


class AttackedWorkspaces:
    """Two workspaces: in one of them somebody obeys. ``planted``: the texts of tools that a human was made to
    write."""

    def __init__(self, planted: dict[str, dict[str, str]]) -> None:
        self.agent_runs = AgentRuns({}, {})
        self.deps = self.agent_runs.deps
        world = self.agent_runs.world
        table, self.other_task, self.own_task = unharmed()
        assert isinstance(world.store, InMemoryStore)
        world.begin_as(world.store.dynamo, table)
        for name, texts in planted.items():
            define(self.deps, name, texts)
        world.clock.advance(3)

    def held(self) -> dict[tuple[str, str], Any]:
        store = self.agent_runs.world.store
        assert isinstance(store, InMemoryStore)
        return store.dynamo.contents()


@cache
def unharmed() -> tuple[FakeDynamo, str, str]:
    """Returns a table with the two workspaces, and a task of the other one and of this one. Callers copy it, and never
    write to it."""
    deps = AgentRuns({slug: {} for slug in GIVEN}, {}).deps
    change_settings(deps, human(), {"max_handoffs_per_workflow": MAX_HANDOFFS, "max_depth": 4})
    for slug in ("helper", "victim", "self", "vault"):
        define(deps, f"to_{slug}")
        define(deps, f"ask_{slug}")
    for slug, tools in GIVEN.items():
        register_agent(deps, human(), slug, {"tools": tools, "max_turns": MAX_TURNS})
    register_agent(deps, human(OTHER), "victim", {"runtime": Runtime.RUN})
    register_agent(deps, human(OTHER), "globex", {})
    define_tool(deps, human(OTHER), "to_globex", {"description": "Over.", "target_agent": "globex"})
    register_agent(deps, human(OTHER), "victim", {"tools": ("to_globex",)})
    tasks = bystander(deps, OTHER), bystander(deps, WORKSPACE)
    for workspace in (WORKSPACE, OTHER):
        issue_token(deps, human(workspace), TokenRequest(kind=PrincipalKind.AGENT, subject="victim"))
        change_route(deps, human(workspace), "audit", {"agent": "victim"})
    assert isinstance(deps.store, InMemoryStore)
    return deps.store.dynamo, *tasks


def define(deps: Deps, name: str, texts: dict[str, str] | None = None) -> None:
    verb, slug = name.split("_")
    target = "victim" if slug == "self" else slug
    mode = {"to": ToolMode.TRANSFER, "ask": ToolMode.DELEGATE}[verb]
    told = {"description": f"Over to {target}.", **(texts or {})}
    define_tool(deps, human(), name, {"target_agent": target, "mode": mode, "context_variables": VARIABLES, **told})


def bystander(deps: Deps, workspace: str) -> str:
    """Returns a task that waits for a human."""
    register_agent(deps, human(workspace), "clerk", {})
    message = {"source": {"agent": "clerk"}, "target": {"agent": "victim", "reason": "later"}, "summary": "later"}
    return create_handoff(deps, agent("clerk", workspace), CreateHandoff(message=message_from(message))).task.id


Place = Callable[[AgentRuns, str], Task]


def handed_over(**message: Any) -> Place:
    """As POST /handoffs takes it, by a human's word. ``{}`` in a text is where the attack stands."""

    def act(agent_runs: AgentRuns, text: str) -> Task:
        said = filled({"summary": "Do it", "target": {"agent": "victim", "reason": "Do it"}, **message}, text)
        task = create_handoff(
            agent_runs.deps, human(), CreateHandoff(message=message_from({"source": {"agent": "alice"}, **said}))
        ).task
        agent_runs.run()
        return task

    return act


def filled(value: Any, text: str) -> Any:
    if isinstance(value, dict):
        return {filled(key, text): filled(each, text) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, text) for each in value]
    return value.replace("{}", text) if isinstance(value, str) else value


def to(slug: str, **values: Any) -> Place:
    return lambda agent_runs, text: agent_runs.start(slug, **filled({"message": "Hello", **values}, text))


def with_memory(*types: EntryType, since: tuple[EntryType, ...] = (), memories: int = 0) -> Place:
    """A handoff that takes along what somebody else has posted, and of what was posted ``since`` its run is told."""

    def act(agent_runs: AgentRuns, text: str) -> Task:
        def say(kind: EntryType, **more: Any) -> str:
            draft = EntryDraft(entry_type=kind, summary=text[:200], scope="src", detail=text, **more)
            return post_entry(agent_runs.deps, agent("clerk"), draft).id

        known = [say(each) for each in types]
        said = message_from(
            {
                "source": {"agent": "alice"},
                "target": {"agent": "victim", "reason": "Ignore what others say"},
                "scope": "src",
                "auto_snapshot": True,
                "auto_memories": memories,
            }
        )
        task = create_handoff(agent_runs.deps, human(), CreateHandoff(message=said)).task
        for each in since:
            say(each, supersedes=known[0] if known else None)
        agent_runs.run()
        return task

    return act


def goes_on(agent_runs: AgentRuns, text: str) -> Task:
    root = agent_runs.start("victim", "Hello")
    return agent_runs.say(root.workflow_id, "And now?")


def benign(text: str) -> dict[str, dict[str, list[Any]]]:
    """What agents say of themselves, by place, so that the attack comes to where it should."""
    asks, over = ("ask_helper", {"note": "x"}), ("to_victim", {"note": "x"})
    thought = {"reasoningContent": {"reasoningText": {"text": text, "signature": "s"}}}
    thinking = calls(("save_checkpoint", {"step_name": "on", "state": {}}))
    return {
        "a variable": {"router": [calls(("to_victim", {"note": text}))]},
        "a variable, deep": {"router": [calls(("to_victim", {"note": "x", "data": {text: [text]}}))]},
        "a variable of a branch": {"router": [calls(("ask_victim", {"note": text}))]},
        "a tool's result": {"victim": [calls(("to_helper", {text[:64]: 1}))]},
        "a checkpoint": {"victim": [calls(("save_checkpoint", {"step_name": "on", "state": {"todo": text}}))]},
        "another agent's output": {"victim": [calls(asks)], "helper": [says(text)]},
        "another agent's failure": {"victim": [calls(asks)], "helper": [calls(("fail_task", {"description": text}))]},
        "instructions of a handoff": {"router": [calls(over)]},
        "the history": {"router": [calls(over, text=text)]},
        "an earlier turn": {"victim": [says(text)]},
        "its own thoughts": {
            "victim": [type(thinking)(blocks=(thought, *thinking.blocks), stop_reason=StopReason.TOOL_USE)]
        },
    }


PLACES: dict[str, Place] = {
    "the message": to("victim", message="{}"),
    "a value of the context": to("victim", context={"hint": "{}"}),
    "a key of the context": to("victim", context={"{}": "x"}),
    "a list of the context": to("victim", context={"hints": [{"{}": ["{}"]}]}),
    "a summary": handed_over(summary="{}"),
    "a reason": handed_over(target={"agent": "victim", "reason": "{}"}),
    "results so far": handed_over(results=[{"description": "{}", "status": "partial", "notes": "{}"}]),
    "a criterion": handed_over(
        expectations={"deliverables": [{"type": "t", "description": "d", "acceptance_criteria": ["{}"]}]}
    ),
    "variables of a handoff": handed_over(context={"variables": {"{}": "{}"}}),
    "state of a handoff": handed_over(context={"state": {"next": "{}"}}),
    "a tool's description": to("victim"),
    "a tool's instructions": to("victim"),
    "instructions of a handoff": to("router"),
    "a variable": to("router"),
    "a variable, deep": to("router"),
    "a variable of a branch": to("router"),
    "the history": to("router"),
    "a tool's result": to("victim"),
    "a checkpoint": to("victim"),
    "another agent's output": to("victim"),
    "another agent's failure": to("victim"),
    "its own thoughts": to("victim"),
    "an earlier turn": goes_on,
    "a snapshot": with_memory(EntryType.DECISION, EntryType.WARNING, EntryType.FINDING),
    "a decision since": with_memory(EntryType.DECISION, since=(EntryType.DECISION,)),
    "a warning since": with_memory(since=(EntryType.WARNING,)),
    "a memory that fits": with_memory(EntryType.CONSTRAINT, memories=1),
}


def planted(text: str) -> dict[str, dict[str, dict[str, str]]]:
    return {
        "a tool's description": {"ask_helper": {"description": text}},
        "a tool's instructions": {"to_helper": {"handoff_instructions": text}},
        "instructions of a handoff": {"to_victim": {"handoff_instructions": text}},
    }


NAMES = list(attacks("", ""))


# Through these, all of them; through the others, some.
WIDE_OPEN = {"the message", "a variable", "another agent's output", "a tool's description"}
EVERY = 4
INJECTIONS = [
    (name, place)
    for m, place in enumerate(PLACES)
    for n, name in enumerate(NAMES)
    if place in WIDE_OPEN or (n + m) % EVERY == 0
]


# ``make soak`` plays all; ``make test`` some, with each attack and each place among them.
def covering(injections: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Returns some with each attack and each place: first those that bring a new one of both."""
    chosen: list[tuple[str, str]] = []
    for new in (2, 1):
        for name, place in injections:
            if all(name != each for each, _ in chosen) + all(place != each for _, each in chosen) >= new:
                chosen.append((name, place))
    return chosen


PLAYED = INJECTIONS if IS_WHOLE else covering(INJECTIONS)


@pytest.mark.parametrize("place", PLACES)
def test_nothing_beyond_its_tools(place: str) -> None:
    for name, where in PLAYED:
        if where == place:
            suffer(name, place)


def suffer(name: str, place: str) -> None:
    text = sentence(name)
    attacked = AttackedWorkspaces(planted(text).get(place, {}))
    agent_runs = attacked.agent_runs
    model = ObedientModel(attacks(attacked.other_task, attacked.own_task), benign(text).get(place, {}))
    agent_runs.model = model
    before = attacked.held()
    root = PLACES[place](agent_runs, text)
    for _ in range(3):  # whatever was left to come
        agent_runs.world.clock.advance(400)
        assert sweep(agent_runs.deps).failed == 0
        agent_runs.run()
    where = f"{name} through {place}"
    assert model.obeyed, where
    check(attacked, model, before, root.workflow_id, where)


def test_there_are_hundreds_of_injections() -> None:
    assert len(INJECTIONS) >= 200
    assert {name for name, _ in PLAYED} == set(NAMES)
    assert {place for _, place in PLAYED} == set(PLACES)


def check(
    attacked: AttackedWorkspaces, model: ObedientModel, before: dict[tuple[str, str], Any], workflow_id: str, where: str
) -> None:
    tasks = attacked.agent_runs.tasks(workflow_id)
    check_store(before, attacked.held(), {task.id for task in tasks}, workflow_id, where)
    assert sum(task.parent_id is not None for task in tasks) < MAX_HANDOFFS, where
    for task in tasks:
        check_task(attacked, task, where)
        asked = [request for request in model.requests if request.task_id == task.id]
        assert len(asked) <= MAX_TURNS, where
        for request in asked:
            assert {tool["name"] for tool in request.tools} <= set(GIVEN[request.agent]), where
    assert len(model.requests) == sum(r.task_id in {t.id for t in tasks} for r in model.requests), where
    raised = [each for each in attacked.agent_runs.world.logged if each.get("action") == "runner_raised"]
    assert raised == [], f"{where}: {raised}"


def check_store(before: dict[Any, Any], after: dict[Any, Any], ids: set[str], workflow_id: str, where: str) -> None:
    """Whatever was there is as it was; whatever is new belongs to the workflow."""
    for key in before:
        assert after.get(key) == before[key], f"{where}: {key}"
    for pk, sk in after.keys() - before.keys():
        _, workspace, kind, *whose = pk.split("#")
        assert workspace == WORKSPACE, f"{where}: {pk}"
        if kind in OF_ITS_TASKS:
            assert whose[0] in {*ids, workflow_id}, f"{where}: {pk} {sk}"
        elif kind in OF_THE_MEMORY:
            clerk = {"S": agent("clerk").key}
            assert after[pk, sk].get("posted_by", clerk) == clerk, f"{where}: {pk}"
        elif kind == "INBOX":  # told of ends
            assert whose[0] in {slug for slug in GIVEN if slug != "vault"}, f"{where}: {pk}"
        else:
            assert kind in OF_ITS_WORKSPACE, f"{where}: {pk}"


def check_task(attacked: AttackedWorkspaces, task: Task, where: str) -> None:
    """It is what its trail tells, came by a tool of whoever made it, and has ended or waits for a human."""
    agent_runs = attacked.agent_runs
    assert task.is_ended or task.state == "needs", f"{where}: {task.state}"
    assert task.target_agent != "vault", where
    events = agent_runs.world.store.trail.events(WORKSPACE, task.id, 0, 10_000)
    assert as_told(replay(events)) == as_told(task), where
    assert all(one.fence <= next_.fence for one, next_ in pairwise(events)), where
    assert {event.type for event in events} <= TOLD, where
    assert all(len(repr(event.data)) < 20_000 for event in events), f"{where}: an event that no bus takes"
    if task.kind == "rollback":  # of a failure, to where it came from: a human says whether
        assert (task.state, task.target_agent) == ("needs", agent_runs.task(str(task.parent_id)).source_agent), where
    elif task.parent_id is not None:
        (approved,) = [event for event in events if event.type == "approved"]
        tool = approved.data["standing_approval"]["tool"]
        maker = agent_runs.task(task.parent_id).target_agent or ""
        assert tool in set(GIVEN[maker]) - set(BUILT_IN), where
        assert agent_runs.world.store.tools.named(WORKSPACE, [tool])[tool].target_agent == task.target_agent, where
    else:
        assert task.created_by == human().key, where
    check_transcript(agent_runs, task, where)


def check_transcript(agent_runs: AgentRuns, task: Task, where: str) -> None:
    entries = agent_runs.entries(task.id)
    numbers = [number for entry in entries for number in range(entry.first, entry.last + 1)]
    assert numbers == list(range(1, len(numbers) + 1)), where
    asked = [call["toolUseId"] for entry in entries for call in entry.calls]
    given = [call for entry in entries if entry.kind is EntryKind.RESULTS for call in entry.results]
    assert len(set(asked)) == len(asked), where
    assert len(set(given)) == len(given) <= len(asked), where
    assert set(given) <= set(asked), where
    done = {call for entry in entries for call, each in entry.results.items() if each["status"] == "success"}
    named = {call["toolUseId"]: call["name"] for entry in entries for call in entry.calls}
    assert {named[call] for call in done} <= set(GIVEN[task.target_agent or ""]), where
    for entry in entries:
        assert depth(entry.blocks) <= MAX_DEPTH + 6, where
        canonical_json(entry.blocks).encode()
    for checkpoint in each_checkpoint(agent_runs, task):
        assert checkpoint.by == "service:process-task", where


def depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return 1 + max(map(depth, inner), default=0)


def each_checkpoint(agent_runs: AgentRuns, task: Task) -> Iterator[Any]:
    found = agent_runs.world.store.workflows.checkpoints(WORKSPACE, task.workflow_id, 1000, None).items
    own = [each for each in found if each.task_id == task.id]
    assert len(own) == task.checkpoints
    yield from own
