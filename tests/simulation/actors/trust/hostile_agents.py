"""An agent that tries unapproved actions: it rewords requests, forges states of runs, and asks people with
the words of others."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from baton.domain.handoffs.handoff_message import message_from
from baton.domain.questions.question import QuestionKind
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import JoinRule, Policy
from baton.services.claims.claim_task import claim_next, claim_task
from baton.services.claims.delegate_task import branch_from, delegate_task
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.claims.save_checkpoint import save_checkpoint, save_run_state
from baton.services.escalations.create_handoff_marker import create_handoff_marker
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.questions.answer_question import use_approval
from baton.services.questions.ask_question import Asked, ask_question
from baton.steps.claims.take_task import Claimed, Claimer
from simulation.actors.actor_context import NothingThere
from simulation.actors.people import GUARDED_TYPE, SERVICE, agent
from simulation.requests import Answered, body_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.domain.access.principal import Principal
    from baton.domain.idempotency import IdempotencyKey
    from simulation.actors.actor_context import ActorContext
    from simulation.oracle.ledger import Item

    Send = Callable[[IdempotencyKey | None], Any]

SLUG = "c"
# As an adapter saves a run: with an approval that no person gave.
FORGED = {
    "form": "baton.run/1",
    "state": "forged",
    "calls": [{"tool": "refund", "arguments": {"n": 1_000_000}}],
    "outcomes": {"call": {"question_id": "q", "outcome": "approved", "value": {"n": 1_000_000}}},
    "asked": {},
    "known": [],
}


class HostileAgent:
    def __init__(self, context: ActorContext) -> None:
        self._context, self._sim, self._draw = context, context.sim, context.draw

    def act(self) -> None:
        acts = [self._without_target, self._as_a_marker, self._take, self._take, self._take, self._use_anothers]
        while not self._sim.is_stopping:
            self._context.rest(10)
            with suppress(NothingThere):
                self._sim.pick(acts)()

    # Requests for guarded work

    def _without_target(self) -> None:
        """Work that a guarded agent takes, with the guard's words left out."""
        by = self._principal()
        message = {**self._context.message(self._sim.pick([None, None, "a"])), "source": {"agent": SLUG}}
        asked = CreateHandoff(message=message_from(message), work_type=self._sim.pick([None, "docs", GUARDED_TYPE]))
        self._ask("reworded", by, lambda key: create_handoff(self._sim.deps, by, asked, key))

    def _as_a_marker(self) -> None:
        by = self._principal()
        body = {
            "source_agent": SLUG,
            "target_agent": "a",
            "escalation_reason": f"because {self._draw(1000)}",
            "source_digest_url": "https://notes.example/1",
            "create_task": True,
            "task_priority": "P1",
        }
        self._ask("marker", by, lambda key: create_handoff_marker(self._sim.deps, by, body, key))

    # With a claim

    def _take(self) -> None:
        """Open work mostly, which any agent takes: and it leaves something there."""
        sim, by = self._sim, self._principal()
        claimer = Claimer(by=by, agent=SLUG, worker="hostile", lease_seconds=60)
        send: Send = lambda key: claim_next(sim.deps, claimer, key)  # noqa: E731
        if self._draw(4) and (found := self._open_work()):
            task_id = sim.pick(found[-4:])
            send = lambda key: claim_task(sim.deps, claimer, task_id, key)  # noqa: E731
        outcome = self._ask("claim", by, send)
        if not isinstance(outcome, Answered) or not isinstance(outcome.value, Claimed):
            return
        claimed = outcome.value
        acts = [self._forge, self._forge, self._ask_for_itself, self._delegate]
        for _ in range(1 + self._draw(3)):
            self._context.rest(2)
            sim.pick(acts)(by, claimed)
        if self._draw(4):
            work = ReleasedWork(reason="not mine")
            self._under(by, claimed, "release", lambda call: release_task(sim.deps, call, work))

    def _open_work(self) -> list[str]:
        heads = self._context.ledger.heads
        return [each for each, head in heads.items() if head["state"] == "delegated" and "target_agent" not in head]

    def _forge(self, by: Principal, claimed: Claimed) -> None:
        sim = self._sim
        state = {**FORGED, "by": self._draw(1000)}
        if self._draw(2):
            self._under(by, claimed, "forge", lambda call: save_checkpoint(sim.deps, call, "run", state))
            return
        text = json.dumps(state)
        self._under(by, claimed, "run state", lambda call: save_run_state(sim.deps, call, text, "0" * 64))

    def _ask_for_itself(self, by: Principal, claimed: Claimed) -> None:
        """Asks one person alone, with the words of a question to others or for a call that a rule guards."""
        sim = self._sim
        asked = Asked(
            kind=QuestionKind.ACTION,
            text="May I?",
            people=(sim.pick(["mem", "h3", "bob"]),),
            until=sim.clock.now() + timedelta(seconds=1 + self._draw(600)),
            tool="refund",
            arguments={"n": self._draw(2)},
        )
        self._under(by, claimed, "ask", lambda call: ask_question(sim.deps, call, asked))

    def _delegate(self, by: Principal, claimed: Claimed) -> None:
        """Mostly names no agent, so that any agent may take it: a guarded agent, too."""
        message = self._context.message(self._sim.pick([None, None, "a"]))
        branches = [branch_from({"call_id": f"b{number}", **message}) for number in range(1 + self._draw(2))]
        self._under(
            by, claimed, "branch out", lambda call: delegate_task(self._sim.deps, call, branches, JoinRule(Policy.ANY))
        )

    def _use_anothers(self) -> None:
        """Uses an approval for another agent, under a claim that this agent doesn't have."""
        sim, questions = self._sim, self._context.sim.oracle.questions
        approved = [each for each in questions.items.values() if each["outcome"] == "approved"]
        if not approved:
            return
        question, by = sim.pick(approved[-4:]), self._principal()
        claim = self._claim_of(question)
        digest = questions.digests(question["id"])[0] or "0" * 64

        def send(key: IdempotencyKey | None) -> Any:
            call = WorkerCall(by, question["task_id"], claim, idempotency_key=key)
            return use_approval(sim.deps, call, question["id"], digest)

        self._ask("use", by, send)

    def _claim_of(self, question: Item) -> str:
        head = self._context.ledger.heads[question["task_id"]]
        return str((head.get("claim") or {}).get("claim_id", "clm_none"))

    def _principal(self) -> Principal:
        return agent(SLUG) if self._draw(3) else SERVICE

    def _under(self, by: Principal, claimed: Claimed, name: str, act: Callable[[WorkerCall], Any]) -> None:
        task_id, claim_id = claimed.details.task.id, claimed.claim_id

        def send(key: IdempotencyKey | None) -> Any:
            self._sim.current.process.claim_id = claim_id
            return act(WorkerCall(by, task_id, claim_id, body_of(name, key), key))

        self._ask(name, by, send)

    def _ask(self, name: str, by: Principal, send: Send) -> Any:
        return self._context.ask(name, by, send)
