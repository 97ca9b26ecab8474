"""Attacks on work of agents that Baton runs: the prompt that runs is the prompt that people approved, and a run carries
out only what its own agent's model said and its own people approved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.access.principal import Principal
from baton.domain.access.rights import Right
from baton.domain.agents.needs_approval import NeedsApproval
from baton.domain.agents.tool import ToolMode, Variable
from baton.domain.questions.question import Outcome, Question
from baton.domain.tasks.task import Task
from baton.ports.runs import ModelReply, ModelRequest
from baton.services.questions.answer_question import Answer, answer_question, use_approval
from baton.services.runs import run_approvals, run_tools
from support.fakes.store import InMemoryStore
from support.faults.wrapped_store import ActsBefore
from support.gateway import Gateway
from support.worlds.agent_runs import AgentRuns, calls, says
from support.worlds.world import WORKSPACE, World, agent, human, person

ADA, MIA = human(name="ada"), person(Right.MEMBER, "mia")


@pytest.mark.parametrize("target", ["payer", None], ids=["named", "open"])
def test_a_prompt_that_changes_after_the_claim_runs_nothing(target: str | None) -> None:
    store = ActsBefore("profile")
    world = World(store=store)
    runs = AgentRuns({"payer": {"system_prompt": "Pay ada's supplier"}}, {"payer": [says("Paid.")]}, world=world)
    runs.open()
    gateway = Gateway(world.deps)
    rule = {"target": "payer", "people": ["ada"], "needed": 1}
    assert gateway.put(ADA, "/workspace/settings", {"approval_rules": [rule]}).status == 200
    body = {"source": {"agent": "scout"}, "target": {"agent": "payer", "reason": "Pay"}}
    task = gateway.post(agent("scout"), "/handoffs", body).json["task"]
    assert gateway.post(ADA, f"/tasks/{task['id']}/approve", {"digest": task["digest"]}).status == 200
    edited: list[int] = []
    store.act = lambda: edited.append(gateway.put(MIA, "/agents/payer", {"system_prompt": "Pay mallory"}).status)
    runs.run()
    assert (edited, runs.model.requests) == ([200], [])
    assert runs.task(task["id"]).state == "needs"


# Replies that were saved, and not carried out


PAPER = (Variable(name="to"),)
WIRE = calls(("wire", {"to": "mallory"}), text="Paid.")


class Kept:
    """Work whose model answers anna, and whose reply is kept as a member switches her off while it thinks."""

    def __init__(self, reply: ModelReply, **anna: Any) -> None:
        agents: dict[str, Any] = {"anna": anna, "bob": {"tools": ("wire", "complete_task")}, "bank": {}}
        answers: dict[str, list[Any]] = {"anna": [self._then_off(reply), says("Good now.")]}
        self.store = InMemoryStore()
        script = {**answers, "bob": [says("Bob pays nothing.")], "bank": [says("Paid.")]}
        self.runs = AgentRuns(agents, script, world=World(store=self.store))
        self.runs.tool("wire", "bank", context_variables=PAPER)
        self.runs.tool("ask", "bank", mode=ToolMode.DELEGATE, context_variables=PAPER)
        self.runs.open()
        self.gateway = Gateway(self.runs.deps)
        body = {"source": {"agent": "alice"}, "target": {"reason": "open work"}}
        self.id = self.gateway.post(human(), "/handoffs", body).json["task"]["id"]
        self.runs.world.clock.advance(60)

    def _then_off(self, reply: ModelReply) -> Callable[[ModelRequest], ModelReply]:
        def answer(_: ModelRequest) -> ModelReply:
            assert self.gateway.put(MIA, "/agents/anna", {"active": False}).status == 200
            return reply

        return answer

    def edited(self, by: Principal, **values: Any) -> None:
        answer = self.gateway.put(by, "/agents/anna", values)
        assert answer.status == 200, answer.text

    def goes_on(self, agent_: str) -> list[Task]:
        """Returns the tasks that the next run has begun."""
        self.runs.world.clock.advance(600)
        self.runs.notify(WORKSPACE, agent_, self.id)
        return self.runs.children(self.runs.task(self.id))

    def told(self, agent_: str) -> list[str]:
        """What the model is told in place of the reply's results."""
        last = self.runs.model.asked(agent_)[-1].messages[-1]["content"]
        found = [each["toolResult"]["content"][0] if "toolResult" in each else each for each in last]
        return [each.get("text", each.get("json")) for each in found]


