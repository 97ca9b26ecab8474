"""Workers that ask people in the middle of their work, wait for them, and begin what was approved; now and then what
was not."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from baton.domain.questions.question import QuestionKind
from baton.domain.tasks.calls import WorkerCall
from baton.services.questions.answer_question import use_approval
from baton.services.questions.ask_question import Asked, ask_question
from baton.services.questions.wait_for_answers import wait_for_answers
from simulation.actors.people import GROUP, PEOPLE
from simulation.habits import Focus
from simulation.oracle.items import to_ms
from simulation.oracle.writes import BEGIN_MS
from simulation.requests import Answered, body_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.domain.idempotency import IdempotencyKey
    from simulation.actors.actor_context import ActorContext
    from simulation.actors.workers import Hold
    from simulation.oracle.ledger import Item

    Say = Callable[..., Any]

KINDS = (*[QuestionKind.ACTION] * 4, QuestionKind.TEXT, QuestionKind.CHOICE)
TOOLS, OPTIONS = ("refund", "refund", "delete"), ("red", "blue")
LONG_SECONDS = 864_000
WAIT = "wait for answers"
ASKING = (Focus.QUESTIONS, Focus.TRUST)


class Asker:
    """A worker's part that asks. ``say`` sends a request under a claim."""

    def __init__(self, context: ActorContext, say: Say) -> None:
        self._context, self._sim, self._draw, self._say = context, context.sim, context.draw, say
        self._known = context.sim.oracle.questions.items

    def act(self, hold: Hold) -> None:
        for _ in range(2 + self._draw(10) if self._context.habits.focus in ASKING else 1 + self._draw(2)):
            if self._draw(3):
                self._ask(hold)
            self._context.rest(6)
            self._use(hold)
        self._use(hold)

    def wants_to_wait(self, hold: Hold) -> bool:
        """Mostly only where somebody may still answer."""
        return bool(self._draw(6) if self._open(hold) else not self._draw(12))

    def wait(self, hold: Hold) -> Callable[[IdempotencyKey | None], Any]:
        """For some or all that is open, or for what is closed."""
        wanted = self._open(hold) or [each["id"] for each in self._of(hold)[-1:]]
        wanted = wanted[-1 - self._draw(3) :]

        def send(key: IdempotencyKey | None) -> Any:
            call = WorkerCall(hold.by, hold.task.id, hold.claim_id, body_of(WAIT, key), key)
            return wait_for_answers(self._sim.deps, call, wanted)

        return send

    def _ask(self, hold: Hold) -> None:
        sim, asked = self._sim, self._asked(hold)

        def send(key: IdempotencyKey | None) -> Any:
            call = WorkerCall(hold.by, hold.task.id, hold.claim_id, idempotency_key=key)
            return ask_question(sim.deps, call, asked)

        outcome = self._say(hold, "ask", send)
        if isinstance(outcome, Answered):
            author = self._context.ledger.heads[hold.task.id]["created_by"] if asked.not_author else ""
            sim.oracle.questions.are_asked(outcome.value.id, asked.people, asked.group, asked.needed, author=author)

    def _action(self, hold: Hold) -> dict[str, Any]:
        """Often one that somebody's approval stood for, whether or not it still does."""
        known = [each for each in self._sim.oracle.standing.items.values() if each["agent"] == hold.slug]
        if not known or not self._draw(2):
            return {"tool": self._sim.pick(TOOLS), "arguments": {"n": self._draw(2)}}
        stood = self._sim.pick(known[-3:])
        arguments = json.loads(stood["arguments"]) if stood.get("arguments") else {"n": self._draw(3)}
        return {"tool": stood["tool"], "arguments": arguments}

    def _asked(self, hold: Hold) -> Asked:
        sim, kind = self._sim, self._sim.pick(KINDS)
        needed = 1 + self._draw(3) // 2
        who: dict[str, Any] = sim.pick(
            [{}, {"people": PEOPLE[:2]}, {"people": PEOPLE[:1], "group": GROUP}, {"group": GROUP}]
        )
        action = self._action(hold) if kind is QuestionKind.ACTION else {}
        options = OPTIONS if kind is QuestionKind.CHOICE else ()
        return Asked(
            kind=kind,
            text="May I?",
            options=options,
            needed=needed,
            not_author=self._draw(3) == 2,
            until=sim.clock.now() + timedelta(seconds=self._ahead()) if self._draw(4) else None,
            **action,
            **who,
        )

    def _ahead(self) -> float:
        """Seconds: mostly so few that nobody may answer in time."""
        habits = self._context.habits
        if not self._draw(8):
            return LONG_SECONDS
        if habits.is_hot:
            return (50 + self._draw(8_000)) * habits.slowness / 1_000
        return min((1 + self._draw(600)) * habits.tempo, LONG_SECONDS)

    def _use(self, hold: Hold) -> None:
        """Mostly what was approved; or what wasn't, another task's, with another digest, a second time."""
        sim, mine = self._sim, [each for each in self._of(hold) if "action" in each]
        approved = [each for each in mine if each["outcome"] == "approved"]
        unused = [each for each in approved if "used_at" not in each]
        chosen = unused if unused and self._draw(4) else sim.pick([approved, approved, mine])
        if not self._draw(8):
            chosen = [each for each in self._known.values() if each["outcome"] == "approved"]
        if not chosen:
            return
        question = sim.pick(chosen[-4:])
        told, asked = sim.oracle.questions.digests(question["id"])
        digest = sim.pick([told, told, told, told, asked, "0" * 64]) or asked or ""

        def send(key: IdempotencyKey | None) -> Any:
            call = WorkerCall(hold.by, hold.task.id, hold.claim_id, idempotency_key=key)
            return use_approval(sim.deps, call, question["id"], digest)

        self._let_end(question)
        if not self._draw(4):
            sim.spawn("use too", lambda: self._say(hold, "use", send))
        self._say(hold, "use", send)

    def _let_end(self, question: Item) -> None:
        """Now and then so late that its time is over, if that is soon."""
        left_ms = to_ms(question["until"]) - BEGIN_MS - self._sim.now_ms
        if 0 < left_ms < 60_000 and not self._draw(6):
            self._sim.sleep(left_ms / 1_000 + 0.001)

    def _of(self, hold: Hold) -> list[Item]:
        return [each for each in self._known.values() if each["task_id"] == hold.task.id]

    def _open(self, hold: Hold) -> list[str]:
        return [each["id"] for each in self._context.ledger.heads[hold.task.id].get("questions", ())]
