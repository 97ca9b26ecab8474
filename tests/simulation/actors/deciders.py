"""People who answer what workers ask, approve and refuse, let an approval stand, and take it back. And an administrator
who changes groups and rules of approvals while all of that is under way."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.questions.question import Outcome
from baton.domain.questions.standing_answer import Standing
from baton.services.access.change_settings import change_settings
from baton.services.questions.answer_question import Answer, answer_question, revoke_approval
from baton.services.questions.list_questions import find_question, list_open_questions, questions_of_task
from baton.services.questions.standing_answers import list_standing_answers, revoke_standing_answer
from simulation.actors.actor_context import NothingThere
from simulation.actors.askers import OPTIONS
from simulation.actors.people import GROUP, GROUPS, OPERATOR, OTHERS, PEOPLE, RULES, agent, human
from simulation.habits import Focus
from simulation.ports import WORKSPACE
from simulation.requests import Answered

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.actors.actor_context import ActorContext
    from simulation.oracle.ledger import Item

MANY = 200
# Where rights differ: two of them may answer less than the others, or nothing.
TRUSTED = (*PEOPLE * 2, "mem", "rea")


def person(name: str, session: int = 0) -> Principal:
    """The same human, whichever of their sessions it is."""
    if not session:
        return human(name)
    return Principal(WORKSPACE, PrincipalKind.HUMAN, name, token_id=f"s{session}", session_of="token")


class Decider:
    def __init__(self, context: ActorContext) -> None:
        self._context, self._sim, self._draw = context, context.sim, context.draw
        self._known = context.sim.oracle.questions.items

    def act(self) -> None:
        acts = [*[self._answer] * 20, self._look, self._revoke, self._revoke_standing]
        while not self._sim.is_stopping:
            self._context.rest(3)
            with suppress(NothingThere):
                self._sim.pick(acts)()

    def _person(self) -> Principal:
        if self._context.habits.has_trust:
            return self._context.person(self._sim.pick(TRUSTED))
        return person(self._sim.pick(PEOPLE), self._draw(3))

    def _some(self, *outcomes: str) -> Item:
        """A late one in one of these, or any now and then. Raises ``NothingThere``."""
        every, is_open = list(self._known.values()), self._sim.oracle.questions.open_ids()
        wanted = (each for each in every if each["outcome"] in outcomes)
        found = [each for each in wanted if each["outcome"] != "open" or each["id"] in is_open]
        found = found if self._draw(12) else every
        if not found:
            raise NothingThere
        return self._sim.pick(found[-4:] if self._draw(4) else found)

    def _answer(self) -> None:
        """Often several at once, also the same person by two sessions, who may say something else."""
        question = self._some("open")
        for _ in range(self._draw(3)):
            self._sim.spawn("answer too", lambda: self._give(question))
        self._give(question)

    def _give(self, question: Item) -> None:
        sim, by = self._sim, self._person()
        said = self._said(question)
        if said.standing is not None and said.standing.agent_version is not None:
            sim.oracle.standing.is_named(question["id"], by.id, said.standing.agent_version)
        by = by if self._draw(30) else agent("a")
        outcome = self._context.ask(
            "answer",
            by,
            lambda _once: answer_question(sim.deps, by, question["task_id"], question["id"], said),
            is_keyed=False,
        )
        is_seen = said.digest in (None, sim.oracle.questions.digests(question["id"])[1])
        is_let = by.is_human and is_seen
        sim.oracle.verdict.must(is_let or not isinstance(outcome, Answered), "{} has decided {} unseen", by.key, said)

    def _said(self, question: Item) -> Answer:
        if not self._draw(6):
            return Answer(outcome=Outcome.REFUSED, reason="no")
        if "action" not in question:
            return Answer(outcome=Outcome.ANSWERED, answer=OPTIONS[self._draw(2)])
        _, asked = self._sim.oracle.questions.digests(question["id"])
        digest = asked if self._draw(10) else "0" * 64
        if not self._draw(6):
            return Answer(outcome=Outcome.APPROVED, digest=digest, arguments={"n": 7})
        standing = self._standing(question["agent"]) if self._draw(2) else None
        return Answer(outcome=Outcome.APPROVED, digest=digest, standing=standing)

    def _standing(self, slug: str) -> Standing:
        habits = self._context.habits
        most_ms = 20_000 if self._draw(3) else 1_000
        ahead = (200 + self._draw(most_ms)) * habits.slowness / 1_000 if habits.is_hot else 1 + self._draw(most_ms // 5)
        until = self._sim.clock.now() + timedelta(seconds=ahead) if self._draw(2) else None
        agents = self._context.ledger.agents.get(slug) or [(0, {})]
        looked_at = agents[-1][1].get("version") if self._draw(2) else None
        only_these, most = self._draw(2) == 1, 1 + self._draw(2)
        return Standing(only_these=only_these, until=until, times=most, agent_version=looked_at)

    def _look(self) -> None:
        sim, question = self._sim, self._some("open")
        self._context.look(lambda: list_open_questions(sim.deps, human(), MANY, None))
        self._context.look(lambda: questions_of_task(sim.deps, human(), question["task_id"], MANY, None))
        self._context.look(lambda: find_question(sim.deps, human(), question["task_id"], question["id"]))

    def _revoke(self) -> None:
        sim, by, question = self._sim, self._person(), self._some("approved")
        self._context.ask(
            "revoke approval",
            by,
            lambda _once: revoke_approval(sim.deps, by, question["task_id"], question["id"], "stop"),
            is_keyed=False,
        )

    def _revoke_standing(self) -> None:
        sim, by = self._sim, self._person()
        page = self._context.look(lambda: list_standing_answers(sim.deps, human(), MANY, None))
        if page and page.items and self._draw(2):
            answer_id = sim.pick(page.items).id
            self._context.ask(
                "revoke standing", by, lambda _once: revoke_standing_answer(sim.deps, by, answer_id), is_keyed=False
            )


class Chief:
    """Changes who is in the groups, and whose approval handoffs need. Some changes are refused: a rule that nobody
    could meet."""

    def __init__(self, context: ActorContext) -> None:
        self._context, self._sim = context, context.sim

    def act(self) -> None:
        while not self._sim.is_stopping:
            self._context.rest(15 if self._context.habits.focus is Focus.QUESTIONS else 60)
            self._change(self._sim.pick([self._groups, self._left, self._left, self._rules, self._emptied])())

    def _groups(self) -> dict[str, Any]:
        return {"groups": self._sim.pick(GROUPS)}

    def _left(self) -> dict[str, Any]:
        """Without somebody who has decided on what is still open."""
        items, is_open = self._sim.oracle.questions.items, self._sim.oracle.questions.open_ids()
        decided = [each["by"] for name in is_open for each in json.loads(items[name]["decisions"])]
        if not decided:
            return self._groups()
        gone = self._sim.pick(sorted(decided))
        return {"groups": {GROUP: tuple(each for each in PEOPLE if each != gone), OTHERS: PEOPLE}}

    def _rules(self) -> dict[str, Any]:
        return {"approval_rules": self._sim.pick(RULES)}

    def _emptied(self) -> dict[str, Any]:
        return {"groups": {}, "approval_rules": ()}

    def _change(self, values: dict[str, Any]) -> None:
        sim = self._sim
        by = human() if self._context.habits.has_trust else OPERATOR
        change: Callable[[object], object] = lambda _once: change_settings(sim.deps, by, values)  # noqa: E731
        self._context.ask("settings", by, change, is_keyed=False, most_effects=2)