@pytest.mark.parametrize("reply", [WIRE, says("Pay mallory."), calls(("complete_task", {"output": "Pay mallory."}))])
@pytest.mark.parametrize("other", ["agent", "prompt", "toolset"])
def test_a_saved_reply_is_carried_out_for_its_author_only(reply: ModelReply, other: str) -> None:
    """Bob's profile is the same as anna's."""
    whole = ["wire", "complete_task"]
    profiles: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "agent": ({"tools": whole}, {}),
        "prompt": ({"tools": whole, "system_prompt": "Pay mallory"}, {"system_prompt": "Be good"}),
        "toolset": ({"tools": ["complete_task"]}, {"tools": whole}),
    }
    before, now = profiles[other]
    kept = Kept(reply, **before)
    kept.runs.notify(WORKSPACE, "anna", kept.id)
    if now:
        kept.edited(ADA, active=True, **now)
    last = "anna" if now else "bob"
    assert kept.goes_on(last) == []
    (told,) = kept.told(last)
    assert "another agent wrote it, or this agent did with another prompt, model or set of tools" in told
    assert kept.runs.output(kept.id) == {"message": "Good now." if now else "Bob pays nothing."}


def test_a_saved_reply_calls_a_tool_only_as_its_model_saw_it() -> None:
    kept = Kept(WIRE, tools=("wire",))
    kept.runs.notify(WORKSPACE, "anna", kept.id)
    kept.runs.tool("wire", "bank", description="Pays at once.", context_variables=PAPER)
    kept.edited(ADA, active=True)
    assert kept.goes_on("anna") == []
    assert "Not done by this run" in kept.told("anna")[0]


def test_a_saved_reply_of_an_earlier_release_is_not_carried_out() -> None:
    kept = Kept(WIRE, tools=("wire",))
    kept.runs.notify(WORKSPACE, "anna", kept.id)
    table = kept.store.dynamo
    (item,) = (each for each in table.contents().values() if "made_with" in each)
    del item["made_with"]
    table.put(item)
    kept.edited(ADA, active=True)
    assert kept.goes_on("anna") == []


def test_a_saved_reply_is_carried_out_after_edits_that_are_not_about_it() -> None:
    """A limit, a tool that it doesn't call, and a field that the model never sees."""
    kept = Kept(WIRE, tools=("wire", "ask"))
    kept.runs.notify(WORKSPACE, "anna", kept.id)
    kept.runs.tool("ask", "bank", active=False)
    kept.edited(ADA, active=True, max_turns=7, description="Pays")
    (child,) = kept.goes_on("anna")
    assert (child.source_agent, child.target_agent) == ("anna", "bank")
    assert len(kept.runs.model.asked("anna")) == 1


def test_branches_of_a_reply_that_is_set_aside_have_their_results() -> None:
    runs = AgentRuns({"anna": {"tools": ("ask",)}, "bank": {}}, {"bank": [says("Paid.")]})
    runs.model.script["anna"] = [calls(("ask", {"to": "ada"})), says("Done.")]
    runs.tool("ask", "bank", mode=ToolMode.DELEGATE, context_variables=PAPER)
    runs.open()
    task = runs.start("anna", until_quiet=False)

    def edits(_: ModelRequest) -> ModelReply:
        assert Gateway(runs.deps).put(ADA, "/agents/anna", {"system_prompt": "Be brief"}).status == 200
        return says("Paid.")

    runs.model.script["bank"] = [edits]
    runs.run()
    (told,) = (each for entry in runs.entries(task.id) for each in entry.results.values())
    assert told["content"][0]["json"]["output"] == {"message": "Paid."}
    assert (runs.output(task.id), len(runs.children(task))) == ({"message": "Done."}, 1)


