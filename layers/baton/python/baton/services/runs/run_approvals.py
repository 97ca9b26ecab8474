"""Calls of a run's tools that people approve first (docs/spec/tools.md §4): the run asks about all of a reply at once,
gives its claim up until they have answered, and then makes the calls, or tells the model why one wasn't made.

A question has the id of its call, so a run that goes on after a crash asks nothing twice. An approval is used under the
run's claim before its call is made, and the call is one transaction with its result: where an approval was used and
there is no result, nothing was called. The next run makes the call without using the approval again, once the same
agent, people and rules allow it now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from baton.domain import errors, times
from baton.domain.agents.needs_approval import NeedsApproval
from baton.domain.canonical_json import digest_of
from baton.domain.handoffs.handoff import must_fit
from baton.domain.questions.question import MAX_OF_TASK, MAX_OPEN, Action, Outcome, Question, QuestionKind
from baton.domain.runs.prompt import one_line_json
from baton.domain.runs.transcript import Block, TranscriptEntry, result
from baton.ports import runs
from baton.services.claims.wait_for_callback import MAX_WAITS
from baton.services.questions.answer_question import must_hold_still, use_approval
from baton.services.questions.ask_question import Asked, ask_question
from baton.services.questions.wait_for_answers import wait_for_answers
from baton.steps.questions.tool_rules import rules_about
from baton.steps.runs.run_context import RunContext
from baton.steps.runs.run_handoffs import HandoffCall, handed_on, permitted_arguments

MAX_WHY = 2_000
MAX_SAID = 1_000
PAUSE_SECONDS = 1.0
EXPIRED = "Not done: nobody decided in time, which is neither a yes nor a no."
NO = {Outcome.REFUSED: "refused it", Outcome.REVOKED: "took the approval back"}
OTHER_CALL = "Not done: people were asked about another call. Call again."
OTHER_TOOL = "Not done: the tool was changed after people were asked about the call. Call again."
OTHER_ARGUMENTS = "Not done: people approved the call with other arguments, which the tool doesn't take"


@dataclass(frozen=True, slots=True)
class Judged:
    """``allowed``: calls as they may be made; ``refused``: results of those that may not; ``questions``: ids of those
    that people haven't answered yet."""

    allowed: list[HandoffCall]
    refused: dict[str, Block]
    questions: list[str]


