"""Who decides, revokes and uses at once: threads that begin each step at the same moment, and the winners counted. And
many tries to use an approval for what it isn't, of which none succeeds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from baton.domain import errors
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.questions.question import Action, Outcome, Question, QuestionKind
from baton.domain.questions.standing_answer import Standing
from baton.domain.settings.approval_rule import ApprovalRule
from baton.domain.tasks.calls import WorkerCall
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.services.access.change_settings import change_settings
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.questions.answer_question import Answer, answer_question, revoke_approval, use_approval
from baton.services.questions.ask_question import Asked, ask_question
from baton.services.questions.standing_answers import revoke_standing_answer
from baton.services.questions.wait_for_answers import wait_for_answers
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.sweep import sweep
from support.faults.soak import scaled
from support.faults.threads import StillClock, all_at_once, at_once
from support.worlds.office import ALICE, AUDITOR, REFUND, Office, person
from support.worlds.world import WORKSPACE, agent, human

pytestmark = pytest.mark.slow

ROUNDS, TRIES = scaled(100), scaled(10_000)
BERT, CARA = person("bert"), person("cara")
TEXT = Asked(kind=QuestionKind.TEXT, text="Which colour?")
TWO = replace(REFUND, needed=2)


class Rush(Office):
    """Its clock stands still, for threads."""

    def __init__(self) -> None:
        super().__init__()
        self.now: datetime = self.world.clock.now()
        self.deps = self.at(self.now)

    def at(self, now: datetime) -> Deps:
        return replace(self.world.deps, clock=StillClock(now), log=lambda *_, **__: None)

    def another(self, by: Principal = AUDITOR) -> WorkerCall:
        """A further task of the agent's, claimed."""
        message = {"source": {"agent": "bob"}, "target": {"agent": by.id, "reason": "more"}, "summary": "s"}
        create_handoff(self.world.deps, human(name="bob"), CreateHandoff(message=message_from(message)))
        self.world.clock.advance(3)
        claimed = self.world.claim(by.id)
        return WorkerCall(by, claimed.details.task.id, claimed.claim_id)

    def says(self, by: Principal, question_id: str, digest: str) -> Callable[[], Question]:
        said = Answer(outcome=Outcome.APPROVED, digest=digest)
        return lambda: answer_question(self.deps, by, self.call.task_id, question_id, said)

    def trail(self) -> list[str]:
        return self.world.trail(self.call.task_id)


@pytest.fixture(params=range(ROUNDS))
def rush() -> Rush:
    """Anew for each round: a race is tried several times."""
    return Rush()


def meet(**steps: Callable[[], Any]) -> dict[str, Any]:
    """Takes all steps at once. Returns by their names what each answered, or its refusal."""
    met: dict[str, Any] = {}

    def take(name: str, step: Callable[[], Any]) -> None:
        try:
            met[name] = step()
        except errors.BatonError as refusal:
            met[name] = refusal

    all_at_once([partial(take, name, step) for name, step in steps.items()])
    return met


def kinds(answers: list[Any]) -> Counter[str]:
    """How often each came: outcomes of questions, and names of refusals."""
    return Counter(str(each.outcome) if isinstance(each, Question) else type(each).__name__ for each in answers)


def test_of_two_people_who_approve_at_once_the_second_decides(rush: Rush) -> None:
    asked = rush.ask(TWO)
    digest = rush.digest(asked)
    assert kinds(all_at_once([rush.says(BERT, asked, digest), rush.says(CARA, asked, digest)])) == {
        "open": 1,
        "approved": 1,
    }
    assert rush.trail().count("question_decided") == 2


def test_one_person_by_two_sessions_at_once_is_one(rush: Rush) -> None:
    asked = rush.ask(TWO)
    other = Principal(WORKSPACE, PrincipalKind.HUMAN, "bert", token_id="other", session_of="token")
    digest = rush.digest(asked)
    assert kinds(all_at_once([rush.says(BERT, asked, digest), rush.says(other, asked, digest)])) == {"open": 2}
    assert len(rush.question(asked).decisions) == 1