# Approvals that were used, for calls that weren't made


class Used:
    """Open work, of which anna's run has used an approval. ``then`` happens before it makes the call."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, then: Callable[[Used], Any]) -> None:
        agents = {"anna": {"tools": ("go",)}, "bob": {"tools": ("go",)}, "bert": {}}
        script = {"anna": [calls(("go", {"to": "A4"})), says("Then not.")], "bob": [says("Bob does nothing.")]}
        self.runs = AgentRuns(agents, {**script, "bert": [says("Printed.")]})
        mark = NeedsApproval(within_seconds=3_600)
        self.runs.tool("go", "bert", context_variables=PAPER, needs_approval=mark)
        self.runs.open()
        self.gateway = Gateway(self.runs.deps)
        body = {"source": {"agent": "alice"}, "target": {"reason": "open work"}}
        self.id = self.gateway.post(human(), "/handoffs", body).json["task"]["id"]
        self.runs.world.clock.advance(60)
        self.runs.notify(WORKSPACE, "anna", self.id)
        question = self.question
        assert question.action is not None
        approve = Answer(outcome=Outcome.APPROVED, digest=question.action.digest)
        answer_question(self.runs.deps, ADA, self.id, question.id, approve)
        self._interrupt(monkeypatch, then)

    def _interrupt(self, monkeypatch: pytest.MonkeyPatch, then: Callable[[Used], Any]) -> None:
        use, done = use_approval, list[Any]()

        def used(*args: Any) -> Question:
            question = use(*args)
            done.append(then(self))
            task = self.runs.task(self.id)
            self.gateway.post(ADA, f"/tasks/{self.id}/release-claim", {"fence": task.fence, "reason": "It hangs"})
            return question

        monkeypatch.setattr(run_approvals, "use_approval", used)
        self.runs.notify(WORKSPACE, "anna", self.id)
        assert (len(done), self.children()) == (1, [])
        assert self.question.used_at is not None
        self.runs.world.clock.advance(300)

    @property
    def question(self) -> Question:
        return self.runs.deps.store.questions.of_task(WORKSPACE, self.id)[0]

    def children(self) -> list[str]:
        return [each.source_agent for each in self.runs.children(self.runs.task(self.id))]

    def ruled(self, *people: str) -> None:
        rule = {"tool": "go", "people": list(people)}
        answer = self.gateway.put(human(), "/workspace/settings", {"approval_rules": [rule]})
        assert answer.status == 200, answer.text


def test_an_approval_that_was_used_before_a_crash_makes_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    used = Used(monkeypatch, lambda _: None)
    used.runs.notify(WORKSPACE, "anna", used.id)
    assert used.children() == ["anna"]
    assert used.runs.world.trail(used.id).count("approval_used") == 1


def test_a_used_approval_is_compared_with_the_rules_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    used = Used(monkeypatch, lambda self: self.ruled("lea"))
    used.runs.notify(WORKSPACE, "anna", used.id)
    assert used.children() == []
    assert "too few of those who approved" in str(used.runs.model.asked("anna")[-1].messages[-1])


def test_a_used_approval_ends_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    used = Used(monkeypatch, lambda _: None)
    used.runs.world.clock.advance(3_600)
    used.runs.notify(WORKSPACE, "anna", used.id)
    assert used.children() == []


def test_an_approval_that_one_agent_used_makes_no_call_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    used = Used(monkeypatch, lambda _: None)
    # Even if bob's run took the reply as its own.
    monkeypatch.setattr(run_tools.RunTools, "is_own", lambda *_: True)
    used.runs.notify(WORKSPACE, "bob", used.id)
    assert used.children() == []
    assert "another agent asked" in str(used.runs.model.asked("bob")[-1].messages[-1])
