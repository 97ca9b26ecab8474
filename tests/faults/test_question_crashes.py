"""A process dies between any two calls of asking, answering, waiting and using an approval, or a reply is lost. Who
asks again gets the first answer; nothing is asked, decided or used twice."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from baton.domain.errors import Busy, ReceiptRefused
from baton.domain.idempotency import IdempotencyKey
from baton.domain.questions.question import Outcome, QuestionKind
from baton.domain.questions.standing_answer import Standing, StandingAnswer
from baton.domain.tasks.calls import WorkerCall
from baton.services.questions.answer_question import Answer, answer_question, revoke_approval, use_approval
from baton.services.questions.ask_question import Asked, ask_question
from baton.services.questions.standing_answers import revoke_standing_answer
from baton.services.questions.wait_for_answers import wait_for_answers
from support.faults.choke_point import Crash, at_call, no_fault
from support.faults.soak import crossed
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, agent, human

AUDITOR, ALICE = agent("auditor"), human()
FAULTS = ("crash_before", "crash_after", "timeout_after", "error_after", "timeout_before", "throttle", "no_connection")
ASKED = Asked(kind=QuestionKind.ACTION, text="It broke", tool="refund", arguments={"amount": 100})


class Shop:
    """One claimed task whose worker asks for a refund."""

    def __init__(self) -> None:
        self.rig = Rig().settle()
        self.deps = self.rig.world.deps
        claimed = self.rig.world.claimed()
        self.task_id, self.claim_id = claimed.details.task.id, claimed.claim_id

    def call(self, name: str) -> WorkerCall:
        key = IdempotencyKey(AUDITOR, f"/{name}", name, name, at=self.rig.world.clock.now())
        return WorkerCall(AUDITOR, self.task_id, self.claim_id, name, key)

    @property
    def question(self) -> Any:
        (found,) = self.deps.store.questions.of_task(WORKSPACE, self.task_id)
        return found

    def ask(self) -> Any:
        return ask_question(self.deps, self.call("ask"), ASKED).id

    def answer(self) -> Any:
        said = Answer(outcome=Outcome.APPROVED, digest=self.question.action.digest)
        return answer_question(self.deps, ALICE, self.task_id, self.question.id, said).outcome

    def use(self) -> Any:
        return use_approval(self.deps, self.call("use"), self.question.id, self.question.action.digest).used_at

    def wait(self) -> Any:
        return wait_for_answers(self.deps, self.call("wait"), [self.question.id]).task.state

    def revoke(self) -> Any:
        return revoke_approval(self.deps, ALICE, self.task_id, self.question.id, "Too much").outcome

    def stand(self) -> Any:
        """Approves, for later ones, too."""
        said = Answer(outcome=Outcome.APPROVED, digest=self.question.action.digest, standing=Standing(only_these=False))
        answered = answer_question(self.deps, ALICE, self.task_id, self.question.id, said)
        (stands,) = self.standing()
        return answered.outcome, stands.id

    def ask_again(self) -> Any:
        """What stands approves it, and is counted once."""
        asked = ask_question(self.deps, self.call("again"), ASKED)
        (stands,) = self.standing()
        return asked.id, asked.outcome, stands.used

    def end_standing(self) -> Any:
        (stands,) = self.standing()
        return revoke_standing_answer(self.deps, ALICE, stands.id).revoked_at

    def standing(self) -> list[StandingAnswer]:
        return self.deps.store.questions.standing_answers(WORKSPACE, "auditor", "refund")

    def counted(self, type_: str) -> int:
        return self.rig.world.trail(self.task_id).count(type_)


STEPS: dict[str, tuple[list[str], str]] = {
    "ask": ([], "question_asked"),
    "answer": (["ask"], "question_decided"),
    "use": (["ask", "answer"], "approval_used"),
    "wait": (["ask"], "waiting"),
    "revoke": (["ask", "answer"], "approval_revoked"),
    "stand": (["ask"], "question_decided"),
    "ask_again": (["ask", "stand"], "question_asked"),
    "end_standing": (["ask", "stand"], "question_decided"),
}


def at_the_step(step: str) -> tuple[Shop, Callable[[], Any]]:
    shop = Shop()
    for before in STEPS[step][0]:
        getattr(shop, before)()
    return shop, getattr(shop, step)


@pytest.mark.parametrize("step", STEPS)
def test_whoever_asks_again_gets_the_first_answer(step: str) -> None:
    shop, act = at_the_step(step)
    again = shop.rig.keep()
    again()
    for number, fault in crossed(range(1, len(shop.rig.count(act)) + 1), FAULTS):
        where = f"{fault} at call {number}"
        again()
        shop.rig.choked.plan = at_call(number, fault)
        with suppress(Busy, Crash):
            act()
        shop.rig.choked.plan = no_fault
        first = act()
        assert act() == first, where
        assert shop.counted(STEPS[step][1]) == (2 if step == "ask_again" else 1), where


def test_a_second_use_under_another_key_is_refused() -> None:
    shop, use = at_the_step("use")
    use()
    with pytest.raises(ReceiptRefused):
        use_approval(shop.deps, shop.call("again"), shop.question.id, shop.question.action.digest)
    assert shop.counted("approval_used") == 1
