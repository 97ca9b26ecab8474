"""Those who only look: what they are shown must be so."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from baton.domain.errors import Unknown
from baton.domain.tasks.watch import window_of
from baton.services.agents.discover_agents import agents_for, seen_agents
from baton.services.escalations.list_reviews import list_reviews
from baton.services.handoffs.find_handoff import find_handoff
from baton.services.handoffs.list_checkpoints import checkpoints_of_task, checkpoints_of_workflow
from baton.services.handoffs.list_handoffs import Filter, list_handoffs
from baton.services.handoffs.read_inbox import acknowledge, read_inbox
from baton.services.handoffs.workflow_chain import workflow_chain
from baton.services.tasks.await_task import EventRange, await_task, wait_for_events
from baton.services.tasks.list_notes import late_results, list_notes
from baton.services.tasks.list_tasks import TaskFilter, tasks_of_agent, tasks_of_day, tasks_that_need_a_human
from baton.services.tasks.read_task import read_task
from baton.services.tasks.verify_trail import verify_trail
from baton.services.tasks.watch_tasks import watch_tasks
from simulation.actors.actor_context import NothingThere
from simulation.actors.people import ALL, agent, human
from simulation.ports import WORKSPACE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from baton.domain.handoffs.chain import Step
    from baton.services.tasks.verify_trail import TrailFindings
    from simulation.actors.actor_context import ActorContext

MANY = 100


class Reader:
    def __init__(self, context: ActorContext) -> None:
        self._context, self._sim, self._draw = context, context.sim, context.draw
        self._rules = context.sim.oracle.readings

    def act(self) -> None:
        readings = [
            self._task,
            self._as_an_agent,
            self._await,
            self._crowd,
            self._workflow,
            self._trail,
            self._inbox,
            self._beside_a_task,
            self._lists,
            self._again_and_again,
        ]
        while not self._sim.is_stopping:
            self._context.rest(40)
            with suppress(NothingThere):
                self._sim.pick(readings)()

    def _read(self, read: Callable[[], Any], judge: Callable[[int, Any], object]) -> None:
        """Judged at the moment at which it is answered."""

        def look() -> None:
            began = self._sim.steps
            judge(began, read())

        self._context.look(look)

    def _task(self) -> None:
        sim, task_id, rules = self._sim, self._context.some_task(), self._rules
        handoff_id = self._context.ledger.heads[task_id]["handoff_id"]
        if self._draw(2):
            self._read(
                lambda: read_task(sim.deps, human(), task_id),
                lambda began, found: rules.is_fresh_with_its_output("a task", began, found[0]),
            )
        else:
            self._read(
                lambda: find_handoff(sim.deps, human(), handoff_id),
                lambda began, found: rules.is_fresh_with_its_output("a handoff", began, found),
            )

    def _as_an_agent(self) -> None:
        """It reads what it has a part in, and nothing else."""
        sim, task_id, slug = self._sim, self._context.some_task(), self._sim.pick(ALL)

        def look() -> None:
            try:
                read_task(sim.deps, agent(slug), task_id)
            except Unknown:
                self._rules.is_hidden(task_id, slug)
            else:
                self._rules.is_shown(task_id, slug)

        self._context.look(look)

    def _await(self) -> None:
        """Of one person, who may wait for a few at once."""
        sim, task_id, seconds = self._sim, self._context.some_task(), 1 + self._draw(20)
        if self._draw(3) == 2:
            after = self._context.ledger.heads[task_id]["seq"]
            self._context.look(lambda: wait_for_events(sim.deps, human(), task_id, EventRange(after), seconds))
            return
        state = sim.pick(["ended", "done", "claimed", "waiting"])
        self._read(
            lambda: await_task(sim.deps, human(), task_id, state, seconds),
            lambda began, found: self._rules.is_awaited(began, found.details.task, state, timed_out=found.timed_out),
        )

    def _crowd(self) -> None:
        """More than may wait at once."""
        self._context.some_task()
        for _ in range(7):
            self._sim.spawn("waits", self._await, self._sim.now_ms + self._draw(2_000))

    def _workflow(self) -> None:
        sim, rules = self._sim, self._rules
        workflow = self._context.ledger.heads[self._context.some_task()]["workflow_id"]
        if self._draw(2):
            self._read(
                lambda: workflow_chain(sim.deps, human(), workflow),
                lambda began, steps: rules.is_whole_workflow("a chain", began, workflow, _tasks_of(steps)),
            )
        else:
            wanted = Filter(workflow_id=workflow)
            self._read(
                lambda: list_handoffs(sim.deps, human(), wanted, MANY, None),
                lambda began, page: rules.is_whole_workflow("handoffs", began, workflow, page.items),
            )

    def _trail(self) -> None:
        """To its end: a task that changes meanwhile is checked a part at a time."""
        sim, task_id = self._sim, self._context.some_task()
        cursors: list[str | None] = [None]

        def note(_began: int, verdict: TrailFindings) -> None:
            if verdict.next_cursor is None:
                self._rules.is_intact(verdict)
            else:
                cursors.append(verdict.next_cursor)

        while cursors and not sim.is_stopping:
            cursor = cursors.pop()
            self._read(partial(verify_trail, sim.deps, human(), task_id, cursor), note)

    def _inbox(self) -> None:
        """Of one who was told anything, if there is one; looked into several times, as by whoever waits for more."""
        listed = self._context.ledger.ever_listed
        told = [slug for slug in ALL if listed["INBOX", slug]]
        slug = self._sim.pick(told or ALL)
        for _ in range(1 + self._draw(4)):
            self._look_into_inbox(slug)

    def _look_into_inbox(self, slug: str) -> None:
        """What became of the things that it handed off stays there until it says that it has seen it."""
        sim, ids = self._sim, list[str]()

        def judge(began: int, page: Any) -> None:
            ids.extend(each.id for each in page.items)
            self._rules.is_an_inbox(slug, began, ids, up_to=page.cursor)

        self._read(lambda: read_inbox(sim.deps, agent(slug), slug, 1 + self._draw(20), None), judge)
        seen = [each for each in ids if self._draw(2)]
        self._context.ledger.acknowledged |= {(slug, each) for each in seen}
        if self._context.look(lambda: acknowledge(sim.deps, agent(slug), slug, seen)) is not None:
            sim.oracle.accepted.are_acknowledged(slug, seen)

    def _beside_a_task(self) -> None:
        sim, task_id, rules = self._sim, self._context.some_task(), self._rules
        workflow = self._context.ledger.heads[task_id]["workflow_id"]
        self._read(
            lambda: list_notes(sim.deps, WORKSPACE, task_id, 10 * MANY, None),
            lambda began, page: rules.is_whole("NOTES", task_id, began, [each.id for each in page.items]),
        )
        self._context.look(lambda: late_results(sim.deps, WORKSPACE, task_id, MANY, None))
        self._context.look(lambda: checkpoints_of_task(sim.deps, human(), task_id, MANY, None))
        self._context.look(lambda: checkpoints_of_workflow(sim.deps, human(), workflow, 5, None))

    def _again_and_again(self) -> None:
        """As a page that shows the tasks of today, and takes an answer that is half a minute old."""
        sim = self._sim
        for _ in range(2 + self._draw(40 if sim.habits.is_told else 8)):
            self._context.look(self._look_at_today)
            sim.sleep((1 + self._draw(32 if self._draw(2) else 4)) / 4)

    def _look_at_today(self) -> None:
        sim, began = self._sim, self._sim.steps
        now, watch = sim.clock.now(), watch_tasks(sim.deps, WORKSPACE)
        if watch is None or not watch.holds(now):
            return
        edition = watch.changes, window_of(now), watch.began_at
        if sim.oracle.sights.is_known(edition, began) or not watch.is_settled(now):
            return
        seen = sim.steps
        page = tasks_of_day(sim.deps, human(), TaskFilter(day=now.date()), MANY, None)
        sim.oracle.sights.is_made(edition, seen, page)

    def _lists(self) -> None:
        """By indexes, which may lag: true once, if not now."""
        sim, slug, by = self._sim, self._sim.pick(ALL), human()
        day = sim.clock.now().date()
        reads: list[Callable[[], Any]] = [
            lambda: tasks_of_agent(sim.deps, by, TaskFilter(agent=slug), 1 + self._draw(30), None),
            lambda: tasks_of_day(sim.deps, by, TaskFilter(day=day), 1 + self._draw(30), None),
            lambda: tasks_that_need_a_human(sim.deps, by, 1 + self._draw(30), None),
        ]
        self._read(sim.pick(reads), lambda _began, page: self._rules.are_true("a list", page.items))
        self._context.look(lambda: list_reviews(sim.deps, by, None, 20, None))
        self._context.look(lambda: seen_agents(sim.deps, WORKSPACE))
        self._context.look(lambda: agents_for(sim.deps, WORKSPACE, ()))


def _tasks_of(steps: tuple[Step, ...]) -> Iterator[Any]:
    for step in steps:
        yield step.task
        yield from _tasks_of(step.children)
