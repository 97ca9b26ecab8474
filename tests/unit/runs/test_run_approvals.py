"""A tool of an agent that Baton runs needs an approval: its run asks people, waits, and calls it once or not at all
(docs/spec/tools.md §4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from baton.domain import errors
from baton.domain.agents.needs_approval import NeedsApproval
from baton.domain.agents.tool import ToolMode, Variable
from baton.domain.questions.question import Outcome, Question
from baton.domain.questions.standing_answer import Standing
from baton.domain.settings.approval_rule import ApprovalRule
from baton.domain.tasks.task import Task
from baton.ports.writes import Save
from baton.services.access.change_settings import change_settings
from baton.services.agents.define_tool import define_tool
from baton.services.agents.register_agent import register_agent
from baton.services.questions.answer_question import Answer, answer_question, revoke_approval
from baton.services.tasks.end_task import cancel_task
from support.worlds.agent_runs import AgentRuns, calls, says
from support.worlds.world import WORKSPACE, agent, human, service

PAPER = (Variable(name="paper"),)
CALL = calls(("go", {"paper": "A4"}), text="Bert prints.")
DAYS = 3 * 86_400


class Printing:
    """Sales may hand work to Bert by ``go``, and ask Carl by ``ask_carl``, which needs no approval."""

    def __init__(self, *says_sales: Any, mode: ToolMode = ToolMode.TRANSFER, **mark: Any) -> None:
        agents: dict[str, Any] = {"sales": {"tools": ("go", "ask_carl", "save_checkpoint")}, "bert": {}, "carl": {}}
        script = {"sales": list(says_sales), "bert": [says("Printed.")], "carl": [says("Carl here.")]}
        self.runs = AgentRuns(agents, script)
        self.deps, self.mark = self.runs.deps, NeedsApproval(**mark)
        self.runs.tool("go", "bert", mode=mode, context_variables=PAPER, needs_approval=self.mark)
        self.runs.tool("ask_carl", "carl", mode=ToolMode.DELEGATE, context_variables=PAPER)
        self.runs.open()
        self.before_the_run()
        self.root = self.runs.start("sales")

    def before_the_run(self) -> None:
        """Changes nothing."""

    @property
    def task(self) -> Task:
        return self.runs.task(self.root.id)

    def questions(self) -> list[Question]:
        """Those of the first call first: within one millisecond they have no order."""
        found = self.deps.store.questions.of_task(WORKSPACE, self.root.id)
        return sorted(found, key=lambda each: str(each.action and each.action.call_id))

    def answer(self, question: Question, outcome: Outcome = Outcome.APPROVED, **said: Any) -> None:
        self.answer_as("alice", question, outcome, **said)

    def answer_as(self, name: str, question: Question, outcome: Outcome = Outcome.APPROVED, **said: Any) -> None:
        assert question.action is not None
        said = {"digest": question.action.digest} | said if outcome is Outcome.APPROVED else said
        answer_question(self.deps, human(name=name), self.root.id, question.id, Answer(outcome=outcome, **said))

    def answer_all(self, **said: Any) -> None:
        for question in self.questions():
            self.answer(question, **said)
        self.runs.run()

    def children(self) -> list[str]:
        return [str(each.target_agent) for each in self.runs.children(self.task)]

    def trail(self) -> list[str]:
        return self.runs.world.trail(self.root.id)

    def results(self, number: int = 1) -> list[Any]:
        """What the model of sales is told of its calls when it is asked for the how manieth time."""
        content = self.runs.model.asked("sales")[number].messages[-1]["content"]
        found = [block["toolResult"]["content"][0] for block in content if "toolResult" in block]
        return [each["text"] if "text" in each else each["json"] for each in found]


def test_the_run_asks_and_gives_its_claim_up() -> None:
    printing = Printing(CALL)
    assert (printing.task.state, printing.task.claim, printing.children()) == ("waiting", None, [])
    (question,) = printing.questions()
    action = question.action
    assert action is not None
    assert (action.tool, action.arguments, action.why) == ("go", {"paper": "A4"}, "Bert prints.")
    assert (question.agent, question.asked_by) == ("sales", "service:process-task")
    assert (question.until - question.asked_at).total_seconds() == 86_400


def test_a_mark_says_who_may_answer_how_many_and_until_when() -> None:
    printing = Printing(CALL, people=("alice", "bob"), needed=2, within_seconds=600)
    (question,) = printing.questions()
    assert (question.approvers.people, question.approvers.needed) == (("alice", "bob"), 2)
    assert (question.until - question.asked_at).total_seconds() == 600
    printing.answer_all()
    assert (printing.task.state, printing.children()) == ("waiting", [])


def test_an_approved_call_is_made_once_after_days_and_costs_no_attempt() -> None:
    printing = Printing(CALL, within_seconds=2 * DAYS)
    printing.runs.world.clock.advance(DAYS)
    printing.runs.sweep()
    assert printing.task.state == "waiting"
    printing.answer_all()
    assert (printing.task.state, printing.children(), printing.task.attempt) == ("done", ["bert"], 1)
    assert [each for each in printing.trail() if each in {"question_asked", "approval_used", "handed_off"}].count(
        "approval_used"
    ) == 1
    (child,) = printing.runs.children(printing.task)
    assert printing.runs.body(child.id)["context"]["paper"] == "A4"
    assert len(printing.runs.model.asked("sales")) == 1


@pytest.mark.parametrize("mode", list(ToolMode))
def test_arguments_that_people_changed_are_used_and_the_model_is_told(mode: ToolMode) -> None:
    printing = Printing(CALL, says("Done."), mode=mode)
    printing.answer_all(arguments={"paper": "A5"})
    (child,) = printing.runs.children(printing.task)
    assert printing.runs.body(child.id)["context"]["paper"] == "A5"
    note = 'People changed the arguments, and approved the call with these: {"paper":"A5"}'
    if mode is ToolMode.DELEGATE:
        assert printing.results()[0]["note"] == note
    else:
        assert f"Routed to Bert. {note}" in [text for _, text in printing.runs.told(printing.root.workflow_id)]


def test_arguments_that_the_tool_does_not_take_call_nothing() -> None:
    printing = Printing(CALL, says("Then not."))
    printing.answer_all(arguments={"paper": 5, "size": 1})
    assert printing.children() == []
    assert "people approved the call with other arguments, which the tool doesn't take" in printing.results()[0]
    assert printing.questions()[0].used_at is None


def test_a_reason_that_is_cut_ends_with_an_ellipsis() -> None:
    printing = Printing(calls(("go", {"paper": "A4"}), text="x" * 2_001))
    (question,) = printing.questions()
    assert question.text == "x" * 1_999 + "…"


def test_a_refusal_is_told_with_its_reason() -> None:
    printing = Printing(CALL, says("Then not."))
    printing.answer_all(outcome=Outcome.REFUSED, reason="No paper left")
    assert printing.results() == ['Not done: alice refused it and said why: "No paper left"']
    assert (printing.task.state, printing.children()) == ("done", [])


def test_an_expiry_is_neither_a_yes_nor_a_no() -> None:
    printing = Printing(CALL, says("Then not."), within_seconds=60)
    printing.runs.world.clock.advance(59)
    printing.runs.sweep()
    assert printing.task.state == "waiting"
    printing.runs.world.clock.advance(1)
    printing.runs.sweep()
    assert printing.results() == ["Not done: nobody decided in time, which is neither a yes nor a no."]
    assert printing.children() == []


@pytest.mark.parametrize("other", [{"tool": "ask_carl"}, {"arguments": {"paper": "A3"}}])
def test_a_used_approval_of_another_call_calls_nothing(other: dict[str, Any]) -> None:
    printing = Printing(CALL, says("Then not."))
    (question,) = printing.questions()
    printing.answer(question)
    (answered,) = printing.questions()
    assert answered.action is not None
    action = replace(answered.action, **other)
    decisions = tuple(replace(each, digest=action.digest) for each in answered.decisions)
    used = replace(
        answered, action=action, decisions=decisions, used_at=printing.deps.clock.now(), version=answered.version + 1
    )
    printing.runs.world.store.commit(WORKSPACE, Save(used))
    printing.runs.run()
    assert printing.results() == ["Not done: people were asked about another call. Call again."]
    assert printing.children() == []


def test_an_approval_that_was_taken_back_calls_nothing() -> None:
    printing = Printing(CALL, says("Then not."))
    (question,) = printing.questions()
    printing.answer(question)
    revoke_approval(printing.deps, human(), printing.root.id, question.id, "Wrong paper")
    printing.runs.run()
    assert printing.results() == ['Not done: alice took the approval back and said why: "Wrong paper"']
    assert printing.children() == []


def test_whoever_made_the_task_may_be_kept_from_approving() -> None:
    printing = Printing(CALL, not_author=True)
    with pytest.raises(errors.NotAsked):
        printing.answer_all()


def test_an_answer_that_stands_lets_later_calls_be_made_at_once_until_the_tool_changes() -> None:
    printing = Printing(CALL)
    printing.answer_all(standing=Standing(only_these=False))
    printing.root = printing.runs.start("sales")
    assert (printing.children(), printing.task.waits) == (["bert"], 0)
    assert printing.trail().count("approval_used") == 1
    define_tool(printing.deps, human(), "go", {"target_agent": "carl"})
    printing.root = printing.runs.start("sales")
    assert (printing.children(), printing.task.state) == ([], "waiting")


def test_a_later_call_with_the_same_arguments_is_asked_about_anew() -> None:
    printing = Printing(CALL, CALL, says("Then not."))
    printing.answer_all(outcome=Outcome.REFUSED, reason="Not yet")
    assert {str(each.outcome) for each in printing.questions()} == {"refused", "open"}


def test_an_approval_whose_time_is_over_allows_nothing() -> None:
    printing = Printing(CALL, says("Then not."), within_seconds=60)
    printing.answer(printing.questions()[0])
    printing.runs.world.clock.advance(60)
    printing.runs.run()
    assert "its time is over" in printing.results()[0]
    assert printing.children() == []


def test_a_tool_that_was_changed_meanwhile_is_not_called() -> None:
    """Its target is another one: nobody has approved that."""
    printing = Printing(CALL, says("Then not."))
    define_tool(printing.deps, human(), "go", {"target_agent": "carl"})
    printing.answer_all()
    assert printing.results() == ["Not done: the tool was changed after people were asked about the call. Call again."]
    assert printing.children() == []


def test_a_tool_that_was_taken_away_meanwhile_is_not_called() -> None:
    printing = Printing(CALL, says("Then not."))
    register_agent(printing.deps, human(), "sales", {"tools": ()})
    printing.answer_all()
    assert printing.children() == []
    assert printing.questions()[0].used_at is None


def test_an_agent_that_is_switched_off_makes_the_call_once_it_is_on_again() -> None:
    printing = Printing(CALL)
    register_agent(printing.deps, human(), "sales", {"active": False})
    printing.answer_all()
    assert (printing.children(), printing.questions()[0].used_at) == ([], None)
    register_agent(printing.deps, human(), "sales", {"active": True})
    printing.runs.sweep()
    assert (printing.children(), printing.task.state) == (["bert"], "done")


def test_a_cancelled_task_withdraws_its_question() -> None:
    printing = Printing(CALL)
    cancel_task(printing.deps, human(), printing.root.id, "Never mind")
    assert printing.questions()[0].outcome is Outcome.WITHDRAWN
    with pytest.raises(errors.BatonError):
        printing.answer(printing.questions()[0])


# Several calls of one reply


def several(**answers: Any) -> Printing:
    reply = calls(
        ("go", {"paper": "A4"}), ("save_checkpoint", {"step_name": "half", "state": {}}), ("go", {"paper": "A5"})
    )
    return Printing(reply, says("Done."), mode=ToolMode.DELEGATE, **answers)


def test_calls_of_one_reply_are_asked_about_at_once_and_waited_for_once() -> None:
    printing = several()
    first, second = printing.questions()
    assert (printing.task.waits, printing.task.checkpoints) == (1, 1)
    printing.answer(first)
    printing.runs.run()
    assert (printing.task.state, printing.children()) == ("waiting", [])
    printing.answer(second)
    printing.runs.run()
    assert (printing.children(), printing.task.state, printing.task.checkpoints) == (["bert", "bert"], "done", 1)
    assert [each["state"] for each in printing.results() if "state" in each] == ["done", "done"]


def test_of_several_calls_those_that_are_approved_are_made() -> None:
    printing = several()
    first, second = printing.questions()
    printing.answer(first, outcome=Outcome.REFUSED, reason="Too large")
    printing.answer(second)
    printing.runs.run()
    assert printing.children() == ["bert"]
    told = printing.results()
    assert told[0] == 'Not done: alice refused it and said why: "Too large"'
    assert told[2]["state"] == "done"


def test_calls_that_need_no_approval_wait_for_those_that_do() -> None:
    reply = calls(("ask_carl", {"paper": "A1"}), ("go", {"paper": "A4"}))
    printing = Printing(reply, says("Done."), mode=ToolMode.DELEGATE)
    assert printing.children() == []
    printing.answer_all()
    assert sorted(printing.children()) == ["bert", "carl"]


def test_a_call_beside_a_transfer_is_not_asked_about() -> None:
    printing = Printing(calls(("go", {"paper": "A4"}), ("go", {"paper": "A5"})), says("Then not."))
    assert len(printing.questions()) == 1
    printing.answer_all(outcome=Outcome.REFUSED, reason="No")
    assert "wasn't done either" in printing.results()[1]


def test_secrets_are_not_asked_about() -> None:
    printing = Printing(calls(("go", {"paper": "AKIAIOSFODNN7EXAMPLE"})), says("Then not."))
    assert printing.questions() == []
    assert "people can't be asked about it" in printing.results()[0]


@pytest.mark.parametrize("guardrails", [{"secrets": "mask"}, {"secrets": "refuse"}])
@pytest.mark.parametrize("mode", list(ToolMode))
def test_approved_arguments_that_a_guardrail_now_masks_or_refuses_are_not_used(mode: ToolMode, guardrails: Any) -> None:
    class Open(Printing):
        def before_the_run(self) -> None:
            change_settings(self.deps, human(), {"guardrails": {"secrets": "off"}})

    paper = "Keep https://crm:keep-these-4711@crm.example/vip"
    printing = Open(calls(("go", {"paper": paper})), says("Not printed."), mode=mode)
    (question,) = printing.questions()
    printing.answer(question)
    change_settings(printing.deps, human(), {"guardrails": guardrails})
    printing.runs.run()
    assert (printing.children(), printing.questions()[0].used_at) == ([], None)
    (told,) = printing.results()
    assert "Not done: arguments" in str(told)


def test_a_group_that_is_gone_is_told() -> None:
    printing = Printing(says("Hello."))
    change_settings(printing.deps, human(), {"groups": {"office": ["alice"]}})
    define_tool(printing.deps, human(), "go", {"needs_approval": NeedsApproval(group="office")})
    change_settings(printing.deps, human(), {"groups": {}})
    printing.runs.model.script["sales"] = [CALL, says("Then not.")]
    printing.root = printing.runs.start("sales")
    assert printing.questions() == []
    assert any("must be a group of the settings" in text for _, text in printing.runs.told(printing.root.workflow_id))


# The mark


@pytest.mark.parametrize("by", [agent("sales"), service(act_as=True)])
@pytest.mark.parametrize("mark", [None, NeedsApproval()])
def test_only_a_human_sets_or_takes_the_mark(by: Any, mark: Any) -> None:
    printing = Printing(CALL)
    with pytest.raises(errors.HumanNeeded):
        define_tool(printing.deps, by, "go", {"needs_approval": mark})


@pytest.mark.parametrize(
    ("mark", "field"),
    [
        ({"needed": 0}, "needed"),
        ({"needed": 6}, "needed"),
        ({"people": ("alice",), "needed": 2}, "needed"),
        ({"group": "nobody"}, "group"),
        ({"within_seconds": 59}, "within_seconds"),
        ({"within_seconds": 30 * 86_400 + 1}, "within_seconds"),
    ],
)
def test_a_mark_that_nobody_could_meet_is_refused(mark: dict[str, Any], field: str) -> None:
    printing = Printing(CALL)
    with pytest.raises(errors.InvalidInput) as refused:
        define_tool(printing.deps, human(), "go", {"needs_approval": NeedsApproval(**mark)})
    assert refused.value.field == f"needs_approval.{field}"


def test_a_change_of_something_else_keeps_the_mark() -> None:
    printing = Printing(CALL, within_seconds=600)
    tool, _ = define_tool(printing.deps, human(), "go", {"description": "Prints."})
    assert tool.needs_approval == NeedsApproval(within_seconds=600)
    assert printing.deps.store.tools.named(WORKSPACE, ["go"])["go"] == tool


class Ruled(Printing):
    """The settings have a rule about a tool before the run begins."""

    def __init__(self, tool: str, *says_sales: Any, **mark: Any) -> None:
        self.tool = tool
        super().__init__(*says_sales, **mark)

    def before_the_run(self) -> None:
        rule = ApprovalRule(tool=self.tool, people=("bert", "cara"), needed=2)
        change_settings(self.deps, human(), {"approval_rules": (rule,)})


def test_a_rule_about_the_tool_adds_to_its_mark() -> None:
    printing = Ruled("go", CALL, says("Done."), people=("alice",))
    (question,) = printing.questions()
    assert (question.approvers.people, question.approvers.needed, question.by_rule) == (("bert", "cara"), 2, True)
    assert [each.people for each in question.further] == [("alice",)]
    for name in ("bert", "cara"):
        printing.answer_as(name, question)
    printing.runs.run()
    assert printing.children() == []
    printing.answer(question)
    printing.runs.run()
    assert printing.children() != []


def test_a_mark_that_any_person_meets_adds_nothing_to_a_rule() -> None:
    (question,) = Ruled("go", CALL).questions()
    assert (question.approvers.people, question.further) == (("bert", "cara"), ())


def test_a_rule_about_an_unmarked_tool_makes_the_run_ask() -> None:
    asks = calls(("ask_carl", {"paper": "A4"}), text="Carl knows.")
    printing = Ruled("ask_carl", asks, says("Done."))
    (question,) = printing.questions()
    assert (question.approvers.people, printing.children()) == (("bert", "cara"), [])
    for name in ("bert", "cara"):
        printing.answer_as(name, question)
    printing.runs.run()
    assert printing.children() == ["carl"]


def test_a_refusal_counts_though_the_rule_has_gone() -> None:
    asks = calls(("ask_carl", {"paper": "A4"}), text="Carl knows.")
    printing = Ruled("ask_carl", asks, says("Then not."))
    (question,) = printing.questions()
    change_settings(printing.deps, human(), {"approval_rules": ()})
    printing.answer_as("bert", question, outcome=Outcome.REFUSED, reason="No")
    printing.runs.run()
    assert (printing.task.state, printing.children()) == ("done", [])