def test_of_a_use_and_a_revocation_at_once_one_wins(rush: Rush) -> None:
    asked = rush.ask()
    rush.answer(asked)
    digest = rush.digest(asked)
    met = meet(
        use=lambda: use_approval(rush.deps, rush.call, asked, digest),
        revocation=lambda: revoke_approval(rush.deps, BERT, rush.call.task_id, asked, "stop"),
    )
    is_used = isinstance(met["use"], Question)
    assert isinstance(met["revocation"], errors.QuestionOver if is_used else Question)
    assert isinstance(met["use"], Question | errors.ReceiptRefused)
    now = rush.question(asked)
    assert (now.used_at is not None, now.outcome is Outcome.REVOKED) == (is_used, not is_used)


def test_a_use_and_the_revocation_of_the_standing_answer_that_it_rests_on(rush: Rush) -> None:
    rush.answer(rush.ask(), standing=Standing(only_these=True))
    asked = rush.ask()
    digest = rush.digest(asked)
    (given,) = rush.deps.store.questions.all_standing_answers(WORKSPACE, 10, None).items
    met = meet(
        use=lambda: use_approval(rush.deps, rush.call, asked, digest),
        revocation=lambda: revoke_standing_answer(rush.deps, BERT, given.id),
    )
    assert isinstance(met["use"], Question | errors.ReceiptRefused)
    # Which of the two came first, the standing answer says: it was begun before it was revoked, or never.
    (now,) = rush.deps.store.questions.all_standing_answers(WORKSPACE, 10, None).items
    assert (now.revoked_by, now.begun) == ("bert", int(isinstance(met["use"], Question)))


@pytest.mark.parametrize("only_these", [True, False])
def test_no_standing_answer_outlives_a_refusal_at_the_moment_of_its_beginning(rush: Rush, only_these: bool) -> None:
    """Bert asked for it before. Cara's approval begins it while Alice refuses the same action in another task."""
    asked, first = rush.ask(TWO), rush.call
    rush.answer(asked, BERT, standing=Standing(only_these=only_these))
    digest, rush.call = rush.digest(asked), rush.another()
    other = rush.ask()
    no = Answer(outcome=Outcome.REFUSED, reason="no")
    yes = Answer(outcome=Outcome.APPROVED, digest=digest)
    met = meet(
        approval=lambda: answer_question(rush.deps, CARA, first.task_id, asked, yes),
        refusal=lambda: answer_question(rush.deps, ALICE, rush.call.task_id, other, no),
    )
    assert kinds(list(met.values())) == {"approved": 1, "refused": 1}
    now = rush.world.clock.now()
    stands = rush.deps.store.questions.all_standing_answers(WORKSPACE, 10, None).items
    assert not any(each.is_in_force(now) for each in stands)
    assert rush.question(rush.ask()).is_open


def test_of_many_uses_at_once_one_wins(rush: Rush) -> None:
    asked = rush.ask()
    rush.answer(asked)
    digest = rush.digest(asked)
    used = at_once(6, lambda: use_approval(rush.deps, rush.call, asked, digest))
    assert kinds(used) == {"approved": 1, "ReceiptRefused": 5}
    assert rush.trail().count("approval_used") == 1


def test_of_an_answer_and_an_expiry_at_once_one_counts(rush: Rush) -> None:
    """The sweeper's clock is at the end, that of the answer is a millisecond behind."""
    until = rush.now + timedelta(seconds=60)
    asked = rush.ask(replace(REFUND, until=until))
    wait_for_answers(rush.deps, rush.call, [asked])
    digest = rush.digest(asked)
    rush.deps, later = rush.at(until - timedelta(milliseconds=1)), rush.at(until)
    met = meet(answer=rush.says(ALICE, asked, digest), expiry=lambda: sweep(later))
    told = Counter(rush.trail())
    assert told["question_decided"] + told["question_expired"] == told["resumed"] == 1
    outcome = Outcome.EXPIRED if isinstance(met["answer"], errors.QuestionOver) else Outcome.APPROVED
    assert rush.question(asked).outcome is outcome


def test_of_two_asks_one_takes_the_last_use_of_a_standing_answer(rush: Rush) -> None:
    rush.answer(rush.ask(), standing=Standing(only_these=False, times=1))
    calls = [rush.call, rush.another()]
    asked = all_at_once([partial(ask_question, rush.deps, call, REFUND) for call in calls])
    assert kinds(asked) == {"approved": 1, "open": 1}
    (now,) = rush.deps.store.questions.all_standing_answers(WORKSPACE, 10, None).items
    assert (now.used, now.times) == (1, 1)


