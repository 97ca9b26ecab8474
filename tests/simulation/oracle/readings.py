"""What is read: it is true, it is all there is, and no older than what was written before it was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.oracle.ledger import ENDED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from baton.domain.tasks.task import Task
    from baton.ports.details import TaskDetails
    from simulation.oracle.ledger import Item, Ledger
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation


class Readings:
    """``began``: the step at which somebody began to read."""

    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger) -> None:
        self._sim, self._ledger = sim, ledger
        self._must = verdict.must

    def is_true(self, what: str, task: Task) -> None:
        """A task as it once was."""
        told = self._ledger.states.get(task.id, {}).get(task.meta.seq)
        self._must(told == task.state, "{} says {} is {} at entry {}", what, task.id, task.state, task.meta.seq)

    def are_true(self, what: str, tasks: Iterable[Task]) -> None:
        for task in tasks:
            self.is_true(what, task)

    def is_fresh(self, what: str, began: int, task: Task) -> None:
        """As it was when it was asked for, or since."""
        self.is_true(what, task)
        next_at = self._ledger.told_at[task.id].get(task.meta.seq + 1, began)
        self._must(next_at >= began, "{} says {} is at entry {}, which is over", what, task.id, task.meta.seq)

    def is_fresh_with_its_output(self, what: str, began: int, details: TaskDetails) -> None:
        task = details.task
        self.is_fresh(what, began, task)
        output = self._ledger.outputs.get(task.id) if task.is_ended else None
        self._must(details.output == output, "{} says {} has another output", what, task.id)

    def is_whole_workflow(self, what: str, began: int, workflow: str, tasks: Iterable[Task]) -> None:
        found = {task.id: task for task in tasks}
        for task in found.values():
            self.is_fresh(what, began, task)
        there = {each for each in self._ledger.members[workflow] if self._ledger.born[each] <= began}
        self._must(there <= found.keys(), "{} of {} lacks {}", what, workflow, there - found.keys())

    def is_whole(self, kind: str, place: str, began: int, ids: Iterable[str], *, up_to: str | None = None) -> None:
        """What is listed in a place. ``up_to``: the last that was asked for, in their order."""
        listed, found = self._ledger.listed[kind, place], set(ids)
        there = {each for each, at in listed.items() if at <= began and (up_to is None or each <= up_to)}
        self._must(there <= found, "{} of {} lacks {}", kind, place, there - found)
        unknown = found - self._ledger.ever_listed[kind, place]
        self._must(not unknown, "{} of {} has {}, which never were", kind, place, unknown)

    def is_an_inbox(self, slug: str, began: int, ids: list[str], *, up_to: str | None) -> None:
        """Without what was acknowledged before; the index it is read from may lag behind the ends."""
        gone = self._ledger.unlisted["INBOX", slug]
        again = [each for each in ids if gone.get(each, began) < began]
        self._must(not again, "inbox of {}: {} came back", slug, again)
        if self._sim.habits.lag_ms == 0:
            self.is_whole("INBOX", slug, began, ids, up_to=up_to)
        unknown = set(ids) - self._ledger.ever_listed["INBOX", slug]
        self._must(not unknown, "inbox of {} has {}, which never were", slug, unknown)

    def is_awaited(self, began: int, task: Task, state: str, *, timed_out: bool) -> None:
        """It got there meanwhile, whatever it is by now; or it ended otherwise, and the waiting is over."""
        self.is_fresh("waiting", began, task)
        told_at = self._ledger.told_at[task.id]
        states = [each for seq, each in self._ledger.states[task.id].items() if told_at.get(seq + 1, began) >= began]
        was_there = state in states or (state == "ended" and task.state in ENDED)
        self._must(timed_out or was_there, "{}: waited for {}, and got {}", task.id, state, task.state)

    def is_shown(self, task_id: str, slug: str) -> None:
        """To those who asked for it, are asked, or took it."""
        head = self._ledger.heads[task_id]
        has_part = self._is_named(head, slug) or slug in head.get("takers", ())
        self._must(has_part, "{} is shown to {}, who has no part in it", task_id, slug)

    def is_hidden(self, task_id: str, slug: str) -> None:
        is_named = self._is_named(self._ledger.heads[task_id], slug)
        self._must(not is_named, "{} is hidden from {}, who has a part in it", task_id, slug)

    def _is_named(self, head: Item, slug: str) -> bool:
        return slug in (head["source_agent"], head.get("target_agent")) or head["created_by"] == f"agent:{slug}"

    def is_intact(self, verdict: Any) -> None:
        """A task that changes while its content is read is looked at again."""
        is_well = verdict.intact and (verdict.matches_task or verdict.next_cursor is not None)
        self._must(is_well, "{}: its trail is called broken: {}", verdict.task_id, verdict.problem)
