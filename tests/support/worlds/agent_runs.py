"""A world with agents that Baton runs. The model answers as the test says, and notices are handled until none is
left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from baton.domain.agents.agent import Approval, Runtime
from baton.domain.agents.tool import ToolMode
from baton.domain.runs.transcript import TranscriptEntry, Usage
from baton.domain.tasks.task import Task
from baton.ports.runs import Model, ModelReply, ModelRequest, StopReason
from baton.services.agents.define_tool import define_tool
from baton.services.agents.register_agent import register_agent
from baton.services.conversations.converse import (
    Opening,
    ReadMessage,
    SaidMessage,
    read_messages,
    say,
    start_conversation,
)
from baton.services.runs.process_task import DispatchNotice, NoticeOutcome, TimeBudget, process_task
from baton.services.runs.run_agent import AgentLoop
from baton.services.tasks.sweep import sweep
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.provider_rules import check_request
from support.fakes.store import InMemoryStore
from support.worlds.world import WORKSPACE, World, human

HOUR = 3_600.0
Answer = "Reply | Exception | Callable[[Request], Reply]"


def says(text: str, *, stop: StopReason = StopReason.END_TURN, tokens: int = 10, **more: Any) -> ModelReply:
    return ModelReply(blocks=({"text": text},), stop_reason=stop, usage=Usage(0, tokens, tokens), **more)


def calls(*named: tuple[str, Any], text: str = "", **more: Any) -> ModelReply:
    """``named``: tools with their arguments."""
    said = ({"text": text},) if text else ()
    used = ({"toolUse": {"toolUseId": f"x{n}", "name": name, "input": given}} for n, (name, given) in enumerate(named))
    return ModelReply(blocks=(*said, *used), stop_reason=StopReason.TOOL_USE, usage=Usage(0, 10, 10), **more)


@dataclass
class FakeModel:
    """Answers each agent with the next of its listed replies, the last one again and again. Checks every request by the
    providers' rules."""

    script: dict[str, list[Any]] = field(default_factory=dict)
    requests: list[ModelRequest] = field(default_factory=list)

    def of(self, name: str) -> tuple[str, str, Model]:
        return "fake", name, self

    def converse(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        check_request(request)
        answers = self.script[request.agent]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, BaseException):
            raise answer
        assert isinstance(answer, ModelReply)
        return answer

    def asked(self, agent: str) -> list[ModelRequest]:
        return [request for request in self.requests if request.agent == agent]


class AgentRuns:
    """``agents``: slug → the fields that it is registered with. ``script``: slug → the model's replies to it."""

    def __init__(
        self, agents: dict[str, dict[str, Any]], script: dict[str, list[Any]], *, world: World | None = None
    ) -> None:
        self.world = world or World(store=InMemoryStore())
        self.deps = self.world.deps
        self.model = FakeModel(script)
        self.time_left = HOUR
        if agents and (table := self.world.empty_table()):
            self.world.begin_as(table, without_tools(tuple(agents)))
        else:
            self.register(*agents)
        self.later = agents

    def register(self, *slugs: str) -> None:
        for slug in slugs:
            register_agent(self.deps, human(), slug, {"runtime": Runtime.RUN, "name": slug.title()})

    def tool(self, name: str, target: str, **values: Any) -> None:
        values = {"description": f"Hands over to {target}.", "target_agent": target, **values}
        define_tool(self.deps, human(), name, values)

    def open(self) -> AgentRuns:
        """Registers the agents with their tools, which must be there by then."""
        for slug, values in self.later.items():
            register_agent(self.deps, human(), slug, values)
        return self

    def start(self, agent: str, message: str = "Hello", *, until_quiet: bool = True, **values: Any) -> Task:
        opening = Opening(agent=agent, message=message, context=values.pop("context", {}), **values)
        task = start_conversation(self.deps, human(), opening).task
        if until_quiet:
            self.run()
        return self.task(task.id)

    def say(self, conversation_id: str, text: str) -> Task:
        task = say(self.deps, human(), conversation_id, SaidMessage(text)).task
        self.run()
        return self.task(task.id)

    def run(self, rounds: int = 50) -> list[NoticeOutcome]:
        """Handles notices until none is left. Undo windows and backoffs pass."""
        handled: list[NoticeOutcome] = []
        for _ in range(rounds):
            notices, self.world.dispatch_queue.notices[:] = list(self.world.dispatch_queue.notices), []
            if not notices:
                return handled
            self.world.clock.advance(max(notice[3] for notice in notices))
            handled += [self.notify(workspace, agent, task_id) for workspace, agent, task_id, *_ in notices]
        raise AssertionError("the notices never end")

    def notify(self, workspace: str, agent: str, task_id: str) -> NoticeOutcome:
        time_budget = TimeBudget(lease_seconds=150, time_left=lambda: self.time_left)
        notice = DispatchNotice(workspace=workspace, agent=agent, task_id=task_id)
        return process_task(self.deps, AgentLoop(self.deps, self.model), notice, time_budget)

    def sweep(self) -> None:
        sweep(self.deps)
        self.run()

    # Looking

    def task(self, task_id: str) -> Task:
        return self.world.task(task_id)

    def output(self, task_id: str) -> Any:
        return self.world.store.tasks.read(WORKSPACE, task_id).output

    def failure(self, task_id: str) -> dict[str, Any]:
        return self.world.store.tasks.read(WORKSPACE, task_id).why or {}

    def body(self, task_id: str) -> dict[str, Any]:
        return self.world.store.tasks.read(WORKSPACE, task_id, with_body=True).body or {}

    def tasks(self, workflow_id: str) -> list[Task]:
        ids = [each.task_id for each in self.world.store.workflows.members(WORKSPACE, workflow_id)]
        found = self.world.store.tasks.many(WORKSPACE, ids)
        return [found[each] for each in sorted(found)]

    def children(self, task: Task) -> list[Task]:
        return [each for each in self.tasks(task.workflow_id) if each.parent_id == task.id]

    def entries(self, task_id: str) -> Sequence[TranscriptEntry]:
        return self.world.store.runs.transcript(WORKSPACE, task_id)

    def messages(self, workflow_id: str) -> list[ReadMessage]:
        found: list[ReadMessage] = []
        cursor = None
        while True:
            page, cursor = read_messages(self.deps, human(), workflow_id, 100, cursor)
            if not page:
                return found
            found += page

    def told(self, workflow_id: str) -> list[tuple[str, str]]:
        return [(str(each.message.type), each.message.text) for each in self.messages(workflow_id)]


AUTO = {"approval": Approval.AUTO}


def sales_runs(mode: ToolMode = ToolMode.TRANSFER) -> AgentRuns:
    """Returns runs in which sales may hand over to Anna by the one tool ``go``."""
    agents: dict[str, dict[str, Any]] = {"sales": {"tools": ("go",)}, "anna": {}, "bert": {}}
    agent_runs = AgentRuns(agents, {"sales": [], "anna": [says("Anna here.")], "bert": [says("Bert here.")]})
    agent_runs.tool("go", "anna", mode=mode)
    return agent_runs.open()


@cache
def without_tools(slugs: tuple[str, ...]) -> FakeDynamo:
    """Returns a table with these agents and nothing else. Callers copy it, and never write to it."""
    store = InMemoryStore()
    AgentRuns({}, {}, world=World(store=store)).register(*slugs)
    return store.dynamo
