"""A worker that holds a task and asks people."""

from __future__ import annotations

from typing import Any

from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.questions.question import Outcome, QuestionKind
from baton.domain.tasks.calls import WorkerCall
from baton.services.questions.answer_question import Answer, answer_question, use_approval
from baton.services.questions.ask_question import Asked, ask_question
from support.worlds.world import WORKSPACE, World, agent, human

AUDITOR, ALICE = agent("auditor"), human()
REFUND = Asked(kind=QuestionKind.ACTION, text="It broke", tool="refund", arguments={"amount": 100, "to": "Ada"})


def person(name: str) -> Principal:
    return Principal(WORKSPACE, PrincipalKind.HUMAN, name)


class Office:
    def __init__(self) -> None:
        self.world = World().settle()
        self.deps = self.world.deps
        claimed = self.world.claimed()
        self.call = WorkerCall(AUDITOR, claimed.details.task.id, claimed.claim_id)

    def ask(self, asked: Asked = REFUND) -> str:
        return ask_question(self.deps, self.call, asked).id

    def digest(self, question_id: str) -> str:
        return str(self.question(question_id).action.digest)

    def question(self, question_id: str) -> Any:
        return self.deps.store.questions.question(WORKSPACE, self.call.task_id, question_id)

    def answer(self, question_id: str, by: Principal = ALICE, outcome: Outcome = Outcome.APPROVED, **said: Any) -> Any:
        said = {"digest": self.digest(question_id)} | said if outcome is Outcome.APPROVED else said
        return answer_question(self.deps, by, self.call.task_id, question_id, Answer(outcome=outcome, **said))

    def use(self, question_id: str, digest: str) -> Any:
        return use_approval(self.deps, self.call, question_id, digest)
