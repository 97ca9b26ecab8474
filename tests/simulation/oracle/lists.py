"""What a process finds that has lived through it all: a list may be late, and not blind for ever. So when all is quiet,
each list says how things are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from baton.domain.memory.entry_index import Question
from baton.services.conversations.list_conversations import ConversationFilter, list_conversations
from baton.services.escalations.list_reviews import list_reviews
from baton.services.handoffs.read_inbox import read_inbox
from baton.services.questions.list_questions import list_open_questions
from baton.services.tasks.list_tasks import TaskFilter, tasks_of_agent, tasks_that_need_a_human
from simulation.actors.people import ALL, human
from simulation.ports import SUMMARY, WORKSPACE

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.ports.deps import Deps
    from baton.ports.paging import Page
    from simulation.oracle.ledger import Ledger
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation

MANY = 200


class Lists:
    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger) -> None:
        self._sim, self._ledger = sim, ledger
        self._must = verdict.must

    def are_right(self) -> None:
        """Of one of the processes, any."""
        deps, heads = self._sim.some_living(), self._ledger.heads
        waiting = {each for each, head in heads.items() if head["state"] == "needs" and not head.get("parked")}
        self._tasks(
            "of what needs a human", waiting, lambda cursor: tasks_that_need_a_human(deps, human(), MANY, cursor)
        )
        for slug in ALL:
            of_agent = {each for each, head in heads.items() if head.get("target_agent") == slug}
            self._tasks(f"of {slug}", of_agent, self._of_agent(deps, slug))
            inbox = _all(partial(read_inbox, deps, human(), slug, MANY))
            self._are("inbox", slug, {each.id for each in inbox}, set(self._ledger.listed["INBOX", slug]))
        for label in ("team=blue", "team=red", "urgent"):
            labelled = {each for each in heads if label in _labels_in(self._ledger.bodies.get(each, {}))}
            read = partial(deps.store.lists.tasks_of_label, WORKSPACE, label, MANY)
            self._tasks(f"of the label {label}", labelled, read)
        asked = {each.id for each in _all(partial(list_open_questions, deps, human(), MANY))}
        self._are("list", "of questions", asked, self._sim.oracle.questions.open_ids())
        reviews = {each.id for each in _all(lambda cursor: list_reviews(deps, human(), None, MANY, cursor))}
        self._are("list", "of reviews", reviews, set(self._sim.dynamo.items.get(f"WS#{WORKSPACE}#REVIEWS", {})))
        self._memory(deps)

    def conversations_are_right(self) -> None:
        """As a process tells them that lived through it all, and one that begins now."""
        told, fresh = (self._conversations(deps) for deps in (self._sim.some_living(), self._sim.newborn()))
        differ = {each: (told.get(each), now) for each, now in fresh.items() if told.get(each) != now}
        self._must(told == fresh, "conversations are told otherwise by a process that lives on: {}", differ)

    def _conversations(self, deps: Deps) -> dict[str, Any]:
        listed = _all(lambda cursor: list_conversations(deps, human(), ConversationFilter(), MANY, cursor))
        return {each.root.workflow_id: (each.holder.id, each.holder.meta.seq, each.is_open) for each in listed}

    def _memory(self, deps: Deps) -> None:
        """Within what clocks differ by and calls take: that is all that a process reads again."""
        if self._sim.habits.is_in_time:
            question = Question(text=SUMMARY, limit=1_000)
            found = {each.entry_id for each in deps.search.find(WORKSPACE, question).items}
            self._are("search", "of a process that lives on", found, self._sim.oracle.board.shown())

    def _of_agent(self, deps: Deps, slug: str) -> Callable[[str | None], Page]:
        return lambda cursor: tasks_of_agent(deps, human(), TaskFilter(agent=slug), MANY, cursor)

    def _tasks(self, which: str, wanted: set[str], read: Callable[[str | None], Page]) -> None:
        found = {task.id: task for task in _all(read)}
        self._are("list", which, set(found), wanted)
        heads = self._ledger.heads
        old = [each for each in wanted & found.keys() if found[each].meta.seq != heads[each]["seq"]]
        self._must(not old, "list {}: {} are told as they were", which, old)

    def _are(self, what: str, which: str, found: set[str], wanted: set[str]) -> None:
        self._must(found == wanted, "{} {}: {} differ, though all is quiet", what, which, sorted(found ^ wanted)[:5])


def _labels_in(body: dict[str, Any]) -> set[str]:
    """As lists show them, whatever their case: from what was asked, not from what the task says of it."""
    given = body.get("metadata", {}).get("labels", {})
    return {(f"{name}={value}" if value else name).casefold() for name, value in given.items()}


def _all(read: Callable[[str | None], Page]) -> list[Any]:
    page = read(None)
    found = list(page.items)
    while page.cursor is not None:
        page = read(page.cursor)
        found += page.items
    return found