@dataclass(frozen=True, slots=True)
class RunApprovals:
    run: RunContext

    def judge(self, reply: TranscriptEntry, calls: Sequence[HandoffCall]) -> Judged:
        """Asks about each call that needs it and wasn't asked about yet. Once no question is open, uses the approvals.
        Raises ``TooManyQuestions``, ``TooManyWaits`` and ``StaleClaim``."""
        asked = self._asked() if self.run.task.asked else {}
        marked = [call for call in calls if call.call_id in asked or self._needs_approval(call)]
        judged = Judged([call for call in calls if call not in marked], {}, [])
        if not marked:
            return judged
        found = self._asked()
        if missing := [call for call in marked if call.call_id not in found]:
            judged.refused.update(self._ask(reply, missing))
            found = self._asked()
        approved = []
        for call in marked:
            if call.call_id in judged.refused:
                continue
            if isinstance(verdict := _verdict(call, found[call.call_id].expired(self.run.deps.clock.now())), str):
                judged.refused[call.call_id] = result(call.call_id, verdict[:MAX_SAID], is_error=True)
            elif isinstance(verdict, Question):
                judged.questions.append(verdict.id)
            else:
                approved.append(verdict)
        if not judged.questions:
            for call in approved:
                self._use(call, found[call.call_id], judged)
        order = [call.call_id for call in calls]
        judged.allowed.sort(key=lambda call: order.index(call.call_id))
        return judged

    def wait(self, questions: Sequence[str]) -> runs.RunExit | None:
        """Gives the claim up until people have answered. None if one has been answered meanwhile."""
        try:
            wait_for_answers(self.run.deps, self.run.work.call(digest_of(list(questions))), questions)
        except errors.QuestionOver:
            # Where the sweeper's clock is ahead of this one, a question is over before it is here.
            self.run.deps.clock.sleep(PAUSE_SECONDS)
            return None
        return runs.RunExit.WAITS

    def _needs_approval(self, call: HandoffCall) -> bool:
        """True for a tool that is marked, or that a rule of the settings is about."""
        if call.tool.needs_approval:
            return True
        deps, task, agent = self.run.deps, self.run.task, self.run.work.agent.slug
        settings = deps.store.settings.of(task.workspace)
        return bool(rules_about(deps, settings, task, agent, call.tool.name))

    def _asked(self) -> dict[str, Question]:
        asked = self.run.deps.store.questions.of_task(self.run.task.workspace, self.run.task.id)
        return {each.action.call_id: each for each in asked if each.action and each.action.call_id}

    def _ask(self, reply: TranscriptEntry, calls: Sequence[HandoffCall]) -> dict[str, Block]:
        """Returns the results of the calls that can't be asked about. What there is no room for isn't begun."""
        task = self.run.task
        if task.waits >= MAX_WAITS:
            raise errors.TooManyWaits(task.id, MAX_WAITS)
        if len(task.questions) + len(calls) > MAX_OPEN or task.asked + len(calls) > MAX_OF_TASK:
            raise errors.TooManyQuestions(task.id, MAX_OPEN, MAX_OF_TASK)
        refused = {}
        for call in calls:
            try:
                must_fit("arguments", call.variables)
                ask_question(self.run.deps, self.run.work.call(), self._question(reply, call))
            except errors.InvalidInput as refusal:
                said = f"Not done, as people can't be asked about it: {refusal.message}"[:MAX_SAID]
                refused[call.call_id] = result(call.call_id, said, is_error=True)
        return refused

    def _question(self, reply: TranscriptEntry, call: HandoffCall) -> Asked:
        mark, now = call.tool.needs_approval or NeedsApproval(), self.run.deps.clock.now()
        return Asked(
            kind=QuestionKind.ACTION,
            text=_why(reply.text) or "The model gave no reason.",
            tool=call.tool.name,
            arguments=call.variables,
            people=mark.people,
            group=mark.group,
            needed=mark.needed,
            not_author=mark.not_author,
            until=now + times.seconds(mark.within_seconds),
            call_id=call.call_id,
            tool_version=call.tool.version,
            handoff=handed_on(self.run, call, reply),
            is_by_mark=True,
        )

    def _use(self, call: HandoffCall, question: Question, judged: Judged) -> None:
        """Uses the approval. One that an earlier run of the agent used is compared as at its use. It isn't
        used if a guardrail would now refuse or change its arguments."""
        digest = Action(tool=call.tool.name, arguments=call.variables).digest
        approved = replace(call, is_approved=True)
        try:
            permitted_arguments(approved, self.run.deps.store.settings.of(self.run.task.workspace).guardrails)
            if question.used_at is None:
                use_approval(self.run.deps, self.run.work.call(), question.id, digest)
            else:
                must_hold_still(self.run.deps, self.run.work.call(), question.id, digest)
        except (errors.InvalidInput, errors.ReceiptRefused) as refusal:
            judged.refused[call.call_id] = result(call.call_id, f"Not done: {refusal.message}", is_error=True)
        else:
            judged.allowed.append(approved)


def _why(said: str) -> str:
    return said if len(said) <= MAX_WHY else f"{said[: MAX_WHY - 1]}…"


def _verdict(call: HandoffCall, question: Question) -> HandoffCall | Question | str:
    """Returns the call as it was approved, the question while it is open, or why the call isn't made, for the model."""
    if question.action is None or question.action.tool_version != call.tool.version:
        return OTHER_TOOL
    if question.action.digest != Action(tool=call.tool.name, arguments=call.variables).digest:
        return OTHER_CALL
    if question.is_open:
        return question
    last = question.decisions[-1] if question.decisions else None
    if question.outcome is Outcome.EXPIRED:
        return EXPIRED
    if question.outcome in NO and last is not None:
        return f"Not done: {last.by} {NO[question.outcome]} and said why: {one_line_json(last.reason)}"
    if question.outcome is not Outcome.APPROVED or last is None:
        return f"Not done: the question is {question.outcome}."
    if question.approved_digest == question.action.digest:
        return call
    arguments = last.arguments or {}
    if problems := call.tool.problems(arguments):
        listed = "; ".join(f"{each.field[:64]} {each.message}" for each in problems)
        return f"{OTHER_ARGUMENTS}: {listed}."
    return replace(call, variables=arguments, is_changed=True)
