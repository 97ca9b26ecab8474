"""Lists ready work that approval rules hold back from agents that would take it (docs/spec/questions.md §6)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from baton.domain.access.principal import Principal
from baton.domain.agents.guards import Offer
from baton.domain.rights.read_rights import may_see_rules
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.ports.queues import ReadyTask
from baton.services.tasks.list_tasks import with_page_syncs
from baton.steps.access.read_rights import ReadRights
from baton.steps.questions.handoff_rules import held_from, standing

# Queues of agents that one page reads.
QUEUES_AT_ONCE = 20
# Tasks that one page compares with the rules.
MOST_COMPARED = 500


def list_held_back(deps: Deps, by: Principal, limit: int, cursor: str | None) -> Page:
    """Returns the details of open work first, then of the queues of guarded agents, in the order of their slugs; each
    by urgency. An empty page for a reader who may not read rules. ``cursor``: the agent after which the page begins.
    Two reads, one more for each queue, and the reads of ``held_from`` for up to 500 tasks that rules may hold back."""
    if not may_see_rules(by):  # even the cursor names guarded agents
        return Page((), None)
    workspace, now = by.workspace, deps.clock.now()
    guards = deps.store.agents.guards(workspace)
    slugs = sorted(slug for slug in guards.guarded() if slug > (cursor or ""))[: QUEUES_AT_ONCE + 1]
    search = _Search(deps, by, limit)
    last = cursor
    if cursor is None and not guards.are_none:
        search.look_at(deps.store.queues.open_work(workspace, now), None)
    for slug in slugs[:QUEUES_AT_ONCE]:
        if search.is_over:
            break
        _, queue = deps.store.queues.ready(workspace, slug, now)
        search.look_at(queue, slug)
        last = slug
    rest = [slug for slug in slugs if slug > (last or "")]
    return with_page_syncs(deps, workspace, Page(tuple(search.found), (last or "") if rest else None))


class _Search:
    """Looks for ``limit`` tasks that are held back."""

    def __init__(self, deps: Deps, by: Principal, limit: int) -> None:
        self._deps, self._workspace, self._limit = deps, by.workspace, limit
        self._rights, self._left = ReadRights(deps, by), MOST_COMPARED
        self.found: list[Task] = []

    @property
    def is_over(self) -> bool:
        return len(self.found) >= self._limit or not self._left

    def look_at(self, queue: Iterator[ReadyTask], target: str | None) -> None:
        ready = (each for each in queue if each.lapsed_claim is None)
        may_be_held = (each.task_id for each in ready if _may_be_held(self._deps, self._workspace, each, target))
        while not self.is_over and (some := list(islice(may_be_held, min(self._limit, self._left)))):
            self._left -= len(some)
            tasks = self._deps.store.tasks.many(self._workspace, some)
            self.found += [tasks[each] for each in some if each in tasks and self._is_held(tasks[each])]
        del self.found[self._limit :]

    def _is_held(self, task: Task) -> bool:
        return self._rights.may_read(task) and bool(held_from(self._deps, task))


def _may_be_held(deps: Deps, workspace: str, ready: ReadyTask, target: str | None) -> bool:
    """True if rules may hold it back, as far as the queue shows: it doesn't know the agents above it in its chain."""
    given = standing(deps, workspace, ready.approved_by)
    offer = Offer(
        source=ready.source,
        above=None,
        target=target,
        work_type=None,
        requires=ready.requires,
        given=given,
        is_sent_back=target is not None,
    )
    return bool(deps.store.agents.guards(workspace).held(offer))