def test_a_task_goes_on_once_after_its_last_two_answers_at_once(rush: Rush) -> None:
    asked = [rush.ask(TEXT), rush.ask(TEXT)]
    wait_for_answers(rush.deps, rush.call, asked)
    said = Answer(outcome=Outcome.ANSWERED, answer="Blue")
    steps = [partial(answer_question, rush.deps, BERT, rush.call.task_id, each, said) for each in asked]
    assert kinds(all_at_once(steps)) == {"answered": 2}
    assert rush.trail().count("resumed") == 1
    brought = rush.world.claim().details.resume_payload
    assert brought is not None
    assert [each.get("answer") for each in brought["answers"]] == ["Blue", "Blue"]


def test_of_two_who_approve_a_handoff_at_once_the_second_lets_it_begin(rush: Rush) -> None:
    change_settings(rush.deps, ALICE, {"approval_rules": (ApprovalRule(needed=2),)})
    task_id = rush.world.needing(AUDITOR, source_agent="auditor", target_agent="scout")
    approved = all_at_once([partial(approve_task, rush.deps, by, task_id, None) for by in (BERT, CARA)])
    assert sorted(str(each.task.state) for each in approved if isinstance(each, TaskDetails)) == ["delegated", "needs"]
    assert rush.world.trail(task_id).count("approval_given") == 1


class Vault(Rush):
    """One approval that may be used, and others, calls and digests that may not. ``right``: what may."""

    def __init__(self) -> None:
        super().__init__()
        soon = self.world.clock.now() + timedelta(seconds=30)
        right, revoked, used, refused, is_open, over = (
            self.ask(replace(REFUND, arguments={"n": number}, until=soon if number == 5 else None))
            for number in range(6)
        )
        for each in (right, revoked, used, over):
            self.answer(each)
        self.answer(refused, outcome=Outcome.REFUSED, reason="no")
        revoke_approval(self.world.deps, BERT, self.call.task_id, revoked, "stop")
        self.use(used, self.digest(used))
        own, self.call = self.call, self.another()
        changed = self.ask()
        self.answer(changed, arguments={"n": 9})
        others, self.call = self.call, own
        self.questions = (right, revoked, used, refused, is_open, over, "qst_none")
        self.right = (own, right, self.digest(right))
        foreign = replace(AUDITOR, workspace="other")
        self.calls: tuple[WorkerCall, ...] = (
            own,
            others,
            self.another(agent("scout")),
            replace(own, by=foreign),
            replace(own, by=agent("scout")),
            replace(own, claim_id="clm_none"),
            replace(own, task_id=others.task_id),
            replace(others, task_id=own.task_id),
        )
        known = [self.question(each).action for each in self.questions[:6]]
        digests = [each.digest for each in known]
        self.digests = (*digests, Action(tool="refund", arguments={"n": 9}).digest, REFUND_DIGEST, "0" * 64, "")
        self.others = (others, changed, REFUND_DIGEST)
        self.world.clock.advance(60)
        self.deps = self.at(self.world.clock.now())

    def tried(self, call: WorkerCall, question_id: str, digest: str) -> str:
        try:
            use_approval(self.deps, call, question_id, digest)
        except errors.BatonError as refusal:
            return type(refusal).__name__
        return "used"


REFUND_DIGEST = Action(tool="refund", arguments=REFUND.arguments).digest


def test_ten_thousand_tries_to_misuse_an_approval_are_refused() -> None:
    """Other arguments, another question, task, agent, claim or workspace; after its end, a refusal, a revocation, a
    use. Then the one that is right succeeds, of many at once, and no try after that."""
    vault, dice = Vault(), random.Random(7)
    met: Counter[str] = Counter()

    def misuse(tries: int) -> None:
        for _ in range(tries):
            tried = (dice.choice(vault.calls), dice.choice(vault.questions), dice.choice(vault.digests))
            if tried != vault.right:
                met[vault.tried(*tried)] += 1
        met[vault.tried(*vault.others)] += 1

    misuse(TRIES * 9 // 10)
    assert Counter(at_once(8, lambda: vault.tried(*vault.right))) == {"used": 1, "ReceiptRefused": 7}
    vault.calls = (vault.right[0],)
    misuse(TRIES // 10)
    assert met["used"] == 0
    assert met.keys() == {"ReceiptRefused", "StaleClaim", "Unknown"}
    assert vault.trail().count("approval_used") == 2
